/* grouprec.h - the `group` record of docs/reference/stream.md: a grouping of co-location sets that came from
 * outside (daggroup), in place of what a learner or a search would make of them. */
#ifndef HSDAG_RECORD_GROUPREC_H
#define HSDAG_RECORD_GROUPREC_H

#include "base/mem.h"
#include "stream/rec.h"

struct group_rec {
	uint64_t graph;     /* digest of the graph that it is about */
	const char *method; /* how it was made; not read back */
	uint32_t n_sets, n_groups;
	uint32_t *group; /* (n_sets) groups numbered by their first set, none empty */
};

/* From a record of kind "group"; memory from a.  -1 (ST_INPUT) when it is malformed, or the
 * groups are not numbered by their first set. */
int group_decode(const struct rec *r, struct arena *a, struct group_rec *out,
		 struct err *e) MUST_CHECK;
int group_encode(const struct group_rec *x, struct rec_writer *w, struct err *e) MUST_CHECK;

/* Give classes in group (n), any numbers, the numbers 0 .. in the order of their first members.
 * Returns how many there are. */
uint32_t group_number(uint32_t *group, uint32_t n);
/* class[n] of any values: of each the first that has the same. */
void group_first(uint32_t *class, uint32_t n);

#endif
