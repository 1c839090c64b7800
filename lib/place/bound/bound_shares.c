/* bound_shares.c - the dual of the largest sum over a clique, in which items may be split: sum over items of min over d of
 * ((1 - s) W_d + s + price_d) seconds(item, d).  Ascent by subgradients. */
#include <math.h>
#include <string.h>

#include "place/bound/alike.h"
#include "place/bound/bound_shares.h"

/* Rounds of ascent; cliques up to which each pair is searched at the end, how often, how finely. */
enum { ROUNDS = 300, MOST_PAIRED = 4, PASSES = 2, CUTS = 24 };
/* So few items are not looked through for those that are alike. */
enum { FEW = 64 };
/* Of more kinds shares are found by so many of them. */
enum { SAMPLE = 8192 };

/* All maximal cliques: `in`, and what of `may` can join it; `done` could, and has been looked at (Bron, Kerbosch,
 * Communications of the ACM 16(9), 1973).  More than there is room for are left out: fewer constraints, and still a bound. */
static void list_cliques(struct shares *x, const uint32_t *with, uint32_t in, uint32_t may,
			 uint32_t done)
{
	if (!may && !done && x->n < SHARES_MOST_CLIQUES)
		x->clique[x->n++] = in;
	while (may) {
		uint32_t d = (uint32_t)__builtin_ctz(may), bit = UINT32_C(1) << d;

		list_cliques(x, with, in | bit, may & with[d], done & with[d]);
		may &= ~bit;
		done |= bit;
	}
}

bool shares_init(struct shares *x, const struct bound_view *v)
{
	const uint8_t *turns = v->m->costs.turns;
	uint32_t with[TURNS_MOST] = {0};

	*x = (struct shares){.k = v->k, .deadline_s = v->deadline_s};
	if (v->k > TURNS_MOST)
		return false;
	for (uint32_t i = 0; turns && i < v->k * v->k; i++)
		with[i / v->k] |= turns[i] ? UINT32_C(1) << i % v->k : 0;
	list_cliques(x, with, 0, (UINT32_C(1) << v->k) - 1, 0);
	return true;
}

/* W (k) by the weights of cliques. */
static void find_shares(const struct shares *x, const double *w, double *share)
{
	for (uint32_t d = 0; d < x->k; d++) {
		share[d] = 0;
		for (uint32_t c = 0; c < x->n; c++)
			share[d] += x->clique[c] >> d & 1 ? w[c] : 0;
	}
}

/* What there is to share out. */
struct items {
	const struct shares *x;
	const double *s; /* (n,k) */
	uint32_t n;
	const bool *in;      /* (n) or NULL */
	const double *count; /* (n) how many are like it; NULL: it is the only one */
	double slow;
	const double *price; /* (k) or NULL */
};

/* The dual at factors of seconds (k), and what its minimiser loads devices with. */
static double dual_value(const struct items *it, const double *factor, double *load)
{
	const struct shares *x = it->x;
	double sum = 0;

	memset(load, 0, x->k * sizeof(*load));
	for (uint32_t i = 0; i < it->n; i++) {
		const double *s = &it->s[(size_t)i * x->k];
		uint32_t at = x->k;

		if (it->in && !it->in[i])
			continue;
		for (uint32_t d = 0; d < x->k; d++)
			if (s[d] < INFINITY &&
			    (at == x->k || factor[d] * s[d] < factor[at] * s[at]))
				at = d;
		if (at == x->k)
			continue;
		double all_s = it->count ? it->count[i] * s[at] : s[at];
		sum += factor[at] * all_s;
		load[at] += all_s;
	}
	return sum;
}

/* Weights move by factors: up where the minimiser loads a clique more than the mean. */
static void move_weights(const struct shares *x, const double *load, double *w, double size)
{
	double of[SHARES_MOST_CLIQUES], mean = 0, sum = 0;

	for (uint32_t c = 0; c < x->n; c++) {
		of[c] = 0;
		for (uint32_t d = 0; d < x->k; d++)
			of[c] += x->clique[c] >> d & 1 ? load[d] : 0;
		mean += w[c] * of[c];
	}
	for (uint32_t c = 0; c < x->n; c++) {
		if (mean > 0)
			w[c] *= exp(size * fmax(-1, fmin(1, of[c] / mean - 1)));
		sum += w[c];
	}
	for (uint32_t c = 0; c < x->n; c++)
		w[c] /= sum;
}

/* The dual at these shares; fills load (k). */
static double value_of_shares(const struct items *it, const double *share, double *load)
{
	double factor[TURNS_MOST];

	for (uint32_t d = 0; d < it->x->k; d++)
		factor[d] = (1 - it->slow) * share[d] + it->slow + (it->price ? it->price[d] : 0);
	return dual_value(it, factor, load);
}

/* The dual at weights w; fills share and load (k). */
static double value_at(const struct items *it, const double *w, double *share, double *load)
{
	find_shares(it->x, w, share);
	return value_of_shares(it, share, load);
}

double shares_value(const struct shares *x, const double *item_s, uint32_t n, const bool *in,
		    double s, const double *price, const double *share)
{
	const struct items it = {x, item_s, n, in, NULL, s, price};
	double load[TURNS_MOST];

	return value_of_shares(&it, share, load);
}

/* The dual is concave: what cliques a and b have together, by golden sections (Kiefer, Proc. AMS 4(3), 1953). */
static void share_pair(const struct items *it, uint32_t a, uint32_t b, double *w)
{
	static const double GOLDEN = 0.6180339887498949;
	double share[TURNS_MOST], load[TURNS_MOST], all = w[a] + w[b], lo = 0, hi = all;

	for (int i = 0; i < CUTS; i++) {
		double part = GOLDEN * (hi - lo), at[2] = {hi - part, lo + part}, value[2];

		for (int j = 0; j < 2; j++) {
			w[a] = at[j];
			w[b] = all - at[j];
			value[j] = value_at(it, w, share, load);
		}
		if (value[0] >= value[1])
			hi = at[1];
		else
			lo = at[0];
	}
	w[a] = (lo + hi) / 2;
	w[b] = all - w[a];
}

static double ascend(const struct items *of, double *share)
{
	const struct items it = *of;
	const struct shares *x = of->x;
	double w[SHARES_MOST_CLIQUES], best_w[SHARES_MOST_CLIQUES], now[TURNS_MOST],
		load[TURNS_MOST], best = -1;
	/* Two cliques share what there is in one way; the pairs of few are worth it. */
	int rounds = x->n == 2 ? 1 : ROUNDS;

	for (uint32_t c = 0; c < x->n; c++)
		w[c] = 1.0 / x->n;
	for (int round = 0; round < rounds && !(round && bound_is_late(x->deadline_s)); round++) {
		double value = value_at(&it, w, now, load);

		if (value > best) {
			best = value;
			memcpy(best_w, w, x->n * sizeof(*w));
			memcpy(share, now, x->k * sizeof(*share));
		}
		move_weights(x, load, w, 0.5 / sqrt(1 + round) / (1 + 0.02 * round));
	}
	for (int pass = 0; x->n <= MOST_PAIRED && pass < (x->n == 2 ? 1 : PASSES) &&
			   !bound_is_late(x->deadline_s);
	     pass++)
		for (uint32_t a = 0; a < x->n; a++)
			for (uint32_t b = a + 1; b < x->n; b++) {
				share_pair(&it, a, b, best_w);
				double value = value_at(&it, best_w, now, load);

				if (value > best) {
					best = value;
					memcpy(share, now, x->k * sizeof(*share));
				}
			}
	return best;
}

double shares_ascend(const struct shares *x, const double *item_s, uint32_t n, const bool *in,
		     double s, const double *price, double *share)
{
	size_t row = x->k * sizeof *item_s;
	struct alike all, kinds;

	if (n < FEW)
		return ascend(&(struct items){x, item_s, n, in, NULL, s, price}, share);
	alike_init(&all, n, in, item_s, row, NULL, 0);
	alike_sample(&all, SAMPLE, &kinds);
	double *one = MEM_NEWN(double, (size_t)kinds.n * x->k + 1);

	for (uint32_t i = 0; i < kinds.n; i++)
		memcpy(&one[(size_t)i * x->k], &item_s[(size_t)kinds.first[i] * x->k], row);
	double value = ascend(&(struct items){x, one, kinds.n, NULL, kinds.count, s, price}, share);

	/* Any shares give a bound, of all items. */
	if (kinds.n < all.n)
		value = shares_value(x, item_s, n, in, s, price, share);
	alike_release(&all);
	mem_free(one);
	alike_release(&kinds);
	return value;
}
