/* steprec.h - the records of one step of a rollout, to and from memory: `part`,
 * `place` and `run` of STREAM.md. */
#ifndef HSDAG_LEARN_TRAIN_STEPREC_H
#define HSDAG_LEARN_TRAIN_STEPREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "learn/net/net.h"
#include "stream/rec.h"

/* Names a rollout: which graph, when, and which of several samples. */
struct step_id {
	uint64_t graph;
	uint32_t episode, step, sample;
};

struct part {
	struct step_id id;  /* sample is 0 */
	uint32_t n_sets, d; /* d: columns of z, 0 when it was dropped */
	struct partition p;
};

/* Memory from a.  n_sets and sizes are those of the record; edges and groups
 * are range-checked against them, not against the graph (see net_check). */
int part_decode(const struct rec *r, struct arena *a, struct part *out, struct err *e) MUST_CHECK;
/* z is written when part.d > 0. */
int part_encode(const struct part *p, struct rec_writer *w, struct err *e) MUST_CHECK;

struct place {
	struct step_id id;
	const char *source; /* "policy", "single", ... */
	uint32_t k, n_sets, n_groups;
	const char *const *devices; /* (k) names */
	const uint16_t *device;     /* (n_sets) into devices */
	const uint16_t *action;     /* (n_groups), NULL when no policy chose */
	double logp, entropy;       /* when action is there */
	bool has_stay;              /* the policy was one around an incumbent (incumbent.h) */
	double stay;                /* its constant */
};

int place_decode(const struct rec *r, struct arena *a, struct place *out, struct err *e) MUST_CHECK;
int place_encode(const struct place *p, struct rec_writer *w, struct err *e) MUST_CHECK;

/* What is shorter counts as this, a tick of the finest clock: an empty model takes hardly
 * any time, and rewards and ratios of it must stay finite. */
#define RUN_LEAST_S 1e-9

struct run {
	struct step_id id;
	const char *source;
	bool ok;
	const char *reason; /* when not ok */
	/* When ok: latency, at least RUN_LEAST_S; what is to be small, which is the latency
	 * where the record says nothing else; and the same of the best single device, 0: there
	 * is none. */
	double lat_s, ref_s;
	bool has_value; /* value is not the latency */
	double value, ref_value;
	bool noisy; /* its confidence interval is more than a point */
};

/* ST_INPUT: malformed, or a latency that is not positive. */
int run_decode(const struct rec *r, struct arena *a, struct run *out, struct err *e) MUST_CHECK;

#endif
