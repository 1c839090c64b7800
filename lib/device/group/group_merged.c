/* group_merged.c - convolutions of one tensor that are added up, as one convolution.
 *
 * As networks have them that were trained with branches (RepVGG, MobileOne, GhostNetV3): windows of several sizes, and the tensor itself
 * times a factor a channel, all with the same strides.  Their weights add up where their windows meet, and so do constants that
 * are added on the way.  Sums are of another order then: where a placement cuts branches apart last bits differ. */
#include "device/group/group_rewrite.h"

#include <string.h>

#include "op/value.h"

/* What a node is: none of a sum; a convolution of the tensor or its product with factors of channels; the sum of two of
 * these or of sums; one of them and a constant a channel. */
enum part { PART_NONE, PART_CONV, PART_FACTOR, PART_SUM, PART_BIASED };

struct parts {
	const struct step_spec *s;
	enum part part[FUSE_NODES];
	const struct step_arg *x; /* the input of the step that all read */
	uint32_t root;            /* the last sum */
	uint32_t widest;          /* the convolution whose window all others lie in */
};

static bool is_real(const struct tensor *t)
{
	return t && !t->quant && tensor_is_static(t) &&
	       (t->elem == EL_F32 || t->elem == EL_F16 || t->elem == EL_BF16);
}

static bool is_conv(const struct step_node *n)
{
	return n->op->kind == OP_CONVOLUTION || n->op->kind == OP_GROUP_CONVOLUTION;
}

/* A constant with a value for each channel of a tensor like t, the same for all images and pixels. */
static bool of_channels(const struct step_arg *a, const struct tensor *t)
{
	const struct tensor *c = a->tensor;
	if (a->from != FROM_CONST || !is_real(c) || c->rank > t->rank || c->rank + 1 < t->rank ||
	    tensor_elements(c) != t->dim[1])
		return false;
	return c->dim[c->rank - (t->rank - 1)] == t->dim[1];
}

/* No view lies between. */
static bool reads_input(const struct parts *p, const struct step_arg *a)
{
	return a->from == FROM_INPUT && a->index == p->x->index &&
	       tensor_same_shape(a->tensor, p->x->tensor);
}

static bool is_part(const struct parts *p, const struct step_arg *a)
{
	return a->from == FROM_NODE && a->port == 0 && p->part[a->index] != PART_NONE &&
	       tensor_same_shape(a->tensor, &p->s->node[a->index].out[0]);
}

/* The argument of a binary node that is constant; -1: none, or not of channels. */
static int constant_of(const struct step_node *n)
{
	for (int i = 0; i < 2 && n->n_in == 2; i++)
		if (of_channels(&n->in[i], &n->out[0]))
			return i;
	return -1;
}

static enum part part_of(const struct parts *p, uint32_t v)
{
	const struct step_node *n = &p->s->node[v];
	if (n->n_out != 1 || !tensor_is_static(&n->out[0]) || n->out[0].elem != EL_F32 ||
	    n->out[0].rank < 3)
		return PART_NONE;
	if (is_conv(n))
		return n->n_in == 2 && reads_input(p, &n->in[0]) && n->in[1].from == FROM_CONST &&
				       is_real(n->in[1].tensor) &&
				       n->in[0].tensor->rank == n->out[0].rank
			       ? PART_CONV
			       : PART_NONE;
	int c = constant_of(n);
	if ((n->op->kind != OP_MULTIPLY && n->op->kind != OP_ADD) ||
	    n->op->a.broadcast.bcast == BCAST_PDPD)
		return PART_NONE;
	if (n->op->kind == OP_MULTIPLY && c >= 0 && reads_input(p, &n->in[1 - c]) &&
	    tensor_same_shape(n->in[1 - c].tensor, &n->out[0]))
		return PART_FACTOR;
	if (n->op->kind != OP_ADD)
		return PART_NONE;
	if (c >= 0 && is_part(p, &n->in[1 - c]) &&
	    tensor_same_shape(n->in[1 - c].tensor, &n->out[0]))
		return PART_BIASED;
	return n->n_in == 2 && is_part(p, &n->in[0]) && is_part(p, &n->in[1]) &&
			       tensor_same_shape(n->in[0].tensor, n->in[1].tensor)
		       ? PART_SUM
		       : PART_NONE;
}

/* Are all parts but the root read once, by parts, and do they stay in the step? */
static bool ends_in_root(const struct parts *p)
{
	uint32_t reads[FUSE_NODES] = {0}, others[FUSE_NODES] = {0};
	const struct step_spec *s = p->s;
	for (uint32_t v = 0; v < s->n_nodes; v++)
		for (uint32_t i = 0; i < s->node[v].n_in; i++) {
			const struct step_arg *a = &s->node[v].in[i];
			if (a->from == FROM_NODE)
				(p->part[v] && v <= p->root ? reads : others)[a->index]++;
		}
	for (uint32_t i = 0; i < s->n_out; i++)
		others[s->out[i].node]++;
	for (uint32_t v = 0; v < p->root; v++)
		if (p->part[v] && (reads[v] != 1 || others[v] > 0))
			return false;
	return reads[p->root] == 0;
}

/* Begins of the window's padding, and of what lies behind it. */
static void pads_of(const struct step_node *n, int64_t *begin, int64_t *end)
{
	const struct op_window *w = &n->op->a.window;
	op_window_pads(w, (int)n->in[0].tensor->rank - 2, n->in[0].tensor->dim + 2,
		       n->in[1].tensor->dim + 2 + w->grouped, begin, end);
}

/* Where the window of node v begins in that of the widest one, in taps; false: it does not lie in it. */
static bool place_in(const struct parts *p, uint32_t v, int64_t *at)
{
	const struct step_node *n = &p->s->node[v], *wide = &p->s->node[p->widest];
	const struct op_window *w = &wide->op->a.window, *o = &n->op->a.window;
	int64_t wb[OP_MAX_SPATIAL], we[OP_MAX_SPATIAL], b[OP_MAX_SPATIAL] = {0}, e[OP_MAX_SPATIAL];
	const int64_t *k = wide->in[1].tensor->dim + 2 + w->grouped, *own = NULL;
	int dims = (int)wide->out[0].rank - 2;
	pads_of(wide, wb, we);
	if (is_conv(n)) {
		pads_of(n, b, e);
		own = n->in[1].tensor->dim + 2 + o->grouped;
	}
	for (int d = 0; d < dims; d++) {
		int64_t step = w->dilation[d], taps = own ? own[d] : 1, by = wb[d] - b[d];
		if (w->stride[d] != (own ? o->stride[d] : 1) || by < 0 || by % step != 0 ||
		    by / step + taps > k[d] || (taps > 1 && o->dilation[d] != step))
			return false;
		at[d] = by / step;
	}
	return true;
}

static int64_t window_size(const struct tensor *w, bool grouped)
{
	int64_t n = 1;
	for (uint32_t d = 2 + grouped; d < w->rank; d++)
		n *= w->dim[d];
	return n;
}

/* Does each part fit into the widest convolution? */
static bool all_fit(struct parts *p)
{
	const struct step_spec *s = p->s;
	uint32_t terms = 0;
	int64_t size = 0, at[OP_MAX_SPATIAL];
	for (uint32_t v = 0; v <= p->root; v++) {
		terms += p->part[v] == PART_CONV || p->part[v] == PART_FACTOR;
		if (p->part[v] != PART_CONV)
			continue;
		int64_t n = window_size(s->node[v].in[1].tensor, s->node[v].op->a.window.grouped);
		if (n > size)
			p->widest = v;
		size = n > size ? n : size;
	}
	if (terms < 2 || size == 0)
		return false;
	const struct step_node *wide = &s->node[p->widest];
	const struct tensor *w = wide->in[1].tensor;
	bool grouped = wide->op->a.window.grouped;
	for (uint32_t v = 0; v <= p->root; v++) {
		const struct step_node *n = &s->node[v];
		if (p->part[v] == PART_CONV) {
			const struct tensor *own = n->in[1].tensor;
			if (n->op->kind != wide->op->kind || own->rank != w->rank ||
			    memcmp(own->dim, w->dim, (2 + grouped) * sizeof *w->dim) != 0)
				return false;
		} else if (p->part[v] == PART_FACTOR) {
			/* Each channel is made from as many, itself among them. */
			if (w->dim[grouped] != w->dim[grouped + 1])
				return false;
		} else {
			continue;
		}
		if (!tensor_same_shape(&n->out[0], &wide->out[0]) || !place_in(p, v, at))
			return false;
	}
	return true;
}

/* The parts of s up to its last sum; false: there is none that can be one convolution. */
static bool find_parts(struct parts *p, const struct step_spec *s)
{
	*p = (struct parts){.s = s};
	if (s->n_nodes < 3 || s->n_nodes > FUSE_NODES || s->n_out > FUSE_NODES ||
	    s->node[0].n_in == 0)
		return false;
	for (uint32_t i = 0; i < 2 && i < s->node[0].n_in && !p->x; i++)
		p->x = s->node[0].in[i].from == FROM_INPUT ? &s->node[0].in[i] : NULL;
	if (!p->x || !is_real(p->x->tensor))
		return false;
	bool any = false;
	for (uint32_t v = 0; v < s->n_nodes; v++) {
		p->part[v] = part_of(p, v);
		if (p->part[v] == PART_SUM) {
			p->root = v;
			any = true;
		}
	}
	for (uint32_t v = p->root + 1; v < s->n_nodes; v++)
		if (p->part[v] == PART_CONV || p->part[v] == PART_FACTOR)
			return false;
		else
			p->part[v] = PART_NONE;
	return any && ends_in_root(p) && all_fit(p);
}

/* ---- the step ---- */

static bool write_conv(struct rewrite *r, const struct parts *p)
{
	const struct step_node *wide = &p->s->node[p->widest];
	struct step_arg *a = rewrite_add(r, wide, 2);
	int64_t begin[OP_MAX_SPATIAL] = {0}, end[OP_MAX_SPATIAL] = {0};
	struct op_window *o = &r->op.a.window;
	if (!a)
		return false;
	r->op = *wide->op;
	pads_of(wide, begin, end);
	o->auto_pad = PAD_EXPLICIT;
	memcpy(o->pad_begin, begin, sizeof begin);
	memcpy(o->pad_end, end, sizeof end);
	r->node[0].op = &r->op;
	r->constant[0] = *wide->in[1].tensor;
	r->constant[0].elem = EL_F32;
	r->constant[0].data = NULL;
	a[0] = wide->in[0];
	a[1] = wide->in[1];
	a[1].tensor = &r->constant[0];
	return true;
}

/* Constants that were added on the way, as one. */
static bool write_constants(struct rewrite *r, const struct parts *p)
{
	const struct step_node *last = NULL;
	uint32_t n = 0;
	for (uint32_t v = 0; v <= p->root; v++)
		if (p->part[v] == PART_BIASED) {
			last = &p->s->node[v];
			n++;
		}
	if (n == 0)
		return true;
	int c = constant_of(last);
	struct step_arg *a = rewrite_add(r, last, 2);
	if (!a)
		return false;
	a[1 - c] = (struct step_arg){FROM_NODE, 0, 0, last->in[1 - c].tensor};
	a[c] = last->in[c];
	if (n == 1)
		return true;
	r->constant[1] = *a[c].tensor;
	r->constant[1].elem = EL_F32;
	r->constant[1].data = NULL;
	a[c].tensor = &r->constant[1];
	return true;
}

static bool merged_match(struct rewrite *r, const struct group_how *how, const struct step_spec *s)
{
	struct parts p;
	bool gone[FUSE_NODES];
	/* Weights that add up lie on no grid any more. */
	if (how->codes || !find_parts(&p, s) || !rewrite_begin(r, s) || !write_conv(r, &p) ||
	    !write_constants(r, &p))
		return false;
	/* Who reads it is asked of the graph. */
	struct step_node *last = &r->node[r->n_nodes - 1];
	last->v = s->node[p.root].v;
	last->used = s->node[p.root].used;
	r->now[p.root] = r->n_nodes - 1;
	for (uint32_t v = 0; v < s->n_nodes; v++)
		gone[v] = p.part[v] != PART_NONE;
	return rewrite_rest(r, s, gone);
}

/* ---- weights ---- */

/* The tap of the widest window that tap `t` of a window of node v is, which begins at `at`. */
static int64_t tap_in(const struct tensor *wide, const struct tensor *own, uint32_t first,
		      const int64_t *at, int64_t t)
{
	int64_t to = 0, step = 1;
	for (uint32_t d = wide->rank; d-- > first; step *= wide->dim[d]) {
		int64_t n = own ? own->dim[d] : 1;
		to += (at[d - first] + t % n) * step;
		t /= n;
	}
	return to;
}

static void add_conv(const struct parts *p, uint32_t v, const struct tensor *wide, float *w)
{
	const struct tensor *own = p->s->node[v].in[1].tensor;
	uint32_t first = 2 + p->s->node[v].op->a.window.grouped;
	int64_t at[OP_MAX_SPATIAL], taps = window_size(own, first == 3),
				    all = window_size(wide, first == 3),
				    rows = tensor_elements(own) / taps;
	place_in(p, v, at);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t t = 0; t < taps; t++)
			w[i * all + tap_in(wide, own, first, at, t)] +=
				(float)tensor_real(own, i * taps + t);
}

static void add_factors(const struct parts *p, uint32_t v, const struct tensor *wide, float *w)
{
	const struct step_node *n = &p->s->node[v];
	const struct tensor *by = n->in[constant_of(n)].tensor;
	bool grouped = p->s->node[p->widest].op->a.window.grouped;
	int64_t at[OP_MAX_SPATIAL], all = window_size(wide, grouped);
	int64_t group = wide->dim[grouped]; /* channels of a group, in and out */
	place_in(p, v, at);
	int64_t tap = tap_in(wide, NULL, 2 + grouped, at, 0);
	for (int64_t c = 0; c < tensor_elements(by); c++)
		w[(c * group + c % group) * all + tap] += (float)tensor_real(by, c);
}

static void add_constant(const struct step_node *n, float *bias)
{
	const struct tensor *c = n->in[constant_of(n)].tensor;
	for (int64_t i = 0; i < tensor_elements(c); i++)
		bias[i] += (float)tensor_real(c, i);
}

static void merged_fill(const struct rewrite *r, const struct step_spec *s, float *data)
{
	struct parts p;
	const struct tensor *wide = &r->constant[0];
	float *bias = r->constant[1].rank > 0 ? data + tensor_elements(wide) : NULL;
	find_parts(&p, s);
	for (uint32_t v = 0; v <= p.root; v++)
		if (p.part[v] == PART_CONV)
			add_conv(&p, v, wide, data);
		else if (p.part[v] == PART_FACTOR)
			add_factors(&p, v, wide, data);
		else if (p.part[v] == PART_BIASED && bias)
			add_constant(&p.s->node[v], bias);
}

const struct rewrite_pass merged_pass = {.name = "convolutions that are added up, as one",
					 .match = merged_match,
					 .fill = merged_fill};
