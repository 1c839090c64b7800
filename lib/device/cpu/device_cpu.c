/* device_cpu.c - the device class of this machine's cores: `cpu`, `cpu:LIST`, either of them with
 * `/precision=bf16` behind it.
 *
 * A step is one node, run by the operator kernels on the host (kernel.h), or
 * several fused ones (cpu_fuse.h); it runs to its end.  The worker's thread and the pool's
 * threads sit on the device's cores. */
#include "device/device.h"
#include "base/mem.h"
#include "base/pool.h"
#include "device/cpu/cpu_dynop.h"
#include "device/cpu/cpu_form.h"
#include "device/cpu/cpu_fuse.h"
#include "device/cpu/cpu_narrow.h"
#include "device/host_memory.h"
#include "kernel/cpu_impl.h"
#include "kernel/onednn/onednn.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

extern const struct device_class cpu_device_class;

enum precision { PRECISION_F32, PRECISION_BF16, PRECISION_INT8 };

struct cpu_state {
	struct pool *pool;
	struct cpu_ctx *ctx;
	bool pinned;
	enum precision precision;
	bool narrows; /* tensors may be in another form than plain (cpu_narrow.h) */
};

/* A dynamic operator, a fused step or one in 8 or 16 bits; pointers to what it is not are NULL.  A step that is
 * in 8 or 16 bits only where its tensors are (narrow_step_alone) is a fused one, too. */
struct step {
	struct dynop_step *dynop;    /* cpu_dynop.h */
	struct fused *fused;         /* cpu_fuse.h */
	struct narrow_step *narrow;  /* cpu_narrow.h */
	struct form_shape *in_shape; /* (n_in) where inputs may be in another form than plain */
	const struct graph *graph;
	uint32_t v; /* its first node */
	uint32_t n_in, n_out;
	void **at; /* (n_in + n_out) addresses of a run */
};

/* Packed weights are shared by all cpu devices of the process. */
static struct cpu_packs *packs;
static int packs_users;

/* ---- names ---- */

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

static bool has_list(const char *name)
{
	return name[3] == ':';
}

static int parse_precision(const char *name, enum precision *p, struct err *e)
{
	static const char *const names[] = {
		[PRECISION_F32] = "f32", [PRECISION_BF16] = "bf16", [PRECISION_INT8] = "int8"};
	const char *s = end_of_cores(name);
	char q[100];
	*p = PRECISION_F32;
	if (strncmp(s, option, sizeof option - 1) == 0)
		for (int i = 0; i < 3; i++)
			if (strcmp(s + sizeof option - 1, names[i]) == 0) {
				*p = (enum precision)i;
				return 0;
			}
	return *s == '\0' ? 0
			  : err_set(e, ST_USAGE,
				    "device '%s': only /precision=bf16, int8 or f32 may stand "
				    "behind it",
				    err_escape(q, sizeof q, name, strlen(name)));
}

static int cpu_check_name(const char *name, struct err *e)
{
	cpu_set_t set;
	enum precision p;
	if (has_list(name) && parse_cores(name, &set, e) < 0)
		return -1;
	return parse_precision(name, &p, e);
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
	d->n_cpus = 0;
	d->cpus = MEM_NEWN(int, (size_t)CPU_COUNT(set) + 1);
	for (int c = 0; c < MAX_CORES; c++)
		if (CPU_ISSET((size_t)c, set))
			d->cpus[d->n_cpus++] = c;
	describe(d->description, sizeof d->description, d->n_cpus);
	d->mem_bytes = machine_memory();
}

static void cpu_list_machine(void (*fn)(void *arg, const struct device *d), void *arg)
{
	cpu_set_t all;
	if (sched_getaffinity(0, sizeof all, &all) != 0)
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

static void describe_precision(struct device *d, enum precision p)
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
		 p == PRECISION_INT8 ? "convolutions between FakeQuantize in int8, all else f32"
				     : how[onednn_speed()]);
}

static int cpu_open(struct device *d, struct err *e)
{
	cpu_set_t all, set;
	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return err_sys(e, ST_RUNTIME, "cannot read this process's cores");
	bool pinned = has_list(d->name);
	enum precision precision;
	if (parse_precision(d->name, &precision, e) < 0 ||
	    (precision != PRECISION_F32 && onednn_open(e) < 0))
		return -1;
	if (!pinned)
		set = all;
	else if (parse_cores(d->name, &set, e) < 0)
		return -1;
	for (int c = 0; c < MAX_CORES; c++)
		if (CPU_ISSET((size_t)c, &set) && !CPU_ISSET((size_t)c, &all))
			return err_set(e, ST_USAGE,
				       "core %d is not there; devrun --list shows the cores", c);
	set_cores(d, &set);
	if (packs_users++ == 0)
		packs = cpu_packs_new();
	struct cpu_state *s = MEM_NEW(struct cpu_state);
	s->pinned = pinned;
	s->pool = pool_new(d->n_cpus, pinned ? d->cpus : NULL);
	s->ctx = cpu_ctx_new(s->pool, packs);
	d->state = s;
	s->precision = precision;
	s->narrows =
		precision == PRECISION_INT8 || (precision == PRECISION_BF16 && onednn_multiplies());
	if (precision == PRECISION_BF16)
		cpu_ctx_allow_bf16(s->ctx, onednn_prepare);
	if (precision != PRECISION_F32)
		describe_precision(d, precision);
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

/* ---- steps ---- */

static bool cpu_supports(struct device *d, const struct step_spec *spec, char *why, size_t cap)
{
	const char *reason = "";
	(void)d;
	if (dynop_step_wants(spec))
		return dynop_step_supports(spec, why, cap);
	if (spec->n_nodes == 1 && cpu_kernel_supports(spec->node[0].op, &reason))
		return true;
	snprintf(why, cap, "%s", reason);
	return false;
}

static bool cpu_takes(struct device *d, const struct op *op, uint32_t i, const struct tensor *t)
{
	(void)d;
	return cpu_kernel_takes(op, (int)i, t);
}

static bool cpu_fuses(struct device *d, const struct step_spec *spec)
{
	const struct cpu_state *state = d->state;
	if (state->narrows && (cpu_fuse_is_tokens(spec) || !narrow_step_may_be(spec)))
		return false;
	for (uint32_t v = 0; v < spec->n_nodes; v++) {
		struct step_spec one = {.n_nodes = 1, .node = &spec->node[v]};
		if (dynop_step_wants(&one))
			return false;
	}
	return cpu_fuse_fits(spec);
}

static void cpu_step_free(struct device *d, struct step *s)
{
	(void)d;
	dynop_step_free(s->dynop);
	cpu_fuse_free(s->fused);
	narrow_step_free(s->narrow);
	mem_free(s->in_shape);
	mem_free(s->at);
	mem_free(s);
}

static struct form_shape *shapes_of(const struct step_spec *spec)
{
	struct form_shape *s = MEM_NEWN(struct form_shape, spec->n_in + 1);
	for (uint32_t i = 0; i < spec->n_in; i++)
		if (spec->in[i] && tensor_is_static(spec->in[i]))
			s[i] = form_shape_of(spec->in[i]);
	return s;
}

static int cpu_prepare(struct device *d, const struct step_spec *spec, struct step **out,
		       struct err *e)
{
	const struct cpu_state *state = d->state;
	struct step *s = MEM_NEW(struct step);
	s->graph = spec->node[0].graph;
	s->v = spec->node[0].v;
	s->n_in = spec->n_in;
	s->n_out = spec->n_out;
	s->at = MEM_NEWN(void *, (size_t)s->n_in + s->n_out + 1);
	int rc = 0;
	if (dynop_step_wants(spec))
		rc = dynop_step_new(spec, state->ctx, &s->dynop, e);
	else if (state->narrows)
		rc = narrow_step_new(spec, state->ctx, state->precision == PRECISION_BF16,
				     &s->narrow, e);
	if (rc >= 0 && !s->dynop && !(s->narrow && narrow_step_alone(s->narrow)))
		rc = cpu_fuse_new(spec, state->ctx, &s->fused, e);
	if (rc < 0) {
		cpu_step_free(d, s);
		return -1;
	}
	if (state->narrows)
		s->in_shape = shapes_of(spec);
	*out = s;
	return 0;
}

/* Addresses of the inputs in plain form; those that are not are brought into it. */
static int plain_inputs(const struct cpu_state *state, const struct step *s,
			struct devmem *const *in, void **at, struct err *e)
{
	int64_t floats = 0;
	for (uint32_t i = 0; i < s->n_in; i++) {
		const struct form_shape *t = &s->in_shape[i];
		at[i] = in[i]->p;
		if (!form_is_plain(&in[i]->form))
			floats += (t->images * t->channels * t->pixels + 15) / 16 * 16;
	}
	float *p = floats ? cpu_slot_scratch(state->ctx, SLOT_FORMS, (size_t)floats * sizeof *p)
			  : NULL;
	if (floats && !p)
		return cpu_no_memory(e);
	for (uint32_t i = 0; i < s->n_in; i++) {
		const struct form_shape *t = &s->in_shape[i];
		if (form_is_plain(&in[i]->form))
			continue;
		form_plain(&in[i]->form, t, in[i]->p, p);
		at[i] = p;
		p += (t->images * t->channels * t->pixels + 15) / 16 * 16;
	}
	return 0;
}

static int cpu_run(struct device *d, struct step *s, struct devmem *const *in,
		   struct devmem *const *out, struct err *e)
{
	void **at = s->at;
	char l[300];
	if (s->narrow && narrow_step_wants(s->narrow, in, out)) {
		if (narrow_step_run(s->narrow, in, out, e) == 0)
			return 0;
		return err_prefix(e, "%s", graph_layer(s->graph, s->v, l, sizeof l));
	}
	for (uint32_t i = 0; i < s->n_in; i++)
		at[i] = in[i]->p;
	if (s->in_shape && plain_inputs(d->state, s, in, at, e) < 0)
		return -1;
	for (uint32_t i = 0; i < s->n_out; i++) {
		at[s->n_in + i] = out[i]->p;
		if (s->in_shape)
			out[i]->form = (struct mem_form){.elem = EL_F32};
	}
	if ((s->dynop ? dynop_step_run(s->dynop, at, at + s->n_in, e)
		      : cpu_fuse_run(s->fused, at, at + s->n_in, e)) == 0)
		return 0;
	return err_prefix(e, "%s", graph_layer(s->graph, s->v, l, sizeof l));
}

static bool cpu_in_place(struct device *d, const struct step *s, uint32_t in, uint32_t out)
{
	(void)d;
	return s->fused && !s->in_shape && cpu_fuse_in_place(s->fused, in, out);
}

static void cpu_step_memory(struct device *d, const struct step *s,
			    void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg)
{
	(void)d;
	if (s->narrow)
		fn(arg, s->narrow, narrow_step_bytes(s->narrow));
	if (s->dynop)
		fn(arg, s->dynop, dynop_step_bytes(s->dynop));
	else if (s->fused)
		cpu_fuse_memory(s->fused, fn, arg);
}

static uint64_t cpu_scratch(struct device *d)
{
	const struct cpu_state *state = d->state;
	return cpu_ctx_bytes(state->ctx);
}

const struct device_class cpu_device_class = {
	.forms = "cpu, cpu:LIST",
	.help = "cpu (all cores), cpu:LIST (these cores, as in cpu:0 or cpu:0-3,5; either with "
		"/precision=bf16 or int8)",
	.all_cores = "cpu",
	.precisions = "bf16|int8",
	.check_name = cpu_check_name,
	.list_machine = cpu_list_machine,
	.max_nodes = FUSE_NODES,
	.fuses = cpu_fuses,
	.in_place = cpu_in_place,
	.step_memory = cpu_step_memory,
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
	.wrap = host_memory_wrap,
	.release = host_memory_release,
	.host = host_memory_address,
	.run = cpu_run,
};
