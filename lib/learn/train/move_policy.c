/* move_policy.c - placements and moves by scorers that see costs. */
#include "learn/train/move_policy.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES = 64 }; /* moves in a list */

void move_policy_init(struct move_policy *x)
{
	*x = (struct move_policy){.arena = arena_new()};
}

/* The model that was made, with what it was made of. */
static void drop_model(struct move_policy *x)
{
	if (x->proposer) {
		proposer_free(x->proposer);
		place_inputs_release(&x->in);
	}
	x->proposer = NULL;
	arena_reset(x->arena);
}

static void drop(struct rec **r)
{
	rec_drop(*r);
	*r = NULL;
}

void move_policy_reset(struct move_policy *x)
{
	drop_model(x);
	drop(&x->graph);
	drop(&x->devs);
	drop(&x->cost);
	drop(&x->group);
	learned_params_free(x->params);
	learned_params_free(x->adapt);
	x->params = x->adapt = NULL;
	x->n_tried = 0;
}

void move_policy_release(struct move_policy *x)
{
	move_policy_reset(x);
	mem_free(x->tried);
	arena_free(x->arena);
}

int move_policy_note(struct move_policy *x, const struct rec *r, struct err *e)
{
	struct rec **to = rec_is(r, "graph")   ? &x->graph
			  : rec_is(r, "devs")  ? &x->devs
			  : rec_is(r, "cost")  ? &x->cost
			  : rec_is(r, "group") ? &x->group
					       : NULL;

	if (!to)
		return 0;
	drop(to);
	*to = rec_keep(r);
	return *to ? 0 : err_set(e, ST_RUNTIME, "no memory for a record of kind '%s'", r->kind);
}

int move_policy_params(struct move_policy *x, const struct rec *r, struct err *e)
{
	enum params_block b;

	if (params_decode_block(r, &b, e) < 0)
		return -1;
	return learned_params_decode(r, b == BLOCK_ADAPT ? &x->adapt : &x->params, e);
}

bool move_policy_knows(const struct move_policy *x)
{
	return x->params && (x->proposer || (x->graph && x->cost));
}

static int take(struct place_inputs *in, struct rec **r, struct err *e)
{
	if (*r && place_inputs_take(in, *r, e) < 0)
		return -1;
	drop(r);
	return 0;
}

/* The model, when it is first needed. */
static int make_model(struct move_policy *x, const char *const *names, uint32_t k, struct err *e)
{
	int rc;

	if (x->proposer)
		return 0;
	if (place_inputs_init(&x->in, NULL, e) < 0)
		return -1;
	x->in.keep_groups = true;
	rc = take(&x->in, &x->graph, e) < 0 || take(&x->in, &x->devs, e) < 0 ||
			     take(&x->in, &x->cost, e) < 0 || take(&x->in, &x->group, e) < 0 ||
			     place_inputs_model(&x->in, names, k, x->arena, &x->model, e) < 0
		     ? -1
		     : 0;
	if (rc == 0)
		x->proposer = proposer_new(&x->model, e);
	if (!x->proposer)
		place_inputs_release(&x->in);
	return x->proposer ? 0 : -1;
}

int move_policy_shot(struct move_policy *x, const char *const *names, uint32_t k,
		     const uint32_t *group, uint16_t *device, struct err *e)
{
	struct err none = ERR_INIT;
	double value;

	if (make_model(x, names, k, e) < 0)
		return -1;
	return proposer_shot(x->proposer, x->params, group, device, &value, &none) == 0;
}

static void note_tried(struct move_policy *x, uint64_t hash)
{
	x->tried = mem_grow(x->tried, &x->tried_cap, (size_t)x->n_tried + 1, sizeof(*x->tried));
	x->tried[x->n_tried++] = hash;
}

bool move_policy_around(struct move_policy *x, const struct incumbent *i, uint64_t seed)
{
	x->n_tried = 0;
	x->adapted = i->adapted;
	for (uint32_t j = 0; j < i->n_tried; j++)
		note_tried(x, i->tried[j]);
	if (!(i->adapted > 0) || x->adapt)
		return false;
	x->adapt = learned_params_new(seed);
	x->adapt->block = BLOCK_ADAPT;
	return true;
}

double move_softmax(const float *score, uint32_t n, double *p)
{
	double most = -INFINITY, sum = 0, entropy = 0;

	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, score[i]);
	for (uint32_t i = 0; i < n; i++)
		sum += p[i] = exp(score[i] - most);
	for (uint32_t i = 0; i < n; i++) {
		p[i] /= sum;
		entropy -= p[i] > 0 ? p[i] * log(p[i]) : 0;
	}
	return entropy;
}

/* A draw from p (n). */
static uint32_t draw_one(const double *p, uint32_t n, const struct rng_addr *at)
{
	double u = rng_uniform(at, 0);
	uint32_t i = 0;

	while (i + 1 < n && u >= p[i])
		u -= p[i++];
	return i;
}

int move_policy_choose(struct move_policy *x, const char *const *names, uint32_t k, uint64_t seed,
		       const struct rollout_id *id, const uint32_t *group, const uint16_t *from,
		       bool draw, uint16_t *device, struct place_rec *out, struct err *e)
{
	const struct rng_addr list = {seed, id->episode, id->step, RNG_MOVES + id->sample};
	const struct rng_addr one = {seed, id->episode, id->step, RNG_ACTION + id->sample};
	const struct learned_params *params = x->params;
	double p[CANDIDATES];
	uint32_t at = 0;

	if (make_model(x, names, k, e) < 0)
		return -1;
	out->adapted = x->adapt && rng_uniform(&one, 1) < x->adapted;
	if (out->adapted)
		params = x->adapt;
	struct proposals l = proposer_list(x->proposer, params, from, &list, group, x->tried,
					   x->n_tried, CANDIDATES);

	if (l.n == 0)
		return 0;
	out->entropy = move_softmax(l.score, l.n, p);
	for (uint32_t i = 1; i < l.n; i++)
		if (l.score[i] > l.score[at])
			at = i;
	if (draw)
		at = draw_one(p, l.n, &one);
	out->n_moves = l.n;
	out->n_move_features = PATCH_FEATURES;
	out->moves = l.feature;
	out->move = at;
	out->logp = log(p[at]);
	proposer_apply(x->proposer, from, at, device);
	note_tried(x, placement_hash(device, x->model.n_sets));
	return 1;
}
