/* moves.c - placements that differ in a few sets from one that was evaluated before. */
#include <math.h>
#include <string.h>

#include "place/simulate/evaluator.h"

/* For each task, those after it whose cost depends on its device. */
static void list_savers(struct evaluator *x)
{
	const struct place_model *m = x->m;
	uint32_t n = m->tasks.dag.n, *ptr = MEM_NEWN(uint32_t, (size_t)n + 2);

	x->moves.saver = MEM_NEWN(uint32_t, m->saved_ptr[n]);
	/* Counted two places up, so that filling leaves the beginnings. */
	for (uint32_t i = 0; i < m->saved_ptr[n]; i++)
		ptr[m->saved_task[i] + 2]++;
	for (uint32_t t = 0; t < n; t++)
		ptr[t + 2] += ptr[t + 1];
	for (uint32_t t = 0; t < n; t++)
		for (uint32_t i = m->saved_ptr[t]; i < m->saved_ptr[t + 1]; i++)
			x->moves.saver[ptr[m->saved_task[i] + 1]++] = t;
	x->moves.saver_ptr = ptr;
}

void moves_init(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	uint32_t n_sets = x->m->n_sets;

	v->base = MEM_NEWN(uint16_t, n_sets);
	v->last = MEM_NEWN(uint16_t, n_sets);
	v->now = MEM_NEWN(uint16_t, n_sets);
	v->touched = MEM_NEWN(uint32_t, n_sets);
	v->step_of = MEM_NEWN(uint32_t, n_sets);
	v->weights = MEM_NEWN(uint64_t, x->m->k);
	v->task = MEM_NEWN(uint32_t, x->m->tasks.dag.n);
	v->listed = MEM_NEWN(uint32_t, x->m->tasks.dag.n);
	v->step = 1;
	if (x->m->saved_ptr)
		list_savers(x);
}

void moves_release(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	void *owned[] = {v->base,    v->last, v->now,    v->touched,   v->step_of,
			 v->weights, v->task, v->listed, v->saver_ptr, v->saver};

	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
}

/* A result of v->now from the beginning, which is the base of what follows. */
static const struct place_result *begin(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	const struct place_model *m = x->m;
	const struct place_result *r = evaluator_run(x, v->now, true);

	while (v->n_touched > 0)
		v->step_of[v->touched[--v->n_touched]] = 0;
	v->step++;
	v->ran = v->based;
	if (!v->based)
		return r;
	memcpy(v->base, v->now, m->n_sets * sizeof(*v->base));
	memcpy(v->last, v->now, m->n_sets * sizeof(*v->last));
	memset(v->weights, 0, m->k * sizeof(*v->weights));
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		v->weights[x->task_device[t]] += m->task_mem[t];
	return r;
}

void place_begin(struct evaluator *x, const uint16_t *device)
{
	const struct place_model *m = x->m;

	memcpy(x->moves.now, device, m->n_sets * sizeof(*device));
	const struct place_result *r = begin(x);

	x->by_moves = m->rules == PLACE_DNNPART_THROUGHPUT && m->n_shared == 0 &&
		      (r->status == PLACE_OK || r->status == PLACE_MEMORY);
	if (x->by_moves)
		dnnpart_begin(x->dnnpart, x->task_device);
}

void place_move(struct evaluator *x, uint32_t set, uint16_t dev)
{
	const struct place_model *m = x->m;
	struct place_moves *v = &x->moves;
	uint32_t t = x->set_task[set];
	uint16_t from = v->now[set];

	v->now[set] = dev;
	if (v->based && !v->step_of[set])
		v->touched[v->n_touched++] = set;
	if (v->based)
		v->step_of[set] = v->step;
	if (!x->by_moves || t == GRAPH_NONE || from == dev)
		return;
	if (!place_allowed(m, set, dev)) {
		x->by_moves = false;
		return;
	}
	dnnpart_move(x->dnnpart, t, dev);
	x->r.mem_bytes[from] -= m->task_mem[t];
	x->r.mem_bytes[dev] += m->task_mem[t];
}

/* The rules that keep loads and memory by moves. */
static const struct place_result *moved_loads(struct evaluator *x)
{
	struct place_result *r = &x->r;
	const struct dnnpart_result *d = dnnpart_moved(x->dnnpart);

	r->status = PLACE_OK;
	r->value = r->lat_s = d->value_s;
	r->busy_s = d->load_s;
	for (uint32_t i = x->m->k; i-- > 0;)
		if (x->m->mem_limit[i] && r->mem_bytes[i] > x->m->mem_limit[i]) {
			r->status = PLACE_MEMORY;
			r->bad_dev = i;
		}
	return r;
}

/* What the last result was of is the base from now on, where sets differ from it that were not
 * moved since: they are there to stay. */
static void move_base(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	bool stays = false;

	for (uint32_t i = 0; i < v->n_touched; i++) {
		uint32_t set = v->touched[i];

		stays |= v->now[set] != v->base[set] && v->step_of[set] != v->step;
	}
	if (!stays || !v->ran)
		return;
	timeline_rebase(x->clock);
	for (uint32_t i = 0; i < v->n_touched; i++) {
		uint32_t set = v->touched[i], t = x->set_task[set];

		if (t != GRAPH_NONE) {
			v->weights[v->base[set]] -= x->m->task_mem[t];
			v->weights[v->last[set]] += x->m->task_mem[t];
		}
		v->base[set] = v->last[set];
	}
}

static void list_task(struct place_moves *v, uint32_t t)
{
	if (v->listed[t] == v->step)
		return;
	v->listed[t] = v->step;
	v->task[v->n_tasks++] = t;
}

/* Devices and costs of what was moved, and memory of folded values. */
static void apply(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	const struct place_model *m = x->m;

	v->n_tasks = 0;
	memcpy(x->r.mem_bytes, v->weights, m->k * sizeof(*v->weights));
	for (uint32_t i = 0; i < v->n_touched; i++) {
		uint32_t set = v->touched[i], t = x->set_task[set];

		v->last[set] = v->now[set];
		if (t == GRAPH_NONE)
			continue;
		x->task_device[t] = v->now[set];
		x->r.mem_bytes[v->base[set]] -= m->task_mem[t];
		x->r.mem_bytes[v->now[set]] += m->task_mem[t];
		list_task(v, t);
		for (uint32_t j = v->saver_ptr ? v->saver_ptr[t] : 0;
		     v->saver_ptr && j < v->saver_ptr[t + 1]; j++)
			list_task(v, v->saver[j]);
	}
	for (uint32_t i = 0; m->saved_ptr && i < v->n_tasks; i++) {
		uint32_t t = v->task[i], dev = x->task_device[t];

		x->task_s[(size_t)t * m->k + dev] = place_task_s(m, t, dev, x->task_device);
	}
}

/* Sets that are back where they were are as if never moved. */
static void forget_returned(struct place_moves *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_touched; i++) {
		uint32_t set = v->touched[i];

		if (v->now[set] == v->base[set])
			v->step_of[set] = 0;
		else
			v->touched[n++] = set;
	}
	v->n_touched = n;
	v->step++;
}

const struct place_result *place_moved_below(struct evaluator *x, double limit)
{
	const struct place_objective *o = &x->m->objective;
	struct place_moves *v = &x->moves;
	const struct timeline *t;
	double limit_s = INFINITY;

	if (x->by_moves)
		return moved_loads(x);
	if (!v->based)
		return begin(x);
	/* The value is no less than what the makespan alone makes of it. */
	if (place_objective_is_latency(o))
		limit_s = limit;
	else if (o->latency > 0)
		limit_s = limit / o->latency;
	move_base(x);
	apply(x);
	enum timeline_status s =
		timeline_rerun(x->clock, x->task_device, v->task, v->n_tasks, limit_s, &t);
	v->ran = s == TIMELINE_OK || s == TIMELINE_ABOVE;
	forget_returned(v);
	return evaluator_result(x, s, t);
}

const struct place_result *place_moved(struct evaluator *x)
{
	return place_moved_below(x, INFINITY);
}
