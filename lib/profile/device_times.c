/* device_times.c - plans of one device, and what sets and steps take in them. */
#include "profile/device_times.h"

#include <math.h>

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

void device_times_sum(const struct device_times *x, const bool *only, struct interval *set_s)
{
	const struct session *s = x->s;
	const struct timed *t = x->apart.made ? &x->apart : &x->joined;
	uint32_t k = s->devices.n, n_sets = s->model.g->n_sets, n = t->n_runs;
	double *sum = MEM_NEWN(double, (size_t)n_sets *n + 1), scale = timed_unwaited(t);
	for (uint32_t i = 0; i < t->n_steps; i++)
		for (uint32_t r = 0; r < n && x->step_set[i] != GRAPH_NONE; r++)
			sum[(size_t)x->step_set[i] * n + r] +=
				t->step_s[(size_t)r * t->n_steps + i];
	for (uint32_t i = 0; i < n_sets; i++)
		if (s->mask[(size_t)i * k + x->d] && (!only || only[i]))
			set_s[(size_t)i * k + x->d] =
				interval_scaled(timed_median(&sum[(size_t)i * n], n), scale);
	mem_free(sum);
}

/* The planner's durations of p's steps on device d become what the device says of the nodes of its
 * segments, by which a segment's time is shared out.  Where it says nothing they stay guesses. */
static bool ask_nodes(struct session *s, uint32_t d, const struct plan *p)
{
	struct planner *pl = &s->planner;
	double *step_s = MEM_NEWN(double, (size_t)pl->dag.n + 1);
	bool learnt = false;
	for (uint32_t i = 0; i < p->n_groups && s->devices.dev[d].class->node_times; i++) {
		const struct fusion_group *g = &p->group[i];
		struct err e = ERR_INIT;
		if (g->dev != d || g->n < 2 ||
		    prepared_node_times(&pl->prepared, pl->m, g, pl->local, step_s, &e) < 0)
			continue;
		for (uint32_t j = 0; j < g->n; j++)
			pl->step_s[(size_t)g->step[j] * s->devices.n + d] = fmax(step_s[j], 1e-9);
		learnt = true;
	}
	mem_free(step_s);
	return learnt;
}

/* A warm-up, and a first run that counts: roughly what steps take.  One that takes too long is both. */
static int first_runs(struct timed *t, struct session *s, double long_s, struct err *e)
{
	if (timed_run(t, s, true, e) < 0)
		return -1;
	if (t->lat_s[0] > long_s) {
		t->n_runs = 1;
		return 0;
	}
	return timed_run(t, s, false, e);
}

int device_times_open(struct device_times *x, struct session *s, uint32_t d,
		      const uint32_t *step_set, const struct device_effort *effort, struct err *e)
{
	const struct device_class *c = s->devices.dev[d].class;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)s->model.g->n_sets + 1);
	*x = (struct device_times){.s = s, .d = d, .step_set = step_set};
	mostly_on(s, d, device);
	x->alone = session_single(s, device) == (int)d;
	x->apart.waits = x->joined.waits = c->finish != NULL;
	x->apart.whole = x->joined.whole = c->finish != NULL && x->alone;
	bool apart = c->fuses && !effort->joined;
	int rc = apart ? timed_make(&x->apart, s, device, FUSE_SETS, e) : 0;
	if (rc == 0)
		rc = timed_make(&x->joined, s, device, FUSE_ALL, e);
	if (rc == 0 && ask_nodes(s, d, &x->joined.plan)) {
		timed_release(&x->joined);
		rc = timed_make(&x->joined, s, device, FUSE_ALL, e);
		x->joined.waits = c->finish != NULL;
		x->joined.whole = x->joined.waits && x->alone;
	}
	if (rc == 0 && apart)
		rc = first_runs(&x->apart, s, effort->long_s, e);
	if (rc == 0)
		rc = first_runs(&x->joined, s, effort->long_s, e);
	mem_free(device);
	return rc;
}

void device_times_close(struct device_times *x)
{
	timed_release(&x->apart);
	timed_release(&x->joined);
}

void device_times_to_planner(const struct device_times *x)
{
	const struct timed *t = x->apart.made ? &x->apart : &x->joined;
	const struct session *s = x->s;
	double run[TIMED_MOST], scale = timed_unwaited(t);
	for (uint32_t i = 0; i < t->n_steps; i++) {
		double *to = &s->planner.step_s[(size_t)i * s->devices.n + x->d];
		for (uint32_t r = 0; r < t->n_runs; r++)
			run[r] = t->step_s[(size_t)r * t->n_steps + i];
		if (*to >= 0 && x->alone)
			*to = fmax(scale * timed_median(run, t->n_runs).mid, 1e-7);
	}
}
