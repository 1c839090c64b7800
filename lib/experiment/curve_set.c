/* curve_set.c - rows of files, sorted into searches. */
#include "experiment/curve_set.h"

#include <math.h>
#include <string.h>

#include "base/tabfile.h"
#include "calibrate/run_list.h"

static const char *const column_name[] = {"model",      "method",  "seed",
					  "evaluation", "seconds", "best"};
enum { MODEL, METHOD, SEED, EVALUATION, SECONDS, BEST, COLUMNS };

static struct curve_group *find_group(struct curve_set *s, const char *model, const char *method)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->group[i].model, model) == 0 &&
		    strcmp(s->group[i].method, method) == 0)
			return &s->group[i];
	s->group = mem_grow(s->group, &s->cap, s->n + 1, sizeof *s->group);
	s->group[s->n] = (struct curve_group){.model = model, .method = method};
	return &s->group[s->n++];
}

/* The rows first .. end - 1, which have one model, method and seed. */
static int read_curve(const struct tabfile *t, const int *column, uint32_t first, uint32_t end,
		      struct arena *a, struct curve *c, struct err *e)
{
	*c = (struct curve){.n = end - first, .first = {INFINITY, INFINITY}};
	for (int axis = 0; axis < CURVE_AXES; axis++)
		c->at[axis] = ARENA_NEWN(a, double, c->n);
	c->best = ARENA_NEWN(a, double, c->n);
	for (uint32_t i = 0; i < c->n; i++) {
		c->best[i] = INFINITY;
		for (int axis = 0; axis < CURVE_AXES; axis++) {
			if (tabfile_real(t, first + i, column[EVALUATION + axis], &c->at[axis][i],
					 e) < 0)
				return -1;
			if (!(c->at[axis][i] >= 0))
				return err_set(e, ST_INPUT, "'%s' line %u: %s below 0", t->path,
					       first + i + 2, column_name[EVALUATION + axis]);
			c->end[axis] = fmax(c->end[axis], c->at[axis][i]);
		}
		if (!*tabfile_cell(t, first + i, column[BEST]))
			continue;
		if (tabfile_real(t, first + i, column[BEST], &c->best[i], e) < 0)
			return -1;
		if (!(c->best[i] > 0) || !time_is_usable(c->best[i]))
			return err_set(e, ST_INPUT, "'%s' line %u has a time that cannot be",
				       t->path, first + i + 2);
		for (int axis = 0; axis < CURVE_AXES; axis++)
			c->first[axis] = fmin(c->first[axis], c->at[axis][i]);
	}
	return c->first[0] < INFINITY
		       ? 0
		       : err_set(e, ST_INPUT, "'%s' line %u: nothing ran in '%s'", t->path,
				 first + 2, tabfile_cell(t, first, column[METHOD]));
}

static bool same_search(const struct tabfile *t, const int *column, uint32_t i, uint32_t j)
{
	for (int c = MODEL; c <= SEED; c++)
		if (strcmp(tabfile_cell(t, i, column[c]), tabfile_cell(t, j, column[c])) != 0)
			return false;
	return true;
}

static int read_file(struct curve_set *s, const char *path, struct arena *a, struct err *e)
{
	struct tabfile t;
	int column[COLUMNS];
	if (tabfile_read(path, true, a, &t, e) < 0)
		return -1;
	for (int i = 0; i < COLUMNS; i++)
		if ((column[i] = tabfile_column(&t, column_name[i])) < 0)
			return err_set(e, ST_INPUT,
				       "'%s' has no column '%s'; tabstat curve makes "
				       "such files",
				       path, column_name[i]);
	for (uint32_t i = 0, end; i < t.n_rows; i = end) {
		for (end = i + 1; end < t.n_rows && same_search(&t, column, i, end);)
			end++;
		struct curve_group *g = find_group(s, tabfile_cell(&t, i, column[MODEL]),
						   tabfile_cell(&t, i, column[METHOD]));
		g->seed = mem_grow(g->seed, &g->cap, g->n + 1, sizeof *g->seed);
		if (read_curve(&t, column, i, end, a, &g->seed[g->n++], e) < 0)
			return -1;
	}
	return 0;
}

int curve_set_read(char *const *paths, uint32_t n, struct arena *a, struct curve_set *out,
		   struct err *e)
{
	*out = (struct curve_set){0};
	int rc = 0;
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = read_file(out, paths[i], a, e);
	if (rc < 0)
		curve_set_release(out);
	return rc;
}

void curve_set_release(struct curve_set *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		mem_free(s->group[i].seed);
	mem_free(s->group);
	*s = (struct curve_set){0};
}

double curve_best(const struct curve *c, enum curve_axis axis, double x)
{
	double best = INFINITY;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->at[axis][i] <= x)
			best = c->best[i];
	return best;
}

bool curve_group_best(const struct curve_group *g, enum curve_axis axis, double x, double *best)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (!((best[i] = curve_best(&g->seed[i], axis, x)) < INFINITY))
			return false;
	return true;
}

double curve_group_end(const struct curve_group *g, enum curve_axis axis)
{
	double end = 0;
	for (uint32_t i = 0; i < g->n; i++)
		end = fmax(end, g->seed[i].end[axis]);
	return end;
}
