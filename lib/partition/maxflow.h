/* maxflow.h - minimum cuts between a source and a sink: Goldberg, Tarjan, "A new approach to the
 * maximum-flow problem", J. ACM 35(4), 1988, highest label first; global relabelling and gaps as in
 * Cherkassky, Goldberg, "On implementing the push-relabel method", Algorithmica 19, 1997. */
#ifndef HSDAG_PARTITION_MAXFLOW_H
#define HSDAG_PARTITION_MAXFLOW_H

#include <stdbool.h>
#include <stdint.h>

/* A capacity that no cut crosses if any other cut is there. */
#define MAXFLOW_INF INT64_MAX
/* Finite capacities together stay below this. */
#define MAXFLOW_MOST (INT64_C(1) << 40)

struct maxflow;

/* Nodes 0 .. n-1 besides source and sink, n < 2^22 at first; more can be added. */
struct maxflow *maxflow_new(uint32_t n);
void maxflow_free(struct maxflow *x);
/* One more node; its number. */
uint32_t maxflow_node(struct maxflow *x);
/* An arc u -> v and one back, each with a capacity >= 0. */
void maxflow_arc(struct maxflow *x, uint32_t u, uint32_t v, int64_t cap, int64_t back);
/* Arcs from the source to v and from v to the sink. */
void maxflow_ends(struct maxflow *x, uint32_t v, int64_t from_source, int64_t to_sink);

/* maxflow_run gives up at deadline_s (of clock_s); 0: never. */
void maxflow_until(struct maxflow *x, double deadline_s);
/* The value of a minimum cut, MAXFLOW_INF when every cut crosses such a capacity, or it gave up; once for each x.
 * on_sink_side(v) then tells where v is: the source's side is the largest of all minimum cuts. */
int64_t maxflow_run(struct maxflow *x);
bool maxflow_on_sink_side(const struct maxflow *x, uint32_t v);

#endif
