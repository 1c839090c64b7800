/* waits.c - see waits.h. */
#include "report/waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/rows.h"

/* Is the schedule of a placement on the devices of the answer, and the same there? */
static bool is_of_answer(const struct waits *w)
{
	const struct place_rec *own = &w->in->x->place, *p = &w->t.place;
	if (p->k != own->k || p->n_sets != own->n_sets ||
	    memcmp(p->device, own->device, p->n_sets * sizeof *p->device) != 0)
		return false;
	for (uint32_t d = 0; d < p->k; d++)
		if (strcmp(p->names[d], own->names[d]) != 0)
			return false;
	return true;
}

static uint32_t *none_of(struct arena *a, uint32_t n)
{
	return memset(arena_raw(a, n, sizeof(uint32_t)), 0xff, n * sizeof(uint32_t));
}

/* An entry of the schedule, to be sorted. */
struct entry {
	double start_s;
	uint32_t i;
};

static int by_start(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

/* Of each set the one of those that its device began before it that ended last. */
static void find_before(struct waits *w)
{
	const struct run_schedule *s = &w->t.run;
	const uint16_t *device = w->t.place.device;
	struct entry *order = ARENA_NEWN(w->a, struct entry, s->n);
	uint32_t *last = none_of(w->a, w->t.place.k), *other = none_of(w->a, w->t.place.k);
	for (uint32_t i = 0; i < s->n; i++)
		order[i] = (struct entry){s->start_s[i], i};
	if (s->n)
		qsort(order, s->n, sizeof *order, by_start);
	for (uint32_t at = 0, end; at < s->n; at = end) {
		for (end = at; end < s->n && order[end].start_s == order[at].start_s; end++) {
			uint32_t i = order[end].i, set = s->set[i], d = device[set];
			/* The last to end, or the one before where that is of this set itself. */
			uint32_t x = last[d] != GRAPH_NONE && s->set[last[d]] != set ? last[d]
										     : other[d];
			if (w->entry[set] == i && x != GRAPH_NONE)
				w->before[set] = x;
		}
		for (uint32_t j = at; j < end; j++) {
			uint32_t i = order[j].i, *l = &last[device[s->set[i]]],
				 *o = &other[device[s->set[i]]];
			if (*l == GRAPH_NONE || s->end_s[i] > s->end_s[*l]) {
				if (*l != GRAPH_NONE && s->set[*l] != s->set[i])
					*o = *l;
				*l = i;
			} else if (s->set[i] != s->set[*l] &&
				   (*o == GRAPH_NONE || s->end_s[i] > s->end_s[*o])) {
				*o = i;
			}
		}
	}
}

static void read_schedule(struct waits *w)
{
	const struct run_schedule *s = &w->t.run;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t *at = &w->entry[s->set[i]];
		if (*at == GRAPH_NONE || s->start_s[i] < s->start_s[*at])
			*at = i;
		w->end_s[s->set[i]] = fmax(w->end_s[s->set[i]], s->end_s[i]);
	}
	find_before(w);
	w->copy = ARENA_NEWN(w->a, uint32_t, s->n_copies);
	w->copy_seen = ARENA_NEWN(w->a, uint32_t, s->n_copies);
	rows_sort(s->copy_set, NULL, ROWS_STEP, s->n_copies, w->g->n_sets, w->copy_ptr, w->copy);
}

int waits_open(struct waits *w, const struct report_input *in, struct err *e)
{
	const struct graph *g = in->x->graph;
	struct arena *a = in->x->arena;
	*w = (struct waits){.in = in, .g = g, .a = a};
	w->entry = none_of(a, g->n_sets);
	w->before = none_of(a, g->n_sets);
	w->end_s = ARENA_NEWN(a, double, g->n_sets);
	w->set_ptr = ARENA_NEWN(a, uint32_t, (size_t)g->n_sets + 2);
	w->set_node = ARENA_NEWN(a, uint32_t, g->n);
	w->copy_ptr = ARENA_NEWN(a, uint32_t, (size_t)g->n_sets + 2);
	w->seen = ARENA_NEWN(a, uint32_t, g->n);
	w->found = ARENA_NEWN(a, uint32_t, g->n_sets);
	w->todo = ARENA_NEWN(a, uint32_t, g->n);
	w->place = ARENA_NEWN(a, uint32_t, g->n_sets);
	rows_sort(g->set, NULL, ROWS_STEP, g->n, g->n_sets, w->set_ptr, w->set_node);
	if (!in->trace->run)
		return 0;
	if (trace_read(in->trace, g, in->map, a, &w->t, e) < 0)
		return -1;
	w->of_another = !is_of_answer(w);
	w->has_schedule = !w->of_another;
	if (w->has_schedule)
		read_schedule(w);
	return 0;
}

double waits_start_s(const struct waits *w, uint32_t set)
{
	return w->t.run.start_s[w->entry[set]];
}

/* The copy of what set `from` makes to the device of set `to`: the first one of so many bytes, where there is one (-1: nobody knows
 * how many), else the first.  GRAPH_NONE: there is none. */
static uint32_t copy_between(const struct waits *w, uint32_t from, uint32_t to, int64_t bytes)
{
	const struct run_schedule *s = &w->t.run;
	uint32_t best = GRAPH_NONE;
	bool best_fits = false;
	for (uint32_t i = w->copy_ptr[from]; i < w->copy_ptr[from + 1]; i++) {
		uint32_t c = w->copy[i];
		bool fits = bytes >= 0 && s->copy_bytes[c] == (uint64_t)bytes;
		if (s->copy_dst[c] != w->t.place.device[to] || (best_fits && !fits))
			continue;
		if (best == GRAPH_NONE || fits > best_fits ||
		    s->copy_start_s[c] < s->copy_start_s[best])
			best = c;
		best_fits |= fits;
	}
	return best;
}

/* When what set `from` makes is where set `to` is, into x, where that is later than what x says; reads: `to` reads so many bytes. */
static void arrive(struct waits *w, uint32_t from, uint32_t to, int64_t bytes,
		   struct waits_neighbour *x)
{
	const struct run_schedule *s = &w->t.run;
	const uint16_t *device = w->t.place.device;
	bool here = device[from] == device[to];
	uint32_t c = here ? GRAPH_NONE : copy_between(w, from, to, bytes);
	if (c == GRAPH_NONE) {
		if (w->end_s[from] > x->at_s) {
			x->at_s = w->end_s[from];
			x->way = here ? WAITS_HERE : WAITS_LIES;
		}
		return;
	}
	if (w->copy_seen[c] != w->question) {
		w->copy_seen[c] = w->question;
		x->copies++;
		x->copied_bytes += s->copy_bytes[c];
	}
	if (s->copy_end_s[c] <= x->at_s)
		return;
	x->sized = true;
	x->bytes = s->copy_bytes[c];
	x->took_s = s->copy_end_s[c] - s->copy_start_s[c];
	x->way = x->took_s > 0 ? WAITS_COPIED : WAITS_LIES;
	x->at_s = s->copy_end_s[c];
}

/* Nodes that v reads, or that read v: their number, and the i-th. */
static uint32_t n_ends(const struct graph *g, uint32_t v, bool reads)
{
	return reads ? g->in_ptr[v + 1] - g->in_ptr[v]
		     : g->consumers.ptr[v + 1] - g->consumers.ptr[v];
}

static uint32_t end_at(const struct graph *g, uint32_t v, bool reads, uint32_t i)
{
	return reads ? g->in_node[g->in_ptr[v] + i] : g->consumers.dst[g->consumers.ptr[v] + i];
}

static int in_order(const void *pa, const void *pb)
{
	const struct waits_neighbour *a = pa, *b = pb;
	if (a->order_s != b->order_s)
		return a->order_s < b->order_s ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static struct waits_neighbour *grow(struct waits *w, const struct waits_neighbour *old, uint32_t n,
				    uint32_t *cap)
{
	*cap = *cap ? 2 * *cap : 8;
	struct waits_neighbour *more = ARENA_NEWN(w->a, struct waits_neighbour, *cap);
	if (n)
		memcpy(more, old, n * sizeof *more);
	return more;
}

uint32_t waits_neighbours(struct waits *w, uint32_t v, bool reads, struct waits_neighbour **out)
{
	const struct graph *g = w->g;
	uint32_t own = g->set[v], n = 0, left = 0, now = ++w->question, cap = 0;
	*out = NULL;
	w->todo[left++] = v;
	w->seen[v] = now;
	for (uint32_t i = own == GRAPH_NONE ? 0 : w->set_ptr[own];
	     own != GRAPH_NONE && i < w->set_ptr[own + 1]; i++)
		if (w->set_node[i] != v) {
			w->seen[w->set_node[i]] = now;
			w->todo[left++] = w->set_node[i];
		}
	while (left) {
		uint32_t u = w->todo[--left];
		for (uint32_t i = 0; i < n_ends(g, u, reads); i++) {
			uint32_t x = end_at(g, u, reads, i);
			if (x == GRAPH_NONE || w->seen[x] == now || w->in->constant[x])
				continue;
			uint32_t set = g->set[x];
			if (set == GRAPH_NONE || w->entry[set] == GRAPH_NONE) {
				w->seen[x] = now;
				w->todo[left++] = x;
				continue;
			}
			int64_t bytes =
				reads ? graph_out_bytes(g, graph_slot_output(g, g->in_ptr[u] + i))
				      : -1;
			if (w->found[set] != now) {
				w->found[set] = now;
				w->place[set] = n;
				if (n == cap)
					*out = grow(w, *out, n, &cap);
				(*out)[n++] = (struct waits_neighbour){
					.set = set, .node = x, .at_s = -INFINITY};
			} else if (!reads) {
				continue;
			}
			struct waits_neighbour *nb = &(*out)[w->place[set]];
			if (reads)
				arrive(w, set, own, bytes, nb);
			else
				arrive(w, own, set, bytes, nb);
			nb->order_s = reads ? -nb->at_s : waits_start_s(w, set);
		}
	}
	if (n)
		qsort(*out, n, sizeof **out, in_order);
	return n;
}

double waits_cost_s(const struct waits *w, uint32_t set, uint32_t d)
{
	const struct cost_rec *c = w->in->cost;
	uint32_t at = 0;
	while (c && at < c->k && strcmp(c->names[at], w->in->x->place.names[d]) != 0)
		at++;
	return c && at < c->k ? c->set_s[(size_t)set * c->k + at] : NAN;
}
