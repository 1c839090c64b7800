/* pins.h - what a person says of where operations go, by their names: it becomes the mask and the classes of a devs record,
 * which every method, the simulator and devrun keep to.
 *
 * A pattern is a glob (fnmatch(3): * also matches '/', \ takes the next character as it is) over names of nodes, or a name.
 * A part of an operation (dagsplit) has the operation's name, too. Where it matches a node, it is about the node's set. */
#ifndef HSDAG_PLACE_PROBLEM_PINS_H
#define HSDAG_PLACE_PROBLEM_PINS_H

#include "base/opt.h"
#include "graph/graph.h"
#include "record/devrec.h"

struct pins {
	struct opt_texts pin;  /* PATTERN,...=DEVICE,...: on one of these devices */
	struct opt_texts keep; /* PATTERN,...: on one device, all of them */
	const char *rest;      /* DEVICE,... for what is not pinned, as far as it can run there;
	                        * NULL: anywhere */
};

/* Are these rules?  -1: ST_USAGE. */
int pins_check(const struct pins *p, struct err *e) MUST_CHECK;

/* Writes them into d, which is about g: mask, together, graph and n_sets; memory from a.  What stood there stays: a set
 * may only lose devices.  Of several pins that match a node the first counts. All sets of a class of `together` get the devices
 * that all of them may have.
 * -1: ST_USAGE for a pattern that matches no placed node, a device that d lacks, pins that contradict each other;
 * ST_INPUT for a device that cannot run what is pinned to it, and for a d about another graph. */
int pins_apply(const struct pins *p, const struct graph *g, struct devs *d, struct arena *a,
	       struct err *e) MUST_CHECK;

#endif
