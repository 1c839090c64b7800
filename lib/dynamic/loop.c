/* loop.c - the iterations of Loop and TensorIterator. */
#include "dynamic/control_impl.h"
#include "base/mem.h"

#include <inttypes.h>
#include <string.h>

struct loop {
	struct control *c;
	struct arm *a;
	const struct tensor *in;
	struct tensor *out;
	const struct dynop_allocator *to;
	int64_t limit; /* iterations at most; -1: none */
	bool exact;    /* limit is how many there are */
	int64_t done;
};

static void set_counter(struct loop *l, uint32_t v)
{
	struct control *c = l->c;
	struct tensor t;
	if (!tensor_describe(l->a->def->graph, l->a->def->graph->out_ptr[v], &t) ||
	    tensor_elements(&t) != 1)
		t.rank = 0;
	c->counter = l->done;
	c->counter_i32 = (int32_t)l->done;
	bool narrow = t.elem == EL_I32;
	t.elem = narrow ? EL_I32 : EL_I64;
	t.data = narrow ? (void *)&c->counter_i32 : (void *)&c->counter;
	subgraph_set(l->a->subgraph, v, &t);
}

static int set_parameters(struct loop *l, struct err *e)
{
	const struct graph_body *b = l->a->def;
	for (uint32_t k = 0; k < b->n_maps; k++) {
		const struct port_map *m = &b->map[k];
		if (m->output)
			continue;
		if (m->external < 0 || m->counter) {
			set_counter(l, m->internal);
		} else if (m->has_axis) {
			struct tensor slice;
			if (axis_slice_get(m, &l->in[m->external], l->done, &l->a->room[k], &slice,
					   e) < 0)
				return err_prefix(e, "input %" PRId64, m->external);
			subgraph_set(l->a->subgraph, m->internal, &slice);
		} else if (l->done == 0 || !control_carries(b, m->internal)) {
			subgraph_set(l->a->subgraph, m->internal, &l->in[m->external]);
		}
	}
	return 0;
}

/* Room for one more slice behind the `done` that are there, which are kept. */
static int grow_room(struct dynop_buffer *s, int64_t slice_bytes, int64_t done, struct err *e)
{
	int64_t need, cap;
	if (__builtin_mul_overflow(slice_bytes, done + 1, &need) ||
	    __builtin_mul_overflow(need, (int64_t)2, &cap))
		return err_set(e, ST_INPUT, "a joined output of impossible size");
	if ((size_t)need <= s->cap)
		return 0;
	struct dynop_buffer more = {0};
	if (dynop_buffer_grow(&more, cap, e) < 0)
		return -1;
	if (done && slice_bytes)
		memcpy(more.p, s->p, (size_t)(slice_bytes * done));
	mem_free(s->p);
	*s = more;
	return 0;
}

/* The joined output of n slices: its shape and memory. */
static int alloc_joined(struct loop *l, uint32_t k, int64_t n, struct err *e)
{
	const struct port_map *m = &l->a->def->map[k];
	struct tensor *t = &l->out[m->external];
	int axis = axis_slice_axis(m, &l->a->slice_shape[k], e);
	if (axis < 0)
		return -1;
	*t = l->a->slice_shape[k];
	if (__builtin_mul_overflow(t->dim[axis], n, &t->dim[axis]) || tensor_bytes(t) < 0)
		return err_set(e, ST_INPUT,
			       "%" PRId64 " iterations make a tensor of impossible size", n);
	return l->to->alloc(l->to->arg, (uint32_t)m->external, t, e);
}

static int join_slice(struct loop *l, uint32_t k, struct err *e)
{
	const struct port_map *m = &l->a->def->map[k];
	const struct tensor *t = subgraph_result(l->a->subgraph, m->internal);
	struct tensor *slice = &l->a->slice_shape[k];
	char a[120], b[120];
	if (l->done == 0)
		*slice = *t;
	else if (slice->elem != t->elem || !tensor_same_shape(slice, t))
		return err_set(e, ST_INPUT, "a part of %s after one of %s cannot be joined",
			       tensor_text(t, a, sizeof a), tensor_text(slice, b, sizeof b));
	if (l->exact) {
		if (l->done == 0 && alloc_joined(l, k, l->limit, e) < 0)
			return -1;
		axis_slice_put(m, t, l->done, l->limit, &l->out[m->external]);
		return 0;
	}
	int64_t bytes = tensor_bytes(t);
	if (bytes < 0 || axis_slice_axis(m, t, e) < 0 ||
	    grow_room(&l->a->room[k], bytes, l->done, e) < 0)
		return -1;
	memcpy((char *)l->a->room[k].p + l->done * bytes, t->data, (size_t)bytes);
	return 0;
}

static int join_slices(struct loop *l, struct err *e)
{
	const struct graph_body *b = l->a->def;
	for (uint32_t k = 0; k < b->n_maps; k++)
		if (b->map[k].output && b->map[k].has_axis && b->map[k].external >= 0 &&
		    join_slice(l, k, e) < 0)
			return err_prefix(e, "output %" PRId64, b->map[k].external);
	return 0;
}

/* The condition that the body leaves; true when it has none. */
static bool condition_holds(const struct loop *l)
{
	const struct graph_body *b = l->a->def;
	for (uint32_t k = 0; k < b->n_maps; k++)
		if (b->map[k].output && b->map[k].condition) {
			const struct tensor *t =
				subgraph_result(l->a->subgraph, b->map[k].internal);
			return tensor_elements(t) > 0 && tensor_int(t, 0) != 0;
		}
	return true;
}

/* Is the condition true whatever happens? */
static bool condition_always_holds(const struct loop *l)
{
	const struct graph_body *b = l->a->def;
	for (uint32_t k = 0; k < b->n_maps; k++)
		if (b->map[k].output && b->map[k].condition &&
		    !subgraph_result_known(l->a->subgraph, b->map[k].internal))
			return false;
	return condition_holds(l);
}

static int run_iterations(struct loop *l, struct err *e)
{
	const struct graph_body *b = l->a->def;
	for (bool on = true; on && l->done != l->limit;) {
		if (set_parameters(l, e) < 0 || subgraph_run(l->a->subgraph, e) < 0 ||
		    join_slices(l, e) < 0)
			return -1;
		on = l->c->op.kind != OP_LOOP || condition_holds(l);
		l->done++;
		if (on && l->done != l->limit)
			subgraph_carry(l->a->subgraph, b->n_back, b->back_from, b->back_to);
	}
	return 0;
}

/* Does the graph say that output i is empty?  OpenVINO infers so where the condition is a false constant, and all that reads it
 * has its shape from there. */
static bool recorded_empty(const struct loop *l, int64_t i, struct tensor *none)
{
	const struct op *op = &l->c->op;
	return tensor_describe(op->g, op->g->out_ptr[op->v] + (uint32_t)i, none) &&
	       tensor_is_static(none) && tensor_elements(none) == 0;
}

/* An output without any iteration: what a back edge would carry into the first one, else an empty
 * tensor of the recorded shape. */
static int initial_output(struct loop *l, uint32_t k, struct err *e)
{
	const struct graph_body *b = l->a->def;
	const struct port_map *m = &b->map[k];
	struct tensor none;
	if (recorded_empty(l, m->external, &none)) {
		l->out[m->external] = none;
		return l->to->alloc(l->to->arg, (uint32_t)m->external, &l->out[m->external], e);
	}
	for (uint32_t i = 0; i < b->n_back; i++)
		for (uint32_t j = 0; j < b->n_maps && b->back_from[i] == m->internal; j++)
			if (!b->map[j].output && b->map[j].internal == b->back_to[i] &&
			    b->map[j].external >= 0)
				return control_copy_out(l->to, (uint32_t)m->external,
							&l->in[b->map[j].external], l->out, e);
	uint32_t slot = b->graph->in_ptr[m->internal];
	uint32_t o = graph_slot_output(b->graph, slot);
	if (!tensor_describe(b->graph, o, &none))
		none.rank = 0;
	for (uint32_t i = 0; i < none.rank; i++)
		none.dim[i] = none.dim[i] < 0 ? 0 : none.dim[i];
	l->out[m->external] = none;
	struct tensor *t = &l->out[m->external];
	if (l->to->alloc(l->to->arg, (uint32_t)m->external, t, e) < 0)
		return -1;
	if (tensor_bytes(t) > 0)
		memset(t->data, 0, (size_t)tensor_bytes(t));
	return 0;
}

static int empty_join(struct loop *l, uint32_t k, struct err *e)
{
	const struct graph_body *b = l->a->def;
	const struct port_map *m = &b->map[k];
	uint32_t slot = b->graph->in_ptr[m->internal];
	uint32_t o = graph_slot_output(b->graph, slot);
	struct tensor *slice = &l->a->slice_shape[k], *t = &l->out[m->external];
	if (recorded_empty(l, m->external, t))
		return l->to->alloc(l->to->arg, (uint32_t)m->external, t, e);
	if (!tensor_describe(b->graph, o, slice))
		return err_set(e, ST_INPUT, "no iteration, and no shape of its parts");
	for (uint32_t i = 0; i < slice->rank; i++)
		slice->dim[i] = slice->dim[i] < 0 ? 0 : slice->dim[i];
	return alloc_joined(l, k, 0, e);
}

static int finish_output(struct loop *l, uint32_t k, struct err *e)
{
	const struct port_map *m = &l->a->def->map[k];
	if (!m->has_axis)
		return l->done == 0 ? initial_output(l, k, e)
				    : control_copy_out(l->to, (uint32_t)m->external,
						       subgraph_result(l->a->subgraph, m->internal),
						       l->out, e);
	if (l->done == 0)
		return empty_join(l, k, e);
	if (l->exact)
		return 0;
	if (alloc_joined(l, k, l->done, e) < 0)
		return -1;
	struct tensor slice = l->a->slice_shape[k];
	int64_t bytes = tensor_bytes(&slice);
	for (int64_t i = 0; i < l->done; i++) {
		slice.data = (char *)l->a->room[k].p + i * bytes;
		axis_slice_put(m, &slice, i, l->done, &l->out[m->external]);
	}
	return 0;
}

static int finish_outputs(struct loop *l, struct err *e)
{
	const struct graph_body *b = l->a->def;
	for (uint32_t k = 0; k < b->n_maps; k++)
		if (b->map[k].output && b->map[k].external >= 0 && finish_output(l, k, e) < 0)
			return err_prefix(e, "output %" PRId64, b->map[k].external);
	return 0;
}

/* ---- how many iterations ---- */

static int length_of_slices(struct loop *l, struct err *e)
{
	const struct graph_body *b = l->a->def;
	l->limit = -1;
	l->exact = true;
	for (uint32_t k = 0; k < b->n_maps; k++) {
		const struct port_map *m = &b->map[k];
		int64_t n = 0;
		if (m->output || !m->has_axis)
			continue;
		if (axis_slice_count(m, &l->in[m->external], &n, e) < 0)
			return err_prefix(e, "input %" PRId64, m->external);
		if (l->limit >= 0 && l->limit != n)
			return err_set(e, ST_INPUT,
				       "inputs for %" PRId64 " and for %" PRId64 " iterations",
				       l->limit, n);
		l->limit = n;
	}
	return l->limit >= 0 ? 0 : err_set(e, ST_INPUT, "no input is sliced; how many iterations?");
}

static int length_of_loop(struct loop *l, struct err *e)
{
	const struct tensor *trip = &l->in[0], *cond = &l->in[1];
	if (tensor_elements(trip) != 1 || tensor_elements(cond) != 1)
		return err_set(e, ST_INPUT, "its trip count or condition is not a single value");
	l->limit = tensor_int(trip, 0);
	if (l->limit < 0)
		l->limit = -1;
	l->exact = condition_always_holds(l);
	if (tensor_int(cond, 0) == 0) {
		l->limit = 0;
		l->exact = true;
	} else if (l->limit < 0 && l->exact) {
		return err_set(e, ST_INPUT,
			       "no trip count and a condition that is always true: it never ends");
	}
	return 0;
}

int control_run_loop(struct control *c, const struct tensor *in, struct tensor *out,
		     const struct dynop_allocator *to, struct err *e)
{
	struct loop l = {.c = c, .a = &c->arm[0], .in = in, .out = out, .to = to};
	int rc = c->op.kind == OP_LOOP ? length_of_loop(&l, e) : length_of_slices(&l, e);
	if (rc == 0)
		rc = run_iterations(&l, e);
	control_count(l.a->def, l.done);
	if (rc == 0)
		rc = finish_outputs(&l, e);
	subgraph_carry(l.a->subgraph, 0, NULL, NULL);
	return rc;
}
