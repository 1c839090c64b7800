/* test_agenda.c - lib/sched/agenda: the earliest gap is the one that looking at every slot finds, over
 * insertions and removals, with long runs of slots that leave no gap, short gaps, and work of no time. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/rng.h"
#include "sched/agenda.h"
#include "tap.h"

enum { CASES = 60, STEPS = 1500, LONG = 10000 }; /* of the first two cases */

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

/* Seconds without a gap but for one in front of slot `gap`: is it found from the beginning? */
static bool finds_gap(size_t gap)
{
	enum { N = 3 * AGENDA_BLOCK * AGENDA_BLOCK };
	struct agenda a = {0};
	size_t at, later;

	for (uint32_t i = 0; i < N; i++) {
		double start = i + (i >= gap);

		agenda_insert(&a, i, (struct agenda_slot){start, start + 1, i});
	}
	bool ok = agenda_earliest_s(&a, 0.5, 1, &at) == (double)gap && at == gap &&
		  agenda_earliest_s(&a, 0.5, 1.5, &later) == N + 1 && later == N;

	agenda_insert(&a, at, (struct agenda_slot){(double)gap, (double)gap + 1, N});
	ok = ok && agenda_earliest_s(&a, 0.5, 1, &later) == N + 1;
	agenda_remove(&a, gap);
	ok = ok && agenda_earliest_s(&a, 0.5, 1, &later) == (double)gap;
	agenda_release(&a);
	return ok;
}

int main(void)
{
	uint32_t wrong = 0, asked = 0, disordered = 0;
	size_t longest = 0;

	for (uint32_t c = 0; c < CASES; c++) {
		struct agenda a = {0};
		double latest = 0;

		for (uint32_t i = 0; i < (c < 2 ? LONG : STEPS); i++) {
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
	tap(longest > 2 * AGENDA_BLOCK * AGENDA_BLOCK, "agendas of several wide blocks (%zu slots)",
	    longest);
	tap(turns_hold(), "devices that take turns: slots of one are gaps of the other");
	bool found = true;

	for (size_t gap = AGENDA_BLOCK; gap < 3 * AGENDA_BLOCK * AGENDA_BLOCK; gap = 2 * gap + 77)
		found = found && finds_gap(gap) && finds_gap(gap / AGENDA_BLOCK * AGENDA_BLOCK);
	tap(found, "one gap among thousands of slots is found, filled, and found again");
	return tap_end();
}
