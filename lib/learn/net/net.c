/* net.c - what is common to all networks: forward steps and replays on a tape. */
#include "learn/net/net_impl.h"
#include "learn/net/parsing.h"
#include "learn/net/sampling.h"

#include <math.h>
#include <string.h>

struct net_work {
	struct tape *tape;
};

struct net_work *net_work_new(struct pool *pool)
{
	struct net_work *w = MEM_NEW(struct net_work);
	w->tape = tape_new(pool);
	return w;
}

void net_work_free(struct net_work *w)
{
	if (!w)
		return;
	tape_free(w->tape);
	mem_free(w);
}

size_t net_work_bytes(const struct net_work *w)
{
	return tape_bytes(w->tape);
}

/* Matrices of a block on the tape; grad NULL: without gradients. */
static struct mat **block_on(struct tape *t, const struct params *p, float *grad)
{
	struct mat **m = ARENA_NEWN(tape_arena(t), struct mat *, p->n_mats);
	for (uint32_t i = 0; i < p->n_mats; i++) {
		const struct param *q = &p->mat[i];
		m[i] = tape_param(t, p->data + q->at, grad ? grad + q->at : NULL, q->rows, q->cols);
	}
	return m;
}

static int check_finite(const struct mat *m, const char *what, struct err *e)
{
	for (size_t i = 0; i < (size_t)m->rows * m->cols; i++)
		if (!isfinite(m->v[i]))
			return err_set(e, ST_INPUT,
				       "%s of the network are not finite; features or "
				       "parameters are too large",
				       what);
	return 0;
}

/* 0 .. n-1 */
static uint32_t *count_up(struct arena *a, uint32_t n)
{
	uint32_t *v = arena_raw(a, n, sizeof *v);
	for (uint32_t i = 0; i < n; i++)
		v[i] = i;
	return v;
}

/* A grouping numbered by first member, whatever its numbers were. */
static int renumber(struct arena *a, const struct grouping *g, uint32_t n, struct grouping *out,
		    struct err *e)
{
	uint32_t *to = arena_raw(a, g->n_groups, sizeof *to);
	uint32_t *group = arena_raw(a, n, sizeof *group);
	for (uint32_t i = 0; i < g->n_groups; i++)
		to[i] = UINT32_MAX;
	*out = (struct grouping){0, group};
	for (uint32_t i = 0; i < n; i++) {
		if (g->group[i] >= g->n_groups)
			return err_set(e, ST_INPUT, "set %u is in group %u of %u", i, g->group[i],
				       g->n_groups);
		uint32_t *number = &to[g->group[i]];
		if (*number == UINT32_MAX)
			*number = out->n_groups++;
		group[i] = *number;
	}
	return 0;
}

int net_take_partition(struct tape *t, const struct net_model *m, const struct net_plan *plan,
		       struct partition *out, struct err *e)
{
	uint32_t n = m->graph->n;
	if (plan->recorded) {
		*out = *plan->recorded;
		return out->n_rounds
			       ? err_set(e, ST_INPUT, "network '%s' parses nothing", m->net->name)
			       : 0;
	}
	const struct grouping together = {n, m->together};
	struct grouping g = {n, NULL};
	if (plan->given)
		g = *plan->given;
	else if (!m->together)
		g.group = count_up(tape_arena(t), n);
	else if (renumber(tape_arena(t), &together, n, &g, e) < 0)
		return -1;
	*out = (struct partition){
		.given = plan->given || m->together, .n_groups = g.n_groups, .group = g.group};
	return 0;
}

int net_embed_steps(struct net_work *w, const struct net_model *m, const float *x, uint32_t n,
		    const struct rng_addr *rng, const struct grouping *given, const uint8_t *mask,
		    uint32_t k_mask, struct partition *out, struct err *e)
{
	struct tape *t = w->tape;
	struct grouping g;
	void *common = NULL;
	tape_begin(t, false, rng);
	if (given && renumber(tape_arena(t), given, m->graph->n, &g, e) < 0)
		return -1;
	struct mat *in = tape_input(t, x, m->graph->n, m->d);
	struct mat **p = block_on(t, m->embed, NULL);
	for (uint32_t i = 0; i < n; i++) {
		struct net_plan plan = {.given = given ? &g : NULL,
					.mask = mask,
					.k = k_mask,
					.rng = rng ? &rng[i] : NULL,
					.common = &common};
		struct embedding z = {0};
		if (m->net->embed(t, m, p, in, &plan, &out[i], &z, e) < 0)
			return -1;
		out[i].z = z.z->v;
		out[i].logp = z.logp ? (double)z.logp->v[0] : 0;
		if (check_finite(z.z, "embeddings", e) < 0)
			return -1;
	}
	return 0;
}

int net_embed(struct net_work *w, const struct net_model *m, const float *x,
	      const struct rng_addr *rng, const struct grouping *given, const uint8_t *mask,
	      uint32_t k_mask, struct partition *out, struct err *e)
{
	return net_embed_steps(w, m, x, 1, rng, given, mask, k_mask, out, e);
}

int net_group_mask(const uint8_t *mask, uint32_t n, uint32_t k, const uint32_t *group,
		   uint32_t n_groups, uint8_t *out, struct err *e)
{
	memset(out, 1, (size_t)n_groups * k);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < k; j++)
			if (!mask[(size_t)i * k + j])
				out[(size_t)group[i] * k + j] = 0;
	for (uint32_t g = 0; g < n_groups; g++) {
		bool any = false;
		for (uint32_t j = 0; j < k; j++)
			any = any || out[(size_t)g * k + j];
		if (!any)
			return err_set(e, ST_INPUT,
				       "no device can run all sets of group %u; "
				       "a finer grouping would do",
				       g);
	}
	return 0;
}

/* Log-probabilities of a network that chooses for all groups at once. */
static struct mat *log_policy(struct tape *t, const struct net_model *m, struct mat *const *p,
			      struct mat *z, const struct to_place *q)
{
	struct mat *logits = m->net->policy(t, m, p, z);
	if (q->bias)
		logits = tape_add(t, logits, tape_input(t, q->bias, logits->rows, logits->cols));
	return tape_log_softmax(t, logits, q->group_mask);
}

/* Log-probabilities are finite where the mask allows. */
static int check_logp(const float *logp, uint32_t n, uint32_t k, const uint8_t *mask, struct err *e)
{
	for (size_t i = 0; i < (size_t)n * k; i++)
		if (!isfinite(logp[i]) && (!mask || mask[i]))
			return err_set(e, ST_INPUT,
				       "log-probabilities are not finite; embeddings "
				       "or parameters are too large");
	return 0;
}

void net_start(const uint8_t *group_mask, uint32_t n_groups, uint32_t k, uint16_t *start)
{
	for (uint32_t g = 0; g < n_groups; g++) {
		start[g] = 0;
		while (group_mask && start[g] + 1u < k && !group_mask[(size_t)g * k + start[g]])
			start[g]++;
	}
}

/* What choices in turn have in common, whether they are drawn or known. */
static struct choices choices_of(struct tape *t, const struct net_model *m,
				 const struct to_place *q, uint32_t n_samples)
{
	struct choices c = {.n_groups = q->n_groups,
			    .n_samples = n_samples,
			    .k = m->k,
			    .group = q->group,
			    .mask = q->group_mask,
			    .bias = q->bias,
			    .start = q->start,
			    .t = t};
	if (!c.start) {
		uint16_t *start = arena_raw(tape_arena(t), q->n_groups, sizeof *start);
		net_start(q->group_mask, q->n_groups, m->k, start);
		c.start = start;
	}
	return c;
}

int net_policy(struct net_work *w, const struct net_model *m, const float *z, uint32_t n_groups,
	       const uint8_t *group_mask, const float **logp, struct err *e)
{
	const struct to_place q = {.z = z, .n_groups = n_groups, .group_mask = group_mask};
	return net_policy_prior(w, m, &q, NULL, logp, e);
}

int net_policy_prior(struct net_work *w, const struct net_model *m, const struct to_place *q,
		     const uint16_t *action, const float **logp, struct err *e)
{
	struct tape *t = w->tape;
	tape_begin(t, false, NULL);
	struct mat *z = tape_input(t, q->z, q->n_groups, m->d), *lp;
	struct mat **p = block_on(t, m->policy, NULL);
	if (m->net->policy) {
		lp = log_policy(t, m, p, z, q);
	} else {
		struct choices c = choices_of(t, m, q, 1);
		c.action = action;
		c.logp = &lp;
		m->net->choose(t, m, p, 1, &z, &c);
	}
	*logp = lp->v;
	return check_logp(lp->v, q->n_groups, m->k, q->group_mask, e);
}

float *net_noise(const struct net_model *m, uint64_t seed, uint32_t episode, uint32_t step,
		 uint32_t n_groups, float *bias, struct arena *a)
{
	double most = m->net->noise ? m->net->noise(m->hyper, episode) : 0;
	if (most <= 0)
		return bias;
	const struct rng_addr at = {
		.seed = seed, .episode = episode, .step = step, .stream = RNG_NOISE};
	uint32_t n = n_groups * m->k;
	if (!bias)
		bias = ARENA_NEWN(a, float, n);
	for (uint32_t i = 0; i < n; i++)
		bias[i] += (float)(most * (2 * rng_uniform(&at, i) - 1));
	return bias;
}

/* Samples that are at home go on to the next try. */
static bool again(struct choices *c)
{
	enum { TRIES = 8 };
	bool any = false;
	size_t bytes = c->n_groups * sizeof *c->action;
	for (size_t s = 0; s < c->n_samples; s++) {
		const uint16_t *home = c->draw->home;
		c->done[s] = c->draw->most_probable || !home || ++c->try[s] >= TRIES ||
			     memcmp(c->action + s * c->n_groups, home, bytes) != 0;
		any = any || !c->done[s];
	}
	return any;
}

/* Devices of n steps: side by side, or one step after another. */
static void choose(struct tape *t, const struct net_model *m, struct mat *const *p, uint32_t n,
		   struct mat *const *z, struct choices *c)
{
	uint32_t at_once = m->net->side_by_side ? n : 1;
	for (uint32_t i = 0; i < n; i += at_once)
		m->net->choose(t, m, p, at_once, z + i, c + i);
}

static int draw_in_turn(struct tape *t, const struct net_model *m, uint32_t n,
			const struct to_place *q, const struct draw *draw, struct drawn *out,
			struct err *e)
{
	struct arena *a = tape_arena(t);
	struct choices *c = ARENA_NEWN(a, struct choices, n);
	struct mat **z = ARENA_NEWN(a, struct mat *, n), **p = block_on(t, m->policy, NULL);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t samples = draw[i].n_samples;
		size_t size = (size_t)q[i].n_groups * m->k;
		z[i] = tape_input(t, q[i].z, q[i].n_groups, m->d);
		c[i] = choices_of(t, m, &q[i], samples);
		c[i].draw = &draw[i];
		c[i].try = ARENA_NEWN(a, uint32_t, samples);
		c[i].done = ARENA_NEWN(a, bool, samples);
		c[i].action = c[i].drawn = ARENA_NEWN(a, uint16_t, (size_t)samples * q[i].n_groups);
		c[i].drawn_logp = ARENA_NEWN(a, float, size *samples);
		out[i] = (struct drawn){c[i].action, c[i].drawn_logp, size};
	}
	for (bool any = true; any;) {
		choose(t, m, p, n, z, c);
		any = false;
		for (uint32_t i = 0; i < n; i++)
			any = again(&c[i]) || any;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t s = 0; s < draw[i].n_samples; s++)
			if (check_logp(out[i].logp + s * out[i].stride, q[i].n_groups, m->k,
				       q[i].group_mask, e) < 0)
				return -1;
	return 0;
}

int net_draw_steps(struct net_work *w, const struct net_model *m, uint32_t n,
		   const struct to_place *q, const struct draw *draw, struct drawn *out,
		   struct err *e)
{
	tape_begin(w->tape, false, NULL);
	return draw_in_turn(w->tape, m, n, q, draw, out, e);
}

int net_draw(struct net_work *w, const struct net_model *m, const struct to_place *q,
	     const struct draw *draw, struct drawn *out, struct err *e)
{
	struct tape *t = w->tape;
	uint32_t n = q->n_groups;
	tape_begin(t, false, NULL);
	if (!m->net->policy)
		return draw_in_turn(t, m, 1, q, draw, out, e);
	struct mat *in = tape_input(t, q->z, n, m->d);
	uint16_t *action = ARENA_NEWN(tape_arena(t), uint16_t, (size_t)draw->n_samples * n);
	struct mat *lp = log_policy(t, m, block_on(t, m->policy, NULL), in, q);
	*out = (struct drawn){action, lp->v, 0};
	for (uint32_t s = 0; s < draw->n_samples; s++, action += n)
		if (draw->most_probable)
			most_probable_actions(lp->v, n, m->k, action);
		else
			sample_actions(lp->v, n, m->k, &draw->rng[s], draw->home, action);
	return check_logp(lp->v, n, m->k, q->group_mask, e);
}

double net_logp(const float *logp, uint32_t n_groups, uint32_t k, const uint16_t *action)
{
	return prob_pick(logp, n_groups, k, action, NULL);
}

double net_entropy(const float *logp, uint32_t n_groups, uint32_t k)
{
	return prob_entropy(logp, n_groups, k);
}

/* ---- replay ---- */

static int check_groups(const uint32_t *group, uint32_t n, uint32_t n_groups, struct err *e)
{
	uint32_t next = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (group[i] > next)
			return err_set(e, ST_INPUT,
				       "the groups of a partition are not numbered by "
				       "their first set (set %u)",
				       i);
		next += group[i] == next;
	}
	if (next != n_groups)
		return err_set(e, ST_INPUT, "a partition names %u groups and has %u", n_groups,
			       next);
	return 0;
}

int net_check(struct net_work *w, const struct net_model *m, const struct partition *part,
	      struct err *e)
{
	uint32_t n = m->graph->n;
	if (check_groups(part->group, n, part->n_groups, e) < 0)
		return -1;
	if (part->given || part->label) /* no edges made them */
		return 0;
	tape_begin(w->tape, false, NULL);
	struct arena *a = tape_arena(w->tape);
	struct ugraph g = *m->graph, q;
	struct parsed by;
	uint32_t *group = count_up(a, n);
	for (uint32_t r = 0; r < part->n_rounds; r++, g = q) {
		const struct parse_round *round = &part->round[r];
		if (round->n != g.n)
			return err_set(e, ST_INPUT,
				       "round %u of a partition starts from %u nodes "
				       "instead of %u",
				       r, round->n, g.n);
		const uint32_t *kept = round->kept;
		for (uint32_t i = 0; i < round->n_kept; i++)
			if (kept[i] >= g.m || (i > 0 && kept[i] <= kept[i - 1]))
				return err_set(e, ST_INPUT,
					       "round %u of a partition keeps edge %u "
					       "of %u, or not in rising order",
					       r, kept[i], g.m);
		parse_groups(&g, round->kept, round->n_kept, a, &by);
		for (uint32_t i = 0; i < n; i++)
			group[i] = by.group[group[i]];
		ugraph_quotient(&q, &g, by.group, by.n_groups, a);
	}
	if (memcmp(group, part->group, n * sizeof *group) != 0)
		return err_set(e, ST_INPUT,
			       "the groups of a partition are not those that its kept "
			       "edges make");
	return 0;
}

/* A sum of scalars of the tape with coefficients, and its value. */
struct objective {
	struct mat **y;
	double *coef, value;
	uint32_t n;
};

static void objective_add(struct objective *o, struct mat *y, double value, double coef)
{
	o->y[o->n] = y;
	o->coef[o->n++] = coef;
	o->value += coef * value;
}

/* One of the steps of a replay. */
struct replayed {
	struct replay_step *s;
	struct partition part;
	struct embedding z;
	struct mat **logp; /* (n_samples) */
	uint32_t n_logp;   /* how many of them differ */
};

/* Log-probabilities of the recorded devices. */
static void replay_policy(struct tape *t, const struct net_model *m, struct mat *const *p,
			  struct replayed *r, uint32_t n)
{
	struct arena *a = tape_arena(t);
	struct mat **z = ARENA_NEWN(a, struct mat *, n);
	struct choices *c = ARENA_NEWN(a, struct choices, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct replay_step *s = r[i].s;
		const struct to_place q = {.n_groups = r[i].part.n_groups,
					   .group = r[i].part.group,
					   .group_mask = s->group_mask,
					   .bias = s->bias,
					   .start = s->start};
		r[i].logp = ARENA_NEWN(a, struct mat *, (size_t)s->n_samples + 1);
		if (m->net->policy) {
			r[i].logp[0] = log_policy(t, m, p, r[i].z.z, &q);
			r[i].n_logp = 1;
			for (uint32_t k = 1; k < s->n_samples; k++)
				r[i].logp[k] = r[i].logp[0];
			continue;
		}
		z[i] = r[i].z.z;
		c[i] = choices_of(t, m, &q, s->n_samples);
		c[i].action = s->action;
		c[i].logp = r[i].logp;
		r[i].n_logp = s->n_samples;
	}
	if (!m->net->policy && r->s->n_samples > 0)
		choose(t, m, p, n, z, c);
}

/* Log-probabilities of the devices, and their part of the objective.  Returns the sum of the samples'
 * coefficients. */
static double add_samples(struct tape *t, const struct net_model *m, struct replay_step *s,
			  struct mat *const *logp, struct objective *o)
{
	uint32_t g = s->part->n_groups;
	double all = 0;
	for (uint32_t i = 0; i < s->n_samples; i++) {
		const uint16_t *action = s->action + (size_t)i * g;
		const double *weight = s->coef_group ? s->coef_group + (size_t)i * g : NULL;
		s->logp[i] = prob_pick(logp[i]->v, g, m->k, action, NULL);
		all += s->coef_logp[i];
		objective_add(o, tape_pick(t, logp[i], action, weight),
			      prob_pick(logp[i]->v, g, m->k, action, weight),
			      weight ? 1 : s->coef_logp[i]);
	}
	return all;
}

/* A step's part of the objective. */
static int add_step(struct tape *t, const struct net_model *m, struct replayed *r,
		    struct objective *o, struct err *e)
{
	struct replay_step *s = r->s;
	uint32_t g = r->part.n_groups;
	double entropy = 0, before = o->value;
	for (uint32_t i = 0; i < r->n_logp; i++)
		if (check_logp(r->logp[i]->v, g, m->k, s->group_mask, e) < 0)
			return -1;
	double all = add_samples(t, m, s, r->logp, o);
	for (uint32_t i = 0; i < r->n_logp; i++) {
		double of = prob_entropy(r->logp[i]->v, g, m->k);
		entropy += of;
		objective_add(o, tape_entropy(t, r->logp[i]), of, s->coef_entropy / r->n_logp);
	}
	s->entropy = r->n_logp ? entropy / r->n_logp : 0;
	s->group_logp = r->z.logp ? (double)r->z.logp->v[0] : 0;
	if (r->z.logp)
		objective_add(o, r->z.logp, s->group_logp, all);
	s->objective = o->value - before;
	return 0;
}

int net_replay(struct net_work *w, const struct net_model *m, struct replay_step *s, uint32_t n,
	       float *grad_embed, float *grad_policy, struct err *e)
{
	struct tape *t = w->tape;
	struct arena *a = tape_arena(t);
	bool train = grad_embed || grad_policy;
	size_t most = 0;
	tape_begin(t, train, s->rng);
	struct mat **pe = block_on(t, m->embed, grad_embed);
	struct mat **pp = block_on(t, m->policy, grad_policy);
	struct replayed *r = ARENA_NEWN(a, struct replayed, n);
	struct mat *in = NULL;
	void *common = NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct net_plan plan = {.recorded = s[i].part, .rng = s[i].rng, .common = &common};
		if (!in || !m->net->steady)
			in = tape_input(t, s[i].x, m->graph->n, m->d);
		r[i].s = &s[i];
		if (m->net->embed(t, m, pe, in, &plan, &r[i].part, &r[i].z, e) < 0)
			return -1;
		most += 2 * (size_t)s[i].n_samples + 2;
	}
	replay_policy(t, m, pp, r, n);
	struct objective o = {.y = ARENA_NEWN(a, struct mat *, most),
			      .coef = ARENA_NEWN(a, double, most)};
	for (uint32_t i = 0; i < n; i++)
		if (add_step(t, m, &r[i], &o, e) < 0)
			return -1;
	if (train)
		tape_back(t, o.n, o.y, o.coef);
	return 0;
}

void net_advance(const struct net *net, float *x, uint32_t n, uint32_t d, const uint32_t *group,
		 const float *z)
{
	if (net->steady)
		return;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < d; j++)
			x[i * d + j] += z[group[i] * (size_t)d + j];
}
