/* bound.c - what no placement can beat. */
#include <math.h>
#include <string.h>

#include "place/bound.h"
#include "place/units.h"

enum { ROUNDS = 400 };

/* The longest path of fastest costs. */
static double path_s(const struct place_units *u)
{
	const struct place_model *m = u->m;
	const struct sched_dag *d = &m->tasks.dag;
	double *end = MEM_NEWN(double, d->n), longest = 0;

	for (uint32_t t = 0; t < d->n; t++) {
		double least = INFINITY;

		for (uint32_t dev = 0; dev < m->k; dev++) {
			double s = m->costs.task_s[(size_t)t * m->k + dev];

			for (uint32_t j = m->saved_ptr ? m->saved_ptr[t] : 0;
			     s >= 0 && m->saved_ptr && j < m->saved_ptr[t + 1]; j++)
				s = fmax(0, s - m->saved_s[(size_t)j * m->k + dev]);
			least = s >= 0 && s < least ? s : least;
		}
		end[t] = least < INFINITY ? least : 0;
		double ready = 0;
		for (uint32_t i = d->in_ptr[t]; i < d->in_ptr[t + 1]; i++)
			ready = fmax(ready, end[d->tensor_task[d->use_tensor[d->in_use[i]]]]);
		end[t] += ready;
		longest = fmax(longest, end[t]);
	}
	mem_free(end);
	return longest;
}

/* The multipliers, scaled so that every one of them is a share. */
struct dual {
	const struct place_units *u;
	uint32_t k;
	double *w, *mu;              /* (k) load, memory (seconds for a full device) */
	double *dw, *dmu;            /* (k) subgradient */
};

static double unit_cost_s(const struct place_units *u, uint32_t i, uint32_t d)
{
	double s = u->cost_s[(size_t)i * u->m->k + d];

	/* Savings are rare and small beside loads: all or nothing. */
	return s < 0 ? -1 : u->m->saved_ptr ? fmin(s, u->least_s[i]) : s;
}

static double dual_value(struct dual *x)
{
	const struct place_units *u = x->u;
	double sum = 0;

	for (uint32_t d = 0; d < x->k; d++) {
		x->dw[d] = 0;
		x->dmu[d] = u->m->mem_limit[d] ? -1 : 0;
		sum -= x->mu[d];
	}
	for (uint32_t i = 0; i < u->n; i++) {
		double least = INFINITY;
		uint32_t at = 0;

		for (uint32_t d = 0; d < x->k; d++) {
			double s = unit_cost_s(u, i, d), limit = (double)u->m->mem_limit[d], share;

			if (s < 0)
				continue;
			share = limit > 0 ? (double)u->mem[i] / limit : 0;
			s = x->w[d] * s + x->mu[d] * share;
			if (s < least) {
				least = s;
				at = d;
			}
		}
		if (least == INFINITY)
			continue;
		sum += least;
		x->dw[at] += unit_cost_s(u, i, at);
		if (u->m->mem_limit[at])
			x->dmu[at] += (double)u->mem[i] / (double)u->m->mem_limit[at];
	}
	return sum;
}

/* The nearest point with w >= 0 and sum 1 (Duchi et al. 2008, figure 1, by bisection). */
static void onto_simplex(double *w, uint32_t k)
{
	double lo = -1e9, hi = 1e9;

	for (int i = 0; i < 100; i++) {
		double mid = (lo + hi) / 2, sum = 0;

		for (uint32_t d = 0; d < k; d++)
			sum += fmax(0, w[d] - mid);
		*(sum > 1 ? &lo : &hi) = mid;
	}
	for (uint32_t d = 0; d < k; d++)
		w[d] = fmax(0, w[d] - hi);
	double sum = 0;
	for (uint32_t d = 0; d < k; d++)
		sum += w[d];
	for (uint32_t d = 0; d < k; d++)
		w[d] = sum > 0 ? w[d] / sum : 1.0 / k;
}

static double load_s(const struct place_units *u)
{
	uint32_t k = u->m->k;
	double *v = MEM_NEWN(double, 4 * (size_t)k), best = 0;
	struct dual x = {u, k, v, v + k, v + 2 * k, v + 3 * k};

	for (uint32_t d = 0; d < k; d++)
		x.w[d] = 1.0 / k;
	for (int round = 0; round < ROUNDS; round++) {
		double value = dual_value(&x), norm = 0, scale = 0;

		best = fmax(best, value);
		for (uint32_t d = 0; d < k; d++)
			scale = fmax(scale, x.dw[d]);
		for (uint32_t d = 0; d < k; d++)
			norm += scale > 0 ? x.dw[d] * x.dw[d] / (scale * scale) + x.dmu[d] * x.dmu[d] : 0;
		if (norm == 0)
			break;
		double step = 0.5 / sqrt(norm) / (1 + 0.1 * round);
		for (uint32_t d = 0; d < k; d++) {
			x.w[d] += step * x.dw[d] / scale;
			x.mu[d] = fmax(0, x.mu[d] + step * scale * x.dmu[d]);
		}
		onto_simplex(x.w, k);
	}
	mem_free(v);
	/* A hair less, for what rounding adds up to. */
	return best * (1 - 1e-9);
}

double place_lower_bound(const struct place_units *u)
{
	double path = u->m->rules == PLACE_DNNPART_THROUGHPUT ? 0 : path_s(u) * (1 - 1e-12);
	double load = u->m->rules == PLACE_DNNPART_LATENCY ? 0 : load_s(u);

	return fmax(path, load);
}
