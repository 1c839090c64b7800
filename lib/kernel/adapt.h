/* adapt.h - kernels that compute in f32 or in wide types only, on tensors of other types. */
#ifndef HSDAG_KERNEL_ADAPT_H
#define HSDAG_KERNEL_ADAPT_H

#include "kernel/kernel_impl.h"

/* Does a tensor of the call have another type than the kernel computes in? */
bool cpu_adapts(const struct kernel *k, const struct kernel_call *c);
/* Run the kernel on converted inputs, in the context's memory, and convert its outputs. */
int cpu_run_adapted(const struct kernel *k, const struct kernel_call *call, struct err *e);

#endif
