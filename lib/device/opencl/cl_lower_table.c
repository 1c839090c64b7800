/* cl_lower_table.c - launches of the operators whose result comes from places that tables tell,
 * dim by dim: Pad, Roll, Interpolate. */
#include "device/opencl/cl_lowering.h"

#include "op/resize_taps.h"
#include "op/slice.h"
#include "op/value.h"

enum { MIXED = 64 }; /* as in cl_table.cl */

/* Where output position i along a dim comes from; negative: from nowhere. */
typedef int64_t (*place_fn)(const void *arg, int d, int64_t i, int64_t n_in);

/* Strides of t into s. */
static void strides_of(const struct tensor *t, int64_t *s)
{
	int64_t n = 1;
	for (int d = (int)t->rank - 1; d >= 0; d--) {
		s[d] = n;
		n *= t->dim[d];
	}
}

/* Dims and the sharing out; taps[d] entries for each position of dim d.  Returns how many entries
 * there are in all. */
static int64_t fill_dims(struct cl_lowering *p, struct cl_launch *l, const int *taps)
{
	struct table_args *a = &l->args.table;
	const struct tensor *out = &p->out[0];
	int64_t n_rows = 1, n = 0;
	int rank = (int)out->rank;
	a->rank = rank ? rank - 1 : 0;
	a->dim[0] = a->taps[0] = 1;
	for (int d = 0; d < rank; d++) {
		a->dim[d] = (int)out->dim[d];
		a->taps[d] = taps ? taps[d] : 1;
		a->at[d] = (int)n;
		n += out->dim[d] * a->taps[d];
		if (d < a->rank)
			n_rows *= out->dim[d];
	}
	a->log = cl_log(p, out->elem);
	l->groups[0] = cl_rows_share(p->s, n_rows, a->dim[a->rank], &a->r);
	return n ? n : 1;
}

static int lower_remap(struct cl_lowering *p, place_fn place, const void *arg, int fill)
{
	const struct tensor *in = &p->in[0], *out = &p->out[0];
	int64_t stride[TENSOR_DIMS];
	int blob;
	if (out->rank > ND + 1)
		return cl_lower_refuse(p, "too many dimensions");
	struct cl_launch *l = cl_lower_launch(p, K_remap);
	int *tab = cl_lower_blob(p, (size_t)fill_dims(p, l, NULL) * sizeof(int), &blob);
	if (!tab)
		return cl_lower_refuse(p, "no memory for a table of places");
	strides_of(in, stride);
	for (int d = 0, n = 0; d < (int)out->rank; d++)
		for (int64_t i = 0; i < out->dim[d]; i++) {
			int64_t from = place(arg, d, i, in->dim[d]);
			tab[n++] = from < 0 ? -(1 << 30) : (int)(from * stride[d]);
		}
	l->args.table.filled = fill >= 0;
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_IN, fill >= 0 ? fill : 0);
	cl_lower_buf(l, REF_BLOB, blob);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

struct pads {
	enum op_pad_mode mode;
	int64_t begin[TENSOR_DIMS];
};

static int64_t pad_place(const void *arg, int d, int64_t i, int64_t n)
{
	const struct pads *q = arg;
	int64_t x = i - q->begin[d], last = n - 1;
	if (x >= 0 && x < n)
		return x;
	switch (q->mode) {
	case PADM_EDGE: return x < 0 ? 0 : last;
	case PADM_REFLECT: return x < 0 ? -x : 2 * last - x;
	case PADM_SYMMETRIC: return x < 0 ? -x - 1 : 2 * last + 1 - x;
	default: return -1;
	}
}

int cl_lower_pad(struct cl_lowering *p)
{
	struct pads q = {.mode = p->op->a.pad.mode};
	bool value = p->op->n_in > 3 && p->in[3].elem != EL_DYNAMIC;
	if (!cl_lower_known(p, 1))
		return -1;
	for (int d = 0; d < (int)p->in[0].rank; d++)
		q.begin[d] = tensor_int(&p->in[1], d);
	if (value && p->in[3].elem != p->in[0].elem)
		return cl_lower_refuse(p, "a value of another type to pad with");
	return lower_remap(p, pad_place, &q, value && q.mode == PADM_CONSTANT ? 3 : -1);
}

static int64_t roll_place(const void *arg, int d, int64_t i, int64_t n)
{
	const int64_t *shift = arg;
	int64_t x = (i - shift[d]) % n;
	return x < 0 ? x + n : x;
}

int cl_lower_roll(struct cl_lowering *p)
{
	int64_t shift[TENSOR_DIMS] = {0};
	if (!cl_lower_known(p, 1) || !cl_lower_known(p, 2))
		return -1;
	int64_t n_shifts = tensor_elements(&p->in[1]);
	for (int64_t i = 0; i < tensor_elements(&p->in[2]); i++) {
		int axis = op_axis(tensor_int(&p->in[2], i), p->in[0].rank);
		if (axis < 0)
			return cl_lower_refuse(p, "axis is out of range");
		shift[axis] += tensor_int(&p->in[1], n_shifts == 1 ? 0 : i);
	}
	return lower_remap(p, roll_place, shift, -1);
}

/* ---- Interpolate ---- */

struct resize {
	const struct op_resize *r;
	const struct tensor *out;
	double scale[TENSOR_DIMS];
};

static bool resized(const struct resize *q, int d, int64_t n_in)
{
	return n_in != q->out->dim[d] || q->scale[d] != 1;
}

static int64_t nearest_place(const void *arg, int d, int64_t i, int64_t n)
{
	const struct resize *q = arg;
	return resized(q, d, n) ? resize_tap(q->r, i, q->scale[d], n, q->out->dim[d]).at[0] : i;
}

static int lower_taps(struct cl_lowering *p, const struct resize *q)
{
	const struct tensor *in = &p->in[0], *out = &p->out[0];
	int taps[TENSOR_DIMS], mixed = 1, tab_blob, weight_blob;
	int64_t stride[TENSOR_DIMS];
	for (int d = 0; d < (int)out->rank; d++) {
		taps[d] = !resized(q, d, in->dim[d]) ? 1 : q->r->mode == INTERP_CUBIC ? 4 : 2;
		mixed *= d + 1 < (int)out->rank ? taps[d] : 1;
	}
	if (in->elem != EL_F32)
		return cl_lower_refuse(p, "Interpolate of %s is not supported",
				       elem_name(in->elem));
	if (mixed > MIXED)
		return cl_lower_refuse(p, "Interpolate over so many axes is not supported");
	struct cl_launch *l = cl_lower_launch(p, K_resample);
	int64_t n = fill_dims(p, l, taps);
	int *tab = cl_lower_blob(p, (size_t)n * sizeof(int), &tab_blob);
	float *weight = cl_lower_blob(p, (size_t)n * sizeof(float), &weight_blob);
	if (!tab || !weight)
		return cl_lower_refuse(p, "no memory for a table of weights");
	strides_of(in, stride);
	for (int d = 0; d < (int)out->rank; d++)
		for (int64_t i = 0; i < out->dim[d]; i++) {
			struct resize_tap t = {.n = 1, .at = {i}, .weight = {1}};
			if (taps[d] > 1)
				t = resize_tap(q->r, i, q->scale[d], in->dim[d], out->dim[d]);
			for (int j = 0; j < taps[d]; j++) {
				*tab++ = (int)(t.at[j] * stride[d]);
				*weight++ = t.weight[j];
			}
		}
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_BLOB, tab_blob);
	cl_lower_buf(l, REF_BLOB, weight_blob);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

int cl_lower_interpolate(struct cl_lowering *p)
{
	const struct op_resize *r = &p->op->a.resize;
	struct resize q = {.r = r, .out = &p->out[0]};
	struct err e = ERR_INIT;
	for (uint32_t d = 0; d < p->in[0].rank; d++)
		if (r->pad_begin[d] || r->pad_end[d])
			return cl_lower_refuse(p, "Interpolate with padding is not supported");
	if (p->op->version < 4 || r->mode > INTERP_CUBIC || r->antialias || p->out[0].rank > ND + 1)
		return cl_lower_refuse(p, "this Interpolate is not supported");
	for (int i = 1; i < p->op->n_in; i++)
		if (p->in[i].elem != EL_DYNAMIC && !cl_lower_known(p, i))
			return -1;
	if (resize_scales(p->op, p->in, &p->out[0], q.scale, &e))
		return cl_lower_refuse(p, "%.150s", e.msg);
	return r->mode == INTERP_NEAREST ? lower_remap(p, nearest_place, &q, -1)
					 : lower_taps(p, &q);
}
