/* ranges.c - ranges of parts, from readers to what they read. */
#include "split/ranges.h"

#include <stdlib.h>

int64_t split_border(const struct split_plan *plan, uint32_t v, int64_t size, int64_t unit,
		     uint32_t p)
{
	const uint32_t *share = split_shares(plan, v);
	int64_t n = size / unit, at = 0, sum = 0;
	for (uint32_t i = 0; i < plan->ways; i++) {
		sum += share[i];
		at += i < p ? share[i] : 0;
	}
	return p == plan->ways ? size : (n * at + sum / 2) / sum * unit;
}

struct split_range split_share(const struct split_plan *plan, uint32_t v, int64_t size,
			       int64_t unit, uint32_t p)
{
	const uint32_t *share = split_shares(plan, v);
	int64_t n = size / unit, at = 0, sum = 0;
	if (n < 2 || n >= (int64_t)plan->ways)
		return (struct split_range){split_border(plan, v, size, unit, p),
					    split_border(plan, v, size, unit, p + 1)};
	for (uint32_t i = 0; i < plan->ways; i++) {
		sum += share[i];
		at += i < p ? share[i] : 0;
	}
	int64_t lo = n * at / sum, hi = (n * (at + share[p]) + sum - 1) / sum;
	return (struct split_range){lo * unit, hi == n ? size : hi * unit};
}

/* Is node u cut along what input i of node v reads along need->axis? */
static bool reads_part(const struct split_facts *f, const struct split_plan *plan, uint32_t v,
		       uint32_t i, const struct split_need *need)
{
	uint32_t u = graph_source(f->g, v, i);
	return u != GRAPH_NONE && !f->constant[u] && need->axis >= 0 && plan->axis[u] == need->axis;
}

/* The least borders of node v by which those of what it reads are whole units, too, where it then has enough of them for
 * all parts: else they read what is computed twice; 0: there are none. */
static int64_t find_unit(struct split_facts *f, const struct split_plan *plan, uint32_t v,
			 const int64_t *unit, struct split_part *p)
{
	int64_t size = split_extent(f, v, plan->axis[v]), step = 1;
	p->axis = plan->axis[v];
	p->lo = 0;
	p->hi = size;
	if (!split_rule(f, v, p))
		return 0;
	step = p->unit;
	for (int64_t k = step; k < size; k += step) {
		bool fits = true;
		p->hi = k;
		if (!split_rule(f, v, p))
			return 0;
		for (uint32_t i = 0; i < f->g->in_ptr[v + 1] - f->g->in_ptr[v] && fits; i++) {
			const struct split_need *need = &p->need[i];
			bool halo = need->core_lo != need->lo || need->core_hi != need->hi;
			if (!halo && reads_part(f, plan, v, i, need))
				fits = need->hi % unit[graph_source(f->g, v, i)] == 0;
		}
		if (fits && split_is_apart(f, v, plan->axis[v]) && size / k < (int64_t)plan->ways)
			break; /* what is added up twice is wrong */
		if (fits)
			return size / k < (int64_t)plan->ways && size / step >= (int64_t)plan->ways
				       ? step
				       : k;
	}
	return size / step >= (int64_t)plan->ways ? step : 0;
}

static void widen(struct split_range *r, int64_t lo, int64_t hi)
{
	if (lo >= hi)
		return;
	if (r->lo == r->hi)
		*r = (struct split_range){lo, hi};
	r->lo = lo < r->lo ? lo : r->lo;
	r->hi = hi > r->hi ? hi : r->hi;
}

struct work {
	struct split_facts *f;
	struct split_plan *plan;
	int64_t *unit;
	struct split_range *own;
	bool *shared; /* (n) somebody reads more than parts of it */
	struct split_need *need;
};

static void take_shares(struct work *w, uint32_t v)
{
	int64_t size = split_extent(w->f, v, w->plan->axis[v]);
	uint32_t peer = w->f->peer[v], by = peer < v ? peer : v;
	for (uint32_t p = 0; p < w->plan->ways; p++) {
		struct split_range r = split_share(w->plan, by, size, w->unit[v], p),
				   *own = &w->own[(size_t)v * w->plan->ways + p];
		if (split_is_apart(w->f, v, w->plan->axis[v]))
			*own = r; /* and nothing more, whatever others read */
		else
			widen(own, r.lo, r.hi);
	}
}

/* What readers ask for, in whole units. */
static void round_outward(struct work *w, uint32_t v)
{
	int64_t size = split_extent(w->f, v, w->plan->axis[v]), unit = w->unit[v];
	for (uint32_t p = 0; p < w->plan->ways; p++) {
		struct split_range *own = &w->own[(size_t)v * w->plan->ways + p];
		own->lo -= own->lo % unit;
		own->hi += (unit - own->hi % unit) % unit;
		own->hi = own->hi > size ? size : own->hi;
	}
}

/* What part p of node v reads, into w->need; false: there is no such part. */
static bool part_reads(struct work *w, uint32_t v, uint32_t p)
{
	const struct split_range *own = &w->own[(size_t)v * w->plan->ways + p];
	struct split_part x = {
		.axis = w->plan->axis[v], .lo = own->lo, .hi = own->hi, .need = w->need};
	return x.lo < x.hi && split_rule(w->f, v, &x);
}

/* Are cores that windows of node v ask for a good deal larger than the shares of what it reads?  After a few strides 4 of 7
 * rows have become 64 of 112: then the borders are moved back, and a few rows more are exchanged. */
static bool is_uneven(struct work *w, uint32_t v)
{
	const struct split_plan *plan = w->plan;
	uint32_t u = graph_source(w->f->g, v, 0);
	bool halo = false, uneven = false;
	if (plan->again || u == GRAPH_NONE || w->f->constant[u])
		return false;
	for (uint32_t p = 0; p < plan->ways; p++) {
		if (!part_reads(w, v, p) || !reads_part(w->f, plan, v, 0, &w->need[0]))
			return false;
		const struct split_need *n = &w->need[0];
		int64_t size = split_extent(w->f, u, plan->axis[u]),
			own = split_border(plan, u, size, w->unit[u], p + 1) -
			      split_border(plan, u, size, w->unit[u], p);
		halo |= n->lo != n->core_lo || n->hi != n->core_hi;
		uneven |= (n->core_hi - n->core_lo) * 20 > own * 21;
	}
	return halo && uneven;
}

/* Ranges of node v, whose readers are done, and what they ask of what v reads; false: it cannot be cut. */
static bool ask(struct work *w, uint32_t v)
{
	const struct graph *g = w->f->g;
	const struct split_plan *plan = w->plan;
	struct split_range *own = &w->own[(size_t)v * plan->ways];
	for (uint32_t p = 0; p < plan->ways; p++)
		w->shared[v] |= own[p].lo == own[p].hi; /* nobody reads part p */
	if (w->shared[v] || split_is_apart(w->f, v, plan->axis[v]))
		take_shares(w, v);
	round_outward(w, v);
	bool uneven = is_uneven(w, v);
	for (uint32_t p = 0; p < plan->ways; p++) {
		if (!part_reads(w, v, p))
			return false;
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			uint32_t u = graph_source(g, v, i);
			const struct split_need *n = &w->need[i];
			if (reads_part(w->f, plan, v, i, n) && !(uneven && i == 0))
				widen(&w->own[(size_t)u * plan->ways + p],
				      plan->again ? n->lo : n->core_lo,
				      plan->again ? n->hi : n->core_hi);
			else if (u != GRAPH_NONE)
				w->shared[u] = true;
		}
	}
	return true;
}

/* What reads a variable and what assigns it have the same parts, or are whole; false: they became whole. */
static bool keep_peers(struct work *w)
{
	int8_t *axis = w->plan->axis;
	bool kept = true;
	for (uint32_t v = 0; v < w->f->g->n; v++) {
		uint32_t u = w->f->peer[v];
		if (u == GRAPH_NONE || u < v ||
		    (axis[u] == axis[v] && w->unit[u] == w->unit[v] &&
		     split_extent(w->f, u, axis[u]) == split_extent(w->f, v, axis[v])))
			continue;
		kept &= axis[u] == SPLIT_WHOLE && axis[v] == SPLIT_WHOLE;
		axis[u] = axis[v] = SPLIT_WHOLE;
	}
	return kept;
}

/* One pass; false: a node became whole, so others are read otherwise than was thought. */
static bool pass(struct work *w)
{
	const struct graph *g = w->f->g;
	for (uint32_t v = 0; v < g->n; v++) {
		struct split_part p = {.need = w->need};
		w->shared[v] = false;
		for (uint32_t i = 0; i < w->plan->ways; i++)
			w->own[(size_t)v * w->plan->ways + i] = (struct split_range){0, 0};
		w->unit[v] = 1;
		if (w->plan->axis[v] == SPLIT_WHOLE)
			continue;
		w->unit[v] = find_unit(w->f, w->plan, v, w->unit, &p);
		if (w->unit[v] == 0) {
			w->plan->axis[v] = SPLIT_WHOLE;
			return false;
		}
	}
	if (!keep_peers(w))
		return false;
	for (uint32_t v = g->n; v-- > 0;) {
		if (w->plan->axis[v] == SPLIT_WHOLE) {
			for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
				if (g->in_node[i] != GRAPH_NONE)
					w->shared[g->in_node[i]] = true;
		} else if (!ask(w, v)) {
			w->plan->axis[v] = SPLIT_WHOLE;
			return false;
		}
	}
	return true;
}

void split_ranges(struct split_facts *f, struct split_plan *plan, int64_t *unit,
		  struct split_range *own)
{
	struct work w = {f,
			 plan,
			 unit,
			 own,
			 MEM_NEWN(bool, f->g->n),
			 MEM_NEWN(struct split_need, (size_t)f->max_in + 1)};
	while (!pass(&w))
		;
	mem_free(w.shared);
	mem_free(w.need);
}
