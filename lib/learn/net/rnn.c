/* rnn.c - the recurrent placer of Mirhoseini et al., "Device Placement Optimization with
 * Reinforcement Learning", ICML 2017: a sequence of operations in, a sequence of devices out.
 *
 *   groups     what one operation alone reads is in the group of that operation
 *   Z'_g       = mean of X over the group W_x + sum over the groups beside it of their row of W_adj + b
 *   e_g        = LSTM_enc(LayerNorm(Z'_g))                    g = 1 .. G, in topological order
 *   s_g        = LSTM_dec(E[device of group g-1])             begins with the encoder's last state
 *   a_g        = sum over j of softmax_j(v . tanh(s_g W_q + e_j W_k)) e_j
 *   log p_g    = log softmax(s_g W_s + a_g W_a + b)
 *
 * X has the operations' types and output shapes, the rows of W_adj are the adjacency: a one-hot
 * vector over the groups times a matrix.  Group g has row g mod `adjacency`.
 *
 * What is not the paper's: the LayerNorm, without which dims as they are saturate the gates; and
 * with `aligned` the decoder reads e_g, too, so that it need not find its own place by content. */
#include "learn/net/net_impl.h"
#include "learn/net/net_layer.h"
#include "learn/net/parsing.h"

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
	FIELD_INT(struct rnn_hyper, hidden, 1, 4096, "width of the recurrent layers"),
	FIELD_INT(struct rnn_hyper, adjacency, 1, 1e6, "groups that the adjacency tells apart"),
	FIELD_INT(struct rnn_hyper, colocate, 0, 1,
		  "1: what one set alone reads is in its group; 0: every set is a group"),
	FIELD_INT(struct rnn_hyper, aligned, 0, 1,
		  "1: the decoder reads the encoder's state of its own group, too"),
	FIELD_INT(struct rnn_hyper, max_groups, 1, 1e9,
		  "more groups are refused: attention compares each with each"),
	FIELD_REAL(struct rnn_hyper, policy_gain, 0, 100,
		   "factor on the initial weights of the policy's last layer"),
	{0},
};

static const struct rnn_hyper default_hyper = {
	.hidden = 128,
	.adjacency = 1024,
	.colocate = 1,
	.aligned = 1,
	.max_groups = 10000,
	.policy_gain = 0.1,
};
static const struct rnn_hyper paper = {
	.hidden = 256,
	.adjacency = 1024,
	.colocate = 1,
	.aligned = 0,
	.max_groups = 10000,
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
	params_alloc(p);
	params_init(p, seed, EMBED_STREAMS);
	return p;
}

enum {
	NORM_GAIN,
	NORM_BIAS,
	ENC_IN,
	ENC_BIAS,
	ENC_STATE,
	DEVICE,
	DEC_IN,
	DEC_BIAS,
	DEC_STATE,
	ATT_QUERY,
	ATT_KEY,
	ATT_V,
	OUT_STATE,
	OUT_BIAS,
	OUT_CONTEXT,
	DEC_OWN /* with `aligned` */
};

/* A weight matrix without bias, as add_linear makes it. */
static void add_weight(struct params *p, const char *name, uint32_t in, uint32_t out, double gain)
{
	params_add(p, name, in, out, PARAM_UNIFORM, (float)(gain / sqrt(in)));
}

static struct params *policy_init(const void *hyper, uint32_t d, uint32_t k, uint64_t seed)
{
	const struct rnn_hyper *r = hyper;
	struct params *p = params_new();
	uint32_t h = (uint32_t)r->hidden;
	add_norm(p, "policy.norm", d);
	add_linear(p, "encoder.in", d, 4 * h, 1);
	add_weight(p, "encoder.state", h, 4 * h, 1);
	add_weight(p, "device", k + 1, h, sqrt(k + 1));
	add_linear(p, "decoder.in", h, 4 * h, 1);
	add_weight(p, "decoder.state", h, 4 * h, 1);
	add_weight(p, "attention.query", h, h, 1);
	add_weight(p, "attention.key", h, h, 1);
	add_weight(p, "attention.v", 1, h, 1 / sqrt(h));
	add_linear(p, "out.state", h, k, r->policy_gain);
	add_weight(p, "out.context", h, k, r->policy_gain);
	if (r->aligned)
		add_weight(p, "decoder.own", h, 4 * h, 1);
	params_alloc(p);
	params_init(p, seed, POLICY_STREAMS);
	return p;
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
	return err_set(
		e, ST_RUNTIME,
		"network 'rnn': %u groups are more than --max-groups %lld; attention compares "
		"each with each, %.2g tanh a placement; group them first (daggroup)",
		out->n_groups, (long long)h->max_groups,
		(double)out->n_groups * out->n_groups * (double)h->hidden);
}

/* (n_groups,d) sum of the rows of W_adj of the groups beside each; NULL: there are no edges. */
static struct mat *adjacency(struct tape *t, const struct ugraph *graph, const struct partition *by,
			     struct mat *w)
{
	struct arena *a = tape_arena(t);
	struct ugraph q;
	ugraph_quotient(&q, graph, by->group, by->n_groups, a);
	uint32_t n = 0, *row = arena_raw(a, 2 * (size_t)q.m, sizeof *row);
	uint32_t *at = arena_raw(a, 2 * (size_t)q.m, sizeof *at);
	for (uint32_t g = 0; g < q.n; g++)
		for (uint32_t i = q.ptr[g]; i < q.ptr[g + 1]; i++)
			if (q.adj[i] != g) {
				row[n] = q.adj[i] % w->rows;
				at[n++] = g;
			}
	if (n == 0)
		return NULL;
	struct mat *beside = tape_gather(t, w, row, n);
	struct mat *sum = tape_segment_sum(t, beside, at, by->n_groups, 0);
	tape_done(t, beside);
	return sum;
}

static int embed(struct tape *t, const struct net_model *m, struct mat *const *p, struct mat *x,
		 const struct net_plan *plan, struct partition *out, struct mat **z, struct err *e)
{
	if (make_groups(t, m, plan, out, e) < 0)
		return -1;
	struct mat *mean = tape_segment_mean(t, x, out->group, out->n_groups, 0);
	struct mat *beside = adjacency(t, m->graph, out, p[EMBED_ADJACENCY]);
	*z = tape_linear(t, mean, p[EMBED_WEIGHT], p[EMBED_BIAS], (struct after){0});
	if (beside)
		*z = tape_add(t, *z, beside);
	return 0;
}

/* ---- encoder, decoder ---- */

/* x + y, which have no other use */
static struct mat *add_done(struct tape *t, struct mat *x, struct mat *y)
{
	struct mat *sum = tape_add(t, x, y);
	tape_done(t, x);
	tape_done(t, y);
	return sum;
}

/* n rows, the same one n times */
static struct mat *repeat(struct tape *t, struct mat *x, uint32_t row, uint32_t n)
{
	uint32_t *index = arena_raw(tape_arena(t), n, sizeof *index);
	for (uint32_t i = 0; i < n; i++)
		index[i] = row;
	return tape_gather(t, x, index, n);
}

/* The last n rows. */
static struct mat *last_rows(struct tape *t, struct mat *x, uint32_t n)
{
	uint32_t *index = arena_raw(tape_arena(t), n, sizeof *index);
	for (uint32_t i = 0; i < n; i++)
		index[i] = x->rows - n + i;
	return tape_gather(t, x, index, n);
}

/* Each of the rows [first, first + n) as often as there are samples. */
static struct mat *rows_of(struct tape *t, struct mat *x, uint32_t first, uint32_t n,
			   uint32_t samples)
{
	uint32_t *index = arena_raw(tape_arena(t), (size_t)n * samples, sizeof *index);
	for (uint32_t i = 0; i < n * samples; i++)
		index[i] = first + i / samples;
	return tape_gather(t, x, index, n * samples);
}

static void choose(struct tape *t, const struct net_model *m, struct mat *const *p, struct mat *z,
		   struct choices *c)
{
	const struct rnn_hyper *r = m->hyper;
	uint32_t h = (uint32_t)r->hidden, samples = c->n_samples;
	const struct after none = {0};
	struct mat *x = tape_norm(t, z, NULL, p[NORM_GAIN], p[NORM_BIAS], none);
	x = tape_linear(t, x, p[ENC_IN], p[ENC_BIAS], none);
	struct mat *run = tape_lstm(t, x, p[ENC_STATE], NULL, 1, false); /* [h | c] */
	struct mat *enc = tape_columns(t, run, 0, h);
	struct mat *keys = tape_matmul(t, enc, p[ATT_KEY]);
	struct mat *own = r->aligned ? tape_matmul(t, enc, p[DEC_OWN]) : NULL;
	struct mat *device = tape_linear(t, p[DEVICE], p[DEC_IN], p[DEC_BIAS], none);
	struct mat *state = repeat(t, run, z->rows - 1, samples);

	for (uint32_t at = 0, n; (n = choices_run(c, at)) > 0; at += n) {
		struct mat *in = tape_gather(t, device, choices_before(c, at, n), n * samples);
		if (own)
			in = add_done(t, in, rows_of(t, own, at, n, samples));
		struct mat *next = tape_lstm(t, in, p[DEC_STATE], state, samples, false);
		struct mat *s = tape_columns(t, next, 0, h);
		struct mat *q = tape_matmul(t, s, p[ATT_QUERY]);
		struct mat *context = tape_attend(t, q, keys, enc, p[ATT_V]);
		struct mat *logits = add_done(t, tape_linear(t, s, p[OUT_STATE], p[OUT_BIAS], none),
					      tape_matmul(t, context, p[OUT_CONTEXT]));
		choices_take(c, at, n, logits);
		tape_done(t, logits);
		tape_done(t, in);
		tape_done(t, s);
		tape_done(t, q);
		tape_done(t, context);
		tape_done(t, state);
		state = last_rows(t, next, samples);
		tape_done(t, next);
	}
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
};
