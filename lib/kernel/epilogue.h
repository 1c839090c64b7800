/* epilogue.h - element-wise f32 operators applied to a kernel's output while it is in cache.
 *
 * The output is seen as a matrix (rows, cols), row-major without gaps: a convolution's or a
 * pooling's as (images * channels, pixels of a plane), or, where a plane is one pixel, as (images,
 * channels); a product's as (all leading dims, n).
 * An epilogue is a short program: each instruction computes one value from earlier values and
 * operands (tensors that broadcast to the matrix), element by element.  Value 0 is what the kernel
 * computed; what becomes of it ends up in its place.
 *
 * A kernel that takes part (struct kernel.flags: POSTS) calls cpu_epilogue_tile exactly once for every
 * element of its output, after the element's last sum, from any thread, in pieces of any size; for
 * all others cpu_kernel_run goes over the finished output.  Results do not depend on the pieces. */
#ifndef HSDAG_KERNEL_EPILOGUE_H
#define HSDAG_KERNEL_EPILOGUE_H

#include "kernel/quantize.h"
#include "kernel/vec.h"

enum {
	EPI_BLOCK = 256, /* columns computed at a time */
	EPI_VALUES = 8,  /* values alive at a time */
	EPI_SOURCES = 5,
	EPI_CODE = 48,
	EPI_OPERANDS = 32
};

/* Element (r, c) of the matrix meets data[(r / div % mod) * row + c * col]; col is 0 or 1.  A bias
 * of channels: div 1, mod channels, row 1, col 0.  A bias of columns: row 0, col 1. */
struct epi_operand {
	float *data; /* read, or written where it is an output */
	int64_t div, mod, row, col;
};

/* Where an operand begins, for who fills in data later: an input or output of a step, a constant, or what several parts of a step
 * share (scratch, a node's value). */
enum epi_base { BASE_INPUT, BASE_CONST, BASE_OUTPUT, BASE_SCRATCH, BASE_NODE };
struct epi_place {
	enum epi_base base;
	uint32_t index;
	int64_t bytes;
	const void *data; /* BASE_CONST */
};

struct epi_source {
	bool operand; /* else a value */
	uint8_t index;
};

struct epi_code {
	enum op_kind kind; /* of a unary or binary operator, PReLU or FakeQuantize;
					OP_RESULT copies */
	struct unary_args args;
	int64_t levels; /* FakeQuantize */
	/* Of a FakeQuantize: not the number but its code on this grid goes to an operand, whose data are bytes; its only source
	 * is the number before.  NULL: as any other. */
	const struct code_grid *codes;
	uint8_t n_sources;
	struct epi_source source[EPI_SOURCES];
	struct epi_source to; /* a value, or an operand that is an output */
};

struct epilogue {
	int64_t rows, cols;
	int n_code, n_operands;
	struct epi_code code[EPI_CODE];
	struct epi_operand operand[EPI_OPERANDS]; /* data may change from run to run */
};

/* Columns col .. col + n - 1 of rows row .. row + n_rows - 1, the first of them at c, the next
 * ldc floats behind it. */
void cpu_epilogue_tile(const struct epilogue *e, float *c, int64_t ldc, int64_t row, int64_t n_rows,
		       int64_t col, int64_t n);
/* Elements first .. first + n - 1 of the matrix in row-major order, the first of them at c. */
void cpu_epilogue_span(const struct epilogue *e, float *c, int64_t first, int64_t n);
/* Rows row .. row + n_rows - 1, whole and one behind the other from c on. */
void cpu_epilogue_rows(const struct epilogue *e, float *c, int64_t row, int64_t n_rows);
/* One row of it. */
void cpu_epilogue_row(const struct epilogue *e, float *c, int64_t row, int64_t col, int64_t n);

/* The whole matrix at c, on all threads.  c may be NULL when no instruction names value 0 as a
 * source before one has set it: a program of its own. */
struct cpu_ctx;
void cpu_epilogue_run(struct cpu_ctx *ctx, const struct epilogue *e, float *c);

#endif
