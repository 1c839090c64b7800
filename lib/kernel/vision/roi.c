/* roi.c - what poolings of regions of interest share. */
#include "kernel/vision/roi.h"

float roi_clamp(float x, float lo, float hi)
{
	return !(x > lo) ? lo : x > hi ? hi : x;
}

float roi_bilinear(const float *f, struct plane p, float y, float x)
{
	int64_t y0 = (int64_t)y, x0 = (int64_t)x;
	int64_t y1 = y0 + (y0 + 1 < p.h), x1 = x0 + (x0 + 1 < p.w);
	float dy = y - (float)y0, dx = x - (float)x0;
	float top = f[y0 * p.w + x0] + (f[y0 * p.w + x1] - f[y0 * p.w + x0]) * dx;
	float bottom = f[y1 * p.w + x0] + (f[y1 * p.w + x1] - f[y1 * p.w + x0]) * dx;
	return top + (bottom - top) * dy;
}

int roi_outside(int64_t image, struct err *e)
{
	return err_set(e, ST_INPUT, "a region lies in image %lld, which is not there",
		       (long long)image);
}
