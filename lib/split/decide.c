/* decide.c - estimated costs of nodes and edges under each label, and what follows from the least sum. */
#include "split/decide.h"

#include "base/disjoint.h"
#include "split/pairwise.h"

/* Figures of cores of an EPYC: they need not be right, only in proportion. */
const struct split_costs split_costs_cores = {1, {{2e11, 2e10, 2e-6, 1e10}}, 15e-6, 1e-10};

/* More than any model takes: what is to be cut however much that costs. */
static const double REFUSED_S = 1e6;

struct label {
	int8_t axis;
	double node_s; /* of the largest part */
};

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
	if (size < w->plan->ways || !split_rule(w->f, v, s))
		return false;
	int64_t unit = s->unit;
	s->lo = split_border(w->plan, size, unit, p);
	s->hi = split_border(w->plan, size, unit, p + 1);
	return s->lo < s->hi && split_rule(w->f, v, s);
}

/* What a part reads of input i, of all its bytes. */
static double read_share(const struct work *w, uint32_t v, uint32_t i,
			 const struct split_need *need)
{
	struct tensor t;
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

/* On the device where that takes least. */
static double seconds_whole(const struct work *w, uint32_t v)
{
	const struct graph *g = w->g;
	double flops = (double)op_flops(g, v), bytes = (double)op_bytes(g, v), weights = 0;
	for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
		uint32_t u = graph_source(g, v, i);
		if (u != GRAPH_NONE && w->f->constant[u])
			weights += bytes_of(w, graph_slot_output(g, g->in_ptr[v] + i));
	}
	double least = seconds_on(w, 0, flops, bytes, weights);
	for (uint32_t p = 1; p < w->c->n; p++) {
		double x = seconds_on(w, p, flops, bytes, weights);
		least = x < least ? x : least;
	}
	return least;
}

/* The largest part's seconds; < 0: it cannot be cut so. */
static double part_seconds(struct work *w, uint32_t v, int axis)
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
	}
	return w->idle[v] ? 0 : most;
}

static void add_label(struct work *w, uint32_t v, int axis)
{
	double s = w->n_labels[v] < PAIRWISE_CHOICES ? part_seconds(w, v, axis) : -1;
	if (s >= 0)
		labels(w, v)[w->n_labels[v]++] = (struct label){(int8_t)axis, s};
}

static void find_labels(struct work *w, uint32_t v, unsigned axes)
{
	struct tensor t;
	double whole = w->idle[v] ? 0 : seconds_whole(w, v);
	labels(w, v)[0] = (struct label){SPLIT_WHOLE, whole};
	w->n_labels[v] = 1;
	if (w->f->constant[v] || !split_output(w->f, v, 0, &t))
		return;
	bool product = is_product(w, v);
	for (int axis = 0; axis < (int)t.rank; axis++)
		if (!product || axes >> split_axis_kind(w->f, v, axis) & 1)
			add_label(w, v, axis);
	if (product && axes >> AXIS_SUM & 1)
		add_label(w, v, SPLIT_SUM);
}

/* ---- edges ---- */

/* What parts read of an input. */
struct reading {
	double moved, halo; /* bytes: of parts on other devices; beyond their share */
	int axis;           /* SPLIT_WHOLE: whole */
};

static struct reading read_of(struct work *w, uint32_t v, uint32_t i, int axis)
{
	struct reading r = {0, 0, SPLIT_WHOLE};
	double bytes = bytes_of(w, graph_slot_output(w->g, w->g->in_ptr[v] + i));
	for (uint32_t p = 0; p < w->plan->ways; p++) {
		struct split_part s;
		if (!part_of(w, v, axis, p, &s))
			continue;
		const struct split_need *need = &s.need[i];
		double size = (double)(need->hi - need->lo),
		       core = (double)(need->core_hi - need->core_lo),
		       part = read_share(w, v, i, need) * bytes;
		r.axis = need->axis;
		r.moved += p > 0 ? part : 0;
		r.halo += need->axis >= 0 && size > core ? part * (size - core) / size : 0;
	}
	return r;
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
	uint32_t u = graph_source(w->g, v, i);
	double bytes = bytes_of(w, graph_slot_output(w->g, w->g->in_ptr[v] + i));
	for (uint8_t b = 0; b < w->n_labels[v]; b++) {
		int axis = labels(w, v)[b].axis;
		struct reading r = {0, 0, SPLIT_WHOLE};
		if (b > 0)
			r = read_of(w, v, i, axis);
		for (uint8_t a = 0; a < w->n_labels[u]; a++) {
			double s = edge_seconds(w, u, labels(w, u)[a].axis, axis, bytes, &r,
						labels(w, u)[a].node_s);
			if (s > 0)
				pairwise_add_pair(pw, u, a, v, b, s);
		}
	}
}

/* ---- chains ---- */

static double edge_of_plan(struct work *w, uint32_t v, uint32_t i, bool *aligned)
{
	uint32_t u = graph_source(w->g, v, i);
	double bytes = bytes_of(w, graph_slot_output(w->g, w->g->in_ptr[v] + i));
	struct reading r = {0, 0, SPLIT_WHOLE};
	if (w->plan->axis[v] != SPLIT_WHOLE)
		r = read_of(w, v, i, w->plan->axis[v]);
	*aligned = r.axis >= 0 && w->plan->axis[u] == r.axis;
	return edge_seconds(w, u, w->plan->axis[u], w->plan->axis[v], bytes, &r, 0);
}

static double seconds_of(struct work *w, uint32_t v)
{
	for (uint8_t k = 0; k < w->n_labels[v]; k++)
		if (labels(w, v)[k].axis == w->plan->axis[v])
			return labels(w, v)[k].node_s;
	return labels(w, v)[0].node_s;
}

/* Chains that cut no product, or do not gain enough, are left whole. */
static void weigh_chains(struct work *w, double least_gain, struct split_decision *out)
{
	const struct graph *g = w->g;
	uint32_t *parent = disjoint_new(g->n, w->a);
	double *gain = ARENA_NEWN(w->a, double, g->n);
	bool *seed = ARENA_NEWN(w->a, bool, g->n), aligned;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			uint32_t u = graph_source(g, v, i);
			if (u == GRAPH_NONE || w->f->constant[u])
				continue;
			edge_of_plan(w, v, i, &aligned);
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
			double s = edge_of_plan(w, v, i, &aligned);
			uint32_t d = disjoint_find(parent, u);
			gain[c] -= s;
			gain[d] -= d != c ? s : 0;
		}
	}
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t c = disjoint_find(parent, v);
		if (w->plan->axis[v] == SPLIT_WHOLE)
			continue;
		if (!seed[c] || (!w->all && gain[c] < least_gain))
			w->plan->axis[v] = SPLIT_WHOLE;
		else
			out->n_chains += c == v;
	}
}

static double estimate(struct work *w)
{
	const struct graph *g = w->g;
	double sum = 0;
	bool aligned;
	for (uint32_t v = 0; v < g->n; v++) {
		if (w->f->constant[v])
			continue;
		sum += seconds_of(w, v);
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			uint32_t u = graph_source(g, v, i);
			if (u != GRAPH_NONE && !w->f->constant[u])
				sum += edge_of_plan(w, v, i, &aligned);
		}
	}
	return sum;
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
	w.need = ARENA_NEWN(w.a, struct split_need, (size_t)f->max_in + 1);
	op_idle_nodes(g, NULL, w.idle, w.root);
	for (uint32_t v = 0; v < g->n; v++) {
		find_labels(&w, v, axes);
		plan->axis[v] = SPLIT_WHOLE;
		out->may_be_cut += is_product(&w, v) && w.n_labels[v] > 1;
	}
	out->whole_s = estimate(&w);
	struct pairwise *pw = pairwise_new(g->n, w.n_labels);
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint8_t k = 0; k < w.n_labels[v]; k++)
			pairwise_add_one(pw, v, k, labels(&w, v)[k].node_s);
		if (all && is_product(&w, v) && w.n_labels[v] > 1)
			pairwise_add_one(pw, v, 0, REFUSED_S);
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			uint32_t u = graph_source(g, v, i);
			if (u != GRAPH_NONE && !f->constant[u] && !f->constant[v])
				add_edge(&w, pw, v, i);
		}
	}
	uint8_t *choice = ARENA_NEWN(w.a, uint8_t, g->n);
	pairwise_solve(pw, choice);
	for (uint32_t v = 0; v < g->n; v++)
		plan->axis[v] = labels(&w, v)[choice[v]].axis;
	pairwise_free(pw);
	weigh_chains(&w, min_gain * out->whole_s, out);
	out->cut_s = estimate(&w);
	arena_free(w.a);
}
