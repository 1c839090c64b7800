/* rank.c - ranks, correlations of them, bootstrap samples. */
#include "stats/rank.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "stats/quantile.h"

/* Mean ranks of the values key[by[0..n)], which ascend, value i `times[i]` times over. */
static void mean_ranks(const double *key, const uint32_t *by, const uint32_t *times, uint32_t n,
		       double *rank)
{
	double below = 0;
	for (uint32_t i = 0; i < n;) {
		double same = 0;
		uint32_t end = i;
		for (; end < n && key[by[end]] == key[by[i]]; end++)
			same += times ? times[by[end]] : 1;
		for (; i < end; i++)
			rank[by[i]] = below + (same + 1) / 2;
		below += same;
	}
}

double spearman(const double *x, const uint32_t *by_x, const double *y, const uint32_t *by_y,
		const uint32_t *times, uint32_t n)
{
	double *rank_x = MEM_NEWN(double, 2 * (size_t)n + 1), *rank_y = rank_x + n;
	mean_ranks(x, by_x, times, n, rank_x);
	mean_ranks(y, by_y, times, n, rank_y);
	double all = 0, xy = 0, xx = 0, yy = 0;
	for (uint32_t i = 0; i < n; i++)
		all += times ? times[i] : 1;
	double mean = (all + 1) / 2;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = by_x[i];
		double w = times ? times[v] : 1, dx = rank_x[v] - mean, dy = rank_y[v] - mean;
		xy += w * dx * dy;
		xx += w * dx * dx;
		yy += w * dy * dy;
	}
	mem_free(rank_x);
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

uint32_t minstd_below(struct minstd *g, uint32_t k)
{
	g->state = (uint32_t)((uint64_t)g->state * 16807 % 2147483647);
	return (uint32_t)((double)g->state / 2147483647 * k);
}

static uint32_t *ascending_order(const double *key, uint32_t n)
{
	uint32_t *by = MEM_NEWN(uint32_t, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		by[i] = i;
	order_by(by, key, n);
	return by;
}

/* Estimate `mid` and the percentiles of its bootstrap samples x[n], which this sorts. */
static struct interval percentiles(double mid, double *x, uint32_t n)
{
	order_values(x, n);
	return (struct interval){mid, quantile(x, n, 0.025), quantile(x, n, 0.975)};
}

struct interval spearman_interval(const double *x, const double *y, uint32_t n, uint32_t samples,
				  struct minstd *g)
{
	uint32_t *by_x = ascending_order(x, n), *by_y = ascending_order(y, n);
	uint32_t *times = MEM_NEWN(uint32_t, (size_t)n + 1);
	double *rho = MEM_NEWN(double, (size_t)samples + 1);
	for (uint32_t b = 0; b < samples; b++) {
		memset(times, 0, n * sizeof *times);
		for (uint32_t i = 0; i < n; i++)
			times[minstd_below(g, n)]++;
		rho[b] = spearman(x, by_x, y, by_y, times, n);
	}
	struct interval r = percentiles(spearman(x, by_x, y, by_y, NULL, n), rho, samples);
	mem_free(by_x);
	mem_free(by_y);
	mem_free(times);
	mem_free(rho);
	return r;
}

struct interval bootstrap_median(const double *x, uint32_t n, uint32_t samples, struct minstd *g)
{
	double *drawn = MEM_NEWN(double, n), *median = MEM_NEWN(double, (size_t)samples + 1);
	for (uint32_t b = 0; b < samples; b++) {
		for (uint32_t i = 0; i < n; i++)
			drawn[i] = x[minstd_below(g, n)];
		order_values(drawn, n);
		median[b] = quantile(drawn, n, 0.5);
	}
	memcpy(drawn, x, n * sizeof *x);
	order_values(drawn, n);
	struct interval r = percentiles(quantile(drawn, n, 0.5), median, samples);
	mem_free(drawn);
	mem_free(median);
	return r;
}
