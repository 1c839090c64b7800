/* mix_sets.h - devrun mixed: a stream's devs let its sets run in less than f32 where the limit of error allows it, and a second
 * stream has the placements that were measured on the way. */
#ifndef HSDAG_DEVRUN_MIX_SETS_H
#define HSDAG_DEVRUN_MIX_SETS_H

#include "precision/mixed.h"
#include "stream/filter.h"

/* Of one stream.  Zeros: not begun. */
struct mix_sets {
	struct rec *devs;        /* as it came; owned */
	struct rec_writer *path; /* the second stream; NULL: it is not asked for */
};

/* At the graph: path is the second stream's name, NULL: none. */
int mix_sets_begin(struct mix_sets *x, const struct rec *graph, const char *path,
		   const struct filter *f, struct err *e) MUST_CHECK;
/* devs, which is held back. */
int mix_sets_devs(struct mix_sets *x, const struct rec *r, struct err *e) MUST_CHECK;
/* cost, for which s is open: writes devs (d, as it was decoded) with another mask, and cost; and the second stream. */
int mix_sets_write(struct mix_sets *x, struct session *s, struct devs *d, const struct rec *cost,
		   const struct mixed_options *o, struct filter *f, struct err *e) MUST_CHECK;
/* commit false: the second stream is thrown away.  -1: it could not be written. */
int mix_sets_end(struct mix_sets *x, bool commit, struct err *e);

#endif
