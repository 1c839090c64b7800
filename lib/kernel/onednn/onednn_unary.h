/* onednn_unary.h - a unary operator behind a convolution, by the library or by us. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_UNARY_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_UNARY_H

#include "kernel/vec.h"
#include "kernel/onednn/onednn_api.h"

/* The operator as what comes behind a convolution; is_there is false where the library has none. */
struct onednn_eltwise onednn_unary_of(enum op_kind kind, const struct unary_args *args);
/* Does the library make a number, a limit, of what is none?  Then it may only have sums that are finite. */
bool onednn_unary_limits(enum op_kind kind);
/* Is one of t (f32, f16, bf16) so large that sums of products may not be finite?  f16: infinite or no number. */
bool onednn_any_huge(const struct tensor *t);
/* y = f(y) for n f32 or bf16; what is not a number stays so. */
void onednn_unary_run(enum op_kind kind, const struct unary_args *args, bool bf16, void *y,
		      int64_t n);

#endif
