/* rolloutid.h - the keys by which records about one placement find each other (docs/reference/stream.md):
 * `graph`, `episode`, `step` and `sample` of part, place, run and best records. */
#ifndef HSDAG_RECORD_ROLLOUTID_H
#define HSDAG_RECORD_ROLLOUTID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "stream/rec.h"

struct rollout_id {
	uint64_t graph; /* its digest */
	uint32_t episode, step, sample;
};

/* Which of the keys a record has, or a reader needs; the others are 0. */
enum { ID_GRAPH = 1, ID_STEP = 2 /* episode and step */, ID_SAMPLE = 4, ID_ALL = 7 };

int rollout_id_decode(const struct val *map, unsigned keys, struct rollout_id *out,
		      struct err *e) MUST_CHECK;
void rollout_id_put(struct rec_writer *w, unsigned keys, const struct rollout_id *id);

/* Are all four keys there in both records, and equal? */
bool rollout_id_same(const struct rec *a, const struct rec *b);

/* The same of two that were read; their graphs aside. */
static inline bool rollout_same(const struct rollout_id *a, const struct rollout_id *b)
{
	return a->episode == b->episode && a->step == b->step && a->sample == b->sample;
}

#endif
