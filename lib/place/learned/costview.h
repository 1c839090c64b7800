/* costview.h - what learned methods know of a model before anything is placed: mean costs, ranks,
 * optimistic costs, scales.  Features are ratios to these scales, so that neither the unit of time
 * nor the number or order of devices matters. */
#ifndef HSDAG_PLACE_LEARNED_COSTVIEW_H
#define HSDAG_PLACE_LEARNED_COSTVIEW_H

#include "place/problem/placemodel.h"

struct cost_view {
	const struct place_model *m;
	uint32_t n, k;    /* tasks, devices */
	double *mean_s;   /* (n) over devices that can run it */
	double *least_s;  /* (n) */
	double *use_s;    /* (n_uses) mean seconds of a copy between two devices */
	double *in_s;     /* (n) the longest of its inputs' mean copies */
	double *out_s;    /* (n) the longest of its tensors' mean copies */
	double *rank;     /* (n) upward rank of means (Topcuoglu et al. 2002, section 4.1) */
	double *down;     /* (n) downward rank: from the beginning to its start */
	double *oct;      /* (n,k) optimistic cost of what follows (Arabnejad, Barbosa 2014) */
	double *speed;    /* (k) log of its costs beside the mean of all, mean over work */
	uint32_t *twins;  /* (n) number of the class of tasks of equal costs and tensors */
	uint32_t n_twins; /* classes */
	double top_s;     /* the largest rank */
	double task_s;    /* mean of mean_s */
	double span_s;    /* about a makespan: the larger of top_s and all work over all devices */
};

/* m is borrowed; memory from a. */
void cost_view_init(struct cost_view *x, const struct place_model *m, struct arena *a);

/* A ratio as a feature: x / (1 + |x|), in -1 .. 1; x may be infinite. */
static inline float squash(double x)
{
	const double most = 1e30;
	x = x > most ? most : x < -most ? -most : x;
	return (float)(x / (1 + (x < 0 ? -x : x)));
}

/* f (n) = row (n), within what parameters can be multiplied with: ratios of copies to costs have no bound. */
static inline void write_features_row(float *f, const double *row, uint32_t n)
{
	const double most = 1e6;
	for (uint32_t i = 0; i < n; i++)
		f[i] = (float)(row[i] > most ? most : row[i] < -most ? -most : row[i]);
}

#endif
