/* placegen.h - small placement problems made up for tests, with everything that a model may have:
 * masks, missing links, ports, memory limits, units of several sets, savings,
 * equivalent devices, watts, objectives, orders. */
#ifndef HSDAG_TESTS_PLACEGEN_H
#define HSDAG_TESTS_PLACEGEN_H

#include <math.h>

#include "graphgen.h"
#include "place/simulate/units.h"

enum { PLACEGEN_DEVICES = 4, PLACEGEN_SETS = 24 };

struct problem {
	struct arena *a;
	struct graph *g;
	struct place_model m;
	struct place_units u;
	struct evaluator *ev;
};

static inline struct place_objective problem_objective(struct gen *r)
{
	static const struct place_objective some[] = {
		{.latency = 0},
		{.throughput = 1},
		{.energy = 1},
		{.memory = 1},
		{.throughput = 1, .limit_s = 9},
		{.latency = 1, .energy = 0.02, .memory = 0.01},
		{.latency = 1, .throughput = 1}};

	return some[gen_below(r, sizeof(some) / sizeof(some[0]))];
}

/* What devices draw and links take: those of equivalent devices are the same, or not. */
static inline struct place_power problem_power(struct gen *r, uint32_t k, bool equivalent,
					       struct arena *a)
{
	double *watts = ARENA_NEWN(a, double, 2 * k), *joules = ARENA_NEWN(a, double, k *k);

	equivalent &= gen_below(r, 2);
	for (uint32_t d = 0; d < k; d++) {
		watts[d] = equivalent && d > 1 ? watts[1] : gen_below(r, 20);
		watts[k + d] = equivalent && d > 1 ? watts[k + 1] : gen_below(r, 8);
	}
	for (uint32_t i = 0; i < k * k; i++)
		joules[i] = i / k == i % k ? 0 : equivalent ? 2 : gen_below(r, 5);
	return (struct place_power){.watts = watts,
				    .idle_watts = watts + k,
				    .j_per_byte = gen_below(r, 2) ? joules : NULL};
}

/* Two pairs of sets that take less together, or none.  They may take more. */
static inline struct place_savings problem_savings(struct gen *r, uint32_t n, uint32_t k,
						   bool equivalent, struct arena *a)
{
	uint32_t *from = ARENA_NEWN(a, uint32_t, 2), *to = ARENA_NEWN(a, uint32_t, 2);
	double *saved = ARENA_NEWN(a, double, 2 * k);
	bool more = gen_below(r, 2);

	for (uint32_t i = 0; i < 2 * k; i++)
		saved[i] =
			equivalent && i % k > 1 ? saved[i - 1] : gen_below(r, 4) - (more ? 2.0 : 0);
	for (uint32_t i = 0; i < 2; i++) {
		from[i] = gen_below(r, n - 1);
		to[i] = from[i] + 1;
	}
	return (struct place_savings){gen_below(r, 2) && from[0] != from[1] ? 2 : 0, from, to,
				      saved};
}

static inline struct sched_links problem_links(struct gen *r, uint32_t k, bool equivalent,
					       struct arena *a)
{
	double *lat = ARENA_NEWN(a, double, k *k), *bw = ARENA_NEWN(a, double, k *k);
	bool holes = !equivalent && !gen_below(r, 3), alone = gen_below(r, 2);

	for (uint32_t i = 0; i < k * k; i++) {
		bool missing = holes && (alone || (i / k && i % k)) && !gen_below(r, 4);

		lat[i] = i / k == i % k ? 0 : missing ? -1 : equivalent ? 1 : 1.0 * gen_below(r, 3);
		bw[i] = i / k == i % k ? INFINITY : 1 + (equivalent ? 1 : gen_below(r, 3));
	}
	return (struct sched_links){.k = k, .latency_s = lat, .bytes_per_s = bw};
}

/* Of every third problem links share ports, of some of which a rate is told; where that differs,
 * devices are not equivalent. */
static inline void problem_ports(uint64_t seed, struct sched_links *l, bool equivalent,
				 struct arena *a)
{
	struct gen r = gen_new(seed ^ 0xbf58476d1ce4e5b9U);
	bool told = gen_below(&r, 2), any = !equivalent || gen_below(&r, 2),
	     apart = gen_below(&r, 2);

	if (gen_below(&r, 3))
		return;
	struct sched_ports *p = sched_ports_new(l->k, 2, a);
	l->ports = p;
	for (uint32_t i = 0; i < l->k * l->k; i++)
		if (i / l->k != i % l->k)
			p->of[i] = !equivalent ? gen_below(&r, 2) : apart && i / l->k && i % l->k;
	for (uint32_t i = 0; told && i < 2 * l->k; i++) {
		p->out_bytes_per_s[i] = any || i < 4 ? gen_below(&r, 3) : p->out_bytes_per_s[i - 2];
		p->in_bytes_per_s[i] = any || i < 4 ? gen_below(&r, 3) : p->in_bytes_per_s[i - 2];
	}
	sched_links_limit(l);
}

/* Rows of bytes below `most` on k devices, those behind the second like it where they are equivalent. */
static inline uint64_t *problem_bytes(struct gen *r, uint32_t rows, uint32_t k, bool equivalent,
				      uint32_t most, struct arena *a)
{
	uint64_t *x = ARENA_NEWN(a, uint64_t, rows * k);

	for (uint32_t i = 0; i < rows * k; i++)
		x[i] = equivalent && i % k > 1 ? x[i - 1] : gen_below(r, most);
	return x;
}

/* Of every third problem what sets hold is measured: on each device something else, values that several
 * need, room while they run. */
static inline struct place_held problem_held(uint64_t seed, uint32_t n, uint32_t k, bool equivalent,
					     struct arena *a)
{
	struct gen r = gen_new(seed ^ 0x9e3779b97f4a7c15U);
	uint32_t *ptr = ARENA_NEWN(a, uint32_t, 3), *set = ARENA_NEWN(a, uint32_t, 2 * n);

	if (gen_below(&r, 3))
		return (struct place_held){0};
	for (uint32_t i = 0; i < 2; i++) {
		ptr[i + 1] = ptr[i];
		for (uint32_t v = gen_below(&r, 3); v < n; v += 1 + gen_below(&r, 4))
			set[ptr[i + 1]++] = v;
	}
	return (struct place_held){.set = problem_bytes(&r, n, k, equivalent, 10, a),
				   .inner = problem_bytes(&r, n, k, equivalent, 4, a),
				   .n_shared = 2,
				   .shared = problem_bytes(&r, 2, k, equivalent, 6, a),
				   .shared_ptr = ptr,
				   .shared_set = set,
				   .work = problem_bytes(&r, 1, k, equivalent, 3, a)};
}

/* Problem `seed` of 2 .. max_sets sets on 2 .. 4 devices; training: the second half mirrors the
 * first, and stays with it.  false: the sets depend on each other in a circle. */
static inline bool problem_make(struct problem *p, uint64_t seed, enum place_rules rules,
				uint32_t max_sets, bool training)
{
	static const char *const names[] = {"cpu:0", "acc:0", "acc:1", "acc:2"};
	static const char *const types[] = {"cpu", "accelerator", "accelerator", "accelerator"};
	struct gen r = gen_new(seed);
	uint32_t k = 2 + gen_below(&r, PLACEGEN_DEVICES - 1), n = 2 + gen_below(&r, max_sets - 1);
	struct err e = ERR_INIT;

	n += training ? n % 2 : 0;
	p->a = arena_new();
	p->g = gen_nodes(&r, n, training);
	bool equivalent = gen_below(&r, 2), limited = gen_below(&r, 3), slow = !gen_below(&r, 4);
	double *s = ARENA_NEWN(p->a, double, n *k), *move = ARENA_NEWN(p->a, double, n);
	uint64_t *limit = ARENA_NEWN(p->a, uint64_t, k), *mem = ARENA_NEWN(p->a, uint64_t, n);
	uint32_t *together = ARENA_NEWN(p->a, uint32_t, n);

	for (uint32_t v = 0; v < n; v++) {
		bool free = !gen_below(&r, 5);
		double next_to_none = gen_below(&r, 2) ? 0 : 1e-20;

		for (uint32_t d = 0; d < k; d++)
			s[v * k + d] = equivalent && d > 1                   ? s[v * k + 1]
				       : !free && !gen_below(&r, 8) && d > 0 ? -1
				       : free                                ? next_to_none
									     : gen_below(&r, 10);
		move[v] = gen_below(&r, 12) ? gen_below(&r, 30) / 10.0 : 1.1e13; /* for ever */
		mem[v] = gen_below(&r, 10);
		together[v] = training ? (v < n / 2 ? v : n - 1 - v) : gen_below(&r, 4) ? v : v / 3;
	}
	for (uint32_t d = 0; d < k; d++)
		limit[d] = limited && d ? 15 + (equivalent ? 0 : gen_below(&r, 10)) : 0;
	struct place_setup setup = {.k = k,
				    .names = names,
				    .types = types,
				    .set_s = s,
				    .links = problem_links(&r, k, equivalent, p->a),
				    .mem_limit = limit,
				    .contention = gen_below(&r, 3),
				    .overlap = gen_below(&r, 3),
				    .policy = (enum sched_policy)gen_below(&r, 3),
				    .objective = problem_objective(&r),
				    .power = problem_power(&r, k, equivalent, p->a),
				    .saved = problem_savings(&r, n, k, equivalent, p->a),
				    .set_mem = mem,
				    .held = rules == PLACE_SCHEDULE
						    ? problem_held(seed, n, k, equivalent, p->a)
						    : (struct place_held){0},
				    .slowdown = slow ? 0.3 : 0,
				    .multi_slowdown = slow ? 0.1 : 0,
				    .rules = rules,
				    .move_s = move,
				    .together = together};
	problem_ports(seed, &setup.links, equivalent, p->a);
	if (place_model_init(&p->m, p->g, &setup, p->a, &e) < 0)
		return false;
	place_units_init(&p->u, &p->m, p->a);
	p->ev = evaluator_new(&p->m);
	return true;
}

static inline void problem_end(struct problem *p)
{
	evaluator_free(p->ev);
	graph_free(p->g);
	arena_free(p->a);
}

/* The next placement of units (all on device 0 at first): false after the last. */
static inline bool problem_next(const struct problem *p, uint16_t *unit_dev)
{
	for (uint32_t i = 0; i < p->u.n; i++) {
		if (++unit_dev[i] < p->m.k)
			return true;
		unit_dev[i] = 0;
	}
	return false;
}

/* What the rules say; INFINITY: not legal. */
static inline double problem_value(const struct problem *p, const uint16_t *unit_dev)
{
	uint16_t device[PLACEGEN_SETS] = {0};

	for (uint32_t i = 0; i < p->u.n; i++)
		place_unit_set(&p->u, i, unit_dev[i], device);
	const struct place_result *r = place_evaluate(p->ev, device);

	return r->status == PLACE_OK ? r->value : INFINITY;
}

#endif
