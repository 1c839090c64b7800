/* huber.c - reweighted means. */
#include "stats/huber.h"

#include <math.h>

#include "base/mem.h"
#include "stats/quantile.h"

static const double BEND = 1.5; /* deviations beyond which a value counts less */
static const double MEDIAN_TO_SIGMA = 1.4826;
static const double LEAST_SCALE = 1e-12;
enum { TURNS = 20 };

struct interval huber_mean(const double *d, uint32_t n)
{
	double *room = mem_copy(d, n, sizeof *room), mid, scale, sum = 0;
	order_values(room, n);
	mid = quantile(room, n, 0.5);
	for (uint32_t i = 0; i < n; i++)
		room[i] = fabs(d[i] - mid);
	order_values(room, n);
	scale = fmax(MEDIAN_TO_SIGMA * quantile(room, n, 0.5), LEAST_SCALE);
	for (int turn = 0; turn < TURNS; turn++) {
		double w = 0, by = 0;
		for (uint32_t i = 0; i < n; i++) {
			double far = fabs(d[i] - mid) / (BEND * scale);
			double g = far > 1 ? 1 / far : 1;
			w += g;
			by += g * (d[i] - mid);
		}
		mid += by / w;
	}
	/* Huber 1981, section 6.6: the variance of drawn-in differences over the share of those
	 * that are not drawn in. */
	double inside = 0;
	for (uint32_t i = 0; i < n; i++) {
		double r = fmin(fabs(d[i] - mid), BEND * scale);
		inside += fabs(d[i] - mid) < BEND * scale || scale <= LEAST_SCALE;
		sum += r * r;
	}
	mem_free(room);
	if (n < 2)
		return (struct interval){mid, -INFINITY, INFINITY};
	double half = t_quantile(n - 1) * sqrt(sum / (n - 1) / n) * n / fmax(inside, 1);
	return (struct interval){mid, mid - half, mid + half};
}
