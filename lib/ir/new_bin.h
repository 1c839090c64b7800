/* new_bin.h - a .bin that is being written: constants of a model's .bin, each once, at multiples of
 * 64 bytes, and bytes that the model has not. */
#ifndef HSDAG_IR_NEW_BIN_H
#define HSDAG_IR_NEW_BIN_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/newfile.h"
#include "base/pairmap.h"
#include "ir/weights.h"
#include "ir/write.h"

struct new_bin {
	const struct weights *from; /* borrowed */
	struct newfile file;
	FILE *text; /* the same */
	uint64_t bytes;
	struct pairmap at; /* offset and size of a constant of `from` -> where it is here */
	bool failed, outside;
	struct ir_bin to; /* for writers, who add what they need */
};

/* ST_RUNTIME: `path` cannot be made. */
int new_bin_open(struct new_bin *b, const char *path, const struct weights *from,
		 struct err *e) MUST_CHECK;
/* Constants of another model's .bin come; borrowed. */
void new_bin_from(struct new_bin *b, const struct weights *from);
/* Gives it its name and ends it, also when it fails.  ST_RUNTIME: something could not be written; ST_INPUT: `from` has
 * not all constants of g that were asked for. */
int new_bin_commit(struct new_bin *b, const char *path, const struct graph *g,
		   struct err *e) MUST_CHECK;
/* Leave nothing behind. */
void new_bin_abandon(struct new_bin *b);

#endif
