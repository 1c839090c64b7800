/* nhwc_line.h - the commonest element-wise operators in one pass: y = limit(leak(+-x * m +- a)). */
#ifndef HSDAG_KERNEL_NHWC_NHWC_LINE_H
#define HSDAG_KERNEL_NHWC_NHWC_LINE_H

#include "op/value.h"

#include <stdbool.h>
#include <stdint.h>

struct form_line {
	const void *x, *a; /* a NULL: nothing is added */
	const float *m;    /* NULL: nothing is multiplied */
	void *y;           /* may be x or a of the same type */
	/* EL_F32; EL_BF16 where form_line_narrow; of x and y EL_U8, EL_I8 where form_line_codes: codes, beside f32 alone. */
	enum elem x_elem, a_elem, y_elem;
	float x_scale, x_zero; /* of codes: (code - x_zero) * x_scale */
	float y_by,
		y_shift; /* of codes: times and plus that, rounded and limited, signed less 128 */
	float x_sign, a_sign; /* 1 or -1 */
	float slope;          /* of what is below 0, as PReLU's; 1: it stays */
	float lo, hi;         /* limits as Clamp's: NaN stays */
};

/* Has the processor instructions for bf16; for codes? */
bool form_line_narrow(void);
bool form_line_codes(void);
/* n elements.  Each step is rounded by itself: the bits of separate operators. */
void form_line(const struct form_line *l, int64_t n);

#endif
