/* traffic.c - copies of a placement by link; period and energy. */
#include <math.h>
#include <string.h>

#include "place/simulate/traffic.h"

#include "sched/turns.h"

void traffic_init(struct place_traffic *x, uint32_t k, uint32_t n_tensors)
{
	x->k = k;
	x->copies = MEM_NEWN(uint32_t, (size_t)k * k);
	x->bytes = MEM_NEWN(uint64_t, (size_t)k * k);
	x->busy_s = MEM_NEWN(double, (size_t)k *k);
	x->seen = MEM_NEWN(uint32_t, k);
	x->to = MEM_NEWN(uint64_t, n_tensors);
}

void traffic_release(struct place_traffic *x)
{
	mem_free(x->copies);
	mem_free(x->bytes);
	mem_free(x->busy_s);
	mem_free(x->seen);
	mem_free(x->to);
}

/* Tensor t goes from src to dst. */
static void add_copy(struct place_traffic *x, const struct place_model *m, uint32_t t, uint32_t src,
		     uint32_t dst)
{
	size_t at = (size_t)src * x->k + dst;

	x->copies[at]++;
	x->bytes[at] += m->tasks.dag.tensor_bytes[t];
}

/* Devices on which each tensor is read, as bits.  Loops over bits have fewer mispredicted branches
 * than loops over readers that ask whether a device was seen. */
static void find_readers(struct place_traffic *x, const struct sched_dag *d, const uint16_t *device)
{
	memset(x->to, 0, d->n_tensors * sizeof(*x->to));
	for (uint32_t u = 0; u < d->n_uses; u++)
		x->to[d->use_tensor[u]] |= UINT64_C(1) << device[d->use_task[u]];
}

static void count_two(struct place_traffic *x, const struct place_model *m, const uint16_t *device)
{
	const struct sched_dag *d = &m->tasks.dag;

	find_readers(x, d, device);
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint32_t src = device[d->tensor_task[t]], away = x->to[t] >> (1 - src) & 1;

		x->copies[1 + src] += away;
		x->bytes[1 + src] += d->tensor_bytes[t] & -(uint64_t)away;
	}
}

static void count_few(struct place_traffic *x, const struct place_model *m, const uint16_t *device)
{
	const struct sched_dag *d = &m->tasks.dag;

	find_readers(x, d, device);
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint32_t src = device[d->tensor_task[t]];
		uint64_t to = x->to[t] & ~(UINT64_C(1) << src);

		for (; to; to &= to - 1)
			add_copy(x, m, t, src, (uint32_t)__builtin_ctzll(to));
	}
}

static void count_many(struct place_traffic *x, const struct place_model *m, const uint16_t *device)
{
	const struct sched_dag *d = &m->tasks.dag;

	memset(x->seen, 0, x->k * sizeof(*x->seen));
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint32_t src = device[d->tensor_task[t]];

		x->seen[src] = t + 1;
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++) {
			uint32_t dst = device[d->use_task[u]];

			if (x->seen[dst] == t + 1)
				continue;
			x->seen[dst] = t + 1;
			add_copy(x, m, t, src, dst);
		}
	}
}

void traffic_count(struct place_traffic *x, const struct place_model *m, const uint16_t *device)
{
	const struct sched_links *l = &m->costs.links;
	size_t n = (size_t)x->k * x->k;

	memset(x->copies, 0, n * sizeof(*x->copies));
	memset(x->bytes, 0, n * sizeof(*x->bytes));
	(x->k == 2 ? count_two : x->k <= 64 ? count_few : count_many)(x, m, device);
	for (size_t i = 0; i < n; i++)
		x->busy_s[i] = x->copies[i] == 0 ? 0
						 : x->copies[i] * l->latency_s[i] +
							   (double)x->bytes[i] / l->bytes_per_s[i];
}

/* The name of the ports that a link's copies use. */
static uint32_t used_port(const struct sched_links *l, size_t pair)
{
	bool waits = !l->sharing || l->sharing->of[pair].contention != SCHED_NO_WAIT;

	return waits ? l->ports->of[pair] : SCHED_NONE;
}

/* The largest load of a port: what goes through it at its rate. */
static double port_load_s(const struct place_traffic *x, const struct sched_links *l)
{
	const struct sched_ports *p = l->ports;
	double most = 0;

	for (uint32_t name = 0; name < p->n; name++)
		for (uint32_t d = 0; d < x->k; d++) {
			uint64_t bytes[2] = {0, 0}; /* out, in */

			for (uint32_t o = 0; o < x->k; o++) {
				size_t out = (size_t)d * x->k + o, in = (size_t)o * x->k + d;

				bytes[0] += used_port(l, out) == name ? x->bytes[out] : 0;
				bytes[1] += used_port(l, in) == name ? x->bytes[in] : 0;
			}
			for (int i = 0; i < 2; i++)
				if (bytes[i])
					most = fmax(most, (double)bytes[i] /
								  sched_port_rate(l, d, name, i));
		}
	return most;
}

/* The largest load of a medium. */
static double medium_load_s(const struct place_traffic *x, const struct sched_sharing *s)
{
	double most = 0;

	for (uint32_t m = 0; m < s->n_media; m++) {
		uint64_t bytes = 0;

		for (size_t i = 0; i < (size_t)x->k * x->k; i++)
			for (uint32_t j = 0; j < s->of[i].n_media; j++)
				bytes += s->of[i].medium[j] == m ? x->bytes[i] : 0;
		most = fmax(most, (double)bytes / s->bytes_per_s[m]);
	}
	return most;
}

/* The load of a link: latencies are none where copies do not wait for each other. */
static double link_load_s(const struct place_traffic *x, const struct sched_links *l, size_t pair)
{
	if (!l->sharing || l->sharing->of[pair].contention == SCHED_FCFS)
		return x->busy_s[pair];
	return sched_is_shared(l, pair) ? (double)x->bytes[pair] / l->bytes_per_s[pair] : 0;
}

double traffic_period_s(const struct place_traffic *x, const struct place_model *m,
			const double *busy_s)
{
	double most = 0;

	for (uint32_t i = 0; i < x->k; i++) {
		double load = busy_s[i];

		for (uint32_t j = 0; j < x->k; j++) {
			double out = x->busy_s[(size_t)i * x->k + j];

			if (sched_copy_holds(&m->costs, i, j, COPY_HOLDS_SRC))
				load += out;
			if (sched_copy_holds(&m->costs, j, i, COPY_HOLDS_DST))
				load += x->busy_s[(size_t)j * x->k + i];
			if (m->costs.contention)
				most = fmax(most,
					    link_load_s(x, &m->costs.links, (size_t)i * x->k + j));
		}
		most = fmax(most, load);
	}
	if (m->costs.contention && m->costs.links.ports)
		most = fmax(most, port_load_s(x, &m->costs.links));
	if (m->costs.contention && m->costs.links.sharing)
		most = fmax(most, medium_load_s(x, m->costs.links.sharing));
	return m->costs.turns ? fmax(most, sched_turn_load(m->costs.turns, x->k, busy_s)) : most;
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
