/* traded.c - see traded.h. */
#include "precision/traded.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/devrec.h"
#include "record/placerec.h"
#include "record/runrec.h"

const char *const traded_precisions[TRADED_PRECISIONS] = {"f32", "bf16", "int8", "f16"};

static uint8_t precision_of(const char *name)
{
	char word[40];
	for (uint8_t i = 1; i < TRADED_PRECISIONS; i++) {
		snprintf(word, sizeof word, "/precision=%s", traded_precisions[i]);
		if (strstr(name, word))
			return i;
	}
	return 0;
}

static int take_place(struct traded *x, const struct graph *g, const struct rec *r, struct err *e)
{
	struct arena *a = arena_new();
	struct place_rec p;
	int rc = place_decode(r, g->n_sets, 0, a, &p, e);
	if (rc == 0 && p.id.graph != g->digest)
		rc = err_set(e, ST_INPUT, "it is about another graph");
	if (rc == 0) {
		mem_free(x->last.precision);
		x->last =
			(struct traded_one){.precision = MEM_NEWN(uint8_t, (size_t)g->n_sets + 1)};
		for (uint32_t v = 0; v < g->n_sets; v++)
			x->last.precision[v] = precision_of(p.names[p.device[v]]);
	}
	arena_free(a);
	return rc;
}

static int take_run(struct traded *x, const struct rec *r, struct err *e)
{
	struct arena *a = arena_new();
	struct run_rec run;
	int rc = run_decode(r, RUN_ERROR | RUN_LATENCY, a, &run, e);
	if (rc == 0 && x->last.precision && run.has_error && (!run.reason || run.unlimited_s > 0)) {
		x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
		x->last.error = run.error;
		x->last.lat_s = run.reason ? run.unlimited_s : run.lat_s;
		x->last.within = !run.reason;
		x->v[x->n++] = x->last;
		x->last = (struct traded_one){0};
	}
	arena_free(a);
	return rc;
}

int traded_take(struct traded *x, const struct graph *g, const struct rec *r, struct err *e)
{
	int rc = rec_is(r, "place") ? take_place(x, g, r, e)
		 : rec_is(r, "run") ? take_run(x, r, e)
				    : 0;
	return rc < 0 ? err_prefix(e, "record %llu '%s'", (unsigned long long)r->index, r->kind)
		      : 0;
}

static int by_error(const void *p, const void *q)
{
	const struct traded_one *a = p, *b = q;
	return a->error != b->error ? (a->error < b->error) - (a->error > b->error)
				    : (a->lat_s > b->lat_s) - (a->lat_s < b->lat_s);
}

/* Is another one, with no more error, as fast? */
static bool is_beaten(const struct traded *x, uint32_t i)
{
	for (uint32_t j = i + 1; j < x->n; j++)
		if (x->v[j].lat_s <= x->v[i].lat_s)
			return true;
	return false;
}

/* Of those that are the same in all, also in error, the fastest, which comes first. */
static void keep_distinct(struct traded *x, uint32_t n_sets)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		bool again = false;
		for (uint32_t j = 0; j < n && !again; j++)
			again = x->v[i].error == x->v[j].error &&
				memcmp(x->v[i].precision, x->v[j].precision, n_sets) == 0;
		if (again)
			mem_free(x->v[i].precision);
		else
			x->v[n++] = x->v[i];
	}
	x->n = n;
}

/* Those that are not beaten, where there are too many for a table. */
static void keep_best(struct traded *x)
{
	enum { MOST = 12 };
	bool *beaten = MEM_NEWN(bool, (size_t)x->n + 1);
	uint32_t n = 0;
	for (uint32_t i = 0; i < x->n; i++)
		beaten[i] = x->n > MOST && i + 1 < x->n && is_beaten(x, i);
	for (uint32_t i = 0; i < x->n; i++)
		if (beaten[i])
			mem_free(x->v[i].precision);
		else
			x->v[n++] = x->v[i];
	x->n = n;
	mem_free(beaten);
}

void traded_finish(struct traded *x, const struct graph *g, const double *flops)
{
	if (x->n == 0)
		return;
	qsort(x->v, x->n, sizeof *x->v, by_error);
	keep_distinct(x, g->n_sets);
	keep_best(x);
	for (uint32_t i = 0; i < x->n; i++) {
		double all = 0;
		for (uint32_t v = 0; v < g->n; v++)
			if (g->set[v] != GRAPH_NONE) {
				x->v[i].share[x->v[i].precision[g->set[v]]] += flops[v];
				all += flops[v];
			}
		for (int p = 0; p < TRADED_PRECISIONS && all > 0; p++)
			x->v[i].share[p] /= all;
	}
}

void traded_release(struct traded *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		mem_free(x->v[i].precision);
	mem_free(x->v);
	mem_free(x->last.precision);
	*x = (struct traded){0};
}

void traded_print(FILE *out, const struct traded *x)
{
	bool used[TRADED_PRECISIONS] = {true};
	if (x->n < 2)
		return;
	const struct traded_one *best = NULL;
	double exact_s = x->v[x->n - 1].lat_s;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->v[i].within && (!best || x->v[i].lat_s < best->lat_s))
			best = &x->v[i];
	for (uint32_t i = 0; i < x->n; i++)
		for (int p = 0; p < TRADED_PRECISIONS; p++)
			used[p] |= x->v[i].share[p] > 0;
	fprintf(out, "\n%-24s  %8s  %12s  %8s", "time for error", "error", "measured", "speedup");
	for (int p = 0; p < TRADED_PRECISIONS; p++)
		if (used[p])
			fprintf(out, "  %6s", traded_precisions[p]);
	fputc('\n', out);
	for (uint32_t i = 0; i < x->n; i++) {
		const struct traded_one *t = &x->v[i];
		fprintf(out, "%-24s  ", t->within ? "within the limit" : "beyond the limit");
		if (t->error < 1e300)
			fprintf(out, "%8.2g", t->error);
		else
			fprintf(out, "%8s", "no bound");
		fprintf(out, "  %9.3f ms  %7.3fx", t->lat_s * 1e3, exact_s / t->lat_s);
		for (int p = 0; p < TRADED_PRECISIONS; p++)
			if (used[p])
				fprintf(out, "  %4.0f %%", 100 * t->share[p]);
		fputs(t == best ? " <\n" : "\n", out);
	}
}
