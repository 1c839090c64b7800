/* costcols.c - the columns of the feature `costs`: what times per device, copies and memory say
 * about a set.  Every value is a ratio of two times or of two amounts of memory, so the unit of time
 * does not matter; neither do the number and the order of devices. */
#include <math.h>
#include <stdlib.h>

#include "base/ascending.h"
#include "feature/featcols.h"

enum column {
	COST_MEAN,   /* mean over the devices that can run it; beside the mean of all tasks */
	COST_LEAST,  /* beside its mean */
	COST_MOST,   /* beside its mean */
	COST_SPREAD, /* standard deviation; beside its mean */
	COST_CAN,    /* share of devices that can run it */
	COST_COPY,   /* mean copies of all that it makes for others; beside its mean */
	/* Shares of the longest path, by mean times and mean copies: */
	COST_UP,         /* longest path from its start to the end (HEFT's upward rank) */
	COST_DOWN,       /* longest path from the beginning to its start */
	COST_SLACK,      /* what the longest path through it lacks */
	COST_OPTIMISTIC, /* as UP, by least times and without copies */
	COST_MEM,        /* its bytes; beside the mean of all tasks */
	COST_LIMIT,      /* its bytes; beside the largest limit of a device, 0 without limits */
	COST_COLUMNS
};

static const char *const names[COST_COLUMNS] = {
	"cost_mean", "cost_least", "cost_most",  "cost_spread",     "cost_can", "cost_copy",
	"cost_up",   "cost_down",  "cost_slack", "cost_optimistic", "cost_mem", "cost_limit"};

/* What the columns are made of, by task. */
struct task_costs {
	const struct place_model *m;
	uint32_t n, k;
	double *mean_s, *least_s, *most_s, *spread_s; /* (n) */
	double *can;                                  /* (n) share of devices */
	double *use_s;                                /* (n_uses) mean copy */
	double *copy_s;                               /* (n) sum of its tensors' mean copies */
	double *up_s, *down_s, *optimistic_s;         /* (n) */
	double *mem;                                  /* (n) bytes */
};

/* a / b as x / (1 + x), of values that are not negative: 1/2 where they are equal. */
static float beside(double a, double b)
{
	return a > 0 ? (float)fmin(1, a / (a + b)) : 0;
}

static float share(double part, double whole)
{
	return part > 0 && whole > 0 ? (float)fmin(1, part / whole) : 0;
}

/* x in ascending order, so that the sum's last bit does not depend on the order of devices. */
static double sum_sorted(double *x, size_t n)
{
	double sum = 0;

	if (n > 1)
		qsort(x, n, sizeof(*x), ascending_real);
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* sched_mean_link in an order that the devices' does not change. */
static struct sched_mean_link mean_link(const struct sched_links *l)
{
	size_t pairs = (size_t)l->k * l->k, n = 0;
	double *latency_s = MEM_NEWN(double, pairs), *s_per_byte = MEM_NEWN(double, pairs);
	struct sched_mean_link mean = {0, 0};

	for (size_t i = 0; i < pairs; i++)
		if (i / l->k != i % l->k && l->latency_s[i] >= 0) {
			latency_s[n] = l->latency_s[i];
			s_per_byte[n++] = 1 / l->bytes_per_s[i];
		}
	if (n) {
		mean.latency_s = sum_sorted(latency_s, n) / (double)n;
		mean.s_per_byte = sum_sorted(s_per_byte, n) / (double)n;
	}
	mem_free(latency_s);
	mem_free(s_per_byte);
	return mean;
}

static void find_times(struct task_costs *x)
{
	double *s = MEM_NEWN(double, x->k), *off = MEM_NEWN(double, x->k);

	for (uint32_t v = 0; v < x->n; v++) {
		const double *cost_s = x->m->costs.task_s + (size_t)v * x->k;
		uint32_t can = 0;

		for (uint32_t d = 0; d < x->k; d++)
			if (cost_s[d] >= 0)
				s[can++] = cost_s[d];
		if (!can)
			continue;
		x->can[v] = (double)can / x->k;
		x->mean_s[v] = sum_sorted(s, can) / can;
		x->least_s[v] = s[0];
		x->most_s[v] = s[can - 1];
		for (uint32_t i = 0; i < can; i++)
			off[i] = (s[i] - x->mean_s[v]) * (s[i] - x->mean_s[v]);
		x->spread_s[v] = sqrt(sum_sorted(off, can) / can);
	}
	mem_free(s);
	mem_free(off);
}

static void find_copies(struct task_costs *x, bool copies)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	struct sched_mean_link link = {0, 0};

	if (copies)
		link = mean_link(&x->m->costs.links);
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		double copy_s = sched_mean_copy_s(&link, d->tensor_bytes[t]);

		if (d->use_ptr[t] < d->use_ptr[t + 1])
			x->copy_s[d->tensor_task[t]] += copy_s;
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++)
			x->use_s[u] = copy_s;
	}
}

static void find_ranks(struct task_costs *x)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	double *no_copy = MEM_NEWN(double, d->n_uses);

	sched_upward_rank(d, x->mean_s, x->use_s, x->up_s);
	sched_upward_rank(d, x->least_s, no_copy, x->optimistic_s);
	for (uint32_t v = 0; v < x->n; v++)
		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t u = d->in_use[i], from = d->tensor_task[d->use_tensor[u]];

			x->down_s[v] =
				fmax(x->down_s[v], x->down_s[from] + x->mean_s[from] + x->use_s[u]);
		}
	mem_free(no_copy);
}

/* Over devices; exact where they are all alike. */
static double mean_bytes(const uint64_t *bytes, uint32_t k)
{
	uint64_t sum = 0;

	for (uint32_t d = 0; d < k; d++)
		sum += bytes[d];
	return (double)sum / k;
}

/* What a task reads that no task makes, what it always holds, and what it makes. */
static void find_memory(struct task_costs *x)
{
	const struct place_model *m = x->m;
	const struct sched_dag *d = &m->tasks.dag;

	for (uint32_t v = 0; v < x->n; v++)
		x->mem[v] = mean_bytes(m->task_mem + (size_t)v * m->k, m->k);
	for (uint32_t t = 0; t < d->n_tensors; t++)
		x->mem[d->tensor_task[t]] += (double)d->tensor_bytes[t];
	for (uint32_t i = 0; i < m->n_shared; i++)
		for (uint32_t j = 0; j < m->shared[i].n; j++)
			x->mem[m->weight_task[m->shared[i].first + j]] +=
				mean_bytes(m->shared[i].bytes, m->k);
}

static void find_costs(struct task_costs *x, const struct feat_costs *in, struct arena *a)
{
	double **by_task[] = {&x->mean_s, &x->least_s, &x->most_s, &x->spread_s,     &x->can,
			      &x->copy_s, &x->up_s,    &x->down_s, &x->optimistic_s, &x->mem};

	*x = (struct task_costs){.m = in->model, .n = in->model->tasks.dag.n, .k = in->model->k};
	for (size_t i = 0; i < sizeof(by_task) / sizeof(*by_task); i++)
		*by_task[i] = ARENA_NEWN(a, double, x->n);
	x->use_s = ARENA_NEWN(a, double, x->m->tasks.dag.n_uses);
	find_times(x);
	find_copies(x, in->copies);
	find_ranks(x);
	find_memory(x);
}

static double mean_of(const double *x, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / n : 0;
}

static double largest_of(const double *x, uint32_t n)
{
	double most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, x[i]);
	return most;
}

static double largest_limit(const struct place_model *m)
{
	uint64_t most = 0;

	for (uint32_t d = 0; m->mem_limit && d < m->k; d++)
		most = m->mem_limit[d] > most ? m->mem_limit[d] : most;
	return (double)most;
}

uint32_t costs_columns(const struct feat_work *w, const char **column)
{
	(void)w;
	for (uint32_t i = 0; column && i < COST_COLUMNS; i++)
		column[i] = names[i];
	return COST_COLUMNS;
}

void costs_fill(const struct feat_work *w, float *x)
{
	struct arena *tmp = arena_new();
	struct task_costs c;

	find_costs(&c, w->o->costs, tmp);
	double task_s = mean_of(c.mean_s, c.n), task_mem = mean_of(c.mem, c.n);
	double path_s = largest_of(c.up_s, c.n), limit = largest_limit(c.m);

	for (uint32_t v = 0; v < c.n; v++) {
		float *row = x + (size_t)c.m->tasks.task_set[v] * w->d;

		row[COST_MEAN] = beside(c.mean_s[v], task_s);
		row[COST_LEAST] = beside(c.least_s[v], c.mean_s[v]);
		row[COST_MOST] = beside(c.most_s[v], c.mean_s[v]);
		row[COST_SPREAD] = beside(c.spread_s[v], c.mean_s[v]);
		row[COST_CAN] = (float)c.can[v];
		row[COST_COPY] = beside(c.copy_s[v], c.mean_s[v]);
		row[COST_UP] = share(c.up_s[v], path_s);
		row[COST_DOWN] = share(c.down_s[v], path_s);
		row[COST_SLACK] = share(path_s - c.down_s[v] - c.up_s[v], path_s);
		row[COST_OPTIMISTIC] = share(c.optimistic_s[v], path_s);
		row[COST_MEM] = beside(c.mem[v], task_mem);
		row[COST_LIMIT] = limit > 0 ? beside(c.mem[v], limit) : 0;
	}
	arena_free(tmp);
}
