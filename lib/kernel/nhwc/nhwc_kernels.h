/* nhwc_kernels.h - operators on f32 tensors that may lie in NHWC, as f32, bf16 or codes (mem_form.h).
 *
 * Of x the form says how it lies; y's form says how it is to lie, in the memory that is there.  All return 0, or -1 (ST_RUNTIME). */
#ifndef HSDAG_KERNEL_NHWC_NHWC_KERNELS_H
#define HSDAG_KERNEL_NHWC_NHWC_KERNELS_H

#include "kernel/kernel_impl.h"
#include "kernel/window.h"
#include "kernel/nhwc/nhwc_form.h"
#include "op/resize_taps.h"

/* MaxPool, AvgPool, or ReduceMean of whole planes; x lies in NHWC. */
struct nhwc_pool {
	bool mean;
	bool padded_counts; /* a mean's windows count padding, too */
	struct form_shape in_shape, shape;
	struct window g;
};
int nhwc_pool(const struct nhwc_pool *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
	      const struct nhwc_tensor *y, struct err *e) MUST_CHECK;

/* The mean of the channels of each pixel, into y (images * pixels). */
int nhwc_mean(const struct form_shape *s, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
	      float *y, struct err *e) MUST_CHECK;

/* Channels of n tensors one behind the other: Concat; of one: a slice of channels. */
struct nhwc_join {
	uint32_t n;
	struct nhwc_join_part {
		struct form_shape whole; /* the tensor's */
		int64_t first, n;        /* channels of it that are taken */
	} * part;                        /* (n) */
	struct form_shape shape;
};
/* x: (n) */
int nhwc_join(const struct nhwc_join *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
	      const struct nhwc_tensor *y, struct err *e) MUST_CHECK;

/* MVN over planes, GroupNormalization. */
struct nhwc_norm {
	struct form_shape shape;
	int64_t groups; /* of channels with one mean */
	float eps;
	bool eps_inside, scales;
	struct tensor gain, shift; /* (channels), borrowed; without data: 1 and 0 */
};
int nhwc_norm(const struct nhwc_norm *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
	      const struct nhwc_tensor *y, struct err *e) MUST_CHECK;

/* n elements in the order in which they lie, as elements of another type; one of both is f32. */
void nhwc_retype(struct cpu_ctx *ctx, int64_t n, const struct nhwc_tensor *x,
		 const struct nhwc_tensor *y);

/* Interpolate of the two spatial dims of a tensor of four, without padding. */
struct nhwc_resize {
	struct form_shape in_shape, shape;
	int64_t in[2], out[2];
	struct resize_tap *tap[2]; /* (out[0]), (out[1]) */
};
int nhwc_resize(const struct nhwc_resize *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
		const struct nhwc_tensor *y, struct err *e) MUST_CHECK;

/* Pixels of x, or fill, into a box of y: Pad and slices of spatial dims, one input of a Concat along one of them. */
struct nhwc_pixels {
	struct form_shape in_shape, shape;
	int64_t in[3], out[3];  /* spatial sizes, 1 in front */
	int64_t first[3], n[3]; /* the box of y */
	int64_t *from[3];       /* (n[d]) the source's position; -1: fill */
	float fill;
};
/* The shapes of x and y, of 3 to 5 dims. */
void nhwc_pixels_shapes(struct nhwc_pixels *p, const struct tensor *x, const struct tensor *y);
/* Frees from[]. */
void nhwc_pixels_release(struct nhwc_pixels *p);
int nhwc_pixels(const struct nhwc_pixels *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
		const struct nhwc_tensor *y, struct err *e) MUST_CHECK;

#endif
