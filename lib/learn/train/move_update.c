/* move_update.c - lists of moves, scored again and learned from. */
#include "learn/train/move_update.h"

#include <math.h>

#include "learn/train/move_policy.h"

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

/* Adds the gradient of coef times the log-probability that x gives the move, whoever chose it. */
static void learn_list(const struct learned_params *x, const struct place_rec *p, double coef,
		       float *grad)
{
	uint32_t n = p->n_moves;
	float *score = MEM_NEWN(float, n);
	double *prob = MEM_NEWN(double, n);

	scorer_run(&x->moves, x->p, p->moves, n, score);
	move_softmax(score, n, prob);
	for (uint32_t i = 0; i < n; i++)
		score[i] = (float)(coef * ((i == p->move) - prob[i]));
	scorer_back(&x->moves, x->p, p->moves, n, score, grad);
	mem_free(prob);
	mem_free(score);
}

int move_update(struct move_learner *l, const struct recipe *recipe, const struct rollout *r,
		const double *coef, struct update_rec *u, bool *changed, struct err *e)
{
	struct move_scorer *x = l->fresh ? &l->costs : &l->adapt;
	bool learns = x->params && recipe->costs_lr > 0;
	float *grad = learns ? MEM_NEWN(float, x->params->p->n) : NULL;
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
		if (rc == 0 && learns)
			learn_list(x->params, p, coef[i], grad);
	}
	if (rc == 0 && n > 0 && learns) {
		double norm = sqrt(params_norm2(grad, x->params->p->n));

		x->adam.lr = recipe->costs_lr;
		adam_step(&x->adam, x->params->p->data, grad, params_clip(norm, recipe->clip));
		x->params->episode = r->episode;
		u->grad_norm = fmax(u->grad_norm, norm);
		*changed = true;
	}
	if (n > 0)
		u->entropy = entropy / n;
	mem_free(grad);
	return rc;
}
