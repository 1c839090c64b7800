/* mlp.c - a network that sees every co-located set by itself: no messages pass along the edges and
 * nothing is parsed.  It is the control for gpn: what gpn finds beyond it comes from the graph.
 *
 *   H       = MLP_in(X)
 *   Z'      = MLP_out(mean of H over each group)
 *   log p   = log softmax(MLP_policy(LayerNorm(Z')))
 *
 * The groups are those of net_take_partition: given, or the sets that must share a device, or
 * every set for itself. */
#include "learn/net/net_impl.h"
#include "learn/net/net_layer.h"

struct mlp_hyper {
	int64_t hidden;     /* width h */
	int64_t layers;     /* Linear layers of MLP_in and of MLP_out */
	double dropout;     /* probability that an activation is dropped */
	double policy_gain; /* factor on the initial bound of the policy's last layer */
};

static const struct named_field fields[] = {
	FIELD_INT(struct mlp_hyper, hidden, 1, 4096, "width of the hidden layers"),
	FIELD_INT(struct mlp_hyper, layers, 1, 16, "layers in front of and behind the groups"),
	FIELD_REAL(struct mlp_hyper, dropout, 0, 0.95, "probability that an activation is dropped"),
	FIELD_REAL(struct mlp_hyper, policy_gain, 0, 100,
		   "factor on the initial weights of the policy's last layer"),
	{0},
};

/* Same defaults as gpn. */
static const struct mlp_hyper default_hyper = {
	.hidden = 128,
	.layers = 2,
	.dropout = 0.1,
	.policy_gain = 0.1,
};
static const struct mlp_hyper paper = {
	.hidden = 128,
	.layers = 2,
	.dropout = 0.2,
	.policy_gain = 1,
};

static struct params *embed_init(const void *hyper, uint32_t d, uint64_t seed)
{
	const struct mlp_hyper *m = hyper;
	struct params *p = params_new();
	uint32_t h = (uint32_t)m->hidden;
	add_normed_mlp(p, "in", m->layers, d, h);
	add_plain_mlp(p, "out", m->layers, h, h, d, 1);
	return params_init(p, seed, EMBED_STREAMS);
}

static struct params *policy_init(const void *hyper, uint32_t d, uint32_t k, uint64_t seed)
{
	const struct mlp_hyper *m = hyper;
	struct params *p = params_new();
	add_norm(p, "policy.norm", d);
	add_plain_mlp(p, "policy", 2, d, (uint32_t)m->hidden, k, m->policy_gain);
	return params_init(p, seed, POLICY_STREAMS);
}

static int embed(struct tape *t, const struct net_model *m, struct mat *const *p, struct mat *x,
		 const struct net_plan *plan, struct partition *out, struct embedding *z,
		 struct err *e)
{
	const struct mlp_hyper *h = m->hyper;
	if (net_take_partition(t, m, plan, out, e) < 0)
		return -1;
	tape_mask_from(t, 0);
	struct mat *y = normed_mlp(t, p, h->layers, h->dropout, x);
	struct mat *mean = tape_segment_mean(t, y, out->group, out->n_groups, 0);
	tape_done(t, y);
	p += MATS_NORMED * h->layers;
	z->z = plain_mlp(t, p, h->layers, h->dropout, (struct after){0}, mean);
	return 0;
}

static struct mat *policy(struct tape *t, const struct net_model *m, struct mat *const *p,
			  struct mat *z)
{
	(void)m;
	z = tape_norm(t, z, NULL, p[0], p[1], (struct after){0});
	return plain_mlp(t, p + MATS_NORM, 2, 0, (struct after){0}, z);
}

const struct net net_mlp = {
	.name = "mlp",
	.help = "each set by itself: no message passing, no parsing; a control",
	.fields = fields,
	.hyper_size = sizeof(struct mlp_hyper),
	.defaults = {[RECIPE_DEFAULT] = &default_hyper, [RECIPE_PAPER] = &paper},
	.embed_init = embed_init,
	.policy_init = policy_init,
	.embed = embed,
	.policy = policy,
};
