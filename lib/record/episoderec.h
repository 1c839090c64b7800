/* episoderec.h - the `episode` record of docs/reference/stream.md: what reinforce asks for, read by
 * gpnembed, placepolicy and, when it comes back, by reinforce. */
#ifndef HSDAG_RECORD_EPISODEREC_H
#define HSDAG_RECORD_EPISODEREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/rec.h"

/* The best placement so far, around which an episode's samples are drawn. */
struct incumbent {
	const uint16_t *device; /* (n_sets) NULL: there is none */
	double leaves;          /* groups that leave it in a sample, in the mean */
	double ratio;           /* its value (latency) to that of the best single device */
	bool again;             /* run it once more before it is changed */
	/* hashes (placement_hash) of placements around it that were run and did not replace it */
	double adapted; /* share of its moves that the scores of block adapt choose */
	uint32_t n_tried;
	const uint64_t *tried; /* (n_tried) */
};

struct episode_rec {
	uint32_t episode; /* from 1 */
	uint32_t steps;
	uint32_t samples; /* placements drawn in a step; 0: as many as placepolicy is told */
	uint32_t visits;  /* run placements on the way to a sample, too: behind so many groups */
	bool single_reference; /* place every single device first */
	struct incumbent incumbent;
};

/* Incumbent (n_sets) of devices < k, in memory of a; a NULL: it is not looked at.
 * ST_INPUT: malformed, or an incumbent of another graph. */
int episode_decode(const struct rec *r, uint32_t n_sets, uint32_t k, struct arena *a,
		   struct episode_rec *out, struct err *e) MUST_CHECK;
int episode_encode(const struct episode_rec *x, uint32_t n_sets, struct rec_writer *w,
		   struct err *e) MUST_CHECK;

/* The record that ends what gpnembed answers to it. */
int episode_end_encode(uint32_t episode, struct rec_writer *w, struct err *e) MUST_CHECK;
int episode_end_decode(const struct rec *r, uint32_t *episode, struct err *e) MUST_CHECK;

#endif
