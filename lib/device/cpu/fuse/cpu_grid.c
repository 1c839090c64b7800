/* cpu_grid.c - see cpu_grid.h. */
#include "device/cpu/fuse/cpu_grid.h"
#include "kernel/cpu_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* n numbers of constant c as f32; false: it has another size or type.  In files they may lie anywhere. */
static bool read_floats(const struct graph *g, int64_t c, enum elem elem,
			const struct step_env *env, int64_t n, float *x)
{
	size_t bytes = (size_t)n * cpu_elem_size(elem);
	if ((elem != EL_F32 && elem != EL_F16) || g->const_bytes[c] != bytes ||
	    g->const_offset[c] > env->weights_bytes ||
	    env->weights_bytes - g->const_offset[c] < bytes)
		return false;
	void *aligned = mem_copy(env->weights + g->const_offset[c], 1, bytes);
	cpu_convert(EL_F32, x, elem, aligned, n);
	mem_free(aligned);
	return true;
}

/* The value of a constant of one element, perhaps behind a Convert. */
static bool scalar(const struct graph *g, uint32_t v, const struct step_env *env, float *x)
{
	if (v != GRAPH_NONE && g->kind[v] == OP_CONVERT)
		v = graph_source(g, v, 0);
	int64_t c = v == GRAPH_NONE ? -1 : graph_const(g, v);
	if (c < 0 || !env || !env->weights)
		return false;
	enum elem elem = (enum elem)g->out_elem[g->out_ptr[v]];
	return read_floats(g, c, elem, env, 1, x) && isfinite(*x);
}

/* The n values of a constant of numbers, along dim 1 of tensors of `rank` dims; false: it is none. */
static bool along_channels(const struct graph *g, uint32_t v, const struct step_env *env,
			   uint32_t rank, int64_t n, float *x)
{
	if (v != GRAPH_NONE && g->kind[v] == OP_CONVERT)
		v = graph_source(g, v, 0);
	int64_t c = v == GRAPH_NONE ? -1 : graph_const(g, v);
	if (c < 0 || !env || !env->weights)
		return false;
	uint32_t o = g->out_ptr[v], own = g->out_rank[o];
	const int64_t *dim = g->dim + g->dim_ptr[o];
	if (own > rank || own + 1 < rank)
		return false;
	for (uint32_t d = 0; d < own; d++)
		if (dim[d] != (d + rank - own == 1 ? n : 1))
			return false;
	return read_floats(g, c, (enum elem)g->out_elem[o], env, n, x);
}

bool grid_of_channels(const struct graph *g, uint32_t v, const struct step_env *env, int64_t n,
		      struct mem_form *f, float *scales)
{
	const char *levels = graph_attr(g, v, "levels");
	uint32_t o = g->out_ptr[v];
	if (g->kind[v] != OP_FAKE_QUANTIZE || !levels || atoi(levels) != 256)
		return false;
	float *x = MEM_NEWN(float, (size_t)n * 4); /* low, high; again, of the output */
	bool fits = true, zero = true, symmetric = true, whole = true;
	for (int i = 0; i < 4 && fits; i++)
		fits = along_channels(g, graph_source(g, v, 1 + i), env, g->out_rank[o], n,
				      x + i * n);
	fits = fits && memcmp(x, x + 2 * n, (size_t)n * 2 * sizeof *x) == 0;
	for (int64_t i = 0; i < n && fits; i++) {
		float scale = (x[n + i] - x[i]) / 255, low = x[i] / scale;
		fits = scale > 1e-30f && isfinite(scale);
		zero = zero && low == 0;
		symmetric = symmetric && fabsf(low + 128) < 1e-3f;
		whole = whole && low <= 0 && low >= -255 && fabsf(low - rintf(low)) < 1e-3f;
		scales[i] = scale;
		scales[n + i] = 255 / (x[n + i] - x[i]);
		scales[2 * n + i] = -x[i] * scales[n + i];
	}
	mem_free(x);
	*f = (struct mem_form){
		.elem = symmetric && !zero ? EL_I8 : EL_U8, .scales = scales, .n_scales = n};
	return fits && (zero || symmetric || whole);
}

/* What FakeQuantize v makes: numbers on a grid of at most 256 codes. */
static bool quantized(const struct graph *g, uint32_t v, const struct step_env *env,
		      struct code_grid *grid, int *levels)
{
	float low, high;
	const char *n = graph_attr(g, v, "levels");
	*levels = n ? atoi(n) : 0;
	if (*levels < 2 || *levels > 256 || !scalar(g, graph_source(g, v, 3), env, &low) ||
	    !scalar(g, graph_source(g, v, 4), env, &high))
		return false;
	grid->scale = (high - low) / (float)(*levels - 1);
	grid->zero = -low / grid->scale;
	grid->by = (float)(*levels - 1) / (high - low);
	grid->shift = -low * grid->by;
	float nearest = rintf(grid->zero);
	if (fabsf(grid->zero - nearest) < 1e-3f)
		grid->zero = nearest;
	return grid->scale > 1e-30f && isfinite(grid->scale) && grid->zero >= 0 &&
	       grid->zero <= 255;
}

/* Are its limits the same before and after? */
static bool keeps_limits(const struct graph *g, uint32_t v, const struct step_env *env)
{
	float x[4];
	for (int i = 0; i < 4; i++)
		if (!scalar(g, graph_source(g, v, 1 + i), env, &x[i]))
			return false;
	return x[0] == x[2] && x[1] == x[3];
}

/* A grid, and whether codes of it may lie in memory in place of the numbers: FakeQuantize had made them of any that are
 * rounded to it. */
struct found {
	struct code_grid grid;
	bool whole;
};

static bool is_view(enum op_kind kind)
{
	return kind == OP_MAX_POOL || kind == OP_RESHAPE || kind == OP_SQUEEZE ||
	       kind == OP_UNSQUEEZE || kind == OP_SLICE || kind == OP_STRIDED_SLICE ||
	       op_is_split(kind) || kind == OP_PAD;
}

/* Does Pad v put in values of its input, or zeros?  Then *zeros is true. */
static bool pads_with(const struct graph *g, uint32_t v, const struct step_env *env, bool *zeros)
{
	const char *mode = graph_attr(g, v, "pad_mode");
	float fill = 0;
	if (mode && strcmp(mode, "constant") != 0)
		return true;
	*zeros = true;
	return g->in_ptr[v + 1] - g->in_ptr[v] < 4 ||
	       (scalar(g, graph_source(g, v, 3), env, &fill) && fill == 0);
}

static bool zero_on_grid(const struct code_grid *x)
{
	return x->zero == rintf(x->zero);
}

/* Have outputs of such a node values of input 0, and no others? */
static bool moves(enum op_kind kind)
{
	return is_view(kind) || kind == OP_TRANSPOSE || kind == OP_GATHER;
}

/* The grid of what passes on from a FakeQuantize to v, through Concats of one grid, `most` behind each other. */
static bool find(const struct graph *g, uint32_t v, const struct step_env *env,
		 bool (*passes)(enum op_kind), int most, struct found *f)
{
	struct found other;
	int levels;
	uint32_t n = 0;
	bool zeros = false;
	while (v != GRAPH_NONE && passes(g->kind[v]) && n++ < g->n) {
		if (g->kind[v] == OP_PAD && !pads_with(g, v, env, &zeros))
			return false;
		v = graph_source(g, v, 0);
	}
	if (v == GRAPH_NONE)
		return false;
	if (g->kind[v] == OP_FAKE_QUANTIZE) {
		if (!quantized(g, v, env, &f->grid, &levels))
			return false;
		f->whole = levels == 256 && keeps_limits(g, v, env);
		return !zeros || zero_on_grid(&f->grid);
	}
	if (g->kind[v] != OP_CONCAT || most == 0 ||
	    !find(g, graph_source(g, v, 0), env, passes, most - 1, f))
		return false;
	for (uint32_t i = g->in_ptr[v] + 1; i < g->in_ptr[v + 1]; i++) {
		if (!find(g, g->in_node[i], env, passes, most - 1, &other) ||
		    other.grid.scale != f->grid.scale || other.grid.zero != f->grid.zero)
			return false;
		f->whole = f->whole && other.whole;
	}
	return !zeros || zero_on_grid(&f->grid);
}

enum { CONCATS = 4 };

struct mem_form grid_form(const struct code_grid *x)
{
	bool is_signed = x->zero == 128;
	return (struct mem_form){.elem = is_signed ? EL_I8 : EL_U8,
				 .scale = x->scale,
				 .by = x->by,
				 .shift = x->shift,
				 .zero = is_signed ? 0 : x->zero};
}

bool grid_of(const struct graph *g, uint32_t v, const struct step_env *env, struct mem_form *f)
{
	struct found x;
	if (!find(g, v, env, is_view, CONCATS, &x) || !x.whole)
		return false;
	*f = grid_form(&x.grid);
	return zero_on_grid(&x.grid);
}

bool grid_of_values(const struct graph *g, uint32_t v, const struct step_env *env,
		    struct code_grid *grid)
{
	struct found x;
	if (!find(g, v, env, moves, CONCATS, &x))
		return false;
	*grid = x.grid;
	return true;
}

enum { FEW_ROWS = 12, STEPS = 8 };

/* Is v a constant of codes, or one behind a FakeQuantize?  Whether they lie on grids is not looked at. */
static bool are_codes(const struct graph *g, uint32_t v)
{
	bool quantized = false;
	for (int i = 0; v != GRAPH_NONE && i < STEPS && graph_const(g, v) < 0; i++) {
		enum op_kind kind = g->kind[v];
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

bool grid_of_rows(const struct graph *g, uint32_t v, const struct step_env *env,
		  struct code_grid *grid)
{
	uint32_t o = g->out_ptr[v], rank = g->out_rank[o];
	const int64_t *dim = g->dim + g->dim_ptr[o];
	int64_t rows = 1;
	bool any = false;
	int levels;
	if (g->kind[v] != OP_FAKE_QUANTIZE || g->out_elem[o] != EL_F32 || rank < 2 ||
	    !quantized(g, v, env, grid, &levels) || levels != 256 || !keeps_limits(g, v, env))
		return false;
	for (uint32_t d = 0; d + 1 < rank; d++)
		rows *= dim[d] > 0 ? dim[d] : 0;
	const struct consumers *readers = &g->consumers;
	for (uint32_t k = readers->ptr[v]; k < readers->ptr[v + 1]; k++) {
		uint32_t u = readers->dst[k], i = readers->slot[k];
		if (graph_slot_output(g, i) != o)
			continue;
		if (g->kind[u] != OP_MATMUL || i != g->in_ptr[u] ||
		    !are_codes(g, graph_source(g, u, 1)))
			return false;
		any = true;
	}
	return any && rows > FEW_ROWS;
}

/* Are all of w[n], the largest of which is k * s, multiples of s but for rounding?  Then code[n]. */
static bool on_grid(const float *w, int64_t n, float s, int k, int8_t *code)
{
	const float near =
		1.6e-5f * (float)k; /* of s: as far from the largest, however few codes there are */
	for (int64_t i = 0; i < n; i++) {
		float q = w[i] / s, nearest = rintf(q);
		if (!(fabsf(q - nearest) < near) || nearest < -128 || nearest > 127)
			return false;
		code[i] = (int8_t)nearest;
	}
	return true;
}

bool grid_of_weights(const float *w, int64_t rows, int64_t n, int8_t *code, float *scale)
{
	for (int64_t r = 0; r < rows; r++, w += n, code += n) {
		float most = 0;
		bool fits = false;
		for (int64_t i = 0; i < n; i++)
			most = fabsf(w[i]) > most ? fabsf(w[i]) : most;
		scale[r] = 1;
		if (most == 0) {
			memset(code, 0, (size_t)n);
			continue;
		}
		if (!(most > 1e-30f && most < 1e30f))
			return false;
		/* The largest weight has some code; a full range is what quantizers make. */
		for (int k = 127; k >= 1 && !fits; k--)
			if ((fits = on_grid(w, n, scale[r] = most / (float)k, k, code)))
				break;
		if (!fits && !on_grid(w, n, scale[r] = most / 128, 128, code))
			return false;
	}
	return true;
}
