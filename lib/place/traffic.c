/* traffic.c - copies of a placement by link; period and energy. */
#include <math.h>
#include <string.h>

#include "place/traffic.h"

void traffic_init(struct place_traffic *x, uint32_t k)
{
	x->k = k;
	x->copies = MEM_NEWN(uint32_t, (size_t)k * k);
	x->bytes = MEM_NEWN(uint64_t, (size_t)k * k);
	x->busy_s = MEM_NEWN(double, (size_t)k * k);
	x->seen = MEM_NEWN(uint32_t, k);
}

void traffic_release(struct place_traffic *x)
{
	mem_free(x->copies);
	mem_free(x->bytes);
	mem_free(x->busy_s);
	mem_free(x->seen);
}

void traffic_count(struct place_traffic *x, const struct place_model *m, const uint16_t *device)
{
	const struct sched_dag *d = &m->tasks.dag;
	const struct sched_links *l = &m->costs.links;
	size_t n = (size_t)x->k * x->k;

	memset(x->copies, 0, n * sizeof(*x->copies));
	memset(x->bytes, 0, n * sizeof(*x->bytes));
	memset(x->busy_s, 0, n * sizeof(*x->busy_s));
	memset(x->seen, 0, x->k * sizeof(*x->seen));
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint32_t src = device[d->tensor_task[t]];

		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++) {
			uint32_t dst = device[d->use_task[u]];
			size_t at = (size_t)src * x->k + dst;

			if (dst == src || x->seen[dst] == t + 1)
				continue;
			x->seen[dst] = t + 1;
			x->copies[at]++;
			x->bytes[at] += d->tensor_bytes[t];
			x->busy_s[at] += sched_copy_s(l, src, dst, d->tensor_bytes[t]);
		}
	}
}

double traffic_period_s(const struct place_traffic *x, const struct place_model *m,
			const double *busy_s)
{
	double most = 0;

	for (uint32_t i = 0; i < x->k; i++) {
		double load = busy_s[i];

		for (uint32_t j = 0; j < x->k; j++) {
			double out = x->busy_s[(size_t)i * x->k + j];

			if (!m->costs.overlap)
				load += out + x->busy_s[(size_t)j * x->k + i];
			if (m->costs.contention)
				most = fmax(most, out);
		}
		most = fmax(most, load);
	}
	return most;
}

double traffic_energy_j(const struct place_traffic *x, const struct place_model *m,
			const double *busy_s, double lat_s)
{
	const struct place_power *p = &m->power;
	double sum = 0;

	for (uint32_t i = 0; i < x->k; i++) {
		sum += p->watts ? p->watts[i] * busy_s[i] : 0;
		sum += p->idle_watts ? p->idle_watts[i] * fmax(0, lat_s - busy_s[i]) : 0;
	}
	for (size_t i = 0; p->j_per_byte && i < (size_t)x->k * x->k; i++)
		sum += p->j_per_byte[i] * (double)x->bytes[i];
	return sum;
}
