/* nhwc_part.h - parts of fused steps as programs over images in NHWC. */
#ifndef HSDAG_DEVICE_CPU_NHWC_NHWC_PART_H
#define HSDAG_DEVICE_CPU_NHWC_NHWC_PART_H

#include "device/cpu/fuse/cpu_fuse_plan.h"
#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_program.h"

/* Have the values of all nodes, and whole tensors that are inputs, the images and channels of `out`, and others one channel or one pixel?  Broadcasting gives tensors
 * of as many elements more dims, or fewer; pixels are others then. */
bool nhwc_same_planes(const struct fuse_plan *p, const struct tensor *out);
/* (n_operands) where those that nhwc_operand_is_memory lie in a run. */
void nhwc_program_memory(const struct nhwc_program *p, const struct step_io *io,
			 struct nhwc_tensor *memory);

#endif
