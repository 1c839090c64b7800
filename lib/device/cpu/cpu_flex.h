/* cpu_flex.h - steps of a cpu device that are not one kernel on known shapes: operators
 * with bodies, variables, and whatever reads or makes tensors of dynamic shape.
 * Such a step is one node. */
#ifndef HSDAG_DEVICE_CPU_CPU_FLEX_H
#define HSDAG_DEVICE_CPU_CPU_FLEX_H

#include "device/device.h"
#include "dynamic/flex.h"

struct flex_step;

/* Is this step one for the functions below? */
bool flex_step_wants(const struct step_spec *s);
bool flex_step_supports(const struct step_spec *s, char *why, size_t cap);
/* ctx is borrowed; the spec may go, graph, constants and env stay. */
int flex_step_new(const struct step_spec *s, struct cpu_ctx *ctx, struct flex_step **out,
		  struct err *e) MUST_CHECK;
void flex_step_free(struct flex_step *f);
uint64_t flex_step_bytes(const struct flex_step *f); /* packed weights, memory it holds */
/* in, out: addresses of the step's inputs and outputs; of a dynamic tensor, of its struct
 * tensor. */
int flex_step_run(struct flex_step *f, void *const *in, void *const *out, struct err *e) MUST_CHECK;

#endif
