/* extremes.h - the larger and the smaller of two numbers that are not NaN: one instruction each, where
 * fmax and fmin are calls. */
#ifndef HSDAG_BASE_EXTREMES_H
#define HSDAG_BASE_EXTREMES_H

static inline double max2(double a, double b)
{
	return a > b ? a : b;
}

static inline double min2(double a, double b)
{
	return a < b ? a : b;
}

#endif
