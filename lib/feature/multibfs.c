/* multibfs.c - bit-parallel breadth-first search; multibfs.h has the picture. */
#include "feature/multibfs.h"

#include <math.h>
#include <string.h>

enum { AHEAD = 16 }; /* places that a prefetch looks ahead in a list of neighbours */

/* W is a constant in each of the two searches, so their loops over words are unrolled. */
#define INLINE static inline __attribute__((always_inline))

/* ---- one step of a search ---- */

/* Add the rows of `fresh` to the counters: full adders halve the rows plane by plane, and one
 * carry ripples on. */
INLINE void count_rows(struct bfs_search *s, size_t W)
{
	int k = 0;
	for (; k < 4; k++) /* BFS_ROWS is 2^4 */
		for (size_t i = 0; i < 8u >> k; i++)
			for (size_t w = 0; w < W; w++) {
				uint64_t a = s->fresh[2 * i * W + w],
					 b = s->fresh[(2 * i + 1) * W + w];
				uint64_t *plane = &s->plane[(size_t)k * W + w], c = *plane;
				*plane = a ^ b ^ c;
				s->fresh[i * W + w] = (a & b) | ((a ^ b) & c);
			}
	for (uint64_t any = 1; any; k++) {
		any = 0;
		for (size_t w = 0; w < W; w++) {
			uint64_t *plane = &s->plane[(size_t)k * W + w],
				 carry = *plane & s->fresh[w];
			*plane ^= s->fresh[w];
			s->fresh[w] = carry;
			any |= carry;
		}
	}
	if (k > s->n_planes)
		s->n_planes = k;
	s->n_fresh = 0;
}

/* The sources `reached` come to v at the next radius: those that are new are noted, and v is listed
 * if there are any. */
INLINE void add_reached(const struct bfs_graph *g, struct bfs_search *s, uint32_t v,
			const uint64_t *reached, size_t W)
{
	uint64_t any = 0, before = 0, now[BFS_WIDE];
	uint64_t *restrict seen = s->seen + v * W, *restrict next = s->next + v * W;
	uint64_t *restrict row = s->fresh + (size_t)s->n_fresh * W;
	for (size_t w = 0; w < W; w++) {
		now[w] = reached[w] & ~seen[w];
		any |= now[w];
		before |= seen[w];
	}
	for (size_t w = 0; w < W; w++) {
		seen[w] |= now[w];
		next[w] = row[w] = now[w];
	}
	if (!any)
		return;
	s->touched[s->n_touched++] = v;
	s->edges += g->ptr[v + 1] - g->ptr[v];
	if (!before)
		s->visited[s->n_visited++] = v;
	if (++s->n_fresh == BFS_ROWS)
		count_rows(s, W);
}

/* The frontier hands its bits down. */
INLINE void step_down(const struct bfs_graph *g, struct bfs_search *s, size_t W)
{
	uint32_t *restrict touched = s->touched, n_touched = 0;
	for (uint32_t i = 0; i < s->n_list; i++) {
		uint32_t u = s->list[i];
		uint64_t from[BFS_WIDE], *restrict cur = s->cur + u * W;
		for (size_t w = 0; w < W; w++) {
			from[w] = cur[w];
			cur[w] = 0;
		}
		for (uint32_t j = g->ptr[u]; j < g->ptr[u + 1]; j++) {
			uint32_t v = g->adj[j];
			uint64_t empty = 0, *restrict next = s->next + v * W;
			for (size_t w = 0; w < W; w++) {
				empty |= next[w];
				next[w] |= from[w];
			}
			touched[n_touched] = v;
			n_touched += empty == 0;
		}
	}
	s->n_touched = 0;
	for (uint32_t i = 0; i < n_touched; i++) { /* add_reached lists fewer than were read */
		uint64_t reached[BFS_WIDE];
		for (size_t w = 0; w < W; w++)
			reached[w] = s->next[touched[i] * W + w];
		add_reached(g, s, touched[i], reached, W);
	}
}

/* The same for a large frontier: every node that some source has not reached asks its neighbours.
 * */
INLINE void step_up(const struct bfs_graph *g, struct bfs_search *s, const uint64_t *sources,
		    size_t W)
{
	const uint64_t *restrict cur = s->cur;
	s->n_touched = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		uint64_t lacks = 0, reached[BFS_WIDE] = {0};
		for (size_t w = 0; w < W; w++)
			lacks |= sources[w] & ~s->seen[v * W + w];
		if (!lacks)
			continue;
		for (uint32_t j = g->back_ptr[v]; j < g->back_ptr[v + 1]; j++) {
			if (W > 1) /* the list goes on AHEAD places beyond its end */
				__builtin_prefetch(cur + g->back_adj[j + AHEAD] * W);
			for (size_t w = 0; w < W; w++)
				reached[w] |= cur[g->back_adj[j] * W + w];
		}
		add_reached(g, s, v, reached, W);
	}
	for (uint32_t i = 0; i < s->n_list; i++)
		for (size_t w = 0; w < W; w++)
			s->cur[s->list[i] * W + w] = 0;
}

/* Radius r is over: its counts go into the balls and the sums of the regression. */
INLINE void add_radius(const struct bfs_graph *g, struct bfs_search *s, uint32_t r, size_t W)
{
	memset(s->fresh + (size_t)s->n_fresh * W, 0,
	       (size_t)(BFS_ROWS - s->n_fresh) * W * sizeof *s->fresh);
	count_rows(s, W);
	for (size_t w = 0; w < W; w++) {
		uint64_t grown = 0;
		for (int k = 0; k < s->n_planes; k++) {
			uint64_t *plane = &s->plane[(size_t)k * W + w];
			grown |= *plane;
			for (uint64_t bits = *plane; bits; bits &= bits - 1)
				s->ball[w * 64 + (size_t)__builtin_ctzll(bits)] += 1u << k;
			*plane = 0;
		}
		for (; grown; grown &= grown - 1) {
			size_t i = w * 64 + (size_t)__builtin_ctzll(grown);
			double y = g->log[s->ball[i]];
			s->sum_y[i] += y;
			s->sum_xy[i] += g->log[r] * y;
			s->radius[i] = r;
		}
	}
	s->n_planes = 0;
}

/* ---- a batch ---- */

INLINE void start_batch(const struct bfs_graph *g, struct bfs_search *s, uint32_t first,
			uint32_t n_sources, uint64_t *sources, size_t W)
{
	memset(s->ball, 0, sizeof s->ball);
	memset(s->radius, 0, sizeof s->radius);
	memset(s->sum_y, 0, sizeof s->sum_y);
	memset(s->sum_xy, 0, sizeof s->sum_xy);
	s->visits = s->edges = 0;
	s->n_list = s->n_visited = 0;
	for (uint32_t i = 0; i < n_sources; i++) {
		uint64_t bit = (uint64_t)1 << i % 64;
		uint32_t v = first + i;
		sources[i / 64] |= bit;
		s->seen[v * W + i / 64] |= bit;
		s->cur[v * W + i / 64] |= bit;
		s->list[s->n_list++] = s->visited[s->n_visited++] = v;
		s->edges += g->ptr[v + 1] - g->ptr[v];
	}
}

/* Searches from nodes first .. first + n_sources - 1, until no node is new, the cap is
 * reached or more than max_visits were made; returns the number of radii. */
INLINE uint32_t search_batch(const struct bfs_graph *g, struct bfs_search *s, uint32_t first,
			     uint32_t n_sources, uint64_t max_visits, size_t W)
{
	uint64_t sources[BFS_WIDE] = {0};
	uint32_t r = 0;
	start_batch(g, s, first, n_sources, sources, W);
	while (s->n_list && r < g->cap && s->visits <= max_visits) {
		bool large = s->edges > g->m / 4;
		s->visits += s->edges + s->n_list;
		s->edges = 0;
		if (large)
			step_up(g, s, sources, W);
		else
			step_down(g, s, W);
		r++;
		add_radius(g, s, r, W);
		uint64_t *bits = s->cur;
		uint32_t *list = s->list;
		s->cur = s->next;
		s->next = bits;
		s->list = s->touched;
		s->touched = list;
		s->n_list = s->n_touched;
	}
	for (uint32_t i = 0; i < s->n_list; i++)
		memset(s->cur + s->list[i] * W, 0, W * sizeof *s->cur);
	for (uint32_t i = 0; i < s->n_visited; i++)
		memset(s->seen + s->visited[i] * W, 0, W * sizeof *s->seen);
	return r;
}

uint32_t bfs_narrow(const struct bfs_graph *g, struct bfs_search *s, uint32_t first, uint32_t n,
		    uint64_t max_visits)
{
	return search_batch(g, s, first, n, max_visits, 1);
}

uint32_t bfs_wide(const struct bfs_graph *g, struct bfs_search *s, uint32_t first, uint32_t n,
		  uint64_t max_visits)
{
	return search_batch(g, s, first, n, max_visits, BFS_WIDE);
}

double bfs_slope(const struct bfs_graph *g, const struct bfs_search *s, uint32_t i)
{
	uint32_t R = s->radius[i];
	if (R < 2)
		return 0;
	double x = g->sum_x[R], xx = g->sum_xx[R];
	return (R * s->sum_xy[i] - x * s->sum_y[i]) / (R * xx - x * x);
}

/* ---- preparation ---- */

/* Neighbours of each node along the arrows, against them, or both; AHEAD more places. */
static void neighbours(const struct digraph *d, bool along, bool against, struct arena *a,
		       uint32_t **ptr, uint32_t **adj)
{
	uint32_t *p = ARENA_NEWN(a, uint32_t, (size_t)d->n + 2);
	uint32_t *x = ARENA_NEWN(a, uint32_t, (size_t)d->m * 2 + AHEAD);
	for (uint32_t i = 0; i < d->m; i++) {
		p[d->src[i] + 2] += along;
		p[d->dst[i] + 2] += against;
	}
	for (uint32_t v = 0; v < d->n; v++)
		p[v + 1] += p[v];
	for (uint32_t i = 0; i < d->m; i++) {
		if (along)
			x[p[d->src[i] + 1]++] = d->dst[i];
		if (against)
			x[p[d->dst[i] + 1]++] = d->src[i];
	}
	*ptr = p;
	*adj = x;
}

/* order[n]: breadth-first from the first node of each component. */
static void order_nodes(const struct digraph *d, struct arena *a, uint32_t *order)
{
	uint32_t *ptr, *adj, head = 0, tail = 0;
	bool *seen = ARENA_NEWN(a, bool, d->n);
	neighbours(d, true, true, a, &ptr, &adj);
	for (uint32_t root = 0; root < d->n; root++) {
		if (seen[root])
			continue;
		seen[root] = true;
		order[tail++] = root;
		while (head < tail) {
			uint32_t v = order[head++];
			for (uint32_t j = ptr[v]; j < ptr[v + 1]; j++)
				if (!seen[adj[j]]) {
					seen[adj[j]] = true;
					order[tail++] = adj[j];
				}
		}
	}
}

void bfs_graph_init(struct bfs_graph *g, const struct digraph *d, bool directed, uint32_t cap,
		    struct arena *a)
{
	*g = (struct bfs_graph){
		.n = d->n, .m = directed ? d->m : 2 * d->m, .cap = cap ? cap : UINT32_MAX};
	g->node = arena_raw(a, d->n, sizeof *g->node);
	order_nodes(d, a, g->node);
	uint32_t *place = arena_raw(a, d->n, sizeof *place);
	for (uint32_t i = 0; i < d->n; i++)
		place[g->node[i]] = i;
	struct digraph moved = {.n = d->n, .m = d->m};
	moved.src = arena_raw(a, d->m, sizeof *moved.src);
	moved.dst = arena_raw(a, d->m, sizeof *moved.dst);
	for (uint32_t i = 0; i < d->m; i++) {
		moved.src[i] = place[d->src[i]];
		moved.dst[i] = place[d->dst[i]];
	}
	neighbours(&moved, true, !directed, a, &g->ptr, &g->adj);
	neighbours(&moved, !directed, true, a, &g->back_ptr, &g->back_adj);
	g->log = ARENA_NEWN(a, double, (size_t)d->n + 1);
	g->sum_x = ARENA_NEWN(a, double, (size_t)d->n + 1);
	g->sum_xx = ARENA_NEWN(a, double, (size_t)d->n + 1);
	for (uint32_t i = 1; i <= d->n; i++) {
		double x = g->log[i] = log(i);
		g->sum_x[i] = g->sum_x[i - 1] + x;
		g->sum_xx[i] = g->sum_xx[i - 1] + x * x;
	}
}

void bfs_search_init(struct bfs_search *s, uint32_t n, struct arena *a)
{
	memset(s, 0, sizeof *s);
	s->seen = ARENA_NEWN(a, uint64_t, (size_t)n * BFS_WIDE);
	s->cur = ARENA_NEWN(a, uint64_t, (size_t)n * BFS_WIDE);
	s->next = ARENA_NEWN(a, uint64_t, (size_t)n * BFS_WIDE);
	s->list = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	s->touched = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	s->visited = ARENA_NEWN(a, uint32_t, n);
}
