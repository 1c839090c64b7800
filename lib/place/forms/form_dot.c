/* form_dot.c - directed graphs in DOT with weights ("DOT Language", graphviz.org/doc/info/lang.html).
 *
 * Of a node cost, time or weight is time on the first device, in units; flops or size (SimGrid's DOT files) is what it computes,
 * at the devices' FLOP/s.  Of an edge bytes, size, data or weight is what it carries, less than 0 (SimGrid: an order alone) and nothing: none.
 * What node [...] and edge [...] say is true of those that come later in their braces.  Other attributes are not read. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "place/forms/dot_lexer.h"
#include "place/forms/form_impl.h"

enum { MOST_DEPTH = 100 };
static const double LARGEST = 1e100;

/* What attributes tell. */
enum { TOLD_TIME = 1, TOLD_FLOPS = 2, TOLD_BYTES = 4 };
struct weights {
	unsigned told;
	double time, flops, bytes;
};

struct scope {
	struct weights node, edge;
};

struct drawing {
	const struct form_source *s;
	struct dot_lexer l;
	struct strtab names;
	struct weights *node; /* (names) */
	uint32_t *list;       /* (names) the last list that it was found in */
	size_t cap, list_cap;
	uint32_t n_lists;
	bool strict;
	struct strtab pairs; /* strict: of edges, each with the number of its edge */
	struct form_edges edges;
};

/* A list of nodes: where they stand in an edge. */
struct nodes {
	uint32_t *v, n;
	size_t cap;
};

static bool is_dot(const struct form_source *s)
{
	struct err none = ERR_INIT;
	struct dot_lexer l = {
		.at = s->text, .end = s->text + strlen(s->text), .a = s->a, .e = &none};
	if (s->json || dot_next(&l) < 0)
		return false;
	return dot_is_word(&l, "strict") || dot_is_word(&l, "digraph") || dot_is_word(&l, "graph");
}

/* ---- attributes ---- */

static const struct {
	const char *name;
	bool edge;
	unsigned told;
	size_t at;
} attributes[] = {
	{"cost", false, TOLD_TIME, offsetof(struct weights, time)},
	{"time", false, TOLD_TIME, offsetof(struct weights, time)},
	{"weight", false, TOLD_TIME, offsetof(struct weights, time)},
	{"flops", false, TOLD_FLOPS, offsetof(struct weights, flops)},
	{"size", false, TOLD_FLOPS, offsetof(struct weights, flops)},
	{"bytes", true, TOLD_BYTES, offsetof(struct weights, bytes)},
	{"data", true, TOLD_BYTES, offsetof(struct weights, bytes)},
	{"size", true, TOLD_BYTES, offsetof(struct weights, bytes)},
	{"weight", true, TOLD_BYTES, offsetof(struct weights, bytes)},
};

static int take_attribute(struct drawing *d, const char *name, const char *value, bool edge,
			  struct weights *w)
{
	char text[100];
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
		char *end;
		if (attributes[i].edge != edge || strcmp(attributes[i].name, name) != 0)
			continue;
		double x = strtod(value, &end);
		if (end == value || *end || !(fabs(x) <= LARGEST) || (x < 0 && !edge))
			return err_set(d->l.e, ST_INPUT, "line %u: %s '%s' is no weight", d->l.line,
				       name, err_escape(text, sizeof text, value, strlen(value)));
		*(double *)((char *)w + attributes[i].at) = x > 0 ? x : 0;
		w->told |= attributes[i].told;
		return 0;
	}
	return 0;
}

/* An ID, which is at hand. */
static int take_id(struct drawing *d, const char *what, const char **text)
{
	if (d->l.now.kind != DOT_ID)
		return dot_wants(&d->l, what);
	*text = d->l.now.text;
	return dot_next(&d->l);
}

/* Lists of attributes in brackets, as many as there are; w NULL: they weigh nothing. */
static int take_attributes(struct drawing *d, bool edge, struct weights *w)
{
	struct dot_lexer *l = &d->l;
	while (dot_is_mark(l, '[')) {
		if (dot_next(l) < 0)
			return -1;
		while (!dot_is_mark(l, ']')) {
			const char *name = "", *value = "true";
			if (take_id(d, "an attribute", &name) < 0)
				return -1;
			if (dot_is_mark(l, '=') &&
			    (dot_next(l) < 0 || take_id(d, "its value", &value) < 0))
				return -1;
			if (w && take_attribute(d, name, value, edge, w) < 0)
				return -1;
			if ((dot_is_mark(l, ',') || dot_is_mark(l, ';')) && dot_next(l) < 0)
				return -1;
		}
		if (dot_next(l) < 0)
			return -1;
	}
	return 0;
}

/* ---- nodes and edges ---- */

static uint32_t node_number(struct drawing *d, const char *name, const struct scope *at)
{
	uint32_t before = d->names.n, v = strtab_add(&d->names, name);
	d->node = mem_grow(d->node, &d->cap, (size_t)d->names.n, sizeof *d->node);
	d->list = mem_grow(d->list, &d->list_cap, (size_t)d->names.n, sizeof *d->list);
	if (d->names.n > before) {
		d->node[v] = at->node;
		d->list[v] = 0;
	}
	return v;
}

static void add_node(struct nodes *x, uint32_t v)
{
	x->v = mem_grow(x->v, &x->cap, (size_t)x->n + 1, sizeof *x->v);
	x->v[x->n++] = v;
}

/* Each of them once. */
static void make_set(struct drawing *d, struct nodes *x)
{
	uint32_t n = 0, list = ++d->n_lists;
	for (uint32_t i = 0; i < x->n; i++)
		if (d->list[x->v[i]] != list) {
			d->list[x->v[i]] = list;
			x->v[n++] = x->v[i];
		}
	x->n = n;
}

static int take_statements(struct drawing *d, struct scope at, int depth, struct nodes *all);

/* A node or a subgraph; all (may be NULL) and `here` get its nodes.  *plain: a node. */
static int take_end(struct drawing *d, const struct scope *at, int depth, struct nodes *all,
		    struct nodes *here, bool *plain)
{
	struct dot_lexer *l = &d->l;
	const char *name = "";
	*plain = !dot_is_mark(l, '{') && !dot_is_word(l, "subgraph");
	if (*plain) {
		if (take_id(d, "a node", &name) < 0)
			return -1;
		add_node(here, node_number(d, name, at));
		for (int i = 0; i < 2 && dot_is_mark(l, ':'); i++) /* a port, and its side */
			if (dot_next(l) < 0 || take_id(d, "a port", &name) < 0)
				return -1;
	} else {
		if (dot_is_word(l, "subgraph") &&
		    (dot_next(l) < 0 || (l->now.kind == DOT_ID && take_id(d, "a name", &name) < 0)))
			return -1;
		if (dot_is_mark(l, '{') &&
		    (dot_next(l) < 0 || take_statements(d, *at, depth + 1, here) < 0))
			return -1;
		make_set(d, here);
	}
	for (uint32_t i = 0; all && i < here->n; i++)
		add_node(all, here->v[i]);
	return 0;
}

/* What edges carry; their numbers are a list as of nodes. */
static void weigh_edges(struct drawing *d, const struct nodes *mine, const struct weights *w)
{
	for (uint32_t i = 0; i < mine->n; i++)
		d->edges.edge[mine->v[i]].bytes =
			(uint64_t)ceil(fmin(w->bytes, JSON_PROBLEM_MAX_BYTES));
}

/* The number of the edge that a strict graph has there, or that the next one gets. */
static uint32_t edge_number(struct drawing *d, uint32_t from, uint32_t to)
{
	char pair[40];
	uint32_t number;
	if (!d->strict)
		return d->edges.n;
	snprintf(pair, sizeof pair, "%" PRIu32 " %" PRIu32, from, to);
	number = strtab_find(&d->pairs, pair);
	return number < UINT32_MAX ? number
				   : strtab_add(&d->pairs, arena_printf(d->l.a, "%s", pair));
}

/* From all of one list to all of the other. */
static int join(struct drawing *d, const struct nodes *from, const struct nodes *to,
		const struct weights *w, struct nodes *mine)
{
	for (uint32_t i = 0; i < from->n; i++)
		for (uint32_t j = 0; j < to->n; j++) {
			uint32_t number = edge_number(d, from->v[i], to->v[j]), n = d->edges.n;
			struct nodes one = {&number, 1, 0};
			add_node(mine, number);
			if (number < n)
				continue;
			if (form_edge(&d->edges, from->v[i], to->v[j], 0, n, d->l.e) < 0)
				return -1;
			weigh_edges(d, &one, w);
		}
	return 0;
}

/* A node, or an edge from one or more to one or more and so on. */
static int take_nodes(struct drawing *d, struct scope *at, int depth, struct nodes *all)
{
	struct dot_lexer *l = &d->l;
	struct nodes left = {0}, right = {0}, mine = {0};
	bool plain, is_edge = false;
	int rc = take_end(d, at, depth, all, &left, &plain);
	while (rc == 0 && (l->now.kind == DOT_ARROW || l->now.kind == DOT_LINE)) {
		bool ignored;
		if (l->now.kind == DOT_LINE) {
			rc = err_set(l->e, ST_INPUT, "line %u: '--' in a directed graph", l->line);
			break;
		}
		is_edge = true;
		right.n = 0;
		rc = dot_next(l) < 0 || take_end(d, at, depth, all, &right, &ignored) < 0 ||
				     join(d, &left, &right, &at->edge, &mine) < 0
			     ? -1
			     : 0;
		struct nodes swap = left;
		left = right;
		right = swap;
	}
	struct weights w = {0};
	if (rc == 0)
		rc = take_attributes(d, is_edge, is_edge ? &w : plain ? &d->node[left.v[0]] : NULL);
	if (rc == 0 && w.told)
		weigh_edges(d, &mine, &w);
	mem_free(left.v);
	mem_free(right.v);
	mem_free(mine.v);
	return rc;
}

/* NAME = VALUE of a graph, or node [...], edge [...], graph [...]; 0: it is neither, 1: it was read. */
static int take_setting(struct drawing *d, struct scope *at)
{
	struct dot_lexer *l = &d->l, ahead = *l;
	bool node = dot_is_word(l, "node"), edge = dot_is_word(l, "edge"),
	     graph = dot_is_word(l, "graph");
	const char *text;
	if (node || edge || graph) {
		if (dot_next(l) < 0)
			return -1;
		if (!dot_is_mark(l, '['))
			return dot_wants(l, "'['");
		return take_attributes(d, edge,
				       node   ? &at->node
				       : edge ? &at->edge
					      : NULL) < 0
			       ? -1
			       : 1;
	}
	if (l->now.kind != DOT_ID || dot_next(&ahead) < 0 || !dot_is_mark(&ahead, '='))
		return l->e->code == ST_OK ? 0 : -1;
	*l = ahead;
	return dot_next(l) < 0 || take_id(d, "a value", &text) < 0 ? -1 : 1;
}

/* Up to the brace that closes, which is taken, too. */
static int take_statements(struct drawing *d, struct scope at, int depth, struct nodes *all)
{
	struct dot_lexer *l = &d->l;
	if (depth > MOST_DEPTH)
		return err_set(l->e, ST_INPUT, "line %u: nested deeper than %d", l->line,
			       MOST_DEPTH);
	while (!dot_is_mark(l, '}')) {
		if (l->now.kind == DOT_END)
			return dot_wants(l, "'}'");
		if (dot_is_mark(l, ';')) {
			if (dot_next(l) < 0)
				return -1;
			continue;
		}
		int rc = take_setting(d, &at);
		if (rc < 0 || (rc == 0 && take_nodes(d, &at, depth, all) < 0))
			return -1;
	}
	return dot_next(l);
}

static int take_graph(struct drawing *d, struct json_problem *p)
{
	struct dot_lexer *l = &d->l;
	if (dot_next(l) < 0)
		return -1;
	d->strict = dot_is_word(l, "strict");
	if (d->strict && dot_next(l) < 0)
		return -1;
	if (dot_is_word(l, "graph"))
		return err_set(l->e, ST_INPUT,
			       "line %u: an undirected graph; a digraph has an order", l->line);
	if (!dot_is_word(l, "digraph"))
		return dot_wants(l, "'digraph'");
	if (dot_next(l) < 0 || (l->now.kind == DOT_ID && take_id(d, "a name", &p->name) < 0))
		return -1;
	if (!dot_is_mark(l, '{'))
		return dot_wants(l, "'{'");
	if (dot_next(l) < 0 || take_statements(d, (struct scope){{0}, {0}}, 0, NULL) < 0)
		return -1;
	return l->now.kind == DOT_END ? 0 : dot_wants(l, "the end: one graph in a file,");
}

/* ---- the problem ---- */

static int put_nodes(const struct drawing *d, struct json_problem *p, struct err *e)
{
	const struct form_source *s = d->s;
	char text[200];
	json_problem_alloc(p, d->names.n, s->a);
	for (uint32_t v = 0; v < p->n; v++) {
		const struct weights *w = &d->node[v];
		p->node_name[v] = d->names.s[v];
		p->type[v] = "Node";
		if (w->told & TOLD_TIME)
			form_cost(s, p, v, w->time * s->o->unit_s);
		else if (w->told & TOLD_FLOPS)
			form_flops(s, p, v, w->flops);
		else
			return err_set(e, ST_INPUT,
				       "node '%s' has none of cost, time, weight, flops, size",
				       err_escape(text, sizeof text, p->node_name[v],
						  strlen(p->node_name[v])));
	}
	return 0;
}

static int read_dot(const struct form_source *s, struct json_problem *p, struct err *e)
{
	struct drawing d = {
		.s = s, .l = {.at = s->text, .end = s->text + strlen(s->text), .a = s->a, .e = e}};
	int rc = take_graph(&d, p) < 0 || put_nodes(&d, p, e) < 0 ? -1 : 0;
	form_take_edges(&d.edges, s->a, p);
	strtab_release(&d.names);
	strtab_release(&d.pairs);
	mem_free(d.node);
	mem_free(d.list);
	return rc;
}

const struct problem_form form_dot = {
	.name = "dot",
	.about = "a digraph in DOT with weights of nodes and edges",
	.flags = FORM_HAS_SPEC | FORM_HAS_UNIT | FORM_NEEDS_DEVICES | FORM_IS_TEXT,
	.is = is_dot,
	.read = read_dot,
};
