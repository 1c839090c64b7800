/* bound_turns.c - load bound where devices take turns: of those that exclude each other nothing is at once, so no schedule is
 * shorter than what they compute together (bound_shares.h, without memory). */
#include <string.h>

#include "place/bound/bound_shares.h"
#include "place/bound/bounds.h"

static double turns_value(struct bound_problem *p)
{
	struct bound_view *v = &p->v;
	struct shares x;
	double share[TURNS_MOST];

	if (!v->m->costs.turns || !shares_init(&x, v))
		return 0;
	double best = shares_ascend(&x, v->unit_s, v->u->n, NULL, 0, NULL, share) * (1 - 1e-9);
	/* What is shared out by these holds for windows of time, too. */
	if (best > p->best[METRIC_PERIOD].value)
		memcpy(v->share, share, v->k * sizeof(*share));
	return best;
}

const struct lower_bound bound_turns = {
	.kind = "turns",
	.source =
		"Lenstra, Shmoys, Tardos, Math. Programming 46, 1990, with cliques of devices that "
		"exclude each other",
	.rules = 1U << PLACE_SCHEDULE,
	.metric = METRIC_PERIOD,
	.value = turns_value};
