/* joins.c - what parts read of each other: slices, joins, sums. */
#include "split/rewrite_impl.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- slices ---- */

struct draft_value join_slice(struct rewrite *x, struct draft_value from, int axis, int64_t lo,
			      int64_t hi, bool counts)
{
	struct draft *d = &x->d;
	struct tensor t;
	uint64_t a = output_key(d->node[from.node].out + from.port, axis), b = range_key(lo, hi);
	const uint64_t *known = pairmap_get(&x->slices, a, b);
	if (known)
		return (struct draft_value){(uint32_t)*known, 0};
	draft_describe(d, from, &t);
	const char *name = arena_printf(x->a, "%s/%" PRId64 "..%" PRId64 " of %" PRId64,
					d->node[from.node].name, lo, hi - 1, t.dim[axis]);
	struct draft_value start = draft_ints(d, &lo, 1), stop = draft_ints(d, &hi, 1),
			   step = draft_ints(d, &(int64_t){1}, 1),
			   axes = draft_ints(d, &(int64_t){axis}, 1);
	struct draft_value in[] = {from, start, stop, step, axes};
	uint32_t v = draft_node(d, name, "Slice", "opset8", -1);
	for (int i = 0; i < 5; i++)
		draft_in(d, in[i]);
	t.dim[axis] = hi - lo;
	draft_out(d, t.elem, (uint8_t)t.rank, t.dim, "");
	pairmap_put(&x->slices, a, b, v);
	x->counts.slices += counts;
	return (struct draft_value){v, 0};
}

/* The same of what part q made, where that is. */
static struct draft_value slice_of_part(struct rewrite *x, struct draft_value from, uint32_t q,
					int axis, int64_t lo, int64_t hi)
{
	uint32_t reader = x->d.part;
	x->d.part = q;
	struct draft_value v = join_slice(x, from, axis, lo, hi, true);
	x->d.part = reader;
	return v;
}

/* lo .. hi - 1 of what part q of output o has. */
static struct draft_value from_part(struct rewrite *x, uint32_t o, uint32_t q, int64_t lo,
				    int64_t hi)
{
	uint32_t u = graph_node_of(x->g, o);
	const struct split_range *own = &x->own[(size_t)u * x->plan->ways + q];
	struct draft_value v = {x->part[(size_t)u * x->plan->ways + q], o - x->g->out_ptr[u]};
	if (own->lo == lo && own->hi == hi)
		return v;
	return slice_of_part(x, v, q, x->plan->axis[u], lo - own->lo, hi - own->lo);
}

/* The part that has element `at`; part p if it does.  *end: how far, at most to hi. */
static uint32_t part_with(const struct rewrite *x, uint32_t u, uint32_t p, int64_t at, int64_t hi,
			  int64_t *end)
{
	const struct split_range *own = &x->own[(size_t)u * x->plan->ways];
	uint32_t found = UINT32_MAX;
	*end = hi;
	if (p < x->plan->ways && own[p].lo <= at && at < own[p].hi) {
		*end = own[p].hi < hi ? own[p].hi : hi;
		return p;
	}
	for (uint32_t q = 0; q < x->plan->ways; q++)
		if (own[q].lo <= at && at < own[q].hi &&
		    (found == UINT32_MAX || own[q].hi > own[found].hi))
			found = q;
	if (found == UINT32_MAX)
		return found;
	*end = own[found].hi < *end ? own[found].hi : *end;
	if (p < x->plan->ways && own[p].lo > at && own[p].lo < *end)
		*end = own[p].lo; /* its own it takes from itself */
	return found;
}

/* Join values along an axis. */
static struct draft_value concat(struct rewrite *x, const char *name, const char *names,
				 const struct draft_value *in, uint32_t n, int axis)
{
	struct draft *d = &x->d;
	struct tensor t, one;
	char text[16];
	draft_describe(d, in[0], &t);
	for (uint32_t i = 1; i < n; i++) {
		draft_describe(d, in[i], &one);
		t.dim[axis] += one.dim[axis];
	}
	uint32_t v = draft_node(d, name, "Concat", "opset1", -1);
	snprintf(text, sizeof text, "%d", axis);
	draft_attr(d, "axis", text);
	for (uint32_t i = 0; i < n; i++)
		draft_in(d, in[i]);
	draft_out(d, t.elem, (uint8_t)t.rank, t.dim, names);
	x->counts.joins++;
	return (struct draft_value){v, 0};
}

/* lo .. hi - 1 of the axis along which output o is cut, for part p (ways: for all); name: of a join. */
static struct draft_value gather(struct rewrite *x, uint32_t o, uint32_t p, int64_t lo, int64_t hi,
				 const char *name, const char *names)
{
	uint32_t u = graph_node_of(x->g, o), n = 0;
	struct draft_value in[2 * SPLIT_MAX_WAYS + 2];
	for (int64_t at = lo, end; at < hi; at = end) {
		uint32_t q = part_with(x, u, p, at, hi, &end);
		in[n++] = from_part(x, o, q, at, end);
	}
	return n == 1 && !names ? in[0]
				: concat(x, name, names ? names : "", in, n, x->plan->axis[u]);
}

static struct draft_value add(struct rewrite *x, const char *name, const char *names,
			      struct draft_value a, struct draft_value b)
{
	struct draft *d = &x->d;
	struct tensor t;
	draft_describe(d, a, &t);
	uint32_t v = draft_node(d, name, "Add", "opset1", -1);
	draft_attr(d, "auto_broadcast", "numpy");
	draft_in(d, a);
	draft_in(d, b);
	draft_out(d, t.elem, (uint8_t)t.rank, t.dim, names);
	x->counts.joins++;
	return (struct draft_value){v, 0};
}

/* The parts of output o, added up one after another, and what is added to them. */
static struct draft_value sum(struct rewrite *x, uint32_t o)
{
	uint32_t u = graph_node_of(x->g, o), more = x->addend[u],
		 n = x->plan->ways + (more != GRAPH_NONE);
	const uint32_t *part = &x->part[(size_t)u * x->plan->ways];
	struct draft_value v = {part[0], 0};
	for (uint32_t p = 1; p < n; p++) {
		bool last = p + 1 == n;
		const char *name =
			last ? x->g->node_name[u]
			     : arena_printf(x->a, "%s [sum of %u]", x->g->node_name[u], p + 1);
		v = add(x, name, last ? x->g->out_names[o] : "", v,
			p < x->plan->ways ? (struct draft_value){part[p], 0} : join_whole(x, more));
	}
	return v;
}

/* The output of a Split in parts of its outputs. */
static struct draft_value output_of(const struct rewrite *x, uint32_t o)
{
	uint32_t u = graph_node_of(x->g, o), port = o - x->g->out_ptr[u], p = 0;
	const struct split_range *own = &x->own[(size_t)u * x->plan->ways];
	while (port >= own[p].hi)
		p++;
	return (struct draft_value){x->part[(size_t)u * x->plan->ways + p],
				    port - (uint32_t)own[p].lo};
}

struct draft_value join_whole(struct rewrite *x, uint32_t o)
{
	const struct graph *g = x->g;
	uint32_t u = graph_node_of(g, o), port = o - g->out_ptr[u], reader = x->d.part;
	if (x->plan->axis[u] == SPLIT_WHOLE)
		return (struct draft_value){x->row[u], port};
	if (x->plan->axis[u] == SPLIT_OUTPUTS)
		return output_of(x, o);
	if (x->whole[o].node != GRAPH_NONE)
		return x->whole[o];
	const char *name =
		port ? arena_printf(x->a, "%s.%u", g->node_name[u], port) : g->node_name[u];
	x->d.part = GRAPH_NONE;
	if (x->plan->axis[u] == SPLIT_SUM)
		x->whole[o] = sum(x, o);
	else
		x->whole[o] =
			gather(x, o, x->plan->ways, 0, split_extent(x->f, u, x->plan->axis[u]),
			       name, g->out_names[o]);
	x->d.part = reader;
	return x->whole[o];
}

/* ---- parts with memories of their own ---- */

static uint32_t group_of(const struct rewrite *x, uint32_t p)
{
	return x->plan->group ? x->plan->group[p] : 0;
}

/* The part of group `group` that stands there where p stands in its own. */
static uint32_t peer(const struct rewrite *x, uint32_t group, uint32_t p)
{
	uint32_t at = 0, size = 0;
	for (uint32_t q = 0; q < x->plan->ways; q++) {
		at += q < p && group_of(x, q) == group_of(x, p);
		size += group_of(x, q) == group;
	}
	at %= size;
	for (uint32_t q = 0;; q++)
		if (group_of(x, q) == group && at-- == 0)
			return q;
}

/* What part q has, for part p: from another group it comes once, to p's peer of q, which hands it on. */
static struct draft_value relayed(struct rewrite *x, struct draft_value from, uint32_t q,
				  uint32_t p)
{
	struct draft *d = &x->d;
	struct tensor t;
	uint32_t group = group_of(x, p), reader = d->part;
	uint64_t a = d->node[from.node].out + from.port;
	const uint64_t *known = pairmap_get(&x->relays, a, group);
	if (group_of(x, q) == group)
		return from;
	if (known)
		return (struct draft_value){(uint32_t)*known, 0};
	d->part = peer(x, group, q);
	draft_describe(d, from, &t);
	uint32_t v =
		draft_node(d, arena_printf(x->a, "%s/to group %u", d->node[from.node].name, group),
			   "Concat", "opset1", -1);
	draft_attr(d, "axis", "0");
	draft_in(d, from);
	draft_out(d, t.elem, (uint8_t)t.rank, t.dim, "");
	d->part = reader;
	pairmap_put(&x->relays, a, group, v);
	return (struct draft_value){v, 0};
}

/* Range lo .. hi - 1 of `axis` of the sum of the parts of output o, for part p: within each group first. */
static struct draft_value sum_range(struct rewrite *x, uint32_t o, int axis, int64_t lo, int64_t hi,
				    uint32_t p)
{
	struct draft *d = &x->d;
	uint32_t u = graph_node_of(x->g, o), ways = x->plan->ways, reader = d->part;
	const uint32_t *part = &x->part[(size_t)u * ways];
	uint64_t a = output_key(d->node[part[0]].out, axis), b = range_key(lo, hi);
	const uint64_t *known = pairmap_get(&x->sums, a, b);
	struct draft_value all = {GRAPH_NONE, 0};
	const char *name =
		arena_printf(x->a, "%s [sum %" PRId64 "..%" PRId64, x->g->node_name[u], lo, hi - 1);
	if (known)
		return (struct draft_value){(uint32_t)*known, 0};
	for (uint32_t k = 0, groups = 0; k < ways; k++) {
		uint32_t first = (p + k) % ways, group = group_of(x, first), n = 0;
		if (groups >> group & 1)
			continue;
		groups |= 1U << group;
		uint32_t at = peer(x, group, p);
		struct draft_value here = {GRAPH_NONE, 0};
		for (uint32_t i = 0; i < ways; i++) {
			uint32_t q = (at + i) % ways;
			if (group_of(x, q) != group)
				continue;
			struct draft_value one =
				slice_of_part(x, (struct draft_value){part[q], 0}, q, axis, lo, hi);
			d->part = at;
			here = n++ == 0 ? one
					: add(x,
					      arena_printf(x->a, "%s of %u in group %u]", name, n,
							   group),
					      "", here, one);
		}
		d->part = p;
		all = all.node == GRAPH_NONE
			      ? here
			      : add(x, arena_printf(x->a, "%s, group %u]", name, group), "", all,
				    here);
	}
	if (x->addend[u] != GRAPH_NONE) {
		const struct split_need more = {axis, lo, hi, lo, hi};
		name = arena_printf(x->a, "%s, and what is added to it]", name);
		d->part = p;
		all = add(x, name, "", all, join_read(x, x->addend[u], &more, p, name));
	}
	d->part = reader;
	pairmap_put(&x->sums, a, b, all.node);
	return all;
}

/* The outermost axis along which a sum may be divided among all; SPLIT_WHOLE: there is none. */
static int sum_axis(const struct rewrite *x, uint32_t o)
{
	const struct graph *g = x->g;
	for (int i = 0; i < (int)g->out_rank[o]; i++)
		if (g->dim[g->dim_ptr[o] + (uint32_t)i] >= x->plan->ways)
			return i;
	return SPLIT_WHOLE;
}

struct draft_value join_whole_for(struct rewrite *x, uint32_t o, uint32_t p)
{
	const struct graph *g = x->g;
	const struct split_plan *plan = x->plan;
	uint32_t u = graph_node_of(g, o), n = 0;
	int axis = plan->axis[u];
	struct draft_value in[2 * SPLIT_MAX_WAYS + 2];
	struct draft_value *each = &x->each[(size_t)o * plan->ways + p];
	if (axis == SPLIT_SUM)
		axis = sum_axis(x, o);
	if (!plan->apart || axis == SPLIT_WHOLE || axis == SPLIT_OUTPUTS)
		return join_whole(x, o);
	if (each->node != GRAPH_NONE)
		return *each;
	int64_t size = g->dim[g->dim_ptr[o] + (uint32_t)axis], end;
	for (int64_t at = 0, k = 0; at < size; at = end, k++) {
		uint32_t q = (uint32_t)k;
		if (plan->axis[u] == SPLIT_SUM) {
			end = split_border(plan, u, size, 1, q + 1);
			if (end > at) /* small shares of few have none */
				in[n++] = relayed(x, sum_range(x, o, axis, at, end, q), q, p);
		} else {
			q = part_with(x, u, p, at, size, &end);
			in[n++] = relayed(x, from_part(x, o, q, at, end), q, p);
		}
	}
	*each = concat(x, arena_printf(x->a, "%s/for part %u", g->node_name[u], p), "", in, n,
		       axis);
	return *each;
}

/* lo .. hi - 1 of an axis of output o, which is cut along another, for part p. */
static struct draft_value exchange(struct rewrite *x, uint32_t o, int axis, int64_t lo, int64_t hi,
				   uint32_t p, const char *name)
{
	uint32_t u = graph_node_of(x->g, o), n = 0;
	int cut = x->plan->axis[u];
	struct draft_value in[2 * SPLIT_MAX_WAYS + 2];
	for (int64_t at = 0, end, size = split_extent(x->f, u, cut); at < size; at = end) {
		uint32_t q = part_with(x, u, p, at, size, &end);
		in[n++] = slice_of_part(x, from_part(x, o, q, at, end), q, axis, lo, hi);
	}
	return concat(x, name, "", in, n, cut);
}

struct draft_value join_read(struct rewrite *x, uint32_t o, const struct split_need *need,
			     uint32_t p, const char *name)
{
	uint32_t u = graph_node_of(x->g, o);
	bool alike = need->axis >= 0 && x->plan->axis[u] == need->axis;
	const struct split_range *own = &x->own[(size_t)u * x->plan->ways + p];
	if (alike && own->lo <= need->lo && need->hi <= own->hi)
		return from_part(x, o, p, need->lo, need->hi);
	if (need->axis < 0 ||
	    (need->lo == 0 && need->hi == x->g->dim[x->g->dim_ptr[o] + (uint32_t)need->axis]))
		return join_whole_for(x, o, p);
	if (alike)
		return gather(x, o, p, need->lo, need->hi, name, NULL);
	if (x->plan->apart && x->plan->axis[u] == SPLIT_SUM)
		return sum_range(x, o, need->axis, need->lo, need->hi, p);
	if (x->plan->apart && x->plan->axis[u] >= 0)
		return exchange(x, o, need->axis, need->lo, need->hi, p, name);
	return join_slice(x, join_whole(x, o), need->axis, need->lo, need->hi, true);
}
