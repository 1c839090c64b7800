/* support.h - which operators of a model run on which devices, said before any run. */
#ifndef HSDAG_EXEC_SUPPORT_H
#define HSDAG_EXEC_SUPPORT_H

#include "exec/model.h"

/* One operator: all layers of a type and opset that a device has to run (not constants, views,
 * inputs and results). */
struct support_row {
	const char *type, *opset;
	uint32_t n_layers;
	uint32_t *n_can; /* (k) layers that the device can run */
	const char *
		*why;    /* (k) what the device lacks for the first that it cannot; NULL: nothing */
	uint32_t *layer; /* (k) that layer's row */
	uint32_t n_nowhere; /* layers that no device can run */
};

struct support {
	uint32_t k, n_rows;
	struct support_row *row;      /* (n_rows) by type */
	uint32_t n_layers, n_nowhere; /* of all rows */
};

/* Ask every open device of l about every step of m.  Memory from a. */
int support_ask(struct model *m, const struct device_list *l, struct arena *a, struct support *out,
		struct err *e) MUST_CHECK;

/* The table, for people: a line per operator, and below it a line per device that cannot run all
 * of its layers, with the reason and the first such layer.  Text in a. */
char *support_table(const struct support *s, const struct model *m, const struct device_list *l,
		    struct arena *a);

/* The graph of MODEL.xml, operators that nobody knows included, or of a stream; graph_free ends
 * it.  NULL: ST_INPUT, ST_RUNTIME. */
struct graph *support_graph(const char *path, struct err *e) MUST_CHECK;

#endif
