/* ir.h - reading OpenVINO IR, versions 10 and 11, into a graph.
 *
 * The file is parsed as a stream of elements: no tree of it is ever built, so
 * memory is proportional to the graph.  Document type declarations (and with
 * them entities) are refused and nothing is fetched from anywhere.
 *
 * Layers that no Result or Assign depends on are dropped, as OpenVINO does;
 * Parameters always stay.  Rows are in a topological order: document order where
 * that is one, else the least by document order.  Bodies of TensorIterator,
 * Loop and If become graphs of their own.
 *
 * Source: the IR files that OpenVINO's serializer and deserializer agree on. */
#ifndef HSDAG_IR_IR_H
#define HSDAG_IR_IR_H

#include "base/err.h"
#include "base/mem.h"
#include "graph/graph.h"

struct ir_options {
	const char *
		weights; /* the .bin, compressed or not; NULL: MODEL.bin beside MODEL.xml (ir_beside), which may be absent */
	bool no_weights;   /* do not look at any .bin */
	bool any_operator; /* accept operator types and opsets that are not OpenVINO's */
};

struct ir_report {
	uint64_t xml_bytes;
	uint32_t n_layers;  /* in the file, bodies included */
	uint32_t n_dropped; /* of these: nothing depends on them */
};

/* Read the IR at `path` into a new graph with the name, the paths, the nodes and
 * the constants set; there are no co-location sets and no digest yet.  `opt` and
 * `rep` may be NULL.  Constants are checked against the size of the .bin when
 * there is one.  The caller ends the graph with graph_free.
 * NULL on error: ST_INPUT with "FILE:LINE: layer ID 'NAME': what is wrong",
 * ST_RUNTIME when a file cannot be read. */
struct graph *ir_read(const char *path, const struct ir_options *opt, struct ir_report *rep,
		      struct err *e) MUST_CHECK;

/* The file beside MODEL.xml that is called MODEL and `ending`, as ".bin", or so with what packed.h knows behind it,
 * as ".bin.xz": the first that is there, in a; NULL: none. */
const char *ir_beside(const char *xml, const char *ending, struct arena *a);

#endif
