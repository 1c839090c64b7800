/* ir_layer.c - layers of an IR: what their types, ports, shapes and constants mean. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "op/optype.h"
#include "ir/ir_reader.h"

static enum raw_kind kind_of(const char *type)
{
	static const struct {
		const char *type;
		enum raw_kind kind;
	} kinds[] = {{"Parameter", RAW_PARAMETER}, {"Result", RAW_RESULT}, {"Assign", RAW_ASSIGN},
		     {"Const", RAW_CONST},         {"If", RAW_IF},         {"Loop", RAW_LOOP},
		     {"TensorIterator", RAW_LOOP}};
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

int open_layer(struct ir_reader *r, const struct xml_attr *a, int n, struct err *e)
{
	struct raw_net *net = net_of(r);
	const struct xml_attr *name, *type, *version;
	int64_t id;
	if (need_int(r, "layer", a, n, "id", 0, &id, e) < 0 ||
	    need_attr(r, "layer", a, n, "name", &name, e) < 0 ||
	    need_attr(r, "layer", a, n, "type", &type, e) < 0)
		return -1;
	if (net->layer.n >= INT32_MAX || net->in.n >= INT32_MAX || net->out.n >= INT32_MAX ||
	    net->attr.n >= INT32_MAX || net->dim.n >= INT32_MAX)
		return reader_fail(r, e, "too many layers, ports or attributes");
	struct raw_layer *l = VEC_ADD(net->layer);
	*l = (struct raw_layer){.id = id,
				.name = intern_copy(r->strings, name->value, name->len),
				.line = r->xml.line,
				.attr = (uint32_t)net->attr.n,
				.in = (uint32_t)net->in.n,
				.out = (uint32_t)net->out.n,
				.type = intern_add(r->strings, type->value, type->len),
				.opset = ""};
	*VEC_ADD(r->place) = AT_LAYER;
	r->n_layers++;
	if (need_attr(r, "layer", a, n, "version", &version, e) < 0)
		return -1;
	l->opset = intern_add(r->strings, version->value, version->len);
	char text[100];
	bool any_type, any = r->opt && r->opt->any_operator;
	if (!known_opset(l->opset, &any_type) && !any)
		return reader_fail(r, e, "unknown opset '%s'; --any-operator accepts it",
				   err_escape(text, sizeof text, version->value, version->len));
	int t = optype_find(l->type);
	if (t >= 0)
		l->type = intern_add(r->strings, optype_name(t), strlen(optype_name(t)));
	else if (!any_type && !any)
		return reader_fail(r, e,
				   "unknown operator type '%s' of %s; --any-operator accepts it",
				   err_escape(text, sizeof text, type->value, type->len), l->opset);
	l->kind = kind_of(l->type);
	for (int i = 0; i < n; i++) /* newer files say more about a layer here */
		if (&a[i] != name && &a[i] != type && &a[i] != version &&
		    strcmp(a[i].name, "id") != 0)
			*VEC_ADD(net->attr) = (struct raw_attr){
				intern_add(r->strings, a[i].name, strlen(a[i].name)),
				intern_add(r->strings, a[i].value, a[i].len)};
	return 0;
}

void open_data(struct ir_reader *r, const struct xml_attr *a, int n)
{
	for (int i = 0; i < n; i++)
		*VEC_ADD(net_of(r)->attr) =
			(struct raw_attr){intern_add(r->strings, a[i].name, strlen(a[i].name)),
					  intern_add(r->strings, a[i].value, a[i].len)};
	*VEC_ADD(r->place) = AT_DATA;
}

static const char *data_value(struct ir_reader *r, const char *key)
{
	const struct raw_net *net = net_of(r);
	for (size_t i = layer_of(r)->attr; i < net->attr.n; i++)
		if (strcmp(net->attr.v[i].key, key) == 0)
			return net->attr.v[i].value;
	return NULL;
}

/* The one output of a Parameter or Const: element type and room for its shape. */
static int source_output(struct ir_reader *r, struct raw_out **out, const char **shape,
			 struct err *e)
{
	struct raw_net *net = net_of(r);
	const struct raw_layer *l = layer_of(r);
	const char *elem = data_value(r, "element_type");
	char text[60];
	*shape = data_value(r, "shape");
	if (!elem || !*shape)
		return reader_fail(r, e, "<data> without the attribute '%s'",
				   elem ? "shape" : "element_type");
	if (net->in.n != l->in || net->out.n - l->out != 1)
		return reader_fail(r, e, "%s has no inputs and one output, not %zu and %zu",
				   l->type, net->in.n - l->in, net->out.n - l->out);
	int t = elem_parse(elem);
	if (t < 0)
		return reader_fail(r, e, "unknown element type '%s'",
				   err_escape(text, sizeof text, elem, strlen(elem)));
	*out = &net->out.v[l->out];
	(*out)->elem = (enum elem)t;
	net->dim.n = (*out)->dim;
	return 0;
}

static int close_parameter(struct ir_reader *r, struct err *e)
{
	struct raw_out *out;
	const char *shape;
	char text[120];
	if (source_output(r, &out, &shape, e) < 0)
		return -1;
	if (!parse_partial_shape(net_of(r), shape, &out->rank))
		return reader_fail(r, e,
				   "malformed shape '%s'; sizes, ranges such as 1..8, '?' or '...'",
				   err_escape(text, sizeof text, shape, strlen(shape)));
	return 0;
}

static int close_const(struct ir_reader *r, struct err *e)
{
	struct raw_out *out;
	const char *shape;
	char text[120];
	uint64_t count, bytes, size, offset, end;
	if (source_output(r, &out, &shape, e) < 0)
		return -1;
	if (!parse_const_shape(net_of(r), shape, &out->rank, &count))
		return reader_fail(r, e, "malformed shape '%s' of a constant",
				   err_escape(text, sizeof text, shape, strlen(shape)));
	const char *o = data_value(r, "offset"), *s = data_value(r, "size");
	if (!o || !parse_u64(o, strlen(o), &offset))
		return reader_fail(r, e,
				   "'offset' of a constant is missing or not a number of bytes");
	if (!s || !parse_u64(s, strlen(s), &size))
		return reader_fail(r, e,
				   "'size' of a constant is missing or not a number of bytes");
	if (__builtin_add_overflow(offset, size, &end) || end > INT64_MAX)
		return reader_fail(r, e,
				   "constant at offset %" PRIu64 " of %" PRIu64 " bytes: too large",
				   offset, size);
	if (out->elem == EL_DYNAMIC)
		return reader_fail(r, e, "constant of a dynamic element type");
	if (out->elem == EL_STRING) {
		bytes = size;
	} else if (!elem_bytes(out->elem, count, &bytes) || bytes > size) {
		return reader_fail(r, e, "constant has %" PRIu64 " bytes, too few for %s[%s]", size,
				   elem_name(out->elem),
				   err_escape(text, sizeof text, shape, strlen(shape)));
	}
	if (r->has_weights && end > r->weights_bytes)
		return reader_fail(
			r, e,
			"constant at bytes %" PRIu64 " + %" PRIu64 " lies beyond the weights "
			"file, which has %" PRIu64 " bytes; is it the .bin of this model?",
			offset, size, r->weights_bytes);
	*VEC_ADD(net_of(r)->constant) =
		(struct raw_const){(uint32_t)net_of(r)->layer.n - 1, offset, bytes};
	return 0;
}

int close_layer(struct ir_reader *r, struct err *e)
{
	struct raw_net *net = net_of(r);
	int64_t id;
	int rc = 0;
	if (layer_of(r)->kind == RAW_PARAMETER)
		rc = close_parameter(r, e);
	else if (layer_of(r)->kind == RAW_CONST)
		rc = close_const(r, e);
	if (rc == 0 && !raw_index_ports(net, &id))
		rc = reader_fail(r, e, "two ports have the id %" PRId64, id);
	if (rc == 0 &&
	    (net->pending.n || layer_of(r)->kind == RAW_IF || layer_of(r)->kind == RAW_LOOP))
		rc = raw_finish_bodies(net, &r->src, e);
	net->map.n = net->back.n = 0;
	return rc;
}

/* ---- ports ---- */

int open_in_port(struct ir_reader *r, const struct xml_attr *a, int n, struct err *e)
{
	int64_t id;
	if (need_int(r, "port", a, n, "id", 0, &id, e) < 0)
		return -1;
	*VEC_ADD(net_of(r)->in) = id;
	*VEC_ADD(r->place) = AT_IN_PORT;
	return 0;
}

int open_out_port(struct ir_reader *r, const struct xml_attr *a, int n, struct err *e)
{
	struct raw_net *net = net_of(r);
	const struct xml_attr *precision, *names = find_attr(a, n, "names");
	char text[60];
	int64_t id;
	if (need_int(r, "port", a, n, "id", 0, &id, e) < 0 ||
	    need_attr(r, "port", a, n, "precision", &precision, e) < 0)
		return -1;
	int t = elem_parse(err_escape(text, sizeof text, precision->value, precision->len));
	if (t < 0)
		return reader_fail(r, e, "unknown precision '%s' of output port %" PRId64, text,
				   id);
	*VEC_ADD(net->out) = (struct raw_out){
		.id = id,
		.elem = (enum elem)t,
		.dim = (uint32_t)net->dim.n,
		.names = names ? intern_add(r->strings, names->value, names->len) : ""};
	*VEC_ADD(r->place) = AT_OUT_PORT;
	return 0;
}

int close_dim(struct ir_reader *r, struct err *e)
{
	struct raw_net *net = net_of(r);
	char text[60];
	int64_t d;
	if (!parse_int(r->dim, r->n_dim, DIM_DYNAMIC, &d))
		return reader_fail(r, e, "dimension '%s' is not an integer >= -1",
				   err_escape(text, sizeof text, r->dim, r->n_dim));
	if (r->place.v[r->place.n - 1] == AT_IN_PORT)
		return 0; /* what the edge brings counts */
	struct raw_out *out = &net->out.v[net->out.n - 1];
	if (out->rank == RANK_DYNAMIC - 1)
		return reader_fail(r, e, "more than %d dimensions", RANK_DYNAMIC - 1);
	out->rank++;
	*VEC_ADD(net->dim) = d;
	return 0;
}
