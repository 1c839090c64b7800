/* device_cpu.c - the device class of this machine's cores: `cpu`, `cpu:LIST`, either of them with
 * a precision behind it (cpu_name.h).  The worker's thread and the pool's threads sit on the device's cores. */
#include "base/cgroup.h"
#include "base/mem.h"
#include "base/pool.h"
#include "device/cpu/step/cpu_kind.h"
#include "device/cpu/cpu_step.h"
#include "device/host_memory.h"
#include "kernel/onednn/onednn.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

extern const struct device_class cpu_device_class;

/* Packed weights are shared by all cpu devices of the process. */
static struct cpu_packs *packs;
static int packs_users;

/* ---- what the machine has ---- */

static int cpu_check_name(const char *name, struct err *e)
{
	struct cpu_name n;
	return cpu_name_parse(name, &n, e);
}

static void describe(char *dst, size_t cap, int n)
{
	char line[200], model[120] = "cpu";
	FILE *f = fopen("/proc/cpuinfo", "re");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "model name : %119[^\n]", model) == 1)
			break;
	if (f)
		fclose(f);
	snprintf(dst, cap, "%s, %d core%s", model, n, n == 1 ? "" : "s");
}

static uint64_t machine_memory(void)
{
	struct sysinfo si;
	return sysinfo(&si) == 0 ? (uint64_t)si.totalram * si.mem_unit : 0;
}

static void set_cores(struct device *d, const cpu_set_t *set)
{
	cores_set(d, set);
	describe(d->description, sizeof d->description, d->n_cpus);
	d->mem_bytes = machine_memory();
}

static void cpu_list_machine(void (*fn)(void *arg, const struct device *d), void *arg)
{
	cpu_set_t all;
	if (cpus_of_process(&all) < 0)
		return;
	struct device d = {.class = &cpu_device_class, .name = "cpu", .align = 64};
	set_cores(&d, &all);
	fn(arg, &d);
	int n = d.n_cpus, *cores = d.cpus;
	for (int i = 0; i < n && n > 1; i++) {
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET((size_t)cores[i], &one);
		snprintf(d.name, sizeof d.name, "cpu:%d", cores[i]);
		set_cores(&d, &one);
		fn(arg, &d);
		mem_free(d.cpus);
	}
	mem_free(cores);
}

/* ---- opening ---- */

static void describe_precision(struct device *d, enum device_precision p)
{
	static const char *const how[] = {
		[ONEDNN_CONVERTED] =
			"no bf16 units: weights of thin products in bf16, all else f32",
		[ONEDNN_SLOW_BF16] =
			"no AMX, and f32 is faster than its AVX512_BF16: weights of thin "
			"products in bf16, all else f32",
		[ONEDNN_BF16] = "products in bf16 (AVX512_BF16)",
		[ONEDNN_AMX] = "products in bf16 (AMX)"};
	size_t n = strlen(d->description);
	snprintf(d->description + n, sizeof d->description - n, "; %s",
		 p == PRECISION_INT8 ? "products between FakeQuantize and with weights in few bits "
				       "in int8, all else f32"
				     : how[onednn_speed()]);
}

static bool cpu_is_fast(const char *precision)
{
	struct err e = ERR_INIT;
	if (onednn_open(&e) < 0)
		return false;
	return strcmp(precision, "bf16") == 0 ? onednn_multiplies() : onednn_multiplies_codes();
}

static int cpu_open(struct device *d, struct err *e)
{
	cpu_set_t all;
	struct cpu_name name;
	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return err_sys(e, ST_RUNTIME, "cannot read this process's cores");
	if (cpu_name_parse(d->name, &name, e) < 0 ||
	    (name.precision != PRECISION_F32 && onednn_open(e) < 0))
		return -1;
	if (!name.has_list && cpus_of_process(&name.cores) < 0)
		return err_sys(e, ST_RUNTIME, "cannot read this process's cores");
	if (cores_check(&name.cores, &all, e) < 0)
		return -1;
	set_cores(d, &name.cores);
	if (packs_users++ == 0)
		packs = cpu_packs_new();
	struct cpu_state *s = MEM_NEW(struct cpu_state);
	s->pinned = name.has_list;
	s->pool = pool_new(d->n_cpus, s->pinned ? d->cpus : NULL);
	s->ctx = cpu_ctx_new(s->pool, packs);
	d->state = s;
	s->precision = name.precision;
	s->multiplies = s->precision == PRECISION_INT8 ||
			(s->precision == PRECISION_BF16 && onednn_multiplies());
	if (s->precision == PRECISION_BF16)
		cpu_ctx_allow_bf16(s->ctx, onednn_multiplies(), onednn_prepare);
	else if (s->precision == PRECISION_INT8)
		cpu_ctx_allow_codes(s->ctx);
	if (s->precision != PRECISION_F32)
		describe_precision(d, s->precision);
	return 0;
}

static void cpu_take_turns(struct device *d)
{
	struct cpu_state *s = d->state;
	s->pinned = true;
	pool_take_turns(s->pool, d->cpus);
}

static void cpu_lend(struct device *d, int i, void (*wake)(void *), void *arg)
{
	const struct cpu_state *s = d->state;
	if (i < pool_size(s->pool))
		pool_lend(s->pool, i, wake, arg);
}

static bool cpu_needs_help(const struct device *d)
{
	const struct cpu_state *s = d->state;
	return pool_needs_help(s->pool);
}

static void cpu_assist(struct device *d, int i)
{
	const struct cpu_state *s = d->state;
	pool_help(s->pool, i);
}

static void cpu_close(struct device *d)
{
	struct cpu_state *s = d->state;
	cpu_ctx_free(s->ctx);
	pool_free(s->pool);
	mem_free(s);
	if (--packs_users == 0) {
		cpu_packs_free(packs);
		packs = NULL;
	}
}

/* The worker's own thread is the pool's thread 0. */
static void cpu_enter(struct device *d)
{
	const struct cpu_state *s = d->state;
	cpu_ctx_watch(s->ctx, d->stop);
	if (!s->pinned)
		return;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)d->cpus[0], &set);
	pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static uint64_t cpu_scratch(struct device *d)
{
	const struct cpu_state *state = d->state;
	return cpu_ctx_bytes(state->ctx);
}

/* Of one precision, all look for tensors in other forms at the same steps. */
static bool cpu_shares(const struct device *d, const struct device *other)
{
	const struct cpu_state *a = d->state, *b = other->state;
	return a->precision == b->precision;
}

const struct device_class cpu_device_class = {
	.forms = "cpu, cpu:LIST",
	.help = "cpu (all cores), cpu:LIST (these cores, as in cpu:0 or cpu:0-3,5; either with "
		"/precision=bf16 or int8)",
	.all_cores = "cpu",
	.precisions = "bf16|int8",
	.is_fast = cpu_is_fast,
	.check_name = cpu_check_name,
	.list_machine = cpu_list_machine,
	.max_nodes = FUSE_NODES,
	.fuses = cpu_fuses,
	.in_place = cpu_in_place,
	.step_memory = cpu_step_memory,
	.explain = cpu_explain,
	.scratch = cpu_scratch,
	.dynamic = true,
	.open = cpu_open,
	.close = cpu_close,
	.take_turns = cpu_take_turns,
	.lend = cpu_lend,
	.needs_help = cpu_needs_help,
	.assist = cpu_assist,
	.enter = cpu_enter,
	.supports = cpu_supports,
	.takes = cpu_takes,
	.prepare = cpu_prepare,
	.step_free = cpu_step_free,
	.alloc = host_memory_alloc,
	.view = host_memory_view,
	.keep = host_memory_keep,
	.shares = cpu_shares,
	.wrap = host_memory_wrap,
	.release = host_memory_release,
	.host = host_memory_address,
	.run = cpu_run,
};
