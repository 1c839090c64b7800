/* phases.h - shapes of a language model's inputs while it reads a prompt, and while it writes, from the names that
 * exports give them. */
#ifndef HSDAG_DYNAMIC_PHASES_H
#define HSDAG_DYNAMIC_PHASES_H

#include "dynamic/shapes.h"

/* Sequences side by side, tokens that come in of each, and tokens that the caches have of each before. */
struct phase {
	int64_t rows, tokens, past;
};

/* The shapes of g's inputs and variables in this phase, to `out`; memory from a.  g has the shapes of its file.
 * Caches are inputs `past_key_values*` and variables with open dims: the first open one is of rows, another of tokens.
 * ST_USAGE: no input of tokens, or an open input whose name says nothing; the message says what was looked for. */
int phase_shapes(const struct graph *g, const struct phase *p, struct arena *a,
		 struct shape_list *out, struct err *e) MUST_CHECK;

#endif
