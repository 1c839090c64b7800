/* labels.c - how nodes may be cut, and what their parts take. */
#include <math.h>

#include "split/decide_impl.h"

bool decide_part(struct work *w, uint32_t v, int axis, uint32_t p, struct split_part *s)
{
	int64_t size = split_extent(w->f, v, axis);
	*s = (struct split_part){.axis = axis, .lo = 0, .hi = size, .need = w->need};
	if (size < w->plan->ways || !split_rule(w->f, v, s) ||
	    (split_is_apart(w->f, v, axis) && size / s->unit < (int64_t)w->plan->ways))
		return false;
	struct split_range r = split_share(w->plan, v, size, s->unit, p);
	s->lo = r.lo;
	s->hi = r.hi;
	return s->lo < s->hi && split_rule(w->f, v, s);
}

double decide_read_share(const struct work *w, uint32_t v, uint32_t i,
			 const struct split_need *need)
{
	struct tensor t;
	if (need->axis == SPLIT_NOTHING)
		return 0;
	if (need->axis < 0 || !split_input_open(w->f, v, i, &t) || t.dim[need->axis] <= 0)
		return 1;
	return (double)(need->hi - need->lo) / (double)t.dim[need->axis];
}

/* A share of node v, or all of it. */
struct load {
	uint32_t v;
	double share, flops, bytes, weights; /* bytes: all, weights too */
};

static double weights_whole(const struct work *w, uint32_t v);

/* What was measured of the whole is any step's time, what weights take, and the rest, which goes by the share, but not
 * faster than its bytes are moved.  < 0: it cannot run there. */
static double measured_on(const struct work *w, uint32_t p, const struct load *x)
{
	const struct split_device *d = &w->c->device[p % w->c->n];
	double s = w->c->node_s[(size_t)x->v * w->c->n + p % w->c->n],
	       weights = weights_whole(w, x->v), fixed = d->step_s < s ? d->step_s : s, cold = 0;
	if (s < 0)
		return -1;
	if (d->weights_per_s > 0 && weights > 0)
		cold = fmin(s - fixed, weights / d->weights_per_s);
	double by_share =
		x->share * (s - fixed - cold) + (cold > 0 ? cold * x->weights / weights : 0);
	return fixed + fmin(s - fixed, fmax(by_share, x->bytes / d->bytes_per_s));
}

static double seconds_on(const struct work *w, uint32_t p, const struct load *x)
{
	const struct split_device *d = &w->c->device[p % w->c->n];
	double a = x->flops / d->flops_per_s, b = x->bytes / d->bytes_per_s,
	       cold = d->weights_per_s > 0 ? x->weights / d->weights_per_s : 0;
	if (w->c->node_s)
		return measured_on(w, p, x);
	return d->step_s + (a + cold > b ? a + cold : b);
}

static double weights_whole(const struct work *w, uint32_t v)
{
	const struct graph *g = w->g;
	double weights = 0;
	for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v] && !w->f->constant[v]; i++) {
		uint32_t u = graph_source(g, v, i);
		if (u != GRAPH_NONE && w->f->constant[u])
			weights += decide_bytes(w, graph_slot_output(g, g->in_ptr[v] + i));
	}
	return weights;
}

/* What node v reads and writes, open dims as in its parts. */
static double bytes_whole(const struct work *w, uint32_t v)
{
	const struct graph *g = w->g;
	struct tensor t;
	bool open = false;
	double bytes = 0;
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
		open |= !tensor_describe(g, o, &t) || !tensor_is_static(&t);
		bytes += decide_bytes(w, o);
	}
	for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
		if (graph_source(g, v, i) == GRAPH_NONE)
			continue;
		open |= !split_input(w->f, v, i, &t);
		bytes += decide_bytes(w, graph_slot_output(g, g->in_ptr[v] + i));
	}
	return open ? bytes : (double)op_bytes(g, v);
}

static struct load whole_load(const struct work *w, uint32_t v)
{
	return (struct load){v, 1, (double)op_flops(w->g, v), bytes_whole(w, v),
			     weights_whole(w, v)};
}

double decide_whole_on(const struct work *w, uint32_t v, uint32_t p)
{
	struct load all = whole_load(w, v);
	return w->idle[v] ? 0 : seconds_on(w, p, &all);
}

/* With the rest that is whole; with memories of their own, or where it cannot be there, on the device where it takes least. */
static double seconds_whole(const struct work *w, uint32_t v)
{
	double least = decide_whole_on(w, v, w->base);
	if (!w->c->apart && least >= 0)
		return least;
	for (uint32_t p = 0; p < w->c->n; p++) {
		double x = decide_whole_on(w, v, p);
		if (x >= 0 && (least < 0 || x < least))
			least = x;
	}
	return least < 0 ? 0 : least;
}

/* Node v among its siblings. */
static struct label spread_label(const struct work *w, uint32_t v)
{
	struct load one = whole_load(w, v);
	double most_s = 0;
	uint32_t most = 0, all = 0, ways = w->plan->ways;
	for (uint32_t p = 0; p < ways; p++) {
		uint32_t n = w->siblings.count[(size_t)w->siblings.like[v] * ways + p];
		double s = n * seconds_on(w, p, &one);
		most_s = s > most_s ? s : most_s;
		most = n > most ? n : most;
		all += n;
	}
	return (struct label){SPREAD, w->idle[v] ? 0 : most_s / all, one.weights * most / all};
}

/* Is this the axis along which Concat v joins? */
static bool own_axis(const struct work *w, uint32_t v, int axis)
{
	const struct op *op = &w->f->op[v];
	return op->kind == OP_CONCAT &&
	       op_axis(op->a.axis.axis, w->g->out_rank[w->g->out_ptr[v]]) == axis;
}

double decide_part_on(struct work *w, uint32_t v, int axis, uint32_t p, double *weights)
{
	const struct graph *g = w->g;
	double total = (double)split_extent(w->f, v, axis);
	struct split_part s;
	if (!decide_part(w, v, axis, p, &s))
		return -1;
	double share = (double)(s.hi - s.lo) / total;
	struct load x = {v, share, (double)op_flops(g, v) * share, 0, 0};
	for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
		uint32_t u = graph_source(g, v, i);
		if (u == GRAPH_NONE)
			continue;
		double read = decide_read_share(w, v, i, &s.need[i]) *
			      decide_bytes(w, graph_slot_output(g, g->in_ptr[v] + i));
		x.bytes += read;
		x.weights += w->f->constant[u] ? read : 0;
	}
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		x.bytes += decide_bytes(w, o) * (axis == SPLIT_SUM ? 1 : share);
	*weights = x.weights;
	return w->idle[v] ? 0 : seconds_on(w, p, &x);
}

/* The largest part's seconds, and bytes of weights; < 0: it cannot be cut so. */
static double part_seconds(struct work *w, uint32_t v, int axis, double *most_weights)
{
	double most = 0;
	for (uint32_t p = 0; p < w->plan->ways; p++) {
		double weights, x = decide_part_on(w, v, axis, p, &weights);
		if (x < 0)
			return -1;
		most = x > most ? x : most;
		*most_weights = weights > *most_weights ? weights : *most_weights;
	}
	return most;
}

/* The shares by which all devices would be done with v together. */
static void take_shares(struct work *w, uint32_t v)
{
	double s[SPLIT_MAX_WAYS], fixed[SPLIT_MAX_WAYS];
	for (uint32_t p = 0; p < w->plan->ways; p++) {
		s[p] = decide_whole_on(w, v, p);
		if (s[p] < 0)
			return;
		fixed[p] = fmin(s[p], w->c->device[p % w->c->n].step_s);
	}
	w->share_of[v] = split_row_for(&w->rows, s, fixed);
}

static void add_label(struct work *w, uint32_t v, int axis)
{
	double weights = 0,
	       s = w->n_labels[v] < PAIRWISE_CHOICES ? part_seconds(w, v, axis, &weights) : -1;
	if (s >= 0)
		decide_labels(w, v)[w->n_labels[v]++] = (struct label){(int8_t)axis, s, weights};
}

void decide_find_labels(struct work *w, uint32_t v)
{
	unsigned axes = w->axes;
	struct tensor t;
	bool apart = w->c->apart, product = decide_is_product(w, v);
	/* What is whole may all be on one device, which is the one that is looked at. */
	decide_labels(w, v)[0] =
		(struct label){SPLIT_WHOLE, seconds_whole(w, v), weights_whole(w, v)};
	w->n_labels[v] = 1;
	if (w->f->constant[v] || (w->c->stays && w->c->stays[v]) ||
	    !split_output_open(w->f, v, 0, &t))
		return;
	if (w->by_node)
		take_shares(w, v);
	if (apart && w->siblings.home[v] != SPLIT_NO_HOME)
		decide_labels(w, v)[w->n_labels[v]++] = spread_label(w, v);
	for (int axis = 0; axis < (int)t.rank; axis++) {
		/* Inputs apart gain nothing where memory is shared. */
		uint32_t n_in = w->g->in_ptr[v + 1] - w->g->in_ptr[v];
		if (own_axis(w, v, axis) && (!apart || n_in < w->plan->ways))
			continue;
		if (!product || axes >> split_axis_kind(w->f, v, axis) & 1)
			add_label(w, v, axis);
	}
	if ((product || apart) && axes >> AXIS_SUM & 1)
		add_label(w, v, SPLIT_SUM);
	if (apart && w->siblings.home[v] == SPLIT_NO_HOME)
		add_label(w, v, SPLIT_OUTPUTS);
}
