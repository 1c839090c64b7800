/* cpu_dynop.h - steps of a cpu device that are not one kernel on known shapes: operators
 * with bodies, variables, and whatever reads or makes tensors of dynamic shape.
 * Such a step is one node. */
#ifndef HSDAG_DEVICE_CPU_CPU_DYNOP_H
#define HSDAG_DEVICE_CPU_CPU_DYNOP_H

#include "device/device.h"
#include "dynamic/dynop.h"

struct dynop_step;

/* Is this step one for the functions below? */
bool dynop_step_wants(const struct step_spec *s);
bool dynop_step_supports(const struct step_spec *s, char *why, size_t cap);
/* ctx is borrowed; the spec may go, graph, constants and env stay. */
int dynop_step_new(const struct step_spec *s, struct cpu_ctx *ctx, struct dynop_step **out,
		   struct err *e) MUST_CHECK;
void dynop_step_free(struct dynop_step *f);
uint64_t dynop_step_bytes(const struct dynop_step *f); /* packed weights, memory it holds */
/* in, out: addresses of the step's inputs and outputs; of a dynamic tensor, of its struct
 * tensor. */
int dynop_step_run(struct dynop_step *f, void *const *in, void *const *out,
		   struct err *e) MUST_CHECK;

#endif
