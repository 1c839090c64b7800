/* slow_device.c - a device class from outside the tree, for tests: `slow:N` computes like one
 * core of the host, but every step takes N microseconds more, and it has memory of its own. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "device/device.h"
#include "kernel/kernel.h"

extern const struct device_class slow_device_class;

struct state {
	struct cpu_ctx *ctx;
	long extra_ns;
};

struct step {
	const struct op *op;
	struct cpu_prep *prep;
	uint32_t n_in, n_out, n_ports;
	uint32_t *port; /* (n_in) port of each input of the step */
	struct tensor *in, *out;
};

struct devmem {
	unsigned char *p;
	bool owned;
};

/* ---- names ---- */

static int check_name(const char *name, struct err *e)
{
	char *end;
	unsigned long us = strtoul(name + 5, &end, 10);
	if (name[5] >= '0' && name[5] <= '9' && *end == '\0' && us <= 100000)
		return 0;
	return err_set(e, ST_USAGE, "device '%s': not a number of microseconds; slow:100", name);
}

static void list_machine(void (*fn)(void *arg, const struct device *d), void *arg)
{
	struct device d = {.class = &slow_device_class,
			   .name = "slow:100",
			   .description = "one core and a rest",
			   .mem_bytes = 1 << 30};
	fn(arg, &d);
}

static int open_device(struct device *d, struct err *e)
{
	struct state *s = MEM_NEW(struct state);
	(void)e;
	s->ctx = cpu_ctx_new(NULL, NULL);
	s->extra_ns = strtol(d->name + 5, NULL, 10) * 1000;
	d->state = s;
	d->mem_bytes = 1 << 30;
	return 0;
}

static void close_device(struct device *d)
{
	struct state *s = d->state;
	cpu_ctx_free(s->ctx);
	mem_free(s);
}

/* ---- steps: one node each ---- */

static bool supports(struct device *d, const struct step_spec *s, char *why, size_t cap)
{
	const char *reason = "";
	(void)d;
	if (cpu_kernel_supports(s->node[0].op, &reason))
		return true;
	snprintf(why, cap, "%s", reason);
	return false;
}

static void free_step(struct device *d, struct step *s)
{
	(void)d;
	cpu_prep_free(s->prep);
	mem_free(s->port);
	mem_free(s->in);
	mem_free(s->out);
	mem_free(s);
}

static int prepare(struct device *d, const struct step_spec *spec, struct step **out, struct err *e)
{
	const struct state *state = d->state;
	const struct step_node *n = &spec->node[0];
	struct step *s = MEM_NEW(struct step);
	s->op = n->op;
	s->n_in = spec->n_in;
	s->n_out = spec->n_out;
	s->n_ports = n->n_in;
	s->port = MEM_NEWN(uint32_t, spec->n_in + 1);
	s->in = MEM_NEWN(struct tensor, n->n_in + 1);
	s->out = mem_copy(n->out, n->n_out, sizeof *n->out);
	for (uint32_t i = 0; i < n->n_in; i++) {
		if (n->in[i].from != FROM_NONE)
			s->in[i] = *n->in[i].tensor;
		if (n->in[i].from == FROM_INPUT)
			s->port[n->in[i].index] = i;
	}
	if (cpu_kernel_prepare(s->op, s->in, s->out, state->ctx, &s->prep, e) < 0) {
		free_step(d, s);
		return -1;
	}
	*out = s;
	return 0;
}

static int run(struct device *d, struct step *s, struct devmem *const *in,
	       struct devmem *const *out, struct err *e)
{
	const struct state *state = d->state;
	for (uint32_t i = 0; i < s->n_in; i++)
		s->in[s->port[i]].data = in[i]->p;
	for (uint32_t i = 0; i < s->n_out; i++)
		s->out[i].data = out[i]->p;
	nanosleep(&(struct timespec){0, state->extra_ns}, NULL);
	return cpu_kernel_run(s->op, s->prep, s->in, s->out, state->ctx, e);
}

/* ---- memory ---- */

static int take_memory(unsigned char *p, bool owned, struct devmem **out)
{
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){p, owned};
	return 0;
}

static int alloc(struct device *d, size_t bytes, struct devmem **out, struct err *e)
{
	unsigned char *p = mem_try(bytes ? bytes : 1);
	(void)d;
	return p ? take_memory(p, true, out) : err_set(e, ST_RUNTIME, "no memory");
}

static int view(struct device *d, struct devmem *base, size_t offset, size_t bytes,
		struct devmem **out, struct err *e)
{
	(void)d, (void)bytes, (void)e;
	return take_memory(base->p + offset, false, out);
}

static void release(struct device *d, struct devmem *m)
{
	(void)d;
	if (m->owned)
		mem_free(m->p);
	mem_free(m);
}

static int upload(struct device *d, struct devmem *dst, const void *src, size_t bytes,
		  device_done_fn done, void *arg, struct err *e)
{
	(void)d, (void)e;
	memcpy(dst->p, src, bytes);
	done(arg, true);
	return 0;
}

static int download(struct device *d, struct devmem *src, void *dst, size_t bytes,
		    device_done_fn done, void *arg, struct err *e)
{
	(void)d, (void)e;
	memcpy(dst, src->p, bytes);
	done(arg, true);
	return 0;
}

const struct device_class slow_device_class = {
	.forms = "slow:N",
	.help = "slow:N (one core, N microseconds more a step)",
	.check_name = check_name,
	.list_machine = list_machine,
	.max_nodes = 1,
	.open = open_device,
	.close = close_device,
	.supports = supports,
	.prepare = prepare,
	.step_free = free_step,
	.alloc = alloc,
	.view = view,
	.release = release,
	.run = run,
	.upload = upload,
	.download = download,
};
