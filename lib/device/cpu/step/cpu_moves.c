/* cpu_moves.c - see cpu_moves.h. */
#include "device/cpu/step/cpu_moves.h"

#include "op/slice.h"

enum { MOST_OUT = 16, ARGS = 5 };

struct moves {
	struct cpu_ctx *ctx;
	size_t size; /* of an element */
	uint32_t n;
	struct moves_seen *out; /* (n) */
};

/* ---- views ---- */

static void see_whole(const struct tensor *t, struct moves_seen *x)
{
	int64_t step = 1;
	*x = (struct moves_seen){.rank = t->rank};
	for (uint32_t d = t->rank; d-- > 0; step *= t->dim[d]) {
		x->dim[d] = t->dim[d];
		x->stride[d] = step;
	}
}

/* Dims first .. end - 1 as one: do they lie so? */
static bool lie_together(const struct moves_seen *x, uint32_t first, uint32_t end)
{
	for (uint32_t d = first; d + 1 < end; d++)
		if (x->stride[d] != x->dim[d + 1] * x->stride[d + 1])
			return false;
	return true;
}

static void drop_ones(struct moves_seen *x)
{
	uint32_t n = 0;
	for (uint32_t d = 0; d < x->rank; d++) {
		if (x->dim[d] == 1)
			continue;
		x->dim[n] = x->dim[d];
		x->stride[n++] = x->stride[d];
	}
	x->rank = n;
}

/* The same elements in another shape, of as many; false: they do not lie at strides then. */
static bool reshape(struct moves_seen *x, const struct tensor *to)
{
	struct moves_seen y = {.input = x->input, .offset = x->offset, .rank = to->rank};
	uint32_t a = 0, b = 0;
	drop_ones(x);
	while (a < x->rank) {
		uint32_t a0 = a, b0 = b;
		int64_t na = x->dim[a++], nb = 1;
		while (na != nb) {
			if (na > nb ? b == to->rank : a == x->rank)
				return false;
			if (na > nb)
				nb *= y.dim[b] = to->dim[b], b++;
			else
				na *= x->dim[a++];
		}
		if (!lie_together(x, a0, a))
			return false;
		int64_t step = x->stride[a - 1];
		for (uint32_t d = b; d-- > b0; step *= y.dim[d])
			y.stride[d] = step;
	}
	for (; b < to->rank; b++)
		y.dim[b] = to->dim[b];
	*x = y;
	return true;
}

/* ---- nodes ---- */

static bool is_moved(const struct tensor *t)
{
	return t && tensor_is_static(t) && tensor_elements(t) > 0 && cpu_elem_size(t->elem) > 0;
}

static bool turn(const struct step_node *n, struct moves_seen *x)
{
	int64_t perm[TENSOR_DIMS];
	struct err e = ERR_INIT;
	struct moves_seen y = *x;
	bool fits = n->n_in == 2 && n->in[1].from == FROM_CONST && n->in[1].tensor->data &&
		    op_permutation(n->in[0].tensor, n->in[1].tensor, perm, &e) == 0;
	err_clear(&e);
	for (uint32_t d = 0; fits && d < x->rank; d++) {
		x->dim[d] = y.dim[perm[d]];
		x->stride[d] = y.stride[perm[d]];
	}
	return fits;
}

static bool cut(const struct step_node *n, uint32_t port, struct moves_seen *x)
{
	const struct step_arg *a = &n->in[1];
	if (n->n_in < 2 || a->from != FROM_CONST || !a->tensor->data)
		return false;
	int axis = op_axis(tensor_int(a->tensor, 0), x->rank);
	if (axis < 0)
		return false;
	for (uint32_t i = 0; i < port; i++)
		x->offset += n->out[i].dim[axis] * x->stride[axis];
	x->dim[axis] = n->out[port].dim[axis];
	return true;
}

/* The values that an operator reads besides its data, all constants. */
static bool read_values(const struct step_node *n, struct tensor *in)
{
	if (n->n_in > ARGS)
		return false;
	for (uint32_t i = 0; i < n->n_in; i++) {
		const struct step_arg *a = &n->in[i];
		if (i > 0 && a->from == FROM_NONE)
			in[i] = (struct tensor){0};
		else if (!a->tensor || (i > 0 && (a->from != FROM_CONST || !a->tensor->data)))
			return false;
		else
			in[i] = *a->tensor;
	}
	return true;
}

static bool slice(const struct step_node *n, struct moves_seen *x)
{
	struct op_range r[TENSOR_DIMS];
	struct tensor in[ARGS], shape;
	struct err e = ERR_INIT;
	bool fits = read_values(n, in) && op_slice_ranges(n->op, in, r, &shape, &e) == 0;
	err_clear(&e);
	for (uint32_t d = 0; fits && d < x->rank; d++) {
		x->offset += r[d].start * x->stride[d];
		x->stride[d] *= r[d].step;
		x->dim[d] = r[d].count;
	}
	return fits;
}

static bool pick(const struct step_node *n, struct moves_seen *x)
{
	struct tensor in[ARGS];
	int axis, batch;
	if (n->n_in != 3 || !read_values(n, in) || op_gather_axes(n->op, in, &axis, &batch) ||
	    batch != 0 || tensor_elements(&in[1]) != 1)
		return false;
	int64_t i = tensor_int(&in[1], 0);
	i += i < 0 ? x->dim[axis] : 0;
	if (i < 0 || i >= x->dim[axis])
		return false;
	x->offset += i * x->stride[axis];
	x->dim[axis] = 1;
	return true;
}

static bool is_cut(const struct step_node *n)
{
	return op_is_split(n->op->kind);
}

static bool see_output(const struct moves_seeing *v, uint32_t node, uint32_t port,
		       struct moves_seen *x)
{
	const struct step_node *n = &v->s->node[node];
	*x = v->node[node];
	return is_cut(n) ? port < n->n_out && cut(n, port, x) : port == 0;
}

bool moves_see_argument(const struct moves_seeing *v, const struct step_arg *a,
			struct moves_seen *x)
{
	return see_output(v, a->index, a->port, x) && reshape(x, a->tensor);
}

bool moves_see_node(struct moves_seeing *v, uint32_t i)
{
	const struct step_node *n = &v->s->node[i];
	const struct step_arg *a = &n->in[0];
	struct moves_seen *x = &v->node[i];
	if (n->n_in == 0 || !is_moved(a->tensor))
		return false;
	for (uint32_t j = 0; j < n->n_out; j++)
		if (!is_moved(&n->out[j]) || n->out[j].elem != a->tensor->elem)
			return false;
	if (a->from == FROM_INPUT) {
		see_whole(a->tensor, x);
		x->input = a->index;
	} else if (a->from != FROM_NODE || a->index >= i || !moves_see_argument(v, a, x)) {
		return false;
	}
	switch (n->op->kind) {
	case OP_SPLIT:
	case OP_VARIADIC_SPLIT: return true;
	case OP_TRANSPOSE: return turn(n, x) && reshape(x, &n->out[0]);
	case OP_SLICE:
	case OP_STRIDED_SLICE: return slice(n, x) && reshape(x, &n->out[0]);
	case OP_GATHER: return pick(n, x) && reshape(x, &n->out[0]);
	default: return false;
	}
}

static bool see_all(struct moves_seeing *v)
{
	const struct step_spec *s = v->s;
	if (s->n_nodes < 2 || s->n_nodes > MOVES_NODES || s->n_in != 1 || s->n_out > MOST_OUT)
		return false;
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (!moves_see_node(v, i))
			return false;
	struct moves_seen x;
	for (uint32_t i = 0; i < s->n_out; i++)
		if (!see_output(v, s->out[i].node, s->out[i].port, &x))
			return false;
	return true;
}

/* Where tensors lie in NHWC, what begins with images is moved node by node. */
static enum group_answer moves_group(const struct step_how *how, const struct step_spec *s)
{
	struct moves_seeing v = {.s = s};
	if (!see_all(&v))
		return GROUP_OTHER;
	return !how->nhwc || cpu_graph_reads_rows(how->graph, s->node[0].v) ? GROUP_YES
									    : GROUP_NEVER;
}

static int moves_init(void *x, const struct step_how *how, const struct step_spec *s,
		      struct mem_form *want, struct err *e)
{
	struct moves *m = x;
	struct moves_seeing v = {.s = s};
	(void)want, (void)e;
	if (!see_all(&v))
		return 0;
	m->ctx = how->ctx;
	m->n = s->n_out;
	m->out = MEM_NEWN(struct moves_seen, s->n_out + 1);
	m->size = cpu_elem_size(s->node[0].in[0].tensor->elem);
	for (uint32_t i = 0; i < s->n_out; i++) {
		struct moves_seen *o = &m->out[i];
		see_output(&v, s->out[i].node, s->out[i].port, o);
		for (uint32_t d = 0; d < o->rank; d++)
			o->stride[d] *= (int64_t)m->size;
		o->offset *= (int64_t)m->size;
	}
	return 1;
}

static void moves_release(void *x)
{
	struct moves *m = x;
	mem_free(m->out);
}

static void moves_memory(const void *x, void (*fn)(void *arg, const void *key, uint64_t bytes),
			 void *arg)
{
	const struct moves *m = x;
	fn(arg, m, sizeof *m + m->n * sizeof *m->out);
}

static int moves_run(void *x, const struct step_io *io, struct err *e)
{
	const struct moves *m = x;
	const char *in = io->plain_in[0];
	(void)e;
	for (uint32_t i = 0; i < m->n; i++)
		cpu_copy_strided(m->ctx, m->size, m->out[i].rank, m->out[i].dim, m->out[i].stride,
				 in + m->out[i].offset, io->plain_out[i]);
	return 0;
}

const struct step_kind moves_kind = {
	.name = "one copy for each output",
	.size = sizeof(struct moves),
	.plain = true,
	.group = moves_group,
	.init = moves_init,
	.release = moves_release,
	.run = moves_run,
	.memory = moves_memory,
};
