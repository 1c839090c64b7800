/* graph.h - the computation graph as every stage sees it: the `graph` record
 * in memory.
 *
 * Nodes are rows 0 .. n-1 in a topological order (the source of every edge has
 * a smaller row than its target), so any loop over rows is a topological
 * sweep.  An edge is an input port that is connected: edges are stored with
 * their target, in port order; parallel edges are separate ports.  Columns in
 * compressed sparse row form: the items of row v are x[ptr[v]] .. x[ptr[v+1]-1].
 *
 * A placement assigns devices to co-location sets, not to nodes. */
#ifndef HSDAG_GRAPH_GRAPH_H
#define HSDAG_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "graph/op_kind.h"

#define GRAPH_NONE UINT32_MAX  /* no node, no set */
#define DIM_DYNAMIC (-1)       /* a dimension that is not known */
#define RANK_DYNAMIC UINT8_MAX /* a shape whose rank is not known */

/* Element types of the model's tensors (OpenVINO's names in lower case). */
enum elem {
	EL_DYNAMIC,
	EL_F64,
	EL_F32,
	EL_F16,
	EL_BF16,
	EL_F8E4M3,
	EL_F8E5M2,
	EL_F8E8M0,
	EL_F4E2M1,
	EL_NF4,
	EL_I64,
	EL_I32,
	EL_I16,
	EL_I8,
	EL_I4,
	EL_U64,
	EL_U32,
	EL_U16,
	EL_U8,
	EL_U6,
	EL_U4,
	EL_U3,
	EL_U2,
	EL_U1,
	EL_BOOLEAN,
	EL_STRING,
	EL_COUNT
};
const char *elem_name(enum elem t); /* "f32" */
int elem_parse(const char *s);      /* any case, "f32"/"FP32"/"BOOL"/"BIN"...; -1 unknown */
unsigned elem_bits(enum elem t);    /* 0: dynamic or string */
bool elem_is_real(enum elem t);
bool elem_is_packed(enum elem t); /* several elements in a byte */
/* Bytes of n elements, sub-byte types packed; false on overflow. */
bool elem_bytes(enum elem t, uint64_t n, uint64_t *bytes);

/* Who reads the outputs of each node: those that read outputs of v are dst[ptr[v]] .. dst[ptr[v+1]-1],
 * ascending, each with the input port (index into in_*) by which it does. */
struct consumers {
	uint32_t *ptr, *dst, *slot;
};

/* A plan by which dagsplit cut a graph (lib/split/split_graph.h). */
enum { GRAPH_CUT_WAYS = 64 };
struct graph_cut {
	uint32_t ways;
	uint32_t rows;     /* of shares */
	uint32_t *share;   /* (rows, ways) */
	uint8_t *share_of; /* (nodes of the whole) the row of each; NULL: all have the first */
	int8_t *axis;      /* (nodes of the whole) */
	bool again, apart;
	uint8_t *group; /* (ways) */
};

/* A model with one of several lists of shapes, and how much an inference with it counts beside the others'. */
enum { GRAPH_MAX_CASES = 16 };
struct graph_case {
	const char *name;
	double weight;
	uint64_t tokens; /* that an inference of a language model takes in; 0: not told */
	/* Of a histogram: shapes between this case's and the next one's, and what both have of their weights; else 0. */
	uint32_t n_between;
	double between;
	struct graph *graph; /* with the nodes, sets and digest of all; of case 0 itself */
};

struct graph {
	const char *name;       /* of the model */
	const char *xml;        /* absolute path of the IR, "" when there is none */
	const char *weights;    /* absolute path of the .bin, "" when there is none */
	uint64_t weights_bytes; /* its size when the graph was read; 0 when there is none */
	uint32_t ir_version;    /* 10, 11; 0: not from IR */
	uint64_t digest;        /* names this graph in other records */

	uint32_t n;             /* nodes */
	int64_t *id;            /* (n) layer id in the IR */
	const char **node_name; /* (n) friendly name; not necessarily unique */
	const char **
		type; /* (n) canonical operator type, e.g. "Convolution"; interned: equal types, equal pointers */
	const char **opset; /* (n) "opset1" */

	uint32_t *attr_ptr;    /* (n+1) */
	const char **attr_key; /* attributes of <data>, in document order, as written */
	const char **attr_value;

	uint32_t *in_ptr;  /* (n+1) */
	uint32_t *in_node; /* source node of each input port; GRAPH_NONE when unconnected */
	uint32_t *in_port; /* which output of the source, counted from 0 */

	uint32_t *out_ptr;      /* (n+1) */
	uint8_t *out_elem;      /* enum elem of each output */
	uint32_t *dim_ptr;      /* (n_out+1) */
	int64_t *dim;           /* sizes; DIM_DYNAMIC */
	uint8_t *out_rank;      /* (n_out) RANK_DYNAMIC, or the number of dims */
	const char **out_names; /* (n_out) the IR's comma-separated tensor names, "" when none */

	uint32_t n_const;
	uint32_t *const_node;   /* (n_const) ascending */
	uint64_t *const_offset; /* bytes into the weights file, or from tail_at on into the tail */
	uint64_t *const_bytes;

	/* Constants that no file has, such as where an operation was cut: they count as bytes
	 * that stand behind the file, from tail_at on, which is beyond its end and a multiple of
	 * GRAPH_TAIL_ALIGN. */
	uint64_t tail_at, tail_bytes; /* tail_bytes 0: there are none */
	const uint8_t *tail;

	uint32_t n_sets; /* co-location sets = what is placed */
	uint32_t *
		set; /* (n) set of each node; GRAPH_NONE: not placed by itself, lives with its consumers */

	/* What graph_finish makes of type and in_*. */
	enum op_kind *kind; /* (n) OP_UNKNOWN: an operator that is not in the list */
	struct consumers consumers;

	uint32_t n_bodies; /* bodies of TensorIterator, Loop and If, ascending by their nodes */
	struct graph_body *body;

	struct graph *whole; /* what dagsplit made it from, arena shared; NULL: it was not */
	uint32_t *
		part_of; /* (n) with it: the node there of which this one is a part; GRAPH_NONE: of none */
	/* (n) with it: which part of the model a node belongs to, also as a slice or join of it; GRAPH_NONE: to none */
	uint32_t *part;
	struct graph_cut
		*cut; /* how it was made from whole; NULL: not told, or it was cut more than once */

	uint32_t n_cases; /* lists of shapes, of which this is the first; 0: there is one */
	struct graph_case *cases;
	double over; /* what counts of them (case_value.h) */

	struct arena *arena; /* owns everything above */
};

/* One connection between a control-flow node and its body. */
struct port_map {
	bool output;      /* body result -> node output, else node input -> body parameter */
	int64_t external; /* position of the node's input or output port; -1: none (Loop's condition) */
	uint32_t internal; /* body node (Parameter or Result) */
	bool has_axis;
	int64_t axis, start, end, stride, part_size; /* as in the IR; valid when has_axis */
	bool condition, counter; /* purpose="execution_condition", "current_iteration" */
};

/* Runs of a body's node so far, and of the body itself. */
struct body_runs {
	uint64_t runs, rounds;
};

struct graph_body {
	uint32_t node;    /* the control-flow node */
	const char *role; /* "body", "then", "else" */
	double times; /* of a branch the share of runs that take it, of a loop the rounds of a run, as somebody said;
	                   * 0 in all bodies of the node: nobody did (body_times.h) */
	struct body_runs *runs; /* NULL: not counted */
	struct graph *graph;    /* own arena-shared graph: no sets, no paths */
	uint32_t n_maps, n_back;
	struct port_map *map;
	uint32_t *back_from, *back_to; /* body Result -> body Parameter of the next iteration */
};

/* The node that input `input` of node v reads; GRAPH_NONE: it is not connected, or not there. */
uint32_t graph_source(const struct graph *g, uint32_t v, uint32_t input);
/* Attribute of node v, or NULL. */
const char *graph_attr(const struct graph *g, uint32_t v, const char *key);
/* Number of elements of output o (an index into out_*), or -1 when dynamic. */
int64_t graph_out_elements(const struct graph *g, uint32_t o);
/* Bytes of output o, or -1 when dynamic or of a type without a size. */
int64_t graph_out_bytes(const struct graph *g, uint32_t o);
uint32_t graph_n_edges(const struct graph *g); /* connected input ports */

/* "layer 12 'conv1' (Convolution)" for messages, into dst[cap]; returns dst. */
char *graph_layer(const struct graph *g, uint32_t v, char *dst, size_t cap);

/* The node whose output o (an index into out_*) is. */
uint32_t graph_node_of(const struct graph *g, uint32_t o);

/* The output that input slot i (of in_node) reads; it is connected. */
static inline uint32_t graph_slot_output(const struct graph *g, uint32_t i)
{
	return g->out_ptr[g->in_node[i]] + g->in_port[i];
}

/* The output whose bytes input slot i (of in_node) reads, where root (outputs) has the output whose
 * bytes an output has, NULL: itself.  GRAPH_NONE: it is not connected. */
uint32_t graph_read_output(const struct graph *g, const uint32_t *root, uint32_t i);

/* Pages have at most so many bytes: the tail begins with one. */
#define GRAPH_TAIL_ALIGN ((uint64_t)1 << 16)
/* Does the record have the bytes of constant c (an index into const_*), not the file? */
bool graph_const_in_tail(const struct graph *g, uint32_t c);

/* The index of node v among the constants, or -1. */
int64_t graph_const(const struct graph *g, uint32_t v);

/* The bodies of node v are body[*first] up to what is returned, which is not one of them. */
uint32_t graph_bodies(const struct graph *g, uint32_t v, uint32_t *first);

/* Everything that code behind a reader trusts: topological order, ranges, ranks, sizes
 * below 2^63 bytes, bodies at most GRAPH_MAX_DEPTH deep, sets that are not empty,
 * numbered in a topological order, and fed by placed nodes only into placed ones.
 * -1 (ST_INPUT) names the column of docs/reference/stream.md that is wrong. */
enum { GRAPH_MAX_DEPTH = 8 };
int graph_check(const struct graph *g, struct err *e) MUST_CHECK;

/* ---- co-location (Paper, appendix G) ---- */

enum const_mode {
	CONST_KEEP, /* constants are nodes of the placed graph, as in the paper */
	CONST_DROP, /* Const nodes are in no set */
	CONST_FOLD  /* nor are nodes that depend on constants alone */
};
/* Fills set and n_sets.  In topological order: if v_j is the only child of v_i and
 * v_i the only parent of v_j, both join one set (children and parents are counted
 * as distinct nodes, among placed nodes).  Sets are numbered by their first node, which makes
 * set numbers a topological order of the quotient graph.  `colocate` false:
 * every placed node is its own set. */
void graph_colocate(struct graph *g, enum const_mode mode, bool colocate);
/* All sets of a group become one set: group[n_sets] below n_groups, each of which has a set.
 * They are numbered in a topological order.  ST_INPUT, and g as it was, when groups wait for
 * each other in a circle. */
int graph_join_sets(struct graph *g, const uint32_t *group, uint32_t n_groups,
		    struct err *e) MUST_CHECK;

/* ---- variables (varsets.c) ---- */

/* The id of the variable that node v reads or assigns; NULL: v is neither ReadValue nor Assign. */
const char *graph_variable(const struct graph *g, uint32_t v);
/* Sets that read and assign one variable become one, with everything on a path from a reader to a
 * writer: a runtime that keeps variables within what one device runs at a time (OpenVINO)
 * cannot have them apart.  Where such sets would wait for each other in a circle, they are one.
 * Sets are numbered in a topological order. */
void graph_join_variables(struct graph *g);
/* Is each variable used by one set alone? */
bool graph_variables_joined(const struct graph *g);
/* (n) of each reader of a variable: has that always the shape of the reader's output, static, and that of all that is
 * assigned to it?  Memory from a. */
bool *graph_fixed_variables(const struct graph *g, struct arena *a);
/* (n_sets) which sets read or assign a variable; NULL when none does.  Memory from a. */
bool *graph_variable_sets(const struct graph *g, struct arena *a);

/* ---- a plain directed graph, and the quotient by sets ---- */

struct digraph {
	uint32_t n, m;
	uint32_t *src, *dst; /* (m) distinct pairs, sorted by (src, dst), no loops */
	uint64_t *bytes;     /* (m) bytes that cross; may be NULL */
};
/* Quotient of g by its co-location sets.  bytes: distinct source tensors once
 * per target set, dynamic ones as 0. */
void graph_set_quotient(const struct graph *g, struct arena *a, struct digraph *out);
/* Quotient of d by group[d->n] in 0 .. n_groups-1: inter-group edges, deduplicated. */
void digraph_quotient(const struct digraph *d, const uint32_t *group, uint32_t n_groups,
		      struct arena *a, struct digraph *out);
/* Compressed rows of d: neighbours along (in = false) or against (true) the arrows. */
void digraph_csr(const struct digraph *d, bool in, struct arena *a, uint32_t **ptr, uint32_t **adj);
/* Topological order in order[n]; false when d has a cycle. */
bool digraph_toposort(const struct digraph *d, struct arena *a, uint32_t *order);
/* Strongly connected components (Tarjan, SIAM J. Computing 1(2), 1972): component[n], numbered in a
 * topological order of what they are contracted to; returns how many.  d may have cycles. */
uint32_t digraph_components(const struct digraph *d, uint32_t *component);
/* Upward and downward longest paths in edges: depth from the sources and to the sinks.
 * d must be acyclic with ids in topological order. */
void digraph_depths(const struct digraph *d, uint32_t *from_source, uint32_t *to_sink);

/* A new empty graph with its arena.  Whoever fills it ends with graph_finish. */
struct graph *graph_new(void);
/* Does node v but join, for results of the model, the parts of one operation that devices have in memories of their own? */
bool graph_joins_result(const struct graph *g, uint32_t v);

/* The last step of making a graph, and of changing its types or inputs: kinds and consumers, which
 * follow from those, of g and of bodies that have none yet.  Sources are rows of g, or GRAPH_NONE. */
void graph_finish(struct graph *g);
void graph_free(struct graph *g);

#endif
