/* placed_model.h - a placed model as OpenVINO takes it: one IR with the shapes that were placed, a name
 * of its own for each operation, the device of each, and the segments where HETERO refuses.
 *
 * DIR/model.xml, model.bin: the model.  Operations keep their names; of several with one name the first
 *     does, and others, as those without one, get a name that no other has.  Constants, and what depends on
 *     them alone, are there once for each device that reads them, so that none goes from device to
 *     device.
 * DIR/affinity.json: {"name": "device"} of exactly these operations.
 * DIR/segments: as split.h has them, but their constants are in model.bin.
 * DIR/placement.N: the same of the N-th placement, from 2 on, where there are several; constants of all are in DIR/model.bin. */
#ifndef HSDAG_IR_PLACED_MODEL_H
#define HSDAG_IR_PLACED_MODEL_H

#include "base/err.h"
#include "ir/weights.h"
#include "op/tensor.h"

/* One of the placements of a graph. */
struct placed_by {
	const uint16_t *device;   /* (n) of every node, below n_names */
	const char *const *names; /* (n_names) they differ */
	uint32_t n_names;
};

/* g into the directory `dir`, which is made if it does not exist and must be empty.  by[n_by], 1 or more; constant[n]: nodes
 * that depend on constants alone; value (outputs) has data of those that are to be Consts: HETERO makes shapes open that it
 * would have to compute.  *bytes: of model.bin.  ST_RUNTIME when something cannot be written, ST_INPUT when g does not come
 * from IR or the .bin does not hold the constants. */
int placed_model_write(const char *dir, const struct graph *g, const struct placed_by *by,
		       uint32_t n_by, const bool *constant, const struct tensor *value,
		       const struct weights *weights, uint64_t *bytes, struct err *e) MUST_CHECK;

#endif
