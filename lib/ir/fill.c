/* fill.c - which constants are absent, and their bytes. */
#include "ir/fill.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INDICES = 1 << 20 };

/* A constant; several may share one place in the file. */
struct item {
	const struct graph *g;
	uint32_t c; /* index into g->const_* */
	const struct role *role;
	uint64_t offset, bytes;
	size_t number; /* in document order */
};

struct filling {
	struct arena *arena;
	struct item *item;
	size_t n, cap;
	uint64_t seed, partial_bytes;
	uint8_t *out;
	struct fill_report *rep;
	uint32_t n_missing;
	char first_missing[400];
};

static bool all_zero(const uint8_t *p, uint64_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static enum elem item_elem(const struct item *it)
{
	return it->g->out_elem[it->g->out_ptr[it->g->const_node[it->c]]];
}

static uint64_t item_elements(const struct item *it)
{
	int64_t n = graph_out_elements(it->g, it->g->out_ptr[it->g->const_node[it->c]]);
	return n < 0 ? 0 : (uint64_t)n;
}

static bool is_absent(const struct filling *f, const struct item *it)
{
	if (it->offset + it->bytes > f->partial_bytes)
		return true;
	return elem_is_real(item_elem(it)) && item_elements(it) >= FILL_ZEROS &&
	       all_zero(f->out + it->offset, it->bytes);
}

/* Integers that can only be weights: nothing but a product takes them. */
static bool is_quantised(enum elem t)
{
	return elem_half_range(t) > 0;
}

static bool fill_constant(const struct filling *f, const struct item *it)
{
	const struct role *r = it->role;
	enum elem t = item_elem(it);
	uint64_t n = item_elements(it);
	uint8_t *out = f->out + it->offset;
	double half;
	switch (r->kind) {
	case ROLE_INDEX: return false;
	case ROLE_ZERO_POINT:
		half = r->elem == EL_U8 || r->elem == EL_U4 || r->elem == EL_U2
			       ? elem_half_range(r->elem) + 0.5
			       : 0;
		fill_store(t, &half, false, n, out);
		return t != EL_STRING;
	case ROLE_NONE:
		if (!elem_is_real(t))
			return false;
		fill_uniform(t, -0.1, 0.1, false, f->seed, it->offset, n, out);
		return true;
	default:
		if (t == EL_STRING || (!elem_is_real(t) && !is_quantised(t)))
			return false;
		fill_uniform(t, r->lo, r->hi, is_quantised(t), f->seed, it->offset, n, out);
		return true;
	}
}

/* What one more operator wants of a shared constant: the same; or, of a Reshape's shape,
 * one size that differs, which becomes -1. */
static bool agree(enum op_kind kind, double *value, const double *other, uint64_t n)
{
	uint32_t differ = 0;
	for (uint64_t i = 0; i < n; i++)
		if (value[i] != other[i]) {
			value[i] = -1;
			differ++;
		}
	for (uint64_t i = 0, k = 0; differ && i < n; i++)
		if (value[i] == -1 && ++k > 1)
			return false;
	return differ == 0 || kind == OP_RESHAPE;
}

/* The n values that all operators which use these constants agree on. */
static bool infer(const struct item *it, size_t n_items, uint64_t n, double *value, double *other)
{
	bool known = false;
	for (size_t i = 0; i < n_items; i++) {
		const struct graph *g = it[i].g;
		const struct consumers *readers = &g->consumers;
		uint32_t v = g->const_node[it[i].c];
		for (uint32_t k = readers->ptr[v]; k < readers->ptr[v + 1]; k++) {
			struct role r = {.kind = ROLE_INDEX, .node = readers->dst[k]};
			r.input = readers->slot[k] - g->in_ptr[r.node];
			if (!fill_is_index(g->kind[r.node], r.input))
				r = *it[i].role;
			if (r.kind != ROLE_INDEX)
				continue;
			if (!fill_index(g, &r, n, known ? other : value) ||
			    (known && !agree(g->kind[r.node], value, other, n)))
				return false;
			known = true;
		}
	}
	return known;
}

static bool fill_inferred(const struct filling *f, const struct item *it, size_t n_items)
{
	uint64_t n = item_elements(it);
	enum elem t = item_elem(it);
	if (t == EL_STRING || n > MOST_INDICES)
		return false;
	double *value = MEM_NEWN(double, n), *other = MEM_NEWN(double, n);
	bool known = infer(it, n_items, n, value, other);
	if (known)
		fill_store(t, value, true, n, f->out + it->offset);
	mem_free(value);
	mem_free(other);
	return known;
}

/* Remember a constant that cannot be inferred. */
static void miss(struct filling *f, const struct item *it)
{
	const struct graph *g = it->g;
	const struct role *r = it->role;
	uint32_t v = g->const_node[it->c];
	char name[120], user[120], use[160] = "its use says nothing about it";
	if (f->n_missing++)
		return;
	err_escape(name, sizeof name, g->node_name[v], strlen(g->node_name[v]));
	if (r->kind == ROLE_INDEX)
		snprintf(use, sizeof use, "input %u of %s '%s'", r->input, g->type[r->node],
			 err_escape(user, sizeof user, g->node_name[r->node],
				    strlen(g->node_name[r->node])));
	snprintf(f->first_missing, sizeof f->first_missing,
		 "layer %" PRId64 " '%s': %s constant of %" PRIu64 " bytes cannot be inferred (%s)",
		 g->id[v], name, elem_name(item_elem(it)), it->bytes, use);
}

/* All constants of g and its bodies with their roles. */
static void collect(struct filling *f, const struct graph *g, bool in_body)
{
	const struct role *role = fill_roles(g, in_body, f->arena);
	for (uint32_t c = 0; c < g->n_const; c++) {
		f->item = mem_grow(f->item, &f->cap, f->n + 1, sizeof *f->item);
		f->item[f->n] = (struct item){
			g, c, &role[g->const_node[c]], g->const_offset[c], g->const_bytes[c], f->n};
		f->n++;
	}
	for (uint32_t b = 0; b < g->n_bodies; b++)
		collect(f, g->body[b].graph, true);
}

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Constants of one place: the first whose role tells the value decides. */
static void fill_place(struct filling *f, const struct item *it, size_t n)
{
	if (it->bytes == 0 || !is_absent(f, it))
		return;
	f->rep->n_filled += (uint32_t)n;
	f->rep->filled_bytes += it->bytes;
	if (it->role->kind == ROLE_INDEX && fill_inferred(f, it, n))
		return;
	for (int weak = 0; weak < 2; weak++)
		for (size_t i = 0; i < n; i++)
			if ((it[i].role->kind == ROLE_NONE) == weak && fill_constant(f, &it[i]))
				return;
	miss(f, it);
}

int fill_weights(const struct graph *g, uint64_t seed, uint64_t partial_bytes, uint8_t *out,
		 struct fill_report *rep, struct err *e)
{
	struct filling f = {.seed = seed, .partial_bytes = partial_bytes, .out = out, .rep = rep};
	f.arena = arena_new();
	collect(&f, g, false);
	if (f.n)
		qsort(f.item, f.n, sizeof *f.item, by_place);
	*rep = (struct fill_report){.n_constants = (uint32_t)f.n};
	for (size_t i = 0, k; i < f.n; i = k) {
		for (k = i + 1; k < f.n && f.item[k].offset == f.item[i].offset &&
				f.item[k].bytes == f.item[i].bytes;
		     k++)
			;
		fill_place(&f, f.item + i, k - i);
	}
	mem_free(f.item);
	arena_free(f.arena);
	if (f.n_missing > 1)
		return err_set(e, ST_INPUT, "%s; and %u more; irfill --partial FILE gives them",
			       f.first_missing, f.n_missing - 1);
	return f.n_missing
		       ? err_set(e, ST_INPUT, "%s; irfill --partial FILE gives it", f.first_missing)
		       : 0;
}
