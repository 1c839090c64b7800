/* test_exact.c - branch and bound, bounds and the program over ideals beside all placements of
 * small problems. */
#include "placegen.h"
#include "place/bound/bound.h"
#include "place/bound/bounds.h"
#include "place/dnnpart/ideals.h"
#include "place/method/method.h"
#include "tap.h"

enum { CASES = 200, SETS = 7 };
static const double CLOSE = 1e-9;

static int take(struct method_run *r, struct err *e)
{
	(void)r;
	(void)e;
	return 0;
}

/* What exact finds, from a start that is hardly good; INFINITY: nothing legal.  share: as in struct
 * method_run. */
static double run_exact(const struct problem *p, int threads, const double *share, double *bound)
{
	uint16_t device[PLACEGEN_SETS] = {0}, start[PLACEGEN_SETS] = {0};
	struct err e = ERR_INIT;
	struct method_run r = {.m = &p->m,
			       .seed = 1,
			       .evals = 1000000,
			       .start = start,
			       .threads = threads,
			       .share = share,
			       .a = p->a,
			       .device = device,
			       .names = p->m.names,
			       .k = p->m.k,
			       .emit = take};
	for (uint32_t i = 0; i < p->m.n_sets; i++)
		start[i] = (uint16_t)(p->m.k - 1); /* in many cases not even legal */
	bool found = method_exact.run(&r, &e) == 0;
	const struct place_result *x = place_evaluate(p->ev, device);

	*bound = fmax(r.bound_s, r.rule_bound_s);
	return found && x->status == PLACE_OK ? x->value : INFINITY;
}

static bool same(double a, double b)
{
	return a == b || (fabs(a - b) < INFINITY && fabs(a - b) <= CLOSE * (fabs(a) + fabs(b)));
}

static bool below(double bound, double best)
{
	return bound <= best + CLOSE * fabs(best);
}

/* The least of each metric. */
struct least {
	double lat_s, period_s, energy_j, peak;
};

static void least_of(const struct problem *p, const uint16_t *unit_dev, struct least *x)
{
	uint16_t device[PLACEGEN_SETS] = {0};
	uint64_t peak = 0;

	for (uint32_t i = 0; i < p->u.n; i++)
		place_unit_set(&p->u, i, unit_dev[i], device);
	const struct place_result *r = place_evaluate(p->ev, device);

	place_account(p->ev);
	for (uint32_t d = 0; d < p->m.k; d++)
		peak = r->mem_bytes[d] > peak ? r->mem_bytes[d] : peak;
	x->lat_s = fmin(x->lat_s, r->lat_s);
	x->period_s = fmin(x->period_s, r->period_s);
	x->energy_j = fmin(x->energy_j, r->energy_j);
	x->peak = fmin(x->peak, (double)peak);
}

/* Bounds one by one, of what each is about. */
static bool parts_below(const struct problem *p, const struct least *x)
{
	struct arena *a = arena_new();
	struct bound_view v;

	bound_view_init(&v, &p->u, a);
	double *head = ARENA_NEWN(a, double, v.n), *tail = ARENA_NEWN(a, double, v.n);
	double load = bound_load_s(&v), pattern = bound_pattern_s(&v, load);
	bool ok = below(load, x->period_s) && below(load, x->lat_s) &&
		  below(pattern, x->period_s) && below(pattern, x->lat_s) &&
		  below(bound_cut_s(&v), x->period_s) &&
		  below(bound_path_s(&v, head, tail), x->lat_s) &&
		  below(bound_window_s(&v, 0, head, tail), x->lat_s) &&
		  below(bound_memory_bytes(&v), x->peak) &&
		  (p->m.objective.energy == 0 || x->lat_s == INFINITY ||
		   below(bound_energy_j(&v, x->lat_s), x->energy_j));

	arena_free(a);
	return ok;
}

static void against_all(enum place_rules rules, bool training)
{
	int n = 0, exact = 0, proved = 0, bounded = 0, threads = 0, tight = 0, legal = 0, parts = 0;
	int shares = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct problem p;
		uint16_t unit_dev[PLACEGEN_SETS] = {0};
		double best = INFINITY, bound, other_bound;
		struct least each = {INFINITY, INFINITY, INFINITY, INFINITY};

		if (!problem_make(&p, seed, rules, seed % 25 ? SETS - 1 : SETS + 1, training))
			continue;
		n++;
		do {
			double s = problem_value(&p, unit_dev);

			best = fmin(best, s);
			if (s < INFINITY && rules == PLACE_SCHEDULE)
				least_of(&p, unit_dev, &each);
		} while (problem_next(&p, unit_dev));
		double share[PLACEGEN_DEVICES], sum = 0;
		bool shared;

		place_bound(&p.u, 0, share, &shared);
		for (uint32_t d = 0; d < p.m.k; d++)
			sum += shared ? share[d] : 1.0 / p.m.k;
		shares += shared == (rules != PLACE_DNNPART_LATENCY) && fabs(sum - 1) < CLOSE;
		double s = run_exact(&p, 1, NULL, &bound), least = place_lower_bound(&p.u, 0);
		exact += same(s, best);
		proved += best == INFINITY || same(bound, best);
		threads +=
			seed % 4 || (run_exact(&p, 3, shared ? share : NULL, &other_bound) == s &&
				     (best == INFINITY || other_bound == bound));
		bounded += below(least, best);
		legal += best < INFINITY;
		tight += best < INFINITY && least > 0.7 * best;
		parts += rules != PLACE_SCHEDULE || parts_below(&p, &each);
		if (!same(s, best) || !below(least, best))
			printf("# seed %d: best %.9g, exact %.9g, bound %.9g\n", (int)seed, best, s,
			       least);
		problem_end(&p);
	}
	const char *name = place_rules_names[rules], *kind = training ? ", training" : "";
	tap(n > CASES / 2 && exact == n, "%s%s: exact is the best of all (%d of %d)", name, kind,
	    exact, n);
	tap(proved == n, "%s%s: exact proves it (%d)", name, kind, proved);
	tap(threads == n, "%s%s: threads and shares that are given change nothing (%d)", name, kind,
	    threads);
	tap(shares == n, "%s%s: shares of devices are shares (%d)", name, kind, shares);
	tap(bounded == n, "%s%s: no bound is above it (%d)", name, kind, bounded);
	tap(parts == n, "%s%s: nor is one of its parts (%d)", name, kind, parts);
	tap(tight > legal / 2, "%s%s: most bounds are near (%d of %d)", name, kind, tight, legal);
}

/* Does every device hold one piece, so that pieces can be put in a row?  (Edges to units that begin
 * earlier do not count where the graph is folded.) */
static bool contiguous(const struct problem *p, bool folded, const uint16_t *unit_dev)
{
	bool reach[PLACEGEN_DEVICES][PLACEGEN_DEVICES] = {{false}};
	const struct sched_dag *d = &p->m.tasks.dag;
	uint32_t k = p->m.k;

	for (uint32_t i = 0; i < d->n_uses; i++) {
		uint32_t from = p->u.of_set[p->m.tasks.task_set[d->tensor_task[d->use_tensor[i]]]];
		uint32_t to = p->u.of_set[p->m.tasks.task_set[d->use_task[i]]];

		if (unit_dev[from] != unit_dev[to] && (!folded || from < to))
			reach[unit_dev[from]][unit_dev[to]] = true;
	}
	for (uint32_t m = 0; m < k; m++)
		for (uint32_t a = 0; a < k; a++)
			for (uint32_t b = 0; b < k; b++)
				reach[a][b] |= reach[a][m] && reach[m][b];
	for (uint32_t a = 0; a < k; a++)
		if (reach[a][a])
			return false;
	return true;
}

static void splits(bool training)
{
	int n = 0, right = 0, found = 0, threads = 0, folded = 0, close = 0;
	struct pool *pool[2] = {pool_new(1, NULL), pool_new(3, NULL)};

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct problem p;
		struct splits pieces;
		uint16_t unit_dev[PLACEGEN_SETS] = {0}, device[2][PLACEGEN_SETS] = {{0}};
		double best = INFINITY, value[2] = {INFINITY, INFINITY};

		if (!problem_make(&p, seed + 1000, PLACE_DNNPART_THROUGHPUT, SETS, training) ||
		    !splits_init(&pieces, &p.u, p.a))
			continue;
		n++;
		folded += (pieces.fold != FOLD_NONE);
		do
			if (contiguous(&p, (pieces.fold != FOLD_NONE), unit_dev))
				best = fmin(best, problem_value(&p, unit_dev));
		while (problem_next(&p, unit_dev));
		for (int i = 0; i < (seed % 4 ? 1 : 2); i++) {
			struct ideals_task t = {.p = &pieces,
						.below_s = INFINITY,
						.max_steps = 1000000,
						.pool = pool[i],
						.device = device[i]};

			if (ideals_solve(&t) == IDEALS_FOUND)
				value[i] = t.value_s;
		}
		threads += seed % 4 || !memcmp(device[0], device[1], sizeof(device[0]));
		right += same(value[0], best);
		/* just above the best it is found, at the best nothing is */
		struct ideals_task near = {.p = &pieces,
					   .below_s = best * 1.0001,
					   .max_steps = 1000000,
					   .pool = pool[0],
					   .device = device[1]};
		close += !(best < INFINITY && best > 0) ||
			 (ideals_solve(&near) == IDEALS_FOUND && same(near.value_s, best));
		near.below_s = best * (1 - 1e-6);
		close -= best < INFINITY && best > 0 && ideals_solve(&near) != IDEALS_NONE;
		for (uint32_t i = 0; i < p.u.n; i++)
			unit_dev[i] = device[0][pieces.of_unit[i]];
		found += value[0] == INFINITY || same(problem_value(&p, unit_dev), value[0]);
		if (!same(value[0], best))
			printf("# seed %d: best contiguous %.9g, over ideals %.9g\n", (int)seed,
			       best, value[0]);
		problem_end(&p);
	}
	pool_free(pool[0]);
	pool_free(pool[1]);
	const char *kind = training ? "training" : "inference";
	tap(n > CASES / 2 && right == n,
	    "%s: ideals give the best contiguous split (%d of %d, %d folded)", kind, right, n,
	    folded);
	tap(close == n, "%s: thresholds are kept to (%d)", kind, close);
	tap(found == n, "%s: the split is worth what was said (%d)", kind, found);
	tap(threads == n, "%s: threads do not change it (%d)", kind, threads);
	tap(!training || folded > n / 2, "%s: folded", kind);
}

/* The bound that is told is one of the table's, for these rules, or a mixture's sum. */
static void kinds_are_registered(enum place_rules rules)
{
	int n = 0, known = 0;

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct problem p;
		bool found = false;

		if (!problem_make(&p, seed, rules, SETS, false))
			continue;
		struct place_bound b = place_bound(&p.u, 0, NULL, NULL);

		for (size_t i = 0; lower_bounds[i]; i++)
			found |= (lower_bounds[i]->rules & 1U << rules) &&
				 *lower_bounds[i]->source &&
				 strcmp(lower_bounds[i]->kind, b.kind) == 0;
		n++;
		known += found || (rules == PLACE_SCHEDULE && strcmp(b.kind, "sum") == 0);
		problem_end(&p);
	}
	tap(n > 0 && known == n, "%s: the table has the bound that is told (%d of %d)",
	    place_rules_names[rules], known, n);
}

int main(void)
{
	for (int rules = PLACE_SCHEDULE; rules <= PLACE_DNNPART_THROUGHPUT; rules++)
		kinds_are_registered((enum place_rules)rules);
	against_all(PLACE_SCHEDULE, false);
	against_all(PLACE_SCHEDULE, true);
	against_all(PLACE_DNNPART_LATENCY, false);
	against_all(PLACE_DNNPART_THROUGHPUT, false);
	against_all(PLACE_DNNPART_THROUGHPUT, true);
	splits(false);
	splits(true);
	return tap_end();
}
