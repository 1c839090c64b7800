/* conv_tasks.h - how a product over pixels is cut into tasks: tiles of pixels whose patches fit the
 * cache, and, for several threads, parts of the weights' rows. */
#ifndef HSDAG_KERNEL_CONV_CONV_TASKS_H
#define HSDAG_KERNEL_CONV_CONV_TASKS_H

#include <stdint.h>

struct cut {
	int64_t kc;            /* rows of patches that are packed at a time */
	int64_t tile, n_tiles; /* pixels of a tile, a multiple of GEMM_N; tiles of a plane */
	int64_t m_parts;       /* parts into which the rows of weights are cut */
};

/* For `planes` products of weights (m,k) with patches (k,n), one after another tile by tile.  Every
 * task packs the patches of its tile itself.  Sums do not depend on the cut. */
struct cut cpu_cut(int64_t planes, int64_t m, int64_t k, int64_t n, int64_t threads);

#endif
