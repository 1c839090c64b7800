/* exact_free_side.c - a problem forwards or backwards, and what follows its tasks at least. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/exact/exact_free_impl.h"

/* ---- the graph ---- */

/* Edges of the graph as (from, to), each pair once with its largest tensor; how many. */
static uint32_t list_edges(const struct bound_view *v, bool backwards, uint32_t *from,
			   struct free_edge *to)
{
	const struct sched_dag *d = v->d;
	uint32_t n = 0;

	for (uint32_t t = 0; t < v->n; t++) {
		uint32_t first = n;

		for (uint32_t i = d->in_ptr[t]; i < d->in_ptr[t + 1]; i++) {
			uint32_t x = d->use_tensor[d->in_use[i]], u = d->tensor_task[x], j = first;
			uint32_t a = backwards ? v->n - 1 - t : u;
			uint32_t b = backwards ? v->n - 1 - u : t;
			double bytes = (double)d->tensor_bytes[x];

			while (j < n && (from[j] != a || to[j].task != b))
				j++;
			if (j == n) {
				from[n] = a;
				to[n++] = (struct free_edge){b, bytes};
			}
			to[j].bytes = fmax(to[j].bytes, bytes);
		}
	}
	return n;
}

static int edge_compare(const void *pa, const void *pb)
{
	const struct free_edge *a = pa, *b = pb;

	return (a->task > b->task) - (a->task < b->task);
}

/* Rows of edges by the task at one end, by ascending task at the other. */
static void fill_rows(uint32_t n, uint32_t n_edges, const uint32_t *at, const uint32_t *other,
		      const struct free_edge *edge, uint32_t *ptr, struct free_edge *row)
{
	uint32_t m = 0;

	for (uint32_t t = 0; t < n; t++) {
		ptr[t] = m;
		for (uint32_t i = 0; i < n_edges; i++)
			if (at[i] == t)
				row[m++] = (struct free_edge){other[i], edge[i].bytes};
		if (m - ptr[t] > 1)
			qsort(row + ptr[t], m - ptr[t], sizeof(*row), edge_compare);
	}
	ptr[n] = m;
}

static void find_edges(struct free_side *g, const struct bound_view *v, bool backwards,
		       struct arena *a)
{
	uint32_t most = v->d->n_uses;
	uint32_t *from = MEM_NEWN(uint32_t, most), *to = MEM_NEWN(uint32_t, most);
	struct free_edge *edge = MEM_NEWN(struct free_edge, most);
	uint32_t n = list_edges(v, backwards, from, edge);

	for (uint32_t i = 0; i < n; i++)
		to[i] = edge[i].task;
	g->in_at = ARENA_NEWN(a, uint32_t, (size_t)v->n + 1);
	g->out_at = ARENA_NEWN(a, uint32_t, (size_t)v->n + 1);
	g->in = ARENA_NEWN(a, struct free_edge, n);
	g->out = ARENA_NEWN(a, struct free_edge, n);
	fill_rows(v->n, n, to, from, edge, g->in_at, g->in);
	fill_rows(v->n, n, from, to, edge, g->out_at, g->out);
	mem_free(from);
	mem_free(to);
	mem_free(edge);
}

static void find_costs(struct free_side *g, const struct bound_view *v, bool backwards,
		       struct arena *a)
{
	const struct sched_links *l = &v->m->costs.links;
	uint32_t n = v->n, k = v->k;

	g->s = ARENA_NEWN(a, double, (size_t)n *k);
	g->least_s = ARENA_NEWN(a, double, n);
	g->latency_s = ARENA_NEWN(a, double, (size_t)k *k);
	g->s_per_byte = ARENA_NEWN(a, double, (size_t)k *k);
	g->least_latency_s = g->least_s_per_byte = INFINITY;
	for (uint32_t t = 0; t < n; t++) {
		uint32_t of = backwards ? n - 1 - t : t;

		g->least_s[t] = INFINITY;
		for (uint32_t d = 0; d < k; d++) {
			g->s[(size_t)t * k + d] = v->task_s[(size_t)of * k + d];
			g->least_s[t] = fmin(g->least_s[t], g->s[(size_t)t * k + d]);
		}
	}
	for (uint32_t i = 0; i < k * k; i++) {
		uint32_t at = backwards ? i % k * k + i / k : i;

		g->latency_s[i] = l->latency_s[at] < 0 ? INFINITY : l->latency_s[at];
		g->s_per_byte[i] = l->latency_s[at] < 0 ? 0 : 1 / l->bytes_per_s[at];
		if (i / k == i % k)
			continue;
		g->least_latency_s = fmin(g->least_latency_s, g->latency_s[i]);
		g->least_s_per_byte = fmin(g->least_s_per_byte, g->s_per_byte[i]);
	}
	if (g->least_s_per_byte == INFINITY)
		g->least_s_per_byte = 0;
}

/* ---- what follows ---- */

/* A reader of a task: what is behind it where it is on the task's device (its seconds, what
 * follows), and from the task's end on where it is on another. */
struct reader {
	double s, tail_s, away_s;
};

static int away_first(const void *pa, const void *pb)
{
	const struct reader *a = pa, *b = pb;

	return (a->away_s < b->away_s) - (a->away_s > b->away_s);
}

/* The readers on the device run one after another: the shortest, by what follows them. */
static double in_a_row(struct reader *r, uint32_t n)
{
	double sum = 0, most = 0;

	/* The last one is in its place when those before are. */
	for (uint32_t i = n - 1; n > 0 && i > 0 && r[i - 1].tail_s < r[i].tail_s; i--) {
		struct reader swap = r[i];

		r[i] = r[i - 1];
		r[i - 1] = swap;
	}
	for (uint32_t i = 0; i < n; i++) {
		sum += r[i].s;
		most = fmax(most, sum + r[i].tail_s);
	}
	return most;
}

/* Readers that would be late elsewhere are on the task's device, in a row, the others are not: the
 * best of all such divisions. */
static double least_behind(const struct free_side *g, uint32_t t, uint32_t dev, struct reader *r,
			   struct reader *here)
{
	uint32_t n = g->out_at[t + 1] - g->out_at[t], k = g->k;
	double least = INFINITY;

	for (uint32_t i = 0; i < n; i++) {
		const struct free_edge *e = &g->out[g->out_at[t] + i];
		size_t row = (size_t)e->task * k;

		bool together = g->cluster[e->task] == g->cluster[t];
		r[i] = (struct reader){g->s[row + dev], g->tail_s[row + dev], INFINITY};
		for (uint32_t d = 0; d < k; d++)
			if (d != dev && !together)
				r[i].away_s = fmin(r[i].away_s, free_copy_s(g, dev, d, e->bytes) +
									g->s[row + d] +
									g->tail_s[row + d]);
	}
	if (n > 1)
		qsort(r, n, sizeof(*r), away_first);
	for (uint32_t m = 0; m <= n; m++) {
		if (m > 0)
			here[m - 1] = r[m - 1];
		double row = in_a_row(here, m);

		least = fmin(least, fmax(row, m < n ? r[m].away_s : 0));
		if (row == INFINITY)
			break;
	}
	return least;
}

/* What depends on t and shares its device runs there after it, one after another. */
static double cluster_behind(const struct free_side *g, uint32_t t, uint32_t dev,
			     struct reader *here)
{
	uint32_t n = 0;
	double most = 0;

	for (uint32_t v = t + 1; v < g->n; v++) {
		size_t cell = (size_t)v * g->k + dev;

		if (!(g->below[t] >> v & 1) || g->cluster[v] != g->cluster[t])
			continue;
		here[n++] = (struct reader){g->s[cell], g->tail_s[cell], 0};
		most = in_a_row(here, n);
	}
	return most;
}

static void find_tails(struct free_side *g)
{
	uint32_t n = g->n, k = g->k;
	struct reader *r = MEM_NEWN(struct reader, n), *here = MEM_NEWN(struct reader, n);

	for (uint32_t t = n; t-- > 0;) {
		g->least_tail_s[t] = INFINITY;
		for (uint32_t d = 0; d < k; d++) {
			double s =
				fmax(least_behind(g, t, d, r, here), cluster_behind(g, t, d, here));

			g->tail_s[(size_t)t * k + d] = s;
			if (g->s[(size_t)t * k + d] < INFINITY)
				g->least_tail_s[t] = fmin(g->least_tail_s[t], s);
		}
	}
	mem_free(r);
	mem_free(here);
}

/* What follows where the one sink is on another device: somewhere on the way there is a copy. */
static void find_apart(struct free_side *g)
{
	uint32_t sinks = 0;

	for (uint32_t t = 0; t < g->n; t++)
		g->apart_s[t] = 0;
	for (uint32_t t = 0; t < g->n; t++)
		sinks += g->out_at[t] == g->out_at[t + 1];
	g->one_sink = sinks == 1 && g->n > 1 && g->k > 1;
	for (uint32_t t = g->n; t-- > 0;)
		for (uint32_t i = g->out_at[t]; i < g->out_at[t + 1]; i++) {
			const struct free_edge *e = &g->out[i];
			double crosses = g->least_latency_s + e->bytes * g->least_s_per_byte +
					 g->least_s[e->task] + g->least_tail_s[e->task];
			bool sink = g->out_at[e->task] == g->out_at[e->task + 1];

			if (!sink)
				crosses = fmin(crosses, g->least_s[e->task] + g->apart_s[e->task]);
			g->apart_s[t] = fmax(g->apart_s[t], crosses);
		}
}

/* ---- orders of tasks ---- */

/* Tasks by descending key (n), into x (n). */
static void sort_tasks(uint32_t n, const double *key, uint32_t *x)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = i;

		for (; j > 0 && key[x[j - 1]] < key[i]; j--)
			x[j] = x[j - 1];
		x[j] = i;
	}
}

static bool same_row(const struct free_edge *a, uint32_t n, const struct free_edge *b, uint32_t m)
{
	for (uint32_t i = 0; n == m && i < n; i++)
		if (a[i].task != b[i].task || a[i].bytes != b[i].bytes)
			return false;
	return n == m;
}

static bool are_twins(const struct free_side *g, uint32_t a, uint32_t b)
{
	return memcmp(g->s + (size_t)a * g->k, g->s + (size_t)b * g->k, g->k * sizeof(*g->s)) ==
		       0 &&
	       same_row(g->in + g->in_at[a], g->in_at[a + 1] - g->in_at[a], g->in + g->in_at[b],
			g->in_at[b + 1] - g->in_at[b]) &&
	       same_row(g->out + g->out_at[a], g->out_at[a + 1] - g->out_at[a],
			g->out + g->out_at[b], g->out_at[b + 1] - g->out_at[b]);
}

void free_side_bounds(struct free_side *g)
{
	find_tails(g);
	find_apart(g);
	sort_tasks(g->n, g->least_tail_s, g->by_tail);
	sort_tasks(g->n, g->apart_s, g->by_apart);
}

void free_side_init(struct free_side *g, const struct bound_view *v, bool backwards,
		    struct arena *a)
{
	*g = (struct free_side){.n = v->n, .k = v->k, .equivalent = v->u->equivalent};
	find_costs(g, v, backwards, a);
	find_edges(g, v, backwards, a);
	g->tail_s = ARENA_NEWN(a, double, (size_t)g->n * g->k);
	g->least_tail_s = ARENA_NEWN(a, double, g->n);
	g->apart_s = ARENA_NEWN(a, double, g->n);
	g->by_tail = ARENA_NEWN(a, uint32_t, g->n);
	g->by_apart = ARENA_NEWN(a, uint32_t, g->n);
	g->cluster = ARENA_NEWN(a, uint32_t, g->n);
	g->below = ARENA_NEWN(a, uint64_t, g->n);
	g->twin = ARENA_NEWN(a, uint32_t, g->n);
	for (uint32_t t = g->n; t-- > 0;) {
		g->cluster[t] = t;
		for (uint32_t i = g->out_at[t]; i < g->out_at[t + 1]; i++)
			g->below[t] |= g->below[g->out[i].task] | UINT64_C(1) << g->out[i].task;
	}
	for (uint32_t t = 0; t < g->n; t++) {
		g->twin[t] = SCHED_NONE;
		for (uint32_t u = t; u-- > 0 && g->twin[t] == SCHED_NONE;)
			if (are_twins(g, u, t))
				g->twin[t] = u;
	}
	free_side_bounds(g);
}
