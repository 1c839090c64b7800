/* place_cases.c - what others ask of evaluators.  A placement of a model with several lists of shapes: each case is evaluated by itself, and what counts is the
 * sum by weights.
 *
 * The latency is that sum, the worst or a percentile (model.over).  Joules and seconds of a period are sums of a case's times its
 * weight; memory is that of the case which
 * needs most, as cases run one after another; copies are those of one inference of each.  A placement is legal where it
 * is in each case that counts. */
#include <math.h>
#include <string.h>

#include "graph/case_value.h"
#include "place/simulate/evaluate_impl.h"

static void cases_init(struct evaluator *x)
{
	const struct place_model *m = x->m;

	x->of_case = MEM_NEWN(struct evaluator *, m->n_cases);
	x->busy_s = MEM_NEWN(double, m->k);
	x->case_s = MEM_NEWN(double, m->n_cases);
	for (uint32_t i = 0; i < m->n_cases; i++)
		x->of_case[i] = m->weight[i] > 0 ? evaluator_make(&m->cases[i]) : NULL;
}

static void cases_release(struct evaluator *x)
{
	for (uint32_t i = 0; x->of_case && i < x->m->n_cases; i++)
		evaluator_drop(x->of_case[i]);
	mem_free(x->of_case);
	mem_free(x->busy_s);
	mem_free(x->case_s);
}

static bool has_figures(const struct place_result *r)
{
	return r->status == PLACE_OK || r->status == PLACE_MEMORY;
}

/* Adds the result of case c to x->r. */
static void add_case(struct evaluator *x, uint32_t c, const struct place_result *r)
{
	struct place_result *sum = &x->r;
	double weight = x->m->weight[c];

	sum->lat_s += weight * r->lat_s;
	sum->period_s += weight * r->period_s;
	sum->energy_j += weight * r->energy_j;
	sum->copies += r->copies;
	sum->copy_bytes += r->copy_bytes;
	for (uint32_t d = 0; d < x->m->k; d++) {
		/* What devices need besides may differ by case; place_peak_bytes adds the model's own. */
		uint64_t bytes = place_peak_bytes(&x->m->cases[c], r, d);
		uint64_t own = x->m->work ? x->m->work[d] : 0;

		bytes -= bytes < own ? bytes : own;

		sum->mem_bytes[d] = bytes > sum->mem_bytes[d] ? bytes : sum->mem_bytes[d];
		x->busy_s[d] += weight * r->busy_s[d];
	}
	if (r->status == PLACE_MEMORY) {
		sum->status = PLACE_MEMORY;
		sum->bad_dev = r->bad_dev;
		sum->bad_pool = r->bad_pool;
	}
	for (uint32_t i = 0; i < x->m->pools.n; i++)
		sum->pool_bytes[i] = r->pool_bytes[i] > sum->pool_bytes[i] ? r->pool_bytes[i]
									   : sum->pool_bytes[i];
}

enum cases_ask { CASES_WHOLE, CASES_BEGIN, CASES_MOVED };

static const struct place_result *ask_case(struct evaluator *x, const uint16_t *device,
					   enum cases_ask ask, double limit)
{
	if (ask == CASES_MOVED)
		return moves_below(x, limit);
	if (ask == CASES_WHOLE)
		return evaluator_run(x, device, false);
	moves_begin(x, device);
	return &x->r;
}

static void clear(struct evaluator *x)
{
	uint64_t *mem = x->r.mem_bytes, *pool = x->r.pool_bytes;

	memset(mem, 0, x->m->k * sizeof(*mem));
	memset(pool, 0, x->m->pools.n * sizeof(*pool));
	memset(x->busy_s, 0, x->m->k * sizeof(*x->busy_s));
	x->r = (struct place_result){.mem_bytes = mem,
				     .pool_bytes = pool,
				     .bad_pool = x->m->pools.n,
				     .busy_s = x->busy_s};
}

/* Above so much of case i all are above the limit; x->r has those before it. */
static double limit_of_case(const struct evaluator *x, uint32_t i, double limit)
{
	if (x->m->over == 0)
		return (limit - x->r.lat_s) / x->m->weight[i];
	return x->m->over == CASES_WORST ? limit : INFINITY;
}

/* The result of all by their weights; MOVED as place_moved_below. */
static const struct place_result *cases_result(struct evaluator *x, const uint16_t *device,
					       enum cases_ask ask, double limit)
{
	const struct place_model *m = x->m;
	const struct place_objective *o = &m->objective;
	struct place_result *sum = &x->r;
	uint64_t peak = 0;
	bool stopped = false;

	clear(x);
	for (uint32_t i = 0; i < m->n_cases; i++) {
		double left = INFINITY;

		if (!x->of_case[i] || (stopped && ask != CASES_BEGIN))
			continue;
		if (place_objective_is_latency(o))
			left = limit_of_case(x, i, limit);
		const struct place_result *r = ask_case(x->of_case[i], device, ask, left);

		if (stopped)
			continue;
		if (has_figures(r)) {
			add_case(x, i, r);
			x->case_s[i] = r->lat_s;
			continue;
		}
		stopped = true;
		sum->status = r->status;
		sum->bad_set = r->bad_set;
		sum->bad_dev = r->bad_dev;
	}
	if (m->over > 0 && has_figures(sum))
		sum->lat_s = cases_value(m->over, m->weight, x->case_s, m->n_cases);
	for (uint32_t d = 0; d < m->k; d++) {
		uint64_t bytes = place_peak_bytes(m, sum, d);

		peak = bytes > peak ? bytes : peak;
	}
	/* By latency alone nothing else was asked of the cases. */
	sum->value =
		sum->status == PLACE_ABOVE
			? INFINITY
			: place_objective_value(o, sum->lat_s, sum->period_s, sum->energy_j, peak) +
				  o->price * place_usd(m, x->busy_s, sum->lat_s, sum->period_s);
	if (sum->status == PLACE_ABOVE)
		sum->lat_s = INFINITY;
	return sum;
}

static void cases_account(struct evaluator *x)
{
	struct place_traffic *t = &x->traffic;
	size_t links = (size_t)x->m->k * x->m->k;

	x->r.period_s = x->r.energy_j = 0;
	memset(t->copies, 0, links * sizeof(*t->copies));
	memset(t->bytes, 0, links * sizeof(*t->bytes));
	memset(t->busy_s, 0, links * sizeof(*t->busy_s));
	for (uint32_t i = 0; i < x->m->n_cases; i++) {
		struct evaluator *c = x->of_case[i];

		if (!c)
			continue;
		evaluator_account(c);
		x->r.period_s += x->m->weight[i] * c->r.period_s;
		x->r.energy_j += x->m->weight[i] * c->r.energy_j;
		for (size_t j = 0; j < links; j++) {
			t->copies[j] += c->traffic.copies[j];
			t->bytes[j] += c->traffic.bytes[j];
			t->busy_s[j] += x->m->weight[i] * c->traffic.busy_s[j];
		}
	}
	x->r.traffic = t;
}

double place_case_s(const struct evaluator *x, uint32_t i)
{
	return x->of_case[i] ? x->of_case[i]->r.lat_s : 0;
}

/* ---- of one list of shapes, or of several ---- */

struct evaluator *evaluator_new(const struct place_model *m)
{
	struct evaluator *x = evaluator_make(m);

	if (m->n_cases)
		cases_init(x);
	return x;
}

void evaluator_free(struct evaluator *x)
{
	if (x)
		cases_release(x);
	evaluator_drop(x);
}

const struct place_result *place_evaluate(struct evaluator *x, const uint16_t *device)
{
	return x->of_case ? cases_result(x, device, CASES_WHOLE, INFINITY)
			  : evaluator_run(x, device, false);
}

const struct place_result *place_evaluate_in(struct evaluator *x, const uint16_t *device,
					     const struct kept_order *o)
{
	/* Orders of cases are their own. */
	return x->of_case ? place_evaluate(x, device) : evaluator_run_in(x, device, o);
}

void place_account(struct evaluator *x)
{
	if (x->of_case)
		cases_account(x);
	else
		evaluator_account(x);
}

void place_begin(struct evaluator *x, const uint16_t *device)
{
	if (x->of_case)
		cases_result(x, device, CASES_BEGIN, INFINITY);
	else
		moves_begin(x, device);
}

void place_move(struct evaluator *x, uint32_t set, uint16_t dev)
{
	if (!x->of_case)
		moves_move(x, set, dev);
	for (uint32_t i = 0; i < x->m->n_cases; i++)
		if (x->of_case[i])
			moves_move(x->of_case[i], set, dev);
}

const struct place_result *place_moved_below(struct evaluator *x, double limit)
{
	return x->of_case ? cases_result(x, NULL, CASES_MOVED, limit) : moves_below(x, limit);
}

/* ---- single devices ---- */

/* No value of everything on dev is below this: by the schedule's rules and for the latency alone
 * the sum of its tasks (rounded otherwise), else nothing is known. */
static double least_single(struct evaluator *x, uint16_t dev)
{
	const struct place_model *m = x->m;
	double sum = 0;

	if (m->n_cases || m->rules != PLACE_SCHEDULE || !place_objective_is_latency(&m->objective))
		return 0;
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		x->task_device[t] = dev;
	for (uint32_t t = 0; t < m->tasks.dag.n; t++) {
		double s = place_task_s(m, t, dev, x->task_device);

		sum += s < 0 ? INFINITY : s;
	}
	return sum * (1 - 1e-9);
}

/* The most promising of k devices; SCHED_NONE: none can be as good as best. */
static uint32_t next_single(const double *least, uint32_t k, double best)
{
	uint32_t next = SCHED_NONE;

	for (uint32_t dev = 0; dev < k; dev++)
		if (least[dev] <= best && least[dev] < INFINITY &&
		    (next == SCHED_NONE || least[dev] < least[next]))
			next = dev;
	return next;
}

int place_best_single(struct evaluator *x, double *value)
{
	uint32_t k = x->m->k, dev;
	double *least = MEM_NEWN(double, k), best = INFINITY;
	int at = -1;

	for (dev = 0; dev < k; dev++)
		least[dev] = least_single(x, (uint16_t)dev);
	while ((dev = next_single(least, k, best)) != SCHED_NONE) {
		least[dev] = INFINITY;
		for (uint32_t i = 0; i < x->m->n_sets; i++)
			x->all[i] = (uint16_t)dev;
		const struct place_result *r = place_evaluate(x, x->all);
		if (r->status != PLACE_OK || r->value > best || (r->value == best && (int)dev > at))
			continue;
		best = r->value;
		at = (int)dev;
	}
	mem_free(least);
	if (at >= 0)
		*value = best;
	return at;
}
