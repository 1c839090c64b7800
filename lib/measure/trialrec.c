/* trialrec.c - the records that devrun writes. */
#include "measure/trialrec.h"

#include <stdio.h>

#include "graph/case_value.h"
#include "measure/core_speed.h"

/* What the core loops of m took (n, p->k, CORE_SPEED_KINDS), by p's devices; mem_free. */
static double *core_loops(const struct session *s, const struct place_rec *p, const uint32_t *slot,
			  const struct measurement *m)
{
	uint32_t k = s->devices.n;
	double *x = MEM_NEWN(double, (size_t)m->n * p->k * CORE_SPEED_KINDS + 1);
	for (uint32_t r = 0; r < m->n; r++)
		for (uint32_t i = 0; i < p->k; i++) {
			uint32_t d = slot ? slot[i] : i;
			const double *from = &m->pulse_s[((size_t)r * k + d) * CORE_SPEED_KINDS];
			for (int j = 0; d < k && j < CORE_SPEED_KINDS; j++)
				x[((size_t)r * p->k + i) * CORE_SPEED_KINDS + j] = from[j];
		}
	return x;
}

/* A schedule by the devices of a record: slot[k] as in trial_encode.  Copies from or to a device that
 * the record does not name do not exist. */
static const struct run_schedule *by_slots(const struct run_schedule *x, const uint32_t *slot,
					   uint32_t k, uint32_t n, struct run_schedule *out,
					   uint16_t **ends)
{
	if (!x || !slot) {
		*ends = NULL;
		return x;
	}
	uint16_t *of = MEM_NEWN(uint16_t, (size_t)n + 1);
	*ends = MEM_NEWN(uint16_t, 2 * (size_t)x->n_copies + 1);
	for (uint32_t i = 0; i < k; i++)
		if (slot[i] < n)
			of[slot[i]] = (uint16_t)i;
	for (uint32_t c = 0; c < x->n_copies; c++) {
		(*ends)[c] = of[x->copy_src[c]];
		(*ends)[x->n_copies + c] = of[x->copy_dst[c]];
	}
	mem_free(of);
	*out = *x;
	out->copy_src = *ends;
	out->copy_dst = *ends + x->n_copies;
	return out;
}

/* Of a run, what is one request's: runs are of several where several are in flight. */
static double per_request(const struct session *s)
{
	return s->flight.n > 1 ? 1 / (double)in_flight_requests(&s->flight) : 1;
}

static struct flight_rec told_flight(const struct session *s, const struct served *x)
{
	if (s->flight.n == 1 || !x)
		return (struct flight_rec){0};
	return (struct flight_rec){.requests = x->n ? x->n : s->flight.n,
				   .limit_s = s->flight.limit_s,
				   .ended = x->ended,
				   .failed = x->failed,
				   .failure = x->why.msg,
				   .seconds = x->seconds,
				   .p50_s = served_quantile(x, 0.5),
				   .p95_s = served_quantile(x, 0.95),
				   .p99_s = served_quantile(x, 0.99)};
}

/* What an inference of each case of t takes while lat_s is what counts of all, in a; NULL: there is one. */
static const double *cases_beside(const struct session *s, const struct trial *t, double lat_s,
				  struct arena *a)
{
	const struct graph_case *c = s->model.g->cases;
	double weight[GRAPH_MAX_CASES], *x = ARENA_NEWN(a, double, t->n_cases);
	for (uint32_t i = 0; i < t->n_cases; i++)
		weight[i] = c[i].weight;
	double sum = cases_value(s->model.g->over, weight, t->case_s, t->n_cases);
	for (uint32_t i = 0; i < t->n_cases; i++)
		x[i] = t->case_s[i] * lat_s / sum;
	return t->n_cases ? x : NULL;
}

/* x (n) times `by`; mem_free. */
static double *scaled(const double *x, uint32_t n, double by)
{
	double *y = MEM_NEWN(double, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		y[i] = x[i] * by;
	return y;
}

int trial_encode(const struct session *s, const struct place_rec *p, const uint32_t *slot,
		 const struct trial *t, struct rec_writer *w, struct err *e)
{
	double by = per_request(s), *sample_s = scaled(t->m.sample_s, t->m.n, by);
	double *burst_s = scaled(t->bursts.lat_s, t->bursts.n, by);
	struct measurement m = t->m;
	m.lat = interval_scaled(m.lat, by);
	m.sample_s = sample_s;
	struct run_rec x =
		run_rec_measured(p, &m, t->ref_s * by, t->has_ratio ? &t->ratio : NULL, &t->turns);
	x.reason = t->ok ? NULL : t->reason;
	x.has_error = t->has_error;
	x.error = t->error;
	x.bursts = t->bursts;
	x.bursts.lat_s = burst_s;
	x.flight = told_flight(s, t->served);
	x.n_cases = t->n_cases;
	struct arena *a = arena_new();
	x.case_s = cases_beside(s, t, x.lat_s, a);
	x.copies = t->n_copies;
	x.copy_bytes = t->copy_bytes;
	x.has_plan = true;
	x.in_host = t->n_in_host;
	x.steps = t->n_steps;
	x.splits = t->n_splits;
	x.has_joules = t->ok && t->has_joules;
	x.joules = t->joules;
	double *core_loop_s = t->ok && t->m.pulse_s ? core_loops(s, p, slot, &t->m) : NULL;
	uint64_t *mem = MEM_NEWN(uint64_t, p->k);
	double *busy = MEM_NEWN(double, p->k);
	for (uint32_t i = 0; t->ok && i < p->k; i++) {
		uint32_t d = slot ? slot[i] : i;
		mem[i] = d < s->devices.n ? t->mem_bytes[d] : 0;
		busy[i] = d < s->devices.n ? t->m.busy_s[d] * by : 0;
	}
	x.mem_bytes = mem;
	x.busy_s = busy;
	x.pulse_s = core_loop_s;
	x.n_pulses = CORE_SPEED_KINDS;
	struct run_schedule schedule;
	uint16_t *ends;
	x.schedule = by_slots(t->schedule, slot, p->k, s->devices.n, &schedule, &ends);
	int rc = run_encode(&x, w, e);
	arena_free(a);
	mem_free(sample_s);
	mem_free(burst_s);
	mem_free(ends);
	mem_free(mem);
	mem_free(busy);
	mem_free(core_loop_s);
	return rc;
}

void trial_text(const struct session *s, const struct trial *t, char *dst, size_t cap)
{
	double one_s = t->m.lat.mid * per_request(s);
	if (s->flight.n > 1)
		snprintf(dst, cap, "%.1f a second, %u at once", 1 / one_s,
			 told_flight(s, t->served).requests);
	else
		snprintf(dst, cap, "%.3f ms", one_s * 1e3);
}

/* What may be claimed, about candidates by their records. */
static struct best_verdict told_verdict(const struct contest_verdict *v, uint32_t k,
					const struct place_rec *const *rivals)
{
	struct best_verdict out = {
		.says = v->says, .ratio = v->ratio, .more_s = v->more_s, .why = v->why};
	if (v->rival < 0)
		return out;
	bool single = (uint32_t)v->rival < k;
	const struct place_rec *p = single ? NULL : rivals[(uint32_t)v->rival - k];
	out.rival = single ? "single" : p->source;
	out.rival_sample = single ? (uint32_t)v->rival : p->id.sample;
	return out;
}

int verdict_encode(const struct verdict *v, const struct session *s, const struct place_rec *p,
		   const struct place_rec *const *rivals, uint32_t n_groups, struct rec_writer *w,
		   struct err *e)
{
	const struct trial *t = &v->final;
	double by = per_request(s);
	bool gains = v->winner >= 0 && t->has_ratio;
	struct best_rec x = {.place = *p,
			     .n_groups = n_groups,
			     .lat_s = t->m.lat.mid * by,
			     .ref_s = t->ref_s * by,
			     .final = true,
			     .lo_s = t->m.lat.lo * by,
			     .hi_s = t->m.lat.hi * by,
			     .reference = v->reference < 0 ? "" : s->devices.dev[v->reference].name,
			     .ratio = gains ? t->ratio.mid : 1,
			     .ratio_lo = gains ? t->ratio.lo : 1,
			     .ratio_hi = gains ? t->ratio.hi : 1,
			     .n_pairs = v->n_pairs,
			     .race = v->race,
			     .load = v->load,
			     .verdict = told_verdict(&v->says, s->devices.n, rivals),
			     .copies = t->n_copies,
			     .copy_bytes = t->copy_bytes,
			     .mem_bytes = t->mem_bytes,
			     .schedule = t->schedule,
			     .flight = told_flight(s, t->served),
			     .has_diff = !v->not_compared[0],
			     .not_compared = v->not_compared,
			     .out_mse = v->diff.mse,
			     .out_cos = v->diff.cosine,
			     .out_max = v->diff.largest,
			     .has_error = t->has_error,
			     .error = t->error,
			     .max_error = s->max_error,
			     .error_of = v->error_of,
			     .out_of = v->compared == v->reference || v->compared < 0
					       ? ""
					       : s->devices.dev[v->compared].name};
	x.place.device = t->device;
	x.place.n_more = t->n_more;
	x.place.predicted &= v->race.n_blocks > 0;
	return best_encode(&x, w, e);
}
