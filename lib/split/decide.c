/* decide.c - estimated costs of nodes and edges under each label, and what follows from the least sum. */
#include <math.h>
#include <string.h>

#include "split/decide_impl.h"

/* More than any model takes: what is to be cut however much that costs. */
static const double REFUSED_S = 1e6;

/* Prices of weights that are tried, upwards, and between the last two. */
enum { MEMORY_STEPS = 5 };

/* Shares for all that unlike devices start from, of two devices; times that is gone on from the best. */
enum { STARTS = 8, ROUNDS = 4 };

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
				pairwise_add_pair(pw, u, a, v, b, w->edge_price * s);
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
	struct reading all = {moved, moved, 0, SPLIT_WHOLE, false, false, false};
	for (uint8_t a = 0; a < w->n_labels[u]; a++)
		pairwise_add_pair(
			pw, u, a, w->shared[o], 1,
			decide_edge_seconds(w, u, decide_labels(w, u)[a].axis, 0, bytes, &all, 0));
}

/* What reads a variable and what assigns it are cut alike. */
static void add_peer(struct work *w, struct pairwise *pw, uint32_t v)
{
	uint32_t u = w->f->peer[v];
	for (uint8_t b = 0; u != GRAPH_NONE && u < v && b < w->n_labels[v]; b++)
		for (uint8_t a = 0; a < w->n_labels[u]; a++)
			if (decide_labels(w, u)[a].axis != decide_labels(w, v)[b].axis)
				pairwise_add_pair(pw, u, a, v, b, REFUSED_S);
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
	for (uint32_t v = 0; v < g->n; v++)
		add_peer(w, pw, v);
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

/* Do the parts' devices differ in anything that is told of them? */
static bool are_unlike(const struct split_costs *c)
{
	for (uint32_t p = 1; p < c->n; p++)
		if (c->node_s || c->device[p].flops_per_s != c->device[0].flops_per_s ||
		    c->device[p].bytes_per_s != c->device[0].bytes_per_s ||
		    c->device[p].step_s != c->device[0].step_s)
			return true;
	return false;
}

/* Shares as devices are fast, where none were given, and the device that is the fastest with all. */
static void begin_shares(struct work *w)
{
	uint32_t ways = w->plan->ways;
	double all[SPLIT_MAX_WAYS] = {0}, fixed[SPLIT_MAX_WAYS] = {0};
	for (uint32_t v = 0; v < w->g->n; v++)
		for (uint32_t p = 0; p < ways && !w->f->constant[v]; p++) {
			double s = decide_whole_on(w, v, p);
			all[p] += s < 0 ? REFUSED_S : s;
		}
	for (uint32_t p = 1; p < ways; p++)
		w->base = all[p] < all[w->base] ? p : w->base;
	if (!w->c->apart)
		w->bytes_per_s = w->c->device[w->base % w->c->n].bytes_per_s;
	if (w->plan->share)
		return;
	w->rows = split_rows_new(ways, w->f->arena);
	w->plan->share = w->rows.share;
	w->unlike = are_unlike(w->c);
	if (w->unlike) {
		split_row_for(&w->rows, all, fixed);
		w->plan->share_of = w->share_of = ARENA_NEWN(w->f->arena, uint8_t, w->g->n);
		return;
	}
	for (uint32_t p = 0; p < ways; p++)
		w->rows.share[p] = 1;
	w->rows.n = 1;
}

/* The least sum with the shares at hand, then chain by chain. */
static void decide_once(struct work *w, struct split_decision *out)
{
	*out = (struct split_decision){0};
	w->weights_price = 0;
	decide_forget_readings(w);
	for (uint32_t v = 0; v < w->g->n; v++) {
		decide_find_labels(w, v);
		w->plan->axis[v] = SPLIT_WHOLE;
		out->may_be_cut += decide_is_product(w, v) && w->n_labels[v] > 1;
	}
	out->whole_s = decide_estimate(w);
	solve_in_memory(w);
	decide_chains(w, w->min_gain * out->whole_s, out);
	out->weights = weights_of(w);
	out->cut_s = decide_estimate(w);
}

struct best {
	int8_t *axis;
	uint8_t *share_of;
	struct split_decision decision;
	bool any;
};

/* What fits into memory first, then what takes less. */
static bool is_better(const struct work *w, const struct split_decision *a,
		      const struct split_decision *b)
{
	double limit = w->c->memory_bytes > 0 ? w->c->memory_bytes : INFINITY;
	bool a_fits = a->weights <= limit, b_fits = b->weights <= limit;
	return a_fits != b_fits ? a_fits : a->cut_s < b->cut_s;
}

/* Decides once more with the shares at hand; true: better than what was best.  The sum that is minimised knows nothing of chains, within
 * which devices need not be even at each node: it takes edges too lightly, so it is tried with a higher price of these as well. */
static bool decide_again(struct work *w, struct best *best)
{
	static const double price[] = {1, 4};
	size_t n = w->g->n;
	bool better = false;
	uint8_t *shares = MEM_NEWN(uint8_t, 2 * n); /* and those of the best */
	memcpy(shares, w->share_of, n);
	memcpy(shares + n, best->share_of, n);
	split_rows_keep(&w->rows, shares, (uint32_t)(2 * n));
	memcpy(best->share_of, shares + n, n);
	for (int i = 0; i < 2; i++) {
		struct split_decision d;
		memcpy(w->share_of, shares, n);
		w->edge_price = price[i];
		decide_once(w, &d);
		if (best->any && !is_better(w, &d, &best->decision))
			continue;
		best->decision = d;
		best->any = better = true;
		memcpy(best->axis, w->plan->axis, n * sizeof *best->axis);
		memcpy(best->share_of, w->share_of, n);
	}
	mem_free(shares);
	return better;
}

/* Unlike devices: from several shares for all nodes, and from those of each node alone; then from what the chains were given,
 * while that helps. */
static void decide_unlike(struct work *w, struct split_decision *out)
{
	size_t n = w->g->n;
	struct best best = {.axis = ARENA_NEWN(w->a, int8_t, n),
			    .share_of = ARENA_NEWN(w->a, uint8_t, n)};
	uint32_t units = split_units(2);
	for (uint32_t k = units / STARTS; w->plan->ways == 2 && k < units; k += units / STARTS) {
		const uint32_t share[] = {k, units - k};
		memset(w->share_of, split_row(&w->rows, share), n);
		decide_again(w, &best);
	}
	memset(w->share_of, 0, n);
	decide_again(w, &best);
	w->by_node = true;
	decide_again(w, &best);
	w->by_node = false;
	for (int i = 0; i < ROUNDS; i++) {
		memcpy(w->share_of, best.share_of, n);
		if (!decide_again(w, &best))
			break;
	}
	memcpy(w->plan->axis, best.axis, n * sizeof *best.axis);
	memcpy(w->share_of, best.share_of, n);
	*out = best.decision;
}

/* The rows of what is cut, and none else. */
static void keep_used_rows(struct work *w)
{
	struct split_rows used = split_rows_new(w->plan->ways, w->f->arena);
	for (uint32_t v = 0; v < w->g->n; v++)
		w->share_of[v] = w->plan->axis[v] == SPLIT_WHOLE
					 ? 0
					 : split_row(&used, split_shares(w->plan, v));
	for (uint32_t p = 0; p < used.ways && used.n == 0; p++)
		used.share[p] = 1; /* nothing is cut */
	w->rows = used;
	w->plan->share = used.share;
}

void split_decide(struct split_facts *f, const struct split_costs *costs, unsigned axes, bool all,
		  double min_gain, struct split_plan *plan, struct split_decision *out)
{
	const struct graph *g = f->g;
	struct work w = {.f = f,
			 .g = g,
			 .c = costs,
			 .plan = plan,
			 .axes = axes,
			 .all = all,
			 .min_gain = min_gain,
			 .edge_price = 1,
			 .a = arena_new()};
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
	op_idle_nodes(g, NULL, w.idle, w.root);
	begin_shares(&w);
	if (costs->apart)
		w.siblings = split_find_siblings(f, plan, w.a);
	if (w.unlike)
		decide_unlike(&w, out);
	else
		decide_once(&w, out);
	if (w.unlike)
		keep_used_rows(&w);
	plan->rows = w.rows.n ? w.rows.n : 1;
	if (costs->apart)
		keep_homes(&w);
	arena_free(w.a);
}
