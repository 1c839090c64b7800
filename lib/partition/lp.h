/* lp.h - linear programmes: minimise cost x, rows and columns between bounds.  Solved by COIN-OR
 * Clp, which is loaded when the first one is solved: few runs need it, and it brings much along. */
#ifndef HSDAG_PARTITION_LP_H
#define HSDAG_PARTITION_LP_H

#include <stdint.h>

#include "base/err.h"

struct lp;

struct lp *lp_new(void);
void lp_free(struct lp *x);

/* One more column or row, lo <= it <= hi (-INFINITY, INFINITY: not bounded); returns its number. */
uint32_t lp_column(struct lp *x, double lo, double hi, double cost);
uint32_t lp_row(struct lp *x, double lo, double hi);
/* Add value x column to the last row; each column at most once. */
void lp_term(struct lp *x, uint32_t column, double value);

enum lp_status { LP_OPTIMAL, LP_INFEASIBLE, LP_UNBOUNDED, LP_STOPPED };

/* Simplex with at most so many steps (0: as many as it takes), and seconds when > 0.  x (columns)
 * and dual (rows) receive what Clp has in the end, also when it was stopped; each may be NULL.  -1
 * (ST_RUNTIME): Clp cannot be loaded; else an lp_status. */
int lp_solve(const struct lp *p, int32_t max_steps, double max_s, double *x, double *dual,
	     double *objective, struct err *e) MUST_CHECK;

#endif
