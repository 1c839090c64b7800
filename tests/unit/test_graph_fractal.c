/* Fractal dimension: the bit-parallel search against one search per node. */
#include "feature/fractal.h"
#include "graphgen.h"
#include "tap.h"

#include <math.h>

/* D(v) by the definition. */
static double naive(const struct digraph *d, uint32_t v, bool directed, uint32_t cap,
		    uint32_t *dist)
{
	for (uint32_t u = 0; u < d->n; u++)
		dist[u] = u == v ? 0 : UINT32_MAX;
	uint32_t ball = 0, radii = 0;
	double x = 0, y = 0, xx = 0, xy = 0;
	for (uint32_t r = 1; cap == 0 || r <= cap; r++) {
		uint32_t before = ball;
		for (uint32_t i = 0; i < d->m; i++) {
			uint32_t a = d->src[i], b = d->dst[i];
			if (dist[a] == r - 1 && dist[b] == UINT32_MAX) {
				dist[b] = r;
				ball++;
			} else if (!directed && dist[b] == r - 1 && dist[a] == UINT32_MAX) {
				dist[a] = r;
				ball++;
			}
		}
		if (ball == before)
			break;
		double lx = log(r), ly = log(ball);
		x += lx;
		y += ly;
		xx += lx * lx;
		xy += lx * ly;
		radii++;
	}
	return radii < 2 ? 0 : (radii * xy - x * y) / (radii * xx - x * x);
}

static void compare(const struct digraph *d, bool directed, uint32_t cap, const char *what)
{
	struct fractal_opts o = {directed, cap, NULL};
	double *D = MEM_NEWN(double, d->n), *E = MEM_NEWN(double, d->n);
	bool right = true;
	uint32_t *dist = MEM_NEWN(uint32_t, d->n);
	fractal_dimension(d, &o, D);
	for (uint32_t v = 0; v < d->n; v++)
		right &= fabs(D[v] - naive(d, v, directed, cap, dist)) < 1e-9;
	o.pool = pool_new(3, NULL);
	fractal_dimension(d, &o, E);
	pool_free(o.pool);
	tap(right && memcmp(D, E, d->n * sizeof *D) == 0, "%s%s%s", what,
	    directed ? ", along the arrows" : "", cap ? ", capped" : "");
	mem_free(D);
	mem_free(E);
	mem_free(dist);
}

static void compare_all(const struct digraph *d, const char *what)
{
	compare(d, false, 0, what);
	compare(d, true, 0, what);
	compare(d, false, 3, what);
}

int main(void)
{
	struct arena *a = arena_new();
	struct digraph d = {.n = 1};
	compare_all(&d, "one node");
	d = (struct digraph){.n = 2, .m = 1, .src = (uint32_t[]){0}, .dst = (uint32_t[]){1}};
	compare_all(&d, "two nodes");
	d = gen_digraph(1, 700, 1, 1, a);
	compare_all(&d, "a chain");
	d = gen_digraph(2, 64, 2, 64, a);
	compare_all(&d, "a word of nodes");
	d = gen_digraph(3, 900, 3, 900, a);
	compare_all(&d, "a round graph");
	d = gen_digraph(4, 900, 2, 6, a);
	compare_all(&d, "a long thin graph");
	d = gen_digraph(5, 600, 40, 600, a);
	compare_all(&d, "a dense graph");
	d = gen_digraph(6, 800, 1, 800, a);
	d.m /= 2;
	compare_all(&d, "a graph in pieces");

	double D[8];
	struct fractal_opts o = {0};
	d = gen_digraph(7, 8, 1, 1, a);
	fractal_dimension(&d, &o, D);
	tap(fabs(D[0] - 1) < 1e-12 && D[3] < 1, "the end of a chain has dimension 1");

	d = gen_digraph(8, 5000, 1, 1, a);
	uint32_t cap = fractal_radius_cap(&d, false, 1e7);
	tap(cap >= 2 && cap < 5000, "a budget caps the radius in a chain (%u)", cap);
	tap(fractal_radius_cap(&d, false, 1e9) == 0, "a large budget does not");
	tap(fractal_radius_cap(&d, false, 1) == 2, "two radii at least");
	arena_free(a);
	return tap_end();
}
