/* prepared.h - prepared steps, kept from one placement to the next: one per device and list of
 * nodes, and for each request in flight where they keep values: dynamic tensors, variables.  Steps that no plan uses are forgotten, the one used longest ago first,
 * when those of a device hold many times the nodes of the model. */
#ifndef HSDAG_EXEC_PREPARED_H
#define HSDAG_EXEC_PREPARED_H

#include "exec/fusion.h"

struct prepared {
	uint32_t dev, n;
	uint32_t request;    /* whose it is, where it keeps values; else 0 */
	uint32_t *node_step; /* (n) steps of the model, ascending */
	struct step *step;
	uint32_t users; /* plans */
	uint64_t last_use;
	struct prepared *next; /* of its bucket */
};

struct prepared_cache {
	struct device_list *devices;
	uint32_t n_buckets;
	struct prepared **bucket;
	uint64_t clock;
	uint32_t request;            /* who asks */
	uint64_t *nodes, most_nodes; /* (k) held now, and allowed, besides those in use */
};

void prepared_open(struct prepared_cache *c, struct device_list *l, uint32_t n_steps);
/* No step may be in use. */
void prepared_close(struct prepared_cache *c);
/* The step of group g, prepared now if it was not: one user more.  local as fusion_group_spec's.  -1: as
 * device_class.prepare. */
int prepared_get(struct prepared_cache *c, struct model *m, const struct fusion_group *g,
		 const uint32_t *local, struct prepared **out, struct err *e) MUST_CHECK;
/* Prepare what groups[n] need and the cache has not, on all cores where their devices allow it, so
 * that prepared_get then finds it.  local: GRAPH_NONE for every step, before and after. */
int prepared_ahead(struct prepared_cache *c, struct model *m, const struct fusion_group *groups,
		   uint32_t n, uint32_t *local, struct err *e) MUST_CHECK;
/* device_class.node_times of group g: what each of its steps takes there, into step_s (g->n). */
int prepared_node_times(struct prepared_cache *c, struct model *m, const struct fusion_group *g,
			uint32_t *local, double *step_s, struct err *e) MUST_CHECK;
void prepared_drop(struct prepared *x);
/* Forget the steps of device dev that no plan uses, and what they hold. */
void prepared_forget(struct prepared_cache *c, uint32_t dev);

#endif
