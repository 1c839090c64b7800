/* placeto.c - Placeto of Addanki et al., "Placeto: Learning Generalizable Device Placement Algorithms for
 * Distributed Machine Learning", NeurIPS 2019: the groups are visited in topological order, and the one
 * that is visited is placed anew, in sight of where all the others are.
 *
 *   Z'_g   = S(sum of X over the group) W_x + b, S: every column with mean 0 and deviation 1 over the groups
 *   x_g    = LayerNorm(Z'_g) W + b + E[device of g now, g is yet to be visited, visited now, or was]
 *   e_g    = g(sum of f(e_u) over the parents u) + x_g, `rounds` times from e = x; and once more, with f
 *            and g of their own, over the children u
 *   f(e)   = ReLU(e W_f + b_f),  g(s) = ReLU(LayerNorm(s W_g + b_g));  below, e = [e down | e up]
 *   p      = [e_v | mean of e over its ancestors | its descendants | all others] for the visited v
 *   logits = ReLU(p W_1 + b_1) W_2 + b_2
 *
 * A visit is a choice in turn (choices.h).  The messages of every visit pass anew: nothing is kept of
 * those of the one before.  A replay has the messages of a few visits at a time in memory.
 *
 * X has an operation's type and output shapes, and with `dagfeat --features all,costs` its costs.  What is
 * not the paper's: the start times of the last run are not in sight; S, without which groups of
 * one graph look all alike, and are placed alike; LayerNorms, without which sums over
 * many parents grow from round to round; means in place of sums in p; groups that are joined along edges
 * until there are `groups` at most. */
#include "learn/net/net_impl.h"
#include "learn/net/net_layer.h"
#include "learn/net/parsing.h"

#include "base/disjoint.h"

#include <math.h>
#include <assert.h>
#include <string.h>

struct placeto_hyper {
	int64_t hidden;     /* h */
	int64_t rounds;     /* of messages */
	int64_t standard;   /* 1: S, 0: sums as they are */
	int64_t groups;     /* sets are joined until there are so many; 0: every set by itself */
	int64_t max_groups; /* more are refused */
	double policy_gain; /* factor on the initial bound of W_2 */
};

static const struct named_field fields[] = {
	FIELD_INT(struct placeto_hyper, hidden, 1, 4096, "width of the messages"),
	FIELD_INT(struct placeto_hyper, rounds, 0, 1000, "rounds of messages, each way"),
	FIELD_INT(struct placeto_hyper, standard, 0, 1,
		  "1: features have mean 0 and deviation 1 over the groups of a graph"),
	FIELD_INT(
		struct placeto_hyper, groups, 0, 1e9,
		"sets are joined along edges until there are so many groups; 0: every set is one"),
	FIELD_INT(struct placeto_hyper, max_groups, 1, 1e9,
		  "more groups are refused: each visit passes messages through all"),
	FIELD_REAL(struct placeto_hyper, policy_gain, 0, 100,
		   "factor on the initial weights of the policy's last layer"),
	{0},
};

static const struct placeto_hyper default_hyper = {
	.hidden = 32,
	.rounds = 8,
	.standard = 1,
	.groups = 100,
	.max_groups = 4000,
	.policy_gain = 0.1,
};
static const struct placeto_hyper paper = {
	.hidden = 32,
	.rounds = 8,
	.standard = 1,
	.groups = 100,
	.max_groups = 4000,
	.policy_gain = 1,
};

/* ---- parameters ---- */

enum { EMBED_WEIGHT, EMBED_BIAS };

static struct params *embed_init(const void *hyper, uint32_t d, uint64_t seed)
{
	(void)hyper;
	struct params *p = params_new();
	add_linear(p, "in", d, d, 1);
	return params_init(p, seed, EMBED_STREAMS);
}

/* What a group is with respect to the visit. */
enum { TO_COME, VISITED_NOW, VISITED, N_STATES };
/* What is pooled on its own. */
enum { ITSELF, ANCESTORS, DESCENDANTS, OTHERS, N_POOLS };
enum { OUT_LAYERS = 2 };

/* Of the policy. */
enum { NORM_GAIN, NORM_BIAS, IN_WEIGHT, IN_BIAS, OF_VISITS };
/* Of the messages one way. */
enum { F_WEIGHT, F_BIAS, G_WEIGHT, G_BIAS, G_GAIN, G_NORM_BIAS, MATS_WAY };
/* What visits need of the tape: x without the state of the visit, then the policy's from OF_VISITS on. */
enum { FIXED, STATE, WAYS, OUT = WAYS + 2 * MATS_WAY, N_INPUTS = OUT + OUT_LAYERS * MATS_PLAIN };

static struct params *policy_init(const void *hyper, uint32_t d, uint32_t k, uint64_t seed)
{
	static const char *const way[2][3] = {{"down.f", "down.g", "down.g.norm"},
					      {"up.f", "up.g", "up.g.norm"}};
	const struct placeto_hyper *r = hyper;
	uint32_t h = (uint32_t)r->hidden;
	struct params *p = params_new();
	add_norm(p, "policy.norm", d);
	add_linear(p, "policy.in", d, h, 1);
	params_add(p, "state", N_STATES * k, h, PARAM_UNIFORM, 1);
	for (int i = 0; i < 2; i++) {
		add_linear(p, way[i][0], h, h, 1);
		add_linear(p, way[i][1], h, h, 1);
		add_norm(p, way[i][2], h);
	}
	add_plain_mlp(p, "out", OUT_LAYERS, N_POOLS * 2 * h, h, k, r->policy_gain);
	return params_init(p, seed, POLICY_STREAMS);
}

/* ---- groups and what is known of them before any visit ---- */

/* Edges along which sets are joined, one mark for each, so that no group has more than `most` of the
 * sets: first those to the only reader of a set, then all.  Returns how many groups there are. */
static uint32_t join_sets(const struct ugraph *g, const uint32_t *readers, uint32_t most,
			  uint32_t *up, uint32_t *size, uint8_t *mark)
{
	uint32_t n = g->n;
	memset(mark, 0, g->m);
	for (uint32_t i = 0; i < g->n; i++) {
		up[i] = i;
		size[i] = 1;
	}
	for (int all = 0; all < 2; all++)
		for (uint32_t e = 0; e < g->m; e++) {
			if (!all && readers[g->u[e]] > 1)
				continue;
			uint32_t u = disjoint_find(up, g->u[e]), v = disjoint_find(up, g->v[e]);
			uint32_t both = size[u] + size[v];
			if (u == v || both > most)
				continue;
			disjoint_join(up, u, v);
			size[disjoint_find(up, u)] = both;
			mark[e] = 1;
			n--;
		}
	return n;
}

/* One round of parsing, so that readers of the record can check what it made.  The largest group
 * doubles until there are few enough. */
static void join_groups(struct tape *t, const struct net_model *m, const struct net_plan *plan,
			struct partition *out)
{
	const struct placeto_hyper *h = m->hyper;
	const struct ugraph *g = m->graph;
	struct arena *a = tape_arena(t);
	const struct parse_limits lim = {.mask = plan->mask, .k = plan->k, .together = m->together};
	struct parse_round *round = ARENA_NEWN(a, struct parse_round, 1);
	uint32_t *up = arena_raw(a, g->n, sizeof *up), *size = arena_raw(a, g->n, sizeof *size);
	uint32_t *readers = ARENA_NEWN(a, uint32_t, g->n), *edge = arena_raw(a, g->m, sizeof *edge);
	uint8_t *mark = ARENA_NEWN(a, uint8_t, g->m);
	struct parsed by;
	for (uint32_t e = 0; e < g->m; e++)
		readers[g->u[e]]++;
	uint32_t n = 0;
	for (uint64_t most = 2; h->groups > 0 && most < 2 * (uint64_t)g->n; most *= 2) {
		uint32_t cap = most < g->n ? (uint32_t)most : g->n;
		if (g->n <= h->groups || join_sets(g, readers, cap, up, size, mark) <= h->groups)
			break;
	}
	for (uint32_t e = 0; e < g->m; e++)
		if (mark[e])
			edge[n++] = e;
	parse_along(g, edge, n, &lim, a, &by);
	*round = (struct parse_round){g->n, by.n_kept, by.kept};
	*out = (struct partition){
		.n_rounds = 1, .round = round, .n_groups = by.n_groups, .group = by.group};
}

/* S: a column that hardly differs stays small. */
static struct mat *standard(struct tape *t, const struct mat *x)
{
	const double least = 0.01; /* deviation */
	uint32_t n = x->rows, d = x->cols;
	float *out = arena_raw(tape_arena(t), (size_t)n * d, sizeof *out);
	for (uint32_t j = 0; j < d; j++) {
		const float *column = x->v + j;
		double sum = 0, sum2 = 0;
		for (size_t i = 0; i < n; i++)
			sum += (double)column[i * d];
		double mean = sum / n;
		for (size_t i = 0; i < n; i++)
			sum2 += ((double)column[i * d] - mean) * ((double)column[i * d] - mean);
		double scale = 1 / (sqrt(sum2 / n) + least);
		for (size_t i = 0; i < n; i++)
			out[i * d + j] = (float)(((double)column[i * d] - mean) * scale);
	}
	return tape_input(t, out, n, d); /* nothing is learned behind it */
}

static int embed(struct tape *t, const struct net_model *m, struct mat *const *p, struct mat *x,
		 const struct net_plan *plan, struct partition *out, struct embedding *z,
		 struct err *e)
{
	const struct placeto_hyper *h = m->hyper;
	if (plan->recorded)
		*out = *plan->recorded;
	else if (!plan->given)
		join_groups(t, m, plan, out);
	else if (net_take_partition(t, m, plan, out, e) < 0)
		return -1;
	if (out->n_groups > h->max_groups)
		return err_set(e, ST_RUNTIME,
			       "network 'placeto': %u groups are more than --max-groups %lld; each "
			       "of %u visits passes messages through all, %.2g multiplications a "
			       "placement; join more (--groups, daggroup)",
			       out->n_groups, (long long)h->max_groups, out->n_groups,
			       4.0 * out->n_groups * out->n_groups * (double)h->rounds *
				       (double)(h->hidden * h->hidden));
	struct mat *sum = tape_segment_sum(t, x, out->group, out->n_groups, 0);
	if (h->standard)
		sum = standard(t, sum);
	z->z = tape_linear(t, sum, p[EMBED_WEIGHT], p[EMBED_BIAS], (struct after){0});
	return 0;
}

/* ---- visits ---- */

/* Some visits in a row. */
struct visits {
	const struct placeto_hyper *h;
	struct choices c;
	struct hearing along; /* the graph of the groups */
	uint32_t at;          /* the first group that is visited */
};

/* (visits * n_groups) rows of x without state, and of E. */
static void rows_of_x(const struct visits *w, struct arena *a, uint32_t first, uint32_t n,
		      uint32_t **fixed, uint32_t **state)
{
	const struct choices *c = &w->c;
	uint32_t groups = c->n_groups, samples = c->n_samples;
	uint16_t *device = arena_raw(a, groups, sizeof *device);
	*fixed = arena_raw(a, (size_t)n * groups, sizeof **fixed);
	*state = arena_raw(a, (size_t)n * groups, sizeof **state);
	for (uint32_t i = 0, at = 0; i < n; i++) {
		uint32_t now = w->at + (first + i) / samples;
		choices_now(c, (first + i) % samples, now, device);
		for (uint32_t g = 0; g < groups; g++, at++) {
			(*fixed)[at] = g;
			(*state)[at] = (uint32_t)device[g] * N_STATES + (g < now    ? VISITED
									 : g == now ? VISITED_NOW
										    : TO_COME);
		}
	}
}

static struct mat *pass_messages(struct tape *t, const struct visits *w, struct mat *const *p,
				 struct mat *x, bool up)
{
	const struct after relu = {.relu = true};
	struct mat *e = x;
	for (int64_t i = 0; i < w->h->rounds; i++) {
		struct mat *f = tape_linear(t, e, p[F_WEIGHT], p[F_BIAS], relu);
		struct mat *heard = tape_hear(t, f, &w->along, up);
		struct mat *g = tape_linear_norm(t, heard, p[G_WEIGHT], p[G_BIAS], NULL, p[G_GAIN],
						 p[G_NORM_BIAS], relu);
		tape_done(t, f);
		tape_done(t, heard);
		if (e != x)
			tape_done(t, e);
		e = tape_add(t, g, x);
		tape_done(t, g);
	}
	return e;
}

/* (visits * n_groups) the pool of every row: those of visit i are i * N_POOLS + ... */
static uint32_t *pools_of(const struct visits *w, struct arena *a, uint32_t first, uint32_t n)
{
	uint32_t groups = w->c.n_groups;
	uint32_t *pool = arena_raw(a, (size_t)n * groups, sizeof *pool);
	uint32_t *list = arena_raw(a, groups, sizeof *list);
	uint8_t *before = arena_raw(a, groups, 1), *behind = arena_raw(a, groups, 1);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t now = w->at + (first + i) / w->c.n_samples;
		memset(before, 0, groups);
		memset(behind, 0, groups);
		hearing_reach(&w->along, 0, now, before, list);
		hearing_reach(&w->along, 1, now, behind, list);
		for (uint32_t g = 0; g < groups; g++)
			pool[(size_t)i * groups + g] =
				i * N_POOLS + (g == now                 ? ITSELF
					       : before[g] == behind[g] ? OTHERS
					       : before[g]              ? ANCESTORS
									: DESCENDANTS);
	}
	return pool;
}

/* (visits, 8 h) */
static struct mat *pool(struct tape *t, const struct visits *w, struct mat *e, uint32_t first,
			uint32_t n)
{
	struct arena *a = tape_arena(t);
	struct mat *mean = tape_segment_mean(t, e, pools_of(w, a, first, n), n * N_POOLS, 0),
		   *out = NULL;
	for (uint32_t j = 0; j < N_POOLS; j++) {
		uint32_t *row = arena_raw(a, n, sizeof *row);
		for (uint32_t i = 0; i < n; i++)
			row[i] = i * N_POOLS + j;
		struct mat *one = tape_gather(t, mean, row, n);
		out = out ? tape_beside(t, out, one) : one;
	}
	return out;
}

/* Logits of some visits. */
static struct mat *visit(struct tape *t, const void *arg, struct mat *const *p, uint32_t first,
			 uint32_t n)
{
	const struct visits *w = arg;
	uint32_t *fixed, *state, rows = n * w->c.n_groups;
	rows_of_x(w, tape_arena(t), first, n, &fixed, &state);
	struct mat *x = tape_add(t, tape_gather(t, p[FIXED], fixed, rows),
				 tape_gather(t, p[STATE], state, rows));
	struct mat *down = pass_messages(t, w, p + WAYS, x, false);
	struct mat *up = pass_messages(t, w, p + WAYS + MATS_WAY, x, true);
	struct mat *pooled = pool(t, w, tape_beside(t, down, up), first, n);
	return plain_mlp(t, p + OUT, OUT_LAYERS, 0, (struct after){0}, pooled);
}

static void choose(struct tape *t, const struct net_model *m, struct mat *const *p,
		   uint32_t n_steps, struct mat *const *z, struct choices *c)
{
	assert(n_steps == 1);
	enum { ROWS_AT_ONCE = 1024 };
	const struct after none = {0};
	struct arena *a = tape_arena(t);
	struct hearing along;
	hearing_of_groups(&along, m->graph, c->group, c->n_groups, a);
	struct mat *x = tape_norm(t, z[0], NULL, p[NORM_GAIN], p[NORM_BIAS], none);
	struct mat **in = ARENA_NEWN(a, struct mat *, N_INPUTS);
	in[FIXED] = tape_linear(t, x, p[IN_WEIGHT], p[IN_BIAS], none);
	memcpy(in + STATE, p + OF_VISITS, (N_INPUTS - STATE) * sizeof(struct mat *));
	uint32_t most = 1 + ROWS_AT_ONCE / (1 + c->n_groups);
	for (uint32_t at = 0, n; (n = choices_run(c, at)) > 0; at += n) {
		struct visits *w = ARENA_NEWN(a, struct visits, 1);
		*w = (struct visits){m->hyper, *c, along, at};
		struct mat *logits =
			tape_again(t, n * c->n_samples, c->k, most, visit, w, N_INPUTS, in);
		choices_take(c, at, n, logits);
		tape_done(t, logits);
	}
}

const struct net net_placeto = {
	.name = "placeto",
	.help = "Placeto: groups are placed anew one by one, in sight of all (2019)",
	.fields = fields,
	.hyper_size = sizeof(struct placeto_hyper),
	.defaults = {[RECIPE_DEFAULT] = &default_hyper,
		     [RECIPE_PAPER] = &paper,
		     [RECIPE_PLACETO] = &paper},
	.steady = true,
	.embed_init = embed_init,
	.policy_init = policy_init,
	.embed = embed,
	.choose = choose,
};
