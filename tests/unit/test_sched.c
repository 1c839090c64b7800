/* test_sched.c - lib/sched without a clock: building tasks, the order in which
 * they are given out, memory plans. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "graphgen.h"
#include "op/op.h"
#include "sched/graphtask.h"
#include "sched/memplan.h"
#include "sched/ready.h"
#include "sched/slowed.h"
#include "sched/turns.h"
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
	struct sched_links l = {.k = 2, .latency_s = lat, .bytes_per_s = bw};
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

enum { MEANS_TASKS = 40, MEANS_DEVICES = 5 };

/* A problem of few edges, links and devices that are missing here and there. */
static void draw_costs(struct sched_edge *e, uint32_t n_edges, double *cost, struct sched_links *l)
{
	for (uint32_t i = 0; i < n_edges; i++) {
		uint32_t dst = 1 + draw(MEANS_TASKS - 1);

		e[i] = (struct sched_edge){draw(dst), dst, draw(3), draw(1000)};
	}
	for (uint32_t i = 0; i < MEANS_TASKS * l->k; i++)
		cost[i] = draw(4) ? draw(100) / 8.0 : -1;
	for (uint32_t i = 0; i < l->k * l->k; i++) {
		l->latency_s[i] = draw(5) ? draw(100) / 16.0 : -1;
		l->bytes_per_s[i] = draw(6) ? 1 + draw(50) : INFINITY;
	}
}

/* A mean over pairs of devices, one by one; from, to: costs that are negative where it cannot be,
 * NULL: devices that differ. */
static double pair_mean(const struct sched_links *l, const double *from, const double *to,
			uint64_t bytes)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->k; i++)
		for (uint32_t j = 0; j < l->k; j++) {
			if (from ? from[i] < 0 || to[j] < 0 : i == j)
				continue;
			if (i != j && l->latency_s[(size_t)i * l->k + j] < 0)
				continue;
			sum += i == j ? 0 : sched_copy_s(l, i, j, bytes);
			n++;
		}
	return n ? sum / n : 0;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

static void means(struct arena *a)
{
	enum { EDGES = 2 * MEANS_TASKS, CASES = 50 };
	double cost[MEANS_TASKS * MEANS_DEVICES], task_s[MEANS_TASKS], use_s[EDGES];
	double lat[MEANS_DEVICES * MEANS_DEVICES], bw[MEANS_DEVICES * MEANS_DEVICES];
	struct sched_edge e[EDGES];
	struct sched_dag d;
	int good = 0, of = 0;

	for (uint32_t c = 0; c < CASES; c++) {
		struct sched_links l = {
			.k = 1 + c % MEANS_DEVICES, .latency_s = lat, .bytes_per_s = bw};

		draw_costs(e, EDGES, cost, &l);
		sched_dag_build(&d, MEANS_TASKS, e, EDGES, a);
		sched_mean_costs(&d, cost, &l, task_s, use_s);
		struct sched_mean_link mean = sched_mean_link(&l);

		for (uint32_t u = 0; u < d.n_uses; u++, of++) {
			uint32_t t = d.use_tensor[u];
			const double *from = cost + (size_t)d.tensor_task[t] * l.k;
			const double *to = cost + (size_t)d.use_task[u] * l.k;
			uint64_t bytes = d.tensor_bytes[t];

			good += near(use_s[u], pair_mean(&l, from, to, bytes)) &&
				near(sched_mean_copy_s(&mean, bytes),
				     pair_mean(&l, NULL, NULL, bytes));
		}
	}
	tap(good == of, "mean copies are those over all pairs (%d of %d)", good, of);
}

/* ---- order ---- */

/* Tasks come out by rank, ties by number, with one bitmap level and several. */
static void rank_order(uint32_t n)
{
	double *rank = MEM_NEWN(double, n);
	uint16_t *device = MEM_NEWN(uint16_t, n);
	struct ready r;
	bool ok = true;
	uint32_t got = 0;

	for (uint32_t v = 0; v < n; v++) {
		rank[v] = draw(n / 2 + 1);
		device[v] = (uint16_t)draw(3);
	}
	ready_init(&r, n, 3, rank, SCHED_RANK);
	ready_begin(&r, device);
	for (uint32_t v = 0; v < n; v++)
		ready_add(&r, device[v], v, 0);
	for (uint32_t dev = 0; dev < 3; dev++) {
		uint32_t v, last = SCHED_NONE;

		while (ready_any(&r, dev)) {
			v = ready_take(&r, dev);
			ok &= device[v] == dev;
			if (last != SCHED_NONE)
				ok &= rank[last] > rank[v] || (rank[last] == rank[v] && last < v);
			last = v;
			got++;
		}
		ok &= ready_take(&r, dev) == SCHED_NONE;
	}
	tap(ok && got == n, "%u independent tasks come by rank", n);
	ready_release(&r);
	mem_free(rank);
	mem_free(device);
}

/* ---- memory plans ---- */

static bool overlaps(const struct mem_block *x, const struct mem_block *y)
{
	bool together = x->first <= y->last && y->first <= x->last;

	return together && x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes;
}

static void plans(void)
{
	bool apart = true, aligned = true, bounded = true;
	double worst = 1;

	for (int round = 0; round < 300; round++) {
		struct mem_block b[60];
		uint32_t n = 1 + draw(60), span = 1 + draw(40);
		uint64_t align = UINT64_C(1) << draw(7), extent, peak = 0;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t first = draw(span);

			b[i] = (struct mem_block){draw(1000), first, first + draw(span - first), 0};
		}
		extent = memplan_offsets(b, n, align);
		for (uint32_t t = 0; t < span; t++) {
			uint64_t sum = 0;

			for (uint32_t i = 0; i < n; i++)
				sum += b[i].first <= t && t <= b[i].last ? b[i].bytes : 0;
			peak = sum > peak ? sum : peak;
		}
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
		ok &= graph_tasks_init(&t, g, constant, NULL, seed % 5 > 0, a, &e) == 0 &&
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
		if (graph_tasks_init(&t, g, constant, NULL, true, a, &e) < 0) {
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

/* Many equal tasks that know nothing of each other, on two devices; the mean of costs that are
 * wrong is the time of all of them, nearly, and slow devices make it longer. */
static void slowed(struct arena *a)
{
	enum { TASKS = 400 };
	double *cost = ARENA_NEWN(a, double, 2 * TASKS), lat[4] = {0}, bw[4] = {1, 1, 1, 1};
	uint16_t *device = ARENA_NEWN(a, uint16_t, TASKS), none[1];
	struct sched_costs c = {.task_s = cost,
				.links = {.k = 2, .latency_s = lat, .bytes_per_s = bw},
				.overlap = true};
	struct sched_dag d;

	sched_dag_build(&d, TASKS, NULL, 0, a);
	for (uint32_t i = 0; i < TASKS; i++) {
		cost[2 * i] = cost[2 * i + 1] = 1;
		device[i] = i % 4 == 0;
	}
	struct slowed *x = slowed_new(&d, &c);
	double as_is = slowed_s(x, device, NULL, NULL);
	tap(fabs(as_is / 300 - 1) < 0.03, "three quarters on one device: %.1f", as_is);
	double draw[SLOWED_DRAWS], mean = 0, apart = 0;
	slowed_s(x, device, NULL, draw);
	for (int i = 0; i < SLOWED_DRAWS; i++) {
		mean += draw[i] / SLOWED_DRAWS;
		apart = fmax(apart, fabs(draw[i] - draw[0]));
	}
	tap(fabs(mean - log(as_is)) < 1e-12 && apart > 1e-3 && apart < 0.05,
	    "by single costs: %.4f apart", apart);
	/* The first device, the second a little, and much. */
	double slow[3][2 * SLOWED_DRAWS];
	for (int i = 0; i < SLOWED_DRAWS; i++)
		for (int row = 0; row < 3; row++) {
			slow[row][2 * i] = (const double[3]){2, 1, 1}[row];
			slow[row][2 * i + 1] = (const double[3]){1, 1.5, 6}[row];
		}
	double twice = slowed_s(x, device, slow[0], NULL);
	tap(fabs(twice / as_is - 2) < 1e-12, "that device is slow: %g", twice / as_is);
	tap(slowed_s(x, device, slow[1], NULL) == as_is, "the other one is");
	double both = slowed_s(x, device, slow[2], NULL);
	tap(fabs(both / 600 - 1) < 0.03, "so slow that it ends last: %.1f", both);
	slow[0][0] = 8;
	double in_one = slowed_s(x, device, slow[0], NULL);
	tap(fabs(log(in_one / twice) - log(4) / SLOWED_DRAWS) < 1e-12, "slower in one draw: %g",
	    in_one / twice);
	tap(slowed_s(x, device, NULL, NULL) == as_is, "costs are what they were");
	double share[2];
	slowed_share(x, device, share);
	tap(share[0] == 0.75 && share[1] == 0.25, "shares: %g, %g", share[0], share[1]);
	slowed_free(x);
	cost[0] = cost[1] = -1;
	x = slowed_new(&d, &c);
	tap(slowed_s(x, device, NULL, NULL) == 0, "what cannot run has no time");
	slowed_free(x);
	sched_dag_build(&d, 0, NULL, 0, a);
	x = slowed_new(&d, &c);
	tap(slowed_s(x, none, NULL, NULL) == 0, "nor has nothing");
	slowed_free(x);
}

/* Does each of k devices, of which turns (k,k) take turns, consist of those that parts (k) has bits of? */
static bool consist_of(uint32_t k, const uint8_t *turns, const uint32_t *parts)
{
	bool has[16], same = true;

	sched_parts(turns, k, has);
	for (uint32_t d = 0; d < k; d++)
		for (uint32_t i = 0; i < k; i++)
			same &= has[d * k + i] == (parts[d] >> i & 1);
	return same;
}

static void device_parts(void)
{
	/* two cores and both in one; the same with both in int8 too; a core and the same core in bf16 */
	static const uint8_t three[9] = {0, 0, 1, 0, 0, 1, 1, 1, 0},
			     four[16] = {0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0},
			     two[4] = {0, 1, 1, 0};

	tap(consist_of(3, three, (const uint32_t[]){0, 0, 3}), "a device of two cores");
	tap(consist_of(4, four, (const uint32_t[]){0, 0, 3, 3}),
	    "and another one of the same cores");
	tap(consist_of(2, two, (const uint32_t[]){0, 0}), "two of one core consist of nothing");
}

int main(void)
{
	struct arena *a = arena_new();

	build(a);
	device_parts();
	ranks(a);
	means(a);
	rank_order(1);
	rank_order(64);
	rank_order(5000);
	rank_order(300000);
	rank_order(4096);
	plans();
	graph_tasks(a);
	circles(a);
	slowed(a);
	arena_free(a);
	return tap_end();
}
