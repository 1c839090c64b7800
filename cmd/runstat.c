/* runstat - statistics of `run` records: verbs that print tables, each a filter of its own. */
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "base/msg.h"
#include "base/verb.h"
#include "calibrate/judge_report.h"
#include "calibrate/passes.h"
#include "calibrate/placements.h"
#include "record/devrec.h"

enum { MANY = 1 << 20 };

/* ---- runs ---- */

static int print_runs(char **paths, int n, bool fastest, struct arena *a, struct err *e)
{
	struct calls c = {(uint32_t)n, ARENA_NEWN(a, struct call, (size_t)n + 1)};
	for (int i = 0; i < n; i++)
		if (run_list_read(paths[i], a, &c.call[i].runs, e) < 0)
			return -1;
	if (fastest) {
		struct run_list best;
		placements_fastest(&c, a, &best);
		c.n = 1;
		c.call[0].runs = best;
	}
	for (uint32_t i = 0; i < c.n; i++)
		for (uint32_t j = 0; j < c.call[i].runs.n; j++)
			run_print(&c.call[i].runs.item[j], text_out());
	return 0;
}

static int verb_runs(int argc, char **argv, struct arena *a, struct err *e)
{
	bool fastest = false;
	const struct opt opts[] = {
		{"fastest", 'f', OPT_FLAG, &fastest, NULL,
		 "of each placement only the run with the fastest sample, by their numbers", 0, 0,
		 NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "runstat runs",
		.summary = "a line for each run record",
		.args = "FILE...",
		.min_args = 1,
		.max_args = MANY,
		.no_output = true,
		.opts = opts,
		.details =
			"Columns: sample, source, latency, fastest and median sample, number of "
			"samples, latency of the best single device (seconds), copies, bytes of "
			"them, copies not made, steps, busy times of the devices, why it failed, "
			"samples, times of the short loops beside them. \"-\": a record has none.",
	};
	struct opt_common common = OPT_COMMON_INIT;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	return rc <= 0 ? rc : print_runs(argv + first, argc - first, fastest, a, e);
}

/* ---- times, slowness ---- */

struct measured {
	const char *predicted_path;
	struct run_list predicted;
	struct calls calls;
};

static int read_measured(struct measured *m, char **paths, int n, struct arena *a, struct err *e)
{
	if (!m->predicted_path)
		return err_set(e, ST_USAGE, "--predicted names the simulated runs");
	if (run_list_read(m->predicted_path, a, &m->predicted, e) < 0)
		return -1;
	return calls_read(paths, (uint32_t)n, a, &m->calls, e);
}

static const char calls_details[] =
	"A CALL is what devrun --rounds wrote, named NAME.PASS.CALL.mp: sample j of its runs is of "
	"round j. Placements that are in every call are the common ones, by which calls compare.";

static int verb_times(int argc, char **argv, struct arena *a, struct err *e)
{
	struct measured m = {0};
	bool core_speed = true;
	const struct opt opts[] = {
		{"predicted", 'p', OPT_TEXT, &m.predicted_path, "FILE",
		 "the simulated runs of the same placements", 0, 0, NULL, NULL},
		{"core-speed", 0, OPT_FLAG, &core_speed, NULL,
		 "free means of what the speed of the cores explains", 0, 0, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "runstat times",
		.summary = "one time per placement from runs in many calls, in two ways",
		.args = "CALL...",
		.min_args = 1,
		.max_args = MANY,
		.no_output = true,
		.opts = opts,
		.details = calls_details,
		.example = "runstat times -p predicted.mp measured.*.mp > placements.tsv",
	};
	struct opt_common common = OPT_COMMON_INIT;
	struct placement_times t;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	if (read_measured(&m, argv + first, argc - first, a, e) < 0 ||
	    placement_times_find(&m.calls, core_speed, a, &t, e) < 0)
		return -1;
	placements_print(&m.predicted, &m.calls, &t, text_out());
	return 0;
}

static int verb_slowness(int argc, char **argv, struct arena *a, struct err *e)
{
	struct measured m = {0};
	const struct opt opts[] = {
		{"predicted", 'p', OPT_TEXT, &m.predicted_path, "FILE",
		 "the simulated runs of the same placements", 0, 0, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "runstat slowness",
		.summary = "how slow the machine was when it was profiled",
		.args = "CALL...",
		.min_args = 1,
		.max_args = MANY,
		.no_output = true,
		.opts = opts,
		.details = "Prints by what factor at most a device alone took less than predicted. "
			   "A CALL is what devrun --rounds wrote.",
	};
	struct opt_common common = OPT_COMMON_INIT;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	if (read_measured(&m, argv + first, argc - first, a, e) < 0)
		return -1;
	printf("%.4f\n", placements_profile_slowness(&m.predicted, &m.calls));
	return 0;
}

/* ---- pass ---- */

static int verb_pass(int argc, char **argv, struct arena *a, struct err *e)
{
	struct pass_options o = {.pass = 1, .seed = 1, .chunk = 50};
	const char *so_far = NULL;
	struct run_list predicted;
	struct pass p;
	const struct opt opts[] = {
		{"pass", 'n', OPT_INT, &o.pass, "N", "which pass it will be", 1, 999999, NULL,
		 NULL},
		{"seed", 0, OPT_INT, &o.seed, "N", "seed of the deal", 0, 9007199254740992.0, NULL,
		 NULL},
		{"chunk", 'c', OPT_INT, &o.chunk, "N",
		 "placements of a call, beside those in every call", 1, 1e9, NULL, NULL},
		{"rounds", 'r', OPT_INT, &o.rounds, "N",
		 "so many rounds, over all (0: what the time allows)", 0, 1e9, NULL, NULL},
		{"left", 'l', OPT_REAL, &o.left_s, "S", "seconds that measuring may still take", 0,
		 0, NULL, NULL},
		{"spent-all", 0, OPT_REAL, &o.spent_all_s, "S",
		 "seconds spent so far on passes over all placements", 0, 0, NULL, NULL},
		{"spent-near", 0, OPT_REAL, &o.spent_near_s, "S",
		 "the same, on passes over those near the best", 0, 0, NULL, NULL},
		{"so-far", 's', OPT_TEXT, &so_far, "FILE", "times so far, of runstat times", 0, 0,
		 NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "runstat pass",
		.summary = "which placements of a calibration are run next, in which calls",
		.args = "PREDICTED",
		.min_args = 1,
		.max_args = 1,
		.no_output = true,
		.opts = opts,
		.details =
			"Prints \"all\" or \"near\", rounds and about how many seconds they take; "
			"then a line for each call of devrun: placements, from 1, for --only.",
	};
	struct opt_common common = OPT_COMMON_INIT;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	if (run_list_read(argv[first], a, &predicted, e) < 0 ||
	    pass_plan(&predicted, so_far, &o, a, &p, e) < 0)
		return -1;
	pass_print(&p, text_out());
	return 0;
}

/* ---- judge ---- */

/* The names of a list of devices. */
static void split_devices(const char *list, struct arena *a, struct report_options *o)
{
	const char **device = ARENA_NEWN(a, const char *, strlen(list) + 1);
	while (*list) {
		size_t n = devs_name_length(list);
		device[o->n_devices++] = arena_strndup(a, list, n);
		list += n + (list[n] == ',');
	}
	o->device = device;
}

static int verb_judge(int argc, char **argv, struct arena *a, struct err *e)
{
	static const char *const formats[] = {"text", "tsv", "md", NULL};
	struct report_options o = {.title = ""};
	const char *devices = "";
	bool repeats = false;
	struct judge_input in;
	const struct opt opts[] = {
		{"format", 'f', OPT_CHOICE, &o.format, "FORMAT", "of the table", 0, 0, formats,
		 NULL},
		{"devices", 'D', OPT_TEXT, &devices, "LIST", "their names", 0, 0, NULL, NULL},
		{"title", 't', OPT_TEXT, &o.title, "TEXT", "of the table", 0, 0, NULL, NULL},
		{"repeats", 0, OPT_FLAG, &repeats, NULL,
		 "print only the judged statistic's repeatability and the ends of its interval", 0,
		 0, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "runstat judge",
		.summary = "how well predictions rank and meet measurements",
		.args = "PLACEMENTS.tsv",
		.min_args = 1,
		.max_args = 1,
		.no_output = true,
		.opts = opts,
		.details =
			"PLACEMENTS.tsv is what runstat times prints. Of the two statistics that "
			"one is judged whose odd and even rounds agree better over the good "
			"placements; predictions have no say. Intervals are bootstrap "
			"percentiles.",
	};
	struct opt_common common = OPT_COMMON_INIT;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	split_devices(devices, a, &o);
	if (judge_read(argv[first], a, &in, e) < 0)
		return -1;
	if (repeats) {
		struct repeatability x = judge_repeatability(&in);
		printf("%.3f %.3f %.3f\n", x.r, x.of[x.judged].lo, x.of[x.judged].hi);
	} else {
		judge_report(&in, &o, text_out());
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct verb verbs[] = {
		{"runs", "a line for each run record", verb_runs},
		{"times", "one time per placement from runs in many calls of devrun", verb_times},
		{"judge", "how well predictions rank and meet measurements", verb_judge},
		{"pass", "which placements of a calibration are run next", verb_pass},
		{"slowness", "how slow the machine was when it was profiled", verb_slowness},
		{NULL, NULL, NULL},
	};
	return verb_main("runstat", "statistics of run records", verbs, argc, argv);
}
