/* drift_lean.c - medians of what devices computed, over what they should compute. */
#include "race/drift_lean.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "stats/quantile.h"

static const double NEWS = 0.005; /* a lean counts as another one when it changes by so much */

struct burst_busy {
	uint32_t arm, block;
};

struct leans {
	uint32_t n, k;
	struct burst_busy *burst;
	double *log_busy; /* (n_bursts,k); -INFINITY: nothing */
	size_t n_bursts, cap_burst, cap_busy;
	uint32_t *has, *used; /* (n) bursts of an arm; those that its lean is of */
	double *lean;         /* (n,k) */
};

struct leans *leans_new(uint32_t n, uint32_t k)
{
	struct leans *x = MEM_NEW(struct leans);
	*x = (struct leans){.n = n, .k = k};
	x->has = MEM_NEWN(uint32_t, (size_t)n + 1);
	x->used = MEM_NEWN(uint32_t, (size_t)n + 1);
	x->lean = MEM_NEWN(double, (size_t)n *k + 1);
	return x;
}

void leans_free(struct leans *x)
{
	if (!x)
		return;
	mem_free(x->burst);
	mem_free(x->log_busy);
	mem_free(x->has);
	mem_free(x->used);
	mem_free(x->lean);
	mem_free(x);
}

void leans_add(struct leans *x, uint32_t arm, uint32_t block, const double *busy_s)
{
	size_t at = x->n_bursts * x->k;
	x->burst = mem_grow(x->burst, &x->cap_burst, x->n_bursts + 1, sizeof *x->burst);
	x->log_busy = mem_grow(x->log_busy, &x->cap_busy, at + x->k, sizeof *x->log_busy);
	for (uint32_t d = 0; d < x->k; d++)
		x->log_busy[at + d] = busy_s[d] > 0 ? log(busy_s[d]) : -INFINITY;
	x->burst[x->n_bursts++] = (struct burst_busy){arm, block};
	x->has[arm]++;
}

bool leans_due(const struct leans *x, uint32_t arm)
{
	return x->has[arm] > x->used[arm] + x->used[arm] / 3;
}

/* The median over an arm's bursts of what device d would have computed as usual; -INFINITY: nothing. */
static double usual_busy(const struct leans *x, uint32_t arm, uint32_t d,
			 const double *(*level)(void *ctx, uint32_t block), void *ctx, double *room)
{
	uint32_t n = 0;
	for (size_t i = 0; i < x->n_bursts; i++) {
		double busy = x->log_busy[i * x->k + d];
		if (x->burst[i].arm == arm && !isinf(busy))
			room[n++] = busy - level(ctx, x->burst[i].block)[d];
	}
	order_values(room, n);
	return n ? quantile(room, n, 0.5) : -INFINITY;
}

bool leans_find(struct leans *x, uint32_t arm, const double *share,
		const double *(*level)(void *ctx, uint32_t block), void *ctx)
{
	double *room = MEM_NEWN(double, (size_t)x->has[arm] + x->k + 1), *now = room + x->has[arm];
	double *lean = &x->lean[(size_t)arm * x->k], all = 0, mean = 0, most = 0;
	x->used[arm] = x->has[arm];
	for (uint32_t d = 0; d < x->k; d++) {
		now[d] = share[d] > 0 ? usual_busy(x, arm, d, level, ctx, room) - log(share[d])
				      : -INFINITY;
		all += isinf(now[d]) ? 0 : share[d];
		mean += isinf(now[d]) ? 0 : share[d] * now[d];
	}
	for (uint32_t d = 0; d < x->k; d++) {
		now[d] = isinf(now[d]) ? 0 : now[d] - mean / all;
		most = fmax(most, fabs(now[d] - lean[d]));
	}
	if (most > NEWS)
		memcpy(lean, now, x->k * sizeof *lean);
	mem_free(room);
	return most > NEWS;
}

const double *leans_of(const struct leans *x, uint32_t arm)
{
	return &x->lean[(size_t)arm * x->k];
}
