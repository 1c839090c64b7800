/* race_learn.c - what a race knows of its arms, by how much they differ, and who leaves. */
#include <math.h>

#include "base/mem.h"
#include "race/belief.h"
#include "race/race_impl.h"
#include "stats/huber.h"
#include "stats/quantile.h"

static const double ERROR_RATE = 0.02; /* of all leavings of a race together */
/* Of the budget: the time over which an arm has run before it leaves; that of a race before it ends
 * early. */
static const double SEEN_SHARE = 0.1, LEAST_SHARE = 0.3;
static const double MIXTURE = 8; /* bursts around which the boundary is the narrowest */

double race_spent(const struct race *x)
{
	return x->source->spent_s(x->source->ctx) - x->begin_s;
}

/* ---- what is known ---- */

/* The best live arm by shrunk estimates: of the starts or of all.  One with RACE_LEAST bursts goes
 * before one without.  -1: none has run. */
int race_best(const struct race *x, bool start)
{
	int best = -1;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct race_arm *a = &x->arm[i], *b = best < 0 ? NULL : &x->arm[best];
		if (a->state != RACE_LIVE || a->n_bursts == 0 || (start && !a->start))
			continue;
		if (!b || (race_ripe(a) != race_ripe(b) ? race_ripe(a) : a->shrunk < b->shrunk))
			best = (int)i;
	}
	return best;
}

/* What corrections of i's and j's effects have wrong, one against the other: a standard error. */
static double correction_se(const struct race *x, uint32_t i, uint32_t j)
{
	uint32_t n = x->source->n_draws;
	const double *a = x->off + (size_t)i * n, *b = x->off + (size_t)j * n;
	double sum = 0;
	for (uint32_t d = 0; d < n; d++)
		sum += (a[d] - b[d]) * (a[d] - b[d]);
	return n > 1 ? sqrt(sum / (n - 1)) : 0;
}

/* Half of its 95 % interval. */
static double correction_half(const struct race *x, uint32_t i, uint32_t j)
{
	double se = correction_se(x, i, j);
	return se > 0 ? se * t_quantile(x->source->n_draws - 1) : 0;
}

static double se_between(const struct race *x, uint32_t i, uint32_t j)
{
	return hypot(x->arm[i].se, x->arm[j].se);
}

/* Half the width of an interval of effects i and j in standard errors, however often it is looked
 * at, when any of the arms may err. */
static double boundary(const struct race *x, uint32_t i, uint32_t j)
{
	double alpha = ERROR_RATE / x->n;
	double n = fmin(x->fx.weight[i], x->fx.weight[j]);
	return sqrt((1 + MIXTURE / n) * (log1p(n / MIXTURE) - 2 * log(alpha)));
}

/* How much slower i is than j at least, as a logarithm: by the interval, and by the faster quarter
 * of its bursts, as a lost core may have been there in most of them. */
static double surely_slower(const struct race *x, uint32_t i, uint32_t j)
{
	double by = x->arm[i].effect - x->arm[j].effect - boundary(x, i, j) * se_between(x, i, j);
	return fmin(by, x->arm[i].fast - x->arm[j].effect);
}

/* n_clean and fast of all arms. */
static void look_at_bursts(struct race *x)
{
	double *y = MEM_NEWN(double, x->fx.n + 1);
	uint32_t *by = MEM_NEWN(uint32_t, (size_t)x->n + 1); /* ends of arms in y */
	for (uint32_t i = 0; i < x->n; i++)
		x->arm[i].n_clean = 0;
	for (uint32_t i = 0; i + 1 < x->n; i++)
		by[i + 1] = by[i] + x->arm[i].n_bursts;
	for (size_t i = 0; i < x->fx.n; i++) {
		const struct block_value *v = &x->fx.v[i];
		x->arm[v->arm].n_clean += x->fx.trust[v->block] == 1;
		y[by[v->arm]++] = v->y - x->fx.block[v->block];
	}
	for (uint32_t i = 0; i < x->n; i++) {
		struct race_arm *a = &x->arm[i];
		order_values(&y[by[i] - a->n_bursts], a->n_bursts);
		a->fast = a->n_bursts ? y[by[i] - a->n_bursts + a->n_bursts / 4] : 0;
	}
	mem_free(by);
	mem_free(y);
}

/* off of all arms, in blocks that were not disturbed, or where there are none in all. */
static void look_at_draws(struct race *x)
{
	const struct race_source *s = x->source;
	uint32_t n = s->n_draws;
	double *draw = MEM_NEWN(double, (size_t)n + 1);
	for (size_t i = 0; i < (size_t)x->n * n; i++)
		x->off[i] = 0;
	for (size_t i = 0; i < x->fx.n && n && s->excess; i++) {
		const struct block_value *v = &x->fx.v[i];
		const struct race_arm *a = &x->arm[v->arm];
		if (a->n_clean > 0 && x->fx.trust[v->block] < 1)
			continue;
		double mean = s->excess(s->ctx, v->arm, v->block, draw);
		for (uint32_t d = 0; d < n; d++)
			x->off[(size_t)v->arm * n + d] +=
				(draw[d] - mean) / (a->n_clean > 0 ? a->n_clean : a->n_bursts);
	}
	mem_free(draw);
}

/* Is arm i the best of those that use the same devices? */
static bool leads_group(const struct race *x, uint32_t i)
{
	for (uint32_t j = 0; j < x->n; j++) {
		const struct race_arm *a = &x->arm[i], *b = &x->arm[j];
		if (j != i && b->group == a->group && b->n_bursts > 0 && b->state != RACE_FAILED &&
		    (b->shrunk < a->shrunk || (b->shrunk == a->shrunk && j < i)))
			return false;
	}
	return true;
}

/* What slows one group of arms for a while must have had time to end. */
static bool seen_long(const struct race *x, const struct race_arm *a)
{
	return a->last_s - a->first_s >= SEEN_SHARE * x->o.budget_s;
}

/* Arms leave, and come back. */
static void drop_slow(struct race *x)
{
	int best = race_best(x, false), start = race_best(x, true);
	if (best < 0 || !race_ripe(&x->arm[best]))
		return;
	/* The reference stays, to tell disturbed blocks. */
	for (uint32_t i = 1; i < x->n; i++) {
		struct race_arm *a = &x->arm[i];
		if (a->state != RACE_LIVE && a->state != RACE_OUT)
			continue;
		bool out = race_ripe(a) && seen_long(x, a) && (int)i != best && (int)i != start &&
			   !leads_group(x, i) && surely_slower(x, i, (uint32_t)best) > 0;
		a->state = out ? RACE_OUT : RACE_LIVE;
	}
}

/* Values less what is known to have disturbed them. */
static void take_excess(struct race *x)
{
	const struct race_source *s = x->source;
	for (size_t i = 0; i < x->fx.n && s->excess; i++) {
		struct block_value *v = &x->fx.v[i];
		v->y = v->raw - s->excess(s->ctx, v->arm, v->block, NULL);
	}
}

void race_learn(struct race *x)
{
	take_excess(x);
	block_effects_fit(&x->fx);
	x->fitted = x->n_blocks;
	for (uint32_t i = 0; i < x->n && i < x->fx.n_arms; i++) {
		struct race_arm *a = &x->arm[i];
		if (a->n_bursts == 0)
			continue;
		a->effect = x->fx.arm[i];
		a->se = sqrt(x->fx.var[i] / x->fx.weight[i]);
	}
	look_at_bursts(x);
	look_at_draws(x);
	belief_shrink(x->arm, x->n);
	drop_slow(x);
}

/* ---- two arms ---- */

/* Differences of arms i and j in blocks of both, into d; y is room for all blocks.  How many. */
static uint32_t find_pairs(const struct race *x, uint32_t i, uint32_t j, bool clean, double *y,
			   double *d)
{
	const struct block_effects *fx = &x->fx;
	uint32_t n = 0;
	for (uint32_t b = 0; b < x->n_blocks; b++)
		y[b] = NAN;
	for (size_t k = 0; k < fx->n; k++)
		if (fx->v[k].arm == j && (!clean || fx->trust[fx->v[k].block] == 1))
			y[fx->v[k].block] = fx->v[k].y;
	for (size_t k = 0; k < fx->n; k++)
		if (fx->v[k].arm == i && !isnan(y[fx->v[k].block]))
			d[n++] = fx->v[k].y - y[fx->v[k].block];
	return n;
}

/* As race_ratio, by the bursts alone. */
static bool ratio_of_bursts(const struct race *x, uint32_t i, uint32_t j, struct interval *out)
{
	double *y = MEM_NEWN(double, 2 * (size_t)x->n_blocks + 1), *d = y + x->n_blocks;
	uint32_t n = find_pairs(x, i, j, true, y, d);
	if (n < RACE_LEAST)
		n = find_pairs(x, i, j, false, y, d);
	if (n > 0) {
		struct interval r = huber_mean_in_time(d, n);
		*out = (struct interval){exp(r.mid), exp(r.lo), exp(r.hi)};
	}
	if (n > 0 && i == j)
		*out = (struct interval){1, 1, 1};
	mem_free(y);
	return n > 0;
}

bool race_ratio(const struct race *x, uint32_t i, uint32_t j, struct interval *out)
{
	bool any = ratio_of_bursts(x, i, j, out);
	if (any && i != j)
		*out = interval_wider(*out, correction_half(x, i, j));
	return any;
}

/* race_claim, where few bursts of arm i make `effect`, and its standard error, of it. */
static bool claim_by(const struct race *x, uint32_t i, uint32_t j, double effect, double se,
		     struct interval *out)
{
	const struct race_arm *a = &x->arm[i], *b = &x->arm[j];
	double mid = effect - b->effect;
	bool any = race_ratio(x, i, j, out);
	if (any && i != j && (a->n_bursts < 2 || b->n_bursts < 2 || !(x->fx.seen > 0))) {
		*out = (struct interval){exp(mid), 0, INFINITY};
		return true;
	}
	if (!any || i == j || (a->n_clean >= RACE_ENOUGH && b->n_clean >= RACE_ENOUGH))
		return any;
	double half = hypot(se, b->se);
	half *= t_quantile(1 + (a->n_clean < b->n_clean ? a->n_clean : b->n_clean));
	half = hypot(half, correction_half(x, i, j));
	*out = (struct interval){exp(mid), exp(mid - half), exp(mid + half)};
	return true;
}

bool race_claim(const struct race *x, uint32_t i, uint32_t j, struct interval *out)
{
	return claim_by(x, i, j, x->arm[i].shrunk, x->arm[i].shrunk_se, out);
}

bool race_between(const struct race *x, uint32_t i, uint32_t j, struct interval *out)
{
	return claim_by(x, i, j, x->arm[i].effect, x->arm[i].se, out);
}

bool race_usual(const struct race *x, uint32_t i, uint32_t j, struct interval *out)
{
	bool any = ratio_of_bursts(x, i, j, out);
	if (any && i != j)
		*out = interval_wider(*out, correction_se(x, i, j));
	return any;
}

/* Nothing live or waiting can be faster than the leader by the tolerance. */
bool race_settled(const struct race *x)
{
	int best = race_best(x, false), start = race_best(x, true);
	struct interval r;
	if (best < 0 || !race_ripe(&x->arm[best]) || race_spent(x) < LEAST_SHARE * x->o.budget_s)
		return false;
	if (start >= 0 && !(race_ratio(x, (uint32_t)best, (uint32_t)start, &r) && r.hi <= 1))
		return false;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct race_arm *a = &x->arm[i];
		if ((int)i == best || a->state == RACE_OUT || a->state == RACE_FAILED)
			continue;
		if (!race_ripe(a) || surely_slower(x, i, (uint32_t)best) < -x->o.tolerance)
			return false;
	}
	return true;
}
