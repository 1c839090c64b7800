/* The graph in memory: co-location, quotients, order, against naive versions. */
#include "graph/graph.h"
#include "record/graphrec.h"
#include "graph/strtab.h"
#include "graphgen.h"
#include "tap.h"

#include <stdlib.h>

static void test_elems(void)
{
	uint64_t b;
	bool names = true;
	for (int t = 0; t < EL_COUNT; t++)
		names &= elem_parse(elem_name((enum elem)t)) == t;
	tap(names, "element types: names are read back");
	tap(elem_parse("FP32") == EL_F32 && elem_parse("BOOL") == EL_BOOLEAN &&
		    elem_parse("BIN") == EL_U1 && elem_parse("I64") == EL_I64 &&
		    elem_parse("q7") == -1 && elem_parse("") == -1,
	    "element types: both spellings, any case");
	tap(elem_bytes(EL_U4, 3, &b) && b == 2 && elem_bytes(EL_U1, 9, &b) && b == 2 &&
		    elem_bytes(EL_U3, 9, &b) && b == 6 && elem_bytes(EL_U6, 1, &b) && b == 3 &&
		    elem_bytes(EL_F64, 3, &b) && b == 24,
	    "element types: packed sizes");
	tap(!elem_bytes(EL_F64, UINT64_MAX / 8, &b), "element types: a size that overflows");
}

static void test_strtab(void)
{
	struct strtab t = {0};
	char *s[1000];
	bool ok = strtab_find(&t, "x") == UINT32_MAX;
	for (uint32_t i = 0; i < 1000; i++) {
		char buf[20];
		snprintf(buf, sizeof buf, "%u", i);
		s[i] = mem_strdup(buf);
		ok &= strtab_add(&t, s[i]) == i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		ok &= strtab_add(&t, s[i]) == i && strtab_find(&t, s[i]) == i;
	tap(ok && t.n == 1000 && strtab_find(&t, "1000") == UINT32_MAX, "string table");
	strtab_release(&t);
	for (uint32_t i = 0; i < 1000; i++)
		mem_free(s[i]);
}

/* Kind and consumers of each node are what its columns say. */
static bool is_finished(const struct graph *g)
{
	const struct consumers *c = &g->consumers;
	bool ok = c->ptr[0] == 0 && c->ptr[g->n] == graph_n_edges(g);
	for (uint32_t u = 0; u < g->n; u++) {
		ok &= g->kind[u] == op_kind(g->type[u]);
		for (uint32_t k = c->ptr[u]; k < c->ptr[u + 1]; k++) {
			uint32_t v = c->dst[k], i = c->slot[k];
			ok &= g->in_node[i] == u && i >= g->in_ptr[v] && i < g->in_ptr[v + 1];
			ok &= k == c->ptr[u] || v >= c->dst[k - 1];
		}
	}
	return ok;
}

static void test_finish(void)
{
	struct graph *g = gen_graph(1, 200, 10), *body = gen_graph(2, 30, 5);
	bool any_unknown = false, ok = is_finished(g);
	for (uint32_t v = 0; v < g->n; v++)
		any_unknown |= strcmp(g->type[v], "MyOwnOp") == 0 && g->kind[v] == OP_UNKNOWN;
	tap(ok && any_unknown && g->kind[0] == OP_PARAMETER,
	    "kinds are those of the types, and consumers the inputs reversed");
	/* Types and inputs that change, and a body. */
	static const char *const others[] = {"Loop", "relu", "Constant", "NoSuchOperator"};
	g->body = ARENA_NEWN(g->arena, struct graph_body, 1);
	g->body[0] = (struct graph_body){.node = 3, .role = "body", .graph = body};
	g->n_bodies = 1;
	body->kind = NULL;
	for (uint32_t v = 0; v < g->n; v++) {
		g->type[v] = others[v % 4];
		for (uint32_t i = g->in_ptr[v]; v % 3 == 0 && i < g->in_ptr[v + 1]; i++)
			g->in_node[i] = i % 2 ? GRAPH_NONE : v - 1;
	}
	graph_finish(g);
	tap(is_finished(g) && g->kind[0] == OP_LOOP && g->kind[1] == OP_RELU &&
		    g->kind[2] == OP_CONST && g->kind[3] == OP_UNKNOWN && body->kind &&
		    is_finished(body),
	    "and again behind changes, of bodies as well");
	graph_free(g);
	graph_free(body);
}

/* Bodies of nodes with none, one, several. */
static void test_bodies(void)
{
	static const uint32_t nodes[] = {3, 7, 7, 8, 20, 20, 20, 29};
	enum { N = sizeof nodes / sizeof *nodes };
	struct graph *g = gen_graph(3, 30, 5);
	struct err e = ERR_INIT;
	bool ok = true;
	g->body = ARENA_NEWN(g->arena, struct graph_body, N);
	for (uint32_t n = 0; n <= N; n++) {
		g->n_bodies = n;
		if (n > 0)
			g->body[n - 1] = (struct graph_body){
				.node = nodes[n - 1], .role = "body", .graph = gen_graph(n, 4, 2)};
		for (uint32_t v = 0, b = 0; v < g->n; v++) {
			uint32_t first, end = graph_bodies(g, v, &first);
			ok &= first == b;
			while (b < n && nodes[b] == v)
				b++;
			ok &= end == b;
		}
	}
	tap(ok && graph_check(g, &e) == 0, "the bodies of each node");
	g->body[4].node = 2;
	tap(graph_check(g, &e) < 0 && e.code == ST_INPUT &&
		    strcmp(e.msg, "bodies: 4: node 2 behind node 8") == 0,
	    "bodies are in the order of their nodes: %s", e.msg);
	for (uint32_t b = 0; b < N; b++)
		graph_free(g->body[b].graph);
	graph_free(g);
}

/* ---- co-location ---- */

/* Distinct neighbours among placed nodes, by looking at everything. */
static uint32_t naive_neighbours(const struct graph *g, uint32_t v, bool children, uint32_t *only)
{
	uint32_t count = 0;
	for (uint32_t u = 0; u < g->n; u++) {
		uint32_t to = children ? u : v, from = children ? v : u;
		bool found = false;
		for (uint32_t i = g->in_ptr[to]; i < g->in_ptr[to + 1]; i++)
			found |= g->in_node[i] == from;
		if (found && g->set[u] != GRAPH_NONE) {
			*only = u;
			count++;
		}
	}
	return count;
}

static bool coloc_is_right(const struct graph *g)
{
	uint32_t next = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t parent = 0, child = 0;
		if (g->set[v] == GRAPH_NONE)
			continue;
		bool joins = naive_neighbours(g, v, false, &parent) == 1 &&
			     naive_neighbours(g, parent, true, &child) == 1;
		if (g->set[v] != (joins ? g->set[parent] : next++))
			return false;
	}
	return next == g->n_sets;
}

static bool sets_are_ordered(const struct graph *g)
{
	struct arena *a = arena_new();
	struct digraph q;
	graph_set_quotient(g, a, &q);
	bool ok = true;
	for (uint32_t i = 0; i < q.m; i++)
		ok &= q.src[i] < q.dst[i];
	uint32_t *order = ARENA_NEWN(a, uint32_t, q.n);
	ok &= digraph_toposort(&q, a, order);
	arena_free(a);
	return ok;
}

static void test_colocate(void)
{
	bool keep = true, drop = true, fold = true, alone = true, ordered = true;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct err e = ERR_INIT;
		struct graph *g = gen_graph(seed, 60 + 5 * (uint32_t)seed, 3);
		keep &= coloc_is_right(g) && g->n_sets < g->n;
		ordered &= sets_are_ordered(g) && graph_check(g, &e) == 0;
		graph_colocate(g, CONST_DROP, true);
		drop &= coloc_is_right(g);
		for (uint32_t v = 0; v < g->n; v++)
			drop &= (g->set[v] == GRAPH_NONE) == (g->kind[v] == OP_CONST);
		ordered &= sets_are_ordered(g) && graph_check(g, &e) == 0;
		graph_colocate(g, CONST_FOLD, true);
		fold &= coloc_is_right(g);
		for (uint32_t v = 0; v < g->n;
		     v++) { /* unplaced: a Const, or all inputs unplaced */
			bool constant = true, any = false;
			for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
				if (g->in_node[i] != GRAPH_NONE) {
					constant &= g->set[g->in_node[i]] == GRAPH_NONE;
					any = true;
				}
			constant = g->kind[v] == OP_CONST || (any && constant);
			fold &= (g->set[v] == GRAPH_NONE) == constant;
		}
		ordered &= sets_are_ordered(g) && graph_check(g, &e) == 0;
		graph_colocate(g, CONST_KEEP, false);
		alone &= g->n_sets == g->n;
		graph_free(g);
	}
	tap(keep, "co-location joins an only child with its only parent, and no others");
	tap(drop, "co-location without constants");
	tap(fold, "co-location without what depends on constants alone");
	tap(alone, "without co-location every node is a set");
	tap(ordered, "set numbers are a topological order of the quotient");
}

/* Some nodes of g read and assign variables. */
static void put_variables(struct graph *g, struct gen *r, uint32_t n_variables)
{
	static const char *const ids[] = {"a", "b", "c", "d"};
	uint32_t n = 0, *attr_ptr = ARENA_NEWN(g->arena, uint32_t, g->n + 1);
	g->attr_key = ARENA_NEWN(g->arena, const char *, g->n);
	g->attr_value = ARENA_NEWN(g->arena, const char *, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		attr_ptr[v] = n;
		if (g->kind[v] != OP_CONST && gen_below(r, 5) == 0) {
			g->type[v] = gen_below(r, 2) ? "ReadValue" : "Assign";
			g->attr_key[n] = "variable_id";
			g->attr_value[n++] = ids[gen_below(r, n_variables)];
		}
	}
	attr_ptr[g->n] = n;
	g->attr_ptr = attr_ptr;
	graph_finish(g);
}

/* reach (n, n): sets that lead to sets, when those in `of` alike are one; and each to itself. */
static bool *closure(const struct digraph *q, const uint32_t *of, uint32_t n, struct arena *a)
{
	bool *reach = ARENA_NEWN(a, bool, (size_t)n *n);
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t t = 0; t < n; t++)
			reach[s * n + t] = of[s] == of[t];
	for (uint32_t i = 0; i < q->m; i++)
		reach[q->src[i] * n + q->dst[i]] = true;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t s = 0; s < n; s++)
			for (uint32_t t = 0; reach[s * n + k] && t < n; t++)
				reach[s * n + t] |= reach[k * n + t];
	return reach;
}

/* Sets before and after: two are one exactly where each leads to the other, when those that a
 * variable joins are one. */
static bool variables_are_right(struct graph *g, struct arena *a)
{
	struct digraph q;
	uint32_t n = g->n_sets, *was = ARENA_NEWN(a, uint32_t, g->n),
		 *of = ARENA_NEWN(a, uint32_t, n);
	graph_set_quotient(g, a, &q);
	memcpy(was, g->set, g->n * sizeof *was);
	for (uint32_t s = 0; s < n; s++)
		of[s] = s;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t w = 0; w < v; w++)
			if (graph_variable(g, v) && graph_variable(g, w) &&
			    strcmp(graph_variable(g, v), graph_variable(g, w)) == 0) {
				uint32_t from = of[was[v]], to = of[was[w]];
				for (uint32_t s = 0; s < n; s++)
					of[s] = of[s] == from ? to : of[s];
			}
	const bool *reach = closure(&q, of, n, a);
	graph_join_variables(g);
	bool ok = true;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t w = 0; w < g->n; w++)
			if (was[v] == GRAPH_NONE || was[w] == GRAPH_NONE)
				ok &= (g->set[v] == GRAPH_NONE) == (was[v] == GRAPH_NONE);
			else
				ok &= (g->set[v] == g->set[w]) ==
				      (reach[was[v] * n + was[w]] && reach[was[w] * n + was[v]]);
	return ok;
}

static void test_variables(void)
{
	bool right = true, ordered = true, none = true;
	uint32_t joined = 0;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct gen r = gen_new(seed);
		struct err e = ERR_INIT;
		struct graph *g = gen_graph(seed, 40, 1 + seed % 4);
		graph_colocate(g, (enum const_mode)(seed % 3), seed % 2 == 0);
		uint32_t n = g->n_sets;
		graph_join_variables(g);
		none &= g->n_sets == n && graph_variable_sets(g, g->arena) == NULL;
		put_variables(g, &r, 1 + seed % 4);
		graph_colocate(g, (enum const_mode)(seed % 3), seed % 2 == 0);
		n = g->n_sets;
		right &= variables_are_right(g, g->arena);
		ordered &= sets_are_ordered(g) && graph_check(g, &e) == 0;
		joined += n - g->n_sets;
		const bool *has = graph_variable_sets(g, g->arena);
		for (uint32_t v = 0; v < g->n; v++)
			right &= !graph_variable(g, v) || (has && has[g->set[v]]);
		graph_free(g);
	}
	tap(right && joined > 100,
	    "what reads and assigns a variable is one set, with what lies between, and no "
	    "more (%u joined)",
	    joined);
	tap(ordered, "and set numbers are a topological order");
	tap(none, "without variables nothing is joined");
}

/* The same graph with its rows in another topological order: to[v] is v's new row. */
static struct graph *renumber(const struct graph *g, uint64_t seed, uint32_t *to)
{
	struct gen r = gen_new(seed);
	struct graph *h = gen_graph(0, g->n, 1); /* for its arrays, overwritten below */
	uint32_t *from = ARENA_NEWN(h->arena, uint32_t, g->n), m = 0;
	memset(to, 0xff, g->n * sizeof *to);
	for (uint32_t k = 0; k < g->n; k++) { /* any node whose inputs are all placed */
		uint32_t v, tries = gen_below(&r, g->n);
		for (v = tries;; v = (v + 1) % g->n) {
			bool ready = to[v] == GRAPH_NONE;
			for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
				ready &= g->in_node[i] == GRAPH_NONE ||
					 to[g->in_node[i]] != GRAPH_NONE;
			if (ready)
				break;
		}
		to[v] = k;
		from[k] = v;
	}
	h->in_node = ARENA_NEWN(h->arena, uint32_t, g->in_ptr[g->n]);
	h->n_const = 0;
	for (uint32_t k = 0; k < g->n; k++) {
		uint32_t v = from[k];
		h->type[k] = g->type[v];
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			h->in_node[m++] =
				g->in_node[i] == GRAPH_NONE ? GRAPH_NONE : to[g->in_node[i]];
		h->in_ptr[k + 1] = m;
		if (g->kind[v] == OP_CONST)
			h->const_node[h->n_const++] = k;
	}
	graph_finish(h);
	return h;
}

static void test_renumber(void)
{
	bool ok = true;
	for (uint64_t seed = 0; seed < 10; seed++)
		for (int mode = CONST_KEEP; mode <= CONST_FOLD; mode++) {
			struct graph *g = gen_graph(seed, 150, 4);
			uint32_t *to = MEM_NEWN(uint32_t, g->n);
			struct graph *h = renumber(g, seed + 100, to);
			graph_colocate(g, (enum const_mode)mode, true);
			graph_colocate(h, (enum const_mode)mode, true);
			ok &= g->n_sets == h->n_sets;
			for (uint32_t u = 0; u < g->n; u++)
				for (uint32_t v = 0; v < g->n; v++)
					ok &= (g->set[u] == g->set[v]) ==
					      (h->set[to[u]] == h->set[to[v]]);
			graph_free(g);
			graph_free(h);
			mem_free(to);
		}
	tap(ok, "renumbering the nodes gives the same sets");
}

/* ---- quotients ---- */

/* Bytes from each set to each other, and whether there is an edge, by the definition. */
static bool set_quotient_is_right(const struct graph *g, struct arena *a)
{
	struct digraph q;
	graph_set_quotient(g, a, &q);
	uint32_t k = 0;
	for (uint32_t s = 0; s < g->n_sets; s++)
		for (uint32_t t = 0; t < g->n_sets; t++) {
			uint64_t bytes = 0;
			bool edge = false;
			for (uint32_t u = 0; u < g->n && s != t; u++)
				for (uint32_t p = 0;
				     g->set[u] == s && p < g->out_ptr[u + 1] - g->out_ptr[u]; p++) {
					bool used = false;
					for (uint32_t v = 0; v < g->n; v++)
						for (uint32_t i = g->in_ptr[v];
						     g->set[v] == t && i < g->in_ptr[v + 1]; i++)
							used |= g->in_node[i] == u &&
								g->in_port[i] == p;
					int64_t b =
						used ? graph_out_bytes(g, g->out_ptr[u] + p) : 0;
					bytes += b > 0 ? (uint64_t)b : 0;
					edge |= used;
				}
			if (!edge)
				continue;
			if (k == q.m || q.src[k] != s || q.dst[k] != t || q.bytes[k] != bytes)
				return false;
			k++;
		}
	return k == q.m && q.n == g->n_sets;
}

static bool quotient_is_right(const struct digraph *d, const uint32_t *group, uint32_t n,
			      struct arena *a)
{
	struct digraph q;
	digraph_quotient(d, group, n, a, &q);
	uint32_t k = 0;
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t t = 0; t < n; t++) {
			uint64_t bytes = 0;
			bool edge = false;
			for (uint32_t i = 0; i < d->m; i++)
				if (s != t && group[d->src[i]] == s && group[d->dst[i]] == t) {
					bytes += d->bytes ? d->bytes[i] : 0;
					edge = true;
				}
			if (!edge)
				continue;
			if (k == q.m || q.src[k] != s || q.dst[k] != t ||
			    (d->bytes && q.bytes[k] != bytes))
				return false;
			k++;
		}
	return k == q.m && q.n == n && (q.bytes != NULL) == (d->bytes != NULL);
}

static void test_quotient(void)
{
	bool sets = true, groups = true, plain = true;
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct gen r = gen_new(seed);
		struct graph *g = gen_graph(seed, 80, 6);
		struct digraph q;
		sets &= set_quotient_is_right(g, g->arena);
		graph_colocate(g, CONST_DROP, true);
		sets &= set_quotient_is_right(g, g->arena);
		graph_set_quotient(g, g->arena, &q);
		uint32_t n_groups = 1 + gen_below(&r, 20),
			 *group = ARENA_NEWN(g->arena, uint32_t, q.n);
		for (uint32_t s = 0; s < q.n; s++)
			group[s] = gen_below(&r, n_groups);
		groups &= quotient_is_right(&q, group, n_groups, g->arena);
		q.bytes = NULL;
		plain &= quotient_is_right(&q, group, n_groups, g->arena);
		graph_free(g);
	}
	tap(sets, "quotient by sets: a tensor counts once for each set that reads it");
	tap(groups, "quotient by groups");
	tap(plain, "quotient by groups, without bytes");
}

static void test_digraph(void)
{
	struct arena *a = arena_new();
	struct digraph d = gen_digraph(5, 300, 3, 20, a);
	uint32_t *ptr, *adj, k = 0, *up = ARENA_NEWN(a, uint32_t, d.n),
			     *down = ARENA_NEWN(a, uint32_t, d.n);
	bool ok = true;
	digraph_csr(&d, false, a, &ptr, &adj);
	for (uint32_t v = 0; v < d.n; v++)
		for (uint32_t i = ptr[v]; i < ptr[v + 1]; i++, k++)
			ok &= d.src[k] == v && d.dst[k] == adj[i];
	digraph_csr(&d, true, a, &ptr, &adj);
	for (uint32_t v = 0; v < d.n; v++)
		for (uint32_t i = ptr[v]; i < ptr[v + 1]; i++, k++) {
			bool found = false;
			for (uint32_t j = 0; j < d.m; j++)
				found |= d.src[j] == adj[i] && d.dst[j] == v;
			ok &= found;
		}
	tap(ok && k == 2 * d.m, "compressed rows in both directions");

	digraph_depths(&d, up, down);
	ok = true;
	for (uint32_t v = 0; v < d.n; v++) { /* each is one more than the largest neighbour's */
		uint32_t best_up = 0, best_down = 0;
		for (uint32_t i = 0; i < d.m; i++) {
			if (d.dst[i] == v && up[d.src[i]] + 1 > best_up)
				best_up = up[d.src[i]] + 1;
			if (d.src[i] == v && down[d.dst[i]] + 1 > best_down)
				best_down = down[d.dst[i]] + 1;
		}
		ok &= up[v] == best_up && down[v] == best_down;
	}
	tap(ok, "depths from the sources and to the sinks");

	uint32_t *order = ARENA_NEWN(a, uint32_t, d.n), *rank = ARENA_NEWN(a, uint32_t, d.n);
	for (uint32_t i = 0; i < d.m; i++) { /* turn the numbering round */
		d.src[i] = d.n - 1 - d.src[i];
		d.dst[i] = d.n - 1 - d.dst[i];
	}
	ok = digraph_toposort(&d, a, order);
	for (uint32_t i = 0; i < d.n; i++)
		rank[order[i]] = i;
	for (uint32_t i = 0; i < d.m; i++)
		ok &= rank[d.src[i]] < rank[d.dst[i]];
	tap(ok, "topological order");
	struct digraph cycle = {
		.n = 3, .m = 3, .src = (uint32_t[]){0, 1, 2}, .dst = (uint32_t[]){1, 2, 0}};
	tap(!digraph_toposort(&cycle, a, order), "a cycle has no topological order");
	arena_free(a);
}

static void test_sizes(void)
{
	struct graph *g = gen_graph(3, 20, 3);
	g->dim_ptr[1] = 2;
	g->out_rank[0] = 2;
	g->out_elem[0] = EL_F16;
	g->dim = (int64_t[]){3, 5};
	tap(graph_out_elements(g, 0) == 15 && graph_out_bytes(g, 0) == 30,
	    "elements and bytes of an output");
	g->dim = (int64_t[]){INT64_MAX, 0};
	tap(graph_out_elements(g, 0) == 0,
	    "a tensor without elements, however large its other dims");
	g->dim = (int64_t[]){3, DIM_DYNAMIC};
	tap(graph_out_elements(g, 0) == -1 && graph_out_bytes(g, 0) == -1, "a dynamic dimension");
	g->out_elem[0] = EL_STRING;
	g->dim = (int64_t[]){3, 5};
	tap(graph_out_elements(g, 0) == 15 && graph_out_bytes(g, 0) == -1, "strings have no size");
	tap(graph_attr(g, 4, "axis") && strcmp(graph_attr(g, 4, "axis"), "4") == 0 &&
		    !graph_attr(g, 4, "ax"),
	    "attributes by key");
	graph_free(g);
}

static void test_finding(void)
{
	struct graph *g = gen_graph(5, 60, 6);
	bool outs = true, constants = g->n_const > 5;
	int64_t c = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			outs = outs && graph_node_of(g, o) == v;
		bool is = c < g->n_const && g->const_node[c] == v;
		constants = constants && graph_const(g, v) == (is ? c++ : -1);
	}
	/* A node without outputs begins where the next does. */
	g->out_ptr[8] = g->out_ptr[7];
	outs = outs && graph_node_of(g, g->out_ptr[8]) == 8;
	tap(outs, "the node of an output");
	tap(constants && c == g->n_const, "the constant of a node");
	graph_free(g);
}

int main(void)
{
	test_elems();
	test_strtab();
	test_finish();
	test_bodies();
	test_sizes();
	test_finding();
	test_colocate();
	test_variables();
	test_renumber();
	test_quotient();
	test_digraph();
	return tap_end();
}
