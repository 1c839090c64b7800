/* evaluate_impl.h - what evaluate.c, place_cases.c, moves.c, sequence.c, closed_loop.c, sim_flight.c and evaluator.c share; not for others. */
#ifndef HSDAG_PLACE_SIMULATE_EVALUATE_IMPL_H
#define HSDAG_PLACE_SIMULATE_EVALUATE_IMPL_H

#include "place/simulate/dnnpart.h"
#include "place/simulate/evaluate.h"

/* What moves.c keeps between results; see there. */
struct place_moves {
	bool has_base;                /* the timeliner has checkpoints of `base` */
	bool can_rebase;              /* `last` could be carried out */
	uint16_t *base, *last, *now;  /* (n_sets) */
	uint32_t *touched, n_touched; /* (n_sets) the sets in which these may differ */
	uint32_t step;                /* results so far, and 1 */
	uint32_t *moved_in;           /* (n_sets) the step in which it was moved; 0: not touched */
	uint64_t *base_mem;           /* (k) of base: folded values that one task reads */
	uint32_t *task, n_tasks;      /* (tasks) with another device or cost than in base */
	uint32_t *listed;             /* (tasks) the step in which it is in `task` */
	/* tasks whose cost depends on where task t is: saver[saver_ptr[t]] ..; NULL: none */
	uint32_t *saver_ptr, *saver;
};

struct evaluator {
	const struct place_model *m;
	struct timeliner *clock;  /* PLACE_SCHEDULE */
	const struct timeline *t; /* its last schedule of a whole evaluation */
	struct dnnpart *dnnpart;  /* all other rules */
	double *task_s;           /* (tasks,k) costs, less what this placement saves */
	struct sched_costs costs;
	uint16_t *task_device; /* (tasks) */
	uint16_t *all;         /* (n_sets) a single-device placement */
	uint32_t *seen;        /* (k) shared weight last counted on a device, + 1 */
	uint64_t *most_inner;  /* (k) */
	uint64_t *
		pool_once; /* (pools.n) bytes of weights that several devices of a pool share, beyond the first */
	double *pool_s; /* (pools.n) */
	bool limited;   /* memory counts: a device has a limit, or the objective wants it */
	struct place_result r;
	uint32_t *set_task; /* (n_sets) GRAPH_NONE: the set runs nothing */
	bool accounts;      /* the objective is more than latency and memory */
	struct place_traffic traffic;
	struct evaluator **of_case; /* (m->n_cases) of each case that counts, else NULL */
	double *busy_s;             /* (k) of all cases */
	double *case_s;             /* (m->n_cases) */
	bool by_moves;              /* dnnpart: loads and memory of moves.now are kept by moves */
	struct place_moves moves;
};

/* place_evaluate; with `begin` the placement is a base for moves, if it can be (moves.has_base). */
const struct place_result *evaluator_run(struct evaluator *x, const uint16_t *device, bool as_base);
/* The result of a schedule of x->task_device, or why there is none. */
const struct place_result *evaluator_result(struct evaluator *x, enum timeline_status s,
					    const struct timeline *t);

/* Of one list of shapes, what evaluate.h has for several, too (place_cases.c). */
struct evaluator *evaluator_make(const struct place_model *m);
void evaluator_drop(struct evaluator *x);
const struct place_result *evaluator_run_in(struct evaluator *x, const uint16_t *device,
					    const struct kept_order *o);
void evaluator_account(struct evaluator *x);
void moves_begin(struct evaluator *x, const uint16_t *device);
void moves_move(struct evaluator *x, uint32_t set, uint16_t dev);
const struct place_result *moves_below(struct evaluator *x, double limit);

void moves_init(struct evaluator *x);
void moves_release(struct evaluator *x);

#endif
