/* rewrite.c - from a plan to a graph of parts, joins and slices. */
#include "split/split_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "split/rewrite_impl.h"

static struct draft_value whole_of(struct rewrite *x, uint32_t o, uint32_t p);
static struct draft_value constant_part(struct rewrite *x, uint32_t o, int axis, int64_t lo,
					int64_t hi);

/* ---- names ---- */

/* What the axes of parts are called: after the product or convolution of the chain, above or below. */
static void name_axes(struct rewrite *x)
{
	const struct graph *g = x->g;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t k = 0; k < g->n; k++) {
			uint32_t v = pass ? g->n - 1 - k : k;
			if (x->plan->axis[v] == SPLIT_WHOLE)
				continue;
			int kind = split_axis_kind(x->f, v, x->plan->axis[v]);
			if (kind >= 0)
				x->axis_name[v] = split_axis_names[kind];
			for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
				uint32_t u = g->in_node[i];
				if (u == GRAPH_NONE || x->plan->axis[u] < 0 || x->f->constant[u])
					continue;
				if (!pass && !x->axis_name[v])
					x->axis_name[v] = x->axis_name[u];
				if (pass && !x->axis_name[u] && x->plan->axis[v] >= 0)
					x->axis_name[u] = x->axis_name[v];
			}
		}
}

/* "conv1 [rows 0..55 of 112]" */
static const char *part_name(struct rewrite *x, uint32_t v, int64_t lo, int64_t hi, int64_t size)
{
	const char *axis = x->axis_name[v] ? x->axis_name[v] : "part";
	return arena_printf(x->a, "%s [%s %" PRId64 "..%" PRId64 " of %" PRId64 "]",
			    x->g->node_name[v], axis, lo, hi - 1, size);
}

/* ---- nodes that are as they were ---- */

static void copy_attrs(struct rewrite *x, uint32_t v, const struct split_part *p)
{
	const struct graph *g = x->g;
	for (uint32_t i = g->attr_ptr[v]; i < g->attr_ptr[v + 1]; i++) {
		const char *value = g->attr_value[i];
		for (int k = 0; p && k < p->n_edits; k++)
			if (strcmp(p->edit[k].key, g->attr_key[i]) == 0)
				value = p->edit[k].value;
		draft_attr(&x->d, g->attr_key[i], value);
	}
	for (int k = 0; p && k < p->n_edits; k++)
		if (!graph_attr(g, v, p->edit[k].key))
			draft_attr(&x->d, p->edit[k].key, p->edit[k].value);
}

static void rewrite_out(struct rewrite *x, uint32_t o, int axis, int64_t lo, int64_t hi,
			const char *names)
{
	const struct graph *g = x->g;
	uint32_t rank = g->out_rank[o] == RANK_DYNAMIC ? 0 : g->out_rank[o];
	int64_t *dim = MEM_NEWN(int64_t, (size_t)rank + 1);
	for (uint32_t i = 0; i < rank; i++)
		dim[i] = (int)i == axis ? hi - lo : g->dim[g->dim_ptr[o] + i];
	draft_out(&x->d, (enum elem)g->out_elem[o], g->out_rank[o], dim, names);
	mem_free(dim);
}

static uint32_t copy_const(struct rewrite *x, uint32_t v)
{
	const struct graph *g = x->g;
	int64_t c = graph_const(g, v);
	struct draft *d = &x->d;
	d->constant =
		mem_grow(d->constant, &d->cap_const, (size_t)d->n_const + 1, sizeof *d->constant);
	d->constant[d->n_const++] =
		(struct draft_const){d->n, g->const_offset[c], g->const_bytes[c]};
	return d->n;
}

/* The shape of something that may be cut, as integers: reading it would join the parts. */
static bool copy_shape(struct rewrite *x, uint32_t v)
{
	struct tensor t;
	if (x->f->op[v].kind != OP_SHAPE_OF || x->g->out_elem[x->g->out_ptr[v]] != EL_I64 ||
	    !split_input(x->f, v, 0, &t))
		return false;
	x->row[v] = draft_ints(&x->d, t.dim, (int)t.rank).node;
	return true;
}

/* n integers, those of `from` but for the one at `at`. */
static uint32_t put_ints(struct rewrite *x, const char *name, int64_t id, struct draft_value from,
			 int64_t n, int at, int64_t value)
{
	struct draft_value in[3];
	int n_in = 0;
	if (at > 0)
		in[n_in++] = join_slice(x, from, 0, 0, at, false);
	in[n_in++] = draft_ints(&x->d, &value, 1);
	if (at + 1 < n)
		in[n_in++] = join_slice(x, from, 0, at + 1, n, false);
	uint32_t v = draft_node(&x->d, name, "Concat", "opset1", id);
	draft_attr(&x->d, "axis", "0");
	for (int i = 0; i < n_in; i++)
		draft_in(&x->d, in[i]);
	draft_out(&x->d, EL_I64, 1, &n, "");
	return v;
}

/* The shape of something that is cut and has open dims: that of a part, with the size of the whole. */
static bool shape_of_part(struct rewrite *x, uint32_t v)
{
	const struct graph *g = x->g;
	struct tensor t;
	if (x->f->op[v].kind != OP_SHAPE_OF || g->out_elem[g->out_ptr[v]] != EL_I64 ||
	    !split_input_open(x->f, v, 0, &t))
		return false;
	uint32_t u = graph_source(g, v, 0), o = graph_slot_output(g, g->in_ptr[v]);
	int axis = x->plan->axis[u];
	if (x->f->constant[u] || axis < 0 || t.dim[axis] < 0)
		return false;
	int64_t rank = t.rank;
	x->d.part = 0;
	uint32_t part = draft_node(&x->d, arena_printf(x->a, "%s/of part 0", g->node_name[v]),
				   g->type[v], g->opset[v], -1);
	copy_attrs(x, v, NULL);
	draft_in(&x->d,
		 (struct draft_value){x->part[(size_t)u * x->plan->ways], o - g->out_ptr[u]});
	draft_out(&x->d, EL_I64, 1, &rank, "");
	x->d.part = GRAPH_NONE;
	x->row[v] = put_ints(x, g->node_name[v], g->id[v], (struct draft_value){part, 0}, rank,
			     axis, t.dim[axis]);
	return true;
}

static uint32_t rewrite_node(struct rewrite *x, uint32_t v)
{
	const struct graph *g = x->g;
	uint32_t reader = x->d.part, home = x->plan->home && x->plan->home[v] != SPLIT_NO_HOME
						    ? x->plan->home[v]
						    : GRAPH_NONE;
	x->d.part = home;
	if ((x->f->constant[v] && copy_shape(x, v)) || shape_of_part(x, v)) {
		x->d.part = reader;
		return x->row[v];
	}
	uint32_t n = g->in_ptr[v + 1] - g->in_ptr[v];
	struct draft_value *in = MEM_NEWN(struct draft_value, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		in[i] = graph_source(g, v, i) == GRAPH_NONE
				? (struct draft_value){GRAPH_NONE, 0}
				: whole_of(x, graph_slot_output(g, g->in_ptr[v] + i), home);
	if (graph_const(g, v) >= 0)
		copy_const(x, v);
	uint32_t at = draft_node(&x->d, g->node_name[v], g->type[v], g->opset[v], g->id[v]);
	copy_attrs(x, v, NULL);
	for (uint32_t i = 0; i < n; i++)
		draft_in(&x->d, in[i]);
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		rewrite_out(x, o, SPLIT_WHOLE, 0, 0, g->out_names[o]);
	mem_free(in);
	x->row[v] = at;
	x->d.part = reader;
	return at;
}

/* Output o as it was, for part p, or for all (GRAPH_NONE); constants are there when somebody reads them. */
static struct draft_value whole_of(struct rewrite *x, uint32_t o, uint32_t p)
{
	uint32_t u = graph_node_of(x->g, o);
	if (!x->f->constant[u])
		return p == GRAPH_NONE ? join_whole(x, o) : join_whole_for(x, o, p);
	return (struct draft_value){x->row[u] == GRAPH_NONE ? rewrite_node(x, u) : x->row[u],
				    o - x->g->out_ptr[u]};
}

/* ---- parts ---- */

/* What part p reads of output o. */
static struct draft_value read_part(struct rewrite *x, uint32_t o, const struct split_need *need,
				    uint32_t p)
{
	const struct graph *g = x->g;
	uint32_t u = graph_node_of(g, o);
	int64_t size = need->axis < 0 ? 0 : g->dim[g->dim_ptr[o] + (uint32_t)need->axis];
	if (!x->f->constant[u])
		return join_read(x, o, need, p,
				 arena_printf(x->a, "%s/for part %u",
					      part_name(x, u, need->lo, need->hi, size), p));
	if (need->axis < 0 || (need->lo == 0 && need->hi == size))
		return whole_of(x, o, GRAPH_NONE);
	return constant_part(x, o, need->axis, need->lo, need->hi);
}

/* Zeros as output o, a constant of part p. */
static struct draft_value zeros_like(struct rewrite *x, uint32_t o, uint32_t p)
{
	struct tensor t;
	tensor_describe(x->g, o, &t);
	const char *key = arena_printf(x->a, "zeros [%s part %u", elem_name(t.elem), p);
	for (uint32_t i = 0; i < t.rank; i++)
		key = arena_printf(x->a, "%s%s%" PRId64, key, i ? "," : " of ", t.dim[i]);
	key = arena_printf(x->a, "%s]", key);
	uint32_t before = x->zeros.n, k = strtab_add(&x->zeros, key);
	if (k < before)
		return (struct draft_value){x->zeros_node[k], 0};
	struct draft_value zero = draft_zero(&x->d, t.elem),
			   shape = draft_ints(&x->d, t.dim, (int)t.rank);
	uint32_t v = draft_node(&x->d, key, "Broadcast", "opset3", -1);
	draft_attr(&x->d, "mode", "numpy");
	draft_in(&x->d, zero);
	draft_in(&x->d, shape);
	draft_out(&x->d, t.elem, (uint8_t)t.rank, t.dim, "");
	x->zeros_node =
		mem_grow(x->zeros_node, &x->cap_zeros, (size_t)k + 1, sizeof *x->zeros_node);
	x->zeros_node[k] = v;
	return (struct draft_value){v, 0};
}

/* Input i of part p of node v, to whose parts' sum it is added: a constant goes into one of them. */
static struct draft_value read_addend(struct rewrite *x, uint32_t v, uint32_t i,
				      const struct split_part *s, uint32_t p)
{
	uint32_t o = graph_slot_output(x->g, x->g->in_ptr[v] + i);
	bool constant = x->f->constant[graph_node_of(x->g, o)];
	if (constant && s->lo == 0)
		return whole_of(x, o, GRAPH_NONE);
	if (!constant)
		x->addend[v] = o;
	return zeros_like(x, o, p);
}

/* The integers of output o but for the one at s->ints_axis, which is what the part has. */
static struct draft_value other_ints(struct rewrite *x, uint32_t o, const struct split_part *s,
				     uint32_t p)
{
	struct draft_value from = whole_of(x, o, p);
	int64_t own = s->hi - s->lo;
	int at = s->ints_axis;
	uint64_t a = output_key(x->d.node[from.node].out + from.port, at), b = range_key(p, own);
	const uint64_t *known = pairmap_get(&x->ints, a, b);
	if (known)
		return (struct draft_value){(uint32_t)*known, 0};
	const char *name = arena_printf(x->a, "%s/%" PRId64 " at %d for part %u",
					x->d.node[from.node].name, own, at, p);
	uint32_t v = put_ints(x, name, -1, from, s->n_ints, at, own);
	pairmap_put(&x->ints, a, b, v);
	return (struct draft_value){v, 0};
}

/* Part p of node v as a node; const_axis of constants, who have no part of their own. */
static uint32_t put_part(struct rewrite *x, uint32_t v, struct split_part *s, const char *name,
			 uint32_t p)
{
	const struct graph *g = x->g;
	uint32_t n = g->in_ptr[v + 1] - g->in_ptr[v];
	struct draft_value *in = MEM_NEWN(struct draft_value, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++) {
		if (graph_source(g, v, i) == GRAPH_NONE)
			in[i] = (struct draft_value){GRAPH_NONE, 0};
		else if (s->need[i].axis == SPLIT_NOTHING)
			continue;
		else if ((int)i == s->addend)
			in[i] = read_addend(x, v, i, s, p);
		else if ((int)i == s->ints_input)
			in[i] = s->ints_axis < 0
					? draft_ints(&x->d, s->ints, s->n_ints)
					: other_ints(x, graph_slot_output(g, g->in_ptr[v] + i), s,
						     p);
		else
			in[i] = read_part(x, graph_slot_output(g, g->in_ptr[v] + i), &s->need[i],
					  p);
	}
	uint32_t at = draft_node(&x->d, name, g->type[v], g->opset[v], -1);
	copy_attrs(x, v, s);
	for (uint32_t i = 0; i < n; i++)
		if (s->need[i].axis != SPLIT_NOTHING)
			draft_in(&x->d, in[i]);
	uint32_t first = g->out_ptr[v], end = g->out_ptr[v + 1];
	bool outputs = s->axis == SPLIT_OUTPUTS;
	for (uint32_t o = first + (outputs ? (uint32_t)s->lo : 0);
	     o < (outputs ? first + (uint32_t)s->hi : end); o++)
		rewrite_out(x, o, s->axis, s->lo, s->hi, outputs ? g->out_names[o] : "");
	mem_free(in);
	return at;
}

static struct split_need *new_needs(struct rewrite *x)
{
	return ARENA_NEWN(x->a, struct split_need, (size_t)x->f->max_in + 1);
}

static void put_parts(struct rewrite *x, uint32_t v)
{
	int axis = x->plan->axis[v];
	struct split_need *need = new_needs(x);
	for (uint32_t p = 0; p < x->plan->ways; p++) {
		const struct split_range *own = &x->own[(size_t)v * x->plan->ways + p];
		struct split_part s = {.axis = axis, .lo = own->lo, .hi = own->hi, .need = need};
		bool can = split_rule(x->f, v, &s);
		(void)can; /* split_ranges has seen to it */
		const char *name = part_name(x, v, own->lo, own->hi, split_extent(x->f, v, axis));
		x->d.part = p;
		x->part[(size_t)v * x->plan->ways + p] = put_part(x, v, &s, name, p);
	}
	x->d.part = GRAPH_NONE;
	x->counts.cut++;
}

/* ---- parts of constants ---- */

/* Bytes of the .bin that lie in a row: nothing but 1s in front of the axis. */
static bool const_bytes(const struct rewrite *x, uint32_t o, int axis, int64_t lo, int64_t hi,
			struct tensor *t, uint64_t *offset, uint64_t *bytes)
{
	int64_t step = 1, c = graph_const(x->g, graph_node_of(x->g, o));
	if (c < 0 || !tensor_describe(x->g, o, t))
		return false;
	for (int i = 0; i < axis; i++)
		if (t->dim[i] != 1)
			return false;
	for (uint32_t i = (uint32_t)axis + 1; i < t->rank; i++)
		step *= t->dim[i];
	int64_t bits = step * (int64_t)elem_bits(t->elem);
	if (bits == 0 || lo * bits % 8 || hi * bits % 8)
		return false;
	*offset = x->g->const_offset[c] + (uint64_t)(lo * bits / 8);
	*bytes = (uint64_t)((hi - lo) * bits / 8);
	t->dim[axis] = hi - lo;
	return *offset + *bytes <= x->g->const_offset[c] + x->g->const_bytes[c];
}

/* Is it cut as what it is computed from?  So that plugins still see what unpacks weights. */
static bool passes_constants(enum op_kind kind)
{
	enum op_category c = op_info(kind)->category;
	return c == OPC_UNARY || c == OPC_BINARY || kind == OP_FAKE_QUANTIZE ||
	       kind == OP_RESHAPE || kind == OP_TRANSPOSE;
}

/* Can range lo .. hi - 1 of constant output o be had?  Of several elements in a byte only as bytes. */
static bool can_cut(struct rewrite *x, uint32_t o, int axis, int64_t lo, int64_t hi)
{
	const struct graph *g = x->g;
	uint32_t u = graph_node_of(g, o);
	uint64_t offset, bytes;
	struct tensor t;
	struct split_part s = {.axis = axis, .lo = lo, .hi = hi, .need = new_needs(x)};
	if (lo == 0 && hi == g->dim[g->dim_ptr[o] + (uint32_t)axis])
		return true;
	if (const_bytes(x, o, axis, lo, hi, &t, &offset, &bytes))
		return true;
	if (!passes_constants(x->f->op[u].kind) || !split_rule(x->f, u, &s))
		return !elem_is_packed((enum elem)g->out_elem[o]);
	for (uint32_t i = 0; i < g->in_ptr[u + 1] - g->in_ptr[u]; i++)
		if (s.need[i].axis >= 0 && graph_source(g, u, i) != GRAPH_NONE &&
		    !can_cut(x, graph_slot_output(g, g->in_ptr[u] + i), s.need[i].axis,
			     s.need[i].lo, s.need[i].hi))
			return false;
	return true;
}

static struct draft_value constant_part(struct rewrite *x, uint32_t o, int axis, int64_t lo,
					int64_t hi)
{
	const struct graph *g = x->g;
	uint32_t u = graph_node_of(g, o);
	uint64_t a = output_key(o, axis), b = range_key(lo, hi), offset, bytes;
	const uint64_t *known = pairmap_get(&x->consts, a, b);
	struct tensor t;
	struct draft_value out;
	if (known)
		return (struct draft_value){(uint32_t)*known, 0};
	struct split_part s = {.axis = axis, .lo = lo, .hi = hi, .need = new_needs(x)};
	const char *name =
		arena_printf(x->a, "%s/%" PRId64 "..%" PRId64 " of %" PRId64, g->node_name[u], lo,
			     hi - 1, g->dim[g->dim_ptr[o] + (uint32_t)axis]);
	if (const_bytes(x, o, axis, lo, hi, &t, &offset, &bytes)) {
		out = draft_const(&x->d, name, &t, offset, bytes);
	} else if (g->out_ptr[u + 1] - g->out_ptr[u] == 1 && passes_constants(x->f->op[u].kind) &&
		   can_cut(x, o, axis, lo, hi) && split_rule(x->f, u, &s)) {
		out = (struct draft_value){put_part(x, u, &s, name, 0), 0};
	} else {
		return join_slice(x, whole_of(x, o, GRAPH_NONE), axis, lo, hi, false);
	}
	pairmap_put(&x->consts, a, b, out.node);
	return out;
}

/* ---- the whole ---- */

/* Which node of the graph before the first cut each node is a part of, and which part. */
static void note_parts(const struct rewrite *x, struct graph *out)
{
	const struct graph *g = x->g;
	out->part_of = arena_raw(out->arena, out->n, sizeof *out->part_of);
	memset(out->part_of, 0xff, out->n * sizeof *out->part_of);
	out->part = arena_raw(out->arena, out->n, sizeof *out->part);
	for (uint32_t v = 0; v < out->n; v++)
		out->part[v] = x->d.node[v].part;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t of = !g->whole ? v : g->part_of[v];
		bool cut = x->plan->axis[v] != SPLIT_WHOLE && !x->f->constant[v];
		for (uint32_t p = 0; p < x->plan->ways && cut; p++)
			out->part_of[x->part[(size_t)v * x->plan->ways + p]] = of;
		if (!cut && g->whole && x->row[v] != GRAPH_NONE) {
			out->part_of[x->row[v]] = of;
			if (out->part[x->row[v]] == GRAPH_NONE && g->part)
				out->part[x->row[v]] = g->part[v];
		}
	}
}

struct graph *split_graph(struct split_facts *f, struct split_plan *plan,
			  struct split_counts *counts)
{
	const struct graph *g = f->g;
	struct arena *a = arena_new();
	uint32_t n_out = g->out_ptr[g->n];
	struct rewrite x = {.f = f, .g = g, .plan = plan, .a = a};
	x.own = ARENA_NEWN(a, struct split_range, (size_t)g->n * plan->ways);
	x.unit = ARENA_NEWN(a, int64_t, g->n);
	x.row = arena_raw(a, g->n, sizeof *x.row);
	x.part = ARENA_NEWN(a, uint32_t, (size_t)g->n * plan->ways);
	x.whole = arena_raw(a, n_out, sizeof *x.whole);
	x.each = arena_raw(a, (size_t)n_out * plan->ways, sizeof *x.each);
	x.axis_name = ARENA_NEWN(a, const char *, g->n);
	x.addend = arena_raw(a, g->n, sizeof *x.addend);
	memset(x.addend, 0xff, g->n * sizeof *x.addend);
	memset(x.row, 0xff, g->n * sizeof *x.row);
	memset(x.whole, 0xff, n_out * sizeof *x.whole);
	memset(x.each, 0xff, (size_t)n_out * plan->ways * sizeof *x.each);
	split_ranges(f, plan, x.unit, x.own);
	name_axes(&x);
	draft_init(&x.d, g);
	for (uint32_t v = 0; v < g->n; v++) {
		if (f->constant[v])
			continue; /* when it is read */
		if (plan->axis[v] != SPLIT_WHOLE)
			put_parts(&x, v);
		else
			rewrite_node(&x, v);
	}
	struct graph *out = draft_finish(&x.d, x.row);
	note_parts(&x, out);
	*counts = x.counts;
	draft_release(&x.d);
	pairmap_release(&x.slices);
	pairmap_release(&x.consts);
	pairmap_release(&x.ints);
	pairmap_release(&x.sums);
	pairmap_release(&x.relays);
	strtab_release(&x.zeros);
	mem_free(x.zeros_node);
	arena_free(a);
	return out;
}
