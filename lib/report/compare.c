/* compare.c - collects placements and their runs, and sorts them into rows. */
#include "base/ascending.h"
#include "report/compare.h"
#include "record/bestrec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the stream says ---- */

void comparison_init(struct comparison *c)
{
	*c = (struct comparison){.arena = arena_new()};
}

void comparison_release(struct comparison *c)
{
	mem_free(c->one);
	arena_free(c->arena);
	*c = (struct comparison){0};
}

/* The placement of this id and source; a run mostly follows its own. */
static struct compared_one *find(struct comparison *c, const struct rollout_id *id,
				 const char *source)
{
	for (size_t i = c->n; i-- > 0;)
		if (rollout_same(&c->one[i].id, id) && strcmp(c->one[i].source, source) == 0)
			return &c->one[i];
	c->one = mem_grow(c->one, &c->cap, c->n + 1, sizeof *c->one);
	c->one[c->n] = (struct compared_one){.id = *id, .source = source};
	return &c->one[c->n++];
}

static void name_single(struct comparison *c, struct compared_one *x)
{
	if (strcmp(x->source, "single") == 0 && x->id.sample < c->k)
		x->device = c->names[x->id.sample];
}

static int take_place(struct comparison *c, const struct rec *r, struct err *e)
{
	struct place_rec p;
	if (place_decode(r, UINT32_MAX, PLACE_BOUND | PLACE_TOOK | PLACE_REPLICAS, c->arena, &p,
			 e) < 0)
		return -1;
	struct compared_one *x = find(c, &p.id, p.source);
	x->timed = p.timed;
	x->took_s = p.took_s;
	c->names = p.names;
	c->k = p.k;
	name_single(c, x);
	if (p.bounded && p.by_value)
		c->bound_value = fmax(c->bound_value, p.bound_value);
	else if (p.bounded)
		c->bound_s = fmax(c->bound_s, p.bound_s);
	return 0;
}

static int take_run(struct comparison *c, const struct rec *r, struct err *e)
{
	const unsigned keys = ID_ALL | RUN_SOURCE | RUN_LATENCY | RUN_INTERVAL | RUN_REFERENCE |
			      RUN_RATIO | RUN_VALUE | RUN_REF_VALUE;
	struct run_rec run;
	if (run_decode(r, keys, c->arena, &run, e) < 0)
		return -1;
	struct compared_one *x = find(c, &run.id, run.source);
	x->ran = true;
	x->run = run;
	name_single(c, x);
	if (!run.reason)
		*(run_is_simulated(r) ? &c->simulated : &c->measured) = true;
	return 0;
}

/* Of a search that ran them: what it kept.  A final one has its run record. */
static int take_best(struct comparison *c, const struct rec *r, struct err *e)
{
	struct best_rec b;
	if (best_is_final(r))
		return 0;
	if (best_decode(r, UINT32_MAX, PLACE_REPLICAS, c->arena, &b, e) < 0 ||
	    best_decode_result(r, c->arena, &b, e) < 0)
		return -1;
	struct compared_one *x = find(c, &b.place.id, b.place.source);
	c->names = b.place.names;
	c->k = b.place.k;
	if (x->ran)
		return 0;
	x->ran = true;
	x->run = (struct run_rec){.id = b.place.id,
				  .source = b.place.source,
				  .lat_s = b.lat_s,
				  .ref_s = b.ref_s,
				  .has_ratio = b.has_ratio,
				  .ratio = b.ratio,
				  .ratio_lo = b.ratio_lo,
				  .ratio_hi = b.ratio_hi};
	return 0;
}

int comparison_take(struct comparison *c, const struct rec *r, struct err *e)
{
	int rc = rec_is(r, "place")  ? take_place(c, r, e)
		 : rec_is(r, "best") ? take_best(c, r, e)
		 : rec_is(r, "run")  ? take_run(c, r, e)
				     : 0;
	return rc < 0 ? err_prefix(e, "record %llu '%s'", (unsigned long long)r->index, r->kind)
		      : 0;
}

/* ---- rows ---- */

static double sorted_by(const struct compare_table *t, const struct compare_row *x)
{
	return x->why ? INFINITY : t->by_value ? x->value : x->lat_s;
}

static void sort_rows(struct compare_table *t)
{
	for (uint32_t gap = t->n / 2; gap > 0; gap /= 2)
		for (uint32_t i = gap; i < t->n; i++)
			for (uint32_t j = i; j >= gap; j -= gap) {
				struct compare_row *x = &t->row[j - gap], *y = &t->row[j],
						   swap = *x;
				double a = sorted_by(t, x), b = sorted_by(t, y);
				if (a < b || (a == b && x->order < y->order))
					break;
				*x = *y;
				*y = swap;
			}
}

static const char *escaped_name(char *dst, size_t cap, const struct compared_one *x, bool several)
{
	char name[150];
	const char *of = x->device ? x->device : x->source;
	err_escape(name, sizeof name, of, strlen(of));
	if (x->device)
		snprintf(dst, cap, "%s alone", name);
	else if (several)
		snprintf(dst, cap, "%s %" PRIu32, name, x->id.sample);
	else
		snprintf(dst, cap, "%s", name);
	return dst;
}

static int by_source(const void *x, const void *y)
{
	const struct compared_one *const *a = x, *const *b = y;
	return strcmp((*a)->source, (*b)->source);
}

/* Does another placement have this one's source?  sorted by that. */
static bool has_namesake(struct compared_one *const *sorted, size_t n, const struct compared_one *x)
{
	size_t lo = 0, hi = n;
	BISECT(lo, hi, mid, strcmp(sorted[mid]->source, x->source) < 0)
	return lo + 1 < n && strcmp(sorted[lo + 1]->source, x->source) == 0;
}

static struct compare_row row_of(const struct compared_one *x, const struct comparison *c,
				 bool by_value)
{
	const struct run_rec *run = &x->run;
	struct compare_row y = {.took_s = x->timed ? x->took_s : -1};
	y.why = !x->ran ? "not run" : run->reason;
	if (y.why)
		return y;
	y.lat_s = run->lat_s;
	y.lo_s = run->lo_s;
	y.hi_s = run->hi_s;
	y.value = run->has_value ? run->value : 0;
	if (by_value) {
		y.of_bound = c->bound_value > 0 ? y.value / c->bound_value : 0;
		y.speedup = y.value > 0 && run->ref_value > 0 ? run->ref_value / y.value : 0;
		return y;
	}
	y.of_bound = c->bound_s > 0 ? y.lat_s / c->bound_s : 0;
	if (run->has_ratio)
		y.speedup = run->ratio > 0 ? 1 / run->ratio : 0;
	else
		y.speedup = y.lat_s > 0 && run->ref_s > 0 ? run->ref_s / y.lat_s : 0;
	return y;
}

/* The best single device, where the stream has no run of it, and the bound. */
static void add_marks(struct compare_table *t, const struct comparison *c)
{
	const struct run_rec *best = NULL;
	bool single = false;
	for (size_t i = 0; i < c->n; i++) {
		const struct compared_one *x = &c->one[i];
		if (!x->ran || x->run.reason)
			continue;
		single = single || x->device;
		if (!best || x->run.lat_s < best->lat_s)
			best = &x->run;
	}
	double bound = t->by_value ? c->bound_value : c->bound_s;
	double ref = !best ? 0 : t->by_value ? best->ref_value : best->ref_s;
	if (!single && ref > 0) {
		struct compare_row x = {.kind = COMPARE_SINGLE, .took_s = -1, .order = 0};
		snprintf(x.name, sizeof x.name, "(best single device)");
		*(t->by_value ? &x.value : &x.lat_s) = ref;
		x.of_bound = bound > 0 ? ref / bound : 0;
		x.speedup = 1;
		t->row[t->n++] = x;
	}
	if (bound > 0) {
		struct compare_row x = {.kind = COMPARE_BOUND, .took_s = -1, .order = 0};
		snprintf(x.name, sizeof x.name, "(lower bound)");
		*(t->by_value ? &x.value : &x.lat_s) = bound;
		x.of_bound = 1;
		x.speedup = ref > 0 ? ref / bound : 0;
		t->row[t->n++] = x;
	}
}

struct compare_table comparison_table(const struct comparison *c, bool marks, struct arena *a)
{
	struct compare_table t = {.row = ARENA_NEWN(a, struct compare_row, c->n + 3)};
	struct compared_one **sorted = ARENA_NEWN(a, struct compared_one *, c->n + 1);
	for (size_t i = 0; i < c->n; i++) {
		sorted[i] = &c->one[i];
		t.by_value = t.by_value || (c->one[i].ran && c->one[i].run.has_value);
	}
	qsort(sorted, c->n, sizeof *sorted, by_source);
	for (size_t i = 0; i < c->n; i++) {
		const struct compared_one *x = &c->one[i];
		struct compare_row y = row_of(x, c, t.by_value);
		y.order = 1 + t.n;
		escaped_name(y.name, sizeof y.name, x, has_namesake(sorted, c->n, x));
		t.ranges = t.ranges || y.hi_s > y.lo_s;
		t.timed = t.timed || y.took_s >= 0;
		t.whys = t.whys || y.why;
		t.row[t.n++] = y;
	}
	if (marks)
		add_marks(&t, c);
	sort_rows(&t);
	return t;
}
