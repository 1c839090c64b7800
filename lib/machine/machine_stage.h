/* machine_stage.h - a machine that is played as a stage of a pipeline, in the place of devrun:
 * records pass, placements are measured when their episode or the stream ends. */
#ifndef HSDAG_MACHINE_MACHINE_STAGE_H
#define HSDAG_MACHINE_MACHINE_STAGE_H

#include "machine/machine_spec.h"
#include "place/problem/placeinputs.h"
#include "stream/filter.h"
#include "timing/measurement.h"

struct machine_options {
	const char *spec;   /* machine_spec.h; NULL: none is played */
	int64_t seed;       /* where the specification says none */
	bool truth;         /* tell what placements and `best` records take undisturbed,
	                     * at the end and in their order */
	bool true_costs;    /* costs and links that pass become the true ones */
	bool paired;        /* `best` records, else placements, against the best single device */
	int64_t candidates; /* so many of them at most */
	double clock_s; /* when it begins; less than what run records of the stream tell: then */
	struct measure_options measure;
};

struct machine_stage;

/* o and the inputs, which it fills, are borrowed.  NULL: as machine_spec_parse. */
struct machine_stage *machine_stage_new(const struct machine_options *o, struct place_inputs *in,
					struct err *e) MUST_CHECK;
void machine_stage_free(struct machine_stage *s);

/* One record in, it and what comes of it out. */
int machine_stage_take(struct machine_stage *s, const struct rec *r, struct filter *f,
		       struct err *e) MUST_CHECK;
/* The end of a stream; the clock goes on in the next one. */
int machine_stage_end(struct machine_stage *s, struct filter *f, struct err *e) MUST_CHECK;

#endif
