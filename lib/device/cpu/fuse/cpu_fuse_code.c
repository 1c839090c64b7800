/* cpu_fuse_code.c - the program of each part of a fused step. */
#include "device/cpu/fuse/cpu_fuse_plan.h"

/* A part while its program is written. */
struct writer {
	struct fuse_plan *plan;
	struct fuse_part *part;
	int number;
	uint32_t busy;                  /* bit i: value i is alive */
	struct epi_source at[FUSE_ALL]; /* where the value of each node of the part is */
};

/* The operand for a tensor that begins at `place`; -1: no room. */
static int add_operand(struct writer *w, const struct epi_operand *o, const struct epi_place *pl)
{
	struct epilogue *c = &w->part->code;
	for (int i = 0; i < c->n_operands; i++) {
		const struct epi_operand *q = &c->operand[i];
		const struct epi_place *r = &w->part->place[i];
		if (q->div == o->div && q->mod == o->mod && q->row == o->row && q->col == o->col &&
		    r->base == pl->base && r->index == pl->index && r->bytes == pl->bytes &&
		    r->data == pl->data)
			return i;
	}
	if (c->n_operands == EPI_OPERANDS)
		return -1;
	c->operand[c->n_operands] = *o;
	w->part->place[c->n_operands] = *pl;
	w->part->written_by[c->n_operands] = w->part->last_read[c->n_operands] = -1;
	return c->n_operands++;
}

/* Where the value of node v lies in memory. */
static struct epi_place place_of(const struct fuse_plan *p, uint32_t v)
{
	const struct fuse_node *f = &p->node[v];
	if (f->leaves)
		return (struct epi_place){.base = BASE_OUTPUT, .index = f->out_index};
	return (struct epi_place){.base = BASE_SCRATCH, .bytes = f->scratch};
}

/* An operand with the matrix's own elements, all of them. */
static int full_operand(struct writer *w, uint32_t v)
{
	struct epi_place place = place_of(w->plan, v);
	int64_t cols = w->part->code.cols;
	return add_operand(w, &(struct epi_operand){NULL, 1, w->part->code.rows, cols, 1}, &place);
}

/* Argument i of node f. */
static bool find_source(struct writer *w, const struct fuse_node *f, int i, struct epi_source *s)
{
	const struct step_arg *a = &f->arg[i];
	const struct op *op = f->node ? f->node->op : NULL;
	struct tensor t = *a->tensor;
	struct strided r;
	if (op && !op_align(op, f->arg[0].tensor, i, a->tensor, &t))
		return false;
	if (!fuse_resolve(w->plan, a, &t, &r))
		return false;
	if (r.base == BASE_NODE && w->plan->node[r.index].part == w->number) {
		*s = w->at[r.index];
		return true;
	}
	struct epi_operand o = {.data = NULL};
	if (!cpu_address(f->out, &r, w->part->code.cols, &o))
		return false;
	struct epi_place place = {.base = r.base, .index = r.index, .data = r.data};
	if (r.base == BASE_NODE)
		place = place_of(w->plan, r.index);
	else if (r.base == BASE_CONST)
		place.index = 0;
	place.bytes += r.offset * (int64_t)sizeof(float);
	int k = add_operand(w, &o, &place);
	*s = (struct epi_source){true, (uint8_t)k};
	return k >= 0;
}

/* Values that node v is the last to read. */
static void release(struct writer *w, uint32_t v)
{
	for (uint32_t u = 0; u < w->plan->n; u++) {
		const struct fuse_node *f = &w->plan->node[u];
		if (f->part == w->number && u < v && f->last == v && !w->at[u].operand)
			w->busy &= ~(1u << w->at[u].index);
	}
}

static bool find_target(struct writer *w, uint32_t v, struct epi_source *to)
{
	const struct fuse_node *f = &w->plan->node[v];
	if (w->part->head && w->part->result == v) {
		*to = (struct epi_source){false, 0};
		return true;
	}
	if (f->leaves || f->stored) {
		int k = full_operand(w, v);
		*to = (struct epi_source){true, (uint8_t)k};
		return k >= 0;
	}
	for (uint8_t i = w->part->head; i < EPI_VALUES; i++)
		if (!(w->busy >> i & 1)) {
			w->busy |= 1u << i;
			*to = (struct epi_source){false, i};
			return true;
		}
	return false;
}

static bool append_code(struct writer *w, const struct epi_code *k)
{
	struct epilogue *c = &w->part->code;
	if (c->n_code == EPI_CODE)
		return false;
	for (int i = 0; i < k->n_sources; i++)
		if (k->source[i].operand)
			w->part->last_read[k->source[i].index] = c->n_code;
	if (k->to.operand)
		w->part->written_by[k->to.index] = c->n_code;
	c->code[c->n_code++] = *k;
	return true;
}

static bool write_node(struct writer *w, uint32_t v)
{
	const struct fuse_node *f = &w->plan->node[v];
	struct epi_code k = {.kind = f->kind, .n_sources = (uint8_t)f->n_data};
	for (int i = 0; i < f->n_data; i++)
		if (!find_source(w, f, i, &k.source[i]))
			return false;
	if (f->kind == OP_FAKE_QUANTIZE)
		k.levels = f->node->op->a.quantize.levels;
	else if (f->node && f->n_data == 1) {
		struct tensor in[EPI_SOURCES] = {{0}};
		for (uint32_t i = 0; i < f->node->n_in && i < EPI_SOURCES; i++)
			if (f->node->in[i].tensor)
				in[i] = *f->node->in[i].tensor;
		k.args = cpu_unary_args(f->node->op, in, w->plan->ctx);
	}
	release(w, v);
	if (!find_target(w, v, &k.to))
		return false;
	w->at[v] = k.to;
	return append_code(w, &k);
}

/* The kernel's output is value 0; it is copied when it is needed besides what becomes of it. */
static bool write_head(struct writer *w, uint32_t v)
{
	const struct fuse_node *f = &w->plan->node[v];
	struct epi_code k = {.kind = OP_RESULT, .n_sources = 1};
	w->at[v] = (struct epi_source){false, 0};
	w->busy = 1;
	if (w->part->result == v || !(f->leaves || f->stored))
		return true;
	return find_target(w, v, &k.to) && append_code(w, &k);
}

static bool write_part(struct fuse_plan *p, int number, int64_t cols)
{
	struct fuse_part *part = &p->part[number];
	struct writer w = {.plan = p, .part = part, .number = number};
	part->code.n_code = part->code.n_operands = 0;
	part->code.cols = cols;
	part->code.rows = part->elements / cols;
	for (uint32_t v = 0; v < p->n; v++) {
		const struct fuse_node *f = &p->node[v];
		if (f->part != number)
			continue;
		if (!(f->role == ROLE_HEAD ? write_head(&w, v) : write_node(&w, v)))
			return false;
	}
	return true;
}

/* Columns that the kernels promise in epilogue.h; 0: any. */
static int64_t head_cols(const struct fuse_node *f)
{
	int64_t cols = 1;
	switch (op_info(f->kind)->category) {
	/* clang-format off */
	case OPC_CONV: case OPC_POOL:
		for (uint32_t d = 2; d < f->out->rank; d++)
			cols *= f->out->dim[d];
		/* clang-format on */
		return cols == 1 ? f->out->dim[1] : cols;
	case OPC_MATMUL: return f->node->in[1].tensor->rank < 2 ? 1 : f->out->dim[f->out->rank - 1];
	default: /* any */ return 0;
	}
}

/* The longest rows for which all operands fit. */
static bool write_any(struct fuse_plan *p, int number)
{
	for (uint32_t v = 0; v < p->n; v++) {
		const struct tensor *t = p->node[v].out;
		if (p->node[v].part != number)
			continue;
		int64_t cols = p->part[number].elements;
		for (uint32_t d = 0; d <= t->rank; cols /= d < t->rank ? t->dim[d] : 1, d++)
			if ((d == 0 || t->dim[d - 1] > 1) && write_part(p, number, cols))
				return true;
	}
	return false;
}

bool fuse_code(struct fuse_plan *p, const struct cpu_ctx *ctx)
{
	p->ctx = ctx;
	for (int i = 0; i < p->n_parts; i++) {
		struct fuse_part *part = &p->part[i];
		int64_t cols = 0;
		part->result = GRAPH_NONE;
		for (uint32_t v = 0; v < p->n; v++)
			if (p->node[v].part == i && (p->node[v].leaves || p->node[v].stored))
				part->result = v;
		if (part->result == GRAPH_NONE)
			return false;
		if (part->head)
			cols = head_cols(&p->node[p->head]);
		if (!(cols ? write_part(p, i, cols) : write_any(p, i)))
			return false;
	}
	return true;
}
