/* act_groups.c - what a network draws for parts, as records. */
#include "learn/act/act_groups.h"
#include "learn/act/act_visits.h"
#include "learn/net/handover.h"
#include "learn/net/sampling.h"
#include "record/placerec.h"

static int write_sample(const struct act *a, const struct group_policy *q,
			const struct drawn *drawn, uint32_t sample, struct err *e)
{
	const struct part_rec *p = q->part;
	const struct rollout_id id = {p->id.graph, p->id.episode, p->id.step, sample};
	uint32_t g = p->p.n_groups, k = a->devs->k;
	const uint16_t *action = drawn->action + (size_t)sample * g;
	const float *logp = drawn->logp + sample * drawn->stride;
	uint16_t *device = ARENA_NEWN(a->arena, uint16_t, p->n_sets);
	if (a->visits && act_way(a, q, sample, action, e) < 0)
		return -1;
	group_policy_spread(a, q, action, device);
	const struct place_rec out = {.id = id,
				      .source = "policy",
				      .k = k,
				      .n_sets = p->n_sets,
				      .n_groups = g,
				      .names = a->devs->names,
				      .device = device,
				      .action = action,
				      .logp = net_logp(logp, g, k, action),
				      .entropy = net_entropy(logp, g, k),
				      .has_stay = q->home != NULL,
				      .stay = q->stay};
	return place_encode(&out, a->out, e);
}

/* The random numbers of a part's samples. */
static struct draw draw_of(const struct act *a, const struct group_policy *q)
{
	struct rng_addr *rng = ARENA_NEWN(a->arena, struct rng_addr, a->samples);
	for (uint32_t i = 0; i < a->samples; i++)
		rng[i] = (struct rng_addr){.seed = a->seed,
					   .episode = q->part->id.episode,
					   .step = q->part->id.step,
					   .stream = RNG_ACTION + i};
	return (struct draw){a->samples, a->greedy, rng, q->home, NULL};
}

/* A batch of parts, in the order of the replay's: what is handed over is found by its first step. */
static int draw_batch(const struct act *a, struct net_work *w, const struct net_model *m,
		      const struct act_parts *parts, uint32_t first, uint32_t n,
		      const struct group_policy *q, struct err *e)
{
	struct to_place *what = ARENA_NEWN(a->arena, struct to_place, n);
	struct draw *draw = ARENA_NEWN(a->arena, struct draw, n);
	struct drawn *drawn = ARENA_NEWN(a->arena, struct drawn, n);
	struct handover handover = {0};
	if (a->giver && !m->net->policy)
		handover = handover_next(a->giver);
	for (uint32_t i = 0; i < n; i++) {
		what[i] = group_policy_asked(&q[i]);
		draw[i] = draw_of(a, &q[i]);
		draw[i].handover = handover.room > 0 ? &handover : NULL;
	}
	if ((n == 1 ? net_draw(w, m, what, draw, drawn, e)
		    : net_draw_steps(w, m, n, what, draw, drawn, e)) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if ((parts->before && parts->before(parts->arg, first + i, e) < 0) ||
		    (a->visits && act_start(a, &q[i], e) < 0))
			return -1;
		for (uint32_t s = 0; s < a->samples; s++)
			if (write_sample(a, &q[i], &drawn[i], s, e) < 0)
				return -1;
	}
	if (handover.n == 0)
		return 0;
	const struct handover_rec told = handover_give(a->giver, &handover, &parts->part[first].id);
	return handover_encode(&told, a->out, e);
}

int act_groups(const struct act *a, struct net_work *w, const struct net_model *m, uint64_t seed,
	       const struct act_parts *parts, struct err *e)
{
	struct group_policy *q = ARENA_NEWN(a->arena, struct group_policy, parts->n);
	for (uint32_t i = 0; i < parts->n; i++)
		if (group_policy_init(&q[i], a, w, m, seed, &parts->part[i], e) < 0)
			return -1;
	for (uint32_t first = 0, next = 0; first < parts->n; first = next) {
		struct net_batch b = {.net = m->net};
		while (next < parts->n &&
		       net_batch_takes(&b, a->samples, parts->part[next].p.n_groups))
			next++;
		if (draw_batch(a, w, m, parts, first, next - first, q + first, e) < 0)
			return -1;
	}
	return 0;
}
