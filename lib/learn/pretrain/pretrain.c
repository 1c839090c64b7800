/* pretrain.c - rounds of problems, gradients in the order of the problems, steps of Adam. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "learn/pretrain/pretrain_state.h"
#include "learn/pretrain/synthetic.h"
#include "place/learned/move_search.h"
#include "place/learned/shot.h"

enum {
	BATCH = 8,
	AGAIN = 6,
	WARM = 200,
	LIST = 64,
	MOVE_STEPS = 24,
	MOVE_RUNS = 250,
	VARIANTS = 8,
	SAMPLES = 4,
	FEW_NUMBERS = 1 << 24
};

static const double HEAT = 0.003; /* of the searches that are followed and that teach */

/* One problem of a round. */
struct lesson {
	float *grad;
	double loss, n, score, n_score;
	struct known found; /* a new teacher */
};

struct pretraining {
	struct learned_params *x;
	const struct pretrain_plan *plan;
	struct pretrain_state s;
	struct lesson lesson[BATCH];
};

/* A synthetic problem with what methods need to know of it. */
struct study {
	struct synthetic problem;
	struct method_run run;
	struct search_context s;
	struct cost_view view;
	uint16_t *device, *best; /* (sets) */
	struct parse parse;
	double heft, greedy, best_value;
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
	y->heft = y->greedy = y->best_value = INFINITY;
	parse_run(&y->parse, &y->view, &y->s.u, t->x, y->problem.a);
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
	uint32_t number = t->s.round * BATCH + (uint32_t)task;
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
	if (rule_run(random_stream_below(&rng, N_RULES), &y.view, t->x, NULL, y.device, NULL,
		     &none) == 0) {
		move_search_init(&x, &y.s, &y.view, t->x, LIST, rng);
		x.parse = &y.parse;
		move_search_set(&x, y.device);
		x.heat = HEAT;
		/* lists of all stages of a search */
		for (uint32_t warm = random_stream_below(&rng, 2) * random_stream_below(&rng, WARM);
		     warm > 0 && move_search_step(&x); warm--)
			;
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

static double value_of_rule(struct pretraining *t, struct study *y, struct evaluator *ev,
			    uint32_t rule)
{
	struct err none = ERR_INIT;

	if (rule_run(rule, &y->view, t->x, NULL, y->device, NULL, &none) < 0)
		return INFINITY;
	const struct place_result *p = place_evaluate(ev, y->device);

	return p->status == PLACE_OK ? p->value : INFINITY;
}

/* y->best becomes the best that rules, draws of the policy and learned moves find. */
static void find_teacher(struct pretraining *t, struct study *y, struct random_stream *rng)
{
	struct shot shot = {.view = &y->view,
			    .s = &y->s,
			    .params = t->x,
			    .parse = &y->parse,
			    .patient = true,
			    .variants = VARIANTS,
			    .seed = random_stream_below(rng, UINT32_MAX)};
	struct err none = ERR_INIT;
	struct move_search x;

	if (shot_run(&shot, y->best, &none) < 0)
		return;
	y->best_value = shot.value;
	struct evaluator *ev = evaluators_take(y->s.ev);

	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t round = random_stream_below(rng, 2 * (y->parse.n_rounds + 1));
		struct decode d = {.rule = DECODE_POLICY,
				   .links = true,
				   .group =
					   round < y->parse.n_rounds ? y->parse.group[round] : NULL,
				   .scorer = &t->x->policy,
				   .params = t->x->p,
				   .draw = rng,
				   .temperature = 0.3 + 0.7 * random_stream_uniform(rng)};

		if (decode_run(&d, &y->view, y->device, &none) == 0)
			keep_if_better(y, ev, y->device);
	}
	y->heft = value_of_rule(t, y, ev, 0);
	y->greedy = value_of_rule(t, y, ev, RULE_POLICY);
	evaluators_put(y->s.ev, ev);
	move_search_init(&x, &y->s, &y->view, t->x, LIST, *rng);
	x.parse = &y->parse;
	move_search_set(&x, y->best);
	do
		x.heat = HEAT * (1 - (double)x.p.used / MOVE_RUNS);
	while (x.p.used < MOVE_RUNS && move_search_step(&x));
	memcpy(y->best, x.p.best, y->problem.m.n_sets * sizeof(*y->best));
	move_search_release(&x);
}

/* Every group goes where most of its work is in y->best: into y->device. */
static void follow_groups(struct study *y, const uint32_t *group)
{
	const struct place_model *m = &y->problem.m;
	double *work = MEM_NEWN(double, (size_t)m->n_sets * m->k);

	for (uint32_t v = 0; v < y->view.n; v++) {
		uint32_t set = m->tasks.task_set[v];

		work[(size_t)group[set] * m->k + y->best[set]] += y->view.mean_s[v];
	}
	for (uint32_t set = 0; set < m->n_sets; set++) {
		const double *own = work + (size_t)group[set] * m->k;
		uint16_t most = y->best[set];

		for (uint32_t p = 0; p < m->k; p++)
			most = own[p] > own[most] ? (uint16_t)p : most;
		y->device[set] = most;
	}
	mem_free(work);
}

/* The gradient of one list schedule that follows the teacher; half of them do not see some features,
 * so that variants that do not (shot.c) are policies that were learned, too. */
static void imitate(struct pretraining *t, struct study *y, struct lesson *l, const uint32_t *group,
		    double share, struct random_stream *rng)
{
	struct err none = ERR_INIT;
	struct scorer scorer = t->x->policy;
	struct decode d = {.rule = DECODE_POLICY,
			   .links = true,
			   .group = group,
			   .scorer = &scorer,
			   .params = t->x->p,
			   .follow = y->best,
			   .grad = l->grad,
			   /* a problem counts for the root of its tasks */
			   .weight = share / sqrt(y->view.n)};
	uint16_t *out = MEM_NEWN(uint16_t, y->problem.m.n_sets);

	if (random_stream_below(rng, 2))
		shot_drop_features(&scorer, rng);
	if (group) {
		follow_groups(y, group);
		d.follow = y->device;
	}
	if (decode_run(&d, &y->view, out, &none) == 0) {
		l->loss += d.loss * d.weight;
		l->n += d.n_choices * d.weight;
	}
	mem_free(out);
}

static void imitate_all(struct pretraining *t, struct study *y, struct lesson *l,
			struct random_stream *rng)
{
	uint32_t n = y->parse.n_rounds;

	imitate(t, y, l, NULL, 0.6, rng);
	if (n)
		imitate(t, y, l, y->parse.group[random_stream_below(rng, n)], 0.4, rng);
	(void)parse_learn(&y->view, t->x, y->best, sqrt(y->view.n), l->grad);
}

/* A checkpoint may have been made by a version that draws other problems. */
static bool fits(const struct place_model *m, const struct known *x)
{
	bool same = x->n_sets == m->n_sets;

	for (uint32_t i = 0; same && i < x->n_sets; i++)
		same = x->best[i] < m->k;
	return same;
}

/* Problems of earlier rounds, with the teachers that were found then. */
static void imitate_again(struct pretraining *t, struct lesson *l, struct random_stream *rng)
{
	uint32_t n = t->s.n_known < KNOWN_KEPT ? t->s.n_known : KNOWN_KEPT;

	for (uint32_t i = 0; i < AGAIN && n > 0; i++) {
		const struct known *old = &t->s.known[random_stream_below(rng, n)];
		struct study y;

		if (!study_init(&y, t, old->number))
			continue;
		if (fits(&y.problem.m, old)) {
			memcpy(y.best, old->best, old->n_sets * sizeof(*y.best));
			imitate_all(t, &y, l, rng);
		}
		study_release(&y);
	}
}

static void learn_policy(void *arg, int task, int thread)
{
	struct pretraining *t = arg;
	struct lesson *l = &t->lesson[task];
	uint32_t number = FEW_NUMBERS + t->s.round * BATCH + (uint32_t)task;
	struct random_stream rng = random_stream_new(t->plan->seed, RANDOM_PRETRAIN, 2, number);
	struct study y;

	(void)thread;
	memset(l->grad, 0, t->x->p->n * sizeof(*l->grad));
	l->loss = l->n = l->score = l->n_score = 0;
	if (!study_init(&y, t, number))
		return;
	find_teacher(t, &y, &rng);
	if (y.greedy < INFINITY && y.heft < INFINITY) {
		l->score = log(y.greedy / y.heft);
		l->n_score = 1;
	}
	if (y.best_value < INFINITY) {
		imitate_all(t, &y, l, &rng);
		l->found.number = number;
		l->found.n_sets = y.problem.m.n_sets;
		l->found.best = mem_copy(y.best, l->found.n_sets, sizeof(*y.best));
	}
	study_release(&y);
	imitate_again(t, l, &rng);
}

/* ---- rounds ---- */

/* The teachers of a round, in the order of the problems. */
static void keep_teachers(struct pretraining *t)
{
	for (int i = 0; i < BATCH; i++) {
		struct known *found = &t->lesson[i].found,
			     *slot = &t->s.known[t->s.n_known % KNOWN_KEPT];

		if (!found->best)
			continue;
		mem_free(slot->best);
		*slot = *found;
		found->best = NULL;
		t->s.n_known++;
	}
}

static struct pretrain_told update(struct pretraining *t, uint32_t n_rounds)
{
	struct pretrain_told told = {.round = t->s.round, .n_rounds = n_rounds};
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
		double left = 1 - (double)t->s.round / n_rounds;

		struct adam *adam = &t->s.adam;

		adam->lr = t->plan->lr * fmin(1, 2 * left) * fmin(1, (t->s.round + 1) / 50.0);
		adam_step(adam, t->x->p->data, sum.grad, params_clip(norm, 1) / sum.n);
	}
	told.loss = sum.n > 0 ? sum.loss / sum.n : 0;
	told.score = sum.n_score > 0 ? sum.score / sum.n_score : 0;
	return told;
}

/* The policy learns from what moves find, moves from where the policy begins. */
static const struct part {
	const char *what, *score_is;
	void (*learn)(void *arg, int task, int thread);
} parts[] = {{"moves", "first choices that gain", learn_moves},
	     {"policy", "log of the makespan by HEFT's", learn_policy},
	     {"moves", "first choices that gain", learn_moves}};
enum { N_PARTS = sizeof(parts) / sizeof(*parts) };

static int keep_state(struct pretraining *t, struct err *e)
{
	return t->plan->checkpoint ? pretrain_state_write(&t->s, t->x, t->plan, e) : 0;
}

/* The rounds of a part that are left. */
static int run_part(struct pretraining *t, uint32_t n, struct pool *pool,
		    void (*tell)(void *arg, const struct pretrain_told *t), void *arg,
		    struct err *e)
{
	const struct part *part = &parts[t->s.part];
	double kept_s = clock_s();

	if (t->s.round == 0) {
		adam_release(&t->s.adam);
		adam_init(&t->s.adam, t->x->p->n, t->plan->lr);
	}
	while (t->s.round < n) {
		pool_run(pool, BATCH, part->learn, t);
		struct pretrain_told told = update(t, n);

		keep_teachers(t);
		told.what = part->what;
		told.score_is = part->score_is;
		if (tell)
			tell(arg, &told);
		t->s.round++;
		if (clock_s() - kept_s >= t->plan->checkpoint_s) {
			if (keep_state(t, e) < 0)
				return -1;
			kept_s = clock_s();
		}
	}
	t->s.part++;
	t->s.round = 0;
	return keep_state(t, e);
}

int pretrain_run(struct learned_params **x, const struct pretrain_plan *plan, struct pool *pool,
		 void (*tell)(void *arg, const struct pretrain_told *t), void *arg, struct err *e)
{
	const uint32_t n[N_PARTS] = {plan->move_rounds / 4, plan->policy_rounds, plan->move_rounds};
	struct pretraining t = {.plan = plan};
	int rc = 0;

	pretrain_state_init(&t.s, *x);
	if (plan->resume)
		rc = pretrain_state_read(&t.s, x, plan, e);
	if (rc == 0 && (t.s.part > N_PARTS || t.s.round > (t.s.part < N_PARTS ? n[t.s.part] : 0)))
		rc = err_set(e, ST_INPUT, "checkpoint '%s': it is behind the last round",
			     plan->checkpoint);
	t.x = *x;
	for (int i = 0; i < BATCH; i++)
		t.lesson[i].grad = MEM_NEWN(float, t.x->p->n);
	while (rc == 0 && t.s.part < N_PARTS)
		rc = run_part(&t, n[t.s.part], pool, tell, arg, e);
	for (int i = 0; i < BATCH; i++)
		mem_free(t.lesson[i].grad);
	pretrain_state_release(&t.s);
	return rc;
}
