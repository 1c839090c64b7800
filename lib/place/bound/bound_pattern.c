/* bound_pattern.c - loads of whole units: what does not fit together leaves gaps. */
#include <math.h>
#include <string.h>

#include "place/bound/bounds.h"

enum {
	MIN_GRID = 256,
	MAX_GRID = 4096,
	GRID_UNITS = 1 << 16,
	ROUNDS = 40,
	PROBES = 8,
	MAX_UNITS = 1024
};
static const double REACH = 0.3; /* loads up to this much above the bound are tried */
static const double STEP = 0.1;
/* Some unit is at least this part of the load, or gaps are small. */
static const double LARGE = 0.05;
static const double WORTH_IT = 0.004; /* what has to be certain before more is tried */

struct patterns {
	const struct bound_view *v;
	uint32_t n, n_classes, grid;
	uint32_t *first;  /* (n_classes) */
	double *size;     /* (n_classes) */
	double *worth;    /* (n) */
	uint32_t *weight; /* (n) of the class and load at hand, in parts of the load */
	double *best;     /* (grid+1) */
	uint64_t *took;   /* (n,grid/64+1) */
	uint32_t *cover;  /* (n) devices whose pattern has the unit */
};

/* The worthiest units for one device of class c within load t; they are added to cover. */
static double pack(struct patterns *x, uint32_t c, double t)
{
	const struct bound_view *v = x->v;
	uint32_t grid = x->grid, words = grid / 64 + 1, size = (uint32_t)x->size[c];
	double free_worth = 0;

	memset(x->best, 0, (grid + 1) * sizeof(*x->best));
	for (uint32_t i = 0; i < x->n; i++) {
		double s = v->unit_s[(size_t)i * v->k + x->first[c]] / t * grid * (1 - 1e-12);
		double worth = x->worth[i];
		uint64_t *took = x->took + (size_t)i * words;
		uint32_t w = s <= grid ? (uint32_t)s : grid + 1;

		x->weight[i] = w;
		if (w == 0) {
			free_worth += worth;
			x->cover[i] += size;
		}
		if (w == 0 || w > grid)
			continue;
		memset(took, 0, words * sizeof(*took));
		for (uint32_t g = grid; g >= w; g--)
			if (x->best[g - w] + worth > x->best[g]) {
				x->best[g] = x->best[g - w] + worth;
				took[g / 64] |= UINT64_C(1) << (g % 64);
			}
	}
	for (uint32_t i = x->n, g = grid; i-- > 0;) {
		uint32_t w = x->weight[i];

		if (w == 0 || w > grid || !(x->took[(size_t)i * words + g / 64] >> (g % 64) & 1))
			continue;
		x->cover[i] += size;
		g -= w;
	}
	return free_worth + x->best[grid];
}

/* Is it certain that some device has more than t? */
static bool too_little(struct patterns *x, double t)
{
	for (uint32_t i = 0; i < x->n; i++)
		x->worth[i] = x->v->u->least_s[i];
	for (int round = 0; round < ROUNDS && !bound_is_late(x->v->deadline_s); round++) {
		double all = 0, held = 0, step = STEP / sqrt(1 + round);

		memset(x->cover, 0, x->n * sizeof(*x->cover));
		for (uint32_t i = 0; i < x->n; i++)
			all += x->worth[i];
		for (uint32_t c = 0; c < x->n_classes; c++)
			held += x->size[c] * pack(x, c, t);
		if (all > held * (1 + 1e-9))
			return true;
		for (uint32_t i = 0; i < x->n; i++)
			x->worth[i] = fmax(0, x->worth[i] + step * x->v->u->least_s[i] *
								    (1 - (double)x->cover[i]));
	}
	return false;
}

/* Gaps are about as large as what is left when units do not fit. */
static bool has_large(const struct bound_view *v, double load_s)
{
	for (uint32_t i = 0; i < v->u->n; i++)
		if (v->u->least_s[i] > LARGE * load_s)
			return true;
	return false;
}

double bound_pattern_s(const struct bound_view *v, double least_s)
{
	uint32_t n = v->u->n, grid = GRID_UNITS / (n + 1);
	double low = least_s, high = least_s * (1 + REACH);

	grid = grid < MIN_GRID ? MIN_GRID : grid > MAX_GRID ? MAX_GRID : grid;
	if (n > MAX_UNITS || !(least_s > 0) || !has_large(v, least_s))
		return least_s;
	struct arena *a = arena_new();
	struct patterns x = {.v = v,
			     .n = n,
			     .grid = grid,
			     .first = ARENA_NEWN(a, uint32_t, v->k),
			     .size = ARENA_NEWN(a, double, v->k),
			     .worth = ARENA_NEWN(a, double, n),
			     .weight = ARENA_NEWN(a, uint32_t, n),
			     .best = ARENA_NEWN(a, double, grid + 1),
			     .took = ARENA_NEWN(a, uint64_t, (size_t)n * (grid / 64 + 1)),
			     .cover = ARENA_NEWN(a, uint32_t, n)};
	for (uint32_t d = 0; d < v->k; d++) {
		uint32_t c = 0;

		while (c < x.n_classes && x.first[c] != v->u->equivalent[d])
			c++;
		x.first[c] = v->u->equivalent[d];
		x.size[c]++;
		x.n_classes += c == x.n_classes;
	}
	if (too_little(&x, low * (1 + WORTH_IT))) {
		low *= 1 + WORTH_IT;
		for (int probe = 0; probe < PROBES; probe++) {
			double t = (low + high) / 2;

			*(too_little(&x, t) ? &low : &high) = t;
		}
	}
	arena_free(a);
	return low;
}

/* Patterns raise a load by less than this: a latency beyond it is not theirs to raise. */
static const double MOST_GAIN = 1.3;

static double pattern_value(struct bound_problem *x)
{
	double load_s = x->best[METRIC_PERIOD].value;

	if (x->v.m->rules == PLACE_SCHEDULE && x->v.m->objective.throughput <= 0 &&
	    !(x->best[METRIC_LATENCY].value < MOST_GAIN * load_s))
		return 0;
	return bound_pattern_s(&x->v, load_s);
}

const struct lower_bound bound_pattern = {
	.kind = "pattern",
	.source = "Gilmore, Gomory, Operations Research 9(6), 1961",
	.rules = 1U << PLACE_SCHEDULE | 1U << PLACE_DNNPART_THROUGHPUT,
	.metric = METRIC_PERIOD,
	.value = pattern_value};
