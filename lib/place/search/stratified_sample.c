/* stratified_sample.c - distinct placements of every kind and quality, for holding a simulator against the
 * machine (pipelines/calibrate).
 *
 * A pool of candidates is drawn: single devices, what heuristics find, what climbing upwards makes
 * slow, and what is left of these after some sets were moved; contiguous pieces, random placements.
 * Some more than half of what is handed over is predicted to take at most NEAR times as long as the
 * best, the rest longer; both parts are spread over their range of latencies, which random
 * placements alone are far from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/pairmap.h"
#include "place/heuristic/heft.h"
#include "place/heuristic/random.h"
#include "place/search/random_stream.h"
#include "place/method/method.h"
#include "place/search/refine.h"
#include "place/simulate/units.h"

enum { POOL = 8, POOL_LEAST = 400, BINS = 12, BASES = 3, SLOW_BASES = 2 };
/* Schedules for a base: as many as place about so many tasks, within these. */
enum { WORK = 1000000, MOST_EVALS = 500, LEAST_EVALS = 16 };
static const double NEAR = 1.4, NEAR_SHARE = 0.55;

/* From MOVED on they are drawn in turn; those made slow are bases of other moves. */
enum kind { SINGLE, SEARCHED, SLOWED, MOVED, PATCHED, CROSSED, PIECES, BIASED, UNIFORM, RESTORED };
static const char *const kind_names[] = {"single",  "searched", "slowed", "moved",   "patched",
					 "crossed", "pieces",   "biased", "uniform", "restored"};

struct candidate {
	double s; /* predicted */
	enum kind kind;
	uint16_t *device; /* (n_sets) */
	bool taken;
};

struct pool {
	struct method_run *r;
	const struct place_model *m;
	struct place_units units;
	struct evaluator *ev;
	struct pairmap seen; /* hashes of what is in the pool */
	struct candidate *c;
	size_t n, cap;
	const uint16_t *base[BASES]; /* (n_sets) good placements */
	const uint16_t *slow[SLOW_BASES];
	uint32_t n_bases, n_slow;
	struct rng_addr rng;
	uint32_t drawn;
};

static uint32_t below(struct pool *x, uint32_t n)
{
	return rng_below(&x->rng, x->drawn++, n);
}

/* Between lo and hi, uniform in its logarithm. */
static double log_uniform(struct pool *x, double lo, double hi)
{
	return lo * pow(hi / lo, rng_uniform(&x->rng, x->drawn++));
}

/* Takes over r->device as a candidate when it is legal and new. */
static bool offer(struct pool *x, enum kind kind)
{
	uint16_t *device = x->r->device;
	uint64_t h, g = 0;

	/* Sets that run nothing go with the first unit, so that they make no difference. */
	if (x->units.n)
		place_unit_set(&x->units, GRAPH_NONE, device[x->units.set[0]], device);
	h = hash_u16(device, x->m->n_sets);
	for (uint32_t i = 0; i < x->m->n_sets; i++)
		g = g * 31 + device[i];
	if (pairmap_get(&x->seen, h, g))
		return false;
	pairmap_put(&x->seen, h, g, 1);
	const struct place_result *p = place_evaluate(x->ev, device);
	if (p->status != PLACE_OK)
		return false;
	x->c = mem_grow(x->c, &x->cap, x->n + 1, sizeof(*x->c));
	x->c[x->n] = (struct candidate){p->lat_s, kind, ARENA_NEWN(x->r->a, uint16_t, x->m->n_sets),
					false};
	memcpy(x->c[x->n++].device, device, x->m->n_sets * sizeof(*device));
	return true;
}

/* ---- kinds ---- */

/* Another device for unit u, where there is one. */
static bool move_unit(struct pool *x, uint32_t u, uint16_t to)
{
	uint32_t set = x->units.set[x->units.ptr[u]];

	if (x->r->device[set] == to)
		return false;
	for (uint32_t i = x->units.dev_ptr[u]; i < x->units.dev_ptr[u + 1]; i++)
		if (x->units.dev[i] == to) {
			place_unit_set(&x->units, u, to, x->r->device);
			return true;
		}
	return false;
}

static void take_base(struct pool *x)
{
	memcpy(x->r->device, x->base[below(x, x->n_bases)], x->m->n_sets * sizeof(*x->r->device));
}

/* Units here and there on other devices. */
static void scatter(struct pool *x)
{
	uint32_t n = x->units.n;
	double share = log_uniform(x, 1.0 / n, 0.5);

	for (uint32_t u = 0; u < n; u++)
		if (rng_uniform(&x->rng, x->drawn++) < share)
			move_unit(x, u, (uint16_t)below(x, x->m->k));
}

static void draw_moved(struct pool *x)
{
	take_base(x);
	scatter(x);
}

/* A slow one, most of it from a place on as in a base, or with units elsewhere. */
static void draw_restored(struct pool *x)
{
	const uint16_t *base = x->base[below(x, x->n_bases)];
	uint32_t n = x->units.n, from = below(x, n + 1);

	memcpy(x->r->device, x->slow[below(x, x->n_slow)], x->m->n_sets * sizeof(*x->r->device));
	if (below(x, 2) == 0) {
		scatter(x);
		return;
	}
	for (uint32_t u = from; u < n; u++)
		move_unit(x, u, base[x->units.set[x->units.ptr[u]]]);
}

/* A base, and runs of units that follow each other on another device. */
static void draw_patched(struct pool *x)
{
	uint32_t n = x->units.n, patches = 1 + below(x, 8);

	take_base(x);
	for (uint32_t i = 0; i < patches; i++) {
		uint32_t first = below(x, n), len = (uint32_t)log_uniform(x, 1, 1 + n / 4.0);
		uint16_t to = (uint16_t)below(x, x->m->k);

		for (uint32_t u = first; u < n && u < first + len; u++)
			move_unit(x, u, to);
	}
}

/* Topological order cut into pieces, each on another device than the one before: from two to as
 * many as there are units, which copies most. */
static void draw_pieces(struct pool *x)
{
	uint32_t n = x->units.n, k = x->m->k, pieces = (uint32_t)log_uniform(x, 2, n + 2.0);
	uint32_t dev = below(x, k);

	random_placement(x->m, x->r->seed, (uint32_t)x->n, false, x->r->device);
	for (uint32_t u = 0; u < n; u++) {
		if (u && k > 1 && below(x, n) < pieces - 1)
			dev = (dev + 1 + below(x, k - 1)) % k;
		move_unit(x, u, (uint16_t)dev);
	}
}

/* One earlier candidate up to a place in topological order, another from there on. */
static void draw_crossed(struct pool *x)
{
	const uint16_t *head = x->c[below(x, (uint32_t)x->n)].device;
	const uint16_t *tail = x->c[below(x, (uint32_t)x->n)].device;
	uint32_t cut = below(x, x->units.n);

	memcpy(x->r->device, head, x->m->n_sets * sizeof(*head));
	for (uint32_t u = cut; u < x->units.n; u++)
		move_unit(x, u, tail[x->units.set[x->units.ptr[u]]]);
}

static void draw(struct pool *x, enum kind kind)
{
	switch (kind) {
	case MOVED: draw_moved(x); break;
	case PATCHED: draw_patched(x); break;
	case CROSSED: draw_crossed(x); break;
	case PIECES: draw_pieces(x); break;
	case RESTORED: draw_restored(x); break;
	default:
		random_placement(x->m, x->r->seed, (uint32_t)x->drawn++, kind == BIASED,
				 x->r->device);
	}
}

/* ---- the pool ---- */

/* Hill climbing upwards from r->device: one unit at a time goes elsewhere if that takes no less. */
static void climb_up(struct pool *x, uint64_t evals)
{
	uint16_t *device = x->r->device;
	double s = 0;

	for (uint64_t i = 0; i < evals; i++) {
		uint32_t u = below(x, x->units.n), first = x->units.set[x->units.ptr[u]];
		uint16_t from = device[first];

		if (!move_unit(x, u, (uint16_t)below(x, x->m->k)))
			continue;
		const struct place_result *p = place_evaluate(x->ev, device);
		if (p->status == PLACE_OK && p->lat_s >= s)
			s = p->lat_s;
		else
			place_unit_set(&x->units, u, from, device);
	}
}

/* From pieces of one unit, and from a random placement. */
static void slow_bases(struct pool *x, uint64_t evals)
{
	for (uint32_t i = 0; i < SLOW_BASES && x->units.n; i++) {
		random_placement(x->m, x->r->seed, i, false, x->r->device);
		for (uint32_t u = 0; i == 0 && u < x->units.n; u++)
			move_unit(x, u, (uint16_t)(u % x->m->k));
		climb_up(x, evals);
		if (offer(x, SLOWED))
			x->slow[x->n_slow++] = x->c[x->n - 1].device;
	}
}

static void keep_base(struct pool *x)
{
	if (offer(x, SEARCHED))
		x->base[x->n_bases++] = x->c[x->n - 1].device;
}

static uint64_t default_evals(uint32_t n_tasks)
{
	uint64_t evals = WORK / (n_tasks ? n_tasks : 1);

	return evals > MOST_EVALS ? MOST_EVALS : evals < LEAST_EVALS ? LEAST_EVALS : evals;
}

/* Single devices, HEFT, and what hill climbing makes of it. */
static int begin(struct pool *x, struct err *e)
{
	struct method_run *r = x->r;
	double s;

	for (uint32_t dev = 0; dev < x->m->k; dev++) {
		for (uint32_t i = 0; i < x->m->n_sets; i++)
			r->device[i] = (uint16_t)dev;
		offer(x, SINGLE);
	}
	if (heft_placement(x->m, r->device, &s, e) < 0) {
		if (!method_mend(r, &x->units) && x->n == 0)
			return -1;
		err_clear(e);
	}
	keep_base(x);
	uint64_t most = r->evals ? r->evals : default_evals(x->m->tasks.dag.n);
	for (uint64_t evals = most / 8; evals <= most; evals *= 8) {
		refine_placement(x->m, r->seed, evals + 1, 0, r->device, &s);
		keep_base(x);
		if (evals == 0 || x->n_bases == BASES)
			break;
	}
	if (x->n == 0)
		return err_set(e, ST_INPUT,
			       "neither a device alone nor HEFT makes a legal placement");
	if (x->n_bases == 0)
		x->base[x->n_bases++] = x->c[0].device;
	slow_bases(x, most);
	if (x->n_slow == 0)
		x->slow[x->n_slow++] = x->c[0].device;
	return 0;
}

static int fill(struct pool *x, struct err *e)
{
	uint32_t want = x->r->samples * POOL > POOL_LEAST ? x->r->samples * POOL : POOL_LEAST;

	if (begin(x, e) < 0)
		return -1;
	/* Tries are bounded: a tiny graph has few placements. */
	for (uint32_t i = 0; x->units.n && x->n < want && i < 4 * want; i++) {
		enum kind kind = MOVED + i % (RESTORED - MOVED + 1);

		draw(x, kind);
		offer(x, kind);
	}
	return 0;
}

/* ---- what is handed over ---- */

struct picker {
	struct pool *x;
	struct candidate **out;
	uint32_t n;
};

static void take(struct picker *p, struct candidate *c)
{
	if (!c->taken && p->n < p->x->r->samples) {
		c->taken = true;
		p->out[p->n++] = c;
	}
}

static uint32_t bin_of(double s, double lo, double hi)
{
	double at = hi > lo ? log(s / lo) / log(hi / lo) * BINS : 0;

	return at >= BINS ? BINS - 1 : (uint32_t)at;
}

/* Candidates between lo and hi in turn from each part of the range, until there are `most`. */
static void take_range(struct picker *p, double lo, double hi, uint32_t most)
{
	struct pool *x = p->x;
	size_t at[BINS] = {0};

	for (bool any = true; any && p->n < most;) {
		any = false;
		for (uint32_t b = 0; b < BINS && p->n < most; b++) {
			size_t i = at[b];

			while (i < x->n && (x->c[i].taken || x->c[i].s < lo || x->c[i].s > hi ||
					    bin_of(x->c[i].s, lo, hi) != b))
				i++;
			at[b] = i;
			if (i < x->n) {
				take(p, &x->c[i]);
				any = true;
			}
		}
	}
}

/* All behind the first `head` in a random order (Fisher and Yates), so that the machine's moods do
 * not go with a kind or with a quality. */
static void shuffle(struct picker *p, uint32_t head)
{
	for (uint32_t i = p->n; i > head + 1; i--) {
		uint32_t j = head + below(p->x, i - head);
		struct candidate *t = p->out[i - 1];

		p->out[i - 1] = p->out[j];
		p->out[j] = t;
	}
}

static int choose(struct pool *x, struct err *e)
{
	struct picker p = {x, ARENA_NEWN(x->r->a, struct candidate *, x->r->samples), 0};
	double best = INFINITY, worst = 0;
	uint32_t near = (uint32_t)ceil(NEAR_SHARE * x->r->samples);

	for (size_t i = 0; i < x->n; i++) {
		best = fmin(best, x->c[i].s);
		worst = fmax(worst, x->c[i].s);
	}
	for (size_t i = 0; i < x->n; i++)
		if (x->c[i].kind == SINGLE)
			take(&p, &x->c[i]);
	uint32_t singles = p.n;
	for (size_t i = 0; i < x->n; i++)
		if (x->c[i].kind == SEARCHED)
			take(&p, &x->c[i]);
	take_range(&p, best, NEAR * best, near);
	take_range(&p, NEAR * best, worst, x->r->samples);
	take_range(&p, best, worst, x->r->samples);
	shuffle(&p, singles);
	int rc = 0;
	for (uint32_t i = 0; i < p.n && rc == 0; i++) {
		memcpy(x->r->device, p.out[i]->device, x->m->n_sets * sizeof(*x->r->device));
		x->r->source = kind_names[p.out[i]->kind];
		rc = x->r->emit(x->r, e);
	}
	snprintf(x->r->note, sizeof(x->r->note), "%u of %zu placements, from %.6g s to %.6g s", p.n,
		 x->n, best, worst);
	return rc;
}

int method_variety(struct method_run *r, struct err *e)
{
	struct pool x = {.r = r, .m = r->m, .rng = {r->seed, 0, 0, RNG_SEARCH + RANDOM_STRATIFIED}};

	place_units_init(&x.units, r->m, r->a);
	x.ev = evaluator_new(r->m);
	int rc = fill(&x, e);
	if (rc == 0)
		rc = choose(&x, e);
	evaluator_free(x.ev);
	pairmap_release(&x.seen);
	mem_free(x.c);
	return rc;
}
