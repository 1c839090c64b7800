/* shapes_walk.c - the nodes of a graph in order, each one's shapes from those before. */
#include "dynamic/shapes_impl.h"
#include "base/mem.h"

#include <string.h>

/* How outputs are inferred where inputs have unknown dims.  op_infer knows only numbers, so it is
 * asked several times, each time with another size for all unknown dims.  An output dim that comes
 * out the same each time does not depend on them, and is known; the others stay unknown.
 *
 *   input ?x3x224x224, Convolution:  55440x64x112x112, 65520x64x112x112  ->  ?x64x112x112
 *
 * What depends on values as well is found by walking the whole graph so (shapes_probe.c).  The first two sizes have many divisors, because a Reshape to (-1, 16) must divide them.  The
 * third size, 0, is for dims that only look the same with large sizes: a slice of the first hundred
 * has 100 elements of 55440 and of 65520, but 0 of 0.  An operator that refuses 0 is asked with the
 * first two alone; one that refuses a size before has unknown outputs. */
enum { N_PROBES = 3 };
static const int64_t PROBE[N_PROBES] = {55440, 65520, 0};

/* ---- whose value is wanted ---- */

static bool can_be_known(const struct shapes *s, uint32_t v, const bool *can)
{
	const struct graph *g = s->g;
	enum op_kind k = s->op[v].kind;
	if (k == OP_CONST || k == OP_SHAPE_OF)
		return true;
	if (k == OP_PARAMETER)
		return s->h.value[g->out_ptr[v]].data != NULL;
	enum op_category c = op_info(k)->category;
	if (c == OPC_SOURCE || c == OPC_SINK || c == OPC_OTHER)
		return false;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE && !can[g->in_node[i]])
			return false;
	return true;
}

/* Does the value in this input decide shapes?  In a body any small one may. */
static bool decides_shapes(const struct shapes *s, uint32_t v, uint32_t slot)
{
	enum { SMALL = 4096 };
	const struct op *op = &s->op[v];
	uint32_t i = slot - s->g->in_ptr[v];
	int64_t bytes = graph_out_bytes(s->g, graph_slot_output(s->g, slot));
	if (op_info(op->kind)->category == OPC_CONTROL)
		return i < 2 || (bytes >= 0 && bytes <= SMALL);
	return i < 32 && op_info(op->kind)->values >> i & 1;
}

static void mark_wanted(struct shapes *s)
{
	const struct graph *g = s->g;
	bool *can = MEM_NEWN(bool, (size_t)g->n + 1);
	for (uint32_t v = 0; v < g->n; v++)
		can[v] = can_be_known(s, v, can);
	for (uint32_t v = g->n; v-- > 0;)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			bool chain = s->wanted[v] && s->op[v].kind != OP_SHAPE_OF;
			if (u != GRAPH_NONE && can[u] && (chain || decides_shapes(s, v, i)))
				s->wanted[u] = true;
		}
	mem_free(can);
}

/* ---- one node ---- */

static void inputs_of(const struct shapes *s, uint32_t v, struct tensor *in)
{
	const struct graph *g = s->g;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++, in++)
		*in = g->in_node[i] == GRAPH_NONE ? (struct tensor){.elem = EL_DYNAMIC}
						  : s->h.value[graph_slot_output(g, i)];
}

/* Are values there that the shapes need? */
static bool values_there(const struct op *op, const struct tensor *in)
{
	for (int i = 0; i < op->n_in && i < 32; i++)
		if (op_info(op->kind)->values >> i & 1 && in[i].elem != EL_DYNAMIC && !in[i].data &&
		    (!shape_known(&in[i]) || tensor_elements(&in[i]) != 0))
			return false;
	return true;
}

/* The inputs with PROBE[k] for unknown dims; false when a rank is not known. */
static bool fill_unknown_dims(const struct tensor *in, int n, int k, struct tensor *out)
{
	for (int i = 0; i < n; i++) {
		out[i] = in[i];
		if (in[i].rank == RANK_DYNAMIC)
			return false;
		for (uint32_t d = 0; d < in[i].rank; d++)
			if (in[i].dim[d] < 0)
				out[i].dim[d] = PROBE[k];
	}
	return true;
}

/* Outputs for inputs with unknown dims: see PROBE. */
static void infer_partly(struct shapes *s, uint32_t v, const struct tensor *in)
{
	const struct graph *g = s->g;
	const struct op *op = &s->op[v];
	size_t n_in = (size_t)op->n_in + 1, n_out = (size_t)op->n_out + 1;
	struct tensor *x = MEM_NEWN(struct tensor, n_in + N_PROBES * n_out), *y = x + n_in;
	struct err e = ERR_INIT;
	int n = 0; /* how many sizes the operator accepted */
	shapes_set_all_unknown(s, v);
	if (values_there(op, in))
		while (n < N_PROBES && fill_unknown_dims(in, op->n_in, n, x) &&
		       op_infer(op, x, y + (size_t)n * n_out, &e) == 0)
			n++;
	for (int i = 0; i < op->n_out && n >= 2; i++) {
		struct tensor t = y[i], *now = &s->h.value[g->out_ptr[v] + (uint32_t)i];
		for (int k = 1; k < n; k++)
			t = shape_common(&t, &y[(size_t)k * n_out + (size_t)i]);
		if (t.rank == RANK_DYNAMIC)
			continue;
		if (now->elem != EL_DYNAMIC)
			t.elem = now->elem;
		t.data = NULL;
		host_values_set(&s->h, g->out_ptr[v] + (uint32_t)i, &t);
	}
	mem_free(x);
}

/* Bounds are not sizes: dims that the file leaves open stay so. */
static int infer_bounded(struct shapes *s, uint32_t v, struct err *e)
{
	const struct graph *g = s->g;
	if (host_infer_node(&s->h, v, e) < 0)
		return -1;
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
		struct tensor recorded, *t = &s->h.value[o];
		if (!tensor_describe(g, o, &recorded) || recorded.rank != t->rank) {
			shapes_set_unknown(s, o);
			continue;
		}
		for (uint32_t d = 0; d < t->rank; d++)
			if (recorded.dim[d] < 0)
				t->dim[d] = DIM_DYNAMIC;
	}
	return 0;
}

/* A variable with a given shape has it, and one that grows its own; others have that of their initial value. */
static bool set_variable(struct shapes *s, uint32_t v)
{
	const char *id = graph_attr(s->g, v, "variable_id");
	const struct shape_given *x = s->given && id ? shapes_find(s->given, id) : NULL;
	struct tensor t = {.elem = (enum elem)s->g->out_elem[s->g->out_ptr[v]]};
	if (!x && !(s->grown && s->grown[v].rank))
		return false;
	t.rank = x ? x->rank : s->grown[v].rank;
	memcpy(t.dim, x ? x->dim : s->grown[v].dim, sizeof t.dim);
	shapes_fill(s, &t);
	host_values_set(&s->h, s->g->out_ptr[v], &t);
	return true;
}

/* Without an initial value: what the file says, with nothing in open dims. */
static void set_empty(struct shapes *s, uint32_t v)
{
	struct tensor *t = &s->h.value[s->g->out_ptr[v]];
	shapes_set_unknown(s, s->g->out_ptr[v]);
	if (!tensor_describe(s->g, s->g->out_ptr[v], t))
		t->rank = RANK_DYNAMIC;
	for (uint32_t d = 0; d < t->rank && t->rank != RANK_DYNAMIC; d++)
		t->dim[d] = t->dim[d] < 0 ? 0 : t->dim[d];
}

/* Values of node v, but for large ones of made-up sizes, which would take long, and on which no shape depends. */
static int evaluate(struct shapes *s, uint32_t v, struct err *e)
{
	enum { MOST = 1 << 20 };
	if (s->size_of_probe < 0)
		return host_eval_node(&s->h, v, e);
	if (host_infer_node(&s->h, v, e) < 0)
		return -1;
	for (uint32_t o = s->g->out_ptr[v]; o < s->g->out_ptr[v + 1]; o++)
		if (tensor_elements(&s->h.value[o]) > MOST)
			return 0;
	return host_eval_node(&s->h, v, e);
}

static int infer_known(struct shapes *s, uint32_t v, const struct tensor *in, struct err *e)
{
	const struct op *op = &s->op[v];
	bool data = true;
	for (int i = 0; i < op->n_in; i++)
		data = data && (in[i].elem == EL_DYNAMIC || in[i].data || op->kind == OP_SHAPE_OF);
	if (s->wanted[v] && data && op->n_in > 0)
		return evaluate(s, v, e);
	if (op_is_bounded(op) && values_there(op, in))
		return infer_bounded(s, v, e);
	if (values_there(op, in))
		return host_infer_node(&s->h, v, e);
	shapes_set_all_unknown(s, v);
	return 0;
}

static int infer_node(struct shapes *s, uint32_t v, struct tensor *in, struct err *e)
{
	const struct op *op = &s->op[v];
	bool known = true;
	inputs_of(s, v, in);
	for (int i = 0; i < op->n_in; i++)
		known = known && (in[i].elem == EL_DYNAMIC || shape_known(&in[i]));
	switch (op->kind) {
	case OP_PARAMETER: return 0;
	case OP_CONST: return s->wanted[v] ? host_eval_node(&s->h, v, e) : 0;
	case OP_READ_VALUE:
		if (set_variable(s, v))
			return 0;
		if (op->n_in == 0) {
			set_empty(s, v);
			return 0;
		}
		break;
	default: /* has inputs */ break;
	}
	/* Which branch is taken may depend on a size that was made up. */
	if (op_info(op->kind)->category == OPC_CONTROL && s->size_of_probe >= 0)
		shapes_set_all_unknown(s, v);
	else if (op_info(op->kind)->category == OPC_CONTROL)
		return shapes_control(s, v, shapes_walk, e);
	else if (known && infer_known(s, v, in, e) < 0)
		return -1;
	else if (!known)
		infer_partly(s, v, in);
	shapes_agree(s, v);
	return 0;
}

/* ---- the whole ---- */

int shapes_walk(struct shapes *s, struct err *e)
{
	const struct graph *g = s->g;
	uint32_t most = 0;
	mark_wanted(s);
	for (uint32_t v = 0; v < g->n; v++)
		most = g->in_ptr[v + 1] - g->in_ptr[v] > most ? g->in_ptr[v + 1] - g->in_ptr[v]
							      : most;
	struct tensor *in = MEM_NEWN(struct tensor, (size_t)most + 1);
	int rc = 0;
	for (uint32_t v = 0; v < g->n && rc == 0; v++) {
		rc = infer_node(s, v, in, e);
		if (rc < 0 && s->size_of_probe >= 0) { /* these sizes cannot be */
			shapes_set_all_unknown(s, v);
			*e = (struct err)ERR_INIT;
			rc = 0;
		}
	}
	mem_free(in);
	return rc;
}
