/* refit.c - Gauss and Newton's method over the unknowns of refit_unknowns.h. */
#include "place/refit/refit.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/rng.h"
#include "linear/blas.h"
#include "linear/regress.h"
#include "place/refit/refit_unknowns.h"
#include "place/simulate/evaluate.h"

enum { STEPS = 5, HALVINGS = 4, MOST_THREADS = 8 };
static const double DIFFERENCE = 0.3;   /* of an unknown, for derivatives: schedules jump */
static const double HUBER = 2;          /* deviations beyond which a case counts less */
static const double MODEL_ERROR = 0.03; /* supposed, and as sure as so many cases */
static const double SUPPOSED_CASES = 3;
static const double LEAST_MODEL_ERROR = 0.005, MOST_MODEL_ERROR = 0.5;
static const double REFERENCE_ERROR = 0.003; /* all that it has */
static const double SET_ERROR = 0.05;        /* of each set, in draws */

struct refit {
	struct place_inputs *in;
	struct unknowns u;
	const struct refit_case *c;
	uint32_t n;
	struct kept_order *order; /* (n) what plans of the cases keep */
	double *z;                /* (u.n) in deviations of the prior; the profile is 0 */
	double *precision;        /* (u.n,u.n) of the posterior, its Cholesky factor */
	double model_var;
	struct refit_summary summary;
	struct arena *arena, *model;
	struct pool *pool;
};

/* Logarithms of simulated times under unknowns z into y (n); NAN where it cannot run.  The model is in a. */
static int predict_in(const struct refit *x, const double *z, double *y, struct arena *a,
		      struct err *e)
{
	struct place_inputs in = *x->in;
	struct place_model m;
	arena_reset(a);
	unknowns_apply(&x->u, z, a, &in.cost, &in.devs);
	if (place_inputs_model(&in, x->in->cost.names, x->in->cost.k, a, &m, e) < 0)
		return -1;
	place_model_keeps(&m);
	struct evaluator *ev = evaluator_new(&m);
	for (uint32_t i = 0; i < x->n; i++) {
		const struct place_result *r = place_evaluate_in(ev, x->c[i].device, &x->order[i]);
		bool ran = r->status == PLACE_OK || r->status == PLACE_MEMORY;
		y[i] = ran && r->lat_s > 0 ? log(r->lat_s) : NAN;
	}
	evaluator_free(ev);
	return 0;
}

/* Orders as by the costs that the cases were planned by. */
static int find_orders(struct refit *x, struct err *e)
{
	struct place_model m;
	if (place_inputs_model(x->in, x->in->cost.names, x->in->cost.k, x->model, &m, e) < 0)
		return -1;
	struct evaluator *ev = evaluator_new(&m);
	x->order = ARENA_NEWN(x->arena, struct kept_order, (size_t)x->n + 1);
	for (uint32_t i = 0; i < x->n; i++) {
		x->order[i] = kept_order_new(&m, x->arena);
		const struct refit_case *c = &x->c[i];
		if (c->order) {
			place_order_of(&m, c->order, c->n_order, c->device, &x->order[i]);
			continue;
		}
		const struct place_result *r = place_evaluate(ev, c->device);
		if (r->status == PLACE_OK || r->status == PLACE_MEMORY)
			place_keep_order(ev, &x->order[i]);
	}
	evaluator_free(ev);
	return 0;
}

static int predict(struct refit *x, const double *z, double *y, struct err *e)
{
	return predict_in(x, z, y, x->model, e);
}

static double square(double x)
{
	return x * x;
}

/* What the measurement of a case may be off by, and what a model of this variance may. */
static double case_var(const struct refit *x, uint32_t i, double model_var)
{
	if (x->c[i].is_reference)
		return square(REFERENCE_ERROR);
	return square(x->c[i].se) + model_var;
}

/* Huber's loss of all cases, and the prior's. */
static double loss_of(const struct refit *x, const double *z, const double *y)
{
	double sum = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		double r = fabs(x->c[i].log_s - y[i]) / sqrt(case_var(x, i, x->model_var));
		if (!isnan(y[i]))
			sum += r < HUBER ? r * r / 2 : HUBER * (r - HUBER / 2);
	}
	for (uint32_t j = 0; j < x->u.n; j++)
		sum += z[j] * z[j] / 2;
	return sum;
}

/* What threads share that differentiate. */
struct difference {
	const struct refit *x;
	const double *z, *y;
	double *jac;
	struct difference_thread {
		struct arena *arena;
		double *at; /* (u.n) */
		struct err e;
		int rc;
	} * thread;
};

static void differentiate_one(void *arg, int j, int thread)
{
	const struct difference *d = arg;
	struct difference_thread *t = &d->thread[thread];
	const struct refit *x = d->x;
	double *to = &d->jac[(size_t)j * x->n];
	if (t->rc < 0)
		return;
	memcpy(t->at, d->z, x->u.n * sizeof *t->at);
	t->at[j] += DIFFERENCE;
	t->rc = predict_in(x, t->at, to, t->arena, &t->e);
	for (uint32_t i = 0; i < x->n && t->rc == 0; i++)
		to[i] = isnan(d->y[i]) || isnan(to[i]) ? 0 : (to[i] - d->y[i]) / DIFFERENCE;
}

/* Derivatives of y at z into jac (u.n,n). */
static int differentiate(struct refit *x, const double *z, const double *y, double *jac,
			 struct err *e)
{
	int n_threads = pool_size(x->pool), rc = 0;
	struct difference d = {x, z, y, jac, MEM_NEWN(struct difference_thread, n_threads)};
	for (int i = 0; i < n_threads; i++)
		d.thread[i] = (struct difference_thread){
			.arena = arena_new(), .at = MEM_NEWN(double, x->u.n), .e = ERR_INIT};
	pool_run(x->pool, (int)x->u.n, differentiate_one, &d);
	for (int i = 0; i < n_threads; i++) {
		if (d.thread[i].rc < 0 && rc == 0) {
			*e = d.thread[i].e;
			rc = -1;
		}
		mem_free(d.thread[i].at);
		arena_free(d.thread[i].arena);
	}
	mem_free(d.thread);
	return rc;
}

/* The precision of the posterior, factored, and the step from z: J' W J + 1 and J' W r - z, where jac
 * (u.n,n) is J' and is scaled by the root of W. */
static bool newton(struct refit *x, const double *z, const double *y, double *jac, double *step)
{
	uint32_t p = x->u.n, n = x->n;
	double *rest = MEM_NEWN(double, n);
	for (uint32_t i = 0; i < n; i++) {
		double r = x->c[i].log_s - y[i], sd = sqrt(case_var(x, i, x->model_var));
		double w = sqrt(fmin(1, HUBER * sd / fabs(r))) / sd;
		rest[i] = isnan(y[i]) ? 0 : w * r;
		blas()->cblas_dscal((int)p, isnan(y[i]) ? 0 : w, &jac[i], (int)n);
	}
	for (uint32_t j = 0; j < p; j++) {
		step[j] = -z[j];
		for (uint32_t l = 0; l <= j; l++)
			x->precision[(size_t)j * p + l] = j == l;
	}
	blas()->cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)p, (int)n, 1, jac, (int)n,
			    1, x->precision, (int)p);
	blas()->cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)p, (int)n, 1, jac, (int)n, rest, 1, 1,
			    step, 1);
	mem_free(rest);
	return positive_solve(x->precision, p, p, step);
}

/* Minus the logarithm of the likelihood of residuals r under the model's variance, outliers drawn
 * in, with the cases that are supposed. */
static double misfit(const struct refit *x, const double *y, double model_var)
{
	double sum = SUPPOSED_CASES * (log(model_var) + MODEL_ERROR * MODEL_ERROR / model_var);
	for (uint32_t i = 0; i < x->n; i++) {
		double var = case_var(x, i, model_var), r = x->c[i].log_s - y[i];
		if (!isnan(y[i]) && !x->c[i].is_reference)
			sum += log(var) + fmin(r * r / var, HUBER * HUBER);
	}
	return sum;
}

/* The model's variance of the least misfit, from a grid. */
static void find_model_error(struct refit *x, const double *y)
{
	double least = INFINITY;
	for (double sd = LEAST_MODEL_ERROR; sd < MOST_MODEL_ERROR; sd *= 1.2) {
		double now = misfit(x, y, sd * sd);
		if (now < least) {
			least = now;
			x->model_var = sd * sd;
		}
	}
}

/* z a step further, halved as long as that is worse; false: there is none. */
static int advance(struct refit *x, const double *step, double *y, bool *better, struct err *e)
{
	double *at = mem_copy(x->z, x->u.n, sizeof *at), *then = MEM_NEWN(double, x->n);
	double loss = loss_of(x, x->z, y), by = 1;
	int rc = 0;
	*better = false;
	for (int i = 0; i < HALVINGS && rc == 0 && !*better; i++, by /= 2) {
		for (uint32_t j = 0; j < x->u.n; j++)
			at[j] = x->z[j] + by * step[j];
		rc = predict(x, at, then, e);
		*better = rc == 0 && loss_of(x, at, then) < loss;
	}
	if (*better) {
		memcpy(x->z, at, x->u.n * sizeof *at);
		memcpy(y, then, x->n * sizeof *then);
	}
	mem_free(at);
	mem_free(then);
	return rc;
}

static double mean_error(const struct refit *x, const double *y, uint32_t *n)
{
	double sum = 0;
	*n = 0;
	for (uint32_t i = 0; i < x->n; i++)
		if (!isnan(y[i])) {
			sum += fabs(x->c[i].log_s - y[i]);
			++*n;
		}
	return *n ? sum / *n : 0;
}

static int fit(struct refit *x, struct err *e)
{
	uint32_t p = x->u.n;
	double *y = MEM_NEWN(double, (size_t)x->n + 1);
	double *jac = MEM_NEWN(double, (size_t)p * x->n), *step = MEM_NEWN(double, p);
	bool better = true;
	int rc = find_orders(x, e);
	if (rc == 0)
		rc = predict(x, x->z, y, e);
	if (rc == 0) {
		x->summary.before = mean_error(x, y, &x->summary.n_cases);
		if (x->summary.n_cases == 0)
			rc = err_set(e, ST_INPUT, "no placement that ran is one of these devices");
	}
	for (int i = 0; i < STEPS && rc == 0 && better; i++) {
		rc = differentiate(x, x->z, y, jac, e);
		if (rc < 0 || !newton(x, x->z, y, jac, step))
			break;
		rc = advance(x, step, y, &better, e);
		find_model_error(x, y);
	}
	x->summary.after = mean_error(x, y, &x->summary.n_cases);
	mem_free(y);
	mem_free(jac);
	mem_free(step);
	return rc;
}

/* ---- a fit that is known ---- */

struct fit_rec refit_found(const struct refit *x)
{
	return (struct fit_rec){.graph = x->in->g->digest,
				.n = x->u.n,
				.z = x->z,
				.precision = x->precision,
				.model_error = sqrt(x->model_var),
				.cases = x->summary.n_cases,
				.before = x->summary.before,
				.after = x->summary.after};
}

static bool take_known(struct refit *x, const struct fit_rec *known)
{
	if (!known || known->n != x->u.n)
		return false;
	memcpy(x->z, known->z, x->u.n * sizeof *x->z);
	memcpy(x->precision, known->precision, (size_t)x->u.n * x->u.n * sizeof *x->precision);
	x->model_var = square(known->model_error);
	x->summary.n_cases = known->cases;
	x->summary.before = known->before;
	x->summary.after = known->after;
	return true;
}

static void summarize(struct refit *x)
{
	struct cost_rec cost = x->in->cost;
	struct devs devs = x->in->devs;
	arena_reset(x->model);
	unknowns_apply(&x->u, x->z, x->model, &cost, &devs);
	x->summary.n_unknowns = x->u.n;
	x->summary.model_error = sqrt(x->model_var);
	x->summary.all = exp(x->u.sd[0] * x->z[0]);
	x->summary.latency = devs.n_links && x->in->devs.link[0].latency_s > 0
				     ? devs.link[0].latency_s / x->in->devs.link[0].latency_s
				     : 1;
	x->summary.slowdown = cost.slowdown;
	x->summary.multi_slowdown = cost.multi_slowdown;
}

struct refit *refit_new(struct place_inputs *in, const struct refit_case *c, uint32_t n,
			const struct fit_rec *known, struct err *e)
{
	if (!blas_open(e))
		return NULL;
	struct refit *x = MEM_NEW(struct refit);
	*x = (struct refit){
		.in = in,
		.c = c,
		.n = n,
		.model_var = MODEL_ERROR * MODEL_ERROR,
		.arena = arena_new(),
		.model = arena_new(),
		.pool = pool_new(pool_n_cpus() < MOST_THREADS ? pool_n_cpus() : MOST_THREADS,
				 NULL)};
	unknowns_find(&x->u, in, x->arena);
	x->z = ARENA_NEWN(x->arena, double, x->u.n);
	x->precision = ARENA_NEWN(x->arena, double, (size_t)x->u.n * x->u.n);
	if (!take_known(x, known) && fit(x, e) < 0) {
		refit_free(x);
		return NULL;
	}
	summarize(x);
	return x;
}

void refit_free(struct refit *x)
{
	if (!x)
		return;
	arena_free(x->arena);
	arena_free(x->model);
	pool_free(x->pool);
	mem_free(x);
}

const struct refit_summary *refit_summary(const struct refit *x)
{
	return &x->summary;
}

void refit_costs(const struct refit *x, uint64_t seed, uint32_t draw, struct arena *a,
		 struct cost_rec *cost, struct devs *devs)
{
	const struct rng_addr at = {seed, draw, 0, RNG_COST};
	double *z = mem_copy(x->z, x->u.n, sizeof *z), *by = MEM_NEWN(double, x->u.n);
	*cost = x->in->cost;
	cost->flops_per_s = NULL; /* it says set_s no longer */
	*devs = x->in->devs;
	for (uint32_t j = 0; j < x->u.n && draw; j++)
		by[j] = rng_normal(&at, j);
	positive_draw(x->precision, x->u.n, x->u.n, by);
	for (uint32_t j = 0; j < x->u.n && draw; j++)
		z[j] += by[j];
	unknowns_apply(&x->u, z, a, cost, devs);
	const struct rng_addr own = {seed, draw, 1, RNG_COST};
	double *set_s = (double *)cost->set_s; /* unknowns_apply's, from a */
	for (uint32_t i = 0; i < cost->n_sets && draw; i++) {
		double error = exp(SET_ERROR * rng_normal(&own, i));
		for (uint32_t d = 0; d < cost->k; d++)
			if (set_s[(size_t)i * cost->k + d] > 0)
				set_s[(size_t)i * cost->k + d] *= error;
	}
	mem_free(z);
	mem_free(by);
}
