/* timed.c - runs of a plan, and which of them count. */
#include "device/timed.h"

#include <stdlib.h>
#include <string.h>

enum { KEEP_SHARE = 6, KEEP_LEAST = 2 };

static void make_room(struct timed *t, const struct session *s)
{
	t->made = true;
	t->n_steps = s->model.n_steps;
	t->step_s = MEM_NEWN(double, (size_t)TIMED_MOST * t->n_steps + 1);
	t->task_s = MEM_NEWN(double, (size_t)TIMED_MOST * t->plan.n_tasks + 1);
	t->lat_s = MEM_NEWN(double, TIMED_MOST);
}

int timed_make(struct timed *t, struct session *s, const uint16_t *device, enum fuse_mode fuse,
	       struct err *e)
{
	struct planner *p = &s->planner;
	enum fuse_mode before = p->fuse;
	p->fuse = fuse;
	int rc = plan_make(p, device, &t->plan, e);
	p->fuse = before;
	if (rc == 0)
		make_room(t, s);
	return rc;
}

int timed_make_tuned(struct timed *t, struct session *s, const uint16_t *device, struct err *e)
{
	if (session_plan(s, device, &t->plan, e) < 0)
		return -1;
	make_room(t, s);
	return 0;
}

void timed_release(struct timed *t)
{
	if (t->made)
		plan_release(&t->plan);
	mem_free(t->step_s);
	mem_free(t->task_s);
	mem_free(t->lat_s);
	*t = (struct timed){0};
}

int timed_run(struct timed *t, struct session *s, bool warm, struct err *e)
{
	uint32_t r = t->n_runs < TIMED_MOST ? t->n_runs : TIMED_MOST - 1;
	struct exec_sample x = {.step_s = &t->step_s[(size_t)r * t->n_steps],
				.task_s = &t->task_s[(size_t)r * t->plan.n_tasks],
				.apart = t->waits};
	if (executor_run(s->x, &t->plan, &x, e) < 0)
		return -1;
	if (t->whole) {
		struct exec_sample whole = {0};
		if (executor_run(s->x, &t->plan, &whole, e) < 0)
			return -1;
		x.lat_s = whole.lat_s;
	}
	t->lat_s[r] = x.lat_s;
	t->n_runs = warm ? t->n_runs : r + 1;
	return 0;
}

/* ---- the fastest ---- */

struct run {
	double s;
	uint32_t index;
};

static int by_time(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;
	if (a->s != b->s)
		return a->s < b->s ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

/* Rows run[0 .. n-1] of x (TIMED_MOST, width), in this order, in its place. */
static void pick_rows(double **x, uint32_t width, const struct run *run, uint32_t n)
{
	double *rows = MEM_NEWN(double, (size_t)TIMED_MOST * width + 1);
	for (uint32_t i = 0; i < n; i++)
		memcpy(rows + (size_t)i * width, *x + (size_t)run[i].index * width,
		       width * sizeof **x);
	mem_free(*x);
	*x = rows;
}

void timed_keep_fastest(struct timed *t)
{
	struct run run[TIMED_MOST];
	uint32_t n = t->n_runs / KEEP_SHARE;
	n = n > KEEP_LEAST ? n : KEEP_LEAST;
	if (n > t->n_runs)
		n = t->n_runs;
	for (uint32_t r = 0; r < t->n_runs; r++) {
		run[r] = (struct run){0, r};
		for (uint32_t i = 0; i < t->plan.n_tasks; i++)
			run[r].s += t->task_s[(size_t)r * t->plan.n_tasks + i];
	}
	qsort(run, t->n_runs, sizeof *run, by_time);
	qsort(t->lat_s, t->n_runs, sizeof *t->lat_s, by_value);
	pick_rows(&t->step_s, t->n_steps, run, n);
	pick_rows(&t->task_s, t->plan.n_tasks, run, n);
	t->n_runs = n;
}
