/* sim_flight.c - which number of requests in flight, and what it takes. */
#include "place/simulate/sim_flight.h"

#include <stdio.h>

#include "place/simulate/closed_loop.h"
#include "place/simulate/evaluate_impl.h"

struct sim_flight {
	struct evaluator *ev;
	const struct place_model *m;
	uint32_t most;             /* requests */
	struct closed_loop **loop; /* (most + 1) of so many, made when they are asked for */
	const uint16_t *device;    /* (rows, n_sets) */
	uint32_t rows;
	const struct kept_order *order; /* NULL: none is brought */
	struct closed_loop *flown;      /* what ran last; NULL: one request by itself */
};

struct sim_flight *sim_flight_new(struct evaluator *ev, uint32_t requests)
{
	struct sim_flight *x = MEM_NEW(struct sim_flight);

	*x = (struct sim_flight){.ev = ev,
				 .m = ev->m,
				 .most = requests,
				 .loop = MEM_NEWN(struct closed_loop *, (size_t)requests + 1)};
	return x;
}

void sim_flight_free(struct sim_flight *x)
{
	if (!x)
		return;
	for (uint32_t n = 0; n <= x->most; n++)
		closed_loop_free(x->loop[n]);
	mem_free(x->loop);
	mem_free(x);
}

void sim_flight_rows(struct sim_flight *x, const uint16_t *device, uint32_t rows)
{
	x->device = device;
	x->rows = rows;
	x->order = NULL;
}

void sim_flight_order(struct sim_flight *x, const struct kept_order *order)
{
	x->order = order;
}

/* What row i takes by itself. */
static const struct place_result *evaluate_row(struct sim_flight *x, uint32_t i)
{
	const uint16_t *device = x->device + (size_t)i * x->m->n_sets;

	return x->order ? place_evaluate_in(x->ev, device, x->order)
			: place_evaluate(x->ev, device);
}

/* All rows, with n > 1 requests in flight. */
static struct closed_loop *fly(struct sim_flight *x, uint32_t n)
{
	if (!x->loop[n])
		x->loop[n] = closed_loop_new(x->m, n);
	for (uint32_t i = 0; i < x->rows; i++) {
		evaluate_row(x, i);
		closed_loop_place(x->loop[n], x->ev, i, x->rows);
	}
	return x->loop[n];
}

/* Is there less memory than what n requests need by peak (k), of a device or of what several share?  Then why says where. */
static bool lacks_memory(const struct place_model *m, uint32_t n, const uint64_t *peak, char *why,
			 size_t cap)
{
	const struct place_pools *p = &m->pools;

	for (uint32_t d = 0; d < m->k; d++)
		if (m->mem_limit[d] && peak[d] > m->mem_given[d]) {
			snprintf(why, cap, "%u requests need %llu bytes on %s, which has %llu", n,
				 (unsigned long long)peak[d], m->names[d],
				 (unsigned long long)m->mem_given[d]);
			return true;
		}
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t sum = 0, limit = p->pool[i].mem_limit;

		for (uint32_t d = 0; limit && d < m->k; d++)
			sum += p->of[d] == i ? peak[d] : 0;
		if (sum > limit) {
			snprintf(why, cap,
				 "%u requests need %llu bytes together of %s, which has %llu", n,
				 (unsigned long long)sum, p->pool[i].name,
				 (unsigned long long)limit);
			return true;
		}
	}
	return false;
}

/* Of requests that flew: memory that devices share moves what each of them reads and writes, one after another. */
static void wait_for_pools(struct sim_flight *x, const struct closed_loop *loop,
			   struct loop_figures *f)
{
	double pool_s = 0;

	for (uint32_t i = 0; i < x->rows && x->m->pools.n; i++)
		pool_s += closed_loop_share(loop, i) * evaluate_row(x, i)->pool_s;
	if (!(pool_s > f->period_s))
		return;
	double longer = pool_s / f->period_s;

	f->period_s = pool_s;
	f->p50_s *= longer;
	f->p95_s *= longer;
	f->p99_s *= longer;
}

/* Are 95 % of n requests within the limit of latency, and is there memory for them? */
static bool keeps_limit(struct sim_flight *x, uint32_t n)
{
	const double limit_s = x->m->objective.limit_s;
	struct loop_figures f;

	if (n == 1)
		return evaluate_row(x, 0)->lat_s <= limit_s;
	struct closed_loop *loop = fly(x, n);
	uint64_t *peak = MEM_NEWN(uint64_t, x->m->k);
	char why[600];

	closed_loop_memory(loop, peak);
	closed_loop_run(loop, &f, NULL);
	wait_for_pools(x, loop, &f);
	bool keeps = f.p95_s <= limit_s && !lacks_memory(x->m, n, peak, why, sizeof(why));
	mem_free(peak);
	return keeps;
}

static uint32_t choose_requests(struct sim_flight *x)
{
	uint32_t least = x->rows, best = least, beyond = x->most;

	if (x->m->objective.limit_s == 0 || keeps_limit(x, beyond))
		return x->most;
	while (least < beyond) {
		uint32_t n = (least + beyond) / 2;

		if (keeps_limit(x, n)) {
			best = n;
			least = n + 1;
		} else {
			beyond = n;
		}
	}
	return best;
}

bool sim_flight_run(struct sim_flight *x, struct run_rec *out, uint64_t *peak, double *busy_s,
		    char *reason, size_t cap)
{
	const struct place_model *m = x->m;
	double one = out->lat_s;
	struct loop_figures f = {one, one, one, one};
	uint32_t n = choose_requests(x);

	x->flown = n > 1 ? fly(x, n) : NULL;
	if (x->flown) {
		closed_loop_memory(x->flown, peak);
		if (lacks_memory(m, n, peak, reason, cap))
			return false;
		closed_loop_run(x->flown, &f, busy_s);
		wait_for_pools(x, x->flown, &f);
	}
	out->lat_s = f.period_s;
	out->flight = (struct flight_rec){.requests = n,
					  .ended = (uint64_t)LOOP_WINDOW * n,
					  .seconds = f.period_s * LOOP_WINDOW * n,
					  .limit_s = m->objective.limit_s,
					  .p50_s = f.p50_s,
					  .p95_s = f.p95_s,
					  .p99_s = f.p99_s};
	return true;
}

double sim_flight_share(const struct sim_flight *x, uint32_t row)
{
	return x->flown ? closed_loop_share(x->flown, row) : 1;
}
