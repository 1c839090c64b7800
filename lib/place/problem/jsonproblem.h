/* jsonproblem.h - a placement problem that did not come from IR: nodes with given costs, devices,
 * links. What json2dag reads and writes as graph, devs and cost records (docs/reference/stream.md).
 *
 * Every node is a set of its own; nodes that must share a device are told apart from that, by
 * `together`, since such nodes need not be neighbours. */
#ifndef HSDAG_PLACE_PROBLEM_JSONPROBLEM_H
#define HSDAG_PLACE_PROBLEM_JSONPROBLEM_H

#include "place/problem/spec.h"
#include "record/devrec.h"
#include "stream/rec.h"

/* No count of bytes, nor the sum of all of them, is more. */
#define JSON_PROBLEM_MAX_BYTES 0x1p62

struct json_problem_edge {
	uint32_t src, dst; /* nodes */
	uint64_t bytes;    /* edges of one source with other bytes are other tensors, */
	uint32_t tensor;   /* and so are those with other numbers of these */
};

struct json_problem {
	const char *name;
	struct devs devs;               /* names, types, memory, links */
	uint32_t n;                     /* nodes, in file order */
	int64_t *id;                    /* (n) the file's, or the row when that is a text */
	const char **node_name, **type; /* (n) */
	double *cost_s;                 /* (n,k) seconds; negative: cannot run there */
	uint64_t *mem_bytes;            /* (n) held on the device for the whole run */
	uint64_t *out_bytes; /* (n) of the output that exists even if no edge reads one */
	/* (n) dnn-partitioning: output between accelerator and DRAM; NULL */
	double *move_s;
	uint32_t *together; /* (n) equal values share a device; NULL: no such pair */
	uint32_t n_edges;
	struct json_problem_edge *edge;
	bool contention, overlap, fifo; /* how it is scheduled (sched.h); fifo: else by rank */
};

/* From JSON in the general form; place/forms reads others, too.  With a specification p->devs has devices of it already, and the
 * file none: its nodes say what they compute and move.  NULL: the file has the devices.  Memory from a.  -1 (ST_INPUT) says
 * where and what is wrong. */
int json_problem_read(const struct val *json, const struct spec *spec, struct arena *a,
		      struct json_problem *p, struct err *e) MUST_CHECK;

/* Write graph, devs and cost.  Nodes are renumbered: topological, of several that could be next
 * the one that is earlier in the file.  -1: ST_INPUT for a circle of edges, naming a node on it. */
int json_problem_write(const struct json_problem *p, struct rec_writer *w,
		       struct err *e) MUST_CHECK;

#endif
