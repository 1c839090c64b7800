/* net_steps.h - what steps forward (net.c, net_policy.c) and their replay (net_replay.c,
 * replayer.c) do alike; not for others.  All memory is the tape's. */
#ifndef HSDAG_LEARN_NET_NET_STEPS_H
#define HSDAG_LEARN_NET_NET_STEPS_H

#include "learn/net/net_impl.h"

struct net_work {
	struct tape *tape;
};

/* The parameters keep their values in all steps up to the next call: see tape_fix. */
void net_work_fix(struct net_work *w);
/* Its operations have the threads of this pool, borrowed, from now on; NULL: one. */
void net_work_share(struct net_work *w, struct pool *pool);

/* Matrices of a block on the tape; grad (p->n) NULL: without gradients. */
struct mat **net_block(struct tape *t, const struct params *p, float *grad);

/* (n) 0 .. n-1 */
uint32_t *net_count_up(struct arena *a, uint32_t n);

/* Log-probabilities (n_groups,k) of a network that chooses for all groups at once. */
struct mat *net_log_policy(struct tape *t, const struct net_model *m, struct mat *const *p,
			   struct mat *z, const struct to_place *q);

/* -1 (ST_INPUT): log-probabilities (n,k) are not finite where mask (n,k; NULL: everywhere) allows. */
int net_check_logp(const float *logp, uint32_t n, uint32_t k, const uint8_t *mask,
		   struct err *e) MUST_CHECK;

/* What choices in turn have in common, whether they are drawn or known. */
struct choices net_choices(struct tape *t, const struct net_model *m, const struct to_place *q,
			   uint32_t n_samples);

/* Devices of n steps: side by side, or one step after another. */
void net_choose(struct tape *t, const struct net_model *m, struct mat *const *p, uint32_t n,
		struct mat *const *z, struct choices *c);

#endif
