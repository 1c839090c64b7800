/* patch.c - which moves there are: connected patches of one device, of all sizes, mostly around
 * what makes the schedule long, mostly to where their neighbours are. */
#include <math.h>
#include <string.h>

#include "graph/rows.h"
#include "place/learned/patch.h"

enum { BACK_MOST = 16, SWAPS = 6 }; /* swaps in sixteen draws */
static const uint64_t BACK = (uint64_t)1 << 32;
static const double NEAR_SLACK = 0.05; /* of the makespan: nearly critical */

static void list_twins(struct patcher *p, struct arena *a)
{
	const struct cost_view *view = p->x->view;

	p->twin_ptr = ARENA_NEWN(a, uint32_t, (size_t)view->n_twins + 2);
	p->twin_task = ARENA_NEWN(a, uint32_t, view->n);
	rows_sort(view->twins, NULL, ROWS_STEP, view->n, view->n_twins, p->twin_ptr, p->twin_task);
}

void patcher_init(struct patcher *p, const struct search_context *s, const struct incumbent_view *x,
		  struct arena *a)
{
	*p = (struct patcher){.s = s, .x = x};
	p->mark = ARENA_NEWN(a, uint32_t, s->u.n);
	p->goes = ARENA_NEWN(a, uint16_t, s->u.n);
	p->tried = ARENA_NEWN(a, uint32_t, s->u.n);
	p->tensor_mark = ARENA_NEWN(a, uint32_t, x->view->m->tasks.dag.n_tensors);
	p->new_end_s = ARENA_NEWN(a, double, x->view->n);
	p->task = ARENA_NEWN(a, uint32_t, x->view->n);
	list_twins(p, a);
	p->groups = ARENA_NEWN(a, uint32_t, s->u.n);
	p->group_ptr = ARENA_NEWN(a, uint32_t, (size_t)s->m->n_sets + 2);
	p->group_unit = ARENA_NEWN(a, uint32_t, s->u.n);
}

void patcher_look(struct patcher *p, uint32_t n_tried)
{
	const struct timeline *t = p->x->t;

	p->n_tried = n_tried;
	p->copies_s = 0;
	memset(p->tried, 0, p->s->u.n * sizeof(*p->tried));
	for (uint32_t c = 0; c < t->n_copies; c++)
		p->copies_s += (t->copy_end_s[c] - t->copy_start_s[c]) / t->n_copies;
}

void patcher_set_groups(struct patcher *p, const uint32_t *group)
{
	const struct place_units *u = &p->s->u;
	uint32_t n_sets = u->m->n_sets;

	p->group = NULL;
	if (!group)
		return;
	p->group = p->groups;
	memset(p->group_ptr, 0, ((size_t)n_sets + 2) * sizeof(*p->group_ptr));
	for (uint32_t i = 0; i < u->n; i++)
		p->group[i] = group[u->set[u->ptr[i]]];
	rows_sort(p->group, NULL, ROWS_STEP, u->n, n_sets, p->group_ptr, p->group_unit);
}

static uint32_t unit_of(const struct patcher *p, uint32_t v)
{
	return p->s->u.of_set[p->x->view->m->tasks.task_set[v]];
}

static uint16_t home(const struct patcher *p, uint32_t unit)
{
	return p->x->on[p->x->unit_task[p->x->unit_ptr[unit]]];
}

static bool may_go(const struct patcher *p, uint32_t unit, uint16_t dev)
{
	return p->s->u.cost_s[(size_t)unit * p->s->m->k + dev] >= 0;
}

/* A unit of the critical chain, or with little slack, or any. */
static uint32_t draw_seed(const struct patcher *p, struct random_stream *rng)
{
	const struct incumbent_view *x = p->x;
	uint32_t how = random_stream_below(rng, 8), v = 0;

	if (how < 4)
		return unit_of(p, x->chain[random_stream_below(rng, x->n_chain)]);
	for (uint32_t tries = 0; tries < 8; tries++) {
		v = random_stream_below(rng, x->view->n);
		if (how >= 6 || incumbent_slack_s(x, v) <= NEAR_SLACK * x->t->makespan_s)
			break;
	}
	return unit_of(p, v);
}

/* A neighbour's device, or any. */
static uint16_t draw_target(const struct patcher *p, struct random_stream *rng,
			    const struct patch *y)
{
	const struct search_context *s = p->s;
	uint32_t unit = y->unit[random_stream_below(rng, y->n)];
	uint32_t n = s->u.dev_ptr[unit + 1] - s->u.dev_ptr[unit];

	for (uint32_t tries = 0; tries < 6; tries++) {
		uint32_t near = s->ptr[unit + 1] - s->ptr[unit];
		uint16_t to;

		if (near && random_stream_below(rng, 8) < 5)
			to = home(p, s->adj[s->ptr[unit] + random_stream_below(rng, near)]);
		else
			to = s->u.dev[s->u.dev_ptr[unit] + random_stream_below(rng, n)];
		if (to != y->from)
			return to;
		unit = y->unit[random_stream_below(rng, y->n)];
		n = s->u.dev_ptr[unit + 1] - s->u.dev_ptr[unit];
	}
	return y->from;
}

/* More units of the same device around the first, until there are `size`. */
static void grow(struct patcher *p, struct random_stream *rng, uint32_t size, struct patch *y)
{
	const struct search_context *s = p->s;
	bool deep = random_stream_below(rng, 2);
	uint32_t fails = 0;

	while (y->n < size && fails < 2 * size + 4) {
		uint32_t at = deep ? y->n - 1 - random_stream_below(rng, y->n < 3 ? y->n : 3)
				   : random_stream_below(rng, y->n);
		uint32_t u = y->unit[at], near = s->ptr[u + 1] - s->ptr[u];
		uint32_t w = near ? s->adj[s->ptr[u] + random_stream_below(rng, near)] : u;

		if (p->mark[w] == p->step || home(p, w) != y->from) {
			fails++;
			continue;
		}
		p->mark[w] = p->step;
		y->unit[y->n++] = w;
	}
}

/* The units of the first's group that are on its device. */
static void take_group(struct patcher *p, struct patch *y)
{
	uint32_t g = p->group[y->unit[0]];

	for (uint32_t i = p->group_ptr[g]; i < p->group_ptr[g + 1] && y->n < PATCH_MOST; i++) {
		uint32_t w = p->group_unit[i];

		if (p->mark[w] == p->step || home(p, w) != y->from)
			continue;
		p->mark[w] = p->step;
		y->unit[y->n++] = w;
	}
}

static void add_unit(struct patcher *p, uint32_t unit, struct patch *y)
{
	if (p->mark[unit] == p->step || home(p, unit) != y->from || y->n == PATCH_MOST)
		return;
	p->mark[unit] = p->step;
	y->unit[y->n++] = unit;
}

/* Twins of the first unit's first task on its device: the same layer at other places.  Around it, as
 * many as `size`, or all. */
static void take_twins(struct patcher *p, struct random_stream *rng, uint32_t size, struct patch *y)
{
	const struct incumbent_view *x = p->x;
	uint32_t v = x->unit_task[x->unit_ptr[y->unit[0]]], c = x->view->twins[v];
	uint32_t lo = p->twin_ptr[c], hi = p->twin_ptr[c + 1], at = lo;

	if (random_stream_below(rng, 2) == 0)
		size = PATCH_MOST;
	while (p->twin_task[at] != v)
		at++;
	/* from the task outwards, later ones first */
	for (uint32_t i = 1; i < hi - lo && y->n < size; i++) {
		if (at + i < hi)
			add_unit(p, unit_of(p, p->twin_task[at + i]), y);
		if (at >= lo + i && y->n < size)
			add_unit(p, unit_of(p, p->twin_task[at - i]), y);
	}
}

/* A stretch of a topological order, as far as it is on the first unit's device. */
static void take_stretch(struct patcher *p, uint32_t size, struct patch *y)
{
	uint32_t n = p->s->u.n, first = y->unit[0];

	for (uint32_t i = 1; first + i < n && i < 2 * size && y->n < size; i++)
		add_unit(p, first + i, y);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

/* A unit on y->to near the patch, or one of those that make the schedule long; UINT32_MAX: none found. */
static uint32_t draw_back_seed(struct patcher *p, struct random_stream *rng, const struct patch *y)
{
	const struct search_context *s = p->s;

	for (uint32_t tries = 0; tries < 12; tries++) {
		uint32_t u = y->unit[random_stream_below(rng, y->n)];
		uint32_t hops = 1 + random_stream_below(rng, 3);

		if (tries >= 8)
			u = draw_seed(p, rng);
		for (; tries < 8 && hops > 0; hops--)
			if (s->ptr[u] < s->ptr[u + 1])
				u = s->adj[s->ptr[u] +
					   random_stream_below(rng, s->ptr[u + 1] - s->ptr[u])];
		if (p->mark[u] != p->step && home(p, u) == y->to && may_go(p, u, y->from))
			return u;
	}
	return UINT32_MAX;
}

/* A patch that comes back: around a unit near y, or a few of the same kind. */
static void add_back(struct patcher *p, struct random_stream *rng, struct patch *y)
{
	struct patch back = {.n = 1, .from = y->to, .to = y->from};
	uint32_t size = (uint32_t)exp2(random_stream_uniform(rng) * log2(BACK_MOST + 0.99));
	uint32_t seed = draw_back_seed(p, rng, y);

	if (seed == UINT32_MAX || y->n == PATCH_MOST)
		return;
	back.unit[0] = seed;
	p->mark[seed] = p->step;
	grow(p, rng, size < PATCH_MOST - y->n ? size : PATCH_MOST - y->n, &back);
	for (uint32_t i = 0; i < back.n; i++)
		if (may_go(p, back.unit[i], y->from)) {
			y->hash += mix(back.unit[i] + BACK);
			y->unit[y->n++] = back.unit[i];
			y->n_back++;
		}
}

bool patch_draw(struct patcher *p, struct random_stream *rng, struct patch *out)
{
	uint32_t seed = draw_seed(p, rng), kept = 0;
	uint32_t size = (uint32_t)exp2(random_stream_uniform(rng) * log2(PATCH_MOST + 0.99));

	p->step++;
	p->mark[seed] = p->step;
	*out = (struct patch){.n = 1, .from = home(p, seed)};
	out->unit[0] = seed;
	if (p->s->u.dev_ptr[seed] == p->s->u.dev_ptr[seed + 1])
		return false;
	uint32_t how = random_stream_below(rng, 16);

	if (how < 3 && p->group)
		take_group(p, out);
	else if (how < 6)
		take_twins(p, rng, size, out);
	else if (how < 7)
		take_stretch(p, size, out);
	else
		grow(p, rng, size, out);
	if (how >= 3 && how < 6 && random_stream_below(rng, 2))
		grow(p, rng, 2 * out->n < PATCH_MOST ? 2 * out->n : PATCH_MOST, out);
	out->to = draw_target(p, rng, out);
	if (out->to == out->from)
		return false;
	for (uint32_t i = 0; i < out->n; i++)
		if (may_go(p, out->unit[i], out->to)) {
			out->hash += mix(out->unit[i] + 1);
			out->unit[kept++] = out->unit[i];
		}
	out->n = kept;
	if (kept > 0 && random_stream_below(rng, 16) < SWAPS)
		add_back(p, rng, out);
	out->hash = mix(out->hash + ((uint64_t)out->to << 32));
	return kept > 0;
}
