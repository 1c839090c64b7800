/* modules.h - what a placement says of modules, whose names module_name.h finds. */
#ifndef HSDAG_REPORT_RUNTIMES_MODULES_H
#define HSDAG_REPORT_RUNTIMES_MODULES_H

#include "graph/module_name.h"
#include "graph/strtab.h"
#include "report/runtimes/placed_ops.h"

/* What a placement says of modules. */
struct module_use {
	double *work; /* (k) operations of the module itself there, and one for each */
};
struct modules {
	struct strtab
		path; /* of modules with operations or weights of their own; "" is the model */
	struct module_use *use;
	size_t cap;
	uint32_t k, n_without; /* operations whose names tell no module */
};

/* Memory of texts from a. */
void modules_find(const struct placed_ops *ops, uint32_t k, struct arena *a, struct modules *out);
void modules_release(struct modules *m);

/* The device with most work in a row (k); UINT32_MAX: there is none. */
uint32_t modules_most(const double *work, uint32_t k);

/* -1 (ST_INPUT): no name tells a module. */
int modules_check(const struct modules *m, struct err *e) MUST_CHECK;

#endif
