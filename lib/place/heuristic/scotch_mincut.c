/* scotch_mincut.c - MinCut of Mirhoseini et al., "Device placement optimization with
 * reinforcement learning", ICML 2017, section 4.1: Scotch's recursive bipartitioning for small
 * cuts, over the accelerators alone; what these cannot run stays on the CPU.  Also the Scotch
 * baseline of Tarnawski et al., NeurIPS 2020.  Memory is not looked at; what is not legal is
 * repaired. */
#include <stdio.h>

#include "partition/scotch_lib.h"
#include "place/heuristic/partition_placement.h"

static int run_scotch_mincut(struct method_run *r, struct err *e)
{
	struct partition_placement p;
	bool *use = ARENA_NEWN(r->a, bool, r->m->k), any = false;
	char text[80];

	for (uint32_t d = 0; d < r->m->k; d++) {
		use[d] = !place_is_processor(r->m, d);
		any |= use[d];
	}
	partition_placement_init(&p, r, any ? use : NULL, false);
	struct group_arch arch = {p.n_parts, p.share, NULL};

	if (p.n_parts > 1 && group_scotch_map(&p.task, &arch, true, e) < 0)
		return -1;
	snprintf(text, sizeof(text), "%u parts%s", p.n_parts, any ? ", none for processors" : "");
	return partition_placement_answer(&p, true, text, e);
}

const struct place_method method_scotch_mincut = {
	.name = "scotch-mincut",
	.needs_costs = true,
	.about = "Scotch, recursive min-cut over accelerators",
	.source = "Mirhoseini et al., ICML 2017, section 4.1, MinCut",
	.run = run_scotch_mincut,
	.is_heuristic = true,
};
