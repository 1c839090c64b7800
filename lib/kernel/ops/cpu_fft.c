/* cpu_fft.c - Fourier transforms: DFT, IDFT, RDFT, IRDFT, STFT, ISTFT.  Complex numbers are pairs.
 * One line at a time in double precision, by recursion on the factors of its length
 * (Cooley and Tukey, 1965).  Sources: the operators' specifications, opset7, 9, 15, 16. */
#include "kernel/cpu_impl.h"
#include "op/slice.h"

#include <math.h>
#include <string.h>

struct pair {
	double re, im;
};

/* Scratch of one line of n: the roots of unity, the line, a copy, one column of a stage. */
struct line {
	int64_t n;
	struct pair *root, *x, *y, *column;
};

static struct pair times(struct pair a, struct pair b)
{
	return (struct pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static int line_init(struct line *l, struct cpu_ctx *ctx, int64_t n, bool inverse, struct err *e)
{
	l->n = n;
	l->root = cpu_slot_scratch(ctx, SLOT_EXTRA, (size_t)(4 * n) * sizeof *l->root);
	if (!l->root)
		return cpu_no_memory(e);
	l->x = l->root + n;
	l->y = l->x + n;
	l->column = l->y + n;
	for (int64_t i = 0; i < n; i++) {
		double a = (inverse ? 2 : -2) * 3.14159265358979323846 * (double)i / (double)n;
		l->root[i] = (struct pair){cos(a), sin(a)};
	}
	return 0;
}

/* y[n] = transform of x[0], x[step], ..; n step = l->n.  column: n elements. */
static void transform(const struct line *l, const struct pair *x, int64_t step, int64_t n,
		      struct pair *y, struct pair *column)
{
	int64_t p = 2;
	if (n == 1) {
		y[0] = x[0];
		return;
	}
	while (p * p <= n && n % p)
		p++;
	if (n % p)
		p = n;
	int64_t m = n / p;
	for (int64_t i = 0; i < p; i++)
		transform(l, x + i * step, step * p, m, y + i * m, column);
	for (int64_t q = 0; q < m; q++) {
		for (int64_t i = 0; i < p; i++)
			column[i] = y[i * m + q];
		for (int64_t j = 0; j < p; j++) {
			struct pair s = {0, 0};
			int64_t k = q + j * m;
			for (int64_t i = 0; i < p; i++) {
				struct pair t = times(column[i], l->root[i * k % n * step]);
				s.re += t.re;
				s.im += t.im;
			}
			y[k] = s;
		}
	}
}

/* x -> y of the line. */
static void line_run(const struct line *l)
{
	transform(l, l->x, 1, l->n, l->y, l->column);
}

/* ---- transforms along axes ---- */

/* Product of dims from .. to - 1. */
static int64_t product(const int64_t *dim, int from, int to)
{
	int64_t n = 1;
	for (; from < to; from++)
		n *= dim[from];
	return n;
}

/* z, of dims dim[rank] of pairs of floats, along one axis in place. */
static int transform_axis(float *z, const int64_t *dim, int rank, int axis, bool inverse,
			  struct cpu_ctx *ctx, struct err *e)
{
	struct line l;
	int64_t n = dim[axis], inner = product(dim, axis + 1, rank), outer = product(dim, 0, axis);
	if (n == 0 || line_init(&l, ctx, n, inverse, e))
		return n == 0 ? 0 : -1;
	for (int64_t o = 0; o < outer * inner; o++) {
		float *at = z + 2 * (o / inner * n * inner + o % inner);
		for (int64_t i = 0; i < n; i++)
			l.x[i] = (struct pair){(double)at[2 * i * inner],
					       (double)at[2 * i * inner + 1]};
		line_run(&l);
		double scale = inverse ? 1 / (double)n : 1;
		for (int64_t i = 0; i < n; i++) {
			at[2 * i * inner] = (float)(l.y[i].re * scale);
			at[2 * i * inner + 1] = (float)(l.y[i].im * scale);
		}
	}
	return 0;
}

/* x of dims from[rank] into z of dims to[rank] pairs: cut or filled with zeros.  x has pairs, or
 * is real. */
static void resize_into(const float *x, bool pairs, const int64_t *from, float *z,
			const int64_t *to, int rank)
{
	int64_t n = product(to, 0, rank);
	for (int64_t i = 0; i < n; i++) {
		int64_t rest = i, at = 0, step = 1;
		bool inside = true;
		for (int d = rank; d-- > 0; rest /= to[d], step *= from[d]) {
			int64_t p = rest % to[d];
			inside = inside && p < from[d];
			at += p * step;
		}
		z[2 * i] = !inside ? 0 : pairs ? x[2 * at] : x[at];
		z[2 * i + 1] = inside && pairs ? x[2 * at + 1] : 0;
	}
}

int run_dft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	int64_t axes[TENSOR_DIMS];
	int rank = (int)in->rank - 1, n = op_fft_axes(k->op, k->in, axes, e);
	if (n < 0)
		return -1;
	resize_into(in->data, true, in->dim, out->data, out->dim, rank);
	for (int i = 0; i < n; i++)
		if (transform_axis(out->data, out->dim, rank, (int)axes[i], k->op->kind == OP_IDFT,
				   k->ctx, e))
			return -1;
	return 0;
}

/* Real numbers: the whole transform, of which the last axis keeps its first half. */
int run_rdft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	int64_t axes[TENSOR_DIMS], dim[TENSOR_DIMS], size[TENSOR_DIMS];
	int rank = (int)in->rank, n = op_fft_axes(k->op, k->in, axes, e);
	if (n < 0)
		return -1;
	memcpy(dim, out->dim, sizeof dim);
	bool sized = k->op->n_in > 2 && op_ints(&k->in[2], size, TENSOR_DIMS, e) == n;
	int last = (int)axes[n - 1];
	dim[last] = sized && size[n - 1] >= 0 ? size[n - 1] : in->dim[last];
	float *z = cpu_slot_scratch(k->ctx, SLOT_WHOLE,
				    (size_t)(2 * product(dim, 0, rank)) * sizeof *z);
	if (!z)
		return cpu_no_memory(e);
	resize_into(in->data, false, in->dim, z, dim, rank);
	for (int i = n; i-- > 0;)
		if (transform_axis(z, dim, rank, (int)axes[i], false, k->ctx, e))
			return -1;
	resize_into(z, true, dim, out->data, out->dim, rank);
	return 0;
}

/* Half a spectrum to real numbers: the other axes first, then the last one with the conjugate
 * half put back. */
int run_irdft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	int64_t axes[TENSOR_DIMS], dim[TENSOR_DIMS];
	int rank = (int)out->rank, n = op_fft_axes(k->op, k->in, axes, e);
	struct line l;
	if (n < 0)
		return -1;
	int last = (int)axes[n - 1];
	int64_t size = out->dim[last];
	memcpy(dim, out->dim, sizeof dim);
	dim[last] = size / 2 + 1;
	float *z = cpu_slot_scratch(k->ctx, SLOT_WHOLE,
				    (size_t)(2 * product(dim, 0, rank)) * sizeof *z),
	      *y = out->data;
	if (!z)
		return cpu_no_memory(e);
	resize_into(in->data, true, in->dim, z, dim, rank);
	for (int i = 0; i < n - 1; i++)
		if (transform_axis(z, dim, rank, (int)axes[i], true, k->ctx, e))
			return -1;
	if (size == 0 || line_init(&l, k->ctx, size, true, e))
		return size == 0 ? 0 : -1;
	int64_t inner = product(dim, last + 1, rank), outer = product(dim, 0, last);
	for (int64_t o = 0; o < outer * inner; o++) {
		int64_t block = o / inner, at = o % inner;
		for (int64_t i = 0; i < size; i++) {
			int64_t from = i < dim[last] ? i : size - i;
			const float *p = z + 2 * ((block * dim[last] + from) * inner + at);
			l.x[i] = (struct pair){(double)p[0],
					       i < dim[last] ? (double)p[1] : -(double)p[1]};
		}
		line_run(&l);
		for (int64_t i = 0; i < size; i++)
			y[(block * size + i) * inner + at] = (float)(l.y[i].re / (double)size);
	}
	return 0;
}

/* ---- short-time transforms ---- */

/* Window value i of a frame of `size`: the window lies in its middle. */
static double window_at(const struct tensor *w, int64_t size, int64_t i)
{
	int64_t n = w->dim[0], j = i - (size - n) / 2;
	return j < 0 || j >= n ? 0 : tensor_real(w, j);
}

int run_stft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	int64_t size = tensor_int(&k->in[2], 0), step = tensor_int(&k->in[3], 0);
	int64_t length = in->dim[in->rank - 1], bins = size / 2 + 1;
	int64_t frames = (length - size) / step + 1, batch = in->rank > 1 ? in->dim[0] : 1;
	struct line l;
	float *y = out->data;
	if (line_init(&l, k->ctx, size, false, e))
		return -1;
	for (int64_t b = 0; b < batch; b++)
		for (int64_t f = 0; f < frames; f++) {
			const float *x = (const float *)in->data + b * length + f * step;
			for (int64_t i = 0; i < size; i++)
				l.x[i] = (struct pair){(double)x[i] * window_at(&k->in[1], size, i),
						       0};
			line_run(&l);
			for (int64_t i = 0; i < bins; i++) {
				int64_t to = k->op->a.fft.transpose ? i * frames + f : f * bins + i;
				float *at = y + 2 * (b * bins * frames + to);
				at[0] = (float)l.y[i].re;
				at[1] = (float)l.y[i].im;
			}
		}
	return 0;
}

/* Frames (bins, frames, 2) of one signal, added where they overlap and divided by the sum of the
 * squared windows.  sum, weight: (frames - 1) step + size. */
static void overlap_add(const struct kernel_call *k, const struct line *l, const float *z,
			int64_t frames, int64_t step, double *sum, double *weight)
{
	int64_t size = l->n, bins = size / 2 + 1;
	double scale = k->op->a.fft.normalized ? sqrt((double)size) : 1;
	for (int64_t f = 0; f < frames; f++) {
		for (int64_t i = 0; i < size; i++) {
			const float *p = z + 2 * ((i < bins ? i : size - i) * frames + f);
			bool real = i == 0 || 2 * i == size;
			l->x[i] = (struct pair){(double)p[0], real       ? 0
							      : i < bins ? (double)p[1]
									 : -(double)p[1]};
		}
		line_run(l);
		for (int64_t i = 0; i < size; i++) {
			double w = window_at(&k->in[1], size, i);
			sum[f * step + i] += l->y[i].re / (double)size * w * scale;
			weight[f * step + i] += w * w;
		}
	}
}

int run_istft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	int64_t size = tensor_int(&k->in[2], 0), step = tensor_int(&k->in[3], 0);
	int64_t frames = in->dim[in->rank - 2], batch = in->rank > 3 ? in->dim[0] : 1;
	int64_t whole = frames > 0 ? (frames - 1) * step + size : 0,
		length = out->dim[out->rank - 1], first = k->op->a.fft.center ? size / 2 : 0;
	struct line l;
	double *sum = cpu_slot_scratch(k->ctx, SLOT_WHOLE, (size_t)(2 * whole) * sizeof *sum);
	if (!sum)
		return cpu_no_memory(e);
	if (line_init(&l, k->ctx, size, true, e))
		return -1;
	for (int64_t b = 0; b < batch; b++) {
		float *y = (float *)out->data + b * length;
		memset(sum, 0, (size_t)(2 * whole) * sizeof *sum);
		overlap_add(k, &l, (const float *)in->data + b * 2 * (size / 2 + 1) * frames,
			    frames, step, sum, sum + whole);
		for (int64_t i = 0; i < length; i++) {
			int64_t at = i + first;
			double w = at < whole ? sum[whole + at] : 0;
			y[i] = w > 1e-11 ? (float)(sum[at] / w) : 0;
		}
	}
	return 0;
}
