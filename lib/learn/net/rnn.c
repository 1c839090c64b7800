/* rnn.c - the recurrent placer of Mirhoseini et al., "Device Placement Optimization with
 * Reinforcement Learning", ICML 2017: a sequence of operations in, a sequence of devices out.
 *
 *   groups  what one operation alone reads is in the group of that operation
 *   Z'_g    = mean of X over the group W_x + b + sum of the rows of W_adj of the groups beside it
 *   log p   = log softmax of the logits of seq2seq.h
 *
 * X has the operations' types and output shapes, the rows of W_adj are the adjacency: a one-hot
 * vector over the groups times a matrix.  Group g has row g mod `adjacency`. */
#include "learn/net/net_impl.h"
#include "learn/net/net_layer.h"
#include "learn/net/parsing.h"
#include "learn/net/seq2seq.h"

#include <math.h>

struct rnn_hyper {
	int64_t hidden;     /* width h of both LSTMs and of the attention */
	int64_t adjacency;  /* rows of W_adj */
	int64_t colocate;   /* 1: groups by the sole consumer, 0: every set by itself */
	int64_t aligned;    /* 1: the decoder reads the encoder's state of its own group */
	int64_t max_groups; /* more are refused */
	double policy_gain; /* factor on the initial bound of the last layer */
};

static const struct named_field fields[] = {
	SEQ2SEQ_FIELDS(struct rnn_hyper),
	FIELD_INT(struct rnn_hyper, adjacency, 1, 1e6, "groups that the adjacency tells apart"),
	FIELD_INT(struct rnn_hyper, colocate, 0, 1,
		  "1: what one set alone reads is in its group; 0: every set is a group"),
	FIELD_INT(struct rnn_hyper, max_groups, 1, 1e9,
		  "more groups are refused: attention compares each with each"),
	{0},
};

static const struct rnn_hyper default_hyper = {
	.hidden = 128,
	.adjacency = 1024,
	.colocate = 1,
	.aligned = 1,
	.max_groups = 4000,
	.policy_gain = 0.1,
};
static const struct rnn_hyper paper = {
	.hidden = 256,
	.adjacency = 1024,
	.colocate = 1,
	.aligned = 0,
	.max_groups = 4000,
	.policy_gain = 1,
};

/* ---- parameters ---- */

enum { EMBED_WEIGHT, EMBED_BIAS, EMBED_ADJACENCY };

static struct params *embed_init(const void *hyper, uint32_t d, uint64_t seed)
{
	const struct rnn_hyper *r = hyper;
	struct params *p = params_new();
	add_linear(p, "in", d, d, 1);
	params_add(p, "adjacency.weight", (uint32_t)r->adjacency, d, PARAM_UNIFORM, 0.1f);
	return params_init(p, seed, EMBED_STREAMS);
}

static struct seq2seq shape(const struct rnn_hyper *r)
{
	return (struct seq2seq){
		.hidden = r->hidden, .aligned = r->aligned != 0, .gain = r->policy_gain};
}

static struct params *policy_init(const void *hyper, uint32_t d, uint32_t k, uint64_t seed)
{
	const struct seq2seq s = shape(hyper);
	struct params *p = params_new();
	seq2seq_add(p, &s, d, k);
	return params_init(p, seed, POLICY_STREAMS);
}

/* ---- groups and their embeddings ---- */

/* Edges u < v, ascending, where v is all that reads u. */
static uint32_t sole_consumers(const struct ugraph *g, struct arena *a, uint32_t **edge)
{
	uint32_t *readers = ARENA_NEWN(a, uint32_t, g->n), n = 0;
	*edge = arena_raw(a, g->m, sizeof **edge);
	for (uint32_t e = 0; e < g->m; e++)
		readers[g->u[e]]++;
	for (uint32_t e = 0; e < g->m; e++)
		if (readers[g->u[e]] == 1)
			(*edge)[n++] = e;
	return n;
}

/* One round of parsing, so that readers of the record can check what it made. */
static void colocate(struct tape *t, const struct net_model *m, const struct net_plan *plan,
		     struct partition *out)
{
	struct arena *a = tape_arena(t);
	const struct parse_limits lim = {.mask = plan->mask, .k = plan->k, .together = m->together};
	struct parse_round *round = ARENA_NEWN(a, struct parse_round, 1);
	uint32_t *edge, n = sole_consumers(m->graph, a, &edge);
	struct parsed by;
	parse_along(m->graph, edge, n, &lim, a, &by);
	*round = (struct parse_round){m->graph->n, by.n_kept, by.kept};
	*out = (struct partition){
		.n_rounds = 1, .round = round, .n_groups = by.n_groups, .group = by.group};
}

/* Seconds that one takes, drawn, replayed and differentiated, with what comes with it, on a Xeon of 2025. */
static const double TANH_S = 4e-10;

static int make_groups(struct tape *t, const struct net_model *m, const struct net_plan *plan,
		       struct partition *out, struct err *e)
{
	const struct rnn_hyper *h = m->hyper;
	if (plan->recorded)
		*out = *plan->recorded;
	else if (h->colocate && !plan->given)
		colocate(t, m, plan, out);
	else if (net_take_partition(t, m, plan, out, e) < 0)
		return -1;
	if (out->n_groups <= h->max_groups)
		return 0;
	double n_tanh = (double)out->n_groups * out->n_groups * (double)h->hidden;
	return err_set(
		e, ST_RUNTIME,
		"network 'rnn': %u groups are more than --max-groups %lld; attention compares "
		"each with each, %.2g tanh a placement, about %.0f s of a core; group them first "
		"(daggroup%s), or allow more",
		out->n_groups, (long long)h->max_groups, n_tanh, ceil(n_tanh * TANH_S),
		h->colocate || plan->given ? "" : ", --colocate 1");
}

static int embed(struct tape *t, const struct net_model *m, struct mat *const *p, struct mat *x,
		 const struct net_plan *plan, struct partition *out, struct embedding *z,
		 struct err *e)
{
	if (make_groups(t, m, plan, out, e) < 0)
		return -1;
	struct mat *mean = tape_segment_mean(t, x, out->group, out->n_groups, 0);
	struct mat *w = p[EMBED_ADJACENCY];
	uint32_t *row = arena_raw(tape_arena(t), out->n_groups, sizeof *row);
	for (uint32_t g = 0; g < out->n_groups; g++)
		row[g] = g % w->rows;
	z->z = tape_linear(t, mean, p[EMBED_WEIGHT], p[EMBED_BIAS], (struct after){0});
	z->z = seq2seq_adjacency(t, z->z, m->graph, out->group, row, w);
	return 0;
}

static void choose(struct tape *t, const struct net_model *m, struct mat *const *p, uint32_t n,
		   struct mat *const *z, struct choices *c)
{
	const struct seq2seq s = shape(m->hyper);
	seq2seq_choose(t, &s, p, n, z, c);
}

const struct net net_rnn = {
	.name = "rnn",
	.help = "recurrent placer: LSTM encoder, LSTM decoder with attention (2017)",
	.fields = fields,
	.hyper_size = sizeof(struct rnn_hyper),
	.defaults =
		{[RECIPE_DEFAULT] = &default_hyper, [RECIPE_PAPER] = &paper, [RECIPE_RNN] = &paper},
	.steady = true,
	.embed_init = embed_init,
	.policy_init = policy_init,
	.embed = embed,
	.choose = choose,
	.side_by_side = true,
};
