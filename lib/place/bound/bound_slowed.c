/* bound_slowed.c - latency where devices slow each other (place_latency_s).
 *
 * Either one device computes all that takes time: then the latency is at least the sum of its tasks.  Or several compute: then
 * with M the makespan, B the busy seconds of all devices and s = slowdown, at most 1 (PLACE_MOST_SLOWDOWN)
 *     latency = (1 + beside g) L,    L = M + s max(0, B - M) = max(M, (1 - s) M + s B),
 *     g = a + (1 - a) min(1, 2 u),    u = U / B,
 * where U is what all devices but the busiest compute, and a is PLACE_BESIDE_AT_ONCE.  Bounds of M and windows with s
 * (bound_window.c) are lower bounds of L.  Where u is a half and more, g is 1.  Else, as at most P devices compute at once, B
 * is at most P M, L / B at least q = (1 - s) / P + s, and
 *     latency >= (1 + a beside) L + 2 (1 - a) beside q U,
 * which the dual of the load has with a price on all devices but the busiest, whichever that is (bound_shares.c).  The bound
 * is the least of the cases. */
#include <math.h>

#include "place/bound/bound_shares.h"
#include "place/bound/bounds.h"

/* Seconds that are nothing beside what the task takes before its neighbours save: what one rounds to 0 another may not. */
static const double NOTHING = 1e-9;

/* free (n,k): tasks that may take no time on a device on which nothing else takes any: no savings count but those of neighbours
 * that are like that. */
static void find_free(const struct bound_view *v, bool *free_on)
{
	const struct place_model *m = v->m;

	for (uint32_t t = 0; t < v->n; t++)
		for (uint32_t d = 0; d < v->k; d++) {
			size_t at = (size_t)t * v->k + d;
			double s = m->costs.task_s[at];

			for (uint32_t j = m->saved_ptr ? m->saved_ptr[t] : 0;
			     m->saved_ptr && j < m->saved_ptr[t + 1]; j++)
				if (free_on[(size_t)m->saved_task[j] * v->k + d])
					s -= fmax(0, m->saved_s[(size_t)j * v->k + d]);
			free_on[at] =
				v->task_s[at] < INFINITY && s <= NOTHING * m->costs.task_s[at];
		}
}

double bound_alone_s(const struct bound_view *v)
{
	bool *free_on = MEM_NEWN(bool, (size_t)v->n * v->k + 1);
	double least = INFINITY;

	find_free(v, free_on);
	for (uint32_t d = 0; d < v->k; d++) {
		double sum = 0;

		for (uint32_t t = 0; t < v->n; t++) {
			bool elsewhere = false;

			for (uint32_t other = 0; other < v->k; other++)
				elsewhere |= other != d && free_on[(size_t)t * v->k + other];
			sum += elsewhere ? 0 : v->task_s[(size_t)t * v->k + d];
		}
		least = fmin(least, sum);
	}
	mem_free(free_on);
	/* A hair less, for what rounding adds up to. */
	return least * (1 - 1e-11);
}

/* Devices up to which shares are found for each price; any shares make a bound. */
enum { MOST_PRICED = 4 };

/* The least latency of several devices that takes at least l_s without multi_slowdown. */
static double several_s(const struct bound_view *v, const struct shares *x, double l_s)
{
	const struct place_model *m = v->m;
	const double a = PLACE_BESIDE_AT_ONCE, b = m->multi_slowdown, s = m->slowdown;
	double least = (1 + b) * l_s, share[TURNS_MOST], price[TURNS_MOST];

	if (!x)
		return (1 + a * b) * l_s;
	double q = (1 - s) / fmin(v->k, x->n) + s;
	if (v->k > MOST_PRICED)
		shares_ascend(x, v->unit_s, v->u->n, NULL, s, NULL, share);
	for (uint32_t busiest = 0; busiest < v->k; busiest++) {
		for (uint32_t d = 0; d < v->k; d++)
			price[d] = d == busiest ? 0 : 2 * (1 - a) * b * q / (1 + a * b);
		double priced_s =
			v->k > MOST_PRICED
				? shares_value(x, v->unit_s, v->u->n, NULL, s, price, share)
				: shares_ascend(x, v->unit_s, v->u->n, NULL, s, price, share);
		least = fmin(least, (1 + a * b) * fmax(l_s, priced_s));
	}
	return least;
}

double bound_slowed_s(const struct bound_view *v, double makespan_s, const double *head_s,
		      const double *tail_s)
{
	const struct place_model *m = v->m;
	double s = m->slowdown, least = makespan_s;
	struct shares x;
	double share[TURNS_MOST];
	bool has_shares = shares_init(&x, v);

	if (s > 0 && has_shares)
		least = fmax(least, shares_ascend(&x, v->unit_s, v->u->n, NULL, s, NULL, share));
	if (s > 0)
		least = fmax(least,
			     fmax(bound_window_s(v, s, head_s, tail_s), bound_series_s(v, s)));
	if (m->multi_slowdown > 0)
		least = several_s(v, has_shares ? &x : NULL, least);
	return fmin(bound_alone_s(v), least * (1 - 1e-10));
}

static double slowed_value(struct bound_problem *x)
{
	const struct place_model *m = x->v.m;

	if (m->slowdown == 0 && m->multi_slowdown == 0)
		return 0;
	return bound_slowed_s(&x->v, x->best[METRIC_LATENCY].value, x->head_s, x->tail_s);
}

const struct lower_bound bound_slowed = {.kind = "slowed",
					 .source = "the load bound with a price of seconds at "
						   "once; the less of one device and several",
					 .rules = 1U << PLACE_SCHEDULE,
					 .metric = METRIC_LATENCY,
					 .value = slowed_value};
