/* measure.c - runs of plans. */
#include "measure/measure.h"
#include "base/clock.h"
#include "graph/case_value.h"

/* A run of each case: seconds are those that count of all. */
static int run_cases(struct executor *x, struct plan *p, struct exec_sample *out, struct err *e)
{
	uint32_t k = p->devices->n;
	double *busy_s = MEM_NEWN(double, k), over = p->over;
	double lat_s[GRAPH_MAX_CASES] = {0}, weight[GRAPH_MAX_CASES] = {0};
	uint32_t n = 0;
	int rc = 0;
	for (uint32_t d = 0; out->busy_s && d < k; d++)
		out->busy_s[d] = 0;
	for (; p && rc == 0; p = p->next_case) {
		struct exec_sample s = {.busy_s = busy_s};
		rc = executor_run(x, p, &s, e);
		if (rc < 0)
			break;
		lat_s[n] = s.lat_s;
		weight[n++] = p->weight;
		p->case_s[p->n_case_runs++ % PLAN_CASE_RUNS] = s.lat_s;
		for (uint32_t d = 0; out->busy_s && d < k; d++)
			out->busy_s[d] += p->weight * busy_s[d];
	}
	mem_free(busy_s);
	out->lat_s = cases_value(over, weight, lat_s, n);
	return rc;
}

uint32_t plan_case_times(const struct plan *p, struct arena *a, double **case_s)
{
	uint32_t n = 0;
	for (const struct plan *x = p; x && x->case_s; x = x->next_case)
		n++;
	*case_s = ARENA_NEWN(a, double, n);
	n = 0;
	for (; p && p->case_s && p->n_case_runs; p = p->next_case) {
		uint64_t most = PLAN_CASE_RUNS,
			 runs = p->n_case_runs < most ? p->n_case_runs : most;
		(*case_s)[n++] = interval_median(p->case_s, (uint32_t)runs).mid;
	}
	return n;
}

static enum run_status run_plan(void *arg, struct run_sample *out, struct err *e)
{
	struct plan_run *r = arg;
	struct exec_sample s = {.busy_s = out->busy_s};
	bool beside = out->pulse_s && r->core_speed;
	if (beside)
		core_speed_begin(r->core_speed);
	int rc = r->plan->next_request
			 ? in_flight_run(r->flight, r->x, r->plan, r->served, &s.lat_s, s.busy_s, e)
		 : r->plan->next_case ? run_cases(r->x, r->plan, &s, e)
				      : executor_run(r->x, r->plan, &s, e);
	if (beside)
		core_speed_end(r->core_speed, out->pulse_s);
	out->lat_s = s.lat_s;
	return rc == 0 ? RUN_OK : executor_alive(r->x) ? RUN_FAILED : RUN_END;
}

static double now_s(void *arg)
{
	(void)arg;
	return clock_s();
}

struct runnable plan_runnable(struct plan_run *r)
{
	return (struct runnable){.arg = r, .run = run_plan, .now_s = now_s};
}

int measure_plan(struct plan_run *run, uint32_t k, const struct measure_options *o, struct arena *a,
		 struct measurement *out, struct err *e)
{
	struct runnable r = plan_runnable(run);
	return measure_runs(&r, k, o, a, out, e) == RUN_OK ? 0 : -1;
}
