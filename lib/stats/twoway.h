/* twoway.h - effects of rows and columns of a table with many or no values in a cell.
 *
 * y = row effect + column effect + noise, where disturbed values are too large and none is too
 * small: means of rows and of columns in turn, without the extreme values (two-way layout; Tukey
 * 1977, Exploratory Data Analysis, chapter 10, with trimmed means for medians). */
#ifndef HSDAG_STATS_TWOWAY_H
#define HSDAG_STATS_TWOWAY_H

#include <stdint.h>

struct twoway {
	uint32_t n, n_rows, n_columns;
	const double *y;              /* (n) */
	const uint32_t *row, *column; /* (n) of each value */
	double cut;                   /* share of the values that means leave out at either end */
	double cut_slow;              /* in the end, share that rows leave out at the large end */
};

/* row_effect (n_rows); a row without a value keeps what is there.  Column effects are 0 in the
 * mean. */
void twoway_rows(const struct twoway *t, double *row_effect);

/* The same with all column effects 0. */
void twoway_rows_alone(const struct twoway *t, double *row_effect);

#endif
