/* mem_available.c - how much memory the machine can still give to this process. */
#include "base/cgroup.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* The number behind `key` in a file of lines "key number"; UINT64_MAX when there is none. */
static uint64_t number_in(const char *path, const char *key)
{
	char line[200];
	unsigned long long n;
	uint64_t found = UINT64_MAX;
	FILE *f = fopen(path, "re");
	while (f && found == UINT64_MAX && fgets(line, sizeof line, f))
		if (strncmp(line, key, strlen(key)) == 0 &&
		    sscanf(line + strlen(key), " %llu", &n) == 1)
			found = n;
	if (f)
		fclose(f);
	return found;
}

uint64_t mem_available(void)
{
	uint64_t kib = number_in("/proc/meminfo", "MemAvailable:"), group = cgroup_memory(NULL);
	uint64_t machine = kib < UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX;
	return machine < group ? machine : group;
}
