/* heft.c - heterogeneous earliest finish time, with insertion: Topcuoglu, Hariri, Wu,
 * "Performance-effective and low-complexity task scheduling for heterogeneous computing",
 * IEEE TPDS 13(3), 2002, section 4.2.  Beyond the paper: memory, sets that share a device, and
 * tasks that cost less beside neighbours with which they run as one (ranks are of full costs). */
#include <string.h>

#include "place/heuristic/heft.h"
#include "place/heuristic/listsched.h"
#include "place/method/method.h"
#include "sched/turns.h"

/* closed (k): devices that take nothing; NULL: none. */
static int schedule_earliest(struct listsched *x, const struct place_model *m, const bool *closed,
			     double deadline_s, struct arena *a, struct err *e)
{
	listsched_init(x, m, a);
	x->deadline_s = deadline_s;
	x->closed = closed;
	return listsched_run(x, listsched_upward_rank(x, a), listsched_choose_earliest, NULL, e);
}

int heft_placement(const struct place_model *m, double deadline_s, uint16_t *device,
		   double *makespan_s, struct err *e)
{
	struct arena *a = arena_new();
	struct listsched x;
	int rc = schedule_earliest(&x, m, NULL, deadline_s, a, e);

	*makespan_s = listsched_makespan_s(&x);
	listsched_placement(&x, device);
	listsched_release(&x);
	arena_free(a);
	return rc < 0 ? err_prefix(e, "heft") : 0;
}

static int run_heft(struct method_run *r, struct err *e)
{
	struct listsched x;
	int rc = schedule_earliest(&x, r->m, NULL, method_deadline_s(r), r->a, e);

	return listsched_answer(&x, rc, r, e);
}

/* On cores beside each other HEFT takes the device of all of them for nearly everything, on which each
 * task ends first, and nothing is done at once. */
static int run_heft_apart(struct method_run *r, struct err *e)
{
	uint32_t k = r->m->k, *dev = ARENA_NEWN(r->a, uint32_t, k);
	bool *closed = ARENA_NEWN(r->a, bool, k);
	struct listsched x;

	memset(closed, true, k * sizeof(*closed));
	for (uint32_t n = sched_apart(r->m->costs.turns, k, dev); n-- > 0;)
		closed[dev[n]] = false;
	int rc = schedule_earliest(&x, r->m, closed, method_deadline_s(r), r->a, e);

	return listsched_answer(&x, rc, r, e);
}

const struct place_method method_heft_apart = {
	.name = "heft-apart",
	.needs_costs = true,
	.about = "the same on devices that compute at once, not cpu beside cpu:0",
	.source = "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.2",
	.run = run_heft_apart,
	.is_heuristic = true,
};

const struct place_method method_heft = {
	.name = "heft",
	.needs_costs = true,
	.about = "earliest finish time by upward rank",
	.source = "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.2",
	.run = run_heft,
	.is_heuristic = true,
};
