/* evaluate.h - what a placement is worth: legal or not, latency, memory, copies.
 *
 * Legal means: every set may run on its device, every pair of devices that
 * must exchange data has a link, sets that stay together are on one device, and no
 * device needs more memory than it has. */
#ifndef HSDAG_PLACE_EVALUATE_H
#define HSDAG_PLACE_EVALUATE_H

#include "place/model.h"

enum place_status {
	PLACE_OK, PLACE_CANNOT_RUN, PLACE_NO_LINK, PLACE_MEMORY,
	PLACE_APART,                 /* bad_set is not where the set is that it stays with */
	PLACE_CIRCLE                 /* dnnpart-latency: pieces of devices wait for each other */
};

struct place_result {
	enum place_status status;
	/* CANNOT_RUN: both; NO_LINK: the set's output is needed there; MEMORY: bad_dev. */
	uint32_t bad_set, bad_dev;
	/* From here on: only when OK or MEMORY.  lat_s: what the model's rules minimise. */
	double lat_s;
	uint32_t copies;
	uint64_t copy_bytes;
	uint64_t *mem_bytes;         /* (k) peak: folded values, tensors, copies */
	const double *busy_s;        /* (k) */
};

struct evaluator;

/* m is borrowed.  Evaluations allocate nothing. */
struct evaluator *evaluator_new(const struct place_model *m);
void evaluator_free(struct evaluator *x);

/* device (n_sets), each < k.  The result lives until the next call. */
const struct place_result *place_evaluate(struct evaluator *x, const uint16_t *device);

/* Local search: remember a placement, move sets, ask again.  place_moved says what place_evaluate
 * would, up to rounding, and copies may be missing; callers move sets that stay together together.
 * Where the rules allow it a move costs what its neighbours are, else place_moved evaluates all. */
void place_begin(struct evaluator *x, const uint16_t *device);
void place_move(struct evaluator *x, uint32_t set, uint16_t dev);
const struct place_result *place_moved(struct evaluator *x);

/* The reason of a status that is not PLACE_OK, for people. */
const char *place_reason(const struct evaluator *x, const struct place_result *r, char *text,
			 size_t cap);

/* The device on which everything together runs fastest, with its latency;
 * -1 when none can run the whole model. */
int place_best_single(struct evaluator *x, double *lat_s);

#endif
