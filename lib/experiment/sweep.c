/* sweep.c - reads results and accounts of jobs, and puts methods in order. */
#include "experiment/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tabfile.h"
#include "calibrate/run_list.h"
#include "experiment/result_file.h"
#include "stats/interval.h"

enum { BEST_S = 1, SINGLE_S = 3 }; /* columns of a result */

struct result {
	struct result_file file;
	const char *failed; /* NULL: it is a result */
	double best_s, single_s, search_s;
	uint32_t model, method;
};

/* Seconds of the job that made a result; 0: not told. */
static int read_job(const char *path, struct arena *a, double *search_s, struct err *e)
{
	const char *job = arena_printf(a, "%s.job", path);
	struct tabfile t;
	*search_s = 0;
	if (access(job, R_OK) != 0)
		return 0;
	if (tabfile_read(job, false, a, &t, e) < 0)
		return -1;
	for (uint32_t i = 0; i < t.n_rows; i++)
		if (strcmp(tabfile_cell(&t, i, 0), "seconds") == 0) {
			if (tabfile_real(&t, i, 1, search_s, e) < 0)
				return -1;
			if (!time_is_usable(*search_s))
				return err_set(e, ST_INPUT,
					       "'%s' line %u has a time that cannot be", job,
					       i + 1);
		}
	return 0;
}

static int read_result(const char *path, struct arena *a, struct result *x, struct err *e)
{
	struct tabfile t;
	*x = (struct result){.file = result_file_name(path, a)};
	if (tabfile_read(path, false, a, &t, e) < 0)
		return -1;
	if (t.n_rows == 0)
		return err_set(e, ST_INPUT, "'%s' is empty", path);
	if (strcmp(tabfile_cell(&t, 0, 0), "failed") == 0) {
		x->failed = tabfile_cell(&t, 0, 1);
		return 0;
	}
	if (tabfile_real(&t, 0, BEST_S, &x->best_s, e) < 0 ||
	    tabfile_real(&t, 0, SINGLE_S, &x->single_s, e) < 0)
		return -1;
	if (!time_is_usable(x->best_s) || !(x->single_s == 0 || time_is_usable(x->single_s)))
		return err_set(e, ST_INPUT, "'%s' has a latency that cannot be", path);
	return read_job(path, a, &x->search_s, e);
}

/* Numbers of models and methods, in the order in which they come. */
static void number(struct sweep *s, struct result *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t m = 0, k = 0;
		while (m < s->n_models && strcmp(s->model[m].name, r[i].file.model) != 0)
			m++;
		if (m == s->n_models)
			s->model[s->n_models++] =
				(struct sweep_model){r[i].file.model, UINT32_MAX, 0, 0};
		while (k < s->n_methods && strcmp(s->method[k].name, r[i].file.way) != 0)
			k++;
		if (k == s->n_methods)
			s->method[s->n_methods++] = (struct sweep_method){.name = r[i].file.way};
		r[i].model = m;
		r[i].method = k;
	}
}

/* x: room for n values. */
static void fill_cell(struct sweep_cell *c, const struct result *r, uint32_t n, uint32_t model,
		      uint32_t method, double *x)
{
	uint32_t n_jobs = 0;
	double search_s = 0;
	*c = (struct sweep_cell){0};
	for (uint32_t i = 0; i < n; i++) {
		if (r[i].model != model || r[i].method != method)
			continue;
		if (r[i].failed) {
			c->n_failed++;
			c->failed = r[i].failed;
			continue;
		}
		x[c->n++] = r[i].best_s;
		search_s += r[i].search_s;
		n_jobs += r[i].search_s > 0;
	}
	if (c->n == 0)
		return;
	struct interval m = interval_geometric(x, c->n);
	c->best_s = m.mid;
	c->lo_s = m.lo;
	c->hi_s = m.hi;
	c->search_s = n_jobs ? search_s / n_jobs : 0;
}

static void judge_model(struct sweep *s, uint32_t m)
{
	struct sweep_cell *c = s->cell + (size_t)m * s->n_methods;
	uint32_t best = UINT32_MAX;
	for (uint32_t k = 0; k < s->n_methods; k++) {
		if (c[k].n && (best == UINT32_MAX || c[k].best_s < c[best].best_s))
			best = k;
		if (c[k].n + c[k].n_failed > s->model[m].n_seeds)
			s->model[m].n_seeds = c[k].n + c[k].n_failed;
	}
	s->model[m].best = best;
	for (uint32_t k = 0; k < s->n_methods; k++)
		c[k].ratio = c[k].n ? c[k].best_s / c[best].best_s : 0;
}

/* x: room for two values of each model. */
static void judge_method(struct sweep *s, uint32_t k, double *x)
{
	struct sweep_method *method = &s->method[k];
	uint32_t n_jobs = 0;
	for (uint32_t m = 0; m < s->n_models; m++) {
		const struct sweep_cell *c = &s->cell[(size_t)m * s->n_methods + k];
		if (c->n == 0)
			continue;
		x[method->n_models++] = c->ratio;
		method->n_wins += c->ratio < 1 + SWEEP_TIE;
		if (c->ratio > method->worst) {
			method->worst = c->ratio;
			method->worst_model = m;
		}
		if (c->search_s > 0)
			x[s->n_models + n_jobs++] = c->search_s;
	}
	method->ratio = method->n_models ? interval_geometric(x, method->n_models).mid : 0;
	method->search_s = n_jobs ? interval_geometric(x + s->n_models, n_jobs).mid : 0;
}

struct rank {
	double ratio;
	uint32_t method;
};

static int by_ratio(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	if (x->ratio != y->ratio)
		return x->ratio < y->ratio ? -1 : 1;
	return (x->method > y->method) - (x->method < y->method);
}

/* Methods from the least mean ratio on. */
static void sort_methods(struct sweep *s, struct arena *a)
{
	struct rank *rank = ARENA_NEWN(a, struct rank, s->n_methods);
	struct sweep_method *method = ARENA_NEWN(a, struct sweep_method, s->n_methods);
	struct sweep_cell *cell =
		ARENA_NEWN(a, struct sweep_cell, (size_t)s->n_models * s->n_methods);
	uint32_t *place = ARENA_NEWN(a, uint32_t, s->n_methods);
	for (uint32_t k = 0; k < s->n_methods; k++)
		rank[k] = (struct rank){s->method[k].n_models ? s->method[k].ratio : INFINITY, k};
	qsort(rank, s->n_methods, sizeof *rank, by_ratio);
	for (uint32_t k = 0; k < s->n_methods; k++) {
		method[k] = s->method[rank[k].method];
		place[rank[k].method] = k;
		for (uint32_t m = 0; m < s->n_models; m++)
			cell[(size_t)m * s->n_methods + k] =
				s->cell[(size_t)m * s->n_methods + rank[k].method];
	}
	for (uint32_t m = 0; m < s->n_models; m++)
		if (s->model[m].best != UINT32_MAX)
			s->model[m].best = place[s->model[m].best];
	s->method = method;
	s->cell = cell;
}

int sweep_read(char *const *paths, uint32_t n, struct arena *a, struct sweep *s, struct err *e)
{
	struct result *r = ARENA_NEWN(a, struct result, (size_t)n + 1);
	double *x = ARENA_NEWN(a, double, 2 * (size_t)n + 2);
	*s = (struct sweep){.model = ARENA_NEWN(a, struct sweep_model, (size_t)n + 1),
			    .method = ARENA_NEWN(a, struct sweep_method, (size_t)n + 1)};
	for (uint32_t i = 0; i < n; i++)
		if (read_result(paths[i], a, &r[i], e) < 0)
			return -1;
	number(s, r, n);
	s->cell = ARENA_NEWN(a, struct sweep_cell, (size_t)s->n_models * s->n_methods);
	for (uint32_t m = 0; m < s->n_models; m++)
		for (uint32_t k = 0; k < s->n_methods; k++)
			fill_cell(&s->cell[(size_t)m * s->n_methods + k], r, n, m, k, x);
	for (uint32_t i = 0; i < n; i++)
		if (r[i].single_s > 0 && (s->model[r[i].model].single_s == 0 ||
					  r[i].single_s < s->model[r[i].model].single_s))
			s->model[r[i].model].single_s = r[i].single_s;
	for (uint32_t m = 0; m < s->n_models; m++)
		judge_model(s, m);
	for (uint32_t k = 0; k < s->n_methods; k++)
		judge_method(s, k, x);
	sort_methods(s, a);
	return 0;
}
