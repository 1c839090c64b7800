/* net.h - networks that group the nodes of a graph and choose a device for each
 * group: forward for the stages that act, replay for the stage that learns.
 *
 * A network has two blocks of parameters.  `embed` makes, from a graph and
 * node features X (n,d), a partition into groups with embeddings Z' (g,d).
 * `policy` makes, from Z', log-probabilities (g,k) of the k devices.  A network is a
 * file that defines a `struct net` (net_impl.h) and a line of nets.h.
 *
 * Forward and replay run the same operations in the same order on a tape.  No
 * result depends on the number of threads. */
#ifndef HSDAG_LEARN_NET_NET_H
#define HSDAG_LEARN_NET_NET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/rng.h"
#include "learn/net/named_field.h"
#include "learn/params/params.h"
#include "learn/tape/ugraph.h"
#include "record/partrec.h"

/* Tape and scratch of one thread, kept from step to step. */
struct net_work;
/* pool: threads that share the work inside a step, or NULL; borrowed. */
struct net_work *net_work_new(struct pool *pool);
void net_work_free(struct net_work *w);
size_t net_work_bytes(const struct net_work *w);

struct net;
/* The graph, network and parameters that all steps of an episode share; all borrowed. */
struct net_model {
	const struct net *net;
	const void *hyper; /* the network's own struct */
	const struct ugraph *graph;
	const uint32_t *together; /* (n) nodes of equal value, which graph connects (ugraph_tie),
	                                  are in one group; NULL: any may part */
	uint32_t d;               /* columns of the features */
	uint32_t k;               /* devices; 0 while only embedding */
	const struct params *embed;
	const struct params *policy; /* NULL while only embedding */
};

/* Random numbers of a step: dropout draws from (seed, episode, step, RNG_DROPOUT + call).
 * NULL in its place switches dropout off. */

/* Grouping imposed from outside (a `group` record, or the parts of a replay). */
struct grouping {
	uint32_t n_groups;
	const uint32_t *group; /* (n) */
};

/* A recipe is a set of defaults: those of a network here, the learner's in learn/train/recipe.h. */
enum recipe_kind {
	RECIPE_DEFAULT,
	RECIPE_PAPER,
	RECIPE_RNN,
	RECIPE_HIERARCHICAL,
	RECIPE_PLACETO,
	N_RECIPES
};

struct tape;
struct mat;
struct net_plan;
struct embedding;
struct choices;
struct draw;
struct handover;

struct net {
	const char *name; /* `net` of params records, --net */
	const char *help; /* one line */

	/* Hyperparameters: a flat struct of the network's own of doubles and int64_t, at most
	 * FIELDS_MAX of them.  The names are keys of params records, in this order, and options
	 * of gpnembed; no two networks need have one in common. */
	const struct named_field *fields; /* ends with a NULL name */
	size_t hyper_size;
	const void *defaults[N_RECIPES]; /* NULL: those of RECIPE_DEFAULT */
	/* Exploration: the logits of an episode have noise within +- this; NULL: none ever. */
	double (*noise)(const void *hyper, uint32_t episode);
	bool steady; /* all steps of an episode see the input features: no state update */

	/* Tables of names and shapes with initial values from seed. */
	struct params *(*embed_init)(const void *hyper, uint32_t d, uint64_t seed);
	struct params *(*policy_init)(const void *hyper, uint32_t d, uint32_t k, uint64_t seed);

	/* Forward on the tape from x (n,d) and the matrices p of the embed block, in order of
	 * their table: z->z (n_groups,d) and the partition (without z), in memory of the tape. */
	int (*embed)(struct tape *t, const struct net_model *m, struct mat *const *p, struct mat *x,
		     const struct net_plan *plan, struct partition *out, struct embedding *z,
		     struct err *e);
	/* logits (n_groups,k) from z (n_groups,d) and the matrices p of the policy block */
	struct mat *(*policy)(struct tape *t, const struct net_model *m, struct mat *const *p,
			      struct mat *z);
	/* In its place (policy NULL): chooses group after group, and sees the devices of the groups
	 * before (choices.h).  n steps at once, z (n) and c (n); without side_by_side one. */
	void (*choose)(struct tape *t, const struct net_model *m, struct mat *const *p, uint32_t n,
		       struct mat *const *z, struct choices *c);
	bool side_by_side; /* steps of as many samples each cost less together */
};

/* ---- which networks there are (nets.c) ---- */

extern const struct net *const nets[]; /* ends with NULL; nets[0] is the default */
const struct net *net_find(const char *name);

/* Hyperparameters of a network, for mem_free: of a recipe, or a copy. */
const void *net_defaults(const struct net *n, enum recipe_kind recipe);
void *net_hyper_new(const struct net *n, enum recipe_kind recipe);
void *net_hyper_copy(const struct net *n, const void *hyper);

/* The argument of an option --net: 1 and *out, or 0 when it is `list` and net_list has written to
 * the file `list`, or -1 (ST_USAGE) and the names that there are. */
int net_option(const char *name, FILE *list, const struct net **out, struct err *e) MUST_CHECK;
void net_list(FILE *out); /* names and help */

/* ---- steps ---- */

/* One step: features x (n,d) -> partition, in memory of w, valid until its next
 * call.  given: a grouping to honour in place of parsing, or NULL.  mask (n,k_mask):
 * devices that can run a set, or NULL; parsing never joins sets that have no
 * device in common.  -1 (ST_INPUT): a result that is not finite. */
int net_embed(struct net_work *w, const struct net_model *m, const float *x,
	      const struct rng_addr *rng, const struct grouping *given, const uint8_t *mask,
	      uint32_t k_mask, struct partition *out, struct err *e) MUST_CHECK;

/* The same of n steps of a network that is steady: each of rng (n; NULL: no random numbers) gives one of
 * out (n). */
int net_embed_steps(struct net_work *w, const struct net_model *m, const float *x, uint32_t n,
		    const struct rng_addr *rng, const struct grouping *given, const uint8_t *mask,
		    uint32_t k_mask, struct partition *out, struct err *e) MUST_CHECK;

/* Devices that can run every set of a group: out (n_groups,k) from mask (n,k).  -1
 * (ST_INPUT) names the first group that no device can run. */
int net_group_mask(const uint8_t *mask, uint32_t n, uint32_t k, const uint32_t *group,
		   uint32_t n_groups, uint8_t *out, struct err *e) MUST_CHECK;

/* Log-probabilities *logp (n_groups,k) of the devices from z (n_groups,d), in memory
 * of w; -INFINITY where group_mask (n_groups,k; NULL: all allowed) is 0.  Uses
 * m->policy, m->hyper, m->d, m->k. */
int net_policy(struct net_work *w, const struct net_model *m, const float *z, uint32_t n_groups,
	       const uint8_t *group_mask, const float **logp, struct err *e) MUST_CHECK;

/* What a policy is asked about.  Networks that choose in turn look at group, start and m->graph;
 * for others they may be NULL. */
struct to_place {
	const float *z; /* (n_groups,d) */
	uint32_t n_groups;
	const uint32_t *group;     /* (n) of each set */
	const uint8_t *group_mask; /* (n_groups,k) or NULL: all allowed */
	const float *bias;     /* (n_groups,k) on the logits: a prior over devices, through which
	                              no gradient flows; NULL: none */
	const uint16_t *start; /* (n_groups) devices before the first choice; NULL: net_start's */
};

/* As net_policy, with the rest of *q.  action (n_groups): of a network that chooses in turn, the devices
 * of the groups before each; others do not look at it, NULL will do. */
int net_policy_prior(struct net_work *w, const struct net_model *m, const struct to_place *q,
		     const uint16_t *action, const float **logp, struct err *e) MUST_CHECK;

/* start (n_groups): every group on the lowest device that can run it. */
void net_start(const uint8_t *group_mask, uint32_t n_groups, uint32_t k, uint16_t *start);

/* Add the noise of a step of training to bias (n_groups,k), which may be NULL: then room for it is
 * made in a.  seed: the policy block's.  Returns bias; NULL: no bias, no noise. */
float *net_noise(const struct net_model *m, uint64_t seed, uint32_t episode, uint32_t step,
		 uint32_t n_groups, float *bias, struct arena *a);

/* Draw placements: action (n_samples, n_groups), and the log-probabilities (n_groups,k) of sample s
 * at logp + s * stride, in memory of w. */
struct drawn {
	const uint16_t *action;
	const float *logp;
	size_t stride;
};
int net_draw(struct net_work *w, const struct net_model *m, const struct to_place *q,
	     const struct draw *draw, struct drawn *out, struct err *e) MUST_CHECK;
/* The same of n steps, of as many samples each, of a network that chooses in turn: q, draw, out (n). */
int net_draw_steps(struct net_work *w, const struct net_model *m, uint32_t n,
		   const struct to_place *q, const struct draw *draw, struct drawn *out,
		   struct err *e) MUST_CHECK;

/* Steps of an episode that are drawn, or replayed, at once. */
struct net_batch {
	const struct net *net;
	uint32_t each, n; /* samples of each step; steps */
	size_t samples, rows;
};
/* Does the batch take one more step?  The first always. */
bool net_batch_takes(struct net_batch *b, uint32_t n_samples, uint32_t n_groups);

/* Sums over the groups, in double precision and in order: log-probability of
 * actions (n_groups), entropy of the policy.  The replay computes the same. */
double net_logp(const float *logp, uint32_t n_groups, uint32_t k, const uint16_t *action);
double net_entropy(const float *logp, uint32_t n_groups, uint32_t k);

/* One recorded step, to be replayed.  Kept edges, groups and actions are taken as
 * they are; nothing is chosen again. */
struct replay_step {
	const float *x;               /* (n,d) features at this step */
	const struct rng_addr *rng;   /* as in the forward step; NULL: no dropout */
	const struct partition *part; /* indices must be in range (see net_check) */
	const uint8_t *group_mask;    /* (n_groups,k) or NULL */
	const float *bias;            /* (n_groups,k) and (n_groups), as in struct to_place */
	const uint16_t *start;
	uint32_t n_samples;       /* placements drawn from this step's policy */
	const uint16_t *action;   /* (n_samples, n_groups), each < k */
	const double *coef_logp;  /* (n_samples) */
	const double *coef_group; /* (n_samples, n_groups) of each device that was chosen, in the
	                                  place of coef_logp; NULL: that of its sample */
	double coef_entropy;
	/* Where the loss is not linear in the log-probabilities: called with weigh_arg when logp,
	 * logp_group and group_logp are known.  Sets coef_logp and coef_group to the derivatives of the
	 * loss, which it returns; NULL: they are as they stand. */
	double (*weigh)(void *arg, struct replay_step *s);
	void *weigh_arg;
	double *logp_group; /* (n_samples,n_groups) of each device that was chosen: room for the
	                            answer, where there is a weigh */
	struct handover
		*handover; /* of the draw (handover.h), of which `used` is written; NULL: none */
	/* answers */
	double *logp;      /* (n_samples) of the devices */
	double group_logp; /* of the groups, where the network draws them; else 0 */
	double entropy;    /* of a network that chooses in turn, the mean over the samples */
	double objective;  /* see net_replay */
};

/* Is a recorded partition one of this graph: rounds, edge indices and groups in
 * range, groups those that the kept edges make?  -1 (ST_INPUT) says what is not. */
int net_check(struct net_work *w, const struct net_model *m, const struct partition *part,
	      struct err *e) MUST_CHECK;

/* Log-probabilities and entropy of recorded steps, and the sum over the steps of the gradients of
 *    sum_s coef_logp[s] * (logp[s] + group_logp)  +  coef_entropy * entropy
 *
 * (with coef_group: sum_g coef_group[s,g] * logp of group g's device instead of coef_logp[s] * logp[s];
 * with weigh: its loss instead of all but the entropy)
 * with respect to both blocks, added to grad_embed (embed->n) and grad_policy
 * (policy->n); no gradient flows into x.  Both gradients NULL: forward only.  Several steps: of
 * as many samples each. */
int net_replay(struct net_work *w, const struct net_model *m, struct replay_step *s, uint32_t n,
	       float *grad_embed, float *grad_policy, struct err *e) MUST_CHECK;

/* Many steps, spread over the threads of pool: the gradients are summed in the
 * order of the steps, whatever the number of threads. */
struct replayer;
struct replayer *replayer_new(struct pool *pool); /* pool borrowed; NULL: one thread */
void replayer_free(struct replayer *r);
int replayer_run(struct replayer *r, const struct net_model *m, struct replay_step *steps,
		 uint32_t n_steps, float *grad_embed, float *grad_policy, struct err *e) MUST_CHECK;

/* State update x (n,d) += z[group], in place: the embeddings of the groups become part of the
 * features of the episode's next step (HSDAG paper, section 3).  Nothing where the network is
 * steady. */
void net_advance(const struct net *net, float *x, uint32_t n, uint32_t d, const uint32_t *group,
		 const float *z);

#endif
