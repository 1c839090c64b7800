/* text.h - the text of an IR while it grows: attributes, ports, layers, edges.  Of
 * text.c for write*.c, not for others. */
#ifndef HSDAG_IR_TEXT_H
#define HSDAG_IR_TEXT_H

#include "base/err.h"
#include "base/mem.h"
#include "ir/write.h"

/* n characters and a '\0'; v is NULL while there are none.  mem_free(v) releases it. */
struct ir_text {
	char *v;
	size_t n, cap;
};

/* A network that is being written: the main one or a body. */
struct ir_net {
	struct ir_text layers, edges;
};

void text_put(struct ir_text *t, const char *s, size_t n);
void text_puts(struct ir_text *t, const char *s);
/* At most 399 characters. */
void text_putf(struct ir_text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ` key="value"`, the value escaped. */
void text_attr(struct ir_text *t, const char *key, const char *value);
/* ` shape="2,3"`; what is not known is "?" or, of unknown rank, "...". */
void text_shape(struct ir_text *t, const struct ir_tensor *x);
/* A port of a layer; x: NULL when it is not connected. */
void text_port(struct ir_text *t, uint32_t id, const struct ir_tensor *x);

/* The tag that begins a layer. */
void net_open_layer(struct ir_net *n, uint32_t id, const char *name, const char *type,
		    const char *opset);
void net_edge(struct ir_net *n, uint32_t from, uint32_t from_port, uint32_t to, uint32_t to_port);

/* "<layers>...</layers><edges>...</edges>" */
void text_net(struct ir_text *t, const struct ir_net *n);

void net_release(struct ir_net *n);

/* ---- nodes of a graph (write_node.c) ---- */

/* What a Convert has that only unpacks stored weights. */
extern const char ir_decompression[];

/* All of node v but its input ports, which read tensors that the caller knows: `in` has the text of
 * n_in of them.  Ports are numbered through, inputs first.  Bodies come with the node.
 * bin: NULL when constants stay where they are.  fixed: the variable that v reads has the shape of v's output. */
void net_node(struct ir_net *n, const struct ir_bin *bin, uint32_t id, const struct graph *g,
	      uint32_t v, bool fixed, uint32_t n_in, const struct ir_text *in);

#endif
