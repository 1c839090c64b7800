/* mixed.h - the sets of a session's model on one device in f32 and on the same device in less: placements that are within a limit of
 * error, and where each set may run then. */
#ifndef HSDAG_PRECISION_MIXED_H
#define HSDAG_PRECISION_MIXED_H

#include "measure/session.h"
#include "record/devrec.h"

/* A placement that was measured on the way. */
struct mixed_choice {
	const uint16_t *device; /* (n_sets) */
	double error, lat_s;
};

struct mixed {
	uint32_t n;                  /* 0: no device is listed in f32 and in less */
	struct mixed_choice *choice; /* (n) in the order in which they were measured */
	int best;                    /* the fastest within the limit; -1: none is */
	char of[sizeof((struct device *)0)->name]; /* the device that computed in f32 */
	/* (n_sets,k) as devs.mask: where d lets a set run, in f32, or as exactly as in the best one or in the one within the limit with
	 * most sets in less; where n is 0 as d has it. */
	uint8_t *mask;
};

struct mixed_options {
	double limit; /* of the error */
	double max_s; /* after so many seconds nothing more is tried */
};

/* d: devices as the session has them, with a mask.  set_s (n_sets,k) seconds of sets on devices; negative: it cannot run there.  The device is that on
 * which everything takes least in f32; where there it is listed in several lower precisions, each of them is tried, and all
 * of them, each set where it is fastest.  Memory from a.  -1: nothing could run, or the output's reader has gone. */
int mixed_choose(struct session *s, const struct devs *d, const double *set_s,
		 const struct mixed_options *o, struct arena *a, struct mixed *out,
		 struct err *e) MUST_CHECK;

#endif
