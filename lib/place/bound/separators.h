/* separators.h - dnnpart-latency by a dynamic program along the separators of a graph: the tasks
 * that come before or after every other task.  In a chain all tasks are separators; in a network of
 * layers they are the joins between layers.
 *
 * Block i lies before separator i, and the last block lies behind the last separator:
 *
 *       a           c - d           g
 *         \       /       \       /
 *           s_0 -           - s_1
 *         /       \       /       \
 *       b           e - f           h
 *      block 0       block 1       block 2
 *
 * A piece (dnnpart.h: the contiguous tasks of one accelerator) that holds separators holds a run of
 * them s_i .. s_j with every block between, the last tasks U of block i and the first tasks D of
 * block j+1:
 *
 *     block i                                  block j+1
 *     ...  [ U  s_i  block i+1  s_(i+1)  ...  s_j  D ]  ...
 *          '--------------- one piece ---------------'
 *
 * D is closed towards inputs within its block, U towards outputs.  The piece waits for everything
 * before it, and everything behind it waits for the piece.  So pieces with separators, and
 * separators on CPUs, run one after the other, and a dynamic program over where pieces begin and
 * end finds the least latency:
 *   start(i, U) = min over D of end(i, D) + between(i, D, U)
 *   end(j+1, D) = min over i and U, within memory, of start(i, U) + moves and tasks of the piece
 * where end(i, D) belongs to the piece before, whose first tasks in block i are D (none behind a
 * separator on a CPU), and between(i, D, U) is what the tasks of block i take that are in neither.
 *
 * Invariants and limits.
 *   - Tasks of a block fall into components that only separators connect: what two components do
 *     is independent, so memory and work are sums over components, and between() is a maximum.
 *   - A "way" is a number that chooses one part in every component (mixed radix, the last
 *     component's digit fastest); way 0 chooses the empty part everywhere.
 *   - Components of more than 64 tasks, or with too many ways, cannot be cut: only pieces that hold
 *     them whole count them.
 *   - The program does not know how many accelerators there are; a price of memory stands for that
 *     (separators_priced).  So the least value is a lower bound, and the placement is good where
 *     its pieces can be packed into the accelerators.
 *
 * Source: the recurrence over cuts of a chain is PipeDream's (Narayanan et al., SOSP 2019, section
 * 3.1); blocks between separators, and parts of them, are this program's. */
#ifndef HSDAG_PLACE_BOUND_SEPARATORS_H
#define HSDAG_PLACE_BOUND_SEPARATORS_H

#include "place/bound/reach.h"

enum { SEPARATORS_NONE = UINT32_MAX, SEPARATORS_MAX_TASKS = 64 };

/* The tasks of a component on one side of a cut: its first tasks, which are in the piece before, or
 * its last tasks, which are in the piece behind. */
struct separator_part {
	uint64_t tasks; /* of the component */
	uint64_t mem;
	/* On an accelerator.  First tasks: with what they take out.  Last tasks: with what is
	 * brought in from this component for them and for the next separator. */
	double work_s;
	/* First tasks: other tasks read the previous separator; last tasks: these do */
	bool prev;
};

/* Tasks of a block that are connected without separators. */
struct separator_component {
	uint32_t n, task[SEPARATORS_MAX_TASKS];                              /* ascending */
	uint64_t reads[SEPARATORS_MAX_TASKS], read_by[SEPARATORS_MAX_TASKS]; /* of the component */
	uint64_t before[SEPARATORS_MAX_TASKS],
		behind[SEPARATORS_MAX_TASKS]; /* with the task itself */
	bool reads_prev[SEPARATORS_MAX_TASKS], read_outside[SEPARATORS_MAX_TASKS];
	uint32_t prev; /* the separator before; SEPARATORS_NONE */
	uint32_t n_first, n_last;
	struct separator_part *first, *last;
	double *between_s; /* (n_first,n_last) INFINITY: they meet */
};

struct separator_block {
	uint32_t n_components;
	struct separator_component *component;
	/* ways to choose a part in every component, the last component's fastest */
	uint32_t n_first, n_last;
};

struct separators {
	const struct reach *g;
	uint32_t n;     /* separators */
	uint32_t *task; /* (n) */
	/* (tasks) 2i+1: separator i; 2i: in block i, before separator i */
	uint32_t *position;
	struct separator_block *block; /* (n+1) */
	/* between() on CPUs alone: no bound, but fewer pieces to pack */
	bool cpu_between;
	bool sure;
	uint64_t work; /* steps, of about half a nanosecond, that were taken */
};

/* Borrows g; memory from a.  sure: so few ways that separators_solve takes at most 0.2 seconds;
 * else it mostly takes no longer, since it looks at few pairs of ways, but may. */
void separators_init(struct separators *s, const struct reach *g, bool cpu_between, bool sure,
		     struct arena *a);

/* A way to choose parts: sums over components. */
struct separator_part separators_first(const struct separator_block *b, uint32_t way);
struct separator_part separators_last(const struct separator_block *b, uint32_t way);

/* Fills between_s of a component whose first and last parts are filled. */
void separators_fill_between(const struct separators *s, struct separator_component *c);

/* Of separators_between_s, with n components. */
static inline uint64_t separators_pair_steps(uint32_t n)
{
	return 4 * ((uint64_t)n + 1);
}

/* What the tasks in neither part take; INFINITY: the two ways share a task. */
double separators_between_s(const struct separator_block *b, uint32_t first, uint32_t last);

/* The pieces among these tasks, numbered from *n_pieces + 1 on (0: on a CPU) into piece (tasks). */
void separators_between_pieces(const struct separators *s, const struct separator_block *b,
			       uint32_t first, uint32_t last, uint32_t *piece, uint32_t *n_pieces);

/* The least value, and where piece (tasks) is wanted, how: 0 on a CPU, else the number of the
 * piece, 1 .. *n_pieces.  INFINITY: no way.  Without separators everything is one block.  NAN:
 * given up, because it took too long and `sure` is not set. */
double separators_solve(struct separators *s, uint32_t *piece, uint32_t *n_pieces);

/* Called with the best pieces at each price. */
typedef void (*separators_see)(void *arg, const struct separators *s, const uint32_t *piece,
			       uint32_t n_pieces);

/* A value that no placement is below: the Lagrangian dual of the memory of all accelerators (Held,
 * Karp, Operations Research 18(6), 1970).  Each task on an accelerator pays for its share of all
 * memory, and the price of all memory is taken off the value.  Prices come from cutting planes
 * (Kelley, SIAM J. 8(4), 1960).  see may be NULL. */
double separators_priced(const struct reach *g, bool cpu_between, separators_see see, void *arg);

#endif
