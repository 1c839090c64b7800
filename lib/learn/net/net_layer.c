/* net_layer.c - layers: their parameters and their forward pass. */
#include "learn/net/net_layer.h"

#include <math.h>

/* ---- tables of parameters ---- */

static void add_mat(struct params *p, const char *name, const char *what, uint32_t rows,
		    uint32_t cols, enum param_init init, double bound)
{
	params_add(p, arena_printf(p->arena, "%s.%s", name, what), rows, cols, init, (float)bound);
}

void add_linear(struct params *p, const char *name, uint32_t in, uint32_t out, double gain)
{
	add_mat(p, name, "weight", in, out, PARAM_UNIFORM, gain / sqrt(in));
	add_mat(p, name, "bias", 1, out, PARAM_UNIFORM, gain / sqrt(in));
}

void add_norm(struct params *p, const char *name, uint32_t width)
{
	add_mat(p, name, "gain", 1, width, PARAM_ONE, 0);
	add_mat(p, name, "bias", 1, width, PARAM_ZERO, 0);
}

void add_gcn(struct params *p, const char *name, uint32_t in, uint32_t out)
{
	add_mat(p, name, "weight", in, out, PARAM_UNIFORM, sqrt(6.0 / (in + out)));
	add_mat(p, name, "bias", 1, out, PARAM_ZERO, 0);
}

static const char *numbered(struct params *p, const char *part, int64_t i)
{
	return arena_printf(p->arena, "%s.%d", part, (int)i);
}

void add_normed_mlp(struct params *p, const char *part, int64_t layers, uint32_t in, uint32_t h)
{
	for (int64_t i = 0; i < layers; i++) {
		const char *name = numbered(p, part, i);
		add_linear(p, name, i == 0 ? in : h, h, 1);
		add_norm(p, arena_printf(p->arena, "%s.norm", name), h);
	}
}

void add_plain_mlp(struct params *p, const char *part, int64_t layers, uint32_t in, uint32_t h,
		   uint32_t out, double gain)
{
	for (int64_t i = 0; i < layers; i++)
		add_linear(p, numbered(p, part, i), i == 0 ? in : h, i == layers - 1 ? out : h,
			   i == layers - 1 ? gain : 1);
}

void add_gnn(struct params *p, const char *part, int64_t layers, uint32_t h)
{
	for (int64_t i = 0; i < layers; i++)
		add_gcn(p, numbered(p, part, i), h, h);
	add_norm(p, arena_printf(p->arena, "%s.norm", part), h);
}

void add_deepset(struct params *p, const char *part, int64_t layers, uint32_t h)
{
	add_plain_mlp(p, part, layers, h, h, h, 1);
	add_norm(p, arena_printf(p->arena, "%s.norm", part), h);
}

/* ---- forward ---- */

/* y, computed from x.  An x that was made inside a layer has no other use. */
static struct mat *next_activation(struct tape *t, struct mat *x, struct mat *y, bool inside)
{
	if (inside)
		tape_done(t, x);
	return y;
}

struct mat *normed_mlp(struct tape *t, struct mat *const *p, int64_t layers, double drop,
		       struct mat *x)
{
	const struct after f = {true, drop};
	for (int64_t i = 0; i < layers; i++, p += MATS_NORMED)
		x = next_activation(t, x, tape_linear_norm(t, x, p[0], p[1], NULL, p[2], p[3], f),
				    i > 0);
	return x;
}

struct mat *plain_mlp(struct tape *t, struct mat *const *p, int64_t layers, double drop,
		      struct after last, struct mat *x)
{
	const struct after f = {true, drop};
	for (int64_t i = 0; i < layers; i++, p += MATS_PLAIN)
		x = next_activation(t, x, tape_linear(t, x, p[0], p[1], i == layers - 1 ? last : f),
				    i > 0);
	return x;
}

struct mat *gnn(struct tape *t, struct mat *const *p, int64_t layers, double drop,
		const struct ugraph *g, struct mat *x)
{
	const struct after f = {true, drop};
	struct mat *h = x;
	for (int64_t i = 0; i < layers; i++, p += MATS_PLAIN) {
		struct mat *hw = next_activation(t, h, tape_matmul(t, h, p[0]), i > 0);
		h = tape_aggregate(t, g, hw, p[1], f);
		tape_forget(t, hw);
	}
	return next_activation(t, h, tape_norm(t, x, h, p[0], p[1], (struct after){0}), true);
}

struct mat *deepset(struct tape *t, struct mat *const *p, int64_t layers, double drop,
		    struct mat *x)
{
	const struct after f = {true, drop}, none = {0};
	int64_t inner = layers - 1;
	struct mat *y = plain_mlp(t, p, inner, drop, f, x);
	p += MATS_PLAIN * inner;
	return next_activation(t, y, tape_linear_norm(t, y, p[0], p[1], x, p[2], p[3], none),
			       y != x);
}
