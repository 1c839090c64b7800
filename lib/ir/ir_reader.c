/* ir_reader.c - from the elements of an IR to a raw network: which element may stand
 * where.  What is not known is skipped, as OpenVINO does; ir_layer.c knows layers,
 * finish.c resolves the rest. */
#include "ir/ir_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/ir.h"
#include "ir/packed.h"
#include "ir/weights.h"
#include "record/graphrec.h"

static int maybe_int(struct ir_reader *r, const char *element, const struct xml_attr *a, int n,
		     const char *name, int64_t otherwise, int64_t *out, struct err *e)
{
	*out = otherwise;
	return find_attr(a, n, name) ? need_int(r, element, a, n, name, INT64_MIN + 1, out, e) : 0;
}

static bool value_is(const struct xml_attr *a, const char *value)
{
	return a && a->len == strlen(value) && memcmp(a->value, value, a->len) == 0;
}

/* ---- edges, port maps ---- */

static int open_edge(struct ir_reader *r, const struct xml_attr *a, int n, struct err *e)
{
	struct raw_edge d = {.line = r->xml.line};
	if (need_int(r, "edge", a, n, "from-layer", 0, &d.from, e) < 0 ||
	    need_int(r, "edge", a, n, "from-port", 0, &d.from_port, e) < 0 ||
	    need_int(r, "edge", a, n, "to-layer", 0, &d.to, e) < 0 ||
	    need_int(r, "edge", a, n, "to-port", 0, &d.to_port, e) < 0)
		return -1;
	*VEC_ADD(net_of(r)->edge) = d;
	*VEC_ADD(r->place) = AT_EDGE;
	return 0;
}

static int open_back_edge(struct ir_reader *r, const struct xml_attr *a, int n, struct err *e)
{
	struct raw_back d = {.line = r->xml.line};
	if (need_int(r, "edge", a, n, "from-layer", 0, &d.from, e) < 0 ||
	    need_int(r, "edge", a, n, "to-layer", 0, &d.to, e) < 0)
		return -1;
	*VEC_ADD(net_of(r)->back) = d;
	*VEC_ADD(r->place) = AT_BACK_EDGE;
	return 0;
}

static int open_map_item(struct ir_reader *r, bool output, const struct xml_attr *a, int n,
			 struct err *e)
{
	struct raw_map m = {.map.output = output, .role = r->map_role, .line = r->xml.line};
	const char *what = output ? "output" : "input";
	const struct xml_attr *purpose = find_attr(a, n, "purpose");
	if (need_int(r, what, a, n, "external_port_id", -1, &m.map.external, e) < 0 ||
	    need_int(r, what, a, n, "internal_layer_id", 0, &m.internal, e) < 0)
		return -1;
	m.map.condition = value_is(purpose, "execution_condition");
	m.map.counter = value_is(purpose, "current_iteration");
	m.map.has_axis = find_attr(a, n, "axis") != NULL;
	if (m.map.has_axis && (maybe_int(r, what, a, n, "axis", 0, &m.map.axis, e) < 0 ||
			       maybe_int(r, what, a, n, "start", 0, &m.map.start, e) < 0 ||
			       maybe_int(r, what, a, n, "end", -1, &m.map.end, e) < 0 ||
			       maybe_int(r, what, a, n, "stride", 1, &m.map.stride, e) < 0 ||
			       maybe_int(r, what, a, n, "part_size", 1, &m.map.part_size, e) < 0))
		return -1;
	*VEC_ADD(net_of(r)->map) = m;
	*VEC_ADD(r->place) = AT_MAP_ITEM;
	return 0;
}

/* ---- networks ---- */

static int open_net(struct ir_reader *r, const char *name, const struct xml_attr *a, int n,
		    struct err *e)
{
	int64_t version;
	char text[60];
	if (strcmp(name, "net") != 0)
		return reader_fail(r, e, "not an OpenVINO IR: the root element is <%s>, not <net>",
				   err_escape(text, sizeof text, name, strlen(name)));
	if (need_int(r, "net", a, n, "version", 0, &version, e) < 0)
		return -1;
	if (version != 10 && version != 11)
		return reader_fail(r, e,
				   "IR version %" PRId64
				   " is not supported; versions 10 and 11 are, "
				   "convert the original model again",
				   version);
	const struct xml_attr *title = find_attr(a, n, "name");
	r->g->ir_version = (uint32_t)version;
	r->g->name = title ? intern_add(r->strings, title->value, title->len) : "";
	*VEC_ADD(r->net) = (struct raw_net){0};
	*VEC_ADD(r->place) = AT_NET;
	return 0;
}

static int open_body(struct ir_reader *r, const char *role, struct err *e)
{
	struct raw_net *net = net_of(r);
	if (r->net.n > GRAPH_MAX_DEPTH)
		return reader_fail(r, e, "bodies nested deeper than %d", GRAPH_MAX_DEPTH);
	for (size_t i = 0; i < net->pending.n; i++)
		if (strcmp(net->pending.v[i].role, role) == 0)
			return reader_fail(r, e, "a second body of the same kind");
	*VEC_ADD(net->pending) = (struct raw_body){.role = role};
	*VEC_ADD(r->net) = (struct raw_net){0};
	*VEC_ADD(r->place) = AT_NET;
	return 0;
}

static int close_net(struct ir_reader *r, struct err *e)
{
	struct graph *g = r->net.n == 1 ? r->g : ARENA_NEWN(r->g->arena, struct graph, 1);
	if (r->net.n > 1) {
		g->name = g->xml = g->weights = "";
		g->ir_version = r->g->ir_version;
	}
	int rc = raw_finish(net_of(r), &r->src, g, e);
	raw_free(net_of(r));
	r->net.n--;
	if (r->net.n)
		net_of(r)->pending.v[net_of(r)->pending.n - 1].graph = g;
	return rc;
}

/* ---- which element may stand where ---- */

static int open_section(struct ir_reader *r, bool *seen, enum place at, const char *name,
			struct err *e)
{
	if (*seen)
		return reader_fail(r, e, "a second <%s>", name);
	*seen = true;
	*VEC_ADD(r->place) = (uint8_t)at;
	return 0;
}

static int open_in_layer(struct ir_reader *r, const char *name, const struct xml_attr *a, int n,
			 struct err *e)
{
	static const struct {
		const char *name;
		enum place at;
		const char *role;
	} inner[] = {{"input", AT_INPUT, NULL},         {"output", AT_OUTPUT, NULL},
		     {"port_map", AT_MAP, "body"},      {"then_port_map", AT_MAP, "then"},
		     {"else_port_map", AT_MAP, "else"}, {"back_edges", AT_BACK, "body"},
		     {"body", AT_NET, "body"},          {"then_body", AT_NET, "then"},
		     {"else_body", AT_NET, "else"}};
	if (strcmp(name, "data") == 0) {
		open_data(r, a, n);
		return 0;
	}
	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		if (strcmp(name, inner[i].name) == 0) {
			if (inner[i].at == AT_NET)
				return open_body(r, inner[i].role, e);
			r->map_role = inner[i].role;
			*VEC_ADD(r->place) = (uint8_t)inner[i].at;
			return 0;
		}
	*VEC_ADD(r->place) = AT_SKIP;
	return 0;
}

static int on_open(void *ctx, const char *name, const struct xml_attr *a, int n, struct err *e)
{
	struct ir_reader *r = ctx;
	bool port = strcmp(name, "port") == 0, edge = strcmp(name, "edge") == 0;
	bool in = strcmp(name, "input") == 0, out = strcmp(name, "output") == 0;
	enum place at = r->place.n ? r->place.v[r->place.n - 1] : AT_DOCUMENT;
	if (at == AT_DOCUMENT)
		return open_net(r, name, a, n, e);
	if (at == AT_NET && strcmp(name, "layers") == 0)
		return open_section(r, &net_of(r)->has_layers, AT_LAYERS, name, e);
	if (at == AT_NET && strcmp(name, "edges") == 0)
		return open_section(r, &net_of(r)->has_edges, AT_EDGES, name, e);
	if (at == AT_LAYERS && strcmp(name, "layer") == 0)
		return open_layer(r, a, n, e);
	if (at == AT_LAYER)
		return open_in_layer(r, name, a, n, e);
	if (at == AT_INPUT && port)
		return open_in_port(r, a, n, e);
	if (at == AT_OUTPUT && port)
		return open_out_port(r, a, n, e);
	if (at == AT_EDGES && edge)
		return open_edge(r, a, n, e);
	if (at == AT_BACK && edge)
		return open_back_edge(r, a, n, e);
	if (at == AT_MAP && (in || out))
		return open_map_item(r, out, a, n, e);
	if ((at == AT_IN_PORT || at == AT_OUT_PORT) && strcmp(name, "dim") == 0) {
		r->n_dim = 0;
		*VEC_ADD(r->place) = AT_DIM;
		return 0;
	}
	*VEC_ADD(r->place) = AT_SKIP;
	return 0;
}

static int on_close(void *ctx, struct err *e)
{
	struct ir_reader *r = ctx;
	enum place at = r->place.v[r->place.n - 1];
	int rc = at == AT_LAYER ? close_layer(r, e) : at == AT_NET ? close_net(r, e) : 0;
	r->place.n--;
	return at == AT_DIM ? close_dim(r, e) : rc;
}

static int on_text(void *ctx, const char *s, size_t n, struct err *e)
{
	struct ir_reader *r = ctx;
	if (r->place.n == 0 || r->place.v[r->place.n - 1] != AT_DIM)
		return 0;
	if (n > sizeof r->dim - r->n_dim)
		return reader_fail(r, e, "<dim> is too long to be an integer");
	memcpy(r->dim + r->n_dim, s, n);
	r->n_dim += n;
	return 0;
}

/* ---- files ---- */

const char *ir_beside(const char *xml, const char *ending, struct arena *a)
{
	size_t n = strlen(xml);
	if (n > 4 && strcmp(xml + n - 4, ".xml") == 0)
		n -= 4;
	const char *path = arena_printf(a, "%.*s%s", (int)n, xml, ending);
	for (const char *const *s = packed_suffix; access(path, F_OK) != 0; s++) {
		if (!*s)
			return NULL;
		path = arena_printf(a, "%.*s%s%s", (int)n, xml, ending, *s);
	}
	return path;
}

static int absolute(const char *path, struct arena *a, const char **out, struct err *e)
{
	char *p = realpath(path, NULL), name[300];
	if (!p)
		return err_sys(e, ST_RUNTIME, "cannot open '%s'",
			       err_escape(name, sizeof name, path, strlen(path)));
	*out = arena_strndup(a, p, strlen(p));
	free(p);
	return 0;
}

/* How many bytes compressed weights hold is known when the constants are. */
static int find_weights(struct ir_reader *r, const char *path, struct err *e)
{
	struct arena *a = r->g->arena;
	const char *bin = r->opt && r->opt->weights ? r->opt->weights : ir_beside(path, ".bin", a);
	char name[300];
	struct stat st;
	if (!bin)
		return 0;
	err_escape(name, sizeof name, bin, strlen(bin));
	if (stat(bin, &st) < 0)
		return err_sys(e, ST_RUNTIME, "cannot open weights '%s'", name);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ST_INPUT, "weights '%s' are not a regular file", name);
	r->has_weights = !packed_is(bin);
	r->weights_bytes = r->g->weights_bytes = (uint64_t)st.st_size;
	return absolute(bin, a, &r->g->weights, e);
}

static int check_packed(struct graph *g, struct err *e)
{
	struct weights w;
	if (!packed_is(g->weights))
		return 0;
	if (weights_open(&w, g->weights, g, e) < 0)
		return -1;
	g->weights_bytes = w.bytes;
	int rc = weights_check(&w, g, e);
	weights_close(&w);
	return rc;
}

static void reader_release(struct ir_reader *r)
{
	while (r->net.n)
		raw_free(&r->net.v[--r->net.n]);
	mem_free(r->net.v);
	mem_free(r->place.v);
	intern_free(r->strings);
}

struct graph *ir_read(const char *path, const struct ir_options *opt, struct ir_report *rep,
		      struct err *e)
{
	struct graph *g = graph_new();
	struct ir_reader r = {.opt = opt, .g = g, .strings = intern_new(g->arena)};
	uint64_t xml_bytes = 0;
	r.src = (struct raw_source){path, g->arena, &r.n_dropped};
	r.xml = (struct xml_handler){
		.ctx = &r, .open = on_open, .close = on_close, .text = on_text};
	int rc = absolute(path, g->arena, &g->xml, e);
	if (rc == 0 && !(opt && opt->no_weights))
		rc = find_weights(&r, path, e);
	if (rc == 0)
		rc = xml_parse(path, &r.xml, &xml_bytes, e);
	if (rc == 0)
		rc = check_packed(g, e);
	if (rep)
		*rep = (struct ir_report){xml_bytes, r.n_layers, r.n_dropped};
	reader_release(&r);
	if (rc < 0) {
		graph_free(g);
		return NULL;
	}
	return g;
}
