/* lookahead.c - HEFT that places a task where the last of its children could end first:
 * Bittencourt, Sakellariou, Madeira, "DAG scheduling using a lookahead variant of the heterogeneous
 * earliest finish time algorithm", PDP 2010, section III (one level, without changes of priority).
 * On trial, children are placed for good, one after another; parents that are not placed yet do not
 * hold them up.  What is left when four fifths of the budget are over is placed by HEFT. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "place/heuristic/listsched.h"
#include "place/method/method.h"

static const double HEFT_SHARE = 0.2; /* of the budget */

struct lookahead {
	const double *rank;          /* (n) upward */
	uint32_t *child, n_children; /* (n) of the task at hand, by descending rank */
	uint32_t *seen;              /* (n) the last task of which it was found a child, and 1 */
	double deadline_s;           /* INFINITY: none */
	uint32_t n_late;             /* tasks placed by HEFT */
};

static void find_children(struct lookahead *l, const struct listsched *x, uint32_t v)
{
	l->n_children = 0;
	for (uint32_t t = x->d->out_ptr[v]; t < x->d->out_ptr[v + 1]; t++)
		for (uint32_t i = x->d->use_ptr[t]; i < x->d->use_ptr[t + 1]; i++) {
			uint32_t w = x->d->use_task[i];

			if (l->seen[w] == v + 1)
				continue;
			l->seen[w] = v + 1;
			l->child[l->n_children++] = w;
		}
	listsched_sort(l->child, l->n_children, l->rank);
}

/* v on dev and its children by HEFT: the latest end of a child (of v, without children). */
static double try_device(const struct lookahead *l, struct listsched *x, uint32_t v, uint32_t dev)
{
	double latest = 0, end_s;
	uint32_t placed = 0;

	listsched_place(x, v, dev);
	while (placed < l->n_children) {
		uint32_t to = listsched_earliest(x, l->child[placed], &end_s);

		latest = fmax(latest, end_s);
		if (to == SCHED_NONE || clock_s() > l->deadline_s)
			break;
		listsched_place(x, l->child[placed++], to);
	}
	if (l->n_children == 0)
		latest = x->end_s[v];
	while (placed)
		listsched_take_back(x, l->child[--placed]);
	listsched_take_back(x, v);
	return latest;
}

static uint32_t choose_device(struct listsched *x, uint32_t v, void *arg)
{
	struct lookahead *l = arg;
	double best = INFINITY, best_own = INFINITY;
	uint32_t at = SCHED_NONE;

	if (clock_s() > l->deadline_s) {
		l->n_late++;
		return listsched_earliest(x, v, &best);
	}
	find_children(l, x, v);
	for (uint32_t dev = 0; dev < x->k; dev++) {
		double own = listsched_end_s(x, v, dev), s;

		if (own == INFINITY)
			continue;
		s = try_device(l, x, v, dev);
		if (at != SCHED_NONE && clock_s() > l->deadline_s)
			break;
		if (at == SCHED_NONE || s < best || (s == best && own < best_own)) {
			best = s;
			best_own = own;
			at = dev;
		}
	}
	return at;
}

static int run_lookahead(struct method_run *r, struct err *e)
{
	struct listsched x;
	struct lookahead l = {.deadline_s = INFINITY};

	listsched_init(&x, r->m, r->a);
	x.deadline_s = method_deadline_s(r);
	if (x.deadline_s > 0)
		l.deadline_s = x.deadline_s - HEFT_SHARE * r->budget_s;
	l.rank = listsched_upward_rank(&x, r->a);
	l.child = ARENA_NEWN(r->a, uint32_t, x.n);
	l.seen = ARENA_NEWN(r->a, uint32_t, x.n);
	int rc = listsched_run(&x, l.rank, choose_device, &l, e);
	uint32_t n = x.n;

	rc = listsched_answer(&x, rc, r, e);
	if (l.n_late) {
		size_t used = strlen(r->note);

		snprintf(r->note + used, sizeof(r->note) - used,
			 "; %u of %u tasks by HEFT, the budget being nearly spent", l.n_late, n);
	}
	return rc;
}

const struct place_method method_lookahead = {
	.name = "lookahead",
	.needs_costs = true,
	.about = "HEFT that looks at the finish times of consumers",
	.source = "Bittencourt, Sakellariou, Madeira, PDP 2010",
	.run = run_lookahead,
	.is_heuristic = true,
};
