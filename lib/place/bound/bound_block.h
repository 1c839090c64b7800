/* bound_block.h - what a stretch of tasks takes between two tasks that everything passes. */
#ifndef HSDAG_PLACE_BOUND_BOUND_BLOCK_H
#define HSDAG_PLACE_BOUND_BOUND_BLOCK_H

#include "place/bound/bound_shares.h"

enum { BLOCK_NONE = UINT32_MAX };

/* Tasks first .. last, behind task first - 1, which all of them depend on, when `after` is; when `gate` is all others depend
 * to last. */
struct block {
	uint32_t first, last;
	bool after, gate;
};

struct block_search;

/* s as in bound_shares.h.  Borrows v and x. */
struct block_search *block_search_new(const struct bound_view *v, const struct shares *x, double s);
void block_search_free(struct block_search *x);

/* The block that what is asked behind this is about; borrowed until the next one. */
void block_search_begin(struct block_search *x, const struct block *b);

/* What block_search_s is at least, from and to wherever, without a search. */
double block_least_s(struct block_search *x);

/* A lower bound of (1 - s) times the seconds from the end of the task before the block, which is on device `from` (none: from
 * 0), to the end of its last task, on `to` (no gate: to the end of all), and s times what its tasks compute, over all
 * placements.  By branch and bound over devices of tasks, as deep as *nodes allows, which become fewer; INFINITY: there is no
 * way. */
double block_search_s(struct block_search *x, uint32_t from, uint32_t to, uint64_t *nodes);

/* Of the last search: the least leaf that it reached, INFINITY: none, and its devices (n; of the block's tasks), which are x's
 * until the next search.  What a leaf says is a lower bound for these devices. */
double block_search_leaf(const struct block_search *x, const uint16_t **task_dev);

#endif
