/* decide.c - estimated costs of nodes and edges under each label, and what follows from the least sum. */
#include "split/decide.h"

#include "base/disjoint.h"
#include "split/pairwise.h"
#include "split/siblings.h"

/* Figures of cores of an EPYC: they need not be right, only in proportion. */
const struct split_costs split_costs_cores = {.n = 1,
					      .device = {{2e11, 2e10, 2e-6, 1e10}},
					      .handover_s = 15e-6,
					      .copy_s_per_byte = 1e-10};

/* More than any model takes: what is to be cut however much that costs. */
static const double REFUSED_S = 1e6;

/* Prices of weights that are tried, upwards, and between the last two. */
enum { MEMORY_STEPS = 5 };

/* A label of nodes that are whole, each at the device of its home among siblings. */
enum { SPREAD = -5 };

struct label {
	int8_t axis;
	double node_s; /* of the largest part; SPREAD: of the device with most siblings, over all of them */
	double weights; /* bytes that a device keeps for it */
};

struct reading;
struct work {
	struct split_facts *f;
	const struct graph *g;
	const struct split_costs *c;
	double bytes_per_s; /* of the fastest device's memory */
	struct split_plan *plan;
	bool all;
	uint8_t *n_labels;   /* (n) */
	struct label *label; /* (n * PAIRWISE_CHOICES) the first is whole */
	bool *idle;          /* (n) takes no time */
	uint32_t *root;
	struct split_siblings siblings; /* where memory is not shared */
	uint32_t *
		shared; /* (outputs) variable: is it joined for every part?  0: nobody decides that */
	double weights_price;    /* seconds a byte */
	struct reading *reading; /* (inputs * PAIRWISE_CHOICES) axis UNREAD: not found yet */
	struct split_need *need;
	struct arena *a;
};

static struct label *labels(struct work *w, uint32_t v)
{
	return &w->label[(size_t)v * PAIRWISE_CHOICES];
}

static double bytes_of(const struct work *w, uint32_t o)
{
	int64_t bytes = graph_out_bytes(w->g, o);
	return bytes < 0 ? 0 : (double)bytes;
}

static bool is_product(const struct work *w, uint32_t v)
{
	enum op_category c = op_info(w->f->op[v].kind)->category;
	return c == OPC_CONV || c == OPC_MATMUL;
}

/* Part p of node v under `axis`, by the plan's shares; false: there is no such part. */
static bool part_of(struct work *w, uint32_t v, int axis, uint32_t p, struct split_part *s)
{
	int64_t size = split_extent(w->f, v, axis);
	*s = (struct split_part){.axis = axis, .lo = 0, .hi = size, .need = w->need};
	if (size < w->plan->ways || !split_rule(w->f, v, s) ||
	    (axis == SPLIT_SUM && size / s->unit < (int64_t)w->plan->ways))
		return false;
	struct split_range r = split_share(w->plan, size, s->unit, p);
	s->lo = r.lo;
	s->hi = r.hi;
	return s->lo < s->hi && split_rule(w->f, v, s);
}

/* What a part reads of input i, of all its bytes. */
static double read_share(const struct work *w, uint32_t v, uint32_t i,
			 const struct split_need *need)
{
	struct tensor t;
	if (need->axis == SPLIT_NOTHING)
		return 0;
	if (need->axis < 0 || !split_input(w->f, v, i, &t) || t.dim[need->axis] == 0)
		return 1;
	return (double)(need->hi - need->lo) / (double)t.dim[need->axis];
}

/* bytes: all, weights too. */
static double seconds_on(const struct work *w, uint32_t p, double flops, double bytes,
			 double weights)
{
	const struct split_device *d = &w->c->device[p % w->c->n];
	double a = flops / d->flops_per_s, b = bytes / d->bytes_per_s,
	       cold = d->weights_per_s > 0 ? weights / d->weights_per_s : 0;
	return d->step_s + (a + cold > b ? a + cold : b);
}

static double weights_whole(const struct work *w, uint32_t v)
{
	const struct graph *g = w->g;
	double weights = 0;
	for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v] && !w->f->constant[v]; i++) {
		uint32_t u = graph_source(g, v, i);
		if (u != GRAPH_NONE && w->f->constant[u])
			weights += bytes_of(w, graph_slot_output(g, g->in_ptr[v] + i));
	}
	return weights;
}

/* On the device where that takes least. */
static double seconds_whole(const struct work *w, uint32_t v)
{
	double flops = (double)op_flops(w->g, v), bytes = (double)op_bytes(w->g, v),
	       weights = weights_whole(w, v), least = seconds_on(w, 0, flops, bytes, weights);
	for (uint32_t p = 1; p < w->c->n; p++) {
		double x = seconds_on(w, p, flops, bytes, weights);
		least = x < least ? x : least;
	}
	return w->idle[v] ? 0 : least;
}

/* Node v among its siblings. */
static struct label spread_label(const struct work *w, uint32_t v)
{
	double flops = (double)op_flops(w->g, v), bytes = (double)op_bytes(w->g, v),
	       weights = weights_whole(w, v), most_s = 0;
	uint32_t most = 0, all = 0, ways = w->plan->ways;
	for (uint32_t p = 0; p < ways; p++) {
		uint32_t n = w->siblings.count[(size_t)w->siblings.like[v] * ways + p];
		double s = n * seconds_on(w, p, flops, bytes, weights);
		most_s = s > most_s ? s : most_s;
		most = n > most ? n : most;
		all += n;
	}
	return (struct label){SPREAD, w->idle[v] ? 0 : most_s / all, weights * most / all};
}

/* Is this the axis along which Concat v joins? */
static bool own_axis(const struct work *w, uint32_t v, int axis)
{
	const struct op *op = &w->f->op[v];
	return op->kind == OP_CONCAT &&
	       op_axis(op->a.axis.axis, w->g->out_rank[w->g->out_ptr[v]]) == axis;
}

/* The largest part's seconds, and bytes of weights; < 0: it cannot be cut so. */
static double part_seconds(struct work *w, uint32_t v, int axis, double *most_weights)
{
	const struct graph *g = w->g;
	double most = 0, flops = (double)op_flops(g, v),
	       total = (double)split_extent(w->f, v, axis);
	for (uint32_t p = 0; p < w->plan->ways; p++) {
		struct split_part s;
		if (!part_of(w, v, axis, p, &s))
			return -1;
		double share = (double)(s.hi - s.lo) / total, bytes = 0, weights = 0;
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			uint32_t u = graph_source(g, v, i);
			if (u == GRAPH_NONE)
				continue;
			double read = read_share(w, v, i, &s.need[i]) *
				      bytes_of(w, graph_slot_output(g, g->in_ptr[v] + i));
			bytes += read;
			weights += w->f->constant[u] ? read : 0;
		}
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			bytes += bytes_of(w, o) * (axis == SPLIT_SUM ? 1 : share);
		double x = seconds_on(w, p, flops * share, bytes, weights);
		most = x > most ? x : most;
		*most_weights = weights > *most_weights ? weights : *most_weights;
	}
	return w->idle[v] ? 0 : most;
}

static void add_label(struct work *w, uint32_t v, int axis)
{
	double weights = 0,
	       s = w->n_labels[v] < PAIRWISE_CHOICES ? part_seconds(w, v, axis, &weights) : -1;
	if (s >= 0)
		labels(w, v)[w->n_labels[v]++] = (struct label){(int8_t)axis, s, weights};
}

static void find_labels(struct work *w, uint32_t v, unsigned axes)
{
	struct tensor t;
	bool apart = w->c->apart, product = is_product(w, v);
	/* Whole operations are thought to be on all devices alike. */
	labels(w, v)[0] = (struct label){SPLIT_WHOLE, seconds_whole(w, v),
					 weights_whole(w, v) / w->plan->ways};
	w->n_labels[v] = 1;
	if (w->f->constant[v] || !split_output(w->f, v, 0, &t))
		return;
	if (apart && w->siblings.home[v] != SPLIT_NO_HOME)
		labels(w, v)[w->n_labels[v]++] = spread_label(w, v);
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

/* ---- edges ---- */

/* What parts read of an input. */
struct reading {
	double moved;      /* bytes of parts that are elsewhere than what is whole */
	double moved_home; /* of those that are elsewhere than the input's home among siblings */
	double halo;       /* beyond their share */
	int axis;          /* SPLIT_WHOLE: whole */
	bool once;         /* one device alone reads it */
	bool result;       /* nobody reads it: it is the model's */
};
enum { UNREAD = -6 };

/* The part where output o is if its node is spread, or a Split cut by outputs. */
static uint32_t home_of(const struct work *w, uint32_t o)
{
	return w->c->apart ? w->siblings.at[o] : SPLIT_NO_HOME;
}

/* What the parts of node v under label k read of all inputs. */
static void find_readings(struct work *w, uint32_t v, uint8_t k)
{
	const struct graph *g = w->g;
	uint32_t n = g->in_ptr[v + 1] - g->in_ptr[v];
	struct reading *all = &w->reading[(size_t)g->in_ptr[v] * PAIRWISE_CHOICES + k];
	uint32_t *readers = MEM_NEWN(uint32_t, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		all[(size_t)i * PAIRWISE_CHOICES] = (struct reading){.axis = SPLIT_WHOLE};
	for (uint32_t p = 0; p < w->plan->ways; p++) {
		struct split_part s;
		if (!part_of(w, v, labels(w, v)[k].axis, p, &s))
			continue;
		for (uint32_t i = 0; i < n; i++) {
			const struct split_need *need = &s.need[i];
			struct reading *r = &all[(size_t)i * PAIRWISE_CHOICES];
			if (need->axis == SPLIT_NOTHING ||
			    g->in_node[g->in_ptr[v] + i] == GRAPH_NONE)
				continue;
			uint32_t o = graph_slot_output(g, g->in_ptr[v] + i);
			double size = (double)(need->hi - need->lo),
			       core = (double)(need->core_hi - need->core_lo),
			       part = read_share(w, v, i, need) * bytes_of(w, o);
			r->axis = need->axis;
			r->moved += p > 0 ? part : 0;
			r->moved_home += p != home_of(w, o) ? part : 0;
			r->halo += need->axis >= 0 && size > core ? part * (size - core) / size : 0;
			r->once = ++readers[i] == 1;
		}
	}
	mem_free(readers);
}

/* What node v under `axis` reads of input i. */
static struct reading read_of(struct work *w, uint32_t v, uint32_t i, int axis)
{
	size_t slot = w->g->in_ptr[v] + i;
	uint32_t o = graph_slot_output(w->g, w->g->in_ptr[v] + i);
	uint8_t k = 1;
	if (axis == SPLIT_WHOLE || axis == SPREAD) {
		uint32_t at = axis == SPREAD ? w->siblings.home[v] : 0;
		double bytes = bytes_of(w, o);
		return (struct reading){at != 0 ? bytes : 0,
					at != home_of(w, o) ? bytes : 0,
					0,
					SPLIT_WHOLE,
					true,
					w->f->op[v].kind == OP_RESULT};
	}
	while (labels(w, v)[k].axis != axis)
		k++;
	struct reading *r = &w->reading[slot * PAIRWISE_CHOICES + k];
	if (r->axis == UNREAD)
		find_readings(w, v, k);
	return *r;
}

/* Is what is labelled so at its home? */
static bool at_home(int label)
{
	return label == SPREAD || label == SPLIT_OUTPUTS;
}

/* Does v, labelled b, read output o as all devices do that have it joined for them? */
static bool reads_shared(const struct work *w, uint32_t o, int b, const struct reading *r)
{
	if (!w->shared[o] || r->axis != SPLIT_WHOLE)
		return false;
	return b == SPREAD ? home_of(w, o) == SPLIT_NO_HOME : !r->once;
}

/* Everybody has a part of so many bytes, and gets the others' parts; or has all, and gets the sum of its part. */
static double spread_seconds(const struct split_costs *c, double bytes)
{
	double near = c->near, far = c->groups, s = 0;
	if (c->near > 1)
		s += c->in_group.latency_s + (near - 1) / near * bytes * c->in_group.s_per_byte;
	if (c->groups > 1)
		s += c->between.latency_s + (far - 1) / far * bytes / near * c->between.s_per_byte;
	return s;
}

/* The same where each has a part along one axis and gets one along another. */
static double exchange_seconds(const struct split_costs *c, double bytes)
{
	double near = c->near, far = c->groups, part = bytes / (near * far);
	return c->in_group.latency_s + (near - 1) / near * part * c->in_group.s_per_byte +
	       (c->groups > 1
			? c->between.latency_s + (far - 1) / far * part * c->between.s_per_byte
			: 0);
}

/* edge_seconds of devices with memories of their own. */
static double apart_seconds(struct work *w, int a, double bytes, const struct reading *r)
{
	const struct split_costs *c = w->c;
	double from_all = c->in_group.latency_s + bytes * c->in_group.s_per_byte, s = 0;
	double moved = at_home(a) ? r->moved_home : r->moved;
	if (a == SPLIT_WHOLE || at_home(a))
		return moved > 0 ? c->handover_s + moved * c->in_group.s_per_byte : 0;
	if (a == SPLIT_SUM) /* with the last addition */
		s = spread_seconds(c, bytes) + c->device[0].step_s +
		    3 * bytes / w->plan->ways / w->bytes_per_s;
	if (r->once)
		return s + (r->result ? 0 : from_all);
	if (r->axis == SPLIT_WHOLE)
		return s + spread_seconds(c, bytes);
	if (a == SPLIT_SUM)
		return s;
	if (r->axis != a)
		return exchange_seconds(c, bytes);
	return r->halo == 0 ? 0 : c->handover_s + r->halo * c->copy_s_per_byte;
}

/* What it costs that node v, cut along `b`, reads of u, cut along `a`, through input i. */
static double edge_seconds(struct work *w, uint32_t u, int a, int b, double bytes,
			   const struct reading *r, double u_s)
{
	const struct split_costs *c = w->c;
	double here = 1 / w->bytes_per_s,
	       join = c->handover_s + bytes / 2 * c->copy_s_per_byte + bytes * here;
	if (a == SPLIT_WHOLE && (b == SPLIT_WHOLE || w->f->op[u].kind == OP_PARAMETER))
		return 0;
	if (c->apart)
		return apart_seconds(w, a, bytes, r);
	if (a == SPLIT_WHOLE)
		return c->handover_s + r->moved * c->copy_s_per_byte;
	if (a == SPLIT_SUM)
		return join + (w->plan->ways - 1) * bytes * here;
	if (b == SPLIT_WHOLE || r->axis == SPLIT_WHOLE)
		return join;
	if (r->axis != a)
		return join + r->moved * c->copy_s_per_byte;
	if (r->halo == 0)
		return 0;
	return w->plan->again && bytes > 0 ? u_s * r->halo / bytes
					   : c->handover_s + r->halo * c->copy_s_per_byte +
						     bytes / w->plan->ways * here;
}

/* Costs of all pairs of labels of an edge. */
static void add_edge(struct work *w, struct pairwise *pw, uint32_t v, uint32_t i)
{
	uint32_t u = graph_source(w->g, v, i), o = graph_slot_output(w->g, w->g->in_ptr[v] + i);
	double bytes = bytes_of(w, o);
	for (uint8_t b = 0; b < w->n_labels[v]; b++) {
		int axis = labels(w, v)[b].axis;
		struct reading r = read_of(w, v, i, axis);
		if (reads_shared(w, o, axis, &r)) {
			pairwise_add_pair(pw, v, b, w->shared[o], 0, REFUSED_S);
			continue;
		}
		for (uint8_t a = 0; a < w->n_labels[u]; a++) {
			double s = edge_seconds(w, u, labels(w, u)[a].axis, axis, bytes, &r,
						labels(w, u)[a].node_s);
			if (s > 0)
				pairwise_add_pair(pw, u, a, v, b, s);
		}
	}
}

/* Outputs that several read: joined for all parts once, whoever of them wants that. */
static uint32_t find_shared(struct work *w)
{
	const struct graph *g = w->g;
	uint32_t *n = ARENA_NEWN(w->a, uint32_t, g->out_ptr[g->n]), next = g->n;
	for (uint32_t v = 0; v < g->n && w->c->apart; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && !w->f->constant[v]; i++)
			if (g->in_node[i] != GRAPH_NONE && !w->f->constant[g->in_node[i]])
				n[graph_slot_output(g, i)]++;
	for (uint32_t o = 0; o < g->out_ptr[g->n]; o++)
		if (n[o] > 1)
			w->shared[o] = next++;
	return next;
}

static void add_shared(struct work *w, struct pairwise *pw, uint32_t o)
{
	uint32_t u = graph_node_of(w->g, o);
	double bytes = bytes_of(w, o);
	double moved = (w->plan->ways - 1) * bytes;
	struct reading all = {moved, moved, 0, SPLIT_WHOLE, false, false};
	for (uint8_t a = 0; a < w->n_labels[u]; a++)
		pairwise_add_pair(pw, u, a, w->shared[o], 1,
				  edge_seconds(w, u, labels(w, u)[a].axis, 0, bytes, &all, 0));
}

/* ---- chains ---- */

/* What it costs that node v, cut along `b`, reads through input i of u, cut along `a`.  aligned: part reads part; seen
 * (outputs): joins for all that have been counted; NULL: none is. */
static double edge_of(struct work *w, uint32_t v, uint32_t i, int a, int b, bool *aligned,
		      bool *seen)
{
	uint32_t u = graph_source(w->g, v, i), o = graph_slot_output(w->g, w->g->in_ptr[v] + i);
	double bytes = bytes_of(w, o);
	struct reading r = read_of(w, v, i, b);
	if (aligned)
		*aligned = at_home(a) ? b != SPLIT_WHOLE && r.moved_home == 0
				      : r.axis >= 0 && a == r.axis;
	if (seen && reads_shared(w, o, b, &r)) {
		if (seen[o])
			return 0;
		seen[o] = true;
	}
	return edge_seconds(w, u, a, b, bytes, &r, 0);
}

/* The same under the plan. */
static double edge_of_plan(struct work *w, uint32_t v, uint32_t i, bool *aligned, bool *seen)
{
	uint32_t u = graph_source(w->g, v, i);
	return edge_of(w, v, i, w->plan->axis[u], w->plan->axis[v], aligned, seen);
}

static double seconds_of(struct work *w, uint32_t v)
{
	for (uint8_t k = 0; k < w->n_labels[v]; k++)
		if (labels(w, v)[k].axis == w->plan->axis[v])
			return labels(w, v)[k].node_s;
	return labels(w, v)[0].node_s;
}

/* Chains that cut no product where memory is shared, or do not gain enough beside their being whole, are left whole. */
static void weigh_chains(struct work *w, double least_gain, struct split_decision *out)
{
	const struct graph *g = w->g;
	uint32_t *parent = disjoint_new(g->n, w->a);
	double *gain = ARENA_NEWN(w->a, double, g->n);
	bool *seed = ARENA_NEWN(w->a, bool, g->n), aligned;
	bool *seen = ARENA_NEWN(w->a, bool, g->out_ptr[g->n]);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			uint32_t u = graph_source(g, v, i);
			if (u == GRAPH_NONE || w->f->constant[u])
				continue;
			edge_of_plan(w, v, i, &aligned, NULL);
			if (aligned)
				disjoint_join(parent, u, v);
		}
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t c = disjoint_find(parent, v);
		if (w->plan->axis[v] == SPLIT_WHOLE && !w->f->constant[v])
			gain[c] += 0;
		else if (!w->f->constant[v]) {
			gain[c] += labels(w, v)[0].node_s - seconds_of(w, v);
			seed[c] |= is_product(w, v);
		}
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			uint32_t u = graph_source(g, v, i);
			if (u == GRAPH_NONE || w->f->constant[u] || w->f->constant[v])
				continue;
			uint32_t d = disjoint_find(parent, u);
			int a = w->plan->axis[u], b = w->plan->axis[v];
			double s = edge_of_plan(w, v, i, NULL, seen);
			gain[c] += edge_of(w, v, i, d == c ? SPLIT_WHOLE : a, SPLIT_WHOLE, NULL,
					   NULL) -
				   s;
			if (d != c)
				gain[d] += edge_of(w, v, i, SPLIT_WHOLE, b, NULL, NULL) - s;
		}
	}
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t c = disjoint_find(parent, v);
		if (w->plan->axis[v] == SPLIT_WHOLE)
			continue;
		bool useless = !seed[c] && !w->c->apart;
		if (useless || (!w->all && gain[c] < least_gain))
			w->plan->axis[v] = SPLIT_WHOLE;
		else
			out->n_chains += c == v;
	}
}

static double estimate(struct work *w)
{
	const struct graph *g = w->g;
	double sum = 0;
	bool *seen = ARENA_NEWN(w->a, bool, g->out_ptr[g->n]), aligned;
	for (uint32_t v = 0; v < g->n; v++) {
		if (w->f->constant[v])
			continue;
		sum += seconds_of(w, v);
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			uint32_t u = graph_source(g, v, i);
			if (u != GRAPH_NONE && !w->f->constant[u])
				sum += edge_of_plan(w, v, i, &aligned, seen);
		}
	}
	return sum;
}

/* The least sum, with weights at their price. */
static void solve(struct work *w)
{
	const struct graph *g = w->g;
	uint32_t n_outputs = g->out_ptr[g->n], n = find_shared(w);
	uint8_t *n_choices = ARENA_NEWN(w->a, uint8_t, n), *choice = ARENA_NEWN(w->a, uint8_t, n);
	for (uint32_t i = 0; i < n; i++)
		n_choices[i] = i < g->n ? w->n_labels[i] : 2;
	struct pairwise *pw = pairwise_new(n, n_choices);
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint8_t k = 0; k < w->n_labels[v]; k++)
			pairwise_add_one(pw, v, k,
					 labels(w, v)[k].node_s +
						 w->weights_price * labels(w, v)[k].weights);
		if (w->all && is_product(w, v) && w->n_labels[v] > 1)
			pairwise_add_one(pw, v, 0, REFUSED_S);
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			uint32_t u = graph_source(g, v, i);
			if (u != GRAPH_NONE && !w->f->constant[u] && !w->f->constant[v])
				add_edge(w, pw, v, i);
		}
	}
	for (uint32_t o = 0; o < n_outputs; o++)
		if (w->shared[o])
			add_shared(w, pw, o);
	pairwise_solve(pw, choice);
	for (uint32_t v = 0; v < g->n; v++)
		w->plan->axis[v] = labels(w, v)[choice[v]].axis;
	pairwise_free(pw);
}

/* Bytes of weights on a device. */
static double weights_of(struct work *w)
{
	double sum = 0;
	for (uint32_t v = 0; v < w->g->n; v++)
		for (uint8_t k = 0; k < w->n_labels[v]; k++)
			if (labels(w, v)[k].axis == w->plan->axis[v])
				sum += labels(w, v)[k].weights;
	return sum;
}

/* Weights get a price (a Lagrange multiplier) by which they fit into memory, about the least. */
static void solve_in_memory(struct work *w)
{
	double low = 0, high = 1 / w->bytes_per_s;
	solve(w);
	if (w->c->memory_bytes == 0 || weights_of(w) <= w->c->memory_bytes)
		return;
	for (int i = 0; i < MEMORY_STEPS; i++) {
		w->weights_price = high;
		solve(w);
		if (weights_of(w) <= w->c->memory_bytes)
			break;
		low = high;
		high *= 16;
	}
	for (int i = 0; i < MEMORY_STEPS; i++) {
		w->weights_price = (low + high) / 2;
		solve(w);
		if (weights_of(w) <= w->c->memory_bytes)
			high = w->weights_price;
		else
			low = w->weights_price;
	}
	w->weights_price = high;
	solve(w);
}

/* In the plan what is spread is whole, and has a home. */
static void keep_homes(struct work *w)
{
	struct split_plan *plan = w->plan;
	if (!plan->home)
		plan->home = arena_raw(w->f->arena, w->g->n, 1);
	for (uint32_t v = 0; v < w->g->n; v++) {
		bool spread = plan->axis[v] == SPREAD;
		plan->home[v] = spread ? w->siblings.home[v] : SPLIT_NO_HOME;
		plan->axis[v] = spread ? SPLIT_WHOLE : plan->axis[v];
	}
}

void split_decide(struct split_facts *f, const struct split_costs *costs, unsigned axes, bool all,
		  double min_gain, struct split_plan *plan, struct split_decision *out)
{
	const struct graph *g = f->g;
	struct work w = {.f = f, .g = g, .c = costs, .plan = plan, .all = all, .a = arena_new()};
	*out = (struct split_decision){0};
	for (uint32_t p = 0; p < costs->n; p++)
		if (costs->device[p].bytes_per_s > w.bytes_per_s)
			w.bytes_per_s = costs->device[p].bytes_per_s;
	w.n_labels = ARENA_NEWN(w.a, uint8_t, g->n);
	w.label = ARENA_NEWN(w.a, struct label, (size_t)g->n * PAIRWISE_CHOICES);
	w.idle = ARENA_NEWN(w.a, bool, g->n);
	w.root = ARENA_NEWN(w.a, uint32_t, g->out_ptr[g->n]);
	w.shared = ARENA_NEWN(w.a, uint32_t, g->out_ptr[g->n]);
	w.need = ARENA_NEWN(w.a, struct split_need, (size_t)f->max_in + 1);
	w.reading = arena_raw(w.a, (size_t)g->in_ptr[g->n] * PAIRWISE_CHOICES, sizeof *w.reading);
	for (size_t i = 0; i < (size_t)g->in_ptr[g->n] * PAIRWISE_CHOICES; i++)
		w.reading[i].axis = UNREAD;
	op_idle_nodes(g, NULL, w.idle, w.root);
	if (costs->apart)
		w.siblings = split_find_siblings(f, plan, w.a);
	for (uint32_t v = 0; v < g->n; v++) {
		find_labels(&w, v, axes);
		plan->axis[v] = SPLIT_WHOLE;
		out->may_be_cut += is_product(&w, v) && w.n_labels[v] > 1;
	}
	out->whole_s = estimate(&w);
	solve_in_memory(&w);
	weigh_chains(&w, min_gain * out->whole_s, out);
	out->weights = weights_of(&w);
	out->cut_s = estimate(&w);
	if (costs->apart)
		keep_homes(&w);
	arena_free(w.a);
}
