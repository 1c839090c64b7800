/* cpu_narrow.h - steps of a cpu device in 8 or 16 bits.
 *
 * In 8 bits: what FakeQuantize has put on a grid stays codes.  A step is a convolution whose input and
 * weights lie on grids, with element-wise operators behind it; or element-wise operators, or
 * MaxPool, between such steps.  Codes are what FakeQuantize would make; sums of products are exact;
 * what lies on no grid is f32.  In 16 bits, bf16, all convolutions are such steps.
 *
 * Memory that only the device's own steps read (device_class.keep) has codes, bf16, or f32 with
 * channels behind pixels. */
#ifndef HSDAG_DEVICE_CPU_CPU_NARROW_H
#define HSDAG_DEVICE_CPU_CPU_NARROW_H

#include "device/host_memory.h"
#include "kernel/kernel.h"

struct narrow_step;

#ifdef WITHOUT_ONEDNN
static inline int narrow_step_new(const struct step_spec *s, struct cpu_ctx *ctx, bool bf16,
				  struct narrow_step **out, struct err *e)
{
	(void)s, (void)ctx, (void)bf16, (void)out, (void)e;
	return 0;
}
static inline void narrow_step_free(struct narrow_step *s)
{
	(void)s;
}
static inline bool narrow_step_wants(const struct narrow_step *s, struct devmem *const *in,
				     struct devmem *const *out)
{
	(void)s, (void)in, (void)out;
	return false;
}
static inline int narrow_step_run(struct narrow_step *s, struct devmem *const *in,
				  struct devmem *const *out, struct err *e)
{
	(void)s, (void)in, (void)out;
	return err_set(e, ST_RUNTIME, "built without oneDNN");
}
static inline uint64_t narrow_step_bytes(const struct narrow_step *s)
{
	(void)s;
	return 0;
}
static inline bool narrow_step_alone(const struct narrow_step *s)
{
	(void)s;
	return false;
}
static inline bool narrow_step_may_be(const struct step_spec *s)
{
	(void)s;
	return true;
}
#else
/* False: these nodes had better be several steps, of which some can be in few bits where the whole cannot: what
 * joins or pools with anything behind it but its FakeQuantize, a convolution with what broadcasts its output, or of
 * which other steps read more than what the last node makes. */
bool narrow_step_may_be(const struct step_spec *s);
/* 1; 0: it is no such step; -1: ST_RUNTIME. */
int narrow_step_new(const struct step_spec *s, struct cpu_ctx *ctx, bool bf16,
		    struct narrow_step **out, struct err *e) MUST_CHECK;
void narrow_step_free(struct narrow_step *s); /* s may be NULL */
/* Does it run whatever its inputs are?  Otherwise narrow_step_wants says, before each run, and a step in
 * f32 has to be there for when it does not. */
bool narrow_step_alone(const struct narrow_step *s);
bool narrow_step_wants(const struct narrow_step *s, struct devmem *const *in,
		       struct devmem *const *out);
/* Sets the outputs' forms. */
int narrow_step_run(struct narrow_step *s, struct devmem *const *in, struct devmem *const *out,
		    struct err *e) MUST_CHECK;
uint64_t narrow_step_bytes(const struct narrow_step *s); /* packed weights; 0 for NULL */
#endif

#endif
