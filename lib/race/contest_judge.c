/* contest_judge.c - after a race: what each contestant took, which single device is the reference, and what may be claimed. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "race/contest_impl.h"

static const double QUANTILE = 1.96;   /* of a normal, for 95 % */
static const double MOST_MORE_S = 1e5; /* a race that nobody runs */

struct judged {
	const struct racers *r;
	const struct race *race;
	const struct race_result *out;
	double singles_off; /* singles_off(), from when there is a base */
};

static bool is_single(const struct racers *r, uint32_t arm)
{
	return r->who[arm] < r->x->k;
}

static bool is_pool(const struct racers *r, uint32_t arm)
{
	return arm == 0 && r->pooled;
}

/* ---- ratios ---- */

/* A ratio to the pool's mean as one to the best of it, wider by what is not known of how much better that is. */
static struct interval beside_best(const struct racers *r, struct interval x)
{
	bool *like = MEM_NEWN(bool, r->x->k);
	for (uint32_t i = 0; i < r->x->k; i++)
		like[i] = in_pool(r, i);
	struct drift_lead lead = r->drift ? drift_lead(r->drift, like) : (struct drift_lead){0, 0};
	mem_free(like);
	return interval_clip(
		interval_wider(interval_scaled(x, exp(-lead.mid)), QUANTILE * lead.sd));
}

/* The fastest of a pool's devices, by all that they ran, or the contestant that an arm is. */
static uint32_t contestant_of(const struct racers *r, uint32_t arm)
{
	uint32_t best = r->who[arm];
	for (uint32_t i = 0; i < r->x->k && is_pool(r, arm); i++) {
		const struct measurement *m = &r->x->c[i].m, *least = &r->x->c[best].m;
		if (in_pool(r, i) && m->n > 0 && (least->n == 0 || m->lat.mid < least->lat.mid))
			best = i;
	}
	return best;
}

/* Arm i's time over arm j's by two readings: corrected for how fast devices were meanwhile, which is a supposition, and the
 * same interval around what was seen. */
struct readings {
	struct interval corrected, seen;
};

static bool read_ratio(const struct judged *x, uint32_t i, uint32_t j, struct readings *out)
{
	const struct racers *r = x->r;
	double seen;
	bool both = is_single(r, i) && is_single(r, j);
	if (!(both ? race_between : race_claim)(x->race, i, j, &out->corrected))
		return false;
	if (is_pool(r, j) && i != j)
		out->corrected = beside_best(r, out->corrected);
	out->seen = out->corrected;
	if (i != j && r->drift &&
	    as_ran_ratio(&r->ran, contestant_of(r, i), contestant_of(r, j), &seen))
		out->seen = interval_scaled(out->corrected, exp(seen) / out->corrected.mid);
	return true;
}

/* What is told: the corrected ratio, and an interval that holds both readings. */
static bool claim(const struct judged *x, uint32_t i, uint32_t j, struct interval *out)
{
	struct readings y;
	if (!read_ratio(x, i, j, &y))
		return false;
	*out = interval_clip((struct interval){y.corrected.mid, fmin(y.corrected.lo, y.seen.lo),
					       fmax(y.corrected.hi, y.seen.hi)});
	return true;
}

static struct interval inverse(struct interval x)
{
	return (struct interval){1 / x.mid, isfinite(x.hi) ? 1 / x.hi : 0,
				 x.lo > 0 ? 1 / x.lo : INFINITY};
}

/* ---- what a race does not see ---- */

/* A device may be slow, or fast, for longer than a race; the race then says for sure what is not so at another time.  How restless the
 * machine was, and what was predicted, tell when to doubt: figures of machines that are played (docs/results/regret.md). */
static const double PER_NOISE = 2, PER_DRIFT = 0.5,
		    PER_SINGLE = 0.5;   /* what is not seen over what is: standard deviations */
static const double PREDICTED_SD = 0.3; /* of the logarithm of a ratio, around what was predicted */
static const double DOUBT = 2;          /* standard deviations of what is believed */
/* A ratio that is that much better than predicted is believed of a race of so many seconds, and more of a longer one. */
static const double SURPRISE = 0.3, SEEN_S = 6;

/* The logarithm of the predicted ratio of arm i to arm j; false: nobody predicts. */
static bool predicted_ratio(const struct racers *r, uint32_t i, uint32_t j, double *log_ratio)
{
	const struct contest *x = r->x;
	if (!x->predict)
		return false;
	double a = x->predict(x->ctx, contestant_of(r, i), NULL, NULL);
	double b = x->predict(x->ctx, contestant_of(r, j), NULL, NULL);
	*log_ratio = a > 0 && b > 0 ? log(a / b) : 0;
	return a > 0 && b > 0;
}

/* Seconds of a race that would tell whether something is that much better than predicted. */
static double surprise_seconds(double by)
{
	return by > SURPRISE ? SEEN_S * sqrt(by / SURPRISE - 1) : 0;
}

/* By how much single devices are off from what was predicted, beside each other: the largest difference of logarithms.  Bursts may agree
 * with each other, and a device be slow in all of them. */
static double singles_off(const struct judged *x)
{
	const struct racers *r = x->r;
	double most = 0, predicted;
	for (uint32_t i = 0; i < r->n && is_single(r, i); i++) {
		struct interval ratio;
		if (i != r->base && !r->x->c[r->who[i]].failed && claim(x, i, r->base, &ratio) &&
		    predicted_ratio(r, i, r->base, &predicted))
			most = fmax(most, fabs(log(ratio.mid) - predicted));
	}
	return most;
}

/* Why a logarithm of a ratio below 0, as measured, is not believed, where `predicted` was; CONTEST_WHY_UNTOLD: it is.  Both say the
 * same of each other's errors as of normal ones. */
static enum contest_why why_doubted(const struct judged *x, double measured, double predicted)
{
	double race_s = x->r->x->race.seconds;
	double seen = hypot(PER_NOISE * x->out->noise, PER_DRIFT * x->out->drift);
	double unseen = hypot(seen, PER_SINGLE * x->singles_off) * sqrt(fmin(1, SEEN_S / race_s));
	double of_predicted = PREDICTED_SD * PREDICTED_SD, of_unseen = unseen * unseen;
	double mean =
		(measured * of_predicted + predicted * of_unseen) / (of_predicted + of_unseen);
	double sd = sqrt(of_predicted * of_unseen / (of_predicted + of_unseen));
	if (!(mean + DOUBT * sd < 0))
		return CONTEST_WHY_RESTLESS;
	return race_s >= surprise_seconds(predicted - measured) ? CONTEST_WHY_UNTOLD
								: CONTEST_WHY_SURPRISE;
}

/* Why arm i is not surely faster than arm j, both of which ran often enough, by both readings; CONTEST_WHY_UNTOLD: it is. */
static enum contest_why why_not_faster(const struct judged *x, uint32_t i, uint32_t j)
{
	struct readings y;
	double predicted;
	if (race_arm(x->race, i)->n_clean < RACE_LEAST ||
	    race_arm(x->race, j)->n_clean < RACE_LEAST || !read_ratio(x, i, j, &y))
		return CONTEST_WHY_FEW;
	if (!contest_below(&y.corrected, 1) || !contest_below(&y.seen, 1))
		return CONTEST_WHY_INTERVAL;
	double measured = log(y.corrected.mid);
	/* What a search found is what predictions flatter: they do not help it. */
	bool any = predicted_ratio(x->r, i, j, &predicted);
	return why_doubted(x, measured, any ? fmax(measured, predicted) : measured);
}

/* Why arm i may be faster than arm j by more than a hundredth; CONTEST_WHY_UNTOLD: surely it is not. */
static enum contest_why why_faster(const struct judged *x, uint32_t i, uint32_t j)
{
	struct readings y;
	double predicted;
	if (race_arm(x->race, i)->n_clean < RACE_LEAST || !read_ratio(x, i, j, &y))
		return CONTEST_WHY_FEW;
	struct interval corrected = inverse(y.corrected), seen = inverse(y.seen);
	double measured = log(corrected.mid);
	bool any = predicted_ratio(x->r, i, j, &predicted);
	if (measured > 0 || !contest_below(&corrected, contest_alike) ||
	    !contest_below(&seen, contest_alike))
		return CONTEST_WHY_INTERVAL;
	return why_doubted(x, measured - log(contest_alike),
			   any ? -predicted - log(contest_alike) : measured);
}

/* The fastest arm that is a single device, by what each took: which one is the fastest was found in a few runs before the race,
 * or predicted.  Each ran in blocks of its own, so that of three each may look faster than the next: there is an end to it. */
static uint32_t find_base(const struct judged *x)
{
	const struct racers *r = x->r;
	uint32_t best = 0, beaten = r->pooled ? 1 : 0;
	for (uint32_t pass = 0; pass < r->n && beaten; pass++) {
		beaten = 0;
		for (uint32_t i = 0; i < r->n && is_single(r, i); i++) {
			struct interval ratio;
			if (i == best || r->x->c[r->who[i]].failed || !claim(x, i, best, &ratio) ||
			    ratio.mid >= 1)
				continue;
			best = i;
			beaten++;
		}
	}
	return best;
}

/* ---- what each took ---- */

static void store_samples(struct contest *x, const struct as_ran *ran, struct arena *a)
{
	for (uint32_t i = 0; i < x->n; i++) {
		struct measurement *m = &x->c[i].m;
		double *own = ARENA_NEWN(a, double, (size_t)m->n + 1);
		if (m->n)
			memcpy(own, m->sample_s, m->n * sizeof *own);
		mem_free(m->sample_s);
		m->sample_s = own;
		if (m->n)
			m->lat = interval_clip(interval_median(own, m->n));
		x->c[i].bursts = as_ran_of(ran, i, a);
	}
}

/* How often each ran. */
static void store_turns(struct racers *r, const struct race *race)
{
	struct contest *x = r->x;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct race_arm *arm = race_arm(race, i);
		x->c[r->who[i]].turns = (struct contest_turns){arm->n_bursts, arm->n_clean,
							       arm->start, arm->state == RACE_OUT};
	}
	for (uint32_t i = 0; i < x->k && r->pooled; i++)
		if (in_pool(r, i))
			x->c[i].turns = x->c[r->who[0]].turns;
}

/* Does single device i stand for the reference? */
static bool is_base(const struct racers *r, uint32_t i)
{
	return r->base ? i == r->who[r->base] : in_pool(r, i);
}

/* What the reference takes: the mean of those that are alike; 0: there is none. */
static double reference_seconds(const struct racers *r)
{
	double sum = 0, n = 0;
	for (uint32_t i = 0; i < r->x->k && r->pooled; i++)
		if (r->x->c[i].m.n && is_base(r, i)) {
			sum += log(r->x->c[i].m.lat.mid);
			n++;
		}
	return n > 0 ? exp(sum / n) : 0;
}

static void store_ratios(struct judged *j, struct racers *r)
{
	struct contest *x = r->x;
	double ref_s = reference_seconds(r);
	for (uint32_t i = 0; i < x->n && ref_s > 0; i++)
		x->c[i].ref_s = x->c[i].m.n ? ref_s : 0;
	for (uint32_t i = 0; i < r->n && x->reference >= 0; i++) {
		struct contestant *c = &x->c[r->who[i]];
		c->has_ratio = !c->failed && c->m.n > 0 && claim(j, i, r->base, &c->ratio);
	}
	for (uint32_t i = 0; i < x->k && x->reference >= 0; i++) {
		const struct contestant *first = &x->c[r->who[0]];
		if (is_base(r, i)) {
			x->c[i].has_ratio = true;
			x->c[i].ratio = (struct interval){1, 1, 1};
		} else if (in_pool(r, i)) {
			x->c[i].has_ratio = first->has_ratio;
			x->c[i].ratio = first->ratio;
		}
	}
}

/* Each ran in blocks of its own: the latency becomes what it takes while the reference takes ref_s.  The runs of one burst say
 * nothing of what another one would be like: of these there is no interval. */
static void align_latency(struct contestant *c)
{
	const struct interval r = c->ratio;
	if (c->m.n > 0 && c->turns.n_bursts < 2)
		c->m.lat = interval_clip((struct interval){c->m.lat.mid, 0, INFINITY});
	if (!c->has_ratio || c->m.n == 0 || !(c->ref_s > 0))
		return;
	/* What is like the reference has a ratio without an interval: its time has one. */
	c->m.lat = interval_clip(
		r.lo < r.hi ? interval_scaled(r, c->ref_s)
			    : interval_scaled(c->m.lat, r.mid * c->ref_s / c->m.lat.mid));
}

/* ---- the verdict ---- */

/* Why an arm is not surely faster than every single device, each of which has run; CONTEST_WHY_UNTOLD: it is. */
static enum contest_why why_no_gain(const struct judged *x, uint32_t arm)
{
	const struct racers *r = x->r;
	if (r->x->reference < 0)
		return CONTEST_WHY_UNTOLD;
	enum contest_why why = r->x->c[r->who[r->base]].failed ? CONTEST_WHY_UNTOLD
							       : why_not_faster(x, arm, r->base);
	if (why)
		return why;
	for (uint32_t d = 0; d < r->x->k; d++)
		if (r->x->c[d].takes_part && !r->x->c[d].failed && r->x->c[d].m.n == 0)
			return CONTEST_WHY_SELDOM;
	for (uint32_t i = 0; i < r->n && is_single(r, i); i++)
		if (!r->x->c[r->who[i]].failed && why_not_faster(x, arm, i))
			return CONTEST_WHY_SELDOM;
	return CONTEST_WHY_UNTOLD;
}

/* Seconds more that would tell a ratio from a limit: intervals become narrower as the root of time. */
static double more_seconds(const struct judged *x, uint32_t arm, const struct interval *ratio,
			   double limit)
{
	double ran_s = x->r->x->race.seconds, n = race_arm(x->race, arm)->n_bursts;
	double apart = fabs(log(ratio->mid / limit));
	double wide = ratio->lo > 0 ? contest_margin(ratio) / apart : 0;
	double times = fmax(wide * wide, RACE_ENOUGH / fmax(n, 1)), predicted;
	double more = (times - 1) * ran_s;
	if (predicted_ratio(x->r, arm, x->r->base, &predicted)) {
		double by = fabs(predicted - log(ratio->mid));
		more = fmax(more, surprise_seconds(by) - ran_s);
	}
	more = fmax(more, ran_s); /* it did not tell */
	return more > 0 && more < MOST_MORE_S ? more : 0;
}

/* None but the reference has won: is it surely the fastest of all that ran? */
static struct contest_verdict judge_reference(const struct judged *x)
{
	const struct racers *r = x->r;
	struct contest_verdict v = {.says = CONTEST_SINGLE, .rival = -1};
	double least = INFINITY;
	uint32_t n = 0;
	for (uint32_t d = 0; d < r->x->k; d++)
		if (r->x->c[d].takes_part && !r->x->c[d].failed && r->x->c[d].m.n == 0)
			v.says = CONTEST_UNDECIDED;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct contestant *c = &r->x->c[r->who[i]];
		/* What ran too seldom to be compared may be the fastest. */
		if (i != r->base && !c->has_ratio && !c->failed && c->m.n > 0)
			v.says = CONTEST_UNDECIDED;
		if (i == r->base || !c->has_ratio)
			continue;
		n++;
		/* By what it may be faster, where that is known. */
		double may = c->ratio.mid < 1 || !(c->ratio.lo > 0) ? c->ratio.mid : c->ratio.lo;
		enum contest_why why = why_faster(x, i, r->base);
		if (!why)
			continue;
		v.says = CONTEST_UNDECIDED;
		if ((v.rival >= 0 && v.ratio.mid < 1 && c->ratio.mid >= 1) ||
		    (may >= least && !(v.rival >= 0 && v.ratio.mid >= 1 && c->ratio.mid < 1)))
			continue;
		least = may;
		v.rival = (int)r->who[i];
		v.ratio = c->ratio;
		v.more_s = more_seconds(x, i, &c->ratio, c->ratio.mid < 1 ? 1 : 1 / contest_alike);
		v.why = c->ratio.mid < 1 ? why_no_gain(x, i) : why;
		v.why = v.why ? v.why : CONTEST_WHY_ANOTHER;
	}
	/* Where nothing else ran but could have, it is the fastest of nothing. */
	for (uint32_t i = 0; i < r->x->n && n == 0; i++)
		if (r->x->c[i].takes_part && !r->x->c[i].failed && r->x->c[i].m.n == 0)
			v.says = CONTEST_UNDECIDED;
	return v;
}

void contest_judge(struct racers *r, const struct race *race, const struct race_result *out,
		   struct arena *a)
{
	struct contest *x = r->x;
	struct judged j = {r, race, out, 0};
	store_samples(x, &r->ran, a);
	store_turns(r, race);
	r->base = find_base(&j);
	j.singles_off = singles_off(&j);
	uint32_t reference = r->pooled ? contestant_of(r, r->base) : 0;
	x->reference = r->pooled && x->c[reference].m.n > 0 ? (int)reference : -1;
	store_ratios(&j, r);
	for (uint32_t i = 0; i < x->n; i++)
		align_latency(&x->c[i]);
	x->race.n_blocks = out->n_blocks;
	x->race.n_disturbed = out->n_disturbed;
	x->race.noise = out->noise;
	x->race.drift = out->drift;
	x->race.settled = out->settled;
	if (out->winner < 0)
		return;
	if (!is_single(r, (uint32_t)out->winner) && !why_no_gain(&j, (uint32_t)out->winner)) {
		x->winner = (int)r->who[out->winner];
		x->verdict.says = x->reference < 0 ? CONTEST_UNTOLD : CONTEST_GAIN;
		return;
	}
	x->verdict = judge_reference(&j);
}
