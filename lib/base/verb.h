/* verb.h - programs whose first argument is a verb: PROGRAM VERB [OPTION]... FILE... */
#ifndef HSDAG_BASE_VERB_H
#define HSDAG_BASE_VERB_H

#include "base/err.h"
#include "base/mem.h"

struct verb {
	const char *name, *about; /* name NULL ends the table */
	/* argv[0] is the verb; memory from a, which is released afterwards.  0 or -1. */
	int (*run)(int argc, char **argv, struct arena *a, struct err *e);
};

/* The end of main: run the verb that argv[1] names, or answer --help and --version. */
int verb_main(const char *program, const char *summary, const struct verb *verbs, int argc,
	      char **argv);

#endif
