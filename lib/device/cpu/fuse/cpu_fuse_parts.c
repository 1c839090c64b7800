/* cpu_fuse_parts.c - which nodes a fused step may have, and in which part each of them runs. */
#include "device/cpu/fuse/cpu_fuse_plan.h"

/* ---- what arguments read ---- */

static void contiguous(struct strided *r, const struct tensor *t)
{
	int64_t step = 1;
	r->rank = t->rank;
	for (uint32_t d = t->rank; d-- > 0; step *= t->dim[d]) {
		r->dim[d] = t->dim[d];
		r->stride[d] = step;
	}
}

/* Output `port` of a split: a range along its axis. */
static bool resolve_view(const struct fuse_plan *p, const struct step_node *n, uint32_t port,
			 const struct tensor *t, struct strided *r)
{
	const struct tensor *whole = n->in[0].tensor, *out = &n->out[port];
	int axis = op_axis(tensor_int(n->in[1].tensor, 0), whole->rank);
	int64_t start = 0, outer = 1;
	struct strided base;
	if (axis < 0 || !fuse_resolve(p, &n->in[0], whole, &base))
		return false;
	*r = base;
	contiguous(r, whole);
	for (uint32_t d = 0; d < whole->rank; d++) {
		if (base.stride[d] != r->stride[d])
			return false;
		outer *= d < (uint32_t)axis ? whole->dim[d] : 1;
	}
	for (uint32_t i = 0; i < port; i++)
		start += n->out[i].dim[axis];
	r->offset += start * r->stride[axis];
	r->dim[axis] = out->dim[axis];
	if (tensor_same_shape(out, t))
		return true;
	if (outer > 1)
		return false;
	contiguous(r, t);
	return true;
}

bool fuse_resolve(const struct fuse_plan *p, const struct step_arg *a, const struct tensor *t,
		  struct strided *r)
{
	*r = (struct strided){.index = a->index};
	contiguous(r, t);
	switch (a->from) {
	case FROM_INPUT: r->base = BASE_INPUT; return true;
	case FROM_CONST:
		r->base = BASE_CONST;
		r->data = a->tensor->data;
		return true;
	case FROM_NODE:
		if (p->node[a->index].role == ROLE_INSIDE)
			return false;
		if (p->node[a->index].role == ROLE_VIEW)
			return resolve_view(p, p->node[a->index].node, a->port, t, r);
		r->base = BASE_NODE;
		return a->port == 0;
	default: return false;
	}
}

/* ---- nodes ---- */

static bool is_f32(const struct tensor *t)
{
	return t && t->elem == EL_F32 && tensor_elements(t) > 0;
}

/* try_x: f becomes an x; false when the node cannot. */
static bool try_code(struct fuse_node *f, const struct step_node *n)
{
	f->role = ROLE_CODE;
	f->n_data = op_n_data(n->op->kind);
	if (!cpu_kernel_fuses(n->op->kind) || n->n_out != 1 || (uint32_t)f->n_data > n->n_in)
		return false;
	for (int i = 0; i < f->n_data; i++) {
		if (!is_f32(n->in[i].tensor))
			return false;
		f->arg[i] = n->in[i];
	}
	return step_inputs_known(n, f->n_data);
}

static bool try_view(struct fuse_node *f, const struct step_node *n)
{
	f->role = ROLE_VIEW;
	for (uint32_t i = 0; i < n->n_out; i++)
		if (!is_f32(&n->out[i]))
			return false;
	return is_f32(n->in[0].tensor) && n->in[1].from == FROM_CONST && n->in[1].tensor->data;
}

static bool try_head(struct fuse_node *f, const struct step_node *n)
{
	const char *reason;
	f->role = ROLE_HEAD;
	for (uint32_t i = 0; i < n->n_in; i++)
		if (n->in[i].tensor && !tensor_is_static(n->in[i].tensor))
			return false;
	return step_gives_one(n) && cpu_kernel_supports(n->op, &reason) && !op_is_bounded(n->op);
}

static bool classify_node(struct fuse_node *f, const struct step_node *n, bool first)
{
	enum op_kind kind = n->op->kind;
	*f = (struct fuse_node){.node = n, .kind = kind, .out = &n->out[0], .part = -1};
	if (!is_f32(&n->out[0]))
		return false;
	if (op_is_split(kind))
		return try_view(f, n);
	if (first && cpu_kernel_is_head(kind))
		return try_head(f, n);
	return try_code(f, n);
}

/* Outputs of the step; those of splits are copied. */
static bool note_outputs(const struct step_spec *s, struct fuse_plan *p)
{
	for (uint32_t i = 0; i < s->n_out; i++) {
		const struct step_out *o = &s->out[i];
		struct fuse_node *f = &p->node[o->node];
		if (f->role == ROLE_VIEW) {
			const struct tensor *t = &f->node->out[o->port];
			if (p->n == FUSE_ALL)
				return false;
			f = &p->node[p->n++];
			*f = (struct fuse_node){.role = ROLE_CODE,
						.kind = OP_RESULT,
						.n_data = 1,
						.out = t,
						.part = -1,
						.arg = {{FROM_NODE, o->node, o->port, t}}};
		} else if (o->port != 0 || f->leaves || f->role == ROLE_INSIDE) {
			return false;
		}
		f->leaves = true;
		f->out_index = i;
	}
	return true;
}

/* ---- parts ---- */

static int find_part(struct fuse_plan *p, int first, int64_t elements)
{
	for (int i = first; i < p->n_parts; i++)
		if (p->part[i].elements == elements)
			return i;
	if (p->n_parts == FUSE_PARTS)
		return -1;
	p->part[p->n_parts] = (struct fuse_part){.elements = elements};
	return p->n_parts++;
}

/* Does f read `a` in the order of its own elements? */
static bool is_direct(const struct fuse_node *f, const struct step_arg *a)
{
	return tensor_elements(a->tensor) == tensor_elements(f->out);
}

static bool choose_part(struct fuse_plan *p, uint32_t v)
{
	struct fuse_node *f = &p->node[v];
	struct strided r;
	int first = 0;
	for (int i = 0; i < f->n_data; i++) {
		if (!fuse_resolve(p, &f->arg[i], f->arg[i].tensor, &r))
			return false;
		if (r.base != BASE_NODE)
			continue;
		/* Other indices: a split lies between, and f reads a range of the value. */
		bool direct = f->arg[i].index == r.index && is_direct(f, &f->arg[i]);
		int earliest = p->node[r.index].part + !direct;
		first = earliest > first ? earliest : first;
	}
	f->part = find_part(p, first, tensor_elements(f->out));
	for (int i = 0; i < f->n_data && f->part >= 0; i++) {
		fuse_resolve(p, &f->arg[i], f->arg[i].tensor, &r);
		if (r.base != BASE_NODE)
			continue;
		if (p->node[r.index].part == f->part)
			p->node[r.index].last = v;
		else
			p->node[r.index].stored = true;
	}
	return f->part >= 0;
}

/* The nodes that one kernel computes at once. */
static void classify_tokens(struct fuse_plan *p, const struct step_spec *s, uint32_t n)
{
	for (uint32_t v = 0; v < n; v++)
		p->node[v] = (struct fuse_node){.role = v + 1 < n ? ROLE_INSIDE : ROLE_HEAD,
						.node = &s->node[v],
						.kind = s->node[v].op->kind,
						.out = &s->node[v].out[0],
						.part = -1};
	p->head = n - 1;
}

bool fuse_parts(const struct step_spec *s, struct fuse_plan *p)
{
	p->n_parts = 0;
	p->scratch_bytes = 0;
	if (s->n_nodes > FUSE_NODES)
		return false;
	p->n = s->n_nodes;
	p->head = 0;
	uint32_t tokens = fuse_tokens_match(s);
	if (tokens)
		classify_tokens(p, s, tokens);
	for (uint32_t v = tokens; v < s->n_nodes; v++)
		if (!classify_node(&p->node[v], &s->node[v], v == 0))
			return false;
	if (!note_outputs(s, p))
		return false;
	for (uint32_t v = 0; v < p->n; v++) {
		struct fuse_node *f = &p->node[v];
		if (f->role == ROLE_HEAD) {
			f->part = find_part(p, 0, tensor_elements(f->out));
			p->part[0].head = true;
		} else if (f->role == ROLE_CODE && !choose_part(p, v)) {
			return false;
		}
	}
	for (uint32_t v = 0; v < p->n; v++) {
		struct fuse_node *f = &p->node[v];
		if (!f->stored || f->leaves)
			continue;
		f->scratch = p->scratch_bytes;
		p->scratch_bytes += (tensor_bytes(f->out) + 63) & ~(int64_t)63;
	}
	return p->n_parts > 0;
}
