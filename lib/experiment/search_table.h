/* search_table.h - what finding a placement took, over seeds. */
#ifndef HSDAG_EXPERIMENT_SEARCH_TABLE_H
#define HSDAG_EXPERIMENT_SEARCH_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Of files .../MODEL/METHOD.SEED.mp.job (pipelines/job) a line per model and method, in the
 * order in which they come:  model method seeds  wall lo hi  cpu  placements wall: geometric
 * mean of the searches' seconds and its 95 % interval, empty for one; cpu: mean; both of what
 * ended well.  placements: the mean that learners ran, of a file evaluated.tsv among the files
 * with lines MODEL METHOD SEED N. */
int search_table(char *const *paths, uint32_t n, FILE *out, struct err *e) MUST_CHECK;

#endif
