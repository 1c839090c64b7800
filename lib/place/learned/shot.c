/* shot.c - list schedules by rules, and the best of them. */
#include <math.h>
#include <string.h>

#include "place/learned/shot.h"

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
	     uint16_t *device, struct err *e)
{
	struct decode x = {.rule = rules[i].rule, .links = rules[i].links};

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

int shot_run(struct shot *x, uint16_t *device, struct err *e)
{
	struct evaluator *ev = evaluators_take(x->s->ev);
	uint16_t *try = MEM_NEWN(uint16_t, x->view->m->n_sets);
	struct err none = ERR_INIT;

	x->value = INFINITY;
	x->who = "nobody";
	for (uint32_t i = N_RULES; i-- > 0 && (!x->most || x->used < x->most);)
		if ((i != RULE_POLICY || x->params) &&
		    rule_run(i, x->view, x->params, try, &none) == 0)
			keep_if_better(x, ev, try, device, rule_names[i]);
	mem_free(try);
	evaluators_put(x->s->ev, ev);
	return x->value < INFINITY ? 0 : err_set(e, ST_RUNTIME, "no list schedule is legal");
}
