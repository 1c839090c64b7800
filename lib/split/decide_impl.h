/* decide_impl.h - labels of nodes and what edges between them cost, for decide.c, labels.c and edges.c. */
#ifndef HSDAG_SPLIT_DECIDE_IMPL_H
#define HSDAG_SPLIT_DECIDE_IMPL_H

#include "split/decide.h"
#include "split/pairwise.h"
#include "split/shares.h"
#include "split/siblings.h"

/* What parts read of an input; axis UNREAD: not found yet. */
struct reading {
	double moved;      /* bytes of parts that are elsewhere than what is whole (base) */
	double moved_home; /* of those that are elsewhere than the input's home among siblings */
	double halo;       /* beyond their share */
	int axis;          /* SPLIT_WHOLE: whole */
	bool once;         /* one device alone reads it */
	bool result;       /* nobody reads it: it is the model's */
	bool shape;        /* its shape alone is read */
};
enum { UNREAD = -6 };

/* A label of nodes that are whole, each at the device of its home among siblings. */
enum { SPREAD = -5 };

struct label {
	int8_t axis;
	double node_s; /* of the largest part; SPREAD: of the device with most siblings, over all of them */
	double weights; /* bytes that a device keeps for it */
};

struct work {
	struct split_facts *f;
	const struct graph *g;
	const struct split_costs *c;
	double bytes_per_s; /* of the fastest device's memory */
	struct split_plan *plan;
	bool unlike; /* devices are, and how large parts are is decided */
	struct split_rows rows;
	uint8_t *share_of; /* (n) the plan's, with unlike */
	uint32_t base;     /* the part whose device has what is whole */
	unsigned axes;     /* that may be cut */
	bool all;
	double min_gain;
	double edge_price;   /* of a second between nodes, where the least sum is sought */
	bool by_node;        /* each node's shares as suits it alone */
	uint8_t *n_labels;   /* (n) */
	struct label *label; /* (n * PAIRWISE_CHOICES) the first is whole */
	bool *idle;          /* (n) takes no time */
	uint32_t *root;
	struct split_siblings siblings; /* where memory is not shared */
	uint32_t *
		shared; /* (outputs) variable: is it joined for every part?  0: nobody decides that */
	double weights_price;    /* seconds a byte */
	struct reading *reading; /* (inputs * PAIRWISE_CHOICES) axis UNREAD: not found yet */
	struct split_need *need;
	struct arena *a;
};

static inline struct label *decide_labels(struct work *w, uint32_t v)
{
	return &w->label[(size_t)v * PAIRWISE_CHOICES];
}

/* What an open dim counts as in estimates: rows of a cache. */
enum { OPEN_DIM = 512 };

/* Of constants as they are stored. */
static inline double decide_bytes(const struct work *w, uint32_t o)
{
	const struct graph *g = w->g;
	double bytes = elem_bits((enum elem)g->out_elem[o]) / 8.0;
	if (w->f->constant[graph_node_of(g, o)])
		return (double)op_stored_bytes(g, o);
	if (g->out_rank[o] == RANK_DYNAMIC)
		return 0;
	for (uint32_t d = g->dim_ptr[o]; d < g->dim_ptr[o + 1]; d++)
		bytes *= g->dim[d] < 0 ? OPEN_DIM : (double)g->dim[d];
	return bytes;
}

static inline bool decide_is_product(const struct work *w, uint32_t v)
{
	enum op_category c = op_info(w->f->op[v].kind)->category;
	return c == OPC_CONV || c == OPC_MATMUL;
}

/* labels.c */

/* Part p of node v under `axis`, by the plan's shares; false: there is no such part.  Its needs are w->need. */
bool decide_part(struct work *w, uint32_t v, int axis, uint32_t p, struct split_part *s);
/* Seconds of all of v on the device of part p, and of part p of it along `axis`, with the bytes of weights it reads; < 0: it cannot be
 * there, or be cut so. */
double decide_whole_on(const struct work *w, uint32_t v, uint32_t p);
double decide_part_on(struct work *w, uint32_t v, int axis, uint32_t p, double *weights);
/* What a part reads of input i, of all its bytes. */
double decide_read_share(const struct work *w, uint32_t v, uint32_t i,
			 const struct split_need *need);
/* The labels of node v. */
void decide_find_labels(struct work *w, uint32_t v);

/* chains.c */

/* Chains, which are nodes whose parts read parts of each other: how large their parts are, and which are worth it. */
void decide_chains(struct work *w, double least_gain, struct split_decision *out);
/* Seconds under the plan. */
double decide_estimate(struct work *w);

/* edges.c */

/* Nothing is known any more of what parts read. */
void decide_forget_readings(struct work *w);
/* What it costs that node v, cut along `b`, reads through input i of u, cut along `a`.  aligned: part reads part; seen
 * (outputs): joins for all that have been counted; NULL: none is. */
double decide_edge(struct work *w, uint32_t v, uint32_t i, int a, int b, bool *aligned, bool *seen);

/* Is what is labelled so at its home? */
bool decide_at_home(int label);
/* What node v under `axis` reads of input i. */
struct reading decide_read(struct work *w, uint32_t v, uint32_t i, int axis);
/* Does a node labelled b read output o as all devices do that have it joined for them? */
bool decide_reads_shared(const struct work *w, uint32_t o, int b, const struct reading *r);
/* What it costs that a node labelled `b` reads so of u, labelled `a`; u_s: seconds of u. */
double decide_edge_seconds(struct work *w, uint32_t u, int a, int b, double bytes,
			   const struct reading *r, double u_s);

#endif
