/* simrun.c - run records from the simulator. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "place/simulate/sim_flight.h"
#include "place/simulate/simrun.h"

/* 95 % of a normal distribution are within so many deviations. */
static const double SPREAD_95 = 1.959964;

struct simulator {
	const struct place_model *m;
	struct simulator_options o;
	struct evaluator *ev;
	double ref_s, ref_value; /* best single devices; 0: none can run it */
	/* A schedule of its own, to be told or with other times; NULL: neither is asked for. */
	struct timeliner *clock;
	struct sched_costs costs;
	struct sim_flight *flight; /* of several requests; NULL: there is one */
	double *task_s;            /* (tasks,k) */
	uint16_t *task_device;     /* (tasks) */
	struct kept_order order;   /* of a placement that brings one */
	struct arena *arena, *own; /* of one answer; of all */
};

/* ---- working memory ---- */

/* Does everything take as long and as much on device b as on a? */
static bool equally_good(const struct place_model *m, uint32_t a, uint32_t b)
{
	const struct place_power *p = &m->power;

	if (m->mem_limit[a] != m->mem_limit[b] ||
	    (m->pools.n && m->pools.of[a] != m->pools.of[b]) ||
	    (m->workspace && m->workspace[a] != m->workspace[b]) ||
	    strcmp(m->types[a], m->types[b]) != 0 || (p->watts && p->watts[a] != p->watts[b]) ||
	    (p->idle_watts && p->idle_watts[a] != p->idle_watts[b]) ||
	    (p->usd_per_s && p->usd_per_s[a] != p->usd_per_s[b]))
		return false;
	for (uint32_t s = 0; s < m->n_sets; s++)
		if (m->set_s[(size_t)s * m->k + a] != m->set_s[(size_t)s * m->k + b])
			return false;
	for (uint32_t i = 0; m->saved_ptr && i < m->saved_ptr[m->tasks.dag.n]; i++)
		if (m->saved_s[(size_t)i * m->k + a] != m->saved_s[(size_t)i * m->k + b])
			return false;
	return true;
}

/* The peak of the device that has the most. */
static uint64_t most_bytes(const struct place_model *m, const struct place_result *r)
{
	uint64_t most = 0;

	for (uint32_t d = 0; d < m->k; d++) {
		uint64_t bytes = place_peak_bytes(m, r, d);

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* By the objective, of what out says: of requests in flight by their rate, and where 95 % of them do not keep a limit of latency, by
 * what these take. */
static double value_of(const struct simulator *x, const struct run_rec *out, double energy_j,
		       uint64_t most_bytes)
{
	const struct place_objective *o = &x->m->objective;
	bool flies = out->flight.requests > 0;

	if (flies && o->limit_s > 0)
		return flight_is_beyond(&out->flight) ? out->flight.p95_s : out->lat_s;
	return place_objective_value(o, out->lat_s, flies ? out->lat_s : out->period_s, energy_j,
				     most_bytes) +
	       o->price * out->usd;
}

/* ---- the best single devices ---- */

/* Least latency and least value among the single devices that can run everything; with a limit of latency both are those of
 * the one with the least value. */
static void find_references(struct simulator *x)
{
	const struct place_model *m = x->m;
	uint16_t *all = MEM_NEWN(uint16_t, m->n_sets);
	uint64_t *peak = MEM_NEWN(uint64_t, m->k);
	bool any = false; /* a value may be 0: a device without a price */

	for (uint32_t dev = 0; dev < m->k; dev++) {
		char reason[600];

		if (dev && equally_good(m, dev - 1, dev))
			continue;
		for (uint32_t i = 0; i < m->n_sets; i++)
			all[i] = (uint16_t)dev;
		const struct place_result *r = place_evaluate(x->ev, all);
		if (r->status != PLACE_OK)
			continue;
		struct run_rec out = {.lat_s = r->lat_s};
		double value = r->value;
		if (x->flight) {
			sim_flight_rows(x->flight, all, 1);
			if (!sim_flight_run(x->flight, &out, peak, NULL, reason, sizeof(reason)))
				continue;
			place_account(x->ev);
			out.usd = place_usd(m, r->busy_s, r->lat_s, r->period_s);
			value = value_of(x, &out, r->energy_j, most_bytes(m, r));
		}
		bool better = !any || value < x->ref_value;
		any = true;
		if (m->objective.limit_s > 0 ? better : x->ref_s == 0 || out.lat_s < x->ref_s)
			x->ref_s = out.lat_s;
		if (better)
			x->ref_value = value;
	}
	mem_free(peak);
	mem_free(all);
}

struct simulator *simulator_new(const struct place_model *m, const struct simulator_options *o)
{
	struct simulator *x = MEM_NEW(struct simulator);
	size_t n = (size_t)m->tasks.dag.n * m->k;

	x->m = m;
	x->o = *o;
	x->ev = evaluator_new(m);
	x->arena = arena_new();
	x->own = arena_new();
	x->order = kept_order_new(m, x->own);
	if (o->requests > 1)
		x->flight = sim_flight_new(x->ev, o->requests);
	find_references(x);
	/* Several cases have a schedule each. */
	if (m->n_cases || m->rules != PLACE_SCHEDULE || (!o->schedule && o->op_sigma == 0))
		return x;
	x->task_device = MEM_NEWN(uint16_t, m->tasks.dag.n);
	x->task_s = MEM_NEWN(double, n);
	if (n)
		memcpy(x->task_s, m->costs.task_s, n * sizeof(*x->task_s));
	x->costs = m->costs;
	x->costs.task_s = x->task_s;
	x->clock = timeliner_new(&m->tasks.dag, &x->costs, true);
	return x;
}

void simulator_free(struct simulator *x)
{
	if (!x)
		return;
	timeliner_free(x->clock);
	sim_flight_free(x->flight);
	evaluator_free(x->ev);
	mem_free(x->task_s);
	mem_free(x->task_device);
	arena_free(x->arena);
	arena_free(x->own);
	mem_free(x);
}

/* ---- noise ---- */

double simulator_noise(uint64_t seed, const struct place_rec *p, uint32_t index, double sigma)
{
	enum { SAMPLES = (1 << 24) - 1 };
	struct rng_addr a = {seed, p->id.episode, p->id.step,
			     RNG_COST + 1 + p->id.sample % SAMPLES};

	return exp(sigma * rng_normal(&a, index));
}

/* The schedule of a legal placement, by the times that its operations take this time. */
static const struct timeline *noisy_schedule(struct simulator *x, const struct place_rec *p)
{
	const struct place_model *m = x->m;
	const struct timeline *t;

	for (uint32_t i = 0; i < m->tasks.dag.n; i++)
		x->task_device[i] = p->device[m->tasks.task_set[i]];
	for (uint32_t i = 0; i < m->tasks.dag.n; i++) {
		uint16_t dev = x->task_device[i];
		double f =
			x->o.op_sigma > 0 ? simulator_noise(x->o.seed, p, i + 1, x->o.op_sigma) : 1;

		x->task_s[(size_t)i * m->k + dev] = f * place_task_s(m, i, dev, x->task_device);
	}
	enum timeline_status s = p->order ? timeline_run_in(x->clock, x->task_device, x->order.rank,
							    x->order.delayed_by, &t)
					  : timeline_run(x->clock, x->task_device, &t);

	return s == TIMELINE_OK ? t : NULL;
}

/* The deviation of the busiest device's time, when operations vary by themselves. */
static double op_deviation(const struct simulator *x)
{
	const struct place_model *m = x->m;
	double *sum2 = ARENA_NEWN(x->arena, double, m->k), most = 0;

	for (uint32_t i = 0; x->o.op_sigma > 0 && i < m->tasks.dag.n; i++) {
		double s = x->task_s[(size_t)i * m->k + x->task_device[i]];

		sum2[x->task_device[i]] += s * s;
	}
	for (uint32_t dev = 0; dev < m->k; dev++)
		most = fmax(most, sum2[dev]);
	return x->o.op_sigma * sqrt(most);
}

/* ---- the record ---- */

/* The links that carry something. */
static struct run_links *used_links(const struct simulator *x, const struct place_traffic *t)
{
	struct run_links *l = ARENA_NEWN(x->arena, struct run_links, 1);
	size_t all = (size_t)t->k * t->k, n = 0;

	for (size_t i = 0; i < all; i++)
		n += t->copies[i] > 0;
	l->src = ARENA_NEWN(x->arena, uint16_t, n);
	l->dst = ARENA_NEWN(x->arena, uint16_t, n);
	l->copies = ARENA_NEWN(x->arena, uint32_t, n);
	l->bytes = ARENA_NEWN(x->arena, uint64_t, n);
	l->busy_s = ARENA_NEWN(x->arena, double, n);
	for (size_t i = 0; i < all; i++) {
		if (!t->copies[i])
			continue;
		l->src[l->n] = (uint16_t)(i / t->k);
		l->dst[l->n] = (uint16_t)(i % t->k);
		l->copies[l->n] = t->copies[i];
		l->bytes[l->n] = t->bytes[i];
		l->busy_s[l->n++] = t->busy_s[i];
	}
	return l;
}

static struct run_schedule *schedule_for_record(const struct simulator *x, const struct timeline *t)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	struct run_schedule *s = ARENA_NEWN(x->arena, struct run_schedule, 1);

	s->n = d->n;
	s->set = x->m->tasks.task_set;
	s->start_s = t->start_s;
	s->end_s = t->end_s;
	s->n_copies = t->n_copies;
	uint32_t *set = ARENA_NEWN(x->arena, uint32_t, t->n_copies);
	uint16_t *src = ARENA_NEWN(x->arena, uint16_t, t->n_copies);
	uint16_t *dst = ARENA_NEWN(x->arena, uint16_t, t->n_copies);
	uint64_t *bytes = ARENA_NEWN(x->arena, uint64_t, t->n_copies);

	s->copy_set = set;
	s->copy_src = src;
	s->copy_dst = dst;
	s->copy_bytes = bytes;
	s->copy_start_s = t->copy_start_s;
	s->copy_end_s = t->copy_end_s;
	for (uint32_t i = 0; i < t->n_copies; i++) {
		set[i] = x->m->tasks.task_set[d->tensor_task[t->copy[i].tensor]];
		src[i] = t->copy[i].src;
		dst[i] = t->copy[i].dst;
		bytes[i] = d->tensor_bytes[t->copy[i].tensor];
	}
	return s;
}

static uint64_t largest(const uint64_t *bytes, uint32_t k)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < k; i++)
		most = bytes[i] > most ? bytes[i] : most;
	return most;
}

/* What the schedule of a legal placement says, into out. */
static void add_schedule_figures(struct simulator *x, const struct place_rec *p,
				 const struct place_result *r, struct run_rec *out)
{
	const struct place_model *m = x->m;
	const struct timeline *t = x->clock ? noisy_schedule(x, p) : NULL;

	place_account(x->ev);
	out->links = used_links(x, r->traffic);
	out->has_pipeline = true;
	out->period_s = r->period_s;
	out->energy_j = r->energy_j;
	out->usd = place_usd(m, r->busy_s, r->lat_s, r->period_s);
	if (t && x->o.op_sigma > 0) {
		out->lat_s = fmax(r->pool_s, place_latency_s(m, t->makespan_s, t->busy_s));
		out->busy_s = t->busy_s;
		out->period_s = fmax(r->pool_s, traffic_period_s(r->traffic, m, t->busy_s));
		out->energy_j = traffic_energy_j(r->traffic, m, t->busy_s, out->lat_s);
		out->usd = place_usd(m, t->busy_s, out->lat_s, out->period_s);
	}
	if (t && x->o.schedule)
		out->schedule = schedule_for_record(x, t);
}

/* Scale by random noise; widen the interval by its deviation. */
static void add_noise(const struct simulator *x, const struct place_rec *p, struct run_rec *out)
{
	double deviation = x->task_s ? op_deviation(x) : 0, sigma = x->o.run_sigma;
	double f = sigma > 0 ? simulator_noise(x->o.seed, p, 0, sigma) : 1;

	out->lat_s *= f;
	out->period_s *= f;
	out->energy_j *= f;
	out->usd *= f;
	if (out->lat_s > 0)
		sigma = hypot(sigma, deviation / out->lat_s);
	out->lo_s = out->lat_s * exp(-SPREAD_95 * sigma);
	out->hi_s = out->lat_s * exp(SPREAD_95 * sigma);
}

/* Replicas, each by a placement of its own; copies, and their bytes, of all rows together. */
static int answer_replicas(struct simulator *x, const struct place_rec *p, struct rec_writer *w,
			   struct err *e)
{
	const struct place_model *m = x->m;
	struct run_rec out = {.id = p->id,
			      .source = p->source,
			      .k = p->k,
			      .n_samples = 1,
			      .ref_s = x->ref_s,
			      .samples_s = &out.lat_s};
	uint32_t rows = 1 + p->n_more;
	char reason[600] = "";

	arena_reset(x->arena);
	uint64_t *peak = ARENA_NEWN(x->arena, uint64_t, m->k);
	double *busy_s = ARENA_NEWN(x->arena, double, m->k), energy_j = 0;
	double *row_j = ARENA_NEWN(x->arena, double, rows);
	double *row_usd = ARENA_NEWN(x->arena, double, rows);
	if (rows > x->o.requests)
		snprintf(reason, sizeof(reason), "%u replicas, and %u request%s in flight", rows,
			 x->o.requests, x->o.requests == 1 ? "" : "s");
	for (uint32_t i = 0; i < rows && !*reason; i++) {
		const struct place_result *r =
			place_evaluate(x->ev, p->device + (size_t)i * p->n_sets);
		if (r->status != PLACE_OK) {
			place_reason(x->ev, r, reason, sizeof(reason));
			break;
		}
		place_account(x->ev);
		row_j[i] = r->energy_j;
		row_usd[i] = place_usd(m, r->busy_s, r->lat_s, r->period_s);
		out.copies += r->copies;
		out.copy_bytes += r->copy_bytes;
	}
	if (!*reason)
		sim_flight_rows(x->flight, p->device, rows);
	if (!*reason && sim_flight_run(x->flight, &out, peak, busy_s, reason, sizeof(reason))) {
		for (uint32_t i = 0; i < rows; i++) {
			energy_j += sim_flight_share(x->flight, i) * row_j[i];
			out.usd += sim_flight_share(x->flight, i) * row_usd[i];
		}
		out.mem_bytes = peak;
		out.busy_s = busy_s;
		add_noise(x, p, &out);
		out.has_value = !place_objective_is_latency(&m->objective);
		out.ref_value = x->ref_value;
		out.value = value_of(x, &out, energy_j, largest(peak, m->k));
	} else {
		out.reason = reason;
	}
	return run_encode(&out, w, e);
}

int simulator_answer(struct simulator *x, const struct place_rec *p, struct rec_writer *w,
		     struct err *e)
{
	const struct place_model *m = x->m;
	if (p->n_more > 0)
		return answer_replicas(x, p, w, e);
	if (p->order)
		place_order_of(m, p->order, p->n_order, p->device, &x->order);
	const struct place_result *r = p->order ? place_evaluate_in(x->ev, p->device, &x->order)
						: place_evaluate(x->ev, p->device);
	struct run_rec out = {.id = p->id,
			      .source = p->source,
			      .k = p->k,
			      .n_samples = 1,
			      .ref_s = x->ref_s,
			      .samples_s = &out.lat_s};
	char reason[600];

	arena_reset(x->arena);
	if (r->status != PLACE_OK) {
		out.reason = place_reason(x->ev, r, reason, sizeof(reason));
		if (r->status == PLACE_MEMORY) {
			out.unlimited_s = r->lat_s;
			out.missing_bytes = place_missing_bytes(m, r);
		}
		return run_encode(&out, w, e);
	}
	out.lat_s = r->lat_s;
	uint64_t *peak = ARENA_NEWN(x->arena, uint64_t, m->k);
	for (uint32_t d = 0; d < m->k; d++)
		peak[d] = place_peak_bytes(m, r, d);
	if (x->flight) {
		sim_flight_rows(x->flight, p->device, 1);
		if (p->order)
			sim_flight_order(x->flight, &x->order);
		if (!sim_flight_run(x->flight, &out, peak, NULL, reason, sizeof(reason))) {
			out.reason = reason;
			return run_encode(&out, w, e);
		}
	}
	out.mem_bytes = peak;
	out.n_pools = x->flight ? 0 : m->pools.n; /* of one request */
	out.pool_bytes = r->pool_bytes;
	out.copies = r->copies;
	out.copy_bytes = r->copy_bytes;
	out.busy_s = r->busy_s;
	double *case_s = ARENA_NEWN(x->arena, double, m->n_cases);
	for (uint32_t i = 0; i < m->n_cases; i++)
		case_s[i] = place_case_s(x->ev, i);
	out.n_cases = m->n_cases;
	out.case_s = case_s;
	if (m->rules == PLACE_SCHEDULE)
		add_schedule_figures(x, p, r, &out);
	add_noise(x, p, &out);
	out.has_value = !place_objective_is_latency(&m->objective);
	out.ref_value = x->ref_value;
	out.value = value_of(x, &out, out.energy_j, largest(peak, m->k));
	return run_encode(&out, w, e);
}
