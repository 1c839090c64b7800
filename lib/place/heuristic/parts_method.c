/* parts_method.c - operations in parts: each part on a device of its own. */
#include <stdio.h>

#include "place/method/method.h"
#include "sched/turns.h"

/* The device that computes the whole model soonest: what belongs to no part is there. */
static uint32_t fastest(const struct place_model *m)
{
	uint32_t best = 0;
	double least = -1;
	for (uint32_t dev = 0; dev < m->k; dev++) {
		double s = 0;
		bool can = true;
		for (uint32_t i = 0; i < m->n_sets; i++) {
			double one = m->set_s[(size_t)i * m->k + dev];
			can &= one >= 0;
			s += one;
		}
		if (can && (least < 0 || s < least)) {
			least = s;
			best = dev;
		}
	}
	return best;
}

/* What may not be where it is goes to the first device that it, and what shares its device, may have. */
static void keep_to_masks(struct method_run *r)
{
	const struct place_model *m = r->m;
	bool *may = ARENA_NEWN(r->a, bool, (size_t)m->n_sets * m->k);
	place_allowed_together(m, may);
	for (uint32_t s = 0; s < m->n_sets; s++) {
		uint32_t first = m->together ? m->together[s] : s;
		const bool *row = may + (size_t)first * m->k;
		uint16_t d = 0;
		if (first != s)
			r->device[s] = r->device[first];
		else if (!row[r->device[s]]) {
			while (d + 1U < m->k && !row[d])
				d++;
			r->device[s] = d;
		}
	}
}

static int run_parts(struct method_run *r, struct err *e)
{
	const struct graph *g = r->m->g;
	uint32_t whole = fastest(r->m), *dev = ARENA_NEWN(r->a, uint32_t, (size_t)r->m->k + 1),
		 n = sched_apart(r->m->costs.turns, r->m->k, dev);
	if (!g->part)
		snprintf(r->note, sizeof r->note, "no operation is in parts; dagsplit makes them");
	for (uint32_t i = 0; i < r->m->n_sets; i++)
		r->device[i] = (uint16_t)whole;
	for (uint32_t v = 0; g->part && v < g->n; v++)
		if (g->set[v] != GRAPH_NONE && g->part[v] != GRAPH_NONE)
			r->device[g->set[v]] = (uint16_t)dev[g->part[v] % n];
	keep_to_masks(r);
	return r->emit(r, e);
}

const struct place_method method_parts = {
	.name = "parts",
	.about = "part k on device k of those apart, the rest on the fastest",
	.source = "-",
	.run = run_parts,
};
