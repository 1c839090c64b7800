/* maxflow.c - push-relabel, only as far as minimum cuts need it: what cannot reach the sink any
 * more keeps its excess. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "partition/maxflow.h"

enum { NONE = UINT32_MAX, LOOKS = 1 << 12 }; /* at the clock, nodes between them */

struct arc {
	uint32_t to, next; /* next arc of the same node; the arc back is at index ^ 1 */
	int64_t left;      /* capacity not used */
};

struct node {
	uint32_t first, now;        /* arcs: the first, and where pushing stands */
	uint32_t height, in_bucket; /* next active node of the same height */
	int64_t excess, to_sink;    /* to_sink: capacity left there */
};

struct maxflow {
	uint32_t n;
	size_t n_arcs, arc_cap, node_cap, work;
	struct arc *arc;
	struct node *node;
	int64_t finite;                   /* sum of finite capacities */
	uint32_t *bucket, *count, *queue; /* (n+2) active nodes and nodes by height; scratch */
	uint32_t highest;
	double deadline_s; /* 0: there is none */
};

struct maxflow *maxflow_new(uint32_t n)
{
	struct maxflow *x = MEM_NEW(struct maxflow);

	while (x->n < n)
		maxflow_node(x);
	return x;
}

void maxflow_free(struct maxflow *x)
{
	if (!x)
		return;
	mem_free(x->arc);
	mem_free(x->node);
	mem_free(x->bucket);
	mem_free(x->count);
	mem_free(x->queue);
	mem_free(x);
}

uint32_t maxflow_node(struct maxflow *x)
{
	x->node = mem_grow(x->node, &x->node_cap, (size_t)x->n + 1, sizeof(*x->node));
	x->node[x->n] = (struct node){.first = NONE};
	return x->n++;
}

static void count_finite(struct maxflow *x, int64_t cap)
{
	if (cap != MAXFLOW_INF)
		x->finite += cap;
}

void maxflow_arc(struct maxflow *x, uint32_t u, uint32_t v, int64_t cap, int64_t back)
{
	if (u == v)
		return;
	x->arc = mem_grow(x->arc, &x->arc_cap, x->n_arcs + 2, sizeof(*x->arc));
	x->arc[x->n_arcs] = (struct arc){v, x->node[u].first, cap};
	x->node[u].first = (uint32_t)x->n_arcs++;
	x->arc[x->n_arcs] = (struct arc){u, x->node[v].first, back};
	x->node[v].first = (uint32_t)x->n_arcs++;
	count_finite(x, cap);
	count_finite(x, back);
}

void maxflow_ends(struct maxflow *x, uint32_t v, int64_t from_source, int64_t to_sink)
{
	struct node *p = &x->node[v];

	count_finite(x, from_source);
	count_finite(x, to_sink);
	p->excess = from_source == MAXFLOW_INF || p->excess == MAXFLOW_INF
			    ? MAXFLOW_INF
			    : p->excess + from_source;
	p->to_sink = to_sink == MAXFLOW_INF || p->to_sink == MAXFLOW_INF ? MAXFLOW_INF
									 : p->to_sink + to_sink;
}

void maxflow_until(struct maxflow *x, double deadline_s)
{
	x->deadline_s = deadline_s;
}

/* ---- the algorithm ---- */

static void activate(struct maxflow *x, uint32_t v)
{
	struct node *p = &x->node[v];

	p->in_bucket = x->bucket[p->height];
	x->bucket[p->height] = v;
	if (p->height > x->highest)
		x->highest = p->height;
}

/* Heights become distances to the sink (n+1: no way there). */
static void relabel_all(struct maxflow *x)
{
	uint32_t n = x->n, head = 0, tail = 0, far = n + 1;

	memset(x->count, 0, ((size_t)n + 2) * sizeof(*x->count));
	for (uint32_t v = 0; v <= far; v++)
		x->bucket[v] = NONE;
	x->highest = 0;
	for (uint32_t v = 0; v < n; v++) {
		x->node[v].height = x->node[v].to_sink > 0 ? 1 : far;
		x->node[v].now = x->node[v].first;
		if (x->node[v].height == 1)
			x->queue[tail++] = v;
	}
	while (head < tail) {
		uint32_t v = x->queue[head++];

		for (uint32_t i = x->node[v].first; i != NONE; i = x->arc[i].next) {
			struct node *p = &x->node[x->arc[i].to];

			if (x->arc[i ^ 1].left > 0 && p->height == far) {
				p->height = x->node[v].height + 1;
				x->queue[tail++] = x->arc[i].to;
			}
		}
	}
	for (uint32_t v = 0; v < n; v++) {
		x->count[x->node[v].height]++;
		if (x->node[v].excess > 0 && x->node[v].height < far)
			activate(x, v);
	}
	x->work = 0;
}

/* No node is at this height any more: those above have no way to the sink. */
static void close_gap(struct maxflow *x, uint32_t height)
{
	for (uint32_t v = 0; v < x->n; v++)
		if (x->node[v].height > height && x->node[v].height <= x->n) {
			x->count[x->node[v].height]--;
			x->node[v].height = x->n + 1;
			x->count[x->n + 1]++;
		}
	for (uint32_t h = height; h <= x->n; h++)
		x->bucket[h] = NONE;
}

static void push_sink(struct node *p)
{
	int64_t flow = p->excess < p->to_sink ? p->excess : p->to_sink;

	p->excess -= flow;
	p->to_sink -= flow;
}

/* One above the lowest node that v can push to. */
static void relabel(struct maxflow *x, uint32_t v)
{
	struct node *p = &x->node[v];
	uint32_t lowest = x->n + 1, was = p->height;

	if (p->to_sink > 0)
		lowest = 0;
	for (uint32_t i = p->first; i != NONE; i = x->arc[i].next)
		if (x->arc[i].left > 0 && x->node[x->arc[i].to].height < lowest)
			lowest = x->node[x->arc[i].to].height;
	p->height = lowest >= x->n ? x->n + 1 : lowest + 1;
	p->now = p->first;
	x->count[was]--;
	x->count[p->height]++;
	if (x->count[was] == 0 && was <= x->n)
		close_gap(x, was);
	x->work++;
}

static void discharge(struct maxflow *x, uint32_t v)
{
	struct node *p = &x->node[v];

	while (p->excess > 0 && p->height <= x->n) {
		if (p->height == 1 && p->to_sink > 0) {
			push_sink(p);
			continue;
		}
		uint32_t i = p->now;

		if (i == NONE) {
			relabel(x, v);
			continue;
		}
		struct node *q = &x->node[x->arc[i].to];

		if (x->arc[i].left > 0 && q->height + 1 == p->height) {
			int64_t flow = p->excess < x->arc[i].left ? p->excess : x->arc[i].left;

			if (q->excess == 0)
				activate(x, x->arc[i].to);
			x->arc[i].left -= flow;
			x->arc[i ^ 1].left += flow;
			p->excess -= flow;
			q->excess += flow;
		} else {
			p->now = x->arc[i].next;
		}
	}
}

/* Infinite capacities become one more than the sum of all others.  Returns the sum of what leaves
 * the source. */
static int64_t cap_infinite(struct maxflow *x, int64_t inf)
{
	int64_t sum = 0;

	for (size_t i = 0; i < x->n_arcs; i++)
		if (x->arc[i].left == MAXFLOW_INF)
			x->arc[i].left = inf;
	for (uint32_t v = 0; v < x->n; v++) {
		struct node *p = &x->node[v];

		p->excess = p->excess > inf ? inf : p->excess;
		p->to_sink = p->to_sink == MAXFLOW_INF ? INT64_MAX / 2 : p->to_sink;
		sum += p->excess;
	}
	return sum;
}

int64_t maxflow_run(struct maxflow *x)
{
	int64_t inf = x->finite + 1, kept = 0, sum = cap_infinite(x, inf);

	x->bucket = MEM_NEWN(uint32_t, (size_t)x->n + 2);
	x->count = MEM_NEWN(uint32_t, (size_t)x->n + 2);
	x->queue = MEM_NEWN(uint32_t, (size_t)x->n + 1);
	relabel_all(x);
	for (uint32_t step = 1;; step++) {
		if (step % LOOKS == 0 && x->deadline_s > 0 && clock_s() > x->deadline_s)
			return MAXFLOW_INF;
		while (x->highest > 0 && x->bucket[x->highest] == NONE)
			x->highest--;
		if (x->highest == 0)
			break;
		uint32_t v = x->bucket[x->highest];

		x->bucket[x->highest] = x->node[v].in_bucket;
		discharge(x, v);
		if (x->work > x->n)
			relabel_all(x);
	}
	relabel_all(x);
	for (uint32_t v = 0; v < x->n; v++)
		kept += x->node[v].excess;
	return sum - kept >= inf ? MAXFLOW_INF : sum - kept;
}

bool maxflow_on_sink_side(const struct maxflow *x, uint32_t v)
{
	return x->node[v].height <= x->n;
}
