/* fusion.h - fusion groups: the steps of a placement that a device runs as one.
 *
 * Devices that fuse (device_class.fuses).  Heads are taken in the order in which the
 * schedule without groups starts them, and a group grows by one consumer of its
 * outputs after another while
 *   - the consumer is on the same device and in no group,
 *   - whatever else it reads is there before the head starts, by the schedule or from a group
 *     before on that device, or is made by a few steps that nobody else reads, which join with it and
 *     need nothing that is not there by then,
 *   - no other device reads an output of the group so far,
 *   - the device says yes.
 * So a group hardly makes anybody wait for longer than its steps would have; and since all
 * that a group reads from outside is ready before its head starts, or made by a group whose head starts
 * before, groups in the order of their heads are in a topological order: no circle of groups exists.
 * Where a group has several outputs on the way (x * sigmoid(x)), or the device asks for more (an attention in nodes), a few
 * more consumers are taken together before the device's no is final; steps that these alone read and that the device does
 * not take with them are groups before this one.
 *
 * Devices that take segments (device_class.segments) get the maximal convex
 * segments of graph/segment.h first; the others' groups are then made in the
 * schedule of these. */
#ifndef HSDAG_EXEC_FUSION_H
#define HSDAG_EXEC_FUSION_H

#include "device/device.h"
#include "exec/model.h"
#include "sched/timeline.h"

enum fuse_mode {
	FUSE_NONE, /* every node is a step of its own */
	FUSE_SETS, /* groups within co-located sets only */
	FUSE_ALL,
	FUSE_CUTS /* as FUSE_SETS where several devices are in use, else as FUSE_ALL: sets are where a
		     placement may be cut, and what is not cut is as fast as it can be */
};

struct fusion_group {
	uint32_t dev, n;
	const uint32_t *step; /* (n) ascending, a topological order */
	/* Outputs of the graph: in (n_in), what each input of the step is (the root, where it
	 * is a view), out (n_out), what each of its outputs is. */
	uint32_t n_in, n_out;
	const uint32_t *in, *out;
};

/* Step g of several nodes as device d is to see it, memory from a (MODEL_FEW, MODEL_ALL: as
 * model_spec).  local (n_steps): the place of each step in g, GRAPH_NONE outside. */
int fusion_group_spec(struct model *m, const struct fusion_group *g, const uint32_t *local,
		      struct device *d, enum model_data data, struct arena *a,
		      struct step_spec *out, struct err *e) MUST_CHECK;

/* Fill in and out of g from step, for steps of dag; mark (outputs of the graph) is zeros before
 * and after.  Memory from a. */
void fusion_group_ports(const struct model *m, const struct sched_dag *dag, const bool *is_result,
			const uint32_t *local, uint8_t *mark, struct fusion_group *g,
			struct arena *a);

#endif
