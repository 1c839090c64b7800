/* isa_level.c - which vector instructions there are. */
#include "kernel/isa_level.h"

#include <stdlib.h>

int cpu_level = 1;

__attribute__((constructor)) static void find_level(void)
{
#ifdef CPU_HAS_LEVELS
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("bmi2"))
		cpu_level = 3;
	if (cpu_level == 3 && __builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd"))
		cpu_level = 4;
	const char *s = getenv("HSDAG_CPU_LEVEL");
	if (s && atoi(s) < cpu_level)
		cpu_level = atoi(s) >= 3 ? 3 : 1;
#endif
}
