/* fractal.c - fractal dimensions of all nodes: which batches of searches are made, by which
 * threads, and how far they go.  The searches themselves: multibfs.h. */
#include "feature/fractal.h"
#include "feature/multibfs.h"

struct fractal_job {
	const struct bfs_graph *g;
	struct bfs_search *search; /* one per thread */
	double *D;
	uint32_t batch; /* sources per task */
};

static void run_batch(void *arg, int task, int thread)
{
	struct fractal_job *j = arg;
	struct bfs_search *s = &j->search[thread];
	uint32_t first = (uint32_t)task * j->batch, n = j->g->n - first;
	if (n > j->batch)
		n = j->batch;
	if (j->batch == 64)
		bfs_narrow(j->g, s, first, n, UINT64_MAX);
	else
		bfs_wide(j->g, s, first, n, UINT64_MAX);
	for (uint32_t i = 0; i < n; i++)
		j->D[j->g->node[first + i]] = bfs_slope(j->g, s, i);
}

/* What a visit costs in a wide batch: more than in a narrow one, less than eight. */
static const double WIDE_COST = 3;

/* Long thin graphs keep the frontiers of distant sources apart: there a wide batch
 * makes nearly as many visits as eight narrow ones. */
static uint32_t choose_batch(const struct bfs_graph *g, struct bfs_search *s)
{
	if (g->n <= BFS_WIDE * 64)
		return BFS_WIDE * 64;
	uint32_t middle = g->n / 2;
	bfs_wide(g, s, middle - BFS_WIDE * 32, BFS_WIDE * 64, UINT64_MAX);
	double wide = WIDE_COST * (double)s->visits;
	bfs_narrow(g, s, middle - 32, 64, (uint64_t)(wide / BFS_WIDE));
	return BFS_WIDE * (double)s->visits > wide ? BFS_WIDE * 64 : 64;
}

void fractal_dimension(const struct digraph *d, const struct fractal_opts *o, double *D)
{
	if (d->n == 0)
		return;
	struct arena *a = arena_new();
	struct bfs_graph g;
	bfs_graph_init(&g, d, o->directed, o->radius_cap, a);
	int n_threads = o->pool ? pool_size(o->pool) : 1;
	struct fractal_job j = {.g = &g, .D = D};
	j.search = ARENA_NEWN(a, struct bfs_search, (size_t)n_threads);
	for (int t = 0; t < n_threads; t++)
		bfs_search_init(&j.search[t], d->n, a);
	j.batch = choose_batch(&g, &j.search[0]);
	int n_tasks = (int)((d->n + j.batch - 1) / j.batch);
	if (o->pool)
		pool_run(o->pool, n_tasks, run_batch, &j);
	else
		for (int i = 0; i < n_tasks; i++)
			run_batch(&j, i, 0);
	arena_free(a);
}

/* Searches from a few places along the order of nodes tell how far one batch gets with its share of
 * the budget; the narrow or the wide kind counts, whichever gets farther. */
enum { PROBES = 4 };

uint32_t fractal_radius_cap(const struct digraph *d, bool directed, double budget)
{
	double n = d->n, worst = n * (n + 2.0 * d->m); /* each source on its own */
	if (d->n <= BFS_WIDE * 64 || worst <= budget)
		return 0;
	struct arena *a = arena_new();
	struct bfs_graph g;
	struct bfs_search s;
	bfs_graph_init(&g, d, directed, 0, a);
	bfs_search_init(&s, d->n, a);
	/* Visits that one batch may make. */
	uint64_t narrow = (uint64_t)(budget * 64 / n),
		 wide = (uint64_t)(budget * BFS_WIDE * 64 / n / WIDE_COST);
	uint32_t cap = 0;
	for (uint32_t p = 0; p < PROBES; p++) {
		uint32_t first = (uint32_t)((uint64_t)p * (d->n - BFS_WIDE * 64) / (PROBES - 1));
		uint32_t r = bfs_narrow(&g, &s, first, 64, narrow);
		if (s.visits <= narrow)
			continue;
		uint32_t r_wide = bfs_wide(&g, &s, first, BFS_WIDE * 64, wide);
		if (s.visits <= wide)
			continue;
		r = r > r_wide ? r : r_wide;
		if (cap == 0 || r - 1 < cap)
			cap = r > 3 ? r - 1 : 2;
	}
	arena_free(a);
	return cap;
}
