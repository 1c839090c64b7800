/* listsched.c - the partial schedule of a list heuristic. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"
#include "place/heuristic/listlinks.h"
#include "place/heuristic/listsched.h"
#include "sched/agenda.h"
#include "sched/ready.h"

void listsched_init(struct listsched *x, const struct place_model *m, struct arena *a)
{
	const struct sched_dag *d = &m->tasks.dag;

	*x = (struct listsched){.m = m, .d = d, .n = d->n, .k = m->k};
	place_units_init(&x->u, m, a);
	x->on = ARENA_NEWN(a, uint16_t, x->n);
	x->end_s = ARENA_NEWN(a, double, x->n);
	x->placed = ARENA_NEWN(a, bool, x->n);
	x->left = ARENA_NEWN(a, uint32_t, x->n);
	x->agenda = ARENA_NEWN(a, struct agenda, x->k);
	held_init(&x->held, &x->u, a);
	x->mem_limit = ARENA_NEWN(a, uint64_t, x->k);
	x->unit_dev = ARENA_NEWN(a, uint16_t, x->u.n);
	x->unit_placed = ARENA_NEWN(a, uint32_t, x->u.n);
	memcpy(x->mem_limit, m->mem_limit, x->k * sizeof(*x->mem_limit));
	memset(x->unit_dev, 0xff, x->u.n * sizeof(*x->unit_dev));
	memset(x->on, 0xff, x->n * sizeof(*x->on));
	for (uint32_t v = 0; v < x->n; v++)
		x->left[v] = d->in_ptr[v + 1] - d->in_ptr[v];
}

void listsched_release(struct listsched *x)
{
	for (uint32_t dev = 0; x->agenda && dev < x->k; dev++)
		agenda_release(&x->agenda[dev]);
}

double listsched_ready_s(const struct listsched *x, uint32_t v, uint32_t dev)
{
	const struct sched_links *l = &x->m->costs.links;
	double ready = 0;

	if (x->links)
		return listlinks_ready_s(x->links, x, v, dev);
	for (uint32_t i = x->d->in_ptr[v]; i < x->d->in_ptr[v + 1]; i++) {
		uint32_t t = x->d->use_tensor[x->d->in_use[i]], from = x->d->tensor_task[t];
		double s = x->end_s[from];

		if (!x->placed[from])
			continue;
		if (x->on[from] != dev) {
			if (l->latency_s[(size_t)x->on[from] * x->k + dev] < 0)
				return INFINITY;
			s += sched_copy_s(l, x->on[from], dev, x->d->tensor_bytes[t]);
		}
		ready = max2(ready, s);
	}
	return ready;
}

static uint32_t unit_of(const struct listsched *x, uint32_t v)
{
	return x->u.of_set[x->m->tasks.task_set[v]];
}

bool listsched_may(const struct listsched *x, uint32_t v, uint32_t dev)
{
	uint32_t i = unit_of(x, v);

	if (x->unit_dev[i] != UINT16_MAX)
		return x->unit_dev[i] == dev;
	if ((x->closed && x->closed[dev]) || x->u.cost_s[(size_t)i * x->k + dev] < 0)
		return false;
	if (!x->mem_limit[dev])
		return true;
	uint64_t more = held_more(&x->held, i, dev);
	return x->held.bytes[dev] + more <= x->mem_limit[dev] &&
	       held_pool_fits(&x->held, dev, more);
}

double listsched_end_s(const struct listsched *x, uint32_t v, uint32_t dev)
{
	double ready, cost;
	size_t at;

	if (!listsched_may(x, v, dev) || (ready = listsched_ready_s(x, v, dev)) == INFINITY)
		return INFINITY;
	cost = place_task_s(x->m, v, dev, x->on);
	return agendas_earliest_s(x->agenda, x->k, x->m->costs.turns, dev, ready, cost, &at) + cost;
}

uint32_t listsched_earliest(const struct listsched *x, uint32_t v, double *end_s)
{
	uint32_t at = SCHED_NONE;

	*end_s = INFINITY;
	for (uint32_t dev = 0; dev < x->k; dev++) {
		double s = listsched_end_s(x, v, dev);

		if (s < *end_s) {
			*end_s = s;
			at = dev;
		}
	}
	return at;
}

uint32_t listsched_choose_earliest(struct listsched *x, uint32_t v, void *arg)
{
	double end_s;

	(void)arg;
	return listsched_earliest(x, v, &end_s);
}

/* The device that all tasks take the least on; k: none can run all of them. */
static uint32_t listsched_fastest(const struct listsched *x)
{
	double *sum = MEM_NEWN(double, x->k), least = INFINITY;
	uint32_t at = x->k;

	for (size_t i = 0; i < (size_t)x->n * x->k; i++) {
		double s = x->m->costs.task_s[i];

		sum[i % x->k] += s < 0 ? INFINITY : s;
	}
	for (uint32_t dev = 0; dev < x->k; dev++)
		if (sum[dev] < least && !(x->closed && x->closed[dev])) {
			least = sum[dev];
			at = dev;
		}
	mem_free(sum);
	return at;
}

/* Consumers of v wait for one input more (sign 1) or less (sign -1). */
static void add_to_left(struct listsched *x, uint32_t v, int sign)
{
	for (uint32_t t = x->d->out_ptr[v]; t < x->d->out_ptr[v + 1]; t++)
		for (uint32_t i = x->d->use_ptr[t]; i < x->d->use_ptr[t + 1]; i++)
			x->left[x->d->use_task[i]] += (uint32_t)sign;
}

/* Records that v runs on dev from start, at entry `at` of the device's agenda. */
static void record_placement(struct listsched *x, uint32_t v, uint32_t dev, double start,
			     double cost, size_t at)
{
	uint32_t i = unit_of(x, v);

	if (x->links)
		listlinks_place(x->links, x, v, dev);
	if (x->unit_placed[i]++ == 0) {
		x->unit_dev[i] = (uint16_t)dev;
		held_add(&x->held, i, dev);
	}
	x->on[v] = (uint16_t)dev;
	x->placed[v] = true;
	x->end_s[v] = start + cost;
	agenda_insert(&x->agenda[dev], at, (struct agenda_slot){start, start + cost, v});
	add_to_left(x, v, -1);
}

void listsched_place(struct listsched *x, uint32_t v, uint32_t dev)
{
	double cost = place_task_s(x->m, v, dev, x->on);
	size_t at;
	double start = agendas_earliest_s(x->agenda, x->k, x->m->costs.turns, dev,
					  listsched_ready_s(x, v, dev), cost, &at);

	record_placement(x, v, dev, start, cost, at);
}

void listsched_append(struct listsched *x, uint32_t v, uint32_t dev, double start)
{
	record_placement(x, v, dev, start, place_task_s(x->m, v, dev, x->on), x->agenda[dev].n);
}

void listsched_take_back(struct listsched *x, uint32_t v)
{
	uint32_t dev = x->on[v], i = unit_of(x, v);
	struct agenda *a = &x->agenda[dev];
	size_t at = a->n - 1;

	while (a->slot[at].task != v)
		at--;
	agenda_remove(a, at);
	x->placed[v] = false;
	x->on[v] = UINT16_MAX;
	if (--x->unit_placed[i] == 0) {
		x->unit_dev[i] = UINT16_MAX;
		held_remove(&x->held, i, dev);
	}
	add_to_left(x, v, 1);
}

void listsched_placement(const struct listsched *x, uint16_t *device)
{
	memset(device, 0, x->m->n_sets * sizeof(*device));
	for (uint32_t i = 0; i < x->u.n; i++)
		if (x->unit_dev[i] != UINT16_MAX)
			place_unit_set(&x->u, i, x->unit_dev[i], device);
}

void listsched_means(const struct listsched *x, double *task_s, double *use_s)
{
	const struct sched_costs *c = &x->m->costs;
	struct sched_mean_link link = sched_mean_link(&c->links);

	sched_mean_costs(x->d, c->task_s, &c->links, task_s, use_s);
	for (uint32_t t = 0; t < x->d->n_tensors; t++) {
		double mean = sched_mean_copy_s(&link, x->d->tensor_bytes[t]);

		for (uint32_t i = x->d->use_ptr[t]; i < x->d->use_ptr[t + 1]; i++)
			use_s[i] = mean;
	}
}

double *listsched_upward_rank(const struct listsched *x, struct arena *a)
{
	double *rank = ARENA_NEWN(a, double, x->n), *task_s = MEM_NEWN(double, x->n);
	double *use_s = MEM_NEWN(double, x->d->n_uses);

	listsched_means(x, task_s, use_s);
	sched_upward_rank(x->d, task_s, use_s, rank);
	mem_free(task_s);
	mem_free(use_s);
	return rank;
}

static int by_rank(const void *pa, const void *pb, void *arg)
{
	const double *rank = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (rank[a] != rank[b])
		return rank[a] > rank[b] ? -1 : 1;
	return (a > b) - (a < b);
}

void listsched_sort(uint32_t *task, uint32_t n, const double *rank)
{
	if (n > 1)
		qsort_r(task, n, sizeof(*task), by_rank, (void *)(uintptr_t)rank);
}

int listsched_stuck(const struct listsched *x, uint32_t v, struct err *e)
{
	return place_no_device(x->m, x->m->tasks.task_set[v], "has room and a link from its inputs",
			       e);
}

/* The device for a task that comes after the deadline: the one that does all of them the soonest by
 * itself, where it may go there. */
static uint32_t late_device(struct listsched *x, uint32_t v)
{
	double end_s;

	if (x->n_late++ == 0)
		x->late_dev = listsched_fastest(x);
	if (x->late_dev < x->k && listsched_end_s(x, v, x->late_dev) < INFINITY)
		return x->late_dev;
	return listsched_earliest(x, v, &end_s);
}

int listsched_run(struct listsched *x, const double *priority, listsched_choose *choose, void *arg,
		  struct err *e)
{
	struct ready ready;
	uint16_t *all = MEM_NEWN(uint16_t, x->n); /* one queue for all devices */
	uint32_t v, dev;
	int rc = 0;

	ready_init(&ready, x->n, 1, priority, SCHED_RANK);
	ready_begin(&ready, all);
	for (v = 0; v < x->n; v++)
		if (x->left[v] == 0)
			ready_add(&ready, 0, v, 0);
	while (rc == 0 && (v = ready_take(&ready, 0)) != SCHED_NONE) {
		dev = method_is_late(x->deadline_s) ? late_device(x, v) : choose(x, v, arg);
		if (dev == SCHED_NONE) {
			rc = listsched_stuck(x, v, e);
			break;
		}
		listsched_place(x, v, dev);
		for (uint32_t t = x->d->out_ptr[v]; t < x->d->out_ptr[v + 1]; t++)
			for (uint32_t i = x->d->use_ptr[t]; i < x->d->use_ptr[t + 1]; i++) {
				uint32_t w = x->d->use_task[i];

				if (x->left[w] == 0 && !x->placed[w])
					ready_add(&ready, 0, w, 0);
			}
	}
	ready_release(&ready);
	mem_free(all);
	return rc;
}

double listsched_makespan_s(const struct listsched *x)
{
	double end_s = 0;

	for (uint32_t v = 0; v < x->n; v++)
		if (x->placed[v])
			end_s = max2(end_s, x->end_s[v]);
	return end_s;
}

int listsched_answer(struct listsched *x, int rc, struct method_run *r, struct err *e)
{
	int used = snprintf(r->note, sizeof(r->note), "its own schedule takes %.6g s",
			    listsched_makespan_s(x));

	if (x->n_late)
		snprintf(r->note + used, sizeof(r->note) - (size_t)used,
			 "; %u of %u tasks to one device, the budget being spent", x->n_late, x->n);
	listsched_placement(x, r->device);
	if (method_mend(r, &x->u) && rc < 0) {
		err_clear(e);
		rc = 0;
	}
	listsched_release(x);
	return rc < 0 ? -1 : r->emit(r, e);
}
