/* propose.c - lists of moves for a loop. */
#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "place/learned/propose.h"
#include "place/learned/shot.h"

enum { DRAWS = 4 };

struct proposer {
	struct arena *a;
	const struct place_model *m;
	struct method_run run;
	struct search_context s;
	struct cost_view view;
	struct incumbent_view *x;
	struct patcher patcher;
	struct patch *patch;
	float *feature, *score;
	uint16_t *device; /* (n_sets) of a candidate */
	uint32_t cap;
};

struct proposer *proposer_new(const struct place_model *m, struct err *e)
{
	struct proposer *x;

	if (m->rules != PLACE_SCHEDULE) {
		err_set(e, ST_USAGE, "learned placement is for schedules");
		return NULL;
	}
	x = MEM_NEW(struct proposer);
	x->a = arena_new();
	x->m = m;
	x->run = (struct method_run){.m = m, .threads = 1, .a = x->a};
	search_context_init(&x->s, &x->run);
	cost_view_init(&x->view, m, x->a);
	x->x = incumbent_view_new(&x->view, &x->s.u);
	patcher_init(&x->patcher, &x->s, x->x, x->a);
	x->device = ARENA_NEWN(x->a, uint16_t, m->n_sets);
	return x;
}

void proposer_free(struct proposer *x)
{
	if (!x)
		return;
	incumbent_view_free(x->x);
	search_context_release(&x->s);
	mem_free(x->patch);
	mem_free(x->feature);
	mem_free(x->score);
	arena_free(x->a);
	mem_free(x);
}

uint64_t placement_hash(const uint16_t *device, uint32_t n_sets)
{
	return digest_of(device, (size_t)n_sets * sizeof(*device), 0);
}

int proposer_shot(struct proposer *x, const struct learned_params *params, const uint32_t *group,
		  uint16_t *device, double *value, struct err *e)
{
	struct arena *a = arena_new();
	struct parse parse;
	struct shot shot = {.view = &x->view,
			    .s = &x->s,
			    .params = params,
			    .group = group,
			    .parse = &parse,
			    .variants = SHOT_VARIANTS,
			    .seed = 1};

	parse_run(&parse, &x->view, &x->s.u, params, a);
	int rc = shot_run(&shot, device, e);

	*value = shot.value;
	arena_free(a);
	return rc;
}

static void make_room(struct proposer *x, uint32_t most)
{
	if (most <= x->cap)
		return;
	x->cap = most;
	x->patch = mem_resize(x->patch, most, sizeof(*x->patch));
	x->feature = mem_resize(x->feature, (size_t)most * PATCH_FEATURES, sizeof(*x->feature));
	x->score = mem_resize(x->score, most, sizeof(*x->score));
}

static bool is_new(struct proposer *x, const uint16_t *incumbent, uint32_t n, const uint64_t *tried,
		   uint32_t n_tried)
{
	for (uint32_t i = 0; i < n; i++)
		if (x->patch[i].hash == x->patch[n].hash)
			return false;
	if (n_tried == 0)
		return true;
	proposer_apply(x, incumbent, n, x->device);
	uint64_t hash = placement_hash(x->device, x->m->n_sets);

	for (uint32_t i = 0; i < n_tried; i++)
		if (tried[i] == hash)
			return false;
	return true;
}

struct proposals proposer_list(struct proposer *x, const struct learned_params *params,
			       const uint16_t *incumbent, const struct rng_addr *at,
			       const uint32_t *group, const uint64_t *tried, uint32_t n_tried,
			       uint32_t most)
{
	struct random_stream rng = {.a = *at};
	struct proposals out = {0};

	make_room(x, most);
	patcher_set_groups(&x->patcher, group);
	if (!incumbent_view_set(x->x, incumbent) || x->x->n_chain == 0)
		return out;
	patcher_look(&x->patcher, n_tried);
	for (uint32_t i = 0; i < DRAWS * most && out.n < most; i++)
		if (patch_draw(&x->patcher, &rng, &x->patch[out.n]) &&
		    is_new(x, incumbent, out.n, tried, n_tried))
			out.n++;
	for (uint32_t i = 0; i < out.n; i++)
		patch_features(&x->patcher, &x->patch[i], x->feature + (size_t)i * PATCH_FEATURES);
	if (params)
		scorer_run(&params->moves, params->p, x->feature, out.n, x->score);
	out.patch = x->patch;
	out.feature = x->feature;
	out.score = params ? x->score : NULL;
	return out;
}

void proposer_apply(const struct proposer *x, const uint16_t *incumbent, uint32_t i, uint16_t *out)
{
	const struct patch *y = &x->patch[i];

	memcpy(out, incumbent, x->m->n_sets * sizeof(*out));
	for (uint32_t j = 0; j < y->n; j++)
		place_unit_set(&x->s.u, y->unit[j], patch_target(y, j), out);
}
