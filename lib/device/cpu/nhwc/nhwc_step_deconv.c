/* nhwc_step_deconv.c - ConvolutionBackpropData on images in NHWC.
 *
 * Along a dim of stride s the results fall into blocks of s, result o into block (o + pad) / s, at place (o + pad) % s.  Block i
 * reads pixels i, i - 1, ... i - u, u = ceil(kernel / s) - 1: tap t = place + s u' of the kernel meets pixel i - u'.  So a
 * convolution of stride 1 with ceil(kernel / s) taps and s * cout channels computes a block from pixels, and what it makes goes
 * where it belongs (kernel/nhwc/nhwc_conv_slices.c).  Windows that meet without overlap are blocks of one tap. */
#include "device/cpu/nhwc/nhwc_codes.h"
#include "device/cpu/nhwc/nhwc_conv_step.h"

#include <string.h>

/* Products with taps that are none, over products with those that are: at most so many. */
#define MOST_OF_NOTHING 2.0

/* The window of the transposed convolution, from its output to its input, into *from, and that of the convolution that computes blocks into
 * s: its geometry, how many results a block has along each dim, and of how
 * many of them in front there are none.  False: no such convolution, or it computes many taps of nothing. */
static bool find_blocks(struct conv_step *s, struct window *from, const struct step_node *n)
{
	const struct tensor *x = n->in[0].tensor, *k = n->in[1].tensor, *y = &n->out[0];
	double all = 1, needed = 1;
	if (k->rank != x->rank || n->op->a.window.grouped)
		return false;
	cpu_window_init_transposed(from, n->op, x, k, y);
	const struct window w = *from;
	s->g = (struct window){.batch = w.batch,
			       .groups = 1,
			       .cin = w.cout,
			       .cout = w.cin,
			       .in_plane = w.out_plane,
			       .out_plane = 1,
			       .taps = 1};
	for (int d = 0; d < 3; d++) {
		int64_t up = w.stride[d], taps = (w.kernel[d] + up - 1) / up, block = w.pad[d] / up;
		if (w.kernel[d] > 1 && w.dilation[d] != 1)
			return false;
		s->up[d] = up;
		s->made[d] = w.in[d];
		s->crop[d] = w.pad[d] - block * up;
		s->g.in[d] = w.out[d];
		s->g.out[d] = (w.in[d] - 1 + w.pad[d]) / up - block + 1;
		s->g.kernel[d] = taps;
		s->g.stride[d] = s->g.dilation[d] = 1;
		s->g.pad[d] = taps - 1 - block;
		s->g.pad_end[d] = s->g.out[d] - w.out[d] + block;
		if (w.pad[d] < 0 || s->g.pad[d] < 0 || s->g.pad_end[d] < 0)
			return false;
		s->g.cout *= up;
		s->g.out_plane *= s->g.out[d];
		s->g.taps *= taps;
		all *= (double)(s->g.out[d] * taps * up);
		needed *= (double)(w.out[d] * w.kernel[d]);
	}
	return all <= MOST_OF_NOTHING * needed;
}

/* Weights (cin, cout, kernel) as (places, cout, cin, taps), a tap's place in the window of a block being turned round. */
static float *turned(const struct conv_step *s, const struct window *from, const struct tensor *w)
{
	int64_t cin = w->dim[0], cout = w->dim[1], count = tensor_elements(w), taps = from->taps;
	const int64_t *kernel = from->kernel;
	float *x = mem_try((size_t)count * sizeof *x);
	size_t bytes = (size_t)(s->g.cout * s->g.cin * s->g.taps) * sizeof *x;
	float *y = mem_try(bytes);
	if (!x || !y) {
		mem_free(x);
		mem_free(y);
		return NULL;
	}
	memset(y, 0, bytes);
	cpu_convert(EL_F32, x, w->elem, w->data, count);
	for (int64_t t = 0; t < taps; t++) {
		const int64_t at[3] = {t / kernel[2] / kernel[1], t / kernel[2] % kernel[1],
				       t % kernel[2]};
		int64_t place = 0, tap = 0;
		for (int d = 0; d < 3; d++) {
			place = place * s->up[d] + at[d] % s->up[d];
			tap = tap * s->g.kernel[d] + s->g.kernel[d] - 1 - at[d] / s->up[d];
		}
		for (int64_t o = 0; o < cout; o++)
			for (int64_t i = 0; i < cin; i++)
				y[((place * cout + o) * cin + i) * s->g.taps + tap] =
					x[(i * cout + o) * taps + t];
	}
	mem_free(x);
	return y;
}

static int deconv_init(void *x, const struct step_how *how, const struct step_spec *spec,
		       struct mem_form *want, struct err *e)
{
	struct conv_step *s = x;
	const struct step_node *n = &spec->node[0];
	const struct tensor *w = n->in[1].tensor;
	enum elem elem = how->elem == EL_BF16 ? EL_BF16 : EL_F32;
	struct window from;
	if (!nhwc_reads_image(spec) || spec->n_out != 1 || n->in[1].from != FROM_CONST ||
	    !w->data || w->quant || (w->elem != EL_F32 && w->elem != EL_F16) ||
	    tensor_elements(w) == 0 || !fits_nhwc(&n->out[0]) || !find_blocks(s, &from, n) ||
	    !how->graph->nhwc[n->graph->out_ptr[n->v]])
		return 0;
	want[0] = s->codes = form_nhwc(elem);
	s->ctx = how->ctx;
	s->x_in = n->in[0].index;
	s->in_shape = form_shape_of(n->in[0].tensor);
	s->shape = form_shape_of(&n->out[0]);
	struct tensor weights = {.elem = EL_F32,
				 .rank = 3,
				 .dim = {s->g.cout, s->g.cin, s->g.taps},
				 .data = turned(s, &from, w)};
	int rc = weights.data ? 0 : cpu_no_memory(e);
	if (rc == 0 && how->elem == EL_I8 && codes_of_conv_input(s, how, n))
		rc = codes_conv(s, &weights, w->data, NULL, e);
	if (rc == 0 && (how->elem != EL_I8 || how->graph->nhwc_pays)) {
		s->x = form_nhwc(elem);
		s->direct = true;
		rc = plain_conv(s, &weights, w->data, NULL, NULL, e);
	}
	mem_free(weights.data);
	return rc;
}

static int deconv_step_run(void *x, const struct step_io *io, struct err *e)
{
	struct conv_step *s = x;
	const struct nhwc_tensor from = nhwc_in(io, s->x_in), to = nhwc_out(io, 0);
	return deconv_run(s, &from, &to, e);
}

static const enum op_kind deconvs[] = {OP_CONVOLUTION_BACKPROP, OP_COUNT};
const struct step_kind nhwc_deconv_kind = {
	.name = "transposed convolution in NHWC",
	.nhwc = true,
	.size = sizeof(struct conv_step),
	.begins = deconvs,
	.group = nhwc_group_as_output,
	.init = deconv_init,
	.release = conv_step_release,
	.wants = nhwc_where_private,
	.run = deconv_step_run,
	.memory = conv_step_memory,
	.detail = conv_step_detail,
};
