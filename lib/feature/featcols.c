/* featcols.c - the encoders of the features, one pair of functions each: names
 * of columns, and values.  See features.h for what they mean. */
#include "feature/featcols.h"
#include "feature/fractal.h"
#include "op/op.h"
#include "op/optype.h"

#include <math.h>
#include <string.h>

/* Scales that bring the fixed encodings to about 0 .. 1. */
static const float DIM_SCALE = 1 / 16.0f;  /* log2 of a dimension */
static const float SIZE_SCALE = 1 / 32.0f; /* log2 of bytes */
static const float FLOP_SCALE = 1 / 40.0f; /* log2 of FLOPs */
static const float FRACTAL_SCALE = 1 / 2.0f;
enum { FIXED_RANK = 6 };

static uint32_t one_column(const char **column, const char *name)
{
	if (column)
		column[0] = name;
	return 1;
}

/* ---- operator type ---- */

static uint32_t type_columns(const struct feat_work *w, const char **column)
{
	uint32_t k = w->o->paper ? w->types.n : OPTYPE_COUNT + 1;
	for (uint32_t i = 0; column && i < k; i++)
		column[i] = arena_printf(w->a, "type=%s",
					 w->o->paper ? w->types.s[i] : optype_name((int)i));
	return k;
}

static void type_fill(const struct feat_work *w, float *x)
{
	const struct graph *g = w->g;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t s = g->set[v];
		if (s == GRAPH_NONE)
			continue;
		int t = w->o->paper ? (int)strtab_find(&w->types, g->type[v])
				    : optype_of(g->kind[v]);
		x[(size_t)s * w->d + (t < 0 ? OPTYPE_COUNT : (uint32_t)t)] += 1 / (float)w->size[s];
	}
}

/* ---- output shape ---- */

/* The output whose shape stands for set s: the last node's first one; a Result has
 * none and shows its input.  GRAPH_NONE when there is nothing. */
static uint32_t shape_of_set(const struct feat_work *w, uint32_t s)
{
	const struct graph *g = w->g;
	uint32_t v = w->last[s];
	if (g->out_ptr[v] < g->out_ptr[v + 1])
		return g->out_ptr[v];
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE)
			return g->out_ptr[g->in_node[i]] + g->in_port[i];
	return GRAPH_NONE;
}

static uint32_t shape_columns(const struct feat_work *w, const char **column)
{
	uint32_t k = w->o->paper ? w->max_rank : FIXED_RANK;
	for (uint32_t i = 0; column && i < k; i++)
		column[i] = arena_printf(w->a, "dim%u", i);
	if (w->o->paper)
		return k;
	if (column) {
		column[k] = "rank";
		column[k + 1] = "dynamic";
	}
	return k + 2;
}

static void shape_fill(const struct feat_work *w, float *x)
{
	const struct graph *g = w->g;
	for (uint32_t s = 0; s < w->n; s++, x += w->d) {
		uint32_t o = shape_of_set(w, s), rank, dynamic = 0;
		if (o == GRAPH_NONE)
			continue;
		const int64_t *dim = g->dim + g->dim_ptr[o];
		rank = g->dim_ptr[o + 1] - g->dim_ptr[o];
		for (uint32_t i = 0; i < rank; i++) {
			double size = dim[i] < 0 ? 0 : (double)dim[i];
			dynamic += dim[i] < 0;
			if (w->o->paper)
				x[i] = (float)size;
			else /* what is beyond the last column is folded into it */
				x[i < FIXED_RANK ? i : FIXED_RANK - 1] +=
					(float)log2(1 + size) * DIM_SCALE;
		}
		if (w->o->paper)
			continue;
		x[FIXED_RANK] = (float)rank / FIXED_RANK;
		x[FIXED_RANK + 1] = g->out_rank[o] == RANK_DYNAMIC ? 1
				    : rank                         ? (float)dynamic / (float)rank
								   : 0;
	}
}

/* ---- degrees ---- */

static const struct {
	uint32_t to;
	const char *name;
} degree_bin[] = {{0, "0"}, {1, "1"},   {2, "2"},     {3, "3"},
		  {4, "4"}, {8, "5-8"}, {16, "9-16"}, {UINT32_MAX, "17+"}};
enum { N_BINS = sizeof degree_bin / sizeof *degree_bin };

static uint32_t degree_columns(const struct feat_work *w, int out, const char **column)
{
	uint32_t k = w->o->paper ? w->n_degree_seen[out] : N_BINS;
	const char *side = out ? "out_degree" : "in_degree";
	for (uint32_t i = 0; column && i < k; i++)
		column[i] = w->o->paper ? arena_printf(w->a, "%s=%u", side, w->degree_seen[out][i])
					: arena_printf(w->a, "%s=%s", side, degree_bin[i].name);
	return k;
}

static void degree_fill(const struct feat_work *w, int out, float *x)
{
	for (uint32_t s = 0; s < w->n; s++, x += w->d) {
		uint32_t k = 0, degree = w->degree[out][s];
		if (w->o->paper)
			while (w->degree_seen[out][k] != degree)
				k++;
		else
			while (degree > degree_bin[k].to)
				k++;
		x[k] = 1;
	}
}

static uint32_t in_columns(const struct feat_work *w, const char **c)
{
	return degree_columns(w, 0, c);
}
static uint32_t out_columns(const struct feat_work *w, const char **c)
{
	return degree_columns(w, 1, c);
}
static void in_fill(const struct feat_work *w, float *x)
{
	degree_fill(w, 0, x);
}
static void out_fill(const struct feat_work *w, float *x)
{
	degree_fill(w, 1, x);
}

/* ---- fractal dimension ---- */

static uint32_t fractal_columns(const struct feat_work *w, const char **column)
{
	(void)w;
	return one_column(column, "fractal");
}

static void fractal_fill(const struct feat_work *w, float *x)
{
	struct fractal_opts o = {w->o->directed, w->o->radius_cap, w->o->pool};
	double *D = MEM_NEWN(double, w->n);
	fractal_dimension(&w->q, &o, D);
	for (uint32_t s = 0; s < w->n; s++)
		x[(size_t)s * w->d] = (float)D[s] * (w->o->paper ? 1 : FRACTAL_SCALE);
	mem_free(D);
}

/* ---- position ---- */

static uint32_t position_columns(const struct feat_work *w, const char **column)
{
	(void)w;
	return one_column(column, "position");
}

static void position_fill(const struct feat_work *w, float *x)
{
	float scale = w->o->paper ? 1 : w->n > 1 ? 1 / (float)(w->n - 1) : 0;
	for (uint32_t s = 0; s < w->n; s++)
		x[(size_t)s * w->d] = (float)s * scale;
}

static uint32_t sinusoid_columns(const struct feat_work *w, const char **column)
{
	for (uint32_t i = 0; column && i < w->o->d_pos; i++)
		column[i] = arena_printf(w->a, "%s%u", i % 2 ? "cos" : "sin", i / 2);
	return w->o->d_pos;
}

static void sinusoid_fill(const struct feat_work *w, float *x)
{
	uint32_t k = w->o->d_pos;
	for (uint32_t i = 0; i < k; i += 2) {
		double rate = pow(10000, -(double)i / k);
		for (uint32_t s = 0; s < w->n; s++) {
			x[(size_t)s * w->d + i] = (float)sin(s * rate);
			x[(size_t)s * w->d + i + 1] = (float)cos(s * rate);
		}
	}
}

/* ---- sizes and work ---- */

static uint32_t bytes_columns(const struct feat_work *w, const char **column)
{
	(void)w;
	if (column) {
		column[0] = "log_bytes";
		column[1] = "log_const_bytes";
	}
	return 2;
}

static void bytes_fill(const struct feat_work *w, float *x)
{
	const struct graph *g = w->g;
	/* Constants that a node is or, being unplaced, hands on to its consumers. */
	double *held = MEM_NEWN(double, g->n), *in_set = MEM_NEWN(double, w->n);
	for (uint32_t k = 0; k < g->n_const; k++)
		held[g->const_node[k]] = (double)g->const_bytes[k];
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE && g->set[g->in_node[i]] == GRAPH_NONE)
				held[v] += held[g->in_node[i]];
		held[v] = fmin(held[v], 0x1p60); /* doubled at each node of a ladder */
		if (g->set[v] != GRAPH_NONE)
			in_set[g->set[v]] += held[v];
	}
	for (uint32_t s = 0; s < w->n; s++, x += w->d) {
		uint32_t v = w->last[s];
		double bytes = 0;
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			bytes += fmax(0, (double)graph_out_bytes(g, o));
		x[0] = (float)log2(1 + bytes) * SIZE_SCALE;
		x[1] = (float)log2(1 + in_set[s]) * SIZE_SCALE;
	}
	mem_free(held);
	mem_free(in_set);
}

static uint32_t flops_columns(const struct feat_work *w, const char **column)
{
	(void)w;
	return one_column(column, "log_flops");
}

static void flops_fill(const struct feat_work *w, float *x)
{
	const struct graph *g = w->g;
	double *flops = MEM_NEWN(double, w->n);
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE)
			flops[g->set[v]] += (double)op_flops(g, v);
	for (uint32_t s = 0; s < w->n; s++)
		x[(size_t)s * w->d] = (float)log2(1 + flops[s]) * FLOP_SCALE;
	mem_free(flops);
}

static uint32_t constant_columns(const struct feat_work *w, const char **column)
{
	(void)w;
	return one_column(column, "constant");
}

static void constant_fill(const struct feat_work *w, float *x)
{
	const struct graph *g = w->g;
	for (uint32_t k = 0; k < g->n_const; k++) {
		uint32_t s = g->set[g->const_node[k]];
		if (s != GRAPH_NONE)
			x[(size_t)s * w->d] += 1 / (float)w->size[s];
	}
}

/* ---- depths ---- */

static void depth_fill(const struct feat_work *w, int sink, float *x)
{
	uint32_t longest = 1;
	for (uint32_t s = 0; s < w->n; s++)
		longest = w->depth[sink][s] > longest ? w->depth[sink][s] : longest;
	for (uint32_t s = 0; s < w->n; s++)
		x[(size_t)s * w->d] = (float)w->depth[sink][s] / (w->o->paper ? 1 : (float)longest);
}

static uint32_t source_columns(const struct feat_work *w, const char **column)
{
	(void)w;
	return one_column(column, "depth_source");
}

static uint32_t sink_columns(const struct feat_work *w, const char **column)
{
	(void)w;
	return one_column(column, "depth_sink");
}

static void source_fill(const struct feat_work *w, float *x)
{
	depth_fill(w, 0, x);
}
static void sink_fill(const struct feat_work *w, float *x)
{
	depth_fill(w, 1, x);
}

const struct feat_encoder feat_encoders[FEAT_COUNT] = {
	[FEAT_TYPE] = {"type", true, true, type_columns, type_fill},
	[FEAT_SHAPE] = {"shape", true, true, shape_columns, shape_fill},
	[FEAT_IN_DEGREE] = {"in_degree", true, true, in_columns, in_fill},
	[FEAT_OUT_DEGREE] = {"out_degree", true, true, out_columns, out_fill},
	[FEAT_FRACTAL] = {"fractal", true, true, fractal_columns, fractal_fill},
	[FEAT_POSITION] = {"position", true, true, position_columns, position_fill},
	[FEAT_SINUSOID] = {"sinusoid", false, true, sinusoid_columns, sinusoid_fill},
	[FEAT_LOG_BYTES] = {"log_bytes", false, true, bytes_columns, bytes_fill},
	[FEAT_LOG_FLOPS] = {"log_flops", false, true, flops_columns, flops_fill},
	[FEAT_CONSTANT] = {"constant", false, true, constant_columns, constant_fill},
	[FEAT_DEPTH_SOURCE] = {"depth_source", false, true, source_columns, source_fill},
	[FEAT_DEPTH_SINK] = {"depth_sink", false, true, sink_columns, sink_fill},
	[FEAT_COSTS] = {"costs", false, false, costs_columns, costs_fill},
};
