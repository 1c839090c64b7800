/* restarts.c - critical path with random restarts, the baseline CRITICAL PATH of X. Yao et al.,
 * "Doppler: dual-policy learning for device assignment in asynchronous dataflow graphs", 2025,
 * section 6: of the tasks that are ready the one of the longest path to an exit is placed where it
 * can start first, on devices that differ: end first (Kwok, Ahmad, "Static scheduling algorithms
 * for allocating directed task graphs to multiprocessors", ACM Computing Surveys 31(4), 1999,
 * section 6), ties broken at random; the best of fifty.  Costs that are all different have no
 * ties, so all but the first run also stretch every priority and every end by a random part. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "place/heuristic/listsched.h"
#include "place/search/search_context.h"

enum { RESTARTS = 50 };
static const double MOST_NOISE = 0.3, TIE = 1e-9;

struct restart_trial {
	const struct method_run *r;
	const struct limits *limits;
	struct evaluators *ev;
	uint32_t number;
	uint16_t *device; /* (n_sets) */
	double value;     /* INFINITY: not legal, or not run */
	bool ran;
};

struct noise {
	struct random_stream rng;
	double level;
};

static double stretch(struct noise *x, double s)
{
	return s * (1 + (TIE + x->level) * random_stream_uniform(&x->rng));
}

/* Where v ends first. */
static uint32_t first_end(struct listsched *x, uint32_t v, void *arg)
{
	double best = INFINITY;
	uint32_t at = SCHED_NONE;

	for (uint32_t dev = 0; dev < x->k; dev++) {
		double s = listsched_end_s(x, v, dev);

		if (s == INFINITY || (s = stretch(arg, s)) >= best)
			continue;
		best = s;
		at = dev;
	}
	return at;
}

static void run_trial(void *arg, int task, int thread)
{
	struct restart_trial *t = (struct restart_trial *)arg + task;
	const struct place_model *m = t->r->m;
	struct noise noise = {random_stream_new(t->r->seed, RANDOM_RESTART, 0, t->number), 0};
	struct arena *a = arena_new();
	struct err none = ERR_INIT;
	struct listsched x;

	(void)thread;
	t->value = INFINITY;
	t->ran = t->number == 0 || limits_spent(t->limits, 0) < 1;
	if (t->number)
		noise.level = MOST_NOISE * random_stream_uniform(&noise.rng);
	if (t->ran) {
		listsched_init(&x, m, a);
		x.deadline_s = t->limits->deadline_s;
		double *task_s = ARENA_NEWN(a, double, x.n), *rank = ARENA_NEWN(a, double, x.n);
		double *use_s = ARENA_NEWN(a, double, x.d->n_uses);

		listsched_means(&x, task_s, use_s);
		sched_upward_rank(x.d, task_s, use_s, rank);
		for (uint32_t v = 0; v < x.n; v++)
			rank[v] = stretch(&noise, rank[v]);
		if (listsched_run(&x, rank, first_end, &noise, &none) == 0) {
			struct evaluator *ev = evaluators_take(t->ev);

			listsched_placement(&x, t->device);
			const struct place_result *p = place_evaluate(ev, t->device);
			t->value = p->status == PLACE_OK ? p->value : INFINITY;
			evaluators_put(t->ev, ev);
		}
		listsched_release(&x);
	}
	arena_free(a);
}

static int run_restarts(struct method_run *r, struct err *e)
{
	struct limits limits = limits_of(r, RESTARTS);
	struct pool *pool = pool_new(r->threads, NULL);
	uint32_t n = r->threads > 8 ? (uint32_t)r->threads : 8, made = 0;
	struct restart_trial *t = ARENA_NEWN(r->a, struct restart_trial, n);
	struct evaluators *ev = evaluators_new(r->m);
	double best = INFINITY;

	for (uint32_t i = 0; i < n; i++)
		t[i].device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	do {
		uint32_t now = limits.evals - made < n ? (uint32_t)(limits.evals - made) : n;

		for (uint32_t i = 0; i < now; i++)
			t[i] = (struct restart_trial){r,           &limits,  ev,   made + i,
						      t[i].device, INFINITY, false};
		pool_run(pool, (int)now, run_trial, t);
		for (uint32_t i = 0; i < now && t[i].ran; i++, made++)
			if (t[i].value < best) {
				best = t[i].value;
				memcpy(r->device, t[i].device, r->m->n_sets * sizeof(*r->device));
			}
	} while (limits_spent(&limits, made) < 1);
	pool_free(pool);
	evaluators_free(ev);
	snprintf(r->note, sizeof(r->note), "%u restarts, value %.6g", made, best);
	if (best == INFINITY)
		return err_set(e, ST_RUNTIME, "restarts: none of %u list schedules is legal", made);
	return r->emit(r, e);
}

const struct place_method method_restarts = {
	.name = "restarts",
	.needs_costs = true,
	.about = "critical path first, random restarts",
	.source = "Kwok, Ahmad, ACM Comput. Surv. 31(4), 1999; Yao et al., Doppler, 2025",
	.run = run_restarts,
};
