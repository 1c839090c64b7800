/* contention.c - list scheduling aware of contention: O. Sinnen, L. A. Sousa, "Communication
 * contention in task scheduling", IEEE TPDS 16(6), 2005, section 5.  HEFT's order and choice, but
 * a copy needs a gap on its link, behind those that it finds there, so that a device which many
 * tensors must reach over one link looks as late as it is.  Routes are single links, between any
 * two devices.  Where links carry any number of copies at once this is HEFT. */
#include "place/heuristic/listlinks.h"
#include "place/method/method.h"

static int run_contention(struct method_run *r, struct err *e)
{
	struct listsched x;

	listsched_init(&x, r->m, r->a);
	x.deadline_s = method_deadline_s(r);
	x.links = r->m->costs.contention ? listlinks_new(&x) : NULL;
	int rc = listsched_run(&x, listsched_upward_rank(&x, r->a), listsched_choose_earliest, NULL,
			       e);

	listlinks_free(x.links);
	x.links = NULL;
	return listsched_answer(&x, rc, r, e);
}

const struct place_method method_contention = {
	.name = "contention",
	.needs_costs = true,
	.about = "HEFT with copies that wait for each other on links",
	.source = "Sinnen, Sousa, IEEE TPDS 16(6), 2005",
	.run = run_contention,
	.scope = SCOPE_SCHEDULES,
	.is_heuristic = true,
};
