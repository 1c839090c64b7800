/* choices.c - devices that are chosen in turn: drawn, or known from a record. */
#include "learn/net/choices.h"
#include "learn/net/sampling.h"

#include <string.h>

uint32_t choices_run(const struct choices *c, uint32_t at)
{
	return at == c->n_groups ? 0 : c->draw ? 1 : c->n_groups - at;
}

const uint32_t *choices_before(const struct choices *c, uint32_t at, uint32_t n)
{
	uint32_t *before = arena_raw(tape_arena(c->t), (size_t)n * c->n_samples, sizeof *before);
	for (size_t i = 0; i < n; i++)
		for (size_t s = 0; s < c->n_samples; s++)
			before[i * c->n_samples + s] =
				at + i ? c->action[s * c->n_groups + at + i - 1] : c->k;
	return before;
}

void choices_now(const struct choices *c, uint32_t s, uint32_t at, uint16_t *device)
{
	size_t rest = c->n_groups - at;
	memcpy(device, c->action + (size_t)s * c->n_groups, at * sizeof *device);
	memcpy(device + at, c->start + at, rest * sizeof *device);
}

/* (n,k) log-probabilities of sample s from the logits of all. */
static struct mat *logp_of(struct choices *c, uint32_t s, uint32_t at, uint32_t n,
			   struct mat *logits)
{
	struct tape *t = c->t;
	if (c->n_samples > 1) {
		uint32_t *row = arena_raw(tape_arena(t), n, sizeof *row);
		for (uint32_t i = 0; i < n; i++)
			row[i] = i * c->n_samples + s;
		logits = tape_gather(t, logits, row, n);
	}
	size_t first = (size_t)at * c->k;
	if (c->bias)
		logits = tape_add(t, logits, tape_input(t, c->bias + first, n, c->k));
	return tape_log_softmax(t, logits, c->mask ? c->mask + first : NULL);
}

static void draw_one(struct choices *c, uint32_t s, uint32_t at, const float *logp)
{
	uint16_t *action = &c->drawn[(size_t)s * c->n_groups + at];
	if (c->done[s])
		return;
	if (c->draw->most_probable)
		most_probable_actions(logp, 1, c->k, action);
	else
		*action = sample_action(logp, c->k, &c->draw->rng[s], c->try[s] * c->n_groups + at);
}

void choices_take(struct choices *c, uint32_t at, uint32_t n, struct mat *logits)
{
	for (uint32_t s = 0; s < c->n_samples; s++) {
		struct mat *lp = logp_of(c, s, at, n, logits);
		if (!c->draw) {
			c->logp[s] = lp;
			continue;
		}
		memcpy(c->drawn_logp + ((size_t)s * c->n_groups + at) * c->k, lp->v,
		       (size_t)n * c->k * sizeof *lp->v);
		draw_one(c, s, at, lp->v);
		if (lp != logits)
			tape_done(c->t, lp);
	}
}
