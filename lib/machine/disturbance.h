/* disturbance.h - what slows devices down: drift, and bursts in which they are shared.  It depends
 * on the seed and the time alone, so that a machine is as it was when one goes on at a later time. */
#ifndef HSDAG_MACHINE_DISTURBANCE_H
#define HSDAG_MACHINE_DISTURBANCE_H

#include "machine/machine_spec.h"

struct disturbance;

struct disturbance *disturbance_new(const struct machine_spec *s, uint32_t k);
void disturbance_free(struct disturbance *x);

/* factor (k): how many times as long device d takes, in the mean from begin_s for so many seconds. */
void disturbance_factors(struct disturbance *x, double begin_s, double for_s, double *factor);

/* The seed of what happens. */
uint64_t machine_happenings_seed(const struct machine_spec *s);

#endif
