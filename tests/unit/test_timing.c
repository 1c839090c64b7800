/* test_timing.c - lib/timing on runnables whose times are written down: how many runs there are, what
 * a contest chooses, and what becomes of those that fail. */
#include <math.h>
#include <string.h>

#include "measure/load.h"
#include "tap.h"
#include "timing/burst.h"
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

/* Times of runs one after another, the last again and again. */
struct listed {
	const double *s;
	int most, n;
};

static enum run_status run_listed(void *arg, struct run_sample *out, struct err *e)
{
	struct listed *f = arg;
	(void)e;
	out->lat_s = f->s[f->n < f->most ? f->n : f->most - 1];
	f->n++;
	return RUN_OK;
}

static void bursts(void)
{
	const double cold[] = {0.02, 0.012, 0.010, 0.011}, is_long[] = {0.1, 0.09},
		     disturbed[] = {0.02, 0.010, 0.1, 0.009};
	struct err e = ERR_INIT;
	struct run_sample s[BURST_RUNS] = {{0}};
	struct listed c = {cold, 4, 0}, l = {is_long, 2, 0}, d = {disturbed, 4, 0};
	struct runnable r = {&c, run_listed, now_s};
	uint32_t n;
	tap(burst_run(&r, BURST_RUNS, false, s, &n, &e) == RUN_OK && n == 3 && c.n == 4 &&
		    s[burst_middle(s, n)].lat_s == 0.011,
	    "a burst's first run does not count, the others' median does");
	c.n = 0;
	tap(burst_run(&r, BURST_RUNS, true, s, &n, &e) == RUN_OK && n == 3 && c.n == 3 &&
		    s[burst_middle(s, n)].lat_s == 0.012,
	    "what ran before was the same: it counts");
	c.n = 0;
	tap(burst_run(&r, 1, false, s, &n, &e) == RUN_OK && n == 1 && c.n == 2 &&
		    s[0].lat_s == 0.012,
	    "of two runs the second");
	r.arg = &l;
	tap(burst_run(&r, BURST_RUNS, false, s, &n, &e) == RUN_OK && n == 1 && l.n == 1 &&
		    s[0].lat_s == 0.1,
	    "of what takes long one run is enough");
	r.arg = &d;
	tap(burst_run(&r, BURST_RUNS, false, s, &n, &e) == RUN_OK && n == 3 && d.n == 4 &&
		    s[burst_middle(s, n)].lat_s == 0.010,
	    "a run that was disturbed is one of three");
	tap(burst_middle(s, 2) == 0 && burst_middle(s + 1, 2) == 1, "of two the faster");
	struct fake fails = {.s = 0.01, .fail_at = 3};
	r = of(&fails);
	tap(burst_run(&r, BURST_RUNS, false, s, &n, &e) == RUN_FAILED && strstr(e.msg, "run 3"),
	    "%s", e.msg);
	err_clear(&e);
}

static enum run_status run_beside(void *arg, struct run_sample *out, struct err *e)
{
	enum run_status status = run_listed(arg, out, e);
	for (int d = 0; d < 2; d++) {
		out->busy_s[d] = out->lat_s / (d + 2);
		out->pulse_s[d] = out->lat_s * 3;
	}
	return status;
}

static enum run_status run_either(void *arg, struct run_sample *out, struct err *e)
{
	return out->busy_s ? run_beside(arg, out, e) : run_listed(arg, out, e);
}

static void rounds(void)
{
	/* A warm-up; then bursts of a run that does not count and three that do. */
	const double first[] = {0.05, 0.02, 0.012, 0.010, 0.011, 0.03, 0.008, 0.009, 0.5},
		     second[] = {0.07};
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct listed l[2] = {{first, 9, 0}, {second, 1, 0}};
	struct participant p[2] = {{.run = {&l[0], run_either, now_s}},
				   {.run = {&l[1], run_either, now_s}}};
	const struct rounds_options o = {
		.least = 2, .enough = 2, .most = 2, .max_s = 9, .quick_s = 9, .n_pulses = 1};
	tap(measure_rounds(p, 2, 2, &o, a, &e) == 0 && p[0].m.n == 2 && p[1].m.n == 2 &&
		    l[0].n == 9 && l[1].n == 3,
	    "two rounds of bursts behind a warm-up; one run of what takes long");
	tap(p[0].m.sample_s[0] == 0.011 && p[0].m.sample_s[1] == 0.009 &&
		    p[1].m.sample_s[1] == 0.07,
	    "samples are the medians of bursts");
	tap(p[0].m.busy_s[0] == 0.009 / 2 && p[0].m.busy_s[1] == 0.009 / 3 &&
		    p[0].m.pulse_s[0] == 0.011 * 3 && p[0].m.pulse_s[2] == 0.009 * 3,
	    "with the busy times of the fastest of these, and each one's pulses");
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
	tap(fabs(c[3].ratio.mid - 0.7) < 1e-9 && c[3].ref_s == 0.010 && c[3].m.n > 20,
	    "its ratio, from fresh rounds");
	tap(c[2].has_ratio && fabs(c[2].ratio.mid - 0.8) < 1e-9, "others' from the heats");
	tap(c[4].m.n == 4 && c[2].m.n == 4, "who is clearly slower leaves after four rounds");
	tap(f[4].n == 1 + 4 * (1 + BURST_RUNS), "a round is a burst of each");

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

/* Lines of /proc/stat: what was idle, waited, or is counted twice (guests) is no work. */
static void loads(void)
{
	double s = 0, before = 0;
	tap(load_parse("cpu  100 20 30 4000 500 6 7 80 90 9\n", 100, &s) && fabs(s - 2.43) < 1e-12,
	    "seconds of all cores");
	tap(load_parse("cpu 100 20 30 4000\n", 100, &s) && fabs(s - 1.5) < 1e-12,
	    "an old kernel's");
	s = before;
	tap(!load_parse("cpu0 1 2 3 4\n", 100, &s) && !load_parse("intr 5\n", 100, &s) &&
		    s == before,
	    "another line");
	struct load_watch w;
	load_begin(&w);
	struct contest_load l = load_end(&w);
	tap(l.cores == 0 || (l.average >= 0 && l.others >= 0 && l.others <= l.cores),
	    "%.1f on %u cores, %.1f of others", l.average, l.cores, l.others);
}

int main(void)
{
	loads();
	runs_in_a_row();
	bursts();
	rounds();
	contests();
	return tap_end();
}
