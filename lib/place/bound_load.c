/* bound_load.c - load bound over unrelated devices with memory limits. */
#include <math.h>
#include <string.h>

#include "place/bound_parts.h"

enum { ROUNDS = 300 };

/* Devices that differ by name alone share multipliers: one class. */
struct dual {
	const struct bound_view *v;
	uint32_t n_classes;
	uint32_t *first;             /* (n_classes) */
	double *size;                /* (n_classes) devices */
	double *w, *mu;              /* (n_classes) of each device; of all memory of the class */
	double *load, *use;          /* (n_classes) of a device; share of the memory */
	bool memory;
};

static uint32_t n_twins(const struct bound_view *v, uint32_t d)
{
	uint32_t n = 0;

	for (uint32_t x = d; x < v->k; x++)
		n += v->u->twin[x] == d;
	return n;
}

static double share_of_memory(const struct dual *x, uint32_t unit, uint32_t c)
{
	uint64_t limit = x->v->limit[x->first[c]];

	return limit < UINT64_MAX ? (double)x->v->u->mem[unit] / ((double)limit * x->size[c]) : 0;
}

/* The dual's value at w, mu, with what its minimiser loads. */
static double value(struct dual *x)
{
	const struct bound_view *v = x->v;
	double sum = 0;

	for (uint32_t c = 0; c < x->n_classes; c++) {
		x->load[c] = x->use[c] = 0;
		sum -= x->mu[c];
	}
	for (uint32_t i = 0; i < v->u->n; i++) {
		const double *row = v->unit_s + (size_t)i * v->k;
		double least = INFINITY;
		uint32_t at = 0;

		for (uint32_t c = 0; c < x->n_classes; c++) {
			double s = x->w[c] * row[x->first[c]];

			if (x->memory)
				s += x->mu[c] * share_of_memory(x, i, c);
			if (s < least) {
				least = s;
				at = c;
			}
		}
		if (least == INFINITY)
			continue;
		sum += least;
		x->load[at] += row[x->first[at]] / x->size[at];
		x->use[at] += share_of_memory(x, i, at);
	}
	return sum;
}

static void scale(struct dual *x)
{
	double sum = 0;

	for (uint32_t c = 0; c < x->n_classes; c++)
		sum += x->w[c] * x->size[c];
	for (uint32_t c = 0; c < x->n_classes; c++)
		x->w[c] /= sum;
}

/* Exact when devices differ by a factor alone: shares go with speed. */
static void start(struct dual *x)
{
	const struct bound_view *v = x->v;

	for (uint32_t c = 0; c < x->n_classes; c++) {
		double ratio = 0, base = 0;

		x->mu[c] = 0;
		for (uint32_t i = 0; i < v->u->n; i++) {
			double s = v->unit_s[(size_t)i * v->k + x->first[c]], least = INFINITY;

			for (uint32_t d = 0; d < v->k; d++)
				least = fmin(least, v->unit_s[(size_t)i * v->k + d]);
			if (s < INFINITY) {
				ratio += s;
				base += least;
			}
		}
		x->w[c] = base > 0 && ratio > 0 ? base / ratio : 1e-6;
	}
	scale(x);
}

/* The best of some rounds; w and mu become its multipliers.  Shares move by factors, which keeps them positive. */
static double ascend(struct dual *x)
{
	uint32_t n = x->n_classes;
	double *best_w = MEM_NEWN(double, 2 * (size_t)n), best = -INFINITY;

	for (int round = 0; round < ROUNDS; round++) {
		double s = value(x), mean = 0, step = 0.5 / sqrt(1 + round) / (1 + 0.02 * round);

		if (s > best) {
			best = s;
			memcpy(best_w, x->w, n * sizeof(*x->w));
			memcpy(best_w + n, x->mu, n * sizeof(*x->mu));
		}
		for (uint32_t c = 0; c < n; c++)
			mean += x->w[c] * x->size[c] * x->load[c];
		for (uint32_t c = 0; c < n; c++) {
			if (mean > 0)
				x->w[c] *= exp(step * fmax(-1, fmin(1, x->load[c] / mean - 1)));
			if (x->memory && x->v->limit[x->first[c]] < UINT64_MAX)
				x->mu[c] = fmax(0, x->mu[c] + step * mean * (x->use[c] - 1));
		}
		scale(x);
	}
	memcpy(x->w, best_w, n * sizeof(*x->w));
	memcpy(x->mu, best_w + n, n * sizeof(*x->mu));
	mem_free(best_w);
	return best;
}

double bound_load_s(struct bound_view *v)
{
	uint32_t k = v->k;
	double *block = MEM_NEWN(double, 5 * (size_t)k);
	struct dual x = {.v = v, .first = MEM_NEWN(uint32_t, k), .size = block, .w = block + k,
			 .mu = block + 2 * k, .load = block + 3 * k, .use = block + 4 * k};
	bool limited = false;

	for (uint32_t d = 0; d < k; d++)
		if (v->u->twin[d] == d) {
			x.first[x.n_classes] = d;
			x.size[x.n_classes++] = n_twins(v, d);
			limited |= v->limit[d] < UINT64_MAX;
		}
	start(&x);
	double best = ascend(&x);
	for (uint32_t c = 0; c < x.n_classes; c++)
		for (uint32_t d = 0; d < k; d++)
			if (v->u->twin[d] == x.first[c])
				v->share[d] = x.w[c];
	if (limited) {
		x.memory = true;
		best = fmax(best, ascend(&x));
	}
	mem_free(block);
	mem_free(x.first);
	/* A hair less, for what rounding adds up to. */
	return fmax(0, best) * (1 - 1e-9);
}
