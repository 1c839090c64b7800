/* chains.c - chains of nodes whose parts read parts of each other: how large the parts are, and which chains are worth it.
 *
 * A device goes on with its parts of a chain without waiting for the others, so a chain takes what the device with most of it takes. */
#include <math.h>
#include <string.h>

#include "base/disjoint.h"
#include "split/decide_impl.h"

struct chains {
	struct work *w;
	uint32_t *of;      /* (n) a node of the chain by which it is known */
	uint32_t *ptr, *v; /* (n+1), cut nodes by chain */
	double *s;         /* (n) seconds of a chain */
};

static bool is_cut(const struct work *w, uint32_t v)
{
	return !w->f->constant[v] && w->plan->axis[v] != SPLIT_WHOLE;
}

static double edge_of_plan(struct work *w, uint32_t v, uint32_t i, bool *aligned, bool *seen)
{
	uint32_t u = graph_source(w->g, v, i);
	return decide_edge(w, v, i, w->plan->axis[u], w->plan->axis[v], aligned, seen);
}

/* As the plan has it, whole too. */
static struct label *label_of(struct work *w, uint32_t v)
{
	for (uint8_t k = 0; k < w->n_labels[v]; k++)
		if (decide_labels(w, v)[k].axis == w->plan->axis[v])
			return &decide_labels(w, v)[k];
	return &decide_labels(w, v)[0];
}

static bool flows(const struct work *w, uint32_t v, uint32_t i)
{
	uint32_t u = graph_source(w->g, v, i);
	return u != GRAPH_NONE && !w->f->constant[u];
}

static void find_chains(struct chains *x)
{
	struct work *w = x->w;
	const struct graph *g = w->g;
	uint32_t *parent = disjoint_new(g->n, w->a);
	bool aligned;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			if (!flows(w, v, i))
				continue;
			edge_of_plan(w, v, i, &aligned, NULL);
			if (aligned)
				disjoint_join(parent, graph_source(g, v, i), v);
		}
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t u = w->f->peer[v];
		if (u < v && is_cut(w, v) && w->plan->axis[u] == w->plan->axis[v])
			disjoint_join(parent, u, v);
	}
	x->of = ARENA_NEWN(w->a, uint32_t, g->n);
	x->ptr = ARENA_NEWN(w->a, uint32_t, (size_t)g->n + 1);
	x->v = ARENA_NEWN(w->a, uint32_t, g->n);
	x->s = ARENA_NEWN(w->a, double, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		x->of[v] = disjoint_find(parent, v);
		x->ptr[x->of[v] + 1] += is_cut(w, v);
	}
	for (uint32_t c = 0; c < g->n; c++)
		x->ptr[c + 1] += x->ptr[c];
	uint32_t *at = ARENA_NEWN(w->a, uint32_t, g->n);
	for (uint32_t v = 0; v < g->n; v++)
		if (is_cut(w, v))
			x->v[x->ptr[x->of[v]] + at[x->of[v]]++] = v;
}

/* What the device with most of chain c takes, with the shares at hand; s (ways): what each does.  INFINITY: it cannot be. */
static double chain_seconds(const struct chains *x, uint32_t c, double *s)
{
	struct work *w = x->w;
	uint32_t ways = w->plan->ways;
	double most = 0;
	for (uint32_t p = 0; p < ways; p++)
		s[p] = 0;
	for (uint32_t i = x->ptr[c]; i < x->ptr[c + 1]; i++) {
		uint32_t v = x->v[i];
		int axis = w->plan->axis[v];
		for (uint32_t p = 0; p < ways; p++) {
			double weights, one = axis == SPREAD
						      ? label_of(w, v)->node_s
						      : decide_part_on(w, v, axis, p, &weights);
			s[p] += one < 0 ? INFINITY : one; /* no such part */
		}
	}
	for (uint32_t p = 0; p < ways; p++)
		most = s[p] > most ? s[p] : most;
	return most;
}

/* The same with that row of shares, which its nodes have then. */
static double with_row(struct chains *x, uint32_t c, uint8_t row, double *s)
{
	struct work *w = x->w;
	for (uint32_t i = x->ptr[c]; i < x->ptr[c + 1]; i++) {
		uint32_t v = x->v[i];
		int axis = w->plan->axis[v];
		/* homes of siblings are by the first row */
		w->share_of[v] = axis == SPREAD || axis == SPLIT_OUTPUTS ? 0 : row;
	}
	return chain_seconds(x, c, s);
}

/* Bytes of weights, as the shares are now. */
static void weigh_parts(struct chains *x, uint32_t c)
{
	struct work *w = x->w;
	for (uint32_t i = x->ptr[c]; i < x->ptr[c + 1]; i++) {
		uint32_t v = x->v[i];
		struct label *l = label_of(w, v);
		double most = 0;
		for (uint32_t p = 0; p < w->plan->ways && l->axis != SPREAD; p++) {
			double weights = 0;
			decide_part_on(w, v, l->axis, p, &weights);
			most = fmax(most, weights);
		}
		l->weights = l->axis == SPREAD ? l->weights : most;
	}
}

/* Shares by which all devices end together, and then, from who ends last to who ends first, while that helps. */
static void share_chain(struct chains *x, uint32_t c)
{
	struct work *w = x->w;
	uint32_t ways = w->plan->ways, share[SPLIT_MAX_WAYS];
	double all[SPLIT_MAX_WAYS] = {0}, fixed[SPLIT_MAX_WAYS] = {0}, s[SPLIT_MAX_WAYS];
	for (uint32_t i = x->ptr[c]; i < x->ptr[c + 1]; i++)
		for (uint32_t p = 0; p < ways; p++) {
			double one = decide_whole_on(w, x->v[i], p);
			all[p] += one < 0 ? 0 : one;
			fixed[p] += fmin(one < 0 ? 0 : one, w->c->device[p % w->c->n].step_s);
		}
	uint8_t best = split_row_for(&w->rows, all, fixed);
	double least = with_row(x, c, best, s);
	for (uint32_t step = 0; step < split_units(ways); step++) {
		uint32_t last = 0, first = 0;
		memcpy(share, w->rows.share + (size_t)best * ways, ways * sizeof *share);
		/* while a part has nothing: from the largest to the smallest */
		for (uint32_t p = 0; p < ways; p++) {
			const bool more =
				least < INFINITY ? s[p] > s[last] : share[p] > share[last];
			const bool less =
				least < INFINITY ? s[p] < s[first] : share[p] < share[first];
			last = more ? p : last;
			first = less ? p : first;
		}
		if (first == last || share[last] < 2)
			break;
		share[last]--;
		share[first]++;
		uint8_t row = split_row(&w->rows, share);
		double now = with_row(x, c, row, s);
		if (now >= least && least < INFINITY)
			break;
		least = now;
		best = row;
	}
	x->s[c] = with_row(x, c, best, s);
	weigh_parts(x, c);
}

/* What each chain takes less than its nodes whole, with what lies between it and others, and the price of its weights. */
static void find_gains(struct chains *x, double *gain)
{
	struct work *w = x->w;
	const struct graph *g = w->g;
	bool *seen = ARENA_NEWN(w->a, bool, g->out_ptr[g->n]);
	for (uint32_t c = 0; c < g->n; c++)
		gain[c] = -x->s[c];
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t c = x->of[v];
		if (is_cut(w, v))
			gain[c] += decide_labels(w, v)[0].node_s +
				   w->weights_price * (decide_labels(w, v)[0].weights -
						       label_of(w, v)->weights);
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++) {
			if (!flows(w, v, i) || w->f->constant[v])
				continue;
			uint32_t u = graph_source(g, v, i), d = x->of[u];
			int a = w->plan->axis[u], b = w->plan->axis[v];
			double s = edge_of_plan(w, v, i, NULL, seen);
			gain[c] += decide_edge(w, v, i, d == c ? SPLIT_WHOLE : a, SPLIT_WHOLE, NULL,
					       NULL) -
				   s;
			if (d != c)
				gain[d] += decide_edge(w, v, i, SPLIT_WHOLE, b, NULL, NULL) - s;
		}
	}
}

/* Chains that cut no product where memory is shared, or do not gain enough beside their being whole, are left whole. */
void decide_chains(struct work *w, double least_gain, struct split_decision *out)
{
	const struct graph *g = w->g;
	struct chains x = {.w = w};
	bool *seed = ARENA_NEWN(w->a, bool, g->n);
	double *gain = ARENA_NEWN(w->a, double, g->n), each[SPLIT_MAX_WAYS];
	find_chains(&x);
	for (uint32_t c = 0; c < g->n; c++) {
		if (x.ptr[c] == x.ptr[c + 1])
			continue;
		if (w->unlike)
			share_chain(&x, c);
		else
			x.s[c] = chain_seconds(&x, c, each);
		for (uint32_t i = x.ptr[c]; i < x.ptr[c + 1]; i++)
			seed[c] |= decide_is_product(w, x.v[i]);
	}
	if (w->unlike)
		decide_forget_readings(w);
	find_gains(&x, gain);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t c = x.of[v];
		if (w->plan->axis[v] == SPLIT_WHOLE)
			continue;
		bool useless = !seed[c] && !w->c->apart;
		if (useless || gain[c] == -INFINITY || (!w->all && gain[c] < least_gain))
			w->plan->axis[v] = SPLIT_WHOLE;
		else
			out->n_chains += c == v;
	}
}

double decide_estimate(struct work *w)
{
	const struct graph *g = w->g;
	struct chains x = {.w = w};
	bool *seen = ARENA_NEWN(w->a, bool, g->out_ptr[g->n]), aligned;
	double sum = 0, each[SPLIT_MAX_WAYS];
	find_chains(&x);
	for (uint32_t c = 0; c < g->n; c++)
		sum += chain_seconds(&x, c, each);
	for (uint32_t v = 0; v < g->n; v++) {
		if (w->f->constant[v])
			continue;
		sum += is_cut(w, v) ? 0 : label_of(w, v)->node_s;
		for (uint32_t i = 0; i < g->in_ptr[v + 1] - g->in_ptr[v]; i++)
			if (flows(w, v, i))
				sum += edge_of_plan(w, v, i, &aligned, seen);
	}
	return sum;
}
