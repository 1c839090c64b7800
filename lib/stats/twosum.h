/* twosum.h - sums that can be taken apart again: what rounding leaves out is kept beside them, so
 * that adding a large number and taking it off does not cost the small ones their digits.
 * Source: Knuth, The Art of Computer Programming 2, section 4.2.2, theorem B. */
#ifndef HSDAG_STATS_TWOSUM_H
#define HSDAG_STATS_TWOSUM_H

/* The sum is *sum + *low. */
static inline void twosum_add(double *sum, double *low, double x)
{
	double all = *sum + x, of_x = all - *sum;

	*low += (*sum - (all - of_x)) + (x - of_x);
	*sum = all;
}

#endif
