/* Which units to compute exactly: on errors and times that are known. */
#include <math.h>
#include <string.h>

#include "precision/exact_units.h"
#include "tap.h"

enum { N = 100 };

/* Errors add up, or only their squares do; a run takes what exact units take. */
struct known {
	uint32_t n, calls, measured;
	bool squares;
	double error[N], saved_s[N];
};

static double sum_of(const struct known *k, const bool *reduced)
{
	double sum = 0;
	for (uint32_t i = 0; i < k->n; i++)
		if (reduced[i])
			sum += k->squares ? k->error[i] * k->error[i] : k->error[i];
	return k->squares ? sqrt(sum) : sum;
}

static int error(void *ctx, const bool *reduced, double *out, struct err *e)
{
	struct known *k = ctx;
	(void)e;
	k->calls++;
	*out = sum_of(k, reduced);
	return 0;
}

static int measure(void *ctx, const bool *reduced, double *out, double *lat_s, struct err *e)
{
	struct known *k = ctx;
	(void)e;
	k->calls++;
	k->measured++;
	*out = sum_of(k, reduced);
	*lat_s = 1;
	for (uint32_t i = 0; i < k->n; i++)
		*lat_s += reduced[i] ? 0 : k->saved_s[i];
	return 0;
}

static int fail(void *ctx, const bool *reduced, double *out, struct err *e)
{
	(void)ctx, (void)reduced, (void)out;
	return err_set(e, ST_RUNTIME, "no device is left");
}

static struct exact_units units(struct known *k, double limit, uint32_t most)
{
	return (struct exact_units){.n = k->n,
				    .saved_s = k->saved_s,
				    .limit = limit,
				    .most = most,
				    .error = error,
				    .measure = measure,
				    .ctx = k};
}

static struct known alike(uint32_t n, double each)
{
	struct known k = {.n = n};
	for (uint32_t i = 0; i < n; i++) {
		k.error[i] = each;
		k.saved_s[i] = 1;
	}
	return k;
}

/* How many units of the best choice are exact; -1: there is none. */
static int exact_in(const struct exact_way *w, uint32_t n)
{
	int exact = 0;
	for (uint32_t i = 0; i < n && w->best >= 0; i++)
		exact += !w->choice[w->best].reduced[i];
	return w->best < 0 ? -1 : exact;
}

static bool keeps(const struct exact_way *w, uint32_t i)
{
	return w->best >= 0 && !w->choice[w->best].reduced[i];
}

int main(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct exact_way w;

	struct known k = alike(N, 1e-4);
	struct exact_units x = units(&k, 1, 64);
	bool ok = exact_units_choose(&x, a, &w, &e) == 0;
	tap(ok && w.n == 1 && w.best == 0 && exact_in(&w, N) == 0 && k.calls == 1,
	    "where all is within the limit, one run says so");

	k = alike(N, 1e-4);
	k.error[37] = 0.1;
	k.error[70] = 0.05;
	x = units(&k, 0.02, 64);
	ok = exact_units_choose(&x, a, &w, &e) == 0;
	tap(ok && exact_in(&w, N) == 2 && keeps(&w, 37) && keeps(&w, 70),
	    "the two that carry the error are exact, and no others: %d", exact_in(&w, N));
	tap(k.calls <= 64 + 8, "in about so many runs: %u", k.calls);
	bool within = true;
	for (uint32_t i = 0; i < w.n; i++)
		within &= fabs(w.choice[i].error - sum_of(&k, w.choice[i].reduced)) < 1e-12;
	tap(within && w.choice[w.best].error <= 0.02, "errors are those that were measured");

	k.squares = true;
	ok = exact_units_choose(&x, a, &w, &e) == 0;
	tap(ok && exact_in(&w, N) == 2 && keeps(&w, 37) && keeps(&w, 70),
	    "also where errors do not add up");

	/* Unit 5 has much error and saves most of the time; the errors of ten others together are as large, and they save little. */
	k = alike(N, 0);
	k.error[5] = 0.02;
	k.saved_s[5] = 50;
	for (uint32_t i = 80; i < 90; i++) {
		k.error[i] = 0.002;
		k.saved_s[i] = 0.1;
	}
	x = units(&k, 0.021, 64);
	ok = exact_units_choose(&x, a, &w, &e) == 0;
	tap(ok && w.best >= 0 && !keeps(&w, 5) && w.choice[w.best].lat_s < 5,
	    "what loses the least time is exact: %.3g s", w.choice[w.best].lat_s - 1);

	k = alike(N, 1e-4);
	x = units(&k, 0, 32);
	ok = exact_units_choose(&x, a, &w, &e) == 0;
	tap(ok && exact_in(&w, N) == N, "a limit of 0 leaves all exact");

	k = alike(N, 1e-4);
	k.error[3] = 1e300;
	k.saved_s[3] = -1;
	x = units(&k, 0.5, 64);
	ok = exact_units_choose(&x, a, &w, &e) == 0;
	tap(ok && exact_in(&w, N) >= 1 && exact_in(&w, N) <= 2 && keeps(&w, 3),
	    "an error without bounds, of a unit that saves nothing");

	k = alike(1, 1);
	x = units(&k, 0.5, 8);
	ok = exact_units_choose(&x, a, &w, &e) == 0;
	tap(ok && exact_in(&w, 1) == 1, "one unit");
	k = alike(0, 0);
	x = units(&k, 0.5, 8);
	ok = exact_units_choose(&x, a, &w, &e) == 0;
	tap(ok && w.best == 0, "none");

	k = alike(N, 0.1);
	x = units(&k, 0.5, 64);
	x.error = fail;
	tap(exact_units_choose(&x, a, &w, &e) < 0 && e.code == ST_RUNTIME, "the end of all");
	arena_free(a);
	return tap_end();
}
