/* window.c - see window.h. */
#include "kernel/window.h"
#include "kernel/kernel_impl.h"

/* Is dim d of size 1, and the window, too? */
static bool is_idle(const struct window *g, int d)
{
	return g->in[d] == 1 && g->out[d] == 1 && g->kernel[d] == 1 && g->pad[d] == 0 &&
	       g->pad_end[d] == 0;
}

/* The dims in front of the last one, which is idle, each move behind: elements stay where they are. */
static void shift_dims(struct window *g)
{
	for (int d = 2; d > 0; d--) {
		g->in[d] = g->in[d - 1];
		g->out[d] = g->out[d - 1];
		g->kernel[d] = g->kernel[d - 1];
		g->stride[d] = g->stride[d - 1];
		g->dilation[d] = g->dilation[d - 1];
		g->pad[d] = g->pad[d - 1];
		g->pad_end[d] = g->pad_end[d - 1];
	}
	g->in[0] = g->out[0] = g->kernel[0] = g->stride[0] = g->dilation[0] = 1;
	g->pad[0] = g->pad_end[0] = 0;
}

static void window_init(struct window *g, const struct op *op, const struct tensor *in,
			const struct tensor *w, const struct tensor *out, const int64_t *begin,
			const int64_t *end)
{
	const struct op_window *a = &op->a.window;
	int n = (int)in->rank - 2;
	const int64_t *kernel = w ? w->dim + 2 + a->grouped : a->kernel;
	*g = (struct window){.batch = in->dim[0],
			     .groups = w && a->grouped ? w->dim[0] : 1,
			     .in_plane = 1,
			     .out_plane = 1,
			     .taps = 1};
	g->cin = w ? in->dim[1] / g->groups : in->dim[1];
	g->cout = w ? out->dim[1] / g->groups : in->dim[1];
	for (int i = 0; i < 3; i++) {
		int d = i - (3 - n);
		bool there = d >= 0;
		g->in[i] = there ? in->dim[2 + d] : 1;
		g->out[i] = there ? out->dim[2 + d] : 1;
		g->kernel[i] = there ? kernel[d] : 1;
		g->stride[i] = there ? a->stride[d] : 1;
		g->dilation[i] = there ? a->dilation[d] : 1;
		g->pad[i] = there ? begin[d] : 0;
		g->pad_end[i] = there ? end[d] : 0;
		g->in_plane *= g->in[i];
		g->out_plane *= g->out[i];
		g->taps *= g->kernel[i];
	}
	for (int i = 0; i < 2 && is_idle(g, 2); i++)
		shift_dims(g);
}

void cpu_window_init(struct window *g, const struct op *op, const struct tensor *in,
		     const struct tensor *w, const struct tensor *out)
{
	const struct op_window *a = &op->a.window;
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	op_window_pads(a, (int)in->rank - 2, in->dim + 2, w ? w->dim + 2 + a->grouped : a->kernel,
		       begin, end);
	window_init(g, op, in, w, out, begin, end);
}

void cpu_window_init_transposed(struct window *g, const struct op *op, const struct tensor *in,
				const struct tensor *w, const struct tensor *out)
{
	const struct op_window *a = &op->a.window;
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	op_backprop_pads(a, (int)in->rank - 2, in->dim + 2, w->dim + 2 + a->grouped,
			 op->n_in > 2 ? out->dim + 2 : NULL, begin, end);
	window_init(g, op, out, w, in, begin, end);
}

bool window_has_padding(const struct window *g)
{
	bool any = false;
	for (int d = 0; d < 3; d++)
		any = any || g->pad[d] > 0 || g->pad_end[d] > 0;
	return any;
}

void cpu_window_fold(struct window *g)
{
	if (g->in[0] == 1 && g->kernel[0] == 1)
		return;
	for (int d = 1; d < 3; d++)
		if (g->kernel[d] != 1 || g->stride[d] != 1 || g->pad[d] || g->in[d] != g->out[d])
			return;
	g->in[2] = g->out[2] = g->in[1] * g->in[2];
	g->in[1] = g->in[0];
	g->out[1] = g->out[0];
	g->kernel[1] = g->kernel[0];
	g->stride[1] = g->stride[0];
	g->dilation[1] = g->dilation[0];
	g->pad[1] = g->pad[0];
	g->pad_end[1] = g->pad_end[0];
	g->in[0] = g->out[0] = g->kernel[0] = g->stride[0] = g->dilation[0] = 1;
	g->pad[0] = g->pad_end[0] = 0;
}

bool supports_window(const struct op *op, const char **reason)
{
	if (op->a.window.n_spatial <= OP_MAX_SPATIAL)
		return true;
	*reason = "more than three spatial dims";
	return false;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
	return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

void cpu_window_range(const struct window *g, int d, int64_t t, int64_t *lo, int64_t *hi)
{
	int64_t shift = t * g->dilation[d] - g->pad[d]; /* input = o * stride + shift */
	*lo = ceil_div(-shift, g->stride[d]);
	*hi = ceil_div(g->in[d] - shift, g->stride[d]);
	if (*lo < 0)
		*lo = 0;
	if (*hi > g->out[d])
		*hi = g->out[d];
	if (*hi < *lo)
		*hi = *lo;
}

static bool sees_padding(const struct window *g, int d, int64_t tap)
{
	int64_t lo, hi;
	cpu_window_range(g, d, tap, &lo, &hi);
	return lo == hi;
}

bool cpu_window_crop(struct window *g, int64_t first[3])
{
	bool any = false;
	for (int d = 0; d < 3; d++) {
		int64_t lo = 0, hi = g->kernel[d], step = g->dilation[d];
		/* Padding is never less than none. */
		while (lo < hi && sees_padding(g, d, lo) && g->pad[d] >= (lo + 1) * step)
			lo++;
		while (hi > lo + 1 && sees_padding(g, d, hi - 1) &&
		       g->pad_end[d] >= (g->kernel[d] - hi + 1) * step)
			hi--;
		first[d] = 0;
		if (lo == hi || hi - lo == g->kernel[d])
			continue;
		any = true;
		first[d] = lo;
		g->pad[d] -= lo * step;
		g->pad_end[d] -= (g->kernel[d] - hi) * step;
		g->taps = g->taps / g->kernel[d] * (hi - lo);
		g->kernel[d] = hi - lo;
	}
	return any;
}

static double parts_time(const struct channel_parts *c, int parts)
{
	int64_t rounds = (c->slices * parts + c->threads - 1) / c->threads;
	bool own = parts == c->threads;
	double one = own || c->uneven < 1 ? 1 : c->uneven;
	double reads = own && c->kept ? 1 : (double)rounds;
	return (double)rounds * (one / (double)parts + c->ready) +
	       reads * c->reading / (double)parts;
}

int channel_parts_choose(const struct channel_parts *c)
{
	int best = 1;
	double least = parts_time(c, 1);
	for (int parts = 2; parts <= c->most && parts <= c->threads; parts++) {
		double t = parts_time(c, parts);
		if (c->blocks % parts == 0 && t < least * c->worth) {
			least = t;
			best = parts;
		}
	}
	return best;
}

/* ---- slices ---- */

struct window_slices window_slices_of(const struct window *g, const struct window_cut *c)
{
	enum { MOST = 64 };
	struct window_slices s = {.in_inner = 1, .out_inner = 1};
	while (s.axis < 2 && g->out[s.axis] == 1)
		s.axis++;
	for (int d = s.axis + 1; d < 3; d++) {
		s.in_inner *= g->in[d];
		s.out_inner *= g->out[d];
	}
	int64_t rows = g->out[s.axis];
	int64_t weights = g->groups * g->cin * g->cout * g->taps * c->weight_size;
	int64_t bytes = g->groups * (c->in_size * g->cin * s.in_inner * g->stride[s.axis] +
				     c->out_size * g->cout * s.out_inner);
	int64_t most = (weights > c->bytes ? weights : c->bytes) / bytes;
	if (g->kernel[s.axis] > 1 && s.axis == 0)
		most = rows; /* by strips */
	most = most < 1 ? 1 : most;
	int64_t pieces = (rows + most - 1) / most;
	if (g->batch < c->n_threads)
		pieces = (pieces + c->n_threads - 1) / c->n_threads * c->n_threads;
	pieces = pieces > rows ? rows : pieces > MOST ? MOST : pieces;
	s.each = (rows + pieces - 1) / pieces;
	s.n = (int)((rows + s.each - 1) / s.each);
	return s;
}

struct window_slice window_slice_at(const struct window *g, const struct window_slices *s, int i)
{
	int d = s->axis;
	int64_t first = i * s->each, left = g->out[d] - first, n = left < s->each ? left : s->each;
	int64_t from = first * g->stride[d] - g->pad[d];
	int64_t end = from + (n - 1) * g->stride[d] + (g->kernel[d] - 1) * g->dilation[d] + 1;
	from = from < 0 ? 0 : from > g->in[d] ? g->in[d] : from;
	end = end < from ? from : end > g->in[d] ? g->in[d] : end;
	for (int before = 0; before < d; before++)
		if (g->in[before] > 1) { /* planes that one output sees together */
			from = 0;
			end = g->in_plane / s->in_inner;
		}
	return (struct window_slice){from * s->in_inner, (end - from) * s->in_inner,
				     first * s->out_inner, n * s->out_inner, 0};
}
