/* devrun_command.c - the table of devrun's options, and which verb has which. */
#include "devrun/devrun_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "device/device.h"
#include "exec/fusion.h"
#include "place/problem/objective.h"

/* Places in verbs[], and their bits in option_row.of. */
enum { V_LIST, V_SUPPORT, V_PROBE, V_RUN, V_PAIRED, V_MIXED, N_VERBS };
enum {
	LIST = 1 << V_LIST,
	SUPPORT = 1 << V_SUPPORT,
	PROBE = 1 << V_PROBE,
	RUN = 1 << V_RUN,
	PAIRED = 1 << V_PAIRED,
	MIXED = 1 << V_MIXED,
	PLACED = RUN | PAIRED,   /* placements run */
	CHOSEN = PLACED | PROBE, /* devices may be named */
	OPENED = CHOSEN | MIXED, /* devices are opened, a stream comes out */
	NO_VERB = 1 << N_VERBS   /* options that stand for a verb, or that its verb does without */
};

static const struct opt_verb verbs[N_VERBS + 1] = {
	[V_LIST] = {"list", "show this machine's devices", "devrun list"},
	[V_SUPPORT] = {"support", "show which operators of a model run on which devices",
		       "devrun support model.xml"},
	[V_PROBE] = {"probe", "add devices to a stream, and what each can run or takes",
		     "ir2dag m.xml | devrun probe --profile -D cpu:0,cpu:1 -o probed.mp"},
	[V_RUN] = {"run", "run and measure the placements of a stream (the default)",
		   "placebase random -n 5 probed.mp | devrun run -o measured.mp"},
	[V_PAIRED] = {"paired", "compare the best placements with the best single device",
		      "devrun paired measured.mp -o verdict.mp"},
	[V_MIXED] = {"mixed", "find what may be computed in less than f32",
		     "devrun mixed --max-error 0.01 profile.mp -o mixed.mp"},
};

/* What --help-all of a verb has besides its options. */
static const struct {
	const char *args;
	int min_args, max_args;
	const char *details;
} pages[N_VERBS] = {
	[V_LIST] = {"", 0, 0,
		    "A line a device: name, type, memory, description; with -D those of the\n"
		    "list, with what their options come to, as cpu/precision=bf16 does on\n"
		    "this processor.  devrun --help-all tells how devices are named."},
	[V_SUPPORT] = {"[FILE]", 0, 1,
		       "FILE is a stream with a graph, or MODEL.xml. The table has a line for\n"
		       "each operator, and below it why a device cannot run all of its layers.\n"
		       "Status 3: a layer runs on no device."},
	[V_PROBE] = {"[FILE]", 0, 1,
		     "The devs record has the devices and which sets of the graph each can run.\n"
		     "--profile adds the links between them, and the cost record: what each set\n"
		     "takes on each device. It times the steps of inferences on one device after\n"
		     "another, copies between each two, and a few placements on several.\n"
		     "placebase and devsim read both records."},
	[V_RUN] = {"[FILE]", 0, 1,
		   "Placements run when their episode or the stream ends, as the programs\n"
		   "before devrun are asleep then. One that cannot run, or whose device\n"
		   "fails, gives a run record with the reason."},
	[V_PAIRED] = {"[FILE]", 0, 1,
		      "Rounds of bursts of all candidates, or of a stream's placements where it\n"
		      "has none, and of single devices choose one. Fresh rounds give its ratio to\n"
		      "the best single device. --race drops what is surely slower."},
	[V_MIXED] = {"[FILE]", 0, 1,
		     "FILE has devices, some of them in several precisions, and costs (probe\n"
		     "--profile --reduced). Begins with all sets in the fastest precision, finds\n"
		     "by bisection which of them carry the error of the outputs, and keeps those\n"
		     "in f32 that have most error for the time that they save. Behind it devs\n"
		     "lets the others alone run in less. --path has what was measured on the way."},
};

static const char no_verb_details[] =
	"Without -D the devices come from the stream's devs record. Devices that share\n"
	"cores take turns, unless --allow-shared is given.\n"
	"\n"
	"Without a verb devrun runs placements; --list, --support, --probe and --paired\n"
	"stand for the other verbs. A file that is called like a verb: ./list, or -- list.";

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

struct option_row {
	int of; /* the verbs that have it */
	struct opt opt;
};
enum { MANY_RUNS = 100000, MOST_OPTIONS = 52 };
static const char *const answers[] = {"fastest", "first", NULL}; /* enum choose_answer */
static const char *const fuse_modes[] = {"none", "sets", "all", "cuts", NULL};

/* The options of the verbs in `of`, each name once, and an end mark. */
static void choose_options(struct devrun_command *c, int64_t *runs, int of, struct opt *out)
{
	struct devrun_options *s = &c->filter;
	struct measure_options *m = &s->measure;
	const struct option_row table[] = {
		{CHOSEN | SUPPORT | LIST,
		 TEXT("devices", 'D', s->devices, "LIST", "as in cpu:0,cl:0.0:1")},
		{NO_VERB, FLAG("list", 'l', c->list, "")},
		{NO_VERB, FLAG("probe", 'p', s->probe, "")},
		{NO_VERB, FLAG("support", 0, c->support, "")},
		{NO_VERB, FLAG("paired", 0, s->paired, "")},
		{PROBE, FLAG("profile", 0, s->profile,
			     "add what every set and every copy between\n"
			     "devices takes, measured")},
		{PROBE, FLAG("reduced", 0, s->reduced,
			     "and the same in bf16 and int8, where that is faster")},
		{PROBE, FLAG("again", 0, s->again,
			     "with --profile: the mean of this one and of\n"
			     "those that the stream's costs are from")},
		{PAIRED, NUMBER("candidates", 0, OPT_INT, s->candidates, "N",
				"the first N best records, or placements", 1, 1000)},
		{PAIRED, FLAG("placements", 0, s->placements,
			      "placements are candidates, best records are not")},
		{PAIRED,
		 {"choose", 0, OPT_CHOICE, &s->choose, "WHICH",
		  "the answer: what is surely the fastest, or the first that runs", 0, 0, answers,
		  NULL}},
		{PAIRED, NUMBER("race", 0, OPT_REAL, m->race_s, "S",
				"candidates compete for S seconds, preparing them\n"
				"included, not in 20 rounds",
				0, 1e6)},
		{PAIRED, NUMBER("starts", 0, OPT_INT, m->starts, "N",
				"with --race: the first N candidates are what others\n"
				"must surely beat",
				0, 1000)},
		{PAIRED,
		 FLAG("explore", 0, m->explore, "with --race: all run once before any runs again")},
		{PLACED,
		 TEXT("only", 0, s->only, "LIST", "only these placements, as in 1-20,25,30-")},
		{PLACED, FLAG("keep-state", 0, m->keep_state,
			      "variables keep values from run to run; --outputs\n"
			      "are then those of run N of -n N")},
		{PLACED, NUMBER("requests", 0, OPT_INT, s->requests, "N",
				"in flight at once; times are seconds a request", 1, 4096)},
		{PAIRED, TEXT("objective", 'O', c->objective, "WHAT",
			      "with --requests N: throughput; throughput,latency<=50ms:\n"
			      "up to N at once, of which 95 % end in time")},
		{MIXED, TEXT("max-error", 0, c->max_error, "E",
			     "how far outputs may be from those in f32, as a\n"
			     "share of their scale")},
		{MIXED, TEXT("path", 0, s->path, "FILE",
			     "a stream with the placements that were measured")},
		{PAIRED, TEXT("max-error", 0, c->max_error, "E",
			      "out: what is further than E from f32's outputs")},
		{RUN, FLAG("paper", 0, m->paper, "10 runs, the mean of the last 5")},
		{OPENED,
		 TEXT("memory", 'm', s->memory, "LIST", "plans' limits: cpu:0=512M,cl:0.0=2G")},
		{OPENED, TEXT("headroom", 0, s->headroom, "LIST",
			      "stays free of it: 10%, 2G, cl:0.0=512M")},
		{CHOSEN,
		 TEXT("precision", 0, c->precision, "f16|bf16|f32",
		      "of devices that do not say it themselves: OpenCL\nf16 or bf16, cpu bf16")},
		{OPENED,
		 {"fuse", 0, OPT_CHOICE, &s->fuse, "WHICH",
		  "nodes that may run as one step; cuts: sets, but\nall where one device has "
		  "everything",
		  0, 0, fuse_modes, NULL}},
		{OPENED,
		 {"tight", 0, OPT_FLAG, &s->tight, NULL,
		  "plan for little memory, as where --memory is short", 0, 0, NULL, NULL}},
		{OPENED | SUPPORT | LIST, TEXT("openvino", 0, c->openvino, "DIR",
					       "default: HSDAG_OPENVINO, or Python's package")},
		{OPENED | SUPPORT, TEXT("weights", 'w', s->weights, "FILE",
					"the .bin (default: what the graph names)")},
		{OPENED, TEXT("inputs", 'i', s->inputs, "DIR",
			      "from N.npy or index.tsv; default: drawn (--seed)")},
		{PLACED,
		 TEXT("outputs", 0, s->outputs, "DIR", "write results of the last placement")},
		{PLACED, TEXT("boundaries", 0, s->boundaries, "DIR",
			      "write its tensors that cross devices")},
		{OPENED,
		 TEXT("save-inputs", 0, s->save_inputs, "DIR", "write the inputs that are used")},
		{PLACED, NUMBER("warmup", 0, OPT_INT, m->warmup, "N",
				"inferences that do not count", 0, 1000)},
		{PLACED, NUMBER("runs", 'n', OPT_INT, *runs, "N", "exactly N; 0: as many as needed",
				0, MANY_RUNS)},
		{PLACED,
		 NUMBER("min-runs", 0, OPT_INT, m->min_runs, "N", "at least", 1, MANY_RUNS)},
		{PLACED, NUMBER("max-runs", 0, OPT_INT, m->max_runs, "N", "at most", 1, MANY_RUNS)},
		{RUN, NUMBER("rounds", 0, OPT_INT, s->rounds, "N",
			     "N rounds of all placements, not one by one", 0, MANY_RUNS)},
		{RUN,
		 FLAG("pulse", 0, s->core_speed, "with --rounds: how fast cores are in each run")},
		{RUN, NUMBER("ci", 0, OPT_REAL, m->ci, "X",
			     "enough: half the 95 % interval over latency", 0, 1)},
		{RUN, NUMBER("max-seconds", 0, OPT_REAL, m->max_s, "S",
			     "enough: seconds a placement", 0, 1e6)},
		{PAIRED, NUMBER("max-seconds", 0, OPT_REAL, m->max_s, "S",
				"20 rounds take up to 20 S a placement", 0, 1e6)},
		{PROBE, NUMBER("max-seconds", 0, OPT_REAL, m->max_s, "S",
			       "a profile takes about four times as long", 0, 1e6)},
		{MIXED, NUMBER("max-seconds", 0, OPT_REAL, s->mixed_s, "S",
			       "for trying; nothing more is tried then", 0, 1e6)},
		{PLACED, FLAG("schedule", 0, s->schedules,
			      "tell when each set ran, and each copy, in one run")},
		{OPENED,
		 NUMBER("timeout", 0, OPT_REAL, m->limit_s, "S", "ends a run; 0: none", 0, 1e9)},
		{RUN,
		 FLAG("joules", 0, s->joules, "energy of an inference, where RAPL can be read")},
		{RUN, FLAG("reference", 0, s->reference, "best single device in between")},
		{OPENED, FLAG("allow-shared", 0, s->allow_shared,
			      "devices that share cores compute at once")},
	};
	int n = 0;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		bool known = false;
		for (int j = 0; j < n; j++)
			known = known || strcmp(out[j].name, table[i].opt.name) == 0;
		if (table[i].of & of && !known && n < MOST_OPTIONS - 1)
			out[n++] = table[i].opt;
	}
	out[n] = (struct opt){0};
}

static int check_modes(const struct devrun_command *c, struct err *e)
{
	const struct devrun_options *o = &c->filter;
	if (o->probe + o->paired + c->support > 1)
		return err_set(e, ST_USAGE, "--probe, --paired and --support exclude each other");
	if (o->profile && !o->probe)
		return err_set(e, ST_USAGE, "--profile goes with --probe");
	if (o->reduced && (!o->probe || c->precision))
		return err_set(e, ST_USAGE,
			       "--reduced goes with --probe, and not with --precision");
	if (o->path && !o->mixed)
		return err_set(e, ST_USAGE, "--path goes with mixed");
	if (o->again && !o->profile)
		return err_set(e, ST_USAGE, "--again goes with --profile");
	if (o->paired && !o->reference)
		return err_set(e, ST_USAGE, "--paired needs the reference");
	if ((o->measure.race_s > 0 && !o->paired) ||
	    ((o->measure.starts > 0 || o->measure.explore) && !(o->measure.race_s > 0)))
		return err_set(e, ST_USAGE,
			       "--race goes with --paired, --starts and --explore with --race");
	if (o->joules && (o->rounds > 0 || o->requests > 1))
		return err_set(e, ST_USAGE, "--joules goes without --rounds and --requests");
	if (o->schedules && o->rounds > 0)
		return err_set(e, ST_USAGE, "--schedule does not go with --rounds");
	if (o->requests > 1 && (o->schedules || o->core_speed || o->boundaries))
		return err_set(e, ST_USAGE,
			       "--requests does not go with --schedule, --pulse or --boundaries");
	if (o->core_speed && o->rounds == 0)
		return err_set(e, ST_USAGE, "--pulse goes with --rounds");
	return 0;
}

/* What a comparison measures. */
static int check_objective(struct devrun_command *c, struct err *e)
{
	struct devrun_options *o = &c->filter;
	struct place_objective x;
	if (!c->objective)
		return 0;
	if (place_objective_parse(c->objective, &x, e) < 0)
		return -1;
	if (!o->paired)
		return err_set(e, ST_USAGE, "--objective goes with --paired");
	if (x.energy > 0 || x.memory > 0 || x.price > 0 || (x.latency > 0) == (x.throughput > 0) ||
	    (x.throughput > 0) != (o->requests > 1))
		return err_set(e, ST_USAGE,
			       "objective '%s': devrun measures throughput with --requests 2 or "
			       "more, else the latency",
			       c->objective);
	o->limit_s = x.limit_s;
	if (o->limit_s > 0 && o->choose == CHOOSE_FIRST)
		return err_set(e, ST_USAGE,
			       "--choose first takes the first candidate whatever it takes: no "
			       "limit of latency goes with it");
	return 0;
}

/* What a comparison keeps to. */
static int check_max_error(struct devrun_command *c, struct err *e)
{
	static const double MOST = 1e6; /* it is a share */
	struct devrun_options *o = &c->filter;
	o->max_error = -1;
	if (o->mixed && !c->max_error)
		return err_set(e, ST_USAGE,
			       "no --max-error: how far outputs may be from those in f32");
	if (!c->max_error)
		return 0;
	if (!o->paired && !o->mixed)
		return err_set(e, ST_USAGE, "--max-error goes with --paired");
	return opt_real(c->max_error, "--max-error", 0, MOST, &o->max_error, e);
}

static int check_options(struct devrun_command *c, struct err *e)
{
	const struct devrun_options *o = &c->filter;
	const struct measure_options *m = &o->measure;
	if (check_modes(c, e) < 0 || check_objective(c, e) < 0 || check_max_error(c, e) < 0)
		return -1;
	if (c->precision && strcmp(c->precision, "f16") != 0 && strcmp(c->precision, "bf16") != 0 &&
	    strcmp(c->precision, "f32") != 0)
		return err_set(e, ST_USAGE, "--precision is f16, bf16 or f32");
	if (c->precision && !o->devices && !o->probe)
		return err_set(e, ST_USAGE, "--precision goes with -D or --probe");
	if (m->max_runs < m->min_runs)
		return err_set(e, ST_USAGE, "--max-runs %lld is less than --min-runs %lld",
			       (long long)m->max_runs, (long long)m->min_runs);
	struct device_list l = {0};
	int rc = o->devices ? device_list_parse(o->devices, &l, e) : 0;
	if (rc == 0 && o->devices)
		rc = device_list_limit(&l, o->memory, o->headroom, e);
	device_list_close(&l);
	return rc;
}

/* The program as opt_parse is to see it; verb: a place in verbs[], -1: none. */
static struct opt_program describe(int verb, const struct opt *opts, const char *details)
{
	if (verb >= 0)
		return (struct opt_program){.name = "devrun",
					    .verb = verbs[verb].name,
					    .summary = verbs[verb].summary,
					    .args = pages[verb].args,
					    .min_args = pages[verb].min_args,
					    .max_args = pages[verb].max_args,
					    .has_seed = verb >= V_PROBE,
					    .no_output = verb < V_PROBE,
					    .opts = opts,
					    .details = pages[verb].details,
					    .example = verbs[verb].example};
	return (struct opt_program){.name = "devrun",
				    .summary = "run placements on devices and measure them",
				    .args = "[FILE]",
				    .max_args = 1,
				    .has_seed = true,
				    .opts = opts,
				    .verbs = verbs,
				    .details = details};
}

/* pipelines/phases.sh shows what comes behind "race: "; of "shares" a number for each device, which together are 100. */
static void note_standing(uint32_t n, double best_s, double reference_s, uint32_t k,
			  const double *busy_s)
{
	char times[40] = "", shares[400] = "";
	double sum = 0;
	if (reference_s > 0)
		snprintf(times, sizeof times, " (%.2fx)", reference_s / best_s);
	for (uint32_t d = 0; busy_s && d < k; d++)
		sum += busy_s[d];
	for (uint32_t d = 0; sum > 0 && d < k; d++)
		snprintf(shares + strlen(shares), sizeof shares - strlen(shares), "%s %.0f",
			 d ? "" : ", shares", 100 * busy_s[d] / sum);
	msg_note(2, "race: %u placements, best %.4g ms%s%s", n, 1e3 * best_s, times, shares);
}

/* A first word that is no verb is an option or a file. */
static int check_verb(const char *word, struct err *e)
{
	struct err_near near = {.name = word};
	if (*word == '-' || access(word, F_OK) == 0)
		return 0;
	msg_program("devrun");
	for (int i = 0; i < N_VERBS; i++)
		err_offer(&near, verbs[i].name);
	return near.best ? err_unknown(e, ST_USAGE, &near, "devrun --help has the verbs",
				       "'%s' is neither a verb nor a file", word)
			 : 0;
}

int devrun_command_parse(struct devrun_command *c, int argc, char **argv, struct err *e)
{
	int64_t runs = 0;
	char classes[1000], details[4000];
	struct opt opts[MOST_OPTIONS];
	int first, verb = opt_verb(verbs, argc, argv);
	*c = (struct devrun_command){.common = OPT_COMMON_INIT,
				     .list = verb == V_LIST,
				     .support = verb == V_SUPPORT,
				     .filter = {.probe = verb == V_PROBE,
						.paired = verb == V_PAIRED,
						.mixed = verb == V_MIXED,
						.mixed_s = 10,
						.reference = true,
						.candidates = 8,
						.requests = 1,
						.fuse = FUSE_ALL,
						.measure = MEASURE_DEFAULT}};
	if (verb < 0 && check_verb(argc > 1 ? argv[1] : "-", e) < 0)
		return -1;
	choose_options(c, &runs, verb >= 0 ? 1 << verb : -1, opts);
	snprintf(details, sizeof details, "Devices: %s.\n%s",
		 device_class_help(classes, sizeof classes), no_verb_details);
	const struct opt_program program = describe(verb, opts, details);
	int rc = opt_parse(&program, &c->common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	if (runs > 0)
		c->filter.measure.min_runs = c->filter.measure.max_runs = runs;
	if (msg_verbosity() >= 2)
		c->filter.measure.hear_standing = note_standing;
	c->filter.measure.race_seed = (uint64_t)c->common.seed;
	c->file = first < argc ? argv[first] : "-";
	return devrun_only_check(c->filter.only, e) < 0 || check_options(c, e) < 0 ? -1 : 1;
}
