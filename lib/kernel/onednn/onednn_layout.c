/* onednn_layout.c - see onednn_layout.h. */
#include "kernel/onednn/onednn_layout.h"
#include "kernel/transpose.h"
#include "kernel/vec.h"

enum { PIXELS = 32, CHANNELS = 64 }; /* of a tile in the first-level cache */

void layout_to_pixels(const float *x, int64_t step, int64_t c, int64_t n, uint16_t *y)
{
	float tile[PIXELS * CHANNELS];
	for (int64_t i = 0; i < n; i += PIXELS)
		for (int64_t j = 0; j < c; j += CHANNELS) {
			int64_t pixels = n - i < PIXELS ? n - i : PIXELS;
			int64_t some = c - j < CHANNELS ? c - j : CHANNELS;
			cpu_turn(x + j * step + i, step, some, pixels, tile, CHANNELS);
			for (int64_t p = 0; p < pixels; p++)
				vec_to_bf16(tile + p * CHANNELS, y + (i + p) * c + j, some);
		}
}

void layout_to_planes(const float *x, int64_t c, int64_t n, float *y, int64_t step)
{
	for (int64_t i = 0; i < n; i += PIXELS)
		for (int64_t j = 0; j < c; j += CHANNELS) {
			int64_t pixels = n - i < PIXELS ? n - i : PIXELS;
			int64_t some = c - j < CHANNELS ? c - j : CHANNELS;
			cpu_turn(x + i * c + j, c, pixels, some, y + j * step + i, step);
		}
}
