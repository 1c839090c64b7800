/* problem.h - a placement problem that did not come from IR: nodes with given costs, devices,
 * links. What json2dag reads and writes as graph, devs and cost records (STREAM.md).
 *
 * Every node is a set of its own; nodes that must share a device are told apart from that, by
 * `together`, since such nodes need not be neighbours. */
#ifndef HSDAG_PLACE_PROBLEM_PROBLEM_H
#define HSDAG_PLACE_PROBLEM_PROBLEM_H

#include "record/devrec.h"
#include "stream/rec.h"

/* No count of bytes, nor the sum of all of them, is more. */
#define PROBLEM_MOST_BYTES 0x1p62

struct problem_edge {
	uint32_t src, dst; /* nodes */
	uint64_t bytes;    /* edges of one source with other bytes are other tensors */
};

struct problem {
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
	struct problem_edge *edge;
	bool contention, overlap, fifo; /* how it is scheduled (sched.h); fifo: else by rank */
};

/* From JSON in either form, told apart by their keys: the general form (`devices`) or that of
 * dnn-partitioning (`maxFPGAs`).  Memory from a.  -1 (ST_INPUT) says where and what is wrong. */
int problem_from_json(const struct val *json, struct arena *a, struct problem *p,
		      struct err *e) MUST_CHECK;
int problem_from_dnnpart(const struct val *json, struct arena *a, struct problem *p,
			 struct err *e) MUST_CHECK;

/* Write graph, devs and cost.  Nodes are renumbered: topological, of several that could be next
 * the one that is earlier in the file.  -1: ST_INPUT for a circle of edges, naming a node on it. */
int problem_write(const struct problem *p, struct rec_writer *w, struct err *e) MUST_CHECK;

/* Parts of reading that both forms share. */

/* Numbers for values; 1 and "1" differ, 1 and 1.0 do not.  Ids are integers of any size or texts;
 * colours may be any values. */
struct id_table;
struct id_table *id_table_new(struct arena *a);
void id_table_free(struct id_table *t);
bool is_id(const struct val *v); /* v may be NULL: no */
/* The number of a value, a new one when it is new (*is_new). */
uint32_t id_table_add(struct id_table *t, const struct val *v, bool *is_new);
/* UINT32_MAX when it is not there. */
uint32_t id_table_find(struct id_table *t, const struct val *v);

/* What a list is made of, of key `key` in map: -1 when it is no list of maps. */
int problem_list(const struct val *map, const char *key, const struct val **list, uint32_t *n,
		 struct err *e) MUST_CHECK;
/* A number from 0 to 1e100 of key `key`; absent: *out is left alone unless `needed`. */
int problem_number(const struct val *map, const char *key, bool needed, double *out,
		   struct err *e) MUST_CHECK;
/* The same as a count of at most so many bytes, rounded up. */
int problem_bytes(const struct val *map, const char *key, uint64_t *out, struct err *e) MUST_CHECK;
/* A device's memory, rounded down; 0, and more than problem_bytes allows: no limit. */
int problem_limit(const struct val *map, const char *key, uint64_t *out, struct err *e) MUST_CHECK;
/* Text of key `key`; *out is left alone when it is absent or null. */
int problem_text(const struct val *map, const char *key, struct arena *a, const char **out,
		 struct err *e) MUST_CHECK;
/* The arrays of n nodes on k devices: costs 0, own ids and names, all else zero. */
void problem_alloc(struct problem *p, uint32_t n, struct arena *a);

#endif
