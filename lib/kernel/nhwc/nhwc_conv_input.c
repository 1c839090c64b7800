/* nhwc_conv_input.c - what slices of convolutions in pixels read: where it lies, or made ready, with its padding where that has codes
 * of its own. */
#include "kernel/nhwc/nhwc_conv.h"

#include <string.h>

struct image_part image_part_of(const struct form_shape *s, bool apart, int64_t image,
				int64_t first, int64_t n)
{
	if (!apart)
		return (struct image_part){image, first, n};
	int64_t at = first % s->pixels, left = s->pixels - at;
	return (struct image_part){image + first / s->pixels, at, n < left ? n : left};
}

void conv_make_codes(const struct conv_run *r, struct image_part p, char *x, float *tile)
{
	const struct conv_step *s = r->s;
	const struct nhwc_tensor *m = &r->x;
	int64_t c = s->in_shape.channels, step = nhwc_tile(&s->in_shape);
	if (form_is_plain(&m->form) && s->in_shape.pixels > 1) {
		form_turn(&s->x, &s->in_shape, m->data, p.image, p.first, p.n, x);
		return;
	}
	for (int64_t i = 0; i < p.n; i += step) {
		int64_t n = p.n - i < step ? p.n - i : step;
		form_read(&m->form, &s->in_shape, m->data, p.image, p.first + i, n, tile);
		form_codes_pixels(&s->x, 0, c, tile, n, x + i * c * form_size(s->x.elem));
	}
}

/* Codes of pixels of the input, whatever form it has, to x. */
static void copy_codes(const struct conv_run *r, struct image_part p, char *x, float *tile)
{
	const struct conv_step *s = r->s;
	const struct nhwc_tensor *m = &r->x;
	int64_t size = s->in_shape.channels * form_size(s->x.elem);
	if (form_same(&m->form, &s->x))
		memcpy(x, (const char *)m->data + (p.image * s->in_shape.pixels + p.first) * size,
		       (size_t)(p.n * size));
	else
		conv_make_codes(r, p, x, tile);
}

/* Pixels from .. from + n - 1 of an image with its padding (framed), line by line. */
static void frame_codes(const struct conv_run *r, int64_t image, int64_t from, int64_t n, char *x,
			float *tile)
{
	const struct conv_step *s = r->s;
	const struct window *g = &s->g;
	int64_t c = s->in_shape.channels;
	for (int64_t here; n > 0; n -= here, from += here, x += here * c) {
		int64_t at[3] = {from / g->in[2] / g->in[1], from / g->in[2] % g->in[1],
				 from % g->in[2]};
		int64_t inner = 0, left = g->in[2] - at[2];
		bool inside = true;
		for (int d = 0; d < 3; d++) {
			int64_t i = at[d] - s->margin[d];
			inside = inside && i >= 0 && i < s->size[d];
			inner = inner * s->size[d] + i;
		}
		if (inside)
			left = s->size[2] - (at[2] - s->margin[2]);
		else if (at[2] < s->margin[2])
			left = s->margin[2] - at[2];
		here = left < n ? left : n;
		if (inside)
			copy_codes(r, (struct image_part){image, inner, here}, x, tile);
		for (int64_t i = 0; !inside && i < here; i++)
			memcpy(x + i * c, s->zeros, (size_t)c);
	}
}

const void *conv_slice_input(const struct conv_run *r, int64_t image, const struct window_slice *sl,
			     char *x, float *tile)
{
	const struct conv_step *s = r->s;
	const struct nhwc_tensor *m = &r->x;
	int64_t c = s->in_shape.channels, size = c * form_size(s->x.elem);
	if (s->framed) {
		frame_codes(r, image, sl->from, sl->n_in, x, tile);
		return x;
	}
	if (r->ready || form_same(&m->form, &s->x))
		return (r->ready ? r->ready : (const char *)m->data) +
		       (image * s->in_shape.pixels + sl->from) * size;
	bool apart = s->joined && form_is_plain(&m->form) && s->in_shape.pixels > 1;
	for (int64_t i = 0; i < sl->n_in;) {
		struct image_part p =
			image_part_of(&s->in_shape, apart, image, sl->from + i, sl->n_in - i);
		conv_make_codes(r, p, x + i * size, tile);
		i += p.n;
	}
	return x;
}
