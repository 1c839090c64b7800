/* hierarchical.c - the Hierarchical Planner of Mirhoseini et al., "A Hierarchical Model for Device
 * Placement", ICLR 2018: a grouper that draws a group for every operation, and a recurrent placer.
 *
 *   H        = ReLU(LayerNorm(X W_1 + b + Dhat^-1/2 Ahat Dhat^-1/2 X W_2)), as a GCN mixes neighbours
 *   group v  ~ softmax(H W + b), one of `groups`
 *   Z'_g     = sum of X over the group W_x + b + sum of the rows of W_adj of the groups beside it
 *   log p    = log p(groups) + log p(devices), the devices by seq2seq.h with both_ways
 *
 * X has the operations' types and output shapes: the sums over a group are its counts of types and
 * its shapes.  Where no random numbers are drawn every operation is in its most probable group.
 * Groups that were given take the place of the grouper's.
 *
 * What is not the paper's: an operation sees the features of its neighbours instead of their numbers;
 * groups without operations are no places of the sequence; sets that no device can run together are
 * parted although they drew the same group. */
#include "learn/net/net_impl.h"
#include "learn/net/net_layer.h"
#include "learn/net/sampling.h"
#include "learn/net/seq2seq.h"

#include <string.h>

struct hierarchical_hyper {
	int64_t hidden;         /* width of the placer */
	int64_t hidden_grouper; /* width of the grouper */
	int64_t groups;         /* that the grouper can draw */
	int64_t aligned;        /* as in struct seq2seq */
	double tanh_constant;   /* as in struct seq2seq */
	double policy_gain;     /* factor on the initial bound of the policy's last layer */
	double noise;           /* bound of the noise on the logits */
	int64_t noise_episodes; /* in which there is some */
};

static const struct named_field fields[] = {
	SEQ2SEQ_FIELDS(struct hierarchical_hyper),
	FIELD_INT(struct hierarchical_hyper, hidden_grouper, 1, 4096, "width of the grouper"),
	FIELD_INT(struct hierarchical_hyper, groups, 1, 65535,
		  "groups that the grouper chooses from"),
	FIELD_REAL(struct hierarchical_hyper, tanh_constant, 0, 1000,
		   "bound of the logits; 0: none"),
	FIELD_REAL(struct hierarchical_hyper, noise, 0, 100,
		   "most that is added to or taken from a logit while training"),
	FIELD_INT(struct hierarchical_hyper, noise_episodes, 0, 1e9,
		  "in the first so many episodes"),
	{0},
};

static const struct hierarchical_hyper default_hyper = {
	.hidden = 128,
	.hidden_grouper = 64,
	.groups = 64,
	.aligned = 1,
	.policy_gain = 0.1,
};
static const struct hierarchical_hyper paper = {
	.hidden = 256,
	.hidden_grouper = 64,
	.groups = 256,
	.tanh_constant = 1,
	.policy_gain = 1,
	.noise = 0.1,
	.noise_episodes = 500,
};

/* ---- parameters ---- */

enum {
	OWN,
	OWN_BIAS,
	BESIDE,
	NORM_GAIN,
	NORM_BIAS,
	GROUP,
	GROUP_BIAS,
	EMBED_WEIGHT,
	EMBED_BIAS,
	EMBED_ADJACENCY
};

static struct params *embed_init(const void *hyper, uint32_t d, uint64_t seed)
{
	const struct hierarchical_hyper *r = hyper;
	struct params *p = params_new();
	uint32_t h = (uint32_t)r->hidden_grouper, groups = (uint32_t)r->groups;
	add_linear(p, "grouper.own", d, h, 1);
	params_add(p, "grouper.beside", d, h, PARAM_UNIFORM, 0.1f);
	add_norm(p, "grouper.norm", h);
	add_linear(p, "grouper.out", h, groups, 1);
	add_linear(p, "in", d, d, 1);
	params_add(p, "adjacency.weight", groups, d, PARAM_UNIFORM, 0.1f);
	return params_init(p, seed, EMBED_STREAMS);
}

static struct seq2seq shape(const struct hierarchical_hyper *r)
{
	return (struct seq2seq){.hidden = r->hidden,
				.both_ways = true,
				.aligned = r->aligned != 0,
				.tanh_constant = r->tanh_constant,
				.gain = r->policy_gain};
}

static struct params *policy_init(const void *hyper, uint32_t d, uint32_t k, uint64_t seed)
{
	const struct seq2seq s = shape(hyper);
	struct params *p = params_new();
	seq2seq_add(p, &s, d, k);
	return params_init(p, seed, POLICY_STREAMS);
}

/* ---- features ---- */

/* What all steps of an episode read.  Most columns of X are of types that no operation of the graph has: 0 for all of
 * them.  Products leave them out, with their rows of the weights. */
struct features {
	struct mat *x;                    /* the other columns, one at least */
	struct mat *own, *beside, *embed; /* their rows of the weights */
};

/* Columns of x that are not all 0.  Returns their number. */
static uint32_t live_columns(struct arena *a, const struct mat *x, uint32_t *column)
{
	bool *live = ARENA_NEWN(a, bool, x->cols);
	uint32_t n = 0;
	for (uint32_t i = 0; i < x->rows; i++)
		for (uint32_t j = 0; j < x->cols; j++)
			live[j] |= x->v[(size_t)i * x->cols + j] != 0;
	for (uint32_t j = 0; j < x->cols; j++)
		if (live[j])
			column[n++] = j;
	return n;
}

static struct features features_of(struct tape *t, struct mat *const *p, const struct mat *x)
{
	struct arena *a = tape_arena(t);
	uint32_t *column = ARENA_NEWN(a, uint32_t, x->cols), n = live_columns(a, x, column);
	n = n ? n : 1;
	float *v = arena_raw(a, (size_t)x->rows * n, sizeof *v);
	for (size_t i = 0; i < x->rows; i++)
		for (size_t j = 0; j < n; j++)
			v[i * n + j] = x->v[i * x->cols + column[j]];
	return (struct features){tape_input(t, v, x->rows, n), tape_gather(t, p[OWN], column, n),
				 tape_gather(t, p[BESIDE], column, n),
				 tape_gather(t, p[EMBED_WEIGHT], column, n)};
}

/* ---- the grouper ---- */

/* What draws a group: sets that must share one draw together. */
struct drawers {
	uint32_t n;
	uint32_t *of;    /* (sets) which of them draws for a set */
	uint32_t *first; /* (n) the first set of each */
};

static struct drawers drawers_of(struct arena *a, const struct net_model *m)
{
	uint32_t n = m->graph->n, top = 0;
	struct drawers d = {0, arena_raw(a, n, sizeof(uint32_t)),
			    arena_raw(a, n, sizeof(uint32_t))};
	for (uint32_t v = 0; m->together && v < n; v++)
		top = m->together[v] >= top ? m->together[v] + 1 : top;
	uint32_t *seen = ARENA_NEWN(a, uint32_t, top); /* its drawer + 1 */
	for (uint32_t v = 0; v < n; v++) {
		uint32_t *s = m->together ? &seen[m->together[v]] : NULL;
		if (s && *s) {
			d.of[v] = *s - 1;
			continue;
		}
		d.first[d.n] = v;
		d.of[v] = d.n++;
		if (s)
			*s = d.n;
	}
	return d;
}

/* (d.n, groups) log-probabilities */
static struct mat *group_policy(struct tape *t, const struct net_model *m, struct mat *const *p,
				const struct features *f, const struct drawers *d)
{
	const struct after none = {0}, relu = {.relu = true};
	struct mat *own = tape_linear(t, f->x, f->own, p[OWN_BIAS], none);
	struct mat *beside =
		tape_aggregate(t, m->graph, tape_matmul(t, f->x, f->beside), NULL, none);
	struct mat *h = tape_norm(t, own, beside, p[NORM_GAIN], p[NORM_BIAS], relu);
	struct mat *logits = tape_linear(t, h, p[GROUP], p[GROUP_BIAS], none);
	if (d->n < logits->rows)
		logits = tape_gather(t, logits, d->first, d->n);
	return tape_log_softmax(t, logits, NULL);
}

/* Devices of a drawer's sets: the union of what they lack is lacking. */
static uint8_t *drawer_masks(struct arena *a, const struct drawers *d, const uint8_t *mask,
			     uint32_t n, uint32_t k)
{
	uint8_t *out = arena_raw(a, (size_t)d->n * k, 1);
	memset(out, 1, (size_t)d->n * k);
	for (size_t v = 0; v < n; v++)
		for (size_t j = 0; j < k; j++)
			out[(size_t)d->of[v] * k + j] &= mask[v * k + j] != 0;
	return out;
}

/* The partition in which drawers are together that drew the same and can run on the same devices. */
static void partition_of(struct arena *a, const struct net_model *m, const struct net_plan *plan,
			 const struct drawers *d, const uint16_t *drawn, uint32_t groups,
			 struct partition *out)
{
	uint32_t n = m->graph->n, k = plan->k;
	uint8_t *can = plan->mask ? drawer_masks(a, d, plan->mask, n, k) : NULL;
	uint32_t *group_of = arena_raw(a, d->n, sizeof *group_of);
	uint32_t *label = arena_raw(a, d->n, sizeof *label), *example = arena_raw(a, d->n, 4);
	uint32_t *newest = ARENA_NEWN(a, uint32_t, groups), *older = ARENA_NEWN(a, uint32_t, d->n);
	uint32_t *group = arena_raw(a, n, sizeof *group), n_groups = 0;
	for (uint32_t i = 0; i < d->n; i++) { /* groups by label: a chain of number + 1 */
		uint32_t g = newest[drawn[i]];
		while (g && can && memcmp(can + (size_t)example[g - 1] * k, can + (size_t)i * k, k))
			g = older[g - 1];
		if (!g) {
			label[n_groups] = drawn[i];
			example[n_groups] = i;
			older[n_groups] = newest[drawn[i]];
			g = newest[drawn[i]] = ++n_groups;
		}
		group_of[i] = g - 1;
	}
	for (uint32_t v = 0; v < n; v++)
		group[v] = group_of[d->of[v]];
	*out = (struct partition){.n_groups = n_groups, .group = group, .label = label};
}

/* What all steps of an episode have in common. */
struct common {
	struct features f;
	struct drawers d;
	struct mat *logp; /* (d.n, groups); NULL until groups are drawn */
	double *sums;     /* of their probabilities (sampling.h); NULL until they are drawn now */
};

static struct common *common_of(struct tape *t, struct mat *const *p, struct mat *x, void **common)
{
	if (*common)
		return *common;
	struct common *c = ARENA_NEWN(tape_arena(t), struct common, 1);
	c->f = features_of(t, p, x);
	return *common = c;
}

static void ask_grouper(struct tape *t, const struct net_model *m, struct mat *const *p,
			struct common *c)
{
	if (c->logp)
		return;
	c->d = drawers_of(tape_arena(t), m);
	c->logp = group_policy(t, m, p, &c->f, &c->d);
}

/* What the drawers drew: from the record, or now. */
static int draw_groups(struct tape *t, const struct net_plan *plan, struct common *c,
		       uint16_t *drawn, struct err *e)
{
	const struct partition *r = plan->recorded;
	const struct drawers *d = &c->d;
	const struct mat *logp = c->logp;
	for (uint32_t i = 0; r && i < d->n; i++) {
		uint32_t label = r->label[r->group[d->first[i]]];
		if (label >= logp->cols)
			return err_set(e, ST_INPUT, "label %u of a group, of %u", label,
				       logp->cols);
		drawn[i] = (uint16_t)label;
	}
	if (r)
		return 0;
	if (!plan->rng) {
		most_probable_actions(logp->v, d->n, logp->cols, drawn);
		return 0;
	}
	struct rng_addr at = *plan->rng;
	at.stream = RNG_SEARCH;
	if (!c->sums) {
		c->sums = arena_raw(tape_arena(t), (size_t)d->n * logp->cols, sizeof *c->sums);
		sampling_sums(c->sums, logp->v, d->n, logp->cols);
	}
	sample_by_sums(c->sums, d->n, logp->cols, &at, drawn);
	return 0;
}

/* The partition and its log-probability. */
static int group_sets(struct tape *t, const struct net_model *m, struct mat *const *p,
		      struct common *c, const struct net_plan *plan, struct partition *out,
		      struct mat **logp, struct err *e)
{
	struct arena *a = tape_arena(t);
	ask_grouper(t, m, p, c);
	uint16_t *drawn = arena_raw(a, c->d.n, sizeof *drawn);
	if (draw_groups(t, plan, c, drawn, e) < 0)
		return -1;
	if (plan->recorded)
		*out = *plan->recorded;
	else
		partition_of(a, m, plan, &c->d, drawn, c->logp->cols, out);
	*logp = tape_pick(t, c->logp, drawn, NULL);
	return 0;
}

static int embed(struct tape *t, const struct net_model *m, struct mat *const *p, struct mat *x,
		 const struct net_plan *plan, struct partition *out, struct embedding *z,
		 struct err *e)
{
	bool draws = plan->recorded ? plan->recorded->label != NULL : !plan->given;
	struct common *c = common_of(t, p, x, plan->common);
	int rc = draws ? group_sets(t, m, p, c, plan, out, &z->logp, e)
		       : net_take_partition(t, m, plan, out, e);
	if (rc < 0)
		return -1;
	struct mat *sum = tape_segment_sum(t, c->f.x, out->group, out->n_groups, 0);
	struct mat *w = p[EMBED_ADJACENCY];
	uint32_t *row = arena_raw(tape_arena(t), out->n_groups, sizeof *row);
	for (uint32_t g = 0; g < out->n_groups; g++)
		row[g] = (draws ? out->label[g] : g) % w->rows;
	z->z = tape_linear(t, sum, c->f.embed, p[EMBED_BIAS], (struct after){0});
	z->z = seq2seq_adjacency(t, z->z, m->graph, out->group, row, w);
	return 0;
}

static void choose(struct tape *t, const struct net_model *m, struct mat *const *p, uint32_t n,
		   struct mat *const *z, struct choices *c)
{
	const struct seq2seq s = shape(m->hyper);
	seq2seq_choose(t, &s, p, n, z, c);
}

static double noise(const void *hyper, uint32_t episode)
{
	const struct hierarchical_hyper *h = hyper;
	return episode <= (uint64_t)h->noise_episodes ? h->noise : 0;
}

const struct net net_hierarchical = {
	.name = "hierarchical",
	.help = "Hierarchical Planner: a grouper that draws, a recurrent placer",
	.fields = fields,
	.hyper_size = sizeof(struct hierarchical_hyper),
	.defaults = {[RECIPE_DEFAULT] = &default_hyper,
		     [RECIPE_PAPER] = &paper,
		     [RECIPE_HIERARCHICAL] = &paper},
	.noise = noise,
	.steady = true,
	.embed_init = embed_init,
	.policy_init = policy_init,
	.embed = embed,
	.choose = choose,
	.side_by_side = true,
};
