/* lanes.c - see lanes.h. */
#include "kernel/conv/lanes.h"

#include <string.h>

int64_t cpu_lanes_offset(const struct window *g, int64_t t)
{
	return (t / g->kernel[2] * g->dilation[1] - g->pad[1]) * g->in[2] +
	       t % g->kernel[2] * g->dilation[2] - g->pad[2];
}

void cpu_lanes_shifted(const struct window *g, int64_t n0, int64_t n, int64_t words, uint16_t *bits)
{
	int64_t width = g->out[2];
	memset(bits, 0, (size_t)(g->taps * words) * sizeof *bits);
	for (int64_t t = 0; t < g->taps; t++, bits += words) {
		int64_t x0, x1, y0, y1;
		cpu_window_range(g, 2, t % g->kernel[2], &x0, &x1);
		cpu_window_range(g, 1, t / g->kernel[2], &y0, &y1);
		for (int64_t y = y0; y < y1; y++) {
			int64_t i = y * width + x0 - n0, end = y * width + x1 - n0;
			i = i < 0 ? 0 : i;
			end = end > n ? n : end;
			while (i < end) {
				int64_t stop = (i | 15) + 1 < end ? (i | 15) + 1 : end;
				bits[i / 16] |=
					(uint16_t)((1u << (stop - (i & ~15))) - (1u << (i & 15)));
				i = stop;
			}
		}
	}
}

/* Pixels n0 .. n0 + n - 1 as pieces that are in one output row and one vector; their number. */
static int find_pieces(const struct window *g, int64_t n0, int64_t n, struct gemm_piece *piece)
{
	int64_t width = g->out[2], down = g->stride[1] * g->in[2], x = n0 % width, y = n0 / width;
	int count = 0;
	for (int64_t at = 0; at < n; at += piece[count++].n) {
		int64_t run = 16 - at % 16 < width - x ? 16 - at % 16 : width - x;
		run = run < n - at ? run : n - at;
		piece[count] = (struct gemm_piece){y * down + 2 * x, at, run};
		x += run;
		y += x == width;
		x = x == width ? 0 : x;
	}
	return count;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

int cpu_lanes_halves(const struct window *g, int64_t n0, int64_t n, struct gemm_piece *piece,
		     uint32_t *bits)
{
	const uint64_t evens = 0x55555555u;
	int64_t width = g->out[2];
	int count = find_pieces(g, n0, n, piece);
	for (int64_t t = 0; t < g->taps; t++) {
		int64_t x0, x1, y0, y1, x = n0 % width, y = n0 / width;
		cpu_window_range(g, 2, t % g->kernel[2], &x0, &x1);
		cpu_window_range(g, 1, t / g->kernel[2], &y0, &y1);
		for (int i = 0; i < count; i++) {
			int64_t lane = piece[i].at % 16, lo = clamp(x0 - x, 0, piece[i].n),
				hi = clamp(x1 - x, lo, piece[i].n);
			uint64_t inside =
				((uint64_t)1 << 2 * (lane + hi)) - ((uint64_t)1 << 2 * (lane + lo));
			*bits++ = y >= y0 && y < y1 ? (uint32_t)(inside & evens) : 0;
			x += piece[i].n;
			y += x == width;
			x = x == width ? 0 : x;
		}
	}
	return count;
}
