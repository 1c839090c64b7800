/* placed_ops.h - what a runtime that knows names is told: operations, each with one device. */
#ifndef HSDAG_REPORT_RUNTIMES_PLACED_OPS_H
#define HSDAG_REPORT_RUNTIMES_PLACED_OPS_H

#include "report/format.h"

struct placed_op {
	const char *name;
	uint32_t node;   /* of the graph, or of the whole that dagsplit cut */
	uint32_t device; /* where most of its work is */
	double flops;
};

struct placed_ops {
	struct placed_op *op; /* (n) what computes: no constants, inputs and results */
	uint32_t n;
	uint32_t n_apart; /* operations in parts on several devices */
	const struct graph *g;
};

/* In the order of the graph; memory from a. */
void placed_ops_list(const struct report_input *in, struct arena *a, struct placed_ops *out);

/* A device's name in another runtime: of --map where it renamed it, else `cpu` where it is a core or more of this machine's or a
 * specification's processor, else accelerator[i] of i, its number among the devices that are none.  Memory from a. */
struct runtime_names {
	const char **name; /* (k) */
	bool *is_cpu;      /* (k) */
	uint32_t n_cpus;   /* devices in use that are `cpu` */
};
void runtime_names(const struct report_input *in, const char *cpu, const char *accelerator,
		   struct arena *a, struct runtime_names *out);
/* -1 (ST_INPUT), "'NAME' has TOLD": one of the k names has one of the marks. */
int runtime_names_check(const struct runtime_names *x, uint32_t k, const char *marks,
			const char *told, struct err *e) MUST_CHECK;

#endif
