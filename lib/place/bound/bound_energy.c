/* bound_energy.c - what energy and memory cannot be less than. */
#include <float.h>
#include <math.h>

#include "place/bound/bounds.h"

enum { ROUNDS = 100 };

double bound_unit_j(const struct bound_view *v, uint32_t i, uint32_t d)
{
	const struct place_power *p = &v->m->power;
	double watts = (p->watts ? p->watts[d] : 0) - (p->idle_watts ? p->idle_watts[d] : 0);

	if (v->unit_s[(size_t)i * v->k + d] == INFINITY)
		return INFINITY;
	/* What is saved by neighbours is not certain to be; it may be good or bad. */
	return watts * (watts > 0 ? v->unit_s : v->unit_most_s)[(size_t)i * v->k + d];
}

/* Every unit where it is cheapest, when memory has a price: the Lagrangian relaxation of
 * limits, which equivalent devices share.  use (k): share of the memory of a device's class that
 * is taken. */
static double priced_j(const struct bound_view *v, const double *price, const double *size,
		       double *use)
{
	double sum = 0;

	for (uint32_t d = 0; d < v->k; d++) {
		use[d] = 0;
		sum -= v->u->equivalent[d] == d ? price[d] : 0;
	}
	for (uint32_t i = 0; i < v->u->n; i++) {
		double least = INFINITY, share = 0;
		uint32_t at = 0;

		for (uint32_t d = 0; d < v->k; d++) {
			if (v->u->equivalent[d] != d)
				continue;
			double part = v->limit[d] < UINT64_MAX
					      ? (double)v->u->mem_on[(size_t)i * v->k + d] /
							((double)v->limit[d] * size[d])
					      : 0;
			double j = bound_unit_j(v, i, d) + price[d] * part;

			if (j < least) {
				least = j;
				at = d;
				share = part;
			}
		}
		sum += least < INFINITY ? least : 0;
		use[at] += share;
	}
	return sum;
}

double bound_energy_j(const struct bound_view *v, double lat_s)
{
	double *price = MEM_NEWN(double, 3 * (size_t)v->k), *use = price + v->k, *size = use + v->k;
	double idle = 0, best = -INFINITY, scale = 0;

	for (uint32_t d = 0; d < v->k; d++) {
		idle += v->m->power.idle_watts ? v->m->power.idle_watts[d] : 0;
		size[v->u->equivalent[d]]++;
	}
	for (int round = 0; round < ROUNDS && !(round && bound_is_late(v->deadline_s)); round++) {
		double s = priced_j(v, price, size, use);
		bool over = false;

		scale = round == 0 ? fabs(s) : scale;
		best = fmax(best, s);
		for (uint32_t d = 0; d < v->k; d++) {
			over |= use[d] > 1;
			if (v->limit[d] < UINT64_MAX)
				price[d] =
					fmax(0, price[d] + scale / sqrt(1 + round) * (use[d] - 1));
		}
		if (round == 0 && !over)
			break;
	}
	mem_free(price);
	return (best + idle * lat_s) * (1 - (best + idle * lat_s > 0 ? 1e-9 : -1e-9));
}

/* No schedule is longer: everything one after the other, where it takes longest. */
static double longest_s(const struct bound_view *v)
{
	const struct sched_links *l = &v->m->costs.links;
	double sum = 0;

	for (uint32_t i = 0; i < v->u->n; i++) {
		double most = 0;

		for (uint32_t d = 0; d < v->k; d++)
			if (v->unit_s[(size_t)i * v->k + d] < INFINITY)
				most = fmax(most, v->unit_most_s[(size_t)i * v->k + d]);
		sum += most;
	}
	for (uint32_t t = 0; t < v->d->n_tensors; t++)
		for (uint32_t i = 0; i < v->k * v->k; i++)
			if (i / v->k != i % v->k && l->latency_s[i] >= 0)
				sum += sched_copy_s(l, i / v->k, i % v->k, v->d->tensor_bytes[t]);
	return sum;
}

/* At least the mean of all constants, and the inputs and outputs of any one task that takes time. */
double bound_memory_bytes(const struct bound_view *v)
{
	const struct sched_dag *d = v->d;
	double sum = 0, most = 0, instant_s = DBL_EPSILON * longest_s(v);

	for (uint32_t i = 0; i < v->u->n; i++)
		sum += (double)v->u->least_mem[i];
	for (uint32_t t = 0; t < v->n; t++) {
		double bytes = (double)v->u->least_mem[v->unit_of[t]];
		bool takes_time = true;

		for (uint32_t dev = 0; dev < v->k; dev++)
			takes_time &= v->task_s[(size_t)t * v->k + dev] > instant_s;
		for (uint32_t i = d->in_ptr[t]; takes_time && i < d->in_ptr[t + 1]; i++)
			bytes += (double)d->tensor_bytes[d->use_tensor[d->in_use[i]]];
		for (uint32_t x = d->out_ptr[t]; takes_time && x < d->out_ptr[t + 1]; x++)
			bytes += (double)d->tensor_bytes[x];
		most = fmax(most, bytes);
	}
	return fmax(most, sum / v->k);
}

static double energy_value(struct bound_problem *x)
{
	if (!(x->v.m->objective.energy > 0))
		return 0;
	return bound_energy_j(&x->v, x->best[METRIC_LATENCY].value);
}

const struct lower_bound bound_energy = {
	.kind = "energy",
	.source =
		"the Lagrangian relaxation of memory limits: Held, Karp, Op. Research 18(6), 1970",
	.rules = 1U << PLACE_SCHEDULE,
	.metric = METRIC_ENERGY,
	.value = energy_value};

static double memory_value(struct bound_problem *x)
{
	return x->v.m->objective.memory > 0 ? bound_memory_bytes(&x->v) : 0;
}

const struct lower_bound bound_memory = {.kind = "memory",
					 .source = "-",
					 .rules = 1U << PLACE_SCHEDULE,
					 .metric = METRIC_MEMORY,
					 .value = memory_value};
