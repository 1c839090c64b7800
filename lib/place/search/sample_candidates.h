/* sample_candidates.h - the placements (sample_candidates.c) from which the stratified sample is
 * taken (stratified_sample.c); not for others. */
#ifndef HSDAG_PLACE_SEARCH_SAMPLE_CANDIDATES_H
#define HSDAG_PLACE_SEARCH_SAMPLE_CANDIDATES_H

#include "base/pairmap.h"
#include "base/rng.h"
#include "place/method/method.h"
#include "place/simulate/units.h"

enum { SAMPLE_BASES = 3, SAMPLE_SLOW_BASES = 2 };

/* How a candidate came about; the names are in the records (`source`). */
enum candidate_kind {
	CANDIDATE_SINGLE,   /* "single": one device for all */
	CANDIDATE_SEARCHED, /* "searched": HEFT, and what hill climbing makes of it */
	CANDIDATE_SLOWED,   /* "slowed": what climbing upwards makes slow */
	CANDIDATE_AROUND,   /* "around": the fastest device alone but for a few units */
	/* From here on kinds are drawn in turn. */
	CANDIDATE_MOVED,   /* "moved": a good placement with units elsewhere */
	CANDIDATE_PATCHED, /* "patched": the same with stretches of units elsewhere */
	CANDIDATE_CROSSED, /* "crossed": the head of one candidate and the tail of another */
	CANDIDATE_SPLIT,   /* "pieces": contiguous splits of a topological order */
	CANDIDATE_BIASED,  /* "biased": random, with a preference for some devices */
	CANDIDATE_UNIFORM, /* "uniform": random, devices equally likely */
	CANDIDATE_RESTORED /* "restored": a slow placement, partly as in a good one */
};

struct sample_candidate {
	double s; /* predicted seconds */
	enum candidate_kind kind;
	uint16_t *device; /* (n_sets) */
	bool taken;       /* is in the sample */
};

struct sample_candidates {
	struct method_run *r;
	const struct place_model *m;
	struct place_units units;
	struct evaluator *ev;
	struct pairmap seen;        /* two hashes of every candidate */
	struct sample_candidate *c; /* (n) all different and legal */
	size_t n, cap;
	const uint16_t *base[SAMPLE_BASES];      /* (n_sets) good placements */
	const uint16_t *slow[SAMPLE_SLOW_BASES]; /* (n_sets) slow placements */
	uint32_t n_bases, n_slow;
	struct rng_addr rng;
	uint32_t drawn; /* random numbers so far */
	/* of clock_s; then there are no more candidates than are asked for; 0: there is none */
	double deadline_s;
};

/* Draws candidates for r: several times as many as r->samples where there are so many.  -1
 * (ST_INPUT): no device alone and not HEFT makes a legal placement; sample_candidates_release then,
 * too. */
int sample_candidates_init(struct sample_candidates *x, struct method_run *r,
			   struct err *e) MUST_CHECK;
void sample_candidates_release(struct sample_candidates *x);

/* A random number below n >= 1 of the sample's own stream. */
uint32_t sample_candidates_draw_below(struct sample_candidates *x, uint32_t n);

#endif
