/* net_replay.c - recorded steps again: are they of this graph, and their gradients on one tape. */
#include "learn/net/handover.h"
#include "learn/net/net_steps.h"
#include "learn/net/parsing.h"
#include "learn/net/sampling.h"

#include <string.h>

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
	uint32_t *group = net_count_up(a, n);
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
			r[i].logp[0] = net_log_policy(t, m, p, r[i].z.z, &q);
			r[i].n_logp = 1;
			for (uint32_t k = 1; k < s->n_samples; k++)
				r[i].logp[k] = r[i].logp[0];
			continue;
		}
		z[i] = r[i].z.z;
		c[i] = net_choices(t, m, &q, s->n_samples);
		c[i].action = s->action;
		c[i].logp = r[i].logp;
		c[i].handover = s->handover;
		r[i].n_logp = s->n_samples;
	}
	if (m->net->policy || r->s->n_samples == 0)
		return;
	if (c->handover)
		handover_known(m, n, z, c);
	net_choose(t, m, p, n, z, c);
}

/* Of every group's device in every sample; then the weights that its caller gives them.  Returns the loss. */
static double weigh_samples(const struct net_model *m, struct replay_step *s,
			    struct mat *const *logp)
{
	uint32_t g = s->part->n_groups;
	for (uint32_t i = 0; i < s->n_samples; i++)
		for (uint32_t v = 0; v < g; v++) {
			size_t at = (size_t)i * g + v;
			s->logp_group[at] = logp[i]->v[(size_t)v * m->k + s->action[at]];
		}
	return s->weigh(s->weigh_arg, s);
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
	double entropy = 0, before = o->value, bonus = 0, loss = 0;
	for (uint32_t i = 0; i < r->n_logp; i++)
		if (net_check_logp(r->logp[i]->v, g, m->k, s->group_mask, e) < 0)
			return -1;
	s->group_logp = r->z.logp ? (double)r->z.logp->v[0] : 0;
	if (s->weigh)
		loss = weigh_samples(m, s, r->logp);
	double all = add_samples(t, m, s, r->logp, o);
	for (uint32_t i = 0; i < r->n_logp; i++) {
		double of = prob_entropy(r->logp[i]->v, g, m->k);
		entropy += of;
		objective_add(o, tape_entropy(t, r->logp[i]), of, s->coef_entropy / r->n_logp);
		bonus += s->coef_entropy / r->n_logp * of;
	}
	s->entropy = r->n_logp ? entropy / r->n_logp : 0;
	if (r->z.logp)
		objective_add(o, r->z.logp, s->group_logp, all);
	s->objective = s->weigh ? loss + bonus : o->value - before;
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
	struct mat **pe = net_block(t, m->embed, grad_embed);
	struct mat **pp = net_block(t, m->policy, grad_policy);
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
