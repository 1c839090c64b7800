/* features.c - the feature matrix: which features, in which columns.  How each
 * is encoded stands in featcols.c. */
#include "feature/featcols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"

/* ---- the list of features ---- */

/* all: those that a graph tells. */
static void find_lists(unsigned *all, unsigned *paper)
{
	*all = *paper = 0;
	for (int f = 0; f < FEAT_COUNT; f++) {
		*all |= feat_encoders[f].in_all ? 1u << f : 0;
		*paper |= feat_encoders[f].in_paper ? 1u << f : 0;
	}
}

static bool find_kinds(const char *name, size_t n, unsigned *kinds)
{
	unsigned all, paper;

	find_lists(&all, &paper);
	for (int f = 0; f < FEAT_COUNT; f++) {
		const struct feat_encoder *enc = &feat_encoders[f];
		if (strlen(enc->name) == n && memcmp(enc->name, name, n) == 0) {
			*kinds = 1u << f;
			return true;
		}
	}
	if (n == 3 && memcmp(name, "all", n) == 0)
		*kinds = all;
	else if (n == 5 && memcmp(name, "paper", n) == 0)
		*kinds = paper;
	else if (n == 4 && memcmp(name, "none", n) == 0)
		*kinds = 0;
	else
		return false;
	return true;
}

const char *feat_names(bool paper, char *buf, size_t n)
{
	size_t at = 0;
	*buf = '\0';
	for (int f = 0; f < FEAT_COUNT && at < n; f++)
		if (!paper || feat_encoders[f].in_paper)
			at += (size_t)snprintf(buf + at, n - at, "%s%s", at ? ", " : "",
					       feat_encoders[f].name);
	return buf;
}

static int unknown_feature(const char *given, size_t n, struct err *e)
{
	char name[64], known[300], list[340];
	struct err_near near = {.name = name};
	snprintf(name, sizeof name, "%.*s", (int)n, given);
	for (int f = 0; f < FEAT_COUNT; f++)
		err_offer(&near, feat_encoders[f].name);
	snprintf(list, sizeof list, "one of %s, or all, paper, none",
		 feat_names(false, known, sizeof known));
	return err_unknown(e, ST_USAGE, &near, list, "unknown feature '%s'", name);
}

int feat_parse(const char *list, unsigned *kinds, struct err *e)
{
	unsigned all, paper;

	find_lists(&all, &paper);
	*kinds = list[0] == '-' ? all : 0;
	for (const char *s = list;; s++) {
		unsigned k;
		bool drop = *s == '-';
		s += drop;
		size_t n = strcspn(s, ",");
		if (!find_kinds(s, n, &k)) {
			return unknown_feature(s, n, e);
		}
		*kinds = drop ? *kinds & ~k : *kinds | k;
		s += n;
		if (!*s)
			break;
	}
	return *kinds ? 0 : err_set(e, ST_USAGE, "no feature is left by '%s'", list);
}

/* ---- what the encoders share ---- */

static int compare_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_degrees_seen(struct feat_work *w, struct arena *tmp)
{
	for (int out = 0; out < 2; out++) {
		uint32_t *seen = arena_raw(tmp, w->n, sizeof *seen), k = 0;
		memcpy(seen, w->degree[out], w->n * sizeof *seen);
		qsort(seen, w->n, sizeof *seen, ascending_u32);
		for (uint32_t i = 0; i < w->n; i++)
			if (i == 0 || seen[i] != seen[k - 1])
				seen[k++] = seen[i];
		w->degree_seen[out] = seen;
		w->n_degree_seen[out] = k;
	}
}

static void find_types(struct feat_work *w)
{
	const struct graph *g = w->g;
	struct strtab unsorted = {0};
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE)
			strtab_add(&unsorted, g->type[v]);
	qsort(unsorted.s, unsorted.n, sizeof *unsorted.s, compare_name);
	for (uint32_t i = 0; i < unsorted.n; i++)
		strtab_add(&w->types, unsorted.s[i]);
	strtab_release(&unsorted);
}

static void work_init(struct feat_work *w, struct arena *tmp)
{
	const struct graph *g = w->g;
	graph_set_quotient(g, tmp, &w->q);
	w->size = ARENA_NEWN(tmp, uint32_t, w->n);
	w->last = ARENA_NEWN(tmp, uint32_t, w->n);
	for (int i = 0; i < 2; i++) {
		w->degree[i] = ARENA_NEWN(tmp, uint32_t, w->n);
		w->depth[i] = ARENA_NEWN(tmp, uint32_t, w->n);
	}
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE) {
			w->size[g->set[v]]++;
			w->last[g->set[v]] = v;
		}
	w->max_rank = 1;
	for (uint32_t o = 0; o < g->out_ptr[g->n]; o++)
		if (g->dim_ptr[o + 1] - g->dim_ptr[o] > w->max_rank)
			w->max_rank = g->dim_ptr[o + 1] - g->dim_ptr[o];
	for (uint32_t i = 0; i < w->q.m; i++) {
		w->degree[0][w->q.dst[i]]++;
		w->degree[1][w->q.src[i]]++;
	}
	digraph_depths(&w->q, w->depth[0], w->depth[1]);
	if (w->o->paper) {
		find_degrees_seen(w, tmp);
		find_types(w);
	}
}

/* ---- the matrix ---- */

void feat_compute(const struct graph *g, const struct feat_opts *o, struct arena *a,
		  struct features *out)
{
	struct arena *tmp = arena_new();
	struct feat_work w = {.g = g, .o = o, .a = a, .n = g->n_sets};
	uint32_t at[FEAT_COUNT];
	work_init(&w, tmp);
	for (int f = 0; f < FEAT_COUNT; f++) {
		at[f] = w.d;
		if (o->kinds >> f & 1)
			w.d += feat_encoders[f].columns(&w, NULL);
	}
	*out = (struct features){.n = w.n, .d = w.d};
	out->column = ARENA_NEWN(a, const char *, w.d);
	out->x = ARENA_NEWN(a, float, (size_t)w.n *w.d);
	for (int f = 0; f < FEAT_COUNT; f++)
		if (o->kinds >> f & 1) {
			feat_encoders[f].columns(&w, out->column + at[f]);
			feat_encoders[f].fill(&w, out->x + at[f]);
		}
	strtab_release(&w.types);
	arena_free(tmp);
}
