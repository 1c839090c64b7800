/* graphrec_read.c - a `graph` record into memory.  Here: that every column is
 * there and as long as the others say.  What the values mean is checked by
 * graph_check. */
#include "record/graphrec.h"
#include "graph/body_times.h"
#include "graph/case_value.h"
#include "graph/strtab.h"

#include <string.h>

struct reading {
	const struct val *m; /* the record's map, or a body's */
	struct graph *g;
	struct arena *a;
	struct err *e;
};

static int read_vector(struct reading *r, const char *key, enum tensor_type t, uint64_t n,
		       void *out)
{
	return get_tensor(r->m, key, t, 1, &n, r->a, out, r->e);
}

static int read_text(struct reading *r, const char *key, const char **out)
{
	return get_text(r->m, key, r->a, out, r->e);
}

/* Row pointers: n + 1 of them, from 0 and never falling. */
static int read_ptr(struct reading *r, const char *key, uint64_t n, uint32_t **ptr)
{
	if (read_vector(r, key, TT_U32, n + 1, ptr) < 0)
		return -1;
	if ((*ptr)[0] != 0)
		return err_set(r->e, ST_INPUT, "key '%s' does not begin with 0", key);
	for (uint64_t i = 0; i < n; i++)
		if ((*ptr)[i] > (*ptr)[i + 1])
			return err_set(r->e, ST_INPUT, "key '%s' falls at %llu", key,
				       (unsigned long long)i);
	return 0;
}

/* A column of n strings that stands in the record as numbers into a list. */
static int read_indexed(struct reading *r, const char *key, uint64_t n, const char **list,
			size_t n_list, const char ***out)
{
	uint32_t *index;
	if (read_vector(r, key, TT_U32, n, &index) < 0)
		return -1;
	*out = arena_raw(r->a, n, sizeof **out);
	for (uint64_t i = 0; i < n; i++) {
		if (index[i] >= n_list)
			return err_set(r->e, ST_INPUT, "key '%s' holds %u, beyond a list of %zu",
				       key, index[i], n_list);
		(*out)[i] = list[index[i]];
	}
	return 0;
}

static int read_list(struct reading *r, const char *key, size_t *n, const char ***list)
{
	*n = SIZE_MAX;
	return get_texts(r->m, key, r->a, n, list, r->e);
}

/* Equal types must be equal pointers. */
static int check_distinct(struct reading *r, const char *key, const char **list, size_t n)
{
	struct strtab t = {0};
	size_t i = 0;
	while (i < n && strtab_add(&t, list[i]) == i)
		i++;
	strtab_release(&t);
	return i == n ? 0 : err_set(r->e, ST_INPUT, "key '%s' holds a name twice", key);
}

static int read_nodes(struct reading *r)
{
	struct graph *g = r->g;
	uint64_t n = UINT64_MAX;
	const char **list;
	size_t n_list;
	if (get_tensor(r->m, "id", TT_I64, 1, &n, r->a, &g->id, r->e) < 0)
		return -1;
	if (n >= GRAPH_NONE)
		return err_set(r->e, ST_INPUT, "key 'id' has %llu nodes", (unsigned long long)n);
	g->n = (uint32_t)n;
	n_list = n;
	if (get_texts(r->m, "node_name", r->a, &n_list, &g->node_name, r->e) < 0 ||
	    read_list(r, "types", &n_list, &list) < 0 ||
	    check_distinct(r, "types", list, n_list) < 0 ||
	    read_indexed(r, "type", n, list, n_list, &g->type) < 0 ||
	    read_list(r, "opsets", &n_list, &list) < 0 ||
	    read_indexed(r, "opset", n, list, n_list, &g->opset) < 0)
		return -1;
	if (read_ptr(r, "attr_ptr", n, &g->attr_ptr) < 0 ||
	    read_list(r, "attr_strings", &n_list, &list) < 0 ||
	    read_indexed(r, "attr_key", g->attr_ptr[n], list, n_list, &g->attr_key) < 0 ||
	    read_indexed(r, "attr_value", g->attr_ptr[n], list, n_list, &g->attr_value) < 0)
		return -1;
	if (read_ptr(r, "in_ptr", n, &g->in_ptr) < 0 ||
	    read_vector(r, "in_node", TT_U32, g->in_ptr[n], &g->in_node) < 0 ||
	    read_vector(r, "in_port", TT_U32, g->in_ptr[n], &g->in_port) < 0)
		return -1;
	return 0;
}

static int read_outputs(struct reading *r)
{
	struct graph *g = r->g;
	const char **list;
	size_t n_list;
	if (read_ptr(r, "out_ptr", g->n, &g->out_ptr) < 0)
		return -1;
	uint32_t n_out = g->out_ptr[g->n];
	size_t n_names = n_out;
	if (read_vector(r, "out_elem", TT_U8, n_out, &g->out_elem) < 0 ||
	    read_list(r, "elems", &n_list, &list) < 0 ||
	    read_vector(r, "out_rank", TT_U8, n_out, &g->out_rank) < 0 ||
	    read_ptr(r, "dim_ptr", n_out, &g->dim_ptr) < 0 ||
	    read_vector(r, "dim", TT_I64, g->dim_ptr[n_out], &g->dim) < 0 ||
	    get_texts(r->m, "out_names", r->a, &n_names, &g->out_names, r->e) < 0)
		return -1;
	for (uint32_t o = 0; o < n_out; o++) {
		int t = g->out_elem[o] < n_list ? elem_parse(list[g->out_elem[o]]) : -1;
		if (t < 0)
			return err_set(r->e, ST_INPUT,
				       "key 'out_elem' holds %u, which is no element type",
				       g->out_elem[o]);
		g->out_elem[o] = (uint8_t)t;
	}
	return 0;
}

static int read_consts(struct reading *r)
{
	struct graph *g = r->g;
	uint64_t n = UINT64_MAX;
	if (get_tensor(r->m, "const_node", TT_U32, 1, &n, r->a, &g->const_node, r->e) < 0)
		return -1;
	g->n_const = (uint32_t)n; /* a record is too short for 2^32 of them */
	return read_vector(r, "const_offset", TT_U64, n, &g->const_offset) < 0 ||
			       read_vector(r, "const_bytes", TT_U64, n, &g->const_bytes) < 0
		       ? -1
		       : 0;
}

static int read_map(const struct val *v, struct port_map *m, struct err *e)
{
	uint64_t internal;
	if (val_type(v) != VAL_MAP)
		return err_set(e, ST_INPUT, "not a map");
	if (get_bool(v, "output", &m->output, e) < 0 ||
	    get_int(v, "external", -1, INT32_MAX, &m->external, e) < 0 ||
	    get_uint(v, "internal", 0, UINT32_MAX, &internal, e) < 0 ||
	    get_bool(v, "condition", &m->condition, e) < 0 ||
	    get_bool(v, "counter", &m->counter, e) < 0)
		return -1;
	m->internal = (uint32_t)internal;
	m->has_axis = val_get(v, "axis") != NULL;
	if (!m->has_axis)
		return 0;
	return get_int(v, "axis", INT64_MIN, INT64_MAX, &m->axis, e) < 0 ||
			       get_int(v, "start", INT64_MIN, INT64_MAX, &m->start, e) < 0 ||
			       get_int(v, "end", INT64_MIN, INT64_MAX, &m->end, e) < 0 ||
			       get_int(v, "stride", INT64_MIN, INT64_MAX, &m->stride, e) < 0 ||
			       get_int(v, "part_size", INT64_MIN, INT64_MAX, &m->part_size, e) < 0
		       ? -1
		       : 0;
}

static int read_columns(struct reading *r, int depth);

static int read_body(struct reading *r, struct graph_body *b, int depth)
{
	const struct val *maps, *graph;
	uint64_t node, n_back = UINT64_MAX;
	if (val_type(r->m) != VAL_MAP)
		return err_set(r->e, ST_INPUT, "not a map");
	if (get_uint(r->m, "node", 0, UINT32_MAX, &node, r->e) < 0 ||
	    read_text(r, "role", &b->role) < 0 || get_map(r->m, "graph", &graph, r->e) < 0 ||
	    get_list(r->m, "maps", &maps, r->e) < 0 ||
	    get_tensor(r->m, "back_from", TT_U32, 1, &n_back, r->a, &b->back_from, r->e) < 0 ||
	    read_vector(r, "back_to", TT_U32, n_back, &b->back_to) < 0)
		return -1;
	if (strcmp(b->role, "body") != 0 && strcmp(b->role, "then") != 0 &&
	    strcmp(b->role, "else") != 0)
		return err_set(r->e, ST_INPUT, "key 'role' is not body, then or else");
	if (val_get(r->m, "times") && get_real(r->m, "times", &b->times, r->e) < 0)
		return -1;
	if (!(b->times >= 0 && b->times <= 1e12))
		return err_set(r->e, ST_INPUT, "key 'times' is not a number of 0 to 10^12");
	b->node = (uint32_t)node;
	b->n_back = (uint32_t)n_back;
	b->n_maps = (uint32_t)val_count(maps);
	b->map = ARENA_NEWN(r->a, struct port_map, b->n_maps);
	for (uint32_t i = 0; i < b->n_maps; i++)
		if (read_map(val_at(maps, i), &b->map[i], r->e) < 0)
			return err_prefix(r->e, "key 'maps': %u", i);
	b->graph = ARENA_NEWN(r->a, struct graph, 1);
	b->graph->name = b->graph->xml = b->graph->weights = "";
	b->graph->arena = r->a;
	struct reading inner = {graph, b->graph, r->a, r->e};
	return read_columns(&inner, depth + 1);
}

static int read_bodies(struct reading *r, int depth)
{
	struct graph *g = r->g;
	const struct val *list;
	if (get_list(r->m, "bodies", &list, r->e) < 0)
		return -1;
	g->n_bodies = (uint32_t)val_count(list);
	if (g->n_bodies && depth == GRAPH_MAX_DEPTH)
		return err_set(r->e, ST_INPUT, "key 'bodies' is nested deeper than %d",
			       GRAPH_MAX_DEPTH);
	g->body = ARENA_NEWN(r->a, struct graph_body, g->n_bodies);
	for (uint32_t b = 0; b < g->n_bodies; b++) {
		struct reading inner = {val_at(list, b), g, r->a, r->e};
		if (read_body(&inner, &g->body[b], depth) < 0)
			return err_prefix(r->e, "key 'bodies': %u", b);
	}
	return 0;
}

static int read_columns(struct reading *r, int depth)
{
	if (read_nodes(r) < 0 || read_outputs(r) < 0 || read_consts(r) < 0)
		return -1;
	return read_bodies(r, depth);
}

static int read_tail(struct reading *r)
{
	struct graph *g = r->g;
	uint8_t *tail;
	g->tail_bytes = UINT64_MAX;
	if (!val_get(r->m, "tail")) {
		g->tail_bytes = 0;
		return 0;
	}
	if (get_uint(r->m, "tail_at", 0, INT64_MAX, &g->tail_at, r->e) < 0 ||
	    get_tensor(r->m, "tail", TT_U8, 1, &g->tail_bytes, r->a, &tail, r->e) < 0)
		return -1;
	g->tail = tail;
	return 0;
}

static int read_graph(struct reading *r)
{
	struct graph *g = r->g;
	uint64_t ir_version, n_sets;
	if (get_uint(r->m, "digest", 0, UINT64_MAX, &g->digest, r->e) < 0 ||
	    read_text(r, "name", &g->name) < 0 || read_text(r, "xml", &g->xml) < 0 ||
	    read_text(r, "weights", &g->weights) < 0 ||
	    get_uint(r->m, "weights_bytes", 0, UINT64_MAX, &g->weights_bytes, r->e) < 0 ||
	    get_uint(r->m, "ir_version", 0, UINT32_MAX, &ir_version, r->e) < 0 ||
	    read_columns(r, 0) < 0 || read_tail(r) < 0 ||
	    get_uint(r->m, "n_sets", 0, g->n, &n_sets, r->e) < 0 ||
	    read_vector(r, "set", TT_U32, g->n, &g->set) < 0)
		return -1;
	g->ir_version = (uint32_t)ir_version;
	g->n_sets = (uint32_t)n_sets;
	if (graph_check(g, r->e) < 0)
		return -1;
	body_count_runs(g);
	graph_finish(g);
	return 0;
}

/* Shares of parts: rows of them, and which row each node of the whole has. */
static int read_shares(struct reading *r, struct graph_cut *c)
{
	uint64_t n = UINT64_MAX;
	if (get_tensor(r->m, "share", TT_U32, 1, &n, r->a, &c->share, r->e) < 0)
		return -1;
	c->rows = (uint32_t)(n / c->ways);
	if (n != (uint64_t)c->rows * c->ways || c->rows == 0)
		return err_set(r->e, ST_INPUT, "key 'share': %llu shares of %u parts",
			       (unsigned long long)n, c->ways);
	for (uint64_t i = 0; i < n; i++)
		if (c->share[i] == 0 || c->share[i] > 1000000)
			return err_set(r->e, ST_INPUT, "key 'share': part %u has %s",
				       (uint32_t)(i % c->ways),
				       c->share[i] ? "more than a million" : "none");
	if (!val_get(r->m, "share_of"))
		return 0;
	if (read_vector(r, "share_of", TT_U8, r->g->whole->n, &c->share_of) < 0)
		return -1;
	for (uint32_t v = 0; v < r->g->whole->n; v++)
		if (c->share_of[v] >= c->rows)
			return err_set(r->e, ST_INPUT, "key 'share_of': there is no row %u",
				       c->share_of[v]);
	return 0;
}

/* The plan: its axes are checked by who cuts by it (split_graph). */
static int read_cut(struct reading *r)
{
	const struct val *m;
	uint64_t ways = UINT64_MAX;
	if (get_map(r->m, "cut", &m, r->e) < 0)
		return -1;
	struct graph_cut *c = r->g->cut = ARENA_NEWN(r->a, struct graph_cut, 1);
	struct reading inner = {m, r->g, r->a, r->e};
	if (read_vector(&inner, "axis", TT_I8, r->g->whole->n, &c->axis) < 0 ||
	    get_tensor(m, "group", TT_U8, 1, &ways, r->a, &c->group, r->e) < 0)
		return err_prefix(r->e, "key 'cut'");
	if (ways < 2 || ways > GRAPH_CUT_WAYS)
		return err_set(r->e, ST_INPUT, "key 'cut': key 'group': %llu parts",
			       (unsigned long long)ways);
	c->ways = (uint32_t)ways;
	if (read_shares(&inner, c) < 0 || get_bool(m, "again", &c->again, r->e) < 0 ||
	    get_bool(m, "apart", &c->apart, r->e) < 0)
		return err_prefix(r->e, "key 'cut'");
	for (uint32_t p = 0; p < c->ways; p++)
		if (c->group[p] >= 32)
			return err_set(r->e, ST_INPUT, "key 'cut': key 'group': %u", c->group[p]);
	return 0;
}

/* The graph before dagsplit, which takes and gives what the parts take and give. */
static int read_whole(struct reading *r)
{
	const struct val *m;
	if (!val_get(r->m, "whole"))
		return 0;
	if (get_map(r->m, "whole", &m, r->e) < 0)
		return -1;
	struct graph *g = r->g->whole = ARENA_NEWN(r->a, struct graph, 1);
	g->arena = r->a;
	struct reading inner = {m, g, r->a, r->e};
	if (read_graph(&inner) < 0)
		return err_prefix(r->e, "key 'whole'");
	if (read_vector(r, "part_of", TT_U32, r->g->n, &r->g->part_of) < 0)
		return -1;
	for (uint32_t v = 0; v < r->g->n; v++)
		if (r->g->part_of[v] != GRAPH_NONE && r->g->part_of[v] >= g->n)
			return err_set(r->e, ST_INPUT, "key 'part_of': %u is not one of %u nodes",
				       r->g->part_of[v], g->n);
	if (val_get(r->m, "part") && read_vector(r, "part", TT_U32, r->g->n, &r->g->part) < 0)
		return -1;
	return val_get(r->m, "cut") ? read_cut(r) : 0;
}

/* Has a case the edges and outputs of g, which has as many nodes? */
static bool same_wires(const struct graph *c, const struct graph *g)
{
	size_t ptr = ((size_t)g->n + 1) * sizeof *g->in_ptr;
	if (memcmp(c->in_ptr, g->in_ptr, ptr) != 0 || memcmp(c->out_ptr, g->out_ptr, ptr) != 0)
		return false;
	size_t in = g->in_ptr[g->n] * sizeof *g->in_node;
	return in == 0 ||
	       (memcmp(c->in_node, g->in_node, in) == 0 && memcmp(c->in_port, g->in_port, in) == 0);
}

/* A case: g with other shapes. */
static int read_case(struct reading *r, bool first, struct graph_case *x)
{
	struct graph *g = r->g, *c = x->graph = first ? g : ARENA_NEWN(r->a, struct graph, 1);
	if (val_type(r->m) != VAL_MAP)
		return err_set(r->e, ST_INPUT, "not a map");
	if (read_text(r, "name", &x->name) < 0 || get_real(r->m, "weight", &x->weight, r->e) < 0)
		return -1;
	if (!(x->weight > 0 && x->weight < 1e12))
		return err_set(r->e, ST_INPUT, "a weight that is not above 0");
	if (val_get(r->m, "n_between") && (get_u32(r->m, "n_between", 0, &x->n_between, r->e) < 0 ||
					   get_real(r->m, "between", &x->between, r->e) < 0))
		return -1;
	if (val_get(r->m, "tokens") &&
	    get_uint(r->m, "tokens", 0, UINT64_MAX, &x->tokens, r->e) < 0)
		return -1;
	if (first)
		return 0;
	*c = *g;
	c->n_cases = 0;
	struct reading inner = {r->m, c, r->a, r->e};
	if (read_columns(&inner, 0) < 0)
		return -1;
	if (c->n != g->n)
		return err_set(r->e, ST_INPUT, "%u nodes, where the first case has %u", c->n, g->n);
	if (!same_wires(c, g))
		return err_set(r->e, ST_INPUT, "other edges or outputs than the first case has");
	if (graph_check(c, r->e) < 0)
		return -1;
	graph_finish(c);
	return 0;
}

static int read_cases(struct reading *r)
{
	struct graph *g = r->g;
	const struct val *list;
	if (!val_get(r->m, "cases"))
		return 0;
	if (get_list(r->m, "cases", &list, r->e) < 0)
		return -1;
	uint32_t n = (uint32_t)val_count(list);
	struct graph_case *x = ARENA_NEWN(r->a, struct graph_case, n);
	for (uint32_t i = 0; i < n; i++) {
		struct reading inner = {val_at(list, i), g, r->a, r->e};
		if (read_case(&inner, i == 0, &x[i]) < 0)
			return err_prefix(r->e, "key 'cases': %u", i);
	}
	if (n < 2 || n > GRAPH_MAX_CASES)
		return err_set(r->e, ST_INPUT, "key 'cases': %u, not 2 to %d", n, GRAPH_MAX_CASES);
	g->n_cases = n;
	g->cases = x;
	if (val_get(r->m, "over") && get_real(r->m, "over", &g->over, r->e) < 0)
		return -1;
	return g->over >= 0 && g->over <= CASES_WORST
		       ? 0
		       : err_set(r->e, ST_INPUT, "key 'over': no percentile");
}

struct graph *graph_decode(const struct rec *rec, struct err *e)
{
	struct graph *g = graph_new();
	struct reading r = {rec->map, g, g->arena, e};
	if (read_graph(&r) == 0 && read_whole(&r) == 0 && read_cases(&r) == 0)
		return g;
	err_prefix(e, "record %llu 'graph'", (unsigned long long)rec->index);
	graph_free(g);
	return NULL;
}

int graph_decode_size(const struct rec *r, uint64_t *digest, uint32_t *n_sets, struct err *e)
{
	uint64_t n;
	if (get_uint(r->map, "digest", 0, UINT64_MAX, digest, e) < 0 ||
	    get_uint(r->map, "n_sets", 0, UINT32_MAX - 1, &n, e) < 0)
		return err_prefix(e, "graph");
	*n_sets = (uint32_t)n;
	return 0;
}
