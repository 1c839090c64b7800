/* separators_method.c - the method `spine`: the best pieces of dnnpart-latency along the separators
 * of the graph (separators.h); tasks between pieces are on CPUs.  Pieces are packed into
 * accelerators. A placement that is not legal then, for instance because there is no CPU, is
 * repaired. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/simulate/dnnpart.h"
#include "place/method/method.h"
#include "place/bound/bound_parts.h"
#include "place/bound/separators.h"

static const double NEAR = 1e-9; /* relative: as good as the bound */

struct packing {
	const struct bound_view *v;
	uint32_t n; /* pieces */
	/* (n+1) of piece i, where 0 is the CPU: memory; first and last position (separators.h);
	 * device */
	uint64_t *mem;
	uint32_t *begin, *end;
	uint16_t *dev;
	uint64_t *left; /* (k) */
	uint16_t cpu;
};

static uint16_t first_cpu(const struct place_model *m)
{
	for (uint32_t d = 0; d < m->k; d++)
		if (dnnpart_is_cpu(m, d))
			return (uint16_t)d;
	return 0;
}

/* Would two pieces become one on the same accelerator, because no task has to come between them? */
static bool may_join(const struct packing *x, uint32_t a, uint32_t b)
{
	return x->begin[a] <= x->end[b] + 2 && x->begin[b] <= x->end[a] + 2;
}

/* Where a piece fits with least to spare; the CPU when it fits nowhere. */
static uint16_t best_fit(const struct packing *x, uint32_t piece)
{
	uint16_t best = x->cpu;

	for (uint32_t d = 0; d < x->v->k; d++) {
		bool may = !dnnpart_is_cpu(x->v->m, d) && x->left[d] >= x->mem[piece];

		for (uint32_t j = 1; may && j <= x->n; j++)
			may = x->dev[j] != d || !may_join(x, piece, j);
		if (may && (best == x->cpu || x->left[d] < x->left[best]))
			best = (uint16_t)d;
	}
	return best;
}

/* Best fit decreasing (Johnson, 1973). */
static uint32_t pack_splits(struct packing *x)
{
	bool *done = MEM_NEWN(bool, x->n + 1);
	uint32_t left_out = 0;

	for (uint32_t i = 1; i <= x->n; i++)
		x->dev[i] = x->cpu;
	for (uint32_t d = 0; d < x->v->k; d++)
		x->left[d] = x->v->limit[d];
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t largest = 0;

		for (uint32_t j = 1; j <= x->n; j++)
			if (!done[j] && (largest == 0 || x->mem[j] > x->mem[largest]))
				largest = j;
		done[largest] = true;
		x->dev[largest] = best_fit(x, largest);
		left_out += x->dev[largest] == x->cpu;
		if (x->dev[largest] != x->cpu)
			x->left[x->dev[largest]] -= x->mem[largest];
	}
	mem_free(done);
	return left_out;
}

struct separators_run {
	struct method_run *r;
	struct bound_view v;
	struct evaluator *ev;
	uint16_t *device; /* (n_sets) */
	double best;      /* value of r->device; INFINITY: nothing legal yet */
	bool any;         /* r->device is filled in */
	uint32_t length, pieces, left_out;
};

/* Packs pieces into devices and keeps the placement when it is the best so far. */
static void try_splits(void *arg, const struct separators *s, const uint32_t *piece, uint32_t n)
{
	struct separators_run *run = arg;
	const struct bound_view *v = &run->v;
	struct arena *a = arena_new();
	struct packing x = {.v = v,
			    .n = n,
			    .mem = ARENA_NEWN(a, uint64_t, (size_t)n + 1),
			    .begin = ARENA_NEWN(a, uint32_t, (size_t)n + 1),
			    .end = ARENA_NEWN(a, uint32_t, (size_t)n + 1),
			    .dev = ARENA_NEWN(a, uint16_t, (size_t)n + 1),
			    .left = ARENA_NEWN(a, uint64_t, v->k),
			    .cpu = first_cpu(v->m)};

	memset(x.begin, 0xff, ((size_t)n + 1) * sizeof(*x.begin));
	for (uint32_t t = 0; t < v->n; t++) {
		uint32_t i = piece[t], at = s->position[t];

		x.mem[i] += v->m->task_mem[(size_t)t * v->k];
		x.begin[i] = at < x.begin[i] ? at : x.begin[i];
		x.end[i] = at > x.end[i] ? at : x.end[i];
	}
	x.dev[0] = x.cpu;
	uint32_t left_out = pack_splits(&x);
	for (uint32_t t = v->n; t-- > 0;)
		place_unit_set(v->u, v->unit_of[t], x.dev[piece[t]], run->device);
	arena_free(a);
	const struct place_result *p = place_evaluate(run->ev, run->device);
	double value = p->status == PLACE_OK ? p->value : INFINITY;
	if (run->any && !(value < run->best))
		return;
	memcpy(run->r->device, run->device, v->m->n_sets * sizeof(*run->device));
	run->best = value;
	run->any = true;
	run->length = s->n;
	run->pieces = n;
	run->left_out = left_out;
}

static int run_separators(struct method_run *r, struct err *e)
{
	struct separators_run x = {.r = r, .best = INFINITY};
	struct place_units u;
	struct reach g;

	if (r->m->rules != PLACE_DNNPART_LATENCY)
		return err_set(e, ST_USAGE, "spine is about dnnpart-latency alone");
	if (r->m->tasks.dag.n > REACH_MAX_TASKS)
		return err_set(e, ST_RUNTIME, "spine: more than %d tasks", REACH_MAX_TASKS);
	place_units_init(&u, r->m, r->a);
	bound_view_init(&x.v, &u, r->a);
	reach_init(&g, &x.v, r->a);
	x.ev = evaluator_new(r->m);
	x.device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	for (uint32_t i = 0; i < r->m->n_sets; i++)
		x.device[i] = first_cpu(r->m);
	double bound = separators_priced(&g, false, try_splits, &x);
	if (x.any && x.best > bound * (1 + NEAR))
		separators_priced(&g, true, try_splits, &x);
	evaluator_free(x.ev);
	if (!x.any)
		return err_set(e, ST_RUNTIME, "spine: some task can run nowhere");
	r->bound_s = bound * (1 - 1e-9);
	snprintf(r->note, sizeof(r->note),
		 "%u tasks on the spine, %u pieces, %u of them without an accelerator "
		 "that has room",
		 x.length, x.pieces, x.left_out);
	method_mend(r, &u);
	return r->emit(r, e);
}

const struct place_method method_spine = {
	.name = "spine",
	.needs_costs = true,
	.about = "dnnpart-latency: the best pieces along a chain of layers",
	.source = "Narayanan et al., PipeDream, SOSP 2019, section 3.1, for blocks",
	.run = run_separators,
	.scope = SCOPE_DNNPART_LATENCY,
};
