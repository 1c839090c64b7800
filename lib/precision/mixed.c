/* mixed.c - see mixed.h. */
#include "precision/mixed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "exec/output_error.h"
#include "measure/error_limit.h"
#include "precision/exact_units.h"
#include "record/grouprec.h"

/* Calls of each way, about. */
enum { MOST_CALLS = 64 };
/* A set goes to another precision than the one before it where it saves so much of its time. */
static const double WORTH_A_CHANGE = 0.05;
/* Runs of a choice: a few, for so many seconds at most. */
enum { RUNS_LEAST = 3, RUNS_MOST = 9 };
static const double RUNS_S = 0.1;

struct mixing {
	struct session *s;
	const struct devs *d;
	const double *set_s; /* (n_sets,k) */
	struct arena *a;
	struct error_reference reference;
	double end_s;      /* of clock_s */
	uint32_t *first;   /* (n_sets) the first set that shares its device */
	uint16_t *exact;   /* (n_sets) devices in f32 */
	uint16_t *reduced; /* (n_sets) of the way at hand */
	uint16_t *device;  /* (n_sets) room */
	bool *is_exact;    /* (n_sets) room */
};

/* ---- devices that are the same but for their precision ---- */

/* The name without its precision, into dst. */
static void plain_name(const char *name, char *dst, size_t cap)
{
	static const char key[] = "/precision=";
	const char *option = strstr(name, key), *rest = option ? option + sizeof key - 1 : "";
	rest += strcspn(rest, "/");
	snprintf(dst, cap, "%.*s%s", (int)(option ? option - name : (ptrdiff_t)strlen(name)), name,
		 rest);
}

static bool is_sibling(const struct devs *d, uint32_t i, uint32_t j)
{
	char a[sizeof((struct device *)0)->name], b[sizeof a];
	plain_name(d->names[i], a, sizeof a);
	plain_name(d->names[j], b, sizeof b);
	return i != j && strcmp(a, b) == 0;
}

/* Devices in less than f32 that are device i otherwise, into out (k); how many. */
static uint32_t siblings_of(const struct devs *d, uint32_t i, uint32_t *out)
{
	uint32_t n = 0;
	for (uint32_t j = 0; j < d->k; j++)
		if (is_sibling(d, i, j) && !devs_name_is_f32(d->names[j]))
			out[n++] = j;
	return n;
}

static bool may_run(const struct mixing *x, uint32_t set, uint32_t device)
{
	size_t at = (size_t)set * x->d->k + device;
	return (!x->d->mask || x->d->mask[at]) && x->set_s[at] >= 0;
}

/* The device in f32, with siblings, that has most sets, in the least time; k: there is none. */
static uint32_t choose_base(const struct mixing *x)
{
	uint32_t k = x->d->k, best = k, most = 0;
	uint32_t *room = MEM_NEWN(uint32_t, (size_t)k + 1);
	double least = INFINITY;
	for (uint32_t i = 0; i < k; i++) {
		uint32_t sets = 0;
		double sum = 0;
		if (!devs_name_is_f32(x->d->names[i]) || siblings_of(x->d, i, room) == 0)
			continue;
		for (uint32_t v = 0; v < x->s->model.g->n_sets; v++)
			if (may_run(x, v, i)) {
				sets++;
				sum += x->set_s[(size_t)v * k + i];
			}
		if (sets > most || (sets == most && sum < least)) {
			best = i;
			most = sets;
			least = sum;
		}
	}
	mem_free(room);
	return best;
}

/* Where a set is in f32: on the base, or else on any device that may have it. */
static int place_exact(struct mixing *x, uint32_t base, struct err *e)
{
	for (uint32_t v = 0; v < x->s->model.g->n_sets; v++) {
		uint32_t at = x->d->k;
		for (int f32 = 1; f32 >= 0; f32--)
			for (uint32_t i = 0; i < x->d->k && at == x->d->k; i++)
				if (devs_name_is_f32(x->d->names[i]) == f32 && may_run(x, v, i))
					at = i;
		if (may_run(x, v, base))
			at = base;
		if (at == x->d->k)
			return err_set(e, ST_INPUT, "set %u may run nowhere", v);
		x->exact[v] = (uint16_t)at;
	}
	return 0;
}

/* Where each set is in less than f32, in `only`, or NULL: in whatever is the fastest. */
static void place_reduced(struct mixing *x, const char *only)
{
	uint32_t k = x->d->k, last = k;
	uint32_t *sibling = MEM_NEWN(uint32_t, (size_t)k + 1);
	for (uint32_t v = 0; v < x->s->model.g->n_sets; v++) {
		uint32_t n = siblings_of(x->d, x->exact[v], sibling), at = x->exact[v];
		double least = INFINITY;
		for (uint32_t i = 0; i < n; i++) {
			double took = x->set_s[(size_t)v * k + sibling[i]];
			if (!may_run(x, v, sibling[i]) ||
			    (only && !strstr(x->d->names[sibling[i]], only)))
				continue;
			if (sibling[i] == last)
				took *= 1 - WORTH_A_CHANGE;
			if (took < least) {
				least = took;
				at = sibling[i];
			}
		}
		last = at;
		x->reduced[v] = (uint16_t)at;
	}
	mem_free(sibling);
}

/* ---- what exact_units asks ---- */

/* Sets that share a device are reduced together, or not at all. */
static void place(struct mixing *x, const bool *reduced)
{
	uint32_t n = x->s->model.g->n_sets;
	memset(x->is_exact, 0, n * sizeof *x->is_exact);
	for (uint32_t v = 0; v < n; v++)
		x->is_exact[x->first[v]] |= !reduced[v];
	for (uint32_t v = 0; v < n; v++)
		x->device[v] = x->is_exact[x->first[v]] ? x->exact[v] : x->reduced[v];
}

/* What cannot run has no error that could be told.  -1: the end. */
static int failed(const struct mixing *x, double *error, struct err *e)
{
	if (!executor_alive(x->s->x))
		return -1;
	err_clear(e);
	*error = OUTPUT_ERROR_MOST;
	return 0;
}

static int ask_error(void *ctx, const bool *reduced, double *error, struct err *e)
{
	struct mixing *x = ctx;
	place(x, reduced);
	return error_of(&x->reference, x->s, x->device, 0, NULL, error, e) == 0
		       ? 0
		       : failed(x, error, e);
}

static int ask_all(void *ctx, const bool *reduced, double *error, double *lat_s, struct err *e)
{
	struct mixing *x = ctx;
	struct plan p = {0};
	struct measurement m = {0};
	struct measure_options o = x->s->opt;
	struct plan_run run = {.x = x->s->x, .plan = &p};
	struct arena *a = arena_new();
	o.warmup = 0;
	o.min_runs = RUNS_LEAST;
	o.max_runs = RUNS_MOST;
	o.max_s = RUNS_S;
	place(x, reduced);
	int rc = plan_make(&x->s->planner, x->device, &p, e);
	if (rc == 0)
		rc = error_of(&x->reference, x->s, x->device, 0, &p, error, e);
	if (rc == 0)
		rc = measure_plan(&run, x->d->k, &o, a, &m, e);
	*lat_s = rc == 0 ? m.lat.mid : INFINITY;
	plan_release(&p);
	arena_free(a);
	return rc == 0 ? 0 : failed(x, error, e);
}

static bool is_late(void *ctx)
{
	const struct mixing *x = ctx;
	return clock_s() > x->end_s;
}

/* ---- the ways ---- */

static bool *none_reduced(const struct mixing *x)
{
	return ARENA_NEWN(x->a, bool, (size_t)x->s->model.g->n_sets + 1);
}

/* Choices of a way behind those that there are. */
static void add_choices(struct mixing *x, const struct exact_way *way, struct mixed *out)
{
	uint32_t n = x->s->model.g->n_sets;
	struct mixed_choice *all =
		ARENA_NEWN(x->a, struct mixed_choice, (size_t)out->n + way->n + 1);
	if (out->n)
		memcpy(all, out->choice, out->n * sizeof *all);
	out->choice = all;
	for (uint32_t i = 0; i < way->n; i++) {
		uint16_t *device = ARENA_NEWN(x->a, uint16_t, (size_t)n + 1);
		const struct exact_choice *c = &way->choice[i];
		if (isinf(c->lat_s)) /* it could not run */
			continue;
		place(x, c->reduced);
		memcpy(device, x->device, n * sizeof *device);
		if ((int)i == way->best &&
		    (out->best < 0 || c->lat_s < out->choice[out->best].lat_s))
			out->best = (int)out->n;
		all[out->n++] = (struct mixed_choice){device, c->error, c->lat_s};
	}
}

/* All in f32. */
static int go_exact(struct mixing *x, double limit, struct mixed *out, struct err *e)
{
	struct exact_choice all = {.reduced = none_reduced(x)};
	if (ask_all(x, all.reduced, &all.error, &all.lat_s, e) < 0)
		return -1;
	const struct exact_way way = {1, &all, all.error <= limit ? 0 : -1};
	add_choices(x, &way, out);
	return 0;
}

/* One way, from all sets on x->reduced on. */
static int go(struct mixing *x, double limit, struct mixed *out, struct err *e)
{
	uint32_t n = x->s->model.g->n_sets, k = x->d->k;
	double *saved_s = ARENA_NEWN(x->a, double, (size_t)n + 1);
	struct exact_way way;
	for (uint32_t v = 0; v < n; v++)
		saved_s[v] = x->set_s[(size_t)v * k + x->exact[v]] -
			     x->set_s[(size_t)v * k + x->reduced[v]];
	const struct exact_units units = {.n = n,
					  .saved_s = saved_s,
					  .limit = limit,
					  .most = MOST_CALLS,
					  .error = ask_error,
					  .measure = ask_all,
					  .late = is_late,
					  .ctx = x};
	if (exact_units_choose(&units, x->a, &way, e) < 0)
		return -1;
	add_choices(x, &way, out);
	return 0;
}

/* The precision of a device's name, with the slash before it; "": f32.  Of a plugin that chooses itself it is its name, as no other
 * one is known to compute alike. */
static const char *precision_of(const char *name)
{
	const char *option = strstr(name, "/precision=");
	return devs_name_is_f32(name) ? "" : option ? option : name;
}

static bool same_precision(const char *a, const char *b)
{
	const char *x = precision_of(a), *y = precision_of(b);
	size_t n = *x == '/' ? 1 + strcspn(x + 1, "/") : strlen(x);
	size_t m = *y == '/' ? 1 + strcspn(y + 1, "/") : strlen(y);
	return n == m && strncmp(x, y, n) == 0;
}

static uint32_t count_reduced(const struct mixing *x, const struct mixed_choice *c)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < x->s->model.g->n_sets; v++)
		n += !devs_name_is_f32(x->d->names[c->device[v]]);
	return n;
}

/* Of those within the limit the one with most sets in less than f32; best: there is one. */
static uint32_t widest(const struct mixing *x, const struct mixed *out, double limit)
{
	uint32_t most = (uint32_t)out->best;
	for (uint32_t i = 0; i < out->n; i++)
		if (out->choice[i].error <= limit &&
		    count_reduced(x, &out->choice[i]) > count_reduced(x, &out->choice[most]))
			most = i;
	return most;
}

static void narrow_mask(const struct mixing *x, double limit, struct mixed *out)
{
	uint32_t k = x->d->k;
	const uint16_t *best = out->best < 0 ? NULL : out->choice[out->best].device,
		       *wide = best ? out->choice[widest(x, out, limit)].device : NULL;
	for (uint32_t v = 0; v < x->s->model.g->n_sets; v++)
		for (uint32_t i = 0; i < k; i++) {
			const char *name = x->d->names[i];
			if (!devs_name_is_f32(name) &&
			    (!best || (!same_precision(name, x->d->names[best[v]]) &&
				       !same_precision(name, x->d->names[wide[v]]))))
				out->mask[(size_t)v * k + i] = 0;
		}
}

/* All ways of one base. */
static int go_all(struct mixing *x, uint32_t base, const struct mixed_options *o, struct mixed *out,
		  struct err *e)
{
	uint32_t *sibling = MEM_NEWN(uint32_t, (size_t)x->d->k + 1);
	uint32_t n = siblings_of(x->d, base, sibling), ways = n > 1 ? n + 1 : n;
	double begin_s = clock_s();
	int rc = go_exact(x, o->limit, out, e);
	for (uint32_t i = 0; i < ways && rc == 0; i++) {
		/* The last one is of all precisions. */
		x->end_s = begin_s + o->max_s * (i + 1) / ways;
		place_reduced(x, i < n ? precision_of(x->d->names[sibling[i]]) : NULL);
		rc = go(x, o->limit, out, e);
	}
	mem_free(sibling);
	return rc;
}

int mixed_choose(struct session *s, const struct devs *d, const double *set_s,
		 const struct mixed_options *o, struct arena *a, struct mixed *out, struct err *e)
{
	uint32_t n = s->model.g->n_sets;
	size_t cells = (size_t)n * d->k;
	struct mixing x = {.s = s,
			   .d = d,
			   .set_s = set_s,
			   .a = a,
			   .first = ARENA_NEWN(a, uint32_t, (size_t)n + 1),
			   .exact = ARENA_NEWN(a, uint16_t, (size_t)n + 1),
			   .reduced = ARENA_NEWN(a, uint16_t, (size_t)n + 1),
			   .device = ARENA_NEWN(a, uint16_t, (size_t)n + 1),
			   .is_exact = ARENA_NEWN(a, bool, (size_t)n + 1)};
	*out = (struct mixed){.best = -1, .mask = ARENA_NEWN(a, uint8_t, cells + 1)};
	memset(out->mask, 1, cells);
	if (d->mask)
		memcpy(out->mask, d->mask, cells);
	for (uint32_t v = 0; v < n; v++)
		x.first[v] = v;
	if (d->together) {
		memcpy(x.first, d->together, n * sizeof *x.first);
		group_first(x.first, n);
	}
	uint32_t base = choose_base(&x);
	if (base == d->k)
		return 0;
	if (place_exact(&x, base, e) < 0)
		return -1;
	int rc = error_reference_open(&x.reference, s, a, e);
	snprintf(out->of, sizeof out->of, "%s", x.reference.of);
	if (rc == 0)
		rc = go_all(&x, base, o, out, e);
	error_reference_close(&x.reference);
	if (rc == 0 && out->n > 0)
		narrow_mask(&x, o->limit, out);
	return rc;
}
