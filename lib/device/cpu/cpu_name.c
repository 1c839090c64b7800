/* cpu_name.c - names of the device class of this machine's cores. */
#include "device/cpu/cpu_name.h"

#include <string.h>

int cpu_name_parse(const char *name, struct cpu_name *out, struct err *e)
{
	const char *rest = name + 3;
	char q[100];
	*out = (struct cpu_name){.has_list = *rest == ':'};
	if (out->has_list && cores_parse(rest + 1, &out->cores, &rest, e) < 0)
		return -1;
	if (!rest || (out->has_list && *rest != '\0' && *rest != '/'))
		return err_set(e, ST_USAGE, "device '%s': not a list of cores; cpu:0 or cpu:0-3,5",
			       err_escape(q, sizeof q, name, strlen(name)));
	if (precision_option(rest, "f32|bf16|int8", &out->precision))
		return 0;
	return err_set(e, ST_USAGE,
		       "device '%s': only /precision=bf16, int8 or f32 may stand behind it",
		       err_escape(q, sizeof q, name, strlen(name)));
}
