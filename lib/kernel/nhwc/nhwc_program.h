/* nhwc_program.h - element-wise operators over (pixels, channels) of images in NHWC. */
#ifndef HSDAG_KERNEL_NHWC_NHWC_PROGRAM_H
#define HSDAG_KERNEL_NHWC_NHWC_PROGRAM_H

#include "kernel/epilogue.h"
#include "kernel/kernel_impl.h"
#include "kernel/nhwc/nhwc_form.h"

enum nhwc_operand {
	OPERAND_ONE,     /* a constant of one value */
	OPERAND_CHANNEL, /* constants, one a channel: repeated for a tile */
	OPERAND_SPREAD,  /* an input of the step with one pixel an image, repeated for a tile */
	OPERAND_MAP,     /* an input of the step with one channel, repeated for all of them */
	OPERAND_READ,    /* a whole tensor: an input of the step, or a constant */
	OPERAND_WRITE    /* an output of the step */
};

/* Is it where a run says, with a form of its own? */
static inline bool nhwc_operand_is_memory(enum nhwc_operand k)
{
	return k >= OPERAND_SPREAD;
}

/* A program that multiplies, adds and limits, and perhaps quantizes in the end: passes as in nhwc_line.h, each over what the one before made. */
enum {
	LINE_VALUE = -1,
	LINE_NONE = -2,
	LINE_PASSES = 4
}; /* in place of an operand: value 0, nothing */
struct nhwc_program_line {
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

/* Element-wise operators as a program over (pixels, channels). */
struct nhwc_program {
	struct form_shape shape;
	struct epilogue code;          /* one row: the elements of a tile */
	float *repeated[EPI_OPERANDS]; /* OPERAND_CHANNEL's; NULL */
	enum nhwc_operand kind[EPI_OPERANDS];
	struct epi_place place[EPI_OPERANDS];
	int n_memory, n_write; /* operands that nhwc_operand_is_memory; of them OPERAND_WRITE */
	/* It adds two tensors, perhaps limits the sum to what is positive, and quantizes it. */
	bool adds, positive;
	int addend[2]; /* operands; -1: value 0 */
	int sum;       /* likewise: where it ends up */
	struct nhwc_program_line line;
};
/* A program over a matrix with the elements of `out`, whose operands begin at place[]; false: an operand is of no kind.  To be released
 * in either case; *p is zeros before. */
bool nhwc_program_init(struct nhwc_program *p, const struct epilogue *code,
		       const struct epi_place *place, const struct tensor *out);
void nhwc_program_release(struct nhwc_program *p);
/* Does operand o of a matrix over the elements of (images, channels, pixels) have one value a
 * channel? */
bool nhwc_is_channel(const struct epilogue *code, const struct form_shape *s,
		     const struct epi_operand *o);

/* Where what FakeQuantize makes goes to memory as codes of its grid, and nowhere else, code leaves rounding to them.  result: the form
 * that value 0 ends up in; NULL: it does not. */
void nhwc_program_leave_rounding(const struct nhwc_program *p, struct epilogue *code,
				 const struct nhwc_tensor *memory, const struct mem_form *result);
/* Is code, which rounding was left out of, HSwish of value 0, and nothing else? */
bool nhwc_program_hswish(const struct epilogue *code);
/* Where a program only adds codes to codes: n elements from `first` of every tensor on.  value: value 0,
 * before and after.  False: it does something else, or they are no codes. */
bool nhwc_program_add(const struct nhwc_program *p, const struct nhwc_tensor *memory,
		      const struct nhwc_tensor value[2], int64_t first, int64_t n);
/* Is p, whose operands are classified, a line? */
void nhwc_program_line_init(struct nhwc_program *p);
/* Does a program add one whole tensor to value 0, and then limit it, and nothing else?  Then that operand; otherwise -1. */
int nhwc_program_line_adds(const struct nhwc_program *p, float *lo, float *hi);
/* As nhwc_program_run, if p is a line over tensors of f32, bf16 or codes in pixels, but of any number of pixels and with the room
 * of nhwc_program_line_floats; else false.  value: value 0 before and after from pixel `first` on, or NULL. */
bool nhwc_program_line_run(const struct nhwc_program *p, const struct nhwc_tensor *memory,
			   const struct nhwc_tensor value[2], int64_t image, int64_t first,
			   int64_t n, float *room);
int64_t nhwc_program_line_floats(const struct nhwc_program *p);
/* Floats that nhwc_program_run needs for n pixels. */
int64_t nhwc_program_floats(const struct nhwc_program *p, int64_t n);
/* Pixels first .. first + n - 1 of an image; c (n,channels): value 0 before and after, or NULL.  code: a
 * copy of the program's, this thread's own.  memory: (n_operands) of those that nhwc_operand_is_memory. */
void nhwc_program_run(const struct nhwc_program *p, struct epilogue *code,
		      const struct nhwc_tensor *memory, int64_t image, int64_t first, int64_t n,
		      float *c, float *scratch);

/* Do the pixels of all images of `shape` lie one behind the other in every tensor that the program reads or writes, and none has one
 * pixel for a whole image?  They are pixels of one image then: tiles need not end where a small image does.  p NULL: there is no program. */
bool nhwc_images_join(const struct nhwc_program *p, const struct nhwc_tensor *memory,
		      const struct form_shape *shape);

#endif
