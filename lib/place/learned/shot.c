/* shot.c - list schedules by rules, and the best of them. */
#include <math.h>
#include <string.h>

#include "place/learned/shot.h"

static const double DROP = 0.1; /* share of features that a variant of the policy does not see */

static const struct {
	enum decode_rule rule;
	bool links;
} rules[N_RULES] = {{DECODE_EARLIEST, false},
		    {DECODE_EARLIEST, true},
		    {DECODE_LOOKAHEAD, true},
		    {DECODE_OPTIMISTIC, true},
		    {DECODE_POLICY, true}};
const char *const rule_names[] = {"heft", "contention", "look-ahead rank", "optimistic costs",
				  "policy"};

int rule_run(uint32_t i, const struct cost_view *view, const struct learned_params *params,
	     const uint32_t *group, uint16_t *device, struct err *e)
{
	struct decode x = {.rule = rules[i].rule, .links = rules[i].links, .group = group};

	if (rules[i].rule == DECODE_POLICY) {
		if (!params)
			return err_set(e, ST_RUNTIME, "no parameters of the policy");
		x.scorer = &params->policy;
		x.params = params->p;
	}
	return decode_run(&x, view, device, e);
}

static void keep_if_better(struct shot *x, struct evaluator *ev, uint16_t *try, uint16_t *device,
			   const char *who)
{
	uint32_t moved;
	const struct place_result *p = place_repaired(ev, &x->s->traffic, try, &moved);

	x->used++;
	if (p->status != PLACE_OK || !(p->value < x->value))
		return;
	x->value = p->value;
	x->who = who;
	memcpy(device, try, x->view->m->n_sets * sizeof(*device));
}

/* Tasks times devices above which there is time for the rules alone, without groups and variants;
 * and for the policy and the look-ahead rank alone. */
static const double LARGE = 1.2e4, VERY_LARGE = 1e6;

static double cells(const struct shot *x)
{
	return x->patient ? 0 : (double)x->view->n * x->view->k;
}

/* Groups placed as one, by the rules that gain by it. */
static void run_groups(struct shot *x, const uint32_t *group, struct evaluator *ev, uint16_t *try,
		       uint16_t *device)
{
	static const uint32_t by[] = {RULE_POLICY, RULE_AHEAD, 0};
	struct err none = ERR_INIT;

	uint32_t n = sizeof(by) / sizeof(by[0]);

	for (uint32_t i = 0; group && cells(x) <= LARGE && i < n; i++)
		if ((by[i] != RULE_POLICY || x->params) && (!x->most || x->used < x->most) &&
		    rule_run(by[i], x->view, x->params, group, try, &none) == 0)
			keep_if_better(x, ev, try, device, rule_names[by[i]]);
}

/* Variants of the policy that do not see some features, each its own: where one misleads on graphs
 * unlike those that were learned from, another variant does better (dropout as an ensemble: Y. Gal,
 * Z. Ghahramani, ICML 2016). */
static void run_variants(struct shot *x, struct evaluator *ev, uint16_t *try, uint16_t *device)
{
	struct random_stream rng = random_stream_new(x->seed, RANDOM_MOVES, 1, 0);
	struct err none = ERR_INIT;

	for (uint32_t i = 0;
	     x->params && cells(x) <= LARGE && i < x->variants && (!x->most || x->used < x->most);
	     i++) {
		struct scorer scorer = x->params->policy;
		struct decode d = {.rule = DECODE_POLICY,
				   .links = true,
				   .scorer = &scorer,
				   .params = x->params->p};

		for (uint32_t j = 0; j < DECODE_FEATURES; j++)
			if (random_stream_uniform(&rng) < DROP)
				scorer.off |= (uint64_t)1 << j;
		if (decode_run(&d, x->view, try, &none) == 0)
			keep_if_better(x, ev, try, device, "a variant of the policy");
	}
}

int shot_run(struct shot *x, uint16_t *device, struct err *e)
{
	struct evaluator *ev = evaluators_take(x->s->ev);
	uint16_t *try = MEM_NEWN(uint16_t, x->view->m->n_sets);
	struct err none = ERR_INIT;

	x->value = INFINITY;
	x->who = "nobody";
	for (uint32_t i = N_RULES; i-- > 0 && (!x->most || x->used < x->most);)
		if ((i != RULE_POLICY || x->params) &&
		    (i == RULE_POLICY || i == RULE_AHEAD || cells(x) <= VERY_LARGE) &&
		    rule_run(i, x->view, x->params, NULL, try, &none) == 0)
			keep_if_better(x, ev, try, device, rule_names[i]);
	run_groups(x, x->group, ev, try, device);
	for (uint32_t i = 0; x->parse && i < x->parse->n_rounds; i++)
		run_groups(x, x->parse->group[i], ev, try, device);
	run_variants(x, ev, try, device);
	mem_free(try);
	evaluators_put(x->s->ev, ev);
	return x->value < INFINITY ? 0 : err_set(e, ST_RUNTIME, "no list schedule is legal");
}
