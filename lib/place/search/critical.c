/* critical.c - what a schedule's end waited for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/search/critical.h"
#include "sched/timeline.h"

/* Something that occupies a server (a device, or a link of two) from its start to its end. */
struct job {
	uint64_t server;
	double start_s;
	uint32_t number; /* of a task or a copy */
};

struct critical {
	const struct place_units *u;
	const struct place_model *m;
	struct timeliner *clock;
	const struct timeline *t;
	struct sched_costs costs;
	double *task_s;    /* (tasks,k) less what the placement saves */
	uint16_t *on;      /* (tasks) */
	uint32_t *copy_of; /* (tensors,k) copy of a tensor to a device, where there is one */
	uint32_t *task_before, *copy_before; /* who had the device, the link; SCHED_NONE: nobody */
	struct job *job;                     /* (tasks, or uses) */
	uint32_t *unit, n_units;             /* the chain */
	bool *listed;                        /* (units) */
};

struct critical *critical_new(const struct place_units *u)
{
	const struct place_model *m = u->m;
	const struct sched_dag *d = &m->tasks.dag;
	size_t cells = (size_t)d->n * m->k;

	if (m->rules != PLACE_SCHEDULE)
		return NULL;
	struct critical *x = MEM_NEW(struct critical);

	x->u = u;
	x->m = m;
	x->task_s = MEM_NEWN(double, cells);
	if (cells)
		memcpy(x->task_s, m->costs.task_s, cells * sizeof(*x->task_s));
	x->costs = m->costs;
	x->costs.task_s = x->task_s;
	x->clock = timeliner_new(d, &x->costs, true);
	x->on = MEM_NEWN(uint16_t, d->n);
	x->copy_of = MEM_NEWN(uint32_t, (size_t)d->n_tensors * m->k);
	x->task_before = MEM_NEWN(uint32_t, d->n);
	x->copy_before = MEM_NEWN(uint32_t, d->n_uses);
	x->job = MEM_NEWN(struct job, (size_t)(d->n > d->n_uses ? d->n : d->n_uses));
	x->unit = MEM_NEWN(uint32_t, u->n);
	x->listed = MEM_NEWN(bool, u->n);
	return x;
}

void critical_free(struct critical *x)
{
	if (!x)
		return;
	void *owned[] = {x->task_s,      x->on,  x->copy_of, x->task_before,
			 x->copy_before, x->job, x->unit,    x->listed};

	timeliner_free(x->clock);
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
	mem_free(x);
}

static int by_server(const void *pa, const void *pb)
{
	const struct job *a = pa, *b = pb;

	if (a->server != b->server)
		return a->server < b->server ? -1 : 1;
	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Who was on the same server before each of n jobs. */
static void list_before(struct critical *x, uint32_t n, uint32_t *before)
{
	if (n > 1)
		qsort(x->job, n, sizeof(*x->job), by_server);
	for (uint32_t i = 0; i < n; i++)
		before[x->job[i].number] = i && x->job[i].server == x->job[i - 1].server
						   ? x->job[i - 1].number
						   : SCHED_NONE;
}

static void list_servers(struct critical *x)
{
	const struct timeline *t = x->t;
	uint32_t n = x->m->tasks.dag.n, k = x->m->k;

	for (uint32_t v = 0; v < n; v++)
		x->job[v] = (struct job){x->on[v], t->start_s[v], v};
	list_before(x, n, x->task_before);
	for (uint32_t c = 0; c < t->n_copies; c++) {
		const struct sched_copy *copy = &t->copy[c];

		x->copy_of[(size_t)copy->tensor * k + copy->dst] = c;
		x->job[c] =
			(struct job){(uint64_t)copy->src * k + copy->dst, t->copy_start_s[c], c};
	}
	list_before(x, t->n_copies, x->copy_before);
}

static void add_unit_of(struct critical *x, uint32_t v)
{
	uint32_t unit = x->u->of_set[x->m->tasks.task_set[v]];

	if (!x->listed[unit])
		x->unit[x->n_units++] = unit;
	x->listed[unit] = true;
}

/* The task whose end set off the copy, which may have waited for others on its link. */
static uint32_t behind_copy(struct critical *x, uint32_t c)
{
	const struct timeline *t = x->t;
	const uint32_t *maker = x->m->tasks.dag.tensor_task;

	for (;;) {
		uint32_t v = maker[t->copy[c].tensor], other = x->copy_before[c];

		if (other == SCHED_NONE || !x->costs.contention ||
		    t->copy_end_s[other] <= t->end_s[v])
			return v;
		add_unit_of(x, v);
		c = other;
	}
}

/* What v waited for longest; SCHED_NONE: nothing. */
static uint32_t behind_task(struct critical *x, uint32_t v)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	const struct timeline *t = x->t;
	uint32_t behind = x->task_before[v], copy = SCHED_NONE;
	double latest = behind == SCHED_NONE ? 0 : t->end_s[behind];

	for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
		uint32_t tensor = d->use_tensor[d->in_use[i]], from = d->tensor_task[tensor];
		bool here = x->on[from] == x->on[v];
		uint32_t c = here ? SCHED_NONE : x->copy_of[(size_t)tensor * x->m->k + x->on[v]];
		double at = here ? t->end_s[from] : t->copy_end_s[c];

		if (at < latest || (at == latest && behind != SCHED_NONE))
			continue;
		latest = at;
		behind = from;
		copy = c;
	}
	return copy == SCHED_NONE ? behind : behind_copy(x, copy);
}

const uint32_t *critical_units(struct critical *x, const uint16_t *device, uint32_t *n)
{
	uint32_t n_tasks = x->m->tasks.dag.n, v = 0, steps = 0;

	for (uint32_t i = 0; i < x->n_units; i++)
		x->listed[x->unit[i]] = false;
	*n = x->n_units = 0;
	for (uint32_t i = 0; i < n_tasks; i++)
		x->on[i] = device[x->m->tasks.task_set[i]];
	for (uint32_t i = 0; x->m->saved_ptr && i < n_tasks; i++)
		x->task_s[(size_t)i * x->m->k + x->on[i]] = place_task_s(x->m, i, x->on[i], x->on);
	if (n_tasks == 0 || timeline_run(x->clock, x->on, &x->t) != TIMELINE_OK)
		return x->unit;
	list_servers(x);
	for (uint32_t i = 1; i < n_tasks; i++)
		if (x->t->end_s[i] > x->t->end_s[v])
			v = i;
	/* Tasks that take no time may wait for each other within an instant. */
	for (; v != SCHED_NONE && steps < n_tasks; steps++) {
		add_unit_of(x, v);
		v = behind_task(x, v);
	}
	*n = x->n_units;
	return x->unit;
}
