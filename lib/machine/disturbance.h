/* disturbance.h - what slows devices down: drift, and bursts in which they are shared.  It depends
 * on the seed and the time alone, so that a machine is as it was when one goes on at a later time. */
#ifndef HSDAG_MACHINE_DISTURBANCE_H
#define HSDAG_MACHINE_DISTURBANCE_H

#include "machine/machine_spec.h"

struct disturbance;

/* turns (k,k): which devices take turns, as struct sched_costs has it, copied; NULL: none do.  A device that takes turns with
 * more devices than each of these does consists of them, as both cores in one of each core alone: it
 * is as slow as the slowest of them at that time. */
struct disturbance *disturbance_new(const struct machine_spec *s, uint32_t k, const uint8_t *turns);
void disturbance_free(struct disturbance *x);

/* factor (k): how many times as long device d takes, in the mean from begin_s for so many seconds. */
void disturbance_factors(struct disturbance *x, double begin_s, double for_s, double *factor);

/* The seed of what happens. */
uint64_t machine_happenings_seed(const struct machine_spec *s);

#endif
