/* runrec.h - the `run` record of docs/reference/stream.md: what running a placement gave.  devrun, devsim and
 * nobody else write it; the learner, topk and placeout read it. */
#ifndef HSDAG_RECORD_RUNREC_H
#define HSDAG_RECORD_RUNREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/flightrec.h"
#include "record/placerec.h"
#include "record/rolloutid.h"
#include "stream/rec.h"
#include "timing/contest.h"
#include "timing/measurement.h"

/* What went over each directed link that carried something; devices are the placement's. */
struct run_links {
	uint32_t n;
	uint16_t *src, *dst; /* (n) */
	uint32_t *copies;    /* (n) */
	uint64_t *bytes;     /* (n) */
	double *busy_s;      /* (n) */
};

/* When each set that does something ran, and each copy of what a set made. */
struct run_schedule {
	uint32_t n, n_copies;
	const uint32_t *set;                     /* (n) */
	const double *start_s, *end_s;           /* (n) */
	const uint32_t *copy_set;                /* (n_copies) */
	const uint16_t *copy_src, *copy_dst;     /* (n_copies) */
	const uint64_t *copy_bytes;              /* (n_copies) */
	const double *copy_start_s, *copy_end_s; /* (n_copies) */
};

struct run_rec {
	/* of the placement that it answers */
	struct rollout_id id;
	const char *source;
	uint32_t k; /* devices; read back with RUN_SAMPLES */

	/* NULL: it ran; else why not, and nothing below counts but the next two */
	const char *reason;
	double unlimited_s; /* > 0: what it would take if only there was memory enough, or takes beyond a limit of error; read back with RUN_ERROR */
	uint64_t missing_bytes;   /* then: that devices have too little, all together */
	bool has_error;           /* of a contest with a limit of it, also of what is beyond that */
	double error;             /* of its outputs, over their scale */
	double lat_s, lo_s, hi_s; /* of several cases the sums by their weights */
	uint32_t n_cases;
	const double *case_s;    /* (n_cases) what an inference of each takes */
	const double *samples_s; /* (n_samples) */
	uint32_t n_samples;
	/* (n_samples, k, n_pulses) what short loops took beside each sample; NULL: not told */
	const double *pulse_s;
	uint32_t n_pulses;
	double ref_s; /* best single device; 0: none can run the model */
	bool has_ratio;
	double ratio, ratio_lo, ratio_hi;
	double predicted_s;           /* what the placement should have taken; 0: not told */
	struct contest_turns turns;   /* n_bursts 0: of no race */
	struct contest_bursts bursts; /* of a race; n 0: not told */
	const uint64_t *mem_bytes;    /* (k) */
	uint32_t n_pools;             /* with pools of memory, devsim's: */
	const uint64_t *pool_bytes;   /* (n_pools) what their devices need together */
	bool has_copies;              /* read back: they were told */
	uint64_t copies, copy_bytes;
	/* Of a plan that ran: copies that were not made, since both devices compute in the
	 * host's memory; steps of one or more nodes; connected nodes of one device in more
	 * segments than one. */
	bool has_plan;
	uint32_t in_host, steps, splits;
	const double *busy_s;     /* (k) */
	struct flight_rec flight; /* requests 0: one inference after another */
	/* Of a machine that is played: its time before and after this and what was measured with
	 * it. */
	bool has_clock;
	double began_s, clock_s;
	/* Of a simulation. */
	bool has_value;          /* something else than latency is to be small */
	double value, ref_value; /* ref_value: of the best single device; 0: there is none */
	bool has_joules;         /* measured: */
	double joules;           /* of an inference */
	bool has_pipeline;
	double period_s, energy_j;           /* energy 0: no watts are known */
	double usd;                          /* dollars of an inference; 0: no prices are known */
	const struct run_links *links;       /* NULL: not told */
	const struct run_schedule *schedule; /* NULL: not told */
};

/* What timing a placement gave, where it could run.  p and m are borrowed; ratio NULL: none is known.
 * Reason, memory, copies and what only one of the writers knows are for the caller to fill in. */
struct run_rec run_rec_measured(const struct place_rec *p, const struct measurement *m,
				double ref_s, const struct interval *ratio,
				const struct contest_turns *turns);

int run_encode(const struct run_rec *x, struct rec_writer *w, struct err *e) MUST_CHECK;

/* The keys that a reader asks for; it does not look at the others.  `ok` and `reason` are always
 * read, and all from RUN_LATENCY on only of what ran. */
enum {
	RUN_GRAPH = ID_GRAPH,
	RUN_STEP = ID_STEP,
	RUN_SAMPLE = ID_SAMPLE,
	RUN_SOURCE = 8,
	RUN_LATENCY = 16,     /* lat_s */
	RUN_INTERVAL = 32,    /* lo_s, hi_s */
	RUN_REFERENCE = 64,   /* ref_s */
	RUN_RATIO = 128,      /* with its interval, where told */
	RUN_COPIES = 256,     /* copies, copy_bytes, where told */
	RUN_VALUE = 512,      /* where told; has_value */
	RUN_REF_VALUE = 1024, /* with value */
	RUN_SAMPLES = 2048,   /* samples_s and busy_s, whose length is k; pulse_s, where told */
	RUN_PLAN = 4096,      /* in_host and steps, where told; has_plan */
	RUN_CLOCK = 8192,     /* began_s and clock_s, where told; has_clock */
	RUN_CASES = 32768,    /* case_s, where told */
	RUN_FLIGHT = 65536,   /* flight, where told */
	RUN_ERROR = 131072,   /* error, where told, also of what did not run; has_error */
	RUN_TURNS = 16384     /* turns, predicted_s, n_samples, where told */
};

/* From a record of kind "run"; texts in memory of a.  Errors name the key; callers say which
 * record. */
int run_decode(const struct rec *r, unsigned keys, struct arena *a, struct run_rec *out,
	       struct err *e) MUST_CHECK;

/* An error of outputs, where it is told: 0 or more. */
int error_decode(const struct val *map, const char *key, bool *told, double *error,
		 struct err *e) MUST_CHECK;

/* Is this its source?  A record without any has none. */
bool run_source_is(const struct rec *r, const char *name);

/* Is it devsim's, and not a measurement? */
bool run_is_simulated(const struct rec *r);

/* Is it of a race, or could it have been? */
bool run_has_turns(const struct rec *r);

/* 1: r is a run record of a race, whose id, source, samples, turns and bursts are in *out (memory from a); 0: it is not; -1:
 * ST_INPUT, it is malformed. */
int run_decode_raced(const struct rec *r, struct arena *a, struct run_rec *out,
		     struct err *e) MUST_CHECK;
/* What a race told, for a later one. */
struct contest_past run_past(const struct run_rec *x);
/* Is it the run of the placement of this rollout and source? */
bool run_is_of(const struct run_rec *run, const struct rollout_id *id, const char *source);

/* The key `schedule`, which a final `best` record may have too; so do the two below take both. */
void run_schedule_put(const struct run_schedule *s, struct rec_writer *w);
bool run_has_schedule(const struct rec *r);
/* ST_INPUT: there is none, or its columns are not of one length.  Indices are not checked. */
int run_decode_schedule(const struct rec *r, struct arena *a, struct run_schedule *out,
			struct err *e) MUST_CHECK;

#endif
