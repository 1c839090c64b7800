/* cpu_codes_forms.h - quantised forms: operators that compute with the codes of what lies on grids, on devices of int8.
 *
 * The table of them is in cpu_codes_forms.c: a new one is a file and a line there. */
#ifndef HSDAG_DEVICE_CPU_FUSE_CPU_CODES_FORMS_H
#define HSDAG_DEVICE_CPU_FUSE_CPU_CODES_FORMS_H

#include "device/cpu/step/cpu_kind.h"

struct codes_form {
	enum op_kind kind;
	/* As codes_prepare. */
	int (*prepare)(const struct step_how *how, const struct step_node *n,
		       struct cpu_prep **prep, struct err *e);
};

/* 1: *prep runs node n with codes; 0: the kernel of f32 does; -1: ST_RUNTIME. */
int codes_prepare(const struct step_how *how, const struct step_node *n, struct cpu_prep **prep,
		  struct err *e) MUST_CHECK;
/* The grid of the codes that may lie in memory in place of input 0 of such a node; NULL: numbers have to.  prep may be NULL. */
const struct code_grid *codes_of_input(const struct cpu_prep *prep);

#endif
