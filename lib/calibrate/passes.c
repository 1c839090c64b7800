/* passes.c - what is run again, and dealing it to calls. */
#include "calibrate/passes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "stats/rank.h"
#include "timing/burst.h"

enum { COMMON = 4, LEAST_ROUNDS = 2, MOST_ROUNDS = 8 };
static const double REACH = 1.7;      /* times the best is near */
static const double ALL_SHARE = 0.35; /* of the time */
static const double NEAR_SHARE = 0.5; /* of what is left: later passes know better what is near */
static const double ALL_S = 120, NEAR_S = 80; /* so that there are several passes */
static const double CALL_S = 0.5;             /* before the first run of a call */
static const double SLOWER = 1.2;             /* than the mean, in all */
static const double MOST_NEAR = 0.9;          /* of all: then the pass is over all */

struct candidate {
	double s; /* what a run should take */
	bool always, measured;
	double fastest_s, mean_s;
};

struct plan {
	const struct pass_options *o;
	uint32_t n, n_singles;
	struct candidate *item; /* (n) */
	double least_fastest, least_mean;
	double round_s, warm_s; /* a burst, a run of each of the placements that a pass has */
};

/* ---- what is known ---- */

static int read_times(struct plan *p, const char *path, struct arena *a, struct err *e)
{
	struct tabfile t;
	if (tabfile_read(path, true, a, &t, e) < 0)
		return -1;
	int number = tabfile_column(&t, "placement"), fastest = tabfile_column(&t, "fastest_s"),
	    mean = tabfile_column(&t, "mean_s"), raw = tabfile_column(&t, "mean_raw_s");
	for (uint32_t i = 0; i < t.n_rows; i++) {
		double at;
		if (tabfile_real(&t, i, number, &at, e) < 0)
			return -1;
		if (!(at >= 0 && at < p->n && at == floor(at)))
			return err_set(e, ST_INPUT, "'%s' line %u: there is no placement %g", path,
				       i + 2, at);
		struct candidate *x = &p->item[(uint32_t)at];
		if (tabfile_real(&t, i, fastest, &x->fastest_s, e) < 0 ||
		    tabfile_real(&t, i, mean, &x->mean_s, e) < 0 ||
		    tabfile_real(&t, i, raw, &x->s, e) < 0)
			return -1;
		if (!time_is_usable(x->fastest_s) || !time_is_usable(x->mean_s) ||
		    !time_is_usable(x->s))
			return err_set(e, ST_INPUT, "'%s' line %u has a time that cannot be", path,
				       i + 2);
		x->measured = true;
		p->least_fastest = fmin(p->least_fastest, x->fastest_s);
		p->least_mean = fmin(p->least_mean, x->mean_s);
	}
	return 0;
}

static bool is_near(const struct plan *p, const struct candidate *x)
{
	return x->measured &&
	       (x->fastest_s <= REACH * p->least_fastest || x->mean_s <= REACH * p->least_mean);
}

/* Which are in every call: the single devices, and others of all parts of the list, which is in a
 * random order. */
static void choose_common(struct plan *p)
{
	uint32_t rest = p->n - p->n_singles, k = rest / 3 < COMMON ? rest / 3 : COMMON;
	for (uint32_t i = 0; i < p->n_singles; i++)
		p->item[i].always = true;
	for (uint32_t i = 1; i <= k; i++)
		p->item[p->n_singles + (uint32_t)((i - 0.5) / k * rest)].always = true;
}

/* ---- one kind of pass ---- */

/* A burst of it (devrun --rounds). */
static double burst_s(const struct candidate *x)
{
	return SLOWER * x->s * burst_makes(x->s, BURST_RUNS);
}

/* The placements of a kind of pass, how many calls there are, and what a round takes. */
static void gather(struct plan *p, bool near, struct pass *out)
{
	double rest_s = 0, always_s = 0, rest = 0, always = 0;
	out->near = near;
	out->n = out->n_always = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct candidate *x = &p->item[i];
		if (x->always) {
			out->always[out->n_always++] = i;
			always_s += burst_s(x);
			always += x->s;
		} else if (!near || is_near(p, x)) {
			out->placement[out->n++] = i;
			rest_s += burst_s(x);
			rest += x->s;
		}
	}
	uint32_t chunk = (uint32_t)p->o->chunk;
	out->n_calls = out->n ? (out->n + chunk - 1) / chunk : 1;
	p->round_s = rest_s + out->n_calls * always_s;
	p->warm_s = SLOWER * (rest + out->n_calls * always);
}

static uint32_t clamp(double x, uint32_t lo, uint32_t hi)
{
	return !(x >= lo) ? lo : x > hi ? hi : (uint32_t)x;
}

/* A run of each comes before rounds. */
static void plan_kind(struct plan *p, bool near, struct pass *out)
{
	gather(p, near, out);
	double share = near ? NEAR_SHARE : ALL_SHARE, most_s = near ? NEAR_S : ALL_S;
	double rounds = fmin((share * p->o->left_s - p->warm_s) / p->round_s, most_s / p->round_s);
	out->rounds =
		p->o->rounds ? (uint32_t)p->o->rounds : clamp(rounds, LEAST_ROUNDS, MOST_ROUNDS);
	out->about_s = out->rounds * p->round_s + p->warm_s + out->n_calls * CALL_S;
}

static void shuffle(const struct pass_options *o, struct pass *out)
{
	/* The generator's first numbers are alike for states that are near each other. */
	struct minstd g = {(uint32_t)((o->seed % 1000000 * 1000 + o->pass) % 2147483647)};
	(void)minstd_below(&g, 2);
	(void)minstd_below(&g, 2);
	for (uint32_t i = out->n; i-- > 1;) {
		uint32_t j = minstd_below(&g, i + 1), moved = out->placement[i];
		out->placement[i] = out->placement[j];
		out->placement[j] = moved;
	}
}

int pass_plan(const struct run_list *predicted, const char *so_far, const struct pass_options *o,
	      struct arena *a, struct pass *out, struct err *e)
{
	struct plan p = {
		.o = o, .n = predicted->n, .least_fastest = INFINITY, .least_mean = INFINITY};
	if (p.n == 0)
		return err_set(e, ST_RUNTIME, "no predicted placement");
	p.item = ARENA_NEWN(a, struct candidate, (size_t)p.n + 1);
	for (uint32_t i = 0; i < p.n; i++) {
		const struct run_item *x = &predicted->item[i];
		p.item[i].s = x->ok ? x->lat_s : 0;
		p.n_singles += p.n_singles == i && strcmp(x->source, "single") == 0;
	}
	if (so_far && read_times(&p, so_far, a, e) < 0)
		return -1;
	*out = (struct pass){.always = ARENA_NEWN(a, uint32_t, (size_t)p.n + 1),
			     .placement = ARENA_NEWN(a, uint32_t, (size_t)p.n + 1)};
	choose_common(&p);
	plan_kind(&p, false, out);
	double spent_s = o->spent_all_s + o->spent_near_s, all_s = o->spent_all_s + out->about_s;
	uint32_t all = out->n;
	if (isfinite(p.least_mean) && !o->rounds && all_s > ALL_SHARE * (spent_s + out->about_s)) {
		plan_kind(&p, true, out);
		if (out->n > MOST_NEAR * all)
			plan_kind(&p, false, out);
	}
	shuffle(o, out);
	return 0;
}

void pass_print(const struct pass *p, FILE *out)
{
	fprintf(out, "%s %u %.0f\n", p->near ? "near" : "all", p->rounds, p->about_s);
	for (uint32_t c = 0; c < p->n_calls; c++) {
		uint32_t from = (uint32_t)((uint64_t)c * p->n / p->n_calls);
		uint32_t end = (uint32_t)((uint64_t)(c + 1) * p->n / p->n_calls);
		for (uint32_t i = 0; i < p->n_always; i++)
			fprintf(out, "%s%u", i ? "," : "", p->always[i] + 1);
		for (uint32_t i = from; i < end; i++)
			fprintf(out, "%s%u", i > from || p->n_always ? "," : "",
				p->placement[i] + 1);
		fputc('\n', out);
	}
}
