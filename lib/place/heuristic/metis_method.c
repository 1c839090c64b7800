/* metis_method.c - METIS: as many parts as devices, each with the share of the work that fits its
 * device's speed, few seconds of copies between parts; and memory in shares of the limits (Karypis,
 * Kumar, SIAM J. Sci. Computing 20(1), 1998; multi-constraint: SC 1998).  Up to eight parts by
 * recursive bisection, more by the k-way method.  METIS knows neither directions, nor that a unit
 * may be slower on one device than on another, nor limits: parts go to the devices where the
 * simulated placement is best, and what is not legal then is repaired. */
#include <stdio.h>

#include "place/heuristic/partition_placement.h"

enum { MOST_RECURSIVE = 8 };

static int run_metis(struct method_run *r, struct err *e)
{
	struct partition_placement p;
	char text[80];

	partition_placement_init(&p, r, NULL, true);
	if (p.n_parts > 1 && (p.n_parts <= MOST_RECURSIVE ? group_metis_recursive(&p.task, e)
							  : group_metis(&p.task, e)) < 0)
		return -1;
	snprintf(text, sizeof(text), "%u parts by %s", p.n_parts,
		 p.n_parts <= MOST_RECURSIVE ? "recursive bisection" : "the k-way method");
	return partition_placement_answer(&p, true, text, e);
}

const struct place_method method_metis = {
	.name = "metis",
	.needs_costs = true,
	.about = "METIS, parts by the devices' speeds",
	.source = "Karypis, Kumar, SIAM J. Sci. Computing 20(1), 1998",
	.run = run_metis,
	.is_heuristic = true,
};
