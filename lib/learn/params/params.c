/* params.c - a block of parameters, and Adam. */
#include "learn/params/params.h"
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct params *params_new(void)
{
	struct params *p = MEM_NEW(struct params);
	p->arena = arena_new();
	return p;
}

void params_free(struct params *p)
{
	if (!p)
		return;
	arena_free(p->arena);
	mem_free(p->mat);
	mem_free(p);
}

uint32_t params_add(struct params *p, const char *name, uint32_t rows, uint32_t cols,
		    enum param_init init, float bound)
{
	assert(!p->data && rows > 0 && cols > 0);
	p->mat = mem_resize(p->mat, (size_t)p->n_mats + 1, sizeof *p->mat);
	p->mat[p->n_mats] = (struct param){
		.name = arena_strndup(p->arena, name, strlen(name)),
		.rows = rows,
		.cols = cols,
		.at = p->n,
		.init = init,
		.bound = bound,
	};
	p->n += (size_t)rows * cols;
	return p->n_mats++;
}

void params_alloc(struct params *p)
{
	p->data = ARENA_NEWN(p->arena, float, p->n);
}

struct params *params_init(struct params *p, uint64_t seed, uint32_t first_stream)
{
	if (!p->data)
		params_alloc(p);
	for (uint32_t i = 0; i < p->n_mats; i++) {
		const struct param *m = &p->mat[i];
		size_t n = (size_t)m->rows * m->cols;
		float *x = p->data + m->at;
		struct rng_addr at = {.seed = seed, .stream = RNG_INIT + first_stream + i};
		if (m->init == PARAM_UNIFORM)
			rng_uniform_f32(&at, -m->bound, m->bound, x, n);
		else
			for (size_t j = 0; j < n; j++)
				x[j] = m->init == PARAM_ONE;
	}
	return p;
}

int params_match(const struct params *p, size_t n_mats, const char *const *names,
		 const uint32_t *rows, const uint32_t *cols, struct err *e)
{
	char q[80];
	if (n_mats != p->n_mats)
		return err_set(e, ST_INPUT, "%zu matrices of parameters instead of %u", n_mats,
			       p->n_mats);
	for (size_t i = 0; i < n_mats; i++) {
		const struct param *m = &p->mat[i];
		if (strcmp(names[i], m->name) != 0)
			return err_set(e, ST_INPUT, "matrix %zu is called '%s' instead of '%s'", i,
				       err_escape(q, sizeof q, names[i], strlen(names[i])),
				       m->name);
		if (rows[i] != m->rows || cols[i] != m->cols)
			return err_set(e, ST_INPUT,
				       "matrix '%s' is %u by %u instead of %u by %u; "
				       "were the parameters made for other features or devices?",
				       m->name, rows[i], cols[i], m->rows, m->cols);
	}
	return 0;
}

/* ---- Adam ---- */

void adam_init(struct adam *a, size_t n, double lr)
{
	*a = (struct adam){.lr = lr, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .n = n};
	a->m = MEM_NEWN(float, n);
	a->v = MEM_NEWN(float, n);
}

void adam_release(struct adam *a)
{
	mem_free(a->m);
	mem_free(a->v);
	a->m = a->v = NULL;
}

void adam_step(struct adam *a, float *data, const float *grad, double scale)
{
	a->t++;
	double c1 = 1 - pow(a->beta1, (double)a->t), c2 = 1 - pow(a->beta2, (double)a->t);
	float b1 = (float)a->beta1, b2 = (float)a->beta2, s = (float)scale;
	float step = (float)(a->lr / c1), root = (float)(1 / sqrt(c2)), eps = (float)a->eps;
	float *restrict m = a->m, *restrict v = a->v, *restrict x = data;
	for (size_t i = 0; i < a->n; i++) {
		float g = s * grad[i];
		m[i] = b1 * m[i] + (1 - b1) * g;
		v[i] = b2 * v[i] + (1 - b2) * g * g;
		x[i] -= step * m[i] / (sqrtf(v[i]) * root + eps);
	}
}

double params_norm2(const float *grad, size_t n)
{
	enum { LANES = 16 }; /* sums beside each other: a single one would wait for itself */
	double lane[LANES] = {0}, s = 0;
	size_t i = 0;
	for (; i + LANES <= n; i += LANES)
		for (size_t l = 0; l < LANES; l++)
			lane[l] += (double)grad[i + l] * grad[i + l];
	for (; i < n; i++)
		s += (double)grad[i] * grad[i];
	for (size_t l = 0; l < LANES; l++)
		s += lane[l];
	return s;
}

double params_clip(double norm, double max_norm)
{
	return max_norm > 0 && norm > max_norm ? max_norm / norm : 1;
}
