/* means.c - mean costs of tasks and copies, and upward ranks, which are made of them.
 *
 * The time of a copy is linear in its bytes.  So latencies and seconds per byte are summed over
 * pairs of devices, and these sums serve all copies to tasks that may use the same devices. */
#include <math.h>

#include "sched/sched.h"

double sched_copy_s(const struct sched_links *l, uint32_t src, uint32_t dst, uint64_t bytes)
{
	size_t i = (size_t)src * l->k + dst;

	return l->latency_s[i] + (double)bytes / l->bytes_per_s[i];
}

struct sched_ports *sched_ports_new(uint32_t k, uint32_t n, struct arena *a)
{
	struct sched_ports *p = ARENA_NEWN(a, struct sched_ports, 1);

	p->n = n;
	p->of = ARENA_NEWN(a, uint32_t, (size_t)k * k);
	p->out_bytes_per_s = ARENA_NEWN(a, double, (size_t)k *n);
	p->in_bytes_per_s = ARENA_NEWN(a, double, (size_t)k *n);
	for (size_t i = 0; i < (size_t)k * k; i++)
		p->of[i] = SCHED_NONE;
	return p;
}

double sched_port_rate(const struct sched_links *l, uint32_t dev, uint32_t name, bool in)
{
	const struct sched_ports *p = l->ports;
	double rate = (in ? p->in_bytes_per_s : p->out_bytes_per_s)[(size_t)dev * p->n + name];

	for (uint32_t i = 0, told = rate > 0; i < l->k && !told; i++) {
		size_t at = in ? (size_t)i * l->k + dev : (size_t)dev * l->k + i;

		if (i != dev && p->of[at] == name && l->latency_s[at] >= 0)
			rate = fmax(rate, l->bytes_per_s[at]);
	}
	return rate;
}

struct sched_sharing *sched_sharing_new(uint32_t k, uint32_t n_media, const double *bytes_per_s,
					struct arena *a)
{
	struct sched_sharing *x = ARENA_NEWN(a, struct sched_sharing, 1);

	x->of = ARENA_NEWN(a, struct sched_carriage, (size_t)k * k);
	x->n_media = n_media;
	x->bytes_per_s = bytes_per_s;
	return x;
}

static void limit_by_media(struct sched_links *l)
{
	const struct sched_sharing *s = l->sharing;

	for (size_t i = 0; s && i < (size_t)l->k * l->k; i++)
		for (uint32_t m = 0; m < s->of[i].n_media; m++)
			l->bytes_per_s[i] =
				fmin(l->bytes_per_s[i], s->bytes_per_s[s->of[i].medium[m]]);
}

void sched_links_limit(struct sched_links *l)
{
	const struct sched_ports *p = l->ports;

	limit_by_media(l);
	for (size_t i = 0; p && i < (size_t)l->k * l->k; i++) {
		if (p->of[i] == SCHED_NONE)
			continue;
		double out = p->out_bytes_per_s[i / l->k * p->n + p->of[i]],
		       in = p->in_bytes_per_s[i % l->k * p->n + p->of[i]];

		if (out > 0)
			l->bytes_per_s[i] = fmin(l->bytes_per_s[i], out);
		if (in > 0)
			l->bytes_per_s[i] = fmin(l->bytes_per_s[i], in);
	}
}

struct sched_least_link sched_least_link(const struct sched_links *l)
{
	struct sched_least_link x = {INFINITY, 0};

	for (size_t i = 0; i < (size_t)l->k * l->k; i++) {
		if (i / l->k == i % l->k || l->latency_s[i] < 0)
			continue;
		x.latency_s = fmin(x.latency_s, l->latency_s[i]);
		x.bytes_per_s = fmax(x.bytes_per_s, l->bytes_per_s[i]);
	}
	return x;
}

/* Sums over pairs of devices; one with itself takes no time. */
struct sums {
	double latency_s, s_per_byte;
	uint32_t pairs;
};

static void add_sums(struct sums *x, const struct sums *y)
{
	x->latency_s += y->latency_s;
	x->s_per_byte += y->s_per_byte;
	x->pairs += y->pairs;
}

/* Over the devices to which there is a link from src, which is one of them when `itself`.  cost_s
 * (k): negative where the consumer cannot run; NULL: it can everywhere. */
static struct sums sum_from(const struct sched_links *l, uint32_t src, const double *cost_s,
			    bool itself)
{
	struct sums x = {0, 0, 0};

	for (uint32_t dst = 0; dst < l->k; dst++) {
		size_t at = (size_t)src * l->k + dst;

		if (cost_s && cost_s[dst] < 0)
			continue;
		if (src == dst)
			x.pairs += itself;
		else if (l->latency_s[at] >= 0)
			add_sums(&x, &(struct sums){l->latency_s[at], 1 / l->bytes_per_s[at], 1});
	}
	return x;
}

struct sched_mean_link sched_mean_link(const struct sched_links *l)
{
	struct sums x = {0, 0, 0};

	for (uint32_t src = 0; src < l->k; src++) {
		struct sums row = sum_from(l, src, NULL, false);

		add_sums(&x, &row);
	}
	if (x.pairs == 0)
		return (struct sched_mean_link){0, 0};
	return (struct sched_mean_link){x.latency_s / x.pairs, x.s_per_byte / x.pairs};
}

static bool same_devices(const double *a, const double *b, uint32_t k)
{
	uint32_t i = 0;

	while (i < k && (a[i] < 0) == (b[i] < 0))
		i++;
	return i == k;
}

static double mean_task_s(const double *cost_s, uint32_t k)
{
	double sum = 0;
	uint32_t devices = 0;

	for (uint32_t i = 0; i < k; i++)
		if (cost_s[i] >= 0) {
			sum += cost_s[i];
			devices++;
		}
	return devices ? sum / devices : 0;
}

/* Of a tensor whose maker has these costs; from (k): sums over its consumer's devices. */
static double mean_use_s(const struct sums *from, const double *maker_s, uint32_t k, uint64_t bytes)
{
	struct sums x = {0, 0, 0};

	for (uint32_t i = 0; i < k; i++)
		if (maker_s[i] >= 0)
			add_sums(&x, &from[i]);
	return x.pairs ? (x.latency_s + (double)bytes * x.s_per_byte) / x.pairs : 0;
}

void sched_mean_costs(const struct sched_dag *d, const double *cost_s, const struct sched_links *l,
		      double *task_s, double *use_s)
{
	struct sums *from = MEM_NEWN(struct sums, l->k);
	const double *last = NULL; /* costs of the consumer whose devices `from` is about */
	uint32_t k = l->k;

	for (uint32_t v = 0; v < d->n; v++) {
		const double *own = cost_s + (size_t)v * k;

		task_s[v] = mean_task_s(own, k);
		if (d->in_ptr[v] < d->in_ptr[v + 1] && !(last && same_devices(last, own, k))) {
			last = own;
			for (uint32_t i = 0; i < k; i++)
				from[i] = sum_from(l, i, own, true);
		}
		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t u = d->in_use[i], t = d->use_tensor[u];

			use_s[u] = mean_use_s(from, cost_s + (size_t)d->tensor_task[t] * k, k,
					      d->tensor_bytes[t]);
		}
	}
	mem_free(from);
}

void sched_upward_rank(const struct sched_dag *d, const double *task_s, const double *use_s,
		       double *rank)
{
	for (uint32_t v = d->n; v-- > 0;) {
		double longest = 0;

		for (uint32_t u = d->use_ptr[d->out_ptr[v]]; u < d->use_ptr[d->out_ptr[v + 1]]; u++)
			longest = fmax(longest, use_s[u] + rank[d->use_task[u]]);
		rank[v] = task_s[v] + longest;
	}
}
