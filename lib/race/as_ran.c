/* as_ran.c - means of differences within blocks. */
#include "race/as_ran.h"

#include <math.h>

#include "base/mem.h"
#include "stats/huber.h"

void as_ran_release(struct as_ran *x)
{
	mem_free(x->v);
	*x = (struct as_ran){0};
}

void as_ran_add(struct as_ran *x, uint32_t who, uint32_t block, double log_s)
{
	x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
	x->v[x->n++] = (struct as_ran_burst){who, block, log_s};
}

/* Into y, the times of i; how many. */
static uint32_t times_of(const struct as_ran *x, uint32_t i, double *y)
{
	uint32_t n = 0;
	for (size_t b = 0; b < x->n; b++)
		if (x->v[b].who == i)
			y[n++] = x->v[b].log_s;
	return n;
}

/* Into y, i's times less j's in the same blocks; how many. */
static uint32_t find_pairs(const struct as_ran *x, uint32_t i, uint32_t j, double *y)
{
	uint32_t n = 0;
	for (size_t begin = 0, end; begin < x->n; begin = end) {
		double a = NAN, b = NAN;
		for (end = begin; end < x->n && x->v[end].block == x->v[begin].block; end++) {
			a = x->v[end].who == i ? x->v[end].log_s : a;
			b = x->v[end].who == j ? x->v[end].log_s : b;
		}
		if (!isnan(a) && !isnan(b))
			y[n++] = a - b;
	}
	return n;
}

bool as_ran_ratio(const struct as_ran *x, uint32_t i, uint32_t j, double *log_ratio)
{
	double *y = MEM_NEWN(double, x->n + 1);
	uint32_t n = find_pairs(x, i, j, y), m;
	if (n > 0) {
		*log_ratio = huber_mean(y, n).mid;
	} else if ((n = times_of(x, i, y)) > 0) {
		double of_i = huber_mean(y, n).mid;
		n = m = times_of(x, j, y);
		*log_ratio = m > 0 ? of_i - huber_mean(y, m).mid : 0;
	}
	mem_free(y);
	return n > 0;
}

struct contest_bursts as_ran_of(const struct as_ran *x, uint32_t who, struct arena *a)
{
	uint32_t n = 0, *block;
	double *lat_s;
	for (size_t i = 0; i < x->n; i++)
		n += x->v[i].who == who;
	block = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	lat_s = ARENA_NEWN(a, double, (size_t)n + 1);
	n = 0;
	for (size_t i = 0; i < x->n; i++) {
		if (x->v[i].who != who)
			continue;
		block[n] = x->v[i].block;
		lat_s[n++] = exp(x->v[i].log_s);
	}
	return (struct contest_bursts){n, block, lat_s};
}
