/* isa_level.h - the level of vector instructions of this processor. */
#ifndef HSDAG_KERNEL_ISA_LEVEL_H
#define HSDAG_KERNEL_ISA_LEVEL_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CPU_HAS_LEVELS 1
#include <immintrin.h>
#endif

/* Four floats, for the lowest level. */
typedef float vec4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int vec4i __attribute__((vector_size(16), aligned(4), may_alias));

static inline vec4 vec4_max(vec4 a, vec4 b)
{
	vec4i larger = a > b;
	return (vec4)((larger & (vec4i)a) | (~larger & (vec4i)b));
}

static inline vec4 vec4_min(vec4 a, vec4 b)
{
	vec4i less = a < b;
	return (vec4)((less & (vec4i)a) | (~less & (vec4i)b));
}

/* 4, 3 or 1: as the names of the x86-64 levels; 1 elsewhere.  HSDAG_CPU_LEVEL in the
 * environment lowers it, for tests. */
extern int cpu_level;

#ifdef CPU_HAS_LEVELS
#define LEVEL_CALL(f, ...) \
	(cpu_level >= 4   ? f##_v4(__VA_ARGS__) \
	 : cpu_level == 3 ? f##_v3(__VA_ARGS__) \
			  : f##_v1(__VA_ARGS__))
#else
#define LEVEL_CALL(f, ...) f##_v1(__VA_ARGS__)
#endif

#endif
