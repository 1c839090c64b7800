/* ir_reader.h - the state of one reading of an IR.  Internal to lib/ir: ir_reader.c has
 * the elements and where they may stand, ir_layer.c what layers and ports mean, ir_attr.c attributes. */
#ifndef HSDAG_IR_IR_READER_H
#define HSDAG_IR_IR_READER_H

#include "ir/ir.h"
#include "ir/raw.h"
#include "ir/xml.h"

enum place {
	AT_DOCUMENT,
	AT_NET,
	AT_LAYERS,
	AT_LAYER,
	AT_DATA,
	AT_INPUT,
	AT_OUTPUT,
	AT_IN_PORT,
	AT_OUT_PORT,
	AT_DIM,
	AT_EDGES,
	AT_EDGE,
	AT_MAP,
	AT_MAP_ITEM,
	AT_BACK,
	AT_BACK_EDGE,
	AT_SKIP
};

struct ir_reader {
	struct xml_handler xml;
	struct raw_source src;
	struct intern *strings;
	const struct ir_options *opt;
	struct graph *g;
	uint64_t weights_bytes;
	bool has_weights;
	VEC(uint8_t) place;      /* the elements that are open */
	VEC(struct raw_net) net; /* the network and the bodies that are open */
	const char *map_role;    /* of the port map or body that is open */
	char dim[32];            /* text of a <dim> */
	size_t n_dim;
	uint32_t n_layers, n_dropped;
};

static inline struct raw_net *net_of(struct ir_reader *r)
{
	return &r->net.v[r->net.n - 1];
}

static inline struct raw_layer *layer_of(struct ir_reader *r)
{
	struct raw_net *net = net_of(r);
	return &net->layer.v[net->layer.n - 1];
}

/* ---- ir_attr.c ---- */

/* An error at the current line, in the layer that is open, if one is. */
int reader_fail(struct ir_reader *r, struct err *e, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Attributes of an element: NULL when absent; -1 with an error when a required one is
 * absent or not an integer >= lo. */
const struct xml_attr *find_attr(const struct xml_attr *a, int n, const char *name);
int need_attr(struct ir_reader *r, const char *element, const struct xml_attr *a, int n,
	      const char *name, const struct xml_attr **out, struct err *e) MUST_CHECK;
int need_int(struct ir_reader *r, const char *element, const struct xml_attr *a, int n,
	     const char *name, int64_t lo, int64_t *out, struct err *e) MUST_CHECK;

/* ---- ir_layer.c ---- */

/* The elements of a layer; each but close_* opens a place. */
int open_layer(struct ir_reader *r, const struct xml_attr *a, int n, struct err *e) MUST_CHECK;
void open_data(struct ir_reader *r, const struct xml_attr *a, int n);
int open_in_port(struct ir_reader *r, const struct xml_attr *a, int n, struct err *e) MUST_CHECK;
int open_out_port(struct ir_reader *r, const struct xml_attr *a, int n, struct err *e) MUST_CHECK;
int close_dim(struct ir_reader *r, struct err *e) MUST_CHECK;
int close_layer(struct ir_reader *r, struct err *e) MUST_CHECK;

#endif
