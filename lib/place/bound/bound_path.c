/* bound_path.c - paths with a device for every task. */
#include <math.h>
#include <string.h>

#include "place/bound/bounds.h"

/* The least seconds that a tensor takes from a task on device `from` to one on `to`; INFINITY: no
 * way. */
static double way_s(const struct bound_view *v, uint32_t from, uint32_t to, uint64_t bytes)
{
	const struct sched_links *l = &v->m->costs.links;

	if (from == to)
		return 0;
	if (l->latency_s[(size_t)from * v->k + to] < 0)
		return INFINITY;
	return sched_copy_s(l, from, to, bytes);
}

/* Rows of at_s, which say when things are on devices, and the devices of each by ascending time,
 * without which all have to be looked at (NULL). */
struct rows {
	const double *at_s;           /* (n,k) */
	uint16_t *order;              /* (n,k) */
	struct sched_least_link link; /* with order */
};

static struct rows rows_of(const struct bound_view *v, const double *at_s, uint16_t *order)
{
	struct rows r = {at_s, order, {0, 0}};

	if (order)
		r.link = sched_least_link(&v->m->costs.links);
	return r;
}

static void sort_row(const struct rows *r, uint32_t k, uint32_t task)
{
	const double *at_s = r->at_s + (size_t)task * k;
	uint16_t *order = r->order + (size_t)task * k;

	for (uint32_t d = 0; d < k; d++) {
		uint32_t i = d;

		for (; i > 0 && at_s[order[i - 1]] > at_s[d]; i--)
			order[i] = order[i - 1];
		order[i] = (uint16_t)d;
	}
}

/* The least of the task's time on a device and the way from there to dev, or from dev to there. */
static double best_way(const struct bound_view *v, const struct rows *r, uint32_t task,
		       uint32_t dev, bool to_dev, uint64_t bytes)
{
	const double *at_s = r->at_s + (size_t)task * v->k;
	const uint16_t *order = r->order ? r->order + (size_t)task * v->k : NULL;
	double least = at_s[dev], way = order ? sched_least_copy_s(&r->link, bytes) : 0;

	for (uint32_t i = 0; i < v->k; i++) {
		uint32_t x = order ? order[i] : i;

		if (at_s[x] + way < least)
			least = fmin(least,
				     at_s[x] + way_s(v, to_dev ? x : dev, to_dev ? dev : x, bytes));
		else if (order)
			break;
	}
	return least;
}

/* The same for a pair of tasks; those of one unit share a device. */
static double way_between(const struct bound_view *v, const struct rows *r, uint32_t other,
			  uint32_t task, uint32_t dev, bool to_dev, uint64_t bytes)
{
	if (v->unit_of[other] == v->unit_of[task])
		return r->at_s[(size_t)other * v->k + dev];
	return best_way(v, r, other, dev, to_dev, bytes);
}

static void forwards(const struct bound_view *v, uint32_t first, const uint16_t *unit_dev,
		     double *end, uint16_t *order)
{
	const struct sched_dag *d = v->d;
	struct rows rows = rows_of(v, end, order);

	for (uint32_t t = first; t < v->n; t++) {
		for (uint32_t dev = 0; dev < v->k; dev++) {
			uint16_t fixed = unit_dev ? unit_dev[v->unit_of[t]] : UINT16_MAX;
			double ready = v->task_s[(size_t)t * v->k + dev] < INFINITY ? 0 : INFINITY;

			if (fixed != UINT16_MAX && fixed != dev)
				ready = INFINITY;
			for (uint32_t i = d->in_ptr[t]; ready < INFINITY && i < d->in_ptr[t + 1];
			     i++) {
				uint32_t x = d->use_tensor[d->in_use[i]];

				ready = fmax(ready, way_between(v, &rows, d->tensor_task[x], t, dev,
								true, d->tensor_bytes[x]));
			}
			end[(size_t)t * v->k + dev] = ready + v->task_s[(size_t)t * v->k + dev];
		}
		if (order)
			sort_row(&rows, v->k, t);
	}
}

static void backwards(const struct bound_view *v, double *rest, double *with, uint16_t *order)
{
	const struct sched_dag *d = v->d;
	struct rows rows = rows_of(v, with, order);

	for (uint32_t t = v->n; t-- > 0;) {
		for (uint32_t dev = 0; dev < v->k; dev++) {
			double after = 0;

			for (uint32_t x = d->out_ptr[t]; x < d->out_ptr[t + 1]; x++)
				for (uint32_t i = d->use_ptr[x]; i < d->use_ptr[x + 1]; i++)
					after = fmax(after,
						     way_between(v, &rows, d->use_task[i], t, dev,
								 false, d->tensor_bytes[x]));
			rest[(size_t)t * v->k + dev] = after;
			with[(size_t)t * v->k + dev] = after + v->task_s[(size_t)t * v->k + dev];
		}
		sort_row(&rows, v->k, t);
	}
}

void bound_path_forwards(const struct bound_view *v, uint32_t first, const uint16_t *unit_dev,
			 double *end)
{
	forwards(v, first, unit_dev, end, NULL);
}

void bound_path_backwards(const struct bound_view *v, double *rest, double *with)
{
	uint16_t *order = MEM_NEWN(uint16_t, (size_t)v->n * v->k);

	backwards(v, rest, with, order);
	mem_free(order);
}

double bound_path_s(const struct bound_view *v, double *head_s, double *tail_s)
{
	size_t size = (size_t)v->n * v->k;
	double *end = MEM_NEWN(double, 3 * size), *rest = end + size, longest = 0;
	uint16_t *order = MEM_NEWN(uint16_t, size);

	forwards(v, 0, NULL, end, order);
	mem_free(order);
	bound_path_backwards(v, rest, rest + size);
	for (uint32_t t = 0; t < v->n; t++) {
		double least = INFINITY, head = INFINITY, tail = INFINITY;

		for (uint32_t dev = 0; dev < v->k; dev++) {
			size_t at = (size_t)t * v->k + dev;

			if (!(end[at] + rest[at] < INFINITY))
				continue;
			least = fmin(least, end[at] + rest[at]);
			head = fmin(head, end[at] - v->task_s[at]);
			tail = fmin(tail, rest[at]);
		}
		/* No way at all: there is no legal placement. */
		head_s[t] = head < INFINITY ? head : 0;
		tail_s[t] = tail < INFINITY ? tail : 0;
		longest = least < INFINITY ? fmax(longest, least) : longest;
	}
	mem_free(end);
	return longest * (1 - 1e-12);
}

static double path_value(struct bound_problem *x)
{
	return bound_path_s(&x->v, x->head_s, x->tail_s);
}

const struct lower_bound bound_path = {
	.kind = "path",
	.source = "the critical path: Kelley, Operations Research 9(3), 1961",
	.rules = 1U << PLACE_SCHEDULE,
	.metric = METRIC_LATENCY,
	.value = path_value};
