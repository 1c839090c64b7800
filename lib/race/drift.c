/* drift.c - speeds of devices by block, and predictions for them. */
#include "race/drift.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "stats/quantile.h"

/* Devices that are made alike differ by so much for good: a standard deviation. */
static const double LASTING = 0.03;
static const double FAR = 2; /* such deviations from that are not for good */
/* What the mean of a race is off by, over what varies in it, as variances: drift may outlast it. */
static const double OUTLASTS = 3;
/* Before there are bursts, devices are supposed to vary by so much, as so many bursts would say. */
static const double FIRST_SPREAD = 0.01;
enum { FIRST_BURSTS = 4 };
static const double NEWS = 0.002; /* lasting differences are told when they change by so much */
static const double MEDIAN_TO_SIGMA = 1.4826, OUTLIER = 2.5;
enum { REACH = 6 };            /* blocks that a burst tells of, before and after its own */
static const double WIDTH = 2; /* blocks; the standard deviation of the weights */

struct drift {
	struct drift_source source;
	uint32_t n, k;
	double *usual_s; /* (n) as predicted; NAN: not asked yet */
	double *slow;    /* (k) room */
	double *lasting; /* (k) of what was added, what is so for good */
	/* Bursts. */
	uint32_t n_bursts, *block;
	double *log_slow; /* (n_bursts,k) */
	size_t cap_block, cap_slow;
	/* Blocks. */
	uint32_t n_blocks;
	double *excess; /* (n_blocks,n) NAN: not computed */
	size_t cap_excess;
};

struct drift *drift_new(const struct drift_source *source, uint32_t n, uint32_t k)
{
	struct drift *x = MEM_NEW(struct drift);
	*x = (struct drift){.source = *source, .n = n, .k = k};
	x->usual_s = MEM_NEWN(double, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		x->usual_s[i] = NAN;
	x->slow = MEM_NEWN(double, (size_t)k + 1);
	x->lasting = MEM_NEWN(double, (size_t)k + 1);
	return x;
}

void drift_free(struct drift *x)
{
	if (!x)
		return;
	mem_free(x->usual_s);
	mem_free(x->slow);
	mem_free(x->lasting);
	mem_free(x->block);
	mem_free(x->log_slow);
	mem_free(x->excess);
	mem_free(x);
}

static void forget(struct drift *x, uint32_t from, uint32_t to)
{
	for (size_t i = (size_t)from * x->n; i < (size_t)to * x->n; i++)
		x->excess[i] = NAN;
}

static void grow_blocks(struct drift *x, uint32_t to)
{
	x->excess = mem_grow(x->excess, &x->cap_excess, (size_t)to * x->n + 1, sizeof *x->excess);
	forget(x, x->n_blocks, to);
	x->n_blocks = to;
}

/* What device d was in the median of all bursts, and how much it drifts around that: what a burst
 * and the next one have in common, for a burst's own noise is not drift. */
static double middle_of(const struct drift *x, uint32_t d, double *room, double *var)
{
	uint32_t n = x->n_bursts;
	double sum = FIRST_BURSTS * FIRST_SPREAD * FIRST_SPREAD, mid, last = 0;
	for (uint32_t i = 0; i < n; i++)
		room[i] = x->log_slow[(size_t)i * x->k + d];
	order_values(room, n);
	mid = quantile(room, n, 0.5);
	for (uint32_t i = 0; i < n; i++)
		room[i] = fabs(room[i] - mid);
	order_values(room, n);
	double most = OUTLIER * MEDIAN_TO_SIGMA * quantile(room, n, 0.5);
	for (uint32_t i = 0; i < n; i++) {
		double by = x->log_slow[(size_t)i * x->k + d] - mid;
		by = fmax(-most, fmin(most, by));
		sum += by * last;
		last = by;
	}
	*var = fmax(sum, 0) / (n + FIRST_BURSTS);
	return mid;
}

/* Of a difference that was there all the time, a part is for good: the more, the less it varied. */
static void find_lasting(struct drift *x)
{
	double *room = MEM_NEWN(double, x->n_bursts), change = 0;
	for (uint32_t d = 0; d < x->k; d++) {
		double var, mid = middle_of(x, d, room, &var);
		double own = LASTING * LASTING,
		       drifts = fmax(OUTLASTS * var, mid * mid - FAR * FAR * own);
		double now = mid * own / (own + drifts);
		change = fmax(change, fabs(now - x->lasting[d]));
		if (fabs(now - x->lasting[d]) > NEWS)
			x->lasting[d] = now;
	}
	mem_free(room);
	if (change > NEWS)
		forget(x, 0, x->n_blocks);
}

void drift_add(struct drift *x, uint32_t block, const double *log_slow)
{
	size_t at = (size_t)x->n_bursts * x->k;
	x->block = mem_grow(x->block, &x->cap_block, x->n_bursts + 1, sizeof *x->block);
	x->log_slow = mem_grow(x->log_slow, &x->cap_slow, at + x->k, sizeof *x->log_slow);
	x->block[x->n_bursts++] = block;
	memcpy(&x->log_slow[at], log_slow, x->k * sizeof *log_slow);
	if (block >= x->n_blocks)
		grow_blocks(x, block + 1);
	forget(x, block > REACH ? block - REACH : 0, x->n_blocks);
	find_lasting(x);
}

/* slow of a block: the mean of the bursts around it; of a block without any, of the last before. */
static void find_slow(struct drift *x, uint32_t block)
{
	double weight = 0;
	uint32_t before = 0;
	for (uint32_t d = 0; d < x->k; d++)
		x->slow[d] = 0;
	for (uint32_t i = x->n_bursts; i-- > 0;) {
		double far = ((double)x->block[i] - block) / WIDTH, w = exp(-far * far / 2);
		if (x->block[i] > block + REACH)
			continue;
		if (x->block[i] + REACH < block) {
			before = i;
			break;
		}
		weight += w;
		for (uint32_t d = 0; d < x->k; d++)
			x->slow[d] += w * x->log_slow[(size_t)i * x->k + d];
	}
	for (uint32_t d = 0; d < x->k; d++)
		x->slow[d] = exp((weight > 0 ? x->slow[d] / weight
					     : x->log_slow[(size_t)before * x->k + d]) -
				 x->lasting[d]);
}

double drift_excess(struct drift *x, uint32_t arm, uint32_t block)
{
	if (x->n_bursts == 0)
		return 0;
	if (block >= x->n_blocks)
		grow_blocks(x, block + 1);
	double *known = &x->excess[(size_t)block * x->n + arm];
	if (!isnan(*known))
		return *known;
	if (isnan(x->usual_s[arm]))
		x->usual_s[arm] = x->source.predict(x->source.ctx, arm, NULL);
	find_slow(x, block);
	double s = x->usual_s[arm] > 0 ? x->source.predict(x->source.ctx, arm, x->slow) : 0;
	*known = s > 0 ? log(s / x->usual_s[arm]) : 0;
	return *known;
}

double drift_lead(const struct drift *x)
{
	double least = 0;
	for (uint32_t d = 0; d < x->k; d++)
		least = fmin(least, x->lasting[d]);
	return least;
}
