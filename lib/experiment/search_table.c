/* search_table.c - accounts of jobs, by model and method. */
#include "experiment/search_table.h"

#include <math.h>
#include <string.h>

#include "base/tabfile.h"
#include "calibrate/run_list.h"
#include "experiment/result_file.h"
#include "stats/interval.h"

struct search {
	const char *model, *method;
	uint32_t n;
	double *wall_s; /* (n) */
	size_t cap;
	double cpu_s, placements; /* sums; placements NAN: not told */
};

struct searches {
	struct arena *a;
	uint32_t n;
	struct search *item; /* (n) */
	size_t cap;
};

static struct search *find_search(struct searches *s, const char *model, const char *method)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->item[i].model, model) == 0 && strcmp(s->item[i].method, method) == 0)
			return &s->item[i];
	s->item = mem_grow(s->item, &s->cap, s->n + 1, sizeof *s->item);
	s->item[s->n] = (struct search){.model = model, .method = method, .placements = NAN};
	return &s->item[s->n++];
}

/* Lines "key<TAB>value" of one job. */
static int add_job(struct searches *s, const struct result_file *f, const struct tabfile *t,
		   struct err *e)
{
	bool ok = false;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const char *key = tabfile_cell(t, i, 0);
		double x;
		if (strcmp(key, "status") == 0)
			ok = strcmp(tabfile_cell(t, i, 1), "0") == 0;
		bool wall = strcmp(key, "seconds") == 0, cpu = strcmp(key, "cpu_seconds") == 0;
		if (!ok || !(wall || cpu))
			continue;
		if (tabfile_real(t, i, 1, &x, e) < 0)
			return -1;
		if (wall ? !time_is_usable(x) : !(x >= 0))
			return err_set(e, ST_INPUT, "'%s' line %u has a time that cannot be",
				       t->path, i + 1);
		struct search *search = find_search(s, f->model, f->method);
		if (cpu) {
			search->cpu_s += x;
			continue;
		}
		search->wall_s = mem_grow(search->wall_s, &search->cap, search->n + 1,
					  sizeof *search->wall_s);
		search->wall_s[search->n++] = x;
	}
	return 0;
}

static int add_evaluated(struct searches *s, const struct tabfile *t, struct err *e)
{
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const char *method = result_method(tabfile_cell(t, i, 1), s->a);
		struct search *search = find_search(s, tabfile_cell(t, i, 0), method);
		double n;
		if (tabfile_real(t, i, 3, &n, e) < 0)
			return -1;
		search->placements = (isnan(search->placements) ? 0 : search->placements) + n;
	}
	return 0;
}

/* A job's account, or with `evaluated` the file of that name; the other kind is passed over. */
static int add_file(struct searches *s, const char *path, bool evaluated, struct err *e)
{
	struct result_file f = result_file_name(path, s->a);
	struct tabfile t;
	if ((strcmp(f.way, "evaluated") == 0) != evaluated)
		return 0;
	if (tabfile_read(path, false, s->a, &t, e) < 0)
		return -1;
	return evaluated ? add_evaluated(s, &t, e) : add_job(s, &f, &t, e);
}

static void put_search(const struct search *x, FILE *out)
{
	struct interval m = interval_geometric(x->wall_s, x->n);
	fprintf(out, "%s\t%s\t%u\t%.3f\t", x->model, x->method, x->n, m.mid);
	if (x->n > 1)
		fprintf(out, "%.3f\t%.3f", m.lo, m.hi);
	else
		fputc('\t', out);
	fprintf(out, "\t%.3f\t", x->cpu_s / x->n);
	if (!isnan(x->placements))
		fprintf(out, "%.0f", x->placements / x->n);
	fputc('\n', out);
}

int search_table(char *const *paths, uint32_t n, FILE *out, struct err *e)
{
	struct searches s = {.a = arena_new()};
	int rc = 0;
	/* Jobs first: lines are in their order. */
	for (int evaluated = 0; evaluated < 2; evaluated++)
		for (uint32_t i = 0; i < n && rc == 0; i++)
			rc = add_file(&s, paths[i], evaluated, e);
	for (uint32_t i = 0; i < s.n; i++) {
		if (rc == 0 && s.item[i].n)
			put_search(&s.item[i], out);
		mem_free(s.item[i].wall_s);
	}
	mem_free(s.item);
	arena_free(s.a);
	return rc;
}
