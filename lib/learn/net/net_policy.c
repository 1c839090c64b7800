/* net_policy.c - what is common to all networks: devices for groups, their probabilities and draws. */
#include "learn/net/handover.h"
#include "learn/net/net_steps.h"
#include "learn/net/sampling.h"

#include <math.h>
#include <string.h>

struct mat *net_log_policy(struct tape *t, const struct net_model *m, struct mat *const *p,
			   struct mat *z, const struct to_place *q)
{
	struct mat *logits = m->net->policy(t, m, p, z);
	if (q->bias)
		logits = tape_add(t, logits, tape_input(t, q->bias, logits->rows, logits->cols));
	return tape_log_softmax(t, logits, q->group_mask);
}

int net_check_logp(const float *logp, uint32_t n, uint32_t k, const uint8_t *mask, struct err *e)
{
	for (size_t i = 0; i < (size_t)n * k; i++)
		if (!isfinite(logp[i]) && (!mask || mask[i]))
			return err_set(e, ST_INPUT,
				       "log-probabilities are not finite; embeddings "
				       "or parameters are too large");
	return 0;
}

void net_start(const uint8_t *group_mask, uint32_t n_groups, uint32_t k, uint16_t *start)
{
	for (uint32_t g = 0; g < n_groups; g++) {
		start[g] = 0;
		while (group_mask && start[g] + 1u < k && !group_mask[(size_t)g * k + start[g]])
			start[g]++;
	}
}

struct choices net_choices(struct tape *t, const struct net_model *m, const struct to_place *q,
			   uint32_t n_samples)
{
	struct choices c = {.n_groups = q->n_groups,
			    .n_samples = n_samples,
			    .k = m->k,
			    .group = q->group,
			    .mask = q->group_mask,
			    .bias = q->bias,
			    .start = q->start,
			    .t = t};
	if (!c.start) {
		uint16_t *start = arena_raw(tape_arena(t), q->n_groups, sizeof *start);
		net_start(q->group_mask, q->n_groups, m->k, start);
		c.start = start;
	}
	return c;
}

int net_policy(struct net_work *w, const struct net_model *m, const float *z, uint32_t n_groups,
	       const uint8_t *group_mask, const float **logp, struct err *e)
{
	const struct to_place q = {.z = z, .n_groups = n_groups, .group_mask = group_mask};
	return net_policy_prior(w, m, &q, NULL, logp, e);
}

int net_policy_prior(struct net_work *w, const struct net_model *m, const struct to_place *q,
		     const uint16_t *action, const float **logp, struct err *e)
{
	struct tape *t = w->tape;
	tape_begin(t, false, NULL);
	struct mat *z = tape_input(t, q->z, q->n_groups, m->d), *lp;
	struct mat **p = net_block(t, m->policy, NULL);
	if (m->net->policy) {
		lp = net_log_policy(t, m, p, z, q);
	} else {
		struct choices c = net_choices(t, m, q, 1);
		c.action = action;
		c.logp = &lp;
		m->net->choose(t, m, p, 1, &z, &c);
	}
	*logp = lp->v;
	return net_check_logp(lp->v, q->n_groups, m->k, q->group_mask, e);
}

float *net_noise(const struct net_model *m, uint64_t seed, uint32_t episode, uint32_t step,
		 uint32_t n_groups, float *bias, struct arena *a)
{
	double most = m->net->noise ? m->net->noise(m->hyper, episode) : 0;
	if (most <= 0)
		return bias;
	const struct rng_addr at = {
		.seed = seed, .episode = episode, .step = step, .stream = RNG_NOISE};
	uint32_t n = n_groups * m->k;
	if (!bias)
		bias = ARENA_NEWN(a, float, n);
	for (uint32_t i = 0; i < n; i++)
		bias[i] += (float)(most * (2 * rng_uniform(&at, i) - 1));
	return bias;
}

/* Samples that are at home go on to the next try. */
static bool again(struct choices *c)
{
	enum { TRIES = 8 };
	bool any = false;
	size_t bytes = c->n_groups * sizeof *c->action;
	for (size_t s = 0; s < c->n_samples; s++) {
		const uint16_t *home = c->draw->home;
		c->done[s] = c->draw->most_probable || !home || ++c->try[s] >= TRIES ||
			     memcmp(c->action + s * c->n_groups, home, bytes) != 0;
		any = any || !c->done[s];
	}
	return any;
}

bool net_batch_takes(struct net_batch *b, uint32_t n_samples, uint32_t n_groups)
{
	/* As many rows as a product for few rows takes; groups of all samples: memory. */
	enum { SAMPLES = 12, ROWS = 8192 };
	size_t samples = b->samples + n_samples, rows = b->rows + (size_t)n_samples * n_groups;
	if (b->n > 0 &&
	    (!b->net->side_by_side || n_samples != b->each || samples > SAMPLES || rows > ROWS))
		return false;
	*b = (struct net_batch){b->net, n_samples, b->n + 1, samples, rows};
	return true;
}

void net_choose(struct tape *t, const struct net_model *m, struct mat *const *p, uint32_t n,
		struct mat *const *z, struct choices *c)
{
	uint32_t at_once = m->net->side_by_side ? n : 1;
	for (uint32_t i = 0; i < n; i += at_once)
		m->net->choose(t, m, p, at_once, z + i, c + i);
}

static int draw_in_turn(struct tape *t, const struct net_model *m, uint32_t n,
			const struct to_place *q, const struct draw *draw, struct drawn *out,
			struct err *e)
{
	struct arena *a = tape_arena(t);
	struct choices *c = ARENA_NEWN(a, struct choices, n);
	struct mat **z = ARENA_NEWN(a, struct mat *, n), **p = net_block(t, m->policy, NULL);
	if (draw->handover)
		draw->handover->steps = n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t samples = draw[i].n_samples;
		size_t size = (size_t)q[i].n_groups * m->k;
		z[i] = tape_input(t, q[i].z, q[i].n_groups, m->d);
		c[i] = net_choices(t, m, &q[i], samples);
		c[i].draw = &draw[i];
		c[i].handover = draw[i].handover;
		c[i].try = ARENA_NEWN(a, uint32_t, samples);
		c[i].done = ARENA_NEWN(a, bool, samples);
		c[i].action = c[i].drawn = ARENA_NEWN(a, uint16_t, (size_t)samples * q[i].n_groups);
		c[i].drawn_logp = ARENA_NEWN(a, float, size *samples);
		out[i] = (struct drawn){c[i].action, c[i].drawn_logp, size};
	}
	for (bool any = true; any;) {
		net_choose(t, m, p, n, z, c);
		any = false;
		for (uint32_t i = 0; i < n; i++)
			any = again(&c[i]) || any;
	}
	if (draw->handover && draw->handover->n > 0)
		draw->handover->key = handover_key(m, n, z, c);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t s = 0; s < draw[i].n_samples; s++)
			if (net_check_logp(out[i].logp + s * out[i].stride, q[i].n_groups, m->k,
					   q[i].group_mask, e) < 0)
				return -1;
	return 0;
}

int net_draw_steps(struct net_work *w, const struct net_model *m, uint32_t n,
		   const struct to_place *q, const struct draw *draw, struct drawn *out,
		   struct err *e)
{
	tape_begin(w->tape, false, NULL);
	return draw_in_turn(w->tape, m, n, q, draw, out, e);
}

int net_draw(struct net_work *w, const struct net_model *m, const struct to_place *q,
	     const struct draw *draw, struct drawn *out, struct err *e)
{
	struct tape *t = w->tape;
	uint32_t n = q->n_groups;
	tape_begin(t, false, NULL);
	if (!m->net->policy)
		return draw_in_turn(t, m, 1, q, draw, out, e);
	struct mat *in = tape_input(t, q->z, n, m->d);
	uint16_t *action = ARENA_NEWN(tape_arena(t), uint16_t, (size_t)draw->n_samples * n);
	struct mat *lp = net_log_policy(t, m, net_block(t, m->policy, NULL), in, q);
	*out = (struct drawn){action, lp->v, 0};
	for (uint32_t s = 0; s < draw->n_samples; s++, action += n)
		if (draw->most_probable)
			most_probable_actions(lp->v, n, m->k, action);
		else
			sample_actions(lp->v, n, m->k, &draw->rng[s], draw->home, action);
	return net_check_logp(lp->v, n, m->k, q->group_mask, e);
}

double net_logp(const float *logp, uint32_t n_groups, uint32_t k, const uint16_t *action)
{
	return prob_pick(logp, n_groups, k, action, NULL);
}

double net_entropy(const float *logp, uint32_t n_groups, uint32_t k)
{
	return prob_entropy(logp, n_groups, k);
}
