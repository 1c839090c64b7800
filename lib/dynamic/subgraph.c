/* subgraph.c - a body as a program: its nodes in order, tensors in a pool of buffers that
 * count their readers. */
#include "dynamic/subgraph.h"
#include "base/mem.h"
#include "dynamic/host_eval.h"
#include "op/quant.h"

#include <stdio.h>
#include <string.h>

enum { NO_BUFFER = -1 }; /* memory of others */

struct pool_buffer {
	struct dynop_buffer mem;
	uint32_t users; /* tensors alive in it */
};

struct subgraph {
	const struct graph *g;
	const struct dynop_bodies *bodies;
	struct cpu_ctx *ctx;
	struct host_values constants;
	bool *constant;       /* (n) */
	struct quant **quant; /* (n_quant) constants in few bits; owned */
	size_t n_quant, cap_quant;
	uint32_t n_order;
	uint32_t *order;         /* (n_order) the nodes that run */
	struct dynop **dynop;    /* (n) NULL: does not run */
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

static int node_error(const struct graph *g, uint32_t v, struct err *e)
{
	char l[300];
	return err_prefix(e, "in the body, %s", graph_layer(g, v, l, sizeof l));
}

static bool needs_no_run(enum op_kind k)
{
	return k == OP_PARAMETER || k == OP_RESULT || k == OP_CONST;
}

bool subgraph_supports(const struct graph *g, const struct dynop_bodies *bodies, char *why,
		       size_t cap)
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
		else if (needs_no_run(op.kind) || dynop_supports(&op, bodies, inner, sizeof inner))
			continue;
		snprintf(why, cap, "operator '%s-%s' in its body: %s", g->type[v], g->opset[v],
			 inner);
		return false;
	}
	return true;
}

/* ---- preparing ---- */

/* Constants and what depends on them alone.  Shapes are not: recorded ones may not come true. */
static void mark_constants(struct subgraph *s, const struct tensor *known)
{
	const struct graph *g = s->g;
	for (uint32_t v = 0; v < g->n; v++) {
		enum op_category c = op_info(s->op[v].kind)->category;
		bool all = s->op[v].kind == OP_CONST;
		if (s->op[v].kind == OP_PARAMETER)
			all = known && known[v].data;
		else if (c != OPC_SINK && c != OPC_CONTROL && c != OPC_OTHER && !all)
			all = g->in_ptr[v] < g->in_ptr[v + 1];
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && all; i++)
			all = g->in_node[i] == GRAPH_NONE || s->constant[g->in_node[i]];
		s->constant[v] = all;
	}
}

/* The weights behind a Convert to f32, when the kernel takes them as they are. */
static uint32_t unconverted(const struct subgraph *s, uint32_t v, uint32_t slot)
{
	const struct graph *g = s->g;
	uint32_t u = g->in_node[slot], o = graph_slot_output(g, slot);
	if (s->op[u].kind != OP_CONVERT || g->out_elem[o] != EL_F32)
		return o;
	uint32_t src = graph_slot_output(g, g->in_ptr[u]);
	return cpu_kernel_takes(&s->op[v], (int)(slot - g->in_ptr[v]), &s->constants.value[src])
		       ? src
		       : o;
}

/* The value of constant output o, of the node u, computed once. */
static int constant_value(struct subgraph *s, uint32_t u, uint32_t o, struct err *e)
{
	const struct graph *g = s->g;
	if (s->constants.value[o].data)
		return 0;
	for (uint32_t i = g->in_ptr[u]; i < g->in_ptr[u + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE &&
		    constant_value(s, g->in_node[i], graph_slot_output(g, i), e) < 0)
			return -1;
	return host_eval_node(&s->constants, u, e);
}

/* A Const of the body, or nothing. */
static int const_value(struct subgraph *s, uint32_t o, struct err *e)
{
	return o == GRAPH_NONE ? 0 : constant_value(s, graph_node_of(s->g, o), o, e);
}

/* The constant that slot of node v reads, in few bits where its kernel takes it so: 1, 0 or -1. */
static int in_few_bits(struct subgraph *s, uint32_t v, uint32_t slot, struct tensor *t,
		       struct err *e)
{
	struct quant_parts p;
	if (!quant_find(s->g, s->op, graph_slot_output(s->g, slot), &p))
		return 0;
	if (const_value(s, p.codes, e) < 0 || const_value(s, p.zero, e) < 0 ||
	    const_value(s, p.scale, e) < 0)
		return -1;
	struct quant *q = MEM_NEW(struct quant);
	quant_describe(&p, s->constants.value, graph_slot_output(s->g, slot), q, t);
	s->quant = mem_grow(s->quant, &s->cap_quant, s->n_quant + 1, sizeof(*s->quant));
	s->quant[s->n_quant++] = q;
	return cpu_kernel_takes(&s->op[v], (int)(slot - s->g->in_ptr[v]), t);
}

/* The constant that slot of node v reads, computed. */
static int constant_input(struct subgraph *s, uint32_t v, uint32_t slot, struct tensor *t,
			  struct err *e)
{
	const struct graph *g = s->g;
	uint32_t u = g->in_node[slot], o = unconverted(s, v, slot);
	int few = in_few_bits(s, v, slot, t, e);
	if (few != 0)
		return few < 0 ? -1 : 0;
	if (constant_value(s, o == graph_slot_output(g, slot) ? u : g->in_node[g->in_ptr[u]], o,
			   e) < 0)
		return -1;
	*t = s->constants.value[o];
	return 0;
}

static int prepare_node(struct subgraph *s, uint32_t v, const struct step_env *env, struct err *e)
{
	const struct graph *g = s->g;
	uint32_t first = g->in_ptr[v], n = g->in_ptr[v + 1] - first;
	for (uint32_t i = 0; i < n; i++) {
		s->in[i] = (struct tensor){0};
		uint32_t u = g->in_node[first + i];
		if (u == GRAPH_NONE)
			continue;
		if (!s->constant[u])
			s->readers[graph_slot_output(g, first + i)]++;
		else if (constant_input(s, v, first + i, &s->in[i], e) < 0)
			return -1;
	}
	s->order[s->n_order++] = v;
	if (dynop_new(&s->op[v], s->in, env, s->ctx, s->bodies, &s->dynop[v], e) < 0)
		return node_error(g, v, e);
	return 0;
}

static int prepare_result(struct subgraph *s, uint32_t v, struct err *e)
{
	const struct graph *g = s->g;
	uint32_t slot = g->in_ptr[v], u = g->in_node[slot], o = graph_slot_output(g, slot);
	s->readers[o]++;
	if (!s->constant[u])
		return 0;
	if (constant_value(s, u, o, e) < 0)
		return -1;
	s->value[o] = s->constants.value[o];
	return 0;
}

static int prepare(struct subgraph *s, const struct tensor *known, const struct step_env *env,
		   struct err *e)
{
	const struct graph *g = s->g;
	for (uint32_t v = 0; v < g->n; v++)
		if (op_decode(g, v, &s->op[v], e) < 0)
			return -1;
	mark_constants(s, known);
	for (uint32_t v = 0; v < g->n; v++) {
		int rc = 0;
		if (s->op[v].kind == OP_PARAMETER && s->constant[v])
			host_values_set(&s->constants, g->out_ptr[v], &known[v]);
		else if (s->op[v].kind == OP_RESULT)
			rc = prepare_result(s, v, e);
		else if (!s->constant[v] && !needs_no_run(s->op[v].kind))
			rc = prepare_node(s, v, env, e);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int subgraph_new(const struct graph *g, const struct tensor *known, const struct step_env *env,
		 struct cpu_ctx *ctx, const struct dynop_bodies *bodies, struct subgraph **out,
		 struct err *e)
{
	uint32_t n_out = g->out_ptr[g->n], ports_in = 0, ports_out = 0;
	struct subgraph *s = *out = MEM_NEW(struct subgraph);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t in = g->in_ptr[v + 1] - g->in_ptr[v],
			 o = g->out_ptr[v + 1] - g->out_ptr[v];
		ports_in = in > ports_in ? in : ports_in;
		ports_out = o > ports_out ? o : ports_out;
	}
	*s = (struct subgraph){.g = g, .ctx = ctx, .bodies = bodies};
	host_values_init(&s->constants, g, env->weights, env->weights_bytes, ctx);
	s->constant = MEM_NEWN(bool, (size_t)g->n + 1);
	s->order = MEM_NEWN(uint32_t, (size_t)g->n + 1);
	s->dynop = MEM_NEWN(struct dynop *, (size_t)g->n + 1);
	s->op = MEM_NEWN(struct op, (size_t)g->n + 1);
	s->readers = MEM_NEWN(uint32_t, (size_t)n_out + 1);
	s->left = MEM_NEWN(uint32_t, (size_t)n_out + 1);
	s->value = MEM_NEWN(struct tensor, (size_t)n_out + 1);
	s->buffer = MEM_NEWN(int, (size_t)n_out + 1);
	s->in = MEM_NEWN(struct tensor, (size_t)ports_in + 1);
	s->out = MEM_NEWN(struct tensor, (size_t)ports_out + 1);
	for (uint32_t o = 0; o < n_out; o++)
		s->buffer[o] = NO_BUFFER;
	if (prepare(s, known, env, e) == 0)
		return 0;
	subgraph_free(s);
	*out = NULL;
	return -1;
}

void subgraph_free(struct subgraph *s)
{
	if (!s)
		return;
	for (uint32_t v = 0; v < s->g->n; v++)
		dynop_free(s->dynop[v]);
	for (size_t i = 0; i < s->n_pool; i++)
		mem_free(s->pool[i].mem.p);
	for (size_t i = 0; i < s->n_quant; i++)
		mem_free(s->quant[i]);
	mem_free(s->quant);
	host_values_release(&s->constants);
	mem_free(s->pool);
	mem_free(s->constant);
	mem_free(s->order);
	mem_free(s->dynop);
	mem_free(s->op);
	mem_free(s->readers);
	mem_free(s->left);
	mem_free(s->value);
	mem_free(s->buffer);
	mem_free(s->in);
	mem_free(s->out);
	mem_free(s->carried);
	mem_free(s->carried_buffer);
	mem_free(s);
}

uint64_t subgraph_bytes(const struct subgraph *s)
{
	uint64_t n = 0;
	for (uint32_t o = 0; o < s->g->out_ptr[s->g->n]; o++)
		if (s->constants.owned[o])
			n += (uint64_t)tensor_bytes(&s->constants.value[o]);
	for (size_t i = 0; i < s->n_pool; i++)
		n += s->pool[i].mem.cap;
	for (uint32_t v = 0; v < s->g->n; v++)
		n += s->dynop[v] ? dynop_bytes(s->dynop[v]) : 0;
	return n;
}

/* ---- buffers ---- */

/* The free buffer that fits best; when none is large enough, the largest one is to grow. */
static int find_buffer(struct subgraph *s, int64_t bytes, struct err *e)
{
	size_t best = s->n_pool;
	for (size_t i = 0; i < s->n_pool; i++) {
		if (s->pool[i].users)
			continue;
		size_t cap = s->pool[i].mem.cap, need = (size_t)bytes;
		if (best == s->n_pool ||
		    (s->pool[best].mem.cap >= need ? cap >= need && cap < s->pool[best].mem.cap
						   : cap > s->pool[best].mem.cap))
			best = i;
	}
	if (best == s->n_pool) {
		s->pool = mem_grow(s->pool, &s->cap_pool, s->n_pool + 1, sizeof *s->pool);
		s->pool[s->n_pool++] = (struct pool_buffer){0};
	}
	if (dynop_buffer_grow(&s->pool[best].mem, bytes, e) < 0)
		return -1;
	s->pool[best].users = 1;
	return (int)best;
}

static int alloc_output(void *arg, uint32_t i, struct tensor *out, struct err *e)
{
	struct subgraph *s = arg;
	int at = find_buffer(s, tensor_bytes(out), e);
	if (at < 0)
		return -1;
	out->data = s->pool[at].mem.p;
	s->buffer[s->g->out_ptr[s->running] + i] = at;
	return 0;
}

static void drop_user(struct subgraph *s, int buffer)
{
	if (buffer != NO_BUFFER)
		s->pool[buffer].users--;
}

/* One reader of output o has read. */
static void read_done(struct subgraph *s, uint32_t o)
{
	if (s->left[o] > 0 && --s->left[o] == 0) {
		drop_user(s, s->buffer[o]);
		s->buffer[o] = NO_BUFFER;
	}
}

/* ---- running ---- */

void subgraph_set(struct subgraph *s, uint32_t v, const struct tensor *t)
{
	uint32_t o = s->g->out_ptr[v];
	if (s->constant[v])
		return;
	s->value[o] = *t;
	s->buffer[o] = NO_BUFFER;
}

/* A view of a tensor is another name of its memory. */
static int run_view(struct subgraph *s, uint32_t v, struct err *e)
{
	const struct graph *g = s->g;
	uint32_t in = graph_slot_output(g, g->in_ptr[v]), out = g->out_ptr[v];
	if (dynop_infer(s->dynop[v], s->in, &s->value[out], e) < 0)
		return -1;
	s->value[out].data = s->value[in].data;
	s->buffer[out] = s->buffer[in];
	if (s->buffer[out] != NO_BUFFER)
		s->pool[s->buffer[out]].users++;
	return 0;
}

static int run_node(struct subgraph *s, uint32_t v, struct err *e)
{
	const struct graph *g = s->g;
	uint32_t first = g->in_ptr[v], n = g->in_ptr[v + 1] - first;
	uint32_t out = g->out_ptr[v], n_out = g->out_ptr[v + 1] - out;
	const struct dynop_allocator to = {alloc_output, s};
	for (uint32_t i = 0; i < n; i++)
		s->in[i] = g->in_node[first + i] == GRAPH_NONE
				   ? (struct tensor){0}
				   : s->value[graph_slot_output(g, first + i)];
	s->running = v;
	int rc;
	if (op_is_view(&s->op[v]) && !s->constant[g->in_node[first]])
		rc = run_view(s, v, e);
	else if ((rc = dynop_run(s->dynop[v], s->in, s->out, &to, e)) == 0)
		memcpy(s->value + out, s->out, n_out * sizeof *s->out);
	if (rc < 0)
		return node_error(g, v, e);
	for (uint32_t o = out; o < out + n_out; o++)
		if (s->readers[o] == 0) {
			drop_user(s, s->buffer[o]);
			s->buffer[o] = NO_BUFFER;
		}
	for (uint32_t i = first; i < first + n; i++)
		if (g->in_node[i] != GRAPH_NONE && !s->constant[g->in_node[i]])
			read_done(s, graph_slot_output(g, i));
	return 0;
}

/* No tensor is alive: at the start, and after a run that failed. */
static void release_tensors(struct subgraph *s)
{
	for (size_t i = 0; i < s->n_pool; i++)
		s->pool[i].users = 0;
	for (uint32_t o = 0; o < s->g->out_ptr[s->g->n]; o++)
		s->buffer[o] = NO_BUFFER;
}

int subgraph_run(struct subgraph *s, struct err *e)
{
	const struct graph *g = s->g;
	int rc = 0;
	memcpy(s->left, s->readers, g->out_ptr[g->n] * sizeof *s->left);
	for (uint32_t i = 0; i < s->n_order && rc == 0 && !cpu_ctx_stopped(s->ctx); i++)
		rc = run_node(s, s->order[i], e);
	if (rc == 0 && cpu_ctx_stopped(s->ctx))
		rc = err_set(e, ST_RUNTIME, "the run was ended");
	if (rc < 0)
		release_tensors(s);
	return rc;
}

const struct tensor *subgraph_result(const struct subgraph *s, uint32_t v)
{
	return &s->value[graph_slot_output(s->g, s->g->in_ptr[v])];
}

bool subgraph_result_known(const struct subgraph *s, uint32_t v)
{
	return s->constant[s->g->in_node[s->g->in_ptr[v]]];
}

void subgraph_carry(struct subgraph *s, uint32_t n, const uint32_t *from, const uint32_t *to)
{
	const struct graph *g = s->g;
	s->carried = mem_grow(s->carried, &s->cap_carried, n + 1, sizeof *s->carried);
	s->carried_buffer = mem_grow(s->carried_buffer, &s->cap_carried_buffer, n + 1,
				     sizeof *s->carried_buffer);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t o = graph_slot_output(g, g->in_ptr[from[i]]);
		s->carried[i] = s->value[o];
		s->carried_buffer[i] = s->buffer[o];
	}
	release_tensors(s);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t o = g->out_ptr[to[i]];
		if (s->constant[to[i]] || s->readers[o] == 0)
			continue;
		s->value[o] = s->carried[i];
		s->buffer[o] = s->carried_buffer[i];
		if (s->buffer[o] != NO_BUFFER)
			s->pool[s->buffer[o]].users++;
	}
}
