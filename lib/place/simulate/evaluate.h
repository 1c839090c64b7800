/* evaluate.h - what a placement is worth: legal or not, latency, memory, copies.
 *
 * Legal means: every set may run on its device, every pair of devices that
 * must exchange data has a link, sets that stay together are on one device, and no
 * device needs more memory than it has. */
#ifndef HSDAG_PLACE_SIMULATE_EVALUATE_H
#define HSDAG_PLACE_SIMULATE_EVALUATE_H

#include "place/simulate/traffic.h"

enum place_status {
	PLACE_OK,
	PLACE_CANNOT_RUN,
	PLACE_NO_LINK,
	PLACE_MEMORY,
	PLACE_APART,  /* bad_set is not where the set is that it stays with */
	PLACE_CIRCLE, /* dnnpart-latency: pieces of devices wait for each other */
	PLACE_ABOVE   /* place_moved_below: the value is above the limit */
};

struct place_result {
	enum place_status status;
	/* CANNOT_RUN: both; NO_LINK: the set's output is needed there; MEMORY: bad_dev, which has the most of bad_pool where it is
	 * the pool that has too little, else pools.n. */
	uint32_t bad_set, bad_dev, bad_pool;
	/* From here on: only when OK or MEMORY.  value: what is to be small, by the model's
	 * objective (objective.h), and with rules other than the schedule's lat_s, by these
	 * rules. */
	double value, lat_s;
	uint32_t copies;
	uint64_t copy_bytes;
	uint64_t *
		mem_bytes; /* (k) peak: what sets hold, tensors, copies; without the model's `work` */
	uint64_t *pool_bytes; /* (pools.n) what the devices of a pool need together, with `work` */
	double pool_s;        /* for which the busiest pool moves bytes: the latency is no less */
	const double *busy_s; /* (k) */
	/* When the objective needs them, and after place_account. */
	double period_s, energy_j;
	const struct place_traffic *traffic;
};

struct evaluator;

/* m is borrowed.  Evaluations allocate nothing. */
struct evaluator *evaluator_new(const struct place_model *m);
void evaluator_free(struct evaluator *x);

/* device (n_sets), each < k.  The result lives until the next call. */
const struct place_result *place_evaluate(struct evaluator *x, const uint16_t *device);

/* In which order the devices run the tasks of a placement: all that a plan keeps when it takes longer than expected. */
struct kept_order {
	double *rank;         /* (tasks) descending */
	uint32_t *delayed_by; /* (tasks) as sched.h */
};
/* None yet: all ranks are equal.  Memory from a. */
struct kept_order kept_order_new(const struct place_model *m, struct arena *a);
/* That of the last result of place_evaluate, which was OK or MEMORY, into out; by the schedule's rules. */
void place_keep_order(const struct evaluator *x, struct kept_order *out);
/* Before evaluator_new: no orders are searched with m, those of others are kept. */
void place_model_keeps(struct place_model *m);
/* place_evaluate in the order o, perhaps of a model with other costs; the same by other rules. */
const struct place_result *place_evaluate_in(struct evaluator *x, const uint16_t *device,
					     const struct kept_order *o);

/* Orders as place records have them: sets in the order in which devices run them (sequence.c).
 * place_order_of: that of sets (n, distinct, < n_sets) on device (n_sets), into out; what
 * reads another task comes behind it in any case, and tasks of other sets right behind what they read.
 * place_ran_in: the sets of all tasks by their starts, in the schedule of the last result of place_evaluate or
 * place_evaluate_in, which was OK or MEMORY, of a model with SCHED_FREE; into sets (tasks). */
void place_order_of(const struct place_model *m, const uint32_t *sets, uint32_t n,
		    const uint16_t *device, struct kept_order *out);
void place_ran_in(const struct evaluator *x, uint32_t *sets);

/* Fill in the rest of the last result of place_evaluate, which was OK or MEMORY. */
void place_account(struct evaluator *x);

/* Local search: remember a placement (place_begin), move sets, ask for the value
 * (place_moved_below), move them back or leave them there (moves.c).  The answer is exactly that of
 * place_evaluate; by the dnnpart rules it is so up to rounding, and copies may be missing; where
 * memory does not matter mem_bytes may lack the model's `inner`.  Sets that stay together must be
 * moved together. place_moved_below: when the value is above limit, the status may be PLACE_ABOVE,
 * and nothing else is told.  A search that draws its threshold first has most of its answers
 * sooner. */
void place_begin(struct evaluator *x, const uint16_t *device);
void place_move(struct evaluator *x, uint32_t set, uint16_t dev);
const struct place_result *place_moved_below(struct evaluator *x, double limit);

/* Of a model with several cases: what case i took in the last result, which was OK; 0: it does not count. */
double place_case_s(const struct evaluator *x, uint32_t i);

/* The peak of device dev as a whole: with its work space, where it runs anything. */
uint64_t place_peak_bytes(const struct place_model *m, const struct place_result *r, uint32_t dev);
/* Bytes above the limits of all devices, of a status that is MEMORY. */
uint64_t place_missing_bytes(const struct place_model *m, const struct place_result *r);

/* The reason of a status that is not PLACE_OK, for people. */
const char *place_reason(const struct evaluator *x, const struct place_result *r, char *text,
			 size_t cap);

/* The device on which everything together has the least value; -1 when none can run the whole
 * model. */
int place_best_single(struct evaluator *x, double *value);

#endif
