/* problemgen.h - small random placement problems under any rules, with memory limits, twins and sets
 * that share a device. */
#ifndef HSDAG_TESTS_PROBLEMGEN_H
#define HSDAG_TESTS_PROBLEMGEN_H

#include <math.h>
#include <string.h>

#include "graphgen.h"
#include "place/evaluate.h"

enum { DEVICES = 4 };

struct problem {
	struct arena *a;
	struct graph *g;
	struct place_model m;
	struct evaluator *x;
};

static const char *const names[DEVICES] = {"cpu:0", "acc:0", "acc:1", "acc:2"};
static const char *const types[DEVICES] = {"cpu", "accelerator", "accelerator", "accelerator"};

/* A DAG of one output a node; node v reads one or two of the nodes before it. */
static struct graph *make_graph(struct gen *r, uint32_t n)
{
	struct graph *g = gen_columns(n, 2, 1, 1);
	uint32_t m = 0;

	g->n_sets = n;
	g->set = ARENA_NEWN(g->arena, uint32_t, n);
	for (uint32_t v = 0; v < n; v++) {
		g->node_name[v] = g->type[v] = "Node";
		g->opset[v] = "";
		g->set[v] = v;
		for (uint32_t i = 0, k = v ? gen_below(r, 3) : 0; i < k; i++)
			g->in_node[m++] = gen_below(r, v);
		g->in_ptr[v + 1] = m;
		g->out_ptr[v + 1] = g->dim_ptr[v + 1] = v + 1;
		g->out_elem[v] = EL_U8;
		g->out_rank[v] = 1;
		g->out_names[v] = "";
		g->dim[v] = gen_below(r, 5);
	}
	return g;
}

/* Problem `seed` of 2 .. nodes+1 nodes on 2 .. 4 devices; gaps: some devices have no link, some nodes
 * few devices. */
static bool make(struct problem *p, uint64_t seed, enum place_rules rules, uint32_t nodes, bool gaps)
{
	struct gen r = gen_new(seed);
	uint32_t k = 2 + gen_below(&r, DEVICES - 1), n = 2 + gen_below(&r, nodes - 1);
	struct err e = ERR_INIT;

	p->a = arena_new();
	p->g = make_graph(&r, n);
	double *s = ARENA_NEWN(p->a, double, n * k), *move = ARENA_NEWN(p->a, double, n);
	double *lat = ARENA_NEWN(p->a, double, k * k), *bw = ARENA_NEWN(p->a, double, k * k);
	uint64_t *limit = ARENA_NEWN(p->a, uint64_t, k), *mem = ARENA_NEWN(p->a, uint64_t, n);
	uint32_t *together = ARENA_NEWN(p->a, uint32_t, n);
	bool twins = gen_below(&r, 2);

	for (uint32_t v = 0; v < n; v++) {
		for (uint32_t d = 0; d < k; d++)
			s[v * k + d] = twins && d > 1 ? s[v * k + 1] :
				       gen_below(&r, 8) || d == 0 ? 1.0 + gen_below(&r, 9) : -1;
		move[v] = gen_below(&r, 3);
		mem[v] = gen_below(&r, 10);
		together[v] = gen_below(&r, 4) ? v : v / 3;
	}
	for (uint32_t i = 0; i < k * k; i++) {
		lat[i] = i / k == i % k ? 0 : 1;
		bw[i] = i / k == i % k ? INFINITY : 2;
	}
	for (uint32_t i = 0; gaps && i < k * k; i++)
		if (i / k != i % k && gen_below(&r, 5) == 0)
			lat[i] = -1;
	for (uint32_t i = 0; gaps && i < n * k; i++)
		if (gen_below(&r, 6) == 0)
			s[i] = -1;
	for (uint32_t d = 1; d < k; d++)
		limit[d] = 15 + (twins ? 0 : gen_below(&r, 10));
	const struct place_setup setup = {
		.k = k, .names = names, .types = types, .set_s = s, .links = {k, lat, bw}, .mem_limit = limit,
		.contention = true, .overlap = true, .set_mem = mem, .rules = rules, .move_s = move,
		.together = together};
	if (place_model_init(&p->m, p->g, &setup, p->a, &e) < 0)
		return false;
	p->x = evaluator_new(&p->m);
	return true;
}

static void end(struct problem *p)
{
	evaluator_free(p->x);
	graph_free(p->g);
	arena_free(p->a);
}

#endif
