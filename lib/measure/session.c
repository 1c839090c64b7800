/* session.c - single devices, placements, the reference between them. */
#include "measure/joules.h"
#include "measure/session.h"

#include "base/clock.h"
#include "exec/model_draw.h"
#include "measure/measured_schedule.h"
#include "sched/turns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The model before it was cut. */
struct session_whole {
	struct model model;
	struct planner planner;
};

/* The model with one of its other lists of shapes. */
struct session_case {
	struct model model;
	struct planner planner;
};

int session_open(struct session *s, const struct graph *g, struct device_list *devices,
		 bool allow_shared, const char *weights, const char *inputs, uint64_t seed,
		 const struct measure_options *o, struct err *e)
{
	*s = (struct session){.devices = *devices,
			      .opt = *o,
			      .began_s = clock_s(),
			      .flight = {.n = 1},
			      .best = -1,
			      .seed = seed,
			      .weights = weights,
			      .inputs = inputs,
			      .max_error = -1,
			      .arena = arena_new()};
	*devices = (struct device_list){0};
	uint32_t k = s->devices.n;
	s->beside.k = k;
	s->single = ARENA_NEWN(s->arena, struct single_reference, k);
	s->mask = ARENA_NEWN(s->arena, uint8_t, (size_t)g->n_sets * k);
	if (device_list_open(&s->devices, allow_shared, e) < 0 ||
	    model_open(&s->model, g, weights, e) < 0 ||
	    model_mask(&s->model, &s->devices, s->mask, e) < 0 ||
	    model_complete(&s->model, e) < 0 ||
	    planner_open(&s->planner, &s->model, &s->devices, e) < 0)
		return -1;
	s->model.env->variables->keep = o->keep_state;
	if ((inputs ? inputs_load(&s->model, inputs, e) : inputs_seed(&s->model, seed, e)) < 0)
		return -1;
	s->x = executor_new(&s->devices);
	if (!s->x)
		return err_set(e, ST_RUNTIME,
			       "cannot start the devices' threads: out of memory, or of threads");
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
	slowed_free(s->slowed);
	executor_free(s->x);
	if (s->whole) {
		planner_close(&s->whole->planner);
		model_close(&s->whole->model);
	}
	for (uint32_t i = 0; i < s->n_more; i++) {
		planner_close(&s->more[i].planner);
		model_close(&s->more[i].model);
	}
	planner_close(&s->planner);
	model_close(&s->model);
	device_list_close(&s->devices);
	arena_free(s->arena);
	*s = (struct session){0};
}

/* Inputs of the parts are inputs of the whole, one by one, and so are results. */
static int check_whole(const struct model *whole, const struct model *cut, struct err *e)
{
	bool alike = whole->n_params == cut->n_params && whole->n_results == cut->n_results;
	for (uint32_t i = 0; alike && i < cut->n_params; i++) {
		struct tensor a = input_tensor(whole, i), b = input_tensor(cut, i);
		alike = a.elem == b.elem && tensor_bytes(&a) == tensor_bytes(&b);
	}
	for (uint32_t i = 0; alike && i < cut->n_results; i++) {
		struct tensor a = result_tensor(whole, i), b = result_tensor(cut, i);
		alike = a.elem == b.elem && a.rank == b.rank;
		for (uint32_t k = 0; alike && k < a.rank; k++)
			alike = a.dim[k] == b.dim[k];
	}
	return alike ? 0
		     : err_set(e, ST_INPUT,
			       "the parts and the whole of '%s' have other inputs or results",
			       cut->g->name);
}

static void copy_inputs(const struct model *from, struct model *to)
{
	for (uint32_t i = 0; i < to->n_params; i++) {
		struct tensor t = input_tensor(from, i);
		memcpy(to->input[i], t.data, (size_t)tensor_bytes(&t));
	}
}

int session_use_whole(struct session *s, const char *weights, struct err *e)
{
	const struct graph *g = s->model.g->whole;
	if (!g)
		return 0;
	struct session_whole *w = s->whole = ARENA_NEWN(s->arena, struct session_whole, 1);
	if (model_open(&w->model, g, weights, e) < 0 || model_complete(&w->model, e) < 0 ||
	    planner_open(&w->planner, &w->model, &s->devices, e) < 0 ||
	    check_whole(&w->model, &s->model, e) < 0)
		return -1;
	w->model.env->variables->keep = s->model.env->variables->keep;
	copy_inputs(&s->model, &w->model);
	s->planner.whole = &w->planner;
	return 0;
}

/* Inputs of request or case i. */
static int fill_inputs(const struct session *s, struct model *m, uint32_t i, const char *inputs,
		       struct err *e)
{
	char own[4096];
	struct stat st;
	if (!inputs)
		return inputs_seed(m, s->seed + i, e);
	snprintf(own, sizeof own, "%s/%u", inputs, i);
	return inputs_load(m, stat(own, &st) == 0 && S_ISDIR(st.st_mode) ? own : inputs, e);
}

int session_use_cases(struct session *s, const char *weights, const char *inputs, struct err *e)
{
	const struct graph *g = s->model.g;
	struct planner *last = &s->planner;
	if (!g->n_cases)
		return 0;
	s->more = ARENA_NEWN(s->arena, struct session_case, g->n_cases);
	s->planner.weight = g->cases[0].weight;
	s->planner.over = g->over;
	for (uint32_t i = 1; i < g->n_cases; i++) {
		struct session_case *c = &s->more[s->n_more++];
		if (model_open(&c->model, g->cases[i].graph, weights, e) < 0 ||
		    model_complete(&c->model, e) < 0 ||
		    planner_open(&c->planner, &c->model, &s->devices, e) < 0)
			return err_prefix(e, "case %s", g->cases[i].name);
		c->model.env->variables->keep = s->model.env->variables->keep;
		if (fill_inputs(s, &c->model, i, inputs, e) < 0)
			return err_prefix(e, "case %s", g->cases[i].name);
		c->planner.weight = g->cases[i].weight;
		last = last->next_case = &c->planner;
	}
	return 0;
}

const struct model *session_model(const struct session *s, uint32_t i)
{
	return i == 0 ? &s->model : &s->more[i - 1].model;
}

int session_in_flight(struct session *s, uint32_t n, const char *inputs, struct err *e)
{
	struct err ignored = ERR_INIT;
	int rc = 0;
	for (uint32_t i = 1; i < n && rc == 0; i++) {
		rc = planner_request(&s->planner, i, e);
		if (rc == 0)
			rc = fill_inputs(s, &s->model, i, inputs, e);
		if (rc == 0 && s->whole)
			copy_inputs(&s->model, &s->whole->model);
	}
	if (planner_request(&s->planner, 0, &ignored) < 0)
		err_clear(&ignored);
	s->flight.n = s->planner.in_flight = n;
	return rc;
}

static uint32_t n_devices(const struct session *s)
{
	return s->devices.n;
}

struct served *session_served(const struct session *s, struct arena *a)
{
	return s->flight.n > 1 ? ARENA_NEWN(a, struct served, 1) : NULL;
}

/* ---- single devices ---- */

static void all_on(const struct session *s, uint32_t d, uint16_t *device)
{
	for (uint32_t i = 0; i < s->model.g->n_sets; i++)
		device[i] = (uint16_t)d;
}

/* Durations of steps on device d from one more run of a plan of p there, which takes lat_s: measured where run ends
 * with the step, in proportion to the guess elsewhere. */
static int learn_from(struct session *s, struct planner *p, struct plan *plan, uint32_t d,
		      double lat_s, struct err *e)
{
	uint32_t k = n_devices(s), n = p->m->n_steps;
	double *step_s = MEM_NEWN(double, n + 1), guessed = 0;
	struct exec_sample sample = {.step_s = step_s};
	bool parts = plan->of == p, direct = parts && s->devices.dev[d].class->flush == NULL;
	int rc = parts ? executor_run(s->x, plan, &sample, e) : 0;
	for (uint32_t i = 0; i < n; i++)
		guessed += p->step_s[(size_t)i * k + d];
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		double *x = &p->step_s[(size_t)i * k + d];
		*x = direct ? fmax(step_s[i], 1e-7) : *x / guessed * lat_s;
	}
	mem_free(step_s);
	return rc;
}

/* Of each case by its own time. */
static int learn_durations(struct session *s, uint32_t d, struct err *e)
{
	struct single_reference *r = &s->single[d];
	struct planner *p = &s->planner;
	int rc = 0;
	for (struct plan *x = &r->plan; x && rc == 0; x = x->next_case, p = p->next_case)
		rc = learn_from(s, p, x, d, x->case_s ? x->case_s[0] : r->m.lat.mid, e);
	return rc;
}

static struct plan_run plan_run(struct session *s, struct plan *p, struct served *served)
{
	return (struct plan_run){.x = s->x, .plan = p, .flight = &s->flight, .served = served};
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
	if (session_may_run(s, device, e) == 0 &&
	    plan_make(&s->planner, device, &r->plan, e) == 0) {
		r->has_plan = true;
		r->served = session_served(s, s->arena);
		struct plan_run run = plan_run(s, &r->plan, r->served);
		int rc = measure_plan(&run, n_devices(s), &s->opt, s->arena, &r->m, e);
		r->n_cases = plan_case_times(&r->plan, s->arena, &r->case_s);
		if (rc == 0 && (s->has_costs || learn_durations(s, d, e) == 0))
			return 0;
	}
	if (!executor_alive(s->x))
		return -1;
	r->lost = r->has_plan;
	move_reason(e, r->reason);
	return 0;
}

static void drop_plan(struct single_reference *r)
{
	if (r->has_plan)
		plan_release(&r->plan);
	r->has_plan = false;
}

/* ---- the reference ---- */

static bool can_run(const struct session *s, uint32_t d)
{
	return s->single[d].reason[0] == '\0';
}

/* As beside_choose. */
static uint32_t choose_reference(struct session *s, uint32_t *device)
{
	uint32_t k = n_devices(s);
	double *lat_s = MEM_NEWN(double, (size_t)k + 1);
	uint32_t *alike = MEM_NEWN(uint32_t, (size_t)k + 1);
	bool *has = MEM_NEWN(bool, (size_t)k *k + 1);
	for (uint32_t d = 0; d < k; d++) {
		lat_s[d] = can_run(s, d) ? s->single[d].m.lat.mid : 0;
		alike[d] = device_alike(&s->devices, d);
	}
	sched_parts(s->planner.costs.turns, k, has);
	uint32_t n = beside_choose(
		&(struct beside_devices){k, (uint32_t)s->best, lat_s, alike, has, s->opt.max_s},
		device);
	mem_free(has);
	mem_free(alike);
	mem_free(lat_s);
	return n;
}

/* Plans of the reference's devices; what has no plan gets one.  -1: the first of them has none. */
static int open_reference(struct session *s, struct err *e)
{
	uint32_t of[BESIDE_MOST], n = choose_reference(s, of);
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)s->model.g->n_sets + 1);
	s->beside.n = 0;
	s->beside.base_log = 0;
	s->beside.known = false;
	for (uint32_t i = 0; i < n; i++) {
		struct single_reference *r = &s->single[of[i]];
		all_on(s, of[i], device);
		r->has_plan = r->has_plan || plan_make(&s->planner, device, &r->plan, e) == 0;
		if (!r->has_plan && i == 0)
			break;
		if (!r->has_plan) {
			err_clear(e);
			continue;
		}
		uint32_t at = s->beside.n++;
		s->reference_run[at] = plan_run(s, &r->plan, r->served);
		s->beside.single[at] =
			(struct beside_single){of[i], plan_runnable(&s->reference_run[at])};
	}
	mem_free(device);
	if (s->beside.n == 0)
		return -1;
	if (s->beside.n > 1 && !s->slowed) {
		bool *has = ARENA_NEWN(s->arena, bool, (size_t)n_devices(s) * n_devices(s) + 1);
		sched_parts(s->planner.costs.turns, n_devices(s), has);
		s->beside.has = has;
		s->slowed = slowed_new(&s->planner.dag, &s->planner.costs);
		s->step_device = ARENA_NEWN(s->arena, uint16_t, (size_t)s->model.n_steps + 1);
	}
	return 0;
}

/* Single device d cannot run any more (it was lost), for a reason that is in e: the next best takes its place, once
 * settle_reference has been called. */
static void replace_best(struct session *s, uint32_t d, struct err *e)
{
	s->single[d].lost = true;
	move_reason(e, s->single[d].reason);
	for (uint32_t i = 0; i < n_devices(s); i++)
		if (!can_run(s, i))
			drop_plan(&s->single[i]);
	s->best = -1;
	for (uint32_t i = 0; i < n_devices(s); i++)
		if (can_run(s, i) &&
		    (s->best < 0 || s->single[i].m.lat.mid < s->single[s->best].m.lat.mid))
			s->best = (int)i;
	s->beside.n = 0;
}

/* As beside_run.predict, of a placement. */
struct prediction {
	struct session *s;
	const uint16_t *device;
};

static double predict(void *ctx, const double *slow)
{
	const struct prediction *p = ctx;
	planner_steps(&p->s->planner, p->device, p->s->step_device);
	return slowed_by_s(p->s->slowed, p->s->step_device, slow);
}

/* A placement by its plan, beside the reference as it is. */
static enum run_status run_beside(struct session *s, const uint16_t *device, struct plan *p,
				  struct served *served, struct arena *a, struct beside_result *out,
				  struct err *e)
{
	struct plan_run run = plan_run(s, p, served);
	struct prediction by = {s, device};
	bool predicted = s->slowed && s->flight.n == 1 && !s->n_more;
	struct beside_run r = {plan_runnable(&run), predicted ? predict : NULL, &by};
	return beside_measure(&s->beside, &r, &s->opt, a, out, e);
}

/* What the best single device takes beside its parts, where these are the reference. */
static enum run_status find_base(struct session *s, int *lost, struct err *e)
{
	struct beside_result out;
	uint32_t best = (uint32_t)s->best;
	*lost = -1;
	if (s->beside.single[0].device == best)
		return RUN_OK;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)s->model.g->n_sets + 1);
	all_on(s, best, device);
	enum run_status status = run_beside(s, device, &s->single[best].plan,
					    s->single[best].served, s->arena, &out, e);
	mem_free(device);
	*lost = out.lost;
	if (status == RUN_OK)
		s->beside.base_log = log(out.m.lat.mid / out.ref_s);
	return status;
}

/* The reference is one that runs, or there is none.  -1: the program is to end. */
static int settle_reference(struct session *s, struct err *e)
{
	while (s->best >= 0 && s->beside.n == 0) {
		int lost = -1;
		enum run_status status =
			open_reference(s, e) < 0 ? RUN_FAILED : find_base(s, &lost, e);
		if (status == RUN_END)
			return -1;
		if (status == RUN_FAILED)
			replace_best(
				s, lost < 0 ? (uint32_t)s->best : s->beside.single[lost].device, e);
	}
	return 0;
}

int session_measure_singles(struct session *s, struct err *e)
{
	if (n_devices(s) == 0 || s->single[0].tried || s->no_reference)
		return 0;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)s->model.g->n_sets + 1);
	int rc = 0;
	for (uint32_t d = 0; d < n_devices(s) && rc == 0 && !measure_interrupted(&s->opt); d++) {
		all_on(s, d, device);
		rc = try_single(s, d, device, e);
		if (rc == 0 && can_run(s, d) &&
		    (s->best < 0 || s->single[d].m.lat.mid < s->single[s->best].m.lat.mid)) {
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

/* A burst of the reference; what is lost is replaced.  -1: the program is to end. */
static int look(struct session *s, struct err *e)
{
	int lost;
	enum run_status status;
	while ((status = beside_look(&s->beside, &lost, e)) == RUN_FAILED) {
		replace_best(s, s->beside.single[lost].device, e);
		if (settle_reference(s, e) < 0)
			return -1;
	}
	return status == RUN_OK ? 0 : -1;
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
	t->served = session_served(s, a);
}

int session_schedule(struct session *s, struct trial *t, struct plan *p, struct arena *a,
		     struct err *e)
{
	struct planner *whole = s->planner.whole;
	struct plan parts = {0};
	int rc = 0;
	if (p->next_case) /* one for each, none of all */
		return 0;
	t->schedule = ARENA_NEWN(a, struct run_schedule, 1);
	if (p->of != &s->planner) { /* a schedule is of the sets of the stream's graph */
		s->planner.whole = NULL;
		rc = session_make(s, t, &parts, e);
		s->planner.whole = whole;
		p = &parts;
	}
	if (rc == 0)
		rc = schedule_measure(s->x, &s->planner, p, t->device, t->m.lat.mid, a, t->schedule,
				      e);
	plan_release(&parts);
	if (rc < 0)
		t->schedule = NULL;
	return rc;
}

/* t by plan p, beside the reference; what of this is lost is replaced.  -1: it cannot run, or the end. */
static int measure_beside(struct session *s, struct trial *t, struct plan *p, struct arena *a,
			  struct err *e)
{
	struct beside_result out;
	enum run_status status;
	while ((status = run_beside(s, t->device, p, t->served, a, &out, e)) == RUN_FAILED &&
	       out.lost >= 0) {
		replace_best(s, s->beside.single[out.lost].device, e);
		if (settle_reference(s, e) < 0)
			return -1;
	}
	t->m = out.m;
	t->ref_s = out.ref_s;
	t->n_cases = plan_case_times(p, a, &t->case_s);
	return status == RUN_OK ? 0 : -1;
}

/* Plan t and measure it; a failure becomes a reason. */
static int measure_trial(struct session *s, struct trial *t, struct arena *a, struct err *e)
{
	struct plan p = {0};
	int rc = session_plan(s, t, &p, e);
	if (rc == 0) {
		session_note_plan(s, t, &p, a);
		rc = measure_beside(s, t, &p, a, e);
		if (rc == 0 && s->schedules)
			rc = session_schedule(s, t, &p, a, e);
		if (rc == 0 && s->joules && !p.next_case) {
			t->has_joules = true;
			rc = joules_of_run(s->joules, s->x, &p, &t->joules, e);
		}
		plan_release(&p);
	}
	t->ok = rc == 0;
	if (rc == 0)
		return 0;
	if (!executor_alive(s->x))
		return -1;
	move_reason(e, t->reason);
	return measure_interrupted(&s->opt) ? 0 : look(s, e); /* is the reference lost, too? */
}

/* The reference as it was when the single devices were measured; 0: there is none. */
static double first_reference_s(const struct session *s)
{
	double sum = 0;
	if (s->beside.n && s->beside.single[0].device != (uint32_t)s->best)
		return s->single[s->best].m.lat.mid;
	for (uint32_t i = 0; i < s->beside.n; i++)
		sum += log(s->single[s->beside.single[i].device].m.lat.mid);
	return s->beside.n ? exp(sum / s->beside.n) : 0;
}

/* A trial on one device alone that was measured just now, as a reference, takes that measurement. */
static bool reuse_single(struct session *s, struct trial *t, struct arena *a)
{
	int d = trial_single(s, t);
	if (d < 0 || (uint32_t)d >= n_devices(s))
		return false;
	const struct single_reference *x = &s->single[d];
	struct plan p;
	struct err e = ERR_INIT;
	memcpy(t->reason, x->reason, sizeof t->reason);
	t->ok = x->reason[0] == '\0';
	if (!t->ok)
		return true;
	if (s->schedules || s->joules || plan_make(&s->planner, t->device, &p, &e) < 0)
		return false;
	session_note_plan(s, t, &p, a);
	plan_release(&p);
	t->m = x->m;
	t->served = x->served;
	t->n_cases = x->n_cases;
	t->case_s = x->case_s;
	t->ref_s = first_reference_s(s);
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
	if (session_measure_singles(s, e) < 0 ||
	    (!measure_interrupted(&s->opt) && settle_reference(s, e) < 0))
		return -1;
	s->beside.known = false; /* what the last burst said may be long ago */
	for (uint32_t i = 0; i < n; i++) {
		if (measure_interrupted(&s->opt))
			snprintf(t[i].reason, sizeof t[i].reason, "interrupted");
		else if (!(fresh && reuse_single(s, &t[i], a)) && measure_trial(s, &t[i], a, e) < 0)
			return -1;
	}
	return measure_interrupted(&s->opt) ? 0 : check_devices(s, t, n, e);
}

int session_results(struct session *s, const uint16_t *device,
		    int (*fn)(void *arg, const void *const *result, struct err *e), void *arg,
		    struct err *e)
{
	struct plan p = {0};
	struct exec_sample sample = {0};
	s->planner.in_flight = 1;
	int64_t runs = s->opt.keep_state ? s->opt.min_runs : 1;
	int rc = plan_make(&s->planner, device, &p, e);
	s->planner.in_flight = s->flight.n;
	for (int64_t i = 0; i < runs && rc == 0; i++)
		rc = executor_run(s->x, &p, &sample, e);
	if (rc == 0)
		rc = fn(arg, p.result, e);
	plan_release(&p);
	return rc;
}

int session_plan_results(struct session *s, struct plan *p,
			 int (*fn)(void *arg, uint32_t i, const void *const *result, struct err *e),
			 void *arg, struct err *e)
{
	int64_t runs = s->opt.keep_state ? s->opt.min_runs : 1;
	int rc = 0;
	for (uint32_t n = 0; p && rc == 0; p = p->next_case, n++) {
		struct exec_sample sample = {0};
		for (int64_t i = 0; i < runs && rc == 0; i++)
			rc = executor_run(s->x, p, &sample, e);
		if (rc == 0)
			rc = fn(arg, n, p->result, e);
	}
	return rc;
}

int session_case_results(struct session *s, const uint16_t *device,
			 int (*fn)(void *arg, uint32_t i, const void *const *result, struct err *e),
			 void *arg, struct err *e)
{
	struct plan p = {0};
	s->planner.in_flight = 1;
	int rc = plan_make(&s->planner, device, &p, e);
	s->planner.in_flight = s->flight.n;
	if (rc == 0)
		rc = session_plan_results(s, &p, fn, arg, e);
	plan_release(&p);
	return rc;
}

/* So many inferences of each request. */
struct each {
	uint32_t *left;  /* (n) */
	struct err *end; /* (n) */
};

static bool run_each(void *arg, uint32_t i, const struct err *end, double begin_s, double end_s)
{
	struct each *x = arg;
	(void)begin_s, (void)end_s;
	if (end && end->code != ST_OK)
		x->end[i] = *end;
	return x->end[i].code == ST_OK && x->left[i]-- > 0;
}

int session_all_results(struct session *s, const uint16_t *device, uint32_t n_more,
			int (*fn)(void *arg, uint32_t request, const void *const *result,
				  struct err *e),
			void *arg, struct err *e)
{
	uint32_t n = s->flight.n;
	struct plan first = {0}, **plan = MEM_NEWN(struct plan *, n);
	struct each x = {MEM_NEWN(uint32_t, n), MEM_NEWN(struct err, n)};
	const struct exec_load load = {.n = n, .plan = plan, .next = run_each, .arg = &x};
	s->planner.n_more = n_more;
	int rc = plan_make(&s->planner, device, &first, e);
	s->planner.n_more = 0;
	struct plan *p = &first;
	for (uint32_t i = 0; i < n && rc == 0; i++, p = p->next_request) {
		plan[i] = p;
		x.left[i] = s->opt.keep_state ? (uint32_t)s->opt.min_runs : 1;
	}
	if (rc == 0)
		rc = executor_load(s->x, &load, e);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		if (x.end[i].code == ST_OK)
			rc = fn(arg, i, plan[i]->result, e);
	plan_release(&first);
	mem_free(x.left);
	mem_free(x.end);
	mem_free(plan);
	return rc;
}
