/* test_sched.c - lib/sched without a clock: building tasks, the order in which
 * tasks and copies are given out, life times, memory plans. */
#include <string.h>

#include "base/rng.h"
#include "graphgen.h"
#include "op/op.h"
#include "sched/graphtask.h"
#include "sched/memplan.h"
#include "sched/sched.h"
#include "tap.h"

static uint32_t counter;

static uint32_t draw(uint32_t bound)
{
	struct rng_addr a = {11, 0, 0, RNG_SEARCH};

	return rng_below(&a, counter++, bound);
}

/* ---- graphs of tasks ---- */

static void build(struct arena *a)
{
	struct sched_edge e[] = {{1, 3, 0, 8}, {0, 2, 5, 1}, {0, 1, 2, 4},
				 {0, 2, 2, 6}, {0, 2, 2, 6}, {2, SCHED_NONE, 0, 9}};
	struct sched_dag d;

	sched_dag_build(&d, 4, e, 6, a);
	tap(d.n_tensors == 4 && d.out_ptr[1] == 2 && d.out_ptr[2] == 3 && d.out_ptr[3] == 4 &&
		    d.out_ptr[4] == 4,
	    "tensors are (task, key), by ascending key");
	tap(d.tensor_bytes[0] == 6 && d.tensor_bytes[1] == 1, "a tensor has its largest size");
	tap(d.n_uses == 4 && d.use_ptr[1] - d.use_ptr[0] == 2 && d.use_task[0] == 1 &&
		    d.use_task[1] == 2,
	    "parallel edges are one use");
	tap(d.use_ptr[4] == d.use_ptr[3], "a tensor may have no consumer");
	tap(d.in_ptr[3] - d.in_ptr[2] == 2 && d.use_tensor[d.in_use[d.in_ptr[2]]] == 0 &&
		    d.use_tensor[d.in_use[d.in_ptr[2] + 1]] == 1,
	    "a task knows what it uses");
}

static void ranks(struct arena *a)
{
	/* Means: task 0 can only run on device 1.  Copies: pairs (1,0) and (1,1): (3 + 0) / 2. */
	struct sched_edge e[] = {{0, 1, 0, 4}};
	double cost[4] = {-1, 5, 2, 4}, lat[4] = {0, 1, 1, 0}, bw[4] = {1, 4, 2, 1};
	double task_s[2], use_s[1], rank[2];
	struct sched_links l = {2, lat, bw};
	struct sched_dag d;

	sched_dag_build(&d, 2, e, 1, a);
	sched_mean_costs(&d, cost, &l, task_s, use_s);
	tap(task_s[0] == 5 && task_s[1] == 3 && use_s[0] == 1.5, "means over devices that can");
	sched_upward_rank(&d, task_s, use_s, rank);
	tap(rank[1] == 3 && rank[0] == 9.5, "upward rank");
	lat[2] = -1;
	sched_mean_costs(&d, cost, &l, task_s, use_s);
	tap(use_s[0] == 0, "pairs without a link do not count");
}

/* ---- order ---- */

/* Independent tasks come out by rank, ties by number, also with several bitmap levels. */
static void rank_order(struct arena *a, uint32_t n)
{
	double *rank = ARENA_NEWN(a, double, n);
	uint16_t *device = ARENA_NEWN(a, uint16_t, n);
	struct sched_dag d;
	struct sched_edge none;
	bool ok = true;

	sched_dag_build(&d, n, &none, 0, a);
	for (uint32_t v = 0; v < n; v++) {
		rank[v] = draw(n / 2);
		device[v] = (uint16_t)draw(3);
	}
	struct sched *s = sched_new(&d, 3, rank, SCHED_RANK);
	sched_begin(s, device);
	uint32_t got = 0;
	for (uint32_t dev = 0; dev < 3; dev++) {
		uint32_t v, last = SCHED_NONE;

		for (; (v = sched_take_task(s, dev)) != SCHED_NONE; last = v, got++) {
			ok &= device[v] == dev;
			if (last != SCHED_NONE)
				ok &= rank[last] > rank[v] || (rank[last] == rank[v] && last < v);
			sched_task_done(s, v);
		}
		ok &= !sched_has_task(s, dev);
	}
	tap(ok && got == n && sched_left(s) == 0, "%u independent tasks come by rank", n);
	sched_free(s);
}

static void fifo_order(struct arena *a)
{
	/* 0 and 1 make 2 and 3 ready at different instants; 3 has the higher rank. */
	struct sched_edge e[] = {{0, 2, 0, 0}, {1, 3, 0, 0}};
	double rank[4] = {9, 8, 1, 5};
	struct sched_dag d;

	sched_dag_build(&d, 4, e, 2, a);
	for (int two_instants = 0; two_instants < 2; two_instants++) {
		struct sched *s = sched_new(&d, 1, rank, SCHED_FIFO);

		sched_begin(s, (uint16_t[]){0, 0, 0, 0});
		bool ok = sched_take_task(s, 0) == 0 && sched_take_task(s, 0) == 1;
		sched_tick(s);
		sched_task_done(s, 0);
		if (two_instants)
			sched_tick(s);
		sched_task_done(s, 1);
		uint32_t first = sched_take_task(s, 0), second = sched_take_task(s, 0);
		ok &= first == (two_instants ? 2 : 3) && first + second == 5;
		tap(ok, "fifo: %s",
		    two_instants ? "who was ready first" : "rank within one instant");
		sched_free(s);
	}
}

/* Five sources of one tensor each for device 1: the link's queue sorts within an instant only. */
static void link_order(struct arena *a)
{
	struct sched_edge e[] = {
		{0, 5, 0, 1}, {1, 5, 0, 1}, {2, 5, 0, 1}, {3, 5, 0, 1}, {4, 5, 0, 1}};
	double rank[6] = {1, 5, 3, 4, 2, 0};
	static const uint32_t done[] = {0, 4, 2, 3, 1}, want[] = {0, 1, 3, 2, 4};
	struct sched_dag d;
	bool ok = true;

	sched_dag_build(&d, 6, e, 5, a);
	struct sched *s = sched_new(&d, 2, rank, SCHED_RANK);
	sched_begin(s, (uint16_t[]){0, 0, 0, 0, 0, 1});
	while (sched_take_task(s, 0) != SCHED_NONE)
		;
	for (int i = 0; i < 5; i++) {
		sched_task_done(s, done[i]);
		if (i == 0)
			sched_tick(s);
	}
	for (int i = 0; i < 5; i++) {
		uint32_t c = sched_take_copy(s, 0, 1);

		ok &= c != SCHED_NONE && sched_copy(s, c)->tensor == want[i];
	}
	tap(ok && sched_take_copy(s, 0, 1) == SCHED_NONE, "copies wait by instant, then by rank");
	tap(sched_n_copies(s) == 5 && sched_copied_bytes(s) == 5, "copies are counted");
	sched_free(s);
}

/* ---- life times ---- */

static void lives(struct arena *a)
{
	/* 0 -> 1 (device 0), 0 -> 2, 3 (device 1); sizes 10, and task 1's unread 100. */
	struct sched_edge e[] = {
		{0, 1, 0, 10}, {0, 2, 0, 10}, {0, 3, 0, 10}, {1, SCHED_NONE, 0, 100}};
	double rank[4] = {4, 3, 2, 1};
	uint32_t n, c;
	struct sched_dag d;

	sched_dag_build(&d, 4, e, 4, a);
	struct sched *s = sched_new(&d, 2, rank, SCHED_RANK);
	sched_begin(s, (uint16_t[]){0, 0, 1, 1});
	tap(sched_take_task(s, 0) == 0 && sched_live_bytes(s, 0) == 10,
	    "a tensor lives from its task's start");
	sched_task_done(s, 0);
	c = sched_take_any_copy(s, NULL, NULL);
	tap(c == 0 && sched_take_any_copy(s, NULL, NULL) == SCHED_NONE &&
		    sched_live_bytes(s, 1) == 10,
	    "one copy for two consumers, alive from its start");
	tap(sched_use_copy(s, 0) == SCHED_NONE && sched_use_copy(s, 1) == c &&
		    sched_use_copy(s, 2) == c,
	    "each use knows its copy");
	tap(sched_take_task(s, 0) == 1 && !sched_has_task(s, 1),
	    "a remote consumer waits for the copy");
	sched_task_done(s, 1);
	tap(sched_freed(s, &n) && n == 0, "the tensor lives while it is copied");
	sched_copy_done(s, c);
	tap(sched_freed(s, &n)[0] == 0 && n == 1 && sched_live_bytes(s, 0) == 100,
	    "and is free when the copy has ended; an unread one stays");
	sched_drop_freed(s);
	sched_task_done(s, sched_take_task(s, 1));
	tap(sched_freed(s, &n) && n == 0, "a copy lives until its last consumer");
	sched_task_done(s, sched_take_task(s, 1));
	tap(sched_freed(s, &n)[0] == d.n_tensors + c && n == 1 && sched_live_bytes(s, 1) == 0 &&
		    sched_left(s) == 0,
	    "and no longer");
	sched_free(s);
}

/* ---- memory plans ---- */

static bool overlaps(const struct mem_block *x, const struct mem_block *y)
{
	bool together = x->first <= y->last && y->first <= x->last;

	return together && x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes;
}

static void plans(void)
{
	bool apart = true, aligned = true, bounded = true, peak_right = true;
	double worst = 1;

	for (int round = 0; round < 300; round++) {
		struct mem_block b[60];
		uint32_t n = 1 + draw(60), span = 1 + draw(40);
		uint64_t align = UINT64_C(1) << draw(7), extent, peak, slow = 0;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t first = draw(span);

			b[i] = (struct mem_block){draw(1000), first, first + draw(span - first), 0};
		}
		extent = memplan_offsets(b, n, align);
		peak = memplan_peak(b, n);
		for (uint32_t t = 0; t < span; t++) {
			uint64_t sum = 0;

			for (uint32_t i = 0; i < n; i++)
				sum += b[i].first <= t && t <= b[i].last ? b[i].bytes : 0;
			slow = sum > slow ? sum : slow;
		}
		peak_right &= slow == peak;
		for (uint32_t i = 0; i < n; i++) {
			aligned &= b[i].offset % align == 0 && b[i].offset + b[i].bytes <= extent;
			for (uint32_t j = 0; j < i; j++)
				apart &= !overlaps(&b[i], &b[j]);
		}
		bounded &= extent >= peak;
		if (align == 1 && peak && (double)extent / (double)peak > worst)
			worst = (double)extent / (double)peak;
	}
	tap(apart, "blocks alive together do not overlap");
	tap(aligned && bounded, "offsets are aligned and inside the piece");
	tap(peak_right, "the peak is the largest sum of living bytes");
	tap(worst < 1.4, "the piece stays near the peak (worst %.2f)", worst);
	struct mem_block chain[] = {{8, 0, 1, 0}, {8, 1, 2, 0}, {8, 2, 3, 0}, {8, 3, 4, 0}};
	tap(memplan_offsets(chain, 4, 1) == 16, "a chain needs two buffers");
	tap(memplan_offsets(chain, 0, 64) == 0, "an empty plan");
}

/* ---- tasks of a computation graph ---- */

/* Every edge between tasks goes upwards and belongs to a tensor; nothing else does. */
static bool tasks_right(const struct graph *g, const struct graph_tasks *t, const bool *constant)
{
	uint32_t uses = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		if ((t->node_task[v] == GRAPH_NONE) != constant[v])
			return false;
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && !constant[v]; i++) {
			uint32_t w = g->in_node[i], from, tensor;
			bool found = false;

			if (w == GRAPH_NONE || constant[w] || t->node_task[w] == t->node_task[v])
				continue;
			from = t->node_task[w];
			tensor = t->out_tensor[g->out_ptr[w] + g->in_port[i]];
			if (from >= t->node_task[v] || tensor == GRAPH_NONE ||
			    t->dag.tensor_task[tensor] != from ||
			    t->tensor_out[tensor] != g->out_ptr[w] + g->in_port[i])
				return false;
			for (uint32_t u = t->dag.use_ptr[tensor]; u < t->dag.use_ptr[tensor + 1];
			     u++)
				found |= t->dag.use_task[u] == t->node_task[v];
			if (!found)
				return false;
			uses++;
		}
	}
	return t->dag.n_uses <= uses;
}

static void graph_tasks(struct arena *a)
{
	bool ok = true, sizes = true;

	for (uint64_t seed = 0; seed < 60; seed++) {
		struct graph *g = gen_graph(seed, 60, 6);
		bool *constant = ARENA_NEWN(a, bool, g->n);
		struct graph_tasks t;
		struct err e = ERR_INIT;

		graph_colocate(g, seed % 2 ? CONST_KEEP : CONST_DROP, seed % 3 > 0);
		op_constant_nodes(g, constant);
		for (uint32_t v = 0; v < g->n; v++)
			constant[v] |= g->set[v] == GRAPH_NONE;
		ok &= graph_tasks_init(&t, g, constant, seed % 5 > 0, a, &e) == 0 &&
		      tasks_right(g, &t, constant);
		for (uint32_t x = 0; x < t.dag.n; x++)
			for (uint32_t i = t.task_ptr[x]; i < t.task_ptr[x + 1]; i++)
				ok &= t.node_task[t.task_node[i]] == x &&
				      g->set[t.task_node[i]] == t.task_set[x];
		for (uint32_t x = 0; x < t.dag.n_tensors; x++) {
			int64_t bytes = graph_out_bytes(g, t.tensor_out[x]);

			sizes &= t.dag.tensor_bytes[x] == (bytes > 0 ? (uint64_t)bytes : 0);
		}
		graph_free(g);
	}
	tap(ok, "tasks of graphs: every edge between tasks is a use, upwards");
	tap(sizes, "tensors have the outputs' sizes");
}

/* Sets are given out at random, so that most quotients have circles. */
static void circles(struct arena *a)
{
	uint32_t refused = 0, accepted = 0;
	bool ok = true;

	for (uint64_t seed = 0; seed < 60; seed++) {
		struct graph *g = gen_graph(seed, 12, 6);
		bool constant[12] = {false};
		struct graph_tasks t;
		struct err e = ERR_INIT;

		graph_colocate(g, CONST_KEEP, true);
		g->n_sets = 8;
		for (uint32_t v = 0; v < g->n; v++)
			g->set[v] = v < 8 ? (v * 5 + 3) % 8 : draw(8);
		if (graph_tasks_init(&t, g, constant, true, a, &e) < 0) {
			refused++;
			ok &= e.code == ST_INPUT;
		} else {
			accepted++;
			ok &= tasks_right(g, &t, constant);
		}
		graph_free(g);
	}
	tap(ok && refused && accepted, "sets in any order; circles are refused (%u of %u)", refused,
	    refused + accepted);
}

int main(void)
{
	struct arena *a = arena_new();

	build(a);
	ranks(a);
	rank_order(a, 1);
	rank_order(a, 64);
	rank_order(a, 5000);
	rank_order(a, 300000);
	fifo_order(a);
	link_order(a);
	lives(a);
	plans();
	graph_tasks(a);
	circles(a);
	arena_free(a);
	return tap_end();
}
