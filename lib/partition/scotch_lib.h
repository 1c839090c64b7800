/* scotch_lib.h - Scotch as this project uses it: partitions, and mappings onto devices that
 * differ. */
#ifndef HSDAG_PARTITION_SCOTCH_LIB_H
#define HSDAG_PARTITION_SCOTCH_LIB_H

#include "partition/grouping.h"

/* What a graph is mapped onto. */
struct group_arch {
	uint32_t k;
	const double *speed; /* (k) > 0: the share of the load that a device should get */
	/* (k,k) > 0: how dear a byte between two devices is; symmetric; NULL: all the
	 * same, as more than 64 devices are */
	const double *distance;
};

/* Static mapping: group (n) is the device of each node (Pellegrini, Roman, "Scotch: a software
 * package for static mapping by dual recursive bipartitioning of process and architecture graphs",
 * HPCN 1996).  recursive: by recursive bipartitioning alone.  k >= 2.  t->n_groups is not looked
 * at. */
int group_scotch_map(const struct group_task *t, const struct group_arch *arch, bool recursive,
		     struct err *e) MUST_CHECK;

#endif
