/* host_eval.c - nodes of a graph, one after another, on the host. */
#include "dynamic/host_eval.h"
#include "base/mem.h"
#include "kernel/kernel_impl.h"

#include <string.h>

enum { MAX_PORTS = 64 }; /* inputs or outputs that fit on the stack */

void host_values_init(struct host_values *h, const struct graph *g, const void *weights,
		      uint64_t weights_bytes, struct cpu_ctx *ctx)
{
	uint32_t n = g->out_ptr[g->n];
	*h = (struct host_values){g,
				  weights,
				  weights_bytes,
				  MEM_NEWN(struct tensor, (size_t)n + 1),
				  MEM_NEWN(bool, (size_t)n + 1),
				  ctx,
				  NULL};
	for (uint32_t o = 0; o < n; o++)
		if (!tensor_describe(g, o, &h->value[o]) || !tensor_is_static(&h->value[o]))
			h->value[o] = (struct tensor){.elem = EL_DYNAMIC};
}

void host_values_drop(struct host_values *h, uint32_t o)
{
	if (h->owned[o])
		mem_free(h->value[o].data);
	h->owned[o] = false;
	h->value[o].data = NULL;
}

void host_values_release(struct host_values *h)
{
	if (!h->g)
		return;
	for (uint32_t o = 0; o < h->g->out_ptr[h->g->n]; o++)
		host_values_drop(h, o);
	mem_free(h->value);
	mem_free(h->owned);
	h->g = NULL;
}

void host_values_set(struct host_values *h, uint32_t o, const struct tensor *t)
{
	host_values_drop(h, o);
	h->value[o] = *t;
}

static int node_error(const struct host_values *h, uint32_t v, struct err *e)
{
	char l[300];
	return err_prefix(e, "%s", graph_layer(h->g, v, l, sizeof l));
}

static int allocate(struct host_values *h, uint32_t o, struct err *e)
{
	int64_t bytes = tensor_bytes(&h->value[o]);
	if (bytes < 0)
		return err_set(e, ST_INPUT, "values of type %s are not supported",
			       elem_name(h->value[o].elem));
	host_values_drop(h, o);
	h->value[o].data = mem_try(bytes ? (size_t)bytes : 1);
	if (!h->value[o].data)
		return err_set(e, ST_RUNTIME, "out of memory for %lld bytes", (long long)bytes);
	h->owned[o] = true;
	return 0;
}

static int eval_const(struct host_values *h, uint32_t v, struct err *e)
{
	uint32_t o = h->g->out_ptr[v];
	struct tensor *t = &h->value[o];
	int64_t c = graph_const(h->g, v), bytes = tensor_bytes(t);
	if (c < 0 || t->elem == EL_DYNAMIC || bytes < 0)
		return err_set(e, ST_INPUT, "a constant without data or of a type without a size");
	uint64_t at = h->g->const_offset[c], have = h->g->const_bytes[c];
	if (have < (uint64_t)bytes || at > h->weights_bytes ||
	    h->weights_bytes - at < (uint64_t)bytes)
		return err_set(e, ST_INPUT,
			       "its %lld bytes at offset %llu are not in the weights file",
			       (long long)bytes, (unsigned long long)at);
	unsigned bits = elem_bits(t->elem);
	size_t align = bits < 16 ? 1 : bits / 8;
	if (at % align == 0 &&
	    h->weights) { /* without any, what is empty has an address of its own */
		union {
			const unsigned char *c;
			void *p;
		} data = {h->weights + at};
		host_values_drop(h, o);
		t->data = data.p;
		return 0;
	}
	if (allocate(h, o, e))
		return -1;
	if (bytes > 0)
		memcpy(t->data, h->weights + at, (size_t)bytes);
	return 0;
}

/* Inputs of node v as tensors; EL_DYNAMIC where nothing is connected. */
static void inputs_of(const struct host_values *h, uint32_t v, struct tensor *in)
{
	const struct graph *g = h->g;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++, in++)
		*in = g->in_node[i] == GRAPH_NONE
			      ? (struct tensor){.elem = EL_DYNAMIC}
			      : h->value[g->out_ptr[g->in_node[i]] + g->in_port[i]];
}

/* Decode node v and infer its outputs; in and out have room for all ports. */
static int infer(struct host_values *h, uint32_t v, struct op *op, struct tensor *in,
		 struct tensor *out, struct err *e)
{
	if (op_decode(h->g, v, op, e))
		return -1;
	inputs_of(h, v, in);
	if (op_infer(op, in, out, e))
		return -1;
	/* The graph's types rule: weights that stay f16 stand for f32. */
	for (int i = 0; i < op->n_out; i++) {
		enum elem recorded = (enum elem)h->g->out_elem[h->g->out_ptr[v] + (uint32_t)i];
		if (recorded != EL_DYNAMIC)
			out[i].elem = recorded;
	}
	return 0;
}

static void store_shapes(struct host_values *h, uint32_t v, const struct tensor *out, int n_out)
{
	for (int i = 0; i < n_out; i++) {
		uint32_t o = h->g->out_ptr[v] + (uint32_t)i;
		host_values_drop(h, o);
		h->value[o] = out[i];
	}
}

static bool is_half(enum elem t)
{
	return t == EL_F16 || t == EL_BF16;
}

/* Does node v read or make outputs that are kept in f32? */
static bool is_wide(const struct host_values *h, uint32_t v)
{
	const struct graph *g = h->g;
	for (uint32_t o = g->out_ptr[v]; h->wide && o < g->out_ptr[v + 1]; o++)
		if (h->wide[o])
			return true;
	for (uint32_t i = g->in_ptr[v]; h->wide && i < g->in_ptr[v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE &&
		    h->wide[g->out_ptr[g->in_node[i]] + g->in_port[i]])
			return true;
	return false;
}

/* t as f32, in new memory. */
static int widen(struct tensor *t, struct err *e)
{
	int64_t n = tensor_elements(t);
	void *p = mem_try((size_t)n * sizeof(float) + 1);
	if (!p)
		return err_set(e, ST_RUNTIME, "out of memory for %lld elements", (long long)n);
	cpu_convert(EL_F32, p, t->elem, t->data, n);
	t->elem = EL_F32;
	t->data = p;
	return 0;
}

/* Output o, computed in f32, as the graph has it. */
static int narrow(struct host_values *h, uint32_t o, struct err *e)
{
	struct tensor wide = h->value[o];
	h->owned[o] = false;
	h->value[o].data = NULL;
	h->value[o].elem = (enum elem)h->g->out_elem[o];
	int rc = allocate(h, o, e);
	if (rc == 0)
		cpu_convert(h->value[o].elem, h->value[o].data, EL_F32, wide.data,
			    tensor_elements(&wide));
	mem_free(wide.data);
	return rc;
}

static int run(struct host_values *h, uint32_t v, const struct op *op, struct tensor *in,
	       struct tensor *out, struct err *e)
{
	struct cpu_prep *prep;
	store_shapes(h, v, out, op->n_out);
	for (int i = 0; i < op->n_out; i++) {
		uint32_t o = h->g->out_ptr[v] + (uint32_t)i;
		if (allocate(h, o, e))
			return -1;
		out[i] = h->value[o];
	}
	if (cpu_kernel_prepare(op, in, out, h->ctx, &prep, e))
		return -1;
	struct tensor *actual = MEM_NEWN(struct tensor, (size_t)op->n_out + 1);
	int rc = cpu_kernel_run_sized(op, prep, in, out, actual, h->ctx, e);
	for (int i = 0; i < op->n_out && rc == 0; i++)
		h->value[h->g->out_ptr[v] + (uint32_t)i] = actual[i];
	mem_free(actual);
	cpu_prep_free(prep);
	return rc;
}

static int run_wide(struct host_values *h, uint32_t v, const struct op *op, struct tensor *in,
		    struct tensor *out, struct err *e)
{
	bool *mine = MEM_NEWN(bool, (size_t)op->n_in + 1);
	int rc = 0;
	for (int i = 0; i < op->n_in && rc == 0; i++)
		if (is_half(in[i].elem) && in[i].data && op->kind != OP_CONVERT)
			mine[i] = (rc = widen(&in[i], e)) == 0;
	for (int i = 0; i < op->n_out; i++)
		if (is_half(out[i].elem))
			out[i].elem = EL_F32;
	if (rc == 0)
		rc = run(h, v, op, in, out, e);
	for (int i = 0; i < op->n_in; i++)
		if (mine[i])
			mem_free(in[i].data);
	mem_free(mine);
	for (int i = 0; i < op->n_out && rc == 0; i++) {
		uint32_t o = h->g->out_ptr[v] + (uint32_t)i;
		if (!h->wide[o] && is_half((enum elem)h->g->out_elem[o]))
			rc = narrow(h, o, e);
	}
	return rc;
}

static int compute(struct host_values *h, uint32_t v, struct tensor *in, struct tensor *out,
		   struct err *e)
{
	struct op op;
	const char *reason = "";
	if (infer(h, v, &op, in, out, e))
		return -1;
	op.folded = true;
	if (!cpu_kernel_supports(&op, &reason))
		return err_set(e, ST_INPUT, "cannot be computed: %s", reason);
	for (int i = 0; i < op.n_in; i++)
		if (in[i].elem != EL_DYNAMIC && !in[i].data && op.kind != OP_SHAPE_OF &&
		    tensor_elements(&in[i]) != 0)
			return err_set(e, ST_INPUT, "the value of its input %d is not known", i);
	return is_wide(h, v) ? run_wide(h, v, &op, in, out, e) : run(h, v, &op, in, out, e);
}

int host_eval_node(struct host_values *h, uint32_t v, struct err *e)
{
	uint32_t n_in = h->g->in_ptr[v + 1] - h->g->in_ptr[v],
		 n_out = h->g->out_ptr[v + 1] - h->g->out_ptr[v];
	struct tensor ports[MAX_PORTS], *p = ports;
	enum op_kind kind = h->g->kind[v];
	if (kind == OP_CONST)
		return eval_const(h, v, e) ? node_error(h, v, e) : 0;
	if (kind == OP_PARAMETER)
		return h->value[h->g->out_ptr[v]].data
			       ? 0
			       : (err_set(e, ST_INPUT, "has no value"), node_error(h, v, e));
	if (n_in + n_out > MAX_PORTS)
		p = MEM_NEWN(struct tensor, (size_t)n_in + n_out);
	int rc = compute(h, v, p, p + n_in, e);
	for (uint32_t o = h->g->out_ptr[v]; rc && o < h->g->out_ptr[v + 1]; o++)
		host_values_drop(h, o); /* they are not known, however often they are asked for */
	if (p != ports)
		mem_free(p);
	return rc ? node_error(h, v, e) : 0;
}

int host_infer_node(struct host_values *h, uint32_t v, struct err *e)
{
	uint32_t n_in = h->g->in_ptr[v + 1] - h->g->in_ptr[v],
		 n_out = h->g->out_ptr[v + 1] - h->g->out_ptr[v];
	struct tensor *p = MEM_NEWN(struct tensor, (size_t)n_in + n_out + 1);
	struct op op;
	int rc = infer(h, v, &op, p, p + n_in, e);
	if (rc == 0)
		store_shapes(h, v, p + n_in, op.n_out);
	mem_free(p);
	return rc ? node_error(h, v, e) : 0;
}

int host_eval(struct host_values *h, const bool *want, struct err *e)
{
	for (uint32_t v = 0; v < h->g->n; v++)
		if (want[v] && host_eval_node(h, v, e))
			return -1;
	return 0;
}
