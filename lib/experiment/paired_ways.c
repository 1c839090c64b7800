/* paired_ways.c - means over seeds, and ratios of pairs. */
#include "experiment/paired_ways.h"

#include <math.h>
#include <string.h>

#include "base/tabfile.h"
#include "calibrate/run_list.h"
#include "experiment/result_file.h"
#include "stats/interval.h"

enum { FEW = 5 }; /* placements: the answer of a search, not its way there */
enum { EVALUATIONS, BEST_S, LATE_S, SINGLE_S, N_GROUPS, CELLS };

struct result {
	struct result_file file;
	double x[CELLS];
	double ratio; /* to `base` with the same model and seed; NAN: there is no such */
};

struct results {
	const struct paired_options *o;
	uint32_t n;
	struct result *item; /* (n) in the order of the files */
	bool has_groups;
};

/* Which results a row is about: NULL is any. */
struct row {
	const char *model, *way;
};

static bool is_in(const struct row *r, const struct result *x)
{
	return (!r->model || strcmp(r->model, x->file.model) == 0) &&
	       (!r->way || strcmp(r->way, x->file.way) == 0);
}

/* ---- reading ---- */

static int read_result(const char *path, struct arena *a, struct result *x, bool *has_groups,
		       struct err *e)
{
	struct tabfile t;
	*x = (struct result){.file = result_file_name(path, a), .ratio = NAN};
	if (tabfile_read(path, false, a, &t, e) < 0)
		return -1;
	if (t.n_rows == 0)
		return err_set(e, ST_INPUT, "'%s' is empty", path);
	*has_groups = *has_groups || t.n_cells[0] > N_GROUPS;
	for (int i = 0; i < CELLS; i++)
		if ((i < N_GROUPS || t.n_cells[0] > N_GROUPS) &&
		    tabfile_real(&t, 0, i, &x->x[i], e) < 0)
			return -1;
	for (int i = BEST_S; i <= SINGLE_S; i++)
		if (!(x->x[i] > 0) && i != SINGLE_S)
			return err_set(e, ST_INPUT, "'%s' has a latency that is not above 0", path);
	/* The single devices' is 0 where none was measured. */
	if (!time_is_usable(x->x[BEST_S]) || !time_is_usable(x->x[LATE_S]) ||
	    !(x->x[SINGLE_S] == 0 || time_is_usable(x->x[SINGLE_S])))
		return err_set(e, ST_INPUT, "'%s' has a latency that cannot be", path);
	return 0;
}

/* What ratios are of; NAN: that was not measured. */
static double judged(const struct paired_options *o, const struct result *x)
{
	double s = x->x[o->late ? LATE_S : BEST_S];
	if (!o->relative)
		return s;
	return x->x[SINGLE_S] > 0 ? s / x->x[SINGLE_S] : NAN;
}

static void find_pairs(struct results *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t j = 0; j < r->n; j++)
			if (strcmp(r->item[j].file.way, r->o->base) == 0 &&
			    strcmp(r->item[j].file.model, r->item[i].file.model) == 0 &&
			    strcmp(r->item[j].file.seed, r->item[i].file.seed) == 0)
				r->item[i].ratio =
					judged(r->o, &r->item[i]) / judged(r->o, &r->item[j]);
}

/* ---- rows ---- */

/* "mean<TAB>lo<TAB>hi" of x[n] times scale, less `offset`. */
static void put_mean(FILE *out, const double *x, uint32_t n, double scale, double offset,
		     int digits)
{
	if (n == 0) {
		fputs("\t-\t-\t-", out);
		return;
	}
	struct interval m = interval_geometric(x, n);
	fprintf(out, "\t%.*f", digits, scale * (m.mid - offset));
	if (n == 1)
		fputs("\t\t", out);
	else
		fprintf(out, "\t%.*f\t%.*f", digits, scale * (m.lo - offset), digits,
			scale * (m.hi - offset));
}

/* Of the row's results one of their values, or with cell CELLS their ratios where they have one. */
static uint32_t gather(const struct results *r, const struct row *row, int cell, double *x)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->n; i++)
		if (is_in(row, &r->item[i]) && (cell < CELLS || !isnan(r->item[i].ratio)))
			x[n++] = cell < CELLS ? r->item[i].x[cell] : r->item[i].ratio;
	return n;
}

static void put_model_row(const struct results *r, const struct row *row, double *x, FILE *out)
{
	uint32_t n = gather(r, row, N_GROUPS, x);
	double groups = 0, fewest = INFINITY, single_s;
	for (uint32_t i = 0; i < n; i++)
		groups += x[i] / n;
	(void)gather(r, row, EVALUATIONS, x);
	for (uint32_t i = 0; i < n; i++)
		fewest = fmin(fewest, x[i]);
	fprintf(out, "%s\t%s", row->model, row->way);
	if (r->has_groups)
		fprintf(out, "\t%.1f", groups);
	fprintf(out, "\t%u", n);
	(void)gather(r, row, SINGLE_S, x);
	single_s = x[n - 1];
	put_mean(out, x, gather(r, row, BEST_S, x), 1e3, 0, 4);
	put_mean(out, x, fewest < FEW ? 0 : gather(r, row, LATE_S, x), 1e3, 0, 4);
	put_mean(out, x, gather(r, row, CELLS, x), 100, 1, 2);
	fprintf(out, "\t%.4f\n", 1e3 * single_s);
}

static void put_all_row(const struct results *r, const struct row *row, double *x, FILE *out)
{
	uint32_t n = gather(r, row, CELLS, x);
	fprintf(out, "all\t%s", row->way);
	if (r->has_groups)
		fputs("\t-", out);
	fprintf(out, "\t%u\t-\t-\t-\t-\t-\t-", n);
	put_mean(out, x, n, 100, 1, 2);
	fputs("\t-\n", out);
}

/* Is no earlier result in row? */
static bool is_first(const struct results *r, uint32_t i, const struct row *row)
{
	for (uint32_t j = 0; j < i; j++)
		if (is_in(row, &r->item[j]))
			return false;
	return true;
}

static void put_table(const struct results *r, FILE *out)
{
	double *x = MEM_NEWN(double, (size_t)r->n + 1);
	uint32_t n_models = 0;
	fprintf(out,
		"model\t%s\t%sseeds\tbest_ms\tbest_ms_lo\tbest_ms_hi\tlast_fifth_ms\t"
		"last_fifth_ms_lo\tlast_fifth_ms_hi\tlonger_than_%s_%%\tlonger_than_%s_%%_lo\t"
		"longer_than_%s_%%_hi\tbest_single_ms\n",
		r->o->ways, r->has_groups ? "groups\t" : "", r->o->base, r->o->base, r->o->base);
	for (uint32_t i = 0; i < r->n; i++) {
		struct row row = {r->item[i].file.model, r->item[i].file.way};
		n_models += is_first(r, i, &(struct row){row.model, NULL});
		if (is_first(r, i, &row))
			put_model_row(r, &row, x, out);
	}
	for (uint32_t i = 0; i < r->n && n_models > 1; i++) {
		struct row row = {NULL, r->item[i].file.way};
		if (is_first(r, i, &row))
			put_all_row(r, &row, x, out);
	}
	mem_free(x);
}

/* Is some file of the way that the others are beside? */
static int check_base(const struct results *r, struct err *e)
{
	struct err_near near = {.name = r->o->base};
	for (uint32_t i = 0; i < r->n; i++) {
		if (strcmp(r->item[i].file.way, r->o->base) == 0)
			return 0;
		err_offer(&near, r->item[i].file.way);
	}
	return err_unknown(e, ST_USAGE, &near, NULL, "--base: no file is of '%s'", r->o->base);
}

int paired_ways(char *const *paths, uint32_t n, const struct paired_options *o, FILE *out,
		struct err *e)
{
	struct arena *a = arena_new();
	struct results r = {o, n, ARENA_NEWN(a, struct result, (size_t)n + 1), false};
	int rc = 0;
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = read_result(paths[i], a, &r.item[i], &r.has_groups, e);
	if (rc == 0)
		rc = check_base(&r, e);
	if (rc == 0) {
		find_pairs(&r);
		put_table(&r, out);
	}
	arena_free(a);
	return rc;
}
