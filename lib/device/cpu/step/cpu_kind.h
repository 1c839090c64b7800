/* cpu_kind.h - kinds of steps: ways in which one node, or several together, run on a cpu device.
 *
 * The table of them is device/cpu/pass/cpu_kinds.c.  A new kind is a file with its functions and a line there. */
#ifndef HSDAG_DEVICE_CPU_STEP_CPU_KIND_H
#define HSDAG_DEVICE_CPU_STEP_CPU_KIND_H

#include "device/cpu/graph/cpu_graph.h"
#include "device/group/group_rewrite.h"
#include "device/host_memory.h"
#include "kernel/kernel_impl.h"

/* What the device and the graph of a step are like. */
struct step_how {
	struct cpu_ctx *ctx;
	const struct cpu_graph *graph; /* NULL: nothing is known of it */
	bool nhwc;                     /* tensors of the graph may lie in NHWC */
	enum elem
		elem; /* which then are EL_F32; EL_BF16; EL_I8: codes where they lie on grids, else f32 */
	struct group_how group;
};

/* A run of a step. */
struct step_io {
	struct devmem *const *in, *const *out; /* out[i]->form: how the output is to lie */
	void *const *
		plain_in; /* addresses of inputs, brought into plain form where the kind wants it */
	void *const *plain_out; /* of outputs */
};

/* What a kind says of a group of nodes.  The planner grows groups from their first node, one reader at a time, and takes as many nodes as
 * some kind says yes to.  A kind of several nodes says GROUP_WITH_MORE of each beginning of its pattern; where its first node might
 * as well end another step, as an element-wise one may, it says GROUP_NEVER of groups that have that node further behind (cpu_rms.c),
 * and stands in the table before the kinds that would say yes. */
enum group_answer {
	GROUP_OTHER = 0,     /* another kind may take it */
	GROUP_YES = 1,       /* one step of this kind */
	GROUP_WITH_MORE = 2, /* perhaps, with nodes that read what these make */
	GROUP_NEVER = 4      /* these nodes had better be several steps */
};

/* How a node likes what it reads to lie. */
enum wish { WISH_ANY, WISH_NHWC, WISH_PLAIN };

/* Functions that are NULL: see each.  x: the kind's state of a step, `size` bytes, zeros before init. */
struct step_kind {
	const char *name; /* as HSDAG_EXPLAIN says it */
	bool nhwc;        /* asked only where tensors may lie in NHWC */
	size_t size;
	/* Operators (OP_COUNT behind the last) that a step of this kind begins with: group, init and reads are asked of no others.  NULL:
	 * any, and of groups that begin with other kinds' nodes, too. */
	const enum op_kind *begins;
	/* How node v, which begins such a step, likes the output that it reads in input slot i; asked from the last node to the first:
	 * graph->nhwc is known of its own outputs.  NULL: this kind has no opinion.  Where some kind has reads for an operator, what
	 * cpu_layout.c supposes of operators without does not hold; so a kind with reads has begins. */
	enum wish (*reads)(const struct cpu_graph *graph, uint32_t v, uint32_t i);
	/* May these nodes be a step of this kind?  Asked while a placement is planned, of groups of nodes and of single ones: quick.
	 * NULL: GROUP_OTHER. */
	enum group_answer (*group)(const struct step_how *how, const struct step_spec *s);
	/* Makes a step: 1; 0: it is none of this kind; -1.  want (n_out): how outputs are to lie where only this device reads them;
	 * plain before. */
	int (*init)(void *x, const struct step_how *how, const struct step_spec *s,
		    struct mem_form *want, struct err *e);
	void (*release)(void *x); /* in whatever state init left it; NULL: nothing to do */
	/* Does it run this time, with tensors that lie as they do?  Otherwise the next kind that took the step does.  NULL: always. */
	bool (*wants)(const void *x, struct devmem *const *in, struct devmem *const *out,
		      const struct mem_form *want);
	int (*run)(void *x, const struct step_io *io, struct err *e);
	/* May input i lie in form f?  NULL: inputs of any form are read where they lie, for kinds that are not plain. */
	bool plain; /* inputs are brought into plain form, but those of which takes says yes */
	bool (*takes)(const void *x, uint32_t i, const struct mem_form *f);
	bool (*in_place)(const void *x, uint32_t in,
			 uint32_t out); /* as device_class.in_place; NULL: never */
	/* What is to be said beyond the name, into dst[cap], "" before; NULL: nothing. */
	void (*detail)(const void *x, char *dst, size_t cap);
	/* Memory beyond `size` as device_class.step_memory tells it; NULL: none. */
	void (*memory)(const void *x, void (*fn)(void *arg, const void *key, uint64_t bytes),
		       void *arg);
};

/* Does a step of kind k begin with an operator of this kind? */
static inline bool kind_begins(const struct step_kind *k, enum op_kind kind)
{
	const enum op_kind *p = k->begins;
	while (p && *p != kind && *p != OP_COUNT)
		p++;
	return !p || *p == kind;
}

#endif
