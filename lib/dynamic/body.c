/* body.c - a body as a program: its nodes in order, tensors in a pool of buffers that
 * count their readers. */
#include "dynamic/body.h"
#include "base/mem.h"
#include "dynamic/host_eval.h"
#include "op/quant.h"

#include <stdio.h>
#include <string.h>

enum { NO_BUFFER = -1 }; /* memory of others */

struct pool_buffer {
	struct flex_buffer mem;
	uint32_t users; /* tensors alive in it */
};

struct body {
	const struct graph *g;
	struct cpu_ctx *ctx;
	struct host_values constants;
	bool *constant;       /* (n) */
	struct quant **quant; /* (n_quant) constants in few bits; owned */
	size_t n_quant, cap_quant;
	uint32_t n_order;
	uint32_t *order;         /* (n_order) the nodes that run */
	struct flex **flex;      /* (n) NULL: does not run */
	struct op *op;           /* (n) */
	uint32_t *readers;       /* (n_out) ports of running nodes and Results */
	uint32_t *left;          /* (n_out) in this run, that have not read */
	struct tensor *value;    /* (n_out) */
	int *buffer;             /* (n_out) */
	struct tensor *in, *out; /* ports of one node */
	uint32_t running;        /* the node that asks for memory */
	struct pool_buffer *pool;
	size_t n_pool, cap_pool;
	struct tensor *carried; /* between runs */
	int *carried_buffer;
	size_t cap_carried, cap_carried_buffer;
};

static uint32_t source(const struct graph *g, uint32_t slot)
{
	return g->out_ptr[g->in_node[slot]] + g->in_port[slot];
}

static int node_error(const struct graph *g, uint32_t v, struct err *e)
{
	char l[300];
	return err_prefix(e, "in the body, %s", graph_layer(g, v, l, sizeof l));
}

static bool needs_no_run(enum op_kind k)
{
	return k == OP_PARAMETER || k == OP_RESULT || k == OP_CONST;
}

bool body_supports(const struct graph *g, char *why, size_t cap)
{
	struct err e = ERR_INIT;
	for (uint32_t v = 0; v < g->n; v++) {
		struct op op;
		char inner[160] = "";
		if (op_decode(g, v, &op, &e) < 0) {
			snprintf(why, cap, "%s", e.msg);
			return false;
		}
		if (op.kind == OP_READ_VALUE || op.kind == OP_ASSIGN)
			snprintf(inner, sizeof inner, "variables inside a body");
		else if (needs_no_run(op.kind) || flex_supports(&op, inner, sizeof inner))
			continue;
		snprintf(why, cap, "operator '%s-%s' in its body: %s", g->type[v], g->opset[v],
			 inner);
		return false;
	}
	return true;
}

/* ---- preparing ---- */

/* Constants and what depends on them alone.  Shapes are not: recorded ones may not come true. */
static void mark_constants(struct body *b, const struct tensor *known)
{
	const struct graph *g = b->g;
	for (uint32_t v = 0; v < g->n; v++) {
		enum op_category c = op_info(b->op[v].kind)->category;
		bool all = b->op[v].kind == OP_CONST;
		if (b->op[v].kind == OP_PARAMETER)
			all = known && known[v].data;
		else if (c != OPC_SINK && c != OPC_CONTROL && c != OPC_OTHER && !all)
			all = g->in_ptr[v] < g->in_ptr[v + 1];
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && all; i++)
			all = g->in_node[i] == GRAPH_NONE || b->constant[g->in_node[i]];
		b->constant[v] = all;
	}
}

/* The weights behind a Convert to f32, when the kernel takes them as they are. */
static uint32_t unconverted(const struct body *b, uint32_t v, uint32_t slot)
{
	const struct graph *g = b->g;
	uint32_t u = g->in_node[slot], o = source(g, slot);
	if (b->op[u].kind != OP_CONVERT || g->out_elem[o] != EL_F32)
		return o;
	uint32_t src = source(g, g->in_ptr[u]);
	return cpu_kernel_takes(&b->op[v], (int)(slot - g->in_ptr[v]), &b->constants.value[src])
		       ? src
		       : o;
}

/* The value of constant output o, of the node u, computed once. */
static int constant_value(struct body *b, uint32_t u, uint32_t o, struct err *e)
{
	const struct graph *g = b->g;
	if (b->constants.value[o].data)
		return 0;
	for (uint32_t i = g->in_ptr[u]; i < g->in_ptr[u + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE &&
		    constant_value(b, g->in_node[i], source(g, i), e) < 0)
			return -1;
	return host_eval_node(&b->constants, u, e);
}

/* A Const of the body, or nothing. */
static int const_value(struct body *b, uint32_t o, struct err *e)
{
	return o == GRAPH_NONE ? 0 : constant_value(b, graph_node_of(b->g, o), o, e);
}

/* The constant that slot of node v reads, in few bits where its kernel takes it so: 1, 0 or -1. */
static int in_few_bits(struct body *b, uint32_t v, uint32_t slot, struct tensor *t, struct err *e)
{
	struct quant_parts p;
	if (!quant_find(b->g, b->op, source(b->g, slot), &p))
		return 0;
	if (const_value(b, p.codes, e) < 0 || const_value(b, p.zero, e) < 0 ||
	    const_value(b, p.scale, e) < 0)
		return -1;
	struct quant *q = MEM_NEW(struct quant);
	quant_describe(&p, b->constants.value, source(b->g, slot), q, t);
	b->quant = mem_grow(b->quant, &b->cap_quant, b->n_quant + 1, sizeof(*b->quant));
	b->quant[b->n_quant++] = q;
	return cpu_kernel_takes(&b->op[v], (int)(slot - b->g->in_ptr[v]), t);
}

/* The constant that slot of node v reads, computed. */
static int constant_input(struct body *b, uint32_t v, uint32_t slot, struct tensor *t,
			  struct err *e)
{
	const struct graph *g = b->g;
	uint32_t u = g->in_node[slot], o = unconverted(b, v, slot);
	int few = in_few_bits(b, v, slot, t, e);
	if (few != 0)
		return few < 0 ? -1 : 0;
	if (constant_value(b, o == source(g, slot) ? u : g->in_node[g->in_ptr[u]], o, e) < 0)
		return -1;
	*t = b->constants.value[o];
	return 0;
}

static int prepare_node(struct body *b, uint32_t v, const struct step_env *env, struct err *e)
{
	const struct graph *g = b->g;
	uint32_t first = g->in_ptr[v], n = g->in_ptr[v + 1] - first;
	for (uint32_t i = 0; i < n; i++) {
		b->in[i] = (struct tensor){0};
		uint32_t u = g->in_node[first + i];
		if (u == GRAPH_NONE)
			continue;
		if (!b->constant[u])
			b->readers[source(g, first + i)]++;
		else if (constant_input(b, v, first + i, &b->in[i], e) < 0)
			return -1;
	}
	b->order[b->n_order++] = v;
	if (flex_new(&b->op[v], b->in, env, b->ctx, &b->flex[v], e) < 0)
		return node_error(g, v, e);
	return 0;
}

static int prepare_result(struct body *b, uint32_t v, struct err *e)
{
	const struct graph *g = b->g;
	uint32_t slot = g->in_ptr[v], u = g->in_node[slot], o = source(g, slot);
	b->readers[o]++;
	if (!b->constant[u])
		return 0;
	if (constant_value(b, u, o, e) < 0)
		return -1;
	b->value[o] = b->constants.value[o];
	return 0;
}

static int prepare(struct body *b, const struct tensor *known, const struct step_env *env,
		   struct err *e)
{
	const struct graph *g = b->g;
	for (uint32_t v = 0; v < g->n; v++)
		if (op_decode(g, v, &b->op[v], e) < 0)
			return -1;
	mark_constants(b, known);
	for (uint32_t v = 0; v < g->n; v++) {
		int rc = 0;
		if (b->op[v].kind == OP_PARAMETER && b->constant[v])
			host_values_set(&b->constants, g->out_ptr[v], &known[v]);
		else if (b->op[v].kind == OP_RESULT)
			rc = prepare_result(b, v, e);
		else if (!b->constant[v] && !needs_no_run(b->op[v].kind))
			rc = prepare_node(b, v, env, e);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int body_new(const struct graph *g, const struct tensor *known, const struct step_env *env,
	     struct cpu_ctx *ctx, struct body **out, struct err *e)
{
	uint32_t n_out = g->out_ptr[g->n], ports_in = 0, ports_out = 0;
	struct body *b = *out = MEM_NEW(struct body);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t in = g->in_ptr[v + 1] - g->in_ptr[v],
			 o = g->out_ptr[v + 1] - g->out_ptr[v];
		ports_in = in > ports_in ? in : ports_in;
		ports_out = o > ports_out ? o : ports_out;
	}
	*b = (struct body){.g = g, .ctx = ctx};
	host_values_init(&b->constants, g, env->weights, env->weights_bytes, ctx);
	b->constant = MEM_NEWN(bool, (size_t)g->n + 1);
	b->order = MEM_NEWN(uint32_t, (size_t)g->n + 1);
	b->flex = MEM_NEWN(struct flex *, (size_t)g->n + 1);
	b->op = MEM_NEWN(struct op, (size_t)g->n + 1);
	b->readers = MEM_NEWN(uint32_t, (size_t)n_out + 1);
	b->left = MEM_NEWN(uint32_t, (size_t)n_out + 1);
	b->value = MEM_NEWN(struct tensor, (size_t)n_out + 1);
	b->buffer = MEM_NEWN(int, (size_t)n_out + 1);
	b->in = MEM_NEWN(struct tensor, (size_t)ports_in + 1);
	b->out = MEM_NEWN(struct tensor, (size_t)ports_out + 1);
	for (uint32_t o = 0; o < n_out; o++)
		b->buffer[o] = NO_BUFFER;
	if (prepare(b, known, env, e) == 0)
		return 0;
	body_free(b);
	*out = NULL;
	return -1;
}

void body_free(struct body *b)
{
	if (!b)
		return;
	for (uint32_t v = 0; v < b->g->n; v++)
		flex_free(b->flex[v]);
	for (size_t i = 0; i < b->n_pool; i++)
		mem_free(b->pool[i].mem.p);
	for (size_t i = 0; i < b->n_quant; i++)
		mem_free(b->quant[i]);
	mem_free(b->quant);
	host_values_release(&b->constants);
	mem_free(b->pool);
	mem_free(b->constant);
	mem_free(b->order);
	mem_free(b->flex);
	mem_free(b->op);
	mem_free(b->readers);
	mem_free(b->left);
	mem_free(b->value);
	mem_free(b->buffer);
	mem_free(b->in);
	mem_free(b->out);
	mem_free(b->carried);
	mem_free(b->carried_buffer);
	mem_free(b);
}

uint64_t body_bytes(const struct body *b)
{
	uint64_t n = 0;
	for (uint32_t o = 0; o < b->g->out_ptr[b->g->n]; o++)
		if (b->constants.owned[o])
			n += (uint64_t)tensor_bytes(&b->constants.value[o]);
	for (size_t i = 0; i < b->n_pool; i++)
		n += b->pool[i].mem.cap;
	for (uint32_t v = 0; v < b->g->n; v++)
		n += b->flex[v] ? flex_bytes(b->flex[v]) : 0;
	return n;
}

/* ---- buffers ---- */

/* The free buffer that fits best; when none is large enough, the largest one is to grow. */
static int take_buffer(struct body *b, int64_t bytes, struct err *e)
{
	size_t best = b->n_pool;
	for (size_t i = 0; i < b->n_pool; i++) {
		if (b->pool[i].users)
			continue;
		size_t cap = b->pool[i].mem.cap, need = (size_t)bytes;
		if (best == b->n_pool ||
		    (b->pool[best].mem.cap >= need ? cap >= need && cap < b->pool[best].mem.cap
						   : cap > b->pool[best].mem.cap))
			best = i;
	}
	if (best == b->n_pool) {
		b->pool = mem_grow(b->pool, &b->cap_pool, b->n_pool + 1, sizeof *b->pool);
		b->pool[b->n_pool++] = (struct pool_buffer){0};
	}
	if (flex_grow(&b->pool[best].mem, bytes, e) < 0)
		return -1;
	b->pool[best].users = 1;
	return (int)best;
}

static int place(void *arg, uint32_t i, struct tensor *out, struct err *e)
{
	struct body *b = arg;
	int at = take_buffer(b, tensor_bytes(out), e);
	if (at < 0)
		return -1;
	out->data = b->pool[at].mem.p;
	b->buffer[b->g->out_ptr[b->running] + i] = at;
	return 0;
}

static void drop_user(struct body *b, int buffer)
{
	if (buffer != NO_BUFFER)
		b->pool[buffer].users--;
}

/* One reader of output o has read. */
static void read_done(struct body *b, uint32_t o)
{
	if (b->left[o] > 0 && --b->left[o] == 0) {
		drop_user(b, b->buffer[o]);
		b->buffer[o] = NO_BUFFER;
	}
}

/* ---- running ---- */

void body_set(struct body *b, uint32_t v, const struct tensor *t)
{
	uint32_t o = b->g->out_ptr[v];
	if (b->constant[v])
		return;
	b->value[o] = *t;
	b->buffer[o] = NO_BUFFER;
}

/* A view of a tensor is another name of its memory. */
static int run_view(struct body *b, uint32_t v, struct err *e)
{
	const struct graph *g = b->g;
	uint32_t in = source(g, g->in_ptr[v]), out = g->out_ptr[v];
	if (flex_infer(b->flex[v], b->in, &b->value[out], e) < 0)
		return -1;
	b->value[out].data = b->value[in].data;
	b->buffer[out] = b->buffer[in];
	if (b->buffer[out] != NO_BUFFER)
		b->pool[b->buffer[out]].users++;
	return 0;
}

static int run_node(struct body *b, uint32_t v, struct err *e)
{
	const struct graph *g = b->g;
	uint32_t first = g->in_ptr[v], n = g->in_ptr[v + 1] - first;
	uint32_t out = g->out_ptr[v], n_out = g->out_ptr[v + 1] - out;
	const struct flex_place to = {place, b};
	for (uint32_t i = 0; i < n; i++)
		b->in[i] = g->in_node[first + i] == GRAPH_NONE ? (struct tensor){0}
							       : b->value[source(g, first + i)];
	b->running = v;
	int rc;
	if (op_is_view(&b->op[v]) && !b->constant[g->in_node[first]])
		rc = run_view(b, v, e);
	else if ((rc = flex_run(b->flex[v], b->in, b->out, &to, e)) == 0)
		memcpy(b->value + out, b->out, n_out * sizeof *b->out);
	if (rc < 0)
		return node_error(g, v, e);
	for (uint32_t o = out; o < out + n_out; o++)
		if (b->readers[o] == 0) {
			drop_user(b, b->buffer[o]);
			b->buffer[o] = NO_BUFFER;
		}
	for (uint32_t i = first; i < first + n; i++)
		if (g->in_node[i] != GRAPH_NONE && !b->constant[g->in_node[i]])
			read_done(b, source(g, i));
	return 0;
}

/* No tensor is alive: at the start, and after a run that failed. */
static void forget(struct body *b)
{
	for (size_t i = 0; i < b->n_pool; i++)
		b->pool[i].users = 0;
	for (uint32_t o = 0; o < b->g->out_ptr[b->g->n]; o++)
		b->buffer[o] = NO_BUFFER;
}

int body_run(struct body *b, struct err *e)
{
	const struct graph *g = b->g;
	int rc = 0;
	memcpy(b->left, b->readers, g->out_ptr[g->n] * sizeof *b->left);
	for (uint32_t i = 0; i < b->n_order && rc == 0 && !cpu_ctx_stopped(b->ctx); i++)
		rc = run_node(b, b->order[i], e);
	if (rc == 0 && cpu_ctx_stopped(b->ctx))
		rc = err_set(e, ST_RUNTIME, "the run was ended");
	if (rc < 0)
		forget(b);
	return rc;
}

const struct tensor *body_result(const struct body *b, uint32_t v)
{
	return &b->value[source(b->g, b->g->in_ptr[v])];
}

bool body_result_known(const struct body *b, uint32_t v)
{
	return b->constant[b->g->in_node[b->g->in_ptr[v]]];
}

void body_carry(struct body *b, uint32_t n, const uint32_t *from, const uint32_t *to)
{
	const struct graph *g = b->g;
	b->carried = mem_grow(b->carried, &b->cap_carried, n + 1, sizeof *b->carried);
	b->carried_buffer = mem_grow(b->carried_buffer, &b->cap_carried_buffer, n + 1,
				     sizeof *b->carried_buffer);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t o = source(g, g->in_ptr[from[i]]);
		b->carried[i] = b->value[o];
		b->carried_buffer[i] = b->buffer[o];
	}
	forget(b);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t o = g->out_ptr[to[i]];
		if (b->constant[to[i]] || b->readers[o] == 0)
			continue;
		b->value[o] = b->carried[i];
		b->buffer[o] = b->carried_buffer[i];
		if (b->buffer[o] != NO_BUFFER)
			b->pool[b->buffer[o]].users++;
	}
}
