/* cpu_kinds.c - see cpu_kinds.h. */
#include "device/cpu/pass/cpu_kinds.h"

#define KINDS(X) \
	X(dynop_kind) \
	X(attended_kind) \
	X(rms_kind) \
	X(moves_kind) \
	KINDS_NHWC(X) \
	X(fused_kind)

#ifdef WITHOUT_ONEDNN
#define KINDS_NHWC(X)
#else
#define KINDS_NHWC(X) \
	X(nhwc_conv_kind) \
	X(nhwc_deconv_kind) \
	X(nhwc_pool_kind) \
	X(nhwc_mean_kind) \
	X(nhwc_concat_kind) \
	X(nhwc_slice_kind) \
	X(nhwc_split_kind) \
	X(nhwc_rows_kind) \
	X(nhwc_turn_kind) \
	X(nhwc_resize_kind) \
	X(nhwc_pad_kind) \
	X(nhwc_blocks_kind) \
	X(nhwc_norm_kind) \
	X(nhwc_elementwise_kind)
#endif

#define DECLARED(kind) extern const struct step_kind kind;
KINDS(DECLARED)

#define LISTED(kind) &kind,
const struct step_kind *const cpu_kinds[] = {KINDS(LISTED) NULL};
