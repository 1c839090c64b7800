/* cpu_name.h - which cores and which precision a device name means: `cpu`, `cpu:0-3,5`,
 * either of them with `/precision=bf16`, `int8` or `f32` behind it. */
#ifndef HSDAG_DEVICE_CPU_CPU_NAME_H
#define HSDAG_DEVICE_CPU_CPU_NAME_H

#include "base/err.h"
#include "device/device_cores.h"
#include "device/device_precision.h"

struct cpu_name {
	bool has_list;   /* cores are given; else it is all that the process may use */
	cpu_set_t cores; /* if they are */
	enum device_precision precision;
};

/* Fails with ST_USAGE, saying what is wrong with it. */
int cpu_name_parse(const char *name, struct cpu_name *out, struct err *e);

#endif
