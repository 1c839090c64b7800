/* cpu_kinds.h - the table of kinds of steps. */
#ifndef HSDAG_DEVICE_CPU_PASS_CPU_KINDS_H
#define HSDAG_DEVICE_CPU_PASS_CPU_KINDS_H

#include "device/cpu/step/cpu_kind.h"

/* In the order in which they are asked; NULL behind the last, which takes everything. */
extern const struct step_kind *const cpu_kinds[];

#endif
