/* gpn.c - the graph parsing network of HSDAG: encoder, edge scores, parsing,
 * pooling, and the policy.  Source: the HSDAG paper (arXiv 2405.14185), section 3, and Song et al.,
 * "Graph Parsing Networks", ICLR 2024; numbers of layers and norms as in HSDAG's published code.
 *
 *   H       = MLP_in(X)
 *   a round:  Z = GNN1(H),  S_vu = sigmoid(MLP_edge(Z_v * Z_u) + prior_vu),  groups = parse(S)
 *             H' = post(sum over each group of pre(GNN2(H))) * factor(S)
 *   Z'      = MLP_out(H)
 *   log p   = log softmax(MLP_policy(Z'))
 *
 * The prior is not the paper's, whose recipe has none: operations that read the same weights, such
 * as the time steps of a recurrent layer, belong together.
 *
 * A round on five sets in a row:
 *
 *     nodes     a --- b --- c --- d --- e       n nodes, H (n,h)
 *     S           .9    .2    .8    .7          a score for each edge
 *     kept        ===         ===   ===         every node keeps its best edge
 *     groups    [ a   b ] - [ c   d   e ]       n' nodes, H' (n',h): the graph of the next round
 *     factor      .9         .8, .7             mean or sum of S inside, its only gradient
 *
 * A replay takes the kept edges from the record and computes the rest again.
 */
#include "learn/net/gpn.h"
#include "learn/net/net_layer.h"
#include "learn/net/net_impl.h"
#include "learn/net/parsing.h"

#include <math.h>

/* ---- hyperparameters ---- */

#define INT(f, lo, hi, help) FIELD_INT(struct gpn_hyper, f, lo, hi, help)
#define REAL(f, lo, hi, help) FIELD_REAL(struct gpn_hyper, f, lo, hi, help)

static const struct named_field fields[] = {
	INT(hidden, 1, 4096, "width of the hidden layers"),
	INT(layer_trans, 1, 16, "layers of the input and of the output network"),
	INT(layer_gnn, 1, 16, "graph convolutions before the edge scores"),
	INT(layer_gnn2, 1, 16, "graph convolutions before the pooling"),
	INT(layer_parsingnet, 1, 16, "layers of the network that scores edges"),
	INT(layer_deepsets, 1, 16, "layers of each half of the pooling"),
	REAL(dropout_network, 0, 0.95, "probability that an activation is dropped"),
	REAL(dropout_parsing, 0, 0.95, "probability that a round of parsing cannot keep an edge"),
	{"rounds", offsetof(struct gpn_hyper, rounds), false, 0, 1000,
	 "rounds of parsing, or until nothing shrinks", "end", false},
	INT(mix_rounds, 0, 1, "while training, each step draws its rounds from 1 to `rounds`"),
	REAL(weights, 0, 100, "what the log bytes of constants on an edge add to its score"),
	INT(min_groups, 1, 1e9, "fewest groups that a round of parsing may leave"),
	INT(pool_sum, 0, 1, "scale a group by the sum of its edges' scores instead of their mean"),
	INT(act_final, 0, 1, "end the output network in ReLU and dropout"),
	INT(policy_norm, 0, 1, "normalise a group's embedding in front of the policy"),
	REAL(policy_gain, 0, 100, "factor on the initial weights of the policy's last layer"),
	{"bf16", offsetof(struct gpn_hyper, bf16), false, 0, 1,
	 "1: round the operands of products with weights to bf16", NULL, true},
	{0},
};

const struct gpn_hyper gpn_paper = {
	.hidden = 128,
	.layer_trans = 2,
	.layer_gnn = 2,
	.layer_gnn2 = 1,
	.layer_parsingnet = 2,
	.layer_deepsets = 1,
	.dropout_network = 0.2,
	.dropout_parsing = 0,
	.rounds = 0,
	.min_groups = 1,
	.pool_sum = 1,
	.act_final = 1,
	.policy_norm = 0,
	.policy_gain = 1,
};

const struct gpn_hyper gpn_default = {
	.hidden = 128,
	.layer_trans = 2,
	.layer_gnn = 2,
	.layer_gnn2 = 1,
	.layer_parsingnet = 2,
	.layer_deepsets = 1,
	.dropout_network = 0.1,
	.dropout_parsing = 0,
	.rounds = 2,
	.mix_rounds = 1,
	.weights = 0.1,
	.min_groups = 16,
	.pool_sum = 0,
	.act_final = 0,
	.policy_norm = 1,
	.policy_gain = 0.1,
};

/* ---- parameters ---- */

/* Where the parts of the embed block begin, in matrices. */
struct gpn_parts {
	int64_t in, gnn1, edge, gnn2, pre, post, out;
};

static struct gpn_parts gpn_parts(const struct gpn_hyper *h)
{
	struct gpn_parts at;
	at.in = 0;
	at.gnn1 = at.in + MATS_NORMED * h->layer_trans;
	at.edge = at.gnn1 + MATS_PLAIN * h->layer_gnn + MATS_NORM;
	at.gnn2 = at.edge + MATS_NORMED * (h->layer_parsingnet - 1) + MATS_PLAIN;
	at.pre = at.gnn2 + MATS_PLAIN * h->layer_gnn2 + MATS_NORM;
	at.post = at.pre + MATS_PLAIN * h->layer_deepsets + MATS_NORM;
	at.out = at.post + MATS_PLAIN * h->layer_deepsets + MATS_NORM;
	return at;
}

static struct params *embed_init(const void *hyper, uint32_t d, uint64_t seed)
{
	const struct gpn_hyper *g = hyper;
	struct params *p = params_new();
	uint32_t h = (uint32_t)g->hidden;
	add_normed_mlp(p, "in", g->layer_trans, d, h);
	add_gnn(p, "gnn1", g->layer_gnn, h);
	add_normed_mlp(p, "edge", g->layer_parsingnet - 1, h, h);
	add_linear(p, "edge.score", h, 1, 1);
	add_gnn(p, "gnn2", g->layer_gnn2, h);
	add_deepset(p, "pre", g->layer_deepsets, h);
	add_deepset(p, "post", g->layer_deepsets, h);
	add_plain_mlp(p, "out", g->layer_trans, h, h, d, 1);
	return params_init(p, seed, EMBED_STREAMS);
}

static struct params *policy_init(const void *hyper, uint32_t d, uint32_t k, uint64_t seed)
{
	const struct gpn_hyper *g = hyper;
	struct params *p = params_new();
	if (g->policy_norm)
		add_norm(p, "policy.norm", d);
	add_plain_mlp(p, "policy", 2, d, (uint32_t)g->hidden, k, g->policy_gain);
	return params_init(p, seed, POLICY_STREAMS);
}

/* (m,1) log bytes of every edge, less their mean */
static struct mat *traffic_prior(struct tape *t, const struct ugraph *g, double weight)
{
	float *x = arena_raw(tape_arena(t), g->m, sizeof *x);
	double sum = 0;
	for (uint32_t e = 0; e < g->m; e++)
		sum += log1p(g->traffic[e]);
	for (uint32_t e = 0; e < g->m; e++)
		x[e] = (float)(weight * (log1p(g->traffic[e]) - sum / g->m));
	return tape_input(t, x, g->m, 1);
}

/* What scores edges from the embeddings z of their ends. */
struct edge_net {
	struct mat *const *p;
	const struct gpn_hyper *h;
	const struct ugraph *g;
	struct mat *z;
};

/* (n,1) MLP(z_u * z_v) for n edges from `first` on */
static struct mat *edge_logits(struct tape *t, const void *arg, uint32_t first, uint32_t n)
{
	const struct edge_net *s = arg;
	struct mat *const *p = s->p;
	int64_t inner = s->h->layer_parsingnet - 1;
	struct mat *x = tape_edge_product(t, s->z, s->g->u + first, s->g->v + first, n);
	struct mat *y = normed_mlp(t, p, inner, s->h->dropout_network, x);
	if (y != x)
		tape_done(t, x);
	p += MATS_NORMED * inner;
	struct mat *logit = tape_linear(t, y, p[0], p[1], (struct after){0});
	tape_done(t, y);
	return logit;
}

/* S (m,1): sigmoid(MLP(z_u * z_v) + prior) for every edge */
static struct mat *edge_scores(struct tape *t, struct mat *const *p, const struct gpn_hyper *h,
			       const struct ugraph *g, struct mat *z)
{
	const struct edge_net net = {p, h, g, z};
	struct mat *logit = tape_by_parts(t, g->m, 1, edge_logits, &net);
	if (h->weights > 0 && g->traffic)
		logit = tape_add(t, logit, traffic_prior(t, g, h->weights));
	return tape_sigmoid(t, logit);
}

/* ---- a round ---- */

/* Edges that this round may not keep, or NULL. */
static const uint8_t *dropped_edges(struct arena *a, const struct gpn_hyper *h, uint32_t m,
				    const struct rng_addr *rng, uint32_t number)
{
	if (!rng || h->dropout_parsing <= 0)
		return NULL;
	struct rng_addr at = *rng;
	at.stream = RNG_DROPOUT + (number & 0xffffff);
	uint16_t *bits = arena_raw(a, m, sizeof *bits);
	uint8_t *dropped = arena_raw(a, m, 1);
	rng_bits16(&at, 0, bits, m);
	for (uint32_t e = 0; e < m; e++)
		dropped[e] = bits[e] < h->dropout_parsing * 65536;
	return dropped;
}

/* Masks of the groups that parsing made: they share a device by construction. */
static const uint8_t *merge_masks(struct arena *a, const uint8_t *mask, uint32_t k,
				  const struct parsed *p, uint32_t n)
{
	if (!mask)
		return NULL;
	uint8_t *out = arena_raw(a, (size_t)p->n_groups * k, 1);
	for (size_t i = 0; i < (size_t)p->n_groups * k; i++)
		out[i] = 1;
	for (size_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < k; j++)
			out[(size_t)p->group[i] * k + j] &= mask[i * k + j] != 0;
	return out;
}

/* H' (n_groups,h) from H = x, which has no other use, the grouping of a round and its edge scores.
 * The mean score of the edges inside a group times their number is the sum of their scores. */
static struct mat *pool(struct tape *t, const struct net_model *m, struct mat *const *p,
			const struct ugraph *g, const uint32_t *group, uint32_t n_groups,
			struct mat *x, struct mat *score)
{
	const struct gpn_hyper *h = m->hyper;
	struct gpn_parts at = gpn_parts(h);
	uint32_t *inside = arena_raw(tape_arena(t), g->m, sizeof *inside);
	for (uint32_t e = 0; e < g->m; e++) {
		uint32_t a = group[g->u[e]];
		inside[e] = a == group[g->v[e]] ? a : UINT32_MAX;
	}
	struct mat *h2 = gnn(t, p + at.gnn2, h->layer_gnn2, h->dropout_network, g, x);
	tape_done(t, x);
	struct mat *pre = deepset(t, p + at.pre, h->layer_deepsets, h->dropout_network, h2);
	tape_done(t, h2);
	tape_cut_free(t); /* groups are fewer than nodes */
	struct mat *sum = tape_segment_sum(t, pre, group, n_groups, 0);
	tape_done(t, pre);
	struct mat *y = deepset(t, p + at.post, h->layer_deepsets, h->dropout_network, sum);
	tape_done(t, sum);
	struct mat *factor = h->pool_sum ? tape_segment_sum(t, score, inside, n_groups, 1)
					 : tape_segment_mean(t, score, inside, n_groups, 1);
	struct mat *pooled = tape_scale_rows(t, y, factor);
	tape_done(t, y);
	return pooled;
}

/* Dropout masks are numbered by their place: ROUND_MASKS for the input MLP, as many for each round,
 * the last of them for parsing.  So a mask depends neither on how many layers came before it nor on
 * whether a last round was tried in vain, which a replay does not repeat. */
enum { ROUND_MASKS = 128 };

/* Number of the first mask of round r. */
static uint32_t round_masks(uint32_t r)
{
	return (r + 1) * ROUND_MASKS;
}

/* The walk through the rounds of one step. */
struct gpn_walk {
	struct tape *t;
	const struct net_model *m;
	struct mat *const *p;
	const struct net_plan *plan;
	struct mat *x;              /* H of the current round */
	const struct ugraph *graph; /* its graph */
	const uint8_t *mask;        /* (graph->n, k) or NULL */
	uint32_t *group;            /* (n) groups of the nodes so far */
	struct parse_round *round;
	uint32_t n_rounds, cap;
	int64_t max_rounds; /* 0: any number */
};

static struct mat *score_edges(struct gpn_walk *s)
{
	const struct gpn_hyper *h = s->m->hyper;
	struct gpn_parts at = gpn_parts(h);
	struct mat *z = gnn(s->t, s->p + at.gnn1, h->layer_gnn, h->dropout_network, s->graph, s->x);
	struct mat *score = edge_scores(s->t, s->p + at.edge, h, s->graph, z);
	tape_done(s->t, z);
	return score;
}

/* Parse the scored graph, or read the record; false: nothing shrinks. */
static bool parse_or_read(struct gpn_walk *s, struct mat *score, struct parsed *out)
{
	const struct gpn_hyper *h = s->m->hyper;
	struct arena *a = tape_arena(s->t);
	if (s->plan->recorded) {
		const struct parse_round *r = &s->plan->recorded->round[s->n_rounds];
		parse_groups(s->graph, r->kept, r->n_kept, a, out);
		return true;
	}
	struct parse_limits lim = {
		.min_groups = (uint32_t)h->min_groups,
		.mask = s->mask,
		.k = s->plan->k,
		.together = s->n_rounds == 0 ? s->m->together : NULL,
		.dropped = dropped_edges(a, h, s->graph->m, s->plan->rng,
					 round_masks(s->n_rounds + 1) - 1),
	};
	parse_edges(s->graph, score->v, &lim, a, out);
	return out->n_groups < s->graph->n;
}

/* Pool by a grouping of the current graph and go on with the quotient. */
static void coarsen(struct gpn_walk *s, struct mat *score, const struct parsed *by)
{
	struct arena *a = tape_arena(s->t);
	struct ugraph *q = ARENA_NEWN(a, struct ugraph, 1);
	s->x = pool(s->t, s->m, s->p, s->graph, by->group, by->n_groups, s->x, score);
	s->mask = merge_masks(a, s->mask, s->plan->k, by, s->graph->n);
	for (uint32_t v = 0; v < s->m->graph->n; v++)
		s->group[v] = by->group[s->group[v]];
	ugraph_quotient(q, s->graph, by->group, by->n_groups, a);
	s->graph = q;
}

/* May there be another round? */
static bool has_next_round(const struct gpn_walk *s)
{
	const struct gpn_hyper *h = s->m->hyper;
	if (s->plan->recorded)
		return s->n_rounds < s->plan->recorded->n_rounds;
	if (s->m->together && s->n_rounds == 0)
		return s->graph->m > 0;
	return s->graph->m > 0 && (s->max_rounds == 0 || s->n_rounds < s->max_rounds) &&
	       s->graph->n > h->min_groups;
}

/* A training may draw it for each step: few rounds leave small groups, many leave large ones, and
 * an episode tries moves of both. */
static int64_t rounds_of_step(const struct gpn_hyper *h, const struct rng_addr *rng)
{
	if (!h->mix_rounds || !rng || h->rounds < 2)
		return h->rounds;
	struct rng_addr at = *rng;
	at.stream = RNG_SEARCH;
	return 1 + (int64_t)rng_below(&at, 0, (uint32_t)h->rounds);
}

static void append_round(struct gpn_walk *s, const struct parsed *by)
{
	struct parse_round *r = s->round;
	if (s->n_rounds == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 8;
		s->round = arena_raw(tape_arena(s->t), s->cap, sizeof *r);
		for (uint32_t i = 0; i < s->n_rounds; i++)
			s->round[i] = r[i];
	}
	s->round[s->n_rounds++] = (struct parse_round){s->graph->n, by->n_kept, by->kept};
}

static void parse_rounds(struct gpn_walk *s)
{
	struct parsed by;
	while (has_next_round(s)) {
		tape_mask_from(s->t, round_masks(s->n_rounds));
		struct mat *score = score_edges(s);
		if (!parse_or_read(s, score, &by))
			break;
		append_round(s, &by);
		coarsen(s, score, &by);
	}
}

/* One round with a grouping from outside instead of parsing. */
static void pool_given(struct gpn_walk *s, const uint32_t *group, uint32_t n_groups)
{
	struct arena *a = tape_arena(s->t);
	struct parsed by = {.n_groups = n_groups};
	by.group = arena_raw(a, s->graph->n, sizeof *by.group);
	for (uint32_t v = 0; v < s->graph->n; v++)
		by.group[v] = group[v];
	tape_mask_from(s->t, round_masks(0));
	coarsen(s, score_edges(s), &by);
}

static int embed(struct tape *t, const struct net_model *m, struct mat *const *p, struct mat *x,
		 const struct net_plan *plan, struct partition *out, struct embedding *z,
		 struct err *e)
{
	const struct gpn_hyper *h = m->hyper;
	struct gpn_parts at = gpn_parts(h);
	struct gpn_walk s = {
		.t = t, .m = m, .p = p, .plan = plan, .graph = m->graph, .mask = plan->mask};
	s.group = arena_raw(tape_arena(t), m->graph->n, sizeof *s.group);
	for (uint32_t v = 0; v < m->graph->n; v++)
		s.group[v] = v;
	s.max_rounds = rounds_of_step(h, plan->rng);
	bool given = plan->recorded ? plan->recorded->given : plan->given != NULL;

	tape_round(t, h->bf16 != 0);
	tape_mask_from(t, 0);
	s.x = normed_mlp(t, p + at.in, h->layer_trans, h->dropout_network, x);
	if (!given)
		parse_rounds(&s);
	else if (plan->recorded)
		pool_given(&s, plan->recorded->group, plan->recorded->n_groups);
	else
		pool_given(&s, plan->given->group, plan->given->n_groups);
	if (plan->recorded && s.graph->n != plan->recorded->n_groups)
		return err_set(e, ST_INPUT, "a recorded partition has %u groups, not %u",
			       plan->recorded->n_groups, s.graph->n);

	struct after last = {h->act_final != 0, h->act_final ? h->dropout_network : 0};
	tape_mask_from(t, UINT32_MAX - ROUND_MASKS);
	z->z = plain_mlp(t, p + at.out, h->layer_trans, h->dropout_network, last, s.x);
	*out = (struct partition){.given = given,
				  .n_rounds = s.n_rounds,
				  .round = s.round,
				  .n_groups = s.graph->n,
				  .group = s.group};
	return 0;
}

static struct mat *policy(struct tape *t, const struct net_model *m, struct mat *const *p,
			  struct mat *z)
{
	const struct gpn_hyper *h = m->hyper;
	tape_round(t, h->bf16 != 0);
	if (h->policy_norm) {
		z = tape_norm(t, z, NULL, p[0], p[1], (struct after){0});
		p += MATS_NORM;
	}
	return plain_mlp(t, p, 2, 0, (struct after){0}, z);
}

const struct net net_gpn = {
	.name = "gpn",
	.help = "graph parsing network (HSDAG)",
	.fields = fields,
	.hyper_size = sizeof(struct gpn_hyper),
	.defaults = {[RECIPE_DEFAULT] = &gpn_default, [RECIPE_PAPER] = &gpn_paper},
	.embed_init = embed_init,
	.policy_init = policy_init,
	.embed = embed,
	.policy = policy,
};
