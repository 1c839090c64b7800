/* test_learned.c - lib/place/learned and what it learns with: gradients beside differences, features
 * that know neither units of time nor numbers of devices, groups that may share a device, slack and
 * critical chains, moves, the same parameters on any number of threads. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "learn/pretrain/pretrain.h"
#include "learn/pretrain/synthetic.h"
#include "place/learned/move_search.h"
#include "place/learned/propose.h"
#include "place/learned/shot.h"
#include "tap.h"

enum { PROBLEMS = 60, TASKS = 60 };

struct setting {
	struct synthetic p;
	struct method_run run;
	struct search_context s;
	struct cost_view view;
	uint16_t *device;
};

static void setting_init(struct setting *x, uint32_t number)
{
	synthetic_init(&x->p, 7, number, TASKS);
	x->run = (struct method_run){.m = &x->p.m, .seed = 1, .threads = 1, .a = x->p.a};
	search_context_init(&x->s, &x->run);
	cost_view_init(&x->view, &x->p.m, x->p.a);
	x->device = ARENA_NEWN(x->p.a, uint16_t, x->p.m.n_sets);
}

static void setting_release(struct setting *x)
{
	search_context_release(&x->s);
	synthetic_release(&x->p);
}

/* ---- scorers ---- */

static double weighted(const struct scorer *s, const struct params *p, const float *x, uint32_t n,
		       const float *w)
{
	float score[8];
	double sum = 0;

	scorer_run(s, p, x, n, score);
	for (uint32_t i = 0; i < n; i++)
		sum += (double)w[i] * score[i];
	return sum;
}

static void check_gradient(void)
{
	struct params *p = params_new();
	struct scorer s = scorer_add(p, "s", 6, SCORER_SMALL);
	float x[5 * 6], w[5] = {1, -0.5f, 0, 2, 0.25f};
	struct random_stream rng = random_stream_new(3, RANDOM_PRETRAIN, 9, 9);
	double worst = 0, most = 0;

	params_alloc(p);
	params_init(p, 3, 0);
	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		x[i] = (float)(2 * random_stream_uniform(&rng) - 1);
	float *grad = MEM_NEWN(float, p->n);

	scorer_back(&s, p, x, 5, w, grad);
	for (size_t i = 0; i < p->n; i++) {
		float was = p->data[i], h = 1e-3f;

		p->data[i] = was + h;
		double up = weighted(&s, p, x, 5, w);
		p->data[i] = was - h;
		double down = weighted(&s, p, x, 5, w);
		p->data[i] = was;
		worst = fmax(worst, fabs((up - down) / (2 * h) - grad[i]));
		most = fmax(most, fabs(grad[i]));
	}
	tap(most > 0.1 && worst < 5e-3, "a scorer's gradient is that of differences (%g of %g)",
	    worst, most);
	mem_free(grad);
	params_free(p);
}

/* ---- what does not matter ---- */

/* The problem of x with all times multiplied, or its devices in the reverse order. */
static void changed_model(const struct setting *x, double factor, bool reverse,
			  struct place_model *m)
{
	const struct place_model *from = &x->p.m;
	uint32_t k = from->k, n = from->tasks.dag.n;
	struct arena *a = x->p.a;
	double *s = ARENA_NEWN(a, double, (size_t)n *k), *lat = ARENA_NEWN(a, double, k *k);
	double *rate = ARENA_NEWN(a, double, k *k);
	struct err e = ERR_INIT;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t p = 0; p < k; p++) {
			double v = from->set_s[(size_t)i * k + p];

			s[(size_t)i * k + (reverse ? k - 1 - p : p)] = v < 0 ? v : v * factor;
		}
	for (uint32_t i = 0; i < k * k; i++) {
		uint32_t to = reverse ? k * k - 1 - i : i;

		lat[to] = from->costs.links.latency_s[i] * factor;
		rate[to] = from->costs.links.bytes_per_s[i] / factor;
	}
	const struct place_setup setup = {.k = k,
					  .names = from->names,
					  .set_s = s,
					  .links = {.k = k, .latency_s = lat, .bytes_per_s = rate},
					  .mem_limit = from->mem_limit,
					  .contention = from->costs.contention,
					  .overlap = from->costs.overlap,
					  .policy = from->costs.policy};
	if (place_model_init(m, x->p.g, &setup, a, &e) < 0)
		tap(false, "%s", e.msg);
}

static double shot_value(const struct place_model *m, const struct learned_params *params,
			 struct arena *a)
{
	struct method_run run = {.m = m, .seed = 1, .threads = 1, .a = a};
	struct search_context s;
	struct cost_view view;
	struct err e = ERR_INIT;
	uint16_t *device = ARENA_NEWN(a, uint16_t, m->n_sets);
	double value = INFINITY;

	search_context_init(&s, &run);
	cost_view_init(&view, m, a);
	if (rule_run(RULE_POLICY, &view, params, NULL, device, NULL, &e) == 0) {
		struct evaluator *ev = evaluators_take(s.ev);

		value = place_evaluate(ev, device)->value;
		evaluators_put(s.ev, ev);
	}
	search_context_release(&s);
	return value;
}

static void check_invariance(const struct learned_params *params)
{
	uint32_t scaled = 0, turned = 0, n = 0;

	for (uint32_t i = 0; i < PROBLEMS; i++) {
		struct setting x;
		struct place_model by_time, by_order;

		setting_init(&x, i);
		changed_model(&x, 1024, false, &by_time);
		changed_model(&x, 1, true, &by_order);
		double value = shot_value(&x.p.m, params, x.p.a);
		double time = shot_value(&by_time, params, x.p.a) / 1024;
		double order = shot_value(&by_order, params, x.p.a);

		n++;
		scaled += fabs(time - value) <= 1e-9 * value;
		turned += fabs(order - value) <= 1e-6 * value;
		setting_release(&x);
	}
	tap(scaled == n, "the policy does not know the unit of time: %u of %u", scaled, n);
	/* Devices of equal scores may be different ones: the first has it then. */
	tap(turned >= n - n / 6, "nor the numbers of devices: %u of %u", turned, n);
}

/* ---- groups ---- */

static void check_groups(const struct learned_params *params)
{
	uint32_t wrong = 0, fewer = 0, problems = 0;

	for (uint32_t i = 0; i < PROBLEMS; i++) {
		struct setting x;
		struct parse parse;

		setting_init(&x, i);
		parse_run(&parse, &x.view, &x.s.u, params, x.p.a);
		problems += x.view.n > 8;
		fewer += x.view.n > 8 && parse.n_rounds > 0 && parse.n_groups[0] < x.p.m.n_sets;
		for (uint32_t r = 0; r < parse.n_rounds; r++)
			for (uint32_t g = 0; g < parse.n_groups[r]; g++) {
				bool any = false;

				for (uint32_t p = 0; p < x.p.m.k; p++) {
					bool all = true;

					for (uint32_t s = 0; s < x.p.m.n_sets; s++)
						all &= parse.group[r][s] != g ||
						       place_allowed(&x.p.m, s, p);
					any |= all;
				}
				wrong += !any;
			}
		setting_release(&x);
	}
	tap(wrong == 0, "every group of a parsing has a device that can run all of it");
	/* a group is at most half of a device's share, and there may be many devices */
	tap(2 * fewer > problems, "parsing joins: %u of %u", fewer, problems);
}

/* ---- schedules ---- */

/* A task that ends later by no more than its slack lengthens nothing: its cost is raised by that,
 * one task at a time.  The order of tasks may change by it, which slack does not see: most hold. */
static void check_slack(void)
{
	uint32_t asked = 0, held = 0, chains = 0, ends = 0;

	for (uint32_t i = 0; i < PROBLEMS; i++) {
		struct setting x;
		struct err e = ERR_INIT;

		setting_init(&x, i);
		struct incumbent_view *y = incumbent_view_new(&x.view, &x.s.u);

		if (rule_run(1, &x.view, NULL, NULL, x.device, NULL, &e) == 0 &&
		    incumbent_view_set(y, x.device)) {
			double makespan = y->t->makespan_s;
			uint32_t last = y->n_chain - 1;

			chains++;
			/* from time 0 to the end, nothing late on the way */
			ends += y->t->end_s[y->chain[0]] == makespan &&
				y->t->start_s[y->chain[last]] <= 1e-12 * makespan;
			for (uint32_t j = 0; j < y->n_chain; j++)
				held += fabs(incumbent_slack_s(y, y->chain[j])) <= 1e-9 * makespan;
			asked += y->n_chain;
			for (uint32_t v = 0; v < x.view.n; v++) {
				asked++;
				held += incumbent_slack_s(y, v) >= -1e-9 * makespan;
			}
		}
		incumbent_view_free(y);
		setting_release(&x);
	}
	tap(ends == chains && chains > 50,
	    "critical chains go from the end to the beginning: %u of %u", ends, chains);
	/* a copy that waits for its link gives its maker slack */
	tap(held >= asked - asked / 10, "no slack on them, no slack below 0: %u of %u", held,
	    asked);
}

/* ---- moves ---- */

static void check_moves(const struct learned_params *params)
{
	uint32_t worse = 0, better = 0, problems = 0;

	for (uint32_t i = 0; i < PROBLEMS; i++) {
		struct setting x;
		struct move_search y;
		struct shot shot;
		struct err e = ERR_INIT;

		setting_init(&x, i);
		shot = (struct shot){.view = &x.view, .s = &x.s};
		if (shot_run(&shot, x.device, &e) == 0) {
			move_search_init(&y, &x.s, &x.view, params, 32,
					 random_stream_new(1, RANDOM_MOVES, 0, 0));
			move_search_set(&y, x.device);
			problems++;
			worse += y.p.value != shot.value;
			for (uint32_t j = 0; j < 40 && move_search_step(&y); j++)
				;
			struct evaluator *ev = evaluators_take(x.s.ev);

			worse += y.p.best_value > shot.value ||
				 place_evaluate(ev, y.p.best)->value != y.p.best_value;
			better += y.p.best_value < shot.value;
			evaluators_put(x.s.ev, ev);
			move_search_release(&y);
		}
		setting_release(&x);
	}
	tap(worse == 0, "a search by moves is never below its start, and knows its best");
	tap(better * 3 > problems, "and gains: %u of %u", better, problems);
}

static void check_proposals(const struct learned_params *params)
{
	uint32_t wrong = 0, n_lists = 0;

	for (uint32_t i = 0; i < PROBLEMS; i++) {
		struct setting x;
		struct err e = ERR_INIT;
		const struct rng_addr at = {
			.seed = 5, .episode = 2, .step = 1, .stream = RNG_ACTION};
		double value;

		setting_init(&x, i);
		struct proposer *y = proposer_new(&x.p.m, &e);
		uint16_t *next = ARENA_NEWN(x.p.a, uint16_t, x.p.m.n_sets);

		if (proposer_shot(y, params, NULL, x.device, &value, &e) == 0) {
			struct proposals a =
				proposer_list(y, params, x.device, &at, NULL, NULL, 0, 16);
			uint64_t first = a.n ? a.patch[0].hash : 0, tried;
			uint32_t n = a.n;

			if (n > 1) {
				n_lists++;
				proposer_apply(y, x.device, 0, next);
				tried = placement_hash(next, x.p.m.n_sets);
				wrong += memcmp(next, x.device, x.p.m.n_sets * sizeof(*next)) == 0;
				a = proposer_list(y, params, x.device, &at, NULL, NULL, 0, 16);
				wrong += a.n != n || a.patch[0].hash != first;
				a = proposer_list(y, params, x.device, &at, NULL, &tried, 1, 16);
				for (uint32_t j = 0; j < a.n; j++)
					wrong += a.patch[j].hash == first;
			}
		}
		proposer_free(y);
		setting_release(&x);
	}
	tap(wrong == 0 && n_lists > 40,
	    "lists of proposals are the same again, without what was tried (%u)", n_lists);
}

/* Units of a patch are where it takes them from, each once, and change places where it is a swap. */
static void check_swaps(const struct learned_params *params)
{
	const struct rng_addr at = {.seed = 5, .episode = 2, .step = 1, .stream = RNG_ACTION};
	uint32_t wrong = 0, n_swaps = 0, n_patches = 0;

	for (uint32_t i = 0; i < PROBLEMS; i++) {
		struct setting x;
		struct err e = ERR_INIT;
		double value;

		setting_init(&x, i);
		struct proposer *y = proposer_new(&x.p.m, &e);
		uint16_t *next = ARENA_NEWN(x.p.a, uint16_t, x.p.m.n_sets);
		struct proposals a = {0};

		if (proposer_shot(y, params, NULL, x.device, &value, &e) == 0)
			a = proposer_list(y, params, x.device, &at, NULL, NULL, 0, 16);
		for (uint32_t j = 0; j < a.n; j++) {
			const struct patch *p = &a.patch[j];
			uint32_t changed = 0, in_units = 0;

			proposer_apply(y, x.device, j, next);
			for (uint32_t s = 0; s < x.p.m.n_sets; s++)
				changed += next[s] != x.device[s];
			for (uint32_t u = 0; u < p->n; u++) {
				uint32_t unit = p->unit[u];
				uint16_t from = x.device[x.s.u.set[x.s.u.ptr[unit]]];

				in_units += x.s.u.ptr[unit + 1] - x.s.u.ptr[unit];
				wrong += from != (u < p->n - p->n_back ? p->from : p->to);
				wrong += patch_target(p, u) == from;
			}
			wrong += changed != in_units || p->n_back >= p->n;
			n_swaps += p->n_back > 0;
			n_patches++;
		}
		proposer_free(y);
		setting_release(&x);
	}
	tap(wrong == 0, "a patch takes its units from where they are, each once");
	tap(10 * n_swaps > n_patches && n_swaps < n_patches, "some patches are swaps: %u of %u",
	    n_swaps, n_patches);
}

/* Of few evaluations those are made that look best before; all are never worse. */
static void check_shots(const struct learned_params *params)
{
	uint32_t wrong = 0, near = 0;

	for (uint32_t i = 0; i < PROBLEMS; i++) {
		struct setting x;
		struct err e = ERR_INIT;

		setting_init(&x, i);
		struct shot all = {.view = &x.view, .s = &x.s, .params = params, .variants = 8},
			    few = all;

		few.most = 3;
		wrong += shot_run(&all, x.device, &e) < 0 || shot_run(&few, x.device, &e) < 0;
		wrong += few.used > 3 || all.used > N_RULES + 8 || all.value > few.value;
		near += few.value <= 1.02 * all.value;
		setting_release(&x);
	}
	tap(wrong == 0, "list schedules: as many are simulated as may be");
	tap(4 * near > 3 * PROBLEMS, "those that look best are near the best of all: %u of %u",
	    near, PROBLEMS);
}

/* ---- learning ---- */

static void last_score(void *arg, const struct pretrain_told *t)
{
	double *score = arg;

	score[t->round == 0 ? 0 : 1] = t->score;
}

/* Keeps what the checkpoint was before the second round of each part. */
static void keep_checkpoint(void *arg, const struct pretrain_told *t)
{
	uint32_t *n = arg;
	char name[40];

	if (t->round != 1 || access("pretrain.ck", F_OK) != 0)
		return;
	snprintf(name, sizeof(name), "pretrain.ck.%u", ++*n);
	(void)unlink(name);
	if (link("pretrain.ck", name) < 0)
		--*n;
}

/* From there on it ends as if it had not been ended. */
static void check_resumed(struct pretrain_plan plan, const struct learned_params *whole)
{
	static const struct opt_common common = OPT_COMMON_INIT;
	const struct filter f = {.common = &common};
	struct pool *pool = pool_new(1, NULL);
	struct err e = ERR_INIT;
	uint32_t n = 0, same = 0, resumed = 0;
	char name[40];

	plan.f = &f;
	plan.checkpoint = "pretrain.ck";
	(void)unlink(plan.checkpoint);
	for (uint32_t i = 0; i <= n; i++) {
		struct learned_params *x = learned_params_new(2);
		bool first = i == 0;

		snprintf(name, sizeof(name), "pretrain.ck.%u", i);
		plan.resume = !first;
		plan.checkpoint = first ? "pretrain.ck" : name;
		resumed += !first;
		if (pretrain_run(&x, &plan, pool, first ? keep_checkpoint : NULL, &n, &e) < 0)
			printf("# %s\n", e.msg);
		else if (memcmp(x->p->data, whole->p->data, x->p->n * sizeof(float)) == 0)
			same++;
		learned_params_free(x);
		(void)unlink(plan.checkpoint);
	}
	pool_free(pool);
	tap(resumed == 2 && same == 1 + resumed,
	    "a pretraining that is resumed within a part gives the same");
}

static void check_pretrain(void)
{
	const struct pretrain_plan plan = {
		.seed = 2, .most_tasks = 40, .move_rounds = 4, .policy_rounds = 2, .lr = 2e-3};
	struct learned_params *x[2];
	struct err e = ERR_INIT;
	double score[2];
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		struct pool *pool = pool_new(1 + i, NULL);

		x[i] = learned_params_new(2);
		rc |= pretrain_run(&x[i], &plan, pool, last_score, score, &e);
		pool_free(pool);
	}
	tap(rc == 0 && memcmp(x[0]->p->data, x[1]->p->data, x[0]->p->n * sizeof(float)) == 0,
	    "pretraining gives the same parameters on one thread and on two");
	check_resumed(plan, x[0]);
	learned_params_free(x[1]);
	x[1] = learned_params_new(2);
	tap(memcmp(x[0]->p->data, x[1]->p->data, x[0]->p->n * sizeof(float)) != 0, "and others");
	learned_params_free(x[0]);
	learned_params_free(x[1]);
}

int main(void)
{
	struct err e = ERR_INIT;
	const struct learned_params *params = learned_params_default(&e);

	if (!tap(params != NULL, "parameters are built in: %s", e.msg))
		return tap_end();
	check_gradient();
	check_invariance(params);
	check_groups(params);
	check_slack();
	check_moves(params);
	check_proposals(params);
	check_swaps(params);
	check_shots(params);
	check_pretrain();
	return tap_end();
}
