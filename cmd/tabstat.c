/* tabstat - rows of the tables of experiments: verbs that read what searches and measurements
 * left. */
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "base/verb.h"
#include "experiment/grouping_table.h"
#include "experiment/latency_table.h"
#include "experiment/paired_ways.h"
#include "experiment/rounds_table.h"
#include "experiment/search_result.h"
#include "experiment/search_table.h"

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
	return rounds_table(first < argc ? argv[first] : "-", &o, stdout, e);
}

static int verb_found(int argc, char **argv, struct arena *a, struct err *e)
{
	bool groups = false;
	const struct opt opts[] = {
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
	return rc <= 0 ? rc : search_result(first < argc ? argv[first] : "-", groups, stdout, e);
}

static int verb_pairs(int argc, char **argv, struct arena *a, struct err *e)
{
	const char *base = NULL, *ways = "way";
	const struct opt opts[] = {
		{"base", 'b', OPT_TEXT, &base, "WAY", "the others are beside this one", 0, 0, NULL,
		 NULL},
		{"ways", 'w', OPT_TEXT, &ways, "NAME", "of the column of ways", 0, 0, NULL, NULL},
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
	if (!base)
		return err_set(e, ST_USAGE, "--base names one of the ways");
	return paired_ways(argv + first, (uint32_t)(argc - first), base, ways, stdout, e);
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
	return rc <= 0 ? rc : table(argv + first, (uint32_t)(argc - first), stdout, e);
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

int main(int argc, char **argv)
{
	static const struct verb verbs[] = {
		{"rounds", "medians of rounds, and their ratios to one device", verb_rounds},
		{"found", "what a search found", verb_found},
		{"pairs", "searches beside one of them, in pairs", verb_pairs},
		{"latency", "latency of each method over seeds, beside the CPU's", verb_latency},
		{"groupings", "learned groups beside random ones", verb_groupings},
		{"searches", "what finding placements took", verb_searches},
		{NULL, NULL, NULL},
	};
	return verb_main("tabstat", "rows of the tables of experiments", verbs, argc, argv);
}
