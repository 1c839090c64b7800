/* pretrain.c - rounds of problems, gradients in the order of the problems, steps of Adam. */
#include <math.h>
#include <string.h>

#include "learn/pretrain/pretrain.h"
#include "learn/pretrain/synthetic.h"
#include "place/learned/move_search.h"
#include "place/learned/shot.h"

enum { BATCH = 8, LIST = 64, MOVE_STEPS = 24, MOVE_RUNS = 250, SAMPLES = 8, FEW_NUMBERS = 1 << 24 };

static const double HEAT = 0.003; /* of the searches that are followed and that teach */

/* One problem of a round. */
struct lesson {
	float *grad;
	double loss, n, score, n_score;
};

struct pretraining {
	struct learned_params *x;
	const struct pretrain_plan *plan;
	uint32_t round;
	struct lesson lesson[BATCH];
};

/* A synthetic problem with what methods need to know of it. */
struct study {
	struct synthetic problem;
	struct method_run run;
	struct search_context s;
	struct cost_view view;
	uint16_t *device, *best; /* (sets) */
	double heft, best_value;
};

static bool study_init(struct study *y, const struct pretraining *t, uint32_t number)
{
	synthetic_init(&y->problem, t->plan->seed, number, t->plan->most_tasks);
	const struct place_model *m = &y->problem.m;

	if (m->tasks.dag.n < 4) {
		synthetic_release(&y->problem);
		return false;
	}
	y->run =
		(struct method_run){.m = m, .seed = t->plan->seed, .threads = 1, .a = y->problem.a};
	search_context_init(&y->s, &y->run);
	cost_view_init(&y->view, m, y->problem.a);
	y->device = ARENA_NEWN(y->problem.a, uint16_t, m->n_sets);
	y->best = ARENA_NEWN(y->problem.a, uint16_t, m->n_sets);
	y->heft = y->best_value = INFINITY;
	return true;
}

static void study_release(struct study *y)
{
	search_context_release(&y->s);
	synthetic_release(&y->problem);
}

/* ---- moves ---- */

/* The gradient of -sum_i target_i log softmax(score)_i over a list, and its first choice. */
static void learn_list(struct pretraining *t, struct move_search *x, struct lesson *l, uint32_t n,
		       const double *gain)
{
	float weight[LIST];
	double most = -INFINITY, sum = 0, gains = 0, p[LIST];
	uint32_t best = 0;

	for (uint32_t i = 0; i < n; i++) {
		most = fmax(most, x->score[i]);
		gains += fmax(0, gain[i]);
		best = x->score[i] > x->score[best] ? i : best;
	}
	if (gains <= 1e-9)
		return;
	for (uint32_t i = 0; i < n; i++)
		sum += p[i] = exp(x->score[i] - most);
	for (uint32_t i = 0; i < n; i++) {
		double target = fmax(0, gain[i]) / gains;

		p[i] /= sum;
		l->loss -= target * log(fmax(p[i], 1e-30));
		weight[i] = (float)(p[i] - target);
	}
	l->n++;
	l->score += gain[best] > 0;
	l->n_score++;
	scorer_back(&t->x->moves, t->x->p, x->feature, n, weight, l->grad);
}

static void learn_moves(void *arg, int task, int thread)
{
	struct pretraining *t = arg;
	struct lesson *l = &t->lesson[task];
	uint32_t number = t->round * BATCH + (uint32_t)task;
	struct random_stream rng = random_stream_new(t->plan->seed, RANDOM_PRETRAIN, 1, number);
	struct move_search x;
	struct study y;
	struct err none = ERR_INIT;
	double gain[LIST];

	(void)thread;
	memset(l->grad, 0, t->x->p->n * sizeof(*l->grad));
	l->loss = l->n = l->score = l->n_score = 0;
	if (!study_init(&y, t, number))
		return;
	if (rule_run(random_stream_below(&rng, N_RULES), &y.view, t->x, y.device, &none) == 0) {
		move_search_init(&x, &y.s, &y.view, t->x, LIST, rng);
		move_search_set(&x, y.device);
		x.heat = HEAT;
		for (uint32_t step = 0; step < MOVE_STEPS; step++) {
			uint32_t n = move_search_candidates(&x), pick = 0;

			if (n < 2)
				break;
			move_search_gains(&x, n, gain);
			learn_list(t, &x, l, n, gain);
			for (uint32_t i = 1; i < n; i++)
				pick = x.score[i] > x.score[pick] ? i : pick;
			if (random_stream_below(&x.rng, 8) == 0)
				pick = random_stream_below(&x.rng, n);
			move_search_try(&x, pick, true);
		}
		move_search_release(&x);
	}
	study_release(&y);
}

/* ---- the policy ---- */

static void keep_if_better(struct study *y, struct evaluator *ev, const uint16_t *device)
{
	const struct place_result *p = place_evaluate(ev, device);

	if (p->status != PLACE_OK || !(p->value < y->best_value))
		return;
	y->best_value = p->value;
	memcpy(y->best, device, y->problem.m.n_sets * sizeof(*device));
}

/* The best that rules, draws of the policy and learned moves find. */
static double find_teacher(struct pretraining *t, struct study *y, struct random_stream *rng)
{
	struct evaluator *ev = evaluators_take(y->s.ev);
	struct err none = ERR_INIT;
	struct move_search x;
	double greedy = INFINITY;

	for (uint32_t i = 0; i < N_RULES; i++) {
		if (rule_run(i, &y->view, t->x, y->device, &none) < 0)
			continue;
		if (i == 0 || i == N_RULES - 1) {
			const struct place_result *p = place_evaluate(ev, y->device);
			double *value = i == 0 ? &y->heft : &greedy;

			*value = p->status == PLACE_OK ? p->value : INFINITY;
		}
		keep_if_better(y, ev, y->device);
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct decode d = {.rule = DECODE_POLICY,
				   .links = true,
				   .scorer = &t->x->policy,
				   .params = t->x->p,
				   .draw = rng,
				   .temperature = 0.5 + 0.5 * random_stream_uniform(rng)};

		if (decode_run(&d, &y->view, y->device, &none) == 0)
			keep_if_better(y, ev, y->device);
	}
	evaluators_put(y->s.ev, ev);
	if (y->best_value == INFINITY)
		return INFINITY;
	move_search_init(&x, &y->s, &y->view, t->x, LIST, *rng);
	move_search_set(&x, y->best);
	do
		x.heat = HEAT * (1 - (double)x.p.used / MOVE_RUNS);
	while (x.p.used < MOVE_RUNS && move_search_step(&x));
	memcpy(y->best, x.p.best, y->problem.m.n_sets * sizeof(*y->best));
	move_search_release(&x);
	return greedy;
}

static void learn_policy(void *arg, int task, int thread)
{
	struct pretraining *t = arg;
	struct lesson *l = &t->lesson[task];
	uint32_t number = FEW_NUMBERS + t->round * BATCH + (uint32_t)task;
	struct random_stream rng = random_stream_new(t->plan->seed, RANDOM_PRETRAIN, 2, number);
	struct study y;
	struct err none = ERR_INIT;

	(void)thread;
	memset(l->grad, 0, t->x->p->n * sizeof(*l->grad));
	l->loss = l->n = l->score = l->n_score = 0;
	if (!study_init(&y, t, number))
		return;
	double greedy = find_teacher(t, &y, &rng);

	if (greedy < INFINITY && y.heft < INFINITY) {
		l->score = log(greedy / y.heft);
		l->n_score = 1;
	}
	struct decode d = {.rule = DECODE_POLICY,
			   .links = true,
			   .scorer = &t->x->policy,
			   .params = t->x->p,
			   .follow = y.best,
			   .grad = l->grad,
			   .weight = 1};

	if (y.best_value < INFINITY && decode_run(&d, &y.view, y.device, &none) == 0) {
		/* every problem counts for the root of its choices */
		double scale = 1 / sqrt(fmax(1, d.n_choices));

		for (size_t i = 0; i < t->x->p->n; i++)
			l->grad[i] *= (float)scale;
		l->loss = d.loss * scale;
		l->n = d.n_choices * scale;
	}
	study_release(&y);
}

/* ---- rounds ---- */

static struct pretrain_told update(struct pretraining *t, struct adam *adam, uint32_t n_rounds)
{
	struct pretrain_told told = {.round = t->round, .n_rounds = n_rounds};
	struct lesson sum = {.grad = t->lesson[0].grad};

	for (int i = 0; i < BATCH; i++) {
		const struct lesson *l = &t->lesson[i];

		for (size_t j = 0; i > 0 && j < t->x->p->n; j++)
			sum.grad[j] += l->grad[j];
		sum.loss += l->loss;
		sum.n += l->n;
		sum.score += l->score;
		sum.n_score += l->n_score;
	}
	if (sum.n > 0) {
		double norm = sqrt(params_norm2(sum.grad, t->x->p->n)) / sum.n;
		double left = 1 - (double)t->round / n_rounds;

		adam->lr = t->plan->lr * fmin(1, 2 * left) * fmin(1, (t->round + 1) / 50.0);
		adam_step(adam, t->x->p->data, sum.grad, params_clip(norm, 1) / sum.n);
	}
	told.loss = sum.n > 0 ? sum.loss / sum.n : 0;
	told.score = sum.n_score > 0 ? sum.score / sum.n_score : 0;
	return told;
}

static void rounds(struct pretraining *t, const char *what, uint32_t n,
		   void (*learn)(void *, int, int), struct pool *pool,
		   void (*tell)(void *arg, const struct pretrain_told *t), void *arg)
{
	struct adam adam;

	adam_init(&adam, t->x->p->n, t->plan->lr);
	for (t->round = 0; t->round < n; t->round++) {
		pool_run(pool, BATCH, learn, t);
		struct pretrain_told told = update(t, &adam, n);

		told.what = what;
		if (tell)
			tell(arg, &told);
	}
	adam_release(&adam);
}

void pretrain_run(struct learned_params *x, const struct pretrain_plan *plan, struct pool *pool,
		  void (*tell)(void *arg, const struct pretrain_told *t), void *arg)
{
	struct pretraining t = {.x = x, .plan = plan};

	for (int i = 0; i < BATCH; i++)
		t.lesson[i].grad = MEM_NEWN(float, x->p->n);
	rounds(&t, "moves", plan->move_rounds, learn_moves, pool, tell, arg);
	rounds(&t, "policy", plan->policy_rounds, learn_policy, pool, tell, arg);
	for (int i = 0; i < BATCH; i++)
		mem_free(t.lesson[i].grad);
}
