/* parts_method.c - operations in parts: each part on a device of its own. */
#include <stdio.h>

#include "place/method/method.h"

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

static int run_parts(struct method_run *r, struct err *e)
{
	const struct graph *g = r->m->g;
	uint32_t whole = fastest(r->m);
	if (!g->part)
		snprintf(r->note, sizeof r->note, "no operation is in parts; dagsplit makes them");
	for (uint32_t i = 0; i < r->m->n_sets; i++)
		r->device[i] = (uint16_t)whole;
	for (uint32_t v = 0; g->part && v < g->n; v++)
		if (g->set[v] != GRAPH_NONE && g->part[v] != GRAPH_NONE)
			r->device[g->set[v]] = (uint16_t)(g->part[v] % r->m->k);
	return r->emit(r, e);
}

const struct place_method method_parts = {
	.name = "parts",
	.about = "part k of operations on device k, the rest on the fastest",
	.source = "-",
	.run = run_parts,
};
