/* heft.c - heterogeneous earliest finish time, with insertion: Topcuoglu, Hariri, Wu,
 * "Performance-effective and low-complexity task scheduling for heterogeneous computing",
 * IEEE TPDS 13(3), 2002, section 4.2.  Beyond the paper: memory, sets that share a device, and
 * tasks that cost less beside neighbours with which they run as one (ranks are of full costs). */
#include "place/heuristic/heft.h"
#include "place/heuristic/listsched.h"
#include "place/method/method.h"

static int schedule_earliest(struct listsched *x, const struct place_model *m, struct arena *a,
			     struct err *e)
{
	listsched_init(x, m, a);
	return listsched_run(x, listsched_upward_rank(x, a), listsched_choose_earliest, NULL, e);
}

int heft_placement(const struct place_model *m, uint16_t *device, double *makespan_s, struct err *e)
{
	struct arena *a = arena_new();
	struct listsched x;
	int rc = schedule_earliest(&x, m, a, e);

	*makespan_s = listsched_makespan_s(&x);
	listsched_placement(&x, device);
	listsched_release(&x);
	arena_free(a);
	return rc < 0 ? err_prefix(e, "heft") : 0;
}

static int run_heft(struct method_run *r, struct err *e)
{
	struct listsched x;
	int rc = schedule_earliest(&x, r->m, r->a, e);

	return listsched_answer(&x, rc, r, e);
}

const struct place_method method_heft = {
	.name = "heft",
	.needs_costs = true,
	.about = "earliest finish time by upward rank",
	.source = "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.2",
	.run = run_heft,
};
