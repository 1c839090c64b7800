/* cpu_name.c - names of the device class of this machine's cores. */
#include "device/cpu/cpu_name.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CORES = CPU_SETSIZE };

static const char option[] = "/precision=";

/* Where the option begins, or the end. */
static const char *end_of_cores(const char *name)
{
	const char *slash = strchr(name, '/');
	return slash ? slash : name + strlen(name);
}

static int parse_cores(const char *name, cpu_set_t *set, struct err *e)
{
	const char *s = name + 4, *stop = end_of_cores(name);
	CPU_ZERO(set);
	do {
		char *end;
		if (*s < '0' || *s > '9')
			goto bad;
		unsigned long lo = strtoul(s, &end, 10), hi = lo;
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			hi = strtoul(end + 1, &end, 10);
		if (hi < lo || hi >= MAX_CORES)
			goto bad;
		for (unsigned long c = lo; c <= hi; c++)
			CPU_SET(c, set);
		s = end;
	} while (*s == ',' && s++);
	if (s == stop)
		return 0;
bad:;
	char q[100];
	return err_set(e, ST_USAGE, "device '%s': not a list of cores; cpu:0 or cpu:0-3,5",
		       err_escape(q, sizeof q, name, strlen(name)));
}

static int parse_precision(const char *name, enum cpu_precision *p, struct err *e)
{
	static const char *const names[] = {
		[PRECISION_F32] = "f32", [PRECISION_BF16] = "bf16", [PRECISION_INT8] = "int8"};
	const char *s = end_of_cores(name);
	char q[100];
	*p = PRECISION_F32;
	if (strncmp(s, option, sizeof option - 1) == 0)
		for (int i = 0; i < 3; i++)
			if (strcmp(s + sizeof option - 1, names[i]) == 0) {
				*p = (enum cpu_precision)i;
				return 0;
			}
	return *s == '\0' ? 0
			  : err_set(e, ST_USAGE,
				    "device '%s': only /precision=bf16, int8 or f32 may stand "
				    "behind it",
				    err_escape(q, sizeof q, name, strlen(name)));
}

int cpu_name_parse(const char *name, struct cpu_name *out, struct err *e)
{
	*out = (struct cpu_name){.has_list = name[3] == ':'};
	if (out->has_list && parse_cores(name, &out->cores, e) < 0)
		return -1;
	return parse_precision(name, &out->precision, e);
}
