/* cpu_pixel_impl.h - inside the steps in pixels, not for others: grids of values, programs over pixels.
 */
#ifndef HSDAG_DEVICE_CPU_PIXEL_CPU_PIXEL_IMPL_H
#define HSDAG_DEVICE_CPU_PIXEL_CPU_PIXEL_IMPL_H

#include "device/cpu/pixel/cpu_form.h"
#include "device/cpu/fuse/cpu_fuse_impl.h"
#include "device/cpu/fuse/cpu_grid.h"
#include "device/cpu/pixel/cpu_pixel.h"
#include "kernel/cpu_window.h"
#include "op/resize_taps.h"

/* ---- cpu_pixel_grid.c ---- */

/* What the readers of output 0 of v would like best: pixels, unless one of them reads its bytes in another
 * shape. */
bool wants_pixels(const struct graph *g, uint32_t v, const struct step_env *env);
/* Do depthwise convolutions of node v's output 0 read it, and nothing else? */
bool only_depthwise(const struct graph *g, uint32_t v);
/* Does Transpose v move dim 1 of a tensor with planes, perhaps seen in other dims, behind all others? */
bool turns_to_tokens(const struct graph *g, uint32_t v, const struct step_env *env);
/* Is v an MVN over the planes, or over channels and planes (norm_joins_channels), or a GroupNormalization, of what lies in
 * planes or in lines of a convolution? */
bool is_norm_of_planes(const struct graph *g, uint32_t v, const struct step_env *env);
bool norm_joins_channels(const struct graph *g, uint32_t v, const struct step_env *env);
/* Are the last dims of output 0 of v spatial ones?  With three dims only behind a convolution of lines. */
bool has_planes(const struct graph *g, uint32_t v);
/* Does Concat v join channels, dim 1 of tensors with planes? */
bool concat_joins_channels(const struct graph *g, uint32_t v);
/* Do input and output of v differ in their channels alone? */
bool keeps_planes(const struct graph *g, uint32_t v);
/* Does v split channels, dim 1 of tensors with planes, and a reader of one of its outputs want pixels? */
bool splits_pixels(const struct graph *g, uint32_t v, const struct step_env *env);
/* Is v a Pad of the spatial dims alone, as far as shapes tell? */
bool pads_pixels(const struct graph *g, uint32_t v);
/* Is a reduction along the axes (a constant) one of whole planes of (n,c,h,w), or of whole volumes? */
bool is_mean_of_planes(const struct tensor *axes, uint32_t rank);
/* Of dim 1 of such a tensor? */
bool is_mean_of_channels(const struct tensor *axes, uint32_t rank);

/* Can it lie in pixels form at all: static f32, 3 to 5 dims? */
bool fits_pixels(const struct tensor *t);
struct mem_form pixels_form(enum elem elem);
/* The form that output 0 of a node takes where nobody outside of the device reads it. */
struct mem_form wanted_form(const struct step_node *n, enum elem elem);
/* The same of another output. */
struct mem_form wanted_form_of(const struct step_node *n, uint32_t port, enum elem elem);
bool same_grid(const struct mem_form *a, const struct mem_form *b);

/* ---- cpu_pixel_pool.c ---- */

/* MaxPool, AvgPool, or ReduceMean of whole planes, perhaps with a FakeQuantize behind it. */
struct pixel_pool {
	bool mean, quantizes;
	bool padded_counts; /* a mean's windows count padding, too */
	uint32_t x_in;      /* the input with the data */
	struct form_shape in_shape, shape;
	struct window g;
};
/* want: (n_out), set; false: it is no such step. */
bool pixel_pool_init(struct pixel_pool *p, const struct step_spec *spec, enum elem elem,
		     struct mem_form *want);
bool pixel_pool_wants(const struct pixel_pool *p, struct devmem *const *in,
		      struct devmem *const *out);
/* y: the form of output 0.  -1: ST_RUNTIME. */
int pixel_pool_run(const struct pixel_pool *p, struct cpu_ctx *ctx, struct devmem *const *in,
		   struct devmem *const *out, const struct mem_form *y, struct err *e) MUST_CHECK;

/* ---- cpu_pixel_channels.c ---- */

/* ReduceMean of the channels of each pixel; its output is plain. */
struct pixel_channels {
	uint32_t x_in; /* the input with the data */
	struct form_shape shape;
};
/* As pixel_pool_init. */
bool pixel_channels_init(struct pixel_channels *p, const struct step_spec *spec,
			 struct mem_form *want);
/* As pixel_pool_run. */
int pixel_channels_run(const struct pixel_channels *p, struct cpu_ctx *ctx,
		       struct devmem *const *in, struct devmem *const *out,
		       struct err *e) MUST_CHECK;

/* ---- cpu_pixel_concat.c ---- */

/* Concat along channels, or a slice of them: as if it joined one part. */
struct pixel_concat {
	uint32_t n;
	uint32_t *in; /* (n) inputs of the step */
	struct concat_part {
		struct form_shape whole; /* the input's */
		int64_t first, n;        /* channels of it that are taken */
	} * part;                        /* (n) */
	struct form_shape shape;
};
/* As pixel_pool_init; to be released in either case, *p is zeros before. */
bool pixel_concat_init(struct pixel_concat *p, const struct step_spec *spec, enum elem elem,
		       struct mem_form *want);
void pixel_concat_release(struct pixel_concat *p);
bool pixel_concat_wants(const struct pixel_concat *p, struct devmem *const *in);
/* As pixel_pool_run. */
int pixel_concat_run(const struct pixel_concat *p, struct cpu_ctx *ctx, struct devmem *const *in,
		     struct devmem *const *out, const struct mem_form *y, struct err *e) MUST_CHECK;

/* Split or VariadicSplit along channels: a slice for each output. */
struct pixel_split {
	uint32_t n;
	struct pixel_concat *part; /* (n) */
};
/* As pixel_concat_init. */
bool pixel_split_init(struct pixel_split *p, const struct step_spec *spec, enum elem elem,
		      struct mem_form *want);
void pixel_split_release(struct pixel_split *p);
/* As pixel_pool_run, but outputs have their forms already. */
int pixel_split_run(const struct pixel_split *p, struct cpu_ctx *ctx, struct devmem *const *in,
		    struct devmem *const *out, struct err *e) MUST_CHECK;

/* ---- cpu_pixel_norm.c ---- */

/* A norm of planes; its constants stay where they are. */
struct pixel_norm {
	uint32_t x_in;
	struct form_shape shape;
	int64_t groups; /* of channels with one mean */
	float eps;
	bool eps_inside, scales;
	struct tensor gain, shift; /* (channels); without data: 1 and 0 */
};
/* As pixel_pool_init. */
bool pixel_norm_init(struct pixel_norm *p, const struct step_spec *spec, enum elem elem,
		     struct mem_form *want);
/* As pixel_pool_run, of an input in any form. */
int pixel_norm_run(const struct pixel_norm *p, struct cpu_ctx *ctx, struct devmem *const *in,
		   struct devmem *const *out, const struct mem_form *y, struct err *e) MUST_CHECK;

/* ---- cpu_pixel_turn.c ---- */

/* Transpose that moves the last dim to dim 1, or back. */
struct pixel_turn {
	bool to_planes, to_tokens; /* of rank 3 both: how the input lies decides */
	uint32_t x_in;
	int64_t n; /* elements */
};
/* As pixel_pool_init. */
bool pixel_turn_init(struct pixel_turn *p, const struct step_spec *spec, enum elem elem,
		     struct mem_form *want);
bool pixel_turn_wants(const struct pixel_turn *p, struct devmem *const *in,
		      struct devmem *const *out, const struct mem_form *want);
/* How the output lies in this run, where its reader wants `want`. */
struct mem_form pixel_turn_form(const struct pixel_turn *p, struct devmem *const *in,
				const struct devmem *out, const struct mem_form *want);
void pixel_turn_run(const struct pixel_turn *p, struct cpu_ctx *ctx, struct devmem *const *in,
		    struct devmem *const *out, const struct mem_form *y);

/* ---- cpu_pixel_resize.c ---- */

/* Interpolate of the two spatial dims of a tensor of four, without padding. */
struct pixel_resize {
	uint32_t x_in;
	struct form_shape in_shape, shape;
	int64_t in[2], out[2];
	struct resize_tap *tap[2]; /* (out[0]), (out[1]) */
};
/* As pixel_concat_init. */
bool pixel_resize_init(struct pixel_resize *p, const struct step_spec *spec, enum elem elem,
		       struct mem_form *want);
void pixel_resize_release(struct pixel_resize *p);
/* As pixel_pool_run, of any input whose output only this device reads. */
int pixel_resize_run(const struct pixel_resize *p, struct cpu_ctx *ctx, struct devmem *const *in,
		     struct devmem *const *out, const struct mem_form *y, struct err *e) MUST_CHECK;

/* ---- cpu_pixel_pad.c ---- */

/* Pad of spatial dims alone. */
struct pixel_pad {
	uint32_t x_in;
	struct form_shape in_shape, shape;
	int64_t in[3], out[3]; /* spatial sizes, 1 in front */
	int64_t *from[3];      /* (out[d]) the source's position; -1: fill */
	float fill;
};
/* As pixel_concat_init. */
bool pixel_pad_init(struct pixel_pad *p, const struct step_spec *spec, enum elem elem,
		    struct mem_form *want);
void pixel_pad_release(struct pixel_pad *p);
/* As pixel_resize_run. */
int pixel_pad_run(const struct pixel_pad *p, struct cpu_ctx *ctx, struct devmem *const *in,
		  struct devmem *const *out, const struct mem_form *y, struct err *e) MUST_CHECK;

/* ---- cpu_pixel_program.c ---- */

enum pixel_operand {
	PIXEL_ONE,     /* a constant of one value */
	PIXEL_CHANNEL, /* constants, one a channel: repeated for a tile */
	PIXEL_SPREAD,  /* an input of the step with one pixel an image, repeated for a tile */
	PIXEL_MAP,     /* an input of the step with one channel, repeated for all of them */
	PIXEL_READ,    /* a whole tensor: an input of the step, or a constant */
	PIXEL_WRITE    /* an output of the step */
};

/* Is it where a run says, with a form of its own? */
static inline bool pixel_is_memory(enum pixel_operand k)
{
	return k >= PIXEL_SPREAD;
}

/* A program that multiplies, adds and limits, and perhaps quantizes in the end: passes as in cpu_form_line.h, each over what the one before made. */
enum {
	LINE_VALUE = -1,
	LINE_NONE = -2,
	LINE_PASSES = 4
}; /* in place of an operand: value 0, nothing */
struct pixel_line {
	int n;        /* passes; 0: it is no such program */
	bool covered; /* while it is made: something else is value 0 by now */
	int x, y;
	bool rounds; /* y is quantized: it must be codes */
	struct line_pass {
		int m, a; /* m repeats, a may */
		int also; /* an output that gets what the pass made, not the last pass's */
		float x_sign, a_sign, slope, lo, hi;
	} pass[LINE_PASSES];
};

/* A part of a fused step as a program over (pixels, channels). */
struct pixel_program {
	struct form_shape shape;
	struct epilogue code;          /* one row: the elements of a tile */
	float *repeated[EPI_OPERANDS]; /* PIXEL_CHANNEL's; NULL */
	enum pixel_operand kind[EPI_OPERANDS];
	struct fuse_place place[EPI_OPERANDS];
	int n_memory, n_write; /* operands that pixel_is_memory; of them PIXEL_WRITE */
	/* It adds two tensors, perhaps limits the sum to what is positive, and quantizes it. */
	bool adds, positive;
	int addend[2]; /* operands; -1: value 0 */
	int sum;       /* likewise: where it ends up */
	struct pixel_line line;
};
/* Have the values of all nodes, and whole tensors that are inputs, the images and channels of `out`, and others one channel or one pixel?  Broadcasting gives tensors
 * of as many elements more dims, or fewer; pixels are others then. */
bool pixel_same_planes(const struct fuse_plan *p, const struct tensor *out);
/* The program of `part`, whose matrix has the elements of `out`; false: an operand is of no kind.  To
 * be released in either case; *p is zeros before. */
bool pixel_program_init(struct pixel_program *p, const struct fuse_part *part,
			const struct tensor *out);
void pixel_program_release(struct pixel_program *p);
/* Pixels that one run takes at most. */
enum { PIXEL_FLOATS = 4096 };
int64_t pixel_program_tile(const struct form_shape *s);
/* Does operand o of a matrix over the elements of (images, channels, pixels) have one value a
 * channel? */
bool pixel_is_channel(const struct epilogue *code, const struct form_shape *s,
		      const struct epi_operand *o);

/* Where operands lie for a run, and in which form. */
struct pixel_memory {
	void *data;
	struct mem_form form;
};
/* Where what FakeQuantize makes goes to memory as codes of its grid, and nowhere else, code leaves rounding to them.  result: the form
 * that value 0 ends up in; NULL: it does not. */
void pixel_program_leave_rounding(const struct pixel_program *p, struct epilogue *code,
				  const struct pixel_memory *memory, const struct mem_form *result);
/* Is code, which rounding was left out of, HSwish of value 0, and nothing else? */
bool pixel_program_hswish(const struct epilogue *code);
/* Where a program only adds codes to codes: n elements from `first` of every tensor on.  value: value 0,
 * before and after.  False: it does something else, or they are no codes. */
bool pixel_program_add(const struct pixel_program *p, const struct pixel_memory *memory,
		       const struct pixel_memory value[2], int64_t first, int64_t n);
/* Is p, whose operands are classified, a line? */
void pixel_line_init(struct pixel_program *p);
/* Does a program add one whole tensor to value 0, and then limit it, and nothing else?  Then that operand; otherwise -1. */
int pixel_line_adds(const struct pixel_program *p, float *lo, float *hi);
/* As pixel_program_run, if p is a line over tensors of f32, bf16 or codes in pixels, but of any number of pixels and with the room
 * of pixel_line_floats; else false.  value: value 0 before and after from pixel `first` on, or NULL. */
bool pixel_line_run(const struct pixel_program *p, const struct pixel_memory *memory,
		    const struct pixel_memory value[2], int64_t image, int64_t first, int64_t n,
		    float *room);
int64_t pixel_line_floats(const struct pixel_program *p);
/* Floats that pixel_program_run needs for n pixels. */
int64_t pixel_program_floats(const struct pixel_program *p, int64_t n);
/* Pixels first .. first + n - 1 of an image; c (n,channels): value 0 before and after, or NULL.  code: a
 * copy of the program's, this thread's own.  memory: (n_operands) of those that pixel_is_memory. */
void pixel_program_run(const struct pixel_program *p, struct epilogue *code,
		       const struct pixel_memory *memory, int64_t image, int64_t first, int64_t n,
		       float *c, float *scratch);

#endif
