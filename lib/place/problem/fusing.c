/* fusing.c - which operations of a model a device runs as one kernel. */
#include "place/problem/fusing.h"

#include <string.h>

#include "graph/rows.h"
#include "op/op.h"

enum kernel_type { ALONE, PRODUCT, POINTWISE };
enum { MOST_NODES = 64, MOST_INPUTS = 64, MOST_STEPS = 8 };

struct finder {
	const struct graph *g;
	const bool *runs;
	struct fusing *out;
	uint32_t *next; /* (n) the nodes of a kernel, in a ring */
	uint8_t *type;  /* (n) of kernels: enum kernel_type */
	uint32_t *tail; /* (n) of kernels with a product: the node whose result others read */
	uint32_t *main; /* (n) of kernels: the node that launches them */
	/* (outputs) 1 + the last node that runs on which an output depends otherwise than by its bytes: of views by their shapes, of what
	 * does not run by all that it reads; 0: on none */
	uint32_t *behind;
	/* Nodes that read output o, through views: reader[reader_ptr[o]] .. */
	uint32_t *reader_ptr, *reader;
};

int fusing_parse(const char *text, unsigned *kinds, struct err *e)
{
	static const char *const names[] = {"epilogues", "pointwise", "attention", "caches"};
	enum { N = sizeof names / sizeof *names };

	*kinds = text && strcmp(text, "all") == 0 ? KERNELS_ALL : 0;
	if (!text || *kinds || strcmp(text, "none") == 0)
		return 0;
	for (size_t n; *text; text += n + (text[n] == ',')) {
		int i = 0;

		n = strcspn(text, ",");
		while (i < N && (strlen(names[i]) != n || strncmp(text, names[i], n) != 0))
			i++;
		if (i == N)
			return err_set(e, ST_INPUT,
				       "fuses: '%.*s' is none of epilogues, pointwise, attention, "
				       "caches, all and none",
				       (int)n, text);
		*kinds |= 1u << i;
	}
	return 0;
}

static enum op_category category(const struct finder *f, uint32_t v)
{
	return op_info(f->g->kind[v])->category;
}

static bool is_product(const struct finder *f, uint32_t v)
{
	enum op_category c = category(f, v);

	return c == OPC_MATMUL || c == OPC_CONV;
}

static bool is_elementwise(const struct finder *f, uint32_t v)
{
	enum op_category c = category(f, v);

	return c == OPC_UNARY || c == OPC_BINARY || c == OPC_COMPARE || c == OPC_TERNARY;
}

/* What a product can read by strides. */
static bool is_strides(const struct finder *f, uint32_t v)
{
	return f->g->kind[v] == OP_TRANSPOSE || f->g->kind[v] == OP_BROADCAST;
}

static bool is_pointwise(const struct finder *f, uint32_t v)
{
	if (is_elementwise(f, v) || category(f, v) == OPC_REDUCE)
		return true;
	switch (f->g->kind[v]) {
	/* clang-format off */
	case OP_SOFTMAX: case OP_LOG_SOFTMAX: case OP_MVN: case OP_NORMALIZE_L2: case OP_RMS: case OP_GRN:
	case OP_BATCH_NORM: case OP_GROUP_NORM: case OP_TRANSPOSE: case OP_BROADCAST: case OP_TILE:
	case OP_SLICE: case OP_STRIDED_SLICE: case OP_SPLIT: case OP_VARIADIC_SPLIT: case OP_CONCAT: case OP_IDENTITY:
		return true;
	/* clang-format on */
	default: return false;
	}
}

static uint32_t n_inputs(const struct finder *f, uint32_t v)
{
	return f->g->in_ptr[v + 1] - f->g->in_ptr[v];
}

/* The output whose bytes input i of v reads; GRAPH_NONE: it is not connected. */
static uint32_t read_output(const struct finder *f, uint32_t v, uint32_t i)
{
	return graph_read_output(f->g, f->out->root, f->g->in_ptr[v] + i);
}

/* The node that makes input i of v while the model runs; GRAPH_NONE: none does. */
static uint32_t producer(const struct finder *f, uint32_t v, uint32_t i)
{
	uint32_t o = i < n_inputs(f, v) ? read_output(f, v, i) : GRAPH_NONE;

	return o == GRAPH_NONE || !f->runs[f->out->made_by[o]] ? GRAPH_NONE : f->out->made_by[o];
}

/* 1 + the last node that runs on which output o depends; 0: none. */
static uint32_t last_before(const struct finder *f, uint32_t o)
{
	uint32_t made = f->out->made_by[f->out->root[o]], by = f->runs[made] ? made + 1 : 0;

	return f->behind[o] > by ? f->behind[o] : by;
}

/* Does input i of v depend otherwise than by its bytes on node `first`, or a later one, that runs? */
static bool waits_behind(const struct finder *f, uint32_t v, uint32_t i, uint32_t first)
{
	uint32_t slot = f->g->in_ptr[v] + i;

	return f->g->in_node[slot] != GRAPH_NONE &&
	       f->behind[graph_slot_output(f->g, slot)] > first;
}

/* Do only v and nodes of the kernels a and b (GRAPH_NONE: none) read output o? */
static bool output_within(const struct finder *f, uint32_t o, uint32_t a, uint32_t b, uint32_t v)
{
	for (uint32_t i = f->reader_ptr[o]; i < f->reader_ptr[o + 1]; i++) {
		uint32_t r = f->reader[i], k = f->runs[r] ? f->out->kernel[r] : GRAPH_NONE;

		if (r != v && (k == GRAPH_NONE || (k != a && k != b)))
			return false;
	}
	return true;
}

/* The same of all that u makes. */
static bool read_within(const struct finder *f, uint32_t u, uint32_t a, uint32_t b, uint32_t v)
{
	for (uint32_t o = f->g->out_ptr[u]; o < f->g->out_ptr[u + 1]; o++)
		if (!output_within(f, o, a, b, v))
			return false;
	return true;
}

static bool same_size(const struct finder *f, uint32_t u, uint32_t v)
{
	int64_t n = graph_out_elements(f->g, f->g->out_ptr[u]);

	return n >= 0 && n == graph_out_elements(f->g, f->g->out_ptr[v]);
}

/* The kernels of nodes u and v become one, of u's type, tail and launch. */
static void merge(struct finder *f, uint32_t u, uint32_t v)
{
	struct fusing *out = f->out;
	uint32_t a = out->kernel[u], b = out->kernel[v], first = a < b ? a : b, w;

	if (a == b)
		return;
	out->size[first] = out->size[a] + out->size[b];
	f->type[first] = f->type[a];
	f->tail[first] = f->tail[a];
	f->main[first] = f->type[a] == PRODUCT ? f->main[a] : first;
	w = f->next[a];
	f->next[a] = f->next[b];
	f->next[b] = w;
	w = first;
	do {
		out->kernel[w] = first;
		w = f->next[w];
	} while (w != first);
}

static bool has_room(const struct finder *f, uint32_t a, uint32_t b)
{
	return f->out->size[a] + f->out->size[b] <= MOST_NODES;
}

/* ---- products ---- */

/* Transposes and broadcasts that the product v alone reads. */
static void absorb_strides(struct finder *f, uint32_t v)
{
	for (uint32_t i = 0; i < n_inputs(f, v); i++) {
		uint32_t u = producer(f, v, i);

		while (u != GRAPH_NONE && is_strides(f, u) &&
		       f->out->size[f->out->kernel[u]] == 1 && has_room(f, f->out->kernel[v], u) &&
		       read_within(f, u, f->out->kernel[v], GRAPH_NONE, v)) {
			merge(f, v, u);
			u = producer(f, u, 0);
		}
	}
}

/* Does kernel k read what kernel `from` makes, and nothing else that is made while the model runs? */
static bool reads_only(const struct finder *f, uint32_t k, uint32_t from)
{
	uint32_t w = k;

	do {
		for (uint32_t i = 0; i < n_inputs(f, w); i++) {
			uint32_t u = producer(f, w, i);

			if (waits_behind(f, w, i, 0) ||
			    (u != GRAPH_NONE && f->out->kernel[u] != k &&
			     f->out->kernel[u] != from))
				return false;
		}
		w = f->next[w];
	} while (w != k);
	return true;
}

/* Is kernel k what decides how far v lets the result of kernel `from` pass? */
static bool is_gate(const struct finder *f, uint32_t k, uint32_t from, uint32_t v)
{
	uint32_t w = k;

	if (f->type[k] != POINTWISE || !reads_only(f, k, from))
		return false;
	do {
		if (!is_elementwise(f, w) || !read_within(f, w, k, GRAPH_NONE, v))
			return false;
		w = f->next[w];
	} while (w != k);
	return true;
}

/* Element-wise v becomes part of the kernel of a product in front of it. */
static bool is_epilogue(struct finder *f, uint32_t v)
{
	const uint32_t *kernel = f->out->kernel;

	for (uint32_t i = 0; i < n_inputs(f, v); i++) {
		uint32_t u = producer(f, v, i), k = u == GRAPH_NONE ? u : kernel[u];

		if (u == GRAPH_NONE || f->type[k] != PRODUCT || f->tail[k] != u ||
		    !same_size(f, u, v) || !has_room(f, k, v))
			continue;
		for (uint32_t j = 0; j < n_inputs(f, v); j++) {
			uint32_t w = producer(f, v, j), gate = w == GRAPH_NONE ? w : kernel[w];

			if (gate != GRAPH_NONE && gate != k &&
			    f->out->size[k] + f->out->size[gate] < MOST_NODES &&
			    read_within(f, u, gate, GRAPH_NONE, v) && is_gate(f, gate, k, v))
				merge(f, u, w);
			k = kernel[u];
		}
		if (!read_within(f, u, k, GRAPH_NONE, v))
			continue;
		merge(f, u, v);
		f->tail[kernel[v]] = v;
		return true;
	}
	return false;
}

/* ---- pointwise kernels ---- */

/* Is all that kernels a and b read from others made before both begin, so that no other kernel waits for one of them and is
 * waited for by the other? */
static bool begin_together(const struct finder *f, uint32_t a, uint32_t b)
{
	const uint32_t *kernel = f->out->kernel;
	uint32_t first = a < b ? a : b, of[] = {a, b};

	for (int side = 0; side < 2; side++) {
		uint32_t w = of[side];

		do {
			for (uint32_t i = 0; i < n_inputs(f, w); i++) {
				uint32_t u = producer(f, w, i);

				if (waits_behind(f, w, i, first) ||
				    (u != GRAPH_NONE && kernel[u] != a && kernel[u] != b &&
				     u >= first))
					return false;
			}
			w = f->next[w];
		} while (w != of[side]);
	}
	return true;
}

static bool read_by_products(const struct finder *f, uint32_t v)
{
	uint32_t o = f->g->out_ptr[v], i = f->reader_ptr[o];

	while (i < f->reader_ptr[o + 1] && is_product(f, f->reader[i]))
		i++;
	return i == f->reader_ptr[o + 1];
}

static void join_pointwise(struct finder *f, uint32_t v)
{
	const uint32_t *kernel = f->out->kernel;

	if (is_strides(f, v) && read_by_products(f, v))
		return;
	for (uint32_t i = 0; i < n_inputs(f, v); i++) {
		uint32_t u = producer(f, v, i);

		if (u != GRAPH_NONE && kernel[u] != kernel[v] && f->type[kernel[u]] == POINTWISE &&
		    has_room(f, kernel[u], kernel[v]) && begin_together(f, kernel[u], kernel[v]))
			merge(f, u, v);
	}
}

/* ---- attention ---- */

/* Is that input of v an input or a variable of the model? */
static bool is_held(const struct finder *f, uint32_t v, uint32_t input)
{
	uint32_t o = input < n_inputs(f, v) ? read_output(f, v, input) : GRAPH_NONE;
	enum op_kind kind = o == GRAPH_NONE ? OP_UNKNOWN : f->g->kind[f->out->made_by[o]];

	return kind == OP_PARAMETER || kind == OP_READ_VALUE;
}

/* The one node that reads v; GRAPH_NONE: several do, or none. */
static uint32_t only_reader(const struct finder *f, uint32_t v)
{
	uint32_t o = f->g->out_ptr[v], i = f->reader_ptr[o], r;

	if (f->g->out_ptr[v + 1] != o + 1 || i == f->reader_ptr[o + 1])
		return GRAPH_NONE;
	r = f->reader[i];
	while (i < f->reader_ptr[o + 1] && f->reader[i] == r)
		i++;
	return i == f->reader_ptr[o + 1] && f->runs[r] ? r : GRAPH_NONE;
}

/* What makes the scores that v reads: of its inputs the first of its size; GRAPH_NONE: nothing that v alone reads. */
static uint32_t scores_before(const struct finder *f, uint32_t v)
{
	for (uint32_t i = 0; i < n_inputs(f, v); i++) {
		uint32_t u = producer(f, v, i);

		if (u != GRAPH_NONE && same_size(f, u, v) && only_reader(f, u) == v)
			return u;
	}
	return GRAPH_NONE;
}

/* Is v a product that is in no kernel with others yet? */
static bool is_free_product(const struct finder *f, uint32_t v)
{
	return f->g->kind[v] == OP_MATMUL && f->out->size[f->out->kernel[v]] == 1;
}

static void find_attention(struct finder *f, uint32_t softmax)
{
	uint32_t path[2 * MOST_STEPS + 2], n = 0, v = softmax, last = softmax;
	const enum op_kind *kind = f->g->kind;

	for (int step = 0; v != GRAPH_NONE && kind[v] != OP_MATMUL; step++) {
		if (step == MOST_STEPS || (v != softmax && !is_elementwise(f, v)))
			return;
		path[n++] = v;
		v = scores_before(f, v);
	}
	if (v == GRAPH_NONE || !is_free_product(f, v))
		return;
	path[n++] = v;
	v = only_reader(f, softmax);
	for (int step = 0; v != GRAPH_NONE && kind[v] != OP_MATMUL; step++) {
		if (step == MOST_STEPS || !is_elementwise(f, v) || !same_size(f, softmax, v))
			return;
		path[n++] = last = v;
		v = only_reader(f, v);
	}
	if (v == GRAPH_NONE || !is_free_product(f, v) || producer(f, v, 0) != last ||
	    (producer(f, v, 1) == GRAPH_NONE && !is_held(f, v, 1)))
		return;
	f->type[v] = PRODUCT;
	f->tail[v] = f->main[v] = v;
	while (n > 0)
		merge(f, v, path[--n]);
}

/* ---- caches ---- */

static bool becomes_held(const struct finder *f, uint32_t v)
{
	uint32_t o = f->g->out_ptr[v];

	for (uint32_t i = f->reader_ptr[o]; i < f->reader_ptr[o + 1]; i++)
		if (category(f, f->reader[i]) == OPC_SINK)
			return true;
	return false;
}

static void find_cache(struct finder *f, uint32_t v)
{
	enum op_kind kind = f->g->kind[v];
	bool *in_place = f->out->in_place;

	if ((kind != OP_CONCAT && kind != OP_SCATTER_UPDATE && kind != OP_SCATTER_ND_UPDATE &&
	     kind != OP_SCATTER_ELEMENTS_UPDATE) ||
	    !becomes_held(f, v))
		return;
	uint32_t u = producer(f, v, 0);
	bool reordered = u != GRAPH_NONE && f->g->kind[u] == OP_GATHER && is_held(f, u, 0) &&
			 only_reader(f, u) == v;

	if (reordered)
		in_place[u] = true;
	in_place[v] = reordered || is_held(f, v, 0);
}

/* ---- all ---- */

static void find_readers(struct finder *f, struct arena *a)
{
	const struct graph *g = f->g;
	uint32_t n_slots = g->in_ptr[g->n], n_out = g->out_ptr[g->n];
	uint32_t *key = MEM_NEWN(uint32_t, n_slots), *node = MEM_NEWN(uint32_t, n_slots);

	for (uint32_t v = 0; v < g->n; v++) {
		bool view = category(f, v) == OPC_VIEW && n_inputs(f, v) > 0 &&
			    g->in_node[g->in_ptr[v]] != GRAPH_NONE;

		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
			f->out->root[o] = view ? read_output(f, v, 0) : o;
			f->out->made_by[o] = view ? f->out->made_by[f->out->root[o]] : v;
		}
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			key[i] = view || g->in_node[i] == GRAPH_NONE
					 ? UINT32_MAX
					 : graph_read_output(g, f->out->root, i);
			node[i] = v;
		}
	}
	f->reader_ptr = ARENA_NEWN(a, uint32_t, (size_t)n_out + 2);
	f->reader = ARENA_NEWN(a, uint32_t, n_slots);
	rows_sort(key, node, ROWS_STEP, n_slots, n_out, f->reader_ptr, f->reader);
	mem_free(key);
	mem_free(node);
}

/* What outputs of views depend on by their shapes, and those of nodes that do not run by all that they read. */
static void find_behind(struct finder *f, struct arena *a)
{
	const struct graph *g = f->g;

	f->behind = ARENA_NEWN(a, uint32_t, g->out_ptr[g->n]);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t last = 0, first_out = g->out_ptr[v];
		bool view = first_out < g->out_ptr[v + 1] && f->out->root[first_out] != first_out;

		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && !f->runs[v]; i++) {
			if (g->in_node[i] == GRAPH_NONE)
				continue;
			uint32_t o = graph_slot_output(g, i);
			uint32_t x = view && i == g->in_ptr[v] ? f->behind[o] : last_before(f, o);
			last = x > last ? x : last;
		}
		for (uint32_t o = first_out; o < g->out_ptr[v + 1]; o++)
			f->behind[o] = last;
	}
}

static void fuse_node(struct finder *f, unsigned kinds, uint32_t v)
{
	bool small = n_inputs(f, v) <= MOST_INPUTS;

	if (is_product(f, v)) {
		uint32_t k = f->out->kernel[v];

		f->type[k] = PRODUCT;
		if (f->out->size[k] == 1)
			f->tail[k] = v;
		if (kinds & KERNELS_EPILOGUES && small)
			absorb_strides(f, v);
	} else if (f->out->size[f->out->kernel[v]] > 1 || f->out->in_place[v] || !small) {
		return;
	} else if (is_pointwise(f, v)) {
		f->type[v] = POINTWISE;
		if (!(kinds & KERNELS_EPILOGUES && is_elementwise(f, v) && is_epilogue(f, v)) &&
		    kinds & KERNELS_POINTWISE)
			join_pointwise(f, v);
	}
}

void fusing_find(const struct graph *g, const bool *runs, unsigned kinds, struct arena *a,
		 struct fusing *out)
{
	uint32_t n_out = g->out_ptr[g->n];
	struct arena *own = arena_new();
	struct finder f = {.g = g,
			   .runs = runs,
			   .out = out,
			   .next = ARENA_NEWN(own, uint32_t, g->n),
			   .type = ARENA_NEWN(own, uint8_t, g->n),
			   .tail = ARENA_NEWN(own, uint32_t, g->n),
			   .main = ARENA_NEWN(own, uint32_t, g->n)};

	*out = (struct fusing){.kernel = ARENA_NEWN(a, uint32_t, g->n),
			       .size = ARENA_NEWN(a, uint32_t, g->n),
			       .launches = ARENA_NEWN(a, bool, g->n),
			       .in_place = ARENA_NEWN(a, bool, g->n),
			       .root = ARENA_NEWN(a, uint32_t, n_out),
			       .made_by = ARENA_NEWN(a, uint32_t, n_out),
			       .inside = ARENA_NEWN(a, bool, n_out)};
	for (uint32_t v = 0; v < g->n; v++) {
		out->kernel[v] = f.next[v] = f.main[v] = v;
		out->size[v] = 1;
	}
	find_readers(&f, own);
	find_behind(&f, own);
	for (uint32_t v = 0; v < g->n; v++) {
		if (runs[v] && kinds & KERNELS_CACHES)
			find_cache(&f, v);
		if (runs[v] && kinds & KERNELS_ATTENTION && g->kind[v] == OP_SOFTMAX)
			find_attention(&f, v);
	}
	for (uint32_t v = 0; v < g->n; v++)
		if (runs[v])
			fuse_node(&f, kinds, v);
	for (uint32_t v = 0; v < g->n; v++) {
		out->launches[v] = f.main[out->kernel[v]] == v &&
				   !(out->in_place[v] && g->kind[v] == OP_GATHER);
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			out->inside[o] = out->size[out->kernel[v]] > 1 &&
					 f.reader_ptr[o] < f.reader_ptr[o + 1] &&
					 output_within(&f, o, out->kernel[v], GRAPH_NONE, v);
	}
	arena_free(own);
}
