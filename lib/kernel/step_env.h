/* step_env.h - what nodes with bodies and variables need besides their ports. */
#ifndef HSDAG_KERNEL_STEP_ENV_H
#define HSDAG_KERNEL_STEP_ENV_H

#include <stdint.h>

struct variables;   /* dynamic/variables.h */
struct graph_facts; /* kernel/graph_facts.h */

/* One per model.  All is borrowed. */
struct step_env {
	const unsigned char *weights; /* the .bin, mapped: constants of bodies */
	uint64_t weights_bytes;
	struct variables *variables;
	const char *weights_path; /* the file that `weights` is; NULL when there is none */
	struct graph_facts *facts;
};

#endif
