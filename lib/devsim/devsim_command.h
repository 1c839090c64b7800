/* devsim_command.h - devsim's command line: its options, which of them go together, and --help. */
#ifndef HSDAG_DEVSIM_DEVSIM_COMMAND_H
#define HSDAG_DEVSIM_DEVSIM_COMMAND_H

#include "base/opt.h"
#include "devsim/devsim_filter.h"

struct devsim_command {
	const char *file;         /* "-": standard input */
	const char *max_error;    /* refused: there are no outputs */
	struct opt_common common; /* output and seed */
	struct devsim_options filter;
};

/* Parse and check argv.  print_lists prints in --help, behind the options, what --machine and --spec
 * know.  Returns as opt_parse. */
int devsim_command_parse(struct devsim_command *c, int argc, char **argv, void (*print_lists)(void),
			 struct err *e) MUST_CHECK;

#endif
