/* fractal.c - fractal dimension by bit-parallel breadth-first search.  A batch
 * of W x 64 sources runs at once: every node has W words, a bit for each source
 * that has reached it.  Bits that are new at radius r are counted per source with
 * bit-sliced counters, so that a word of 64 sources costs a few operations. */
#include "feature/fractal.h"

#include <math.h>
#include <string.h>

enum { WIDE = 8, PLANES = 34, ROWS = 16, AHEAD = 16 };
#define INLINE static inline __attribute__((always_inline))

/* The graph, renumbered so that neighbours have near numbers. */
struct field {
	uint32_t n, m;
	uint32_t *ptr, *adj;           /* where a search goes on from v */
	uint32_t *back_ptr, *back_adj; /* where it comes from; the same when undirected */
	uint32_t *node;                /* (n) original number */
	double *log;                   /* (n+1) log[0] unused */
	double *sum_x, *sum_xx;        /* (n+1) of log r, r <= i */
	uint32_t cap;
};

/* One thread's search.  Bits stand W words to a node, W being 1 or WIDE. */
struct search {
	uint64_t *seen, *cur,
		*next;            /* (n, W) sources that have reached v: ever, at radius r, r + 1 */
	uint32_t *list, *touched; /* (n) nodes with bits in cur, next */
	uint32_t *visited;        /* (n) nodes with bits in seen */
	uint32_t n_list, n_touched, n_visited;
	uint64_t edges;                /* that lead on from the nodes of the list */
	uint64_t fresh[ROWS * WIDE];   /* (ROWS, W) new bits that are not counted yet */
	uint64_t plane[PLANES * WIDE]; /* (PLANES, W) bit k of the counts of this radius */
	int n_fresh, n_planes;
	uint32_t ball[WIDE * 64], radius[WIDE * 64]; /* per source: N(v,r), last r with new nodes */
	double sum_y[WIDE * 64], sum_xy[WIDE * 64];
	uint64_t visits; /* nodes and edges handled so far */
};

/* ---- one step of a search ---- */

/* Adds the rows of `fresh` to the counters: carry-save adders halve the rows plane by
 * plane, and one carry ripples on. */
INLINE void count_rows(struct search *s, size_t W)
{
	int k = 0;
	for (; k < 4; k++)
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

/* What reached v: keep what is new as v's bits of the next radius, list v if there is any. */
INLINE void settle(const struct field *f, struct search *s, uint32_t v, const uint64_t *reached,
		   size_t W)
{
	uint64_t any = 0, before = 0, now[WIDE];
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
	s->edges += f->ptr[v + 1] - f->ptr[v];
	if (!before)
		s->visited[s->n_visited++] = v;
	if (++s->n_fresh == ROWS)
		count_rows(s, W);
}

INLINE void push(const struct field *f, struct search *s, size_t W)
{
	uint32_t *restrict touched = s->touched, n_touched = 0;
	for (uint32_t i = 0; i < s->n_list; i++) {
		uint32_t u = s->list[i];
		uint64_t from[WIDE], *restrict cur = s->cur + u * W;
		for (size_t w = 0; w < W; w++) {
			from[w] = cur[w];
			cur[w] = 0;
		}
		for (uint32_t j = f->ptr[u]; j < f->ptr[u + 1]; j++) {
			uint32_t v = f->adj[j];
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
	for (uint32_t i = 0; i < n_touched; i++) { /* settle lists fewer than were read */
		uint64_t reached[WIDE];
		for (size_t w = 0; w < W; w++)
			reached[w] = s->next[touched[i] * W + w];
		settle(f, s, touched[i], reached, W);
	}
}

/* The same for a large frontier: every node that some source still lacks asks its
 * neighbours. */
INLINE void pull(const struct field *f, struct search *s, const uint64_t *sources, size_t W)
{
	const uint64_t *restrict cur = s->cur;
	s->n_touched = 0;
	for (uint32_t v = 0; v < f->n; v++) {
		uint64_t lacks = 0, reached[WIDE] = {0};
		for (size_t w = 0; w < W; w++)
			lacks |= sources[w] & ~s->seen[v * W + w];
		if (!lacks)
			continue;
		for (uint32_t j = f->back_ptr[v]; j < f->back_ptr[v + 1]; j++) {
			if (W > 1) /* the list goes on AHEAD places beyond its end */
				__builtin_prefetch(cur + f->back_adj[j + AHEAD] * W);
			for (size_t w = 0; w < W; w++)
				reached[w] |= cur[f->back_adj[j] * W + w];
		}
		settle(f, s, v, reached, W);
	}
	for (uint32_t i = 0; i < s->n_list; i++)
		for (size_t w = 0; w < W; w++)
			s->cur[s->list[i] * W + w] = 0;
}

/* The counts of radius r into the sums of the regression. */
INLINE void take_counts(const struct field *f, struct search *s, uint32_t r, size_t W)
{
	memset(s->fresh + (size_t)s->n_fresh * W, 0,
	       (size_t)(ROWS - s->n_fresh) * W * sizeof *s->fresh);
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
			double y = f->log[s->ball[i]];
			s->sum_y[i] += y;
			s->sum_xy[i] += f->log[r] * y;
			s->radius[i] = r;
		}
	}
	s->n_planes = 0;
}

/* ---- a batch ---- */

INLINE void start(const struct field *f, struct search *s, uint32_t first, uint32_t n_sources,
		  uint64_t *sources, size_t W)
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
		s->edges += f->ptr[v + 1] - f->ptr[v];
	}
}

/* Searches from nodes first .. first + n_sources - 1, until no node is new, the cap is
 * reached or more than max_visits were made; returns the number of radii. */
INLINE uint32_t search_from(const struct field *f, struct search *s, uint32_t first,
			    uint32_t n_sources, uint64_t max_visits, size_t W)
{
	uint64_t sources[WIDE] = {0};
	uint32_t r = 0;
	start(f, s, first, n_sources, sources, W);
	while (s->n_list && r < f->cap && s->visits <= max_visits) {
		bool large = s->edges > f->m / 4;
		s->visits += s->edges + s->n_list;
		s->edges = 0;
		if (large)
			pull(f, s, sources, W);
		else
			push(f, s, W);
		r++;
		take_counts(f, s, r, W);
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

static uint32_t search_narrow(const struct field *f, struct search *s, uint32_t first, uint32_t n,
			      uint64_t max_visits)
{
	return search_from(f, s, first, n, max_visits, 1);
}

static uint32_t search_wide(const struct field *f, struct search *s, uint32_t first, uint32_t n,
			    uint64_t max_visits)
{
	return search_from(f, s, first, n, max_visits, WIDE);
}

static double slope(const struct field *f, const struct search *s, uint32_t i)
{
	uint32_t R = s->radius[i];
	if (R < 2)
		return 0;
	double x = f->sum_x[R], xx = f->sum_xx[R];
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

static void field_init(struct field *f, const struct digraph *d, bool directed, uint32_t cap,
		       struct arena *a)
{
	*f = (struct field){
		.n = d->n, .m = directed ? d->m : 2 * d->m, .cap = cap ? cap : UINT32_MAX};
	f->node = arena_raw(a, d->n, sizeof *f->node);
	order_nodes(d, a, f->node);
	uint32_t *place = arena_raw(a, d->n, sizeof *place);
	for (uint32_t i = 0; i < d->n; i++)
		place[f->node[i]] = i;
	struct digraph moved = {.n = d->n, .m = d->m};
	moved.src = arena_raw(a, d->m, sizeof *moved.src);
	moved.dst = arena_raw(a, d->m, sizeof *moved.dst);
	for (uint32_t i = 0; i < d->m; i++) {
		moved.src[i] = place[d->src[i]];
		moved.dst[i] = place[d->dst[i]];
	}
	neighbours(&moved, true, !directed, a, &f->ptr, &f->adj);
	neighbours(&moved, !directed, true, a, &f->back_ptr, &f->back_adj);
	f->log = ARENA_NEWN(a, double, (size_t)d->n + 1);
	f->sum_x = ARENA_NEWN(a, double, (size_t)d->n + 1);
	f->sum_xx = ARENA_NEWN(a, double, (size_t)d->n + 1);
	for (uint32_t i = 1; i <= d->n; i++) {
		double x = f->log[i] = log(i);
		f->sum_x[i] = f->sum_x[i - 1] + x;
		f->sum_xx[i] = f->sum_xx[i - 1] + x * x;
	}
}

static void search_init(struct search *s, uint32_t n, struct arena *a)
{
	memset(s, 0, sizeof *s);
	s->seen = ARENA_NEWN(a, uint64_t, (size_t)n * WIDE);
	s->cur = ARENA_NEWN(a, uint64_t, (size_t)n * WIDE);
	s->next = ARENA_NEWN(a, uint64_t, (size_t)n * WIDE);
	s->list = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	s->touched = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	s->visited = ARENA_NEWN(a, uint32_t, n);
}

/* ---- all nodes ---- */

struct job {
	const struct field *f;
	struct search *search; /* one per thread */
	double *D;
	uint32_t batch; /* sources per task */
};

static void run_batch(void *arg, int task, int thread)
{
	struct job *j = arg;
	struct search *s = &j->search[thread];
	uint32_t first = (uint32_t)task * j->batch, n = j->f->n - first;
	if (n > j->batch)
		n = j->batch;
	if (j->batch == 64)
		search_narrow(j->f, s, first, n, UINT64_MAX);
	else
		search_wide(j->f, s, first, n, UINT64_MAX);
	for (uint32_t i = 0; i < n; i++)
		j->D[j->f->node[first + i]] = slope(j->f, s, i);
}

/* What a visit costs in a wide batch: more than in a narrow one, less than eight. */
static const double WIDE_COST = 3;

/* Long thin graphs keep the frontiers of distant sources apart: there a wide batch
 * makes nearly as many visits as eight narrow ones. */
static uint32_t choose_batch(const struct field *f, struct search *s)
{
	if (f->n <= WIDE * 64)
		return WIDE * 64;
	uint32_t middle = f->n / 2;
	search_wide(f, s, middle - WIDE * 32, WIDE * 64, UINT64_MAX);
	double wide = WIDE_COST * (double)s->visits;
	search_narrow(f, s, middle - 32, 64, (uint64_t)(wide / WIDE));
	return WIDE * (double)s->visits > wide ? WIDE * 64 : 64;
}

void fractal_dimension(const struct digraph *d, const struct fractal_opts *o, double *D)
{
	if (d->n == 0)
		return;
	struct arena *a = arena_new();
	struct field f;
	field_init(&f, d, o->directed, o->radius_cap, a);
	int n_threads = o->pool ? pool_size(o->pool) : 1;
	struct job j = {.f = &f, .D = D};
	j.search = ARENA_NEWN(a, struct search, (size_t)n_threads);
	for (int t = 0; t < n_threads; t++)
		search_init(&j.search[t], d->n, a);
	j.batch = choose_batch(&f, &j.search[0]);
	int n_tasks = (int)((d->n + j.batch - 1) / j.batch);
	if (o->pool)
		pool_run(o->pool, n_tasks, run_batch, &j);
	else
		for (int i = 0; i < n_tasks; i++)
			run_batch(&j, i, 0);
	arena_free(a);
}

enum { PROBES = 4 };

uint32_t fractal_radius_cap(const struct digraph *d, bool directed, double budget)
{
	double n = d->n, worst = n * (n + 2.0 * d->m); /* each source on its own */
	if (d->n <= WIDE * 64 || worst <= budget)
		return 0;
	struct arena *a = arena_new();
	struct field f;
	struct search s;
	field_init(&f, d, directed, 0, a);
	search_init(&s, d->n, a);
	/* Visits that one batch may make. */
	uint64_t narrow = (uint64_t)(budget * 64 / n),
		 wide = (uint64_t)(budget * WIDE * 64 / n / WIDE_COST);
	uint32_t cap = 0;
	for (uint32_t p = 0; p < PROBES; p++) {
		uint32_t first = (uint32_t)((uint64_t)p * (d->n - WIDE * 64) / (PROBES - 1));
		uint32_t r = search_narrow(&f, &s, first, 64, narrow);
		if (s.visits <= narrow)
			continue;
		uint32_t r_wide = search_wide(&f, &s, first, WIDE * 64, wide);
		if (s.visits <= wide)
			continue;
		r = r > r_wide ? r : r_wide;
		if (cap == 0 || r - 1 < cap)
			cap = r > 3 ? r - 1 : 2;
	}
	arena_free(a);
	return cap;
}
