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
	const struct flex_place *to;
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
	body_set(l->a->body, v, &t);
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
			struct tensor part;
			if (part_take(m, &l->in[m->external], l->done, &l->a->slice[k], &part, e) <
			    0)
				return err_prefix(e, "input %" PRId64, m->external);
			body_set(l->a->body, m->internal, &part);
		} else if (l->done == 0 || !control_carries(b, m->internal)) {
			body_set(l->a->body, m->internal, &l->in[m->external]);
		}
	}
	return 0;
}

/* Room for `n` parts one after another, those that are there kept. */
static int stage(struct flex_buffer *s, int64_t part_bytes, int64_t done, struct err *e)
{
	int64_t need, cap;
	if (__builtin_mul_overflow(part_bytes, done + 1, &need) ||
	    __builtin_mul_overflow(need, (int64_t)2, &cap))
		return err_set(e, ST_INPUT, "a joined output of impossible size");
	if ((size_t)need <= s->cap)
		return 0;
	struct flex_buffer more = {0};
	if (flex_grow(&more, cap, e) < 0)
		return -1;
	if (done && part_bytes)
		memcpy(more.p, s->p, (size_t)(part_bytes * done));
	mem_free(s->p);
	*s = more;
	return 0;
}

/* The joined output of n parts: its shape and memory. */
static int place_joined(struct loop *l, uint32_t k, int64_t n, struct err *e)
{
	const struct port_map *m = &l->a->def->map[k];
	struct tensor *t = &l->out[m->external];
	int axis = part_axis(m, &l->a->part[k], e);
	if (axis < 0)
		return -1;
	*t = l->a->part[k];
	if (__builtin_mul_overflow(t->dim[axis], n, &t->dim[axis]) || tensor_bytes(t) < 0)
		return err_set(e, ST_INPUT,
			       "%" PRId64 " iterations make a tensor of impossible size", n);
	return l->to->place(l->to->arg, (uint32_t)m->external, t, e);
}

static int join(struct loop *l, uint32_t k, struct err *e)
{
	const struct port_map *m = &l->a->def->map[k];
	const struct tensor *t = body_result(l->a->body, m->internal);
	struct tensor *part = &l->a->part[k];
	char a[120], b[120];
	if (l->done == 0)
		*part = *t;
	else if (part->elem != t->elem || !tensor_same_shape(part, t))
		return err_set(e, ST_INPUT, "a part of %s after one of %s cannot be joined",
			       tensor_text(t, a, sizeof a), tensor_text(part, b, sizeof b));
	if (l->exact) {
		if (l->done == 0 && place_joined(l, k, l->limit, e) < 0)
			return -1;
		part_put(m, t, l->done, l->limit, &l->out[m->external]);
		return 0;
	}
	int64_t bytes = tensor_bytes(t);
	if (bytes < 0 || part_axis(m, t, e) < 0 || stage(&l->a->slice[k], bytes, l->done, e) < 0)
		return -1;
	memcpy((char *)l->a->slice[k].p + l->done * bytes, t->data, (size_t)bytes);
	return 0;
}

static int joins(struct loop *l, struct err *e)
{
	const struct graph_body *b = l->a->def;
	for (uint32_t k = 0; k < b->n_maps; k++)
		if (b->map[k].output && b->map[k].has_axis && b->map[k].external >= 0 &&
		    join(l, k, e) < 0)
			return err_prefix(e, "output %" PRId64, b->map[k].external);
	return 0;
}

/* The condition that the body leaves; true when it has none. */
static bool goes_on(const struct loop *l)
{
	const struct graph_body *b = l->a->def;
	for (uint32_t k = 0; k < b->n_maps; k++)
		if (b->map[k].output && b->map[k].condition) {
			const struct tensor *t = body_result(l->a->body, b->map[k].internal);
			return tensor_elements(t) > 0 && tensor_int(t, 0) != 0;
		}
	return true;
}

/* Is the condition true whatever happens? */
static bool always_goes_on(const struct loop *l)
{
	const struct graph_body *b = l->a->def;
	for (uint32_t k = 0; k < b->n_maps; k++)
		if (b->map[k].output && b->map[k].condition &&
		    !body_result_known(l->a->body, b->map[k].internal))
			return false;
	return goes_on(l);
}

static int iterate(struct loop *l, struct err *e)
{
	const struct graph_body *b = l->a->def;
	for (bool on = true; on && l->done != l->limit;) {
		if (set_parameters(l, e) < 0 || body_run(l->a->body, e) < 0 || joins(l, e) < 0)
			return -1;
		on = l->c->op.kind != OP_LOOP || goes_on(l);
		l->done++;
		if (on && l->done != l->limit)
			body_carry(l->a->body, b->n_back, b->back_from, b->back_to);
	}
	return 0;
}

/* No iteration: what a back edge would carry first; otherwise nothing of the recorded shape. */
static int initial_output(struct loop *l, uint32_t k, struct err *e)
{
	const struct graph_body *b = l->a->def;
	const struct port_map *m = &b->map[k];
	struct tensor none;
	for (uint32_t i = 0; i < b->n_back; i++)
		for (uint32_t j = 0; j < b->n_maps && b->back_from[i] == m->internal; j++)
			if (!b->map[j].output && b->map[j].internal == b->back_to[i] &&
			    b->map[j].external >= 0)
				return control_copy_out(l->to, (uint32_t)m->external,
							&l->in[b->map[j].external], l->out, e);
	uint32_t slot = b->graph->in_ptr[m->internal];
	uint32_t o = b->graph->out_ptr[b->graph->in_node[slot]] + b->graph->in_port[slot];
	if (!tensor_describe(b->graph, o, &none))
		none.rank = 0;
	for (uint32_t i = 0; i < none.rank; i++)
		none.dim[i] = none.dim[i] < 0 ? 0 : none.dim[i];
	l->out[m->external] = none;
	struct tensor *t = &l->out[m->external];
	if (l->to->place(l->to->arg, (uint32_t)m->external, t, e) < 0)
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
	uint32_t o = b->graph->out_ptr[b->graph->in_node[slot]] + b->graph->in_port[slot];
	struct tensor *part = &l->a->part[k];
	if (!tensor_describe(b->graph, o, part))
		return err_set(e, ST_INPUT, "no iteration, and no shape of its parts");
	for (uint32_t i = 0; i < part->rank; i++)
		part->dim[i] = part->dim[i] < 0 ? 0 : part->dim[i];
	return place_joined(l, k, 0, e);
}

static int finish_output(struct loop *l, uint32_t k, struct err *e)
{
	const struct port_map *m = &l->a->def->map[k];
	if (!m->has_axis)
		return l->done == 0
			       ? initial_output(l, k, e)
			       : control_copy_out(l->to, (uint32_t)m->external,
						  body_result(l->a->body, m->internal), l->out, e);
	if (l->done == 0)
		return empty_join(l, k, e);
	if (l->exact)
		return 0;
	if (place_joined(l, k, l->done, e) < 0)
		return -1;
	struct tensor part = l->a->part[k];
	int64_t bytes = tensor_bytes(&part);
	for (int64_t i = 0; i < l->done; i++) {
		part.data = (char *)l->a->slice[k].p + i * bytes;
		part_put(m, &part, i, l->done, &l->out[m->external]);
	}
	return 0;
}

static int finish(struct loop *l, struct err *e)
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
		if (part_count(m, &l->in[m->external], &n, e) < 0)
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
	l->exact = always_goes_on(l);
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
		     const struct flex_place *to, struct err *e)
{
	struct loop l = {.c = c, .a = &c->arm[0], .in = in, .out = out, .to = to};
	int rc = c->op.kind == OP_LOOP ? length_of_loop(&l, e) : length_of_slices(&l, e);
	if (rc == 0)
		rc = iterate(&l, e);
	if (rc == 0)
		rc = finish(&l, e);
	body_carry(l.a->body, 0, NULL, NULL);
	return rc;
}
