/* bound_load.c - load bound over unrelated devices with memory limits. */
#include <math.h>

#include "place/bound/bound_dual.h"
#include "place/bound/bounds.h"

enum { ROUNDS = 300, PLANES = 40 };

/* Of more kinds of units multipliers are found by so many of them; any give a bound, of all. */
enum { SAMPLE = 8192 };

static double ascend(struct dual *x)
{
	struct alike all = x->units;

	if (all.n <= SAMPLE)
		return dual_ascend(x, ROUNDS, dual_least, NULL);
	alike_sample(&all, SAMPLE, &x->units);
	dual_ascend(x, ROUNDS, dual_least, NULL);
	alike_release(&x->units);
	x->units = all;
	return dual_at(x, dual_least, NULL);
}

double bound_load_s(struct bound_view *v)
{
	struct dual x;
	bool limited = false;

	dual_init(&x, v, 0);
	double best = ascend(&x);
	for (uint32_t c = 0; c < x.n_classes; c++)
		for (uint32_t d = 0; d < v->k; d++) {
			limited |= v->limit[d] < UINT64_MAX;
			if (v->u->equivalent[d] == x.first[c])
				v->share[d] = x.w[c];
		}
	if (limited) {
		x.memory = true;
		best = fmax(best, ascend(&x));
		best = dual_planes(&x, PLANES, best, dual_least, NULL);
	}
	dual_release(&x);
	/* A hair less, for what rounding adds up to. */
	return fmax(0, best) * (1 - 1e-9);
}

/* The longest unit where it is fastest is a load, too. */
static double load_value(struct bound_problem *x)
{
	const struct bound_view *v = &x->v;
	double longest = 0;

	for (uint32_t i = 0; i < v->u->n; i++) {
		double least = INFINITY;

		for (uint32_t d = 0; d < v->k; d++)
			least = fmin(least, v->unit_s[(size_t)i * v->k + d]);
		longest = least < INFINITY ? fmax(longest, least) : longest;
	}
	return fmax(bound_load_s(&x->v), longest * (1 - 1e-12));
}

const struct lower_bound bound_load = {
	.kind = "load",
	.source = "Lenstra, Shmoys, Tardos, Math. Programming 46, 1990, the linear relaxation",
	.rules = 1U << PLACE_SCHEDULE | 1U << PLACE_DNNPART_THROUGHPUT,
	.metric = METRIC_PERIOD,
	.value = load_value};
