/* rewrite.c - from a plan to a graph of parts, joins and slices. */
#include "split/split_graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "split/draft.h"
#include "split/ranges.h"

struct rewrite {
	struct split_facts *f;
	const struct graph *g;
	const struct split_plan *plan;
	struct split_range *own; /* (n * ways) */
	int64_t *unit;           /* (n) */
	struct draft d;
	uint32_t *row;             /* (n) of whole nodes in the draft; GRAPH_NONE: not there yet */
	uint32_t *part;            /* (n * ways) of parts */
	struct draft_value *whole; /* (outputs) joined; node GRAPH_NONE: not yet */
	struct pairmap slices;     /* draft output and axis, range -> node of the Slice */
	struct pairmap consts;     /* output and axis, range -> node of that part of a constant */
	const char **axis_name;    /* (n) how the axis of a cut node is called */
	struct split_counts counts;
	struct arena *a;
};

static struct draft_value whole_of(struct rewrite *x, uint32_t o);
static struct draft_value constant_part(struct rewrite *x, uint32_t o, int axis, int64_t lo,
					int64_t hi);

static uint64_t range_key(int64_t lo, int64_t hi)
{
	return (uint64_t)lo << 32 | (uint64_t)hi;
}

static uint64_t output_key(uint64_t o, int axis)
{
	return o * 16 + (uint64_t)axis;
}

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

/* Output o of the old graph, with range lo .. hi - 1 of `axis`. */
static void copy_out(struct rewrite *x, uint32_t o, int axis, int64_t lo, int64_t hi,
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

static uint32_t copy_node(struct rewrite *x, uint32_t v)
{
	const struct graph *g = x->g;
	if (x->f->constant[v] && copy_shape(x, v))
		return x->row[v];
	uint32_t n = g->in_ptr[v + 1] - g->in_ptr[v];
	struct draft_value *in = MEM_NEWN(struct draft_value, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++)
		in[i] = graph_source(g, v, i) == GRAPH_NONE
				? (struct draft_value){GRAPH_NONE, 0}
				: whole_of(x, graph_slot_output(g, g->in_ptr[v] + i));
	if (graph_const(g, v) >= 0)
		copy_const(x, v);
	uint32_t at = draft_node(&x->d, g->node_name[v], g->type[v], g->opset[v], g->id[v]);
	copy_attrs(x, v, NULL);
	for (uint32_t i = 0; i < n; i++)
		draft_in(&x->d, in[i]);
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		copy_out(x, o, SPLIT_WHOLE, 0, 0, g->out_names[o]);
	mem_free(in);
	x->row[v] = at;
	return at;
}

/* ---- slices and joins ---- */

/* lo .. hi - 1 of `axis` of a value. */
static struct draft_value slice(struct rewrite *x, struct draft_value from, int axis, int64_t lo,
				int64_t hi, bool counts)
{
	struct draft *d = &x->d;
	struct tensor t;
	uint64_t a = output_key(d->node[from.node].out + from.port, axis), b = range_key(lo, hi);
	const uint64_t *known = pairmap_get(&x->slices, a, b);
	if (known)
		return (struct draft_value){(uint32_t)*known, 0};
	draft_describe(d, from, &t);
	const char *name = arena_printf(x->a, "%s/%" PRId64 "..%" PRId64 " of %" PRId64,
					d->node[from.node].name, lo, hi - 1, t.dim[axis]);
	struct draft_value start = draft_ints(d, &lo, 1), stop = draft_ints(d, &hi, 1),
			   step = draft_ints(d, &(int64_t){1}, 1),
			   axes = draft_ints(d, &(int64_t){axis}, 1);
	struct draft_value in[] = {from, start, stop, step, axes};
	uint32_t v = draft_node(d, name, "Slice", "opset8", -1);
	for (int i = 0; i < 5; i++)
		draft_in(d, in[i]);
	t.dim[axis] = hi - lo;
	draft_out(d, t.elem, (uint8_t)t.rank, t.dim, "");
	pairmap_put(&x->slices, a, b, v);
	x->counts.slices += counts;
	return (struct draft_value){v, 0};
}

/* lo .. hi - 1 of what part q of output o has. */
static struct draft_value from_part(struct rewrite *x, uint32_t o, uint32_t q, int64_t lo,
				    int64_t hi)
{
	uint32_t u = graph_node_of(x->g, o);
	const struct split_range *own = &x->own[(size_t)u * x->plan->ways + q];
	struct draft_value v = {x->part[(size_t)u * x->plan->ways + q], o - x->g->out_ptr[u]};
	if (own->lo == lo && own->hi == hi)
		return v;
	return slice(x, v, x->plan->axis[u], lo - own->lo, hi - own->lo, true);
}

/* The part that has element `at`; part p if it does.  *end: how far, at most to hi. */
static uint32_t part_with(const struct rewrite *x, uint32_t u, uint32_t p, int64_t at, int64_t hi,
			  int64_t *end)
{
	const struct split_range *own = &x->own[(size_t)u * x->plan->ways];
	uint32_t found = UINT32_MAX;
	*end = hi;
	if (p < x->plan->ways && own[p].lo <= at && at < own[p].hi) {
		*end = own[p].hi < hi ? own[p].hi : hi;
		return p;
	}
	for (uint32_t q = 0; q < x->plan->ways; q++)
		if (own[q].lo <= at && at < own[q].hi &&
		    (found == UINT32_MAX || own[q].hi > own[found].hi))
			found = q;
	if (found == UINT32_MAX)
		return found;
	*end = own[found].hi < *end ? own[found].hi : *end;
	if (p < x->plan->ways && own[p].lo > at && own[p].lo < *end)
		*end = own[p].lo; /* its own it takes from itself */
	return found;
}

/* Join values along an axis. */
static struct draft_value concat(struct rewrite *x, const char *name, const char *names,
				 const struct draft_value *in, uint32_t n, int axis)
{
	struct draft *d = &x->d;
	struct tensor t, one;
	char text[16];
	draft_describe(d, in[0], &t);
	for (uint32_t i = 1; i < n; i++) {
		draft_describe(d, in[i], &one);
		t.dim[axis] += one.dim[axis];
	}
	uint32_t v = draft_node(d, name, "Concat", "opset1", -1);
	snprintf(text, sizeof text, "%d", axis);
	draft_attr(d, "axis", text);
	for (uint32_t i = 0; i < n; i++)
		draft_in(d, in[i]);
	draft_out(d, t.elem, (uint8_t)t.rank, t.dim, names);
	x->counts.joins++;
	return (struct draft_value){v, 0};
}

/* lo .. hi - 1 of the axis along which output o is cut, for part p (ways: for all); name: of a join. */
static struct draft_value gather(struct rewrite *x, uint32_t o, uint32_t p, int64_t lo, int64_t hi,
				 const char *name, const char *names)
{
	uint32_t u = graph_node_of(x->g, o), n = 0;
	struct draft_value in[2 * SPLIT_MAX_WAYS + 2];
	for (int64_t at = lo, end; at < hi; at = end) {
		uint32_t q = part_with(x, u, p, at, hi, &end);
		in[n++] = from_part(x, o, q, at, end);
	}
	return n == 1 && !names ? in[0]
				: concat(x, name, names ? names : "", in, n, x->plan->axis[u]);
}

static struct draft_value sum(struct rewrite *x, uint32_t o)
{
	struct draft *d = &x->d;
	uint32_t u = graph_node_of(x->g, o);
	const uint32_t *part = &x->part[(size_t)u * x->plan->ways];
	struct draft_value v = {part[0], 0};
	for (uint32_t p = 1; p < x->plan->ways; p++) {
		bool last = p + 1 == x->plan->ways;
		const char *name =
			last ? x->g->node_name[u]
			     : arena_printf(x->a, "%s [sum of %u]", x->g->node_name[u], p + 1);
		uint32_t at = draft_node(d, name, "Add", "opset1", -1);
		draft_attr(d, "auto_broadcast", "numpy");
		draft_in(d, v);
		draft_in(d, (struct draft_value){part[p], 0});
		copy_out(x, o, SPLIT_WHOLE, 0, 0, last ? x->g->out_names[o] : "");
		v = (struct draft_value){at, 0};
		x->counts.joins++;
	}
	return v;
}

/* Output o as it was. */
static struct draft_value whole_of(struct rewrite *x, uint32_t o)
{
	const struct graph *g = x->g;
	uint32_t u = graph_node_of(g, o), port = o - g->out_ptr[u];
	if (x->f->constant[u] || x->plan->axis[u] == SPLIT_WHOLE)
		return (struct draft_value){x->row[u] == GRAPH_NONE ? copy_node(x, u) : x->row[u],
					    port};
	if (x->whole[o].node != GRAPH_NONE)
		return x->whole[o];
	const char *name =
		port ? arena_printf(x->a, "%s.%u", g->node_name[u], port) : g->node_name[u];
	if (x->plan->axis[u] == SPLIT_SUM)
		x->whole[o] = sum(x, o);
	else
		x->whole[o] =
			gather(x, o, x->plan->ways, 0, split_extent(x->f, u, x->plan->axis[u]),
			       name, g->out_names[o]);
	return x->whole[o];
}

/* ---- parts ---- */

/* What part p reads of output o. */
static struct draft_value read_part(struct rewrite *x, uint32_t o, const struct split_need *need,
				    uint32_t p)
{
	const struct graph *g = x->g;
	uint32_t u = graph_node_of(g, o);
	int64_t size = need->axis < 0 ? 0 : g->dim[g->dim_ptr[o] + (uint32_t)need->axis];
	bool alike = need->axis >= 0 && !x->f->constant[u] && x->plan->axis[u] == need->axis;
	const struct split_range *own = &x->own[(size_t)u * x->plan->ways + p];
	if (alike && own->lo <= need->lo && need->hi <= own->hi)
		return from_part(x, o, p, need->lo, need->hi);
	if (need->axis < 0 || (need->lo == 0 && need->hi == size))
		return whole_of(x, o);
	if (x->f->constant[u])
		return constant_part(x, o, need->axis, need->lo, need->hi);
	if (alike)
		return gather(x, o, p, need->lo, need->hi,
			      arena_printf(x->a, "%s/for part %u",
					   part_name(x, u, need->lo, need->hi, size), p),
			      NULL);
	return slice(x, whole_of(x, o), need->axis, need->lo, need->hi, true);
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
		else if ((int)i == s->ints_input)
			in[i] = draft_ints(&x->d, s->ints, s->n_ints);
		else
			in[i] = read_part(x, graph_slot_output(g, g->in_ptr[v] + i), &s->need[i],
					  p);
	}
	uint32_t at = draft_node(&x->d, name, g->type[v], g->opset[v], -1);
	copy_attrs(x, v, s);
	for (uint32_t i = 0; i < n; i++)
		draft_in(&x->d, in[i]);
	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
		copy_out(x, o, s->axis, s->lo, s->hi, "");
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
		x->part[(size_t)v * x->plan->ways + p] = put_part(x, v, &s, name, p);
	}
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
		return slice(x, whole_of(x, o), axis, lo, hi, false);
	}
	pairmap_put(&x->consts, a, b, out.node);
	return out;
}

/* ---- the whole ---- */

/* Which node of the graph before the first cut each node is a part of. */
static void note_parts(const struct rewrite *x, struct graph *out)
{
	const struct graph *g = x->g;
	out->part_of = arena_raw(out->arena, out->n, sizeof *out->part_of);
	memset(out->part_of, 0xff, out->n * sizeof *out->part_of);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t of = !g->whole ? v : g->part_of[v];
		bool cut = x->plan->axis[v] != SPLIT_WHOLE && !x->f->constant[v];
		for (uint32_t p = 0; p < x->plan->ways && cut; p++)
			out->part_of[x->part[(size_t)v * x->plan->ways + p]] = of;
		if (!cut && g->whole && x->row[v] != GRAPH_NONE)
			out->part_of[x->row[v]] = of;
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
	x.axis_name = ARENA_NEWN(a, const char *, g->n);
	memset(x.row, 0xff, g->n * sizeof *x.row);
	memset(x.whole, 0xff, n_out * sizeof *x.whole);
	split_ranges(f, plan, x.unit, x.own);
	name_axes(&x);
	draft_init(&x.d, g);
	for (uint32_t v = 0; v < g->n; v++) {
		if (f->constant[v])
			continue; /* when it is read */
		if (plan->axis[v] != SPLIT_WHOLE)
			put_parts(&x, v);
		else
			copy_node(&x, v);
	}
	struct graph *out = draft_finish(&x.d, x.row);
	note_parts(&x, out);
	*counts = x.counts;
	draft_release(&x.d);
	pairmap_release(&x.slices);
	pairmap_release(&x.consts);
	arena_free(a);
	return out;
}
