/* quantize_weights.c - weights that lie on grids, as codes (quantize.h). */
#include "kernel/quantize.h"

#include <math.h>
#include <string.h>

/* Are all of w[n], the largest of which is k * s, multiples of s but for rounding?  Then code[n]. */
static bool on_grid(const float *w, int64_t n, float s, int k, int8_t *code)
{
	const float near =
		1.6e-5f * (float)k; /* of s: as far from the largest, however few codes there are */
	for (int64_t i = 0; i < n; i++) {
		float q = w[i] / s, nearest = rintf(q);
		if (!(fabsf(q - nearest) < near) || nearest < -128 || nearest > 127)
			return false;
		code[i] = (int8_t)nearest;
	}
	return true;
}

bool codes_of_weights(const float *w, int64_t rows, int64_t n, int8_t *code, float *scale)
{
	for (int64_t r = 0; r < rows; r++, w += n, code += n) {
		float most = 0;
		bool fits = false;
		for (int64_t i = 0; i < n; i++)
			most = fabsf(w[i]) > most ? fabsf(w[i]) : most;
		scale[r] = 1;
		if (most == 0) {
			memset(code, 0, (size_t)n);
			continue;
		}
		if (!(most > 1e-30f && most < 1e30f))
			return false;
		/* The largest weight has some code; a full range is what quantizers make. */
		for (int k = 127; k >= 1 && !fits; k--)
			if ((fits = on_grid(w, n, scale[r] = most / (float)k, k, code)))
				break;
		if (!fits && !on_grid(w, n, scale[r] = most / 128, 128, code))
			return false;
	}
	return true;
}
