/* mem_available.c - how much memory the machine can still give to this process. */
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

/* What the control group (version 2) that the process sees as its root leaves: pages of files are
 * given back when others need them. */
static uint64_t group_available(void)
{
	uint64_t most = number_in("/sys/fs/cgroup/memory.max", ""),
		 used = number_in("/sys/fs/cgroup/memory.stat", "anon ");
	if (most == UINT64_MAX || used == UINT64_MAX)
		return UINT64_MAX;
	return used < most ? most - used : 0;
}

uint64_t mem_available(void)
{
	uint64_t kib = number_in("/proc/meminfo", "MemAvailable:"), group = group_available();
	uint64_t machine = kib < UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX;
	return machine < group ? machine : group;
}
