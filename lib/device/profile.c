/* profile.c - timed inferences on one device after another. */
#include "device/profile.h"

#include <math.h>
#include <string.h>

/* Inferences that count, per device: at least, at most, and no more after these seconds. */
enum { LEAST_RUNS = 3, MOST_RUNS = 15 };
static const double ENOUGH_S = 0.8;

/* The set that a step's time belongs to: its own, or its first consumer's. */
static void step_sets(const struct planner *p, uint32_t *set)
{
	const struct model *m = p->m;
	for (uint32_t s = m->n_steps; s-- > 0;) {
		set[s] = m->g->set[m->step_node[s]];
		for (uint32_t t = p->dag.out_ptr[s];
		     t < p->dag.out_ptr[s + 1] && set[s] == GRAPH_NONE; t++)
			if (p->dag.use_ptr[t] < p->dag.use_ptr[t + 1])
				set[s] = set[p->dag.use_task[p->dag.use_ptr[t]]];
	}
}

/* All sets that device d can run there, the others where they can run. */
static void mostly_on(const struct session *s, uint32_t d, uint16_t *device)
{
	uint32_t k = s->devices.n;
	for (uint32_t i = 0; i < s->model.g->n_sets; i++) {
		const uint8_t *can = &s->mask[(size_t)i * k];
		uint32_t on = d;
		if (!can[d])
			for (on = 0; on + 1 < k && !can[on];)
				on++;
		device[i] = (uint16_t)on;
	}
}

/* ---- timed inferences ---- */

struct times {
	uint32_t n_steps, n_runs;
	double *step_s;              /* (n_runs, n_steps) */
	double *lat_s;               /* (n_runs) */
};

/* Inferences of p; steps `apart` are waited for one by one. */
static int time_runs(struct executor *x, struct plan *p, bool apart, struct times *t,
		     struct err *e)
{
	struct exec_sample warm = {0};
	double end = clock_s() + ENOUGH_S;
	t->n_runs = 0;
	if (executor_run(x, p, &warm, e) < 0)
		return -1;
	while (t->n_runs < MOST_RUNS && (t->n_runs < LEAST_RUNS || clock_s() < end)) {
		struct exec_sample s = {.step_s = &t->step_s[(size_t)t->n_runs * t->n_steps],
					.apart = apart};
		if (executor_run(x, p, &s, e) < 0)
			return -1;
		t->lat_s[t->n_runs++] = s.lat_s;
	}
	return 0;
}

static double median_of_step(const struct times *t, uint32_t step)
{
	double x[MOST_RUNS];
	for (uint32_t r = 0; r < t->n_runs; r++)
		x[r] = t->step_s[(size_t)r * t->n_steps + step];
	return interval_median(x, t->n_runs).mid;
}

/* Seconds of every step of p into step_s. */
static int time_steps(struct session *s, uint32_t d, struct plan *p, bool alone, double *step_s,
		      struct err *e)
{
	uint32_t n = s->model.n_steps;
	bool queues = s->devices.dev[d].class->finish != NULL;
	struct times t = {.n_steps = n,
			  .step_s = MEM_NEWN(double, (size_t)MOST_RUNS * n + 1),
			  .lat_s = MEM_NEWN(double, MOST_RUNS)};
	double sum = 0, scale = 1;
	int rc = time_runs(s->x, p, queues, &t, e);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		sum += step_s[i] = median_of_step(&t, i);
	if (rc == 0 && queues && alone && (rc = time_runs(s->x, p, false, &t, e)) == 0) {
		double lat = interval_median(t.lat_s, t.n_runs).mid;
		scale = sum > lat ? lat / sum : 1;
	}
	for (uint32_t i = 0; i < n; i++)
		step_s[i] *= scale;
	mem_free(t.step_s);
	mem_free(t.lat_s);
	return rc;
}

/* Column d of set_s. */
static int time_sets(struct session *s, uint32_t d, const uint32_t *step_set, double *set_s,
		     struct err *e)
{
	uint32_t k = s->devices.n, n_sets = s->model.g->n_sets;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)n_sets + 1);
	double *step_s = MEM_NEWN(double, (size_t)s->model.n_steps + 1);
	struct plan p;
	mostly_on(s, d, device);
	int rc = plan_make(&s->planner, device, &p, e);
	if (rc == 0) {
		rc = time_steps(s, d, &p, session_single(s, device) == (int)d, step_s, e);
		plan_release(&p);
	}
	for (uint32_t i = 0; i < n_sets; i++)
		set_s[(size_t)i * k + d] = rc == 0 && s->mask[(size_t)i * k + d] ? 0 : -1;
	for (uint32_t i = 0; i < s->model.n_steps && rc == 0; i++) {
		double *x = step_set[i] == GRAPH_NONE ? NULL : &set_s[(size_t)step_set[i] * k + d];
		if (x && *x >= 0)
			*x += step_s[i];
	}
	mem_free(device);
	mem_free(step_s);
	return rc;
}

/* ---- the whole ---- */

/* A failure of device d, unless the program is to end. */
static int note_failure(const struct session *s, struct profile *out, uint32_t d, struct arena *a,
			struct err *e)
{
	if (!executor_alive(s->x))
		return -1;
	out->failed[d] = arena_printf(a, "%s", e->msg);
	err_clear(e);
	return 0;
}

static int take_links(struct session *s, struct profile *out, struct arena *a, struct err *e)
{
	uint32_t k = s->devices.n;
	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = i + 1; j < k; j++) {
			struct link_cost x;
			if (out->failed[i] || out->failed[j])
				continue;
			if (link_measure(s->x, &s->devices, i, j, &x, e) == 0)
				out->link[(size_t)i * k + j] = out->link[(size_t)j * k + i] = x;
			else if (note_failure(s, out, j, a, e) < 0)
				return -1;
		}
	return 0;
}

int profile_take(struct session *s, struct arena *a, struct profile *out, struct err *e)
{
	size_t k = s->devices.n, n_sets = s->model.g->n_sets;
	uint32_t *step_set = MEM_NEWN(uint32_t, (size_t)s->model.n_steps + 1);
	*out = (struct profile){.set_s = ARENA_NEWN(a, double, n_sets * k),
				.failed = ARENA_NEWN(a, const char *, k),
				.link = ARENA_NEWN(a, struct link_cost, k * k)};
	step_sets(&s->planner, step_set);
	int rc = 0;
	for (uint32_t d = 0; d < k && rc == 0; d++)
		if (time_sets(s, d, step_set, out->set_s, e) < 0)
			rc = note_failure(s, out, d, a, e);
	mem_free(step_set);
	return rc < 0 ? -1 : take_links(s, out, a, e);
}
