/* test_agenda.c - lib/sched/agenda: the earliest gap is the one that looking at every slot finds, over
 * insertions and removals, with long runs of slots that leave no gap, short gaps, and work of no time. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/rng.h"
#include "sched/agenda.h"
#include "tap.h"

enum { CASES = 60, STEPS = 1500 };

static uint32_t counter;

static uint32_t draw(uint32_t bound)
{
	struct rng_addr a = {11, 0, 0, RNG_SEARCH};

	return rng_below(&a, counter++, bound);
}

static double naive(const struct agenda *a, double ready, double cost, size_t *at)
{
	double start = ready;
	size_t i = 0;

	while (i < a->n && a->slot[i].end_s <= ready)
		i++;
	for (; i < a->n && start + cost > a->slot[i].start_s; i++)
		start = fmax(start, a->slot[i].end_s);
	*at = i;
	return start;
}

/* Times of whole units, or of any fraction; now and then one that a double of that size swallows. */
static double draw_cost(uint32_t kind)
{
	static const double small[] = {0, 1e-20, 1e-12};

	if (draw(20) == 0)
		return small[draw(3)];
	return kind ? (1 + draw(5)) * 0.1 : 1 + draw(3);
}

/* Three devices, the last of which takes turns with both others: what is entered does not overlap. */
static bool turns_hold(void)
{
	static const uint8_t turns[9] = {0, 0, 1, 0, 0, 1, 1, 1, 0};
	struct agenda a[3] = {{0}};
	bool ok = true;

	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t dev = draw(3);
		double ready = draw(100), cost = 1 + draw(3);
		size_t at, own_at;
		double start = agendas_earliest_s(a, 3, turns, dev, ready, cost, &at);

		/* Nothing earlier in the device's own gaps is free of the others. */
		ok = ok && start >= agenda_earliest_s(&a[dev], ready, cost, &own_at);
		agenda_insert(&a[dev], at, (struct agenda_slot){start, start + cost, i});
		for (uint32_t o = 0; o < 3; o++)
			for (size_t j = 0; turns[dev * 3 + o] && j < a[o].n; j++)
				ok = ok && (a[o].slot[j].end_s <= start ||
					    a[o].slot[j].start_s >= start + cost);
	}
	for (uint32_t i = 0; i < 3; i++)
		agenda_release(&a[i]);
	return ok;
}

int main(void)
{
	uint32_t wrong = 0, asked = 0, disordered = 0;
	size_t longest = 0;

	for (uint32_t c = 0; c < CASES; c++) {
		struct agenda a = {0};
		double latest = 0;

		for (uint32_t i = 0; i < STEPS; i++) {
			double ready = draw(8) ? 0.01 * draw(200) : latest * draw(100) / 100;
			double cost = draw_cost(c % 2);
			size_t at, want_at;
			double start = agenda_earliest_s(&a, ready, cost, &at);

			asked++;
			wrong += start != naive(&a, ready, cost, &want_at) || at != want_at;
			agenda_insert(&a, at, (struct agenda_slot){start, start + cost, i});
			latest = fmax(latest, start + cost);
			longest = a.n > longest ? a.n : longest;
			if (c % 3 == 0 && draw(4) == 0)
				agenda_remove(&a, draw((uint32_t)a.n));
		}
		for (size_t i = 1; i < a.n; i++)
			disordered += a.slot[i - 1].end_s > a.slot[i].start_s;
		agenda_release(&a);
	}
	tap(wrong == 0,
	    "the first gap is the one that a look at every slot finds (%u of %u differ)", wrong,
	    asked);
	tap(disordered == 0, "slots are in order and do not overlap");
	tap(longest > 8 * AGENDA_BLOCK, "agendas of many blocks (%zu slots)", longest);
	tap(turns_hold(), "devices that take turns: slots of one are gaps of the other");
	return tap_end();
}
