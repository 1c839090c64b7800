/* closed_loop.h - a placement with n requests in flight, each of which begins anew as soon as it has ended: seconds a
 * request, and how long one takes.
 *
 * The list schedule (sched/timeline.h) of copies of the graph: copy j begins when copy j - n has ended, and a device takes
 * what is ready of the copy with the lowest number, of one copy by the placement's own order.  The first LOOP_FILL n copies fill
 * the devices, LOOP_WINDOW n are counted, and n follow, so that n are in flight all the while (measure/in_flight.h).  What devices that compute
 * at once take longer is added as for one inference (place_latency_s).  Where there are several placements, replicas of the
 * model, request i in flight and those behind it are by placement i modulo their number. */
#ifndef HSDAG_PLACE_SIMULATE_CLOSED_LOOP_H
#define HSDAG_PLACE_SIMULATE_CLOSED_LOOP_H

#include "place/simulate/evaluate.h"

enum { LOOP_FILL = 2, LOOP_WINDOW = 12 };
/* Tasks of all copies: with more there is no loop. */
enum { LOOP_MOST_TASKS = 100000000 };
static inline uint64_t closed_loop_tasks(const struct place_model *m, uint32_t n)
{
	return (uint64_t)(LOOP_FILL + LOOP_WINDOW + 1) * n * ((uint64_t)m->tasks.dag.n + 1);
}

struct closed_loop;

struct loop_figures {
	double period_s, p50_s, p95_s, p99_s;
};

/* m, of PLACE_SCHEDULE, is borrowed; n > 1, and no more than LOOP_MOST_TASKS tasks. */
struct closed_loop *closed_loop_new(const struct place_model *m, uint32_t n);
void closed_loop_free(struct closed_loop *x);

/* Placement `row` of `rows` <= n is that of the last result of place_evaluate or place_evaluate_in of an evaluator of the same
 * model, which was OK or MEMORY.  Row 0 is the first to be told. */
void closed_loop_place(struct closed_loop *x, const struct evaluator *of, uint32_t row,
		       uint32_t rows);
/* Of the rows that were told.  busy_s (k), or NULL: seconds a request. */
void closed_loop_run(struct closed_loop *x, struct loop_figures *out, double *busy_s);
/* Then the share of all requests that run by placement `row`: faster replicas have more. */
double closed_loop_share(const struct closed_loop *x, uint32_t row);
/* mem (k): what all requests need at their peaks, weights once on a device, and what it needs to be in use at all. */
void closed_loop_memory(const struct closed_loop *x, uint64_t *mem);

#endif
