/* timed.c - runs of a plan, and what they tell of it as a whole. */
#include "profile/timed.h"

#include <math.h>

#include "timing/burst.h"

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

int timed_sample(struct timed *t, struct session *s, struct err *e)
{
	if (timed_run(t, s, false, e) < 0)
		return -1;
	if (!burst_is_short(t->lat_s[t->n_runs - 1]))
		return 0;
	t->n_runs--;
	return timed_run(t, s, false, e);
}

struct interval timed_median(const double *x, uint32_t n)
{
	static const double UNSURE = 0.5;
	if (n != 1)
		return interval_median(x, n);
	return (struct interval){x[0], x[0] - UNSURE * fabs(x[0]), x[0] + UNSURE * fabs(x[0])};
}

double timed_least(const struct timed *t)
{
	double least = INFINITY;
	for (uint32_t r = 0; r < t->n_runs; r++)
		least = fmin(least, t->lat_s[r]);
	return least;
}

double timed_beside(const struct timed *t, const struct timed *ref, uint32_t at)
{
	enum { FEWEST = 3 };
	double x[TIMED_MOST];
	uint32_t n = 0;
	for (uint32_t r = 0; ref && ref != t && r < t->n_runs && at + r < ref->n_runs; r++)
		x[n++] = log(t->lat_s[r] / ref->lat_s[at + r]);
	return n < FEWEST ? timed_least(t) : timed_least(ref) * exp(interval_median(x, n).mid);
}

double timed_unwaited(const struct timed *t)
{
	double sum[TIMED_MOST];
	if (!t->whole)
		return 1;
	for (uint32_t r = 0; r < t->n_runs; r++) {
		sum[r] = 0;
		for (uint32_t i = 0; i < t->plan.n_tasks; i++)
			sum[r] += t->task_s[(size_t)r * t->plan.n_tasks + i];
	}
	return fmin(1,
		    interval_median(t->lat_s, t->n_runs).mid / interval_median(sum, t->n_runs).mid);
}
