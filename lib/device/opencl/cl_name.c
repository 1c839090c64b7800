/* cl_name.c - OpenCL devices by name: "cl:P.D" is device D of platform P, and
 * "cl:P.D:A-B" (or ":A") its compute units A to B alone; behind either,
 * "/precision=f16" has f32 kept and computed in f16, and
 * "/precision=bf16" products computed in bf16.
 *
 * A range of units is a sub-device, partitioned by counts.  On PoCL, unit u is
 * worker thread u, which POCL_AFFINITY=1 pins to core u, so "cl:0.0:1" and
 * "cpu:0" share nothing; without it the thread of a sub-device wanders over all
 * cores.  The variable is read when the driver loads: cl_set_environment. */
#include "device/opencl/cl_impl.h"
#include "device/device_cores.h"
#include "device/device_precision.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLATFORMS = 64, MAX_DEVICES = 256, MAX_UNITS = 1 << 20 };

struct cl_name {
	unsigned platform, device;
	bool range;
	enum device_precision precision;
	unsigned first, last; /* compute units, both included */
};

static const char *number(const char *s, unsigned limit, unsigned *out)
{
	char *end;
	if (*s < '0' || *s > '9')
		return NULL;
	unsigned long x = strtoul(s, &end, 10);
	if (x >= limit)
		return NULL;
	*out = (unsigned)x;
	return end;
}

static bool name_parse(const char *s, struct cl_name *n)
{
	*n = (struct cl_name){0};
	if (strncmp(s, "cl:", 3) || !(s = number(s + 3, MAX_PLATFORMS, &n->platform)) ||
	    *s++ != '.' || !(s = number(s, MAX_DEVICES, &n->device)))
		return false;
	if (*s == ':') {
		n->range = true;
		if (!(s = number(s + 1, MAX_UNITS, &n->first)))
			return false;
		n->last = n->first;
		if (*s == '-' && !(s = number(s + 1, MAX_UNITS, &n->last)))
			return false;
	}
	return precision_option(s, "f32|f16|bf16", &n->precision) && n->first <= n->last;
}

int cl_check_name(const char *name, struct err *e)
{
	struct cl_name n;
	if (name_parse(name, &n))
		return 0;
	char text[80];
	return err_set(e, ST_USAGE,
		       "'%s' is not the name of an OpenCL device; write cl:P.D "
		       "for device D of platform P, or cl:P.D:A-B for its compute units A to B, "
		       "with /precision=f16 or /precision=bf16 behind it for other precisions",
		       err_escape(text, sizeof text, name, strlen(name)));
}

void cl_set_environment(const char *const *names, uint32_t n)
{
	struct cl_name c;
	for (uint32_t i = 0; i < n; i++) {
		if (!name_parse(names[i], &c))
			continue;
		/* our kernels have one local size each: PoCL need not compile them again for it */
		setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 0);
		if (c.range)
			setenv("POCL_AFFINITY", "1", 0);
	}
}

char *cl_device_text(cl_device_id dev, cl_device_info what, char *dst, size_t cap)
{
	size_t need = 0;
	dst[0] = 0;
	if (clGetDeviceInfo(dev, what, 0, NULL, &need) != CL_SUCCESS || !need)
		return dst;
	char *all = mem_alloc(need + 1, 1);
	if (clGetDeviceInfo(dev, what, need, all, NULL) == CL_SUCCESS)
		snprintf(dst, cap, "%s", all);
	mem_free(all);
	return dst;
}

bool cl_device_has(cl_device_id dev, const char *extension)
{
	size_t need = 0, n = strlen(extension);
	bool has = false;
	if (clGetDeviceInfo(dev, CL_DEVICE_EXTENSIONS, 0, NULL, &need) != CL_SUCCESS)
		return false;
	char *all = mem_alloc(need + 1, 1);
	if (clGetDeviceInfo(dev, CL_DEVICE_EXTENSIONS, need, all, NULL) == CL_SUCCESS)
		for (const char *s = all; (s = strstr(s, extension)); s += n)
			has |= (s == all || s[-1] == ' ') && (!s[n] || s[n] == ' ');
	mem_free(all);
	return has;
}

static unsigned device_units(cl_device_id dev)
{
	cl_uint units = 0;
	return clGetDeviceInfo(dev, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL)
		       ? 0
		       : units;
}

/* Each platform once: the loader has one of a library that several .icd files name as often. */
static cl_int all_platforms(cl_platform_id all[MAX_PLATFORMS], cl_uint *n)
{
	cl_uint found = 0;
	cl_int rc = clGetPlatformIDs(MAX_PLATFORMS, all, &found);
	*n = 0;
	for (cl_uint i = 0; !rc && i < found && i < MAX_PLATFORMS; i++) {
		cl_uint k = 0;
		while (k < *n && all[k] != all[i])
			k++;
		if (k == *n)
			all[(*n)++] = all[i];
	}
	return rc;
}

static int platform_get(unsigned i, cl_platform_id *out, struct err *e)
{
	cl_platform_id all[MAX_PLATFORMS];
	cl_uint n = 0;
	cl_int rc = all_platforms(all, &n);
	if (rc == -1001 || (rc == CL_SUCCESS && !n))
		return err_set(e, ST_USAGE,
			       "no OpenCL platform; install a driver such as "
			       "pocl-opencl-icd%s",
			       err_few_files());
	if (rc)
		return cl_err(e, "clGetPlatformIDs", rc);
	if (i >= n)
		return err_set(e, ST_USAGE, "no OpenCL platform %u; there are %u", i, (unsigned)n);
	*out = all[i];
	return 0;
}

static int device_get(cl_platform_id platform, unsigned i, cl_device_id *out, struct err *e)
{
	cl_device_id all[MAX_DEVICES];
	cl_uint n = 0;
	cl_int rc = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, all, &n);
	if (rc && rc != CL_DEVICE_NOT_FOUND)
		return cl_err(e, "clGetDeviceIDs", rc);
	if (rc || i >= n || i >= MAX_DEVICES)
		return err_set(e, ST_USAGE, "no device %u on this OpenCL platform; it has %u", i,
			       (unsigned)n);
	*out = all[i];
	return 0;
}

/* Units first to last of `dev`, which has `units`: the pieces of the partition are what lies
 * before, the range, and what lies behind. */
static int sub_device(cl_device_id dev, unsigned units, const struct cl_name *n, cl_device_id *out,
		      struct err *e)
{
	cl_device_partition_property part[6] = {CL_DEVICE_PARTITION_BY_COUNTS};
	cl_device_id piece[3];
	cl_uint n_pieces = 0, mine = 0, got = 0;
	if (n->last >= units)
		return err_set(e, ST_USAGE, "no compute unit %u; the device has %u", n->last,
			       units);
	if (n->first) {
		part[1 + n_pieces++] = (cl_device_partition_property)n->first;
		mine = 1;
	}
	part[1 + n_pieces++] = (cl_device_partition_property)(n->last - n->first + 1);
	if (n->last + 1 < units)
		part[1 + n_pieces++] = (cl_device_partition_property)(units - n->last - 1);
	cl_int rc = clCreateSubDevices(dev, part, 3, piece, &got);
	if (rc)
		return err_set(e, ST_RUNTIME,
			       "clCreateSubDevices: %s (%d); this device may not "
			       "support a range of compute units",
			       cl_error_name(rc), (int)rc);
	for (cl_uint i = 0; i < got; i++)
		if (i != mine)
			clReleaseDevice(piece[i]);
	*out = piece[mine];
	return 0;
}

int cl_place_find(const char *name, struct cl_place *out, struct err *e)
{
	struct cl_name n;
	*out = (struct cl_place){0};
	if (!name_parse(name, &n))
		return cl_check_name(name, e);
	if (platform_get(n.platform, &out->platform, e) ||
	    device_get(out->platform, n.device, &out->device, e))
		return -1;
	out->units = device_units(out->device);
	out->half = n.precision == PRECISION_F16;
	out->bf16 = n.precision == PRECISION_BF16;
	if (n.range && (n.first > 0 || n.last + 1 != out->units)) {
		if (sub_device(out->device, out->units, &n, &out->device, e))
			return -1;
		out->sub = true;
		out->units = n.last - n.first + 1;
	}
	return 0;
}

void cl_place_release(struct cl_place *p)
{
	if (p->sub)
		clReleaseDevice(p->device);
	*p = (struct cl_place){0};
}

/* The cores of this machine that an OpenCL CPU device computes on. */
static void describe_cores(const char *name, struct device *d)
{
	struct cl_name n;
	cpu_set_t set;
	if (!name_parse(name, &n) || sched_getaffinity(0, sizeof set, &set))
		return;
	if (n.range) {
		/* pinned by the driver, whatever this process may use */
		CPU_ZERO(&set);
		for (unsigned c = n.first; c <= n.last && c < CPU_SETSIZE; c++)
			CPU_SET(c, &set);
	}
	cores_set(d, &set);
}

void cl_place_describe(const char *name, const struct cl_place *p, struct device *d)
{
	char model[96], version[64];
	cl_ulong bytes = 0;
	cl_uint align_bits = 0;
	cl_device_type type = 0;
	cl_device_text(p->device, CL_DEVICE_NAME, model, sizeof model);
	cl_device_text(p->device, CL_DEVICE_VERSION, version, sizeof version);
	snprintf(d->description, sizeof d->description, "%s, %u units, %.28s", model, p->units,
		 version);
	clGetDeviceInfo(p->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
	clGetDeviceInfo(p->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align_bits, &align_bits,
			NULL);
	clGetDeviceInfo(p->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	d->mem_bytes = bytes;
	for (d->align = 64; d->align < align_bits / 8;)
		d->align *= 2;
	if (type & CL_DEVICE_TYPE_CPU)
		describe_cores(name, d);
}

void cl_places_list(const struct device_class *class, void (*fn)(void *arg, const struct device *d),
		    void *arg)
{
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_uint n_platforms = 0;
	if (all_platforms(platforms, &n_platforms))
		return;
	for (unsigned i = 0; i < n_platforms; i++) {
		cl_uint n = 0;
		cl_int rc = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL, &n);
		if (rc && rc != CL_DEVICE_NOT_FOUND) {
			struct device d = {.class = class};
			snprintf(d.name, sizeof d.name, "cl:%u", i);
			snprintf(d.description, sizeof d.description, "clGetDeviceIDs: %s",
				 cl_error_name(rc));
			fn(arg, &d);
		}
		for (unsigned j = 0; !rc && j < n && j < MAX_DEVICES; j++) {
			struct device d = {.class = class};
			struct cl_place p;
			struct err e = ERR_INIT;
			snprintf(d.name, sizeof d.name, "cl:%u.%u", i, j);
			if (cl_place_find(d.name, &p, &e)) {
				snprintf(d.description, sizeof d.description, "%.150s", e.msg);
			} else {
				cl_place_describe(d.name, &p, &d);
				cl_place_release(&p);
			}
			fn(arg, &d);
			mem_free(d.cpus);
		}
	}
}
