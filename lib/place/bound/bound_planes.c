/* bound_planes.c - a dual by cutting planes: J. E. Kelley, "The cutting-plane method for solving
 * convex programs", J. SIAM 8(4), 1960.  What a minimiser loads and holds is a plane above the
 * dual; the highest point below all planes so far is where the next minimiser is asked for. */
#include <math.h>
#include <string.h>

#include "partition/lp.h"
#include "place/bound/bound_dual.h"

static const double NEAR = 1e-3; /* relative: planes this near to the dual are near enough */
static const double WIDEST = 50; /* multipliers of memory, of the bound known before */

struct planes {
	struct dual *x;
	double roof, most_mu;  /* the highest point; limit of mu */
	uint32_t n, n_columns; /* planes; columns: w, mu, the height */
	double *load, *use;    /* (rounds,n) of each */
	double *point;         /* (n_columns) */
};

static void add_plane(struct planes *p)
{
	const struct dual *x = p->x;

	memcpy(p->load + (size_t)p->n * x->n, x->load, x->n * sizeof(*x->load));
	memcpy(p->use + (size_t)p->n * x->n, x->use, x->n * sizeof(*x->use));
	p->n++;
}

static bool takes_memory(const struct dual *x, uint32_t c)
{
	return c < x->n_classes && x->v->limit[x->first[c]] < UINT64_MAX;
}

static struct lp *below_planes(const struct planes *p)
{
	const struct dual *x = p->x;
	struct lp *lp = lp_new();

	for (uint32_t c = 0; c < x->n; c++)
		lp_column(lp, 0, 1 / x->size[c], 0);
	for (uint32_t c = 0; c < x->n; c++)
		lp_column(lp, 0, takes_memory(x, c) ? p->most_mu : 0, 0);
	uint32_t height = lp_column(lp, -INFINITY, INFINITY, -1);
	lp_row(lp, 1, 1);
	for (uint32_t c = 0; c < x->n; c++)
		lp_term(lp, c, x->size[c]);
	for (uint32_t i = 0; i < p->n; i++) {
		lp_row(lp, 0, INFINITY);
		for (uint32_t c = 0; c < x->n; c++) {
			lp_term(lp, c, x->size[c] * p->load[(size_t)i * x->n + c]);
			if (takes_memory(x, c))
				lp_term(lp, x->n + c, p->use[(size_t)i * x->n + c] - 1);
		}
		lp_term(lp, height, -1);
	}
	return lp;
}

/* w and mu to the highest point below all planes; false: nobody can tell. */
static bool go_highest(struct planes *p)
{
	struct dual *x = p->x;
	struct lp *lp = below_planes(p);
	struct err none = ERR_INIT;
	double sum = 0, height_s = 0;
	bool known = lp_solve(lp, 0, 0, p->point, NULL, &height_s, &none) == LP_OPTIMAL;

	lp_free(lp);
	for (uint32_t c = 0; known && c < x->n; c++) {
		x->w[c] = fmax(0, p->point[c]);
		x->mu[c] = fmax(0, p->point[x->n + c]);
		sum += x->w[c] * x->size[c];
	}
	/* A solver's are off by a hair. */
	for (uint32_t c = 0; known && c < x->n; c++)
		x->w[c] /= sum;
	p->roof = -height_s;
	return known;
}

double dual_planes(struct dual *x, int rounds, double known, dual_value value, void *arg)
{
	size_t n = (size_t)x->n * (size_t)rounds;
	struct planes p = {.x = x,
			   .most_mu = WIDEST * known,
			   .load = MEM_NEWN(double, n),
			   .use = MEM_NEWN(double, n),
			   .point = MEM_NEWN(double, 2 * (size_t)x->n + 1)};
	double best = known;

	for (int i = 0; i < rounds && !bound_is_late(x->v->deadline_s); i++) {
		best = fmax(best, dual_at(x, value, arg));
		add_plane(&p);
		if (!go_highest(&p) || p.roof <= best * (1 + NEAR))
			break;
	}
	mem_free(p.load);
	mem_free(p.use);
	mem_free(p.point);
	return best;
}
