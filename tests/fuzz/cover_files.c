/* cover_files.c - what the programs that are fuzzed share (cover.h). */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cover.h"

void cover_on_one_core(bool one)
{
	static cpu_set_t all;
	cpu_set_t first;
	int core = 0;
	if (one && sched_getaffinity(0, sizeof all, &all) < 0)
		abort();
	while (!CPU_ISSET(core, &all))
		core++;
	CPU_ZERO(&first);
	CPU_SET(core, &first);
	if (sched_setaffinity(0, sizeof all, one ? &first : &all) < 0)
		abort();
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		exit(1);
	}
	fseek(f, 0, SEEK_END);
	size_t size = (size_t)ftell(f);
	rewind(f);
	uint8_t *data = MEM_NEWN(uint8_t, size + 1);
	if (fread(data, 1, size, f) != size)
		exit(1);
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	mem_free(data);
}

void cover_files(int n, char **path)
{
	for (int i = 1; i < n; i++)
		run_file(path[i]);
}
