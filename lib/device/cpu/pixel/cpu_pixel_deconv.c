/* cpu_pixel_deconv.c - ConvolutionBackpropData whose windows meet without overlap, on tensors with channels behind pixels.
 *
 * Each pixel makes the results of one window, and no others: a convolution of one tap with taps * cout channels computes
 * them, and runs of channels go where they belong (cpu_pixel_run.c). */
#include "device/cpu/pixel/cpu_pixel_step.h"

/* Strides as large as the window, no padding, no dilation. */
static bool windows_meet(const struct step_node *n)
{
	const struct op_window *w = &n->op->a.window;
	const struct tensor *x = n->in[0].tensor, *k = n->in[1].tensor, *y = &n->out[0];
	if (k->rank != x->rank || x->rank < 4)
		return false;
	for (uint32_t i = 0; i + 2 < x->rank; i++) {
		bool plain = w->n_spatial > 0 && w->pad_begin[i] == 0 && w->pad_end[i] == 0 &&
			     w->output_padding[i] == 0 && w->dilation[i] == 1;
		if (!plain || w->stride[i] != k->dim[2 + i] ||
		    y->dim[2 + i] != x->dim[2 + i] * k->dim[2 + i])
			return false;
	}
	return true;
}

/* The window of one tap; sizes of the windows to up. */
static struct window one_tap(const struct step_node *n, int64_t up[3])
{
	const struct tensor *x = n->in[0].tensor, *k = n->in[1].tensor;
	struct window g = {
		.batch = x->dim[0], .groups = 1, .cin = x->dim[1], .in_plane = 1, .taps = 1};
	int64_t taps = 1;
	for (int d = 0; d < 3; d++) {
		int64_t at = (int64_t)x->rank - 3 + d;
		g.in[d] = g.out[d] = at < 2 ? 1 : x->dim[at];
		up[d] = at < 2 ? 1 : k->dim[at];
		g.kernel[d] = g.stride[d] = g.dilation[d] = 1;
		g.in_plane *= g.in[d];
		taps *= up[d];
	}
	g.out_plane = g.in_plane;
	g.cout = taps * k->dim[1];
	return g;
}

/* Weights (cin, cout, taps) as (taps, cout, cin). */
static float *turned(const struct tensor *w, int64_t taps)
{
	int64_t cin = w->dim[0], cout = w->dim[1], count = tensor_elements(w);
	float *x = mem_try((size_t)count * sizeof *x), *y = mem_try((size_t)count * sizeof *y);
	if (x && y) {
		cpu_convert(EL_F32, x, w->elem, w->data, count);
		for (int64_t i = 0; i < cin; i++)
			for (int64_t o = 0; o < cout; o++)
				for (int64_t t = 0; t < taps; t++)
					y[(t * cout + o) * cin + i] = x[(i * cout + o) * taps + t];
	} else {
		mem_free(y);
		y = NULL;
	}
	mem_free(x);
	return y;
}

int pixel_deconv_init(struct pixel_step *s, const struct step_spec *spec, struct err *e)
{
	const struct step_node *n = &spec->node[0];
	const struct tensor *w = n->in[1].tensor;
	enum elem elem = s->elem == EL_BF16 ? EL_BF16 : EL_F32;
	if (spec->n_nodes != 1 || spec->n_out != 1 || n->in[0].from != FROM_INPUT ||
	    n->in[1].from != FROM_CONST || !w->data || w->quant ||
	    (w->elem != EL_F32 && w->elem != EL_F16) || tensor_elements(w) == 0 ||
	    !fits_pixels(n->in[0].tensor) || !fits_pixels(&n->out[0]) || !windows_meet(n))
		return 0;
	s->want[0] = pixels_form(elem);
	if (!wants_pixels(n->graph, n->v, n->env))
		return 0;
	s->x_in = n->in[0].index;
	s->in_shape = form_shape_of(n->in[0].tensor);
	s->shape = form_shape_of(&n->out[0]);
	s->x = s->codes = pixels_form(elem);
	s->g = one_tap(n, s->up);
	struct onednn_conv_spec conv = {.g = s->g, .src = elem, .dst = elem, .key = w->data};
	conv.weights = (struct tensor){.elem = EL_F32,
				       .rank = 3,
				       .dim = {s->g.cout, s->g.cin, 1},
				       .data = turned(w, s->g.cout / w->dim[1])};
	int rc = conv.weights.data ? onednn_conv_new(&conv, s->ctx, &s->conv, e) : cpu_no_memory(e);
	mem_free(conv.weights.data);
	return rc;
}
