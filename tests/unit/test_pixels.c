/* test_pixels.c - boxes of pixels that are copied between tensors, whatever form either lies in. */
#include "tap.h"

#include "kernel/kernel.h"
#include "kernel/nhwc/nhwc_kernels.h"

#include <string.h>

enum { IMAGES = 2, CHANNELS = 37, IN = 5 * 6, OUT = 7 * 9 };
enum { X_SIZE = IMAGES * CHANNELS * IN, Y_SIZE = IMAGES * CHANNELS * OUT };

static const struct form_shape x_shape = {IMAGES, CHANNELS, IN}, y_shape = {IMAGES, CHANNELS, OUT};
static const char *const names[] = {"planes", "NHWC", "bf16", "codes"};

static struct mem_form form_of(int kind)
{
	if (kind == 0)
		return (struct mem_form){.elem = EL_F32};
	if (kind == 3)
		return (struct mem_form){.elem = EL_U8, .nhwc = true, .scale = 1, .by = 1};
	return form_nhwc(kind == 1 ? EL_F32 : EL_BF16);
}

/* Whole numbers that all forms have, pixel by pixel. */
static float number(int64_t image, int64_t pixel, int64_t channel)
{
	return (float)((image * 101 + pixel * 7 + channel * 3) % 199 + 1);
}

/* Rows 3, 2 and 1, backwards, and every other column of x, to the box from (2,4) on; elsewhere zeros stay. */
static float expected(int64_t image, int64_t pixel, int64_t channel)
{
	int64_t row = pixel / 9 - 2, column = pixel % 9 - 4;
	if (row < 0 || row > 2 || column < 0 || column > 2)
		return 0;
	return number(image, (3 - row) * 6 + 2 * column, channel);
}

static bool right(struct cpu_ctx *ctx, const struct mem_form *fx, const struct mem_form *fy)
{
	static float x[X_SIZE], y[Y_SIZE], pixel[CHANNELS];
	int64_t planes[] = {0}, rows[] = {3, 2, 1}, columns[] = {0, 2, 4};
	const struct nhwc_pixels p = {.in_shape = x_shape,
				      .shape = y_shape,
				      .in = {1, 5, 6},
				      .out = {1, 7, 9},
				      .first = {0, 2, 4},
				      .n = {1, 3, 3},
				      .from = {planes, rows, columns}};
	struct err e = ERR_INIT;
	for (int64_t i = 0; i < IMAGES * IN; i++) {
		for (int64_t c = 0; c < CHANNELS; c++)
			pixel[c] = number(i / IN, i % IN, c);
		form_write(fx, &x_shape, x, i / IN, i % IN, 1, pixel);
	}
	memset(y, 0, sizeof y);
	bool same = nhwc_pixels(&p, ctx, &(struct nhwc_tensor){x, *fx},
				&(struct nhwc_tensor){y, *fy}, &e) == 0;
	for (int64_t i = 0; i < IMAGES * OUT; i++) {
		form_read(fy, &y_shape, y, i / OUT, i % OUT, 1, pixel);
		for (int64_t c = 0; c < CHANNELS; c++)
			same = same && pixel[c] == expected(i / OUT, i % OUT, c);
	}
	return same;
}

int main(void)
{
	struct cpu_ctx *ctx = cpu_ctx_new(NULL, NULL);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++) {
			const struct mem_form fx = form_of(i), fy = form_of(j);
			tap(right(ctx, &fx, &fy), "from %s to %s", names[i], names[j]);
		}
	cpu_ctx_free(ctx);
	return tap_end();
}
