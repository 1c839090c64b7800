/* moves.c - local search: a placement is remembered, sets move, the value is asked for again.
 *
 * By the schedule's rules there are three placements of the sets (struct place_moves):
 *   base  the one of which the timeliner has checkpoints (timeline_run_base)
 *   last  the one of the last result
 *   now   the one that the next result is of
 * A search moves sets, asks, and then leaves them or moves them back.  It does not say which; the
 * next question shows it:
 *
 *   calls                     base  last  now   what is simulated
 *   place_begin AAA           AAA   AAA   AAA   all (run_base)
 *   move 1 to B; moved        AAA   ABA   ABA   set 1 moved
 *   move 1 to A, 2 to B;      AAA   AAB   AAB   set 2 moved; set 1 is back and is forgotten
 *     moved
 *   move 0 to B; moved        AAB   BAB   BAB   set 2 was left where it is, so that first `last`
 *                                               becomes the base (timeline_rebase); set 0 moved
 *
 * A set was left where it is if it differs from the base and was not moved since the last result:
 * it is then likely to stay.  Which placement is the base changes no result, only how much is
 * simulated: timeline_rerun says exactly what a run from the beginning would.
 *
 * Invariants.  Sets outside `touched` are the same in all three.  moved_in[set] is the number of
 * the question (`step`) before which the set was last moved, 0 for sets outside `touched`.
 * x->task_device and x->task_s are those of `last`.
 *
 * Cost of a result: the touched sets, and timeline_rerun.  Rules of dnn-partitioning for throughput
 * need no timeline: loads and memory are kept up to date by each move (by_moves). */
#include <math.h>
#include <string.h>

#include "graph/rows.h"
#include "place/simulate/evaluate_impl.h"

/* For each task, the later tasks whose cost depends on its device: those that save with it. */
static void list_savers(struct evaluator *x)
{
	const struct place_model *m = x->m;
	uint32_t n = m->tasks.dag.n;

	x->moves.saver = MEM_NEWN(uint32_t, m->saved_ptr[n]);
	x->moves.saver_ptr = MEM_NEWN(uint32_t, (size_t)n + 2);
	rows_reverse(m->saved_ptr, m->saved_task, n, x->moves.saver_ptr, x->moves.saver);
}

void moves_init(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	uint32_t n_sets = x->m->n_sets;

	v->base = MEM_NEWN(uint16_t, n_sets);
	v->last = MEM_NEWN(uint16_t, n_sets);
	v->now = MEM_NEWN(uint16_t, n_sets);
	v->touched = MEM_NEWN(uint32_t, n_sets);
	v->moved_in = MEM_NEWN(uint32_t, n_sets);
	v->base_mem = MEM_NEWN(uint64_t, x->m->k);
	v->task = MEM_NEWN(uint32_t, x->m->tasks.dag.n);
	v->listed = MEM_NEWN(uint32_t, x->m->tasks.dag.n);
	v->step = 1;
	if (x->m->saved_ptr)
		list_savers(x);
}

void moves_release(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	void *owned[] = {v->base,     v->last, v->now,    v->touched,   v->moved_in,
			 v->base_mem, v->task, v->listed, v->saver_ptr, v->saver};

	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
}

/* The result of v->now, simulated from the beginning; it becomes the base. */
static const struct place_result *run_base(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	const struct place_model *m = x->m;
	const struct place_result *r = evaluator_run(x, v->now, true);

	while (v->n_touched > 0)
		v->moved_in[v->touched[--v->n_touched]] = 0;
	v->step++;
	v->can_rebase = v->has_base;
	if (!v->has_base)
		return r;
	memcpy(v->base, v->now, m->n_sets * sizeof(*v->base));
	memcpy(v->last, v->now, m->n_sets * sizeof(*v->last));
	memset(v->base_mem, 0, m->k * sizeof(*v->base_mem));
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		v->base_mem[x->task_device[t]] += m->task_mem[(size_t)t * m->k + x->task_device[t]];
	return r;
}

/* What task t holds leaves one device's sum of mem (k) for another's. */
static void move_held(const struct place_model *m, uint32_t t, uint64_t *mem, uint32_t from,
		      uint32_t to)
{
	mem[from] -= m->task_mem[(size_t)t * m->k + from];
	mem[to] += m->task_mem[(size_t)t * m->k + to];
}

void moves_begin(struct evaluator *x, const uint16_t *device)
{
	const struct place_model *m = x->m;

	memcpy(x->moves.now, device, m->n_sets * sizeof(*device));
	const struct place_result *r = run_base(x);

	x->by_moves = m->rules == PLACE_DNNPART_THROUGHPUT && m->n_shared == 0 &&
		      (r->status == PLACE_OK || r->status == PLACE_MEMORY);
	if (x->by_moves)
		dnnpart_begin(x->dnnpart, x->task_device);
}

void moves_move(struct evaluator *x, uint32_t set, uint16_t dev)
{
	const struct place_model *m = x->m;
	struct place_moves *v = &x->moves;
	uint32_t t = x->set_task[set];
	uint16_t from = v->now[set];

	v->now[set] = dev;
	if (v->has_base && !v->moved_in[set])
		v->touched[v->n_touched++] = set;
	if (v->has_base)
		v->moved_in[set] = v->step;
	if (!x->by_moves || t == GRAPH_NONE || from == dev)
		return;
	if (!place_allowed(m, set, dev)) {
		x->by_moves = false;
		return;
	}
	dnnpart_move(x->dnnpart, t, dev);
	move_held(m, t, x->r.mem_bytes, from, dev);
}

/* The result where loads and memory are kept up to date by moves. */
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

/* `last` becomes the base if a set that differs from the base was left where it is. */
static void rebase_if_moved(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	bool left = false;

	for (uint32_t i = 0; i < v->n_touched; i++) {
		uint32_t set = v->touched[i];

		left |= v->now[set] != v->base[set] && v->moved_in[set] != v->step;
	}
	if (!left || !v->can_rebase)
		return;
	timeline_rebase(x->clock);
	for (uint32_t i = 0; i < v->n_touched; i++) {
		uint32_t set = v->touched[i], t = x->set_task[set];

		if (t != GRAPH_NONE)
			move_held(x->m, t, v->base_mem, v->base[set], v->last[set]);
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

/* Give moved tasks their devices and costs, and find the memory of folded values.  v->task becomes
 * the list of tasks with another device or cost than in the base. */
static void apply_moves(struct evaluator *x)
{
	struct place_moves *v = &x->moves;
	const struct place_model *m = x->m;

	v->n_tasks = 0;
	memcpy(x->r.mem_bytes, v->base_mem, m->k * sizeof(*v->base_mem));
	for (uint32_t i = 0; i < v->n_touched; i++) {
		uint32_t set = v->touched[i], t = x->set_task[set];

		v->last[set] = v->now[set];
		if (t == GRAPH_NONE)
			continue;
		x->task_device[t] = v->now[set];
		move_held(m, t, x->r.mem_bytes, v->base[set], v->now[set]);
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

/* Sets that are back where they are in the base leave `touched`. */
static void forget_returned(struct place_moves *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_touched; i++) {
		uint32_t set = v->touched[i];

		if (v->now[set] == v->base[set])
			v->moved_in[set] = 0;
		else
			v->touched[n++] = set;
	}
	v->n_touched = n;
	v->step++;
}

const struct place_result *moves_below(struct evaluator *x, double limit)
{
	const struct place_objective *o = &x->m->objective;
	struct place_moves *v = &x->moves;
	const struct timeline *t;
	double limit_s = INFINITY;

	if (x->by_moves)
		return moved_loads(x);
	if (!v->has_base)
		return run_base(x);
	/* The value is no less than what the makespan alone makes of it. */
	if (place_objective_is_latency(o))
		limit_s = limit;
	else if (o->limit_s > 0) /* beyond both the latency is the value */
		limit_s = fmax(limit, o->limit_s);
	else if (o->latency > 0)
		limit_s = limit / o->latency;
	rebase_if_moved(x);
	apply_moves(x);
	enum timeline_status s =
		timeline_rerun(x->clock, x->task_device, v->task, v->n_tasks, limit_s, &t);
	v->can_rebase = s == TIMELINE_OK || s == TIMELINE_ABOVE;
	forget_returned(v);
	return evaluator_result(x, s, t);
}
