/* block_effects.c - iteratively reweighted means of arms and of blocks. */
#include "race/block_effects.h"

#include <math.h>

#include "base/mem.h"
#include "stats/quantile.h"

enum { MOST_TURNS = 30, SCALE_TURNS = 4, TRUST_TURNS = 3, OWN_VARIANCE_AFTER = 6 };
enum { LEAST_FREEDOM = 3 };             /* residuals, beyond the effects, before their size tells */
enum { LEAST_BLOCKS = 6 };              /* with a reference, before one of them can be disturbed */
static const double HUBER = 1.5;        /* deviations beyond which a value counts less */
static const double LEAST_SCALE = 1e-4; /* of logarithms: clocks tell no finer */
static const double FIRST_SCALE = 0.02; /* before there are residuals */
/* A block is disturbed when it is so many deviations from the others, and counts so much then. */
static const double FAR = 4, LEAST_GAP = 0.005, DISTURBED_TRUST = 0.05;
static const double SMALL_CHANGE = 1e-6;
static const double MEDIAN_TO_SIGMA = 1.4826;

void block_effects_release(struct block_effects *x)
{
	mem_free(x->v);
	mem_free(x->arm);
	mem_free(x->weight);
	mem_free(x->var);
	mem_free(x->block);
	mem_free(x->trust);
	*x = (struct block_effects){0};
}

static double *longer(double *p, uint32_t from, uint32_t to, size_t cap)
{
	size_t own = cap;
	p = mem_grow(p, &own, to, sizeof *p);
	for (uint32_t i = from; i < to; i++)
		p[i] = 0;
	return p;
}

static void grow_arms(struct block_effects *x, uint32_t to)
{
	size_t cap = x->cap_arms;
	x->weight = longer(x->weight, x->n_arms, to, cap);
	x->var = longer(x->var, x->n_arms, to, cap);
	x->arm = mem_grow(x->arm, &x->cap_arms, to, sizeof *x->arm);
	for (; x->n_arms < to; x->n_arms++)
		x->arm[x->n_arms] = NAN;
}

static void grow_blocks(struct block_effects *x, uint32_t to)
{
	size_t cap = x->cap_blocks;
	x->trust = longer(x->trust, x->n_blocks, to, cap);
	x->block = mem_grow(x->block, &x->cap_blocks, to, sizeof *x->block);
	for (; x->n_blocks < to; x->n_blocks++) {
		x->block[x->n_blocks] = NAN;
		x->trust[x->n_blocks] = 1;
	}
}

void block_effects_add(struct block_effects *x, uint32_t arm, uint32_t block, double y)
{
	if (arm >= x->n_arms)
		grow_arms(x, arm + 1);
	if (block >= x->n_blocks)
		grow_blocks(x, block + 1);
	x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
	x->v[x->n++] = (struct block_value){arm, block, y, y, 1};
}

static double residual(const struct block_effects *x, const struct block_value *v)
{
	return v->y - x->arm[v->arm] - x->block[v->block];
}

/* Effects that are not there yet, from what is: a block's from arms that are known, then arms'
 * from their first blocks. */
static void begin_effects(struct block_effects *x)
{
	bool any = false;
	for (uint32_t i = 0; i < x->n_arms; i++)
		any = any || !isnan(x->arm[i]);
	for (size_t i = 0; i < x->n && !any; i++)
		if (x->v[i].block == x->v[0].block)
			x->arm[x->v[i].arm] = x->v[i].y;
	/* Values are in the order of time, and each block has an arm of earlier ones. */
	for (size_t first = 0, end; first < x->n; first = end) {
		double sum = 0, n = 0;
		uint32_t b = x->v[first].block;
		for (end = first; end < x->n && x->v[end].block == b; end++)
			if (!isnan(x->arm[x->v[end].arm])) {
				sum += x->v[end].y - x->arm[x->v[end].arm];
				n++;
			}
		if (isnan(x->block[b]))
			x->block[b] = n > 0 ? sum / n : 0;
		for (size_t i = first; i < end; i++)
			if (isnan(x->arm[x->v[i].arm]))
				x->arm[x->v[i].arm] = x->v[i].y - x->block[b];
	}
}

/* The scale of residuals: their median, widened by what the effects took of the freedom. */
static double find_scale(struct block_effects *x, double *room)
{
	double freedom = (double)x->n - x->n_blocks + 1;
	uint32_t n = 0;
	for (uint32_t i = 0; i < x->n_arms; i++)
		freedom -= x->weight[i] > 0;
	for (size_t i = 0; i < x->n; i++)
		room[n++] = fabs(residual(x, &x->v[i]));
	x->seen = 0;
	if (freedom < LEAST_FREEDOM)
		return FIRST_SCALE;
	order_values(room, n);
	double s = MEDIAN_TO_SIGMA * quantile(room, n, 0.5) * sqrt(x->n / freedom);
	x->seen = fmax(s, LEAST_SCALE);
	/* Few residuals: what is usual has a say. */
	s = sqrt((freedom * s * s + 4 * FIRST_SCALE * FIRST_SCALE) / (freedom + 4));
	return fmax(s, LEAST_SCALE);
}

/* One turn: means of blocks, then of arms, by the weights of the last residuals.  The largest
 * change. */
static double turn(struct block_effects *x, double *sum, double *weight)
{
	double most = 0;
	for (int of_arms = 0; of_arms < 2; of_arms++) {
		uint32_t n = of_arms ? x->n_arms : x->n_blocks;
		double *effect = of_arms ? x->arm : x->block;
		for (uint32_t i = 0; i < n; i++)
			sum[i] = weight[i] = 0;
		for (size_t i = 0; i < x->n; i++) {
			struct block_value *v = &x->v[i];
			uint32_t g = of_arms ? v->arm : v->block;
			double r = residual(x, v), far = fabs(r) / (HUBER * x->scale);
			v->weight = (far > 1 ? 1 / far : 1) * x->trust[v->block];
			sum[g] += v->weight * r;
			weight[g] += v->weight;
		}
		for (uint32_t i = 0; i < n; i++)
			if (weight[i] > 0) {
				double by = sum[i] / weight[i];
				effect[i] += by;
				most = fmax(most, fabs(by));
			}
		for (uint32_t i = 0; i < n && of_arms; i++)
			x->weight[i] = weight[i];
	}
	return most;
}

/* Of one value of each arm; weights make outliers count no more than HUBER deviations. */
static void find_variances(struct block_effects *x, double *sum, double *n)
{
	double pooled = x->scale * x->scale;
	double widen = (double)x->n / fmax(1, (double)x->n - x->n_blocks - x->n_arms + 1);
	for (uint32_t i = 0; i < x->n_arms; i++)
		sum[i] = n[i] = 0;
	for (size_t i = 0; i < x->n; i++) {
		const struct block_value *v = &x->v[i];
		double r = v->weight * residual(x, v);
		sum[v->arm] += r * r;
		n[v->arm] += x->trust[v->block];
	}
	for (uint32_t i = 0; i < x->n_arms; i++)
		x->var[i] = (fmin(widen, 4) * sum[i] + OWN_VARIANCE_AFTER * pooled) /
			    (n[i] + OWN_VARIANCE_AFTER);
}

/* How far the others of each block are from the reference, beyond their effects: the median of
 * them; NAN: there is no such pair. */
static void find_gaps(const struct block_effects *x, double *gap, double *room)
{
	for (uint32_t b = 0; b < x->n_blocks; b++)
		gap[b] = NAN;
	for (size_t first = 0, end; first < x->n; first = end) {
		uint32_t n = 0, b = x->v[first].block;
		double reference = NAN;
		for (end = first; end < x->n && x->v[end].block == b; end++)
			if (x->v[end].arm == 0)
				reference = residual(x, &x->v[end]);
			else
				room[n++] = residual(x, &x->v[end]);
		if (n == 0 || isnan(reference))
			continue;
		order_values(room, n);
		gap[b] = quantile(room, n, 0.5) - reference;
	}
}

/* Where most of ascending x[n] are: the shortest interval with two fifths of them (as the shorth,
 * Andrews et al. 1972, Robust Estimates of Location).  More than half of the blocks may be
 * disturbed, each in another way. */
struct usual {
	double mid, sigma;
};

static struct usual find_usual(const double *x, uint32_t n)
{
	static const double WIDTH_TO_SIGMA =
		1.907 / 2; /* 40 % of a normal are within 0.524 sigma */
	uint32_t at = 0, h = (2 * n + 4) / 5;
	for (uint32_t i = 0; i + h < n; i++)
		if (x[i + h] - x[i] < x[at + h] - x[at])
			at = i;
	double few = 1 + 5.0 / n; /* the shortest of few is too short */
	return (struct usual){(x[at] + x[at + h]) / 2, few * WIDTH_TO_SIGMA * (x[at + h] - x[at])};
}

/* Trust of each block by its gap; false: as before. */
static bool find_trust(struct block_effects *x, double *gap, double *room)
{
	bool change = false;
	uint32_t n = 0;
	find_gaps(x, gap, room);
	for (uint32_t b = 0; b < x->n_blocks; b++)
		if (!isnan(gap[b]))
			room[n++] = gap[b];
	if (n < LEAST_BLOCKS)
		return false;
	order_values(room, n);
	struct usual u = find_usual(room, n);
	double far = FAR * fmax(u.sigma, LEAST_GAP);
	for (uint32_t b = 0; b < x->n_blocks; b++) {
		double t = !isnan(gap[b]) && fabs(gap[b] - u.mid) > far ? DISTURBED_TRUST : 1;
		change = change || t != x->trust[b];
		x->trust[b] = t;
	}
	return change;
}

static void fit_effects(struct block_effects *x, double *sum, double *weight, double *room)
{
	for (int t = 0; t < MOST_TURNS; t++) {
		double change = turn(x, sum, weight);
		if (t < SCALE_TURNS)
			x->scale = find_scale(x, room);
		if (change < SMALL_CHANGE)
			break;
	}
}

void block_effects_fit(struct block_effects *x)
{
	size_t most = x->n + x->n_arms + x->n_blocks;
	double *room = MEM_NEWN(double, 3 * most + 1), *sum = room + most, *weight = sum + most;
	begin_effects(x);
	for (size_t i = 0; i < x->n; i++)
		x->weight[x->v[i].arm] = 1;
	x->scale = find_scale(x, room);
	fit_effects(x, sum, weight, room);
	for (int i = 0; i < TRUST_TURNS && find_trust(x, sum, room); i++)
		fit_effects(x, sum, weight, room);
	find_variances(x, sum, weight);
	mem_free(room);
}
