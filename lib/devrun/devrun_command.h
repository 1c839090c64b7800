/* devrun_command.h - devrun's command line: its verbs, the options of each and their --help.
 *
 * "devrun probe" and "devrun --probe" mean the same: without a verb every option of all verbs is
 * taken, and --list, --support, --probe and --paired choose what to do; without any of them
 * placements are run. */
#ifndef HSDAG_DEVRUN_DEVRUN_COMMAND_H
#define HSDAG_DEVRUN_DEVRUN_COMMAND_H

#include "base/opt.h"
#include "devrun/devrun_filter.h"

struct devrun_command {
	bool list, support;    /* neither: the filter */
	const char *file;      /* "-": standard input */
	const char *openvino;  /* where OpenVINO is; NULL: looked for */
	const char *objective; /* of --paired; NULL: the latency, of requests in flight the rate */
	const char *max_error; /* of --paired, as it was typed; NULL: none */
	const char *precision; /* of devices that do not say it; NULL: f32 */
	struct opt_common common;     /* output and seed */
	struct devrun_options filter; /* `untimed` is the caller's to set */
};

/* Parse and check argv.  Returns as opt_parse. */
int devrun_command_parse(struct devrun_command *c, int argc, char **argv, struct err *e) MUST_CHECK;

#endif
