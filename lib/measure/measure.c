/* measure.c - runs of plans. */
#include "measure/measure.h"
#include "base/clock.h"

static enum run_status run_plan(void *arg, struct run_sample *out, struct err *e)
{
	struct plan_run *r = arg;
	struct exec_sample s = {.busy_s = out->busy_s};
	bool beside = out->pulse_s && r->core_speed;
	if (beside)
		core_speed_begin(r->core_speed);
	int rc = r->plan->next_request
			 ? in_flight_run(r->flight, r->x, r->plan, r->served, &s.lat_s, s.busy_s, e)
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
