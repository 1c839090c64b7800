/* device_cores.c - see device_cores.h. */
#include "device/device_cores.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

static int not_there(unsigned long core, struct err *e)
{
	return err_set(e, ST_USAGE, "core %lu is not there; devrun --list shows the cores", core);
}

/* The character behind the number at s; NULL: there is none. */
static const char *core_number(const char *s, unsigned long *out)
{
	char *end;
	if (*s < '0' || *s > '9')
		return NULL;
	*out = strtoul(s, &end, 10);
	return end;
}

int cores_parse(const char *s, cpu_set_t *out, const char **rest, struct err *e)
{
	unsigned long lo, hi;
	CPU_ZERO(out);
	*rest = NULL;
	do {
		if (!(s = core_number(s, &lo)))
			return 0;
		hi = lo;
		if ((*s == '-' && !(s = core_number(s + 1, &hi))) || hi < lo)
			return 0;
		if (hi >= CPU_SETSIZE)
			return not_there(hi, e);
		for (unsigned long c = lo; c <= hi; c++)
			CPU_SET(c, out);
	} while (*s == ',' && s++);
	*rest = s;
	return 0;
}

int cores_check(const cpu_set_t *cores, const cpu_set_t *all, struct err *e)
{
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET((size_t)c, cores) && !CPU_ISSET((size_t)c, all))
			return not_there((unsigned long)c, e);
	return 0;
}

void cores_set(struct device *d, const cpu_set_t *cores)
{
	d->n_cpus = 0;
	d->cpus = MEM_NEWN(int, (size_t)CPU_COUNT(cores) + 1);
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET((size_t)c, cores))
			d->cpus[d->n_cpus++] = c;
}

void cores_stay(const struct device *d)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	for (int i = 0; i < d->n_cpus; i++)
		CPU_SET((size_t)d->cpus[i], &set);
	if (d->n_cpus > 0)
		(void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}
