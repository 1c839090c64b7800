/* draft.c - columns that grow, and in the end a graph of them. */
#include "split/draft.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/weights.h"

void draft_init(struct draft *d, const struct graph *g)
{
	*d = (struct draft){.from = g, .arena = arena_new(), .part = GRAPH_NONE};
	for (uint32_t v = 0; v < g->n; v++) {
		strtab_add(&d->type, g->type[v]);
		strtab_add(&d->opset, g->opset[v]);
		d->next_id = g->id[v] >= d->next_id ? g->id[v] + 1 : d->next_id;
	}
	/* The tail stays where it is, and grows. */
	uint64_t end = weights_size(g);
	end = end > g->weights_bytes ? end : g->weights_bytes;
	d->tail_at = g->tail_bytes
			     ? g->tail_at
			     : (end + GRAPH_TAIL_ALIGN - 1) / GRAPH_TAIL_ALIGN * GRAPH_TAIL_ALIGN;
	d->tail = mem_grow(d->tail, &d->cap_tail, g->tail_bytes + 1, 1);
	if (g->tail_bytes)
		memcpy(d->tail, g->tail, g->tail_bytes);
	d->tail_bytes = g->tail_bytes;
}

void draft_release(struct draft *d)
{
	strtab_release(&d->type);
	strtab_release(&d->opset);
	strtab_release(&d->ints);
	mem_free(d->ints_node);
	mem_free(d->node);
	mem_free(d->key);
	mem_free(d->value);
	mem_free(d->in);
	mem_free(d->out);
	mem_free(d->dim);
	mem_free(d->constant);
	mem_free(d->tail);
	if (d->arena)
		arena_free(d->arena);
	*d = (struct draft){0};
}

static const char *one_text(struct draft *d, struct strtab *t, const char *s)
{
	uint32_t i = strtab_find(t, s);
	if (i == UINT32_MAX)
		i = strtab_add(t, arena_printf(d->arena, "%s", s));
	return t->s[i];
}

uint32_t draft_node(struct draft *d, const char *name, const char *type, const char *opset,
		    int64_t id)
{
	d->node = mem_grow(d->node, &d->cap_node, (size_t)d->n + 1, sizeof *d->node);
	d->node[d->n] = (struct draft_node){.id = id < 0 ? d->next_id++ : id,
					    .name = arena_printf(d->arena, "%s", name),
					    .type = one_text(d, &d->type, type),
					    .opset = one_text(d, &d->opset, opset),
					    .attr = d->n_attr,
					    .in = d->n_in,
					    .out = d->n_out,
					    .part = d->part};
	return d->n++;
}

void draft_attr(struct draft *d, const char *key, const char *value)
{
	size_t cap = d->cap_attr;
	d->key = mem_grow(d->key, &cap, (size_t)d->n_attr + 1, sizeof *d->key);
	d->value = mem_grow(d->value, &d->cap_attr, (size_t)d->n_attr + 1, sizeof *d->value);
	d->key[d->n_attr] = arena_printf(d->arena, "%s", key);
	d->value[d->n_attr++] = arena_printf(d->arena, "%s", value);
}

void draft_in(struct draft *d, struct draft_value v)
{
	d->in = mem_grow(d->in, &d->cap_in, (size_t)d->n_in + 1, sizeof *d->in);
	d->in[d->n_in++] = v;
}

void draft_out(struct draft *d, enum elem elem, uint8_t rank, const int64_t *dim, const char *names)
{
	uint32_t n = rank == RANK_DYNAMIC ? 0 : rank;
	d->out = mem_grow(d->out, &d->cap_out, (size_t)d->n_out + 1, sizeof *d->out);
	d->dim = mem_grow(d->dim, &d->cap_dim, (size_t)d->n_dim + n + 1, sizeof *d->dim);
	d->out[d->n_out++] =
		(struct draft_out){elem, rank, d->n_dim, arena_printf(d->arena, "%s", names)};
	for (uint32_t i = 0; i < n; i++)
		d->dim[d->n_dim++] = dim[i];
}

static void add_const(struct draft *d, uint32_t node, uint64_t offset, uint64_t bytes)
{
	d->constant =
		mem_grow(d->constant, &d->cap_const, (size_t)d->n_const + 1, sizeof *d->constant);
	d->constant[d->n_const++] = (struct draft_const){node, offset, bytes};
}

struct draft_value draft_const(struct draft *d, const char *name, const struct tensor *t,
			       uint64_t offset, uint64_t bytes)
{
	char text[16 * TENSOR_DIMS + 24] = "", size[32];
	size_t at = 0;
	for (uint32_t i = 0; i < t->rank; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRId64, i ? "," : "",
				       t->dim[i]);
	snprintf(size, sizeof size, "%" PRIu64, bytes);
	uint32_t v = draft_node(d, name, "Const", "opset1", -1);
	draft_attr(d, "element_type", elem_name(t->elem));
	draft_attr(d, "shape", text);
	draft_attr(d, "size", size);
	draft_out(d, t->elem, (uint8_t)t->rank, t->dim, "");
	add_const(d, v, offset, bytes);
	return (struct draft_value){v, 0};
}

/* Bytes of a constant behind the others; where they are. */
static uint64_t add_tail(struct draft *d, const void *bytes, size_t n)
{
	d->tail = mem_grow(d->tail, &d->cap_tail, d->tail_bytes + 64 + n, 1);
	memset(d->tail + d->tail_bytes, 0, -d->tail_bytes % 64);
	d->tail_bytes += -d->tail_bytes % 64;
	memcpy(d->tail + d->tail_bytes, bytes, n);
	d->tail_bytes += n;
	return d->tail_at + d->tail_bytes - n;
}

struct draft_value draft_zero(struct draft *d, enum elem elem)
{
	struct tensor t = {.elem = elem};
	size_t bytes = (elem_bits(elem) + 7) / 8;
	return draft_const(d, "0", &t, add_tail(d, &(uint64_t){0}, bytes), bytes);
}

struct draft_value draft_ints(struct draft *d, const int64_t *v, int n)
{
	char text[24 * TENSOR_DIMS] = "";
	size_t at = 0, count = n < 0 ? 1 : (size_t)n, bytes = count * sizeof *v;
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRId64, i ? "," : "",
				       v[i]);
	const char *key = arena_printf(d->arena, "%s%s", n < 0 ? "scalar " : "", text);
	uint32_t before = d->ints.n, k = strtab_add(&d->ints, key);
	if (k < before)
		return (struct draft_value){d->ints_node[k], 0};
	struct tensor t = {.elem = EL_I64, .rank = n < 0 ? 0 : 1, .dim = {n}};
	struct draft_value out = draft_const(d, key, &t, add_tail(d, v, bytes), bytes);
	d->ints_node = mem_grow(d->ints_node, &d->cap_ints, (size_t)k + 1, sizeof *d->ints_node);
	d->ints_node[k] = out.node;
	return out;
}

bool draft_describe(const struct draft *d, struct draft_value v, struct tensor *t)
{
	const struct draft_out *o = &d->out[d->node[v.node].out + v.port];
	*t = (struct tensor){.elem = o->elem, .rank = o->rank};
	if (o->rank > TENSOR_DIMS)
		return false;
	for (uint32_t i = 0; i < o->rank; i++)
		t->dim[i] = d->dim[o->dim + i];
	return tensor_is_static(t);
}

/* ---- the graph ---- */

static void finish_nodes(const struct draft *d, struct graph *g)
{
	struct arena *a = g->arena;
	uint32_t n = d->n;
	g->n = n;
	g->id = arena_raw(a, n, sizeof *g->id);
	g->node_name = arena_raw(a, n, sizeof *g->node_name);
	g->type = arena_raw(a, n, sizeof *g->type);
	g->opset = arena_raw(a, n, sizeof *g->opset);
	g->attr_ptr = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	g->in_ptr = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	g->out_ptr = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	for (uint32_t v = 0; v < n; v++) {
		const struct draft_node *x = &d->node[v];
		bool last = v + 1 == n;
		g->id[v] = x->id;
		g->node_name[v] = x->name;
		g->type[v] = x->type;
		g->opset[v] = x->opset;
		g->attr_ptr[v + 1] = last ? d->n_attr : x[1].attr;
		g->in_ptr[v + 1] = last ? d->n_in : x[1].in;
		g->out_ptr[v + 1] = last ? d->n_out : x[1].out;
	}
	g->attr_key = arena_raw(a, d->n_attr, sizeof *g->attr_key);
	g->attr_value = arena_raw(a, d->n_attr, sizeof *g->attr_value);
	for (uint32_t i = 0; i < d->n_attr; i++) {
		g->attr_key[i] = d->key[i];
		g->attr_value[i] = d->value[i];
	}
	g->in_node = arena_raw(a, d->n_in, sizeof *g->in_node);
	g->in_port = arena_raw(a, d->n_in, sizeof *g->in_port);
	for (uint32_t i = 0; i < d->n_in; i++) {
		g->in_node[i] = d->in[i].node;
		g->in_port[i] = d->in[i].port;
	}
}

static void finish_outputs(const struct draft *d, struct graph *g)
{
	struct arena *a = g->arena;
	g->out_elem = arena_raw(a, d->n_out, sizeof *g->out_elem);
	g->out_rank = arena_raw(a, d->n_out, sizeof *g->out_rank);
	g->out_names = arena_raw(a, d->n_out, sizeof *g->out_names);
	g->dim_ptr = ARENA_NEWN(a, uint32_t, (size_t)d->n_out + 1);
	g->dim = arena_raw(a, d->n_dim, sizeof *g->dim);
	for (uint32_t o = 0; o < d->n_out; o++) {
		g->out_elem[o] = (uint8_t)d->out[o].elem;
		g->out_rank[o] = d->out[o].rank;
		g->out_names[o] = d->out[o].names;
		g->dim_ptr[o + 1] = o + 1 == d->n_out ? d->n_dim : d->out[o + 1].dim;
	}
	for (uint32_t i = 0; i < d->n_dim; i++)
		g->dim[i] = d->dim[i];
	g->n_const = d->n_const;
	g->const_node = arena_raw(a, d->n_const, sizeof *g->const_node);
	g->const_offset = arena_raw(a, d->n_const, sizeof *g->const_offset);
	g->const_bytes = arena_raw(a, d->n_const, sizeof *g->const_bytes);
	for (uint32_t c = 0; c < d->n_const; c++) {
		g->const_node[c] = d->constant[c].node;
		g->const_offset[c] = d->constant[c].offset;
		g->const_bytes[c] = d->constant[c].bytes;
	}
	uint8_t *tail = arena_raw(a, d->tail_bytes, 1);
	if (d->tail_bytes)
		memcpy(tail, d->tail, d->tail_bytes);
	g->tail = tail;
	g->tail_at = d->tail_bytes ? d->tail_at : 0;
	g->tail_bytes = d->tail_bytes;
}

struct graph *draft_finish(struct draft *d, const uint32_t *row)
{
	const struct graph *from = d->from;
	struct arena *a = d->arena;
	struct graph *g = ARENA_NEWN(a, struct graph, 1);
	*g = (struct graph){.name = from->name,
			    .xml = from->xml,
			    .weights = from->weights,
			    .weights_bytes = from->weights_bytes,
			    .ir_version = from->ir_version,
			    .arena = a};
	finish_nodes(d, g);
	finish_outputs(d, g);
	g->n_bodies = from->n_bodies;
	g->body = ARENA_NEWN(a, struct graph_body, from->n_bodies);
	for (uint32_t b = 0; b < from->n_bodies; b++) {
		g->body[b] = from->body[b];
		g->body[b].node = row[from->body[b].node];
	}
	g->set = arena_raw(a, g->n, sizeof *g->set);
	d->arena = NULL;
	graph_finish(g);
	return g;
}
