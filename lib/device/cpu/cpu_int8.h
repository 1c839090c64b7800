/* cpu_int8.h - steps of a cpu device in 8 bits: what FakeQuantize has put on a grid stays codes.
 *
 * A step is a convolution whose input and weights lie on grids, with element-wise operators behind
 * it; or element-wise operators, or MaxPool, between such steps.  Codes are what FakeQuantize would
 * make; sums of products are exact; what lies on no grid is f32.  Memory that only the device's own
 * steps read (device_class.keep) has codes, or f32 with channels behind pixels. */
#ifndef HSDAG_DEVICE_CPU_CPU_INT8_H
#define HSDAG_DEVICE_CPU_CPU_INT8_H

#include "device/host_memory.h"
#include "kernel/kernel.h"

struct int8_step;

#ifdef WITHOUT_ONEDNN
static inline int int8_step_new(const struct step_spec *s, struct cpu_ctx *ctx,
				struct int8_step **out, struct err *e)
{
	(void)s, (void)ctx, (void)out, (void)e;
	return 0;
}
static inline void int8_step_free(struct int8_step *s)
{
	(void)s;
}
static inline bool int8_step_wants(const struct int8_step *s, struct devmem *const *in,
				   struct devmem *const *out)
{
	(void)s, (void)in, (void)out;
	return false;
}
static inline int int8_step_run(struct int8_step *s, struct devmem *const *in,
				struct devmem *const *out, struct err *e)
{
	(void)s, (void)in, (void)out;
	return err_set(e, ST_RUNTIME, "built without oneDNN");
}
static inline uint64_t int8_step_bytes(const struct int8_step *s)
{
	(void)s;
	return 0;
}
static inline bool int8_step_alone(const struct int8_step *s)
{
	(void)s;
	return false;
}
#else
/* 1; 0: it is no such step; -1: ST_RUNTIME. */
int int8_step_new(const struct step_spec *s, struct cpu_ctx *ctx, struct int8_step **out,
		  struct err *e) MUST_CHECK;
void int8_step_free(struct int8_step *s); /* s may be NULL */
/* Does it run whatever its inputs are?  Otherwise int8_step_wants says, before each run, and a step in
 * f32 has to be there for when it does not. */
bool int8_step_alone(const struct int8_step *s);
bool int8_step_wants(const struct int8_step *s, struct devmem *const *in,
		     struct devmem *const *out);
/* Sets the outputs' forms. */
int int8_step_run(struct int8_step *s, struct devmem *const *in, struct devmem *const *out,
		  struct err *e) MUST_CHECK;
uint64_t int8_step_bytes(const struct int8_step *s); /* packed weights; 0 for NULL */
#endif

#endif
