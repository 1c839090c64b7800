/* load.c - /proc/stat less this program's own time. */
#include "measure/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

bool load_parse(const char *line, double ticks, double *all_s)
{
	/* user, nice, system, idle, iowait, irq, softirq, steal */
	unsigned long long x[8] = {0};
	int n = sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &x[0], &x[1], &x[2],
		       &x[3], &x[4], &x[5], &x[6], &x[7]);
	if (strncmp(line, "cpu ", 4) != 0 || n < 4 || !(ticks > 0))
		return false;
	*all_s = (double)(x[0] + x[1] + x[2] + x[5] + x[6] + x[7]) / ticks;
	return true;
}

static double all_seconds(void)
{
	char line[512];
	double s = NAN;
	FILE *f = fopen("/proc/stat", "re");
	if (f && fgets(line, sizeof line, f) && !load_parse(line, (double)sysconf(_SC_CLK_TCK), &s))
		s = NAN;
	if (f)
		fclose(f);
	return s;
}

static double own_seconds(void)
{
	struct rusage u;
	if (getrusage(RUSAGE_SELF, &u) != 0)
		return NAN;
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

void load_begin(struct load_watch *x)
{
	*x = (struct load_watch){clock_s(), all_seconds(), own_seconds()};
}

struct contest_load load_end(const struct load_watch *x)
{
	struct load_watch now;
	double average[1];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	load_begin(&now);
	double for_s = now.clock_s - x->clock_s;
	double others = ((now.all_s - x->all_s) - (now.own_s - x->own_s)) / for_s;
	if (cores < 1 || !isfinite(others) || getloadavg(average, 1) != 1)
		return (struct contest_load){0};
	return (struct contest_load){.cores = (uint32_t)cores,
				     .average = average[0],
				     .others = fmin((double)cores, fmax(0, others))};
}
