/* devsim_filter.c - what happens at which record of a stream. */
#include "devsim/devsim_filter.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/msg.h"
#include "base/rng.h"
#include "place/problem/spec_probe.h"
#include "place/refit/fitted.h"
#include "place/refit/refit_cases.h"
#include "place/simulate/closed_loop.h"
#include "place/simulate/simrun.h"

static const char DEFAULT_SPEC[] = "paper";

/* The model of the devices that the last placement named. */
struct devsim {
	const struct devsim_options *o;
	uint64_t seed;
	struct place_inputs in;
	struct arena *record; /* one place record */
	bool probed;          /* devices and costs of this stream are written */
	struct arena *arena;  /* the model */
	struct place_model model;
	struct simulator *sim; /* NULL: no model yet */
	uint32_t k;
	const char **names; /* (k) */
	double ref_s;       /* --fixed: best single device */
	struct machine_stage *machine;
	struct refit_cases *cases; /* --refit */
	struct fitted *fitted;     /* --fit */
};

/* ---- --refit ---- */

static void tell_refit(const struct refit_summary *s)
{
	msg_note(1,
		 "%u runs, %u unknowns: predictions off by %.1f %%, then by %.1f %% (model %.1f "
		 "%%); "
		 "times x %.3f, latency x %.2f, slowdown %.3f, beside %.3f",
		 s->n_cases, s->n_unknowns, 100 * s->before, 100 * s->after, 100 * s->model_error,
		 s->all, s->latency, s->slowdown, s->multi_slowdown);
}

/* At the end of the stream: its costs and links by what its placements took. */
static int refit(struct devsim *s, struct filter *f, struct err *e)
{
	uint32_t n = 0;
	struct cost_rec cost;
	struct devs devs;

	if (!s->in.g || s->in.cost.k == 0 || !s->in.has_devs)
		return err_set(
			e, ST_INPUT,
			"no costs and devices in the input; devrun --probe --profile adds them");
	const struct refit_case *c = refit_cases_all(s->cases, &s->in, &n);
	if (n == 0)
		return err_set(e, ST_INPUT,
			       "no placement of the input has run; devrun measures them");
	msg_busy("costs that fit what has run", 0);
	const struct fit_rec *known = refit_cases_fit(s->cases, &s->in);
	struct refit *x = refit_new(&s->in, c, n, known, e);
	msg_busy(NULL, 0);
	if (!x)
		return -1;
	tell_refit(refit_summary(x));
	arena_reset(s->record);
	refit_costs(x, s->seed, (uint32_t)s->o->draw, s->record, &cost, &devs);
	struct fit_rec found = refit_found(x);
	found.key = refit_cases_key(s->cases, &s->in);
	int rc = devs_encode(&devs, f->out, e);
	if (rc == 0)
		rc = cost_encode(&cost, f->out, e);
	if (rc == 0 && !known)
		rc = fit_encode(&found, f->out, e);
	refit_free(x);
	refit_cases_free(s->cases);
	s->cases = refit_cases_new();
	return rc;
}

/* What knows one list of shapes alone. */
static int check_cases(const struct devsim *s, struct err *e)
{
	const struct devsim_options *o = s->o;
	const char *what = o->refit          ? "--refit"
			   : o->fit          ? "--fit"
			   : o->machine.spec ? "--machine"
			   : o->requests > 1 ? "--requests"
			   : o->op_noise > 0 ? "--op-noise"
					     : NULL;

	if (!s->in.g || !s->in.g->n_cases || !what)
		return 0;
	return err_set(e, ST_USAGE, "%s is about a model with one list of shapes, this one has %u",
		       what, s->in.g->n_cases);
}

/* ---- placements ---- */

/* A latency between 1 and 2 ms that depends on the seed and the placement alone. */
static double fixed_latency(const struct devsim *s, const uint16_t *device, uint32_t n_sets)
{
	uint64_t h = hash_u16(device, n_sets);
	struct rng_addr a = {s->seed, (uint32_t)(h >> 32), (uint32_t)h, RNG_COST};
	return 1e-3 * (1 + rng_uniform(&a, 0));
}

static double fixed_reference(struct devsim *s)
{
	uint16_t *all = ARENA_NEWN(s->record, uint16_t, s->in.g->n_sets);
	double best = INFINITY;

	for (uint32_t dev = 0; dev < s->k; dev++) {
		for (uint32_t i = 0; i < s->in.g->n_sets; i++)
			all[i] = (uint16_t)dev;
		best = fmin(best, fixed_latency(s, all, s->in.g->n_sets));
	}
	return best;
}

static void drop_model(struct devsim *s)
{
	simulator_free(s->sim);
	s->sim = NULL;
	s->k = 0;
	arena_reset(s->arena);
}

/* Make the model for p's devices, unless it is there already. */
static int ready_model(struct devsim *s, const struct place_rec *p, struct err *e)
{
	bool same = s->k == p->k;

	for (uint32_t i = 0; same && i < p->k; i++)
		same = strcmp(s->names[i], p->names[i]) == 0;
	if (same)
		return 0;
	drop_model(s);
	s->names = ARENA_NEWN(s->arena, const char *, p->k);
	for (uint32_t i = 0; i < p->k; i++)
		s->names[i] = arena_strndup(s->arena, p->names[i], strlen(p->names[i]));
	if (s->fitted) {
		if (fitted_ready(s->fitted, s->in.g->digest, s->names, p->k, e) < 0)
			return err_prefix(e, "'%s'", s->o->fit);
	} else if (!s->o->fixed) {
		const struct simulator_options o = {.seed = s->seed,
						    .run_sigma = s->o->noise,
						    .op_sigma = s->o->op_noise,
						    .schedule = s->o->schedule,
						    .requests = (uint32_t)s->o->requests};

		if (place_inputs_model(&s->in, s->names, p->k, s->arena, &s->model, e) < 0)
			return -1;
		if (o.requests > 1 && closed_loop_tasks(&s->model, o.requests) > LOOP_MOST_TASKS)
			return err_set(
				e, ST_USAGE,
				"--requests: %u copies of %u tasks are more than can be simulated",
				(LOOP_FILL + LOOP_WINDOW + 1) * o.requests, s->model.tasks.dag.n);
		s->sim = simulator_new(&s->model, &o);
	}
	s->k = p->k;
	if (s->o->fixed)
		s->ref_s = fixed_reference(s);
	return 0;
}

/* --fixed: no simulation. */
static int answer_fixed(struct devsim *s, const struct place_rec *p, struct filter *f,
			struct err *e)
{
	double lat_s = fixed_latency(s, p->device, p->n_sets);

	if (s->o->noise > 0)
		lat_s *= simulator_noise(s->seed, p, 0, s->o->noise);
	const struct run_rec x = {.id = p->id,
				  .source = p->source,
				  .k = p->k,
				  .n_samples = 1,
				  .samples_s = &lat_s,
				  .lat_s = lat_s,
				  .lo_s = lat_s,
				  .hi_s = lat_s,
				  .ref_s = s->ref_s,
				  .mem_bytes = ARENA_NEWN(s->record, uint64_t, p->k),
				  .busy_s = ARENA_NEWN(s->record, double, p->k)};
	return run_encode(&x, f->out, e);
}

static int on_place(struct devsim *s, const struct rec *r, struct filter *f, struct err *e)
{
	struct place_rec p;

	if (!s->in.g)
		return err_set(e, ST_INPUT, "a place record before its graph");
	arena_reset(s->record);
	if (place_decode(r, s->in.g->n_sets, s->fitted || s->o->fixed ? 0 : PLACE_REPLICAS,
			 s->record, &p, e) < 0)
		return err_prefix(e, "place record %llu", (unsigned long long)r->index);
	if (p.id.graph != s->in.g->digest)
		return err_set(e, ST_INPUT, "place record %llu is about another graph",
			       (unsigned long long)r->index);
	if (ready_model(s, &p, e) < 0)
		return -1;
	if (s->o->predict) {
		double lat_s = fitted_predict(s->fitted, &p);
		return lat_s > 0 ? place_encode_predicted(r, lat_s, false, 0, s->record, f->out, e)
				 : filter_pass(f, r, e);
	}
	if (filter_pass(f, r, e) < 0)
		return -1;
	if (s->fitted)
		return fitted_answer(s->fitted, &p, f->out, e);
	return s->sim ? simulator_answer(s->sim, &p, f->out, e) : answer_fixed(s, &p, f, e);
}

/* ---- the stream ---- */

/* Devices and costs, once in a stream: at its end, or in front of placements that there are already. */
static int probe(struct devsim *s, struct filter *f, struct err *e)
{
	if (s->probed)
		return 0;
	s->probed = true;
	return spec_probe(s->in.g, &s->in.spec, s->in.spec_list, s->o->devices, f->out, e);
}

static int on_record(struct devsim *s, const struct rec *r, struct filter *f, struct err *e)
{
	if (s->o->probe && rec_is(r, "place") && probe(s, f, e) < 0)
		return -1;
	if (s->machine)
		return machine_stage_take(s->machine, r, f, e);
	if (s->cases && refit_cases_take(s->cases, r, &s->in, e) < 0)
		return -1;
	if (rec_is(r, "place") && !s->o->probe && !s->o->refit)
		return on_place(s, r, f, e);
	if (rec_is(r, "episode"))
		filter_absorb_interrupt();
	/* What is refitted is the profile, not what was refitted before. */
	if (s->o->refit && place_inputs_known(&s->in, r))
		return filter_pass(f, r, e);
	int taken = place_inputs_take(&s->in, r, e);
	if (taken < 0 || check_cases(s, e) < 0)
		return -1;
	if (taken)
		drop_model(s);
	return filter_pass(f, r, e);
}

int devsim_run(struct devsim *s, struct filter *f, struct err *e)
{
	struct rec r;
	int k;

	while ((k = filter_next(f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (on_record(s, &r, f, e) < 0)
				return -1;
			continue;
		}
		if (!s->o->probe && !s->o->refit && !s->o->machine.true_costs &&
		    stages_check(&f->stages,
				 s->o->machine.paired ? NEEDS_CANDIDATES : NEEDS_PLACEMENTS, e) < 0)
			return -1;
		if ((s->o->probe && probe(s, f, e) < 0) || (s->o->refit && refit(s, f, e) < 0) ||
		    (s->machine && machine_stage_end(s->machine, f, e) < 0))
			return -1;
		drop_model(s);
		s->probed = false;
		place_inputs_reset(&s->in);
		if (filter_end(f, e) < 0)
			return -1;
	}
	return k;
}

static int open_state(struct devsim *s, struct devsim_options *o, struct err *e)
{
	if (place_options_inputs(&o->sim, o->probe ? DEFAULT_SPEC : NULL, &s->in, e) < 0)
		return -1;
	if (o->refit)
		s->cases = refit_cases_new();
	if (o->fit) {
		s->fitted = fitted_open(o->fit, s->seed, (uint32_t)o->draws, s->in.order, e);
		if (!s->fitted)
			return -1;
	}
	if (o->machine.spec) {
		o->machine.seed = (int64_t)s->seed;
		o->machine.measure.race_seed = s->seed;
		s->machine = machine_stage_new(&o->machine, &s->in, e);
		if (!s->machine)
			return -1;
	}
	return 0;
}

struct devsim *devsim_new(struct devsim_options *o, uint64_t seed, struct err *e)
{
	struct devsim *s = MEM_NEW(struct devsim);
	*s = (struct devsim){.o = o, .seed = seed, .record = arena_new(), .arena = arena_new()};
	if (open_state(s, o, e) == 0)
		return s;
	devsim_free(s);
	return NULL;
}

void devsim_free(struct devsim *s)
{
	if (!s)
		return;
	drop_model(s);
	machine_stage_free(s->machine);
	refit_cases_free(s->cases);
	fitted_free(s->fitted);
	place_inputs_release(&s->in);
	arena_free(s->record);
	arena_free(s->arena);
	mem_free(s);
}
