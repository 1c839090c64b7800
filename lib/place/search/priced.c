/* priced.c - HEFT that weighs what a device's time is worth.  HEFT gives a task to the device where
 * it ends first, however badly that suits it, as soon as those that suit it are busy; where there is
 * much to do for all devices that wastes their time.  Here a task goes where its end and a price of
 * the time that it takes there are least together.  A second of device d costs what the dual of the
 * load bound says (bound_load_s, Lenstra, Shmoys, Tardos 1990): at these prices no task is cheaper
 * anywhere than where the relaxation puts it.  Prices from a relaxation for a list schedule:
 * P. B. Luh, D. J. Hoitomt, "Scheduling of manufacturing systems using the Lagrangian relaxation
 * technique", IEEE Transactions on Automatic Control 38(7), 1993.
 *
 * How much prices should weigh beside ends depends on what copies cost and on how much can run at
 * once.  So weights are searched, as if the value had one minimum: on both sides of the best, with
 * steps that grow while that helps and shrink where it does not.  Where the first schedule is longer
 * than it looked without copies that wait for each other, the second one has them wait on links, as
 * in contention.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "place/bound/bound_parts.h"
#include "place/heuristic/listlinks.h"
#include "place/search/search_context.h"

enum {
	LINKS_TAKE = 3, /* times what a schedule without them takes, at most */
	BATCH = 2,
	FIRST_STEP = 8, /* in quarters of a power of two, as all weights */
	MOST_STEP = 16,
	FIRST_WEIGHT = 4,
	LEAST_WEIGHT = -24,
	MOST_WEIGHT = 40
};

struct priced_trial {
	int weight;       /* quarters of a power of two */
	bool links;       /* copies wait for each other */
	uint16_t *device; /* (n_sets) */
	double value;     /* INFINITY: not legal, or not run */
	double lat_s;     /* what it takes, as simulated */
	double own_s;     /* its own schedule takes */
	bool ran;
};

/* Simulated over a schedule's own length: above, copies wait on links for long. */
static const double WAITS = 1.01;

struct priced {
	struct method_run *r;
	struct search_context s;
	struct limits limits;
	double *price;         /* (k) of a second, mean 1 */
	struct evaluator **ev; /* (threads) */
	struct priced_trial batch[BATCH], best;
	uint32_t n, made; /* trials in the batch; so far */
	double took_s;    /* the last batch; 0: there is no deadline */
	bool tried[MOST_WEIGHT - LEAST_WEIGHT + 1];
};

static void find_prices(struct priced *x)
{
	uint32_t k = x->r->m->k;
	double sum = 0;

	x->price = ARENA_NEWN(x->r->a, double, k);
	if (x->r->share) {
		memcpy(x->price, x->r->share, k * sizeof(*x->price));
	} else {
		struct arena *a = arena_new();
		struct bound_view v;

		bound_view_init(&v, &x->s.u, a);
		v.deadline_s = method_bound_until_s(x->r);
		bound_load_s(&v);
		memcpy(x->price, v.share, k * sizeof(*x->price));
		arena_free(a);
	}
	for (uint32_t d = 0; d < k; d++)
		sum += x->price[d];
	for (uint32_t d = 0; d < k; d++)
		x->price[d] *= sum > 0 ? k / sum : 0;
}

/* ---- trials ---- */

struct chooser {
	const double *price; /* (k) */
	double weight;
};

static uint32_t choose_device(struct listsched *x, uint32_t v, void *arg)
{
	const struct chooser *c = arg;
	double best = INFINITY;
	uint32_t at = SCHED_NONE;

	for (uint32_t dev = 0; dev < x->k; dev++) {
		double end_s = listsched_end_s(x, v, dev);

		if (end_s == INFINITY)
			continue;
		double s = end_s + c->weight * c->price[dev] * place_task_s(x->m, v, dev, x->on);

		if (s < best) {
			best = s;
			at = dev;
		}
	}
	return at;
}

static void run_trial(void *arg, int task, int thread)
{
	struct priced *x = arg;
	struct priced_trial *t = &x->batch[task];
	struct chooser c = {x->price, exp2(t->weight / 4.0)};
	struct err none = ERR_INIT;
	struct listsched l;
	uint32_t moved;

	t->value = INFINITY;
	t->ran = (x->made == 0 && task == 0) || limits_spent(&x->limits, 0) < 1;
	if (!t->ran)
		return;
	struct arena *a = arena_new();

	listsched_init(&l, x->r->m, a);
	l.deadline_s = x->limits.deadline_s;
	l.links = t->links ? listlinks_new(&l) : NULL;
	int rc = listsched_run(&l, listsched_upward_rank(&l, a), choose_device, &c, &none);

	t->own_s = listsched_makespan_s(&l);
	listlinks_free(l.links);
	listsched_placement(&l, t->device);
	listsched_release(&l);
	arena_free(a);
	if (!x->ev[thread])
		x->ev[thread] = evaluators_take(x->s.ev);
	const struct place_result *p =
		place_repaired(x->ev[thread], &x->s.traffic, t->device, &moved);
	t->lat_s = p->lat_s;
	t->value = p->status == PLACE_OK && (rc == 0 || x->made == 0) ? p->value : INFINITY;
}

/* ---- weights ---- */

static void add_trial(struct priced *x, int weight, bool links)
{
	x->tried[weight - LEAST_WEIGHT] = true;
	x->batch[x->n].weight = weight;
	x->batch[x->n++].links = links;
}

/* The weight so far away on one side of the best, unless one between them, or itself, was worse. */
static void add_beside(struct priced *x, int step)
{
	int to = x->best.weight + step, side = step > 0 ? 1 : -1;

	if (to < LEAST_WEIGHT || to > MOST_WEIGHT)
		return;
	for (int w = x->best.weight + side; w != to + side; w += side)
		if (x->tried[w - LEAST_WEIGHT])
			return;
	add_trial(x, to, x->best.links);
}

/* Both sides of the best; false: there is nothing left to try. */
static bool next_batch(struct priced *x, int *step)
{
	uint64_t left = x->limits.evals > x->made ? x->limits.evals - x->made : 0;

	x->n = 0;
	while (x->n == 0 && *step > 0) {
		add_beside(x, *step);
		add_beside(x, -*step);
		if (x->n == 0)
			*step /= 2;
	}
	x->n = x->n > left ? (uint32_t)left : x->n;
	return x->n > 0;
}

/* Is there time for so many times the last batch? */
static bool fits(const struct priced *x, double times)
{
	return x->took_s <= 0 || clock_s() + times * x->took_s < x->limits.deadline_s;
}

/* Runs the batch; is one of it the best so far? */
static bool run_batch(struct priced *x, struct pool *pool)
{
	double began_s = x->limits.deadline_s > 0 ? clock_s() : 0;
	bool better = false;

	pool_run(pool, (int)x->n, run_trial, x);
	for (uint32_t i = 0; i < x->n && x->batch[i].ran; i++) {
		const struct priced_trial *t = &x->batch[i];

		x->made++;
		if (!(t->value < x->best.value))
			continue;
		better = true;
		x->best.weight = t->weight;
		x->best.links = t->links;
		x->best.value = t->value;
		memcpy(x->r->device, t->device, x->r->m->n_sets * sizeof(*t->device));
	}
	x->took_s = began_s > 0 ? clock_s() - began_s : 0;
	return better;
}

static void search_weights(struct priced *x, struct pool *pool)
{
	int step = FIRST_STEP;

	add_trial(x, FIRST_WEIGHT, false);
	run_batch(x, pool);
	if (x->r->m->costs.contention && x->limits.evals > 1 &&
	    !(x->batch[0].lat_s <= WAITS * x->batch[0].own_s) && fits(x, LINKS_TAKE)) {
		x->n = 0;
		add_trial(x, FIRST_WEIGHT, true);
		run_batch(x, pool);
	}
	while (x->best.value < INFINITY && fits(x, 1) && next_batch(x, &step))
		step = run_batch(x, pool) ? (2 * step < MOST_STEP ? 2 * step : MOST_STEP)
					  : step / 2;
}

static int run_priced(struct method_run *r, struct err *e)
{
	struct priced x = {.r = r,
			   .limits = limits_of(r, UINT64_MAX),
			   .best.value = INFINITY,
			   .ev = ARENA_NEWN(r->a, struct evaluator *, (size_t)r->threads)};
	struct pool *pool = pool_new(r->threads, NULL);

	search_context_init(&x.s, r);
	find_prices(&x);
	for (uint32_t i = 0; i < BATCH; i++)
		x.batch[i].device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	search_weights(&x, pool);
	pool_free(pool);
	for (int i = 0; i < r->threads; i++)
		if (x.ev[i])
			evaluators_put(x.s.ev, x.ev[i]);
	search_context_release(&x.s);
	if (x.best.value == INFINITY)
		return err_set(e, ST_RUNTIME, "priced: none of %u list schedules is legal", x.made);
	snprintf(r->note, sizeof(r->note), "%u list schedules, value %.6g with weight %.3g%s",
		 x.made, x.best.value, exp2(x.best.weight / 4.0),
		 x.best.links ? ", copies wait on links" : "");
	return r->emit(r, e);
}

const struct place_method method_priced = {
	.name = "priced",
	.needs_costs = true,
	.about = "HEFT that weighs ends of tasks and prices of devices' time",
	.source = "Luh, Hoitomt, IEEE TAC 38(7), 1993, for list schedules by prices",
	.run = run_priced,
	.scope = SCOPE_SCHEDULES,
	.evals = EVALS_OWN,
	.is_heuristic = true,
};
