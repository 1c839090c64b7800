/* bound_shares.c - the dual of the largest sum over a clique, in which items may be split: sum over items of min over d of
 * ((1 - s) W_d + s) seconds(item, d).  Ascent by subgradients. */
#include <math.h>
#include <string.h>

#include "place/bound/bound_shares.h"

enum { ROUNDS = 300 };

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

	*x = (struct shares){.k = v->k};
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

/* The dual at factors of seconds (k), and what its minimiser loads devices with. */
static double dual_value(const struct shares *x, const double *item_s, uint32_t n, const bool *in,
			 const double *factor, double *load)
{
	double sum = 0;

	memset(load, 0, x->k * sizeof(*load));
	for (uint32_t i = 0; i < n; i++) {
		const double *s = &item_s[(size_t)i * x->k];
		uint32_t at = x->k;

		if (in && !in[i])
			continue;
		for (uint32_t d = 0; d < x->k; d++)
			if (s[d] < INFINITY &&
			    (at == x->k || factor[d] * s[d] < factor[at] * s[at]))
				at = d;
		if (at == x->k)
			continue;
		sum += factor[at] * s[at];
		load[at] += s[at];
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

double shares_ascend(const struct shares *x, const double *item_s, uint32_t n, const bool *in,
		     double s, double *share)
{
	double w[SHARES_MOST_CLIQUES], now[TURNS_MOST], factor[TURNS_MOST], load[TURNS_MOST],
		best = -1;

	for (uint32_t c = 0; c < x->n; c++)
		w[c] = 1.0 / x->n;
	for (int round = 0; round < ROUNDS; round++) {
		find_shares(x, w, now);
		for (uint32_t d = 0; d < x->k; d++)
			factor[d] = (1 - s) * now[d] + s;
		double value = dual_value(x, item_s, n, in, factor, load);

		if (value > best) {
			best = value;
			memcpy(share, now, x->k * sizeof(*share));
		}
		move_weights(x, load, w, 0.5 / sqrt(1 + round) / (1 + 0.02 * round));
	}
	return best;
}
