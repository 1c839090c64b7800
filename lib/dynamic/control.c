/* control.c - operators with bodies: port maps checked, bodies prepared; If. */
#include "dynamic/control_impl.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- checks of what the file says ---- */

static bool is_type(const struct graph *g, uint32_t v, enum op_kind k)
{
	return g->kind[v] == k;
}

static int map_error(const struct graph_body *b, uint32_t i, const char *what, struct err *e)
{
	const struct port_map *m = &b->map[i];
	return err_set(e, ST_INPUT, "port map of %s %" PRId64 ": %s",
		       m->output ? "output" : "input", m->external, what);
}

static int check_map(const struct graph_body *b, uint32_t i, struct err *e)
{
	const struct port_map *m = &b->map[i];
	if (!is_type(b->graph, m->internal, m->output ? OP_RESULT : OP_PARAMETER))
		return map_error(b, i, m->output ? "not from a Result" : "not to a Parameter", e);
	if (m->external < 0 && !(m->output ? m->condition : m->counter))
		return map_error(b, i, "no port and no purpose", e);
	if (m->has_axis && m->external >= 0 &&
	    (m->stride == 0 || m->part_size <= 0 || m->stride == INT64_MIN ||
	     m->part_size > INT64_MAX / 2))
		return map_error(b, i, "a stride of 0 or a part of no size", e);
	return 0;
}

/* Every Parameter gets a value, every output comes from a Result. */
static int check_body(const struct op *op, const struct graph_body *b, struct err *e)
{
	const struct graph *g = b->graph;
	bool *fed = MEM_NEWN(bool, (size_t)g->n + 1), *made = MEM_NEWN(bool, (size_t)op->n_out + 1);
	int rc = 0;
	for (uint32_t i = 0; i < b->n_maps && rc == 0; i++) {
		const struct port_map *m = &b->map[i];
		rc = check_map(b, i, e);
		if (rc == 0 && !m->output && fed[m->internal])
			rc = map_error(b, i, "its Parameter has another input, too", e);
		else if (rc == 0 && m->output && m->external >= 0 && made[m->external])
			rc = map_error(b, i, "the output comes from another Result, too", e);
		else if (rc == 0 && !m->output)
			fed[m->internal] = true;
		else if (rc == 0 && m->external >= 0)
			made[m->external] = true;
	}
	for (uint32_t i = 0; i < b->n_back && rc == 0; i++)
		if (!is_type(g, b->back_from[i], OP_RESULT) ||
		    !is_type(g, b->back_to[i], OP_PARAMETER))
			rc = err_set(e, ST_INPUT,
				     "a back edge that is not from a Result to a Parameter");
	for (uint32_t v = 0; v < g->n && rc == 0; v++)
		if (is_type(g, v, OP_PARAMETER) && !fed[v])
			rc = err_set(e, ST_INPUT,
				     "no input goes to Parameter %" PRId64 " of the %s", g->id[v],
				     b->role);
	for (int i = 0; i < op->n_out && rc == 0; i++)
		if (!made[i])
			rc = err_set(e, ST_INPUT, "output %d comes from no Result of the %s", i,
				     b->role);
	mem_free(fed);
	mem_free(made);
	return rc;
}

/* The bodies of the node in the order of their arms; how many there are. */
static uint32_t find_bodies(const struct op *op, const struct graph_body *out[2])
{
	uint32_t n = 0;
	out[0] = out[1] = NULL;
	for (uint32_t i, end = graph_bodies(op->g, op->v, &i); i < end; i++) {
		const struct graph_body *b = &op->g->body[i];
		bool is_else = strcmp(b->role, "else") == 0;
		bool branch = is_else || strcmp(b->role, "then") == 0;
		if (branch != (op->kind == OP_IF) || out[is_else])
			return 0;
		out[is_else] = b;
		n++;
	}
	return n;
}

bool control_supports(const struct op *op, char *why, size_t cap)
{
	const struct graph_body *b[2];
	uint32_t n = find_bodies(op, b);
	if (n != (op->kind == OP_IF ? 2u : 1u)) {
		snprintf(why, cap, "its bodies are not there");
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!subgraph_supports(b[i]->graph, &control_bodies, why, cap))
			return false;
	return true;
}

/* ---- preparing ---- */

static int new_arm(struct arm *a, const struct graph_body *def, const struct op *op,
		   const struct tensor *in, const struct step_env *env, struct cpu_ctx *ctx,
		   struct err *e)
{
	a->def = def;
	if (check_body(op, def, e) < 0)
		return -1;
	a->room = MEM_NEWN(struct dynop_buffer, (size_t)def->n_maps + 1);
	a->slice_shape = MEM_NEWN(struct tensor, (size_t)def->n_maps + 1);
	struct tensor *known = MEM_NEWN(struct tensor, (size_t)def->graph->n + 1);
	for (uint32_t i = 0; i < def->n_maps; i++) {
		const struct port_map *m = &def->map[i];
		if (!m->output && m->external >= 0 && !m->has_axis &&
		    !control_carries(def, m->internal))
			known[m->internal] = in[m->external];
	}
	int rc = subgraph_new(def->graph, known, env, ctx, &control_bodies, &a->subgraph, e);
	mem_free(known);
	return rc;
}

static void control_free(struct control *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_arms; i++) {
		struct arm *a = &c->arm[i];
		subgraph_free(a->subgraph);
		for (uint32_t k = 0; a->room && k < a->def->n_maps; k++)
			mem_free(a->room[k].p);
		mem_free(a->room);
		mem_free(a->slice_shape);
	}
	mem_free(c);
}

static int control_new(const struct op *op, const struct tensor *in, const struct step_env *env,
		       struct cpu_ctx *ctx, struct control **out, struct err *e)
{
	const struct graph_body *def[2];
	struct control *c = *out = MEM_NEW(struct control);
	c->op = *op;
	uint32_t n = find_bodies(op, def);
	int rc = n == (op->kind == OP_IF ? 2u : 1u)
			 ? 0
			 : err_set(e, ST_INPUT, "its bodies are not there");
	for (; c->n_arms < n && rc == 0; c->n_arms++)
		rc = new_arm(&c->arm[c->n_arms], def[c->n_arms], op, in, env, ctx, e);
	if (rc == 0)
		return 0;
	control_free(c);
	*out = NULL;
	return -1;
}

static uint64_t control_bytes(const struct control *c)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < c->n_arms; i++) {
		n += c->arm[i].subgraph ? subgraph_bytes(c->arm[i].subgraph) : 0;
		for (uint32_t k = 0; k < c->arm[i].def->n_maps; k++)
			n += c->arm[i].room[k].cap;
	}
	return n;
}

/* ---- running ---- */

static int run_if(struct control *c, const struct tensor *in, struct tensor *out,
		  const struct dynop_allocator *to, struct err *e)
{
	if (tensor_elements(&in[0]) != 1)
		return err_set(e, ST_INPUT, "its condition has %lld elements; it must have one",
			       (long long)tensor_elements(&in[0]));
	struct arm *a = &c->arm[tensor_int(&in[0], 0) == 0];
	const struct graph_body *b = a->def;
	for (uint32_t k = 0; k < b->n_maps; k++)
		if (!b->map[k].output && b->map[k].external >= 0)
			subgraph_set(a->subgraph, b->map[k].internal, &in[b->map[k].external]);
	control_count(b, 1);
	if (subgraph_run(a->subgraph, e) < 0)
		return -1;
	int rc = 0;
	for (uint32_t k = 0; k < b->n_maps && rc == 0; k++)
		if (b->map[k].output && b->map[k].external >= 0)
			rc = control_copy_out(to, (uint32_t)b->map[k].external,
					      subgraph_result(a->subgraph, b->map[k].internal), out,
					      e);
	subgraph_carry(a->subgraph, 0, NULL, NULL);
	return rc;
}

static int control_run(struct control *c, const struct tensor *in, struct tensor *out,
		       const struct dynop_allocator *to, struct err *e)
{
	for (uint32_t i = 0; i < c->n_arms; i++)
		if (c->arm[i].def->runs)
			__atomic_fetch_add(&c->arm[i].def->runs->runs, 1, __ATOMIC_RELAXED);
	return c->op.kind == OP_IF ? run_if(c, in, out, to, e)
				   : control_run_loop(c, in, out, to, e);
}

const struct dynop_bodies control_bodies = {
	.supports = control_supports,
	.prepare = control_new,
	.release = control_free,
	.bytes = control_bytes,
	.run = control_run,
};
