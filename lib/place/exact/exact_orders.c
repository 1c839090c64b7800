/* exact_orders.c - branch and bound over orders.  Tasks are taken one after another, each as early as
 * it can start behind those before it on its device, in the order of starts (semi-active schedules:
 * Sprecher, Kolisch, Drexl, European J. Operational Research 80(1), 1995); where devices take turns,
 * copies occupy them, or ports or links are shared, in any order, for there what counts is not each
 * device's own order alone.  Bounds leave out what copies wait for each other; a whole order is
 * simulated. */
#include "place/exact/exact_orders.h"

#include <math.h>

#include "base/clock.h"
#include "sched/order.h"

enum { LOOKS = 64 };
static const double EQUAL = 1e-9;

struct exact_orders {
	const struct place_model *m;
	struct evaluator *ev;
	struct arena *a;
	bool by_start; /* orders of one start each are enough */
	uint32_t n;
	uint16_t *dev;           /* (tasks) */
	double *s, *tail_s;      /* (tasks) */
	double *ready_s;         /* (tasks) by what is taken */
	uint32_t *waits;         /* (tasks) uses whose makers are not taken */
	bool *done;              /* (tasks) */
	double *free_s, *left_s; /* (k) */
	double *busy_s;          /* (k) in all */
	uint32_t *sequence;      /* (tasks) */
	uint32_t *sets;          /* (tasks) */
	double *was_s;           /* (uses) ready_s before a task was taken; a stack */
	size_t n_was;
	struct kept_order order;
	/* of the placement at hand */
	const uint16_t *device;
	double best;
	uint32_t *best_order; /* (tasks) */
	uint64_t *nodes, limit;
	double deadline_s;
	bool out;
};

struct exact_orders *exact_orders_new(const struct place_model *m, struct evaluator *ev)
{
	struct exact_orders *x = MEM_NEW(struct exact_orders);
	struct arena *a = arena_new();
	uint32_t n = m->tasks.dag.n;

	*x = (struct exact_orders){.m = m, .ev = ev, .a = a, .n = n};
	x->by_start = !m->costs.turns && m->costs.overlap &&
		      !(m->costs.contention && (m->costs.links.ports || m->costs.links.sharing));
	x->dev = ARENA_NEWN(a, uint16_t, n);
	x->s = ARENA_NEWN(a, double, n);
	x->tail_s = ARENA_NEWN(a, double, n);
	x->ready_s = ARENA_NEWN(a, double, n);
	x->waits = ARENA_NEWN(a, uint32_t, n);
	x->done = ARENA_NEWN(a, bool, n);
	x->free_s = ARENA_NEWN(a, double, m->k);
	x->left_s = ARENA_NEWN(a, double, m->k);
	x->busy_s = ARENA_NEWN(a, double, m->k);
	x->sequence = ARENA_NEWN(a, uint32_t, n);
	x->sets = ARENA_NEWN(a, uint32_t, n);
	x->was_s = ARENA_NEWN(a, double, m->tasks.dag.n_uses);
	x->order = kept_order_new(m, a);
	return x;
}

void exact_orders_free(struct exact_orders *x)
{
	if (!x)
		return;
	arena_free(x->a);
	mem_free(x);
}

static double copy_s(const struct exact_orders *x, uint32_t tensor, uint32_t to)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	uint16_t from = x->dev[d->tensor_task[tensor]];

	return from == x->dev[to] ? 0
				  : sched_copy_s(&x->m->costs.links, from, x->dev[to],
						 d->tensor_bytes[tensor]);
}

/* The placement: seconds, what follows each task. */
static void begin(struct exact_orders *x, const uint16_t *device)
{
	const struct sched_dag *d = &x->m->tasks.dag;

	for (uint32_t i = 0; i < x->m->k; i++)
		x->free_s[i] = x->left_s[i] = x->busy_s[i] = 0;
	for (uint32_t t = 0; t < x->n; t++)
		x->dev[t] = device[x->m->tasks.task_set[t]];
	for (uint32_t t = x->n; t-- > 0;) {
		x->s[t] = place_task_s(x->m, t, x->dev[t], x->dev);
		x->left_s[x->dev[t]] += x->s[t];
		x->busy_s[x->dev[t]] += x->s[t];
		x->waits[t] = d->in_ptr[t + 1] - d->in_ptr[t];
		x->ready_s[t] = x->tail_s[t] = 0;
		x->done[t] = false;
		for (uint32_t v = d->out_ptr[t]; v < d->out_ptr[t + 1]; v++)
			for (uint32_t u = d->use_ptr[v]; u < d->use_ptr[v + 1]; u++) {
				uint32_t to = d->use_task[u];

				x->tail_s[t] = fmax(x->tail_s[t],
						    copy_s(x, v, to) + x->s[to] + x->tail_s[to]);
			}
	}
	x->device = device;
	x->n_was = 0;
}

/* What no order that begins so is below. */
static double least_value(const struct exact_orders *x)
{
	double most = 0;

	if (!place_objective_is_latency(&x->m->objective))
		return 0;
	for (uint32_t t = 0; t < x->n; t++)
		if (!x->done[t])
			most = fmax(most, fmax(x->ready_s[t], x->free_s[x->dev[t]]) + x->s[t] +
						  x->tail_s[t]);
	for (uint32_t d = 0; d < x->m->k; d++)
		most = fmax(most, x->free_s[d] + x->left_s[d]);
	return place_latency_s(x->m, most * (1 - EQUAL), x->busy_s);
}

/* Everything is in order: what does that take? */
static void try_order(struct exact_orders *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		x->sets[i] = x->m->tasks.task_set[x->sequence[i]];
	order_keep(x->n, x->dev, x->sequence, x->order.rank, x->order.delayed_by);
	const struct place_result *r = place_evaluate_in(x->ev, x->device, &x->order);

	if (r->status != PLACE_OK || !(r->value < x->best))
		return;
	x->best = r->value;
	for (uint32_t i = 0; i < x->n; i++)
		x->best_order[i] = x->sets[i];
}

static void take_task(struct exact_orders *x, uint32_t t, double start)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	double end = start + x->s[t];

	x->done[t] = true;
	x->free_s[x->dev[t]] = end;
	x->left_s[x->dev[t]] -= x->s[t];
	for (uint32_t v = d->out_ptr[t]; v < d->out_ptr[t + 1]; v++)
		for (uint32_t u = d->use_ptr[v]; u < d->use_ptr[v + 1]; u++) {
			uint32_t to = d->use_task[u];

			x->was_s[x->n_was++] = x->ready_s[to];
			x->ready_s[to] = fmax(x->ready_s[to], end + copy_s(x, v, to));
			x->waits[to]--;
		}
}

static void give_back(struct exact_orders *x, uint32_t t, double free_s, double left_s)
{
	const struct sched_dag *d = &x->m->tasks.dag;

	x->done[t] = false;
	x->free_s[x->dev[t]] = free_s;
	x->left_s[x->dev[t]] = left_s;
	for (uint32_t v = d->out_ptr[t + 1]; v-- > d->out_ptr[t];)
		for (uint32_t u = d->use_ptr[v + 1]; u-- > d->use_ptr[v];) {
			x->ready_s[d->use_task[u]] = x->was_s[--x->n_was];
			x->waits[d->use_task[u]]++;
		}
}

/* May t start at `start` behind `last`, which started at now?  At one instant lower numbers go first,
 * but for what takes no time. */
static bool in_order(const struct exact_orders *x, uint32_t t, double start, double now,
		     uint32_t last)
{
	if (!x->by_start || last == SCHED_NONE || start > now)
		return true;
	return start == now && (t > last || x->s[t] == 0 || x->s[last] == 0);
}

static void order_rest(struct exact_orders *x, uint32_t n_done, double now, uint32_t last)
{
	if (++*x->nodes >= x->limit ||
	    (*x->nodes % LOOKS == 0 && x->deadline_s > 0 && clock_s() > x->deadline_s))
		x->out = true;
	if (x->out || least_value(x) >= x->best * (1 - EQUAL))
		return;
	if (n_done == x->n) {
		try_order(x);
		return;
	}
	for (uint32_t t = 0; t < x->n && !x->out; t++) {
		uint16_t dev = x->dev[t];
		double start = fmax(x->ready_s[t], x->free_s[dev]);
		double free_s = x->free_s[dev], left_s = x->left_s[dev];

		if (x->done[t] || x->waits[t] > 0 || !in_order(x, t, start, now, last))
			continue;
		x->sequence[n_done] = t;
		take_task(x, t, start);
		order_rest(x, n_done + 1, start, t);
		give_back(x, t, free_s, left_s);
	}
}

double exact_orders_best(struct exact_orders *x, const uint16_t *device, double below,
			 uint64_t *nodes, uint64_t limit, double deadline_s, uint32_t *order,
			 bool *all)
{
	begin(x, device);
	x->best = below;
	x->best_order = order;
	x->nodes = nodes;
	x->limit = limit;
	x->deadline_s = deadline_s;
	x->out = false;
	order_rest(x, 0, 0, SCHED_NONE);
	*all = !x->out;
	return x->best;
}
