/* lookahead.c - HEFT that places a task where its consumers could end first: Bittencourt,
 * Sakellariou, Madeira, "DAG scheduling using a lookahead variant of the heterogeneous earliest
 * finish time algorithm", PDP 2010, section III (one level, without priority changes). */
#include <math.h>

#include "place/listsched.h"
#include "place/method.h"

/* With v placed: the latest of its consumers' earliest ends, and of its own.  Inputs of a consumer
 * that are not placed yet do not hold it up. */
static double consumers_end_s(const struct listsched *x, uint32_t v)
{
	double latest = x->end_s[v];

	for (uint32_t t = x->d->out_ptr[v]; t < x->d->out_ptr[v + 1]; t++)
		for (uint32_t i = x->d->use_ptr[t]; i < x->d->use_ptr[t + 1]; i++) {
			uint32_t w = x->d->use_task[i];
			double first = INFINITY;

			if (x->left[w])
				continue;
			for (uint32_t dev = 0; dev < x->k; dev++)
				first = fmin(first, listsched_end_s(x, w, dev));
			latest = fmax(latest, first);
		}
	return latest;
}

static uint32_t choose(struct listsched *x, uint32_t v, void *arg)
{
	double best = INFINITY, best_own = INFINITY;
	uint32_t at = SCHED_NONE;

	(void)arg;
	for (uint32_t dev = 0; dev < x->k; dev++) {
		double own = listsched_end_s(x, v, dev);

		if (own == INFINITY)
			continue;
		listsched_place(x, v, dev);
		double s = consumers_end_s(x, v);
		listsched_take_back(x, v);
		if (at == SCHED_NONE || s < best || (s <= best && own < best_own)) {
			best = s;
			best_own = own;
			at = dev;
		}
	}
	return at;
}

int method_lookahead(struct method_run *r, struct err *e)
{
	struct listsched x;
	double *task_s, *use_s, *rank;

	listsched_init(&x, r->m, r->a);
	task_s = ARENA_NEWN(r->a, double, x.n);
	rank = ARENA_NEWN(r->a, double, x.n);
	use_s = ARENA_NEWN(r->a, double, x.d->n_uses);
	listsched_means(&x, task_s, use_s);
	sched_upward_rank(x.d, task_s, use_s, rank);
	int rc = listsched_run(&x, rank, choose, NULL, e);

	return listsched_answer(&x, rc, r, e);
}
