/* test_beside.c - race/beside: a placement in bursts between bursts of the reference, on runnables whose times are written
 * down: what the machine does to both is not in their ratio. */
#include <math.h>
#include <string.h>

#include "race/beside.h"
#include "tap.h"

enum { K = 3 };

/* A machine: everything takes (1 + drift x seconds gone by) times as long, and lost times as long in [lost_from, lost_to); the
 * first run behind another runnable takes `cold` times as long. */
static struct {
	double now, drift, lost, lost_from, lost_to, cold;
	const void *last;
} machine;

static void machine_is(double drift, double lost, double from, double to, double cold)
{
	machine.now = 0;
	machine.drift = drift;
	machine.lost = lost;
	machine.lost_from = from;
	machine.lost_to = to;
	machine.cold = cold;
	machine.last = NULL;
}

struct fake {
	double s;
	int fail_at, end_at, n;
};

static enum run_status run(void *arg, struct run_sample *out, struct err *e)
{
	struct fake *f = arg;
	f->n++;
	if (f->n == f->end_at)
		return err_set(e, ST_RUNTIME, "the reader has gone"), RUN_END;
	if (f->n == f->fail_at)
		return err_set(e, ST_RUNTIME, "broke in run %d", f->n), RUN_FAILED;
	out->lat_s = f->s * (1 + machine.drift * machine.now);
	if (machine.now >= machine.lost_from && machine.now < machine.lost_to)
		out->lat_s *= machine.lost;
	if (machine.last != f)
		out->lat_s *= machine.cold;
	machine.last = f;
	machine.now += out->lat_s;
	return RUN_OK;
}

static double now_s(void *arg)
{
	(void)arg;
	return machine.now;
}

static struct runnable of(struct fake *f)
{
	return (struct runnable){f, run, now_s};
}

/* Leans on device 1 alone. */
static double predict_slow(void *ctx, const double *slow)
{
	(void)ctx;
	return slow ? slow[1] : 1;
}

/* On device 2 alone. */
static double predict_whole(void *ctx, const double *slow)
{
	(void)ctx;
	return slow ? slow[2] : 1;
}

static struct beside beside_of(struct fake *f, uint32_t n)
{
	struct beside x = {.k = K, .n = n};
	for (uint32_t i = 0; i < n; i++)
		x.single[i] = (struct beside_single){i, of(&f[i])};
	return x;
}

static bool near(double x, double y, double by)
{
	return fabs(x / y - 1) < by;
}

static void ratios(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct measure_options o = MEASURE_DEFAULT;
	struct beside_result r;
	struct fake one = {.s = 0.010}, p = {.s = 0.008};
	struct beside_run what = {.run = of(&p)};
	o.min_runs = o.max_runs = 30;
	o.max_s = 100;

	machine_is(0, 1, 0, 0, 1);
	struct beside x = beside_of(&one, 1);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK && near(r.m.lat.mid, 0.008, 1e-9) &&
		    near(r.ref_s, 0.010, 1e-9) && r.m.n == 30,
	    "a machine at rest: what they take");
	/* Eleven bursts of 2 between and around ten of 3, each behind one that is not counted; the placement's first
	 * follows the warm-up instead. */
	tap(one.n == 33 && p.n == 40, "bursts in turn (%d and %d runs)", one.n, p.n);

	machine_is(0.5, 1, 0, 0, 1);
	x = beside_of(&one, 1);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK &&
		    near(r.m.lat.mid / r.ref_s, 0.8, 0.01) &&
		    r.m.sample_s[29] > 1.2 * r.m.sample_s[0],
	    "drift is not in the ratio (%.4f)", r.m.lat.mid / r.ref_s);

	machine_is(0, 3, 0.10, 0.20, 1);
	x = beside_of(&one, 1);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK &&
		    near(r.m.lat.mid / r.ref_s, 0.8, 0.001 + 1e-9),
	    "a core that was lost for a while is not (%.4f)", r.m.lat.mid / r.ref_s);

	machine_is(0, 1, 0, 0, 2);
	x = beside_of(&one, 1);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK &&
		    near(r.m.lat.mid / r.ref_s, 0.8, 1e-9) && near(r.m.sample_s[29], 0.008, 1e-9),
	    "runs that find other data in the caches do not count");
	arena_free(a);
}

static void alike_devices(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct measure_options o = MEASURE_DEFAULT;
	struct beside_result r;
	/* The second core is slow at the moment: everything on it takes 0.013. */
	struct fake core[2] = {{.s = 0.010}, {.s = 0.013}}, p = {.s = 0.0104};
	struct beside_run what = {.run = of(&p), .predict = predict_slow};
	machine_is(0, 1, 0, 0, 1);
	struct beside x = beside_of(core, 2);
	double mean = sqrt(0.010 * 0.013);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK && near(r.ref_s, mean, 1e-9),
	    "two that are alike are the reference together");
	tap(near(r.m.lat.mid / r.ref_s, 0.0104 / 0.013, 1e-9),
	    "what one of them does to a placement that leans on it is taken out (%.4f)",
	    r.m.lat.mid / r.ref_s);
	/* Device 2 consists of both, and is as slow as the slowest. */
	static const bool has[K * K] = {[2 * K] = true, [2 * K + 1] = true};
	what.predict = predict_whole;
	x = beside_of(core, 2);
	x.has = has;
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK &&
		    near(r.m.lat.mid / r.ref_s, 0.0104 / 0.013, 1e-9),
	    "what consists of them is as slow as the slowest");
	arena_free(a);
}

static void choices(void)
{
	static const bool has[K * K] = {[2 * K] = true, [2 * K + 1] = true};
	static const uint32_t alike[K] = {0, 0, 2}, none[K] = {0, 1, 2};
	const double cores[K] = {0.010, 0.011, 0.020}, whole[K] = {0.010, 0.011, 0.006},
		     one[K] = {0.010, 0, 0.006};
	struct beside_devices x = {K, 0, cores, alike, has, 1};
	uint32_t d[BESIDE_MOST];
	tap(beside_choose(&x, d) == 2 && d[0] == 0 && d[1] == 1, "the best one and its like");
	x.alike = none;
	tap(beside_choose(&x, d) == 1 && d[0] == 0, "it alone, where none is like it");
	x = (struct beside_devices){K, 2, whole, alike, has, 1};
	tap(beside_choose(&x, d) == 2 && d[0] == 0 && d[1] == 1, "parts in the stead of the whole");
	x.max_s = 0.1;
	tap(beside_choose(&x, d) == 1 && d[0] == 2, "not where they take too long");
	x.max_s = 1;
	x.alike = none;
	tap(beside_choose(&x, d) == 1 && d[0] == 2, "nor where they are not alike");
	x.alike = alike;
	x.lat_s = one;
	tap(beside_choose(&x, d) == 1 && d[0] == 2, "nor where one cannot run");

	/* What is told beside parts is told beside the whole. */
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct measure_options o = MEASURE_DEFAULT;
	struct beside_result r;
	struct fake core[2] = {{.s = 0.010}, {.s = 0.010}}, p = {.s = 0.005};
	struct beside_run what = {.run = of(&p)};
	machine_is(0, 1, 0, 0, 1);
	struct beside b = beside_of(core, 2);
	b.base_log = log(0.6);
	tap(beside_measure(&b, &what, &o, a, &r, &e) == RUN_OK && near(r.ref_s, 0.006, 1e-9) &&
		    near(r.m.lat.mid, 0.005, 1e-9),
	    "beside parts: the whole is what it is told beside");
	arena_free(a);
}

static void counts(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct measure_options o = MEASURE_DEFAULT;
	struct beside_result r;
	struct fake one = {.s = 0.010}, p = {.s = 0.008}, slow = {.s = 0.5}, big = {.s = 0.4};
	struct beside_run what = {.run = of(&p)};
	machine_is(0, 1, 0, 0, 1);
	struct beside x = beside_of(&one, 1);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK && r.m.n == 6,
	    "as few runs as allowed where all take as long");
	o.min_runs = o.max_runs = 2;
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK && r.m.n == 2, "exactly two");
	o.warmup = 0;
	machine_is(0, 1, 0, 0, 1.5);
	x = beside_of(&one, 1);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK &&
		    near(r.m.sample_s[0], 0.012, 1e-9) && near(r.m.sample_s[1], 0.008, 1e-9),
	    "without a warm-up the first one counts");
	o.min_runs = 3;
	o.max_runs = 50;
	o.max_s = 0.1;
	machine_is(0, 1, 0, 0, 1);
	x = beside_of(&slow, 1);
	what.run = of(&big);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK && r.m.n == 3 && big.n == 3 &&
		    slow.n == 4,
	    "long runs: one a burst, none that does not count");
	x = beside_of(&slow, 0);
	big.n = 0;
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK && big.n == 3 && r.ref_s == 0 &&
		    near(r.m.lat.mid, 0.4, 1e-9),
	    "without a reference runs in a row");
	o.paper = true;
	x = beside_of(&slow, 1);
	slow.n = big.n = 0;
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK && r.m.n == 10 && slow.n == 2 &&
		    near(r.ref_s, 0.5, 1e-9),
	    "the paper's ten in a row, the reference around them");
	arena_free(a);
}

static void failures(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct measure_options o = MEASURE_DEFAULT;
	struct beside_result r;
	struct fake core[2] = {{.s = 0.010}, {.s = 0.010, .fail_at = 5}},
		    p = {.s = 0.008, .fail_at = 3}, q = {.s = 0.008},
		    end = {.s = 0.01, .end_at = 2};
	struct beside_run what = {.run = of(&p)};
	machine_is(0, 1, 0, 0, 1);
	struct beside x = beside_of(core, 2);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_FAILED && r.lost == -1 &&
		    strstr(e.msg, "run 3"),
	    "a placement fails: %s", e.msg);
	err_clear(&e);
	what.run = of(&q);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_FAILED && r.lost == 1 &&
		    strstr(e.msg, "run 5") && !x.known,
	    "one of the reference fails: %s", e.msg);
	err_clear(&e);
	x = beside_of(core, 1);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_OK && near(r.m.lat.mid, 0.008, 1e-9),
	    "and the other one is left");
	what.run = of(&end);
	tap(beside_measure(&x, &what, &o, a, &r, &e) == RUN_END, "the end of all is passed on");
	err_clear(&e);
	arena_free(a);
}

int main(void)
{
	ratios();
	alike_devices();
	choices();
	counts();
	failures();
	return tap_end();
}
