/* devrun - run placements on this machine's devices and say how long they take.
 * With --probe: add the devices and what each can run, with --profile also what it takes
 * there.  With --paired: the last comparison, of the best candidates with the best
 * single device.  With --support: which operators run where, for people. */
#include <stdio.h>
#include <string.h>

#include "base/blas.h"
#include "base/msg.h"
#include "base/opt.h"
#include "device/boundary.h"
#include "device/ov_api.h"
#include "device/proberec.h"
#include "device/support.h"
#include "device/turn.h"
#include "graph/devrec.h"
#include "graph/graphrec.h"
#include "stream/filter.h"

struct options {
	const char *devices, *memory, *precision, *weights, *inputs, *outputs, *save_inputs, *boundaries;
	const char *openvino;
	bool list, support, probe, profile, paired, allow_shared, reference;
	int64_t candidates;
	int fuse;                    /* enum fuse_mode */
	struct measure_options measure;
};

struct state {
	const struct options *o;
	const struct opt_common *common;
	struct filter *f;
	struct graph *g;
	struct devs devs;            /* of the stream; k 0: none yet */
	struct session session;
	bool is_open, in_loop;
	struct turn turn;            /* what waits */
	struct arena *arena;         /* the stream */
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
	if (rc == 0 && o->memory)
		rc = device_list_limit(&l, o->memory, e);
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
	s->session.planner.fuse = (enum fuse_mode)o->fuse;
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
	turn_reset(&s->turn);
	arena_reset(s->arena);
}

/* ---- --list ---- */

static void print_device(void *arg, const struct device *d)
{
	(void)arg;
	printf("%-12s %-9s %8.1f GB  %s\n", d->name, d->class ? d->class->type : "-",
	       (double)d->mem_bytes / 1e9, d->description);
}

/* ---- --support ---- */

static int tell_support(const struct options *o, struct graph *g, struct err *e)
{
	struct device_list l = {0};
	struct model m = {0};
	struct support x = {0};
	struct arena *a = arena_new();
	int rc = device_list_parse(o->devices, &l, e);
	if (rc == 0)
		rc = device_list_open(&l, true, e);
	if (rc == 0)
		rc = model_open(&m, g, o->weights, e);
	if (rc == 0)
		rc = support_judge(&m, &l, a, &x, e);
	if (rc == 0 && g->n_const && !m.has_weights)
		msg_warn("no weights file: what must know a constant counts as not supported");
	if (rc == 0) {
		printf("%s", support_table(&x, &m, &l, a));
		if (x.n_nowhere)
			rc = err_set(e, ST_INPUT, "%u layers can run on none of the devices",
				     x.n_nowhere);
	}
	model_close(&m);
	device_list_close(&l);
	arena_free(a);
	return rc;
}

static int run_support(struct options *o, const char *path, struct err *e)
{
	char names[4096];
	if (!o->devices)
		o->devices = support_devices(names, sizeof names);
	struct graph *g = support_graph(path, e);
	int rc = g ? tell_support(o, g, e) : -1;
	graph_free(g);
	return rc;
}

/* ---- placements ---- */

static int take_placement(struct state *s, const struct rec *r, struct err *e)
{
	if (turn_take(&s->turn, r, s->g, e) < 0 ||
	    open_session(s, &s->turn.queue[s->turn.n - 1].place, e) < 0)
		return -1;
	return turn_assign(&s->turn, &s->session, r, e);
}

static int take_best(struct state *s, const struct rec *r, struct err *e)
{
	bool final = false;
	uint64_t n_groups = 0;
	const struct val *v = val_get(r->map, "final");
	if ((v && val_bool(v, &final) && final) || s->turn.n >= (size_t)s->o->candidates)
		return 0;
	if (get_uint(r->map, "n_groups", 0, UINT32_MAX, &n_groups, e) < 0 ||
	    take_placement(s, r, e) < 0)
		return -1;
	s->turn.queue[s->turn.n - 1].n_groups = (uint32_t)n_groups;
	return 0;
}

static int write_outputs(void *arg, const void *const *result, struct err *e)
{
	const struct state *s = arg;
	return outputs_save(&s->session.model, result, s->o->outputs, e);
}

/* Measure what waits and write the `run` records. */
static int measure(struct state *s, struct err *e)
{
	bool any = s->turn.n > 0;
	if (any && turn_measure(&s->turn, &s->session, s->f->out, e) < 0)
		return -1;
	if (any && s->o->outputs && s->turn.last)
		return session_results(&s->session, s->turn.last, write_outputs, s, e);
	return 0;
}

static int judge(struct state *s, struct err *e)
{
	if (!s->g)
		return err_set(e, ST_INPUT,
			       "no graph in the input; --paired reads what reinforce wrote");
	if (open_session(s, NULL, e) < 0 ||
	    turn_judge(&s->turn, &s->session, s->f->out, e) < 0)
		return -1;
	return s->o->outputs
		       ? session_results(&s->session, s->turn.last, write_outputs, s, e)
		       : 0;
}

/* ---- --boundaries ---- */

/* The last placement once more, in a session of its own. */
static int save_boundaries(struct state *s, struct err *e)
{
	struct boundaries b = {.dir = s->o->boundaries};
	struct device_list l = {0};
	if (!s->turn.last)
		return 0;
	boundary_list(&s->session, s->turn.last, s->arena, &b);
	int rc = boundary_devices(&s->session, &l, e);
	session_close(&s->session);
	s->is_open = false;
	if (rc == 0)
		rc = boundary_run(&b, s->g, s->turn.last, &l, s->o->weights, s->o->inputs,
				  (uint64_t)s->common->seed, &s->o->measure, e);
	device_list_close(&l);
	return rc;
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
	if (open_session(s, NULL, e) < 0 || profile_take(&s->session, s->turn.arena, &p, e) < 0)
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
	arena_reset(s->turn.arena);
	return rc;
}

static int on_record(struct state *s, const struct rec *r, struct err *e)
{
	const struct options *o = s->o;
	if (rec_is(r, "graph")) {
		if (take_graph(s, r, e) < 0 || filter_pass(s->f, r, e) < 0)
			return -1;
		return o->profile ? take_profile(s, e)
		       : o->probe ? probe_encode(s->g, o->devices, o->memory, o->allow_shared,
						 o->weights, s->f->out, e)
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
	if (rec_is(r, "episode_end") && measure(s, e) < 0)
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
		if (s->o->save_inputs && s->o->devices && s->g && open_session(s, NULL, e) < 0)
			return -1;       /* also when there is no placement */
		if ((s->o->paired ? judge(s, e) : measure(s, e)) < 0 ||
		    (s->o->boundaries && save_boundaries(s, e) < 0))
			return -1;
		reset(s);
		if (filter_end(s->f, e) < 0)
			return -1;
	}
	return k;
}

static int check_options(const struct options *o, struct err *e)
{
	if (o->probe + o->paired + o->support > 1)
		return err_set(e, ST_USAGE, "--probe, --paired and --support exclude each other");
	if (o->profile && !o->probe)
		return err_set(e, ST_USAGE, "--profile goes with --probe");
	if (o->paired && !o->reference)
		return err_set(e, ST_USAGE, "--paired needs the reference");
	if (o->precision && strcmp(o->precision, "f16") != 0 && strcmp(o->precision, "f32") != 0)
		return err_set(e, ST_USAGE, "--precision is f16 or f32");
	if (o->precision && !o->devices && !o->probe)
		return err_set(e, ST_USAGE, "--precision goes with -D or --probe");
	if (o->measure.max_runs < o->measure.min_runs)
		return err_set(e, ST_USAGE, "--max-runs %lld is less than --min-runs %lld",
			       (long long)o->measure.max_runs, (long long)o->measure.min_runs);
	struct device_list l = {0};
	int rc = o->devices ? device_list_parse(o->devices, &l, e) : 0;
	if (rc == 0 && o->devices && o->memory)
		rc = device_list_limit(&l, o->memory, e);
	device_list_close(&l);
	return rc;
}

static const char details[] = "Devices: cpu (all cores), cpu:LIST (these cores, as in cpu:0 or "
			      "cpu:0-3,5), cl:P.D (OpenCL\n"
			      "platform and device), cl:P.D:A-B (compute units A to B of it),\n"
			      "ov:NAME (a device of OpenVINO: ov:CPU, ov:CPU:0 on core 0, ov:GPU.1, "
			      "ov:AUTO, ov:HETERO:GPU+CPU;\n"
			      "f32 and one stream unless options say otherwise, as in "
			      "ov:CPU:0-1/threads=2/precision=bf16).\n"
			      "Without -D they come from the stream's devs record. Devices that share "
			      "cores are refused.\n"
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
static const char *const fuse_modes[] = {"none", "sets", "all", NULL};

int main(int argc, char **argv)
{
	struct options o = {.reference = true, .candidates = 8, .fuse = FUSE_ALL,
			    .measure = MEASURE_DEFAULT};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	struct filter f;
	int64_t runs = 0;
	const struct opt opts[] = {
		TEXT("devices", 'D', o.devices, "LIST", "the devices, e.g. cpu:0,cl:0.0:1"),
		FLAG("list", 'l', o.list, "show this machine's devices"),
		FLAG("probe", 'p', o.probe, "add the devices and the sets that each can run"),
		FLAG("support", 0, o.support, "which operators of FILE (a stream or MODEL.xml) run on\n"
					      "which devices; status 3 when one runs nowhere"),
		FLAG("profile", 0, o.profile, "with --probe: add what every set and every copy\n"
					      "between devices takes, measured"),
		FLAG("paired", 0, o.paired, "measure the best records again, in rounds with\n"
					    "every single device; add the final one"),
		NUMBER("candidates", 0, OPT_INT, o.candidates, "N",
		       "with --paired: the first N best records", 1, 1000),
		FLAG("keep-state", 0, o.measure.keep_state,
		     "variables (ReadValue, Assign) keep their values from run to\n"
		     "run of a placement; --outputs are then those of run N of -n N"),
		FLAG("paper", 0, o.measure.paper, "10 runs, the mean of the last 5"),
		TEXT("memory", 'm', o.memory, "LIST",
		     "what plans may take, e.g. cpu:0=512M,cl:0.0=2G"),
		TEXT("precision", 0, o.precision, "f16|f32",
		     "of the OpenCL devices in LIST that do not say it\n"
		     "themselves, as in cl:0.0/precision=f16"),
		{"fuse", 0, OPT_CHOICE, &o.fuse, NULL,
		 "which neighbouring nodes on a device may run as one step:\n"
		 "none, those of one set, all", 0, 0, fuse_modes, NULL},
		TEXT("openvino", 0, o.openvino, "DIR",
		     "where OpenVINO is, for ov: devices (default:\n"
		     "HSDAG_OPENVINO, or the Python package)"),
		TEXT("weights", 'w', o.weights, "FILE", "the .bin (default: what the graph names)"),
		TEXT("inputs", 'i', o.inputs, "DIR", "read the model's inputs from N.npy"),
		TEXT("outputs", 0, o.outputs, "DIR",
		     "write the results of the last placement that ran"),
		TEXT("boundaries", 0, o.boundaries, "DIR",
		     "write the tensors that cross devices in it"),
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
	ov_api_directory(o.openvino);
	if (o.list) {
		device_list_machine(print_device, NULL);
		return opt_finish(0, &e);
	}
	const char *file = first < argc ? argv[first] : "-";
	if (o.support)
		return opt_finish(run_support(&o, file, &e), &e);
	char found[4096], *precise = NULL;
	if (o.probe && !o.devices)
		o.devices = device_list_default(found, sizeof found);
	if (o.precision && o.devices)
		o.devices = precise = opencl_precision(o.devices, o.precision);
	blas_init();
	struct state s = {
		.o = &o, .common = &common, .f = &f, .arena = arena_new()};
	turn_init(&s.turn);
	rc = filter_open(&f, file, &common, argc, argv, &e);
	if (rc == 0)
		rc = filter_close(&f, run_filter(&s, &e), &e);
	reset(&s);
	turn_release(&s.turn);
	arena_free(s.arena);
	mem_free(precise);
	return opt_finish(rc, &e);
}
