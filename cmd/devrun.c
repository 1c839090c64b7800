/* devrun - run placements on this machine's devices and say how long they take.
 * With --probe: add the devices and what each can run, with --profile also what it takes
 * there.  With --paired: the last comparison, of the best candidates with the best
 * single device.  With --support: which operators run where, for people. */
#include <stdio.h>
#include <string.h>

#include "base/blas.h"
#include "base/msg.h"
#include "base/opt.h"
#include "device/openvino/ov_api.h"
#include "measure/devrun_filter.h"
#include "exec/support.h"
#include "record/graphrec.h"

struct options {
	struct devrun_options filter;
	const char *precision, *openvino;
	bool list, support;
};

static void warn_untimed(const char *device, const char *why)
{
	msg_warn("no times on '%s': %s", device, why);
}

static void print_device(void *arg, const struct device *d)
{
	(void)arg;
	printf("%-12s %-9s %8.1f GB  %s\n", d->name, device_class_type(d->class),
	       (double)d->mem_bytes / 1e9, d->description);
}

static int print_support(const struct options *o, struct graph *g, struct err *e)
{
	struct device_list l = {0};
	struct model m = {0};
	struct support x = {0};
	struct arena *a = arena_new();
	int rc = device_list_parse(o->filter.devices, &l, e);
	if (rc == 0)
		rc = device_list_open(&l, true, e);
	if (rc == 0)
		rc = model_open(&m, g, o->filter.weights, e);
	if (rc == 0)
		rc = support_ask(&m, &l, a, &x, e);
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
	if (!o->filter.devices)
		o->filter.devices = device_list_whole(names, sizeof names);
	struct graph *g = support_graph(path, e);
	int rc = g ? print_support(o, g, e) : -1;
	graph_free(g);
	return rc;
}

static int check_options(const struct options *o, struct err *e)
{
	const struct measure_options *m = &o->filter.measure;
	if (o->filter.probe + o->filter.paired + o->support > 1)
		return err_set(e, ST_USAGE, "--probe, --paired and --support exclude each other");
	if (o->filter.profile && !o->filter.probe)
		return err_set(e, ST_USAGE, "--profile goes with --probe");
	if (o->filter.again && !o->filter.profile)
		return err_set(e, ST_USAGE, "--again goes with --profile");
	if (o->filter.paired && !o->filter.reference)
		return err_set(e, ST_USAGE, "--paired needs the reference");
	if (o->filter.core_speed && o->filter.rounds == 0)
		return err_set(e, ST_USAGE, "--pulse goes with --rounds");
	if (o->precision && strcmp(o->precision, "f16") != 0 && strcmp(o->precision, "f32") != 0)
		return err_set(e, ST_USAGE, "--precision is f16 or f32");
	if (o->precision && !o->filter.devices && !o->filter.probe)
		return err_set(e, ST_USAGE, "--precision goes with -D or --probe");
	if (m->max_runs < m->min_runs)
		return err_set(e, ST_USAGE, "--max-runs %lld is less than --min-runs %lld",
			       (long long)m->max_runs, (long long)m->min_runs);
	struct device_list l = {0};
	int rc = o->filter.devices ? device_list_parse(o->filter.devices, &l, e) : 0;
	if (rc == 0 && o->filter.devices && o->filter.memory)
		rc = device_list_limit(&l, o->filter.memory, e);
	device_list_close(&l);
	return rc;
}

static const char notes[] =
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

#define FLAG(name, letter, dst, help) \
	{ \
		name, letter, OPT_FLAG, &(dst), NULL, help, 0, 0, NULL, NULL \
	}
#define TEXT(name, letter, dst, arg, help) \
	{ \
		name, letter, OPT_TEXT, &(dst), arg, help, 0, 0, NULL, NULL \
	}
#define NUMBER(name, letter, kind, dst, arg, help, lo, hi) \
	{ \
		name, letter, kind, &(dst), arg, help, lo, hi, NULL, NULL \
	}
enum { MANY_RUNS = 100000 };
static const char *const fuse_modes[] = {"none", "sets", "all", NULL};

int main(int argc, char **argv)
{
	struct options o = {.filter = {.reference = true,
				       .candidates = 8,
				       .fuse = FUSE_ALL,
				       .measure = MEASURE_DEFAULT,
				       .untimed = warn_untimed}};
	struct devrun_options *s = &o.filter;
	struct measure_options *measure = &s->measure;
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	struct filter f;
	int64_t runs = 0;
	char classes[1000], details[4000];
	snprintf(details, sizeof details, "Devices: %s.\n%s",
		 device_class_help(classes, sizeof classes), notes);
	const struct opt opts[] = {
		TEXT("devices", 'D', s->devices, "LIST", "the devices, e.g. cpu:0,cl:0.0:1"),
		FLAG("list", 'l', o.list, "show this machine's devices"),
		FLAG("probe", 'p', s->probe, "add the devices and the sets that each can run"),
		FLAG("support", 0, o.support,
		     "which operators of FILE (a stream or MODEL.xml)\n"
		     "run on which; status 3 when one runs nowhere"),
		FLAG("profile", 0, s->profile,
		     "with --probe: add what every set and\n"
		     "every copy between devices takes, measured"),
		FLAG("again", 0, s->again,
		     "with --profile: the mean of this one and of those\n"
		     "that the stream's costs are from"),
		FLAG("paired", 0, s->paired,
		     "measure the best records again (without any,\n"
		     "the placements) in rounds with every single\n"
		     "device; add the final one"),
		NUMBER("candidates", 0, OPT_INT, s->candidates, "N",
		       "with --paired: the first N best records; of a stream\n"
		       "without any, the first N placements",
		       1, 1000),
		TEXT("only", 0, s->only, "LIST",
		     "run only these placements of the stream, as in 1-20,25,30-"),
		FLAG("keep-state", 0, measure->keep_state,
		     "variables (ReadValue, Assign) keep their values from run to\n"
		     "run of a placement; --outputs are then those of run N of -n N"),
		FLAG("paper", 0, measure->paper, "10 runs, the mean of the last 5"),
		TEXT("memory", 'm', s->memory, "LIST",
		     "what plans may take, e.g. cpu:0=512M,cl:0.0=2G; a placement\n"
		     "over it cannot run"),
		TEXT("precision", 0, o.precision, "f16|f32",
		     "of the OpenCL devices in LIST that do not say it\n"
		     "themselves, as in cl:0.0/precision=f16"),
		{"fuse", 0, OPT_CHOICE, &o.filter.fuse, "WHICH",
		 "which neighbouring nodes on a device may run as one step (none,\n"
		 "those of one set, or all)",
		 0, 0, fuse_modes, NULL},
		TEXT("openvino", 0, o.openvino, "DIR",
		     "where OpenVINO is, for ov: devices (default:\n"
		     "HSDAG_OPENVINO, or the Python package)"),
		TEXT("weights", 'w', s->weights, "FILE",
		     "the .bin (default: what the graph names)"),
		TEXT("inputs", 'i', s->inputs, "DIR", "read the model's inputs from N.npy"),
		TEXT("outputs", 0, s->outputs, "DIR",
		     "write the results of the last placement that ran"),
		TEXT("boundaries", 0, s->boundaries, "DIR",
		     "write the tensors that cross devices in it"),
		TEXT("save-inputs", 0, s->save_inputs, "DIR", "write the inputs that are used"),
		NUMBER("warmup", 0, OPT_INT, measure->warmup, "N", "inferences that do not count",
		       0, 1000),
		NUMBER("runs", 'n', OPT_INT, runs, "N", "exactly N runs; 0: as many as needed", 0,
		       MANY_RUNS),
		NUMBER("min-runs", 0, OPT_INT, measure->min_runs, "N", "at least", 1, MANY_RUNS),
		NUMBER("max-runs", 0, OPT_INT, measure->max_runs, "N", "at most", 1, MANY_RUNS),
		NUMBER("rounds", 0, OPT_INT, s->rounds, "N",
		       "run every placement N times, once in each of N rounds of\n"
		       "all of them, instead of one placement after another",
		       0, MANY_RUNS),
		FLAG("pulse", 0, s->core_speed,
		     "with --rounds: time short loops on the devices' cores during\n"
		     "each run, which tells how fast they were meanwhile (pulse_s)"),
		NUMBER("ci", 0, OPT_REAL, measure->ci, "X",
		       "enough when half the 95 % interval is X of the latency", 0, 1),
		NUMBER("max-seconds", 0, OPT_REAL, measure->max_s, "S",
		       "... or after S seconds per placement", 0, 1e6),
		NUMBER("timeout", 0, OPT_REAL, measure->limit_s, "S",
		       "a run that takes longer is ended, and its placement cannot run; 0: none is",
		       0, 1e9),
		FLAG("reference", 0, s->reference,
		     "measure the best single device between placements"),
		FLAG("allow-shared", 0, s->allow_shared, "accept devices that share cores"),
		{0},
	};
	const struct opt_program program = {
		.name = "devrun",
		.summary = "run placements on devices and measure them",
		.args = "[FILE]",
		.max_args = 1,
		.has_seed = true,
		.opts = opts,
		.details = details,
		.example = "ir2dag m.xml | devrun --probe -D cpu:0,cpu:1 | placebase random -n 5 | "
			   "devrun"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (runs > 0)
		measure->min_runs = measure->max_runs = runs;
	if (rc <= 0 || devrun_only_check(s->only, &e) < 0 || check_options(&o, &e) < 0)
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
	if (s->probe && !s->devices)
		s->devices = device_list_default(found, sizeof found);
	if (o.precision && s->devices)
		s->devices = precise = device_list_precision(s->devices, o.precision);
	blas_init();
	rc = filter_open(&f, file, &common, argc, argv, &e);
	if (rc == 0)
		rc = filter_close(&f, devrun_filter_run(s, (uint64_t)common.seed, &f, &e), &e);
	mem_free(precise);
	return opt_finish(rc, &e);
}
