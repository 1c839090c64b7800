/* test_timing.c - lib/timing on runnables whose times are written down: how many runs there are, what
 * a contest chooses, and what becomes of those that fail. */
#include <math.h>
#include <string.h>

#include "tap.h"
#include "timing/contest.h"

static double clock_now;

/* Takes s, every `slow_every`-th run ten times as long; fails or ends all after so many runs. */
struct fake {
	double s;
	int slow_every, fail_at, end_at, n;
};

static enum run_status run(void *arg, struct run_sample *out, struct err *e)
{
	struct fake *f = arg;
	f->n++;
	if (f->n == f->end_at)
		return err_set(e, ST_RUNTIME, "the reader has gone"), RUN_END;
	if (f->n == f->fail_at)
		return err_set(e, ST_RUNTIME, "broke in run %d", f->n), RUN_FAILED;
	out->lat_s = f->s * (f->slow_every && f->n % f->slow_every == 0 ? 10 : 1);
	clock_now += out->lat_s;
	for (int d = 0; out->busy_s && d < 2; d++)
		out->busy_s[d] = out->lat_s / 2;
	return RUN_OK;
}

static double now_s(void *arg)
{
	(void)arg;
	return clock_now;
}

static struct runnable of(struct fake *f)
{
	return (struct runnable){f, run, now_s};
}

static void runs_in_a_row(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct measure_options o = MEASURE_DEFAULT;
	struct measurement m;
	struct fake same = {.s = 0.01}, slow = {.s = 2, .slow_every = 2},
		    odd = {.s = 1e-3, .slow_every = 2};
	struct runnable r = of(&same);
	tap(measure_runs(&r, 2, &o, a, &m, &e) == RUN_OK && m.n == 6 && same.n == 7,
	    "as few runs as allowed where all take as long, and a warm-up");
	tap(m.lat.mid == 0.01 && m.lat.lo == 0.01 && m.busy_s[1] == 0.005, "and what they say");
	r = of(&slow);
	tap(measure_runs(&r, 2, &o, a, &m, &e) == RUN_OK && m.n == 6, "no more when time is over");
	r = of(&odd);
	tap(measure_runs(&r, 2, &o, a, &m, &e) == RUN_OK && m.n == 50, "at most so many");
	o.paper = true;
	r = of(&odd);
	tap(measure_runs(&r, 2, &o, a, &m, &e) == RUN_OK && m.n == 10, "the paper's ten");
	o.paper = false;
	struct fake fails = {.s = 0.01, .fail_at = 3};
	r = of(&fails);
	tap(measure_runs(&r, 2, &o, a, &m, &e) == RUN_FAILED && strstr(e.msg, "run 3"), "%s",
	    e.msg);
	err_clear(&e);
	arena_free(a);
}

/* Single devices of 10 and 12 ms, candidates of 8, 7 and 9 ms. */
static struct contest contest_of(struct fake *f, struct contestant *c)
{
	const double s[] = {0.010, 0.012, 0.008, 0.007, 0.009};
	for (int i = 0; i < 5; i++) {
		f[i].s = s[i];
		c[i] = (struct contestant){.run = of(&f[i]), .takes_part = true};
	}
	return (struct contest){.k = 2, .n = 5, .c = c};
}

static void contests(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct measure_options o = MEASURE_DEFAULT;
	struct fake f[5] = {{0}};
	struct contestant c[5];
	struct contest x = contest_of(f, c);
	tap(contest_run(&x, &o, a, &e) == 0 && x.winner == 3 && x.reference == 0,
	    "the fastest candidate, beside the fastest single device");
	tap(fabs(c[3].ratio.mid - 0.7) < 1e-9 && c[3].ref_s == 0.010 && c[3].m.n == 50,
	    "its ratio, from fresh rounds");
	tap(c[2].has_ratio && fabs(c[2].ratio.mid - 0.8) < 1e-9, "others' from the heats");
	tap(c[4].m.n == 4 && c[2].m.n == 4, "who is clearly slower leaves after four rounds");

	struct fake g[5] = {[3] = {.fail_at = 3}, [0] = {.fail_at = 9}};
	x = contest_of(g, c);
	tap(contest_run(&x, &o, a, &e) == 0 && x.winner == 2 && x.reference == 1,
	    "who fails is not chosen: a candidate, a single device");
	tap(c[3].failed && strstr(c[3].reason, "run 3") && !c[3].has_ratio, "%s", c[3].reason);

	struct fake h[5] = {[4] = {.end_at = 3}};
	x = contest_of(h, c);
	tap(contest_run(&x, &o, a, &e) < 0, "the end of all is passed on");
	err_clear(&e);

	struct fake k[5] = {{0}};
	x = contest_of(k, c);
	for (int i = 2; i < 5; i++)
		k[i].s = 0.011;
	tap(contest_run(&x, &o, a, &e) == 0 && x.winner == -1 && x.reference == 0,
	    "no candidate is faster: the single device");
	x = contest_of(k, c);
	c[0].takes_part = c[1].takes_part = false;
	tap(contest_run(&x, &o, a, &e) == 0 && x.winner == 3 && x.reference == -1,
	    "no single device can run: the candidate is the answer");
	arena_free(a);
}

int main(void)
{
	runs_in_a_row();
	contests();
	return tap_end();
}
