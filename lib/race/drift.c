/* drift.c - speeds of devices by block, and predictions for them. */
#include "race/drift.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "race/drift_draws.h"
#include "race/drift_lean.h"
#include "race/drift_level.h"
#include "stats/quantile.h"

/* Devices that are made alike differ by so much for good: a standard deviation. */
static const double LASTING = 0.03;
static const double FAR = 2; /* such deviations from that are not for good */
/* What the mean of a race is off by, over what varies in it, as variances: drift may outlast it. */
static const double OUTLASTS = 8;
/* Drift that hardly varied in a race may be of the size of the difference that was seen: so much of its square. */
static const double UNVARIED = 0.4;
/* Before there are bursts, devices are supposed to vary by so much, as so many bursts would say. */
static const double FIRST_SPREAD = 0.01;
enum { FIRST_BURSTS = 4 };
/* Of a device's slowdown an arm feels so much more or less than its schedule says: a standard deviation
 * (docs/results/regret.md). */
static const double WRONG_SHARE = 0.15;
static const double NEWS = 0.002;    /* what devices are counts as new when it changes by so much */
static const double NEWS_PACE = 0.1; /* the same for how fast they change */
static const double MEDIAN_TO_SIGMA = 1.4826, OUTLIER = 2.5;
enum { LEAD_DRAWS = 200 }; /* of lasting differences */

struct drift {
	struct drift_source source;
	uint32_t n, k;
	const bool *has;    /* (k,k), or NULL */
	double *usual_s;    /* (n) as predicted; NAN: not asked yet */
	double *usual_log;  /* (n,draws) */
	double *now_log;    /* (draws) room */
	double *wrong;      /* (n,draws,k) of unit variance: drift_draw_arm */
	double *slow;       /* (draws or 1,k) room */
	double *lasting;    /* (k) of what was added, what is so for good */
	double *lasting_sd; /* (k) how sure that is */
	bool *ran;          /* (k) in the first burst */
	double *apart;      /* (draws or 1,k) of unit variance: drift_draw_devices */
	/* Bursts. */
	uint32_t n_bursts, *block;
	double *log_slow; /* (n_bursts,k) */
	size_t cap_block, cap_slow;
	struct drift_pace pace;
	struct leans *leans;
	/* Blocks. */
	uint32_t n_blocks;
	double *slow_then; /* (n_blocks,k) logarithms that excess was computed with */
	bool *news;        /* (n_blocks) they may be others now */
	double *excess;    /* (n_blocks,n,1 + draws) the mean and by draw; NAN: not computed */
	size_t cap_then, cap_news, cap_excess;
};

/* Rows of what a prediction is asked for: a draw each, or one. */
static uint32_t rows_of(const struct drift *x)
{
	return x->source.n_draws ? x->source.n_draws : 1;
}

struct drift *drift_new(const struct drift_source *source, uint32_t n, uint32_t k, const bool *has)
{
	struct drift *x = MEM_NEW(struct drift);
	*x = (struct drift){.source = *source, .n = n, .k = k, .has = has};
	x->usual_s = MEM_NEWN(double, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		x->usual_s[i] = NAN;
	x->usual_log = MEM_NEWN(double, (size_t)n * source->n_draws + 1);
	x->now_log = MEM_NEWN(double, (size_t)source->n_draws + 1);
	x->wrong = MEM_NEWN(double, (size_t)n * source->n_draws * k + 1);
	x->slow = MEM_NEWN(double, (size_t)rows_of(x) * k + 1);
	x->lasting = MEM_NEWN(double, (size_t)k + 1);
	x->lasting_sd = MEM_NEWN(double, (size_t)k + 1);
	x->ran = MEM_NEWN(bool, (size_t)k + 1);
	x->apart = MEM_NEWN(double, (size_t)rows_of(x) * k + 1);
	x->leans = leans_new(n, k);
	return x;
}

void drift_free(struct drift *x)
{
	if (!x)
		return;
	mem_free(x->usual_s);
	mem_free(x->usual_log);
	mem_free(x->now_log);
	mem_free(x->wrong);
	mem_free(x->slow);
	mem_free(x->lasting);
	mem_free(x->lasting_sd);
	mem_free(x->ran);
	mem_free(x->apart);
	mem_free(x->slow_then);
	mem_free(x->news);
	mem_free(x->block);
	mem_free(x->log_slow);
	mem_free(x->excess);
	leans_free(x->leans);
	mem_free(x);
}

static double *excess_of(struct drift *x, uint32_t block, uint32_t arm)
{
	return &x->excess[((size_t)block * x->n + arm) * (1 + x->source.n_draws)];
}

static void forget(struct drift *x, uint32_t block)
{
	for (uint32_t i = 0; i < x->n; i++)
		*excess_of(x, block, i) = NAN;
}

static void grow_blocks(struct drift *x, uint32_t to)
{
	size_t own = (size_t)x->n * (1 + x->source.n_draws);
	x->excess = mem_grow(x->excess, &x->cap_excess, to * own + 1, sizeof *x->excess);
	x->slow_then =
		mem_grow(x->slow_then, &x->cap_then, (size_t)to * x->k + 1, sizeof *x->slow_then);
	x->news = mem_grow(x->news, &x->cap_news, to, sizeof *x->news);
	for (; x->n_blocks < to; x->n_blocks++) {
		forget(x, x->n_blocks);
		x->news[x->n_blocks] = true;
		for (uint32_t d = 0; d < x->k; d++)
			x->slow_then[(size_t)x->n_blocks * x->k + d] = NAN;
	}
}

static void expect_news(struct drift *x, uint32_t from)
{
	for (uint32_t i = from; i < x->n_blocks; i++)
		x->news[i] = true;
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
	double *room = MEM_NEWN(double, x->n_bursts);
	bool changes = false;
	for (uint32_t d = 0; d < x->k; d++) {
		double var, mid = middle_of(x, d, room, &var);
		double own = LASTING * LASTING,
		       drifts = fmax(fmax(OUTLASTS * var, UNVARIED * mid * mid),
				     mid * mid - FAR * FAR * own);
		double now = mid * own / (own + drifts);
		double sd = sqrt(own * drifts / (own + drifts));
		if (fabs(now - x->lasting[d]) <= NEWS && fabs(sd - x->lasting_sd[d]) <= NEWS)
			continue;
		x->lasting[d] = now;
		x->lasting_sd[d] = sd;
		changes = true;
	}
	mem_free(room);
	for (uint32_t i = 0; i < x->n_blocks && changes; i++)
		forget(x, i);
	for (uint32_t i = 0; i < x->n && changes; i++)
		x->usual_s[i] = NAN;
}

static void find_pace(struct drift *x)
{
	struct drift_pace now =
		drift_pace_of(&(struct drift_bursts){x->n_bursts, x->k, x->block, x->log_slow});
	if (fabs(now.keep - x->pace.keep) < NEWS_PACE &&
	    fabs(now.jump - x->pace.jump) < NEWS_PACE * x->pace.jump)
		return;
	x->pace = now;
	expect_news(x, 0);
}

void drift_add(struct drift *x, uint32_t block, const double *log_slow)
{
	size_t at = (size_t)x->n_bursts * x->k;
	x->block = mem_grow(x->block, &x->cap_block, x->n_bursts + 1, sizeof *x->block);
	x->log_slow = mem_grow(x->log_slow, &x->cap_slow, at + x->k, sizeof *x->log_slow);
	x->block[x->n_bursts++] = block;
	memcpy(&x->log_slow[at], log_slow, x->k * sizeof *log_slow);
	if (x->n_bursts == 1) {
		for (uint32_t d = 0; d < x->k; d++)
			x->ran[d] = log_slow[d] != 0;
		drift_draw_devices(x->source.n_draws, x->k, x->ran, x->apart);
	}
	if (block >= x->n_blocks)
		grow_blocks(x, block + 1);
	expect_news(x, block > DRIFT_REACH ? block - DRIFT_REACH : 0);
	find_pace(x);
	find_lasting(x);
}

/* What is known of a block's devices is up to date; what was computed before is forgotten when it
 * was for others. */
static void update_block(struct drift *x, uint32_t block)
{
	double *then = &x->slow_then[(size_t)block * x->k];
	bool changes = false;
	if (!x->news[block])
		return;
	x->news[block] = false;
	drift_level(&(struct drift_bursts){x->n_bursts, x->k, x->block, x->log_slow}, &x->pace,
		    block, x->slow);
	for (uint32_t d = 0; d < x->k; d++)
		changes = changes || !(fabs(x->slow[d] - then[d]) <= NEWS);
	if (!changes)
		return;
	memcpy(then, x->slow, x->k * sizeof *then);
	forget(x, block);
}

/* What lasts of a difference of device d, by a draw. */
static double lasts(const struct drift *x, uint32_t draw, uint32_t d)
{
	return x->lasting[d] + x->lasting_sd[d] * x->apart[(size_t)draw * x->k + d];
}

/* How slow devices are for an arm that are as slow as then (k; NULL: as for good), into slow (rows,k).  What consists of
 * others takes what it takes for good, and longer by as much as the part that is the furthest from that. */
static void draw_slow(struct drift *x, uint32_t arm, const double *then)
{
	const double *lean = leans_of(x->leans, arm);
	for (uint32_t i = 0; i < rows_of(x); i++) {
		double *slow = &x->slow[(size_t)i * x->k];
		for (uint32_t d = 0; d < x->k; d++)
			slow[d] = then ? then[d] : lasts(x, i, d);
		for (uint32_t d = 0; d < x->k && x->has; d++) {
			double most = -INFINITY;
			for (uint32_t p = 0; p < x->k; p++)
				if (x->has[(size_t)d * x->k + p])
					most = fmax(most, slow[p] - lasts(x, i, p));
			slow[d] = isinf(most) ? slow[d] : most;
		}
		for (uint32_t d = 0; d < x->k; d++)
			slow[d] += lean[d];
	}
}

static double predict(struct drift *x, uint32_t arm, const double *then, double *log_s)
{
	draw_slow(x, arm, then);
	for (size_t i = 0; i < (size_t)rows_of(x) * x->k; i++)
		x->slow[i] = exp(x->slow[i]);
	return x->source.predict(x->source.ctx, arm, x->slow, log_s);
}

/* What an arm takes with devices as for good; and once, where that may be wrong. */
static void ask_usual(struct drift *x, uint32_t arm)
{
	const struct drift_source *s = &x->source;
	double *share = x->slow; /* room */
	x->usual_s[arm] = predict(x, arm, NULL, &x->usual_log[(size_t)arm * s->n_draws]);
	if (!s->share)
		return;
	s->share(s->ctx, arm, share);
	drift_draw_arm(arm, s->n_draws, x->k, share, &x->wrong[(size_t)arm * s->n_draws * x->k]);
}

/* What the schedule of an arm has wrong, by a draw, with devices as then (k). */
static double schedule_error(const struct drift *x, uint32_t arm, uint32_t draw, const double *then)
{
	const double *wrong = &x->wrong[((size_t)arm * x->source.n_draws + draw) * x->k];
	double sum = 0;
	for (uint32_t d = 0; d < x->k; d++)
		sum += wrong[d] * (then[d] - lasts(x, draw, d));
	return WRONG_SHARE * sum;
}

/* The excess of an arm while devices are as they were then (k), into out (1 + draws). */
static void predict_excess(struct drift *x, uint32_t arm, const double *then, double *out)
{
	const struct drift_source *s = &x->source;
	const double *usual = &x->usual_log[(size_t)arm * s->n_draws];
	for (uint32_t i = 0; i <= s->n_draws; i++)
		out[i] = 0;
	if (isnan(x->usual_s[arm]))
		ask_usual(x, arm);
	if (!(x->usual_s[arm] > 0))
		return;
	double now_s = predict(x, arm, then, x->now_log);
	if (!(now_s > 0))
		return;
	out[0] = log(now_s / x->usual_s[arm]);
	for (uint32_t i = 0; i < s->n_draws; i++)
		out[1 + i] = schedule_error(x, arm, i, then) + x->now_log[i] - usual[i];
}

void drift_busy(struct drift *x, uint32_t arm, uint32_t block, const double *busy_s)
{
	leans_add(x->leans, arm, block, busy_s);
}

static const double *level_of(void *ctx, uint32_t block)
{
	struct drift *x = ctx;
	if (block >= x->n_blocks)
		grow_blocks(x, block + 1);
	update_block(x, block);
	return &x->slow_then[(size_t)block * x->k];
}

/* The lean of an arm, where there are bursts of it that say more. */
static void find_lean(struct drift *x, uint32_t arm)
{
	if (!x->source.share || !leans_due(x->leans, arm))
		return;
	double *share = MEM_NEWN(double, (size_t)x->k + 1);
	x->source.share(x->source.ctx, arm, share);
	for (uint32_t d = 0; d < x->k; d++)
		share[d] = x->ran[d] ? share[d] : 0;
	if (leans_find(x->leans, arm, share, level_of, x)) {
		x->usual_s[arm] = NAN;
		for (uint32_t i = 0; i < x->n_blocks; i++)
			*excess_of(x, i, arm) = NAN;
	}
	mem_free(share);
}

double drift_excess(struct drift *x, uint32_t arm, uint32_t block, double *draw)
{
	uint32_t n_draws = x->source.n_draws;
	if (x->n_bursts > 0) {
		level_of(x, block);
		find_lean(x, arm);
	}
	double *known = x->n_bursts > 0 ? excess_of(x, block, arm) : NULL;
	if (known && isnan(*known))
		predict_excess(x, arm, &x->slow_then[(size_t)block * x->k], known);
	for (uint32_t i = 0; i < n_draws && draw; i++)
		draw[i] = known ? known[1 + i] : 0;
	return known ? *known : 0;
}

/* Lasting differences are drawn from what is known of them; those of k devices add up to nothing. */
struct drift_lead drift_lead(const struct drift *x, const bool *device)
{
	double sum = 0, squares = 0;
	uint32_t n = 0;
	for (uint32_t d = 0; d < x->k; d++)
		n += device[d];
	if (n < 2)
		return (struct drift_lead){0, 0};
	for (uint32_t i = 0; i < LEAD_DRAWS; i++) {
		const struct rng_addr at = {1, i, 0, RNG_SEARCH};
		double least = INFINITY, mean = 0;
		for (uint32_t turn = 0; turn < 2; turn++)
			for (uint32_t d = 0; d < x->k; d++) {
				double z = rng_normal(&at, d);
				if (!device[d])
					continue;
				if (turn == 0)
					mean += z / n;
				else
					least = fmin(least,
						     x->lasting[d] + x->lasting_sd[d] * (z - mean) /
									     sqrt(1 - 1.0 / n));
			}
		sum += least;
		squares += least * least;
	}
	double mid = sum / LEAD_DRAWS;
	return (struct drift_lead){fmin(mid, 0), sqrt(fmax(0, squares / LEAD_DRAWS - mid * mid))};
}
