/* sample_candidates.c - candidates of the stratified sample: single devices, what heuristics find,
 * what climbing upwards makes slow, what is left of these after some units were moved, contiguous
 * splits and random placements. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "place/heuristic/heft.h"
#include "place/heuristic/random.h"
#include "place/search/refine.h"
#include "place/search/random_stream.h"
#include "place/search/sample_candidates.h"

enum { CANDIDATES_A_SAMPLE = 8, LEAST_CANDIDATES = 400 };
/* Schedules for a base: as many as place about so many tasks, within these. */
enum { WORK = 1000000, MOST_EVALS = 500, LEAST_EVALS = 16 };

uint32_t sample_candidates_draw_below(struct sample_candidates *x, uint32_t n)
{
	return rng_below(&x->rng, x->drawn++, n);
}

/* Between lo and hi, uniform in its logarithm. */
static double log_uniform(struct sample_candidates *x, double lo, double hi)
{
	return lo * pow(hi / lo, rng_uniform(&x->rng, x->drawn++));
}

/* Takes over r->device as a candidate when it is legal and new. */
static bool add_if_new(struct sample_candidates *x, enum candidate_kind kind)
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
	x->c[x->n] = (struct sample_candidate){p->lat_s, kind,
					       ARENA_NEWN(x->r->a, uint16_t, x->m->n_sets), false};
	memcpy(x->c[x->n++].device, device, x->m->n_sets * sizeof(*device));
	return true;
}

/* ---- kinds ---- */

/* Another device for unit u, where there is one. */
static bool move_unit(struct sample_candidates *x, uint32_t u, uint16_t to)
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

static void start_from_base(struct sample_candidates *x)
{
	memcpy(x->r->device, x->base[sample_candidates_draw_below(x, x->n_bases)],
	       x->m->n_sets * sizeof(*x->r->device));
}

/* Units here and there on other devices. */
static void scatter(struct sample_candidates *x)
{
	uint32_t n = x->units.n;
	double share = log_uniform(x, 1.0 / n, 0.5);

	for (uint32_t u = 0; u < n; u++)
		if (rng_uniform(&x->rng, x->drawn++) < share)
			move_unit(x, u, (uint16_t)sample_candidates_draw_below(x, x->m->k));
}

static void draw_moved(struct sample_candidates *x)
{
	start_from_base(x);
	scatter(x);
}

/* A slow one, most of it from a place on as in a base, or with units elsewhere. */
static void draw_restored(struct sample_candidates *x)
{
	const uint16_t *base = x->base[sample_candidates_draw_below(x, x->n_bases)];
	uint32_t n = x->units.n, from = sample_candidates_draw_below(x, n + 1);

	memcpy(x->r->device, x->slow[sample_candidates_draw_below(x, x->n_slow)],
	       x->m->n_sets * sizeof(*x->r->device));
	if (sample_candidates_draw_below(x, 2) == 0) {
		scatter(x);
		return;
	}
	for (uint32_t u = from; u < n; u++)
		move_unit(x, u, base[x->units.set[x->units.ptr[u]]]);
}

/* A base, and runs of units that follow each other on another device. */
static void draw_patched(struct sample_candidates *x)
{
	uint32_t n = x->units.n, patches = 1 + sample_candidates_draw_below(x, 8);

	start_from_base(x);
	for (uint32_t i = 0; i < patches; i++) {
		uint32_t first = sample_candidates_draw_below(x, n),
			 len = (uint32_t)log_uniform(x, 1, 1 + n / 4.0);
		uint16_t to = (uint16_t)sample_candidates_draw_below(x, x->m->k);

		for (uint32_t u = first; u < n && u < first + len; u++)
			move_unit(x, u, to);
	}
}

/* Topological order cut into pieces, each on another device than the one before: from two to as
 * many as there are units, which copies most. */
static void draw_split(struct sample_candidates *x)
{
	uint32_t n = x->units.n, k = x->m->k, pieces = (uint32_t)log_uniform(x, 2, n + 2.0);
	uint32_t dev = sample_candidates_draw_below(x, k);

	random_placement(x->m, x->r->seed, (uint32_t)x->n, false, x->r->device);
	for (uint32_t u = 0; u < n; u++) {
		if (u && k > 1 && sample_candidates_draw_below(x, n) < pieces - 1)
			dev = (dev + 1 + sample_candidates_draw_below(x, k - 1)) % k;
		move_unit(x, u, (uint16_t)dev);
	}
}

/* One earlier candidate up to a place in topological order, another from there on. */
static void draw_crossed(struct sample_candidates *x)
{
	const uint16_t *head = x->c[sample_candidates_draw_below(x, (uint32_t)x->n)].device;
	const uint16_t *tail = x->c[sample_candidates_draw_below(x, (uint32_t)x->n)].device;
	uint32_t cut = sample_candidates_draw_below(x, x->units.n);

	memcpy(x->r->device, head, x->m->n_sets * sizeof(*head));
	for (uint32_t u = cut; u < x->units.n; u++)
		move_unit(x, u, tail[x->units.set[x->units.ptr[u]]]);
}

/* The fastest device alone, but for a hundredth of the units elsewhere: here and there, and one behind the other. */
static void add_around(struct sample_candidates *x)
{
	uint32_t n = x->units.n, few = 1 + n / 100, best = UINT32_MAX;

	for (uint32_t i = 0; i < x->n; i++)
		if (x->c[i].kind == CANDIDATE_SINGLE &&
		    (best == UINT32_MAX || x->c[i].s < x->c[best].s))
			best = i;
	for (uint32_t kind = 0; kind < 2 && best != UINT32_MAX && n && x->m->k > 1; kind++) {
		uint16_t to = (uint16_t)((x->c[best].device[0] + 1 + kind) % x->m->k);
		uint32_t first = sample_candidates_draw_below(x, n - few + 1);

		if (to == x->c[best].device[0])
			to = (uint16_t)((to + 1) % x->m->k);
		memcpy(x->r->device, x->c[best].device, x->m->n_sets * sizeof(*x->r->device));
		for (uint32_t i = 0; i < few; i++)
			move_unit(x, kind ? first + i : sample_candidates_draw_below(x, n), to);
		add_if_new(x, CANDIDATE_AROUND);
	}
}

static void draw_candidate(struct sample_candidates *x, enum candidate_kind kind)
{
	switch (kind) {
	case CANDIDATE_MOVED: draw_moved(x); break;
	case CANDIDATE_PATCHED: draw_patched(x); break;
	case CANDIDATE_CROSSED: draw_crossed(x); break;
	case CANDIDATE_SPLIT: draw_split(x); break;
	case CANDIDATE_RESTORED: draw_restored(x); break;
	default:
		random_placement(x->m, x->r->seed, (uint32_t)x->drawn++, kind == CANDIDATE_BIASED,
				 x->r->device);
	}
}

/* ---- bases, and all of it ---- */

/* Hill climbing upwards from r->device: one unit at a time goes elsewhere if that takes no less. */
static void climb_up(struct sample_candidates *x, uint64_t evals)
{
	uint16_t *device = x->r->device;
	double s = 0;

	for (uint64_t i = 0; i < evals && !method_is_late(x->deadline_s); i++) {
		uint32_t u = sample_candidates_draw_below(x, x->units.n),
			 first = x->units.set[x->units.ptr[u]];
		uint16_t from = device[first];

		if (!move_unit(x, u, (uint16_t)sample_candidates_draw_below(x, x->m->k)))
			continue;
		const struct place_result *p = place_evaluate(x->ev, device);
		if (p->status == PLACE_OK && p->lat_s >= s)
			s = p->lat_s;
		else
			place_unit_set(&x->units, u, from, device);
	}
}

/* Slow placements: climbing starts from units on devices in turn, and from a random placement. */
static void slow_bases(struct sample_candidates *x, uint64_t evals)
{
	for (uint32_t i = 0; i < SAMPLE_SLOW_BASES && x->units.n; i++) {
		if (method_is_late(x->deadline_s))
			return;
		random_placement(x->m, x->r->seed, i, false, x->r->device);
		for (uint32_t u = 0; i == 0 && u < x->units.n; u++)
			move_unit(x, u, (uint16_t)(u % x->m->k));
		climb_up(x, evals);
		if (add_if_new(x, CANDIDATE_SLOWED))
			x->slow[x->n_slow++] = x->c[x->n - 1].device;
	}
}

static void keep_base(struct sample_candidates *x)
{
	if (add_if_new(x, CANDIDATE_SEARCHED))
		x->base[x->n_bases++] = x->c[x->n - 1].device;
}

static uint64_t default_evals(uint32_t n_tasks)
{
	uint64_t evals = WORK / (n_tasks ? n_tasks : 1);

	return evals > MOST_EVALS ? MOST_EVALS : evals < LEAST_EVALS ? LEAST_EVALS : evals;
}

/* Single devices, HEFT, and what hill climbing makes of it. */
static int add_bases(struct sample_candidates *x, struct err *e)
{
	struct method_run *r = x->r;
	double s;

	for (uint32_t dev = 0; dev < x->m->k; dev++) {
		if (x->n && method_is_late(x->deadline_s))
			break;
		for (uint32_t i = 0; i < x->m->n_sets; i++)
			r->device[i] = (uint16_t)dev;
		add_if_new(x, CANDIDATE_SINGLE);
	}
	if (heft_placement(x->m, x->deadline_s, r->device, &s, e) < 0) {
		if (!method_mend(r, &x->units) && x->n == 0)
			return -1;
		err_clear(e);
	}
	keep_base(x);
	uint64_t most = r->evals ? r->evals : default_evals(x->m->tasks.dag.n);
	for (uint64_t evals = most / 8; evals <= most; evals *= 8) {
		if (method_is_late(x->deadline_s))
			break;
		refine_placement(x->m, r->seed, evals + 1, x->deadline_s, r->device, &s);
		keep_base(x);
		if (evals == 0 || x->n_bases == SAMPLE_BASES)
			break;
	}
	if (x->n == 0)
		return err_set(e, ST_INPUT,
			       "neither a device alone nor HEFT makes a legal placement");
	if (x->n_bases == 0)
		x->base[x->n_bases++] = x->c[0].device;
	add_around(x);
	slow_bases(x, most);
	if (x->n_slow == 0)
		x->slow[x->n_slow++] = x->c[0].device;
	return 0;
}

static int fill_candidates(struct sample_candidates *x, struct err *e)
{
	uint32_t want = x->r->samples * CANDIDATES_A_SAMPLE > LEAST_CANDIDATES
				? x->r->samples * CANDIDATES_A_SAMPLE
				: LEAST_CANDIDATES;

	if (add_bases(x, e) < 0)
		return -1;
	/* Tries are bounded: a tiny graph has few placements. */
	for (uint32_t i = 0; x->units.n && x->n < want && i < 4 * want; i++) {
		if (x->n >= x->r->samples && method_is_late(x->deadline_s))
			break;
		enum candidate_kind kind =
			CANDIDATE_MOVED + i % (CANDIDATE_RESTORED - CANDIDATE_MOVED + 1);

		draw_candidate(x, kind);
		add_if_new(x, kind);
	}
	return 0;
}

int sample_candidates_init(struct sample_candidates *x, struct method_run *r, struct err *e)
{
	*x = (struct sample_candidates){.r = r,
					.m = r->m,
					.rng = {r->seed, 0, 0, RNG_SEARCH + RANDOM_STRATIFIED},
					.deadline_s = method_deadline_s(r)};
	place_units_init(&x->units, r->m, r->a);
	x->ev = evaluator_new(r->m);
	return fill_candidates(x, e);
}

void sample_candidates_release(struct sample_candidates *x)
{
	evaluator_free(x->ev);
	pairmap_release(&x->seen);
	mem_free(x->c);
}
