/* bound_dual.c - multipliers of loads and memory. */
#include <math.h>
#include <string.h>

#include "place/bound/bound_dual.h"

static double share_of_memory(const struct dual *x, uint32_t unit, uint32_t c)
{
	uint64_t limit = x->v->limit[x->first[c]];

	return limit < UINT64_MAX ? (double)x->v->u->mem_on[(size_t)unit * x->v->k + x->first[c]] /
					    ((double)limit * x->size[c])
				  : 0;
}

double dual_unit_s(const struct dual *x, uint32_t unit, uint32_t c)
{
	double s = x->v->unit_s[(size_t)unit * x->v->k + x->first[c]];

	if (s == INFINITY)
		return s;
	return x->w[c] * s + (x->memory ? x->mu[c] * share_of_memory(x, unit, c) : 0);
}

void dual_count(struct dual *x, uint32_t unit, uint32_t c, double times)
{
	x->load[c] += times * x->v->unit_s[(size_t)unit * x->v->k + x->first[c]] / x->size[c];
	x->use[c] += times * share_of_memory(x, unit, c);
}

double dual_least(void *arg, struct dual *x)
{
	double sum = 0;

	(void)arg;
	for (uint32_t j = 0; j < x->units.n; j++) {
		double least = INFINITY;
		uint32_t i = x->units.first[j], at = 0;

		for (uint32_t c = 0; c < x->n_classes; c++) {
			double s = dual_unit_s(x, i, c);

			if (s < least) {
				least = s;
				at = c;
			}
		}
		if (least == INFINITY)
			continue;
		sum += x->units.count[j] * least;
		dual_count(x, i, at, x->units.count[j]);
	}
	return sum;
}

static void scale(struct dual *x)
{
	double sum = 0;

	for (uint32_t c = 0; c < x->n; c++)
		sum += x->w[c] * x->size[c];
	for (uint32_t c = 0; c < x->n; c++)
		x->w[c] /= sum;
}

static void start(struct dual *x)
{
	const struct bound_view *v = x->v;
	double *least = MEM_NEWN(double, v->u->n);

	for (uint32_t i = 0; i < v->u->n; i++) {
		least[i] = INFINITY;
		for (uint32_t d = 0; d < v->k; d++)
			least[i] = fmin(least[i], v->unit_s[(size_t)i * v->k + d]);
	}
	for (uint32_t c = 0; c < x->n_classes; c++) {
		double ratio = 0, base = 0;

		for (uint32_t i = 0; i < v->u->n; i++) {
			double s = v->unit_s[(size_t)i * v->k + x->first[c]];

			if (s < INFINITY) {
				ratio += s;
				base += least[i];
			}
		}
		x->w[c] = base > 0 && ratio > 0 ? base / ratio : 1e-6;
	}
	mem_free(least);
}

void dual_init(struct dual *x, const struct bound_view *v, uint32_t n_more)
{
	size_t most = (size_t)v->k + n_more;
	double *block = MEM_NEWN(double, 5 * most);

	*x = (struct dual){.v = v,
			   .first = MEM_NEWN(uint32_t, v->k),
			   .size = block,
			   .w = block + most,
			   .mu = block + 2 * most,
			   .load = block + 3 * most,
			   .use = block + 4 * most};
	for (uint32_t d = 0; d < v->k; d++) {
		uint32_t c = 0;

		while (c < x->n_classes && x->first[c] != v->u->equivalent[d])
			c++;
		x->first[c] = v->u->equivalent[d];
		x->size[c]++;
		x->n_classes += c == x->n_classes;
	}
	x->n = x->n_classes + n_more;
	for (uint32_t c = x->n_classes; c < x->n; c++)
		x->size[c] = 1;
	alike_init(&x->units, v->u->n, NULL, v->unit_s, v->k * sizeof *v->unit_s, v->u->mem_on,
		   v->k * sizeof *v->u->mem_on);
	start(x);
	scale(x);
}

void dual_release(struct dual *x)
{
	alike_release(&x->units);
	mem_free(x->size);
	mem_free(x->first);
}

/* Shares move by factors, which keeps them positive; one that is 0 begins small. */
static void step(struct dual *x, double size)
{
	double mean = 0;

	for (uint32_t c = 0; c < x->n; c++)
		mean += x->w[c] * x->size[c] * x->load[c];
	for (uint32_t c = 0; c < x->n; c++) {
		if (mean > 0 && x->w[c] == 0 && x->load[c] > mean)
			x->w[c] = 0.01 / x->size[c];
		else if (mean > 0)
			x->w[c] *= exp(size * fmax(-1, fmin(1, x->load[c] / mean - 1)));
		if (x->memory && c < x->n_classes && x->v->limit[x->first[c]] < UINT64_MAX)
			x->mu[c] = fmax(0, x->mu[c] + size * mean * (x->use[c] - 1));
	}
	scale(x);
}

double dual_at(struct dual *x, dual_value value, void *arg)
{
	double s;

	memset(x->load, 0, x->n * sizeof(*x->load));
	memset(x->use, 0, x->n * sizeof(*x->use));
	s = value(arg, x);
	for (uint32_t c = 0; c < x->n_classes; c++)
		s -= x->mu[c];
	return s;
}

double dual_ascend(struct dual *x, int rounds, dual_value value, void *arg)
{
	uint32_t n = x->n;
	double *best_w = MEM_NEWN(double, 2 * (size_t)n), best = -INFINITY;

	for (int round = 0; round < rounds && !(round && bound_is_late(x->v->deadline_s));
	     round++) {
		double s = dual_at(x, value, arg);

		if (s > best) {
			best = s;
			memcpy(best_w, x->w, n * sizeof(*x->w));
			memcpy(best_w + n, x->mu, n * sizeof(*x->mu));
		}
		step(x, 0.5 / sqrt(1 + round) / (1 + 0.02 * round));
	}
	memcpy(x->w, best_w, n * sizeof(*x->w));
	memcpy(x->mu, best_w + n, n * sizeof(*x->mu));
	mem_free(best_w);
	return best;
}
