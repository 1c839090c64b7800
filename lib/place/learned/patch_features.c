/* patch_features.c - a row of features of a move: what it would do (patch_effect.h), how loads and
 * neighbours stand.  Times are shares of the makespan. */
#include <math.h>

#include "base/extremes.h"
#include "place/learned/patch_effect.h"

/* In the order of write_features. */
const char patch_feature_kinds[] = "cccccccccccssscccccccccccsscccccccssccss--c-cccs"
				   "scccccss";

static void write_features(const struct patcher *p, const struct patch *y,
			   const struct patch_effect *o, float *f)
{
	const struct part_effect *there = &o->part[0], *back = &o->part[1];
	const struct incumbent_view *x = p->x;
	const struct cost_view *view = x->view;
	const struct timeline *t = x->t;
	double m = t->makespan_s > 0 ? t->makespan_s : 1, most = 0, mean = 0, tried = 0;
	double pushed_back = back->n_tasks ? back->pushed_s : -m;
	double pushed = max2(there->pushed_s, pushed_back);
	double n = o->n_tasks ? o->n_tasks : 1;
	double from = t->busy_s[there->from], to = t->busy_s[there->to];
	double then_from = from - there->cost_from + back->cost_to;
	double then_to = to + there->cost_to - back->cost_from;

	for (uint32_t d = 0; d < view->k; d++) {
		most = max2(most, t->busy_s[d]);
		mean += t->busy_s[d] / view->k;
	}
	for (uint32_t i = 0; i < y->n; i++)
		tried += p->tried[y->unit[i]];
	const double row[PATCH_FEATURES] = {
		squash(20 * o->late / m),
		squash(100 * o->late / m),
		squash(20 * o->late_all / m),
		squash(20 * o->late_plain / m),
		squash(100 * o->late_plain / m),
		squash(20 * pushed / m),
		squash(100 * pushed / m),
		squash(20 * max2(pushed, o->late_plain) / m),
		squash(20 * o->chain_s / m),
		squash(100 * (o->chain_s + o->chain_copy_s) / m),
		squash(20 * o->chain_copy_s / m),
		squash(o->chain_waits),
		o->n_critical / n,
		squash(o->n_critical / 4.0),
		squash(20 * o->min_slack / m),
		squash(20 * o->slack / n / m),
		squash(20 * o->wait_s / m),
		squash(20 * o->reader_slack / m),
		squash(20 * o->cost_from / m),
		squash(20 * o->cost_to / m),
		squash(20 * (o->cost_to - o->cost_from) / m),
		squash(log((o->cost_to + 1e-3 * m / view->n) /
			   (o->cost_from + 1e-3 * m / view->n))),
		squash(20 * o->copy_new / m),
		squash(20 * o->copy_gone / m),
		squash(20 * (o->copy_new - o->copy_gone) / m),
		squash(((double)o->n_new - o->n_gone) / 4),
		squash(o->n_new / 4.0),
		squash((o->copy_new - o->copy_gone) /
		       (o->cost_from + o->cost_to + 1e-3 * m / view->n)),
		from / m,
		to / m,
		then_to / m > 2 ? 2 : then_to / m,
		squash(20 * (max2(then_from, then_to) - most) / m),
		mean / m,
		squash(4 * (from - to) / m),
		o->near_all > 0 ? o->near_to / o->near_all : 0,
		o->near_all > 0 ? o->near_from / o->near_all : 0,
		squash(20 * (o->end_s - t->end_s[p->task[o->n_tasks - 1]]) / m),
		squash(20 * (o->oct_to - o->oct_from) / n / m),
		log2(n) / 6,
		n / view->n,
		squash(tried / y->n),
		squash(p->n_tried / 16.0),
		squash(view->speed[y->to] - view->speed[y->from]),
		1.0 / view->k,
		squash(p->copies_s / view->task_s),
		view->span_s / m,
		t->start_s[p->task[0]] / m,
		(double)x->n_chain / view->n,
		back->n_tasks / n,
		squash(20 * back->cost_to / m),
		squash(20 * there->late / m),
		squash(20 * back->late / m),
		squash(20 * there->pushed_s / m),
		squash(20 * pushed_back / m),
		back->n_tasks ? squash(20 * back->min_slack / m) : 0,
		back->n_tasks ? (double)back->n_critical / back->n_tasks : 0,
	};

	write_features_row(f, row, PATCH_FEATURES);
}

void patch_features(struct patcher *p, const struct patch *y, float *feature)
{
	struct patch_effect o = patch_effect_of(p, y);

	write_features(p, y, &o, feature);
}
