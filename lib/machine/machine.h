/* machine.h - a machine that is played: it runs placements and says how long that took, by true
 * costs that nobody knows and by what happens meanwhile, and its clock goes on by as much.
 *
 * A run takes what the simulator's schedule takes with true costs (truth.h), where sets wait for
 * what was copied and idle devices for their wake-up, each device slowed down as it is at that
 * time (disturbance.h); then all of it longer behind another placement's run, and by noise. */
#ifndef HSDAG_MACHINE_MACHINE_H
#define HSDAG_MACHINE_MACHINE_H

#include "machine/machine_spec.h"
#include "place/simulate/evaluate.h"
#include "timing/runnable.h"

struct machine;

/* m, the profiled problem, is borrowed; its rules are PLACE_SCHEDULE.  The clock begins at 0. */
struct machine *machine_new(const struct machine_spec *s, const struct place_model *m);
void machine_free(struct machine *x);

/* Seconds since the machine began; a later process goes on where an earlier one stopped. */
double machine_clock_s(const struct machine *x);
void machine_set_clock(struct machine *x, double s);

/* A placement that is legal there.  status is not PLACE_OK: it cannot run, `why` says why. */
struct machine_placement {
	struct machine *x;
	const uint16_t *device; /* (n_sets) borrowed */
	struct kept_order kept; /* the order that it brings; rank NULL: none */
	enum place_status status;
	char why[600];
	double true_s;       /* undisturbed */
	double pool_s;       /* what the memory that devices share takes at least */
	uint64_t *mem_bytes; /* (k) */
	double *busy_s;      /* (k) undisturbed */
	uint32_t copies;
	uint64_t copy_bytes;
	bool prepared;   /* its first run has been prepared */
	uint64_t number; /* tells placements apart */
};

/* order (n_order; NULL: none): as in struct place_rec.  Memory from a. */
void machine_place(struct machine *x, const uint16_t *device, const uint32_t *order,
		   uint32_t n_order, struct arena *a, struct machine_placement *out);

/* p, legal, as something to be timed; p is borrowed.  Runs never fail. */
struct runnable machine_runnable(struct machine_placement *p);

/* The single device on which everything takes least time in truth; -1: none can run it. */
int machine_best_single(struct machine *x, double *true_s);

#endif
