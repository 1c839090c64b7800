/* test_lengths.c - what counts of several cases, and the few shapes that stand for a histogram. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamic/lengths.h"
#include "graph/case_value.h"
#include "tap.h"

static void values(void)
{
	const double w[] = {0.5, 0.3, 0.15, 0.05}, s[] = {1, 4, 2, 8}, half[] = {0, 1, 1, 0};
	char name[CASES_OVER_CAP];
	double over = -1;
	struct err e = ERR_INIT;
	tap(fabs(cases_value(0, w, s, 4) - (0.5 + 1.2 + 0.3 + 0.4)) < 1e-12, "the sum by weights");
	tap(cases_value(CASES_WORST, w, s, 4) == 8, "the worst");
	tap(cases_value(95, w, s, 4) == 4 && cases_value(96, w, s, 4) == 8 &&
		    cases_value(50, w, s, 4) == 1 && cases_value(51, w, s, 4) == 2,
	    "percentiles");
	tap(cases_value(CASES_WORST, half, s, 4) == 4 && cases_value(50, half, s, 4) == 2,
	    "what has no weight does not count");
	tap(cases_over_parse("mean", &over, &e) == 0 && over == 0, "mean");
	tap(cases_over_parse("worst", &over, &e) == 0 && over == CASES_WORST &&
		    strcmp(cases_over_name(over, name), "worst") == 0,
	    "worst");
	tap(cases_over_parse("p99.5", &over, &e) == 0 && over == 99.5 &&
		    strcmp(cases_over_name(over, name), "p99.5") == 0,
	    "p99.5");
	static const char *const bad[] = {"",     "p",    "p0",    "p100", "95",
					  "p95x", "p1e1", "worse", "p-3",  "pnan"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		err_clear(&e);
		tap(cases_over_parse(bad[i], &over, &e) < 0 && e.code == ST_USAGE, "refused: %s",
		    e.msg);
	}
}

/* What is missed of squares with these of n lengths. */
static double missed(const struct lengths *x, const double *t, uint32_t few)
{
	double sum = 0;
	for (uint32_t i = 0, a = 0; i < x->n; i++) {
		uint32_t b = i;
		if (few >> i & 1) {
			a = i;
			continue;
		}
		while (!(few >> b & 1))
			b++;
		sum += x->v[i].weight * (t[i] - t[a]) * (t[b] - t[i]);
	}
	return sum;
}

static uint32_t bits(uint32_t x)
{
	uint32_t n = 0;
	for (; x; x &= x - 1)
		n++;
	return n;
}

enum { N = 9 };

/* Which of x the merged are, as bits. */
static uint32_t which(const struct lengths *x, const struct lengths *few)
{
	uint32_t set = 0;
	for (uint32_t k = 0; k < few->n; k++)
		for (uint32_t i = 0; i < x->n; i++)
			set |= (uint32_t)(strcmp(x->v[i].shapes, few->v[k].shapes) == 0) << i;
	return set;
}

static void merged(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	uint32_t seed = 7, best = 0, sums = 0, linear = 0, ends = 0, between = 0, all = 0;
	for (int round = 0; round < 40; round++) {
		struct length v[N];
		double t[N], weights = 0, mean = 0;
		for (uint32_t i = 0; i < N; i++) {
			seed = seed * 1664525 + 1013904223;
			t[i] = (i ? t[i - 1] : 0) + 1 + (seed >> 24) % 60;
			v[i] = (struct length){arena_printf(a, "ids=1,%g;mask=1,1,%g", t[i], t[i]),
					       1 + (seed >> 8) % 9, 0, 0};
			weights += v[i].weight;
			mean += v[i].weight * (3 * t[i] + 5);
		}
		for (uint32_t most = 3; most <= N; most++, all++) {
			struct lengths x = {N, v}, few;
			if (lengths_merge(&x, most, 0, a, &few, &e) < 0 || few.n != most)
				continue;
			uint32_t set = which(&x, &few), lost = 0;
			double least = INFINITY, w = 0, s = 0, part = 0;
			for (uint32_t c = 0; c < 1 << N; c++)
				if (bits(c) == most && c & 1 && c >> (N - 1))
					least = fmin(least, missed(&x, t, c));
			for (uint32_t k = 0, i = 0; k < most; k++) {
				while (!(set >> i & 1))
					i++;
				w += few.v[k].weight;
				s += few.v[k].weight * (3 * t[i++] + 5);
				lost += few.v[k].n_between;
				part += few.v[k].between;
			}
			best += bits(set) == most &&
				fabs(missed(&x, t, set) - least) < 1e-9 * (1 + least);
			sums += fabs(w / weights - 1) < 1e-12;
			linear += fabs(s / mean - 1) < 1e-12;
			ends += set & 1 && set >> (N - 1);
			between += lost == N - most && (part > 0) == (most < N);
		}
	}
	tap(best == all, "the least is missed: %u of %u", best, all);
	tap(sums == all && linear == all, "weights stay, and means of what is linear: %u, %u", sums,
	    linear);
	tap(ends == all && between == all, "first and last are among them: %u, %u", ends, between);
	arena_free(a);
}

/* A percentile of what grows with the length is that of all lengths. */
static void percentile(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct length v[30];
	uint32_t right = 0;
	for (uint32_t i = 0; i < 30; i++)
		v[29 - i] = (struct length){arena_printf(a, "1,%u", 1 + i * i), 31 - i, 0, 0};
	for (uint32_t p = 50; p < 100; p += 5) {
		struct lengths x = {30, v}, few;
		double w[30], s[30];
		for (uint32_t i = 0; i < 30; i++) {
			w[i] = v[i].weight;
			s[i] = 29 - i;
		}
		double want = cases_value(p, w, s, 30);
		if (lengths_merge(&x, 4, p, a, &few, &e) < 0)
			continue;
		for (uint32_t k = 0; k < few.n; k++) {
			w[k] = few.v[k].weight;
			for (uint32_t i = 0; i < 30; i++)
				if (strcmp(few.v[k].shapes, v[i].shapes) == 0)
					s[k] = 29 - i;
		}
		right += cases_value(p, w, s, few.n) == want;
	}
	tap(right == 10, "percentiles of all lengths: %u of 10", right);
	arena_free(a);
}

static int read(const char *text, struct arena *a, struct lengths *out, struct err *e)
{
	char path[] = "/tmp/test_lengths.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	fputs(text, f);
	fclose(f);
	err_clear(e);
	int rc = lengths_read(path, a, out, e);
	remove(path);
	return rc;
}

static void files(void)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct lengths x, few;
	tap(read("# shapes weight\n\nids=1,8\t3\n  ids=1,16   2.5 \r\nids=1,8 1\nids=1,2\n", a, &x,
		 &e) == 0 &&
		    x.n == 3 && x.v[0].weight == 4 && x.v[1].weight == 2.5 && x.v[2].weight == 1 &&
		    strcmp(x.v[1].shapes, "ids=1,16") == 0,
	    "lines (%s)", e.msg);
	tap(lengths_merge(&x, 3, 0, a, &few, &e) == 0 && few.n == 3 && few.v[0].weight == 4,
	    "as they come");
	static const char *const bad[] = {"",          "#\n",       "1,8 0\n",    "1,8 x\n",
					  "1,8 2 3\n", "1,8 nan\n", "1,8 1e99\n", "1,8\n1,x\n"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		tap(read(bad[i], a, &x, &e) < 0 && e.code == ST_INPUT, "refused: %s",
		    strchr(e.msg, ',') ? strchr(e.msg, ',') : "");
	err_clear(&e);
	tap(lengths_read("/nowhere/x", a, &x, &e) < 0 && e.code == ST_RUNTIME, "no file");
	static const char *const apart[] = {"1,8\n2,4\n3,9\n4,10\n", "a=1,8\nb=1,9\na=1,7\na=1,1\n",
					    "1,8\n1,1,8\n1,9\n1,7\n", "1,?\n1,9\n1,7\n1,1\n"};
	for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
		bool read_all = read(apart[i], a, &x, &e) == 0 && x.n == 4;
		tap(read_all && lengths_merge(&x, 3, 0, a, &few, &e) < 0 && e.code == ST_INPUT,
		    "refused: %s", e.msg);
	}
	arena_free(a);
}

int main(void)
{
	values();
	merged();
	percentile();
	files();
	return tap_end();
}
