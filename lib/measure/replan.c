/* replan.c - plans for several devices by durations that were measured in this very placement:
 * beside the others' work, and grouped as it groups them. */
#include "measure/session.h"
#include "base/clock.h"

#include <math.h>
#include <string.h>

/* Runs that are timed, and how far a run may be from its planned latency without being timed. */
enum { TIMED_RUNS = 3 };
static const double AS_PLANNED = 0.04;

static bool overlaps(const struct plan *p)
{
	uint32_t busy = 0;
	for (uint32_t d = 0; d < p->devices->n; d++)
		busy += p->n_dev_tasks[d] > 0;
	return busy > 1;
}

/* Do devices that compile segments do all of it?  These are few, and what they wait for leaves little to
 * order. */
static bool all_segments(const struct plan *p)
{
	for (uint32_t d = 0; d < p->devices->n; d++)
		if (p->n_dev_tasks[d] > 0 && !p->devices->dev[d].class->segments)
			return false;
	return true;
}

/* Medians of the n runs in step_s (n, n_steps) replace planned ones, where a step's end can
 * be seen by its worker. */
static void update_costs(struct session *s, const struct plan *p, const double *step_s, uint32_t n)
{
	struct planner *pl = &s->planner;
	uint32_t k = s->devices.n, n_steps = s->model.n_steps;
	for (uint32_t i = 0; i < p->n_groups; i++) {
		const struct fusion_group *g = &p->group[i];
		for (uint32_t j = 0; j < g->n && !s->devices.dev[g->dev].class->flush; j++) {
			double x[TIMED_RUNS];
			for (uint32_t r = 0; r < n; r++)
				x[r] = step_s[(size_t)r * n_steps + g->step[j]];
			pl->step_s[(size_t)g->step[j] * k + g->dev] =
				fmax(interval_median(x, n).mid, 1e-7);
		}
	}
}

/* Times runs of p.  1: they are not as planned, and the planner has learnt from them; 0; -1: a run
 * failed. */
static int time_plan(struct session *s, struct plan *p, struct err *e)
{
	uint32_t n_steps = s->model.n_steps;
	double *step_s = MEM_NEWN(double, (size_t)TIMED_RUNS *n_steps + 1);
	int rc = 0;
	bool off = false;
	/* The first run warms up. */
	for (uint32_t r = 0; r <= TIMED_RUNS && rc == 0; r++) {
		struct exec_sample x = {.step_s = &step_s[(size_t)(r ? r - 1 : 0) * n_steps]};
		rc = executor_run(s->x, p, &x, e);
		if (r == 1 && rc == 0 && fabs(x.lat_s - p->predicted_s) < AS_PLANNED * x.lat_s)
			break;
		off = r == TIMED_RUNS && rc == 0;
	}
	if (off)
		update_costs(s, p, step_s, TIMED_RUNS);
	mem_free(step_s);
	return rc < 0 ? -1 : off;
}

bool session_is_late(const struct session *s, double share)
{
	return s->opt.race_s > 0 && clock_s() - s->began_s > share * s->opt.race_s;
}

int session_make(struct session *s, const struct trial *t, struct plan *out, struct err *e)
{
	s->planner.order = t->order;
	s->planner.n_order = t->n_order;
	s->planner.n_more = t->n_more;
	int rc = plan_make(&s->planner, t->device, out, e);
	s->planner.order = NULL;
	s->planner.n_more = 0;
	return rc;
}

/* All rows of a trial's devices. */
static int may_run(const struct session *s, const struct trial *t, struct err *e)
{
	if (t->n_more > 0 && t->n_more >= s->flight.n)
		return err_set(e, ST_RUNTIME, "%u replicas, and %u request%s in flight",
			       1 + t->n_more, s->flight.n, s->flight.n == 1 ? "" : "s");
	for (uint32_t r = 0; r <= t->n_more; r++)
		if (session_may_run(s, t->device + (size_t)r * s->model.g->n_sets, e) < 0)
			return -1;
	return 0;
}

int session_plan(struct session *s, const struct trial *t, struct plan *out, struct err *e)
{
	if (may_run(s, t, e) < 0 || session_make(s, t, out, e) < 0)
		return -1;
	/* Rounds keep to the profile, a race has its runs before it if there is time.  Runs before those that count would change
	 * what variables keep. */
	bool fixed = s->n_more > 0 || (s->has_costs && !(s->opt.race_s > 0)) ||
		     session_is_late(s, PLANS_SHARE) || s->opt.keep_state || !overlaps(out) ||
		     all_segments(out);
	int off = fixed ? 0 : time_plan(s, out, e);
	if (off == 0)
		return 0;
	plan_release(out);
	return off < 0 ? -1 : session_make(s, t, out, e);
}
