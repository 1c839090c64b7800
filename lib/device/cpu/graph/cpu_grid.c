/* cpu_grid.c - see cpu_grid.h. */
#include "device/cpu/graph/cpu_graph.h"
#include "kernel/kernel_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* n numbers of constant c as f32; false: it has another size or type.  In files they may lie anywhere. */
static bool read_floats(const struct cpu_graph *x, int64_t c, enum elem elem, int64_t n, float *to)
{
	const struct graph *g = x->g;
	const struct step_env *env = x->env;
	size_t bytes = (size_t)n * cpu_elem_size(elem);
	if ((elem != EL_F32 && elem != EL_F16) || g->const_bytes[c] != bytes ||
	    g->const_offset[c] > env->weights_bytes ||
	    env->weights_bytes - g->const_offset[c] < bytes)
		return false;
	void *aligned = mem_copy(env->weights + g->const_offset[c], 1, bytes);
	cpu_convert(EL_F32, to, elem, aligned, n);
	mem_free(aligned);
	return true;
}

/* The constant that v is, perhaps behind a Convert; -1: it is none. */
static int64_t constant_at(const struct cpu_graph *x, uint32_t *v)
{
	if (*v != GRAPH_NONE && x->g->kind[*v] == OP_CONVERT)
		*v = graph_source(x->g, *v, 0);
	return *v == GRAPH_NONE || !x->env->weights ? -1 : graph_const(x->g, *v);
}

/* The value of a constant of one element. */
static bool scalar(const struct cpu_graph *x, uint32_t v, float *value)
{
	int64_t c = constant_at(x, &v);
	return c >= 0 && read_floats(x, c, x->g->out_elem[x->g->out_ptr[v]], 1, value) &&
	       isfinite(*value);
}

/* The n values of a constant of numbers, along dim 1 of tensors of `rank` dims; false: it is none. */
static bool along_channels(const struct cpu_graph *x, uint32_t v, uint32_t rank, int64_t n,
			   float *value)
{
	const struct graph *g = x->g;
	int64_t c = constant_at(x, &v);
	if (c < 0)
		return false;
	uint32_t o = g->out_ptr[v], own = g->out_rank[o];
	const int64_t *dim = g->dim + g->dim_ptr[o];
	if (own > rank || own + 1 < rank)
		return false;
	for (uint32_t d = 0; d < own; d++)
		if (dim[d] != (d + rank - own == 1 ? n : 1))
			return false;
	return read_floats(x, c, g->out_elem[o], n, value);
}

static int levels_of(const struct cpu_graph *x, uint32_t v)
{
	const char *n = graph_attr(x->g, v, "levels");
	return n ? atoi(n) : 0;
}

bool grid_of_channels(const struct cpu_graph *x, uint32_t v, int64_t n, struct mem_form *f,
		      float *scales)
{
	const struct graph *g = x->g;
	if (x->g->kind[v] != OP_FAKE_QUANTIZE || levels_of(x, v) != 256)
		return false;
	float *limit = MEM_NEWN(float, (size_t)n * 4); /* low, high; again, of the output */
	bool fits = true, zero = true, symmetric = true, whole = true;
	for (int i = 0; i < 4 && fits; i++)
		fits = along_channels(x, graph_source(g, v, 1 + i), g->out_rank[g->out_ptr[v]], n,
				      limit + i * n);
	fits = fits && memcmp(limit, limit + 2 * n, (size_t)n * 2 * sizeof *limit) == 0;
	for (int64_t i = 0; i < n && fits; i++) {
		float range = limit[n + i] - limit[i], scale = range / 255, low = limit[i] / scale;
		fits = scale > 1e-30f && isfinite(scale);
		zero = zero && low == 0;
		symmetric = symmetric && fabsf(low + 128) < 1e-3f;
		whole = whole && low <= 0 && low >= -255 && fabsf(low - rintf(low)) < 1e-3f;
		scales[i] = scale;
		scales[n + i] = 255 / range;
		scales[2 * n + i] = -limit[i] * scales[n + i];
	}
	mem_free(limit);
	*f = (struct mem_form){
		.elem = symmetric && !zero ? EL_I8 : EL_U8, .scales = scales, .n_scales = n};
	return fits && (zero || symmetric || whole);
}

/* What FakeQuantize v makes: numbers on a grid of at most 256 codes. */
static bool quantized(const struct cpu_graph *x, uint32_t v, struct node_grid *n)
{
	float limit[4]; /* low, high; of the output */
	int levels = levels_of(x, v);
	bool known[2];
	for (int k = 0; k < 2; k++)
		known[k] = scalar(x, graph_source(x->g, v, 1 + 2 * k), &limit[2 * k]) &&
			   scalar(x, graph_source(x->g, v, 2 + 2 * k), &limit[2 * k + 1]);
	if (levels < 2 || levels > 256 || !known[1])
		return false;
	float low = limit[2], high = limit[3];
	struct code_grid *grid = &n->grid;
	grid->scale = (high - low) / (float)(levels - 1);
	grid->zero = -low / grid->scale;
	grid->by = (float)(levels - 1) / (high - low);
	grid->shift = -low * grid->by;
	float nearest = rintf(grid->zero);
	if (fabsf(grid->zero - nearest) < 1e-3f)
		grid->zero = nearest;
	n->in_place = true;
	n->whole = levels == 256 && known[0] && limit[0] == low && limit[1] == high;
	return grid->scale > 1e-30f && isfinite(grid->scale) && grid->zero >= 0 &&
	       grid->zero <= 255;
}

static bool zero_on_grid(const struct code_grid *x)
{
	return x->zero == rintf(x->zero);
}

/* Does Pad v put in values of its input, or zeros of its grid? */
static bool pads_on_grid(const struct cpu_graph *x, uint32_t v, const struct code_grid *grid)
{
	const struct graph *g = x->g;
	const char *mode = graph_attr(g, v, "pad_mode");
	float fill = 0;
	if (mode && strcmp(mode, "constant") != 0)
		return true;
	return (g->in_ptr[v + 1] - g->in_ptr[v] < 4 ||
		(scalar(x, graph_source(g, v, 3), &fill) && fill == 0)) &&
	       zero_on_grid(grid);
}

/* Do all inputs of Concat v lie on one grid? */
static bool joined(const struct cpu_graph *x, uint32_t v, struct node_grid *n)
{
	const struct graph *g = x->g;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
		uint32_t u = g->in_node[i];
		const struct node_grid *other = u == GRAPH_NONE ? NULL : &x->grid[u];
		if (!other || !other->there)
			return false;
		if (i == g->in_ptr[v])
			*n = *other;
		else if (other->grid.scale != n->grid.scale || other->grid.zero != n->grid.zero)
			return false;
		n->in_place = n->in_place && other->in_place;
		n->whole = n->whole && other->whole;
	}
	return g->in_ptr[v] < g->in_ptr[v + 1];
}

/* Operators whose outputs have values of input 0, and no others.  PASSES_IN_PLACE: codes may lie in memory in place of what they make;
 * a kind of steps in NHWC that takes such an operator has to read and write them.  PASSES_VALUES: whatever reads numbers of theirs may
 * make codes of them. */
enum passing { PASSES_NOT, PASSES_IN_PLACE, PASSES_VALUES };
static const enum passing passing[OP_COUNT] = {
	[OP_MAX_POOL] = PASSES_IN_PLACE,
	[OP_RESHAPE] = PASSES_IN_PLACE,
	[OP_SQUEEZE] = PASSES_IN_PLACE,
	[OP_UNSQUEEZE] = PASSES_IN_PLACE,
	[OP_SLICE] = PASSES_IN_PLACE,
	[OP_STRIDED_SLICE] = PASSES_IN_PLACE,
	[OP_SPLIT] = PASSES_IN_PLACE,
	[OP_VARIADIC_SPLIT] = PASSES_IN_PLACE,
	[OP_PAD] = PASSES_IN_PLACE,
	[OP_TRANSPOSE] = PASSES_VALUES,
	[OP_GATHER] = PASSES_VALUES,
	[OP_DEPTH_TO_SPACE] = PASSES_IN_PLACE,
	[OP_SPACE_TO_DEPTH] = PASSES_IN_PLACE,
	[OP_SHUFFLE_CHANNELS] = PASSES_VALUES,
	[OP_TILE] = PASSES_VALUES,
	[OP_BROADCAST] = PASSES_VALUES,
	[OP_ROLL] = PASSES_VALUES,
	[OP_BATCH_TO_SPACE] = PASSES_VALUES,
};

void grids_find(struct cpu_graph *x, struct arena *a)
{
	const struct graph *g = x->g;
	x->grid = ARENA_NEWN(a, struct node_grid, (size_t)g->n + 1);
	for (uint32_t v = 0; v < g->n; v++) {
		struct node_grid *n = &x->grid[v];
		enum op_kind kind = x->g->kind[v];
		uint32_t u = graph_source(g, v, 0);
		if (kind == OP_FAKE_QUANTIZE) {
			n->there = quantized(x, v, n);
		} else if (kind == OP_CONCAT) {
			n->there = joined(x, v, n);
		} else if (passing[kind] != PASSES_NOT && u != GRAPH_NONE && x->grid[u].there) {
			*n = x->grid[u];
			n->in_place = n->in_place && passing[kind] == PASSES_IN_PLACE;
			n->there = kind != OP_PAD || pads_on_grid(x, v, &n->grid);
		}
	}
}

struct mem_form grid_form(const struct code_grid *x)
{
	bool is_signed = x->zero == 128;
	return (struct mem_form){.elem = is_signed ? EL_I8 : EL_U8,
				 .scale = x->scale,
				 .by = x->by,
				 .shift = x->shift,
				 .zero = is_signed ? 0 : x->zero};
}

bool grid_of(const struct cpu_graph *x, uint32_t v, struct mem_form *f)
{
	const struct node_grid *n = &x->grid[v];
	*f = grid_form(&n->grid);
	return n->there && n->in_place && n->whole && zero_on_grid(&n->grid);
}

const struct code_grid *grid_of_values(const struct cpu_graph *x, uint32_t v)
{
	return v != GRAPH_NONE && x->grid[v].there ? &x->grid[v].grid : NULL;
}

enum { FEW_ROWS = 12, STEPS = 8 };

/* Is v a constant of codes, or one behind a FakeQuantize?  Whether they lie on grids is not looked at. */
static bool are_codes(const struct cpu_graph *x, uint32_t v)
{
	const struct graph *g = x->g;
	bool quantized = false;
	for (int i = 0; v != GRAPH_NONE && i < STEPS && graph_const(g, v) < 0; i++) {
		enum op_kind kind = x->g->kind[v];
		quantized = quantized || kind == OP_FAKE_QUANTIZE;
		v = quantized || kind == OP_CONVERT || kind == OP_SUBTRACT || kind == OP_MULTIPLY ||
				    kind == OP_RESHAPE || kind == OP_TRANSPOSE
			    ? graph_source(g, v, 0)
			    : GRAPH_NONE;
	}
	if (v == GRAPH_NONE || graph_const(g, v) < 0)
		return false;
	enum elem elem = (enum elem)g->out_elem[g->out_ptr[v]];
	return quantized || elem == EL_I8 || elem == EL_U8 || elem == EL_I4 || elem == EL_U4;
}

bool grid_of_rows(const struct cpu_graph *x, uint32_t v, struct code_grid *grid)
{
	const struct graph *g = x->g;
	uint32_t o = g->out_ptr[v], rank = g->out_rank[o];
	const int64_t *dim = g->dim + g->dim_ptr[o];
	int64_t rows = 1;
	bool any = false;
	if (x->g->kind[v] != OP_FAKE_QUANTIZE || g->out_elem[o] != EL_F32 || rank < 2 ||
	    rank == RANK_DYNAMIC || !x->grid[v].there || !x->grid[v].whole)
		return false;
	*grid = x->grid[v].grid;
	for (uint32_t d = 0; d + 1 < rank; d++)
		rows *= dim[d] > 0 ? dim[d] : 0;
	for (uint32_t k = x->g->consumers.ptr[v]; k < x->g->consumers.ptr[v + 1]; k++) {
		uint32_t u = x->g->consumers.dst[k], i = x->g->consumers.slot[k];
		if (graph_slot_output(g, i) != o)
			continue;
		if (x->g->kind[u] != OP_MATMUL || i != g->in_ptr[u] ||
		    !are_codes(x, graph_source(g, u, 1)))
			return false;
		any = true;
	}
	return any && rows > FEW_ROWS;
}
