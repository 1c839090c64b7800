/* cgroup.c - limits of this process's control groups. */
#include "base/cgroup.h"
#include "base/mem.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- files ---- */

/* The number behind `key` in FOLDER/NAME, a file of lines "key number"; NAN: there is none. */
static double number_in(const char *folder, const char *name, const char *key)
{
	char path[PATH_MAX], line[200];
	double found = NAN;

	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
		return NAN;
	FILE *f = fopen(path, "re");
	while (f && isnan(found) && fgets(line, sizeof line, f))
		if (strncmp(line, key, strlen(key)) == 0 &&
		    sscanf(line + strlen(key), " %lf", &found) != 1)
			found = NAN;
	if (f)
		fclose(f);
	return found;
}

/* ---- what one group says, in its folder; INFINITY: nothing ---- */

static double cpus_2(const char *folder)
{
	char path[PATH_MAX];
	double quota, period;
	FILE *f = NULL;

	if (snprintf(path, sizeof path, "%s/cpu.max", folder) < (int)sizeof path)
		f = fopen(path, "re");
	bool told = f && fscanf(f, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0;
	if (f)
		fclose(f);
	return told ? quota / period : INFINITY;
}

static double cpus_1(const char *folder)
{
	double quota = number_in(folder, "cpu.cfs_quota_us", ""),
	       period = number_in(folder, "cpu.cfs_period_us", "");

	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

static double left(double most, double used)
{
	return isnan(most) || isnan(used) ? INFINITY : fmax(0, most - used);
}

static double memory_2(const char *folder)
{
	return left(number_in(folder, "memory.max", ""), number_in(folder, "memory.stat", "anon "));
}

static double memory_1(const char *folder)
{
	return left(number_in(folder, "memory.limit_in_bytes", ""),
		    number_in(folder, "memory.stat", "total_rss "));
}

/* ---- all of them ---- */

/* The least of what the groups of a path, and those above, say; path is cut. */
static double least_above(const char *mount, const char *controllers, char *path,
			  double (*say)(const char *folder))
{
	char folder[PATH_MAX];
	double least = INFINITY;

	for (char *end = path + strlen(path);; end = strrchr(path, '/')) {
		if (!end)
			return least;
		*end = '\0';
		if (snprintf(folder, sizeof folder, "%s%s%s%s", mount, *controllers ? "/" : "",
			     controllers, path) < (int)sizeof folder)
			least = fmin(least, say(folder));
	}
}

/* Is `name` among the controllers of a list? */
static bool has_controller(const char *list, const char *name)
{
	size_t n = strlen(name);

	while (strncmp(list, name, n) != 0 || (list[n] != ',' && list[n] != '\0')) {
		list = strchr(list, ',');
		if (!list)
			return false;
		list++;
	}
	return true;
}

/* Lines ID:CONTROLLERS:PATH; version 2 has no controllers. */
static double least(const struct cgroup_paths *of, const char *controller,
		    double (*say_1)(const char *folder), double (*say_2)(const char *folder))
{
	const char *mount = of ? of->mount : "/sys/fs/cgroup";
	FILE *f = fopen(of ? of->proc : "/proc/self/cgroup", "re");
	char line[PATH_MAX + 200];
	double least = INFINITY;

	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		list++;
		if (!*list)
			least = fmin(least, least_above(mount, "", path, say_2));
		else if (has_controller(list, controller))
			least = fmin(least, least_above(mount, list, path, say_1));
	}
	if (f)
		fclose(f);
	return least;
}

double cgroup_cpus(const struct cgroup_paths *of)
{
	return least(of, "cpu", cpus_1, cpus_2);
}

uint64_t cgroup_memory(const struct cgroup_paths *of)
{
	double bytes = least(of, "memory", memory_1, memory_2);

	return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

int cpus_within(cpu_set_t *set, double most)
{
	int n = 0;

	for (size_t c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, set) && n >= ceil(most))
			CPU_CLR(c, set);
		else if (CPU_ISSET(c, set))
			n++;
	return n;
}

int cpus_of_process(cpu_set_t *out)
{
	return sched_getaffinity(0, sizeof *out, out) == 0 ? cpus_within(out, cgroup_cpus(NULL))
							   : -1;
}

uint64_t mem_available(void)
{
	double kib = number_in("/proc", "meminfo", "MemAvailable:");
	uint64_t machine = kib < 0x1p53 ? (uint64_t)kib * 1024 : UINT64_MAX,
		 group = cgroup_memory(NULL);
	return machine < group ? machine : group;
}

uint64_t mem_peak(void)
{
	double kib = number_in("/proc/self", "status", "VmHWM:");

	return kib < 0x1p53 ? (uint64_t)kib * 1024 : 0;
}
