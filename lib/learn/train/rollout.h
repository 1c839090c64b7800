/* rollout.h - everything that was recorded about one episode: its partitions,
 * the placements drawn from them, and how these ran.  No mathematics. */
#ifndef HSDAG_LEARN_TRAIN_ROLLOUT_H
#define HSDAG_LEARN_TRAIN_ROLLOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/episoderec.h"
#include "record/handoverrec.h"
#include "record/partrec.h"
#include "record/placerec.h"

/* Most that a replayed log-probability may differ from the recorded one. */
#define REPLAY_TOLERANCE 1e-4

/* What is shorter counts as this: an empty model takes no time, and ratios must stay finite.  Cost graphs have
 * any unit of time. */
#define RUN_LEAST_S 1e-200

/* What a run gave. */
struct outcome {
	bool ok;
	const char *reason; /* when not ok */
	double missing; /* then: bytes that devices have too little, all together; 0: not told, or not why */
	/* When ok: latency, at least RUN_LEAST_S; what is to be small, which is the latency
	 * where the record says nothing else; and the same of the best single device, 0: there
	 * is none. */
	double lat_s, ref_s;
	bool has_value; /* value is not the latency */
	double value, ref_value;
	bool noisy; /* its confidence interval is more than a point */
	/* Of a machine that is played: its time before and after what was measured together. */
	bool has_clock;
	double began_s, clock_s;
};

struct sample {
	struct place_rec place; /* as recorded; no action, no moves: nobody drew it */
	bool ran;               /* its run record has come */
	struct outcome run;
};

struct rollout {
	/* what the records of the stream must fit */
	uint64_t graph;
	uint32_t n_sets, d;
	bool replayed;       /* parts come too, with Z' */
	struct arena *arena; /* owns the records of the current episode */
	double memory;       /* bytes that all devices with a limit have; 0: none is known */

	uint32_t episode;
	bool begun, first;          /* an episode has begun; it is the first, to which placements
	                            from before it (episode 0) belong */
	struct incumbent incumbent; /* that the episode's policy is around */
	uint32_t n_steps, n_samples, n_ran, n_handed;
	struct part_rec *step;       /* (n_steps) in order */
	struct sample *sample;       /* (n_samples) in the order in which they came */
	struct handover_rec *handed; /* (n_handed) of steps that it has */
	size_t step_cap, sample_cap, handed_cap;
	uint32_t next_run; /* where the search for a run's placement begins */
};

/* d 0: only placements and their runs are gathered, nothing that a replay needs. */
void rollout_init(struct rollout *r, uint64_t graph, uint32_t n_sets, uint32_t d);
void rollout_release(struct rollout *r);
/* From an `episode` record; devices of the incumbent < k. */
int rollout_begin(struct rollout *r, const struct rec *rec, uint32_t k, struct err *e) MUST_CHECK;

/* Take one record of the current episode.  ST_INPUT when it is malformed, out of
 * order, of another graph or episode, or does not fit what came before. */
int rollout_part(struct rollout *r, const struct rec *rec, struct err *e) MUST_CHECK;
int rollout_handover(struct rollout *r, const struct rec *rec, struct err *e) MUST_CHECK;
int rollout_place(struct rollout *r, const struct rec *rec, const char *const *devices, uint32_t k,
		  struct err *e) MUST_CHECK;
/* *out (may be NULL): the sample that ran. */
int rollout_run(struct rollout *r, const struct rec *rec, const struct sample **out,
		struct err *e) MUST_CHECK;

/* At the end of the episode: has every placement its run? */
int rollout_complete(const struct rollout *r, struct err *e) MUST_CHECK;

/* Drawn by a policy, which can learn from it: that of groups (action), or that of moves? */
bool sample_is_drawn(const struct sample *s);
bool sample_has_action(const struct sample *s);

/* On the way to a sample of the policy (visits.h): the start of its step, and what came of it. */
#define SOURCE_START "start"
#define SOURCE_VISIT "visit"

/* The policy's, or on the way to one. */
bool sample_is_measured(const struct sample *s);

/* Groups of the placement; 1 where nobody chose by groups. */
uint32_t rollout_groups(const struct rollout *r, const struct sample *s);

/* Drawn, on the way to that, or what a policy gave at once without a draw: what the learner proposes
 * by itself. */
bool sample_is_own(const struct sample *s);

#endif
