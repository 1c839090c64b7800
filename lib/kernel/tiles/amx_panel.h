/* amx_panel.h - pairs of tiles of rows by a panel of two tiles of columns: so many steps at a time that their part of the
 * panel stays in the first-level cache while the pairs pass by, and what comes next is fetched ahead. */
#ifndef HSDAG_KERNEL_TILES_AMX_PANEL_H
#define HSDAG_KERNEL_TILES_AMX_PANEL_H

#include "kernel/tiles/amx_tiles.h"

enum {
	PANEL_PAIRS = 16, /* of tiles, that pass by at most */
	PANEL_COLUMNS = 2 * TILES_N,
	PANEL_SUMS = 2 * TILES_M * PANEL_COLUMNS /* floats of a pair */
};

struct tile_panel {
	enum tiles_type type;
	const char *a;
	int64_t n_tiles, a_step; /* bytes from one row to the next */
	const int64_t *tile;     /* (n_tiles): bytes from a to the first of a tile of rows */
	const int64_t *at;       /* (steps): from there to each of its steps */
	int64_t steps, step;     /* bytes of a step: as told to tiles_begin */
	const char *b;           /* as struct tiles_sum has it */
	int columns;             /* tiles of them: 1 or 2 */
	/* 64-byte aligned, (PANEL_PAIRS, PANEL_SUMS); or, to be kept, (pairs of all tiles, PANEL_SUMS). */
	float *sums;          /* or i32 */
	bool keep, add, last; /* add to what is there; finish the sums */
	/* What becomes of the sums of tile i. */
	void (*finish)(const void *arg, int64_t i, const float *sums);
	const void *arg;
};
/* Bytes of a step of b. */
static inline int64_t tile_panel_step(int64_t step)
{
	return step / TILES_UNIT * PANEL_COLUMNS * TILES_UNIT;
}
/* Pairs from .. end - 1 of tiles, PANEL_PAIRS at most. */
void tile_panel_run(const struct tile_panel *p, int64_t from, int64_t end);

#endif
