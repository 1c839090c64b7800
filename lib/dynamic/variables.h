/* variables.h - what ReadValue and Assign keep from one inference to the next.
 *
 * A variable has a value that every ReadValue of an inference sees, and one that
 * Assign leaves for the next inference, so that the order of the two within an
 * inference does not matter.  Unless values are to be kept, every inference
 * begins as the first one did: variables have no value, and ReadValue gives its
 * initial one. */
#ifndef HSDAG_DYNAMIC_VARIABLES_H
#define HSDAG_DYNAMIC_VARIABLES_H

#include "op/op.h"

struct variable {
	const char *name;         /* borrowed from the graph */
	uint32_t n_uses;          /* nodes that read or assign it */
	struct tensor now, next;  /* data NULL: no value; both owned */
	size_t cap_now, cap_next; /* bytes */
	void *mem_now, *mem_next;
};

struct variables {
	uint32_t n;
	struct variable *v; /* (n) sorted by name */
	bool keep;          /* values last from inference to inference of one placement */
	const void *user;   /* whose inferences these are */
	uint64_t
		n_resets; /* how often no variable had a value: for devices that keep values themselves */
};

/* The variables of g, which must outlive them. */
struct variables *variables_new(const struct graph *g);
void variables_free(struct variables *vs);
/* The variable that an operator ReadValue or Assign names; NULL: none. */
struct variable *variables_find(const struct variables *vs, const struct op *op);

/* No variable has a value. */
void variables_reset(struct variables *vs);
/* An inference of `user` (a plan) begins: what was assigned is the value now; without keep, or
 * for another user than last time, there are no values. */
void variables_begin(struct variables *vs, const void *user);

/* Keep a copy of t for the next inference.  -1: no memory (ST_RUNTIME). */
int variable_assign(struct variable *x, const struct tensor *t, struct err *e) MUST_CHECK;

#endif
