/* act_visits.c - the placements that a walk over the groups passes. */
#include "learn/act/act_visits.h"
#include "learn/train/rollout.h"
#include "record/placerec.h"

#include <string.h>

static int write_visit(const struct act *a, const struct group_policy *q, const char *source,
		       uint64_t number, const uint16_t *action, struct err *e)
{
	const struct part_rec *p = q->part;
	uint16_t *device = ARENA_NEWN(a->arena, uint16_t, p->n_sets);
	const struct place_rec out = {
		.id = {p->id.graph, p->id.episode, p->id.step, (uint32_t)number},
		.source = source,
		.k = a->devs->k,
		.n_sets = p->n_sets,
		.names = a->devs->names,
		.device = device};
	if (number > UINT32_MAX)
		return err_set(e, ST_RUNTIME, "too many samples of too many groups to number");
	group_policy_spread(a, q, action, device);
	return place_encode(&out, a->out, e);
}

int act_start(const struct act *a, const struct group_policy *q, struct err *e)
{
	return write_visit(a, q, SOURCE_START, 0, q->start, e);
}

int act_way(const struct act *a, const struct group_policy *q, uint32_t sample,
	    const uint16_t *action, struct err *e)
{
	uint32_t g = q->part->p.n_groups;
	uint16_t *now = ARENA_NEWN(a->arena, uint16_t, g);
	bool changed = false;
	memcpy(now, q->start, g * sizeof *now);
	for (uint32_t v = 1; v < g; v++) {
		changed = changed || now[v - 1] != action[v - 1];
		now[v - 1] = action[v - 1];
		if (v % a->visits || !changed)
			continue;
		changed = false;
		if (write_visit(a, q, SOURCE_VISIT, (uint64_t)sample * g + v, now, e) < 0)
			return -1;
	}
	return 0;
}
