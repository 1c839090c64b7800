/* move_update.c - lists of moves, scored again and learned from. */
#include "learn/train/move_update.h"

#include <math.h>

#include "learn/train/move_policy.h"

void move_learner_release(struct move_learner *l)
{
	learned_params_free(l->params);
	adam_release(&l->adam);
	l->params = NULL;
}

int move_learner_params(struct move_learner *l, const struct rec *r, struct err *e)
{
	if (learned_params_decode(r, &l->params, e) < 0)
		return -1;
	adam_release(&l->adam);
	adam_init(&l->adam, l->params->p->n, 0);
	l->fresh = l->params->episode == 0;
	return 0;
}

static int check_record(const struct move_learner *l, const struct place_rec *p, struct err *e)
{
	if (!l->params)
		return err_set(e, ST_INPUT, "a move, but no params of block 'costs'");
	if (p->n_move_features != l->params->moves.n_features)
		return err_set(e, ST_INPUT, "a move of %u features, where the parameters are of %u",
			       p->n_move_features, l->params->moves.n_features);
	return 0;
}

/* One list: its share of the gradient (NULL: none is wanted), of entropy and loss. */
static int learn_list(const struct move_learner *l, const struct place_rec *p, double coef,
		      float *grad, double *entropy, double *loss, struct err *e)
{
	const struct learned_params *x = l->params;
	uint32_t n = p->n_moves;
	float *score = MEM_NEWN(float, n), *weight = MEM_NEWN(float, n);
	double *prob = MEM_NEWN(double, n), logp;

	scorer_run(&x->moves, x->p, p->moves, n, score);
	*entropy += move_softmax(score, n, prob);
	logp = log(prob[p->move]);
	for (uint32_t i = 0; i < n; i++)
		weight[i] = (float)(coef * ((i == p->move) - prob[i]));
	if (grad)
		scorer_back(&x->moves, x->p, p->moves, n, weight, grad);
	mem_free(prob);
	mem_free(weight);
	mem_free(score);
	*loss += coef * logp;
	if (!(fabs(logp - p->logp) <= REPLAY_TOLERANCE))
		return err_set(e, ST_INPUT,
			       "episode %u, step %u: the replay of a move has log-probability "
			       "%.6f, the record %.6f",
			       p->id.episode, p->id.step, logp, p->logp);
	return 0;
}

int move_update(struct move_learner *l, const struct recipe *recipe, const struct rollout *r,
		const double *coef, struct update_rec *u, bool *changed, struct err *e)
{
	float *grad = NULL;
	double entropy = 0, lr = l->fresh ? recipe->costs_lr : recipe->adapt_lr;
	uint32_t n = 0;
	int rc = 0;

	if (l->params && lr > 0)
		grad = MEM_NEWN(float, l->params->p->n);
	for (uint32_t i = 0; i < r->n_samples && rc == 0; i++) {
		const struct place_rec *p = &r->sample[i].place;

		if (!p->moves)
			continue;
		n++;
		rc = check_record(l, p, e);
		if (rc == 0)
			rc = learn_list(l, p, coef[i], grad, &entropy, &u->loss, e);
	}
	if (rc == 0 && n > 0 && grad) {
		double norm = sqrt(params_norm2(grad, l->params->p->n));

		l->adam.lr = lr;
		adam_step(&l->adam, l->params->p->data, grad, params_clip(norm, recipe->clip));
		l->params->episode = r->episode;
		u->grad_norm = fmax(u->grad_norm, norm);
		*changed = true;
	}
	if (n > 0)
		u->entropy = entropy / n;
	mem_free(grad);
	return rc;
}
