/* act_costs.c - samples of the policy that sees costs. */
#include "learn/act/act_costs.h"
#include "record/placerec.h"

#include <string.h>

void act_costs_init(struct act_costs *x)
{
	*x = (struct act_costs){.shot = NULL};
	move_policy_init(&x->moves);
}

void act_costs_release(struct act_costs *x)
{
	move_policy_release(&x->moves);
}

void act_costs_reset(struct act_costs *x)
{
	move_policy_reset(&x->moves);
	x->shot = NULL;
}

/* A placement without an incumbent, or a move of one: 1; 0: there is none left. */
static int place_sample(struct act_costs *x, const struct act *a, const struct part_rec *p,
			uint32_t sample, struct arena *run, struct err *e)
{
	const uint16_t *from = a->incumbent.device     ? a->incumbent.device
			       : a->greedy && !a->loop ? NULL
						       : x->shot;
	const char *const *names = a->devs->names;
	uint16_t *device = ARENA_NEWN(a->arena, uint16_t, p->n_sets);
	uint32_t k = a->devs->k;
	struct place_rec out = {.id = {p->id.graph, p->id.episode, p->id.step, sample},
				.source = from ? "moves" : "policy",
				.k = k,
				.n_sets = p->n_sets,
				.n_groups = p->p.n_groups,
				.names = a->devs->names,
				.device = device};
	int rc = from ? move_policy_choose(&x->moves, names, k, a->seed, &out.id, p->p.group, from,
					   !a->greedy && a->several, device, &out, e)
		      : move_policy_shot(&x->moves, names, k, p->p.group, device, e);
	if (rc <= 0)
		return rc;
	if (!a->loop)
		out.moves = NULL; /* nobody learns from it */
	if (!from) {
		x->shot = ARENA_NEWN(run, uint16_t, p->n_sets);
		memcpy(x->shot, device, p->n_sets * sizeof *device);
		x->shot_episode = p->id.episode;
	}
	return place_encode(&out, a->out, e) < 0 ? -1 : 1;
}

int act_costs_place(struct act_costs *x, const struct act *a, const struct part_rec *p,
		    struct arena *run, struct err *e)
{
	if (!move_policy_knows(&x->moves))
		return 0;
	if (a->loop && x->shot && !a->incumbent.device)
		return p->id.episode == x->shot_episode;
	for (uint32_t i = 0; i < a->samples; i++) {
		int rc = place_sample(x, a, p, i, run, e);
		if (rc <= 0)
			return rc < 0 ? -1 : i > 0;
		if (a->loop && !a->incumbent.device)
			break;
	}
	return 1;
}
