/* judge_report.c - rows of figures, the worst placements. */
#include "calibrate/judge_report.h"

#include <math.h>
#include <stdlib.h>

#include "stats/quantile.h"

enum { MEDIAN_SAMPLES = 200, WORST = 10, CELL = 120 };
static const double WANTED_ALL = 0.95, WANTED_GOOD = 0.8, WANTED_ERROR = 0.08;
static const char *const label[STATISTICS] = {"fastest burst", "mean of faster bursts"};

struct report {
	struct judge_input *in;
	const struct report_options *o;
	FILE *out;
	struct repeatability repeats;
	double *error; /* (n) */
};

/* ---- cells ---- */

/* A column of text: what stands in front of it, and its width, negative to the left. */
struct column {
	const char *gap;
	int width;
};

/* A line of cells in the report's format. */
static void put_cells(const struct report *r, const struct column *column, const char *const *cell,
		      int n)
{
	for (int i = 0; i < n; i++)
		switch (r->o->format) {
		case REPORT_TSV: fprintf(r->out, "%s%s", i ? "\t" : "", cell[i]); break;
		case REPORT_MARKDOWN: fprintf(r->out, "| %s ", cell[i]); break;
		default: fprintf(r->out, "%s%*s", column[i].gap, column[i].width, cell[i]);
		}
	fputs(r->o->format == REPORT_MARKDOWN ? "|\n" : "\n", r->out);
}

static void put_row(const struct report *r, const char *what, const char *value,
		    const char *interval, const char *wanted, const char *met)
{
	static const struct column column[] = {
		{"", -63}, {" ", 9}, {"  ", 16}, {"  ", 9}, {"  ", 0}};
	put_cells(r, column, (const char *const[]){what, value, interval, wanted, met}, 5);
}

static const char *percent(char *to, double x)
{
	snprintf(to, CELL, "%.1f %%", 100 * x);
	return to;
}

static const char *signed_percent(char *to, double x)
{
	snprintf(to, CELL, "%+.1f %%", 100 * x);
	return to;
}

static void put_percent(const struct report *r, const char *what, double x)
{
	char value[CELL];
	put_row(r, what, percent(value, x), "", "", "");
}

/* A correlation; wanted 0: nothing is. */
static void put_correlation(const struct report *r, const char *what, struct interval x,
			    double wanted)
{
	char value[CELL], interval[CELL], want[CELL] = "";
	snprintf(value, sizeof value, "%.3f", x.mid);
	snprintf(interval, sizeof interval, "%.3f .. %.3f", x.lo, x.hi);
	if (wanted > 0)
		snprintf(want, sizeof want, ">= %g", wanted);
	put_row(r, what, value, interval, want, wanted > 0 ? x.mid >= wanted ? "yes" : "no" : "");
}

/* ---- figures ---- */

/* Rows of r->error: the median of the sizes, and unless brief their 90th percentile and the signed
 * median. */
static void put_errors(struct report *r, const char *name, double wanted, bool brief)
{
	uint32_t n = r->in->n;
	char what[CELL], value[CELL], interval[CELL], want[CELL], limit[CELL] = "";
	double *size = MEM_NEWN(double, n), *error = mem_copy(r->error, n, sizeof *error);
	for (uint32_t i = 0; i < n; i++)
		size[i] = fabs(error[i]);
	struct interval m = bootstrap_median(size, n, MEDIAN_SAMPLES, &r->in->draws);
	snprintf(what, sizeof what, "%s, median", name);
	snprintf(interval, sizeof interval, "%.1f .. %.1f", 100 * m.lo, 100 * m.hi);
	if (wanted > 0)
		snprintf(limit, sizeof limit, "<= %.1f %%", 100 * wanted);
	put_row(r, what, percent(value, m.mid), interval, limit,
		wanted > 0 ? m.mid <= wanted ? "yes" : "no" : "");
	if (!brief) {
		order_values(size, n);
		order_values(error, n);
		snprintf(what, sizeof what, "%s, 90th percentile", name);
		put_percent(r, what, quantile(size, n, 0.9));
		snprintf(what, sizeof what, "%s, signed median", name);
		put_row(r, what, signed_percent(want, quantile(error, n, 0.5)), "", "", "");
	}
	mem_free(size);
	mem_free(error);
}

/* The rows of one statistic; judged: with what is wanted. */
static void put_statistic(struct report *r, int statistic, bool judged)
{
	char name[CELL];
	const char *front = judged ? "" : label[statistic], *comma = judged ? "" : ", ";
	struct arena *a = arena_new();
	struct good g = judge_good(r->in, OF_ALL, statistic, a);
	snprintf(name, sizeof name, "%s%sSpearman's rank correlation, all", front, comma);
	put_correlation(r, name, judge_ranks(r->in, OF_ALL, statistic, NULL),
			judged ? WANTED_ALL : 0);
	snprintf(name, sizeof name, "%s%sSpearman's rank correlation, the good ones", front, comma);
	put_correlation(r, name, judge_ranks(r->in, OF_ALL, statistic, &g),
			judged ? WANTED_GOOD : 0);
	judge_errors(r->in, OF_ALL, statistic, statistic == STATISTIC_MEAN, r->error);
	snprintf(name, sizeof name, "%s%serror%s", front, comma,
		 statistic == STATISTIC_MEAN ? " of ratios" : "");
	put_errors(r, name, judged ? WANTED_ERROR : 0, !judged);
	arena_free(a);
}

/* The rows of a statistic as it was measured, nothing put on one scale. */
static void put_raw(struct report *r, int statistic)
{
	char name[CELL];
	if (!r->in->has[OF_ALL_RAW])
		return;
	struct arena *a = arena_new();
	struct good g = judge_good(r->in, OF_ALL_RAW, statistic, a);
	snprintf(name, sizeof name, "raw %s, rank correlation, all", label[statistic]);
	put_correlation(r, name, judge_ranks(r->in, OF_ALL_RAW, statistic, NULL), 0);
	snprintf(name, sizeof name, "raw %s, the good ones", label[statistic]);
	put_correlation(r, name, judge_ranks(r->in, OF_ALL_RAW, statistic, &g), 0);
	judge_errors(r->in, OF_ALL_RAW, statistic, false, r->error);
	snprintf(name, sizeof name, "raw %s, error", label[statistic]);
	put_errors(r, name, 0, true);
	arena_free(a);
}

static void put_repeatability(struct report *r)
{
	char name[CELL];
	uint32_t n;
	const struct repeatability *x = &r->repeats;
	if (r->in->explained > 0)
		put_percent(r, "of the runs' variance, told by their pulses", r->in->explained);
	for (int s = 0; s < STATISTICS; s++) {
		snprintf(name, sizeof name, "repeatability, %s", label[s]);
		put_correlation(r, name, x->of[s], 0);
	}
	struct interval passes = judge_repeats(r->in, x->judged, true, &n);
	if (n >= 2)
		put_correlation(r, "repeatability, odd against even passes", passes, 0);
	const struct interval *judged = &x->of[x->judged];
	put_correlation(r, "a perfect prediction of the good ones, about",
			(struct interval){judge_ceiling(judged->mid), judge_ceiling(judged->lo),
					  judge_ceiling(judged->hi)},
			0);
}

static void put_head(const struct report *r)
{
	const char *title = r->o->title;
	switch (r->o->format) {
	case REPORT_TSV: put_row(r, "figure", "value", "interval_95", "wanted", "met"); break;
	case REPORT_MARKDOWN:
		put_row(r, *title ? title : "figure", "value", "95 % interval", "wanted", "met");
		fputs("|---|---|---|---|---|\n", r->out);
		break;
	default: put_row(r, title, "value", "95 % interval", "wanted", "met");
	}
}

static void put_overview(const struct report *r, const struct good *g)
{
	char value[CELL];
	snprintf(value, sizeof value, "%u", r->in->n);
	put_row(r, "placements", value, "", "", "");
	snprintf(value, sizeof value, "%u", g->n);
	put_row(r, "of them within 1.5x of the best", value, "", "", "");
	snprintf(value, sizeof value, "%.3f", g->best_s * 1e3);
	put_row(r, "fastest placement measured, ms", value, "", "", "");
	put_row(r, "judged", label[r->repeats.judged], "", "", "");
}

/* ---- the worst placements ---- */

/* Where the time goes: the device that is busy longest by a list of times with commas, and for how
 * much of s. */
static const char *busiest(const struct report *r, const char *list, double s, char *to)
{
	double most = -INFINITY;
	uint32_t which = 0, n = 0;
	for (const char *at = list; *at && *list != '-'; n++) {
		char *end;
		double x = strtod(at, &end);
		if (x > most) {
			most = x;
			which = n;
		}
		at = *end == ',' ? end + 1 : "";
	}
	if (!(s > 0) || n == 0)
		snprintf(to, CELL, "-");
	else if (which < r->o->n_devices)
		snprintf(to, CELL, "%s %.0f %%", r->o->device[which], 100 * most / s);
	else
		snprintf(to, CELL, "device %u %.0f %%", which, 100 * most / s);
	return to;
}

enum { WORST_CELLS = 9 };
static const struct column worst_column[WORST_CELLS] = {{"", -6}, {" ", -10},  {" ", 9},
							{" ", 9}, {" ", 8},    {" ", 6},
							{" ", 7}, {"  ", -20}, {" ", 0}};

static void put_worst_head(const struct report *r)
{
	static const char *const text[WORST_CELLS] = {
		"worst",  "source", "pred. ms",           "meas. ms",         "error",
		"copies", "MB",     "busiest, predicted", "busiest, measured"};
	static const char *const markdown[WORST_CELLS] = {
		"worst",  "source", "predicted ms",       "measured ms",      "error",
		"copies", "MB",     "busiest, predicted", "busiest, measured"};
	static const char *const tsv[WORST_CELLS] = {
		"worst",  "source", "predicted_ms",      "measured_ms",     "error",
		"copies", "MB",     "busiest_predicted", "busiest_measured"};
	if (r->o->format != REPORT_TSV)
		fputc('\n', r->out);
	put_cells(r, worst_column,
		  r->o->format == REPORT_TSV        ? tsv
		  : r->o->format == REPORT_MARKDOWN ? markdown
						    : text,
		  WORST_CELLS);
	if (r->o->format == REPORT_MARKDOWN)
		fputs("|---|---|---|---|---|---|---|---|---|\n", r->out);
}

static void put_worst_row(const struct report *r, uint32_t i)
{
	const struct judge_row *x = &r->in->row[i];
	double s = x->s[OF_ALL][r->repeats.judged];
	char predicted_ms[CELL], measured_ms[CELL], error[CELL], megabytes[CELL];
	char predicted[CELL], measured[CELL];
	snprintf(predicted_ms, CELL, "%.3f", 1e3 * x->predicted_s);
	snprintf(measured_ms, CELL, "%.3f", 1e3 * s);
	snprintf(megabytes, CELL, "%.2f", x->copy_bytes / 1e6);
	put_cells(r, worst_column,
		  (const char *const[]){x->placement, x->source, predicted_ms, measured_ms,
					signed_percent(error, r->error[i]), x->copies, megabytes,
					busiest(r, x->predicted_busy, x->predicted_s, predicted),
					busiest(r, x->measured_busy, s, measured)},
		  WORST_CELLS);
}

static void put_worst(const struct report *r)
{
	uint32_t n = r->in->n, *by = MEM_NEWN(uint32_t, n);
	double *size = MEM_NEWN(double, n);
	for (uint32_t i = 0; i < n; i++) {
		by[i] = i;
		size[i] = -fabs(r->error[i]);
	}
	order_by(by, size, n);
	put_worst_head(r);
	for (uint32_t i = 0; i < WORST && i < n; i++)
		put_worst_row(r, by[i]);
	mem_free(by);
	mem_free(size);
}

void judge_report(struct judge_input *in, const struct report_options *o, FILE *out)
{
	struct arena *a = arena_new();
	struct report r = {in, o, out, judge_repeatability(in), ARENA_NEWN(a, double, in->n)};
	int judged = r.repeats.judged;
	int other = judged == STATISTIC_MEAN ? STATISTIC_FASTEST : STATISTIC_MEAN;
	struct good g = judge_good(in, OF_ALL, judged, a);
	put_head(&r);
	put_overview(&r, &g);
	if (in->has_halves)
		put_repeatability(&r);
	put_statistic(&r, judged, true);
	put_statistic(&r, other, false);
	put_raw(&r, STATISTIC_FASTEST);
	put_raw(&r, STATISTIC_MEAN);
	judge_errors(in, OF_ALL, judged, judged == STATISTIC_MEAN, r.error);
	put_worst(&r);
	arena_free(a);
}
