/* move_search.c - learned moves around an incumbent. */
#include <math.h>
#include <string.h>

#include "place/learned/move_search.h"

enum { DRAWS = 4 }; /* draws for each candidate, at most */

void move_search_init(struct move_search *x, const struct search_context *s,
		      const struct cost_view *view, const struct learned_params *params,
		      uint32_t n_candidates, struct random_stream rng)
{
	*x = (struct move_search){.s = s,
				  .view = view,
				  .params = params,
				  .n_candidates = n_candidates,
				  .rng = rng,
				  .fresh = true,
				  .a = arena_new()};
	x->x = incumbent_view_new(view, &s->u);
	search_state_init(&x->p, s, rng);
	x->p.price = 10;
	patcher_init(&x->patcher, s, x->x, x->a);
	x->patch = ARENA_NEWN(x->a, struct patch, n_candidates);
	x->feature = ARENA_NEWN(x->a, float, (size_t)n_candidates *PATCH_FEATURES);
	x->score = ARENA_NEWN(x->a, float, n_candidates);
	x->cap_tried = 1024;
	x->tried = MEM_NEWN(uint64_t, x->cap_tried);
}

void move_search_release(struct move_search *x)
{
	search_state_release(&x->p);
	incumbent_view_free(x->x);
	mem_free(x->tried);
	arena_free(x->a);
}

static void forget(struct move_search *x)
{
	x->fresh = true;
	x->n_tried = 0;
	memset(x->tried, 0, x->cap_tried * sizeof(*x->tried));
}

void move_search_set(struct move_search *x, const uint16_t *device)
{
	search_state_set(&x->p, device);
	forget(x);
}

/* ---- what was tried: open addressing ---- */

static uint64_t *slot_of(struct move_search *x, uint64_t hash)
{
	uint64_t h = hash | 1;
	uint32_t i = (uint32_t)(h >> 20) % x->cap_tried;

	while (x->tried[i] && x->tried[i] != h)
		i = (i + 1) % x->cap_tried;
	return &x->tried[i];
}

static void note_tried(struct move_search *x, uint64_t hash)
{
	if (2 * x->n_tried >= x->cap_tried) {
		uint64_t *old = x->tried;
		uint32_t cap = x->cap_tried;

		x->cap_tried *= 2;
		x->tried = MEM_NEWN(uint64_t, x->cap_tried);
		for (uint32_t i = 0; i < cap; i++)
			if (old[i])
				*slot_of(x, old[i]) = old[i];
		mem_free(old);
	}
	uint64_t *slot = slot_of(x, hash);

	x->n_tried += *slot == 0;
	*slot = hash | 1;
}

/* ---- candidates ---- */

static bool is_new(struct move_search *x, uint32_t n, uint64_t hash)
{
	if (*slot_of(x, hash))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (x->patch[i].hash == hash)
			return false;
	return true;
}

uint32_t move_search_candidates(struct move_search *x)
{
	const struct learned_params *l = x->params;
	uint32_t n = 0;

	if (x->fresh) {
		if (!incumbent_view_set(x->x, x->p.device) || x->x->n_chain == 0)
			return 0;
		patcher_look(&x->patcher, 0);
		x->fresh = false;
	}
	if (x->parse && x->parse->n_rounds)
		patcher_set_groups(
			&x->patcher,
			x->parse->group[random_stream_below(&x->rng, x->parse->n_rounds)]);
	for (uint32_t i = 0; i < DRAWS * x->n_candidates && n < x->n_candidates; i++)
		if (patch_draw(&x->patcher, &x->rng, &x->patch[n]) &&
		    is_new(x, n, x->patch[n].hash))
			n++;
	for (uint32_t i = 0; l && i < n; i++)
		patch_features(&x->patcher, &x->patch[i], x->feature + (size_t)i * PATCH_FEATURES);
	if (l)
		scorer_run(&l->moves, l->p, x->feature, n, x->score);
	return n;
}

/* Simulates patch i; the state is that after it. */
static double run_patch(struct move_search *x, uint32_t i)
{
	struct search_state *p = &x->p;
	const struct patch *y = &x->patch[i];
	double value = p->value;

	for (uint32_t j = 0; j < y->n; j++)
		search_state_move(p, y->unit[j], patch_target(y, j));
	search_state_evaluate(p, x->heat > 0 ? INFINITY : p->energy);
	return p->value < INFINITY ? log(value / p->value) : -INFINITY;
}

void move_search_gains(struct move_search *x, uint32_t n, double *gain)
{
	double energy = x->p.energy, value = x->p.value;
	uint64_t used = x->p.used;
	double heat = x->heat;

	x->heat = 0; /* what is worse need not be told exactly */
	for (uint32_t i = 0; i < n; i++) {
		gain[i] = run_patch(x, i);
		search_state_undo(&x->p, energy, value);
	}
	x->p.used = used;
	x->heat = heat;
}

double move_search_try(struct move_search *x, uint32_t i, bool keep)
{
	struct search_state *p = &x->p;
	const struct patch *y = &x->patch[i];
	double energy = p->energy, value = p->value, gain = run_patch(x, i);

	double heat = x->heat * -log(1 - random_stream_uniform(&x->rng));

	if (keep && (p->value < value * (1 + heat) || (p->value == value && p->energy < energy))) {
		search_state_keep(p);
		forget(x);
		return gain;
	}
	search_state_undo(p, energy, value);
	note_tried(x, y->hash);
	x->patcher.n_tried++;
	for (uint32_t j = 0; j < y->n; j++)
		x->patcher.tried[y->unit[j]]++;
	return gain;
}

bool move_search_step(struct move_search *x)
{
	uint32_t n = move_search_candidates(x), best = 0;

	for (uint32_t i = 1; x->params && i < n; i++)
		if (x->score[i] > x->score[best])
			best = i;
	if (n > 0)
		move_search_try(x, best, true);
	return n > 0;
}
