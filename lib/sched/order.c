/* order.c - serial schedule generation with insertion, forward and backward. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "sched/agenda.h"
#include "sched/order.h"

struct orderer {
	const struct sched_dag *d;
	const struct sched_costs *c;
	struct agenda *agenda;  /* (k) */
	uint32_t *heap, n_heap; /* (n) tasks that may be scheduled, highest priority first */
	uint32_t *pending;      /* (n) neighbours before it that are not scheduled */
	uint32_t *n_in, *n_out; /* (n) uses */
	double *first, *last;   /* (n) start and end in the schedule that is being made */
	double *priority;       /* (n) */
	double *ready;          /* (n) when what is scheduled before it allows it to start */
};

struct orderer *orderer_new(const struct sched_dag *d, const struct sched_costs *c)
{
	struct orderer *x = MEM_NEW(struct orderer);

	x->d = d;
	x->c = c;
	x->agenda = MEM_NEWN(struct agenda, c->links.k);
	x->heap = MEM_NEWN(uint32_t, d->n);
	x->pending = MEM_NEWN(uint32_t, d->n);
	x->n_in = MEM_NEWN(uint32_t, d->n);
	x->n_out = MEM_NEWN(uint32_t, d->n);
	x->first = MEM_NEWN(double, d->n);
	x->last = MEM_NEWN(double, d->n);
	x->priority = MEM_NEWN(double, d->n);
	x->ready = MEM_NEWN(double, d->n);
	for (uint32_t u = 0; u < d->n_uses; u++) {
		x->n_in[d->use_task[u]]++;
		x->n_out[d->tensor_task[d->use_tensor[u]]]++;
	}
	return x;
}

void orderer_free(struct orderer *x)
{
	if (!x)
		return;
	void *owned[] = {x->heap,  x->pending, x->n_in,     x->n_out,
			 x->first, x->last,    x->priority, x->ready};
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
	for (uint32_t i = 0; i < x->c->links.k; i++)
		agenda_release(&x->agenda[i]);
	mem_free(x->agenda);
	mem_free(x);
}

/* ---- tasks that may be scheduled ---- */

static bool goes_before(const double *priority, uint32_t a, uint32_t b)
{
	return priority[a] > priority[b] || (priority[a] == priority[b] && a < b);
}

#define GOES_BEFORE(a, b) goes_before(priority, a, b)
HEAP(ready_tasks, uint32_t, GOES_BEFORE, const double *priority)

/* ---- one schedule ---- */

/* Into the first gap of dev from `ready` on that takes `cost` seconds; its start. */
static double insert_task(struct orderer *x, uint32_t dev, uint32_t task, double ready, double cost)
{
	size_t at;
	double start =
		agendas_earliest_s(x->agenda, x->c->links.k, x->c->turns, dev, ready, cost, &at);

	agenda_insert(&x->agenda[dev], at, (struct agenda_slot){start, start + cost, task});
	return start;
}

/* Task v is scheduled, its neighbour w waits for one less: w may start when v ends, after a copy of
 * `tensor` where they are on different devices. */
static void release_neighbour(struct orderer *x, const uint16_t *device, uint32_t v, uint32_t w,
			      uint32_t tensor, bool forward)
{
	double s = x->last[v];

	if (device[v] != device[w])
		s += forward ? sched_copy_s(&x->c->links, device[v], device[w],
					    x->d->tensor_bytes[tensor])
			     : sched_copy_s(&x->c->links, device[w], device[v],
					    x->d->tensor_bytes[tensor]);
	x->ready[w] = fmax(x->ready[w], s);
	if (--x->pending[w] == 0)
		ready_tasks_push(x->heap, &x->n_heap, w, x->priority);
}

static void release_neighbours(struct orderer *x, const uint16_t *device, uint32_t v, bool forward)
{
	const struct sched_dag *d = x->d;

	if (!forward) {
		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t t = d->use_tensor[d->in_use[i]];

			release_neighbour(x, device, v, d->tensor_task[t], t, false);
		}
		return;
	}
	for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++)
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++)
			release_neighbour(x, device, v, d->use_task[u], t, true);
}

/* By x->priority, from the beginning or from the end (times then count back from it); the
 * makespan. */
static double generate(struct orderer *x, const uint16_t *device, bool forward)
{
	uint32_t n = x->d->n, k = x->c->links.k;
	double makespan = 0;

	for (uint32_t i = 0; i < k; i++)
		x->agenda[i].n = 0;
	for (uint32_t v = 0; v < n; v++) {
		x->pending[v] = forward ? x->n_in[v] : x->n_out[v];
		x->ready[v] = 0;
		if (!x->pending[v])
			ready_tasks_push(x->heap, &x->n_heap, v, x->priority);
	}
	while (x->n_heap > 0) {
		uint32_t v = ready_tasks_pop(x->heap, &x->n_heap, x->priority), dev = device[v];
		double cost = x->c->task_s[(size_t)v * k + dev];

		x->first[v] = insert_task(x, dev, v, x->ready[v], cost);
		x->last[v] = x->first[v] + cost;
		makespan = fmax(makespan, x->last[v]);
		release_neighbours(x, device, v, forward);
	}
	return makespan;
}

double orderer_run(struct orderer *x, const uint16_t *device, const double *rank, uint32_t rounds,
		   double *start_s)
{
	uint32_t n = x->d->n;
	double best = INFINITY;

	for (uint32_t v = 0; v < n; v++)
		x->priority[v] = rank[v];
	for (uint32_t i = 0; i < rounds; i++) {
		double s = generate(x, device, true);

		if (s < best) {
			best = s;
			for (uint32_t v = 0; v < n; v++)
				start_s[v] = x->first[v];
		}
		if (i + 1 == rounds)
			break;
		/* Backward: the task that ended last goes first.  Forward again: the task that is
		 * farthest from the end goes first. */
		for (uint32_t v = 0; v < n; v++)
			x->priority[v] = x->last[v];
		generate(x, device, false);
		for (uint32_t v = 0; v < n; v++)
			x->priority[v] = x->last[v];
	}
	return best;
}

/* ---- delays ---- */

struct task_start {
	double s;
	uint32_t task;
};

static int start_compare(const void *pa, const void *pb)
{
	const struct task_start *a = pa, *b = pb;

	if (a->s != b->s)
		return a->s < b->s ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

/* When the inputs of v are there, in the schedule that ends x->last. */
static double inputs_s(const struct orderer *x, const uint16_t *device, uint32_t v)
{
	const struct sched_dag *d = x->d;
	double ready = 0;

	for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
		uint32_t t = d->use_tensor[d->in_use[i]], from = d->tensor_task[t];
		double s = x->last[from];

		if (device[from] != device[v])
			s += sched_copy_s(&x->c->links, device[from], device[v],
					  d->tensor_bytes[t]);
		ready = fmax(ready, s);
	}
	return ready;
}

void orderer_delays(struct orderer *x, const uint16_t *device, const double *start_s,
		    double makespan_s, double *rank, uint32_t *delayed_by)
{
	uint32_t n = x->d->n, k = x->c->links.k;
	struct task_start *order = MEM_NEWN(struct task_start, n);
	/* Of each device: the last task that it is idle before, and when it is free. */
	uint32_t *late = MEM_NEWN(uint32_t, k);
	double *free_s = MEM_NEWN(double, k);

	for (uint32_t dev = 0; dev < k; dev++)
		late[dev] = SCHED_NONE;
	for (uint32_t v = 0; v < n; v++) {
		order[v] = (struct task_start){start_s[v], v};
		rank[v] = makespan_s - start_s[v];
		x->last[v] = start_s[v] + x->c->task_s[(size_t)v * k + device[v]];
	}
	if (n > 1)
		qsort(order, n, sizeof(*order), start_compare);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = order[i].task, dev = device[v];

		delayed_by[v] = SCHED_NONE;
		if (late[dev] != SCHED_NONE && inputs_s(x, device, v) < start_s[late[dev]])
			delayed_by[v] = late[dev];
		if (start_s[v] > free_s[dev])
			late[dev] = v;
		free_s[dev] = fmax(free_s[dev], x->last[v]);
	}
	mem_free(order);
	mem_free(late);
	mem_free(free_s);
}

/* ---- an order that is given ---- */

struct task_position {
	uint32_t position, task;
};

static int position_compare(const void *pa, const void *pb)
{
	const struct task_position *a = pa, *b = pb;

	if (a->position != b->position)
		return a->position < b->position ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

void order_sequence(const struct sched_dag *d, const uint32_t *position, uint32_t *sequence)
{
	struct task_position *x = MEM_NEWN(struct task_position, d->n);

	for (uint32_t v = 0; v < d->n; v++) {
		bool any = position[v] == SCHED_NONE;

		x[v] = (struct task_position){any ? 0 : position[v], v};
		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t from = d->tensor_task[d->use_tensor[d->in_use[i]]];

			if (x[from].position > x[v].position)
				x[v].position = x[from].position;
		}
	}
	if (d->n > 1)
		qsort(x, d->n, sizeof(*x), position_compare);
	for (uint32_t i = 0; i < d->n; i++)
		sequence[i] = x[i].task;
	mem_free(x);
}

void order_keep(uint32_t n, const uint16_t *device, const uint32_t *sequence, double *rank,
		uint32_t *delayed_by)
{
	uint32_t k = 0, *last;

	for (uint32_t v = 0; v < n; v++)
		k = device[v] >= k ? device[v] + 1U : k;
	last = MEM_NEWN(uint32_t, k);
	for (uint32_t dev = 0; dev < k; dev++)
		last[dev] = SCHED_NONE;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = sequence[i];

		rank[v] = n - i;
		delayed_by[v] = last[device[v]];
		last[device[v]] = v;
	}
	mem_free(last);
}
