/* measured_schedule.c - from the times of a run's tasks to times of sets and copies. */
#include "measure/measured_schedule.h"

#include <math.h>
#include <string.h>

enum { SCHEDULE_RUNS = 5 };
/* Of long inferences fewer runs, so that together they take about so long. */
static const double SCHEDULE_S = 1;

/* The times of one run. */
struct times {
	double *start_s, *end_s, *task_s; /* (n_tasks) */
	double lat_s;
};

static void times_alloc(struct times *x, uint32_t n_tasks)
{
	x->start_s = MEM_NEWN(double, (size_t)n_tasks + 1);
	x->end_s = MEM_NEWN(double, (size_t)n_tasks + 1);
	x->task_s = MEM_NEWN(double, (size_t)n_tasks + 1);
}

static void times_free(struct times *x)
{
	mem_free(x->start_s);
	mem_free(x->end_s);
	mem_free(x->task_s);
}

static bool any_queues(const struct device_list *l)
{
	for (uint32_t d = 0; d < l->n; d++)
		if (l->dev[d].class->finish)
			return true;
	return false;
}

/* The run of a few whose latency is nearest to lat_s, in *best. */
static int run_nearest(struct executor *x, struct plan *p, double lat_s, struct times *best,
		       struct err *e)
{
	struct times now;
	int rc = 0;
	times_alloc(&now, p->n_tasks);
	best->lat_s = INFINITY;
	for (int i = 0; i < SCHEDULE_RUNS && rc == 0 && i * lat_s <= SCHEDULE_S; i++) {
		struct exec_sample sample = {.task_s = now.task_s,
					     .start_s = now.start_s,
					     .end_s = now.end_s,
					     .apart = any_queues(p->devices)};
		rc = executor_run(x, p, &sample, e);
		now.lat_s = sample.lat_s;
		if (rc == 0 && fabs(now.lat_s - lat_s) < fabs(best->lat_s - lat_s)) {
			struct times swap = *best;
			*best = now;
			now = swap;
		}
	}
	times_free(&now);
	return rc;
}

/* ---- sets ---- */

/* Columns of a schedule, with room for `cap` sets and `cap_copies` copies. */
struct columns {
	uint32_t n, n_copies, *set, *copy_set;
	double *start_s, *end_s, *copy_start_s, *copy_end_s;
	uint16_t *copy_src, *copy_dst;
	uint64_t *copy_bytes;
};

static void columns_alloc(struct columns *x, uint32_t cap, uint32_t cap_copies, struct arena *a)
{
	*x = (struct columns){
		.set = ARENA_NEWN(a, uint32_t, cap),
		.start_s = ARENA_NEWN(a, double, cap),
		.end_s = ARENA_NEWN(a, double, cap),
		.copy_set = ARENA_NEWN(a, uint32_t, cap_copies),
		.copy_src = ARENA_NEWN(a, uint16_t, cap_copies),
		.copy_dst = ARENA_NEWN(a, uint16_t, cap_copies),
		.copy_bytes = ARENA_NEWN(a, uint64_t, cap_copies),
		.copy_start_s = ARENA_NEWN(a, double, cap_copies),
		.copy_end_s = ARENA_NEWN(a, double, cap_copies),
	};
}

/* The sets of a task's steps share its time; neighbours of one set are one entry. */
static void add_task(struct columns *x, const struct plan_task *t, double start_s, double end_s,
		     const uint32_t *step_set)
{
	double now = start_s;
	bool more = false; /* the last entry is of this task */
	for (uint32_t j = 0; j < t->group->n; j++) {
		uint32_t set = step_set[t->group->step[j]];
		double then = j + 1 < t->group->n ? now + (end_s - start_s) * t->share[j] : end_s;
		if (set != GRAPH_NONE && more && x->set[x->n - 1] == set) {
			x->end_s[x->n - 1] = then;
		} else if (set != GRAPH_NONE) {
			x->set[x->n] = set;
			x->start_s[x->n] = now;
			x->end_s[x->n++] = then;
			more = true;
		}
		now = then;
	}
}

/* ---- copies ---- */

struct copy_times {
	double start_s, end_s;
};

/* The output of the graph `out` on its way to device `to`: from when its first task starts to when
 * its last ends. */
static void add_copy_task(struct copy_times *x, double start_s, double end_s)
{
	if (x->end_s < 0) {
		*x = (struct copy_times){start_s, end_s};
		return;
	}
	x->start_s = fmin(x->start_s, start_s);
	x->end_s = fmax(x->end_s, end_s);
}

/* Every tensor that a step on another device reads, once for each such device.  on (n_steps) devices;
 * done_s (n_steps) when each step's task ended; of (n_out, k) times of copies that were made. */
static void add_copies(struct columns *x, const struct planner *p, const uint16_t *on,
		       const uint32_t *step_set, const double *done_s, const struct copy_times *of)
{
	const struct sched_dag *d = &p->dag;
	uint32_t k = p->devices->n, *seen = MEM_NEWN(uint32_t, (size_t)k + 1);
	for (uint32_t t = 0; t < d->n_tensors; t++) {
		uint32_t from = d->tensor_task[t], out = p->tensor_out[t];
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++) {
			uint16_t to = on[d->use_task[u]];
			if (to == on[from] || seen[to] == t + 1 || step_set[from] == GRAPH_NONE)
				continue;
			seen[to] = t + 1;
			const struct copy_times *c = &of[(size_t)out * k + to];
			bool made = c->end_s >= 0;
			uint32_t i = x->n_copies++;
			x->copy_set[i] = step_set[from];
			x->copy_src[i] = on[from];
			x->copy_dst[i] = to;
			x->copy_bytes[i] = model_bytes(p->m, out);
			x->copy_start_s[i] = made ? c->start_s : done_s[from];
			x->copy_end_s[i] = made ? c->end_s : done_s[from];
		}
	}
	mem_free(seen);
}

static uint32_t count_copies(const struct sched_dag *d, const uint16_t *on)
{
	uint32_t n = 0;
	for (uint32_t u = 0; u < d->n_uses; u++)
		n += on[d->tensor_task[d->use_tensor[u]]] != on[d->use_task[u]];
	return n;
}

static void from_times(const struct planner *by, const struct plan *p, const uint16_t *device,
		       const struct times *r, struct arena *a, struct run_schedule *out)
{
	const struct graph *g = by->m->g;
	uint32_t n = by->m->n_steps, k = by->devices->n, n_out = g->out_ptr[g->n];
	uint32_t *step_set = MEM_NEWN(uint32_t, (size_t)n + 1);
	uint16_t *on = MEM_NEWN(uint16_t, (size_t)n + 1);
	double *done_s = MEM_NEWN(double, (size_t)n + 1);
	struct copy_times *of = MEM_NEWN(struct copy_times, (size_t)n_out * k + 1);
	struct columns x;
	planner_step_sets(by, step_set);
	planner_steps(by, device, on);
	columns_alloc(&x, n, count_copies(&by->dag, on), a);
	for (size_t i = 0; i < (size_t)n_out * k; i++)
		of[i].end_s = -1;
	for (uint32_t i = 0; i < p->n_tasks; i++) {
		const struct plan_task *t = &p->task[i];
		if (t->kind == TASK_STEP) {
			add_task(&x, t, r->start_s[i], r->end_s[i], step_set);
			for (uint32_t j = 0; j < t->group->n; j++)
				done_s[t->group->step[j]] = r->end_s[i];
		} else if (t->copied != GRAPH_NONE) {
			add_copy_task(&of[(size_t)t->copied * k + t->to], r->start_s[i],
				      r->end_s[i]);
		}
	}
	add_copies(&x, by, on, step_set, done_s, of);
	*out = (struct run_schedule){.n = x.n,
				     .n_copies = x.n_copies,
				     .set = x.set,
				     .start_s = x.start_s,
				     .end_s = x.end_s,
				     .copy_set = x.copy_set,
				     .copy_src = x.copy_src,
				     .copy_dst = x.copy_dst,
				     .copy_bytes = x.copy_bytes,
				     .copy_start_s = x.copy_start_s,
				     .copy_end_s = x.copy_end_s};
	mem_free(step_set);
	mem_free(on);
	mem_free(done_s);
	mem_free(of);
}

int schedule_measure(struct executor *x, const struct planner *by, struct plan *p,
		     const uint16_t *device, double lat_s, struct arena *a,
		     struct run_schedule *out, struct err *e)
{
	struct times best;
	times_alloc(&best, p->n_tasks);
	int rc = run_nearest(x, p, lat_s, &best, e);
	if (rc == 0)
		from_times(by, p, device, &best, a, out);
	times_free(&best);
	return rc;
}
