/* spine.h - dnnpart-latency along the spine of a graph: the tasks that are before or behind every
 * other one, as all tasks of a chain are and the joins of a network of layers.
 *
 * Between two neighbours of the spine lies a block.  A piece of an accelerator (dnnpart.h) that has
 * tasks of the spine has a run of them, all blocks between these, the beginning (a part that is
 * closed towards inputs) of the block behind and the end of the block before.  It waits for all that
 * is before it and everything behind it waits for it, so that pieces and CPU tasks of the spine
 * take one after the other: a dynamic program over where pieces begin and end,
 *   start(i, end part U) = min over D of end(i, D) + between(i, D, U)
 *   end(j, D)   = min over i and U, within memory, of start(i, U) + moves and tasks
 * where D is the beginning part of block i in the piece before, or nothing behind a CPU task, and
 * between(i, D, U) is what the tasks of the block take that are in neither.
 *
 * Of parts of a block that are connected only by the spine sums and maxima are taken.  Parts of more than
 * 64 tasks, or with too many ways to be cut, are passed over: they count in pieces that hold them whole.
 *
 * Pieces are told nothing of the number of accelerators.  So the least value is a lower bound, and
 * the placement is good where the pieces can be packed into the accelerators. */
#ifndef HSDAG_PLACE_SPINE_H
#define HSDAG_PLACE_SPINE_H

#include "place/reach.h"

enum { SPINE_NONE = UINT32_MAX };

/* Tasks of a component on one side of a cut: first ones (in the piece before) or last ones. */
struct spine_part {
	uint64_t tasks;              /* of the component */
	uint64_t mem;
	/* on an accelerator, with what first ones take out and what is brought in from this
	 * component for last ones and the spine's next task */
	double work_s;
	bool prev;                   /* first: others read the spine's task before; last: these do */
};

/* Tasks of a block that are connected without the spine. */
struct spine_component {
	uint32_t n, task[64];        /* ascending */
	uint64_t reads[64], read_by[64];       /* of the component */
	uint64_t before[64], behind[64];       /* with the task itself */
	bool reads_prev[64], read_outside[64];
	uint32_t prev;               /* the spine's task before; SPINE_NONE */
	uint32_t n_first, n_last;
	struct spine_part *first, *last;
	double *between_s;           /* (n_first,n_last) INFINITY: they meet */
};

struct spine_block {
	uint32_t n_components;
	struct spine_component *component;
	/* ways to choose a part in every component, the last component's fastest */
	uint32_t n_first, n_last;
	double acc_s;                /* all of its tasks on an accelerator */
	uint64_t mem;
};

struct spine {
	const struct reach *g;
	uint32_t n;                  /* tasks on the spine */
	uint32_t *task;              /* (n) */
	uint32_t *place;             /* (tasks) 2i+1: number i of the spine; 2i: in block i, before it */
	struct spine_block *block;   /* (n+1) */
	bool between_on_cpu;         /* between_s: on CPUs alone, instead of the least */
};

/* Borrows g; memory from a. */
void spine_init(struct spine *s, const struct reach *g, bool between_on_cpu, struct arena *a);

/* A way to choose parts: sums over components. */
struct spine_part spine_first(const struct spine_block *b, uint32_t way);
struct spine_part spine_last(const struct spine_block *b, uint32_t way);

/* What the tasks in neither take; INFINITY: the two ways meet. */
double spine_between_s(const struct spine_block *b, uint32_t first, uint32_t last);

/* The least value, with pieces (tasks; NULL: not wanted): 0 on a CPU, else the number of the piece,
 * 1 .. *n_pieces in their order along the spine.  0: there is no spine. */
double spine_solve(const struct spine *s, uint32_t *piece, uint32_t *n_pieces);

#endif
