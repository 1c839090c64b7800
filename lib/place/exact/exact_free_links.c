/* exact_free_links.c - tasks that must share a device in every schedule that ends in time: where a
 * copy between them would come too late, with what is before and behind.  Those that must share one
 * run one after another, so that more is before and behind them, and more copies are too
 * late; until nothing changes. */
#include <math.h>

#include "place/exact/exact_free_impl.h"

static bool join(struct free_side *g, uint32_t u, uint32_t v)
{
	uint32_t from = g->cluster[u], to = g->cluster[v];

	for (uint32_t t = 0; t < g->n; t++)
		if (g->cluster[t] == from)
			g->cluster[t] = to;
	return from != to;
}

/* Joins what copies would make late; were there any? */
static bool join_late(struct free_side side[2], double limit_s)
{
	struct free_side *g = &side[0];
	bool any = false;

	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->out_at[u]; i < g->out_at[u + 1]; i++) {
			const struct free_edge *e = &g->out[i];
			double copy = g->least_latency_s + e->bytes * g->least_s_per_byte;
			double s = side[1].least_tail_s[g->n - 1 - u] + g->least_s[u] + copy +
				   g->least_s[e->task] + g->least_tail_s[e->task];

			if (s > limit_s && join(g, u, e->task))
				any = join(&side[1], g->n - 1 - u, g->n - 1 - e->task);
		}
	return any;
}

/* Do tasks that share a device not fit one after another between what is before the first and
 * behind the last?  Of all that have as much before and behind. */
static bool row_is_late(const struct free_side side[2], double limit_s)
{
	const struct free_side *g = &side[0];
	uint32_t n = g->n;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			double head = side[1].least_tail_s[n - 1 - a], tail = g->least_tail_s[b];
			double sum = 0;
			bool any = false;

			if (g->cluster[a] != g->cluster[b] || a == b)
				continue;
			for (uint32_t t = 0; t < n; t++) {
				if (g->cluster[t] != g->cluster[a] || g->least_tail_s[t] < tail ||
				    side[1].least_tail_s[n - 1 - t] < head)
					continue;
				sum += g->least_s[t];
				any = true;
			}
			if (any && head + sum + tail > limit_s)
				return true;
		}
	return false;
}

void free_unlink(struct free_side side[2])
{
	for (int i = 0; i < 2; i++) {
		for (uint32_t t = 0; t < side[i].n; t++)
			side[i].cluster[t] = t;
		free_side_bounds(&side[i]);
	}
}

bool free_link(struct free_side side[2], double limit_s)
{
	double some = limit_s + 1e-9 * fabs(limit_s);

	if (limit_s == INFINITY)
		return false;
	for (uint32_t t = 0; t < side[0].n; t++)
		if (side[1].least_tail_s[side[0].n - 1 - t] + side[0].least_s[t] +
			    side[0].least_tail_s[t] >
		    some)
			return true;
	while (join_late(side, some)) {
		free_side_bounds(&side[0]);
		free_side_bounds(&side[1]);
		if (row_is_late(side, some))
			return true;
	}
	return row_is_late(side, some);
}
