/* devrun - run placements on this machine's devices and say how long they take.
 * With --probe: add the devices and what each can run, with --profile also what it takes
 * there.  With --paired: the last comparison, of the best candidates with the best
 * single device. */
#include <stdio.h>
#include <string.h>

#include "base/blas.h"
#include "base/msg.h"
#include "base/opt.h"
#include "device/runrec.h"
#include "graph/graphrec.h"
#include "stream/filter.h"

struct options {
	const char *devices, *weights, *inputs, *outputs, *save_inputs;
	bool list, probe, profile, paired, allow_shared, reference;
	int64_t candidates;
	struct measure_options measure;
};

/* A placement that waits to be measured. */
struct pending {
	struct placement place;
	uint32_t *slot;              /* (place.k) the session's device */
	uint32_t n_groups;           /* --paired */
	struct trial trial;
};

struct state {
	const struct options *o;
	const struct opt_common *common;
	struct filter *f;
	struct graph *g;
	struct devs devs;            /* of the stream; k 0: none yet */
	struct session session;
	bool is_open, in_loop;
	struct pending *queue;
	size_t n_queue, cap_queue;
	struct arena *arena;         /* the stream */
	struct arena *turn;          /* what is queued and measured */
};

/* ---- devices and model ---- */

static bool reader_lives(void *arg)
{
	const struct filter *f = arg;
	return rec_writer_alive(f->out);
}

static int list_devices(const struct state *s, const struct placement *p, struct device_list *l,
			struct err *e)
{
	if (s->o->devices)
		return device_list_parse(s->o->devices, l, e);
	if (s->devs.k == 0 && !p)
		return err_set(e, ST_USAGE,
			       "no devices; name them with -D or put devrun --probe in front");
	int rc = s->devs.k > 0 ? device_list_names(s->devs.names, s->devs.k, l, e)
			       : device_list_names(p->names, p->k, l, e);
	if (rc < 0 && e->code == ST_USAGE)
		e->code = ST_INPUT;      /* the names are not from the command line */
	return rc;
}

static int open_session(struct state *s, const struct placement *p, struct err *e)
{
	struct device_list l = {0};
	const struct options *o = s->o;
	if (s->is_open)
		return 0;
	int rc = list_devices(s, p, &l, e);
	if (rc == 0) {
		s->is_open = true;
		rc = session_open(&s->session, s->g, &l, o->allow_shared, o->weights, o->inputs,
				  (uint64_t)s->common->seed, &o->measure, e);
	}
	device_list_close(&l);
	if (rc < 0) {
		if (!o->devices && e->code == ST_USAGE)
			e->code = ST_INPUT;      /* likewise: devices that are not there */
		return -1;
	}
	s->session.no_reference = !o->reference;
	executor_watch(s->session.x, reader_lives, s->f);
	return o->save_inputs ? inputs_save(&s->session.model, o->save_inputs, e) : 0;
}

static void reset(struct state *s)
{
	if (s->is_open)
		session_close(&s->session);
	graph_free(s->g);
	s->g = NULL;
	s->is_open = false;
	s->devs.k = 0;
	s->n_queue = 0;
	arena_reset(s->arena);
	arena_reset(s->turn);
}

/* ---- --list ---- */

static void print_device(void *arg, const struct device *d)
{
	(void)arg;
	printf("%-12s %-9s %8.1f GB  %s\n", d->name, d->class ? d->class->type : "-",
	       (double)d->mem_bytes / 1e9, d->description);
}

/* ---- placements ---- */

/* Queue a `place` or `best` record. */
static int take_placement(struct state *s, const struct rec *r, struct err *e)
{
	if (!s->g)
		return err_set(e, ST_INPUT, "a %s record before its graph", r->kind);
	s->queue = mem_grow(s->queue, &s->cap_queue, s->n_queue + 1, sizeof *s->queue);
	struct pending *q = &s->queue[s->n_queue];
	*q = (struct pending){0};
	if (placement_decode(r, s->g->n_sets, s->turn, &q->place, e) < 0)
		return -1;
	if (q->place.graph != s->g->digest)
		return err_set(e, ST_INPUT, "%s record %llu is about another graph", r->kind,
			       (unsigned long long)r->index);
	if (open_session(s, &q->place, e) < 0)
		return -1;
	const struct device_list *l = &s->session.devices;
	uint16_t *device = ARENA_NEWN(s->turn, uint16_t, s->g->n_sets);
	q->slot = ARENA_NEWN(s->turn, uint32_t, q->place.k);
	for (uint32_t i = 0; i < q->place.k; i++)
		for (q->slot[i] = 0; q->slot[i] < l->n; q->slot[i]++)
			if (strcmp(l->dev[q->slot[i]].name, q->place.names[i]) == 0)
				break;
	for (uint32_t i = 0; i < s->g->n_sets; i++) {
		uint32_t d = q->slot[q->place.device[i]];
		if (d == l->n)
			return err_set(
				e, ST_INPUT,
				"%s record %llu places on '%s', which is not among the devices",
				r->kind, (unsigned long long)r->index,
				q->place.names[q->place.device[i]]);
		device[i] = (uint16_t)d;
	}
	q->trial.device = device;
	s->n_queue++;
	return 0;
}

static int write_outputs(void *arg, const void *const *result, struct err *e)
{
	const struct state *s = arg;
	return outputs_save(&s->session.model, result, s->o->outputs, e);
}

/* Measure what is queued and write the `run` records. */
static int measure_queue(struct state *s, struct err *e)
{
	if (s->n_queue == 0)
		return 0;
	size_t n = s->n_queue;
	struct trial *t = ARENA_NEWN(s->turn, struct trial, n);
	for (size_t i = 0; i < n; i++)
		t[i].device = s->queue[i].trial.device;
	if (session_measure(&s->session, t, (uint32_t)n, s->turn, e) < 0)
		return -1;
	const uint16_t *last = NULL;
	for (size_t i = 0; i < n; i++) {
		if (trial_encode(&s->session, &s->queue[i].place, s->queue[i].slot, &t[i],
				 s->f->out, e) < 0)
			return -1;
		msg_note(1, "%s %u.%u.%u: %s%.3f ms", s->queue[i].place.source,
			 s->queue[i].place.episode, s->queue[i].place.step,
			 s->queue[i].place.sample, t[i].ok ? "" : t[i].reason,
			 t[i].m.lat.mid * 1e3);
		last = t[i].ok ? t[i].device : last;
	}
	if (s->o->outputs && last && session_results(&s->session, last, write_outputs, s, e) < 0)
		return -1;
	s->n_queue = 0;
	arena_reset(s->turn);
	return 0;
}

/* ---- --paired ---- */

static int take_best(struct state *s, const struct rec *r, struct err *e)
{
	bool final = false;
	uint64_t n_groups = 0;
	const struct val *v = val_get(r->map, "final");
	if (v && val_bool(v, &final) && final)
		return 0;
	if (s->n_queue >= (size_t)s->o->candidates)
		return 0;
	if (get_uint(r->map, "n_groups", 0, UINT32_MAX, &n_groups, e) < 0 ||
	    take_placement(s, r, e) < 0)
		return -1;
	s->queue[s->n_queue - 1].n_groups = (uint32_t)n_groups;
	return 0;
}

static int judge(struct state *s, struct err *e)
{
	if (!s->g)
		return err_set(e, ST_INPUT,
			       "no graph in the input; --paired reads what reinforce wrote");
	if (open_session(s, NULL, e) < 0)
		return -1;
	uint32_t n = (uint32_t)s->n_queue, k = s->session.devices.n;
	struct trial *t = ARENA_NEWN(s->turn, struct trial, n);
	const char **names = ARENA_NEWN(s->turn, const char *, k);
	struct verdict v;
	for (uint32_t i = 0; i < n; i++)
		t[i].device = s->queue[i].trial.device;
	for (uint32_t i = 0; i < k; i++)
		names[i] = s->session.devices.dev[i].name;
	if (verdict_reach(&s->session, t, n, s->turn, &v, e) < 0)
		return -1;
	struct placement p = {.graph = s->g->digest,
			      .source = "single",
			      .k = k,
			      .n_sets = s->g->n_sets,
			      .names = names};
	for (uint32_t d = 0; d < k; d++, p.sample++) {
		p.device = v.single[d].device;
		if (trial_encode(&s->session, &p, NULL, &v.single[d], s->f->out, e) < 0)
			return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		if (trial_encode(&s->session, &s->queue[i].place, s->queue[i].slot, &t[i],
				 s->f->out, e) < 0)
			return -1;
	uint32_t n_groups = 1;
	p.sample = v.reference < 0 ? 0 : (uint32_t)v.reference;
	if (v.winner >= 0) {
		const struct pending *q = &s->queue[v.winner];
		p.source = q->place.source;
		p.episode = q->place.episode;
		p.step = q->place.step;
		p.sample = q->place.sample;
		n_groups = q->n_groups;
	}
	if (s->o->outputs && session_results(&s->session, v.final.device, write_outputs, s, e) < 0)
		return -1;
	return verdict_encode(&v, &s->session, &p, n_groups, s->f->out, e);
}

/* ---- the stream ---- */

static int take_graph(struct state *s, const struct rec *r, struct err *e)
{
	if (s->g)
		return err_set(e, ST_INPUT,
			       "record %llu is a second graph; devrun runs one model per stream",
			       (unsigned long long)r->index);
	s->g = graph_decode(r, e);
	return s->g ? 0 : -1;
}

/* --probe --profile */
static int take_profile(struct state *s, struct err *e)
{
	struct profile p;
	if (open_session(s, NULL, e) < 0 || profile_take(&s->session, s->turn, &p, e) < 0)
		return -1;
	uint32_t k = s->session.devices.n, failed = 0;
	for (uint32_t d = 0; d < k; d++)
		if (p.failed[d]) {
			failed++;
			msg_warn("no times on '%s': %s", s->session.devices.dev[d].name,
				 p.failed[d]);
		}
	if (failed == k)
		return err_set(e, ST_RUNTIME, "no device could be timed: %s", p.failed[0]);
	int rc = profile_encode(&s->session, &p, s->f->out, e);
	arena_reset(s->turn);
	return rc;
}

static int on_record(struct state *s, const struct rec *r, struct err *e)
{
	const struct options *o = s->o;
	if (rec_is(r, "graph")) {
		if (take_graph(s, r, e) < 0 || filter_pass(s->f, r, e) < 0)
			return -1;
		return o->profile ? take_profile(s, e)
		       : o->probe ? probe_encode(s->g, o->devices, o->allow_shared, o->weights,
						 s->f->out, e)
				  : 0;
	}
	if (o->probe)
		return filter_pass(s->f, r, e);
	if (rec_is(r, "devs") && devs_decode(r, s->arena, &s->devs, e) < 0)
		return -1;
	if (rec_is(r, "episode") && !s->in_loop) {
		filter_absorb_interrupt();
		s->in_loop = true;
	}
	if (rec_is(r, "episode_end") && measure_queue(s, e) < 0)
		return -1;
	if (filter_pass(s->f, r, e) < 0)
		return -1;
	if (o->paired)
		return rec_is(r, "best") ? take_best(s, r, e) : 0;
	if (rec_is(r, "place"))
		return take_placement(s, r, e);
	/* The model loads while the other stages start. */
	if (s->g && !s->is_open && (o->devices || s->devs.k > 0))
		return open_session(s, NULL, e);
	return 0;
}

static int run_filter(struct state *s, struct err *e)
{
	struct rec r;
	int k;
	while ((k = filter_next(s->f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (on_record(s, &r, e) < 0)
				return -1;
			continue;
		}
		if (s->o->probe && !s->g)
			return err_set(e, ST_INPUT, "no graph in the input; ir2dag makes one");
		if ((s->o->paired ? judge(s, e) : measure_queue(s, e)) < 0)
			return -1;
		reset(s);
		if (filter_end(s->f, e) < 0)
			return -1;
	}
	return k;
}

static int check_options(const struct options *o, struct err *e)
{
	if (o->probe && o->paired)
		return err_set(e, ST_USAGE, "--probe and --paired exclude each other");
	if (o->profile && !o->probe)
		return err_set(e, ST_USAGE, "--profile goes with --probe");
	if (o->paired && !o->reference)
		return err_set(e, ST_USAGE, "--paired needs the reference");
	if (o->measure.max_runs < o->measure.min_runs)
		return err_set(e, ST_USAGE, "--max-runs %lld is less than --min-runs %lld",
			       (long long)o->measure.max_runs, (long long)o->measure.min_runs);
	struct device_list l = {0};
	int rc = o->devices ? device_list_parse(o->devices, &l, e) : 0;
	device_list_close(&l);
	return rc;
}

static const char details[] = "Devices: cpu (all cores), cpu:LIST (these cores, as in cpu:0 or "
			      "cpu:0-3,5), cl:P.D (OpenCL\n"
			      "platform and device), cl:P.D:A-B (compute units A to B of it). "
			      "Without -D they come from the\n"
			      "stream's devs record. Devices that share cores are refused.\n"
			      "\n"
			      "--probe --profile times the steps of inferences on one device "
			      "after another, and copies\n"
			      "between each two: the cost record and the links that placebase "
			      "heft and devsim take.\n"
			      "\n"
			      "Placements of an episode are measured when the episode ends, others "
			      "at the end of the stream,\n"
			      "so that the stages in front are asleep meanwhile. The fastest "
			      "single device is measured again\n"
			      "after every few placements (ref_s). A placement that cannot run, or "
			      "whose device fails, gives a\n"
			      "run record with the reason. --paired: rounds of all candidates and "
			      "single devices choose one\n"
			      "candidate; fresh rounds, 20 or more unless that takes long, give the "
			      "ratio.\n"
			      "\n"
			      "Inputs are drawn from --seed unless --inputs names a directory with "
			      "0.npy, 1.npy, ... in the\n"
			      "order of the model's Parameters (or as its index.tsv says).";

#define FLAG(name, letter, dst, help) {name, letter, OPT_FLAG, &(dst), NULL, help, 0, 0, NULL, NULL}
#define TEXT(name, letter, dst, arg, help) \
	{name, letter, OPT_TEXT, &(dst), arg, help, 0, 0, NULL, NULL}
#define NUMBER(name, letter, kind, dst, arg, help, lo, hi) \
	{name, letter, kind, &(dst), arg, help, lo, hi, NULL, NULL}
enum { MANY_RUNS = 100000 };

int main(int argc, char **argv)
{
	struct options o = {.reference = true, .candidates = 8, .measure = MEASURE_DEFAULT};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	struct filter f;
	int64_t runs = 0;
	const struct opt opts[] = {
		TEXT("devices", 'D', o.devices, "LIST", "the devices, e.g. cpu:0,cl:0.0:1"),
		FLAG("list", 'l', o.list, "show this machine's devices"),
		FLAG("probe", 'p', o.probe, "add the devices and the sets that each can run"),
		FLAG("profile", 0, o.profile, "with --probe: add what every set and every copy\n"
					      "between devices takes, measured"),
		FLAG("paired", 0, o.paired, "measure the best records again, in rounds with\n"
					    "every single device; add the final one"),
		NUMBER("candidates", 0, OPT_INT, o.candidates, "N",
		       "with --paired: the first N best records", 1, 1000),
		FLAG("paper", 0, o.measure.paper, "10 runs, the mean of the last 5"),
		TEXT("weights", 'w', o.weights, "FILE", "the .bin (default: what the graph names)"),
		TEXT("inputs", 'i', o.inputs, "DIR", "read the model's inputs from N.npy"),
		TEXT("outputs", 0, o.outputs, "DIR",
		     "write the results of the last placement that ran"),
		TEXT("save-inputs", 0, o.save_inputs, "DIR", "write the inputs that are used"),
		NUMBER("warmup", 0, OPT_INT, o.measure.warmup, "N",
		       "inferences that do not count", 0, 1000),
		NUMBER("runs", 'n', OPT_INT, runs, "N", "exactly N runs; 0: as many as needed", 0,
		       MANY_RUNS),
		NUMBER("min-runs", 0, OPT_INT, o.measure.min_runs, "N", "at least", 1, MANY_RUNS),
		NUMBER("max-runs", 0, OPT_INT, o.measure.max_runs, "N", "at most", 1, MANY_RUNS),
		NUMBER("ci", 0, OPT_REAL, o.measure.ci, "X",
		       "enough when half the 95 % interval is X of the latency", 0, 1),
		NUMBER("max-seconds", 0, OPT_REAL, o.measure.max_s, "S",
		       "... or after S seconds per placement", 0, 1e6),
		FLAG("reference", 0, o.reference,
		     "measure the best single device between placements"),
		FLAG("allow-shared", 0, o.allow_shared, "accept devices that share cores"),
		{0}};
	const struct opt_program program = {
		.name = "devrun", .summary = "run placements on devices and measure them",
		.args = "[FILE]", .max_args = 1, .has_seed = true, .opts = opts, .details = details,
		.example = "ir2dag m.xml | devrun --probe -D cpu:0,cpu:1 | placebase random -n 5 | "
			   "devrun"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (runs > 0)
		o.measure.min_runs = o.measure.max_runs = runs;
	if (rc <= 0 || check_options(&o, &e) < 0)
		return opt_finish(rc <= 0 ? rc : -1, &e);
	if (o.list) {
		device_list_machine(print_device, NULL);
		return opt_finish(0, &e);
	}
	char found[4096];
	if (o.probe && !o.devices)
		o.devices = device_list_default(found, sizeof found);
	blas_init();
	struct state s = {
		.o = &o, .common = &common, .f = &f, .arena = arena_new(), .turn = arena_new()};
	rc = filter_open(&f, first < argc ? argv[first] : "-", &common, argc, argv, &e);
	if (rc == 0)
		rc = filter_close(&f, run_filter(&s, &e), &e);
	reset(&s);
	mem_free(s.queue);
	arena_free(s.arena);
	arena_free(s.turn);
	return opt_finish(rc, &e);
}
