/* decide.c - estimated costs of nodes and edges under each label, and what follows from the least sum. */
#include "base/disjoint.h"
#include "split/decide_impl.h"

/* Figures of cores of an EPYC: they need not be right, only in proportion. */
const struct split_costs split_costs_cores = {.n = 1,
					      .device = {{2e11, 2e10, 2e-6, 1e10}},
					      .handover_s = 15e-6,
					      .copy_s_per_byte = 1e-10};

/* More than any model takes: what is to be cut however much that costs. */
static const double REFUSED_S = 1e6;

/* Prices of weights that are tried, upwards, and between the last two. */
enum { MEMORY_STEPS = 5 };

/* Costs of all pairs of labels of an edge. */
static void add_edge(struct work *w, struct pairwise *pw, uint32_t v, uint32_t i)
{
	uint32_t u = graph_source(w->g, v, i), o = graph_slot_output(w->g, w->g->in_ptr[v] + i);
	double bytes = decide_bytes(w, o);
	for (uint8_t b = 0; b < w->n_labels[v]; b++) {
		int axis = decide_labels(w, v)[b].axis;
		struct reading r = decide_read(w, v, i, axis);
		if (decide_reads_shared(w, o, axis, &r)) {
			pairwise_add_pair(pw, v, b, w->shared[o], 0, REFUSED_S);
			continue;
		}
		for (uint8_t a = 0; a < w->n_labels[u]; a++) {
			double s = decide_edge_seconds(w, u, decide_labels(w, u)[a].axis, axis,
						       bytes, &r, decide_labels(w, u)[a].node_s);
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
	double bytes = decide_bytes(w, o);
	double moved = (w->plan->ways - 1) * bytes;
	struct reading all = {moved, moved, 0, SPLIT_WHOLE, false, false};
	for (uint8_t a = 0; a < w->n_labels[u]; a++)
		pairwise_add_pair(
			pw, u, a, w->shared[o], 1,
			decide_edge_seconds(w, u, decide_labels(w, u)[a].axis, 0, bytes, &all, 0));
}

/* ---- chains ---- */

/* What it costs that node v, cut along `b`, reads through input i of u, cut along `a`.  aligned: part reads part; seen
 * (outputs): joins for all that have been counted; NULL: none is. */
static double edge_of(struct work *w, uint32_t v, uint32_t i, int a, int b, bool *aligned,
		      bool *seen)
{
	uint32_t u = graph_source(w->g, v, i), o = graph_slot_output(w->g, w->g->in_ptr[v] + i);
	double bytes = decide_bytes(w, o);
	struct reading r = decide_read(w, v, i, b);
	if (aligned)
		*aligned = decide_at_home(a) ? b != SPLIT_WHOLE && r.moved_home == 0
					     : r.axis >= 0 && a == r.axis;
	if (seen && decide_reads_shared(w, o, b, &r)) {
		if (seen[o])
			return 0;
		seen[o] = true;
	}
	return decide_edge_seconds(w, u, a, b, bytes, &r, 0);
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
		if (decide_labels(w, v)[k].axis == w->plan->axis[v])
			return decide_labels(w, v)[k].node_s;
	return decide_labels(w, v)[0].node_s;
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
			gain[c] += decide_labels(w, v)[0].node_s - seconds_of(w, v);
			seed[c] |= decide_is_product(w, v);
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
					 decide_labels(w, v)[k].node_s +
						 w->weights_price * decide_labels(w, v)[k].weights);
		if (w->all && decide_is_product(w, v) && w->n_labels[v] > 1)
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
		w->plan->axis[v] = decide_labels(w, v)[choice[v]].axis;
	pairwise_free(pw);
}

/* Bytes of weights on a device. */
static double weights_of(struct work *w)
{
	double sum = 0;
	for (uint32_t v = 0; v < w->g->n; v++)
		for (uint8_t k = 0; k < w->n_labels[v]; k++)
			if (decide_labels(w, v)[k].axis == w->plan->axis[v])
				sum += decide_labels(w, v)[k].weights;
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
		decide_find_labels(&w, v, axes);
		plan->axis[v] = SPLIT_WHOLE;
		out->may_be_cut += decide_is_product(&w, v) && w.n_labels[v] > 1;
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
