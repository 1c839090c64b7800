/* text.c - OpenVINO IR as text, piece by piece: what XML wants and OpenVINO's names. */
#include "ir/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void text_put(struct ir_text *t, const char *s, size_t n)
{
	t->v = mem_grow(t->v, &t->cap, t->n + n + 1, 1);
	memcpy(t->v + t->n, s, n);
	t->n += n;
	t->v[t->n] = '\0';
}

void text_puts(struct ir_text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

void text_putf(struct ir_text *t, const char *fmt, ...)
{
	char line[400];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	assert(n >= 0 && (size_t)n < sizeof line);
	text_put(t, line, (size_t)n);
}

/* As the value of an attribute in double quotes. */
static void put_escaped(struct ir_text *t, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '&': text_puts(t, "&amp;"); break;
		case '<': text_puts(t, "&lt;"); break;
		case '>': text_puts(t, "&gt;"); break;
		case '"': text_puts(t, "&quot;"); break;
		default:
			if ((unsigned char)*s < 0x20) /* OpenVINO reads and writes them so */
				text_putf(t, "&#%d;", *s);
			else
				text_put(t, s, 1);
		}
}

void text_attr(struct ir_text *t, const char *key, const char *value)
{
	text_putf(t, " %.100s=\"", key);
	put_escaped(t, value);
	text_put(t, "\"", 1);
}

void text_shape(struct ir_text *t, const struct ir_tensor *x)
{
	text_puts(t, " shape=\"");
	for (uint32_t i = 0; x->rank != RANK_DYNAMIC && i < x->rank; i++)
		if (x->dim[i] == DIM_DYNAMIC)
			text_puts(t, i ? ",?" : "?");
		else
			text_putf(t, i ? ",%" PRId64 : "%" PRId64, x->dim[i]);
	text_puts(t, x->rank == RANK_DYNAMIC ? "...\"" : "\"");
}

/* OpenVINO's name of an element type on ports: FP32, I64, BOOL. */
static const char *port_precision(enum elem t, char name[16])
{
	static const struct {
		enum elem t;
		const char *name;
	} odd[] = {{EL_F64, "FP64"},     {EL_F32, "FP32"}, {EL_F16, "FP16"},
		   {EL_BOOLEAN, "BOOL"}, {EL_U1, "BIN"},   {EL_DYNAMIC, "UNSPECIFIED"}};
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		if (odd[i].t == t)
			return odd[i].name;
	size_t n = 0;
	for (const char *s = elem_name(t); *s && n < 15; s++)
		name[n++] = *s >= 'a' && *s <= 'z' ? (char)(*s - 'a' + 'A') : *s;
	name[n] = '\0';
	return name;
}

void text_port(struct ir_text *t, uint32_t id, const struct ir_tensor *x)
{
	char precision[16];
	text_putf(t, "<port id=\"%u\"", id);
	if (x)
		text_putf(t, " precision=\"%s\"", port_precision(x->elem, precision));
	if (x && x->names && *x->names)
		text_attr(t, "names", x->names);
	text_puts(t, ">");
	for (uint32_t i = 0; x && x->rank != RANK_DYNAMIC && i < x->rank; i++)
		text_putf(t, "<dim>%" PRId64 "</dim>", x->dim[i]);
	text_puts(t, "</port>\n");
}

void net_open_layer(struct ir_net *n, uint32_t id, const char *name, const char *type,
		    const char *opset)
{
	text_putf(&n->layers, "<layer id=\"%u\"", id);
	text_attr(&n->layers, "name", name);
	text_attr(&n->layers, "type", type);
	text_attr(&n->layers, "version", opset);
	text_puts(&n->layers, ">\n");
}

void net_edge(struct ir_net *n, uint32_t from, uint32_t from_port, uint32_t to, uint32_t to_port)
{
	text_putf(&n->edges,
		  "<edge from-layer=\"%u\" from-port=\"%u\" to-layer=\"%u\" to-port=\"%u\"/>\n",
		  from, from_port, to, to_port);
}

void text_net(struct ir_text *t, const struct ir_net *n)
{
	text_puts(t, "<layers>\n");
	text_put(t, n->layers.v ? n->layers.v : "", n->layers.n);
	text_puts(t, "</layers>\n<edges>\n");
	text_put(t, n->edges.v ? n->edges.v : "", n->edges.n);
	text_puts(t, "</edges>\n");
}

void net_release(struct ir_net *n)
{
	mem_free(n->layers.v);
	mem_free(n->edges.v);
}
