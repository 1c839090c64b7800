/* bound_divisible.h - what no placement can beat where operations may be cut into parts that several devices compute at once.
 * The bounds of whole operations (bound.h) are no bounds of that.  Copies, memory, and what devices cost each other only add to it.
 *
 * A share x of an operation takes a device at least fixed + x (seconds - fixed): Beaumont, Casanova, Legrand, Robert, Yang,
 * Scheduling divisible loads on star and tree networks, IEEE TPDS 16(3), 2005, without their network. */
#ifndef HSDAG_PLACE_BOUND_BOUND_DIVISIBLE_H
#define HSDAG_PLACE_BOUND_BOUND_DIVISIBLE_H

#include "place/simulate/units.h"

/* What is cut: operations, or tasks as wholes.  Borrowed. */
struct divisible {
	uint32_t n, k;
	const double *work_s; /* (n,k) seconds of all of it; INFINITY: cannot run there */
	const double
		*fixed_s; /* (k) of each part, however small; more than work_s counts as that */
	const uint32_t *in_ptr,
		*in; /* (n+1), what each reads, of smaller numbers; UINT32_MAX: nothing */
};

struct divisible_bound {
	/* However it is cut: each device's load, where all is cut as suits best.  0: not known. */
	double load_s;
	/* Where an operation waits for all parts of what it reads: the longest path, at least load_s.  Where a part waits only for
	 * parts, one device can begin the next operation while another is still at this one, and so beat it. */
	double wait_s;
};

/* m: whose devices these are, and which of them take turns.  deadline_s (of clock_s; 0: none): bounds are what they are then. */
struct divisible_bound bound_divisible(const struct divisible *x, const struct place_model *m,
				       double deadline_s);

/* The least seconds of one operation, s (k), on all devices at once. */
double divisible_s(const double *s, const double *fixed_s, uint32_t k);

/* Tasks as what is cut, less all that they could save beside neighbours; nothing is known of fixed seconds.  From a; borrows m. */
void divisible_tasks(const struct place_model *m, struct arena *a, struct divisible *out);

#endif
