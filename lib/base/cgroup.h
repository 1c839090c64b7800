/* cgroup.h - what the control groups of this process, version 1 or 2, leave it of processors and memory (proc_cgroups(7), cgroups(7)).
 *
 * Limits of all groups above count, too.  Where the process sees other paths than its name spaces mount, as in some
 * containers, those that it finds count. */
#ifndef HSDAG_BASE_CGROUP_H
#define HSDAG_BASE_CGROUP_H

#include <sched.h>
#include <stdint.h>

/* Where they are told: a file as /proc/self/cgroup, and the folder where control groups are mounted.  NULL: of this process. */
struct cgroup_paths {
	const char *proc, *mount;
};

/* Processors that it may use at once, in the mean (cpu.max, cpu.cfs_quota_us); INFINITY: as many as there are. */
double cgroup_cpus(const struct cgroup_paths *of);

/* Bytes that it may still take; UINT64_MAX: no limit is known.  Pages of files are given back when others need them. */
uint64_t cgroup_memory(const struct cgroup_paths *of);

/* Leaves the first processors of the set, as many as `most` has begun, and returns their number. */
int cpus_within(cpu_set_t *set, double most);

/* The processors that threads of this process should be on: of those that it may run on (sched_getaffinity) the first, as many as
 * the quota of its control groups has begun.  Returns their number, or -1 and errno. */
int cpus_of_process(cpu_set_t *out);

#endif
