/* embedding.c - bags of embeddings and segments: EmbeddingBagOffsets(Sum), EmbeddingBagPacked
 * (Sum), EmbeddingSegmentsSum, SegmentMax.
 *
 * Table (k, d..), indices into it; an output row is the (weighted) sum or mean of a bag of rows.
 * An empty bag is the default row, or zeros.  Sources: specifications, opset3, 15, 16. */
#include "kernel/kernel_impl.h"
#include "kernel/vec.h"

#include <float.h>
#include <string.h>

struct bag_run {
	const struct tensor *table, *index, *weight, *out; /* weight may be NULL */
	int64_t row;                                       /* elements of a row */
	bool mean;
};

/* out[o] += w table[i] */
static int add_row(const struct bag_run *r, int64_t o, int64_t at, struct err *e)
{
	int64_t i = tensor_int(r->index, at), from = i * r->row, to = o * r->row;
	if (i < 0 || i >= r->table->dim[0])
		return err_set(e, ST_INPUT, "row %lld of %lld", (long long)i,
			       (long long)r->table->dim[0]);
	if (r->table->elem == EL_F32) {
		const float *x = (const float *)r->table->data + from;
		float *y = (float *)r->out->data + to;
		float w = r->weight ? ((const float *)r->weight->data)[at] : 1;
		vec_axpy(w, x, y, r->row);
		return 0;
	}
	int64_t w = r->weight ? tensor_int(r->weight, at) : 1;
	for (int64_t j = 0; j < r->row; j++)
		tensor_set_int(r->out, to + j,
			       tensor_int(r->out, to + j) + w * tensor_int(r->table, from + j));
	return 0;
}

static void divide_row(const struct bag_run *r, int64_t o, int64_t n)
{
	if (r->table->elem == EL_F32) {
		float *y = (float *)r->out->data + o * r->row;
		vec_scale_shift(y, 1 / (float)n, 0, y, r->row);
		return;
	}
	for (int64_t j = o * r->row; j < (o + 1) * r->row; j++)
		tensor_set_int(r->out, j, tensor_int(r->out, j) / n);
}

/* Entries lo .. hi - 1 of the indices are bag o; `empty` (>= 0): the row of an empty one. */
static int sum_bag(const struct bag_run *r, int64_t o, int64_t lo, int64_t hi,
		   const struct tensor *empty, struct err *e)
{
	if (lo == hi && empty && tensor_int(empty, 0) >= 0) {
		struct bag_run one = *r;
		one.index = empty;
		one.weight = NULL;
		return add_row(&one, o, 0, e);
	}
	for (int64_t i = lo; i < hi; i++)
		if (add_row(r, o, i, e))
			return -1;
	if (r->mean && hi > lo)
		divide_row(r, o, hi - lo);
	return 0;
}

static const struct tensor *optional(const struct kernel_call *k, int i)
{
	return i < k->op->n_in && k->in[i].elem != EL_DYNAMIC && k->in[i].data ? &k->in[i] : NULL;
}

static void bag_init(struct bag_run *r, const struct kernel_call *k, int weight)
{
	*r = (struct bag_run){&k->in[0],  &k->in[1], optional(k, weight),
			      &k->out[0], 1,         k->op->a.embedding.mean};
	for (uint32_t i = 1; i < r->table->rank; i++)
		r->row *= r->table->dim[i];
	memset(r->out->data, 0, (size_t)tensor_bytes(r->out));
}

int run_embedding_offsets(const struct kernel_call *k, struct err *e)
{
	struct bag_run r;
	const struct tensor *offsets = &k->in[2], *empty = optional(k, 3);
	int64_t n = k->in[1].dim[0], bags = offsets->dim[0];
	bag_init(&r, k, 4);
	for (int64_t o = 0; o < bags; o++) {
		int64_t lo = tensor_int(offsets, o),
			hi = o + 1 < bags ? tensor_int(offsets, o + 1) : n;
		if (lo < 0 || hi < lo || hi > n)
			return err_set(e, ST_INPUT, "offsets of bags do not rise");
		if (sum_bag(&r, o, lo, hi, empty, e))
			return -1;
	}
	return 0;
}

int run_embedding_packed(const struct kernel_call *k, struct err *e)
{
	struct bag_run r;
	int64_t n = k->in[1].dim[1];
	bag_init(&r, k, 2);
	for (int64_t o = 0; o < k->in[1].dim[0]; o++)
		if (sum_bag(&r, o, o * n, (o + 1) * n, NULL, e))
			return -1;
	return 0;
}

int run_embedding_segments(const struct kernel_call *k, struct err *e)
{
	struct bag_run r;
	const struct tensor *segment = &k->in[2], *empty = optional(k, 4);
	int64_t n = segment->dim[0], at = 0;
	bag_init(&r, k, 5);
	for (int64_t o = 0; o < k->out[0].dim[0]; o++) {
		int64_t lo = at;
		while (at < n && tensor_int(segment, at) == o)
			at++;
		if (sum_bag(&r, o, lo, at, empty, e))
			return -1;
	}
	return 0;
}

/* Rows lo .. hi - 1, f32, element by element the greatest, or `none` where there are no rows. */
static void row_maxima(const float *x, int64_t lo, int64_t hi, int64_t row, float none, float *y)
{
	if (lo < hi)
		memcpy(y, x + lo * row, (size_t)row * sizeof *y);
	for (int64_t j = 0; j < row && lo == hi; j++)
		y[j] = none;
	for (int64_t i = lo + 1; i < hi; i++)
		vec_join(OP_REDUCE_MAX, x + i * row, y, row);
}

/* Rows of a segment, element by element the greatest. */
int run_segment_max(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *segment = &k->in[1], *out = &k->out[0];
	int64_t row = 1, n = segment->dim[0], rows = out->dim[0];
	bool real = elem_is_real(out->elem), zeros = k->op->a.embedding.fill_zeros;
	for (uint32_t i = 1; i < x->rank; i++)
		row *= x->dim[i];
	for (int64_t o = 0, at = 0; o < rows; o++) {
		int64_t lo = at;
		while (at < n && tensor_int(segment, at) == o)
			at++;
		if (x->elem == EL_F32 && out->elem == EL_F32) {
			row_maxima(x->data, lo, at, row, zeros ? 0 : -FLT_MAX,
				   (float *)out->data + o * row);
			continue;
		}
		for (int64_t j = 0; j < row; j++) {
			int64_t to = o * row + j;
			double most = -3.402823466e38;
			int64_t top = out->elem == EL_I64 ? INT64_MIN : INT32_MIN;
			for (int64_t i = lo; i < at; i++) {
				double v = tensor_real(x, i * row + j);
				int64_t u = real ? 0 : tensor_int(x, i * row + j);
				most = i == lo || v > most ? v : most;
				top = i == lo || u > top ? u : top;
			}
			if (lo == at && zeros)
				most = 0, top = 0;
			if (real)
				tensor_set_real(out, to, most);
			else
				tensor_set_int(out, to, top);
		}
	}
	for (int64_t i = 1; i < n; i++)
		if (tensor_int(segment, i) < tensor_int(segment, i - 1))
			return err_set(e, ST_INPUT, "segments do not rise");
	return 0;
}
