/* bound_turns.c - load bound where devices take turns: of devices each of which takes turns with all the others (a clique of
 * the turns) nothing is at once, so no schedule is shorter than what they compute together.
 *
 * For w >= 0 with sum 1 over cliques, no placement's largest sum over a clique is below
 *   sum over units of min over devices d of W_d cost(unit, d),  W_d = sum of w over the cliques with d,
 * the dual of the relaxation in which units may be split (bound_dual.h; without memory).  Ascent by subgradients.  W_d are
 * shares of devices as bound_load_s has them. */
#include <math.h>
#include <string.h>

#include "place/bound/bounds.h"
#include "sched/turns.h"

enum { ROUNDS = 300, MOST_CLIQUES = 256 };

struct turns {
	const struct bound_view *v;
	uint32_t with[TURNS_MOST]; /* bits of the devices that each takes turns with */
	uint32_t n, clique[MOST_CLIQUES];
	double w[MOST_CLIQUES], load[TURNS_MOST];
};

/* All maximal cliques: `in`, and what of `may` can join it; `done` could, and has been looked at (Bron, Kerbosch,
 * Communications of the ACM 16(9), 1973).  More than MOST_CLIQUES are left out: fewer constraints, and still a bound. */
static void list_cliques(struct turns *x, uint32_t in, uint32_t may, uint32_t done)
{
	if (!may && !done && x->n < MOST_CLIQUES)
		x->clique[x->n++] = in;
	while (may) {
		uint32_t d = (uint32_t)__builtin_ctz(may), bit = UINT32_C(1) << d;

		list_cliques(x, in | bit, may & x->with[d], done & x->with[d]);
		may &= ~bit;
		done |= bit;
	}
}

/* W (k) by the weights of cliques. */
static void find_shares(const struct turns *x, double *share)
{
	for (uint32_t d = 0; d < x->v->k; d++) {
		share[d] = 0;
		for (uint32_t c = 0; c < x->n; c++)
			share[d] += x->clique[c] >> d & 1 ? x->w[c] : 0;
	}
}

/* The dual at these shares, and what its minimiser loads devices with. */
static double dual_value(struct turns *x, const double *share)
{
	const struct bound_view *v = x->v;
	double sum = 0;

	memset(x->load, 0, sizeof(x->load));
	for (uint32_t i = 0; i < v->u->n; i++) {
		const double *s = &v->unit_s[(size_t)i * v->k];
		uint32_t at = v->k;

		for (uint32_t d = 0; d < v->k; d++)
			if (s[d] < INFINITY && (at == v->k || share[d] * s[d] < share[at] * s[at]))
				at = d;
		if (at == v->k)
			continue;
		sum += share[at] * s[at];
		x->load[at] += s[at];
	}
	return sum;
}

/* Weights move by factors: up where the minimiser loads a clique more than the mean. */
static void move_weights(struct turns *x, double size)
{
	double load[MOST_CLIQUES], mean = 0, sum = 0;

	for (uint32_t c = 0; c < x->n; c++) {
		load[c] = 0;
		for (uint32_t d = 0; d < x->v->k; d++)
			load[c] += x->clique[c] >> d & 1 ? x->load[d] : 0;
		mean += x->w[c] * load[c];
	}
	for (uint32_t c = 0; c < x->n; c++) {
		if (mean > 0)
			x->w[c] *= exp(size * fmax(-1, fmin(1, load[c] / mean - 1)));
		sum += x->w[c];
	}
	for (uint32_t c = 0; c < x->n; c++)
		x->w[c] /= sum;
}

/* The best dual; best_share (k): its W. */
static double ascend(struct turns *x, double *best_share)
{
	double share[TURNS_MOST], best = 0;

	for (uint32_t c = 0; c < x->n; c++)
		x->w[c] = 1.0 / x->n;
	for (int round = 0; round < ROUNDS; round++) {
		find_shares(x, share);
		double value = dual_value(x, share);

		if (value > best) {
			best = value;
			memcpy(best_share, share, x->v->k * sizeof(*share));
		}
		move_weights(x, 0.5 / sqrt(1 + round) / (1 + 0.02 * round));
	}
	return best;
}

static double turns_value(struct bound_problem *p)
{
	struct bound_view *v = &p->v;
	const uint8_t *turns = v->m->costs.turns;
	struct turns x = {.v = v};
	double share[TURNS_MOST];

	if (!turns || v->k > TURNS_MOST)
		return 0;
	for (uint32_t i = 0; i < v->k * v->k; i++)
		x.with[i / v->k] |= turns[i] ? UINT32_C(1) << i % v->k : 0;
	list_cliques(&x, 0, (UINT32_C(1) << v->k) - 1, 0);
	double best = ascend(&x, share) * (1 - 1e-9);
	/* What is shared out by these holds for windows of time, too. */
	if (best > p->best[METRIC_PERIOD].value)
		memcpy(v->share, share, v->k * sizeof(*share));
	return best;
}

const struct lower_bound bound_turns = {
	.kind = "turns",
	.source =
		"Lenstra, Shmoys, Tardos, Math. Programming 46, 1990, with cliques of devices that "
		"exclude each other",
	.rules = 1U << PLACE_SCHEDULE,
	.metric = METRIC_PERIOD,
	.value = turns_value};
