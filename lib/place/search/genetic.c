/* genetic.c - a genetic algorithm: L. Wang, H. J. Siegel, V. P. Roychowdhury, A. A. Maciejewski,
 * "Task matching and scheduling in heterogeneous computing environments using a genetic-algorithm-
 * based approach", Journal of Parallel and Distributed Computing 47(1), 1997.  A chromosome is
 * their matching string, the device of every unit; who runs first is the scheduler's.  Parents are
 * cut at one point of a topological order and exchange tails, elitism keeps the best; the first
 * generation has placements of heuristics and others near them.  Mutation is a move of
 * search_state.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/search/walks.h"

enum { POPULATION = 48, ELITE = 4, TOURNAMENT = 3, SEEDS = 2 * N_STARTS };
static const double PRICE = 10; /* of memory beyond a limit */

struct member {
	double energy;
	uint16_t *unit_dev; /* (units) */
};

struct breed {
	struct search_state *p;
	uint32_t n;      /* units */
	uint16_t *genes; /* (2,POPULATION,units) two generations */
	struct member now[POPULATION], next[POPULATION];
};

static int by_energy(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;

	if (a->energy != b->energy)
		return a->energy < b->energy ? -1 : 1;
	return a->unit_dev < b->unit_dev ? -1 : 1;
}

static void read_genes(const struct breed *x, struct member *to)
{
	for (uint32_t i = 0; i < x->n; i++)
		to->unit_dev[i] = search_context_device(x->p->s, x->p->device, i);
	to->energy = x->p->energy;
}

/* The chromosome, mutated this many times, as it lives. */
static void evaluate_member(struct breed *x, struct member *m, uint32_t mutations)
{
	search_state_move_all(x->p, m->unit_dev);
	search_state_keep(x->p);
	for (uint32_t i = 0; i < mutations; i++)
		if (search_state_draw_move(x->p))
			search_state_keep(x->p);
	search_state_evaluate(x->p, INFINITY);
	read_genes(x, m);
}

static const struct member *select_parent(struct breed *x)
{
	const struct member *best = NULL;

	for (int i = 0; i < TOURNAMENT; i++) {
		const struct member *m = &x->now[random_stream_below(&x->p->rng, POPULATION)];

		if (!best || m->energy < best->energy)
			best = m;
	}
	return best;
}

/* The head of one parent and the tail of the other, in one of the topological orders. */
static void cross(struct breed *x, const struct member *a, const struct member *b,
		  struct member *child)
{
	const uint32_t *order = x->p->s->order[random_stream_below(&x->p->rng, 2)];
	uint32_t at = random_stream_below(&x->p->rng, x->n + 1);

	for (uint32_t i = 0; i < x->n; i++)
		child->unit_dev[order[i]] = (i < at ? a : b)->unit_dev[order[i]];
}

/* Where the walk is, the kinds of starts, and mutants of all of these. */
static void first_generation(struct breed *x, const struct limits *limits)
{
	struct search_state *p = x->p;
	uint16_t *device = MEM_NEWN(uint16_t, p->s->m->n_sets);

	read_genes(x, &x->now[0]);
	for (uint32_t i = 1; i < POPULATION; i++) {
		struct member *m = &x->now[i];

		m->energy = INFINITY;
		memcpy(m->unit_dev, x->now[i % SEEDS < i ? i % SEEDS : 0].unit_dev,
		       x->n * sizeof(*m->unit_dev));
		if (limits_spent(limits, p->used) >= 1)
			continue;
		if (i < SEEDS) {
			search_context_start(p->s, p->rng.a.seed, i - 1, device);
			for (uint32_t j = 0; j < x->n; j++)
				m->unit_dev[j] = search_context_device(p->s, device, j);
		}
		evaluate_member(x, m, i < SEEDS ? 0 : 1 + random_stream_below(&p->rng, 4));
	}
	mem_free(device);
	qsort(x->now, POPULATION, sizeof(x->now[0]), by_energy);
}

static void next_generation(struct breed *x, const struct limits *limits)
{
	struct member old[POPULATION];

	for (uint32_t i = 0; i < POPULATION; i++) {
		struct member *m = &x->next[i];

		if (i < ELITE || limits_spent(limits, x->p->used) >= 1) {
			memcpy(m->unit_dev, x->now[i].unit_dev, x->n * sizeof(*m->unit_dev));
			m->energy = x->now[i].energy;
			continue;
		}
		cross(x, select_parent(x), select_parent(x), m);
		evaluate_member(x, m, random_stream_below(&x->p->rng, 3));
	}
	memcpy(old, x->now, sizeof(old));
	memcpy(x->now, x->next, sizeof(old));
	memcpy(x->next, old, sizeof(old));
	qsort(x->now, POPULATION, sizeof(x->now[0]), by_energy);
}

static void evolve(struct search_state *p, const struct limits *limits, double heat)
{
	struct breed x = {.p = p, .n = p->s->u.n};

	(void)heat;
	x.genes = MEM_NEWN(uint16_t, 2 * POPULATION * (size_t)x.n);
	for (uint32_t i = 0; i < POPULATION; i++) {
		x.now[i].unit_dev = x.genes + (size_t)i * x.n;
		x.next[i].unit_dev = x.genes + (size_t)(POPULATION + i) * x.n;
	}
	p->price = PRICE;
	search_state_refresh(p);
	first_generation(&x, limits);
	while (limits_spent(limits, p->used) < 1)
		next_generation(&x, limits);
	mem_free(x.genes);
}

static int run_genetic(struct method_run *r, struct err *e)
{
	static const struct walks walks = {
		.method = &method_genetic, .walk = evolve, .purpose = RANDOM_GENETIC};

	walks_run(&walks, r);
	return r->emit(r, e);
}

const struct place_method method_genetic = {
	.name = "genetic",
	.needs_costs = true,
	.about = "a genetic algorithm seeded with heuristics",
	.source = "Wang, Siegel, Roychowdhury, Maciejewski, JPDC 47(1), 1997",
	.run = run_genetic,
	.evals = EVALS_WHOLE,
};
