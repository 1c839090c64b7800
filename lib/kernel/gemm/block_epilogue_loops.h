/* block_epilogue_loops.h - the end of a simple epilogue in registers (struct gemm_post), one level
 * (isa_dispatch.h).  Swish comes after it, over finished rows. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/vecmath.h"

/* What becomes of a sum with its bias and its summands.  NaN stays. */
static inline __attribute__((always_inline)) VEC LEVEL(post_limits)(const struct gemm_post *p, VEC v)
{
	if (p->hswish)
		v = VMUL(v, VMUL(VMIN(VALL(6.0f), VMAX(VALL(0.0f), VADD(v, VALL(3.0f)))),
				 VALL(1 / 6.0f)));
	return VMIN(VALL(p->hi), VMAX(VALL(p->lo), v));
}
