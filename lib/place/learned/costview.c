/* costview.c - mean costs, ranks, optimistic costs of a model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/learned/costview.h"

static const double TINY_S = 1e-290;    /* keeps ratios finite where nothing takes time */
static const double TINY_SHARE = 1e-12; /* of what a device takes that takes nothing */

static void find_means(struct cost_view *x, struct arena *a)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	const struct sched_costs *c = &x->m->costs;
	struct sched_mean_link link = sched_mean_link(&c->links);

	x->mean_s = ARENA_NEWN(a, double, x->n);
	x->least_s = ARENA_NEWN(a, double, x->n);
	x->in_s = ARENA_NEWN(a, double, x->n);
	x->out_s = ARENA_NEWN(a, double, x->n);
	x->use_s = ARENA_NEWN(a, double, d->n_uses);
	x->rank = ARENA_NEWN(a, double, x->n);
	x->down = ARENA_NEWN(a, double, x->n);
	sched_mean_costs(d, c->task_s, &c->links, x->mean_s, x->use_s);
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		double mean = sched_mean_copy_s(&link, d->tensor_bytes[t]);

		x->out_s[d->tensor_task[t]] = fmax(x->out_s[d->tensor_task[t]], mean);
		for (uint32_t i = d->use_ptr[t]; i < d->use_ptr[t + 1]; i++) {
			x->use_s[i] = mean;
			x->in_s[d->use_task[i]] = fmax(x->in_s[d->use_task[i]], mean);
		}
	}
	sched_upward_rank(d, x->mean_s, x->use_s, x->rank);
	for (uint32_t v = 0; v < x->n; v++) {
		double least = INFINITY;

		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t u = d->in_use[i], from = d->tensor_task[d->use_tensor[u]];

			x->down[v] =
				fmax(x->down[v], x->down[from] + x->mean_s[from] + x->use_s[u]);
		}
		for (uint32_t p = 0; p < x->k; p++) {
			double s = c->task_s[(size_t)v * x->k + p];

			least = s >= 0 ? fmin(least, s) : least;
		}
		x->least_s[v] = least < INFINITY ? least : 0;
		x->top_s = fmax(x->top_s, x->rank[v]);
		x->task_s += x->mean_s[v] / fmax(x->n, 1);
	}
	x->task_s = fmax(x->task_s, TINY_S);
	x->top_s = fmax(x->top_s, TINY_S);
}

/* OCT(v,p), equation 3: of a consumer's devices the best is its own, or p, which needs no copy. */
static void find_optimistic(struct cost_view *x, struct arena *a)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	const double *task_s = x->m->costs.task_s;
	uint32_t k = x->k;
	double *best = MEM_NEWN(double, x->n); /* (n) the least of oct + cost over devices */

	x->oct = ARENA_NEWN(a, double, (size_t)x->n *k);
	for (uint32_t v = x->n; v-- > 0;) {
		double *own = &x->oct[(size_t)v * k];

		best[v] = INFINITY;
		for (uint32_t u = d->use_ptr[d->out_ptr[v]]; u < d->use_ptr[d->out_ptr[v + 1]];
		     u++) {
			size_t w = d->use_task[u];

			for (uint32_t p = 0; p < k; p++) {
				double s = task_s[w * k + p], least = best[w] + x->use_s[u];

				if (s >= 0)
					least = fmin(least, x->oct[w * k + p] + s);
				if (least < INFINITY)
					own[p] = fmax(own[p], least);
			}
		}
		for (uint32_t p = 0; p < k; p++)
			if (task_s[(size_t)v * k + p] >= 0)
				best[v] = fmin(best[v], own[p] + task_s[(size_t)v * k + p]);
	}
	mem_free(best);
}

static void find_speeds(struct cost_view *x, struct arena *a)
{
	double *own = MEM_NEWN(double, x->k), *mean = MEM_NEWN(double, x->k), work = 0;
	uint32_t runs = 0;

	x->speed = ARENA_NEWN(a, double, x->k);
	for (uint32_t v = 0; v < x->n; v++) {
		work += x->least_s[v];
		for (uint32_t p = 0; p < x->k; p++) {
			double s = x->m->costs.task_s[(size_t)v * x->k + p];

			own[p] += s >= 0 ? s : 0;
			mean[p] += s >= 0 ? x->mean_s[v] : 0;
		}
	}
	for (uint32_t p = 0; p < x->k; p++) {
		x->speed[p] = mean[p] > 0 ? log(fmax(own[p] / mean[p], TINY_SHARE)) : 0;
		runs += mean[p] > 0;
	}
	x->span_s = fmax(x->top_s, work / fmax(runs, 1));
	mem_free(own);
	mem_free(mean);
}

static int by_costs(const void *pa, const void *pb, void *arg)
{
	const struct cost_view *x = arg;
	const struct sched_dag *d = &x->m->tasks.dag;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	uint32_t na = d->out_ptr[a + 1] - d->out_ptr[a], nb = d->out_ptr[b + 1] - d->out_ptr[b];
	int c = memcmp(x->m->costs.task_s + (size_t)a * x->k, x->m->costs.task_s + (size_t)b * x->k,
		       x->k * sizeof(double));

	if (c != 0 || na != nb)
		return c ? c : na < nb ? -1 : 1;
	for (uint32_t i = 0; i < na; i++) {
		uint64_t ba = d->tensor_bytes[d->out_ptr[a] + i];
		uint64_t bb = d->tensor_bytes[d->out_ptr[b] + i];

		if (ba != bb)
			return ba < bb ? -1 : 1;
	}
	return 0;
}

static void find_twins(struct cost_view *x, struct arena *a)
{
	uint32_t *task = MEM_NEWN(uint32_t, x->n);

	x->twins = ARENA_NEWN(a, uint32_t, x->n);
	for (uint32_t v = 0; v < x->n; v++)
		task[v] = v;
	if (x->n > 1)
		qsort_r(task, x->n, sizeof(*task), by_costs, x);
	for (uint32_t i = 0; i < x->n; i++) {
		if (i == 0 || by_costs(&task[i - 1], &task[i], x) != 0)
			x->n_twins++;
		x->twins[task[i]] = x->n_twins - 1;
	}
	mem_free(task);
}

void cost_view_init(struct cost_view *x, const struct place_model *m, struct arena *a)
{
	*x = (struct cost_view){.m = m, .n = m->tasks.dag.n, .k = m->k};
	find_means(x, a);
	find_optimistic(x, a);
	find_speeds(x, a);
	find_twins(x, a);
}
