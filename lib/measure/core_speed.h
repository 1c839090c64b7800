/* core_speed.h - how fast the cores of devices are while something runs on them.
 *
 * Other guests of a host and other programs slow a core down for milliseconds at a time: what a
 * core did before and after a run says little of the time between.  So one thread on each core
 * wakes up every few milliseconds of a run and takes the time of two short loops, which is about
 * one hundredth of the core's time. */
#ifndef HSDAG_MEASURE_CORE_SPEED_H
#define HSDAG_MEASURE_CORE_SPEED_H

#include "device/device.h"

enum core_speed_kind {
	CORE_SPEED_COMPUTE, /* additions and multiplications in registers */
	CORE_SPEED_READ,    /* a pass over memory that the caches of a core do not hold */
	CORE_SPEED_KINDS
};

struct core_speed;

/* Threads on the cores of l's devices, of each device's the first 16.  NULL: ST_RUNTIME. */
struct core_speed *core_speed_new(const struct device_list *l, struct err *e) MUST_CHECK;
void core_speed_free(struct core_speed *p);

/* Samples are taken from when core_speed_begin returns, beginning and end included.  slow_s
 * (k, CORE_SPEED_KINDS): what the loops took on each device's cores, the harmonic mean, as it is speeds
 * that add up over time; 0 where a device has no cores of this machine, or where other threads of
 * this machine disturbed all samples. */
void core_speed_begin(struct core_speed *p);
void core_speed_end(struct core_speed *p, double *slow_s);

#endif
