/* fitted.h - run records by costs that fit what the placements of a stream took, or by several draws
 * of such costs: what is good under many of them is not good by an error of one. */
#ifndef HSDAG_PLACE_REFIT_FITTED_H
#define HSDAG_PLACE_REFIT_FITTED_H

#include "place/problem/placeinputs.h"
#include "record/placerec.h"

struct fitted;

/* Read the stream at path, which has a graph, costs, devices and measured placements, and fit
 * (refit.h) with schedules in orders that are found so by the stream's own costs.  draws 0: the most likely costs; N: draws 1 .. N, seeded with seed.  NULL: ST_INPUT
 * where it has none of them. */
struct fitted *fitted_open(const char *path, uint64_t seed, uint32_t draws, enum place_order order,
			   struct err *e);
void fitted_free(struct fitted *x);

/* The models for placements on these devices of the graph with this digest, which are borrowed until
 * the next call.  -1: ST_INPUT, it is another graph; as place_inputs_model. */
int fitted_ready(struct fitted *x, uint64_t graph, const char *const *names, uint32_t k,
		 struct err *e) MUST_CHECK;

/* The `run` record of p, whose devices are those: lat_s is the geometric mean over the draws, lo_s
 * and hi_s are the least and the largest. */
int fitted_answer(struct fitted *x, const struct place_rec *p, struct rec_writer *w,
		  struct err *e) MUST_CHECK;

/* The geometric mean alone; 0: p is not legal. */
double fitted_predict(struct fitted *x, const struct place_rec *p);

#endif
