/* cpu_step.h - steps of the device class of this machine's cores: those functions of
 * device_class (device.h) that are about them. */
#ifndef HSDAG_DEVICE_CPU_CPU_STEP_H
#define HSDAG_DEVICE_CPU_CPU_STEP_H

#include "device/cpu/cpu_name.h"
#include "device/device.h"
#include "kernel/kernel_impl.h"

/* device.state */
struct cpu_state {
	struct pool *pool;
	struct cpu_ctx *ctx;
	bool pinned;
	enum device_precision precision;
	bool multiplies; /* in fewer bits than f32: products by oneDNN pay */
};

bool cpu_supports(struct device *d, const struct step_spec *spec, char *why, size_t cap);
bool cpu_takes(struct device *d, const struct op *op, uint32_t i, const struct tensor *t);
enum fuse_answer cpu_fuses(struct device *d, const struct step_spec *spec);
int cpu_prepare(struct device *d, const struct step_spec *spec, struct step **out, struct err *e);
int cpu_run(struct device *d, struct step *s, struct devmem *const *in, struct devmem *const *out,
	    struct err *e);
bool cpu_in_place(struct device *d, const struct step *s, uint32_t in, uint32_t out);
void cpu_step_memory(struct device *d, const struct step *s,
		     void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg);
void cpu_explain(struct device *d, const struct step_spec *spec, const struct step *s, char *dst,
		 size_t cap);
void cpu_step_free(struct device *d, struct step *s);

#endif
