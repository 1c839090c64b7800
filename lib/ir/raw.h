/* raw.h - a network while its XML is being read: layers, ports and edges in
 * document order, before edges are resolved.  Internal to lib/ir.
 *
 * Items of layer i in an array x of the net are x[layer[i].x] up to the first
 * item of layer i + 1. */
#ifndef HSDAG_IR_RAW_H
#define HSDAG_IR_RAW_H

#include "base/err.h"
#include "base/mem.h"
#include "graph/graph.h"

#define VEC(T) \
	struct { \
		T *v; \
		size_t n, cap; \
	}
/* A new last item, its contents undefined. */
#define VEC_ADD(x) ((x).v = mem_grow((x).v, &(x).cap, (x).n + 1, sizeof *(x).v), &(x).v[(x).n++])

/* What the reader has to know about a layer's type. */
enum raw_kind { RAW_OTHER, RAW_PARAMETER, RAW_RESULT, RAW_ASSIGN, RAW_CONST, RAW_IF, RAW_LOOP };

struct raw_layer {
	int64_t id;
	const char *name, *type, *opset;
	uint32_t line;
	enum raw_kind kind;
	uint32_t attr, in, out;
	uint32_t sorted_in, sorted_out; /* 1 + index into net.sorted when port ids are not
					   consecutive; else 0 */
};

struct raw_out {
	int64_t id;
	const char *names;
	uint32_t dim; /* first, in net.dim */
	enum elem elem;
	uint8_t rank;
};

struct raw_attr {
	const char *key, *value;
};
struct raw_edge {
	int64_t from, from_port, to, to_port;
	uint32_t line;
};
struct raw_const {
	uint32_t layer;
	uint64_t offset, bytes;
};
struct raw_port {
	int64_t id;
	uint32_t position;
};

/* A port map or back edge of a control-flow layer; ids as in the file. */
struct raw_map {
	struct port_map map;
	int64_t internal;
	const char *role;
	uint32_t line;
};
struct raw_back {
	int64_t from, to;
	uint32_t line;
};
struct raw_body {
	const char *role;
	struct graph *graph;
};

struct raw_net {
	VEC(struct raw_layer) layer;
	VEC(struct raw_attr) attr;
	VEC(int64_t) in; /* ids of input ports */
	VEC(struct raw_out) out;
	VEC(int64_t) dim;
	VEC(struct raw_edge) edge;
	VEC(struct raw_const) constant;
	VEC(struct raw_port) sorted;
	VEC(struct graph_body) body; /* .node: layer index */
	/* of the layer that is being read */
	VEC(struct raw_map) map;
	VEC(struct raw_back) back;
	VEC(struct raw_body) pending;
	uint32_t *slot; /* hash of layer ids: 1 + layer index */
	size_t n_slots;
	bool has_layers, has_edges;
};

void raw_free(struct raw_net *net);

/* End of the ports of layer i. */
uint32_t raw_in_end(const struct raw_net *net, uint32_t i);
uint32_t raw_out_end(const struct raw_net *net, uint32_t i);

/* Make ports of the last layer findable; false when two of a kind have the same
 * id, which is stored in *id. */
bool raw_index_ports(struct raw_net *net, int64_t *id);
/* Position of a port by id; -1 when the layer has no such port. */
int64_t raw_find_in(const struct raw_net *net, uint32_t i, int64_t id);
int64_t raw_find_out(const struct raw_net *net, uint32_t i, int64_t id);

/* Make layers findable; false when layer *again has the id of an earlier one. */
bool raw_index_layers(struct raw_net *net, uint32_t *again);
/* Index of the layer with this id; GRAPH_NONE when there is none. */
uint32_t raw_find_layer(const struct raw_net *net, int64_t id);

/* ---- strings ---- */

/* Equal strings become one string in the arena. */
struct intern;
struct intern *intern_new(struct arena *a);
void intern_free(struct intern *t);
const char *intern_add(struct intern *t, const char *s, size_t n);
/* A copy of its own, for strings that seldom come twice. */
const char *intern_copy(struct intern *t, const char *s, size_t n);

/* ---- from the file to the graph ---- */

/* Where an error is, and its words: "FILE:LINE: layer ID 'NAME': ...". */
struct raw_source {
	const char *path;
	struct arena *arena;
	uint32_t *n_dropped;
};
int raw_error(const struct raw_source *s, const struct raw_net *net, uint32_t layer, uint32_t line,
	      struct err *e, const char *fmt, ...) PRINTF_LIKE(6, 7);

/* Resolve edges, drop what is unreachable, order topologically: the columns of
 * g, whose memory comes from s->arena. */
int raw_finish(struct raw_net *net, const struct raw_source *s, struct graph *g,
	       struct err *e) MUST_CHECK;

/* Turn the pending maps, back edges and bodies of the last layer into net.body. */
int raw_finish_bodies(struct raw_net *net, const struct raw_source *s, struct err *e) MUST_CHECK;

/* Outputs without dims that may be no scalars: rank RANK_DYNAMIC (open_rank.c).  Bodies first, since they are asked. */
void open_ranks(struct graph *g);

/* ---- values in attributes and text ---- */

/* Whole-string integer in lo .. INT64_MAX, blanks around it allowed. */
bool parse_int(const char *s, size_t n, int64_t lo, int64_t *out);
bool parse_u64(const char *s, size_t n, uint64_t *out);
/* Parameter's shape: "1, 3,?,1..8", "[..]" or "..."; false when malformed or of
 * more than 254 dimensions.  Appends the sizes to net.dim. */
bool parse_partial_shape(struct raw_net *net, const char *s, uint8_t *rank);
/* Const's shape: sizes >= 0, "" a scalar; *n is their product, false when it overflows. */
bool parse_const_shape(struct raw_net *net, const char *s, uint8_t *rank, uint64_t *n);

#endif
