/* grouping_table.c - seeds in the order of their ratios. */
#include "experiment/grouping_table.h"

#include <math.h>
#include <string.h>

#include "base/tabfile.h"
#include "calibrate/run_list.h"
#include "experiment/result_file.h"
#include "stats/quantile.h"

enum { LEARNED, RANDOM, METHODS };
static const char *const method_name[METHODS] = {"grouping-learned", "grouping-random"};
enum { BEST, MEDIAN, WORST, RANKS };
static const char *const rank_name[RANKS] = {"best", "median", "worst"};

struct seeds {
	uint32_t n, n_failed;
	double *ratio, *lat_ms; /* (n) */
};

struct grouped_model {
	const char *name;
	struct seeds of[METHODS];
};

static int add_line(struct seeds *s, const struct tabfile *t, uint32_t i, struct err *e)
{
	const char *what = tabfile_cell(t, i, 0);
	bool answer = strcmp(what, "answer") == 0;
	if (strcmp(what, "failed") == 0 || (answer && !*tabfile_cell(t, i, 5))) {
		s->n_failed++;
		return 0;
	}
	if (!answer)
		return 0;
	double ratio, lat_s;
	if (tabfile_real(t, i, 5, &ratio, e) < 0 || tabfile_real(t, i, 2, &lat_s, e) < 0)
		return -1;
	if (!(ratio > 0))
		return err_set(e, ST_INPUT, "'%s' line %u has a ratio that is not above 0", t->path,
			       i + 1);
	if (!time_is_usable(lat_s) || !time_is_usable(ratio))
		return err_set(e, ST_INPUT, "'%s' line %u has a time that cannot be", t->path,
			       i + 1);
	s->ratio = mem_resize(s->ratio, s->n + 1, sizeof *s->ratio);
	s->lat_ms = mem_resize(s->lat_ms, s->n + 1, sizeof *s->lat_ms);
	s->ratio[s->n] = ratio;
	s->lat_ms[s->n++] = 1e3 * lat_s;
	return 0;
}

static double middle(const double *x, const uint32_t *by, uint32_t n)
{
	return (x[by[(n - 1) / 2]] + x[by[n / 2]]) / 2;
}

static void put_lines(const struct grouped_model *m, int method, double *learned, FILE *out)
{
	const struct seeds *s = &m->of[method];
	if (!s->n)
		return;
	uint32_t *by = MEM_NEWN(uint32_t, s->n);
	for (uint32_t i = 0; i < s->n; i++)
		by[i] = i;
	order_by(by, s->ratio, s->n);
	for (int rank = 0; rank < RANKS; rank++) {
		uint32_t at = by[rank == BEST ? 0 : s->n - 1];
		double ratio = rank == MEDIAN ? middle(s->ratio, by, s->n) : s->ratio[at];
		double lat_ms = rank == MEDIAN ? middle(s->lat_ms, by, s->n) : s->lat_ms[at];
		if (method == LEARNED)
			learned[rank] = ratio;
		fprintf(out, "%s\t%s\t%s\t%u\t%.3f\t%.3f\t", m->name, method_name[method],
			rank_name[rank], s->n, lat_ms, 1 / ratio);
		if (!isnan(learned[rank]))
			fprintf(out, "%.1f", 100 * (ratio / learned[rank] - 1));
		fputc('\t', out);
		if (s->n_failed)
			fprintf(out, "%u", s->n_failed);
		fputc('\n', out);
	}
	mem_free(by);
}

static struct grouped_model *find_model(struct grouped_model *model, uint32_t *n, const char *name)
{
	for (uint32_t i = 0; i < *n; i++)
		if (strcmp(model[i].name, name) == 0)
			return &model[i];
	model[*n].name = name;
	return &model[(*n)++];
}

static int read_file(const char *path, struct grouped_model *model, uint32_t *n, struct arena *a,
		     struct err *e)
{
	struct result_file f = result_file_name(path, a);
	struct tabfile t;
	if (tabfile_read(path, false, a, &t, e) < 0)
		return -1;
	for (int method = 0; method < METHODS; method++)
		if (strcmp(f.method, method_name[method]) == 0) {
			struct seeds *s = &find_model(model, n, f.model)->of[method];
			for (uint32_t i = 0; i < t.n_rows; i++)
				if (add_line(s, &t, i, e) < 0)
					return -1;
		}
	return 0;
}

int grouping_table(char *const *paths, uint32_t n, FILE *out, struct err *e)
{
	struct arena *a = arena_new();
	struct grouped_model *model = ARENA_NEWN(a, struct grouped_model, (size_t)n + 1);
	uint32_t n_models = 0;
	int rc = 0;
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = read_file(paths[i], model, &n_models, a, e);
	for (uint32_t i = 0; i < n_models; i++) {
		double learned[RANKS] = {NAN, NAN, NAN};
		for (int method = 0; method < METHODS; method++) {
			if (rc == 0)
				put_lines(&model[i], method, learned, out);
			mem_free(model[i].of[method].ratio);
			mem_free(model[i].of[method].lat_ms);
		}
	}
	arena_free(a);
	return rc;
}
