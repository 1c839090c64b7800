/* test_joules.c - energy counters of a folder as the kernel has it: sums of packages, counters that go round, what cannot be read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "measure/joules.h"
#include "tap.h"

static char root[100] = "/tmp/test_joules.XXXXXX";

static void put(const char *domain, const char *file, const char *text)
{
	char path[300];

	snprintf(path, sizeof path, "%s/%s", root, domain);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%s/%s", root, domain, file);
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

int main(void)
{
	struct joules *x = MEM_NEW(struct joules);
	struct err e = ERR_INIT;
	double j = -1;

	if (!mkdtemp(root))
		abort();
	tap(joules_open(x, root, &e) < 0 && e.code == ST_RUNTIME && strstr(e.msg, "no package in"),
	    "an empty folder: %s", e.msg);
	err_clear(&e);
	put("intel-rapl:0", "energy_uj", "1000000\n");
	put("intel-rapl:0", "max_energy_range_uj", "9000000\n");
	put("intel-rapl:1", "energy_uj", "8500000\n");
	put("intel-rapl:1", "max_energy_range_uj", "9000000\n");
	put("intel-rapl:0", "name", "package-0\n");
	/* The whole platform has the packages in it. */
	put("intel-rapl:2", "name", "psys\n");
	put("intel-rapl:2", "energy_uj", "7\n");
	put("intel-rapl:2", "max_energy_range_uj", "9000000\n");
	/* A part of a package, and the same package by another interface, count in it already. */
	put("intel-rapl:0:0", "energy_uj", "5\n");
	put("intel-rapl-mmio:0", "energy_uj", "5\n");
	tap(joules_open(x, root, &e) == 0 && x->n == 2, "two packages: %s", e.msg);
	tap(joules_since(x, &j, &e) == 0 && j == 0, "nothing yet: %g", j);
	put("intel-rapl:0", "energy_uj", "3500000\n");
	put("intel-rapl:0:0", "energy_uj", "999999\n");
	tap(joules_since(x, &j, &e) == 0 && j == 2.5, "one counts 2.5 J: %g", j);
	put("intel-rapl:1", "energy_uj", "250000\n");
	tap(joules_since(x, &j, &e) == 0 && j == 0.75, "the other went round: %g", j);
	tap(joules_since(x, &j, &e) == 0 && j == 0, "both stay: %g", j);
	put("intel-rapl:1", "energy_uj", "many\n");
	tap(joules_since(x, &j, &e) < 0 && strstr(e.msg, "has no number"), "no number: %s", e.msg);
	err_clear(&e);
	tap(joules_open(x, root, &e) < 0 && strstr(e.msg, "energy cannot be measured here"),
	    "nor at first: %s", e.msg);
	err_clear(&e);
	tap(joules_open(x, "/nowhere", &e) < 0 && strstr(e.msg, "No such file"), "no folder: %s",
	    e.msg);
	err_clear(&e);
	char command[200];
	snprintf(command, sizeof command, "rm -r %s", root);
	if (system(command) != 0)
		abort();
	mem_free(x);
	return tap_end();
}
