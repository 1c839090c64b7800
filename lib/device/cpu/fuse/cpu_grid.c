/* cpu_grid.c - see cpu_grid.h. */
#include "device/cpu/fuse/cpu_grid.h"
#include "kernel/cpu_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t source(const struct graph *g, uint32_t v, int input)
{
	uint32_t i = g->in_ptr[v] + (uint32_t)input;
	return i < g->in_ptr[v + 1] ? g->in_node[i] : GRAPH_NONE;
}

static const char *attribute(const struct graph *g, uint32_t v, const char *key)
{
	for (uint32_t i = g->attr_ptr[v]; i < g->attr_ptr[v + 1]; i++)
		if (strcmp(g->attr_key[i], key) == 0)
			return g->attr_value[i];
	return NULL;
}

/* The value of a constant of one element, perhaps behind a Convert. */
static bool scalar(const struct graph *g, uint32_t v, const struct step_env *env, float *x)
{
	if (v != GRAPH_NONE && op_kind(g->type[v]) == OP_CONVERT)
		v = source(g, v, 0);
	int64_t c = v == GRAPH_NONE ? -1 : graph_const(g, v);
	if (c < 0 || !env || !env->weights)
		return false;
	struct tensor t = {.elem = g->out_elem[g->out_ptr[v]], .rank = 0};
	size_t bytes = cpu_elem_size(t.elem);
	if ((t.elem != EL_F32 && t.elem != EL_F16) || g->const_bytes[c] != bytes ||
	    g->const_offset[c] > env->weights_bytes ||
	    env->weights_bytes - g->const_offset[c] < bytes)
		return false;
	cpu_convert(EL_F32, x, t.elem, env->weights + g->const_offset[c], 1);
	return isfinite(*x);
}

/* What FakeQuantize v makes: numbers on a grid of at most 256 codes. */
static bool quantized(const struct graph *g, uint32_t v, const struct step_env *env,
		      struct code_grid *grid, int *levels)
{
	float low, high;
	const char *n = attribute(g, v, "levels");
	*levels = n ? atoi(n) : 0;
	if (*levels < 2 || *levels > 256 || !scalar(g, source(g, v, 3), env, &low) ||
	    !scalar(g, source(g, v, 4), env, &high))
		return false;
	grid->scale = (high - low) / (float)(*levels - 1);
	grid->zero = -low / grid->scale;
	float nearest = rintf(grid->zero);
	if (fabsf(grid->zero - nearest) < 1e-3f)
		grid->zero = nearest;
	return grid->scale > 1e-30f && grid->zero >= 0 && grid->zero <= 255;
}

/* Are its limits the same before and after? */
static bool keeps_limits(const struct graph *g, uint32_t v, const struct step_env *env)
{
	float x[4];
	for (int i = 0; i < 4; i++)
		if (!scalar(g, source(g, v, 1 + i), env, &x[i]))
			return false;
	return x[0] == x[2] && x[1] == x[3];
}

static bool form_of_grid(const struct graph *g, uint32_t v, const struct step_env *env,
			 struct mem_form *f)
{
	struct code_grid grid;
	int levels;
	if (!quantized(g, v, env, &grid, &levels) || levels != 256 || !keeps_limits(g, v, env))
		return false;
	*f = (struct mem_form){.elem = grid.zero == 0 ? EL_U8 : EL_I8, .scale = grid.scale};
	return grid.zero == 0 || grid.zero == 128;
}

bool grid_of(const struct graph *g, uint32_t v, const struct step_env *env, struct mem_form *f)
{
	for (uint32_t n = 0; v != GRAPH_NONE && n < g->n; n++, v = source(g, v, 0))
		switch (op_kind(g->type[v])) {
		case OP_FAKE_QUANTIZE: return form_of_grid(g, v, env, f);
		case OP_MAX_POOL:
		case OP_RESHAPE:
		case OP_SQUEEZE:
		case OP_UNSQUEEZE: break;
		default: return false;
		}
	return false;
}

/* Does output o of v have values of input 0, and no others? */
static bool moves(enum op_kind kind)
{
	switch (kind) {
	case OP_MAX_POOL:
	case OP_RESHAPE:
	case OP_SQUEEZE:
	case OP_UNSQUEEZE:
	case OP_TRANSPOSE:
	case OP_SPLIT:
	case OP_VARIADIC_SPLIT:
	case OP_SLICE:
	case OP_STRIDED_SLICE:
	case OP_GATHER: return true;
	default: return false;
	}
}

bool grid_of_values(const struct graph *g, uint32_t v, const struct step_env *env,
		    struct code_grid *grid)
{
	int levels;
	for (uint32_t n = 0; v != GRAPH_NONE && n < g->n; n++, v = source(g, v, 0)) {
		enum op_kind kind = op_kind(g->type[v]);
		if (kind == OP_FAKE_QUANTIZE)
			return quantized(g, v, env, grid, &levels);
		if (!moves(kind))
			return false;
	}
	return false;
}

/* Are all of w[n] multiples of s?  Then code[n]. */
static bool on_grid(const float *w, int64_t n, float s, int8_t *code)
{
	for (int64_t i = 0; i < n; i++) {
		float q = w[i] / s, nearest = rintf(q);
		if (!(fabsf(q - nearest) < 2e-3f) || nearest < -128 || nearest > 127)
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
			if ((fits = on_grid(w, n, scale[r] = most / (float)k, code)))
				break;
		if (!fits && !on_grid(w, n, scale[r] = most / 128, code))
			return false;
	}
	return true;
}
