/* cpu_form_line.h - the commonest element-wise operators in one pass: y = limit(leak(+-x * m +- a)). */
#ifndef HSDAG_DEVICE_CPU_PIXEL_CPU_FORM_LINE_H
#define HSDAG_DEVICE_CPU_PIXEL_CPU_FORM_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* f32, or where it is said bf16, which the processor must then have instructions for. */
struct form_line {
	const void *x, *a; /* a NULL: nothing is added */
	const float *m;    /* NULL: nothing is multiplied */
	void *y;           /* may be x or a of the same type */
	bool x_bf16, a_bf16, y_bf16;
	float x_sign, a_sign; /* 1 or -1 */
	float slope;          /* of what is below 0, as PReLU's; 1: it stays */
	float lo, hi;         /* limits as Clamp's: NaN stays */
};

/* Has the processor instructions for bf16? */
bool form_line_narrow(void);
/* n elements.  Each step is rounded by itself: the bits of separate operators. */
void form_line(const struct form_line *l, int64_t n);

#endif
