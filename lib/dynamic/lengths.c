/* lengths.c - lines into lengths, and the few with the least error. */
#include "dynamic/lengths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamic/shapes.h"
#include "graph/strtab.h"

enum { MOST_LENGTHS = 4096 };
static const double MOST_WEIGHT = 1e12;
static const char BLANKS[] = " \t\r\n";

/* ---- the file ---- */

/* 1: *x is a length; 0: there is none in the line. */
static int read_line(char *line, struct arena *a, struct length *x, struct err *e)
{
	char *save, *end, *shapes = strtok_r(line, BLANKS, &save);
	if (!shapes || *shapes == '#')
		return 0;
	char *weight = strtok_r(NULL, BLANKS, &save);
	*x = (struct length){.shapes = arena_strndup(a, shapes, strlen(shapes)), .weight = 1};
	if (!weight)
		return 1;
	if (strtok_r(NULL, BLANKS, &save))
		return err_set(e, ST_INPUT, "more than shapes and a weight");
	x->weight = strtod(weight, &end);
	if (*end || !(x->weight > 0 && x->weight < MOST_WEIGHT))
		return err_set(e, ST_INPUT, "a weight is a number above 0");
	return 1;
}

/* Another length, or more of one that is there. */
static int add(struct lengths *out, struct strtab *known, const struct length *x, struct arena *a,
	       struct err *e)
{
	uint32_t at = strtab_add(known, x->shapes);
	struct shape_list shapes = {0};

	if (at < out->n) {
		out->v[at].weight += x->weight;
		return 0;
	}
	if (out->n == MOST_LENGTHS)
		return err_set(e, ST_INPUT, "more than %d different shapes", MOST_LENGTHS);
	if (shapes_parse(x->shapes, a, &shapes, e) < 0) {
		e->code = ST_INPUT; /* they are not from the command line */
		return -1;
	}
	out->v[out->n++] = *x;
	return 0;
}

int lengths_read(const char *path, struct arena *a, struct lengths *out, struct err *e)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	struct strtab known = {0};
	size_t cap = 0;
	int rc = 0;
	if (!f)
		return err_sys(e, ST_RUNTIME, "cannot read '%s'", path);
	*out = (struct lengths){0, ARENA_NEWN(a, struct length, MOST_LENGTHS)};
	for (uint64_t n = 1; rc >= 0 && getline(&line, &cap, f) >= 0; n++) {
		struct length x;
		rc = read_line(line, a, &x, e);
		if (rc > 0)
			rc = add(out, &known, &x, a, e);
		if (rc < 0)
			rc = err_prefix(e, "'%s', line %llu", path, (unsigned long long)n);
	}
	if (rc >= 0 && ferror(f))
		rc = err_sys(e, ST_RUNTIME, "cannot read '%s'", path);
	if (rc >= 0 && out->n == 0)
		rc = err_set(e, ST_INPUT, "'%s' has no shapes", path);
	strtab_release(&known);
	free(line); /* getline's */
	fclose(f);
	return rc < 0 ? -1 : 0;
}

/* ---- in order ---- */

struct point {
	struct shape_list shapes;
	double at; /* the sum of its dims */
	struct length x;
};

static int read_point(const struct length *x, struct arena *a, struct point *p, struct err *e)
{
	*p = (struct point){.x = *x};
	if (shapes_parse(x->shapes, a, &p->shapes, e) < 0)
		return -1;
	for (uint32_t i = 0; i < p->shapes.n; i++)
		for (uint32_t d = 0; d < p->shapes.v[i].rank; d++)
			p->at += (double)p->shapes.v[i].dim[d];
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const struct point *x = a, *y = b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : strcmp(x->x.shapes, y->x.shapes);
}

/* Is q, which is not smaller in all, of the same inputs as p, and not smaller in any dim? */
static int check_order(const struct point *p, const struct point *q, struct err *e)
{
	bool same = p->shapes.n == q->shapes.n, grows = true;
	for (uint32_t i = 0; same && i < p->shapes.n; i++) {
		const struct shape_given *x = &p->shapes.v[i], *y = &q->shapes.v[i];
		same = strcmp(x->name, y->name) == 0 && x->rank == y->rank;
		for (uint32_t d = 0; same && d < x->rank; d++) {
			same = (x->dim[d] == DIM_DYNAMIC) == (y->dim[d] == DIM_DYNAMIC);
			grows &= x->dim[d] <= y->dim[d];
		}
	}
	if (!same)
		return err_set(e, ST_INPUT, "'%s' and '%s' are not of the same inputs and dims",
			       p->x.shapes, q->x.shapes);
	if (!grows)
		return err_set(e, ST_INPUT,
			       "'%s' and '%s': each is larger in some dim, so that nothing tells "
			       "what lies between; give such shapes with --case",
			       p->x.shapes, q->x.shapes);
	return 0;
}

/* ---- the few ---- */

struct path {
	uint32_t n, most, must; /* must: a point that is one of them; n: none has to */
	double *t;              /* (n) positions from 0 to 1 */
	double *w, *wt, *wtt;   /* (n+1) sums of what is before */
};

/* What is missed of points between i and j. */
static double missed(const struct path *x, uint32_t i, uint32_t j)
{
	double w = x->w[j] - x->w[i + 1], wt = x->wt[j] - x->wt[i + 1];
	double wtt = x->wtt[j] - x->wtt[i + 1], a = x->t[i], b = x->t[j];
	if (i < x->must && x->must < j && x->must < x->n)
		return INFINITY;
	return fmax((a + b) * wt - wtt - a * b * w, 0);
}

/* Which points (most) are taken, ascending. */
static void choose(const struct path *x, uint32_t *taken)
{
	uint32_t n = x->n;
	double *least = MEM_NEWN(double, (size_t)x->most *n);
	uint32_t *from = MEM_NEWN(uint32_t, (size_t)x->most * n);
	for (uint32_t j = 0; j < n; j++)
		least[j] = j == 0 ? 0 : INFINITY;
	for (uint32_t k = 1; k < x->most; k++)
		for (uint32_t j = 0; j < n; j++) {
			double *best = &least[(size_t)k * n + j];
			*best = INFINITY;
			for (uint32_t i = k - 1; i < j; i++) {
				double s = least[(size_t)(k - 1) * n + i];
				s += s < *best ? missed(x, i, j) : 0;
				if (s < *best) {
					*best = s;
					from[(size_t)k * n + j] = i;
				}
			}
		}
	for (uint32_t k = x->most, j = n - 1; k-- > 0; j = from[(size_t)k * n + j])
		taken[k] = j;
	mem_free(least);
	mem_free(from);
}

/* The point at which a percentile is reached; n: none counts. */
static uint32_t reached(const struct point *p, uint32_t n, double over)
{
	double all = 0, sum = 0;
	uint32_t i = 0;
	if (over <= 0 || over >= 100)
		return n;
	for (uint32_t j = 0; j < n; j++)
		all += p[j].x.weight;
	for (sum = p[0].x.weight; i + 1 < n && sum < over / 100 * all * (1 - 1e-12);)
		sum += p[++i].x.weight;
	return i;
}

/* Points between neighbours are parts of both. */
static void share_out(const struct point *p, const struct path *x, const uint32_t *taken,
		      struct length *out)
{
	for (uint32_t k = 0; k < x->most; k++)
		out[k] = p[taken[k]].x;
	for (uint32_t k = 0; k + 1 < x->most; k++) {
		double a = x->t[taken[k]], b = x->t[taken[k + 1]];
		for (uint32_t i = taken[k] + 1; i < taken[k + 1]; i++) {
			double w = p[i].x.weight, share = (x->t[i] - a) / (b - a);
			out[k].weight += w * (1 - share);
			out[k + 1].weight += w * share;
			out[k].between += w;
			out[k].n_between++;
		}
	}
}

int lengths_merge(const struct lengths *x, uint32_t most, double over, struct arena *a,
		  struct lengths *out, struct err *e)
{
	if (x->n <= most) {
		*out = *x;
		return 0;
	}
	struct point *p = ARENA_NEWN(a, struct point, x->n);
	for (uint32_t i = 0; i < x->n; i++)
		if (read_point(&x->v[i], a, &p[i], e) < 0)
			return -1;
	qsort(p, x->n, sizeof *p, by_size);
	uint32_t n = 1;
	for (uint32_t i = 1; i < x->n; i++) {
		if (check_order(&p[n - 1], &p[i], e) < 0)
			return -1;
		if (p[i].at == p[n - 1].at)
			p[n - 1].x.weight += p[i].x.weight; /* written in another way */
		else
			p[n++] = p[i];
	}
	struct path path = {n, most < n ? most : n, reached(p, n, over), NULL, NULL, NULL, NULL};
	path.t = ARENA_NEWN(a, double, n);
	path.w = ARENA_NEWN(a, double, n + 1);
	path.wt = ARENA_NEWN(a, double, n + 1);
	path.wtt = ARENA_NEWN(a, double, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		double t = (p[i].at - p[0].at) / (n > 1 ? p[n - 1].at - p[0].at : 1);
		path.t[i] = t;
		path.w[i + 1] = path.w[i] + p[i].x.weight;
		path.wt[i + 1] = path.wt[i] + p[i].x.weight * t;
		path.wtt[i + 1] = path.wtt[i] + p[i].x.weight * t * t;
	}
	uint32_t *taken = ARENA_NEWN(a, uint32_t, path.most);
	choose(&path, taken);
	*out = (struct lengths){path.most, ARENA_NEWN(a, struct length, path.most)};
	share_out(p, &path, taken, out->v);
	return 0;
}
