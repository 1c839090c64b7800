/* exact.c - branch and bound: Land and Doig, "An automatic method of solving discrete programming
 * problems", Econometrica 28(3), 1960.  Tasks are placed in topological order, depth first,
 * cheapest bound first; a branch ends where nothing below it can beat the best placement known.  Of
 * devices that cannot be told apart and are still empty only the first is tried.
 *
 * The bound of a beginning: of a schedule, the longest path with the costs and copies that are
 * decided and the fastest costs of what is not, and the load of every device; of dnn-partitioning,
 * what the beginning alone takes (both models never fall when tasks are added behind it), and for
 * the latency the fastest path behind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "place/bound.h"
#include "place/dnnpart.h"
#include "place/method.h"
#include "place/search.h"
#include "place/units.h"

enum { NODES = 200000 };               /* when nobody says how many */
static const double EQUAL = 1e-9;      /* relative: not better than that is not better */

struct option {
	uint16_t dev;
	double bound_s;
};

struct tree {
	struct method_run *r;
	const struct place_model *m;
	const struct sched_dag *d;
	struct place_units u;
	struct evaluator *ev;
	struct dnnpart *dnn;
	uint32_t n, k;
	uint16_t *task_dev;          /* (n) decided for tasks 0 .. */
	uint32_t *unit_of;           /* (n) */
	uint16_t *unit_dev;          /* (units) UINT16_MAX: open */
	uint32_t *used;              /* (k) units on a device */
	uint64_t *mem;               /* (k) */
	double *load_s;              /* (k) */
	double *least_s, *behind_s;  /* (n) fastest cost; fastest path after a task */
	double *end_s;               /* (n) earliest end, of tasks decided */
	double open_s;               /* fastest costs of open units */
	uint16_t *device;            /* (n_sets) */
	struct option *option;       /* (n,k) */
	double best_s;
	uint64_t nodes, limit;
	double deadline_s;
	double cut_s;                /* the smallest bound among branches that were given up */
	bool out;                    /* the budget ended */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- bounds ---- */

/* The earliest end of task v on dev after tasks that are decided (schedules). */
static double earliest_end_s(const struct tree *x, uint32_t v, uint32_t dev)
{
	double ready = 0, cost = place_task_s(x->m, v, dev, x->task_dev);

	for (uint32_t i = x->d->in_ptr[v]; i < x->d->in_ptr[v + 1]; i++) {
		uint32_t t = x->d->use_tensor[x->d->in_use[i]], from = x->d->tensor_task[t];
		double s = x->end_s[from];

		if (x->task_dev[from] != dev) {
			if (x->m->costs.links.latency_s[(size_t)x->task_dev[from] * x->k + dev] < 0)
				return INFINITY;
			s += sched_copy_s(&x->m->costs.links, x->task_dev[from], dev,
					  x->d->tensor_bytes[t]);
		}
		ready = fmax(ready, s);
	}
	return ready + cost;
}

/* The mean load cannot fall below this, with every open unit at its fastest. */
static double mean_load_s(const struct tree *x, const double *load)
{
	double sum = x->open_s, largest = 0;

	for (uint32_t d = 0; d < x->k; d++) {
		sum += load[d];
		largest = fmax(largest, load[d]);
	}
	return fmax(largest, sum / x->k);
}

/* Of tasks 0 .. v, all decided. */
static double bound_s(struct tree *x, uint32_t v)
{
	double bound = 0;

	if (x->m->rules == PLACE_SCHEDULE) {
		x->end_s[v] = earliest_end_s(x, v, x->task_dev[v]);
		return fmax(x->end_s[v] + x->behind_s[v], mean_load_s(x, x->load_s));
	}
	const struct dnnpart_result *p = dnnpart_evaluate_prefix(x->dnn, x->task_dev, v + 1, x->end_s);

	if (p->circle)
		return INFINITY;
	if (x->m->rules == PLACE_DNNPART_THROUGHPUT)
		return mean_load_s(x, p->load_s);
	for (uint32_t t = 0; t <= v; t++)
		bound = fmax(bound, x->end_s[t] + x->behind_s[t]);
	return bound;
}

/* The fastest path behind each task. */
static void paths_behind(struct tree *x)
{
	for (uint32_t v = x->n; v-- > 0;) {
		x->least_s[v] = INFINITY;
		for (uint32_t d = 0; d < x->k; d++) {
			double s = x->m->costs.task_s[(size_t)v * x->k + d];

			for (uint32_t j = x->m->saved_ptr ? x->m->saved_ptr[v] : 0;
			     s >= 0 && x->m->saved_ptr && j < x->m->saved_ptr[v + 1]; j++)
				s = fmax(0, s - x->m->saved_s[(size_t)j * x->k + d]);
			x->least_s[v] = s >= 0 ? fmin(x->least_s[v], s) : x->least_s[v];
		}
		for (uint32_t t = x->d->out_ptr[v]; t < x->d->out_ptr[v + 1]; t++)
			for (uint32_t i = x->d->use_ptr[t]; i < x->d->use_ptr[t + 1]; i++) {
				uint32_t w = x->d->use_task[i];

				x->behind_s[v] = fmax(x->behind_s[v], x->least_s[w] + x->behind_s[w]);
			}
	}
}

/* ---- the tree ---- */

static void put_unit(struct tree *x, uint32_t i, uint16_t dev, int sign)
{
	double s = x->u.cost_s[(size_t)i * x->k + dev];

	if (x->m->saved_ptr)
		s = fmin(s, x->u.least_s[i]);
	x->unit_dev[i] = sign > 0 ? dev : UINT16_MAX;
	x->load_s[dev] = sign > 0 ? x->load_s[dev] + s : fmax(0, x->load_s[dev] - s);
	x->open_s -= sign * x->u.least_s[i];
	if (sign > 0) {
		x->used[dev]++;
		x->mem[dev] += x->u.mem[i];
	} else {
		x->used[dev]--;
		x->mem[dev] -= x->u.mem[i];
	}
}

/* An earlier twin that is empty, too, stands for this device. */
static bool stands_in(const struct tree *x, uint16_t dev)
{
	if (x->used[dev])
		return false;
	for (uint32_t d = x->u.twin[dev]; d < dev; d++)
		if (x->u.twin[d] == x->u.twin[dev] && x->used[d] == 0)
			return true;
	return false;
}

static bool worse(const struct tree *x, double bound)
{
	return !(bound < x->best_s * (1 - EQUAL));
}

static void leaf(struct tree *x)
{
	for (uint32_t i = 0; i < x->u.n; i++)
		place_unit_set(&x->u, i, x->unit_dev[i], x->device);
	const struct place_result *p = place_evaluate(x->ev, x->device);

	if (p->status != PLACE_OK || p->lat_s >= x->best_s)
		return;
	x->best_s = p->lat_s;
	memcpy(x->r->device, x->device, x->m->n_sets * sizeof(*x->device));
}

static int by_bound(const void *pa, const void *pb)
{
	const struct option *a = pa, *b = pb;

	if (a->bound_s != b->bound_s)
		return a->bound_s < b->bound_s ? -1 : 1;
	return (a->dev > b->dev) - (a->dev < b->dev);
}

/* Devices for the unit of task v that may lead to something better, into its row of options. */
static uint32_t options(struct tree *x, uint32_t v)
{
	uint32_t i = x->unit_of[v], n = 0;
	struct option *o = x->option + (size_t)v * x->k;

	for (uint32_t j = x->u.dev_ptr[i]; j < x->u.dev_ptr[i + 1]; j++) {
		uint16_t dev = x->u.dev[j];

		if (stands_in(x, dev) ||
		    (x->m->mem_limit[dev] && x->mem[dev] + x->u.mem[i] > x->m->mem_limit[dev]))
			continue;
		put_unit(x, i, dev, 1);
		x->task_dev[v] = dev;
		o[n] = (struct option){dev, bound_s(x, v)};
		n += !worse(x, o[n].bound_s);
		put_unit(x, i, dev, -1);
	}
	qsort(o, n, sizeof(*o), by_bound);
	return n;
}

static bool over_budget(struct tree *x)
{
	x->nodes++;
	if (x->nodes >= x->limit || (x->deadline_s > 0 && x->nodes % 256 == 0 && now_s() > x->deadline_s))
		x->out = true;
	return x->out;
}

/* Below a beginning of v tasks, whose bound is given. */
static void branch(struct tree *x, uint32_t v, double bound)
{
	while (v < x->n && x->unit_dev[x->unit_of[v]] != UINT16_MAX) {
		x->task_dev[v] = x->unit_dev[x->unit_of[v]];
		bound = fmax(bound, bound_s(x, v));
		v++;
	}
	if (worse(x, bound))
		return;
	if (over_budget(x)) {
		x->cut_s = fmin(x->cut_s, bound);
		return;
	}
	if (v == x->n) {
		leaf(x);
		return;
	}
	uint32_t i = x->unit_of[v], n = options(x, v);
	const struct option *o = x->option + (size_t)v * x->k;

	for (uint32_t j = 0; j < n; j++) {
		double b = fmax(bound, o[j].bound_s);

		if (worse(x, b))
			break;
		if (x->out) {
			x->cut_s = fmin(x->cut_s, b);
			break;
		}
		put_unit(x, i, o[j].dev, 1);
		x->task_dev[v] = o[j].dev;
		if (x->m->rules == PLACE_SCHEDULE)
			x->end_s[v] = earliest_end_s(x, v, o[j].dev);
		branch(x, v + 1, b);
		put_unit(x, i, o[j].dev, -1);
	}
}

/* ---- the method ---- */

static void tree_init(struct tree *x, struct method_run *r)
{
	struct arena *a = r->a;

	*x = (struct tree){.r = r, .m = r->m, .d = &r->m->tasks.dag, .k = r->m->k, .best_s = INFINITY,
			   .cut_s = INFINITY,
			   .limit = r->evals ? r->evals : r->budget_s > 0 ? UINT64_MAX : NODES};
	x->n = x->d->n;
	place_units_init(&x->u, x->m, a);
	x->ev = evaluator_new(x->m);
	if (x->m->rules != PLACE_SCHEDULE)
		x->dnn = dnnpart_new(x->m);
	x->task_dev = ARENA_NEWN(a, uint16_t, x->n);
	x->unit_of = ARENA_NEWN(a, uint32_t, x->n);
	x->unit_dev = ARENA_NEWN(a, uint16_t, x->u.n);
	x->used = ARENA_NEWN(a, uint32_t, x->k);
	x->mem = ARENA_NEWN(a, uint64_t, x->k);
	x->load_s = ARENA_NEWN(a, double, x->k);
	x->least_s = ARENA_NEWN(a, double, x->n);
	x->behind_s = ARENA_NEWN(a, double, x->n);
	x->end_s = ARENA_NEWN(a, double, x->n);
	x->device = ARENA_NEWN(a, uint16_t, x->m->n_sets);
	x->option = ARENA_NEWN(a, struct option, (size_t)x->n * x->k);
	for (uint32_t v = 0; v < x->n; v++)
		x->unit_of[v] = x->u.of_set[x->m->tasks.task_set[v]];
	for (uint32_t i = 0; i < x->u.n; i++) {
		x->unit_dev[i] = UINT16_MAX;
		x->open_s += x->u.least_s[i];
	}
	paths_behind(x);
}

/* What a short search finds is what the tree has to beat. */
static void first_answer(struct tree *x)
{
	struct method_run r = *x->r;

	r.budget_s = x->r->budget_s / 4;
	r.evals = x->limit / 4 + 1;
	anneal(&r);
	const struct place_result *p = place_evaluate(x->ev, r.device);

	if (p->status == PLACE_OK)
		x->best_s = p->lat_s;
}

int method_exact(struct method_run *r, struct err *e)
{
	struct tree x;
	double start_s = now_s(), least;
	int rc = 0;

	tree_init(&x, r);
	least = place_lower_bound(&x.u);
	x.deadline_s = r->budget_s > 0 ? start_s + r->budget_s : 0;
	first_answer(&x);
	branch(&x, 0, least);
	r->bound_s = fmin(x.best_s, fmax(least, x.cut_s));
	if (x.best_s == INFINITY && !x.out)
		rc = err_set(e, ST_RUNTIME, "exact: there is no legal placement");
	snprintf(r->note, sizeof(r->note), "%llu nodes, %.6g s, %s", (unsigned long long)x.nodes, x.best_s,
		 x.out ? "not proved" : "proved");
	evaluator_free(x.ev);
	dnnpart_free(x.dnn);
	return rc < 0 ? -1 : r->emit(r, e);
}
