/* dnnpart.h - the two cost models of dnn-partitioning: Tarnawski, Phanishayee, Devanur, Mahajan,
 * Paravecino, "Efficient algorithms for device placement of DNN graph operators", NeurIPS 2020,
 * sections 3 and 4.
 *
 * Devices of type "cpu" reach the memory that all share without cost; all others are accelerators.
 * What a task makes goes between an accelerator and that memory in move_s, whatever number of
 * consumers it has.
 *
 * Latency.  Tasks on CPUs start when their inputs are there, any number at a time.  The tasks of an
 * accelerator are cut into pieces: the piece of a task is the largest number of times that a path
 * to it enters the accelerator.  A piece starts when all its inputs from outside are there and
 * takes, in sequence: move_s of every outside producer, its tasks, move_s of every task with a
 * consumer outside.  Its results are there at its end.  Pieces do not wait for each other, unless
 * by their inputs.
 *
 * Throughput.  The time between two samples in a pipeline: the largest load of a device; of a CPU
 * its tasks, of an accelerator those and its transfers as above, the whole accelerator being one
 * piece. */
#ifndef HSDAG_PLACE_SIMULATE_DNNPART_H
#define HSDAG_PLACE_SIMULATE_DNNPART_H

#include "place/problem/placemodel.h"

struct dnnpart_result {
	/* latency: two pieces wait for each other, nothing below holds */
	bool circle;
	double value_s;  /* latency or the largest load */
	uint32_t copies; /* transfers in or out */
	uint64_t copy_bytes;
	double *load_s; /* (k) */
};

struct dnnpart;

/* m is borrowed and has rules other than PLACE_SCHEDULE.  Evaluations allocate nothing. */
struct dnnpart *dnnpart_new(const struct place_model *m);
void dnnpart_free(struct dnnpart *x);

/* device (tasks), where each can run.  The result lives until the next call. */
const struct dnnpart_result *dnnpart_evaluate(struct dnnpart *x, const uint16_t *device);

/* The same for tasks 0 .. n-1 alone, as if there were no others.  end_s (n): latency alone, when
 * the unit of each task has ended.  Neither the value nor an end falls when more tasks are counted.
 */
const struct dnnpart_result *dnnpart_evaluate_prefix(struct dnnpart *x, const uint16_t *device,
						     uint32_t n, double *end_s);

/* Throughput alone, for local search: device (tasks) as in dnnpart_evaluate, then one task at a
 * time to another device.  Loads are kept by what a move changes, in time that grows with the
 * task's neighbours and k (twosum.h: moves that take for ever cost the others no digits); they add
 * up rounding errors until the next dnnpart_begin.  Copies are not counted. */
void dnnpart_begin(struct dnnpart *x, const uint16_t *device);
void dnnpart_move(struct dnnpart *x, uint32_t task, uint16_t dev);
const struct dnnpart_result *dnnpart_moved(struct dnnpart *x);

/* Is device dev a CPU in these models? */
bool dnnpart_is_cpu(const struct place_model *m, uint32_t dev);

#endif
