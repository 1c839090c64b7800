/* bestrec.h - the `best` record of docs/reference/stream.md: a placement among the best of a search,
 * by reinforce, or the final answer, by devrun paired.  devrun measures the former, placeout tells
 * both. */
#ifndef HSDAG_RECORD_BESTREC_H
#define HSDAG_RECORD_BESTREC_H

#include "record/placerec.h"
#include "record/runrec.h"
#include "timing/contest.h"

/* What the contest says that a final record comes from. */
struct best_verdict {
	enum contest_says says; /* CONTEST_UNTOLD: not told */
	const char *
		rival; /* undecided: the source of what looked best of all others, NULL: nothing else ran ... */
	uint32_t rival_sample; /* ... and its number; of source `single` the device */
	struct interval ratio; /* of its latency over the reference's; lo 0: no interval */
	double more_s;         /* seconds more that would tell; 0: not known */
	enum contest_why why;  /* the rule by which nobody can tell; CONTEST_WHY_UNTOLD: not told */
};

struct best_rec {
	struct place_rec place; /* id, source, devices and placement */
	uint32_t rank;          /* 0 first */
	uint32_t n_groups;
	double lat_s, ref_s;
	bool has_value; /* ranked by something else than the latency; not read back */
	double value, ref_value;

	/* A final one, compared with the best single device in pairs. */
	bool final;
	double lo_s, hi_s;
	const char *reference; /* that device, "": there is none */
	bool has_ratio;        /* read back, also of one that is not final: it was told */
	double ratio, ratio_lo, ratio_hi;
	uint32_t n_pairs; /* of a race: its runs */
	struct contest_race_facts race;
	struct best_verdict verdict;
	struct contest_load load;
	bool has_copies; /* as has_ratio */
	uint64_t copies, copy_bytes;
	bool has_diff;             /* outputs against the reference's on the same inputs */
	const uint64_t *mem_bytes; /* (k) of a final one, peak of each device; NULL: not told */
	struct flight_rec flight;  /* as run_rec.flight */
	const struct run_schedule *schedule; /* of one of its runs; NULL: not told, or read back */
	const char *not_compared;            /* without has_diff: why there is none; "": not told */
	double out_mse, out_cos, out_max;
	const char *
		out_of; /* with has_diff: the device whose outputs they are compared with, where that is not the reference; else "" */
	bool has_error; /* of a contest with a limit of it: how far its outputs are from those in f32 */
	double error, max_error;
	const char *error_of; /* the device that computed in f32 */
};

int best_encode(const struct best_rec *x, struct rec_writer *w, struct err *e) MUST_CHECK;

/* A final best record? */
bool best_is_final(const struct rec *r);

/* place, rank, n_groups and final; n_sets and keys: as in place_decode.  Memory from a. */
int best_decode(const struct rec *r, uint32_t n_sets, unsigned keys, struct arena *a,
		struct best_rec *out, struct err *e) MUST_CHECK;
/* The rest into x, which best_decode filled. */
int best_decode_result(const struct rec *r, struct arena *a, struct best_rec *x,
		       struct err *e) MUST_CHECK;
/* n_groups alone. */
int best_decode_groups(const struct rec *r, uint32_t *n_groups, struct err *e) MUST_CHECK;

#endif
