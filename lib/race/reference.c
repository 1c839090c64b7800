/* reference.c - single devices in rounds until one is surely the fastest. */
#include "race/reference.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "stats/huber.h"
#include "timing/burst.h"

enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 12 };

struct choice {
	struct contest *x;
	double *log_s; /* (rounds,k) as reference_rounds */
	bool *out;     /* (k) surely slower, or it cannot run */
	uint32_t n;    /* rounds */
};

int reference_run(struct contestant *c, double *lat, struct err *e)
{
	struct run_sample s = {.busy_s = c->m.busy_s};
	enum run_status status = runnable_run(&c->run, &s, e);
	if (status == RUN_END)
		return -1;
	if (status == RUN_FAILED) {
		c->failed = true;
		memcpy(c->reason, e->msg, sizeof c->reason);
		err_clear(e);
		return 0;
	}
	*lat = s.lat_s;
	return 1;
}

/* Of each that is left; a short run counts only behind another one of its own. */
static int run_round(struct choice *c, struct err *e)
{
	for (uint32_t d = 0; d < c->x->k; d++) {
		double lat = 0, *log_s = &c->log_s[(size_t)c->n * c->x->k + d];
		*log_s = NAN;
		if (c->out[d])
			continue;
		int rc = reference_run(&c->x->c[d], &lat, e);
		if (rc > 0 && burst_is_short(lat))
			rc = reference_run(&c->x->c[d], &lat, e);
		if (rc < 0)
			return -1;
		c->out[d] = rc == 0;
		*log_s = rc ? log(fmax(lat, 1e-12)) : NAN;
	}
	c->n++;
	return 0;
}

/* Of device d, less those of device `by`, unless it is negative, in all rounds; d is left, so it was in all of them. */
static struct interval mean_of(const struct choice *c, uint32_t d, int by)
{
	double y[MOST_ROUNDS];
	for (uint32_t i = 0; i < c->n; i++) {
		const double *round = &c->log_s[(size_t)i * c->x->k];
		y[i] = round[d] - (by < 0 ? 0 : round[by]);
	}
	return huber_mean(y, c->n);
}

/* The fastest of those that are left; -1: none is. */
static int fastest(const struct choice *c)
{
	double least = INFINITY;
	int best = -1;
	for (uint32_t d = 0; d < c->x->k; d++) {
		double mid = c->out[d] ? INFINITY : mean_of(c, d, -1).mid;
		if (mid < least) {
			least = mid;
			best = (int)d;
		}
	}
	return best;
}

/* Lets those go that are surely slower; are all that are left like the fastest? */
static bool decide(struct choice *c, int best)
{
	bool decided = true;
	for (uint32_t d = 0; d < c->x->k; d++) {
		if (c->out[d] || c->x->c[d].alike == c->x->c[best].alike)
			continue;
		c->out[d] = mean_of(c, d, best).lo > 0;
		decided &= c->out[d];
	}
	return decided;
}

int reference_choose(struct contest *x, double most_s, struct reference_rounds *rounds, int *out,
		     struct err *e)
{
	struct choice c = {.x = x};
	int rc = 0;
	bool decided = false;
	*out = -1;
	*rounds = (struct reference_rounds){.k = x->k};
	if (x->k == 0)
		return 0;
	const struct runnable *any = &x->c[0].run;
	c.log_s = MEM_NEWN(double, (size_t)MOST_ROUNDS * x->k);
	c.out = MEM_NEWN(bool, x->k);
	for (uint32_t d = 0; d < x->k; d++)
		c.out[d] = !x->c[d].takes_part || x->c[d].failed;
	double begin_s = any->now_s(any->arg);
	while (rc == 0 && !decided && c.n < MOST_ROUNDS) {
		rc = run_round(&c, e);
		*out = rc == 0 ? fastest(&c) : -1;
		decided = *out < 0 || (c.n >= LEAST_ROUNDS && decide(&c, *out)) ||
			  any->now_s(any->arg) - begin_s > most_s;
	}
	mem_free(c.out);
	rounds->log_s = c.log_s;
	rounds->n = c.n;
	return rc;
}
