/* devsim - in the place of devrun: predicts what a placement would take, by the
 * scheduler that devrun uses and a virtual clock.  With --probe, in front of the
 * learner: adds devices and costs from a specification. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/msg.h"
#include "base/opt.h"
#include "base/rng.h"
#include "machine/machine_stage.h"
#include "place/problem/sim_options.h"
#include "place/problem/spec_probe.h"
#include "place/refit/fitted.h"
#include "place/refit/refit_cases.h"
#include "place/simulate/simrun.h"
#include "stream/filter.h"

static const char DEFAULT_SPEC[] = "paper";
enum { MANY_RUNS = 100000 };

struct options {
	struct place_options sim;
	const char *devices;
	bool probe, fixed, schedule, refit;
	int64_t draw;    /* --refit */
	const char *fit; /* a stream */
	int64_t draws;   /* --fit */
	bool predict;    /* --fit */
	double noise, op_noise;
	struct machine_options machine;
	bool has_clock; /* it was given */
};

/* The model of the devices that the last placement named. */
struct state {
	const struct options *o;
	const struct opt_common *common;
	struct place_inputs in;
	struct arena *record; /* one place record */
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
static int refit(struct state *s, struct filter *f, struct err *e)
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
	struct refit *x = refit_new(&s->in, c, n, e);
	msg_busy(NULL, 0);
	if (!x)
		return -1;
	tell_refit(refit_summary(x));
	arena_reset(s->record);
	refit_costs(x, (uint64_t)s->common->seed, (uint32_t)s->o->draw, s->record, &cost, &devs);
	int rc = devs_encode(&devs, f->out, e);
	if (rc == 0)
		rc = cost_encode(&cost, f->out, e);
	refit_free(x);
	refit_cases_free(s->cases);
	s->cases = refit_cases_new();
	return rc;
}

/* ---- placements ---- */

/* A latency between 1 and 2 ms that depends on the seed and the placement alone. */
static double fixed_latency(const struct state *s, const uint16_t *device, uint32_t n_sets)
{
	uint64_t h = hash_u16(device, n_sets);
	struct rng_addr a = {(uint64_t)s->common->seed, (uint32_t)(h >> 32), (uint32_t)h, RNG_COST};
	return 1e-3 * (1 + rng_uniform(&a, 0));
}

static double fixed_reference(struct state *s)
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

static void drop_model(struct state *s)
{
	simulator_free(s->sim);
	s->sim = NULL;
	s->k = 0;
	arena_reset(s->arena);
}

/* Make the model for p's devices, unless it is there already. */
static int ready_model(struct state *s, const struct place_rec *p, struct err *e)
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
		const struct simulator_options o = {.seed = (uint64_t)s->common->seed,
						    .run_sigma = s->o->noise,
						    .op_sigma = s->o->op_noise,
						    .schedule = s->o->schedule};

		if (place_inputs_model(&s->in, s->names, p->k, s->arena, &s->model, e) < 0)
			return -1;
		s->sim = simulator_new(&s->model, &o);
	}
	s->k = p->k;
	if (s->o->fixed)
		s->ref_s = fixed_reference(s);
	return 0;
}

/* --fixed: no simulation. */
static int answer_fixed(struct state *s, const struct place_rec *p, struct filter *f, struct err *e)
{
	double lat_s = fixed_latency(s, p->device, p->n_sets);

	if (s->o->noise > 0)
		lat_s *= simulator_noise((uint64_t)s->common->seed, p, 0, s->o->noise);
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

static int on_place(struct state *s, const struct rec *r, struct filter *f, struct err *e)
{
	struct place_rec p;

	if (!s->in.g)
		return err_set(e, ST_INPUT, "a place record before its graph");
	arena_reset(s->record);
	if (place_decode(r, s->in.g->n_sets, 0, s->record, &p, e) < 0)
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

static int on_record(struct state *s, const struct rec *r, struct filter *f, struct err *e)
{
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
	if (taken < 0)
		return -1;
	if (taken)
		drop_model(s);
	return filter_pass(f, r, e);
}

static int run_filter(struct state *s, struct filter *f, struct err *e)
{
	struct rec r;
	int k;

	while ((k = filter_next(f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (on_record(s, &r, f, e) < 0)
				return -1;
			continue;
		}
		if ((s->o->probe && spec_probe(s->in.g, &s->in.spec, s->in.spec_list, s->o->devices,
					       f->out, e) < 0) ||
		    (s->o->refit && refit(s, f, e) < 0) ||
		    (s->machine && machine_stage_end(s->machine, f, e) < 0))
			return -1;
		drop_model(s);
		place_inputs_reset(&s->in);
		if (filter_end(f, e) < 0)
			return -1;
	}
	return k;
}

static int check_machine(const struct options *o, struct err *e)
{
	const struct machine_options *m = &o->machine;

	if (!m->spec && (m->truth || m->true_costs || m->paired || o->has_clock))
		return err_set(e, ST_USAGE,
			       "--truth, --true-costs, --paired and --clock go with --machine");
	if (m->spec && (o->probe || o->fixed || o->schedule || o->noise > 0 || o->op_noise > 0 ||
			o->sim.objective || o->sim.rules != PLACE_SCHEDULE))
		return err_set(e, ST_USAGE,
			       "--machine goes without --probe, --fixed, --schedule, --noise, "
			       "--op-noise, --objective and --model");
	if ((m->measure.race_s > 0 && !m->paired) ||
	    (m->measure.starts > 0 && !(m->measure.race_s > 0)))
		return err_set(e, ST_USAGE, "--race goes with --paired, --starts with --race");
	if (m->truth && m->paired)
		return err_set(e, ST_USAGE, "--truth and --paired exclude each other");
	if (m->measure.max_runs < m->measure.min_runs)
		return err_set(e, ST_USAGE, "--max-runs %lld is less than --min-runs %lld",
			       (long long)m->measure.max_runs, (long long)m->measure.min_runs);
	return 0;
}

static int check_options(const struct options *o, struct err *e)
{
	if (check_machine(o, e) < 0)
		return -1;
	if ((o->draws || o->predict) && !o->fit)
		return err_set(e, ST_USAGE, "--draws and --predict go with --fit");
	if (o->fit &&
	    (o->probe || o->refit || o->fixed || o->schedule || o->noise > 0 || o->op_noise > 0 ||
	     o->machine.spec || o->sim.spec || o->sim.objective || o->sim.rules != PLACE_SCHEDULE))
		return err_set(e, ST_USAGE,
			       "--fit goes without --probe, --refit, --spec, --machine, --fixed, "
			       "--schedule, --noise, --op-noise, --objective and --model");
	if (o->draw && !o->refit)
		return err_set(e, ST_USAGE, "--draw goes with --refit");
	if (o->refit &&
	    (o->probe || o->fixed || o->schedule || o->noise > 0 || o->op_noise > 0 ||
	     o->machine.spec || o->sim.spec || o->sim.objective || o->sim.rules != PLACE_SCHEDULE))
		return err_set(
			e, ST_USAGE,
			"--refit goes without --probe, --spec, --machine, --fixed, --schedule, "
			"--noise, --op-noise, --objective and --model");
	if (o->devices && !o->probe)
		return err_set(e, ST_USAGE,
			       "--devices goes with --probe; "
			       "a placement names its devices");
	if (o->probe && (o->fixed || o->noise > 0 || o->op_noise > 0 || o->schedule))
		return err_set(e, ST_USAGE,
			       "--probe measures no placement: --fixed, --noise, "
			       "--op-noise and --schedule do not apply");
	if (o->fixed && (o->schedule || o->op_noise > 0))
		return err_set(e, ST_USAGE,
			       "--fixed simulates nothing: --schedule and --op-noise do "
			       "not apply");
	if (o->fixed && o->sim.objective)
		return err_set(e, ST_USAGE, "--fixed draws latencies: --objective does not apply");
	if (o->sim.rules != PLACE_SCHEDULE && (o->schedule || o->op_noise > 0))
		return err_set(e, ST_USAGE,
			       "--model %s makes no schedule: --schedule and --op-noise "
			       "do not apply",
			       place_rules_names[o->sim.rules]);
	return 0;
}

static void print_machines(void)
{
	opt_print("--machine plays a machine: true costs are those of the stream (or --spec) times "
		  "errors, its clock goes on by what runs take, and placements are measured as "
		  "by devrun, when their episode or the stream ends. SPEC is one or more of "
		  "these, files and KEY=VALUE, joined with commas, where what comes later wins:");
	for (const struct machine_preset *p = machine_presets; p->name; p++)
		printf("  %-15s %s\n", p->name, p->about);
	opt_print("Keys (errors, noise and drift: standard deviations of logarithms):");
	for (const struct machine_key *k = machine_keys; k->name; k++)
		printf("  %-15s %s\n", k->name, k->about);
	printf("\n");
}

static void print_presets(void)
{
	print_machines();
	opt_print("Costs, links and memory come from --spec, else from the stream's cost and devs "
		  "records. A specification is a file or one of the presets");
	for (const struct preset *p = presets; p->name; p++)
		printf("  %-15s %s\n", p->name, p->about);
}

static const char details[] =
	"and several are joined with commas. A file has lines like\n"
	"  device cpu  flops 1e12  efficiency 0.5  bandwidth 7.7e10  overhead 3e-6\n"
	"  device gpu  flops 1.6e13  bandwidth 5.7e11  memory 1.6e10  watts 150  idle 20\n"
	"  link cpu gpu  latency 10e-6  bandwidth 2.5e10  j_per_byte 1e-10\n"
	"in SI units; efficiency (of the peak), overhead (per operation), memory, watts, idle, "
	"j_per_byte and type may be left out. Links are directed; \"*\" is any device, a link with "
	"more exact names wins, then the later one; a pair without a link cannot exchange data. "
	"cpu:0 and cpu:1 are two devices like cpu.\n"
	"\n"
	"A run record has latency, busy time and peak memory of each device, copies, bytes and "
	"time "
	"of each link, the period of a pipeline (the largest load of a device or link) and, where "
	"watts are known, energy: of each device, watts while busy and idle watts for the rest of "
	"the latency, and of each copy its bytes. With another objective than latency, also "
	"`value` "
	"and the best single device's, `ref_value`. placeout --format trace shows a --schedule.\n"
	"\n"
	"--noise depends on seed, episode, step and sample alone: the same stream and seed give "
	"the "
	"same bytes. lo_s and hi_s then hold the noiseless latency in about 95 of 100 runs.";

int main(int argc, char **argv)
{
	struct options o = {.sim = PLACE_OPTIONS_INIT,
			    .machine = {.candidates = 8, .measure = MEASURE_DEFAULT}};
	struct machine_options *m = &o.machine;
	struct measure_options *runs = &m->measure;
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	struct filter f;
	const struct opt opts[] = {
		{"probe", 'p', OPT_FLAG, &o.probe, NULL,
		 "add the devices and their costs to a stream with a graph", 0, 0, NULL, NULL},
		{"devices", 'D', OPT_TEXT, &o.devices, "LIST",
		 "with --probe: only these; NAME:X is one more device like NAME", 0, 0, NULL, NULL},
		PLACE_OPTIONS(o.sim),
		{"schedule", 0, OPT_FLAG, &o.schedule, NULL,
		 "tell start and end of every set and copy in the run record", 0, 0, NULL, NULL},
		{"noise", 0, OPT_REAL, &o.noise, "SIGMA",
		 "multiply each run's times by exp(SIGMA z), z standard normal", 0, 10, NULL, NULL},
		{"op-noise", 0, OPT_REAL, &o.op_noise, "SIGMA",
		 "the same for each set's time by itself, before it is scheduled", 0, 10, NULL,
		 NULL},
		{"fixed", 0, OPT_FLAG, &o.fixed, NULL,
		 "no simulation: a latency drawn from seed and placement", 0, 0, NULL, NULL},
		{"refit", 0, OPT_FLAG, &o.refit, NULL,
		 "put costs and links behind the stream that fit what its placements took", 0, 0,
		 NULL, NULL},
		{"draw", 0, OPT_INT, &o.draw, "N",
		 "with --refit: draw N from all that fit; 0: the most likely ones", 0, 1000000,
		 NULL, NULL},
		{"fit", 0, OPT_TEXT, &o.fit, "FILE",
		 "simulate by costs and links that fit what the placements of FILE took", 0, 0,
		 NULL, NULL},
		{"draws", 0, OPT_INT, &o.draws, "N",
		 "with --fit: the mean of logarithms over N draws from all that fit; 0: by the "
		 "most likely ones",
		 0, 1000, NULL, NULL},
		{"predict", 0, OPT_FLAG, &o.predict, NULL,
		 "with --fit: no runs; placements get predicted_s", 0, 0, NULL, NULL},
		{"machine", 0, OPT_TEXT, &m->spec, "SPEC",
		 "play a machine, in the place of devrun, as in shared,seed=2", 0, 0, NULL, NULL},
		{"paired", 0, OPT_FLAG, &m->paired, NULL,
		 "with --machine: best records, else placements, against the best single device", 0,
		 0, NULL, NULL},
		{"candidates", 0, OPT_INT, &m->candidates, "N",
		 "with --paired: the first N of them", 1, 1000, NULL, NULL},
		{"race", 0, OPT_REAL, &runs->race_s, "S",
		 "with --paired: candidates compete for S seconds of the machine's clock", 0, 1e6,
		 NULL, NULL},
		{"starts", 0, OPT_INT, &runs->starts, "N",
		 "with --race: the first N candidates are what others must surely beat", 0, 1000,
		 NULL, NULL},
		{"truth", 0, OPT_FLAG, &m->truth, NULL,
		 "with --machine: what placements and best records take undisturbed", 0, 0, NULL,
		 NULL},
		{"true-costs", 0, OPT_FLAG, &m->true_costs, NULL,
		 "with --machine: the stream's costs and links become the true ones", 0, 0, NULL,
		 NULL},
		{"clock", 0, OPT_REAL, &m->clock_s, "S",
		 "with --machine: its seconds at the beginning, unless run records of the stream "
		 "tell later ones",
		 0, 1e9, NULL, &o.has_clock},
		{"warmup", 0, OPT_INT, &runs->warmup, "N", "with --machine: runs that do not count",
		 0, 1000, NULL, NULL},
		{"min-runs", 0, OPT_INT, &runs->min_runs, "N", "runs of a placement, at least", 1,
		 MANY_RUNS, NULL, NULL},
		{"max-runs", 0, OPT_INT, &runs->max_runs, "N", "at most", 1, MANY_RUNS, NULL, NULL},
		{"ci", 0, OPT_REAL, &runs->ci, "X", "enough: half the 95 % interval over latency",
		 0, 1, NULL, NULL},
		{"max-seconds", 0, OPT_REAL, &runs->max_s, "S",
		 "enough: seconds of the machine's clock for a placement", 0, 1e6, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "devsim",
		.summary = "predict latency, memory and copies of placements",
		.args = "[FILE]",
		.max_args = 1,
		.has_seed = true,
		.opts = opts,
		.print_details = print_presets,
		.details = details,
		.example = "ir2dag m.xml | devsim --probe | placebase random -n 20 | devsim\n"
			   "  ir2dag m.xml | devsim --probe --spec desktop-cpu,datacenter-gpu |\n"
			   "  placebase heft | devsim --schedule | placeout --format trace > "
			   "trace.json"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);

	if (rc <= 0 || check_options(&o, &e) < 0)
		return opt_finish(rc <= 0 ? rc : -1, &e);
	struct state s = {.o = &o, .common = &common, .record = arena_new(), .arena = arena_new()};
	rc = place_options_inputs(&o.sim, o.probe ? DEFAULT_SPEC : NULL, &s.in, &e);
	if (o.refit)
		s.cases = refit_cases_new();
	if (rc == 0 && o.fit) {
		s.fitted = fitted_open(o.fit, (uint64_t)common.seed, (uint32_t)o.draws, s.in.order,
				       &e);
		rc = s.fitted ? 0 : -1;
	}
	if (rc == 0 && m->spec) {
		m->seed = common.seed;
		runs->race_seed = (uint64_t)common.seed;
		s.machine = machine_stage_new(m, &s.in, &e);
		rc = s.machine ? 0 : -1;
	}
	if (rc == 0) {
		rc = filter_open(&f, first < argc ? argv[first] : "-", &common, argc, argv, &e);
		if (rc == 0)
			rc = filter_close(&f, run_filter(&s, &f, &e), &e);
	}
	drop_model(&s);
	machine_stage_free(s.machine);
	refit_cases_free(s.cases);
	fitted_free(s.fitted);
	place_inputs_release(&s.in);
	arena_free(s.record);
	arena_free(s.arena);
	return opt_finish(rc, &e);
}
