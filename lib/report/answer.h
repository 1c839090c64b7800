/* answer.h - what a stream says in the end: the placement that is its answer, and
 * the measurements that stand beside it.
 *
 * The answer is the last `best` that is final; without one the last `best` of rank 0;
 * without any the last `place`. */
#ifndef HSDAG_REPORT_ANSWER_H
#define HSDAG_REPORT_ANSWER_H

#include "graph/graph.h"
#include "record/bestrec.h"
#include "record/placerec.h"
#include "record/runrec.h"
#include "report/cases.h"
#include "report/raced.h"

/* One measured placement.  Ratios are latency over the best single device's, paired. */
struct measured {
	bool given;         /* there is a record of it */
	const char *reason; /* why it cannot run; NULL when it ran and the numbers hold */
	double lat_s, lo_s, hi_s, ref_s; /* seconds; lo, hi: 95 % interval */
	bool has_ratio;
	double ratio, ratio_lo, ratio_hi;
	bool has_copies;
	uint64_t copies, copy_bytes;
	uint32_t requests; /* at once; 0: not told */
	double p95_s;      /* then: 95 % of them take up to so long */
	bool has_value;    /* of another objective than latency (answer_take_value) */
	double value;
};

/* Of a run that was decoded with RUN_LATENCY, RUN_INTERVAL, RUN_REFERENCE, RUN_RATIO, RUN_COPIES and RUN_FLIGHT;
 * its text is borrowed. */
struct measured measured_of_run(const struct run_rec *x);

/* A run of a placement that is no single device's reference. */
struct tried {
	struct rollout_id id;
	const char *source;
	struct measured m;
};

enum answer_kind { ANSWER_NONE, ANSWER_PLACE, ANSWER_BEST, ANSWER_FINAL };

struct answer {
	struct graph *graph;
	enum answer_kind kind;
	struct place_rec place; /* device: of one replica (answer_replica) */
	uint32_t replica;       /* which one, 0 first */
	struct measured m;      /* of the answer; of a `place`, by the run behind it */
	bool simulated;         /* m is devsim's */
	uint32_t n_groups;      /* 0: not told */
	const char *reference;  /* the best single device, of a final answer */
	uint32_t n_pairs;
	bool has_diff;              /* outputs against the reference's on the same inputs */
	const uint64_t *mem_bytes;  /* (place.k) peak of each device; NULL: not told */
	bool has_joules;            /* measured: */
	double joules;              /* of an inference */
	double usd_per_million;     /* dollars of a million inferences, simulated; 0: not told */
	uint64_t n_pools;           /* of memory that devices share; 0: not told */
	const uint64_t *pool_bytes; /* (n_pools) what they need together */
	const char *not_compared;   /* of a final answer without has_diff: why; "": not told */
	double out_mse, out_cos, out_max;
	const char *out_of; /* as in bestrec.h */
	bool has_error;     /* of a final answer: as in bestrec.h */
	double error, max_error;
	const char *error_of;

	struct tried *tried; /* (n_tried) runs of the stream's placements, in their order */
	uint32_t n_tried, n_places;
	size_t cap_tried;

	struct measured
		*single; /* (n_single) last run of each single device, in order of devices */
	uint32_t n_single;
	struct measured random;        /* the fastest run of source "random"; where some are
	                                  * candidates of a final answer, of those; of the last race that had any */
	const struct measured *beside; /* (n_beside) single devices as they were measured with it */
	uint32_t n_beside;
	uint64_t n_random;               /* how many of them, in the race that had the most */
	uint64_t n_random_now;           /* in this one */
	uint32_t n_finals, random_race;  /* final answers so far; before `random` was taken */
	uint64_t n_measured, n_episodes; /* by the learner: sums over `update` */
	uint64_t last_gain;              /* the episode in which its best came; 0: not told */
	double best_ratio;               /* of the learner's best */
	struct raced raced;
	struct case_runs cases;         /* of a model with several lists of shapes */
	struct contest_race_facts race; /* that a final answer comes from; n_blocks 0: from none */
	struct best_verdict says;       /* of a final answer */
	struct contest_load load;       /* while it was measured */
	struct flight_rec
		flight; /* of the answer: times are seconds a request; requests 0: they are latencies */

	struct arena *arena, *spare; /* of the placement, and of the next one */
	struct arena *runs;          /* of what the runs say */
};

void answer_init(struct answer *x);
void answer_release(struct answer *x);
/* Take note of a record; kinds that say nothing here are ignored.  -1 (ST_INPUT): a
 * record that is malformed, of another graph, or a second graph. */
int answer_take(struct answer *x, const struct rec *r, struct err *e) MUST_CHECK;
/* Of an answer with replicas (place_rec.n_more) this one is looked at, 1 first.  ST_USAGE: there are not so many. */
int answer_replica(struct answer *x, int64_t which, struct err *e) MUST_CHECK;
/* Are all sets of replica i, 0 first, on one device?  Which, or -1. */
int answer_single(const struct answer *x, uint32_t i);
/* An answer of one device alone, of a graph that dagsplit made, becomes that of the graph as it was before, which is what runs
 * there.  Afterwards the records' sets are not those of x->graph. */
void answer_join_parts(struct answer *x);
/* x->random, its ratio to the reference of the answer, and what it takes while that takes what it took in the last race: an
 * earlier race may have had another reference, or another mood. */
struct measured answer_random(const struct answer *x);

/* Only the runs of random placements, from another stream about the same graph; those that were
 * taken before can be forgotten, but for one that was compared with the answer. */
void answer_forget_random(struct answer *x);
int answer_take_random(struct answer *x, const struct rec *r, struct err *e) MUST_CHECK;
/* Only what the learner did, from another stream, in the place of what was told before. */
int answer_take_search(struct answer *x, const struct rec *r, struct err *e) MUST_CHECK;
/* Only the values of runs, from another stream about the same graph: those of single devices, and
 * any other run's is the answer's. */
int answer_take_value(struct answer *x, const struct rec *r, struct err *e) MUST_CHECK;

#endif
