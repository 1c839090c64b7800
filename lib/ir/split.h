/* split.h - a placed model as one IR per segment, which any OpenVINO loads, and an
 * index of them.
 *
 * DIR/NNNN_DEVICE.xml and .bin, NNNN counting in an order in which they can run.  Each .bin
 * holds the constants of its segment alone, each once, at multiples of 64 bytes.
 * DIR/index.json:
 *
 *   {"model": NAME, "xml": PATH, "digest": HEX, "devices": [NAME...],
 *    "inputs": [TENSOR...],                    the model's Parameters
 *    "segments": [{"file": "0000_cpu.xml", "device": NAME, "operations": N, "weights_bytes": N,
 *                  "inputs": [TENSOR + FROM...],    in the order of the file's Parameters
 *                  "outputs": [TENSOR...]}...],     in the order of the file's Results
 *    "outputs": [{"node": NAME} + FROM...]}    the model's Results
 *   TENSOR: "node", "port": the operation that makes it, by its friendly name, and which of its
 *           outputs; "type": "f32"; "shape": [...], -1: dynamic, null: unknown rank
 *   FROM:   "segment", "output": which output of which segment; segment -1: input "output"
 *           of the model
 *
 * Constants that the model has as results are a segment without inputs on the first device. */
#ifndef HSDAG_IR_SPLIT_H
#define HSDAG_IR_SPLIT_H

#include "base/err.h"
#include "graph/segment.h"
#include "ir/weights.h"

/* Make `dir` (*made), or find it empty.  ST_RUNTIME. */
int split_make_directory(const char *dir, bool *made, struct err *e) MUST_CHECK;

struct new_bin; /* new_bin.h */

struct split_report {
	uint32_t n_files;   /* IRs */
	uint64_t bin_bytes; /* of all .bin files */
};

/* Segments x of g into the directory `dir`, which is made if it does not exist and must be
 * empty.  constant[n]: nodes that depend on constants alone; they are in no segment.
 * names[]: of devices.  shared: a .bin that all segments add their constants to, instead of a .bin
 * each; NULL: none.  ST_RUNTIME when something cannot be written, ST_INPUT when the .bin
 * does not hold the constants. */
int split_write(const char *dir, const struct graph *g, const struct segments *x,
		const bool *constant, const char *const *names, uint32_t n_names,
		const struct weights *weights, struct new_bin *shared, struct split_report *rep,
		struct err *e) MUST_CHECK;

#endif
