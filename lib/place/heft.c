/* heft.c - heterogeneous earliest finish time, with insertion.  A task costs less on the device
 * of neighbours with which it runs as one; ranks are made of the full costs.
 * Topcuoglu, Hariri, Wu: "Performance-effective and low-complexity task
 * scheduling for heterogeneous computing", IEEE TPDS 13(3), 2002, section 4.1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/search.h"
#include "sched/agenda.h"

struct ranked {
	double rank;
	uint32_t task;
};

struct heft {
	const struct place_model *m;
	const struct sched_dag *d;
	const struct sched_costs *c;
	uint32_t k;
	double *finish_s;        /* (n) actual finish time, AFT */
	uint16_t *on;            /* (n) */
	struct agenda *agenda;   /* (k) */
};

static int rank_compare(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

/* Tasks by descending upward rank (equation 7); a topological order. */
static struct ranked *rank_tasks(const struct heft *h)
{
	uint32_t n = h->d->n;
	struct ranked *r = MEM_NEWN(struct ranked, n);
	double *task_s = MEM_NEWN(double, n), *rank = MEM_NEWN(double, n);
	double *use_s = MEM_NEWN(double, h->d->n_uses);

	sched_mean_costs(h->d, h->c->task_s, &h->c->links, task_s, use_s);
	for (uint32_t t = 0; t < h->d->n_tensors; t++) {
		double mean = sched_mean_copy_s(&h->c->links, h->d->tensor_bytes[t]);

		for (uint32_t u = h->d->use_ptr[t]; u < h->d->use_ptr[t + 1]; u++)
			use_s[u] = mean;
	}
	sched_upward_rank(h->d, task_s, use_s, rank);
	for (uint32_t v = 0; v < n; v++)
		r[v] = (struct ranked){rank[v], v};
	if (n > 1)
		qsort(r, n, sizeof(*r), rank_compare);
	mem_free(task_s);
	mem_free(rank);
	mem_free(use_s);
	return r;
}

/* When all inputs of v are on dev (equation 4, inner maximum); INFINITY: one has no way there. */
static double inputs_ready_s(const struct heft *h, uint32_t v, uint32_t dev)
{
	double ready = 0;

	for (uint32_t i = h->d->in_ptr[v]; i < h->d->in_ptr[v + 1]; i++) {
		uint32_t t = h->d->use_tensor[h->d->in_use[i]], from = h->d->tensor_task[t];
		double s = h->finish_s[from];

		if (h->on[from] != dev) {
			if (h->c->links.latency_s[(size_t)h->on[from] * h->k + dev] < 0)
				return INFINITY;
			s += sched_copy_s(&h->c->links, h->on[from], dev, h->d->tensor_bytes[t]);
		}
		ready = fmax(ready, s);
	}
	return ready;
}

static int place_task(struct heft *h, uint32_t v, struct err *e)
{
	double best_end = INFINITY, best_start = 0;
	size_t best_at = 0;

	for (uint32_t dev = 0; dev < h->k; dev++) {
		double cost = place_task_s(h->m, v, dev, h->on), ready;
		size_t at;

		if (cost < 0 || (ready = inputs_ready_s(h, v, dev)) == INFINITY)
			continue;
		double start = agenda_earliest_s(&h->agenda[dev], ready, cost, &at);
		if (start + cost < best_end) {
			best_end = start + cost;
			best_start = start;
			best_at = at;
			h->on[v] = (uint16_t)dev;
		}
	}
	if (best_end == INFINITY)
		return err_set(e, ST_RUNTIME, "heft: no device can run task %u and "
			       "reach its inputs", v);
	h->finish_s[v] = best_end;
	agenda_insert(&h->agenda[h->on[v]], best_at, (struct agenda_slot){best_start, best_end, v});
	return 0;
}

int search_heft(const struct place_model *m, uint16_t *device, double *makespan_s, struct err *e)
{
	const struct sched_dag *d = &m->tasks.dag;
	struct heft h = {m, d, &m->costs, m->k, MEM_NEWN(double, d->n), MEM_NEWN(uint16_t, d->n),
			 MEM_NEWN(struct agenda, m->k)};
	struct ranked *order = rank_tasks(&h);
	int rc = 0;

	for (uint32_t i = 0; i < d->n && rc == 0; i++)
		rc = place_task(&h, order[i].task, e);
	memset(device, 0, m->n_sets * sizeof(*device));
	*makespan_s = 0;
	for (uint32_t v = 0; v < d->n && rc == 0; v++) {
		device[m->tasks.task_set[v]] = h.on[v];
		*makespan_s = fmax(*makespan_s, h.finish_s[v]);
	}
	for (uint32_t dev = 0; dev < m->k; dev++)
		agenda_release(&h.agenda[dev]);
	mem_free(h.agenda);
	mem_free(h.finish_s);
	mem_free(h.on);
	mem_free(order);
	return rc;
}
