/* tabstat - rows of the tables of experiments: verbs that read what searches and measurements
 * left. */
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "base/msg.h"
#include "base/verb.h"
#include "experiment/curve_log.h"
#include "experiment/curve_page.h"
#include "experiment/curve_table.h"
#include "experiment/grouping_table.h"
#include "experiment/latency_table.h"
#include "experiment/paired_ways.h"
#include "experiment/rounds_table.h"
#include "experiment/search_result.h"
#include "experiment/search_table.h"
#include "experiment/sweep.h"
#include "report/html/sweep_page.h"

enum { MANY = 1 << 20 };

/* The words of a text; how many. */
static uint32_t split_words(const char *text, struct arena *a, const char ***out)
{
	uint32_t n = 0;
	*out = ARENA_NEWN(a, const char *, strlen(text) + 1);
	while (*(text += strspn(text, " "))) {
		size_t len = strcspn(text, " ");
		(*out)[n++] = arena_strndup(a, text, len);
		text += len;
	}
	return n;
}

static int verb_rounds(int argc, char **argv, struct arena *a, struct err *e)
{
	struct rounds_table_options o = {.cpu = ""};
	const char *answers = "";
	const struct opt opts[] = {
		{"cpu", 0, OPT_TEXT, &o.cpu, "NAME", "the device that ratios are to", 0, 0, NULL,
		 NULL},
		{"answers", 0, OPT_TEXT, &answers, "NAMES",
		 "names, with blanks between them, of the runs behind those of the single devices",
		 0, 0, NULL, NULL},
		{"beside", 0, OPT_TEXT, &o.beside, "NAME", "this single device is the answer", 0, 0,
		 NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "tabstat rounds",
		.summary = "medians of rounds, and their ratios to one device",
		.args = "[FILE]",
		.max_args = 1,
		.no_output = true,
		.opts = opts,
		.details =
			"FILE is what devrun --rounds wrote: first the single devices, in the "
			"order of devs, then answers. Columns: single or answer, name, latency "
			"and the ends of its 95 % interval (s), ratio to the device --cpu in the "
			"same rounds and its interval, rounds, copies, bytes of them, why it "
			"failed, the only device that had anything to do.",
	};
	struct opt_common common = OPT_COMMON_INIT;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	const char **answer;
	o.n_answers = split_words(answers, a, &answer);
	o.answer = answer;
	return rounds_table(first < argc ? argv[first] : "-", &o, text_out(), e);
}

static int verb_found(int argc, char **argv, struct arena *a, struct err *e)
{
	bool groups = false;
	int64_t n = 0;
	const struct opt opts[] = {
		{"first", 'n', OPT_INT, &n, "N", "only the first N placements count; 0: all", 0,
		 1e15, NULL, NULL},
		{"groups", 'g', OPT_FLAG, &groups, NULL,
		 "one more column: the mean number of groups of the update records", 0, 0, NULL,
		 NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "tabstat found",
		.summary = "what a search found",
		.args = "[FILE]",
		.max_args = 1,
		.no_output = true,
		.opts = opts,
		.details =
			"FILE is a stream with run records. Columns: placements that ran, the "
			"best latency, the mean of the last fifth, that of the best single device "
			"(s). Single devices are anchors and not counted.",
	};
	struct opt_common common = OPT_COMMON_INIT;
	(void)a;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	return rc <= 0 ? rc
		       : search_result(first < argc ? argv[first] : "-", groups, (uint64_t)n,
				       text_out(), e);
}

static int verb_pairs(int argc, char **argv, struct arena *a, struct err *e)
{
	struct paired_options o = {.ways = "way"};
	const struct opt opts[] = {
		{"base", 'b', OPT_TEXT, &o.base, "WAY", "the others are beside this one", 0, 0,
		 NULL, NULL},
		{"ways", 'w', OPT_TEXT, &o.ways, "NAME", "of the column of ways", 0, 0, NULL, NULL},
		{"late", 'l', OPT_FLAG, &o.late, NULL,
		 "pairs of the last fifth's mean, not of the best", 0, 0, NULL, NULL},
		{"relative", 'r', OPT_FLAG, &o.relative, NULL,
		 "pairs of latencies over the best single device's in the same search", 0, 0, NULL,
		 NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "tabstat pairs",
		.summary = "searches beside one of them, in pairs of the same model and seed",
		.args = "FILE...",
		.min_args = 1,
		.max_args = MANY,
		.no_output = true,
		.opts = opts,
		.details = "A FILE, .../MODEL/WAY.SEED.tsv, has a line of tabstat found. Geometric "
			   "means over seeds, and 95 % intervals of Student's t.",
	};
	struct opt_common common = OPT_COMMON_INIT;
	(void)a;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	if (!o.base)
		return err_set(e, ST_USAGE, "--base names one of the ways");
	return paired_ways(argv + first, (uint32_t)(argc - first), &o, text_out(), e);
}

typedef int table_of_files(char *const *paths, uint32_t n, FILE *out, struct err *e);

/* A verb without options whose arguments are files. */
static int run_table(const char *name, const char *summary, const char *details,
		     table_of_files *table, int argc, char **argv, struct err *e)
{
	const struct opt opts[] = {{0}};
	const struct opt_program program = {
		.name = name,
		.summary = summary,
		.args = "FILE...",
		.min_args = 1,
		.max_args = MANY,
		.no_output = true,
		.opts = opts,
		.details = details,
	};
	struct opt_common common = OPT_COMMON_INIT;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	return rc <= 0 ? rc : table(argv + first, (uint32_t)(argc - first), text_out(), e);
}

static int verb_latency(int argc, char **argv, struct arena *a, struct err *e)
{
	(void)a;
	return run_table("tabstat latency", "latency of each method over seeds, beside the CPU's",
			 "A FILE, .../MODEL/METHOD.NAME.tsv, has lines of tabstat rounds. Columns: "
			 "model, method, device in that role, seeds, latency and its 95 % interval "
			 "(ms), speedup and its interval (%), how many times as fast as the CPU, "
			 "what the interval is over, remark.",
			 latency_table, argc, argv, e);
}

static int verb_groupings(int argc, char **argv, struct arena *a, struct err *e)
{
	(void)a;
	return run_table(
		"tabstat groupings", "learned groups beside random ones",
		"FILEs as those of tabstat latency. Columns: model, method, best, median or "
		"worst over seeds, seeds, latency (ms), times as fast as the CPU, % longer "
		"than with learned groups, failed seeds.",
		grouping_table, argc, argv, e);
}

static int verb_searches(int argc, char **argv, struct arena *a, struct err *e)
{
	(void)a;
	return run_table("tabstat searches", "what finding placements took",
			 "A FILE, .../MODEL/METHOD.SEED.mp.job, is a job's account; evaluated.tsv "
			 "has lines MODEL METHOD SEED PLACEMENTS. Columns: model, method, seeds, "
			 "seconds and their 95 % interval, processor seconds, placements.",
			 search_table, argc, argv, e);
}

/* ---- curves ---- */

static int verb_curve(int argc, char **argv, struct arena *a, struct err *e)
{
	struct curve_log_options o = {.model = "-", .method = "-"};
	const struct opt opts[] = {
		{"to", 0, OPT_TEXT, &o.to, "FILE", "the file of lines", 0, 0, NULL, NULL},
		{"model", 0, OPT_TEXT, &o.model, "NAME", "what its lines say", 0, 0, NULL, NULL},
		{"method", 0, OPT_TEXT, &o.method, "NAME", "the same", 0, 0, NULL, NULL},
		{"first", 'n', OPT_INT, &o.first, "N", "lines of the first N placements; 0: of all",
		 0, 1e15, NULL, NULL},
		{"more", 0, OPT_FLAG, &o.more, NULL,
		 "keep what the file has, and go on where this search ends in it", 0, 0, NULL,
		 NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "tabstat curve",
		.summary = "pass a stream on, and note when its placements ran",
		.args = "[FILE]",
		.max_args = 1,
		.has_seed = true,
		.opts = opts,
		.details = "A line for each run record as it comes. Columns: model, method, seed, "
			   "evaluation (from 1), seconds since the program began, latency (s; "
			   "empty: it failed), the least so far. Of runs with a value (devsim "
			   "--objective) the last two are values. On a machine that is played "
			   "seconds are its own. Single devices are anchors and not counted.",
		.example =
			"train i.mp --keep | tabstat curve --to c.tsv --method gpn | tabstat found",
	};
	struct opt_common common = OPT_COMMON_INIT;
	struct filter f;
	(void)a;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	if (!o.to)
		return err_set(e, ST_USAGE, "--to names the file");
	o.seed = common.seed;
	if (filter_open(&f, first < argc ? argv[first] : "-", &common, argc, argv, e) < 0)
		return -1;
	return filter_close(&f, curve_log(&f, &o, e), e);
}

static int verb_curves(int argc, char **argv, struct arena *a, struct err *e)
{
	(void)a;
	return run_table(
		"tabstat curves", "median and quartiles over seeds of files of curve",
		"Columns: model, method, over what (evaluations, seconds), at which point, "
		"seeds, best until then and its quartiles (s).",
		curve_table, argc, argv, e);
}

static int verb_spread(int argc, char **argv, struct arena *a, struct err *e)
{
	double at = 0;
	const struct opt opts[] = {
		{"at", 0, OPT_REAL, &at, "N", "at N evaluations; 0: at 10, 20, 50, ... and the end",
		 0, 1e15, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "tabstat spread",
		.summary = "how far what a search finds depends on its seed, of files of curve",
		.args = "FILE...",
		.min_args = 1,
		.max_args = MANY,
		.no_output = true,
		.opts = opts,
		.details = "Columns: model, method, evaluations, seeds, best until then: median, "
			   "least and most (ms), its standard deviation over seeds (%, of "
			   "logarithms) and 95 % interval by chi squared. Model all: all models "
			   "together, each around its own mean.",
	};
	struct opt_common common = OPT_COMMON_INIT;
	(void)a;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	return spread_table(argv + first, (uint32_t)(argc - first), at, text_out(), e);
}

static int verb_plot(int argc, char **argv, struct arena *a, struct err *e)
{
	const char *title = "What each method has found when";
	const struct opt opts[] = {
		{"title", 0, OPT_TEXT, &title, "TEXT", "above the page", 0, 0, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "tabstat plot",
		.summary = "the table of curves as SVG",
		.args = "FILE",
		.min_args = 1,
		.max_args = 1,
		.no_output = true,
		.opts = opts,
		.details = "For each model two charts, over evaluations and over seconds.",
	};
	struct opt_common common = OPT_COMMON_INIT;
	(void)a;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	return rc <= 0 ? rc : curve_page(argv[first], title, text_out(), e);
}

static int verb_page(int argc, char **argv, struct arena *a, struct err *e)
{
	struct sweep_words words = {.title = "Which methods win where"};
	const struct opt opts[] = {
		{"title", 0, OPT_TEXT, &words.title, "TEXT", "of the page", 0, 0, NULL, NULL},
		{"command", 0, OPT_TEXT, &words.command, "TEXT", "what made the files, to be told",
		 0, 0, NULL, NULL},
		{"note", 0, OPT_TEXT, &words.note, "TEXT", "what else is to be told", 0, 0, NULL,
		 NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "tabstat page",
		.summary = "which methods win where, as a page for browsers",
		.args = "FILE...",
		.min_args = 1,
		.max_args = MANY,
		.no_output = true,
		.opts = opts,
		.details = "A FILE, .../MODEL/METHOD.SEED.tsv, has a line of tabstat found, or "
			   "'failed' and why; FILE.job, where it is there, tells the seconds. "
			   "Means over seeds are geometric.",
		.example = "tabstat page results/*/*.tsv > sweep.html",
	};
	struct opt_common common = OPT_COMMON_INIT;
	struct sweep s;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, e);
	if (rc <= 0)
		return rc;
	if (sweep_read(argv + first, (uint32_t)(argc - first), a, &s, e) < 0)
		return -1;
	return sweep_page(text_out(), &s, &words, e);
}

int main(int argc, char **argv)
{
	static const struct verb verbs[] = {
		{"rounds", "medians of rounds, and their ratios to one device", verb_rounds},
		{"found", "what a search found", verb_found},
		{"pairs", "searches beside one of them, in pairs", verb_pairs},
		{"latency", "latency of each method over seeds, beside the CPU's", verb_latency},
		{"groupings", "learned groups beside random ones", verb_groupings},
		{"searches", "what finding placements took", verb_searches},
		{"curve", "pass a stream on, and note when its placements ran", verb_curve},
		{"curves", "median and quartiles over seeds of files of curve", verb_curves},
		{"spread", "how far what a search finds depends on its seed", verb_spread},
		{"plot", "the table of curves as SVG", verb_plot},
		{"page", "which methods win where, as a page for browsers", verb_page},
		{NULL, NULL, NULL},
	};
	return verb_main("tabstat", "rows of the tables of experiments", verbs, argc, argv);
}
