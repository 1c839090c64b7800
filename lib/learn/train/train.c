/* train.c - the update of one episode: replay, gradient, Adam. */
#include "learn/train/train.h"
#include "learn/train/incumbent.h"

#include <math.h>
#include <string.h>

int learner_params(struct learner *l, const struct rec *r, struct err *e)
{
	enum params_block b;
	if (params_decode_block(r, &b, e) < 0)
		return -1;
	if (b >= N_BLOCKS)
		return move_learner_params(&l->moves, r, false, e);
	if (l->block[b].p)
		return 0;
	if (param_block_decode(&l->block[b], r, e) < 0)
		return -1;
	adam_init(&l->adam[b], l->block[b].p->n, 0);
	return 0;
}

void learner_release(struct learner *l)
{
	for (int b = 0; b < N_BLOCKS; b++) {
		param_block_release(&l->block[b]);
		adam_release(&l->adam[b]);
	}
	move_learner_release(&l->moves);
	walk_release(&l->walk);
	baseline_release(&l->reward);
	candidates_release(&l->cand);
	update_list_release(&l->updates);
}

void trainer_init(struct trainer *t, struct pool *pool)
{
	*t = (struct trainer){.pool = pool,
			      .replayer = replayer_new(pool),
			      .work = net_work_new(NULL),
			      .arena = arena_new()};
}

void trainer_release(struct trainer *t)
{
	replayer_free(t->replayer);
	net_work_free(t->work);
	handover_taker_release(&t->taker);
	arena_free(t->arena);
}

struct update_job {
	struct replay_step *step;     /* (n_steps) */
	struct rng_addr *rng;         /* (n_steps) */
	const struct sample **sample; /* the policy's, by step */
	const double *coef;           /* (n_samples) in the rollout's order */
	double *const *coef_group;    /* the same of single groups; NULL: there are none */
	float *grad[N_BLOCKS];
	float *x;       /* room for features (replay_batch steps) */
	uint32_t epoch; /* uses of the batch before this one */
};

/* The policy's samples of step t: actions, weights and room for the answers. */
static int fill_samples(struct trainer *t, const struct rollout *r, const struct update_job *j,
			uint32_t step, struct replay_step *s, struct err *e)
{
	uint32_t g = r->step[step].p.n_groups, n = 0;
	for (uint32_t i = 0; i < r->n_samples; i++)
		n += sample_has_action(&r->sample[i]) && r->sample[i].place.id.step == step;
	uint16_t *action = ARENA_NEWN(t->arena, uint16_t, (size_t)n * g);
	double *c = ARENA_NEWN(t->arena, double, n), *by_group = NULL;
	if (j->coef_group)
		by_group = ARENA_NEWN(t->arena, double, (size_t)n *g);
	s->action = action;
	s->coef_logp = c;
	s->coef_group = by_group;
	s->logp = ARENA_NEWN(t->arena, double, n);
	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct sample *x = &r->sample[i];
		if (!sample_has_action(x) || x->place.id.step != step)
			continue;
		memcpy(action + (size_t)s->n_samples * g, x->place.action, g * sizeof *action);
		if (by_group)
			memcpy(by_group + (size_t)s->n_samples * g, j->coef_group[i],
			       g * sizeof *by_group);
		c[s->n_samples++] = j->coef[i];
	}
	if (!t->mask)
		return 0;
	uint8_t *mask = ARENA_NEWN(t->arena, uint8_t, (size_t)g * t->k);
	s->group_mask = mask;
	return net_group_mask(t->mask, t->n, t->k, r->step[step].p.group, g, mask, e);
}

/* Steps whose features fit the cache budget. */
static uint32_t replay_batch(const struct trainer *t, const struct rollout *r)
{
	enum { BATCH_BYTES = 8 << 20, BATCH_MIN = 4 };
	size_t size = (size_t)t->n * t->d;
	uint32_t fit = (uint32_t)(BATCH_BYTES / (size * sizeof(float) + 1));
	uint32_t batch = fit < BATCH_MIN ? BATCH_MIN : fit;
	return batch > r->n_steps ? r->n_steps : batch;
}

/* The prior and the noise that the policy of step t had. */
static int fill_prior(struct trainer *t, const struct rollout *r, const struct net_model *m,
		      uint64_t seed, uint32_t step, struct replay_step *s, struct err *e)
{
	const struct partition *p = &r->step[step].p;
	const struct place_rec *first = NULL;
	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct place_rec *q = &r->sample[i].place;
		if (!sample_has_action(&r->sample[i]) || q->id.step != step)
			continue;
		if (first && (q->has_stay != first->has_stay || q->stay != first->stay))
			return err_set(e, ST_INPUT, "its placements come from different policies");
		first = q;
	}
	float *bias = NULL;
	if (first && first->has_stay) {
		if (!r->incumbent.device)
			return err_set(e, ST_INPUT,
				       "a placement around an incumbent that the episode has not");
		uint16_t *home = ARENA_NEWN(t->arena, uint16_t, p->n_groups);
		bias = ARENA_NEWN(t->arena, float, (size_t)p->n_groups * t->k);
		incumbent_home(r->incumbent.device, t->n, p->group, p->n_groups, t->k,
			       s->group_mask, home);
		incumbent_bias(home, p->n_groups, t->k, first->stay, bias);
		s->start = home;
	}
	s->bias = net_noise(m, seed, r->episode, step, p->n_groups, bias, t->arena);
	return 0;
}

/* A loss that is not linear: weights that depend on the log-probabilities. */
static void fill_weigh(struct trainer *t, struct replay_step *s)
{
	size_t n = (size_t)s->n_samples * s->part->n_groups;
	if (!t->recipe->update->loss)
		return;
	struct weighed_step *w = ARENA_NEWN(t->arena, struct weighed_step, 1);
	*w = (struct weighed_step){.recipe = t->recipe,
				   .first = true,
				   .c = s->coef_logp,
				   .c_group = s->coef_group,
				   .before = ARENA_NEWN(t->arena, double, n),
				   .slope = ARENA_NEWN(t->arena, double, s->n_samples),
				   .slope_group = ARENA_NEWN(t->arena, double, n)};
	s->weigh = update_weigh;
	s->weigh_arg = w;
	s->logp_group = ARENA_NEWN(t->arena, double, n);
}

static int fill_job(struct trainer *t, struct learner *l, const struct rollout *r,
		    const struct net_model *m, struct update_job *j, struct err *e)
{
	const struct recipe *recipe = t->recipe;
	double beta = recipe->entropy * pow(recipe->entropy_decay, l->episode);
	j->step = ARENA_NEWN(t->arena, struct replay_step, r->n_steps);
	j->rng = ARENA_NEWN(t->arena, struct rng_addr, r->n_steps);
	for (uint32_t i = 0; i < r->n_steps; i++) {
		const struct part_rec *p = &r->step[i];
		struct replay_step *s = &j->step[i];
		j->rng[i] = (struct rng_addr){
			.seed = l->block[BLOCK_EMBED].seed, .episode = r->episode, .step = i};
		s->part = &p->p;
		s->rng = &j->rng[i];
		s->coef_entropy = p->p.n_groups ? -beta / r->n_steps / p->p.n_groups : 0;
		if (net_check(t->work, m, &p->p, e) < 0 || fill_samples(t, r, j, i, s, e) < 0 ||
		    fill_prior(t, r, m, l->block[BLOCK_POLICY].seed, i, s, e) < 0)
			return err_prefix(e, "step %u of episode %u", i, r->episode);
		fill_weigh(t, s);
	}
	for (uint32_t i = 0; i < r->n_handed; i++) {
		const struct handover_rec *h = &r->handed[i];
		struct handover *to = ARENA_NEWN(t->arena, struct handover, 1);
		if (handover_take(&t->taker, h, to))
			for (uint32_t s = 0; s < h->steps; s++)
				j->step[h->id.step + s].handover = to;
	}
	for (int b = 0; b < N_BLOCKS; b++)
		j->grad[b] = ARENA_NEWN(t->arena, float, l->block[b].p->n);
	j->x = arena_raw(t->arena, (size_t)t->n * t->d * replay_batch(t, r) + 1, sizeof *j->x);
	return 0;
}

/* The same batch once more, from parameters that have changed. */
static void use_again(const struct rollout *r, struct learner *l, struct update_job *j)
{
	j->epoch++;
	for (uint32_t i = 0; i < r->n_steps; i++) {
		struct weighed_step *w = j->step[i].weigh_arg;
		j->step[i].handover = NULL; /* it is of the parameters before */
		if (w)
			w->first = false;
	}
	for (int b = 0; b < N_BLOCKS; b++)
		memset(j->grad[b], 0, l->block[b].p->n * sizeof *j->grad[b]);
}

/* x of a step is the sum of all state updates before it, rebuilt from the recorded Z' in the order of the
 * steps. */
static int replay(struct trainer *t, const struct rollout *r, const struct net_model *m,
		  struct update_job *j, struct err *e)
{
	size_t size = (size_t)t->n * t->d;
	uint32_t batch = replay_batch(t, r);
	float *x = j->x, *now = x;
	for (uint32_t i = 0; i < r->n_steps; i++) {
		float *at = x + size * (i % batch);
		if (at != now || i == 0)
			memcpy(at, i == 0 ? t->x : now, size * sizeof *x);
		if (i > 0)
			net_advance(m->net, at, t->n, t->d, r->step[i - 1].p.group,
				    r->step[i - 1].p.z);
		j->step[i].x = now = at;
		uint32_t first = i - i % batch;
		if (i + 1 == r->n_steps || i + 1 - first == batch)
			if (replayer_run(t->replayer, m, j->step + first, i + 1 - first,
					 j->grad[BLOCK_EMBED], j->grad[BLOCK_POLICY], e) < 0)
				return -1;
	}
	return 0;
}

/* The replayed log-probabilities are the recorded ones. */
static int check_replay(const struct rollout *r, const struct update_job *j, struct err *e)
{
	for (uint32_t step = 0; step < r->n_steps; step++) {
		uint32_t n = 0;
		double groups = r->step[step].p.logp;
		if (!(fabs(j->step[step].group_logp - groups) <= REPLAY_TOLERANCE))
			return err_set(
				e, ST_INPUT,
				"episode %u, step %u: the replay has log-probability %.6f of "
				"the groups, the record %.6f",
				r->episode, step, j->step[step].group_logp, groups);
		for (uint32_t i = 0; i < r->n_samples; i++) {
			const struct place_rec *p = &r->sample[i].place;
			if (!sample_has_action(&r->sample[i]) || p->id.step != step)
				continue;
			double again = j->step[step].logp[n++];
			if (!(fabs(again - p->logp) <= REPLAY_TOLERANCE))
				return err_set(
					e, ST_INPUT,
					"episode %u, step %u: the replay has log-probability "
					"%.6f, the record %.6f",
					r->episode, step, again, p->logp);
		}
	}
	return 0;
}

/* Adam on both blocks with one common clip.  Returns the norm before it. */
static double step_adam(const struct recipe *recipe, struct learner *l, const struct update_job *j)
{
	double norm2 = 0;
	for (int b = 0; b < N_BLOCKS; b++)
		norm2 += params_norm2(j->grad[b], l->block[b].p->n);
	double norm = sqrt(norm2), scale = params_clip(norm, recipe->clip);
	for (int b = 0; b < N_BLOCKS; b++) {
		double lr = fmax(recipe->lr * pow(recipe->lr_decay, l->episode),
				 fmin(recipe->lr_least, recipe->lr));
		l->adam[b].lr = b == BLOCK_EMBED ? lr * recipe->embed_lr : lr;
		adam_step(&l->adam[b], l->block[b].p->data, j->grad[b], scale);
	}
	return norm;
}

/* Replay of what the policy of groups drew, gradient, step of Adam; entropy and loss into u. */
static int train_groups(struct trainer *t, struct learner *l, const struct rollout *r,
			const double *coef, double *const *coef_group, struct update_rec *u,
			struct err *e)
{
	struct param_block *embed = &l->block[BLOCK_EMBED], *policy = &l->block[BLOCK_POLICY];
	struct net_model m = {.net = embed->net,
			      .hyper = embed->hyper,
			      .graph = t->graph,
			      .together = t->together,
			      .d = t->d,
			      .k = t->k,
			      .embed = embed->p,
			      .policy = policy->p};
	struct update_job j = {.coef = coef, .coef_group = coef_group};
	double entropy = 0, loss = 0;
	if (fill_job(t, l, r, &m, &j, e) < 0 || replay(t, r, &m, &j, e) < 0 ||
	    check_replay(r, &j, e) < 0)
		return -1;
	u->grad_norm = step_adam(t->recipe, l, &j);
	t->net_changed = true;
	t->n_handed = 0;
	for (uint32_t i = 0; i < r->n_steps; i++) {
		const struct replay_step *s = &j.step[i];
		t->n_handed += s->handover && s->handover->used;
		entropy += s->entropy;
		loss += s->objective;
	}
	u->entropy = r->n_steps ? entropy / r->n_steps : 0;
	u->loss = loss;
	while (j.epoch + 1 < t->recipe->epochs) {
		use_again(r, l, &j);
		if (replay(t, r, &m, &j, e) < 0)
			return -1;
		step_adam(t->recipe, l, &j);
	}
	return 0;
}

/* Means and counts of an episode. */
static void summarise(struct learner *l, const struct rollout *r, struct update_rec *u)
{
	double lat = 0, groups = 0;
	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct sample *s = &r->sample[i];
		if (!sample_is_own(s))
			continue;
		u->failed += !s->run.ok;
		if (!s->run.ok)
			continue;
		u->ok++;
		lat += s->run.lat_s;
		u->best_s = u->ok == 1 ? s->run.lat_s : fmin(u->best_s, s->run.lat_s);
		double ratio =
			s->run.ref_value > 0 ? s->run.value / s->run.ref_value : s->run.value;
		if (l->best_ratio == 0 || ratio < l->best_ratio) {
			l->best_ratio = ratio;
			l->best_episode = r->episode;
		}
	}
	for (uint32_t i = 0; i < r->n_steps; i++)
		groups += r->step[i].p.n_groups;
	u->mean_s = u->ok ? lat / u->ok : 0;
	u->best_ratio = l->best_ratio;
	u->groups = r->n_steps ? groups / r->n_steps : 0;
}

int train_episode(struct trainer *t, struct learner *l, const struct rollout *r,
		  struct update_rec *u, struct err *e)
{
	uint32_t n_moves = 0, n_actions = 0;
	arena_reset(t->arena);
	*u = (struct update_rec){.episode = r->episode};
	t->net_changed = t->moves_changed = false;
	for (uint32_t i = 0; i < r->n_samples; i++) {
		n_moves += r->sample[i].place.moves != NULL;
		n_actions += sample_has_action(&r->sample[i]);
	}
	double *coef = ARENA_NEWN(t->arena, double, r->n_samples), **coef_group = NULL;
	l->reward.critic.seed = l->block[BLOCK_EMBED].seed;
	if (t->recipe->visits && !n_moves) {
		coef_group = ARENA_NEWN(t->arena, double *, r->n_samples);
		if (visit_coefficients(t->recipe, &l->reward, r, t->arena, coef, coef_group,
				       &u->reward, e) < 0)
			return -1;
	} else {
		advantage_coefficients(t->recipe, &l->reward, r, coef, &u->reward);
	}
	/* Without costs an episode without a draw is an update, too: of the entropy. */
	if ((n_actions || !l->moves.costs.params) &&
	    train_groups(t, l, r, coef, coef_group, u, e) < 0)
		return -1;
	if (n_moves && move_update(&l->moves, t->recipe, r, coef, u, &t->moves_changed, e) < 0)
		return -1;
	summarise(l, r, u);
	l->episode = l->block[BLOCK_EMBED].episode = l->block[BLOCK_POLICY].episode = r->episode;
	return 0;
}
