/* evaluate.c - one placement through the simulator, and its legality. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "place/simulate/evaluate_impl.h"

/* Note where tasks are, and the memory that they hold for themselves. */
static void locate_tasks(struct evaluator *x, const uint16_t *device)
{
	const struct place_model *m = x->m;
	uint64_t *mem = x->r.mem_bytes;

	memset(mem, 0, m->k * sizeof(*mem));
	for (uint32_t t = 0; t < m->tasks.dag.n; t++) {
		uint16_t dev = device[m->tasks.task_set[t]];

		x->task_device[t] = dev;
		mem[dev] += m->task_mem[(size_t)t * m->k + dev];
	}
}

/* Shared weight w, number i, is on dev, too: does another device of its pool have it already, in the same form? */
static void note_pool(struct evaluator *x, const struct shared_weight *w, uint32_t i, uint32_t dev)
{
	const struct place_pools *p = &x->m->pools;

	if (p->n == 0 || p->of[dev] == p->n || p->pool[p->of[dev]].copied)
		return;
	for (uint32_t d = 0; d < x->m->k; d++)
		if (d != dev && p->of[d] == p->of[dev] && x->seen[d] == i + 1 &&
		    w->bytes[d] == w->bytes[dev]) {
			x->pool_once[p->of[dev]] += w->bytes[dev];
			return;
		}
}

/* Add the bytes of values that several tasks read to r.mem_bytes: once on each device. */
static void add_shared_memory(struct evaluator *x)
{
	const struct place_model *m = x->m;

	memset(x->seen, 0, m->k * sizeof(*x->seen));
	memset(x->pool_once, 0, m->pools.n * sizeof(*x->pool_once));
	for (uint32_t i = 0; i < m->n_shared; i++) {
		const struct shared_weight *w = &m->shared[i];

		for (uint32_t j = w->first; j < w->first + w->n; j++) {
			uint32_t dev = x->task_device[m->weight_task[j]];

			if (x->seen[dev] != i + 1) {
				x->r.mem_bytes[dev] += w->bytes[dev];
				note_pool(x, w, i, dev);
			}
			x->seen[dev] = i + 1;
		}
	}
}

static enum place_status check_together(const struct place_model *m, const uint16_t *device,
					struct place_result *r)
{
	for (uint32_t i = 0; m->together && i < m->n_sets; i++)
		if (device[i] != device[m->together[i]]) {
			r->bad_set = i;
			r->bad_dev = device[i];
			return PLACE_APART;
		}
	return PLACE_OK;
}

/* By the rules of dnn-partitioning: no schedule, and no memory but for what tasks hold. */
static enum place_status follow_dnnpart(struct evaluator *x)
{
	const struct place_model *m = x->m;
	struct place_result *r = &x->r;

	for (uint32_t i = 0; i < m->tasks.dag.n; i++)
		if (m->costs.task_s[(size_t)i * m->k + x->task_device[i]] < 0) {
			r->bad_set = m->tasks.task_set[i];
			r->bad_dev = x->task_device[i];
			return PLACE_CANNOT_RUN;
		}
	const struct dnnpart_result *d = dnnpart_evaluate(x->dnnpart, x->task_device);

	r->value = r->lat_s = d->value_s;
	r->copies = d->copies;
	r->copy_bytes = d->copy_bytes;
	r->busy_s = d->load_s;
	return d->circle ? PLACE_CIRCLE : PLACE_OK;
}

/* Add what the largest task on each device takes while it runs to r.mem_bytes: as if that were when
 * the rest is at its peak. */
static void add_inner_memory(struct evaluator *x)
{
	const struct place_model *m = x->m;

	memset(x->most_inner, 0, m->k * sizeof(*x->most_inner));
	for (uint32_t t = 0; t < m->tasks.dag.n; t++) {
		uint32_t dev = x->task_device[t];
		uint64_t bytes = m->inner[(size_t)t * m->k + dev];

		if (bytes > x->most_inner[dev])
			x->most_inner[dev] = bytes;
	}
	for (uint32_t d = 0; d < m->k; d++)
		x->r.mem_bytes[d] += x->most_inner[d];
}

/* r.mem_bytes, with what a schedule needs at most (k; NULL: nothing), against the limits. */
static void check_memory(struct evaluator *x, const uint64_t *peak)
{
	const struct place_model *m = x->m;
	struct place_result *r = &x->r;

	for (uint32_t i = m->k; i-- > 0;) {
		r->mem_bytes[i] += peak ? peak[i] + place_workspace(m, i, peak[i]) : 0;
		if (m->mem_limit[i] && r->mem_bytes[i] > m->mem_limit[i]) {
			r->status = PLACE_MEMORY;
			r->bad_dev = i;
		}
	}
}

/* r.pool_bytes, against the limits of pools. */
static void check_pools(struct evaluator *x)
{
	const struct place_model *m = x->m;
	const struct place_pools *p = &m->pools;
	struct place_result *r = &x->r;

	r->bad_pool = p->n;
	for (uint32_t i = p->n; i-- > 0;) {
		uint64_t sum = 0, most = 0;
		uint32_t fullest = 0;

		for (uint32_t d = 0; d < m->k; d++) {
			uint64_t bytes = p->of[d] == i ? place_peak_bytes(m, r, d) : 0;

			sum += bytes;
			if (bytes > most) {
				most = bytes;
				fullest = d;
			}
		}
		r->pool_bytes[i] = sum - x->pool_once[i];
		/* What one device needs is that device's lack. */
		if (p->pool[i].mem_limit && r->pool_bytes[i] > p->pool[i].mem_limit &&
		    r->status == PLACE_OK) {
			r->status = PLACE_MEMORY;
			r->bad_dev = fullest;
			r->bad_pool = i;
		}
	}
}

/* Seconds for which the busiest pool moves the bytes of what its devices run. */
static double busiest_pool_s(struct evaluator *x)
{
	const struct place_model *m = x->m;
	const struct place_pools *p = &m->pools;
	double most = 0;

	if (!p->set_s)
		return 0;
	memset(x->pool_s, 0, p->n * sizeof(*x->pool_s));
	for (uint32_t t = 0; t < m->tasks.dag.n; t++) {
		uint32_t d = x->task_device[t];

		if (p->of[d] < p->n)
			x->pool_s[p->of[d]] += p->set_s[(size_t)m->tasks.task_set[t] * m->k + d];
	}
	for (uint32_t i = 0; i < p->n; i++)
		most = fmax(most, x->pool_s[i]);
	return most;
}

void evaluator_account(struct evaluator *x)
{
	struct place_result *r = &x->r;

	traffic_count(&x->traffic, x->m, x->task_device);
	r->traffic = &x->traffic;
	r->period_s = fmax(r->pool_s, traffic_period_s(&x->traffic, x->m, r->busy_s));
	r->energy_j = traffic_energy_j(&x->traffic, x->m, r->busy_s, r->lat_s);
}

uint64_t place_peak_bytes(const struct place_model *m, const struct place_result *r, uint32_t dev)
{
	bool used = r->mem_bytes[dev] > 0 || r->busy_s[dev] > 0;

	return r->mem_bytes[dev] + (m->work && used ? m->work[dev] : 0);
}

/* What the device's limit is too little by. */
static uint64_t device_lacks(const struct place_model *m, const struct place_result *r, uint32_t d)
{
	uint64_t needs = place_peak_bytes(m, r, d);

	return m->mem_given[d] && needs > m->mem_given[d] ? needs - m->mem_given[d] : 0;
}

uint64_t place_missing_bytes(const struct place_model *m, const struct place_result *r)
{
	uint64_t sum = 0;

	for (uint32_t d = 0; d < m->k; d++)
		sum += device_lacks(m, r, d);
	/* What devices lack, pools may lack besides. */
	for (uint32_t i = 0; i < m->pools.n; i++) {
		uint64_t limit = m->pools.pool[i].mem_limit, of_devices = 0;

		for (uint32_t d = 0; d < m->k; d++)
			of_devices += m->pools.of[d] == i ? device_lacks(m, r, d) : 0;
		if (limit && r->pool_bytes[i] > limit && r->pool_bytes[i] - limit > of_devices)
			sum += r->pool_bytes[i] - limit - of_devices;
	}
	return sum;
}

/* The value of a schedule. */
static void set_value(struct evaluator *x)
{
	struct place_result *r = &x->r;
	uint64_t peak = 0;

	if (x->accounts)
		evaluator_account(x);
	for (uint32_t i = 0; i < x->m->k; i++) {
		uint64_t bytes = place_peak_bytes(x->m, r, i);

		peak = bytes > peak ? bytes : peak;
	}
	r->value =
		place_objective_value(&x->m->objective, r->lat_s, r->period_s, r->energy_j, peak);
	if (x->m->objective.price > 0)
		r->value +=
			x->m->objective.price * place_usd(x->m, r->busy_s, r->lat_s, r->period_s);
}

const struct place_result *evaluator_result(struct evaluator *x, enum timeline_status s,
					    const struct timeline *t)
{
	struct place_result *r = &x->r;

	r->status = PLACE_OK;
	if (s == TIMELINE_ABOVE) {
		r->status = PLACE_ABOVE;
		r->value = r->lat_s = INFINITY;
		return r;
	}
	if (s != TIMELINE_OK) {
		r->status = s == TIMELINE_NO_LINK ? PLACE_NO_LINK : PLACE_CANNOT_RUN;
		r->bad_set = x->m->tasks.task_set[t->bad_task];
		r->bad_dev = t->bad_dev;
		return r;
	}
	r->pool_s = busiest_pool_s(x);
	r->lat_s = fmax(r->pool_s, place_latency_s(x->m, t->makespan_s, t->busy_s));
	r->copies = t->n_copies;
	r->copy_bytes = t->copied_bytes;
	r->busy_s = t->busy_s;
	add_shared_memory(x);
	/* Of moves only where it matters; whole evaluations tell it in any case. */
	if (x->m->inner && (x->limited || !x->moves.has_base))
		add_inner_memory(x);
	check_memory(x, t->peak_bytes);
	check_pools(x);
	set_value(x);
	return r;
}

/* What comes before a schedule; false: there is none, and x->r says why. */
static bool prepare(struct evaluator *x, const uint16_t *device)
{
	const struct place_model *m = x->m;
	struct place_result *r = &x->r;

	x->moves.has_base = false;
	r->bad_pool = m->pools.n;
	locate_tasks(x, device);
	r->status = check_together(m, device, r);
	if (r->status == PLACE_OK && x->dnnpart)
		r->status = follow_dnnpart(x);
	if (r->status != PLACE_OK)
		return false;
	if (x->dnnpart) {
		add_shared_memory(x);
		check_memory(x, NULL);
		check_pools(x);
		return false;
	}
	for (uint32_t i = 0; m->saved_ptr && i < m->tasks.dag.n; i++) {
		uint16_t dev = x->task_device[i];

		x->task_s[(size_t)i * m->k + dev] = place_task_s(m, i, dev, x->task_device);
	}
	return true;
}

const struct place_result *evaluator_run(struct evaluator *x, const uint16_t *device, bool as_base)
{
	if (!prepare(x, device))
		return &x->r;
	enum timeline_status s =
		as_base ? timeline_run_base(x->clock, x->task_device, &x->t, &x->moves.has_base)
			: timeline_run(x->clock, x->task_device, &x->t);
	return evaluator_result(x, s, x->t);
}

struct kept_order kept_order_new(const struct place_model *m, struct arena *a)
{
	size_t n = (size_t)m->tasks.dag.n + 1;
	struct kept_order o = {ARENA_NEWN(a, double, n), ARENA_NEWN(a, uint32_t, n)};

	for (size_t i = 0; i < n; i++)
		o.delayed_by[i] = SCHED_NONE;
	return o;
}

void place_keep_order(const struct evaluator *x, struct kept_order *out)
{
	uint32_t n = x->m->tasks.dag.n;

	if (!x->t)
		return;
	memcpy(out->rank, x->t->rank, n * sizeof(*out->rank));
	for (uint32_t i = 0; i < n; i++)
		out->delayed_by[i] = x->t->delayed_by ? x->t->delayed_by[i] : SCHED_NONE;
}

void place_model_keeps(struct place_model *m)
{
	if (m->costs.policy == SCHED_IMPROVED || m->costs.policy == SCHED_FREE)
		m->costs.policy = SCHED_RANK;
}

const struct place_result *evaluator_run_in(struct evaluator *x, const uint16_t *device,
					    const struct kept_order *o)
{
	if (!prepare(x, device))
		return &x->r;
	enum timeline_status s =
		timeline_run_in(x->clock, x->task_device, o->rank, o->delayed_by, &x->t);

	return evaluator_result(x, s, x->t);
}

const char *place_reason(const struct evaluator *x, const struct place_result *r, char *text,
			 size_t cap)
{
	bool somewhere = r->status != PLACE_CIRCLE && r->status != PLACE_ABOVE;
	const char *dev = somewhere ? x->m->names[r->bad_dev] : "";
	char name[200];

	switch (r->status) {
	case PLACE_OK: snprintf(text, cap, "legal"); break;
	case PLACE_CANNOT_RUN:
		snprintf(text, cap, "set %u ('%s') cannot run on %s", r->bad_set,
			 place_set_name(x->m, r->bad_set, name, sizeof(name)), dev);
		break;
	case PLACE_NO_LINK:
		snprintf(text, cap,
			 "the output of set %u ('%s') is needed on %s, "
			 "to which there is no link",
			 r->bad_set, place_set_name(x->m, r->bad_set, name, sizeof(name)), dev);
		break;
	case PLACE_APART:
		snprintf(text, cap,
			 "set %u ('%s') is on %s, away from set %u, with which it shares a "
			 "device",
			 r->bad_set, place_set_name(x->m, r->bad_set, name, sizeof(name)), dev,
			 x->m->together[r->bad_set]);
		break;
	case PLACE_ABOVE: snprintf(text, cap, "is above a limit"); break;
	case PLACE_CIRCLE: snprintf(text, cap, "pieces of devices wait for each other"); break;
	case PLACE_MEMORY:
		if (r->bad_pool < x->m->pools.n) {
			const struct place_pool *p = &x->m->pools.pool[r->bad_pool];

			snprintf(text, cap,
				 "devices need %llu bytes together of %s, which has %llu",
				 (unsigned long long)r->pool_bytes[r->bad_pool], p->name,
				 (unsigned long long)p->mem_limit);
			break;
		}
		snprintf(text, cap, "needs %llu bytes on %s, which has %llu",
			 (unsigned long long)place_peak_bytes(x->m, r, r->bad_dev), dev,
			 (unsigned long long)x->m->mem_given[r->bad_dev]);
		break;
	}
	return text;
}
