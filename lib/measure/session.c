/* session.c - single devices, placements, the reference between them. */
#include "measure/session.h"

#include "base/clock.h"
#include "exec/model_draw.h"
#include "measure/measured_schedule.h"

#include <math.h>
#include <string.h>

int session_open(struct session *s, const struct graph *g, struct device_list *devices,
		 bool allow_shared, const char *weights, const char *inputs, uint64_t seed,
		 const struct measure_options *o, struct err *e)
{
	*s = (struct session){.devices = *devices,
			      .opt = *o,
			      .began_s = clock_s(),
			      .best = -1,
			      .seed = seed,
			      .arena = arena_new()};
	*devices = (struct device_list){0};
	uint32_t k = s->devices.n;
	s->single = ARENA_NEWN(s->arena, struct single_reference, k);
	s->mask = ARENA_NEWN(s->arena, uint8_t, (size_t)g->n_sets * k);
	if (device_list_open(&s->devices, allow_shared, e) < 0 ||
	    model_open(&s->model, g, weights, e) < 0 ||
	    model_mask(&s->model, &s->devices, s->mask, e) < 0 ||
	    model_complete(&s->model, e) < 0 ||
	    planner_open(&s->planner, &s->model, &s->devices, e) < 0)
		return -1;
	s->model.env.variables->keep = o->keep_state;
	if ((inputs ? inputs_load(&s->model, inputs, e) : inputs_seed(&s->model, seed, e)) < 0)
		return -1;
	s->x = executor_new(&s->devices);
	if (!s->x)
		return err_set(e, ST_RUNTIME, "cannot start the devices' threads");
	executor_limit(s->x, o->limit_s);
	return 0;
}

void session_close(struct session *s)
{
	if (!s->arena)
		return;
	for (uint32_t d = 0; d < s->devices.n; d++)
		if (s->single[d].has_plan)
			plan_release(&s->single[d].plan);
	executor_free(s->x);
	planner_close(&s->planner);
	model_close(&s->model);
	device_list_close(&s->devices);
	arena_free(s->arena);
	*s = (struct session){0};
}

static uint32_t n_devices(const struct session *s)
{
	return s->devices.n;
}

/* ---- single devices ---- */

static void all_on(const struct session *s, uint32_t d, uint16_t *device)
{
	for (uint32_t i = 0; i < s->model.g->n_sets; i++)
		device[i] = (uint16_t)d;
}

/* Durations of steps from one more run of a single device: measured where run ends with the
 * step, in proportion to the guess elsewhere. */
static int learn_durations(struct session *s, uint32_t d, struct err *e)
{
	struct planner *p = &s->planner;
	struct single_reference *r = &s->single[d];
	uint32_t k = n_devices(s), n = s->model.n_steps;
	double *step_s = MEM_NEWN(double, n + 1), guessed = 0;
	struct exec_sample sample = {.step_s = step_s};
	int rc = executor_run(s->x, &r->plan, &sample, e);
	bool direct = s->devices.dev[d].class->flush == NULL;
	for (uint32_t i = 0; i < n; i++)
		guessed += p->step_s[(size_t)i * k + d];
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		double *x = &p->step_s[(size_t)i * k + d];
		*x = direct ? fmax(step_s[i], 1e-7) : *x / guessed * r->m.lat.mid;
	}
	mem_free(step_s);
	return rc;
}

/* A failure that is data. */
static void move_reason(struct err *e, char text[sizeof e->msg])
{
	memcpy(text, e->msg, sizeof e->msg);
	err_clear(e);
}

static int try_single(struct session *s, uint32_t d, const uint16_t *device, struct err *e)
{
	struct single_reference *r = &s->single[d];
	r->tried = true;
	if (plan_make(&s->planner, device, &r->plan, e) == 0) {
		r->has_plan = true;
		if (measure_plan(s->x, &r->plan, n_devices(s), &s->opt, s->arena, &r->m, e) == 0 &&
		    (s->has_costs || learn_durations(s, d, e) == 0))
			return 0;
	}
	if (!executor_alive(s->x))
		return -1;
	r->lost = r->has_plan;
	move_reason(e, r->reason);
	return 0;
}

/* Only the best single device keeps its plan. */
static void drop_plan(struct single_reference *r)
{
	if (r->has_plan)
		plan_release(&r->plan);
	r->has_plan = false;
}

int session_measure_singles(struct session *s, struct err *e)
{
	if (n_devices(s) == 0 || s->single[0].tried || s->no_reference)
		return 0;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)s->model.g->n_sets + 1);
	int rc = 0;
	for (uint32_t d = 0; d < n_devices(s) && rc == 0; d++) {
		all_on(s, d, device);
		rc = try_single(s, d, device, e);
		const struct single_reference *r = &s->single[d];
		bool ok = rc == 0 && r->reason[0] == '\0';
		if (ok && (s->best < 0 || r->m.lat.mid < s->single[s->best].m.lat.mid)) {
			if (s->best >= 0)
				drop_plan(&s->single[s->best]);
			s->best = (int)d;
		} else {
			drop_plan(&s->single[d]);
		}
	}
	mem_free(device);
	return rc;
}

/* Make device d, which can run the model alone, the best one. */
static int set_best(struct session *s, uint32_t d, struct err *e)
{
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)s->model.g->n_sets + 1);
	if (s->best >= 0)
		drop_plan(&s->single[s->best]);
	all_on(s, d, device);
	s->best = (int)d;
	int rc = plan_make(&s->planner, device, &s->single[d].plan, e);
	s->single[d].has_plan = rc == 0;
	mem_free(device);
	return rc;
}

/* The best single device has failed (it was lost): the next best takes its place. */
static void replace_best(struct session *s, struct err *e)
{
	while (s->best >= 0 && e->code != ST_OK) {
		s->single[s->best].lost = true;
		move_reason(e, s->single[s->best].reason);
		drop_plan(&s->single[s->best]);
		s->best = -1;
		int next = -1;
		for (uint32_t d = 0; d < n_devices(s); d++)
			if (s->single[d].reason[0] == '\0' &&
			    (next < 0 || s->single[d].m.lat.mid < s->single[next].m.lat.mid))
				next = (int)d;
		if (next < 0 || set_best(s, (uint32_t)next, e) == 0)
			break;
	}
}

/* The best single device's latency now, or 0 when there is none: a burst, as in a race, whose first run does not count
 * where it is short, as the placement before has left the caches. */
static int measure_reference(struct session *s, double *out, struct err *e)
{
	double x[REFERENCE_RUNS];
	struct exec_sample sample = {0};
	bool cold = true;
	*out = 0;
	for (int i = 0; s->best >= 0 && i < REFERENCE_RUNS;) {
		if (executor_run(s->x, &s->single[s->best].plan, &sample, e) == 0) {
			if (!cold || !measure_again(sample.lat_s))
				x[i++] = sample.lat_s;
			cold = false;
			*out = i ? interval_median(x, (uint32_t)i).mid : 0;
		} else if (executor_alive(s->x)) {
			replace_best(s, e);
			i = 0;
			cold = true;
		} else {
			return -1;
		}
	}
	return 0;
}

/* ---- placements ---- */

int session_single(const struct session *s, const uint16_t *device)
{
	uint32_t n = s->model.n_steps;
	uint16_t *step_dev = MEM_NEWN(uint16_t, (size_t)n + 1);
	planner_steps(&s->planner, device, step_dev);
	int d = n ? step_dev[0] : 0;
	for (uint32_t i = 1; i < n && d >= 0; i++)
		d = step_dev[i] == d ? d : -1;
	mem_free(step_dev);
	return d;
}

void session_note_plan(const struct session *s, struct trial *t, const struct plan *p,
		       struct arena *a)
{
	t->mem_bytes = ARENA_NEWN(a, uint64_t, n_devices(s));
	memcpy(t->mem_bytes, p->mem_bytes, n_devices(s) * sizeof *t->mem_bytes);
	t->n_copies = p->n_copies;
	t->copy_bytes = p->copy_bytes;
	t->n_in_host = p->n_in_host;
	t->n_steps = p->n_groups;
	t->n_splits = p->n_splits;
}

int session_schedule(struct session *s, struct trial *t, struct plan *p, struct arena *a,
		     struct err *e)
{
	t->schedule = ARENA_NEWN(a, struct run_schedule, 1);
	int rc = schedule_measure(s->x, &s->planner, p, t->device, t->m.lat.mid, a, t->schedule, e);
	if (rc < 0)
		t->schedule = NULL;
	return rc;
}

/* Plan t and measure it; a failure becomes a reason. */
static int measure_trial(struct session *s, struct trial *t, struct arena *a, struct err *e)
{
	struct plan p = {0};
	int rc = session_plan(s, t->device, &p, e);
	if (rc == 0) {
		session_note_plan(s, t, &p, a);
		rc = measure_plan(s->x, &p, n_devices(s), &s->opt, a, &t->m, e);
		if (rc == 0 && s->schedules)
			rc = session_schedule(s, t, &p, a, e);
		plan_release(&p);
	}
	t->ok = rc == 0;
	if (rc == 0)
		return 0;
	if (!executor_alive(s->x))
		return -1;
	move_reason(e, t->reason);
	return 0;
}

/* A trial on one device alone that was measured just now, as a reference, takes that measurement. */
static bool reuse_single(struct session *s, struct trial *t, struct arena *a)
{
	int d = session_single(s, t->device);
	if (d < 0 || (uint32_t)d >= n_devices(s))
		return false;
	const struct single_reference *x = &s->single[d];
	struct plan p;
	struct err e = ERR_INIT;
	memcpy(t->reason, x->reason, sizeof t->reason);
	t->ok = x->reason[0] == '\0';
	if (!t->ok)
		return true;
	if (s->schedules || plan_make(&s->planner, t->device, &p, &e) < 0)
		return false;
	session_note_plan(s, t, &p, a);
	plan_release(&p);
	t->m = x->m;
	return true;
}

/* Is there anything left to run on? */
static int check_devices(const struct session *s, const struct trial *t, uint32_t n, struct err *e)
{
	uint32_t lost = 0;
	for (uint32_t d = 0; d < n_devices(s); d++)
		lost += s->single[d].lost;
	for (uint32_t i = 0; i < n; i++)
		if (t[i].ok)
			return 0;
	if (n == 0 || lost == 0 || lost < n_devices(s))
		return 0;
	return err_set(e, ST_RUNTIME, "no device is left: %s", s->single[0].reason);
}

int session_measure(struct session *s, struct trial *t, uint32_t n, struct arena *a, struct err *e)
{
	bool fresh = n_devices(s) > 0 && !s->single[0].tried && !s->no_reference;
	double before = 0, after = 0;
	if (session_measure_singles(s, e) < 0 || measure_reference(s, &before, e) < 0)
		return -1;
	for (uint32_t i = 0; i < n;) {
		uint32_t first = i;
		for (; i < n && i < first + REFERENCE_EVERY; i++)
			if (!(fresh && reuse_single(s, &t[i], a)) &&
			    measure_trial(s, &t[i], a, e) < 0)
				return -1;
		if (measure_reference(s, &after, e) < 0)
			return -1;
		for (uint32_t j = first; j < i; j++)
			t[j].ref_s = before > 0 ? sqrt(before * after) : after;
		before = after;
	}
	return check_devices(s, t, n, e);
}

int session_results(struct session *s, const uint16_t *device,
		    int (*fn)(void *arg, const void *const *result, struct err *e), void *arg,
		    struct err *e)
{
	struct plan p = {0};
	struct exec_sample sample = {0};
	if (plan_make(&s->planner, device, &p, e) < 0)
		return -1;
	int64_t runs = s->opt.keep_state ? s->opt.min_runs : 1;
	int rc = 0;
	for (int64_t i = 0; i < runs && rc == 0; i++)
		rc = executor_run(s->x, &p, &sample, e);
	if (rc == 0)
		rc = fn(arg, p.result, e);
	plan_release(&p);
	return rc;
}
