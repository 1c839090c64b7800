/* cpu_dynop.h - steps of a cpu device that are not one kernel on known shapes: operators with bodies, variables, and whatever
 * reads or makes tensors of dynamic shape.  Such a step is one node; the address of a dynamic tensor is that of its struct tensor. */
#ifndef HSDAG_DEVICE_CPU_STEP_CPU_DYNOP_H
#define HSDAG_DEVICE_CPU_STEP_CPU_DYNOP_H

#include "device/cpu/step/cpu_kind.h"
#include "dynamic/dynop.h"

/* Is this node such a step? */
bool dynop_step_wants(const struct step_spec *s);
bool dynop_step_supports(const struct step_spec *s, char *why, size_t cap);

#endif
