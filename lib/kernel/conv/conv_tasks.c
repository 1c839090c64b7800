/* conv_tasks.c - see conv_tasks.h. */
#include "kernel/conv/conv_tasks.h"
#include "kernel/gemm/gemm.h"

enum {
	TILE_FLOATS = 1 << 17, /* of packed patches: half the second-level cache */
	MAX_TILE = 2048,       /* pixels */
	TRIES = 8
};

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* Time of a task with so many panels of weights and of pixels, in tiles of the innermost kernel:
 * the panels of weights come from another cache once, packing a panel of pixels takes a half. */
static double task_time(int64_t m_panels, int64_t n_panels)
{
	return (double)m_panels * ((double)n_panels + 0.4) + 0.5 * (double)n_panels;
}

/* Until the last of `threads` has ended, when each takes the next task. */
static double makespan(int64_t planes, int64_t m_panels, int64_t n_panels, int64_t tile,
		       int64_t parts, int64_t threads)
{
	int64_t rows = ceil_div(m_panels, parts), last = n_panels % tile;
	int64_t whole = planes * parts * (n_panels / tile), rest = last ? planes * parts : 0;
	int64_t idle = (threads - whole % threads) % threads;
	double rounds = (double)ceil_div(whole, threads) * task_time(rows, tile);
	return rest > idle ? rounds + (double)ceil_div(rest - idle, threads) * task_time(rows, last)
			   : rounds;
}

struct cut cpu_cut(int64_t planes, int64_t m, int64_t k, int64_t n, int64_t threads)
{
	int64_t m_panels = ceil_div(m, GEMM_M), n_panels = ceil_div(n, GEMM_N);
	struct cut c = {.kc = ceil_div(k, ceil_div(k, GEMM_K)), .m_parts = 1};
	int64_t most = TILE_FLOATS / c.kc;
	most = (most < MAX_TILE ? most : MAX_TILE) / GEMM_N;
	int64_t fewest = ceil_div(n_panels, most), best = ceil_div(n_panels, fewest);
	double least = makespan(planes, m_panels, n_panels, best, 1, threads);
	for (int64_t tiles = fewest; threads > 1 && tiles < fewest + TRIES * threads; tiles++)
		for (int64_t parts = 1; parts <= 2 * threads && parts * 2 <= m_panels; parts *= 2) {
			int64_t tile = ceil_div(n_panels, tiles);
			double t = makespan(planes, m_panels, n_panels, tile, parts, threads);
			if (t >= 0.98 * least)
				continue;
			least = t;
			best = tile;
			c.m_parts = parts;
		}
	c.tile = best * GEMM_N;
	c.n_tiles = ceil_div(n_panels, best);
	return c;
}
