/* test_moves.c - lib/place/moves: placements that differ in a few sets, asked for in the ways in
 * which searches do, are what they are from the beginning; and what is called above a limit is.  Orders that are kept. */
#include <math.h>
#include <string.h>

#include "placegen.h"
#include "tap.h"

enum { CASES = 400, MOVES = 40, SETS = 12 };

struct count {
	uint32_t asked, same, stopped, wrong, illegal;
};

/* Without limits and where the objective does not ask, moves do not look at `inner`. */
static bool memory_matters(const struct place_model *m)
{
	bool limited = !m->inner || m->objective.memory > 0;

	for (uint32_t d = 0; d < m->k; d++)
		limited |= m->mem_limit[d] > 0;
	return limited;
}

static bool same(const struct place_model *m, const struct place_result *a,
		 const struct place_result *b)
{
	if (a->status != b->status)
		return false;
	if (a->status != PLACE_OK && a->status != PLACE_MEMORY)
		return true;
	return a->value == b->value && a->lat_s == b->lat_s && a->copies == b->copies &&
	       a->copy_bytes == b->copy_bytes &&
	       memcmp(a->busy_s, b->busy_s, m->k * sizeof(*a->busy_s)) == 0 &&
	       (!memory_matters(m) ||
		memcmp(a->mem_bytes, b->mem_bytes, m->k * sizeof(*a->mem_bytes)) == 0);
}

/* Some units move; then they stay, or move back, or one of them moves on. */
static void search(struct problem *p, struct gen *r, struct count *c)
{
	struct evaluator *x = evaluator_new(&p->m);
	uint16_t device[PLACEGEN_SETS] = {0}, was[PLACEGEN_SETS], next[PLACEGEN_SETS];

	place_begin(x, device);
	for (int i = 0; i < MOVES; i++) {
		memcpy(was, device, sizeof(was));
		for (uint32_t n = 1 + gen_below(r, 2); n > 0; n--)
			place_unit_set(&p->u, gen_below(r, p->u.n), gen_below(r, p->m.k), device);
		for (uint32_t s = 0; s < p->m.n_sets; s++)
			if (device[s] != was[s])
				place_move(x, s, device[s]);
		const struct place_result *b = place_evaluate(p->ev, device);
		double limit =
			gen_below(r, 2) ? b->value * (0.6 + 0.1 * gen_below(r, 6)) : INFINITY;
		const struct place_result *a = place_moved_below(x, limit);

		c->asked++;
		c->illegal += b->status == PLACE_CANNOT_RUN || b->status == PLACE_NO_LINK;
		c->stopped += a->status == PLACE_ABOVE;
		if (a->status == PLACE_ABOVE)
			c->wrong += b->value <= limit;
		else
			c->same += same(&p->m, a, b);
		if (gen_below(r, 2)) {
			memcpy(next, device, sizeof(next));
			memcpy(device, was, sizeof(next));
			for (uint32_t s = 0; s < p->m.n_sets; s++)
				if (device[s] != next[s])
					place_move(x, s, device[s]);
		}
		/* Another question in between, which leaves no base behind. */
		if (i % 16 == 15)
			place_evaluate(x, was);
	}
	evaluator_free(x);
}

/* An order that was searched is followed by an evaluator that searches none, with the same result; moves afterwards are by
 * rank again. */
static void keep(struct problem *p, struct gen *r, struct count *c)
{
	struct place_model better = p->m, plain = p->m;
	struct arena *a = arena_new();
	struct kept_order o = kept_order_new(&p->m, a);
	uint16_t device[PLACEGEN_SETS] = {0};

	better.costs.policy = SCHED_IMPROVED;
	plain.costs.policy = SCHED_IMPROVED;
	place_model_keeps(&plain);
	struct evaluator *x = evaluator_new(&better), *y = evaluator_new(&plain);
	for (int i = 0; i < MOVES; i++) {
		place_unit_set(&p->u, gen_below(r, p->u.n), gen_below(r, p->m.k), device);
		const struct place_result *b = place_evaluate(x, device);
		if (b->status != PLACE_OK && b->status != PLACE_MEMORY)
			continue;
		place_keep_order(x, &o);
		double by_rank = place_evaluate(y, device)->lat_s;
		c->asked++;
		c->stopped += by_rank != b->lat_s;
		c->same += same(&p->m, place_evaluate_in(y, device, &o), b);
		place_begin(y, device);
		c->wrong += place_moved_below(y, INFINITY)->lat_s != by_rank;
	}
	evaluator_free(x);
	evaluator_free(y);
	arena_free(a);
}

int main(void)
{
	struct count c = {0}, kept = {0};

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct gen r = gen_new(seed + 5000);
		struct problem p;

		if (!problem_make(&p, seed, PLACE_SCHEDULE, SETS, false))
			continue;
		search(&p, &r, &c);
		keep(&p, &r, &kept);
		problem_end(&p);
	}
	tap(c.asked && c.same + c.stopped == c.asked,
	    "moved placements are as from the beginning (%u of %u)", c.same, c.asked - c.stopped);
	tap(c.wrong == 0 && c.stopped > 50, "what is above a limit is (%u)", c.stopped);
	tap(c.illegal > c.asked / 50, "placements that cannot be were among them (%u)", c.illegal);
	tap(kept.same == kept.asked && kept.wrong == 0 && kept.stopped > kept.asked / 50,
	    "orders are kept (%u of %u, %u of them not by rank)", kept.same, kept.asked,
	    kept.stopped);
	return tap_end();
}
