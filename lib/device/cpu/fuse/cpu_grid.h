/* cpu_grid.h - which numbers and weights lie on grids of 8 bits.
 *
 * A grid is what FakeQuantize leaves of the real numbers: scale * (code - zero) for whole codes of 8 bits. */
#ifndef HSDAG_DEVICE_CPU_FUSE_CPU_GRID_H
#define HSDAG_DEVICE_CPU_FUSE_CPU_GRID_H

#include "device/host_memory.h"
#include "kernel/cpu_codes.h"

/* The form of codes of a grid with zero among them: bytes have a sign where that gives zero the code 0. */
struct mem_form grid_form(const struct code_grid *x);
/* The grid that the outputs of node v lie on, as the form of its codes: a FakeQuantize with limits of one value each, the
 * same before and after, 256 levels, zero among them; MaxPool,
 * views, slices, Splits, Pads of zeros and Concats of one grid between it and the output change nothing. */
bool grid_of(const struct graph *g, uint32_t v, const struct step_env *env, struct mem_form *f);
/* The grid of any FakeQuantize with limits of one value each and at most 256 levels; whatever moves values, and changes none,
 * may lie between it and the output. */
bool grid_of_values(const struct graph *g, uint32_t v, const struct step_env *env,
		    struct code_grid *grid);
/* The same of the FakeQuantize v itself, where it has limits for each of n channels (dim 1), zero being a code of each (form_zero):
 * scales (3,n) is filled, and is the form's. */
bool grid_of_channels(const struct graph *g, uint32_t v, const struct step_env *env, int64_t n,
		      struct mem_form *f, float *scales);
/* Does a FakeQuantize v of f32 make what only products of many rows with constants of codes read, so that codes may lie in memory row by row in
 * place of its numbers (mem_form without pixels)?  Then their grid. */
bool grid_of_rows(const struct graph *g, uint32_t v, const struct step_env *env,
		  struct code_grid *grid);
/* Rows of n weights each as code[i] * scale[row] with codes of -127 .. 127, exactly but for
 * rounding; false: they do not lie on such grids. */
bool grid_of_weights(const float *w, int64_t rows, int64_t n, int8_t *code, float *scale);

#endif
