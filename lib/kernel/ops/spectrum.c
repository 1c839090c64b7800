/* spectrum.c - DFT, IDFT, RDFT, IRDFT, STFT, ISTFT: which lines are transformed (fft.h).
 * Complex numbers are pairs.
 * Sources: the operators' specifications, opset7, 9, 15, 16. */
#include "kernel/vec.h"
#include "kernel/ops/fft.h"
#include "op/slice.h"

#include <math.h>
#include <string.h>

enum shape { PAIRS, TO_SPECTRUM, FROM_SPECTRUM };

/* Transforms of all lines along one axis.  TO_SPECTRUM reads real lines and writes the first half
 * of their transforms, FROM_SPECTRUM is the way back. */
struct pass {
	struct fft fft;
	enum shape shape;
	const float *src;
	float *dst;
	int64_t lines, n_in;       /* elements of an input line; the rest are zeros */
	int64_t in_step, out_step; /* floats between elements of a line */
	const float *window;       /* (n) factors of the input; NULL: none */
	float scale;
	struct cpu_ctx *ctx;
	atomic_bool no_memory;
	/* Where line i begins, in floats; *in < 0: a line of zeros. */
	void (*place)(const struct pass *p, int64_t i, int64_t *in, int64_t *out);
	/* for place_axis: dims without the axis, and floats between their elements */
	int rank;
	int64_t dim[TENSOR_DIMS], in_dim[TENSOR_DIMS], in_stride[TENSOR_DIMS],
		out_stride[TENSOR_DIMS];
	/* for place_frame */
	int64_t frames, length, hop; /* of a signal: frames, floats, floats from frame to frame */
	bool transpose;              /* a spectrum has frames before bins */
};

static int64_t bins_of(int64_t n)
{
	return n / 2 + 1;
}

/* ---- one bundle ---- */

static void clear(float *x, int64_t from, int64_t to, int64_t w)
{
	memset(x + from * w, 0, (size_t)((to - from) * w) * sizeof *x);
}

/* The second half of the spectra of real lines: conjugate to the first, mirrored.  Imaginary
 * parts of bins that are their own mirror say nothing. */
static void mirror(float *re, float *im, int64_t n, int64_t w)
{
	clear(im, 0, 1, w);
	if (n % 2 == 0)
		clear(im, n / 2, n / 2 + 1, w);
	for (int64_t k = bins_of(n); k < n; k++) {
		memcpy(re + k * w, re + (n - k) * w, (size_t)w * sizeof *re);
		for (int64_t l = 0; l < w; l++)
			im[k * w + l] = -im[(n - k) * w + l];
	}
}

/* Lines first .. first + w - 1; x, y: room of 2 n w floats. */
static void run_bundle(const struct pass *p, int64_t first, int64_t w, float *x, float *y)
{
	int64_t in[FFT_LINES], out[FFT_LINES], n = p->fft.n, plane = n * w;
	int64_t n_out = p->shape == TO_SPECTRUM ? bins_of(n) : n;
	for (int64_t l = 0; l < w; l++)
		p->place(p, first + l, &in[l], &out[l]);
	bool pairs = p->shape != TO_SPECTRUM && p->in_step == 2 &&
		     fft_take_pairs(p->src, in, p->window, x, x + plane, p->n_in, w);
	if (!pairs)
		fft_take(p->src, in, p->in_step, p->window, x, p->n_in, w);
	clear(x, p->n_in, n, w);
	if (p->shape != TO_SPECTRUM && !pairs)
		fft_take(p->src + 1, in, p->in_step, p->window, x + plane, p->n_in, w);
	clear(x + plane, p->shape != TO_SPECTRUM ? p->n_in : 0, n, w);
	if (p->shape == FROM_SPECTRUM)
		mirror(x, x + plane, n, w);
	const float *z = fft_run(&p->fft, x, y, w);
	if (p->shape != FROM_SPECTRUM && p->out_step == 2 &&
	    fft_put_pairs(z, z + plane, p->scale, p->dst, out, n_out, w))
		return;
	fft_put(z, p->scale, p->dst, out, p->out_step, n_out, w);
	if (p->shape != FROM_SPECTRUM)
		fft_put(z + plane, p->scale, p->dst + 1, out, p->out_step, n_out, w);
}

static void pass_task(void *arg, int task, int thread)
{
	struct pass *p = arg;
	int64_t first = (int64_t)task * FFT_LINES, left = p->lines - first;
	int64_t w = left < FFT_LINES ? left : FFT_LINES, room = 2 * p->fft.n * w;
	float *x = cpu_thread_scratch(p->ctx, thread, (size_t)(2 * room) * sizeof *x);
	if (x)
		run_bundle(p, first, w, x, x + room);
	else
		atomic_store(&p->no_memory, true);
}

static int run_pass(struct pass *p, struct err *e)
{
	int64_t tasks = (p->lines + FFT_LINES - 1) / FFT_LINES;
	if (tasks > INT32_MAX)
		return err_set(e, ST_INPUT, "a Fourier transform of too many lines");
	cpu_parallel(p->ctx, (int)tasks, pass_task, p);
	return atomic_load(&p->no_memory) ? cpu_no_memory(e) : 0;
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

static void place_axis(const struct pass *p, int64_t i, int64_t *in, int64_t *out)
{
	bool inside = true;
	*in = *out = 0;
	for (int d = p->rank; d-- > 0; i /= p->dim[d]) {
		int64_t at = i % p->dim[d];
		inside = inside && at < p->in_dim[d];
		*in += at * p->in_stride[d];
		*out += at * p->out_stride[d];
	}
	if (!inside)
		*in = -1;
}

/* x of dims from[rank] into y of dims to[rank], elements being pairs or, on the side of real lines,
 * floats; cut or filled with zeros.  n elements are transformed along the axis.  y may be x where
 * the dims are the same. */
static int transform_axis(struct cpu_ctx *ctx, enum shape shape, bool inverse, const float *x,
			  const int64_t *from, float *y, const int64_t *to, int rank, int axis,
			  int64_t n, struct err *e)
{
	struct pass p = {.shape = shape,
			 .src = x,
			 .dst = y,
			 .scale = inverse ? 1 / (float)n : 1,
			 .ctx = ctx,
			 .place = place_axis};
	int64_t width = shape == FROM_SPECTRUM ? bins_of(n) : n, in = shape != TO_SPECTRUM ? 2 : 1,
		out = shape != FROM_SPECTRUM ? 2 : 1;
	p.n_in = from[axis] < width ? from[axis] : width;
	p.lines = product(to, 0, axis) * product(to, axis + 1, rank);
	if (n < 1 && shape == TO_SPECTRUM) /* one bin, of sums of nothing */
		memset(y, 0, (size_t)(p.lines * 2) * sizeof *y);
	if (n < 1 || p.lines < 1)
		return 0;
	for (int d = 0; d < rank; d++) {
		int64_t in_stride = in * product(from, d + 1, rank),
			out_stride = out * product(to, d + 1, rank);
		if (d == axis) {
			p.in_step = in_stride;
			p.out_step = out_stride;
			continue;
		}
		p.dim[p.rank] = to[d];
		p.in_dim[p.rank] = from[d];
		p.in_stride[p.rank] = in_stride;
		p.out_stride[p.rank++] = out_stride;
	}
	return fft_init(&p.fft, ctx, n, inverse, e) ? -1 : run_pass(&p, e);
}

int run_dft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	int64_t axes[TENSOR_DIMS];
	int rank = (int)in->rank - 1, n = op_fft_axes(k->op, k->in, axes, e);
	const float *x = in->data;
	const int64_t *from = in->dim;
	for (int i = 0; i < n; i++) {
		if (transform_axis(k->ctx, PAIRS, k->op->kind == OP_IDFT, x, from, out->data,
				   out->dim, rank, (int)axes[i], out->dim[axes[i]], e))
			return -1;
		x = out->data;
		from = out->dim;
	}
	return n < 0 ? -1 : 0;
}

/* Real numbers: the last axis first, of which the first half is kept. */
int run_rdft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	int64_t axes[TENSOR_DIMS], size[TENSOR_DIMS];
	int rank = (int)in->rank, n = op_fft_axes(k->op, k->in, axes, e);
	if (n < 0)
		return -1;
	bool sized = k->op->n_in > 2 && op_ints(&k->in[2], size, TENSOR_DIMS, e) == n;
	int last = (int)axes[n - 1];
	int64_t length = sized && size[n - 1] >= 0 ? size[n - 1] : in->dim[last];
	if (transform_axis(k->ctx, TO_SPECTRUM, false, in->data, in->dim, out->data, out->dim, rank,
			   last, length, e))
		return -1;
	for (int i = n - 1; i-- > 0;)
		if (transform_axis(k->ctx, PAIRS, false, out->data, out->dim, out->data, out->dim,
				   rank, (int)axes[i], out->dim[axes[i]], e))
			return -1;
	return 0;
}

/* Half a spectrum to real numbers: the last axis last. */
int run_irdft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	int64_t axes[TENSOR_DIMS], dim[TENSOR_DIMS];
	int rank = (int)out->rank, n = op_fft_axes(k->op, k->in, axes, e);
	if (n < 0)
		return -1;
	int last = (int)axes[n - 1];
	int64_t size = out->dim[last];
	const float *x = in->data;
	const int64_t *from = in->dim;
	memcpy(dim, out->dim, sizeof dim);
	dim[last] = bins_of(size);
	float *z = n < 2 ? NULL
			 : cpu_slot_scratch(k->ctx, SLOT_WHOLE,
					    (size_t)(2 * product(dim, 0, rank)) * sizeof *z);
	if (n > 1 && !z)
		return cpu_no_memory(e);
	for (int i = 0; i < n - 1; i++) {
		if (transform_axis(k->ctx, PAIRS, true, x, from, z, dim, rank, (int)axes[i],
				   dim[axes[i]], e))
			return -1;
		x = z;
		from = dim;
	}
	return transform_axis(k->ctx, FROM_SPECTRUM, true, x, from, out->data, out->dim, rank, last,
			      size, e);
}

/* ---- short-time transforms ---- */

/* The window in the middle of a frame of `size`, zeros around it. */
static float *whole_window(const struct kernel_call *k, int64_t size)
{
	const struct tensor *t = &k->in[1];
	int64_t n = t->dim[0], first = (size - n) / 2;
	float *w = cpu_slot_scratch(k->ctx, SLOT_STEP, (size_t)size * sizeof *w);
	if (!w)
		return NULL;
	memset(w, 0, (size_t)size * sizeof *w);
	for (int64_t i = 0; i < n; i++)
		w[first + i] = (float)tensor_real(t, i);
	return w;
}

/* Frame `frame` of a signal and of its spectra. */
static void place_frame(const struct pass *p, int64_t i, int64_t *signal, int64_t *spectrum)
{
	int64_t b = i / p->frames, f = i % p->frames, bins = bins_of(p->fft.n);
	*signal = b * p->length + f * p->hop;
	*spectrum = 2 * (b * bins * p->frames + (p->transpose ? f : f * bins));
}

static void place_spectrum(const struct pass *p, int64_t i, int64_t *spectrum, int64_t *signal)
{
	place_frame(p, i, signal, spectrum);
}

int run_stft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0];
	int64_t size = tensor_int(&k->in[2], 0), length = in->dim[in->rank - 1];
	struct pass p = {.shape = TO_SPECTRUM,
			 .src = in->data,
			 .dst = k->out[0].data,
			 .n_in = size,
			 .in_step = 1,
			 .window = whole_window(k, size),
			 .scale = 1,
			 .ctx = k->ctx,
			 .place = place_frame,
			 .length = length,
			 .hop = tensor_int(&k->in[3], 0),
			 .transpose = k->op->a.fft.transpose};
	if (!p.window)
		return cpu_no_memory(e);
	p.frames = (length - size) / p.hop + 1;
	p.lines = (in->rank > 1 ? in->dim[0] : 1) * p.frames;
	p.out_step = 2 * (p.transpose ? p.frames : 1);
	return fft_init(&p.fft, k->ctx, size, false, e) ? -1 : run_pass(&p, e);
}

/* Frames (frames, size) of one signal, times the window, added where they overlap; squares of
 * windows added likewise.  sum, weight: (frames - 1) hop + size. */
static void overlap_add(const float *x, const float *window, int64_t frames, int64_t size,
			int64_t hop, float *sum, float *weight)
{
	for (int64_t f = 0; f < frames; f++, x += size, sum += hop, weight += hop)
		for (int64_t i = 0; i < size; i++) {
			sum[i] += x[i] * window[i];
			weight[i] += window[i] * window[i];
		}
}

int run_istft(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	int64_t size = tensor_int(&k->in[2], 0), step = tensor_int(&k->in[3], 0);
	int64_t frames = in->dim[in->rank - 2], batch = in->rank > 3 ? in->dim[0] : 1;
	int64_t whole = frames > 0 ? (frames - 1) * step + size : 0,
		length = out->dim[out->rank - 1], first = k->op->a.fft.center ? size / 2 : 0;
	int64_t room = batch * frames * size;
	float *x = cpu_slot_scratch(k->ctx, SLOT_WHOLE, (size_t)(room + 2 * whole) * sizeof *x);
	struct pass p = {.shape = FROM_SPECTRUM,
			 .src = in->data,
			 .dst = x,
			 .lines = batch * frames,
			 .n_in = bins_of(size),
			 .in_step = 2 * frames,
			 .out_step = 1,
			 .ctx = k->ctx,
			 .place = place_spectrum,
			 .frames = frames,
			 .length = frames * size,
			 .hop = size,
			 .transpose = true};
	const float *window = whole_window(k, size);
	p.scale = (k->op->a.fft.normalized ? sqrtf((float)size) : 1) / (float)size;
	if (!x || !window)
		return cpu_no_memory(e);
	if (fft_init(&p.fft, k->ctx, size, true, e) || run_pass(&p, e))
		return -1;
	float *sum = x + room, *weight = sum + whole;
	for (int64_t b = 0; b < batch; b++) {
		float *y = (float *)out->data + b * length;
		memset(sum, 0, (size_t)(2 * whole) * sizeof *sum);
		overlap_add(x + b * frames * size, window, frames, size, step, sum, weight);
		for (int64_t i = 0; i < length; i++) {
			int64_t at = i + first;
			float w = at < whole ? weight[at] : 0;
			y[i] = w > 1e-11f ? sum[at] / w : 0;
		}
	}
	return 0;
}
