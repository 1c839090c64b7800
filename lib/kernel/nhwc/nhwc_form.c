/* nhwc_form.c - see nhwc_form.h. */
#include "kernel/nhwc/nhwc_form.h"
#include "kernel/quantize.h"
#include "kernel/isa_level.h"
#include "kernel/transpose.h"
#include "kernel/vec.h"

#include <math.h>
#include <string.h>

#define LEVEL_FILE "kernel/nhwc/nhwc_form_loops.h"
#include "kernel/isa_dispatch.h"

struct form_shape form_shape_of(const struct tensor *t)
{
	struct form_shape s = {1, 1, 1};
	for (uint32_t d = 0; d < t->rank; d++)
		*(d == 0 ? &s.images : d == 1 ? &s.channels : &s.pixels) *= t->dim[d];
	return s;
}

int64_t form_size(enum elem elem)
{
	return elem == EL_F32 ? 4 : elem == EL_BF16 ? 2 : 1;
}

struct mem_form form_nhwc(enum elem elem)
{
	return (struct mem_form){.elem = elem, .nhwc = true, .scale = 1};
}

bool form_same(const struct mem_form *a, const struct mem_form *b)
{
	size_t bytes = (size_t)a->n_scales * 3 * sizeof *a->scales;
	return a->elem == b->elem && a->nhwc == b->nhwc && a->scale == b->scale &&
	       a->zero == b->zero && a->n_scales == b->n_scales &&
	       (a->scales == b->scales || memcmp(a->scales, b->scales, bytes) == 0);
}

bool form_in_codes(const struct mem_form *f)
{
	return form_size(f->elem) == 1;
}

int64_t nhwc_tile(const struct form_shape *s)
{
	return s->channels >= NHWC_FLOATS ? 1 : NHWC_FLOATS / s->channels;
}

void form_copy_rows(const void *x, int64_t x_step, int64_t n, int64_t bytes, void *y,
		    int64_t y_step)
{
	LEVEL_CALL(copy_rows, x, x_step, n, bytes, y, y_step);
}

static float base_of(const struct mem_form *f)
{
	return f->elem == EL_I8 ? 128 : 0;
}

float form_zero(const struct mem_form *f, int64_t i)
{
	return f->scales ? rintf(f->scales[2 * f->n_scales + i]) - base_of(f) : f->zero;
}

/* n pixels of floats to codes of 8 bits, after HSwish if that is asked for. */
static void to_codes(const struct mem_form *f, int64_t first, int64_t channels, bool hswish,
		     const float *src, int64_t n, void *dst)
{
	struct code_rows rows = {
		.by = &f->by, .shift = &f->shift, .is_signed = f->elem == EL_I8, .hswish = hswish};
	if (f->scales) {
		rows.columns = channels;
		rows.by = f->scales + f->n_scales + first;
		rows.shift = rows.by + f->n_scales;
	}
	codes_of_rows(&rows, src, n * channels, dst);
}

void form_codes_pixels(const struct mem_form *f, int64_t first, int64_t channels, const float *src,
		       int64_t n, void *dst)
{
	if (f->elem == EL_F32)
		memcpy(dst, src, (size_t)(n * channels) * sizeof *src);
	else if (f->elem == EL_BF16)
		vec_to_bf16(src, dst, n * channels);
	else
		to_codes(f, first, channels, false, src, n, dst);
}

void form_codes(const struct mem_form *f, const float *src, int64_t n, void *dst)
{
	form_codes_pixels(f, 0, n, src, 1, dst);
}

void form_codes_hswish(const struct mem_form *f, int64_t channels, const float *src, int64_t n,
		       void *dst)
{
	to_codes(f, 0, channels, true, src, n, dst);
}

void form_add(const struct mem_form *fa, const void *a, const struct mem_form *fb, const void *b,
	      int64_t n, const struct mem_form *f, float low, void *dst)
{
	bool is_signed = f->elem == EL_I8;
	float high = is_signed ? 127 : 255, x = fa->scale / f->scale, y = fb->scale / f->scale;
	if (fa->elem == EL_I8 && fb->elem == EL_U8) {
		form_add(fb, b, fa, a, n, f, low, dst);
		return;
	}
	/* Zeros are subtracted, and added, at once. */
	float more = f->zero - fa->zero * x - fb->zero * y;
	low = low + f->zero > (is_signed ? -128 : 0) ? low + f->zero : is_signed ? -128 : 0;
	if (fb->elem == EL_U8 && !is_signed)
		LEVEL_CALL(add_uuu, a, x, b, y, more, n, low, high, dst);
	else if (fb->elem == EL_U8)
		LEVEL_CALL(add_uui, a, x, b, y, more, n, low, high, dst);
	else if (fa->elem == EL_U8 && !is_signed)
		LEVEL_CALL(add_uiu, a, x, b, y, more, n, low, high, dst);
	else if (fa->elem == EL_U8)
		LEVEL_CALL(add_uii, a, x, b, y, more, n, low, high, dst);
	else if (!is_signed)
		LEVEL_CALL(add_iiu, a, x, b, y, more, n, low, high, dst);
	else
		LEVEL_CALL(add_iii, a, x, b, y, more, n, low, high, dst);
}

void form_max(enum elem elem, const void *x, int64_t n, void *y)
{
	if (elem == EL_F32)
		LEVEL_CALL(max_f32, x, n, y);
	else if (elem == EL_BF16)
		LEVEL_CALL(max_bf16, x, n, y);
	else if (elem == EL_I8)
		LEVEL_CALL(max_i8, x, n, y);
	else
		LEVEL_CALL(max_u8, x, n, y);
}

void form_sum(enum elem elem, const void *x, int64_t rows, int64_t step, int64_t n, float *y)
{
	if (elem == EL_F32)
		LEVEL_CALL(sum_f32, x, rows, step, n, y);
	else if (elem == EL_BF16)
		LEVEL_CALL(sum_bf16, x, rows, step, n, y);
	else if (elem == EL_I8)
		LEVEL_CALL(sum_i8, x, rows, step, n, y);
	else
		LEVEL_CALL(sum_u8, x, rows, step, n, y);
}

/* n pixels of codes (n,channels), of which the first channel is number `first` of the tensor, to floats. */
static void from_codes(const struct mem_form *f, int64_t first, int64_t channels, const void *src,
		       int64_t n, float *dst)
{
	if (f->elem == EL_BF16)
		vec_from_bf16(src, dst, n * channels);
	else if (!f->scales && f->elem == EL_U8)
		LEVEL_CALL(from_u8, src, n * channels, f->scale, f->zero, dst);
	else if (!f->scales && f->elem == EL_I8)
		LEVEL_CALL(from_i8, src, n * channels, f->scale, dst);
	else if (f->elem == EL_U8)
		LEVEL_CALL(from_u8_by, src, n, channels, f->scales + first,
			   f->scales + 2 * f->n_scales + first, base_of(f), dst);
	else
		LEVEL_CALL(from_i8_by, src, n, channels, f->scales + first,
			   f->scales + 2 * f->n_scales + first, base_of(f), dst);
}

void form_read(const struct mem_form *f, const struct form_shape *s, const void *data,
	       int64_t image, int64_t first, int64_t n, float *dst)
{
	int64_t at = (image * s->pixels + first) * s->channels;
	if (!f->nhwc && s->pixels > 1) { /* codes are in pixels */
		const float *x = (const float *)data + image * s->channels * s->pixels + first;
		cpu_turn(x, s->pixels, s->channels, n, dst, s->channels);
	} else if (f->elem == EL_F32) {
		memcpy(dst, (const float *)data + at, (size_t)(n * s->channels) * sizeof *dst);
	} else {
		from_codes(f, 0, s->channels, (const char *)data + at * form_size(f->elem), n, dst);
	}
}

/* Channels and elements of a tile of form_turn: at least two whole lines of many planes, in the first cache. */
enum { TURN_CHANNELS = 64, TURN_TILE = 2048 };

void form_turn(const struct mem_form *f, const struct form_shape *s, const float *src,
	       int64_t image, int64_t first, int64_t n, void *dst)
{
	float tile[TURN_TILE];
	const float *x = src + image * s->channels * s->pixels + first;
	int64_t most = s->channels < TURN_CHANNELS ? s->channels : TURN_CHANNELS;
	int64_t step = TURN_TILE / most, size = form_size(f->elem);
	for (int64_t p = 0; p < n; p += step)
		for (int64_t c = 0; c < s->channels; c += most) {
			int64_t pixels = n - p < step ? n - p : step;
			int64_t k = s->channels - c < most ? s->channels - c : most;
			char *to = (char *)dst + (p * s->channels + c) * size;
			cpu_turn(x + c * s->pixels + p, s->pixels, k, pixels, tile, k);
			if (k == s->channels)
				form_codes_pixels(f, 0, k, tile, pixels, to);
			for (int64_t i = 0; i < pixels && k < s->channels; i++)
				form_codes_pixels(f, c, k, tile + i * k, 1,
						  to + i * s->channels * size);
		}
}

void form_write(const struct mem_form *f, const struct form_shape *s, void *data, int64_t image,
		int64_t first, int64_t n, const float *src)
{
	int64_t at = (image * s->pixels + first) * s->channels;
	if (!f->nhwc && s->pixels > 1)
		cpu_turn(src, s->channels, n, s->channels,
			 (float *)data + image * s->channels * s->pixels + first, s->pixels);
	else if (f->elem == EL_F32)
		memcpy((float *)data + at, src, (size_t)(n * s->channels) * sizeof *src);
	else
		form_codes_pixels(f, 0, s->channels, src, n,
				  (char *)data + at * form_size(f->elem));
}

/* Pixels and channels of a piece of form_plain: whole tiles of cpu_turn. */
enum { PIECE_PIXELS = 16, PIECE_CHANNELS = 256 };

/* One image of codes or bf16 in pixels, to planes. */
static void turn_codes(const struct mem_form *f, const struct form_shape *s, const char *x,
		       float *dst)
{
	float piece[PIECE_PIXELS * PIECE_CHANNELS];
	int64_t size = form_size(f->elem);
	for (int64_t p = 0; p < s->pixels; p += PIECE_PIXELS)
		for (int64_t c = 0; c < s->channels; c += PIECE_CHANNELS) {
			int64_t n = s->pixels - p < PIECE_PIXELS ? s->pixels - p : PIECE_PIXELS;
			int64_t k =
				s->channels - c < PIECE_CHANNELS ? s->channels - c : PIECE_CHANNELS;
			for (int64_t i = 0; i < n; i++)
				from_codes(f, c, k, x + ((p + i) * s->channels + c) * size, 1,
					   piece + i * PIECE_CHANNELS);
			cpu_turn(piece, PIECE_CHANNELS, n, k, dst + c * s->pixels + p, s->pixels);
		}
}

void form_plain(const struct mem_form *f, const struct form_shape *s, const void *data, float *dst)
{
	int64_t n = s->channels * s->pixels;
	if (f->elem == EL_U8 && !f->nhwc)
		LEVEL_CALL(from_u8, data, s->images * n, f->scale, f->zero, dst);
	else if (f->elem == EL_F32 && (!f->nhwc || s->pixels == 1))
		memcpy(dst, data, (size_t)(s->images * n) * sizeof *dst);
	else if (s->pixels == 1)
		from_codes(f, 0, s->channels, data, s->images, dst);
	else
		for (int64_t i = 0; i < s->images; i++)
			if (f->elem == EL_F32)
				cpu_turn((const float *)data + i * n, s->channels, s->pixels,
					 s->channels, dst + i * n, s->pixels);
			else
				turn_codes(f, s, (const char *)data + i * n * form_size(f->elem),
					   dst + i * n);
}
