/* model.h - a graph made ready to run: decoded operators, constants, and the
 * steps that remain when constants are folded and views are other names of the
 * same bytes.
 *
 * What the executor runs is smaller than the graph:
 * - nodes that depend on constants alone are computed on the host, when a step
 *   that reads them is prepared, and never again;
 * - views (Reshape and its kind) copy nothing: their output is the tensor of
 *   input 0 (its root) under another shape, wherever they are placed;
 * - Parameters are memory of the host, Results are read from their input.
 *
 * A tensor whose shape is not recorded is dynamic: its shape is found while
 * running (device.h, device_class.dynamic).  Inputs of the model are never. */
#ifndef HSDAG_EXEC_MODEL_H
#define HSDAG_EXEC_MODEL_H

#include "device/device.h"
#include "dynamic/host_eval.h"
#include "dynamic/variables.h"
#include "ir/weights.h"

struct model_request {
	void **input;
	struct step_env *env;
};

struct model {
	const struct graph *g;
	struct weights weights;
	bool has_weights;
	struct host_values values; /* (n_out) shapes; data of constants once known */
	struct cpu_ctx *ctx;

	struct op *op;              /* (n) */
	bool *constant;             /* (n) depends on constants alone */
	bool *live;                 /* (n) a Result depends on it */
	bool *used;                 /* (n_out) a live node reads it */
	uint32_t *readers;          /* (n_out) input slots that read it */
	struct model_quant **quant; /* (n_out) constants in few bits, as they are asked for */
	bool *wide;         /* (n_out) host_values.wide: constants that only constants read */
	bool *dynamic;      /* (n_out) its shape is known only while running */
	uint32_t *node_out; /* (n_out) the node of an output */
	uint32_t *root;     /* (n_out) the output whose bytes it has */

	uint32_t n_params, n_results;
	uint32_t *param, *result; /* nodes, in the order of the graph */
	void **input;          /* (n_params) host memory of the inputs, 64-byte aligned, zeroed */
	uint32_t *result_root; /* (n_results) */

	uint32_t n_steps;
	uint32_t *step_node; /* (n_steps) ascending */
	uint32_t *node_step; /* (n) GRAPH_NONE: not a step */
	bool *alone;         /* (n_steps) never a part of a larger step: it reads or makes
	                              * dynamic tensors, or is ReadValue or Assign */
	struct step_env *env;

	/* What each request in flight has of its own (model_request); which one `input` and `env` are of. */
	struct model_request *request; /* (n_requests) */
	uint32_t n_requests, at_request;

	struct arena *arena;
};

/* Make g ready; `weights` is the path of the .bin or NULL for the one that the graph
 * names.  g is borrowed.  ST_INPUT: attributes that
 * make no sense, a .bin that is short or not a regular file (the message names the
 * layer).  ST_RUNTIME: no memory, unreadable file.  A model without a .bin
 * or with dynamic inputs opens, so that its operators can be judged first;
 * model_complete refuses it.
 * model_close in any case. */
int model_open(struct model *m, const struct graph *g, const char *weights,
	       struct err *e) MUST_CHECK;
void model_close(struct model *m);

/* `input` and `env` are those of request i from now on, made now if it is new: its inputs are zeros, its variables
 * have no values.  0: the one that every model has. */
int model_request(struct model *m, uint32_t i, struct err *e) MUST_CHECK;

/* Can it run: are all constants there, do all inputs have a shape?  ST_INPUT when not. */
int model_complete(const struct model *m, struct err *e) MUST_CHECK;

/* Bytes that output o takes in a plan: of a dynamic one, the struct tensor that describes it. */
uint64_t model_bytes(const struct model *m, uint32_t o);

/* The value of constant output o, computed now if it is not known yet. */
int model_value(struct model *m, uint32_t o, struct err *e) MUST_CHECK;

/* Step s as device d is to see it, memory from a.  Constants have data: all of them
 * (MODEL_ALL), those of at most MODEL_SMALL bytes that need no larger ones. */
enum model_data { MODEL_ALL, MODEL_FEW };
enum { MODEL_SMALL = 64 << 10 };
int model_spec(struct model *m, uint32_t s, struct device *d, enum model_data data, struct arena *a,
	       struct step_spec *out, struct err *e) MUST_CHECK;

/* Constants of step s, as host device d takes them, that were computed, or copied because they are not
 * aligned in the file: fn with the address and bytes of each, and of what they were computed from.
 * They stay in the host's memory. */
void model_computed(struct model *m, uint32_t s, struct device *d,
		    void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg);

/* May step s run on device d?  1, 0 (why[cap] says why not) or -1. */
int model_supports(struct model *m, uint32_t s, struct device *d, char *why, size_t cap,
		   struct err *e) MUST_CHECK;

/* mask[n_sets * l->n]: 1 where every step of a set can run on a device.  -1 (ST_INPUT) for an
 * operator that none of the devices can run: names it and its layer. */
int model_mask(struct model *m, const struct device_list *l, uint8_t *mask,
	       struct err *e) MUST_CHECK;

/* "layer 12 'conv1' (Convolution)" into dst[cap]; returns dst. */
char *model_layer(const struct model *m, uint32_t v, char *dst, size_t cap);

#endif
