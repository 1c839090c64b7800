/* bound_window.c - what must fit between heads and tails.
 *
 * Take a head h and a tail t.  The tasks that cannot start before h and have a path of at least t
 * behind them all run between h and (end - t), and share the devices meanwhile:
 *     end >= h + load of these tasks + t
 *
 *      tail
 *        |        :  x   x
 *        |    x   :x    x       the tasks of window (h, t) are those above and right
 *      t |........:.........
 *        |  x    x   x
 *        '--------h--------- head
 *
 * Heads and tails are rounded down to a few levels, which makes windows larger in no place: the
 * bound stays a bound.  sum[i][j] is the load of tasks of head level i and tail level j; summing it
 * from the far corner gives the load of every window in one pass.
 *
 * Of (1 - s) times the end and s times all that is computed, where a second of a task on d costs (1 - s) W_d + s in the
 * window and s outside of it, the least is
 *     (1 - s) (h + t) + least costs of the tasks in the window + s (least seconds of the others). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "place/bound/bound_shares.h"
#include "place/bound/bounds.h"

enum { MAX_LEVELS = 64, SHARINGS = 3 };
static const double MOST_CELLS = 2e5; /* tasks times devices: beyond it sharing takes too long */

/* A window: the levels that it begins with. */
struct window {
	double head_s, tail_s;
};

/* At most MAX_LEVELS of the values, ascending, smallest and largest among them; how many. */
static uint32_t choose_levels(const double *x, uint32_t n, double *level)
{
	double *sorted = mem_copy(x, n, sizeof(*x));
	uint32_t m = n < MAX_LEVELS ? n : MAX_LEVELS;

	if (n > 1)
		qsort(sorted, n, sizeof(*sorted), ascending_real);
	for (uint32_t i = 0; i < m; i++)
		level[i] = sorted[m > 1 ? (uint64_t)i * (n - 1) / (m - 1) : 0];
	mem_free(sorted);
	return m;
}

/* The last level that is not above x; the first when all are. */
static uint32_t level_below(const double *level, uint32_t n, double x)
{
	while (n > 1 && level[n - 1] > x)
		n--;
	return n - 1;
}

/* The least cost of a task when device d takes factor[d] for a second (NULL: 1); INFINITY: it can run nowhere. */
static double least_cost(const struct bound_view *v, uint32_t t, const double *factor)
{
	double least = INFINITY;

	for (uint32_t d = 0; d < v->k; d++)
		if (v->task_s[(size_t)t * v->k + d] < INFINITY)
			least = fmin(least,
				     (factor ? factor[d] : 1) * v->task_s[(size_t)t * v->k + d]);
	return least;
}

/* The best over all windows at these shares, and which one that is. */
static double best_window(const struct bound_view *v, const double *share, double s,
			  const double *head_s, const double *tail_s, struct window *at)
{
	double head[MAX_LEVELS], tail[MAX_LEVELS], sum[MAX_LEVELS][MAX_LEVELS] = {{0}};
	double *factor = MEM_NEWN(double, v->k), best = 0, outside = 0;
	uint32_t n_heads = choose_levels(head_s, v->n, head),
		 n_tails = choose_levels(tail_s, v->n, tail);

	for (uint32_t d = 0; d < v->k; d++)
		factor[d] = (1 - s) * share[d] + s;
	for (uint32_t t = 0; t < v->n; t++) {
		double least = least_cost(v, t, factor);

		if (least == INFINITY)
			continue;
		double shared = s > 0 ? s * least_cost(v, t, NULL) : 0;

		outside += shared;
		sum[level_below(head, n_heads, head_s[t])][level_below(tail, n_tails, tail_s[t])] +=
			least - shared;
	}
	mem_free(factor);
	/* sum[i][j] becomes the load of head levels from i on; load: of tail levels from j on,
	 * too. */
	for (uint32_t i = n_heads; i-- > 0;) {
		double load = 0;

		for (uint32_t j = n_tails; j-- > 0;) {
			sum[i][j] += i + 1 < n_heads ? sum[i + 1][j] : 0;
			load += sum[i][j];
			double all = (1 - s) * (head[i] + tail[j]) + load + outside;

			if (load > 0 && all > best) {
				best = all;
				*at = (struct window){head[i], tail[j]};
			}
		}
	}
	return best;
}

double bound_window_s(const struct bound_view *v, double s, const double *head_s,
		      const double *tail_s)
{
	struct window at = {0, 0};
	struct shares x;
	double share[TURNS_MOST], best = best_window(v, v->share, s, head_s, tail_s, &at);
	bool *in = MEM_NEWN(bool, v->n),
	     open = (double)v->n * v->k <= MOST_CELLS && shares_init(&x, v);

	/* What is shared out best over all tasks is not so over those of a window. */
	for (int i = 0; open && i < SHARINGS; i++) {
		for (uint32_t t = 0; t < v->n; t++)
			in[t] = head_s[t] >= at.head_s && tail_s[t] >= at.tail_s;
		shares_ascend(&x, v->task_s, v->n, in, s, NULL, share);
		double value = best_window(v, share, s, head_s, tail_s, &at);

		open = value > best * (1 + 1e-6);
		best = fmax(best, value);
	}
	mem_free(in);
	return best * (1 - 1e-9);
}

static double window_value(struct bound_problem *x)
{
	return bound_window_s(&x->v, 0, x->head_s, x->tail_s);
}

const struct lower_bound bound_window = {.kind = "window",
					 .source = "energetic reasoning: Erschler, Lopez, Thuriot, "
						   "Revue d'intelligence artificielle 5(3), 1991",
					 .rules = 1U << PLACE_SCHEDULE,
					 .metric = METRIC_LATENCY,
					 .value = window_value};
