/* unittraffic.c - who exchanges what with whom: lists by unit, costs, the graph for
 * partitioners. */
#include <math.h>
#include <stdlib.h>

#include "place/simulate/dnnpart.h"
#include "place/method/unittraffic.h"

/* ---- lists by unit ---- */

struct unit_end {
	uint32_t unit;
	struct unit_exchange exchange;
};

static int by_unit(const void *pa, const void *pb)
{
	const struct unit_end *a = pa, *b = pb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->exchange.other != b->exchange.other)
		return a->exchange.other < b->exchange.other ? -1 : 1;
	return (a->exchange.tensor > b->exchange.tensor) -
	       (a->exchange.tensor < b->exchange.tensor);
}

void unit_traffic_init(struct unit_traffic *x, const struct place_units *u, struct arena *a)
{
	const struct sched_dag *d = &u->m->tasks.dag;
	const uint32_t *task_set = u->m->tasks.task_set;
	struct unit_end *e = MEM_NEWN(struct unit_end, 2 * (size_t)d->n_uses);
	size_t n = 0, kept = 0;

	*x = (struct unit_traffic){.m = u->m, .u = u};
	for (uint32_t i = 0; i < d->n_uses; i++) {
		uint32_t t = d->use_tensor[i], from = u->of_set[task_set[d->tensor_task[t]]];
		uint32_t to = u->of_set[task_set[d->use_task[i]]];

		if (from == to)
			continue;
		e[n++] = (struct unit_end){from, {t, to, true}};
		e[n++] = (struct unit_end){to, {t, from, false}};
	}
	if (n > 1)
		qsort(e, n, sizeof(*e), by_unit);
	x->ptr = ARENA_NEWN(a, uint32_t, (size_t)u->n + 1);
	x->exchange = ARENA_NEWN(a, struct unit_exchange, n);
	for (size_t i = 0; i < n; i++) {
		if (i && by_unit(&e[i], &e[i - 1]) == 0)
			continue;
		x->exchange[kept++] = e[i].exchange;
		x->ptr[e[i].unit + 1]++;
	}
	for (uint32_t i = 0; i < u->n; i++)
		x->ptr[i + 1] += x->ptr[i];
	mem_free(e);
}

/* ---- costs ---- */

double unit_traffic_copy_s(const struct place_model *m, uint32_t tensor, uint32_t from, uint32_t to)
{
	const struct sched_dag *d = &m->tasks.dag;

	if (from == to)
		return 0;
	if (m->rules != PLACE_SCHEDULE) {
		double s = m->move_s[m->tasks.task_set[d->tensor_task[tensor]]];

		return s * (!dnnpart_is_cpu(m, from) + !dnnpart_is_cpu(m, to));
	}
	if (m->costs.links.latency_s[(size_t)from * m->k + to] < 0)
		return INFINITY;
	return sched_copy_s(&m->costs.links, from, to, d->tensor_bytes[tensor]);
}

double unit_traffic_cost_s(const struct unit_traffic *x, uint32_t i, uint32_t dev,
			   const uint16_t *on)
{
	double s = x->u->cost_s[(size_t)i * x->m->k + dev];

	if (s < 0)
		return INFINITY;
	for (uint32_t j = x->ptr[i]; j < x->ptr[i + 1]; j++) {
		const struct unit_exchange *w = &x->exchange[j];

		if (on[w->other] == UINT16_MAX)
			continue;
		s += w->out ? unit_traffic_copy_s(x->m, w->tensor, dev, on[w->other])
			    : unit_traffic_copy_s(x->m, w->tensor, on[w->other], dev);
	}
	return s;
}

/* ---- for partitioners ---- */

static double mean_s(const struct unit_traffic *x, uint32_t i)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t d = 0; d < x->m->k; d++) {
		double s = x->u->cost_s[(size_t)i * x->m->k + d];

		sum += s > 0 ? s : 0;
		n += s >= 0;
	}
	return n ? sum / n : 0;
}

/* Mean seconds of a copy over pairs of different devices with a link.  link: sched_mean_link, by
 * the rules of the schedule. */
static double mean_copy_s(const struct place_model *m, const struct sched_mean_link *link,
			  uint32_t tensor)
{
	double sum = 0;
	uint32_t n = 0;

	if (m->rules == PLACE_SCHEDULE)
		return sched_mean_copy_s(link, m->tasks.dag.tensor_bytes[tensor]);
	for (uint32_t i = 0; i < m->k; i++)
		for (uint32_t j = 0; j < m->k; j++) {
			sum += unit_traffic_copy_s(m, tensor, i, j);
			n += i != j;
		}
	return n ? sum / n : 0;
}

void unit_traffic_graph(const struct unit_traffic *x, bool memory, struct arena *a,
			struct group_graph *out)
{
	struct sched_mean_link link = {0, 0};
	struct group_graph g = {.n = x->u->n};

	g.src = ARENA_NEWN(a, uint32_t, x->ptr[g.n]);
	g.dst = ARENA_NEWN(a, uint32_t, x->ptr[g.n]);
	g.traffic = ARENA_NEWN(a, double, x->ptr[g.n]);
	g.weight = ARENA_NEWN(a, double, g.n);
	g.memory = memory ? ARENA_NEWN(a, double, g.n) : NULL;
	g.ordered = true;
	if (x->m->rules == PLACE_SCHEDULE)
		link = sched_mean_link(&x->m->costs.links);
	for (uint32_t i = 0; i < g.n; i++) {
		g.weight[i] = mean_s(x, i);
		if (memory)
			g.memory[i] = (double)x->u->mem[i];
		for (uint32_t j = x->ptr[i]; j < x->ptr[i + 1]; j++) {
			const struct unit_exchange *w = &x->exchange[j];

			if (!w->out)
				continue;
			if (!g.m || g.src[g.m - 1] != i || g.dst[g.m - 1] != w->other) {
				g.src[g.m] = i;
				g.dst[g.m++] = w->other;
				g.ordered &= i < w->other;
			}
			g.traffic[g.m - 1] += mean_copy_s(x->m, &link, w->tensor);
		}
	}
	*out = g;
}

void unit_traffic_shares(const struct unit_traffic *x, double *share)
{
	uint32_t k = x->m->k;
	double sum = 0, *unit_s = MEM_NEWN(double, x->u->n);

	for (uint32_t i = 0; i < x->u->n; i++)
		unit_s[i] = mean_s(x, i);
	for (uint32_t d = 0; d < k; d++) {
		double own = 0, mean = 0;
		uint32_t n = 0;

		for (uint32_t i = 0; i < x->u->n; i++) {
			double s = x->u->cost_s[(size_t)i * k + d];

			if (s < 0)
				continue;
			own += s;
			mean += unit_s[i];
			n++;
		}
		share[d] = n == 0 ? 0 : own > 0 && mean > 0 ? mean / own : 1;
		sum += share[d];
	}
	for (uint32_t d = 0; d < k && sum > 0; d++)
		share[d] /= sum;
	mem_free(unit_s);
}
