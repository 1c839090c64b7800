/* group_rewrite.h - a step's description written anew, with some of its nodes replaced: new ones first, behind them all that stay. */
#ifndef HSDAG_DEVICE_GROUP_GROUP_REWRITE_H
#define HSDAG_DEVICE_GROUP_GROUP_REWRITE_H

#include "device/device.h"

/* Nodes of a step that passes look at, at most; before them, one more may go without any in its place. */
enum { FUSE_NODES = 24, REWRITE_OLD = FUSE_NODES + 1, REWRITE_ARGS = 4 * FUSE_NODES };

/* What a device does that matters to passes. */
struct group_how {
	bool codes; /* products of what lies on grids of 8 bits are those of codes: weights stay on theirs */
};

struct rewrite {
	struct step_spec spec; /* of rewrite_rest; points into what follows, and into the old one */
	struct step_node node[FUSE_NODES];
	struct step_arg arg[REWRITE_ARGS]; /* of all nodes */
	struct step_out out[FUSE_NODES];
	uint32_t n_nodes, n_args;
	uint32_t now[REWRITE_OLD]; /* which new node each of the old ones is */
	struct op op;              /* of a new node */
	struct tensor constant
		[2]; /* of new nodes; without data until rewrite_fill; of rank 0: there is none */
};

/* A pass over a group of nodes.  The table of them is in group.h: a new one is a file and a line there. */
struct rewrite_pass {
	const char *name; /* as HSDAG_EXPLAIN says it */
	/* False: it changes nothing. */
	bool (*match)(struct rewrite *r, const struct group_how *how, const struct step_spec *s);
	/* Constants of new nodes, all f32, one behind the other into data (rewrite_bytes, zeros before); s as above.  NULL: there are none. */
	void (*fill)(const struct rewrite *r, const struct step_spec *s, float *data);
};

/* Nothing yet.  False: s has too many nodes or outputs. */
bool rewrite_begin(struct rewrite *r, const struct step_spec *s);
/* One more node, r->node[r->n_nodes - 1], as n is except for its n_in inputs, which are the caller's to write.
 * NULL: there is no room. */
struct step_arg *rewrite_add(struct rewrite *r, const struct step_node *n, uint32_t n_in);
/* The nodes of s that are not gone (n_nodes), and its outputs.  now[] of gone ones that these read, or that leave the step, is
 * known.  False: there is no room. */
bool rewrite_rest(struct rewrite *r, const struct step_spec *s, const bool *gone);

#endif
