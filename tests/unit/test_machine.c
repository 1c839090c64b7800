/* test_machine.c - lib/machine: what slows devices down is as often, as long and as strong as it is
 * specified, and depends on the seed and the time alone; specifications are read whole. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "machine/disturbance.h"
#include "tap.h"

enum { K = 2, MANY = 20000 };

static struct machine_spec spec(const char *text)
{
	struct machine_spec s;
	struct err e = ERR_INIT;
	if (machine_spec_parse(text, 1, &s, &e) < 0)
		memset(&s, 0xff, sizeof s);
	return s;
}

static void drift_is_as_specified(void)
{
	struct machine_spec s = spec("drift=0.2,drift_s=10");
	struct disturbance *x = disturbance_new(&s, K, NULL);
	double sum2 = 0, product = 0, across = 0, f[K], before[K] = {0};
	for (int i = 0; i < MANY; i++) {
		disturbance_factors(x, 10.0 * i, 0, f);
		sum2 += log(f[0]) * log(f[0]);
		product += log(f[0]) * before[0];
		across += log(f[0]) * log(f[1]);
		before[0] = log(f[0]);
	}
	double sd = sqrt(sum2 / MANY);
	tap(fabs(sd - 0.2) < 0.01, "drift: deviation %.4f", sd);
	tap(fabs(product / sum2 - exp(-1)) < 0.03, "drift: after drift_s %.3f of it is left",
	    product / sum2);
	tap(fabs(across / sum2) < 0.03, "drift: devices by themselves (%.3f)", across / sum2);
	disturbance_free(x);
}

static void bursts_are_as_specified(void)
{
	struct machine_spec s = spec("bursts=0.1,burst_s=0.5,burst_slow=3");
	struct disturbance *x = disturbance_new(&s, K, NULL);
	double sum = 0, f[K];
	int whole = 0;
	for (int i = 0; i < MANY; i++) {
		disturbance_factors(x, 0.37 * i, 1e-3, f);
		sum += f[1] - 1;
		whole += fabs(f[1] - 3) < 1e-6;
	}
	double share = sum / MANY / 2;
	tap(fabs(share - 0.05) < 0.01, "bursts: %.4f of the time", share);
	tap(whole > 0.9 * share * MANY, "bursts: most short runs are within or without");
	disturbance_factors(x, 0, 1000, f);
	tap(f[0] > 1.05 && f[0] < 1.16, "bursts: the mean over a long run is %.3f", f[0]);
	disturbance_free(x);
}

/* Devices 0 and 1 are cores, 2 is both; 3 and 4 take turns with each other alone. */
static void parts_slow_the_whole(void)
{
	enum { ALL = 5 };
	static const uint8_t turns[ALL * ALL] = {0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0,
						 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0};
	struct machine_spec s = spec("shared");
	struct disturbance *x = disturbance_new(&s, ALL, turns),
			   *y = disturbance_new(&s, ALL, NULL);
	double a[ALL], b[ALL];
	bool slowest = true, by_itself = true;
	for (int i = 0; i < 200; i++) {
		disturbance_factors(x, 0.7 * i, 0.01, a);
		disturbance_factors(y, 0.7 * i, 0.01, b);
		slowest = slowest && a[2] == fmax(a[0], a[1]);
		b[2] = a[2];
		by_itself = by_itself && memcmp(a, b, sizeof a) == 0;
	}
	tap(slowest, "a device is as slow as the slowest of those that it consists of");
	tap(by_itself, "all others are slowed by themselves");
	disturbance_free(x);
	disturbance_free(y);
}

static void time_alone_counts(void)
{
	struct machine_spec s = spec("shared"), other = spec("shared,happenings=9");
	struct disturbance *x = disturbance_new(&s, K, NULL), *y = disturbance_new(&s, K, NULL),
			   *z = disturbance_new(&other, K, NULL);
	double a[K], b[K], c[K];
	bool same = true, differs = false;
	for (int i = 50; i-- > 0;) {
		disturbance_factors(x, 3.3 * i, 0.01, a);
		disturbance_factors(y, 3.3 * (49 - i), 0.01, b);
		disturbance_factors(y, 3.3 * i, 0.01, b);
		disturbance_factors(z, 3.3 * i, 0.01, c);
		same = same && memcmp(a, b, sizeof a) == 0;
		differs = differs || a[0] != c[0];
	}
	tap(same, "what happens depends on the time, not on what was asked before");
	tap(differs, "and on its seed");
	disturbance_free(x);
	disturbance_free(y);
	disturbance_free(z);
}

static void specifications(void)
{
	struct machine_spec s = spec("shared,noise=0.5,seed=7"), d = spec("exact");
	struct err e = ERR_INIT;
	tap(s.noise == 0.5 && s.seed == 7 && s.drift == 0.2 && s.kind_error == 0.1,
	    "presets are made of presets, what comes later wins");
	tap(d.noise == 0 && d.kind_error == 0 && d.longer == 0 && d.seed == 1, "exact is exact");
	const char *bad[] = {"", "sharde", "noise=x", "noise=-1", "nois=1", "noise", "/dev/null/x"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tap(machine_spec_parse(bad[i], 1, &s, &e) < 0 && e.code == ST_USAGE,
		    "'%s' is refused: %s", bad[i], e.msg);
		err_clear(&e);
	}
	for (const struct machine_preset *p = machine_presets; p->name; p++)
		if (!tap(machine_spec_parse(p->name, 1, &s, &e) == 0, "preset %s", p->name))
			err_clear(&e);
}

int main(void)
{
	drift_is_as_specified();
	bursts_are_as_specified();
	parts_slow_the_whole();
	time_alone_counts();
	specifications();
	return tap_end();
}
