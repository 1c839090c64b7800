/* concat.c - operators that move runs of elements along an axis: Concat, the
 * splits, Pad, Roll, ReverseSequence. */
#include "kernel/kernel_impl.h"
#include "op/slice.h"

#include <string.h>

enum { GRAIN = 1 << 16 }; /* bytes */

/* Bytes of one step along the axis of t (everything behind it), and of what comes before. */
static int64_t inner_bytes(const struct tensor *t, uint32_t axis)
{
	int64_t n = (int64_t)cpu_elem_size(t->elem);
	for (uint32_t i = axis + 1; i < t->rank; i++)
		n *= t->dim[i];
	return n;
}

static int64_t outer_count(const struct tensor *t, uint32_t axis)
{
	int64_t n = 1;
	for (uint32_t i = 0; i < axis; i++)
		n *= t->dim[i];
	return n;
}

/* Parts side by side along an axis of a whole tensor. */
struct parts_run {
	const struct tensor *whole, *part;
	int n_parts;
	bool split;         /* else join */
	int64_t inner, row; /* bytes of a step, of a row of the whole */
	uint32_t axis;
	int64_t outer;
	int n_tasks;
};

/* Bytes lo .. hi - 1 of row o of the whole. */
static void move_row(const struct parts_run *r, int64_t o, int64_t lo, int64_t hi)
{
	int64_t at = 0;
	for (int p = 0; p < r->n_parts && at < hi; p++) {
		int64_t bytes = r->part[p].dim[r->axis] * r->inner;
		int64_t from = lo > at ? lo - at : 0, to = hi - at < bytes ? hi - at : bytes;
		if (from < to) {
			char *whole = (char *)r->whole->data + o * r->row + at + from;
			char *part = (char *)r->part[p].data + o * bytes + from;
			memcpy(r->split ? part : whole, r->split ? whole : part,
			       (size_t)(to - from));
		}
		at += bytes;
	}
}

/* Rows lo .. hi - 1, part by part. */
static void move_rows(const struct parts_run *r, int64_t lo, int64_t hi)
{
	int64_t at = 0;
	for (int p = 0; p < r->n_parts; p++) {
		int64_t bytes = r->part[p].dim[r->axis] * r->inner;
		if (bytes == 0)
			continue;
		for (int64_t o = lo; o < hi; o++) {
			char *whole = (char *)r->whole->data + o * r->row + at;
			char *part = (char *)r->part[p].data + o * bytes;
			memcpy(r->split ? part : whole, r->split ? whole : part, (size_t)bytes);
		}
		at += bytes;
	}
}

/* A share of the rows; of few rows, a share of the bytes of each. */
static void parts_task(void *arg, int task, int thread)
{
	const struct parts_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	if (r->n_tasks <= r->outer) {
		cpu_range(r->outer, r->n_tasks, task, &lo, &hi);
		move_rows(r, lo, hi);
		return;
	}
	cpu_range(r->row, r->n_tasks, task, &lo, &hi);
	for (int64_t o = 0; o < r->outer; o++)
		move_row(r, o, lo, hi);
}

static int run_parts(const struct kernel_call *k, const struct tensor *whole,
		     const struct tensor *part, int n, int axis, bool split, struct err *e)
{
	if (axis < 0)
		return err_set(e, ST_INPUT, "the axis is not there");
	if (!cpu_elem_size(whole->elem))
		return err_set(e, ST_INPUT, "elements of type %s cannot be moved one by one",
			       elem_name(whole->elem));
	struct parts_run r = {whole,
			      part,
			      n,
			      split,
			      inner_bytes(whole, (uint32_t)axis),
			      0,
			      (uint32_t)axis,
			      outer_count(whole, (uint32_t)axis),
			      1};
	r.row = r.inner * whole->dim[axis];
	r.n_tasks = cpu_tasks(r.outer * r.row, GRAIN);
	/* A plane of an image is longer than a line of memory, a short row of pixels is not. */
	if (r.n_tasks > r.outer && r.row < GRAIN)
		r.n_tasks = r.outer > 0 ? (int)r.outer : 1;
	cpu_parallel(k->ctx, r.n_tasks, parts_task, &r);
	return 0;
}

int run_concat(const struct kernel_call *k, struct err *e)
{
	return run_parts(k, &k->out[0], k->in, k->op->n_in,
			 op_axis(k->op->a.axis.axis, k->out[0].rank), false, e);
}

int run_split(const struct kernel_call *k, struct err *e)
{
	return run_parts(k, &k->in[0], k->out, k->op->n_out,
			 op_axis(tensor_int(&k->in[1], 0), k->in[0].rank), true, e);
}

/* ---- Pad ---- */

/* Dims behind the last padded one are parts of a block, up to a task's bytes; rows are along the one in front. */
struct pad_run {
	enum op_pad_mode mode;
	const struct tensor *in, *out;
	int64_t lo[TENSOR_DIMS];
	uint32_t last;      /* the dim of rows */
	size_t size, block; /* bytes of an element, of a block */
	uint64_t fill;      /* one element, in its first bytes */
	int64_t n_rows;
	int n_tasks;
};

/* n bytes, whole elements, of the value that pads. */
static void pad_fill(const struct pad_run *r, char *dst, size_t n)
{
	static const uint64_t zero;
	if (memcmp(&r->fill, &zero, r->size) == 0) {
		memset(dst, 0, n);
		return;
	}
	for (size_t i = 0; i < n; i += r->size)
		memcpy(dst + i, &r->fill, r->size);
}

/* Blocks of a row; src NULL: all of them pad. */
static void pad_row(const struct pad_run *r, char *dst, const char *src)
{
	int64_t n = r->out->dim[r->last], m = r->in->dim[r->last], lo = r->lo[r->last];
	size_t size = r->block;
	for (int64_t i = 0; i < n;) {
		int64_t from = i - lo, run = 1;
		char *to = dst + (size_t)i * size;
		if (src && from >= 0 && from < m) { /* the run that lies in the source */
			run = m - from < n - i ? m - from : n - i;
			memcpy(to, src + (size_t)from * size, (size_t)run * size);
		} else if (!src || r->mode == PADM_CONSTANT) {
			run = src && from < 0 && -from < n - i ? -from : n - i;
			pad_fill(r, to, (size_t)run * size);
		} else {
			memcpy(to, src + (size_t)op_pad_source(r->mode, from, m) * size, size);
		}
		i += run;
	}
}

static void pad_task(void *arg, int task, int thread)
{
	const struct pad_run *r = arg;
	int64_t begin, end;
	(void)thread;
	cpu_range(r->n_rows, r->n_tasks, task, &begin, &end);
	for (int64_t row = begin; row < end; row++) {
		int64_t rest = row, at[TENSOR_DIMS] = {0}, from = 0;
		bool inside = true;
		for (uint32_t d = r->last; d-- > 0; rest /= r->out->dim[d]) {
			at[d] = op_pad_source(r->mode, rest % r->out->dim[d] - r->lo[d],
					      r->in->dim[d]);
			inside = inside && at[d] >= 0;
		}
		for (uint32_t d = 0; d < r->last; d++)
			from = from * r->in->dim[d] + at[d];
		pad_row(r, (char *)r->out->data + (size_t)(row * r->out->dim[r->last]) * r->block,
			inside ? (const char *)r->in->data +
					 (size_t)(from * r->in->dim[r->last]) * r->block
			       : NULL);
	}
}

int run_pad(const struct kernel_call *k, struct err *e)
{
	struct pad_run r = {
		.mode = k->op->a.pad.mode, .in = &k->in[0], .out = &k->out[0], .n_rows = 1};
	struct tensor fill = {.elem = k->in[0].elem, .data = &r.fill};
	r.size = cpu_elem_size(r.in->elem);
	if (!r.size)
		return err_set(e, ST_INPUT, "elements of type %s cannot be moved",
			       elem_name(r.in->elem));
	if (op_ints(&k->in[1], r.lo, TENSOR_DIMS, e) < 0)
		return -1;
	if (k->op->n_in > 3 && k->in[3].data)
		cpu_convert(fill.elem, fill.data, k->in[3].elem, k->in[3].data, 1);
	if (r.in->rank == 0)
		return run_copy(k, e);
	r.block = r.size;
	for (r.last = r.in->rank - 1; r.last > 0 && r.block < GRAIN && r.lo[r.last] == 0 &&
				      r.in->dim[r.last] == r.out->dim[r.last];
	     r.last--)
		r.block *= (size_t)r.out->dim[r.last];
	for (uint32_t d = 0; d < r.last; d++)
		r.n_rows *= r.out->dim[d];
	if (tensor_bytes(r.out) == 0)
		return 0;
	if (r.last == 0 && r.lo[0] == 0 && r.in->dim[0] == r.out->dim[0])
		return run_copy(k, e);
	r.n_tasks = cpu_tasks(tensor_bytes(r.out), GRAIN);
	if (r.n_tasks > r.n_rows)
		r.n_tasks = (int)r.n_rows;
	cpu_parallel(k->ctx, r.n_tasks, pad_task, &r);
	return 0;
}

/* ---- Roll and ReverseSequence ---- */

/* Every rolled axis falls into two ranges that stay together; bit d of `wrapped`: the one of axis d
 * that comes round to the start. */
static void roll_part(const struct kernel_call *k, const int64_t *shift, uint32_t wrapped)
{
	const struct tensor *x = &k->in[0];
	int64_t stride[TENSOR_DIMS], dim[TENSOR_DIMS];
	const char *src = x->data;
	char *dst = k->out[0].data;
	cpu_strides_of(x, stride);
	for (uint32_t d = 0; d < x->rank; d++) {
		int64_t stay = x->dim[d] - shift[d];
		dim[d] = wrapped >> d & 1 ? shift[d] : stay;
		src += wrapped >> d & 1 ? stay * stride[d] : 0;
		dst += wrapped >> d & 1 ? 0 : shift[d] * stride[d];
	}
	cpu_move_strided(k->ctx, cpu_elem_size(x->elem), x->rank, dim, stride, src, stride, dst);
}

int run_roll(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0];
	int64_t shift[TENSOR_DIMS] = {0}, by[TENSOR_DIMS], axes[TENSOR_DIMS];
	bool flat = tensor_elements(&k->in[2]) == 0;
	int n_by = op_ints(&k->in[1], by, TENSOR_DIMS, e),
	    n_axes = op_ints(&k->in[2], axes, TENSOR_DIMS, e);
	if (n_by < 1 || n_axes < 0 || !cpu_elem_size(x->elem) ||
	    (!flat && n_by != 1 && n_by != n_axes))
		return err_set(e, ST_INPUT, "shift and axes of Roll do not fit");
	for (int i = 0; i < n_axes; i++) {
		int axis = op_axis(axes[i], x->rank);
		if (axis < 0)
			return err_set(e, ST_INPUT, "axis %lld is not there", (long long)axes[i]);
		int64_t n = x->dim[axis];
		shift[axis] = (shift[axis] + by[n_by == 1 ? 0 : i] % n + n) % n;
	}
	uint32_t rolled = 0;
	for (uint32_t d = 0; d < x->rank; d++)
		rolled |= (uint32_t)(shift[d] != 0) << d;
	uint32_t wrapped = 0;
	do { /* every subset of the rolled axes */
		roll_part(k, shift, wrapped);
		wrapped = (wrapped - rolled) & rolled;
	} while (wrapped);
	return 0;
}

int run_reverse_sequence(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0];
	int batch = op_axis(k->op->a.onehot.batch_axis, x->rank),
	    seq = op_axis(k->op->a.onehot.seq_axis, x->rank);
	size_t size = cpu_elem_size(x->elem);
	int64_t stride[TENSOR_DIMS], reversed[TENSOR_DIMS], dim[TENSOR_DIMS];
	if (batch < 0 || seq < 0 || batch == seq || !size ||
	    tensor_elements(&k->in[1]) != x->dim[batch])
		return err_set(e, ST_INPUT, "axes of ReverseSequence do not fit");
	cpu_strides_of(x, stride);
	memcpy(reversed, stride, sizeof reversed);
	memcpy(dim, x->dim, sizeof dim);
	reversed[seq] = -stride[seq];
	dim[batch] = 1;
	for (int64_t b = 0; b < x->dim[batch]; b++) {
		const char *src = (const char *)x->data + b * stride[batch];
		char *dst = (char *)k->out[0].data + b * stride[batch];
		int64_t n = tensor_int(&k->in[1], b);
		n = n < 0 || n > x->dim[seq] ? 0 : n;
		dim[seq] = n;
		cpu_move_strided(k->ctx, size, x->rank, dim, reversed, src + (n - 1) * stride[seq],
				 stride, dst);
		dim[seq] = x->dim[seq] - n;
		cpu_move_strided(k->ctx, size, x->rank, dim, stride, src + n * stride[seq], stride,
				 dst + n * stride[seq]);
	}
	return 0;
}
