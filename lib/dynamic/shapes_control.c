/* shapes_control.c - shapes through TensorIterator, Loop and If. */
#include "dynamic/shapes_impl.h"
#include "base/mem.h"
#include "dynamic/control_impl.h"

#include <string.h>

/* What input i of node v is. */
static struct tensor *input(struct shapes *s, uint32_t v, int64_t i)
{
	return &s->h.value[graph_slot_output(s->g, s->g->in_ptr[v] + (uint32_t)i)];
}

/* What Result r of a body reads. */
static struct tensor *result(struct shapes *b, uint32_t r)
{
	return &b->h.value[graph_slot_output(b->g, b->g->in_ptr[r])];
}

static bool same(const struct tensor *a, const struct tensor *b)
{
	return a->rank == b->rank && (a->rank == RANK_DYNAMIC || tensor_same_shape(a, b));
}

/* Body b of the graph with Parameters set by set(): walked anew. */
static int new_body(struct shapes *s, uint32_t b, struct err *e)
{
	shapes_free(s->body[b]);
	s->body[b] = shapes_new(s->g->body[b].graph, s->h.weights, s->h.weights_bytes, s->h.ctx, e);
	return s->body[b] ? 0 : -1;
}

static void set_parameter(struct shapes *body, uint32_t v, struct tensor t)
{
	uint32_t o = body->g->out_ptr[v];
	enum elem recorded = (enum elem)body->g->out_elem[o];
	if (recorded != EL_DYNAMIC && recorded != t.elem) {
		t.elem = recorded;
		t.data = NULL;
	}
	host_values_set(&body->h, o, &t);
}

static void set_output(struct shapes *s, uint32_t v, int64_t i, struct tensor t)
{
	t.data = NULL;
	host_values_set(&s->h, s->g->out_ptr[v] + (uint32_t)i, &t);
}

/* ---- If ---- */

static int infer_branch(struct shapes *s, uint32_t b, bool first, shapes_walk_fn *walk,
			struct err *e)
{
	const struct graph_body *def = &s->g->body[b];
	if (new_body(s, b, e) < 0)
		return -1;
	for (uint32_t k = 0; k < def->n_maps; k++)
		if (!def->map[k].output && def->map[k].external >= 0)
			set_parameter(s->body[b], def->map[k].internal,
				      *input(s, def->node, def->map[k].external));
	if (walk(s->body[b], e) < 0)
		return -1;
	for (uint32_t k = 0; k < def->n_maps; k++) {
		const struct port_map *m = &def->map[k];
		if (!m->output || m->external < 0)
			continue;
		struct tensor t = *result(s->body[b], m->internal);
		if (!first)
			t = shape_common(
				&t, &s->h.value[s->g->out_ptr[def->node] + (uint32_t)m->external]);
		set_output(s, def->node, m->external, t);
	}
	return 0;
}

static int infer_if(struct shapes *s, uint32_t v, shapes_walk_fn *walk, struct err *e)
{
	const struct tensor *cond = input(s, v, 0);
	bool first = true;
	for (uint32_t b, end = graph_bodies(s->g, v, &b); b < end; b++) {
		bool then = strcmp(s->g->body[b].role, "then") == 0;
		if (cond->data && shape_known(cond) && tensor_elements(cond) > 0 &&
		    (tensor_int(cond, 0) != 0) != then)
			continue; /* the branch that is never taken stays as it is */
		if (infer_branch(s, b, first, walk, e) < 0)
			return -1;
		first = false;
	}
	return 0;
}

/* ---- loops ---- */

/* A Parameter at the first iteration. */
static int first_parameter(struct shapes *s, const struct graph_body *def, uint32_t k,
			   struct tensor *t, struct err *e)
{
	const struct port_map *m = &def->map[k];
	struct shapes *body = s->body[def - s->g->body];
	if (m->external < 0 || m->counter) {
		if (!tensor_describe(body->g, body->g->out_ptr[m->internal], t) ||
		    !tensor_is_static(t))
			t->rank = 0;
		return 0;
	}
	*t = *input(s, def->node, m->external);
	if (control_carries(def, m->internal) || m->has_axis)
		t->data = NULL;
	if (m->has_axis && t->rank != RANK_DYNAMIC) {
		int axis = axis_slice_axis(m, t, e);
		if (axis < 0)
			return -1;
		t->dim[axis] = m->part_size;
	}
	return 0;
}

/* Infer the body of a loop again and again.  A round forgets the dims of carried values that come out
 * other than they went in, so each round knows fewer dims, and the last one changes none. */
static int infer_body(struct shapes *s, const struct graph_body *def, shapes_walk_fn *walk,
		      struct err *e)
{
	uint32_t b = (uint32_t)(def - s->g->body);
	struct tensor *now = MEM_NEWN(struct tensor, (size_t)def->graph->n + 1);
	bool changed = true;
	int rc = 0;
	for (int round = 0; rc == 0 && changed; round++) {
		changed = false;
		rc = new_body(s, b, e);
		for (uint32_t k = 0; k < def->n_maps && rc == 0; k++) {
			uint32_t p = def->map[k].internal;
			if (def->map[k].output)
				continue;
			if (round == 0)
				rc = first_parameter(s, def, k, &now[p], e);
			if (rc == 0)
				set_parameter(s->body[b], p, now[p]);
		}
		if (rc == 0)
			rc = walk(s->body[b], e);
		for (uint32_t i = 0; i < def->n_back && rc == 0; i++) {
			uint32_t p = def->back_to[i];
			struct tensor t =
				shape_common(&now[p], result(s->body[b], def->back_from[i]));
			changed = changed || !same(&t, &now[p]);
			now[p] = t;
		}
	}
	mem_free(now);
	return rc;
}

/* Iterations, or -1 when that is not known. */
static int count_iterations(struct shapes *s, const struct graph_body *def, int64_t *n,
			    struct err *e)
{
	struct shapes *body = s->body[def - s->g->body];
	*n = -1;
	if (s->op[def->node].kind == OP_TENSOR_ITERATOR) {
		for (uint32_t k = 0; k < def->n_maps; k++) {
			const struct port_map *m = &def->map[k];
			if (!m->output && m->has_axis && m->external >= 0 &&
			    shape_known(input(s, def->node, m->external)))
				return axis_slice_count(m, input(s, def->node, m->external), n, e);
		}
		return 0;
	}
	const struct tensor *trip = input(s, def->node, 0), *start = input(s, def->node, 1);
	if (!trip->data || !start->data)
		return 0;
	if (tensor_int(start, 0) == 0) {
		*n = 0;
		return 0;
	}
	for (uint32_t k = 0; k < def->n_maps; k++)
		if (def->map[k].output && def->map[k].condition) {
			const struct tensor *c = result(body, def->map[k].internal);
			if (!c->data || tensor_int(c, 0) == 0)
				return 0;
		}
	*n = tensor_int(trip, 0) < 0 ? -1 : tensor_int(trip, 0);
	return 0;
}

static int infer_loop(struct shapes *s, uint32_t v, const struct graph_body *def,
		      shapes_walk_fn *walk, struct err *e)
{
	struct shapes *body;
	int64_t n;
	if (infer_body(s, def, walk, e) < 0 || count_iterations(s, def, &n, e) < 0)
		return -1;
	body = s->body[def - s->g->body];
	for (uint32_t k = 0; k < def->n_maps; k++) {
		const struct port_map *m = &def->map[k];
		if (!m->output || m->external < 0)
			continue;
		struct tensor t = *result(body, m->internal);
		if (m->has_axis && t.rank != RANK_DYNAMIC) {
			int axis = axis_slice_axis(m, &t, e);
			if (axis < 0)
				return -1;
			if (n < 0 || t.dim[axis] < 0 ||
			    __builtin_mul_overflow(t.dim[axis], n, &t.dim[axis]))
				t.dim[axis] = DIM_DYNAMIC;
		}
		set_output(s, v, m->external, t);
	}
	return 0;
}

int shapes_control(struct shapes *s, uint32_t v, shapes_walk_fn *walk, struct err *e)
{
	char why[200];
	if (!control_supports(&s->op[v], why, sizeof why) && s->op[v].kind != OP_IF)
		return err_set(e, ST_INPUT, "%s", why);
	if (s->op[v].kind == OP_IF)
		return infer_if(s, v, walk, e);
	uint32_t b, end = graph_bodies(s->g, v, &b);
	return b < end ? infer_loop(s, v, &s->g->body[b], walk, e) : 0;
}
