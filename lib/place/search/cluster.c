/* cluster.c - clusters of tasks first, then list scheduling of whole clusters: M. Y. Ozkaya,
 * A. Benoit, B. Ucar, J. Herrmann, U. V. Catalyurek, "A scalable clustering-based task scheduler
 * for homogeneous processors using DAG partitioning", IPDPS 2019.  HEFT's order; the first task of
 * a cluster chooses the device for all: where it ends first, or where the whole cluster would, if
 * it ran there as one after what is there.
 *
 * The paper's parts come from a partitioner for acyclic graphs; here they are contracted heavy
 * edges, or stretches of a topological order, by number or depth first.  How large they should be
 * depends on what copies cost: all sizes are tried, halving their number, and then, while the
 * budget lasts, more of them near the best, with ranks that are stretched at random. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "place/heuristic/listsched.h"
#include "place/search/search_context.h"

/* Without limits a graph of WORK / EVALS tasks and fewer has EVALS trials, larger ones have fewer,
 * so that it takes a second or two; they are spread over all sizes of clusters. */
enum { BATCH = 8, EVALS = 120, LEAST_EVALS = 8, WORK = 200000, N_MADE = 3 };
static const double MOST_NOISE = 0.3;

/* How clusters are made. */
enum made { HEAVY_EDGES, STRETCHES, DEPTH_FIRST };

struct cluster_trial {
	enum made made;
	double n_clusters;
	bool whole;       /* the device where the whole cluster would end first */
	uint32_t number;  /* of random numbers; 0: none */
	uint16_t *device; /* (n_sets) */
	double value;     /* INFINITY: not legal, or not run */
	bool ran;
};

/* The units in one of their topological orders. */
struct sequence {
	struct group_graph graph;
	uint32_t *at;  /* (units) where they are in it */
	uint8_t *mask; /* (units,k) as in struct group_options */
	double *held;  /* (units) */
};

struct clusters {
	struct method_run *r;
	struct search_context s;
	struct limits limits;
	struct sequence by_number, by_depth;
	double *room;          /* (k) bytes */
	struct evaluator **ev; /* (threads) */
	struct cluster_trial batch[BATCH], best;
	uint32_t made;   /* trials so far */
	uint32_t spread; /* sizes and ways to try; as many as trials: they are all tried */
};

/* ---- clusters ---- */

/* Fill class (n_sets) with numbers of clusters; false: they cannot be made. */
static bool form_clusters(const struct clusters *x, const struct cluster_trial *t, uint32_t *class,
			  struct arena *a)
{
	static const struct group_method heavy = {.run = group_heavy_edge};
	static const struct group_method stretches = {.run = group_chunks};
	const struct place_units *u = &x->s.u;
	const struct sequence *q = t->made == DEPTH_FIRST ? &x->by_depth : &x->by_number;
	struct group_options o = {.n_groups = (uint32_t)t->n_clusters,
				  .k = u->m->k,
				  .mask = q->mask,
				  .held = q->held,
				  .room = x->room};
	uint32_t *group = ARENA_NEWN(a, uint32_t, u->n);
	struct group_told told;
	struct err none = ERR_INIT;

	if (group_make(t->made == HEAVY_EDGES ? &heavy : &stretches, &q->graph, &o, group, &told,
		       &none) < 0)
		return false;
	for (uint32_t s = 0; s < u->m->n_sets; s++) {
		uint32_t i = u->of_set[s];

		class[s] = i == GRAPH_NONE ? u->n + s : group[q->at[i]];
	}
	return true;
}

/* ---- devices ---- */

struct chooser {
	bool whole;
	double *free_s; /* (k) when the clusters that are there would have ended */
};

/* The device for v and its cluster. */
static uint32_t choose_device(struct listsched *x, uint32_t v, void *arg)
{
	struct chooser *c = arg;
	uint32_t i = x->u.of_set[x->m->tasks.task_set[v]], at = SCHED_NONE;
	bool first = x->unit_dev[i] == UINT16_MAX;
	double best = INFINITY;

	for (uint32_t dev = 0; dev < x->k; dev++) {
		double s = listsched_end_s(x, v, dev);

		if (s < INFINITY && first && c->whole)
			s = fmax(listsched_ready_s(x, v, dev), c->free_s[dev]) +
			    x->u.cost_s[(size_t)i * x->k + dev];
		if (s < best) {
			best = s;
			at = dev;
		}
	}
	if (first && at != SCHED_NONE)
		c->free_s[at] = best;
	return at;
}

/* ---- trials ---- */

static void stretch_ranks(const struct clusters *x, uint32_t number, double *rank, uint32_t n)
{
	struct random_stream rng = random_stream_new(x->r->seed, RANDOM_CLUSTER, 1, number);
	double level = MOST_NOISE * random_stream_uniform(&rng);

	for (uint32_t v = 0; v < n; v++)
		rank[v] *= 1 + level * random_stream_uniform(&rng);
}

static void run_trial(void *arg, int task, int thread)
{
	struct clusters *x = arg;
	struct cluster_trial *t = &x->batch[task];
	struct place_model m = *x->r->m;
	struct arena *a = arena_new();
	uint32_t *class = ARENA_NEWN(a, uint32_t, m.n_sets), moved;
	struct err none = ERR_INIT;
	struct listsched l;

	t->value = INFINITY;
	t->ran = (x->made == 0 && task == 0) || limits_spent(&x->limits, 0) < 1;
	if (t->ran && form_clusters(x, t, class, a)) {
		struct chooser c = {t->whole, ARENA_NEWN(a, double, m.k)};

		place_model_together(&m, class, a);
		listsched_init(&l, &m, a);
		l.deadline_s = x->limits.deadline_s;
		double *rank = listsched_upward_rank(&l, a);
		if (t->number)
			stretch_ranks(x, t->number, rank, l.n);
		int rc = listsched_run(&l, rank, choose_device, &c, &none);
		listsched_placement(&l, t->device);
		listsched_release(&l);
		if (!x->ev[thread])
			x->ev[thread] = evaluators_take(x->s.ev);
		const struct place_result *p =
			place_repaired(x->ev[thread], &x->s.traffic, t->device, &moved);
		t->value = p->status == PLACE_OK && (rc == 0 || x->made == 0) ? p->value : INFINITY;
	}
	arena_free(a);
}

static uint32_t sweep_steps(double n)
{
	uint32_t steps = 0;

	while (n / pow(4, steps) >= 2)
		steps++;
	return steps;
}

/* The number-th trial of the sweep: numbers of clusters halve twice from one to the next, those
 * between come after; false: they are over. */
static bool sweep_trial(const struct clusters *x, uint32_t number, struct cluster_trial *t)
{
	double n = x->s.u.n;
	uint32_t steps = sweep_steps(n), step;

	if (x->spread > x->limits.evals)
		number = (uint32_t)((uint64_t)number * x->spread / x->limits.evals);
	/* All ways to make clusters of one task each are the same. */
	number += number ? N_MADE - 1 : 0;
	step = number / (2 * N_MADE);
	t->made = (enum made)(number % N_MADE);
	t->whole = number / N_MADE % 2;
	t->n_clusters = step < steps ? n / pow(4, step) : n / pow(4, step - steps) / 2;
	return t->n_clusters >= 2;
}

static void draw_trial(const struct clusters *x, uint32_t number, struct cluster_trial *t)
{
	struct random_stream rng = random_stream_new(x->r->seed, RANDOM_CLUSTER, 0, number);

	t->made = x->best.made;
	t->whole = x->best.whole;
	t->n_clusters = fmin(
		x->s.u.n, fmax(2, x->best.n_clusters * exp2(2 * random_stream_uniform(&rng) - 1)));
	t->number = number;
}

static void run_batch(struct clusters *x, struct pool *pool)
{
	uint64_t left = x->limits.evals - x->made;
	uint32_t n = left < BATCH ? (uint32_t)left : BATCH;

	for (uint32_t i = 0; i < n; i++) {
		struct cluster_trial *t = &x->batch[i];

		t->number = 0;
		if (!sweep_trial(x, x->made + i, t))
			draw_trial(x, x->made + i, t);
	}
	pool_run(pool, (int)n, run_trial, x);
	for (uint32_t i = 0; i < n && x->batch[i].ran; i++, x->made++) {
		const struct cluster_trial *t = &x->batch[i];

		if (!(t->value < x->best.value))
			continue;
		x->best = *t;
		memcpy(x->r->device, t->device, x->r->m->n_sets * sizeof(*t->device));
	}
}

/* order (units); graph: of the units by number. */
static void sequence_init(struct sequence *q, const struct clusters *x, const uint32_t *order,
			  const struct group_graph *graph)
{
	const struct place_units *u = &x->s.u;
	struct arena *a = x->r->a;
	uint32_t k = u->m->k;

	q->at = ARENA_NEWN(a, uint32_t, u->n);
	q->mask = ARENA_NEWN(a, uint8_t, (size_t)u->n * k);
	q->held = ARENA_NEWN(a, double, u->n);
	for (uint32_t j = 0; j < u->n; j++) {
		uint32_t i = order[j];

		q->at[i] = j;
		q->held[j] = (double)u->mem[i];
		for (uint32_t d = 0; d < k; d++)
			q->mask[(size_t)j * k + d] = u->cost_s[(size_t)i * k + d] >= 0;
	}
	group_contract(graph, q->at, u->n, a, &q->graph);
}

static uint64_t default_evals(const struct place_model *m)
{
	uint64_t evals = WORK / (m->tasks.dag.n + 1);

	return evals > EVALS ? EVALS : evals < LEAST_EVALS ? LEAST_EVALS : evals;
}

static void clusters_init(struct clusters *x, struct method_run *r)
{
	struct arena *a = r->a;
	struct group_graph graph;

	*x = (struct clusters){.r = r,
			       .limits = limits_of(r, default_evals(r->m)),
			       .best.value = INFINITY,
			       .ev = ARENA_NEWN(a, struct evaluator *, (size_t)r->threads)};
	search_context_init(&x->s, r);
	if (!r->evals && r->budget_s <= 0)
		x->spread = 4 * N_MADE * sweep_steps(x->s.u.n);
	unit_traffic_graph(&x->s.traffic, false, a, &graph);
	sequence_init(&x->by_number, x, x->s.order[0], &graph);
	sequence_init(&x->by_depth, x, x->s.order[1], &graph);
	x->room = ARENA_NEWN(a, double, r->m->k);
	for (uint32_t d = 0; d < r->m->k; d++)
		x->room[d] = r->m->mem_limit[d] ? (double)r->m->mem_limit[d] : INFINITY;
	for (uint32_t i = 0; i < BATCH; i++)
		x->batch[i].device = ARENA_NEWN(a, uint16_t, r->m->n_sets);
}

static int run_cluster(struct method_run *r, struct err *e)
{
	static const char *const made[] = {"heavy edges", "stretches", "stretches, depth first"};
	struct pool *pool = pool_new(r->threads, NULL);
	struct clusters x;

	clusters_init(&x, r);
	do
		run_batch(&x, pool);
	while (x.s.u.n > 1 && r->m->k > 1 && limits_spent(&x.limits, x.made) < 1);
	pool_free(pool);
	for (int i = 0; i < r->threads; i++)
		if (x.ev[i])
			evaluators_put(x.s.ev, x.ev[i]);
	search_context_release(&x.s);
	if (x.best.value == INFINITY)
		return err_set(e, ST_RUNTIME, "cluster: none of %u list schedules is legal",
			       x.made);
	int at = snprintf(r->note, sizeof(r->note),
			  "%u list schedules, value %.6g with %.0f clusters of %s", x.made,
			  x.best.value, x.best.n_clusters, made[x.best.made]);
	if (x.spread > x.limits.evals)
		snprintf(r->note + at, sizeof(r->note) - (size_t)at,
			 "; so few for the size of the graph, --evals or --budget has more");
	return r->emit(r, e);
}

const struct place_method method_cluster = {
	.name = "cluster",
	.needs_costs = true,
	.about = "HEFT for clusters of tasks, as large as is best",
	.source = "Ozkaya, Benoit, Ucar, Herrmann, Catalyurek, IPDPS 2019",
	.run = run_cluster,
	.scope = SCOPE_SCHEDULES,
	.evals = EVALS_OWN,
	.is_heuristic = true,
};
