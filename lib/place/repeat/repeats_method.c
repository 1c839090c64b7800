/* repeats_method.c - layers that repeat are searched once: the method `repeats`.  The model is shortened to a few of its
 * blocks (shortened.h), list schedules and searches place that, and each block that is left says where all those are for
 * which it stands.  How many should be left depends on what memory asks for: with one, all layers are spread over the
 * devices in the same way, as experts are; with many, they move from device to device.  So powers of two are tried.
 *
 * Searches begin with the fewest blocks that are nearly as good as any number by list schedules, for there a simulation takes
 * the least; then they go on with twice as many from what was found, as multilevel methods do (B. Hendrickson, R. Leland, "A
 * multilevel algorithm for partitioning graphs", Supercomputing 1995).  What counts is always the value of the whole placement,
 * made legal where it is not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "place/repeat/shortened.h"
#include "place/search/search_context.h"

/* Of the budget, until when list schedules of shortened models go on. */
static const double LISTS_SHARE = 0.5;
static const double NEARLY = 1.001; /* a start is as good shortened as whole */
static const double NEAR = 1.01;    /* fewer blocks are worth a search */
static const double FAR = 1.1;
enum { DEFAULT_EVALS = 2000, MOST_RUNGS = 32 };

/* A shortened model, and the best placement of the whole that came from it. */
struct rung {
	struct arena *a; /* its own memory, too: the context has its address */
	struct shortened s;
	struct search_context context;
	uint16_t *device; /* (sets of s.m) */
	double value;     /* of the whole; INFINITY: none is legal */
};

struct repeats_search {
	struct method_run *r;
	struct search_context context;
	struct evaluator *ev;
	struct repeats x;
	struct limits limits;
	uint16_t *device, *best; /* (sets of the whole) at hand; best */
	double value;            /* INFINITY: nothing is legal */
	struct rung *rung;       /* at hand */
	struct rung *rungs[MOST_RUNGS];
	struct method_run sub; /* of its model */
	uint64_t used;
	uint32_t n_tasks, n_tried; /* of the model that is searched; placements of the whole */
};

static bool is_over(const struct repeats_search *x, double share)
{
	return x->value < INFINITY && limits_spent(&x->limits, x->used) >= share;
}

/* The whole placement in x->device; better: it is the best of its rung, whose placement is `from`. */
static bool consider(struct repeats_search *x, const uint16_t *from)
{
	struct rung *g = x->rung;
	uint32_t moved;

	shortened_expand(&g->s, &x->context.u, from, x->device);
	const struct place_result *p =
		place_repaired(x->ev, &x->context.traffic, x->device, &moved);

	x->used++;
	x->n_tried++;
	if (p->status != PLACE_OK)
		return false;
	if (p->value < x->value) {
		x->value = p->value;
		memcpy(x->best, x->device, x->r->m->n_sets * sizeof(*x->best));
	}
	if (!(p->value < g->value))
		return false;
	g->value = p->value;
	memmove(g->device, from, g->s.m.n_sets * sizeof(*from));
	return true;
}

static int consider_sub(struct method_run *sub, struct err *e)
{
	struct repeats_search *x =
		(struct repeats_search *)((char *)sub - offsetof(struct repeats_search, sub));

	(void)e;
	consider(x, sub->device);
	return 0;
}

/* Runs a method on the model of the rung, with a share of the budget; evals: most simulations, where the clock counts. */
static void run_sub(struct repeats_search *x, const struct place_method *method,
		    const uint16_t *start, double share, uint64_t evals)
{
	struct err none = ERR_INIT;
	const struct method_run *r = x->r;

	x->sub = (struct method_run){.m = &x->rung->s.m,
				     .seed = r->seed,
				     .threads = r->threads,
				     .start = start,
				     .evals = evals,
				     .names = r->names,
				     .k = r->k,
				     .a = arena_new(),
				     .context = &x->rung->context,
				     .emit = consider_sub};
	x->sub.device = ARENA_NEWN(x->sub.a, uint16_t, x->rung->s.m.n_sets);
	if (r->budget_s > 0) {
		x->sub.budget_s = fmax(0.001, share * r->budget_s);
		x->sub.began_s = clock_s();
	}
	if (x->limits.evals < UINT64_MAX && evals) {
		x->sub.evals = 1 + (uint64_t)(share * (double)x->limits.evals);
		x->used += x->sub.evals;
	}
	if (method->run(&x->sub, &none) < 0)
		err_clear(&none);
	arena_free(x->sub.a);
}

static struct rung *rung_new(struct repeats_search *x, uint32_t most)
{
	struct method_run sub = {.a = arena_new()};
	struct rung *g = ARENA_NEWN(sub.a, struct rung, 1);

	*g = (struct rung){.a = sub.a, .value = INFINITY};
	shortened_init(&g->s, x->r->m, &x->x, most, g->a);
	sub.m = &g->s.m;
	search_context_init(&g->context, &sub);
	g->device = ARENA_NEWN(g->a, uint16_t, g->s.m.n_sets);
	return g;
}

static void rung_free(struct rung *g)
{
	search_context_release(&g->context);
	arena_free(g->a);
}

static uint32_t most_blocks(const struct repeats *x)
{
	uint32_t most = 0;

	for (uint32_t j = 0; j < x->n; j++)
		most = x->run[j].n > most ? x->run[j].n : most;
	return most;
}

/* The rung of twice as many blocks as the one before; NULL: there is none. */
static struct rung *next_rung(struct repeats_search *x, uint32_t i)
{
	uint32_t left = i ? 2 * x->rungs[i - 1]->s.most : 1;

	if (left >= most_blocks(&x->x) || i == MOST_RUNGS)
		return NULL;
	if (!x->rungs[i])
		x->rungs[i] = rung_new(x, left);
	return x->rungs[i];
}

static void consider_whole(struct repeats_search *x, const uint16_t *device)
{
	uint16_t *from = ARENA_NEWN(x->rung->a, uint16_t, x->rung->s.m.n_sets);

	shortened_project(&x->rung->s, device, from);
	consider(x, from);
}

/* The first rung whose placements by list schedules, or by what is left of the start, are nearly as good as those of any.  *found:
 * the start alone is.  Twice as many blocks that gain nothing twice are the last, where they are not far from the start. */
static uint32_t first_rung(struct repeats_search *x, double start_value, bool *found)
{
	double least = INFINITY;
	uint32_t n = 0, first = 0, in_vain = 0;

	*found = false;
	for (; (!n || !is_over(x, LISTS_SHARE)) && in_vain < 2 && next_rung(x, n); n++) {
		x->rung = x->rungs[n];
		if (x->r->start)
			consider_whole(x, x->r->start);
		if (x->rung->value <= NEARLY * start_value) {
			*found = true;
			return n;
		}
		run_sub(x, &method_heft, NULL, LISTS_SHARE, 0);
		run_sub(x, &method_lookahead_rank, NULL, LISTS_SHARE, 0);
		in_vain = least <= FAR * start_value && x->rung->value * NEAR > least ? in_vain + 1
										      : 0;
		least = fmin(least, x->rung->value);
	}
	while (first + 1 < n && !(x->rungs[first]->value <= NEAR * least))
		first++;
	return first;
}

/* Half of what is left for a rung, half of that for learned moves; the last one has all. */
static void search_from(struct repeats_search *x, double start_value)
{
	bool found;
	uint32_t i = first_rung(x, start_value, &found);
	bool plain = x->r->arg != NULL, last = false;

	x->rung = x->rungs[i];
	if (!found && !is_over(x, LISTS_SHARE))
		run_sub(x, &method_priced, NULL, LISTS_SHARE / 4, 0);
	while (x->rung->value < INFINITY && !last && !is_over(x, 1)) {
		struct rung *next = next_rung(x, i + 1);
		uint64_t evals = (uint64_t)AMPLE_EVALS * x->rung->context.u.n;
		double left = 1 - limits_spent(&x->limits, x->used);

		last = !next;
		if (!plain)
			run_sub(x, &method_learned_moves, x->rung->device,
				left * (last ? 0.5 : 0.25), evals);
		run_sub(x, &method_anneal, x->rung->device,
			left * (plain ? 2 : 1) * (last ? 0.5 : 0.25), evals);
		if (last || is_over(x, 1))
			break;
		i++;
		x->rung = next;
		consider_whole(x, x->best);
	}
}

static int run_repeats(struct method_run *r, struct err *e)
{
	struct repeats_search x = {.r = r, .value = INFINITY};
	double start_value = 0;

	if (r->arg && strcmp(r->arg, "plain") != 0)
		return err_set(e, ST_USAGE, "'repeats:%s': it goes as 'repeats' or 'repeats:plain'",
			       r->arg);
	if (method_one_case(r, "repeats", e) < 0)
		return -1;
	repeats_find(&x.x, r->m, r->a);
	if (x.x.n == 0)
		return method_single_instead(r, "no blocks that repeat are half of the graph", e);
	x.limits = limits_of(r, DEFAULT_EVALS);
	search_context_init(&x.context, r);
	x.ev = evaluators_take(x.context.ev);
	x.device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	x.best = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	if (r->start) {
		const struct place_result *p = place_evaluate(x.ev, r->start);

		if (p->status == PLACE_OK) {
			x.value = start_value = p->value;
			memcpy(x.best, r->start, r->m->n_sets * sizeof(*x.best));
		}
	}
	search_from(&x, start_value);
	snprintf(r->note, sizeof(r->note),
		 "%u of %u tasks were searched, %u of %u blocks, value %.6g of %u placements",
		 x.rung->s.m.n_sets, r->m->tasks.dag.n, x.rung->s.most, most_blocks(&x.x), x.value,
		 x.n_tried);
	for (uint32_t i = 0; i < MOST_RUNGS && x.rungs[i]; i++)
		rung_free(x.rungs[i]);
	evaluators_put(x.context.ev, x.ev);
	search_context_release(&x.context);
	if (x.value == INFINITY)
		return err_set(e, ST_RUNTIME, "repeats: none of %u placements is legal", x.n_tried);
	memcpy(r->device, x.best, r->m->n_sets * sizeof(*x.best));
	return r->emit(r, e);
}

const struct place_method method_repeats = {
	.name = "repeats",
	.arg = "plain",
	.needs_costs = true,
	.about = "equal layers are searched once, copied; plain: nothing learned",
	.source = "Hendrickson, Leland, Supercomputing 1995, for fewer blocks first",
	.run = run_repeats,
	.scope = SCOPE_SCHEDULES,
	.evals = EVALS_WHOLE,
};
