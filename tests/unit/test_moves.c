/* test_moves.c - lib/place/moves: placements that differ in a few sets, asked for in the ways in
 * which searches do, are what they are from the beginning; and what is called above a limit is. */
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

int main(void)
{
	struct count c = {0};

	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct gen r = gen_new(seed + 5000);
		struct problem p;

		if (!problem_make(&p, seed, PLACE_SCHEDULE, SETS, false))
			continue;
		search(&p, &r, &c);
		problem_end(&p);
	}
	tap(c.asked && c.same + c.stopped == c.asked,
	    "moved placements are as from the beginning (%u of %u)", c.same, c.asked - c.stopped);
	tap(c.wrong == 0 && c.stopped > 50, "what is above a limit is (%u)", c.stopped);
	tap(c.illegal > c.asked / 50, "placements that cannot be were among them (%u)", c.illegal);
	return tap_end();
}
