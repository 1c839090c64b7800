/* rules_window.c - convolutions and pooling: rows with halos, channels, groups. */
#include "split/rules_impl.h"

/* Output rows lo .. hi - 1 along spatial dim s: input rows lo S - P .. (hi - 1) S - P + (K - 1) D, of
 * which those outside are padding of the part alone. */
static bool cut_rows(const struct op *op, const struct tensor *x, const int64_t *kernel, int s,
		     struct split_part *p)
{
	const struct op_window *w = &op->a.window;
	int n = (int)x->rank - 2;
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	op_window_pads(w, n, x->dim + 2, kernel, begin, end);
	int64_t size = x->dim[2 + s], stride = w->stride[s], out_end = p->hi;
	int64_t first = p->lo * stride - begin[s],
		last = (out_end - 1) * stride - begin[s] + (kernel[s] - 1) * w->dilation[s] + 1;
	int64_t lo = first < 0 ? 0 : first, hi = last > size ? size : last;
	if (lo >= hi)
		return false; /* padding alone */
	/* A window that ends beyond the padding has fewer elements to average. */
	if (op->kind == OP_AVG_POOL && !w->exclude_pad && last > size + end[s])
		return false;
	begin[s] = lo - first;
	end[s] = last - hi;
	split_edit_list(p, "pads_begin", begin, n);
	split_edit_list(p, "pads_end", end, n);
	split_edit(p, "auto_pad", "explicit");
	split_read(p, 0, 2 + s, lo, hi);
	p->need[0].core_lo = p->lo * stride < size ? p->lo * stride : size;
	p->need[0].core_hi = p->hi * stride < size ? p->hi * stride : size;
	return true;
}

static bool window_rows(struct split_facts *f, uint32_t v, const int64_t *kernel,
			struct split_part *p)
{
	struct tensor x, y;
	if (!split_input(f, v, 0, &x) || !split_output(f, v, 0, &y) || x.rank < 3 ||
	    x.rank > 2 + OP_MAX_SPATIAL)
		return false;
	if (!cut_rows(&f->op[v], &x, kernel, p->axis - 2, p))
		return false;
	if (p->hi == y.dim[p->axis]) /* the last part has what no window reads, too */
		p->need[0].core_hi = x.dim[p->axis];
	return true;
}

/* Channels lo .. hi - 1 of a grouped convolution: whole groups. */
static bool cut_groups(const struct tensor *w, struct split_part *p)
{
	p->unit = w->dim[1];
	if (p->unit == 0 || !split_aligned(p, w->dim[0] * w->dim[1]))
		return false;
	int64_t first = p->lo / p->unit, end = p->hi / p->unit;
	split_read(p, 0, 1, first * w->dim[2], end * w->dim[2]);
	split_read(p, 1, 0, first, end);
	return true;
}

bool split_rule_convolution(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor w;
	bool grouped = f->op[v].a.window.grouped;
	if (!split_input(f, v, 1, &w) || w.rank < 3 || f->op[v].a.window.n_spatial == 0)
		return false;
	if (p->axis == SPLIT_SUM) {
		split_read(p, 0, 1, p->lo, p->hi);
		split_read(p, 1, 1, p->lo, p->hi);
		return true;
	}
	if (p->axis == 0)
		split_read(p, 0, 0, p->lo, p->hi);
	else if (p->axis == 1 && grouped)
		return cut_groups(&w, p);
	else if (p->axis == 1)
		split_read(p, 1, 0, p->lo, p->hi);
	else
		return window_rows(f, v, w.dim + (grouped ? 3 : 2), p);
	return true;
}

static bool reads_indices(const struct graph *g, uint32_t v)
{
	for (uint32_t k = g->consumers.ptr[v]; k < g->consumers.ptr[v + 1]; k++)
		if (g->in_port[g->consumers.slot[k]] == 1)
			return true;
	return false;
}

bool split_rule_pool(struct split_facts *f, uint32_t v, struct split_part *p)
{
	if (reads_indices(f->g, v))
		return false; /* they count in the whole */
	if (p->axis >= 2)
		return f->op[v].a.window.n_spatial > 0 &&
		       window_rows(f, v, f->op[v].a.window.kernel, p);
	split_read(p, 0, p->axis, p->lo, p->hi);
	return true;
}

bool split_rule_adaptive_pool(struct split_facts *f, uint32_t v, struct split_part *p)
{
	(void)f, (void)v;
	split_read(p, 0, p->axis, p->lo, p->hi);
	return p->axis < 2;
}

/* ---- transposed ---- */

/* Output rows lo .. hi - 1 along spatial dim s: those input rows whose windows reach them; what the others would add at the ends is
 * cut away by the pads of the part. */
static bool cut_transposed_rows(struct split_facts *f, uint32_t v, const struct tensor *x,
				const struct tensor *y, const int64_t *kernel, struct split_part *p)
{
	const struct op_window *w = &f->op[v].a.window;
	int n = (int)x->rank - 2, s = p->axis - 2;
	bool shaped = f->op[v].n_in > 2 && graph_source(f->g, v, 2) != GRAPH_NONE;
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL], more[OP_MAX_SPATIAL];
	op_backprop_pads(w, n, x->dim + 2, kernel, shaped ? y->dim + 2 : NULL, begin, end);
	for (int i = 0; i < n; i++)
		more[i] = w->output_padding[i];
	int64_t stride = w->stride[s], reach = (kernel[s] - 1) * w->dilation[s],
		size = x->dim[2 + s], first = p->lo + begin[s] - reach,
		lo = first <= 0 ? 0 : (first + stride - 1) / stride,
		hi = (p->hi - 1 + begin[s]) / stride + 1;
	hi = hi > size ? size : hi;
	if (lo >= hi)
		return false;
	begin[s] = p->lo + begin[s] - lo * stride;
	end[s] = stride * (hi - lo - 1) + reach + 1 - begin[s] - (p->hi - p->lo);
	more[s] = end[s] < 0 ? -end[s] : 0;
	end[s] = end[s] < 0 ? 0 : end[s];
	if (begin[s] < 0 || more[s] >= stride)
		return false;
	split_edit_list(p, "pads_begin", begin, n);
	split_edit_list(p, "pads_end", end, n);
	split_edit_list(p, "output_padding", more, n);
	split_edit(p, "auto_pad", "explicit");
	split_read(p, 0, p->axis, lo, hi);
	p->need[0].core_lo = p->lo / stride < size ? p->lo / stride : size;
	p->need[0].core_hi = p->hi / stride < size ? p->hi / stride : size;
	if (p->hi == y->dim[p->axis])
		p->need[0].core_hi = size;
	if (shaped) {
		p->ints_input = 2;
		p->n_ints = n;
		for (int i = 0; i < n; i++)
			p->ints[i] = i == s ? p->hi - p->lo : y->dim[2 + i];
	}
	return true;
}

bool split_rule_transposed(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x, w, y;
	bool grouped = f->op[v].a.window.grouped;
	if (!split_input(f, v, 0, &x) || !split_input(f, v, 1, &w) || !split_output(f, v, 0, &y) ||
	    w.rank < 3 || f->op[v].a.window.n_spatial == 0)
		return false;
	if (p->axis == SPLIT_SUM) { /* of one that is not grouped */
		split_read(p, 0, 1, p->lo, p->hi);
		split_read(p, 1, 0, p->lo, p->hi);
		return true;
	}
	if (p->axis >= 2)
		return cut_transposed_rows(f, v, &x, &y, w.dim + (grouped ? 3 : 2), p);
	if (p->axis == 0) {
		split_read(p, 0, 0, p->lo, p->hi);
		return true;
	}
	if (!grouped) {
		split_read(p, 1, 1, p->lo, p->hi);
		return true;
	}
	p->unit = w.dim[2];
	/* OpenVINO's CPU plugin (2026.4) has no transposed convolution of one group. */
	if (p->unit == 0 || !split_aligned(p, y.dim[1]) || p->hi - p->lo == p->unit)
		return false;
	split_read(p, 0, 1, p->lo / p->unit * w.dim[1], p->hi / p->unit * w.dim[1]);
	split_read(p, 1, 0, p->lo / p->unit, p->hi / p->unit);
	return true;
}
