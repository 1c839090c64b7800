/* group_policy.c - masks and homes of a part's groups, and what keeps a policy near them. */
#include "learn/act/group_policy.h"
#include "learn/train/incumbent.h"

void group_policy_spread(const struct act *a, const struct group_policy *q, const uint16_t *action,
			 uint16_t *device)
{
	const struct part_rec *p = q->part;
	if (q->home)
		incumbent_apply(a->incumbent.device, p->n_sets, p->p.group, q->home, action,
				device);
	else
		for (uint32_t i = 0; i < p->n_sets; i++)
			device[i] = action[p->p.group[i]];
}

struct to_place group_policy_asked(const struct group_policy *q)
{
	const struct partition *p = &q->part->p;
	return (struct to_place){p->z, p->n_groups, p->group, q->mask, q->bias, q->start};
}

/* The groups' homes, and what keeps the policy near them. */
static int around_incumbent(const struct act *a, struct net_work *w, const struct net_model *m,
			    struct group_policy *q, struct err *e)
{
	const struct part_rec *p = q->part;
	uint32_t g = p->p.n_groups, k = a->devs->k;
	const float *logp;
	float *bias = ARENA_NEWN(a->arena, float, (size_t)g *k);
	uint16_t *home = ARENA_NEWN(a->arena, uint16_t, g);
	incumbent_home(a->incumbent.device, p->n_sets, p->p.group, g, k, q->mask, home);
	q->home = q->start = home;
	const struct to_place what = group_policy_asked(q);
	if (net_policy_prior(w, m, &what, home, &logp, e) < 0)
		return -1;
	q->stay = incumbent_stay(logp, g, k, home, a->incumbent.leaves);
	incumbent_bias(home, g, k, q->stay, bias);
	q->bias = bias;
	return 0;
}

int group_policy_init(struct group_policy *q, const struct act *a, struct net_work *w,
		      const struct net_model *m, uint64_t seed, const struct part_rec *p,
		      struct err *e)
{
	uint32_t g = p->p.n_groups, k = a->devs->k;
	*q = (struct group_policy){.part = p};
	if (a->mask) {
		q->mask = ARENA_NEWN(a->arena, uint8_t, (size_t)g * k);
		if (net_group_mask(a->mask, a->n_sets, k, p->p.group, g, q->mask, e) < 0)
			return -1;
	}
	q->start = ARENA_NEWN(a->arena, uint16_t, g);
	net_start(q->mask, g, k, q->start);
	if (a->incumbent.device && around_incumbent(a, w, m, q, e) < 0)
		return -1;
	if (a->loop)
		q->bias = net_noise(m, seed, p->id.episode, p->id.step, g, q->bias, a->arena);
	return 0;
}
