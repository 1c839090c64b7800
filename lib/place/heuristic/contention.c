/* contention.c - list scheduling aware of contention: O. Sinnen, L. A. Sousa, "Communication
 * contention in task scheduling", IEEE TPDS 16(6), 2005, section 5.  HEFT's order and choice, but
 * a copy needs a gap on its link, behind those that it finds there, so that a device which many
 * tensors must reach over one link looks as late as it is.  Routes are single links, between any
 * two devices.  Where links carry any number of copies at once this is HEFT. */
#include "place/heuristic/listlinks.h"
#include "place/method/method.h"

int method_contention(struct method_run *r, struct err *e)
{
	struct listsched x;

	listsched_init(&x, r->m, r->a);
	x.links = r->m->costs.contention ? listlinks_new(&x) : NULL;
	int rc = listsched_run(&x, listsched_upward_rank(&x, r->a), listsched_choose_earliest, NULL,
			       e);

	listlinks_free(x.links);
	x.links = NULL;
	return listsched_answer(&x, rc, r, e);
}
