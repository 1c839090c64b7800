/* incumbent_view.c - a placement's schedule, its slack, its critical chain. */
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"
#include "place/learned/incumbent_view.h"

/* A task, or a copy (number - n). */
struct event {
	double start_s, end_s;
	uint32_t number, server;
};

static void list_unit_tasks(struct incumbent_view *x)
{
	const struct place_model *m = x->u->m;
	uint32_t n = x->view->n, *ptr = ARENA_NEWN(x->a, uint32_t, (size_t)x->u->n + 2);
	uint32_t *task = ARENA_NEWN(x->a, uint32_t, n);

	for (uint32_t v = 0; v < n; v++)
		ptr[x->u->of_set[m->tasks.task_set[v]] + 2]++;
	for (uint32_t i = 0; i < x->u->n; i++)
		ptr[i + 2] += ptr[i + 1];
	for (uint32_t v = 0; v < n; v++)
		task[ptr[x->u->of_set[m->tasks.task_set[v]] + 1]++] = v;
	x->unit_ptr = ptr;
	x->unit_task = task;
}

struct incumbent_view *incumbent_view_new(const struct cost_view *view, const struct place_units *u)
{
	struct incumbent_view *x = MEM_NEW(struct incumbent_view);
	const struct place_model *m = view->m;
	const struct sched_dag *d = &m->tasks.dag;
	size_t cells = (size_t)d->n * m->k;
	uint32_t n = d->n;

	x->view = view;
	x->u = u;
	x->a = arena_new();
	x->task_s = ARENA_NEWN(x->a, double, cells);
	if (cells)
		memcpy(x->task_s, m->costs.task_s, cells * sizeof(*x->task_s));
	x->costs = m->costs;
	x->costs.task_s = x->task_s;
	x->clock = timeliner_new(d, &x->costs, true);
	x->on = ARENA_NEWN(x->a, uint16_t, n);
	x->cost_s = ARENA_NEWN(x->a, double, n);
	x->late_s = ARENA_NEWN(x->a, double, n);
	x->ready_s = ARENA_NEWN(x->a, double, n);
	x->copy_of = ARENA_NEWN(x->a, uint32_t, (size_t)d->n_tensors * m->k);
	x->dev_ptr = ARENA_NEWN(x->a, uint32_t, (size_t)m->k + 1);
	x->dev_task = ARENA_NEWN(x->a, uint32_t, n);
	x->at = ARENA_NEWN(x->a, uint32_t, n);
	x->chain = ARENA_NEWN(x->a, uint32_t, n);
	x->chain_copy = ARENA_NEWN(x->a, uint32_t, n);
	x->chain_by_device = ARENA_NEWN(x->a, bool, n);
	x->on_chain = ARENA_NEWN(x->a, uint32_t, n);
	x->copy_late_s = ARENA_NEWN(x->a, double, d->n_uses);
	x->event = ARENA_NEWN(x->a, struct event, (size_t)n + d->n_uses);
	memset(x->copy_of, 0xff, (size_t)d->n_tensors * m->k * sizeof(*x->copy_of));
	list_unit_tasks(x);
	return x;
}

void incumbent_view_free(struct incumbent_view *x)
{
	if (!x)
		return;
	timeliner_free(x->clock);
	arena_free(x->a);
	mem_free(x);
}

/* By start; what ends at an instant goes before what starts there, sources before consumers. */
static int by_start(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	if (a->end_s != b->end_s)
		return a->end_s < b->end_s ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static uint32_t list_events(struct incumbent_view *x)
{
	const struct timeline *t = x->t;
	uint32_t n = x->view->n, k = x->view->k;

	for (uint32_t v = 0; v < n; v++)
		x->event[v] = (struct event){t->start_s[v], t->end_s[v], v, x->on[v]};
	for (uint32_t c = 0; c < t->n_copies; c++) {
		const struct sched_copy *y = &t->copy[c];

		x->event[n + c] = (struct event){t->copy_start_s[c], t->copy_end_s[c], n + c,
						 y->src * k + y->dst};
	}
	if (n + t->n_copies > 1)
		qsort(x->event, n + t->n_copies, sizeof(*x->event), by_start);
	return n + t->n_copies;
}

static void list_devices(struct incumbent_view *x, uint32_t n_events)
{
	uint32_t n = x->view->n, k = x->view->k;

	memset(x->dev_ptr, 0, ((size_t)k + 1) * sizeof(*x->dev_ptr));
	for (uint32_t v = 0; v < n; v++)
		x->dev_ptr[x->on[v] + 1]++;
	for (uint32_t p = 0; p < k; p++)
		x->dev_ptr[p + 1] += x->dev_ptr[p];
	for (uint32_t i = 0; i < n_events; i++) {
		uint32_t v = x->event[i].number;

		if (v >= n)
			continue;
		x->at[v] = x->dev_ptr[x->on[v]]++;
		x->dev_task[x->at[v]] = v;
	}
	for (uint32_t p = k; p > 0; p--)
		x->dev_ptr[p] = x->dev_ptr[p - 1];
	x->dev_ptr[0] = 0;
}

/* The copy by which v reads a tensor; SCHED_NONE: it is made where v is. */
static uint32_t copy_to(const struct incumbent_view *x, uint32_t tensor, uint32_t v)
{
	uint32_t from = x->view->m->tasks.dag.tensor_task[tensor];

	return x->on[from] == x->on[v] ? SCHED_NONE
				       : x->copy_of[(size_t)tensor * x->view->k + x->on[v]];
}

static void find_latest(struct incumbent_view *x, uint32_t n_events)
{
	const struct sched_dag *d = &x->view->m->tasks.dag;
	const struct timeline *t = x->t;
	uint32_t n = x->view->n;

	for (uint32_t v = 0; v < n; v++)
		x->late_s[v] = t->makespan_s;
	for (uint32_t c = 0; c < t->n_copies; c++)
		x->copy_late_s[c] = t->makespan_s; /* latest end at first */
	for (uint32_t i = n_events; i-- > 0;) {
		uint32_t v = x->event[i].number;
		bool task = v < n;
		double start_s = task ? x->late_s[v] - (t->end_s[v] - t->start_s[v])
				      : x->copy_late_s[v - n] -
						 (t->copy_end_s[v - n] - t->copy_start_s[v - n]);

		/* what this one waits for must end by start_s */
		if (!task) {
			const struct sched_copy *y = &t->copy[v - n];
			uint32_t from = d->tensor_task[y->tensor];

			x->copy_late_s[v - n] = start_s;
			x->late_s[from] = min2(x->late_s[from], start_s);
			continue;
		}
		if (x->at[v] > x->dev_ptr[x->on[v]]) {
			uint32_t before = x->dev_task[x->at[v] - 1];

			x->late_s[before] = min2(x->late_s[before], start_s);
		}
		for (uint32_t j = d->in_ptr[v]; j < d->in_ptr[v + 1]; j++) {
			uint32_t tensor = d->use_tensor[d->in_use[j]];
			uint32_t from = d->tensor_task[tensor];
			uint32_t c = copy_to(x, tensor, v);

			if (c == SCHED_NONE)
				x->late_s[from] = min2(x->late_s[from], start_s);
			else
				x->copy_late_s[c] = min2(x->copy_late_s[c], start_s);
		}
	}
}

/* From the last task's end back: the input that came last, or the device. */
static void find_chain(struct incumbent_view *x)
{
	const struct sched_dag *d = &x->view->m->tasks.dag;
	const struct timeline *t = x->t;
	uint32_t n = x->view->n, v = 0;

	memset(x->on_chain, 0, n * sizeof(*x->on_chain));
	x->n_chain = 0;
	for (uint32_t i = 1; i < n; i++)
		if (t->end_s[i] > t->end_s[v])
			v = i;
	while (n > 0 && v != SCHED_NONE && !x->on_chain[v]) {
		uint32_t at = x->n_chain++, behind = SCHED_NONE;
		double latest = 0;

		x->chain[at] = v;
		x->on_chain[v] = at + 1;
		x->chain_copy[at] = SCHED_NONE;
		x->chain_by_device[at] = false;
		if (x->at[v] > x->dev_ptr[x->on[v]]) {
			behind = x->dev_task[x->at[v] - 1];
			latest = t->end_s[behind];
			x->chain_by_device[at] = true;
		}
		for (uint32_t j = d->in_ptr[v]; j < d->in_ptr[v + 1]; j++) {
			uint32_t tensor = d->use_tensor[d->in_use[j]];
			uint32_t from = d->tensor_task[tensor];
			uint32_t c = copy_to(x, tensor, v);
			double end_s = c == SCHED_NONE ? t->end_s[from] : t->copy_end_s[c];

			if (end_s < latest || (end_s == latest && behind != SCHED_NONE))
				continue;
			latest = end_s;
			behind = from;
			x->chain_copy[at] = c;
			x->chain_by_device[at] = false;
		}
		v = behind;
	}
}

static void find_ready(struct incumbent_view *x)
{
	const struct sched_dag *d = &x->view->m->tasks.dag;
	const struct timeline *t = x->t;
	uint32_t n = x->view->n;

	for (uint32_t v = 0; v < n; v++) {
		x->cost_s[v] = t->end_s[v] - t->start_s[v];
		x->ready_s[v] = 0;
		for (uint32_t j = d->in_ptr[v]; j < d->in_ptr[v + 1]; j++) {
			uint32_t tensor = d->use_tensor[d->in_use[j]];
			uint32_t from = d->tensor_task[tensor];
			uint32_t c = copy_to(x, tensor, v);

			x->ready_s[v] = max2(x->ready_s[v],
					     c == SCHED_NONE ? t->end_s[from] : t->copy_end_s[c]);
		}
	}
}

bool incumbent_view_set(struct incumbent_view *x, const uint16_t *device)
{
	const struct place_model *m = x->view->m;
	uint32_t n = x->view->n, k = x->view->k;

	for (uint32_t c = 0; x->t && c < x->t->n_copies; c++)
		x->copy_of[(size_t)x->t->copy[c].tensor * k + x->t->copy[c].dst] = SCHED_NONE;
	x->t = NULL;
	for (uint32_t v = 0; v < n; v++)
		x->on[v] = device[m->tasks.task_set[v]];
	for (uint32_t v = 0; m->saved_ptr && v < n; v++)
		x->task_s[(size_t)v * k + x->on[v]] = place_task_s(m, v, x->on[v], x->on);
	if (timeline_run(x->clock, x->on, &x->t) != TIMELINE_OK) {
		x->t = NULL;
		return false;
	}
	for (uint32_t c = 0; c < x->t->n_copies; c++)
		x->copy_of[(size_t)x->t->copy[c].tensor * k + x->t->copy[c].dst] = c;
	uint32_t n_events = list_events(x);

	list_devices(x, n_events);
	find_latest(x, n_events);
	find_chain(x);
	find_ready(x);
	return true;
}
