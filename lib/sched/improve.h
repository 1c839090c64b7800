/* improve.h - a better order than that of the list scheduler, for one placement: devrun's plans and
 * the simulator (SCHED_IMPROVED) have it from here.
 *
 * The schedules of order.h may keep a device idle for a task that matters more.  One is made from
 * upward ranks, one from the list scheduler's own schedule.  The shorter of them is worth trying
 * when it promises to be shorter than the list scheduler's. */
#ifndef HSDAG_SCHED_IMPROVE_H
#define HSDAG_SCHED_IMPROVE_H

#include "sched/order.h"

struct improver;

/* For d with costs c, both borrowed. */
struct improver *improver_new(const struct sched_dag *d, const struct sched_costs *c);
void improver_free(struct improver *x);

/* t: the list scheduler's schedule of placement device (n), by t->rank, with start_s.  True: there
 * may be a shorter one, with tasks by descending improver_rank and the delays improver_delays (see
 * sched.h), both (n) and valid until the next call. */
bool improver_run(struct improver *x, const uint16_t *device, const struct timeline *t);
const double *improver_rank(const struct improver *x);
const uint32_t *improver_delays(const struct improver *x);

#endif
