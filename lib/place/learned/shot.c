/* shot.c - list schedules by rules, and the best of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "place/learned/shot.h"

enum { MOST_LISTED = 128 };
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

/* params: not NULL where rule i is the policy. */
static struct decode rule_decode(uint32_t i, const struct learned_params *params,
				 const uint32_t *group)
{
	struct decode x = {.rule = rules[i].rule, .links = rules[i].links, .group = group};

	if (x.rule == DECODE_POLICY) {
		x.scorer = &params->policy;
		x.params = params->p;
	}
	return x;
}

int rule_run(uint32_t i, const struct cost_view *view, const struct learned_params *params,
	     const uint32_t *group, uint16_t *device, double *makespan_s, struct err *e)
{
	if (rules[i].rule == DECODE_POLICY && !params)
		return err_set(e, ST_RUNTIME, "no parameters of the policy");
	struct decode x = rule_decode(i, params, group);
	int rc = decode_run(&x, view, device, e);

	if (makespan_s)
		*makespan_s = x.makespan_s;
	return rc;
}

/* A list schedule. */
struct listed {
	uint16_t *device; /* (n_sets) */
	uint64_t hash;
	double makespan_s; /* of its own schedule, in which it was placed */
	const char *who;
	uint32_t number;
};

/* All of them, of which no two are alike. */
struct listing {
	const struct shot *x;
	struct arena *a;
	uint32_t n, n_run;   /* the others were like one of these */
	uint32_t n_left_out; /* as in struct shot */
	struct listed list[MOST_LISTED];
	uint16_t *try; /* (n_sets) of the next one */
};

/* Takes y->try in. */
static void add(struct listing *y, double makespan_s, const char *who)
{
	uint32_t n_sets = y->x->view->m->n_sets;
	uint64_t hash = digest_of(y->try, n_sets * sizeof(*y->try), 0);

	for (uint32_t i = 0; i < y->n; i++)
		if (y->list[i].hash == hash)
			return;
	if (y->n == MOST_LISTED)
		return;
	y->list[y->n] = (struct listed){y->try, hash, makespan_s, who, y->n};
	y->n++;
	y->try = ARENA_NEWN(y->a, uint16_t, n_sets);
}

/* Runs d, which has half of the time that is left, and HEFT the rest; false: no placement, or no time. */
static bool decode_in_time(struct listing *y, struct decode *d)
{
	double end_s = y->x->deadline_s, now_s = end_s > 0 ? clock_s() : 0;
	struct err none = ERR_INIT;

	if (end_s > 0 && now_s > end_s && y->n) {
		y->n_left_out++;
		return false;
	}
	if (end_s > 0) {
		d->deadline_s = fmin(end_s, now_s + (end_s - now_s) / 2);
		d->end_s = end_s;
	}
	int rc = decode_run(d, y->x->view, y->try, &none);

	y->n_left_out += d->n_late || d->n_last;
	return rc == 0;
}

static void add_rule(struct listing *y, uint32_t rule, const uint32_t *group)
{
	const struct shot *x = y->x;

	if (rule == RULE_POLICY && !x->params)
		return;
	struct decode d = rule_decode(rule, x->params, group);

	y->n_run++;
	if (decode_in_time(y, &d))
		add(y, d.makespan_s, rule_names[rule]);
}

/* Tasks times devices above which there is time for the rules alone, without groups; above which for
 * the policy and the look-ahead rank alone; that all list schedules together may have, variants
 * being the last of them, where a search that takes longer follows and where none does. */
static const double LARGE = 1.2e4, VERY_LARGE = 1e6, SEARCH_ALL = 2.4e5, SHOT_ALL = 1.1e5;

static double cells(const struct shot *x)
{
	return x->patient ? 1 : (double)x->view->n * x->view->k;
}

static void add_rules(struct listing *y)
{
	for (uint32_t i = N_RULES; i-- > 0;)
		if (i == RULE_POLICY || i == RULE_AHEAD || cells(y->x) <= VERY_LARGE)
			add_rule(y, i, NULL);
}

/* Groups placed as one, by the rules that gain by it. */
static void add_groups(struct listing *y, const uint32_t *group)
{
	static const uint32_t by[] = {RULE_POLICY, RULE_AHEAD, 0};

	for (uint32_t i = 0; group && cells(y->x) <= LARGE && i < sizeof(by) / sizeof(by[0]); i++)
		add_rule(y, by[i], group);
}

void shot_drop_features(struct scorer *scorer, struct random_stream *rng)
{
	for (uint32_t j = 0; j < DECODE_FEATURES; j++)
		if (random_stream_uniform(rng) < DROP)
			scorer->off |= (uint64_t)1 << j;
}

/* Variants of the policy that do not see some features, each its own: where one misleads on graphs
 * unlike those that were learned from, another variant does better (dropout as an ensemble: Y. Gal,
 * Z. Ghahramani, ICML 2016). */
static void add_variants(struct listing *y)
{
	const struct shot *x = y->x;
	struct random_stream rng = random_stream_new(x->seed, RANDOM_MOVES, 1, 0);
	double most = (x->most ? SEARCH_ALL : SHOT_ALL) / cells(x) - y->n_run;

	for (uint32_t i = 0; x->params && i < x->variants && i + 1 <= most; i++) {
		struct scorer scorer = x->params->policy;
		struct decode d = {.rule = DECODE_POLICY,
				   .links = true,
				   .scorer = &scorer,
				   .params = x->params->p};

		shot_drop_features(&scorer, &rng);
		if (decode_in_time(y, &d))
			add(y, d.makespan_s, "a variant of the policy");
	}
}

/* The shorter in front, of equal ones the earlier. */
static int by_makespan(const void *pa, const void *pb)
{
	const struct listed *a = pa, *b = pb;

	if (a->makespan_s != b->makespan_s)
		return a->makespan_s < b->makespan_s ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void simulate(struct shot *x, struct evaluator *ev, struct listed *y, uint16_t *device)
{
	uint32_t moved;
	const struct place_result *p = place_repaired(ev, &x->s->traffic, y->device, &moved);

	x->used++;
	if (p->status != PLACE_OK || !(p->value < x->value))
		return;
	x->value = p->value;
	x->who = y->who;
	memcpy(device, y->device, x->view->m->n_sets * sizeof(*device));
}

int shot_run(struct shot *x, uint16_t *device, struct err *e)
{
	struct evaluator *ev = evaluators_take(x->s->ev);
	struct listing y = {.x = x, .a = arena_new()};

	y.try = ARENA_NEWN(y.a, uint16_t, x->view->m->n_sets);
	x->value = INFINITY;
	x->who = "nobody";
	add_rules(&y);
	add_groups(&y, x->group);
	for (uint32_t i = 0; x->parse && i < x->parse->n_rounds; i++)
		add_groups(&y, x->parse->group[i]);
	add_variants(&y);
	qsort(y.list, y.n, sizeof(*y.list), by_makespan);
	/* where a run is dear, those that are not legal are passed over */
	for (uint32_t i = 0; i < y.n && (!x->most || x->used < x->most || x->value == INFINITY);
	     i++) {
		if (x->value < INFINITY && method_is_late(x->deadline_s))
			y.n_left_out++;
		else
			simulate(x, ev, &y.list[i], device);
	}
	x->n_left_out = y.n_left_out;
	arena_free(y.a);
	evaluators_put(x->s->ev, ev);
	return x->value < INFINITY ? 0 : err_set(e, ST_RUNTIME, "no list schedule is legal");
}
