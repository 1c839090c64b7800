/* onednn.h - products in bf16 by oneDNN, for contexts whose precision is not f32 (kernel.h).
 *
 * Inputs and outputs stay plain f32 tensors: activations are converted on their way into a
 * product, weights are converted once into the layout that the library wants; sums are f32.
 * Without WITHOUT_ONEDNN's opposite, a library at build time, only onednn_open is there. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_H

#include "kernel/kernel_impl.h"

/* How this processor multiplies bf16. */
enum onednn_speed {
	ONEDNN_CONVERTED, /* not at all: operands would be converted to f32 */
	ONEDNN_SLOW_BF16, /* AVX512_BF16 at half the rate of f32: Intel's without usable AMX */
	ONEDNN_BF16,      /* AVX512_BF16 at twice the rate of f32 */
	ONEDNN_AMX
};

#ifdef WITHOUT_ONEDNN
static inline int onednn_open(struct err *e)
{
	return err_set(e, ST_USAGE,
		       "this program was built without oneDNN (libdnnl-dev), which multiplies in "
		       "other precisions than f32");
}
static inline enum onednn_speed onednn_speed(void)
{
	return ONEDNN_CONVERTED;
}
static inline bool onednn_multiplies(void)
{
	return false;
}
static inline bool onednn_multiplies_codes(void)
{
	return false;
}
#define onednn_prepare NULL
#else
/* Load the library, once in a process.  ST_USAGE when it is not installed. */
int onednn_open(struct err *e) MUST_CHECK;
enum onednn_speed onednn_speed(void);
/* Are products in bf16 faster than in f32?  True also where HSDAG_BF16_PRODUCTS=1 is in the
 * environment, for tests. */
bool onednn_multiplies(void);
/* Are products of 8-bit integers exact, and faster than f32: has the processor VNNI? */
bool onednn_multiplies_codes(void);
/* A cpu_prepare_fn (kernel_impl.h) for MatMul, Convolution and GroupConvolution. */
cpu_prepare_fn onednn_prepare;
#endif

#endif
