/* devsim_command.c - options of devsim. */
#include "devsim/devsim_command.h"

enum { MANY_RUNS = 100000 };

static int check_machine(const struct devsim_options *o, struct err *e)
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

static int check_requests(const struct devsim_options *o, struct err *e)
{
	if (o->requests > 1 &&
	    (o->probe || o->refit || o->fit || o->fixed || o->schedule || o->op_noise > 0 ||
	     o->machine.spec || o->sim.rules != PLACE_SCHEDULE))
		return err_set(
			e, ST_USAGE,
			"--requests goes without --probe, --refit, --fit, --machine, --fixed, "
			"--schedule, --op-noise and --model");
	return 0;
}

static int check_options(const struct devsim_options *o, struct err *e)
{
	if (check_machine(o, e) < 0 || check_requests(o, e) < 0)
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

static const char details[] =
	"and several are joined with commas. A file has lines like\n"
	"  device cpu  flops 1e12  efficiency 0.5  bandwidth 7.7e10  overhead 3e-6\n"
	"  device gpu  flops 1.6e13  bandwidth 5.7e11  memory 1.6e10  watts 150  idle 20\n"
	"  link cpu gpu  latency 10e-6  bandwidth 2.5e10  j_per_byte 1e-10\n"
	"  link gpu gpu  latency 5e-6  bandwidth 4e11  port nvlink\n"
	"  port gpu nvlink  out 4e11  in 4e11\n"
	"  device h100*16  flops 9.9e14  bandwidth 3.35e12  memory 8e10\n"
	"  group node*2 h100\n"
	"  within node  latency 3e-6  bandwidth 4.5e11  port nvlink\n"
	"  between node  latency 1e-5  bandwidth 5e10  port net\n"
	"  medium pcie  bandwidth 6e10\n"
	"  pool ram  memory 1.6e10  bandwidth 1.2e11\n"
	"  device npu  flops 5e12  bandwidth 6e10  pool ram\n"
	"  link cpu h100  latency 1e-5  bandwidth 3e10  media pcie\n"
	"in SI units; efficiency (of the peak), overhead (per operation), memory, workspace (bytes "
	"of scratch "
	"for each of tensors), keeps, fuses, peaks, watts, idle, "
	"j_per_byte and type may be left out. Links are directed; \"*\" is any device, a link with "
	"more exact names wins, then the later one; a pair without a link cannot exchange data. "
	"cpu:0 and cpu:1 are two devices like cpu. Links with a port of the same name that leave "
	"a device share its way out, those that reach it its way in; it is as fast as the fastest "
	"of them, or as a port line says. h100*16 is h100:0 to h100:15, all of which h100 means in "
	"links, ports and groups. A group has devices, classes and earlier groups, node*2 in two "
	"equal parts; within and between are links of any two devices in one part, or in "
	"different ones, and count as exact names. contention of a link is fcfs (the default), "
	"none "
	"or shared: copies share its rate fairly. Links with media, names with commas between "
	"them, are shared, and share the rates of these, too. Devices of a pool share its memory "
	"and its bandwidth.\n"
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

int devsim_command_parse(struct devsim_command *c, int argc, char **argv, void (*print_lists)(void),
			 struct err *e)
{
	*c = (struct devsim_command){
		.common = OPT_COMMON_INIT,
		.filter = {.sim = PLACE_OPTIONS_INIT,
			   .requests = 1,
			   .machine = {.candidates = 8, .measure = MEASURE_DEFAULT}}};
	struct devsim_options *o = &c->filter;
	struct machine_options *m = &o->machine;
	struct measure_options *runs = &m->measure;
	const struct opt opts[] = {
		{"probe", 'p', OPT_FLAG, &o->probe, NULL,
		 "add the devices and their costs to a stream with a graph", 0, 0, NULL, NULL},
		{"devices", 'D', OPT_TEXT, &o->devices, "LIST",
		 "with --probe: only these; NAME:X is one more device like NAME", 0, 0, NULL, NULL},
		PLACE_OPTIONS(o->sim),
		{"requests", 0, OPT_INT, &o->requests, "N",
		 "N requests in flight, as devrun run --requests: times are seconds a request", 1,
		 4096, NULL, NULL},
		{"schedule", 0, OPT_FLAG, &o->schedule, NULL,
		 "tell start and end of every set and copy in the run record", 0, 0, NULL, NULL},
		{"noise", 0, OPT_REAL, &o->noise, "SIGMA",
		 "multiply each run's times by exp(SIGMA z), z standard normal", 0, 10, NULL, NULL},
		{"op-noise", 0, OPT_REAL, &o->op_noise, "SIGMA",
		 "the same for each set's time by itself, before it is scheduled", 0, 10, NULL,
		 NULL},
		{"fixed", 0, OPT_FLAG, &o->fixed, NULL,
		 "no simulation: a latency drawn from seed and placement", 0, 0, NULL, NULL},
		{"refit", 0, OPT_FLAG, &o->refit, NULL,
		 "put costs and links behind the stream that fit what its placements took", 0, 0,
		 NULL, NULL},
		{"draw", 0, OPT_INT, &o->draw, "N",
		 "with --refit: draw N from all that fit; 0: the most likely ones", 0, 1000000,
		 NULL, NULL},
		{"fit", 0, OPT_TEXT, &o->fit, "FILE",
		 "simulate by costs and links that fit what the placements of FILE took", 0, 0,
		 NULL, NULL},
		{"draws", 0, OPT_INT, &o->draws, "N",
		 "with --fit: the mean of logarithms over N draws from all that fit; 0: by the "
		 "most likely ones",
		 0, 1000, NULL, NULL},
		{"predict", 0, OPT_FLAG, &o->predict, NULL,
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
		{"max-error", 0, OPT_TEXT, &c->max_error, "E",
		 "devrun paired has it: a simulation has no outputs", 0, 0, NULL, NULL},
		{"truth", 0, OPT_FLAG, &m->truth, NULL,
		 "with --machine: what placements and best records take undisturbed", 0, 0, NULL,
		 NULL},
		{"true-costs", 0, OPT_FLAG, &m->true_costs, NULL,
		 "with --machine: the stream's costs and links become the true ones", 0, 0, NULL,
		 NULL},
		{"clock", 0, OPT_REAL, &m->clock_s, "S",
		 "with --machine: its seconds at the beginning, unless run records of the stream "
		 "tell later ones",
		 0, 1e9, NULL, &o->has_clock},
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
		.print_details = print_lists,
		.details = details,
		.example = "ir2dag m.xml | devsim --probe | placebase random -n 20 | devsim\n"
			   "  ir2dag m.xml | devsim --probe --spec desktop-cpu,datacenter-gpu |\n"
			   "  placebase heft | devsim --schedule | placeout --format trace > "
			   "trace.json"};
	int first, rc = opt_parse(&program, &c->common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	c->file = first < argc ? argv[first] : "-";
	if (c->max_error)
		return err_set(e, ST_USAGE,
			       "--max-error: a machine that is simulated or played computes no "
			       "outputs; devrun paired has it");
	return check_options(o, e) < 0 ? -1 : rc;
}
