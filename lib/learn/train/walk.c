/* walk.c - from one incumbent to the next. */
#include "learn/train/walk.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "place/learned/propose.h"

void walk_release(struct walk *w)
{
	mem_free(w->device);
	mem_free(w->tried);
	*w = (struct walk){0};
}

void walk_set(struct walk *w, const uint16_t *device, uint32_t n_sets, double ratio)
{
	uint16_t *new = mem_copy(device, n_sets, sizeof *device);

	mem_free(w->device);
	w->n_sets = n_sets;
	w->device = new;
	w->ratio = ratio;
	w->again = false;
	w->n_tried = 0;
}

void walk_add_tried(struct walk *w, uint64_t hash)
{
	w->tried = mem_grow(w->tried, &w->tried_cap, (size_t)w->n_tried + 1, sizeof *w->tried);
	w->tried[w->n_tried++] = hash;
}

static double ratio_of(const struct outcome *u)
{
	return u->ref_value > 0 ? u->value / u->ref_value : u->value;
}

static const struct sample *best_move(const struct rollout *r)
{
	const struct sample *best = NULL;

	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct sample *s = &r->sample[i];

		if (sample_is_drawn(s) && s->run.ok &&
		    (!best || ratio_of(&s->run) < ratio_of(&best->run)))
			best = s;
	}
	return best;
}

/* Exponential of mean 1. */
static double chance(const struct rollout *r)
{
	const struct rng_addr at = {.seed = r->graph, .episode = r->episode, .stream = RNG_MOVES};

	return -log(1 - rng_uniform(&at, 0));
}

static const struct candidate *best_candidate(const struct candidates *all)
{
	uint32_t order[CANDIDATES_MAX];

	return candidates_rank(all, 1, order) ? &all->c[order[0]] : NULL;
}

/* Where the walk begins: the best so far. */
static void begin(struct walk *w, const struct candidates *all, bool noisy)
{
	const struct candidate *c = best_candidate(all);

	if (!c)
		return;
	walk_set(w, c->device, all->n_sets, c->ratio);
	w->again = noisy && c->runs == 1 && strcmp(c->source, "single") != 0;
}

/* The incumbent ran a second time, and may have been lucky at first. */
static void look_again(struct walk *w, const struct candidates *all, double h)
{
	const struct candidate *c = candidates_find(all, w->device), *best = best_candidate(all);

	w->again = false;
	if (c)
		w->ratio = c->ratio;
	if (best && w->ratio > best->ratio * (1 + h))
		walk_set(w, best->device, all->n_sets, best->ratio);
}

void walk_step(struct walk *w, const struct rollout *r, const struct candidates *all, double h,
	       bool noisy)
{
	const struct sample *best = best_move(r);

	if (!w->device) {
		begin(w, all, noisy);
		return;
	}
	if (w->again)
		look_again(w, all, h);
	if (best && ratio_of(&best->run) < w->ratio * (1 + h * chance(r))) {
		walk_set(w, best->place.device, r->n_sets, ratio_of(&best->run));
		w->again = noisy;
		return;
	}
	for (uint32_t i = 0; i < r->n_samples; i++)
		if (sample_is_drawn(&r->sample[i]))
			walk_add_tried(w, placement_hash(r->sample[i].place.device, r->n_sets));
}
