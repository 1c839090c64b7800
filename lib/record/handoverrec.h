/* handoverrec.h - the `handover` record of docs/reference/stream.md: where placepolicy left what it computed for the steps of
 * an episode.  reinforce reads it. */
#ifndef HSDAG_RECORD_HANDOVERREC_H
#define HSDAG_RECORD_HANDOVERREC_H

#include <stdint.h>

#include "base/err.h"
#include "record/rolloutid.h"
#include "stream/rec.h"

struct handover_rec {
	struct rollout_id id; /* the first step; sample is 0 */
	uint32_t steps;       /* > 0 */
	uint32_t pid, fd;     /* of the memory (base/sharedmem.h) */
	uint64_t at, n;       /* bytes */
	uint64_t key;         /* of what it was computed from */
};

int handover_decode(const struct rec *r, struct handover_rec *out, struct err *e) MUST_CHECK;
int handover_encode(const struct handover_rec *h, struct rec_writer *w, struct err *e) MUST_CHECK;

#endif
