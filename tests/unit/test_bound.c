/* test_bound.c - lower bounds of a latency beside all placements of small problems, and beside all orders in which their tasks
 * can run: each task as early as it can be behind those before it, copies at once.  No list schedule is shorter. */
#include "placegen.h"
#include "place/bound/bound.h"
#include "place/bound/bounds.h"
#include "sched/turns.h"
#include "tap.h"

#include <stdlib.h>

enum { CASES = 400, SETS = 5, LIST_SETS = 7, LIST_CASES = 1500, ROWS = 200 };
static const double CLOSE = 1e-9;

/* Problem `seed` with the latency as its objective; in two of three some devices take turns, in three of four they slow each
 * other. */
static bool make(struct problem *p, uint64_t seed, uint32_t sets)
{
	struct gen r = gen_new(seed ^ 0x517cc1b727220a95U);
	uint32_t k;

	if (!problem_make(p, seed, PLACE_SCHEDULE, sets, false))
		return false;
	k = p->m.k;
	evaluator_free(p->ev);
	p->m.objective = (struct place_objective){0};
	p->m.slowdown = gen_below(&r, 4) * (PLACE_MOST_SLOWDOWN / 3);
	p->m.multi_slowdown = gen_below(&r, 3) * 0.15;
	if (gen_below(&r, 3)) {
		uint8_t *turns = ARENA_NEWN(p->a, uint8_t, k * k);

		for (uint32_t a = 0; a < k; a++)
			for (uint32_t b = 0; b < a; b++)
				turns[a * k + b] = turns[b * k + a] =
					a == k - 1 || !gen_below(&r, 4);
		p->m.costs.turns = turns;
	}
	place_units_init(&p->u, &p->m, p->a);
	p->ev = evaluator_new(&p->m);
	return true;
}

/* ---- all schedules ---- */

struct orders {
	const struct problem *p;
	uint16_t device[PLACEGEN_SETS]; /* of sets */
	uint16_t at[PLACEGEN_SETS];     /* of tasks */
	double task_s[PLACEGEN_SETS], end_s[PLACEGEN_SETS];
	bool done[PLACEGEN_SETS];
	double best_s;
};

/* Tasks behind the first n of an order; free_s (k): when each device can begin. */
static void try_orders(struct orders *x, uint32_t n, const double *free_s, double makespan_s)
{
	const struct place_model *m = &x->p->m;
	const struct sched_dag *d = &m->tasks.dag;

	if (n == d->n) {
		double busy[PLACEGEN_DEVICES] = {0};

		for (uint32_t t = 0; t < d->n; t++)
			busy[x->at[t]] += x->task_s[t];
		x->best_s = fmin(x->best_s, place_latency_s(m, makespan_s, busy));
		return;
	}
	for (uint32_t t = 0; t < d->n; t++) {
		double after[PLACEGEN_DEVICES], start = free_s[x->at[t]];
		bool ready = !x->done[t];

		for (uint32_t i = d->in_ptr[t]; ready && i < d->in_ptr[t + 1]; i++) {
			uint32_t v = d->use_tensor[d->in_use[i]], from = d->tensor_task[v];
			double way = x->at[from] == x->at[t]
					     ? 0
					     : sched_copy_s(&m->costs.links, x->at[from], x->at[t],
							    d->tensor_bytes[v]);

			ready = x->done[from];
			start = fmax(start, x->end_s[from] + way);
		}
		if (!ready)
			continue;
		x->end_s[t] = start + x->task_s[t];
		for (uint32_t b = 0; b < m->k; b++) {
			bool waits = b == x->at[t] ||
				     (m->costs.turns && m->costs.turns[x->at[t] * m->k + b]);

			after[b] = waits ? fmax(free_s[b], x->end_s[t]) : free_s[b];
		}
		x->done[t] = true;
		try_orders(x, n + 1, after, fmax(makespan_s, x->end_s[t]));
		x->done[t] = false;
	}
}

/* The shortest of all schedules of a placement. */
static double shortest(const struct problem *p, const uint16_t *unit_dev)
{
	struct orders x = {.p = p, .best_s = INFINITY};
	double free_s[PLACEGEN_DEVICES] = {0};

	for (uint32_t i = 0; i < p->u.n; i++)
		place_unit_set(&p->u, i, unit_dev[i], x.device);
	for (uint32_t t = 0; t < p->m.tasks.dag.n; t++)
		x.at[t] = x.device[p->m.tasks.task_set[t]];
	for (uint32_t t = 0; t < p->m.tasks.dag.n; t++)
		x.task_s[t] = place_task_s(&p->m, t, x.at[t], x.at);
	try_orders(&x, 0, free_s, 0);
	return x.best_s;
}

static bool below(double bound, double best)
{
	return bound <= best + CLOSE * fabs(best);
}

static void against_orders(void)
{
	int n = 0, under = 0, near = 0, legal = 0, agree = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct problem p;
		uint16_t unit_dev[PLACEGEN_SETS] = {0};
		double best = INFINITY;
		bool listed = true;

		if (!make(&p, seed, SETS))
			continue;
		do {
			double simulated = problem_value(&p, unit_dev);

			if (simulated == INFINITY)
				continue;
			double s = shortest(&p, unit_dev);

			listed &= below(s, simulated);
			best = fmin(best, s);
		} while (problem_next(&p, unit_dev));
		struct place_bound b = place_bound(&p.u, 0, NULL, NULL);

		n++;
		agree += listed;
		under += below(b.value, best);
		legal += best < INFINITY;
		near += best < INFINITY && b.value > 0.9 * best;
		if (!below(b.value, best) || !listed)
			printf("# seed %d: best %.9g, bound %.9g (%s)\n", (int)seed, best, b.value,
			       b.kind);
		problem_end(&p);
	}
	tap(n > CASES / 2 && agree == n, "no list schedule is shorter than all orders (%d of %d)",
	    agree, n);
	tap(under == n, "no bound is above the shortest schedule (%d)", under);
	tap(near > legal / 2, "most are near it (%d of %d)", near, legal);
}

/* ---- all list schedules ---- */

static void against_lists(void)
{
	int n = 0, under = 0, slowed = 0, kinds = 0;

	for (uint64_t seed = 0; seed < LIST_CASES; seed++) {
		struct problem p;
		uint16_t unit_dev[PLACEGEN_SETS] = {0};
		double best = INFINITY;

		if (!make(&p, 10000 + seed, LIST_SETS))
			continue;
		do
			best = fmin(best, problem_value(&p, unit_dev));
		while (problem_next(&p, unit_dev));
		struct place_bound b = place_bound(&p.u, 0, NULL, NULL);

		n++;
		under += below(b.value, best);
		kinds += strcmp(b.kind, "slowed") == 0;
		slowed += p.m.slowdown > 0 || p.m.multi_slowdown > 0;
		if (!below(b.value, best))
			printf("# seed %d: best %.9g, bound %.9g (%s)\n", (int)seed, best, b.value,
			       b.kind);
		problem_end(&p);
	}
	tap(under == n, "none is above the best list schedule (%d of %d)", under, n);
	tap(kinds > slowed / 3,
	    "where devices slow each other their bound is often the largest (%d of %d)", kinds,
	    slowed);
}

/* ---- rows of blocks ---- */

/* Seven tasks, three of which everything passes, on two or three devices (the third takes turns with both), times that are no
 * round numbers, and savings inside of blocks and across their ends. */
static void make_row(struct problem *p, uint64_t seed)
{
	static const uint32_t reads[][2] = {{0, 0}, {0, 0}, {0, 0}, {1, 2}, {3, 3}, {3, 3}, {4, 5}};
	static const uint32_t from[] = {0, 1, 1, 2, 3, 2}, to[] = {1, 3, 4, 5, 4, 4};
	static const char *const names[] = {"a", "b", "both"};
	enum { N = 7, SAVINGS = 6 };
	struct gen r = gen_new(seed);
	struct err e = ERR_INIT;
	uint32_t k = 2 + gen_below(&r, 2), m = 0;
	double size = gen_below(&r, 2) ? 0.5 : 0.05;

	p->a = arena_new();
	p->g = gen_tensors(N, 2);
	for (uint32_t v = 0; v < N; v++) {
		for (uint32_t i = 0; v > 0 && i < 2 && (i == 0 || reads[v][1] != reads[v][0]); i++)
			p->g->in_node[m++] = reads[v][i];
		p->g->in_ptr[v + 1] = m;
	}
	graph_finish(p->g);
	double *s = ARENA_NEWN(p->a, double, N *k), *saved = ARENA_NEWN(p->a, double, SAVINGS *k),
	       *lat = ARENA_NEWN(p->a, double, k *k), *bw = ARENA_NEWN(p->a, double, k *k);
	uint32_t *src = ARENA_NEWN(p->a, uint32_t, SAVINGS),
		 *dst = ARENA_NEWN(p->a, uint32_t, SAVINGS);
	uint64_t *limit = ARENA_NEWN(p->a, uint64_t, k);
	uint8_t *turns = ARENA_NEWN(p->a, uint8_t, k * k);

	for (uint32_t i = 0; i < N * k; i++)
		s[i] = (1 + gen_below(&r, 1000) / 1000.0) * (i % k == 2 ? 0.7 : 1);
	for (uint32_t i = 0; i < SAVINGS; i++) {
		src[i] = from[i];
		dst[i] = to[i];
		for (uint32_t d = 0; d < k; d++)
			saved[i * k + d] = size * gen_below(&r, 1000) / 1000.0;
	}
	for (uint32_t i = 0; i < k * k; i++) {
		turns[i] = i / k != i % k && (i / k == 2 || i % k == 2);
		lat[i] = i / k == i % k ? 0 : gen_below(&r, 100) / 1000.0;
		bw[i] = INFINITY;
	}
	const struct place_setup setup = {.k = k,
					  .names = names,
					  .set_s = s,
					  .links = {.k = k, .latency_s = lat, .bytes_per_s = bw},
					  .mem_limit = limit,
					  .contention = true,
					  .overlap = true,
					  .policy = SCHED_IMPROVED,
					  .turns = k == 3 ? turns : NULL,
					  .saved = {SAVINGS, src, dst, saved},
					  .slowdown = gen_below(&r, 3) * 0.25,
					  .multi_slowdown = gen_below(&r, 2) * 0.02};

	if (place_model_init(&p->m, p->g, &setup, p->a, &e) < 0)
		abort();
	place_units_init(&p->u, &p->m, p->a);
	p->ev = evaluator_new(&p->m);
}

static void rows_of_blocks(void)
{
	int under = 0, near = 0, higher = 0, found = 0, good = 0;

	for (uint64_t seed = 0; seed < ROWS; seed++) {
		struct problem p;
		uint16_t unit_dev[PLACEGEN_SETS] = {0};
		double best = INFINITY, mixed = INFINITY, makespan = INFINITY;
		struct bound_view v;

		make_row(&p, seed);
		double slowdown = p.m.slowdown, beside = p.m.multi_slowdown, s = slowdown;

		do {
			/* The makespan, which does not depend on what devices cost each other. */
			p.m.slowdown = p.m.multi_slowdown = 0;
			const struct place_result *x = place_evaluate(p.ev, unit_dev);
			double m = x->lat_s, busy = 0;

			p.m.slowdown = slowdown;
			p.m.multi_slowdown = beside;
			for (uint32_t d = 0; d < p.m.k; d++)
				busy += x->busy_s[d];
			best = fmin(best, place_latency_s(&p.m, m, x->busy_s));
			makespan = fmin(makespan, m);
			mixed = fmin(mixed, (1 - s) * m + s * busy);
		} while (problem_next(&p, unit_dev));
		bound_view_init(&v, &p.u, p.a);
		double series = bound_series_s(&v, s), plain = bound_series_s(&v, 0),
		       all = place_lower_bound(&p.u, 0);

		under += below(series, mixed) && below(plain, makespan) && below(all, best);
		near += series > 0.95 * mixed;
		double least;
		uint16_t dev[PLACEGEN_SETS];

		found += bound_series_place(&v, s, 100000, dev, &least) && below(least, mixed) &&
			 least >= series * (1 - CLOSE);
		/* What the row was chosen for, which leaves one device alone out. */
		p.m.slowdown = p.m.multi_slowdown = 0;
		const struct place_result *x = place_evaluate(p.ev, dev);
		double busy = 0;

		for (uint32_t d = 0; d < p.m.k; d++)
			busy += x->busy_s[d];
		good += (1 - s) * x->lat_s + s * busy <= 1.02 * mixed;
		higher += series > 0;
		if (!below(series, mixed) || !below(plain, makespan) || !below(all, best))
			printf("# row %d: series %.9g of %.9g, %.9g of %.9g; %.9g of %.9g\n",
			       (int)seed, series, mixed, plain, makespan, all, best);
		problem_end(&p);
	}
	tap(under == ROWS, "blocks in a row: no bound is above the best (%d of %d)", under, ROWS);
	tap(near > ROWS / 2 && higher == ROWS, "and most are near it (%d)", near);
	tap(found == ROWS && good > ROWS * 3 / 4, "their placement is there (%d), and good (%d)",
	    found, good);
}

int main(void)
{
	against_orders();
	against_lists();
	rows_of_blocks();
	return tap_end();
}
