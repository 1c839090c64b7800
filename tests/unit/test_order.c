/* test_order.c - lib/sched/order: schedules of placements on random small graphs against all orders
 * that there are, and the list scheduler that keeps to them. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "sched/order.h"
#include "sched/timeline.h"
#include "tap.h"

enum { MOST = 7, K = 2, CASES = 400, ROUNDS = 4 };

static uint32_t counter;

static uint32_t draw(uint32_t bound)
{
	struct rng_addr a = {23, 0, 0, RNG_SEARCH};

	return rng_below(&a, counter++, bound);
}

struct problem {
	struct sched_dag d;
	double cost[MOST * K], latency_s[K * K], rate[K * K], rank[MOST];
	struct sched_costs c;
	uint16_t device[MOST];
};

/* n tasks of 1 to 8 s on two devices, copies of `latency` s. */
static void make(struct problem *p, uint32_t n, double latency, struct arena *a)
{
	struct sched_edge e[MOST * MOST];
	double task_s[MOST], use_s[MOST * MOST];
	size_t n_edges = 0;

	for (uint32_t v = 0; v < n; v++) {
		p->device[v] = (uint16_t)draw(K);
		for (uint32_t dev = 0; dev < K; dev++)
			p->cost[v * K + dev] = 1 + draw(8);
		for (uint32_t u = 0; u < v; u++)
			if (draw(3) == 0)
				e[n_edges++] = (struct sched_edge){u, v, v, 8};
	}
	sched_dag_build(&p->d, n, e, n_edges, a);
	for (uint32_t i = 0; i < K * K; i++) {
		p->latency_s[i] = latency;
		p->rate[i] = INFINITY;
	}
	p->c = (struct sched_costs){
		.task_s = p->cost,
		.links = {.k = K, .latency_s = p->latency_s, .bytes_per_s = p->rate},
		.overlap = true,
		.policy = SCHED_RANK};
	sched_mean_costs(&p->d, p->cost, &p->c.links, task_s, use_s);
	sched_upward_rank(&p->d, task_s, use_s, p->rank);
}

static double cost_of(const struct problem *p, uint32_t v)
{
	return p->cost[v * K + p->device[v]];
}

static double inputs_s(const struct problem *p, const double *start, uint32_t v)
{
	double ready = 0;

	for (uint32_t i = p->d.in_ptr[v]; i < p->d.in_ptr[v + 1]; i++) {
		uint32_t u = p->d.tensor_task[p->d.use_tensor[p->d.in_use[i]]];
		double s = start[u] + cost_of(p, u);

		ready = fmax(ready, p->device[u] == p->device[v] ? s : s + p->latency_s[1]);
	}
	return ready;
}

/* The shortest of all semi-active schedules: every order in which tasks can be appended. */
static double best_of_all(const struct problem *p, uint32_t done, double *start,
			  const double *free_s)
{
	double best = INFINITY;

	if (done == (1u << p->d.n) - 1) {
		for (uint32_t dev = 0; dev < K; dev++)
			best = dev ? fmax(best, free_s[dev]) : free_s[dev];
		return best;
	}
	for (uint32_t v = 0; v < p->d.n; v++) {
		double then[K] = {free_s[0], free_s[1]};
		bool ready = !(done >> v & 1);

		for (uint32_t i = p->d.in_ptr[v]; i < p->d.in_ptr[v + 1]; i++)
			ready &= done >> p->d.tensor_task[p->d.use_tensor[p->d.in_use[i]]] & 1;
		if (!ready)
			continue;
		start[v] = fmax(inputs_s(p, start, v), free_s[p->device[v]]);
		then[p->device[v]] = start[v] + cost_of(p, v);
		best = fmin(best, best_of_all(p, done | 1u << v, start, then));
	}
	return best;
}

static bool legal(const struct problem *p, const double *start)
{
	for (uint32_t v = 0; v < p->d.n; v++) {
		if (start[v] < inputs_s(p, start, v))
			return false;
		for (uint32_t u = 0; u < v; u++)
			if (p->device[u] == p->device[v] && start[u] < start[v] + cost_of(p, v) &&
			    start[v] < start[u] + cost_of(p, u))
				return false;
	}
	return true;
}

static void against_all(struct arena *a)
{
	bool are_legal = true, not_below = true, kept = true, never_longer = true;
	uint32_t optimal = 0, both_optimal = 0, shorter = 0;

	for (uint32_t i = 0; i < CASES; i++) {
		struct problem p;
		const struct timeline *t;
		double start[MOST], scratch[MOST], rank[MOST], zero[K] = {0};

		arena_reset(a);
		make(&p, 2 + draw(MOST - 1), 1 + draw(2), a);
		struct orderer *o = orderer_new(&p.d, &p.c);
		struct timeliner *x = timeliner_new(&p.d, &p.c, true);
		struct sched_costs improved = p.c;
		improved.policy = SCHED_IMPROVED;
		struct timeliner *y = timeliner_new(&p.d, &improved, false);
		double by_rank = INFINITY, s = orderer_run(o, p.device, p.rank, ROUNDS, start),
		       other = INFINITY;
		double least = best_of_all(&p, 0, scratch, zero);
		are_legal &= legal(&p, start);
		not_below &= s >= least;
		optimal += s == least;
		if (timeline_run(x, p.device, &t) == TIMELINE_OK) {
			by_rank = t->makespan_s;
			for (uint32_t v = 0; v < p.d.n; v++)
				scratch[v] = -t->start_s[v];
			other = orderer_run(o, p.device, scratch, ROUNDS, rank);
			shorter += fmin(s, other) < t->makespan_s;
			never_longer &= other <= t->makespan_s;
		}
		both_optimal += fmin(s, other) == least;
		/* Sums of whole seconds: what is shorter is shorter by more than a part in 200. */
		kept &= timeline_run(y, p.device, &t) == TIMELINE_OK &&
			t->makespan_s == fmin(by_rank, fmin(s, other)) &&
			(t->delayed_by != NULL) == (fmin(s, other) < by_rank) &&
			legal(&p, t->start_s);
		timeliner_free(y);
		timeliner_free(x);
		orderer_free(o);
	}
	tap(are_legal, "schedules are legal");
	tap(not_below, "none is shorter than the shortest of all orders");
	tap(optimal > CASES * 9 / 10, "most are as short (%u of %u)", optimal, CASES);
	tap(never_longer, "from the list scheduler's schedule they are not longer than it");
	tap(both_optimal > CASES * 95 / 100 && shorter,
	    "the better of the two is as short as it can be (%u of %u, %u shorter than the list)",
	    both_optimal, CASES, shorter);
	tap(kept, "the list scheduler that improves its order does the same");
}

/* A long task of no weight is ready when the device would have to wait a little for one that others
 * wait for. */
static void idling_pays(struct arena *a)
{
	struct sched_edge e[] = {{0, 1, 0, 0}, {1, 3, 0, 0}};
	double cost[4 * K] = {1, 1, 4, 4, 9, 9, 8, 8}, latency[K * K] = {0};
	double rate[K * K] = {1, 1, 1, 1}, rank[4] = {13, 12, 9, 8}, start[4], order[4];
	uint16_t device[4] = {0, 1, 1, 0};
	uint32_t delayed_by[4];
	const struct timeline *t;
	struct sched_dag d;

	arena_reset(a);
	sched_dag_build(&d, 4, e, 2, a);
	struct sched_costs c = {.task_s = cost,
				.links = {.k = K, .latency_s = latency, .bytes_per_s = rate},
				.overlap = true,
				.policy = SCHED_RANK};
	struct timeliner *x = timeliner_new(&d, &c, true);
	struct orderer *o = orderer_new(&d, &c);
	bool ok = timeline_run(x, device, &t) == TIMELINE_OK;
	tap(ok && t->makespan_s == 21, "without a delay the long task goes first");
	tap(orderer_run(o, device, rank, 1, start) == 14, "with one the device waits");
	orderer_delays(o, device, start, 14, order, delayed_by);
	tap(delayed_by[2] == 1 && delayed_by[0] == SCHED_NONE && delayed_by[1] == SCHED_NONE &&
		    delayed_by[3] == SCHED_NONE,
	    "only the long task is held up");
	timeliner_free(x);
	orderer_free(o);
}

int main(void)
{
	struct arena *a = arena_new();

	against_all(a);
	idling_pays(a);
	arena_free(a);
	return tap_end();
}
