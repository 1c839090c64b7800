/* reader.c - from the elements of an IR to a raw network: which element may stand
 * where, and what its attributes mean.  What is not known is skipped, as
 * OpenVINO does; finish.c resolves the rest. */
#include "ir/ir.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/graphrec.h"
#include "graph/optype.h"
#include "ir/raw.h"
#include "ir/xml.h"

enum place {
	AT_DOCUMENT, AT_NET, AT_LAYERS, AT_LAYER, AT_DATA, AT_INPUT, AT_OUTPUT, AT_IN_PORT, AT_OUT_PORT,
	AT_DIM, AT_EDGES, AT_EDGE, AT_MAP, AT_MAP_ITEM, AT_BACK, AT_BACK_EDGE, AT_SKIP
};

struct reader {
	struct xml_handler xml;
	struct raw_source src;
	struct intern *strings;
	const struct ir_options *opt;
	struct graph *g;
	uint64_t weights_bytes;
	bool has_weights;
	VEC(uint8_t) place;        /* the elements that are open */
	VEC(struct raw_net) net;   /* the network and the bodies that are open */
	const char *map_role;      /* of the port map or body that is open */
	char dim[32];              /* text of a <dim> */
	size_t n_dim;
	uint32_t n_layers, n_dropped;
};

static struct raw_net *net_of(struct reader *r)
{
	return &r->net.v[r->net.n - 1];
}

static struct raw_layer *layer_of(struct reader *r)
{
	struct raw_net *net = net_of(r);
	return &net->layer.v[net->layer.n - 1];
}

static int fail(struct reader *r, struct err *e, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* An error at the current line, in the layer that is open, if one is. */
static int fail(struct reader *r, struct err *e, const char *fmt, ...)
{
	char what[400];
	uint32_t layer = GRAPH_NONE;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	for (size_t i = r->place.n; i-- > 0 && layer == GRAPH_NONE;)
		if (r->place.v[i] == AT_EDGES)
			break;
		else if (r->place.v[i] == AT_LAYER && net_of(r)->layer.n)
			layer = (uint32_t)net_of(r)->layer.n - 1;
		else if (r->place.v[i] == AT_NET)
			break;
	return raw_error(&r->src, r->net.n ? net_of(r) : NULL, layer, r->xml.line, e, "%s", what);
}

/* ---- attributes ---- */

static const struct xml_attr *find(const struct xml_attr *a, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(a[i].name, name) == 0)
			return &a[i];
	return NULL;
}

static int need(struct reader *r, const char *element, const struct xml_attr *a, int n, const char *name,
		const struct xml_attr **out, struct err *e)
{
	*out = find(a, n, name);
	return *out ? 0 : fail(r, e, "<%s> without the attribute '%s'", element, name);
}

static int need_int(struct reader *r, const char *element, const struct xml_attr *a, int n,
		    const char *name, int64_t lo, int64_t *out, struct err *e)
{
	const struct xml_attr *x;
	char value[80];
	if (need(r, element, a, n, name, &x, e) < 0)
		return -1;
	if (parse_int(x->value, x->len, lo, out))
		return 0;
	return fail(r, e, "<%s %s=\"%s\">: not an integer >= %" PRId64, element, name,
		    err_escape(value, sizeof value, x->value, x->len), lo);
}

static int maybe_int(struct reader *r, const char *element, const struct xml_attr *a, int n,
		     const char *name, int64_t otherwise, int64_t *out, struct err *e)
{
	*out = otherwise;
	return find(a, n, name) ? need_int(r, element, a, n, name, INT64_MIN + 1, out, e) : 0;
}

static bool is(const struct xml_attr *a, const char *value)
{
	return a && a->len == strlen(value) && memcmp(a->value, value, a->len) == 0;
}

/* ---- layers ---- */

static enum raw_kind kind_of(const char *type)
{
	static const struct { const char *type; enum raw_kind kind; } kinds[] = {
		{"Parameter", RAW_PARAMETER}, {"Result", RAW_RESULT}, {"Assign", RAW_ASSIGN},
		{"Const", RAW_CONST}, {"If", RAW_IF}, {"Loop", RAW_LOOP}, {"TensorIterator", RAW_LOOP},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(type, kinds[i].type) == 0)
			return kinds[i].kind;
	return RAW_OTHER;
}

/* opset1 and up, "extension" and "experimental". */
static bool known_opset(const char *s, bool *any_type)
{
	enum { LAST_OPSET = 17 };
	int64_t k;
	*any_type = strcmp(s, "extension") == 0 || strcmp(s, "experimental") == 0;
	return *any_type || (strncmp(s, "opset", 5) == 0 && isdigit((unsigned char)s[5]) &&
			     parse_int(s + 5, strlen(s + 5), 1, &k) && k <= LAST_OPSET);
}

static int open_layer(struct reader *r, const struct xml_attr *a, int n, struct err *e)
{
	struct raw_net *net = net_of(r);
	const struct xml_attr *name, *type, *version;
	int64_t id;
	if (need_int(r, "layer", a, n, "id", 0, &id, e) < 0 || need(r, "layer", a, n, "name", &name, e) < 0 ||
	    need(r, "layer", a, n, "type", &type, e) < 0)
		return -1;
	if (net->layer.n >= INT32_MAX || net->in.n >= INT32_MAX || net->out.n >= INT32_MAX ||
	    net->attr.n >= INT32_MAX || net->dim.n >= INT32_MAX)
		return fail(r, e, "too many layers, ports or attributes");
	struct raw_layer *l = VEC_ADD(net->layer);
	*l = (struct raw_layer){
		.id = id, .name = intern_add(r->strings, name->value, name->len), .line = r->xml.line,
		.attr = (uint32_t)net->attr.n, .in = (uint32_t)net->in.n, .out = (uint32_t)net->out.n,
		.type = intern_add(r->strings, type->value, type->len), .opset = ""
	};
	*VEC_ADD(r->place) = AT_LAYER;
	r->n_layers++;
	if (need(r, "layer", a, n, "version", &version, e) < 0)
		return -1;
	l->opset = intern_add(r->strings, version->value, version->len);
	char text[100];
	bool any_type, any = r->opt && r->opt->any_operator;
	if (!known_opset(l->opset, &any_type) && !any)
		return fail(r, e, "unknown opset '%s'; --any-operator accepts it",
			    err_escape(text, sizeof text, version->value, version->len));
	int t = optype_find(l->type);
	if (t >= 0)
		l->type = intern_add(r->strings, optype_name(t), strlen(optype_name(t)));
	else if (!any_type && !any)
		return fail(r, e, "unknown operator type '%s' of %s; --any-operator accepts it",
			    err_escape(text, sizeof text, type->value, type->len), l->opset);
	l->kind = kind_of(l->type);
	for (int i = 0; i < n; i++)   /* newer files say more about a layer here */
		if (&a[i] != name && &a[i] != type && &a[i] != version && strcmp(a[i].name, "id") != 0)
			*VEC_ADD(net->attr) = (struct raw_attr){
				intern_add(r->strings, a[i].name, strlen(a[i].name)),
				intern_add(r->strings, a[i].value, a[i].len)};
	return 0;
}

static void open_data(struct reader *r, const struct xml_attr *a, int n)
{
	for (int i = 0; i < n; i++)
		*VEC_ADD(net_of(r)->attr) = (struct raw_attr){
			intern_add(r->strings, a[i].name, strlen(a[i].name)),
			intern_add(r->strings, a[i].value, a[i].len)};
	*VEC_ADD(r->place) = AT_DATA;
}

static const char *data_value(struct reader *r, const char *key)
{
	const struct raw_net *net = net_of(r);
	for (size_t i = layer_of(r)->attr; i < net->attr.n; i++)
		if (strcmp(net->attr.v[i].key, key) == 0)
			return net->attr.v[i].value;
	return NULL;
}

/* The one output of a Parameter or Const: element type and room for its shape. */
static int source_output(struct reader *r, struct raw_out **out, const char **shape, struct err *e)
{
	struct raw_net *net = net_of(r);
	const struct raw_layer *l = layer_of(r);
	const char *elem = data_value(r, "element_type");
	char text[60];
	*shape = data_value(r, "shape");
	if (!elem || !*shape)
		return fail(r, e, "<data> without the attribute '%s'", elem ? "shape" : "element_type");
	if (net->in.n != l->in || net->out.n - l->out != 1)
		return fail(r, e, "%s has no inputs and one output, not %zu and %zu", l->type,
			    net->in.n - l->in, net->out.n - l->out);
	int t = elem_parse(elem);
	if (t < 0)
		return fail(r, e, "unknown element type '%s'",
			    err_escape(text, sizeof text, elem, strlen(elem)));
	*out = &net->out.v[l->out];
	(*out)->elem = (enum elem)t;
	net->dim.n = (*out)->dim;
	return 0;
}

static int close_parameter(struct reader *r, struct err *e)
{
	struct raw_out *out;
	const char *shape;
	char text[120];
	if (source_output(r, &out, &shape, e) < 0)
		return -1;
	if (!parse_partial_shape(net_of(r), shape, &out->rank))
		return fail(r, e, "malformed shape '%s'; sizes, ranges such as 1..8, '?' or '...'",
			    err_escape(text, sizeof text, shape, strlen(shape)));
	return 0;
}

static int close_const(struct reader *r, struct err *e)
{
	struct raw_out *out;
	const char *shape;
	char text[120];
	uint64_t count, bytes, size, offset, end;
	if (source_output(r, &out, &shape, e) < 0)
		return -1;
	if (!parse_const_shape(net_of(r), shape, &out->rank, &count))
		return fail(r, e, "malformed shape '%s' of a constant",
			    err_escape(text, sizeof text, shape, strlen(shape)));
	const char *o = data_value(r, "offset"), *s = data_value(r, "size");
	if (!o || !parse_u64(o, strlen(o), &offset))
		return fail(r, e, "'offset' of a constant is missing or not a number of bytes");
	if (!s || !parse_u64(s, strlen(s), &size))
		return fail(r, e, "'size' of a constant is missing or not a number of bytes");
	if (__builtin_add_overflow(offset, size, &end) || end > INT64_MAX)
		return fail(r, e, "constant at offset %" PRIu64 " of %" PRIu64 " bytes: too large", offset, size);
	if (out->elem == EL_DYNAMIC)
		return fail(r, e, "constant of a dynamic element type");
	if (out->elem == EL_STRING) {
		bytes = size;
	} else if (!elem_bytes(out->elem, count, &bytes) || bytes > size) {
		return fail(r, e, "constant has %" PRIu64 " bytes, too few for %s[%s]", size,
			    elem_name(out->elem), err_escape(text, sizeof text, shape, strlen(shape)));
	}
	if (r->has_weights && end > r->weights_bytes)
		return fail(r, e, "constant at bytes %" PRIu64 " + %" PRIu64 " lies beyond the weights file, "
			    "which has %" PRIu64 " bytes; is it the .bin of this model?", offset, size,
			    r->weights_bytes);
	*VEC_ADD(net_of(r)->constant) =
		(struct raw_const){(uint32_t)net_of(r)->layer.n - 1, offset, bytes};
	return 0;
}

static int close_layer(struct reader *r, struct err *e)
{
	struct raw_net *net = net_of(r);
	int64_t id;
	int rc = 0;
	if (layer_of(r)->kind == RAW_PARAMETER)
		rc = close_parameter(r, e);
	else if (layer_of(r)->kind == RAW_CONST)
		rc = close_const(r, e);
	if (rc == 0 && !raw_index_ports(net, &id))
		rc = fail(r, e, "two ports have the id %" PRId64, id);
	if (rc == 0 && (net->pending.n || layer_of(r)->kind == RAW_IF || layer_of(r)->kind == RAW_LOOP))
		rc = raw_finish_bodies(net, &r->src, e);
	net->map.n = net->back.n = 0;
	return rc;
}

/* ---- ports ---- */

static int open_in_port(struct reader *r, const struct xml_attr *a, int n, struct err *e)
{
	int64_t id;
	if (need_int(r, "port", a, n, "id", 0, &id, e) < 0)
		return -1;
	*VEC_ADD(net_of(r)->in) = id;
	*VEC_ADD(r->place) = AT_IN_PORT;
	return 0;
}

static int open_out_port(struct reader *r, const struct xml_attr *a, int n, struct err *e)
{
	struct raw_net *net = net_of(r);
	const struct xml_attr *precision, *names = find(a, n, "names");
	char text[60];
	int64_t id;
	if (need_int(r, "port", a, n, "id", 0, &id, e) < 0 || need(r, "port", a, n, "precision", &precision, e) < 0)
		return -1;
	int t = elem_parse(err_escape(text, sizeof text, precision->value, precision->len));
	if (t < 0)
		return fail(r, e, "unknown precision '%s' of output port %" PRId64, text, id);
	*VEC_ADD(net->out) = (struct raw_out){
		.id = id, .elem = (enum elem)t, .dim = (uint32_t)net->dim.n,
		.names = names ? intern_add(r->strings, names->value, names->len) : ""};
	*VEC_ADD(r->place) = AT_OUT_PORT;
	return 0;
}

static int close_dim(struct reader *r, struct err *e)
{
	struct raw_net *net = net_of(r);
	char text[60];
	int64_t d;
	if (!parse_int(r->dim, r->n_dim, DIM_DYNAMIC, &d))
		return fail(r, e, "dimension '%s' is not an integer >= -1",
			    err_escape(text, sizeof text, r->dim, r->n_dim));
	if (r->place.v[r->place.n - 1] == AT_IN_PORT)
		return 0;   /* what the edge brings counts */
	struct raw_out *out = &net->out.v[net->out.n - 1];
	if (out->rank == RANK_DYNAMIC - 1)
		return fail(r, e, "more than %d dimensions", RANK_DYNAMIC - 1);
	out->rank++;
	*VEC_ADD(net->dim) = d;
	return 0;
}

/* ---- edges, port maps ---- */

static int open_edge(struct reader *r, const struct xml_attr *a, int n, struct err *e)
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

static int open_back_edge(struct reader *r, const struct xml_attr *a, int n, struct err *e)
{
	struct raw_back d = {.line = r->xml.line};
	if (need_int(r, "edge", a, n, "from-layer", 0, &d.from, e) < 0 ||
	    need_int(r, "edge", a, n, "to-layer", 0, &d.to, e) < 0)
		return -1;
	*VEC_ADD(net_of(r)->back) = d;
	*VEC_ADD(r->place) = AT_BACK_EDGE;
	return 0;
}

static int open_map_item(struct reader *r, bool output, const struct xml_attr *a, int n, struct err *e)
{
	struct raw_map m = {.map.output = output, .role = r->map_role, .line = r->xml.line};
	const char *what = output ? "output" : "input";
	const struct xml_attr *purpose = find(a, n, "purpose");
	if (need_int(r, what, a, n, "external_port_id", -1, &m.map.external, e) < 0 ||
	    need_int(r, what, a, n, "internal_layer_id", 0, &m.internal, e) < 0)
		return -1;
	m.map.condition = is(purpose, "execution_condition");
	m.map.counter = is(purpose, "current_iteration");
	m.map.has_axis = find(a, n, "axis") != NULL;
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

static int open_net(struct reader *r, const char *name, const struct xml_attr *a, int n, struct err *e)
{
	int64_t version;
	char text[60];
	if (strcmp(name, "net") != 0)
		return fail(r, e, "not an OpenVINO IR: the root element is <%s>, not <net>",
			    err_escape(text, sizeof text, name, strlen(name)));
	if (need_int(r, "net", a, n, "version", 0, &version, e) < 0)
		return -1;
	if (version != 10 && version != 11)
		return fail(r, e, "IR version %" PRId64 " is not supported; versions 10 and 11 are, "
			    "convert the original model again", version);
	const struct xml_attr *title = find(a, n, "name");
	r->g->ir_version = (uint32_t)version;
	r->g->name = title ? intern_add(r->strings, title->value, title->len) : "";
	*VEC_ADD(r->net) = (struct raw_net){0};
	*VEC_ADD(r->place) = AT_NET;
	return 0;
}

static int open_body(struct reader *r, const char *role, struct err *e)
{
	struct raw_net *net = net_of(r);
	for (size_t i = 0; i < net->pending.n; i++)
		if (strcmp(net->pending.v[i].role, role) == 0)
			return fail(r, e, "a second body of the same kind");
	*VEC_ADD(net->pending) = (struct raw_body){.role = role};
	*VEC_ADD(r->net) = (struct raw_net){0};
	*VEC_ADD(r->place) = AT_NET;
	return 0;
}

static int close_net(struct reader *r, struct err *e)
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

static int open_section(struct reader *r, bool *seen, enum place at, const char *name, struct err *e)
{
	if (*seen)
		return fail(r, e, "a second <%s>", name);
	*seen = true;
	*VEC_ADD(r->place) = (uint8_t)at;
	return 0;
}

static int open_in_layer(struct reader *r, const char *name, const struct xml_attr *a, int n, struct err *e)
{
	static const struct { const char *name; enum place at; const char *role; } inner[] = {
		{"input", AT_INPUT, NULL}, {"output", AT_OUTPUT, NULL}, {"port_map", AT_MAP, "body"},
		{"then_port_map", AT_MAP, "then"}, {"else_port_map", AT_MAP, "else"},
		{"back_edges", AT_BACK, "body"}, {"body", AT_NET, "body"}, {"then_body", AT_NET, "then"},
		{"else_body", AT_NET, "else"},
	};
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
	struct reader *r = ctx;
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
	struct reader *r = ctx;
	enum place at = r->place.v[r->place.n - 1];
	int rc = at == AT_LAYER ? close_layer(r, e) : at == AT_NET ? close_net(r, e) : 0;
	r->place.n--;
	return at == AT_DIM ? close_dim(r, e) : rc;
}

static int on_text(void *ctx, const char *s, size_t n, struct err *e)
{
	struct reader *r = ctx;
	if (r->place.n == 0 || r->place.v[r->place.n - 1] != AT_DIM)
		return 0;
	if (n > sizeof r->dim - r->n_dim)
		return fail(r, e, "<dim> is too long to be an integer");
	memcpy(r->dim + r->n_dim, s, n);
	r->n_dim += n;
	return 0;
}

/* ---- files ---- */

/* MODEL.bin beside MODEL.xml. */
static char *default_weights(struct arena *a, const char *path)
{
	size_t n = strlen(path);
	if (n > 4 && strcmp(path + n - 4, ".xml") == 0)
		n -= 4;
	return arena_printf(a, "%.*s.bin", (int)n, path);
}

static int absolute(const char *path, struct arena *a, const char **out, struct err *e)
{
	char *p = realpath(path, NULL), name[300];
	if (!p)
		return err_sys(e, ST_RUNTIME, "cannot open '%s'", err_escape(name, sizeof name, path, strlen(path)));
	*out = arena_strndup(a, p, strlen(p));
	free(p);
	return 0;
}

static int find_weights(struct reader *r, const char *path, struct err *e)
{
	struct arena *a = r->g->arena;
	const char *given = r->opt ? r->opt->weights : NULL;
	const char *bin = given ? given : default_weights(a, path);
	char name[300];
	struct stat st;
	err_escape(name, sizeof name, bin, strlen(bin));
	if (stat(bin, &st) < 0) {
		if (!given && (errno == ENOENT || errno == ENOTDIR))
			return 0;
		return err_sys(e, ST_RUNTIME, "cannot open weights '%s'", name);
	}
	if (!S_ISREG(st.st_mode))
		return err_set(e, ST_INPUT, "weights '%s' are not a regular file", name);
	r->has_weights = true;
	r->weights_bytes = r->g->weights_bytes = (uint64_t)st.st_size;
	return absolute(bin, a, &r->g->weights, e);
}

static void reader_release(struct reader *r)
{
	while (r->net.n)
		raw_free(&r->net.v[--r->net.n]);
	mem_free(r->net.v);
	mem_free(r->place.v);
	intern_free(r->strings);
}

struct graph *ir_read(const char *path, const struct ir_options *opt, struct ir_report *rep, struct err *e)
{
	struct graph *g = graph_new();
	struct reader r = {.opt = opt, .g = g, .strings = intern_new(g->arena)};
	uint64_t xml_bytes = 0;
	r.src = (struct raw_source){path, g->arena, &r.n_dropped};
	r.xml = (struct xml_handler){.ctx = &r, .open = on_open, .close = on_close, .text = on_text};
	int rc = absolute(path, g->arena, &g->xml, e);
	if (rc == 0 && !(opt && opt->no_weights))
		rc = find_weights(&r, path, e);
	if (rc == 0)
		rc = xml_parse(path, &r.xml, &xml_bytes, e);
	if (rep)
		*rep = (struct ir_report){xml_bytes, r.n_layers, r.n_dropped};
	reader_release(&r);
	if (rc < 0) {
		graph_free(g);
		return NULL;
	}
	return g;
}
