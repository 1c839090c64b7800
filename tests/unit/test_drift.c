/* test_drift.c - what is followed of devices that are made alike, and how sure that is. */
#include <math.h>

#include "base/rng.h"
#include "race/drift.h"
#include "race/drift_draws.h"
#include "race/drift_level.h"
#include "tap.h"

/* Three arms on two devices: one each alone, and one that takes as long as the slower of them. */
static double max_predict(void *ctx, uint32_t i, const double *slow, double *log_s)
{
	(void)log_s;
	(*(uint32_t *)ctx)++;
	return !slow ? 1 : i < 2 ? slow[i] : fmax(slow[0], slow[1]);
}

static void drifts(void)
{
	static const bool both[2] = {true, true}, one[2] = {true, false};
	uint32_t asked = 0;
	struct drift_source source = {&asked, max_predict, 0, NULL};
	struct drift *x = drift_new(&source, 3, 2, NULL);
	tap(drift_excess(x, 2, 0, NULL) == 0 && drift_lead(x, both).mid == 0, "nothing is known");
	/* Up and down, each sign for 20 blocks. */
	for (uint32_t b = 0; b < 80; b += 2) {
		double by = b / 20 % 2 ? 0.2 : -0.2;
		drift_add(x, b, (double[2]){by, -by});
	}
	tap(fabs(drift_excess(x, 0, 10, NULL) + 0.2) < 0.01 &&
		    fabs(drift_excess(x, 0, 31, NULL) - 0.2) < 0.01 &&
		    fabs(drift_excess(x, 1, 31, NULL) + 0.2) < 0.01,
	    "what drifts");
	tap(fabs(drift_excess(x, 2, 10, NULL) - 0.2) < 0.01 &&
		    fabs(drift_excess(x, 2, 31, NULL) - 0.2) < 0.01,
	    "what waits for the slower one");
	uint32_t before = asked;
	drift_excess(x, 2, 31, NULL);
	tap(asked == before, "is asked once");
	struct drift_lead lead = drift_lead(x, both), alone = drift_lead(x, one);
	tap(lead.mid < -0.01 && lead.mid > -0.03 && lead.sd > 0.01 && alone.mid == 0 &&
		    alone.sd == 0,
	    "for good, one of them may be faster: %.4f, give or take %.4f", lead.mid, lead.sd);
	drift_free(x);
	/* A small difference that does not vary, and a large one. */
	for (int large = 0; large < 2; large++) {
		double by = large ? 0.3 : 0.02;
		x = drift_new(&source, 3, 2, NULL);
		for (uint32_t b = 0; b < 80; b += 2)
			drift_add(x, b, (double[2]){by, -by});
		double steady = drift_lead(x, both).mid, left = drift_excess(x, 0, 40, NULL);
		tap(large ? steady > -0.1 * by && left > 0.9 * by
			  : steady < -0.8 * by && left < 0.2 * by,
		    "%s: for good %.4f, drift %.4f", large ? "much" : "little", steady, left);
		drift_free(x);
	}
}

/* What changed at once stays apart; what only varies from burst to burst is averaged. */
static void levels(void)
{
	enum { N = 20 };
	double jump[N], noisy[N], walk[N], slow = 0;
	uint32_t block[N];
	for (uint32_t i = 0; i < N; i++) {
		const struct rng_addr at = {1, i, 0, RNG_SEARCH};
		double noise = 0.01 * rng_normal(&at, 0);
		block[i] = i < 10 ? i : i + 1; /* block 10 has none */
		jump[i] = (i < 10 ? 0.3 : -0.3) + noise;
		noisy[i] = noise;
		walk[i] = 0.03 * i;
	}
	struct drift_bursts x = {N, 1, block, jump};
	struct drift_pace pace = {0.8, 0.2};
	drift_level(&x, &pace, 9, &slow);
	tap(fabs(slow - 0.3) < 0.01, "before a jump: %.4f", slow);
	drift_level(&x, &pace, 11, &slow);
	tap(fabs(slow + 0.3) < 0.01, "and behind it: %.4f", slow);
	drift_level(&x, &pace, 10, &slow);
	tap(fabs(slow) < 0.1, "nobody knows which side a block between is on: %.4f", slow);
	drift_level(&x, &pace, 100, &slow);
	tap(slow == jump[N - 1], "far behind all bursts, as in the last: %.4f", slow);
	x.log_slow = noisy;
	pace = drift_pace_of(&x);
	double before = 0, behind = 0;
	for (uint32_t i = 0; i < N; i++) {
		drift_level(&x, &pace, block[i], &slow);
		before += noisy[i] * noisy[i];
		behind += slow * slow;
	}
	tap(pace.keep > 0.3 && behind < 0.5 * before,
	    "noise, squared: %.4f, of it left %.4f; keep %.2f", before, behind, pace.keep);
	x.log_slow = walk;
	pace = drift_pace_of(&x);
	tap(pace.keep < 0.3, "what goes on: keep %.2f", pace.keep);
}

static void half_of_each(void *ctx, uint32_t i, double *share)
{
	(void)ctx;
	share[0] = i == 0 ? 1 : i == 1 ? 0 : 0.5;
	share[1] = 1 - share[0];
}

/* Arm 2 takes as long as the slower of two devices; on the first of them it computes more than it should, so
 * that the other one may be slower. */
static void lean_drifts(void)
{
	uint32_t asked = 0;
	struct drift_source source = {&asked, max_predict, 0, half_of_each};
	double excess[2];
	for (int told = 0; told < 2; told++) {
		struct drift *x = drift_new(&source, 3, 2, NULL);
		for (uint32_t b = 0; b < 80; b += 2) {
			double by = b / 20 % 2 ? 0.1 : -0.1;
			drift_add(x, b, (double[2]){by, -by});
			if (told)
				drift_busy(x, 2, b,
					   (double[2]){3 * exp(0.15 + by), 3 * exp(-0.15 - by)});
		}
		excess[0] = drift_excess(x, 2, 10, NULL);
		excess[1] = drift_excess(x, 2, 31, NULL);
		drift_free(x);
		tap(told ? fabs(excess[0] + 0.1) < 0.02 && fabs(excess[1] - 0.1) < 0.02
			 : fabs(excess[0] - 0.1) < 0.02 && fabs(excess[1] - 0.1) < 0.02,
		    "an arm that leans on a device%s: %.4f while it is fast, %.4f",
		    told ? "" : ", untold", excess[0], excess[1]);
	}
	/* What is for good is in its time, too. */
	struct drift *x = drift_new(&source, 3, 2, NULL);
	for (uint32_t b = 0; b < 80; b += 2)
		drift_add(x, b, b < 70 ? (double[2]){0.04, -0.04} : (double[2]){-0.2, 0.2});
	double lasts = 0.04 - drift_excess(x, 0, 20, NULL), over = drift_excess(x, 2, 78, NULL);
	tap(lasts > 0.01 && fabs(over - (0.2 - lasts)) < 0.01, "over what is for good, %.4f: %.4f",
	    lasts, over);
	drift_free(x);
}

enum { DRAWS = 8 };

/* As max_predict, by each draw; the last arm computes as much on each device as on the other. */
static double drawn_predict(void *ctx, uint32_t i, const double *slow, double *log_s)
{
	double sum = 0;
	(void)ctx;
	for (uint32_t draw = 0; draw < DRAWS; draw++) {
		const double *by = slow ? &slow[2 * draw] : NULL;
		double s = !by ? 1 : i < 2 ? by[i] : i == 2 ? fmax(by[0], by[1]) : 1;
		sum += log(s);
		if (log_s)
			log_s[draw] = log(s);
	}
	return exp(sum / DRAWS);
}

static void halves(void *ctx, uint32_t i, double *share)
{
	(void)ctx;
	share[0] = i == 0 ? 1 : i == 1 ? 0 : 0.5;
	share[1] = 1 - share[0];
}

/* The standard deviation of n draws around mid. */
static double sd_of(const double *draw, uint32_t n, double mid)
{
	double squares = 0;
	for (uint32_t i = 0; i < n; i++)
		squares += (draw[i] - mid) * (draw[i] - mid);
	return sqrt(squares / n);
}

static void drawn_drifts(void)
{
	static const bool ran[3] = {true, true, false};
	double apart[DRAWS * 3], worst = 0, draw[DRAWS];
	drift_draw_devices(DRAWS, 3, ran, apart);
	for (uint32_t i = 0; i < DRAWS; i++)
		worst = fmax(worst, fabs(apart[3 * i] + apart[3 * i + 1]) + fabs(apart[3 * i + 2]));
	tap(worst < 1e-12, "a draw adds up to nothing: %g", worst);
	struct drift_source source = {NULL, drawn_predict, DRAWS, halves};
	struct drift *x = drift_new(&source, 4, 2, NULL);
	for (uint32_t b = 0; b < 80; b += 2)
		drift_add(x, b, (double[2]){0.2, -0.2});
	double mid = drift_excess(x, 0, 40, draw), sd = sd_of(draw, DRAWS, mid);
	tap(fabs(mid) > 0.15 && sd > 0.02 && sd < 0.031, "one device: %.4f, give or take %.4f", mid,
	    sd);
	mid = drift_excess(x, 2, 40, draw);
	/* Over what the slower one is for good, whichever that is: a normal number without its sign. */
	sd = sd_of(draw, DRAWS, mid);
	tap(mid > 0.16 && mid < 0.19 && sd > 0.01 && sd < 0.02, "the slower one: %.4f, %.4f", mid,
	    sd);
	/* What the schedule has wrong of .2 times 2 * .15 times half a normal number. */
	mid = drift_excess(x, 3, 40, draw);
	sd = sd_of(draw, DRAWS, mid);
	tap(mid == 0 && sd > 0.01 && sd < 0.05, "what should not mind: %.4f, %.4f", mid, sd);
	drift_free(x);
}

static double whole_predict(void *ctx, uint32_t i, const double *slow, double *log_s)
{
	(void)ctx;
	(void)i;
	(void)log_s;
	return slow ? slow[2] : 1;
}

static void whole_drifts(void)
{
	static const bool has[9] = {[6] = true, [7] = true};
	struct drift_source source = {NULL, whole_predict, 0, NULL};
	struct drift *x = drift_new(&source, 1, 3, has);
	for (uint32_t b = 0; b < 80; b += 2) {
		double by = b / 20 % 2 ? 0.2 : -0.2;
		drift_add(x, b, (double[3]){by, -by, 0});
	}
	tap(fabs(drift_excess(x, 0, 10, NULL) - 0.2) < 0.01 &&
		    fabs(drift_excess(x, 0, 31, NULL) - 0.2) < 0.01,
	    "what consists of both is as slow as the slower one");
	drift_free(x);
}

int main(void)
{
	drifts();
	levels();
	lean_drifts();
	drawn_drifts();
	whole_drifts();
	return tap_end();
}
