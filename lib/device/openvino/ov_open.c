/* ov_open.c - starting OpenVINO for a device: its cores, the plugin's properties, what to
 * call it. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/mem.h"
#include "base/cgroup.h"
#include "device/openvino/ov_impl.h"

static bool uses_cpu(const struct ov_name *n)
{
	for (int i = 0; i < n->n_devices; i++)
		if (strcmp(n->device[i], "CPU") == 0)
			return true;
	return n->n_devices == 0;
}

/* The cores that it computes on: those of its name, else all of this process. */
static int take_cores(struct device *d, const struct ov_name *n, struct err *e)
{
	cpu_set_t all, set;
	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return err_sys(e, ST_RUNTIME, "cannot read this process's cores");
	CPU_ZERO(&set);
	if (n->has_cores)
		set = n->cores;
	else if (uses_cpu(n) && cpus_of_process(&set) < 0)
		return err_sys(e, ST_RUNTIME, "cannot read this process's cores");
	if (cores_check(&set, &all, e) < 0)
		return -1;
	cores_set(d, &set);
	return 0;
}

/* Is `name` (GPU.1, GPU, CPU) among the devices that OpenVINO finds? */
static int check_available(const struct ov_state *s, const char *name, struct err *e)
{
	ov_available a = {0};
	ov_status rc = s->ov->ov_core_get_available_devices(s->core, &a);
	if (rc != 0)
		return ov_api_error(s->ov, rc, e, "cannot list OpenVINO's devices");
	char known[300] = "it has ", best[60];
	struct err_near near = {.name = name};
	bool found = false;
	size_t n = strlen(name);
	for (size_t i = 0; i < a.size; i++) {
		const char *x = a.devices[i];
		size_t m = strlen(known);
		snprintf(known + m, sizeof known - m, "%s%s", i ? ", " : "", x);
		/* "GPU" is the first of "GPU.0", "GPU.1", and "GPU.0" the only "GPU". */
		found |= strcmp(x, name) == 0 || (strncmp(x, name, n) == 0 && x[n] == '.') ||
			 (strncmp(x, name, strlen(x)) == 0 && strcmp(name + strlen(x), ".0") == 0);
		err_offer(&near, x);
	}
	if (near.best) { /* it goes with the list */
		snprintf(best, sizeof best, "ov:%s", near.best);
		near.best = best;
	}
	if (a.size == 0)
		snprintf(known, sizeof known, "it has none");
	s->ov->ov_available_devices_free(&a);
	return found ? 0
		     : err_unknown(e, ST_USAGE, &near, known, "OpenVINO has no device '%s' here",
				   name);
}

static int set_property(const struct ov_state *s, const char *device, const char *key,
			const char *value, struct err *e)
{
	char what[200];
	ov_status rc = s->ov->ov_core_set_property(s->core, device, key, value);
	if (rc == 0)
		return 0;
	snprintf(what, sizeof what, "%.40s does not take %.60s=%.60s", device, key, value);
	return ov_api_error(s->ov, rc, e, what);
}

/* What a device gets unless its name says otherwise: f32, one stream, no pinning by OpenVINO. */
static int configure(const struct ov_state *s, const char *device, int threads, struct err *e)
{
	char number[16], count[16];
	bool cpu = strcmp(device, "CPU") == 0, gpu = strncmp(device, "GPU", 3) == 0;
	const char *precision = s->name.precision;
	snprintf(number, sizeof number, "%d", threads);
	snprintf(count, sizeof count, "%d", s->name.streams);
	if (cpu && (set_property(s, device, "INFERENCE_NUM_THREADS", number, e) < 0 ||
		    set_property(s, device, "ENABLE_CPU_PINNING", "NO", e) < 0))
		return -1;
	if ((cpu || gpu) && set_property(s, device, "NUM_STREAMS", count, e) < 0)
		return -1;
	/* Where weights are packed, f32 alone would still quantise what they are multiplied with
	 * (OpenVINO 2024 and newer; older ones do not know the property). */
	/* The same goes for caches of keys and values, which it would keep in 8 bits. */
	if (cpu && precision && strcmp(precision, "f32") == 0) {
		s->ov->ov_core_set_property(s->core, device, "DYNAMIC_QUANTIZATION_GROUP_SIZE",
					    "0");
		s->ov->ov_core_set_property(s->core, device, "KV_CACHE_PRECISION", "f32");
	}
	if ((cpu || gpu) && precision &&
	    set_property(s, device, "INFERENCE_PRECISION_HINT", precision, e) < 0)
		return -1;
	return 0;
}

static int configure_all(const struct ov_state *s, int threads, struct err *e)
{
	const struct ov_name *n = &s->name;
	char own[16];
	if (n->n_devices == 0 && configure(s, "CPU", threads, e) < 0)
		return -1;
	for (int i = 0; i < n->n_devices; i++)
		if (check_available(s, n->device[i], e) < 0 ||
		    configure(s, n->device[i], threads, e) < 0)
			return -1;
	snprintf(own, sizeof own, "%.*s", (int)strcspn(n->target, ":"), n->target);
	for (int i = 0; i < n->n_properties; i++)
		if (set_property(s, n->composite ? own : n->target, n->key[i], n->value[i], e) < 0)
			return -1;
	return 0;
}

static void describe(struct device *d, const struct ov_state *s, int threads)
{
	char *full = NULL;
	struct sysinfo si;
	int n = snprintf(d->description, sizeof d->description, "OpenVINO %.20s, %s",
			 s->ov->version,
			 s->name.precision ? s->name.precision : "its own precision");
	if (uses_cpu(&s->name))
		n += snprintf(d->description + n, sizeof d->description - (size_t)n,
			      ", %d thread%s", threads, threads == 1 ? "" : "s");
	if (!s->name.composite &&
	    s->ov->ov_core_get_property(s->core, s->name.target, "FULL_DEVICE_NAME", &full) == 0 &&
	    full) {
		snprintf(d->description + n, sizeof d->description - (size_t)n, ", %.60s", full);
		s->ov->ov_free(full);
	}
	if (sysinfo(&si) == 0)
		d->mem_bytes = (uint64_t)si.totalram * si.mem_unit;
}

/* ---- what compiled segments depend on ---- */

/* A line more of s->facts. */
static void add_fact(struct ov_state *s, const char *key, const char *value)
{
	char *old = s->facts;
	size_t size = (old ? strlen(old) : 0) + strlen(key) + strlen(value) + 3;
	s->facts = mem_alloc(size, 1);
	snprintf(s->facts, size, "%s%s=%s\n", old ? old : "", key, value);
	mem_free(old);
}

static void add_property(struct ov_state *s, const char *device, const char *key)
{
	char *value = NULL;
	if (s->ov->ov_core_get_property(s->core, device, key, &value) != 0 || !value)
		return; /* not one of this device's */
	add_fact(s, device, key);
	add_fact(s, "is", value);
	s->ov->ov_free(value);
}

/* Versions, the machine's devices (HETERO and AUTO choose among them), how this one is set, and
 * what in the environment changes the code that is made. */
static void collect_facts(const struct device *d, struct ov_state *s, int threads)
{
	static const char *const properties[] = {"FULL_DEVICE_NAME", "DEVICE_ARCHITECTURE",
						 "OPTIMIZATION_CAPABILITIES", "GPU_DRIVER_VERSION",
						 "NPU_DRIVER_VERSION"};
	static const char *const variables[] = {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA",
						"OV_CPU_MAX_ISA"};
	const struct ov_name *n = &s->name;
	char number[40];
	ov_available a = {0};
	add_fact(s, "format", "2");
	add_fact(s, "openvino", s->ov->version);
	add_fact(s, "target", n->target);
	snprintf(number, sizeof number, "%d/%d", threads, n->streams);
	add_fact(s, "threads", number);
	add_fact(s, "precision", n->precision ? n->precision : "default");
	for (int i = 0; i < n->n_properties; i++)
		add_fact(s, n->key[i], n->value[i]);
	if (s->ov->ov_core_get_available_devices(s->core, &a) == 0) {
		for (size_t i = 0; i < a.size; i++)
			for (size_t j = 0; j < sizeof properties / sizeof *properties; j++)
				add_property(s, a.devices[i], properties[j]);
		s->ov->ov_available_devices_free(&a);
	}
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		add_fact(s, variables[i], getenv(variables[i]) ? getenv(variables[i]) : "");
	/* Threads of OpenVINO's own stay on the cores of the device that they first worked for. */
	s->own_cores = threads > 1 ? d->name : "";
}

int ov_open(struct device *d, struct ov_state *s, struct err *e)
{
	if (ov_name_parse(d->name, &s->name, e) < 0 || take_cores(d, &s->name, e) < 0 ||
	    ov_api_open(&s->ov, e) < 0)
		return -1;
	int threads = s->name.threads ? s->name.threads : d->n_cpus ? d->n_cpus : 1;
	ov_status rc = s->ov->ov_core_create(&s->core);
	if (rc != 0)
		return ov_api_error(s->ov, rc, e, "cannot start OpenVINO");
	s->pinned = s->name.has_cores;
	if (configure_all(s, threads, e) < 0)
		return -1;
	describe(d, s, threads);
	collect_facts(d, s, threads);
	return ov_cache_open(&s->cache, e);
}
