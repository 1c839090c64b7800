/* spine.h - dnnpart-latency along the spine of a graph: the tasks that are before or behind every
 * other one, as all tasks of a chain are and the joins of a network of layers.
 *
 * Between two neighbours of the spine lies a block.  A piece of an accelerator (dnnpart.h) that has
 * tasks of the spine has a run of them, all blocks between these, the beginning (a part that is
 * closed towards inputs) of the block behind and the end of the block before.  It waits for all
 * that is before it and everything behind it waits for it, so that pieces and CPU tasks of the
 * spine take one after the other: a dynamic program over where pieces begin and end,
 *   start(i, end part U) = min over D of end(i, D) + between(i, D, U)
 *   end(j, D)   = min over i and U, within memory, of start(i, U) + moves and tasks
 * where D is the beginning part of block i in the piece before, or nothing behind a CPU task, and
 * between(i, D, U) is what the tasks of the block take that are in neither.
 *
 * Of parts of a block that are connected only by the spine sums and maxima are taken.  Parts of
 * more than 64 tasks, or with too many ways to be cut, are passed over: they count in pieces that
 * hold them whole.
 *
 * Pieces are told nothing of the number of accelerators, but by a price of memory.  So the least
 * value is a lower bound, and the placement is good where the pieces can be packed. */
#ifndef HSDAG_PLACE_DNNPART_SPINE_H
#define HSDAG_PLACE_DNNPART_SPINE_H

#include "place/bound/reach.h"

enum { SPINE_NONE = UINT32_MAX, SPINE_MAX_TASKS = 64 };

/* Tasks of a component on one side of a cut: first ones (in the piece before) or last ones. */
struct spine_part {
	uint64_t tasks; /* of the component */
	uint64_t mem;
	/* on an accelerator, with what first ones take out and what is brought in from this
	 * component for last ones and the spine's next task */
	double work_s;
	/* First: others read the spine's task before; last: these do */
	bool prev;
};

/* Tasks of a block that are connected without the spine. */
struct spine_component {
	uint32_t n, task[SPINE_MAX_TASKS];                         /* ascending */
	uint64_t reads[SPINE_MAX_TASKS], read_by[SPINE_MAX_TASKS]; /* of the component */
	uint64_t before[SPINE_MAX_TASKS], behind[SPINE_MAX_TASKS]; /* with the task itself */
	bool reads_prev[SPINE_MAX_TASKS], read_outside[SPINE_MAX_TASKS];
	uint32_t prev; /* the spine's task before; SPINE_NONE */
	uint32_t n_first, n_last;
	struct spine_part *first, *last;
	double *between_s; /* (n_first,n_last) INFINITY: they meet */
};

struct spine_block {
	uint32_t n_components;
	struct spine_component *component;
	/* ways to choose a part in every component, the last component's fastest */
	uint32_t n_first, n_last;
};

struct spine {
	const struct reach *g;
	uint32_t n;     /* tasks on the spine */
	uint32_t *task; /* (n) */
	/* (tasks) 2i+1: number i of the spine; 2i: in block i, before it */
	uint32_t *place;
	struct spine_block *block; /* (n+1) */
	/* Between_s on CPUs alone: no bound, but fewer pieces to pack */
	bool cpu_between;
	bool sure;
	uint64_t work; /* steps, of about half a nanosecond, that were taken */
};

/* Borrows g; memory from a.  sure: only so many ways that spine_solve takes 0.2 seconds at
 * worst; else that it mostly does, since it looks at few pairs of ways. */
void spine_init(struct spine *s, const struct reach *g, bool cpu_between, bool sure,
		struct arena *a);

/* A way to choose parts: sums over components. */
struct spine_part spine_first(const struct spine_block *b, uint32_t way);
struct spine_part spine_last(const struct spine_block *b, uint32_t way);

/* Fill between_s of a component whose parts are there. */
void spine_fill_between(const struct spine *s, struct spine_component *c);

/* Of spine_between_s, with n components. */
static inline uint64_t spine_pair_steps(uint32_t n)
{
	return 4 * ((uint64_t)n + 1);
}

/* What the tasks in neither take; INFINITY: the two ways meet. */
double spine_between_s(const struct spine_block *b, uint32_t first, uint32_t last);

/* The pieces among these tasks, numbered from *n_pieces + 1 on (0: on a CPU) into piece (tasks). */
void spine_between_pieces(const struct spine *s, const struct spine_block *b, uint32_t first,
			  uint32_t last, uint32_t *piece, uint32_t *n_pieces);

/* The least value, and where piece (tasks) is wanted, how: 0 on a CPU, else the number of the
 * piece, 1 .. *n_pieces.  INFINITY: no way.  Without a spine everything is one block.  NAN: given
 * up, the spine is not sure and it took too long. */
double spine_solve(struct spine *s, uint32_t *piece, uint32_t *n_pieces);

/* What is asked of whoever wants to see the answers to prices. */
typedef void (*spine_see)(void *arg, const struct spine *s, const uint32_t *piece,
			  uint32_t n_pieces);

/* No placement is better: the Lagrangian dual of the memory of all accelerators (Held, Karp,
 * Operations Research 18(6), 1970).  A price for all of it, shared by what is held, is added to
 * what tasks take there, and taken off the value; prices by cutting planes (Kelley, SIAM J.
 * 8(4), 1960). see may be NULL. */
double spine_priced(const struct reach *g, bool cpu_between, spine_see see, void *arg);

#endif
