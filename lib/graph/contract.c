/* contract.c - contraction of edges of a directed graph that stays acyclic, on a
 * topological order that is kept up to date. */
#include "base/disjoint.h"
#include "graph/contract.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_VISITS = 4096, /* edges that one search may look at */
	MEAN_VISITS = 256, /* and all searches together, per edge of the graph */
	MAX_PASSES = 16
};

/* The quotient graph while it shrinks.  Edges keep their first ends; find gives
 * the group that an end is in now.  Lists of edges are joined, not copied. */
struct shrink {
	uint32_t *parent; /* (n) */
	const struct digraph *q;
	uint32_t *head[2], *tail[2], *next[2]; /* edges out of (0) and into (1) a group */
	uint32_t *pos;                         /* (n) a topological order, with gaps */
	uint32_t *mark, stamp;
	uint32_t *forward, *backward, *pool; /* (n) the groups that a search found */
	uint64_t budget;
};

static void add_edge(struct shrink *s, int way, uint32_t v, uint32_t edge)
{
	s->next[way][edge] = GRAPH_NONE;
	if (s->head[way][v] == GRAPH_NONE)
		s->head[way][v] = edge;
	else
		s->next[way][s->tail[way][v]] = edge;
	s->tail[way][v] = edge;
}

static void shrink_init(struct shrink *s, const struct digraph *q, struct arena *a)
{
	uint32_t n = q->n;
	*s = (struct shrink){.parent = arena_raw(a, n, sizeof *s->parent),
			     .q = q,
			     .budget = (uint64_t)MEAN_VISITS * ((uint64_t)n + q->m) + MAX_VISITS};
	for (int way = 0; way < 2; way++) {
		s->head[way] = arena_raw(a, n, sizeof *s->head[way]);
		s->tail[way] = arena_raw(a, n, sizeof *s->tail[way]);
		s->next[way] = arena_raw(a, q->m, sizeof *s->next[way]);
		memset(s->head[way], 0xff, n * sizeof *s->head[way]);
	}
	for (uint32_t i = 0; i < q->m; i++) {
		add_edge(s, 0, q->src[i], i);
		add_edge(s, 1, q->dst[i], i);
	}
	s->mark = ARENA_NEWN(a, uint32_t, n);
	s->forward = arena_raw(a, n, sizeof *s->forward);
	s->backward = arena_raw(a, n, sizeof *s->backward);
	s->pool = arena_raw(a, (size_t)n + 2, sizeof *s->pool);
	s->pos = arena_raw(a, n, sizeof *s->pos);
	bool acyclic = digraph_toposort(q, a, s->pool);
	assert(acyclic);
	(void)acyclic;
	for (uint32_t i = 0; i < n; i++) {
		s->parent[i] = i;
		s->pos[s->pool[i]] = i;
	}
}

enum search { FOUND, NOT_FOUND, TOO_LONG };

/* All groups strictly between lo and hi in the order that lie behind a (way 0: descendants)
 * or before it (way 1) into set[*n]; FOUND when one of them, not a itself, has an edge to b. */
static enum search search(struct shrink *s, int way, uint32_t a, uint32_t b, uint32_t *set,
			  uint32_t *n)
{
	uint32_t lo = s->pos[way ? b : a], hi = s->pos[way ? a : b], visits = 0;
	const uint32_t *end = way ? s->q->src : s->q->dst;
	*n = 0;
	s->stamp++;
	for (uint32_t head = 0, v = a;; v = set[head++]) {
		for (uint32_t i = s->head[way][v]; i != GRAPH_NONE; i = s->next[way][i]) {
			uint32_t w = disjoint_find(s->parent, end[i]);
			if (++visits > MAX_VISITS || s->budget == 0)
				return TOO_LONG;
			s->budget--;
			if (w == b && v != a)
				return FOUND;
			if (w == b || w == v || s->pos[w] <= lo || s->pos[w] >= hi ||
			    s->mark[w] == s->stamp)
				continue;
			s->mark[w] = s->stamp;
			set[(*n)++] = w;
		}
		if (head == *n)
			return NOT_FOUND;
	}
}

static int by_value(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return a < b ? -1 : a > b;
}

/* Replace groups by their positions, ascending. */
static void to_positions(const struct shrink *s, uint32_t *set, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		set[i] = s->pos[set[i]];
	qsort(set, n, sizeof *set, by_value);
}

struct by_pos {
	uint32_t pos, v;
};

/* Sort groups by position. */
static void sort_groups(const struct shrink *s, uint32_t *set, uint32_t n)
{
	struct by_pos *key = MEM_NEWN(struct by_pos, n ? n : 1);
	for (uint32_t i = 0; i < n; i++)
		key[i] = (struct by_pos){s->pos[set[i]], set[i]};
	qsort(key, n, sizeof *key, by_value); /* pos comes first in the struct */
	for (uint32_t i = 0; i < n; i++)
		set[i] = key[i].v;
	mem_free(key);
}

/* What has to come before the united group takes the first positions of all that
 * were touched, what has to come after it the last. */
static uint32_t reorder(struct shrink *s, uint32_t a, uint32_t b, uint32_t n_forward,
			uint32_t n_backward)
{
	uint32_t n = 0;
	s->pool[n++] = a;
	s->pool[n++] = b;
	for (uint32_t i = 0; i < n_forward; i++)
		s->pool[n++] = s->forward[i];
	for (uint32_t i = 0; i < n_backward; i++)
		s->pool[n++] = s->backward[i];
	to_positions(s, s->pool, n);
	sort_groups(s, s->forward, n_forward);
	sort_groups(s, s->backward, n_backward);
	for (uint32_t i = 0; i < n_backward; i++)
		s->pos[s->backward[i]] = s->pool[i];
	for (uint32_t i = 0; i < n_forward; i++)
		s->pos[s->forward[i]] = s->pool[n - n_forward + i];
	return s->pool[n_backward];
}

static void unite(struct shrink *s, uint32_t a, uint32_t b, uint32_t pos)
{
	uint32_t keep = a < b ? a : b, gone = a < b ? b : a;
	s->parent[gone] = keep;
	s->pos[keep] = pos;
	for (int way = 0; way < 2; way++) {
		if (s->head[way][gone] == GRAPH_NONE)
			continue;
		if (s->head[way][keep] == GRAPH_NONE)
			s->head[way][keep] = s->head[way][gone];
		else
			s->next[way][s->tail[way][keep]] = s->head[way][gone];
		s->tail[way][keep] = s->tail[way][gone];
	}
}

/* Contract a -> b unless a second path joins them. */
static enum search contract(struct shrink *s, uint32_t a, uint32_t b)
{
	uint32_t n_forward, n_backward = 0, pos = s->pos[b];
	enum search r = search(s, 0, a, b, s->forward, &n_forward);
	if (r != NOT_FOUND)
		return r;
	if (n_forward > 0) {
		r = search(s, 1, b, a, s->backward, &n_backward);
		if (r != NOT_FOUND)
			return r;
		pos = reorder(s, a, b, n_forward, n_backward);
	}
	unite(s, a, b, pos);
	return NOT_FOUND;
}

struct edge_candidate {
	uint32_t edge, to, from;
}; /* positions of its ends */

/* Nearest sources first, so that a path inside one device has become one group
 * before an edge that jumps over it is tried. */
static int by_ends(const void *x, const void *y)
{
	const struct edge_candidate *a = x, *b = y;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->from > b->from ? -1 : a->from < b->from;
}

/* Contract until no edge that may be can be; returns how many searches gave up in the last pass. */
static uint32_t contract_all(struct shrink *s, const bool *may)
{
	const struct digraph *q = s->q;
	struct edge_candidate *c = MEM_NEWN(struct edge_candidate, q->m ? q->m : 1);
	uint32_t n = 0, n_limited = 0;
	for (uint32_t i = 0; i < q->m; i++)
		if (may[i])
			c[n++] = (struct edge_candidate){i, s->pos[q->dst[i]], s->pos[q->src[i]]};
	qsort(c, n, sizeof *c, by_ends);
	bool changed = true;
	for (int pass = 0; changed && n > 0; pass++) {
		uint32_t left = 0;
		changed = false;
		n_limited = 0;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t a = disjoint_find(s->parent, q->src[c[i].edge]);
			uint32_t b = disjoint_find(s->parent, q->dst[c[i].edge]);
			if (a == b)
				continue;
			enum search r = pass < MAX_PASSES ? contract(s, a, b) : TOO_LONG;
			n_limited += r == TOO_LONG;
			changed |= r == NOT_FOUND;
			if (r != NOT_FOUND)
				c[left++] = c[i];
		}
		n = left;
	}
	mem_free(c);
	return n_limited;
}

/* Number what is left in the order. */
static uint32_t number_groups(struct shrink *s, uint32_t *group)
{
	uint32_t n = s->q->n, *at = s->pool, *number = s->forward, k = 0;
	memset(at, 0xff, n * sizeof *at);
	for (uint32_t v = 0; v < n; v++)
		if (disjoint_find(s->parent, v) == v)
			at[s->pos[v]] = v;
	for (uint32_t i = 0; i < n; i++)
		if (at[i] != GRAPH_NONE)
			number[at[i]] = k++;
	for (uint32_t v = 0; v < n; v++)
		group[v] = number[disjoint_find(s->parent, v)];
	return k;
}

uint32_t digraph_contract(const struct digraph *d, const bool *may, uint32_t *group,
			  uint32_t *n_groups)
{
	struct arena *tmp = arena_new();
	struct shrink s;
	shrink_init(&s, d, tmp);
	uint32_t n_limited = contract_all(&s, may);
	*n_groups = number_groups(&s, group);
	arena_free(tmp);
	return n_limited;
}
