/* error_limit.c - see error_limit.h. */
#include "measure/error_limit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exec/output_error.h"
#include "timing/contest.h"

/* ---- outputs in f32 ---- */

static int results_on(struct session *s, uint32_t d, struct kept_results *out, struct err *e)
{
	uint32_t n = s->model.g->n_sets;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		device[i] = (uint16_t)d;
	int rc = session_case_results(s, device, kept_results_take, out, e);
	mem_free(device);
	return rc;
}

/* By a device of the session; 1: none of them could. */
static int by_own_device(struct error_reference *x, struct session *s, struct err *e)
{
	struct device_limit *limit =
		device_list_lift(&s->devices); /* limits are about placements */
	int rc = 1;
	for (uint32_t d = 0; d < s->devices.n && rc > 0; d++) {
		if (!device_is_f32(&s->devices.dev[d]))
			continue;
		rc = results_on(s, d, &x->kept, e);
		if (rc == 0)
			snprintf(x->of, sizeof x->of, "%s", s->devices.dev[d].name);
		else if (executor_alive(s->x))
			rc = 1;
		if (rc > 0)
			err_clear(e);
	}
	device_list_restore(&s->devices, limit);
	return rc;
}

/* Every operator runs on cores. */
static const char all_cores[] = "cpu";

/* Into copies that are the session's: both have the same model. */
static int by_all_cores(struct error_reference *x, const struct session *s, struct err *e)
{
	struct device_list l = {0};
	struct session own = {0};
	int rc = device_list_parse(all_cores, &l, e);
	if (rc == 0)
		rc = session_open(&own, s->model.g, &l, true, s->weights, s->inputs, s->seed,
				  &s->opt, e);
	if (rc == 0)
		rc = session_use_whole(&own, s->weights, e);
	if (rc == 0)
		rc = session_use_cases(&own, s->weights, s->inputs, e);
	if (rc == 0)
		rc = results_on(&own, 0, &x->kept, e);
	session_close(&own);
	device_list_close(&l);
	snprintf(x->of, sizeof x->of, "%s", all_cores);
	return rc;
}

int error_reference_open(struct error_reference *x, struct session *s, struct arena *a,
			 struct err *e)
{
	kept_results_init(&x->kept, s, a);
	x->of[0] = '\0';
	int rc = by_own_device(x, s, e);
	if (rc > 0)
		rc = by_all_cores(x, s, e);
	return rc == 0 ? 0 : err_prefix(e, "outputs in f32, which errors are told by");
}

void error_reference_close(struct error_reference *x)
{
	kept_results_release(&x->kept);
}

/* ---- errors ---- */

struct compared {
	const struct error_reference *with;
	double error;
};

static int compare(void *arg, uint32_t i, const void *const *result, struct err *e)
{
	struct compared *x = arg;
	const struct kept_results *kept = &x->with->kept;
	(void)e;
	x->error = fmax(x->error,
			output_error(session_model(kept->s, i), result, kept_results_of(kept, i)));
	return 0;
}

int error_of(const struct error_reference *x, struct session *s, const uint16_t *device,
	     uint32_t n_more, struct plan *plan, double *error, struct err *e)
{
	struct compared c = {.with = x};
	/* Replicas of a plan have other inputs than the reference, and values that are kept from run to run another past. */
	bool by_plan = plan && n_more == 0 && !s->opt.keep_state;
	int rc = by_plan ? session_plan_results(s, plan, compare, &c, e) : 0;
	for (uint32_t i = 0; i <= n_more && rc == 0 && !by_plan; i++)
		rc = session_case_results(s, device + (size_t)i * s->model.g->n_sets, compare, &c,
					  e);
	*error = c.error;
	return rc;
}

/* ---- who takes part ---- */

/* Of the seconds of a race, those in which errors are measured, preparing included; the first few are in any case. */
static const double ERRORS_SHARE = 0.75;
enum { MEASURED_LEAST = 4 };

static void leave(const struct error_limited *x, uint32_t i, const char *why)
{
	struct trial *t = x->trial[i];
	x->in[i] = false;
	t->ok = false;
	snprintf(t->reason, sizeof t->reason, "%s", why);
}

static void leave_beyond(const struct error_limited *x, uint32_t i)
{
	char why[200];
	const struct trial *t = x->trial[i];
	if (t->error < OUTPUT_ERROR_MOST)
		snprintf(why, sizeof why,
			 "%soutputs are %.2g of their scale from those in f32, more than %g",
			 contest_inexact, t->error, x->s->max_error);
	else
		snprintf(why, sizeof why,
			 "%soutputs have other shapes than those in f32, or values that are not "
			 "finite or not 0 where those are",
			 contest_inexact);
	leave(x, i, why);
}

/* Of what has no plan as it may not run where it is, single devices have an error all the same: it may be why. */
static bool is_told(const struct error_limited *x, uint32_t i)
{
	return x->in[i] || (i < x->k && x->s->may && x->like[i] < 0 && !x->trial[i]->left);
}

/* -1: the end. */
static int measure_one(const struct error_limited *x, const struct error_reference *by, uint32_t i,
		       struct err *e)
{
	struct trial *t = x->trial[i];
	if (error_of(by, x->s, t->device, t->n_more, x->in[i] ? &x->plan[i] : NULL, &t->error, e) ==
	    0) {
		t->has_error = true;
		if (t->error > x->s->max_error)
			leave_beyond(x, i);
		return 0;
	}
	if (!executor_alive(x->s->x))
		return -1;
	if (x->in[i])
		leave(x, i, e->msg);
	err_clear(e);
	return 0;
}

/* Nothing is left: the least error of all. */
static int nothing_within(const struct error_limited *x, struct err *e)
{
	double least = INFINITY;
	for (uint32_t i = 0; i < x->n; i++) {
		if (x->in[i])
			return 0;
		if (x->trial[i]->has_error)
			least = fmin(least, x->trial[i]->error);
	}
	if (least < OUTPUT_ERROR_MOST)
		return err_set(e, ST_RUNTIME,
			       "no placement is within --max-error %g: the least error is %.2g",
			       x->s->max_error, least);
	return isinf(least) ? 0 /* nothing can run, which is told elsewhere */
			    : err_set(e, ST_RUNTIME,
				      "no placement is within --max-error %g, or anywhere near",
				      x->s->max_error);
}

int error_limit_open(const struct error_limited *x, struct arena *a, char *of, size_t cap,
		     struct err *e)
{
	struct error_reference by;
	uint32_t measured = 0;
	int rc = error_reference_open(&by, x->s, a, e);
	snprintf(of, cap, "%s", by.of);
	for (uint32_t place = 0; place < x->n && rc == 0; place++) {
		uint32_t i = x->order[place];
		if (!is_told(x, i))
			continue;
		if (measured++ >= x->k + MEASURED_LEAST && session_is_late(x->s, ERRORS_SHARE))
			leave(x, i, contest_no_time);
		else
			rc = measure_one(x, &by, i, e);
	}
	error_reference_close(&by);
	return rc < 0 ? -1 : nothing_within(x, e);
}
