/* cpu_pixel.h - steps of a cpu device on tensors with channels behind pixels, in 8, 16 or 32 bits.
 *
 * In 8 bits: what FakeQuantize has put on a grid stays codes.  A step is a convolution whose input and
 * weights lie on grids, with element-wise operators behind it; or element-wise operators, or
 * MaxPool, between such steps.  Codes are what FakeQuantize would make; sums of products are exact;
 * what lies on no grid is f32.  In bf16 all convolutions are such steps, in f32 those of graphs for which
 * it pays (pixels_pay).
 *
 * Memory that only steps of the device and of those that share it read (device_class.keep, shares) has codes, bf16, or f32 with
 * channels behind pixels. */
#ifndef HSDAG_DEVICE_CPU_PIXEL_CPU_PIXEL_H
#define HSDAG_DEVICE_CPU_PIXEL_CPU_PIXEL_H

#include "device/host_memory.h"
#include "kernel/kernel.h"

struct pixel_step;

#ifdef WITHOUT_ONEDNN
static inline int pixel_step_new(const struct step_spec *s, struct cpu_ctx *ctx, enum elem elem,
				 struct pixel_step **out, struct err *e)
{
	(void)s, (void)ctx, (void)elem, (void)out, (void)e;
	return 0;
}
static inline void pixel_step_free(struct pixel_step *s)
{
	(void)s;
}
static inline bool pixel_step_wants(const struct pixel_step *s, struct devmem *const *in,
				    struct devmem *const *out)
{
	(void)s, (void)in, (void)out;
	return false;
}
static inline int pixel_step_run(struct pixel_step *s, struct devmem *const *in,
				 struct devmem *const *out, struct err *e)
{
	(void)s, (void)in, (void)out;
	return err_set(e, ST_RUNTIME, "built without oneDNN");
}
static inline uint64_t pixel_step_bytes(const struct pixel_step *s)
{
	(void)s;
	return 0;
}
static inline bool pixel_step_alone(const struct pixel_step *s)
{
	(void)s;
	return false;
}
static inline bool pixels_pay(const struct graph *g)
{
	(void)g;
	return false;
}
static inline bool pixel_step_may_be(const struct step_spec *s)
{
	(void)s;
	return true;
}
#else
/* Is a graph in f32 faster with its tensors in pixels? */
bool pixels_pay(const struct graph *g);
/* False: these nodes had better be several steps, of which some can be in pixels where the whole cannot: what
 * joins or pools with anything behind it but its FakeQuantize, a convolution with what broadcasts its output, or of
 * which other steps read more than what the last node makes; Splits of channels with anything else, maps of
 * one channel with what they meet. */
bool pixel_step_may_be(const struct step_spec *s);
/* 1; 0: it is no such step; -1: ST_RUNTIME. */
int pixel_step_new(const struct step_spec *s, struct cpu_ctx *ctx, enum elem elem,
		   struct pixel_step **out, struct err *e) MUST_CHECK;
void pixel_step_free(struct pixel_step *s); /* s may be NULL */
/* Does it run whatever its inputs are?  Otherwise pixel_step_wants says, before each run, and a step in
 * f32 has to be there for when it does not. */
bool pixel_step_alone(const struct pixel_step *s);
bool pixel_step_wants(const struct pixel_step *s, struct devmem *const *in,
		      struct devmem *const *out);
/* Sets the outputs' forms. */
int pixel_step_run(struct pixel_step *s, struct devmem *const *in, struct devmem *const *out,
		   struct err *e) MUST_CHECK;
uint64_t pixel_step_bytes(const struct pixel_step *s); /* packed weights, primitives; 0 for NULL */
#endif

#endif
