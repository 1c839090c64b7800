/* multibfs.h - breadth-first searches from many sources at once, one bit each: how many nodes
 * every source has within r hops, for all r, and the regression of the fractal dimension over
 * them. Of multibfs.c for fractal.c, not for others.  Source: Then et al., "The more the merrier: efficient
 * multi-source graph traversal", VLDB 2014; Beamer et al., "Direction-optimizing breadth-first
 * search", SC 2012.
 *
 * WHY.  A search from every node on its own makes n (n + m) visits.  Sources that are near each
 * other reach the same nodes at nearly the same radius, so one visit can serve 64 of them: a node
 * has a word with a bit for each source of the batch, and OR of two words is 64 searches in one
 * step.
 *
 * PICTURE.  The path a - b - c - d, every node a source.  Below each node: the sources whose bits
 * are set in its word seen[], new ones of this radius in capitals.
 *
 *     radius      a        b        c        d       N(a,r)  N(b,r)
 *       0         A        B        C        D         0       0
 *       1         aB       AbC      BcD      Cd        1       2
 *       2         abC      abcD     Abcd     Bcd       2       3
 *       3         abcD     abcd     abcd     Abcd      3       3
 *
 * A step: the new bits of v are the OR of its neighbours' new bits of the last radius, less
 * seen[v].  N(a,r) grows by the number of capital A's in row r.
 *
 * LAYOUT.  A batch has W x 64 sources, W = 1 or BFS_WIDE; they are W x 64 nodes in a row.  Nodes
 * are renumbered breadth-first, so those are near each other in the graph.  seen, cur (new at
 * radius r) and next (new at r + 1) are arrays (n,W) of words; list and touched name the nodes
 * whose words in cur and next are not 0, so that a step costs what its frontier costs:
 *
 *                     W words a node              bit i of word w: source first + 64 w + i
 *     cur   | v0: [....][....] | v1: [....][....] | v2: ...
 *
 * A small frontier goes down: each of its nodes ORs its word into its neighbours'.  A large one
 * (more than a quarter of the edges) is asked from the other side: each node that some source has
 * not reached reads its neighbours, and those that all sources have reached cost one test.
 *
 * COUNTING.  Row r of the picture is needed by source: how many of the new words have bit i, for
 * all i.  The counts are bit-sliced: plane[k] holds bit k of 64 counts, and adding a word is
 * binary addition with a carry, for 64 counts at once.  Sixteen words wait in fresh[] and go in
 * together through full adders (two words and the plane give the new plane and a carry of twice
 * the weight):
 *
 *     fresh    w0 w1  w2 w3  ...  w14 w15
 *                \|     \|            \|
 *     plane 0   [+] -> [+] -> ... -> [+]      8 adders, 8 carries of weight 2
 *     plane 1       [+] -> ... -> [+]         4 adders, 4 carries of weight 4
 *     plane 2          [+] -> [+]             2
 *     plane 3             [+]                 1 adder; its carry ripples on through planes 4, 5 ...
 *
 * which are 15 adders of five operations for 16 words.  At the end of a radius the planes are read
 * out into ball[] and emptied.
 *
 * EXACT.  The counts are integers, and every source's regression sums are added in the order of
 * its radii, by its own bit alone.  Neither W nor the other sources nor the number of threads nor
 * the direction of a step changes a result; tests/unit/test_graph_fractal.c compares with plain
 * searches.
 *
 * COST.  A visit is W words.  Where all sources of a batch reach a node at the same few radii, the
 * n searches make about n (n + m) / 64 visits; on a long thin graph they reach it at 64 radii, one
 * after the other, and nothing is saved.  Memory: 3 W n words a thread. */
#ifndef HSDAG_FEATURE_MULTIBFS_H
#define HSDAG_FEATURE_MULTIBFS_H

#include "base/mem.h"
#include "graph/graph.h"

enum {
	BFS_WIDE = 8,    /* words a node of a wide batch */
	BFS_PLANES = 34, /* bits of a count, and room for the last carries */
	BFS_ROWS = 16    /* words that are counted together */
};

/* The graph, renumbered so that neighbours have near numbers. */
struct bfs_graph {
	uint32_t n, m;
	uint32_t *ptr, *adj;           /* where a search goes on from v */
	uint32_t *back_ptr, *back_adj; /* where it comes from; the same when undirected */
	uint32_t *node;                /* (n) original number */
	double *log;                   /* (n+1) log[0] unused */
	double *sum_x, *sum_xx;        /* (n+1) of log r and its square, r <= i */
	uint32_t cap;                  /* most radii */
};

/* One thread's search.  Bits stand W words to a node. */
struct bfs_search {
	uint64_t *seen, *cur, *next; /* (n,W) sources that have reached v: ever, at r, at r + 1 */
	uint32_t *list, *touched;    /* (n) nodes with bits in cur, next */
	uint32_t *visited;           /* (n) nodes with bits in seen */
	uint32_t n_list, n_touched, n_visited;
	uint64_t edges;                        /* that lead on from the nodes of the list */
	uint64_t fresh[BFS_ROWS * BFS_WIDE];   /* (BFS_ROWS,W) new bits, not counted yet */
	uint64_t plane[BFS_PLANES * BFS_WIDE]; /* (BFS_PLANES,W) bit k of this radius' counts */
	int n_fresh, n_planes;
	/* per source: N(v,r), the last r with new nodes, sums of log N and log r log N */
	uint32_t ball[BFS_WIDE * 64], radius[BFS_WIDE * 64];
	double sum_y[BFS_WIDE * 64], sum_xy[BFS_WIDE * 64];
	uint64_t visits; /* nodes and edges handled so far */
};

/* directed: searches follow the arrows; cap: most radii, 0: any number.  Memory from a. */
void bfs_graph_init(struct bfs_graph *g, const struct digraph *d, bool directed, uint32_t cap,
		    struct arena *a);
void bfs_search_init(struct bfs_search *s, uint32_t n, struct arena *a);

/* Search from nodes first .. first + n - 1 (of the new numbers), n <= 64 or n <= 64 BFS_WIDE,
 * until no node is new, the cap is reached or more than max_visits were made; returns the number
 * of radii. */
uint32_t bfs_narrow(const struct bfs_graph *g, struct bfs_search *s, uint32_t first, uint32_t n,
		    uint64_t max_visits);
uint32_t bfs_wide(const struct bfs_graph *g, struct bfs_search *s, uint32_t first, uint32_t n,
		  uint64_t max_visits);

/* Slope of log N on log r for source first + i of the last search; 0: fewer than two radii. */
double bfs_slope(const struct bfs_graph *g, const struct bfs_search *s, uint32_t i);

#endif
