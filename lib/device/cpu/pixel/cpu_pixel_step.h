/* cpu_pixel_step.h - a step in pixels: cpu_pixel.c chooses its kind, cpu_pixel_conv.c prepares convolutions,
 * cpu_pixel_run.c runs it, convolutions by cpu_pixel_slices.c; not for others. */
#ifndef HSDAG_DEVICE_CPU_PIXEL_CPU_PIXEL_STEP_H
#define HSDAG_DEVICE_CPU_PIXEL_CPU_PIXEL_STEP_H

#include "device/cpu/pixel/cpu_pixel_impl.h"
#include "kernel/conv/cpu_indirect.h"
#include "kernel/tiles/cpu_tiled_conv.h"
#include "kernel/conv/cpu_winograd_pixels.h"
#include "kernel/onednn/onednn_conv.h"

enum pixel_kind {
	PIXEL_CONV,
	PIXEL_DECONV,
	PIXEL_PROGRAM,
	PIXEL_POOL,
	PIXEL_CHANNELS,
	PIXEL_CONCAT,
	PIXEL_SPLIT,
	PIXEL_TURN,
	PIXEL_RESIZE,
	PIXEL_PAD,
	PIXEL_NORM
};

struct pixel_step {
	struct cpu_ctx *ctx;
	enum elem elem; /* EL_F32, EL_BF16; EL_I8: codes */
	enum pixel_kind kind;
	uint32_t n_out;
	struct mem_form *want; /* (n_out) of outputs that only this device reads */
	struct form_shape in_shape, shape;
	struct window g; /* of a convolution */
	bool joined;     /* its images are one behind the other, as if they were one */
	bool framed; /* the window's input has the padding, of codes of zero, which differ from channel to channel */
	int64_t margin[3], size[3]; /* of framed ones: in front of the input, and the input's */
	char *zeros;                /* a pixel of such codes */
	uint32_t x_in;              /* the input with the data */
	struct mem_form x;          /* its grid */
	float *x_scales,
		*scales; /* those of x, and of the first output, where they are for each channel; NULL */
	struct onednn_conv *conv; /* one of these four */
	struct winograd_pixels *winograd;
	struct indirect *indirect;
	struct tiled_conv *tiled;
	int parts; /* of each of the convolution's slices, for threads that had none */
	/* PIXEL_DECONV: pixels of the output's blocks, in front of the first one's that there are, and of the output */
	int64_t up[3], crop[3], made[3];
	bool direct; /* the convolution writes codes of this form */
	struct mem_form codes;
	bool has_program;
	struct pixel_program program;
	struct pixel_pool pool;
	struct pixel_channels channels;
	struct pixel_concat concat;
	struct pixel_split split;
	struct pixel_turn turn;
	struct pixel_resize resize;
	struct pixel_pad pad;
	struct pixel_norm norm;
};

/* ---- cpu_pixel_conv.c, cpu_pixel_deconv.c ---- */

/* s for a convolution and what is fused behind it.  1; 0: no such step; -1: ST_RUNTIME. */
int pixel_conv_init(struct pixel_step *s, const struct step_spec *spec, struct fuse_plan *p,
		    struct err *e) MUST_CHECK;
/* The convolution of s->g in s->x.elem: weights (groups * cout, cin, taps), read by the call; key as onednn_conv_spec says; bias
 * and unary may be NULL.  s->direct: its results are of that type, too, else f32.  As pixel_conv_init. */
int pixel_plain_conv(struct pixel_step *s, const struct tensor *w, const void *key,
		     const float *bias, const struct epi_code *unary, struct err *e) MUST_CHECK;
/* As pixel_conv_init for a transposed convolution alone, whose blocks a convolution computes. */
int pixel_deconv_init(struct pixel_step *s, const struct step_spec *spec, struct err *e) MUST_CHECK;
/* The convolution's slices, whoever computes it: as onednn_conv_slices, onednn_conv_slice, onednn_conv_run. */
int pixel_conv_slices(const struct pixel_step *s);
struct window_slice pixel_conv_slice(const struct pixel_step *s, int i);
int pixel_conv_run(struct pixel_step *s, int i, struct channel_part part, const void *x, void *y,
		   void *scratch, struct err *e) MUST_CHECK;

/* ---- cpu_pixel_codes.c ---- */

/* Where depthwise convolutions alone read what FakeQuantize n, which is output `out`, makes: codes with a scale for each channel,
 * into s->want[out]; of one output. */
void pixel_want_channels(struct pixel_step *s, const struct step_node *n, uint32_t out);
/* The form of the codes that the convolution of s->g, of node n, reads, into s->x: the grid that its input lies on.  False: none. */
bool pixel_codes_of_input(struct pixel_step *s, const struct step_node *n);
/* As pixel_plain_conv of such codes, where the weights lie on grids, too; s->direct: its results are codes of s->codes, else f32. */
int pixel_codes_conv(struct pixel_step *s, const struct tensor *w, const void *key,
		     const float *bias, struct err *e) MUST_CHECK;

/* ---- cpu_pixel_run.c ---- */

/* A run of a step. */
struct pixel_run {
	struct pixel_step *s;
	struct devmem *const *in, *const *out;
	struct pixel_memory memory[EPI_OPERANDS];
	struct mem_form y; /* of output 0 */
	int n_tasks;
	char *ready; /* codes of a convolution's whole input, where they are made before; NULL */
	char *sums;  /* all its sums, where the output is no place for them; NULL */
	bool adds;   /* a convolution by tiles adds `sum` as it writes */
	struct tiled_conv_sum sum;
	struct err err;
	atomic_flag failed;
};

/* Do the pixels of all images lie one behind the other in every tensor that the program reads or writes, and none has one pixel for a
 * whole image?  They are pixels of one image then: tiles need not end where a small image does. */
bool pixel_images_join(const struct pixel_run *r, const struct form_shape *shape);
/* The first error of a task is the run's. */
void pixel_note(struct pixel_run *r, int rc, const struct err *e);

/* ---- cpu_pixel_input.c ---- */

/* Pixels of an image. */
struct pixel_part {
	int64_t image, first, n;
};
/* Of those from `first` on, n of them: as many as the image has there, where images are joined (the step's joined) and do not lie as
 * one (apart). */
struct pixel_part pixel_part_of_image(const struct form_shape *s, bool apart, int64_t image,
				      int64_t first, int64_t n);
/* Codes of pixels of the convolution's input, which is in another form, to x.  tile: floats of a pixel_program_tile. */
void pixel_make_codes(const struct pixel_run *r, struct pixel_part p, char *x, float *tile);
/* Codes of the pixels that a slice reads: where they are, or made in x. */
const void *pixel_slice_input(const struct pixel_run *r, int64_t image,
			      const struct window_slice *sl, char *x, float *tile);

/* ---- cpu_pixel_slices.c: the step's convolution, and what follows it ---- */

void pixel_conv_slices_run(struct pixel_run *r);
void pixel_deconv_slices_run(struct pixel_run *r);

#endif
