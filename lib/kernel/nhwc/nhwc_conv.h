/* nhwc_conv.h - convolutions of images in NHWC: what their files share. */
#ifndef HSDAG_KERNEL_NHWC_NHWC_CONV_H
#define HSDAG_KERNEL_NHWC_NHWC_CONV_H

#include <stdatomic.h>

#include "kernel/nhwc/nhwc_program.h"
#include "kernel/onednn/onednn_conv.h"
#include "kernel/tiles/amx_conv.h"

/* A convolution, or a transposed one, whose blocks a convolution computes. */
struct conv_step {
	struct cpu_ctx *ctx;
	struct form_shape in_shape, shape;
	struct window g;
	bool joined; /* its images are one behind the other, as if they were one */
	bool framed; /* the window's input has the padding, of codes of zero, which differ from channel to channel */
	int64_t margin[3], size[3]; /* of framed ones: in front of the input, and the input's */
	char *zeros;                /* a pixel of such codes */
	uint32_t x_in;              /* the input with the data */
	struct mem_form x;          /* what it is read as */
	float *x_scales,
		*scales; /* of x, and of the output, where they are for each channel; NULL */
	const struct conv_engine *engine; /* nhwc_conv_engine.c: which kernel computes it */
	void *kernel;
	int parts; /* of each of the convolution's slices, for threads that had none */
	/* Of a transposed one: pixels of the output's blocks, in front of the first one's that there are, and of the output */
	int64_t up[3], crop[3], made[3];
	bool direct; /* the convolution writes this form */
	struct mem_form codes;
	bool has_program; /* it changes what the convolution makes */
	struct nhwc_program program;
};

/* ---- nhwc_conv_engine.c ---- */

void conv_release(struct conv_step *s);
uint64_t conv_bytes(const struct conv_step *s); /* packed weights and primitives */
/* Who computes it, for people. */
const char *conv_engine_name(const struct conv_step *s);
/* The convolution of s->g in s->x.elem: weights (groups * cout, cin, taps), read by the call; key as onednn_conv_spec says; bias
 * and unary may be NULL.  s->direct: its results are of that type, too, else f32.  1; 0: no such convolution; -1: ST_RUNTIME. */
int plain_conv(struct conv_step *s, const struct tensor *w, const void *key, const float *bias,
	       const struct epi_code *unary, struct err *e) MUST_CHECK;
/* The same by matrix tiles, and by oneDNN, as the spec says; 1; 0: it has no such convolution; -1. */
int conv_by_tiles(struct conv_step *s, const struct tiled_conv_spec *spec,
		  struct err *e) MUST_CHECK;
int conv_by_onednn(struct conv_step *s, const struct onednn_conv_spec *spec,
		   struct err *e) MUST_CHECK;
/* Does the convolution of s->g apply this unary operator itself, by matrix tiles (tiles) or otherwise? */
bool conv_does(const struct conv_step *s, const struct epi_code *unary, bool tiles);
/* The kernel by matrix tiles; NULL: it is another. */
struct tiled_conv *conv_tiles(const struct conv_step *s);
/* In how many parts of their output channels slices are worked on, where there are fewer of them than threads. */
int conv_choose_parts(const struct conv_step *s);
/* The convolution's slices, whoever computes it: as onednn_conv_slices, onednn_conv_slice, onednn_conv_run. */
int conv_slices(const struct conv_step *s);
struct window_slice conv_slice(const struct conv_step *s, int i);
int conv_slice_run(const struct conv_step *s, int i, struct channel_part part, const void *x,
		   void *y, void *scratch, struct err *e) MUST_CHECK;

/* A run. */
struct conv_run {
	struct conv_step *s;
	struct nhwc_tensor x, y;          /* the input with the data, the output */
	const struct nhwc_tensor *memory; /* of the program */
	char *ready; /* codes of the whole input, where they are made before; NULL */
	char *sums;  /* all its sums, where the output is no place for them; NULL */
	bool adds;   /* a convolution by tiles adds `sum` as it writes */
	struct tiled_conv_sum sum;
	struct err err;
	atomic_flag failed;
};

/* ---- nhwc_conv_input.c ---- */

/* Pixels of an image. */
struct image_part {
	int64_t image, first, n;
};
/* Of those from `first` on, n of them: as many as the image has there, where images are joined (the step's joined) and do not lie as
 * one (apart). */
struct image_part image_part_of(const struct form_shape *s, bool apart, int64_t image,
				int64_t first, int64_t n);
/* Codes of pixels of the convolution's input, which is in another form, to x.  tile: floats of an nhwc_tile. */
void conv_make_codes(const struct conv_run *r, struct image_part p, char *x, float *tile);
/* Codes of the pixels that a slice reads: where they are, or made in x. */
const void *conv_slice_input(const struct conv_run *r, int64_t image, const struct window_slice *sl,
			     char *x, float *tile);

/* ---- nhwc_conv_codes.c ---- */

/* As plain_conv of codes (s->x), where the weights lie on grids, too; s->direct: its results are codes of s->codes, else f32. */
int codes_conv(struct conv_step *s, const struct tensor *w, const void *key, const float *bias,
	       struct err *e) MUST_CHECK;

/* ---- nhwc_conv_slices.c: the convolution, and what follows it ---- */

/* memory: of the program's operands, NULL without one. */
int conv_run(struct conv_step *s, const struct nhwc_tensor *x, const struct nhwc_tensor *y,
	     const struct nhwc_tensor *memory, struct err *e) MUST_CHECK;
/* The same of a transposed one. */
int deconv_run(struct conv_step *s, const struct nhwc_tensor *x, const struct nhwc_tensor *y,
	       struct err *e) MUST_CHECK;

#endif
