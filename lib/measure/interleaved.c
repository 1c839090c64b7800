/* interleaved.c - plans of placements as participants of rounds. */
#include "measure/interleaved.h"

#include <math.h>
#include <string.h>

#include "timing/rounds.h"

/* Plans t[i] into *plan; false: it cannot run, and t has the reason.  -1: the end. */
static int plan_trial(struct session *s, struct trial *t, struct plan *plan, struct arena *a,
		      struct err *e)
{
	int rc = session_plan(s, t, plan, e);
	t->ok = rc == 0;
	if (rc == 0) {
		session_note_plan(s, t, plan, a);
		return 0;
	}
	if (!executor_alive(s->x))
		return -1;
	memcpy(t->reason, e->msg, sizeof(t->reason));
	err_clear(e);
	return 0;
}

static void store_results(struct trial *t, uint32_t n, const struct participant *x,
			  const uint32_t *who, uint32_t n_in, double ref_s)
{
	for (uint32_t j = 0; j < n_in; j++) {
		struct trial *p = &t[who[j]];
		p->m = x[j].m;
		p->ok = !x[j].failed;
		memcpy(p->reason, x[j].reason, sizeof(p->reason));
	}
	for (uint32_t i = 0; i < n; i++)
		t[i].ref_s = ref_s;
}

/* Rounds of all plans that there are, and of the best single device. */
static int run_interleaved(struct session *s, struct trial *t, uint32_t n, struct plan *plan,
			   uint32_t rounds, struct arena *a, struct err *e)
{
	struct participant *x = MEM_NEWN(struct participant, (size_t)n + 1);
	struct plan_run *run = MEM_NEWN(struct plan_run, (size_t)n + 1);
	uint32_t *who = MEM_NEWN(uint32_t, (size_t)n + 1), n_in = 0;
	struct core_speed *speed = NULL;
	struct rounds_options o = {.warmup = s->opt.warmup,
				   .least = rounds,
				   .enough = rounds,
				   .most = rounds,
				   .max_s = INFINITY,
				   .quick_s = INFINITY,
				   .shuffle = true,
				   .seed = s->seed};
	for (uint32_t i = 0; i < n; i++)
		if (t[i].ok) {
			run[n_in].plan = &plan[i];
			run[n_in].served = t[i].served;
			who[n_in++] = i;
		}
	bool has_ref = s->best >= 0 && s->single[s->best].has_plan;
	if (has_ref)
		run[n_in] = (struct plan_run){.plan = &s->single[s->best].plan,
					      .served = s->single[s->best].served};
	int rc = s->core_speed && !(speed = core_speed_new(&s->devices, e)) ? -1 : 0;
	o.n_pulses = speed ? CORE_SPEED_KINDS : 0;
	for (uint32_t i = 0; i < n_in + has_ref; i++) {
		run[i].x = s->x;
		run[i].core_speed = speed;
		run[i].flight = &s->flight;
		x[i].run = plan_runnable(&run[i]);
	}
	if (rc == 0)
		rc = measure_rounds(x, n_in + has_ref, s->devices.n, &o, a, e);
	core_speed_free(speed);
	for (uint32_t j = 0; j < n_in; j++)
		t[who[j]].n_cases = plan_case_times(&plan[who[j]], a, &t[who[j]].case_s);
	if (rc == 0)
		store_results(t, n, x, who, n_in,
			      has_ref && !x[n_in].failed ? x[n_in].m.lat.mid : 0);
	mem_free(who);
	mem_free(run);
	mem_free(x);
	return rc;
}

int interleaved_measure(struct session *s, struct trial *t, uint32_t n, uint32_t rounds,
			struct arena *a, struct err *e)
{
	struct plan *plan = MEM_NEWN(struct plan, (size_t)n + 1);
	int rc = session_measure_singles(s, e);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = plan_trial(s, &t[i], &plan[i], a, e);
	if (rc == 0)
		rc = run_interleaved(s, t, n, plan, rounds, a, e);
	for (uint32_t i = 0; i < n; i++)
		plan_release(&plan[i]);
	mem_free(plan);
	return rc;
}
