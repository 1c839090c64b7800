/* heft.c - heterogeneous earliest finish time, with insertion: Topcuoglu, Hariri, Wu,
 * "Performance-effective and low-complexity task scheduling for heterogeneous computing",
 * IEEE TPDS 13(3), 2002, section 4.1.  Beyond the paper: memory, sets that share a device, and
 * tasks that cost less beside neighbours with which they run as one (ranks are of full costs). */
#include "place/listsched.h"
#include "place/search.h"

int search_heft(const struct place_model *m, uint16_t *device, double *makespan_s, struct err *e)
{
	struct arena *a = arena_new();
	struct listsched x;

	listsched_init(&x, m, a);
	int rc = listsched_run(&x, listsched_upward_rank(&x, a), listsched_choose_earliest, NULL,
			       e);

	*makespan_s = listsched_makespan_s(&x);
	listsched_placement(&x, device);
	listsched_release(&x);
	arena_free(a);
	return rc < 0 ? err_prefix(e, "heft") : 0;
}
