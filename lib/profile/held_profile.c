/* held_profile.c - pieces of memory by device and key, and which sets need them. */
#include "profile/held_profile.h"

#include <stdlib.h>
#include <string.h>

struct held_piece {
	uint32_t d, set, times_freed;
	const void *key;
	uint64_t bytes;
};

struct adder {
	struct held_pieces *to;
	uint32_t d;
	const uint32_t *step_set;
};

static void add_piece(void *arg, uint32_t step, const void *key, uint64_t bytes)
{
	const struct adder *x = arg;
	struct held_pieces *to = x->to;
	uint32_t set = x->step_set[step];
	if (!key || bytes == 0 || set == GRAPH_NONE)
		return;
	to->v = mem_grow(to->v, &to->cap, to->n + 1, sizeof *to->v);
	to->v[to->n++] = (struct held_piece){x->d, set, to->times_freed, key, bytes};
}

void held_pieces_add(struct held_pieces *x, struct planner *p, const struct plan *plan, uint32_t d,
		     const uint32_t *step_set)
{
	struct adder to = {x, d, step_set};
	plan_pieces(p, plan, d, true, add_piece, &to);
}

void held_pieces_freed(struct held_pieces *x)
{
	x->times_freed++;
}

static int by_piece(const void *pa, const void *pb)
{
	const struct held_piece *a = pa, *b = pb;
	if (a->d != b->d)
		return a->d < b->d ? -1 : 1;
	if (a->key != b->key)
		return (uintptr_t)a->key < (uintptr_t)b->key ? -1 : 1;
	if (a->times_freed != b->times_freed)
		return a->times_freed < b->times_freed ? -1 : 1;
	return (a->set > b->set) - (a->set < b->set);
}

/* A piece that several sets need. */
struct shared_piece {
	uint32_t d, n, first; /* sets set[first .. first+n-1] */
	uint64_t bytes;
};

struct shared_pieces {
	struct shared_piece *v;
	size_t n, cap;
	uint32_t *set;
	size_t n_set, cap_set;
};

/* Pieces v[first .. end-1] are one. */
static void note_shared(struct shared_pieces *x, const struct held_piece *v, size_t first,
			size_t end)
{
	struct shared_piece s = {v[first].d, 0, (uint32_t)x->n_set, v[first].bytes};
	for (size_t i = first; i < end; i++) {
		if (i > first && v[i].set == v[i - 1].set)
			continue;
		x->set = mem_grow(x->set, &x->cap_set, x->n_set + 1, sizeof *x->set);
		x->set[x->n_set++] = v[i].set;
		s.n++;
	}
	x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
	x->v[x->n++] = s;
}

static int compare_sets(const struct shared_piece *a, const struct shared_piece *b,
			const uint32_t *set)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return memcmp(set + a->first, set + b->first, a->n * sizeof *set);
}

static int by_sets(const void *pa, const void *pb, void *set)
{
	const struct shared_piece *a = pa, *b = pb;
	int order = compare_sets(a, b, set);
	if (order != 0)
		return order;
	return (a->first > b->first) - (a->first < b->first);
}

/* One row for all pieces that the same sets need. */
static void store_shared(struct shared_pieces *x, uint32_t k, struct arena *a,
			 struct held_profile *out)
{
	uint32_t n_set = 0;
	if (x->n > 1)
		qsort_r(x->v, x->n, sizeof *x->v, by_sets, x->set);
	out->shared = ARENA_NEWN(a, uint64_t, x->n * k);
	out->shared_ptr = ARENA_NEWN(a, uint32_t, x->n + 1);
	out->shared_set = ARENA_NEWN(a, uint32_t, x->n_set);
	for (size_t i = 0; i < x->n; i++) {
		const struct shared_piece *s = &x->v[i];
		if (i == 0 || compare_sets(s - 1, s, x->set) != 0) {
			memcpy(out->shared_set + n_set, x->set + s->first, s->n * sizeof *x->set);
			n_set += s->n;
			out->shared_ptr[++out->n_shared] = n_set;
		}
		out->shared[(size_t)(out->n_shared - 1) * k + s->d] += s->bytes;
	}
}

void held_pieces_sum(struct held_pieces *x, uint32_t n_sets, uint32_t k, struct arena *a,
		     struct held_profile *out)
{
	struct shared_pieces shared = {0};
	size_t end;
	out->set = ARENA_NEWN(a, uint64_t, (size_t)n_sets * k);
	if (x->n > 1)
		qsort(x->v, x->n, sizeof *x->v, by_piece);
	for (size_t i = 0; i < x->n; i = end) {
		const struct held_piece *p = &x->v[i];
		for (end = i; end < x->n && x->v[end].d == p->d && x->v[end].key == p->key &&
			      x->v[end].times_freed == p->times_freed;)
			end++;
		if (p->set == x->v[end - 1].set)
			out->set[(size_t)p->set * k + p->d] += p->bytes;
		else
			note_shared(&shared, x->v, i, end);
	}
	store_shared(&shared, k, a, out);
	mem_free(shared.v);
	mem_free(shared.set);
	mem_free(x->v);
	*x = (struct held_pieces){0};
}

/* ---- tensors inside sets ---- */

/* An output of a group, as the groups of its plan see it. */
struct inner_value {
	uint32_t maker, last; /* groups; the last that reads it */
	uint32_t over;        /* the output that is written over it, GRAPH_NONE */
	bool is_over, leaves; /* another set reads it, or it is a result */
};

static uint32_t group_set(const struct plan *plan, uint32_t i, const uint32_t *step_set)
{
	return step_set[plan->group[i].step[0]];
}

/* Who makes and who reads each output; v (outputs of the graph). */
static void find_values(const struct planner *p, const struct plan *plan, const uint32_t *step_set,
			struct inner_value *v)
{
	for (uint32_t i = 0; i < plan->n_groups; i++)
		for (uint32_t j = 0; j < plan->group[i].n_out; j++) {
			uint32_t o = plan->group[i].out[j], t = p->out_tensor[o];
			v[o] = (struct inner_value){i, i, GRAPH_NONE, false, p->is_result[t]};
		}
	for (uint32_t i = 0; i < plan->n_groups; i++)
		for (uint32_t j = 0; j < plan->group[i].n_in; j++) {
			struct inner_value *x = &v[plan->group[i].in[j]];
			if (p->out_tensor[plan->group[i].in[j]] == GRAPH_NONE)
				continue;
			x->last = i > x->last ? i : x->last;
			x->leaves |=
				group_set(plan, x->maker, step_set) != group_set(plan, i, step_set);
		}
}

/* Outputs of group i that are written over what it alone still reads (plan_memory.c). */
static void find_over(const struct planner *p, const struct plan *plan, uint32_t i,
		      struct inner_value *v)
{
	const struct fusion_group *g = &plan->group[i];
	struct device *dev = &p->devices->dev[g->dev];
	for (uint32_t o = 0; dev->class->in_place && o < g->n_out; o++)
		for (uint32_t j = 0; j < g->n_in; j++) {
			uint32_t in = g->in[j], out = g->out[o];
			if (p->out_tensor[in] == GRAPH_NONE || v[in].leaves || v[in].last != i ||
			    v[in].over != GRAPH_NONE ||
			    model_bytes(p->m, in) != model_bytes(p->m, out) ||
			    !dev->class->in_place(dev, plan->used[i]->step, j, o))
				continue;
			v[in].over = out;
			v[out].is_over = true;
			break;
		}
}

void held_inner(struct planner *p, const struct plan *plan, uint32_t d, const uint32_t *step_set,
		struct held_profile *out)
{
	const struct graph *g = p->m->g;
	uint32_t k = p->devices->n;
	struct inner_value *v = MEM_NEWN(struct inner_value, (size_t)g->out_ptr[g->n] + 1);
	uint64_t *live = MEM_NEWN(uint64_t, (size_t)g->n_sets + 1);
	uint64_t *ends = MEM_NEWN(uint64_t, (size_t)plan->n_groups + 1); /* bytes, by last reader */
	find_values(p, plan, step_set, v);
	for (uint32_t i = 0; i < plan->n_groups; i++)
		if (plan->group[i].dev == d)
			find_over(p, plan, i, v);
	for (uint32_t i = 0; i < plan->n_groups; i++) {
		const struct fusion_group *x = &plan->group[i];
		uint32_t set = group_set(plan, i, step_set);
		if (x->dev != d || set == GRAPH_NONE)
			continue;
		for (uint32_t j = 0; j < x->n_out; j++) {
			uint32_t end = x->out[j];
			if (v[end].is_over)
				continue;
			while (v[end].over != GRAPH_NONE)
				end = v[end].over;
			/* What leaves the set counts for its schedule from when it begins. */
			if (v[end].leaves)
				continue;
			live[set] += model_bytes(p->m, end);
			ends[v[end].last] += model_bytes(p->m, end);
		}
		uint64_t *most = &out->inner[(size_t)set * k + d];
		*most = live[set] > *most ? live[set] : *most;
		live[set] -= ends[i];
	}
	mem_free(v);
	mem_free(live);
	mem_free(ends);
}

/* ---- can it fit at all? ---- */

/* The least that a row of bytes (k) takes on devices that may have it. */
static uint64_t least_of(const uint64_t *bytes, const struct interval *may, uint32_t k)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t d = 0; d < k; d++)
		if ((!may || may[d].mid >= 0) && bytes[d] < least)
			least = bytes[d];
	return least == UINT64_MAX ? 0 : least;
}

/* The set that misses most on the device where it misses least; GRAPH_NONE: all fit somewhere. */
static uint32_t too_large(const struct held_profile *h, const struct interval *set_s,
			  const uint64_t *room, uint32_t n_sets, uint32_t k, uint32_t *on)
{
	uint32_t worst = GRAPH_NONE;
	uint64_t most = 0;
	for (uint32_t i = 0; i < n_sets; i++) {
		uint64_t least = UINT64_MAX;
		uint32_t at = 0;
		for (uint32_t d = 0; d < k; d++) {
			uint64_t holds = h->set[(size_t)i * k + d];
			uint64_t misses = holds > room[d] ? holds - room[d] : 0;
			if (set_s[(size_t)i * k + d].mid >= 0 && misses < least) {
				least = misses;
				at = d;
			}
		}
		if (least == UINT64_MAX || least <= most)
			continue;
		most = least;
		worst = i;
		*on = at;
	}
	return worst;
}

static const char *set_name(const struct graph *g, uint32_t set, char *text, size_t cap)
{
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] == set)
			return err_escape(text, cap, g->node_name[v], strlen(g->node_name[v]));
	return "";
}

int held_check(const struct held_profile *h, const struct interval *set_s, const struct graph *g,
	       const struct device_list *l, struct err *e)
{
	uint32_t k = l->n, on = 0;
	double needs = 0, has = 0;
	char name[200];
	uint64_t *room = MEM_NEWN(uint64_t, (size_t)k + 1);
	bool limited = true;
	for (uint32_t d = 0; d < k; d++) {
		uint64_t memory = device_memory(&l->dev[d]);
		limited &= memory > 0;
		room[d] = memory == 0 ? UINT64_MAX : memory > h->work[d] ? memory - h->work[d] : 0;
		has += (double)room[d];
	}
	uint32_t set = too_large(h, set_s, room, g->n_sets, k, &on);
	uint64_t left = room[on];
	mem_free(room);
	if (set != GRAPH_NONE)
		return err_set(
			e, ST_RUNTIME,
			"no placement can fit: set %u ('%s') holds %.1f MB, and the device that "
			"comes closest, '%s', has %.1f MB for it, %.1f MB too little",
			set, set_name(g, set, name, sizeof name),
			(double)h->set[(size_t)set * k + on] * 1e-6, l->dev[on].name,
			(double)left * 1e-6, (double)(h->set[(size_t)set * k + on] - left) * 1e-6);
	for (uint32_t i = 0; i < g->n_sets; i++)
		needs += (double)least_of(&h->set[(size_t)i * k], &set_s[(size_t)i * k], k);
	for (uint32_t i = 0; i < h->n_shared; i++)
		needs += (double)least_of(&h->shared[(size_t)i * k], NULL, k);
	if (!limited || needs <= has)
		return 0;
	return err_set(
		e, ST_RUNTIME,
		"no placement can fit: the model's sets hold %.1f MB, the devices have %.1f MB "
		"for them together, %.1f MB too little",
		needs * 1e-6, has * 1e-6, (needs - has) * 1e-6);
}
