/* amx_panel.c - see amx_panel.h. */
#include "kernel/tiles/amx_panel.h"
#include "kernel/kernel_impl.h"

enum {
	BLOCK_BYTES = 24 << 10, /* of a panel, that stay in the first-level cache */
	WHOLE_BYTES = 40 << 10, /* not cut into such */
	LINE = 64
};

static int64_t count_blocks(const struct tile_panel *p, int64_t step_bytes)
{
	int64_t bytes = p->steps * step_bytes, n = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
	return bytes <= WHOLE_BYTES ? 1 : n < p->steps ? n : p->steps;
}

void tile_panel_run(const struct tile_panel *p, int64_t from, int64_t end)
{
	int64_t step_bytes = tile_panel_step(p->step), blocks = count_blocks(p, step_bytes);
	int64_t share = (step_bytes / LINE + end - from - 1) / (end - from);
	for (int64_t k = 0; k < blocks; k++) {
		int64_t lo, hi;
		cpu_range(p->steps, (int)blocks, (int)k, &lo, &hi);
		struct tiles_sum s = {.type = p->type,
				      .a_step = p->a_step,
				      .at = p->at + lo,
				      .n = hi - lo,
				      .b = p->b + lo * step_bytes,
				      .ahead = p->b + hi * step_bytes,
				      .ahead_lines = (int)share,
				      .add = p->add || k > 0};
		for (int64_t i = from; i < end; i++, s.ahead += share * LINE * s.n) {
			int both = 2 * i + 1 < p->n_tiles ? 2 : 1;
			float *c = p->sums + (p->keep ? i : blocks > 1 ? i - from : 0) * PANEL_SUMS;
			s.c = c;
			for (int j = 0; j < both; j++)
				s.a[j] = p->a + p->tile[2 * i + j];
			tiles_sum(&s, both, p->columns, p->step);
			for (int j = 0; j < both && p->last && k == blocks - 1; j++)
				p->finish(p->arg, 2 * i + j, c + j * PANEL_SUMS / 2);
		}
	}
}
