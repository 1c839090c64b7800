/* move_update.c - lists of moves, scored again and learned from. */
#include "learn/train/move_update.h"

#include <float.h>
#include <math.h>

#include "learn/train/move_policy.h"
#include "learn/train/update_rule.h"

static void scorer_release(struct move_scorer *x)
{
	learned_params_free(x->params);
	adam_release(&x->adam);
	x->params = NULL;
}

void move_learner_release(struct move_learner *l)
{
	scorer_release(&l->costs);
	scorer_release(&l->adapt);
}

int move_learner_params(struct move_learner *l, const struct rec *r, bool replace, struct err *e)
{
	enum params_block b;

	if (params_decode_block(r, &b, e) < 0)
		return -1;
	struct move_scorer *x = b == BLOCK_ADAPT ? &l->adapt : &l->costs;

	if (x->params && !replace)
		return 0;
	if (learned_params_decode(r, &x->params, e) < 0)
		return -1;
	adam_release(&x->adam);
	adam_init(&x->adam, x->params->p->n, 0);
	if (b == BLOCK_COSTS)
		l->fresh = x->params->episode == 0;
	return 0;
}

static int check_record(const struct learned_params *by, const struct place_rec *p, struct err *e)
{
	if (!by)
		return err_set(e, ST_INPUT, "a move, but no params of block '%s'",
			       block_names[p->adapted ? BLOCK_ADAPT : BLOCK_COSTS]);
	if (p->n_move_features != by->moves.n_features)
		return err_set(e, ST_INPUT, "a move of %u features, where the parameters are of %u",
			       p->n_move_features, by->moves.n_features);
	return 0;
}

/* The list again as its chooser saw it: its entropy is added, and the log-probability compared. */
static int check_replay(const struct learned_params *by, const struct place_rec *p, double *entropy,
			double *logp, struct err *e)
{
	float *score = MEM_NEWN(float, p->n_moves);
	double *prob = MEM_NEWN(double, p->n_moves);

	scorer_run(&by->moves, by->p, p->moves, p->n_moves, score);
	*entropy += move_softmax(score, p->n_moves, prob);
	*logp = log(prob[p->move]);
	mem_free(prob);
	mem_free(score);
	if (fabs(*logp - p->logp) <= REPLAY_TOLERANCE)
		return 0;
	return err_set(e, ST_INPUT,
		       "episode %u, step %u: the replay of a move has log-probability %.6f, the "
		       "record %.6f",
		       p->id.episode, p->id.step, *logp, p->logp);
}

/* A list, and how it is learned from. */
struct learned_list {
	const struct recipe *recipe;
	const struct place_rec *p;
	double coef, bonus; /* of the loss; of the entropy */
	bool first;         /* use of the batch */
	double *before;     /* log-probability of the move before the update */
};

/* Adds the gradient of the loss of the move, by the log-probability that x gives it, whoever chose it, and
 * of -bonus times the list's entropy. */
static void learn_list(const struct learned_params *x, const struct learned_list *l, float *grad)
{
	const struct place_rec *p = l->p;
	double coef = l->coef, H;
	uint32_t n = p->n_moves;
	float *score = MEM_NEWN(float, n);
	double *prob = MEM_NEWN(double, n);

	scorer_run(&x->moves, x->p, p->moves, n, score);
	H = move_softmax(score, n, prob);
	if (l->recipe->update->loss) {
		/* Where it underflows, the logarithm stays finite, as do differences. */
		double now = log(fmax(prob[p->move], DBL_MIN));

		if (l->first)
			*l->before = now;
		l->recipe->update->loss(l->recipe, coef, now - *l->before, &coef);
	}
	for (uint32_t i = 0; i < n; i++) {
		double slope = coef * ((i == p->move) - prob[i]);

		if (l->bonus > 0 && prob[i] > 0) /* dH / d score_i = -p_i (log p_i + H) */
			slope += l->bonus * prob[i] * (log(prob[i]) + H);
		score[i] = (float)slope;
	}
	scorer_back(&x->moves, x->p, p->moves, n, score, grad);
	mem_free(prob);
	mem_free(score);
}

/* One step of Adam over the lists of the episode.  Returns the norm of the gradient. */
static double learn_lists(struct move_scorer *x, const struct recipe *recipe,
			  const struct rollout *r, const double *coef, double *before, bool first)
{
	double bonus = recipe->entropy * pow(recipe->entropy_decay, r->episode - 1.0), norm;
	float *grad = MEM_NEWN(float, x->params->p->n);
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_samples; i++)
		n += r->sample[i].place.moves != NULL;
	for (uint32_t i = 0; i < r->n_samples; i++) {
		const struct learned_list list = {.recipe = recipe,
						  .p = &r->sample[i].place,
						  .coef = coef[i],
						  .bonus = bonus / n,
						  .first = first,
						  .before = &before[i]};
		if (list.p->moves)
			learn_list(x->params, &list, grad);
	}
	norm = sqrt(params_norm2(grad, x->params->p->n));
	x->adam.lr = recipe->costs_lr;
	adam_step(&x->adam, x->params->p->data, grad, params_clip(norm, recipe->clip));
	mem_free(grad);
	return norm;
}

int move_update(struct move_learner *l, const struct recipe *recipe, const struct rollout *r,
		const double *coef, struct update_rec *u, bool *changed, struct err *e)
{
	struct move_scorer *x = l->fresh ? &l->costs : &l->adapt;
	bool learns = x->params && recipe->costs_lr > 0;
	double entropy = 0, logp;
	uint32_t n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < r->n_samples && rc == 0; i++) {
		const struct place_rec *p = &r->sample[i].place;
		const struct move_scorer *by = p->adapted ? &l->adapt : &l->costs;

		if (!p->moves)
			continue;
		n++;
		rc = check_record(by->params, p, e);
		if (rc == 0)
			rc = check_replay(by->params, p, &entropy, &logp, e);
		if (rc == 0)
			u->loss += coef[i] * logp;
	}
	if (rc == 0 && n > 0 && learns) {
		double *before = MEM_NEWN(double, r->n_samples);

		for (int64_t i = 0; i < recipe->epochs; i++) {
			double norm = learn_lists(x, recipe, r, coef, before, i == 0);

			if (i == 0)
				u->grad_norm = fmax(u->grad_norm, norm);
		}
		mem_free(before);
		x->params->episode = r->episode;
		*changed = true;
	}
	if (n > 0)
		u->entropy = entropy / n;
	return rc;
}
