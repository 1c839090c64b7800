/* parsing.h - dominant-edge parsing of a scored graph (Song et al., "Graph
 * Parsing Networks", ICLR 2024, algorithm 1; HSDAG paper, section 3).
 *
 * Every node keeps its highest-scored incident edge, the lowest index winning a
 * tie; groups are the connected components of the kept edges. */
#ifndef HSDAG_LEARN_NET_PARSING_H
#define HSDAG_LEARN_NET_PARSING_H

#include <stdint.h>

#include "base/mem.h"
#include "learn/tape/ugraph.h"

struct parse_limits {
	uint32_t min_groups; /* merge no further than this many groups; 0 and 1: no floor */
	const uint8_t *mask; /* (n, k) devices that can run a node, or NULL: then no
	                            kept edge joins groups without a common device */
	uint32_t k;
	const uint32_t *together; /* (n) an edge between nodes of equal value is kept, whatever
	                            the other limits say; or NULL */
	const uint8_t *dropped;   /* (m) nonzero: this edge cannot be kept; or NULL */
};

struct parsed {
	uint32_t n_kept;
	uint32_t *kept; /* (n_kept) edge indices, ascending */
	uint32_t n_groups;
	uint32_t *group; /* (n) groups numbered by their first member */
};

/* score (m).  Where a limit bites, dominant edges are kept in falling order of
 * score (then rising index) as long as the limits allow. */
void parse_edges(const struct ugraph *g, const float *score, const struct parse_limits *lim,
		 struct arena *a, struct parsed *out);

/* Groups along these edges (ascending, n of them) in place of dominant ones, those of lower index
 * first where a limit bites; lim->together's besides. */
void parse_along(const struct ugraph *g, const uint32_t *edge, uint32_t n,
		 const struct parse_limits *lim, struct arena *a, struct parsed *out);

/* Groups that these kept edges make: components numbered by first member. */
void parse_groups(const struct ugraph *g, const uint32_t *kept, uint32_t n_kept, struct arena *a,
		  struct parsed *out);

#endif
