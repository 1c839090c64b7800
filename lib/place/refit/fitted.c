/* fitted.c - placements judged by costs that fit what others took. */
#include "place/refit/fitted.h"

#include <math.h>

#include "base/mem.h"
#include "place/refit/refit.h"
#include "place/refit/refit_cases.h"
#include "place/simulate/evaluate.h"
#include "record/runrec.h"
#include "stream/rec.h"

struct fitted {
	struct place_inputs in; /* of the stream */
	struct refit_cases *cases;
	struct refit *refit;
	uint64_t seed;
	uint32_t n;                         /* models */
	bool drawn;                         /* they are draws 1 .. n, not the most likely one */
	struct place_model planned, *model; /* by the stream's costs; (n) */
	struct evaluator *planner, **ev;    /* finds orders; (n) */
	struct kept_order order;            /* of the placement at hand */
	double ref_s;        /* geometric mean of the best single devices; 0: none can run */
	double *lat_s;       /* (n) of one placement */
	struct arena *arena; /* models */
};

static int read_cases(struct fitted *x, const char *path, struct err *e)
{
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct rec r;
	int k = in ? 1 : -1;

	while (k > 0 && (k = rec_next(in, &r, e)) > 0)
		if (refit_cases_take(x->cases, &r, &x->in, e) < 0 ||
		    (!place_inputs_known(&x->in, &r) && place_inputs_take(&x->in, &r, e) < 0))
			k = -1;
	rec_reader_close(in);
	return k < 0 ? -1 : 0;
}

static int fit(struct fitted *x, const char *path, struct err *e)
{
	uint32_t n = 0;

	if (read_cases(x, path, e) < 0)
		return -1;
	if (!x->in.g || x->in.cost.k == 0 || !x->in.has_devs)
		return err_set(e, ST_INPUT,
			       "no costs and devices in it; devrun --probe --profile adds them");
	const struct refit_case *c = refit_cases_all(x->cases, &x->in, &n);

	if (n == 0)
		return err_set(e, ST_INPUT, "no placement in it has run; devrun measures them");
	x->refit = refit_new(&x->in, c, n, refit_cases_fit(x->cases, &x->in), e);
	return x->refit ? 0 : -1;
}

struct fitted *fitted_open(const char *path, uint64_t seed, uint32_t draws, enum place_order order,
			   struct err *e)
{
	struct fitted *x = MEM_NEW(struct fitted);

	*x = (struct fitted){.cases = refit_cases_new(),
			     .seed = seed,
			     .n = draws ? draws : 1,
			     .drawn = draws > 0,
			     .arena = arena_new()};
	x->model = MEM_NEWN(struct place_model, x->n);
	x->ev = MEM_NEWN(struct evaluator *, x->n);
	x->lat_s = MEM_NEWN(double, x->n);
	int rc = place_inputs_init(&x->in, NULL, e);

	x->in.order = order;
	if (rc == 0 && fit(x, path, e) == 0)
		return x;
	err_prefix(e, "'%s'", path);
	fitted_free(x);
	return NULL;
}

static void drop_models(struct fitted *x)
{
	evaluator_free(x->planner);
	x->planner = NULL;
	for (uint32_t i = 0; i < x->n; i++) {
		evaluator_free(x->ev[i]);
		x->ev[i] = NULL;
	}
	arena_reset(x->arena);
}

void fitted_free(struct fitted *x)
{
	if (!x)
		return;
	drop_models(x);
	refit_free(x->refit);
	refit_cases_free(x->cases);
	place_inputs_release(&x->in);
	mem_free(x->model);
	mem_free(x->ev);
	mem_free(x->lat_s);
	arena_free(x->arena);
	mem_free(x);
}

int fitted_ready(struct fitted *x, uint64_t graph, const char *const *names, uint32_t k,
		 struct err *e)
{
	struct place_inputs in = x->in; /* with other costs; the fit is to those of x */
	double sum = 0, best;
	uint32_t n_ref = 0;
	int rc = 0;

	if (x->in.g->digest != graph)
		return err_set(e, ST_INPUT, "what ran is of another graph");
	drop_models(x);
	rc = place_inputs_model(&x->in, names, k, x->arena, &x->planned, e);
	if (rc < 0)
		return -1;
	x->planner = evaluator_new(&x->planned);
	x->order = kept_order_new(&x->planned, x->arena);
	for (uint32_t i = 0; i < x->n && rc == 0; i++) {
		refit_costs(x->refit, x->seed, x->drawn ? i + 1 : 0, x->arena, &in.cost, &in.devs);
		rc = place_inputs_model(&in, names, k, x->arena, &x->model[i], e);
		if (rc < 0)
			break;
		place_model_keeps(&x->model[i]);
		x->ev[i] = evaluator_new(&x->model[i]);
		if (place_best_single(x->ev[i], &best) >= 0) {
			sum += log(best);
			n_ref++;
		}
	}
	x->ref_s = n_ref ? exp(sum / n_ref) : 0;
	return rc;
}

/* By model i, in the order that p is planned with; plan before. */
static const struct place_result *evaluate(struct fitted *x, uint32_t i, const struct place_rec *p)
{
	return place_evaluate_in(x->ev[i], p->device, &x->order);
}

/* False: p is not legal, and *r says why. */
static bool plan(struct fitted *x, const struct place_rec *p, const struct place_result **r)
{
	if (p->order)
		place_order_of(&x->planned, p->order, p->n_order, p->device, &x->order);
	*r = p->order ? place_evaluate_in(x->planner, p->device, &x->order)
		      : place_evaluate(x->planner, p->device);
	if ((*r)->status != PLACE_OK && (*r)->status != PLACE_MEMORY)
		return false;
	place_keep_order(x->planner, &x->order);
	return true;
}

int fitted_answer(struct fitted *x, const struct place_rec *p, struct rec_writer *w, struct err *e)
{
	const struct place_result *r;
	const bool legal = plan(x, p, &r);
	struct run_rec out = {.id = p->id,
			      .source = p->source,
			      .k = p->k,
			      .lo_s = INFINITY,
			      .samples_s = x->lat_s,
			      .n_samples = x->n,
			      .ref_s = x->ref_s};
	char reason[600];
	double sum = 0;

	r = legal ? evaluate(x, 0, p) : r;
	if (r->status != PLACE_OK) {
		out.reason = place_reason(legal ? x->ev[0] : x->planner, r, reason, sizeof(reason));
		if (r->status == PLACE_MEMORY) {
			out.unlimited_s = r->lat_s;
			out.missing_bytes = place_missing_bytes(x->model, r);
		}
		return run_encode(&out, w, e);
	}
	for (uint32_t i = 0; i < x->n; i++) {
		x->lat_s[i] = i ? evaluate(x, i, p)->lat_s : r->lat_s;
		out.lo_s = fmin(out.lo_s, x->lat_s[i]);
		out.hi_s = fmax(out.hi_s, x->lat_s[i]);
		sum += log(x->lat_s[i]);
	}
	place_account(x->ev[0]);
	out.lat_s = exp(sum / x->n);
	uint64_t *peak = ARENA_NEWN(x->arena, uint64_t, p->k);
	for (uint32_t d = 0; d < p->k; d++)
		peak[d] = place_peak_bytes(x->model, r, d);
	out.mem_bytes = peak;
	out.copies = r->copies;
	out.copy_bytes = r->copy_bytes;
	out.busy_s = r->busy_s;
	out.has_pipeline = true; /* it is simulated */
	out.period_s = r->period_s;
	return run_encode(&out, w, e);
}

double fitted_predict(struct fitted *x, const struct place_rec *p)
{
	double sum = 0;

	const struct place_result *r;

	if (!plan(x, p, &r))
		return 0;
	for (uint32_t i = 0; i < x->n; i++) {
		r = evaluate(x, i, p);

		if (r->status != PLACE_OK || !(r->lat_s > 0))
			return 0;
		sum += log(r->lat_s);
	}
	return exp(sum / x->n);
}
