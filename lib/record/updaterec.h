/* updaterec.h - the `update` record of docs/reference/stream.md: what one episode of a training run gave.
 * reinforce writes it, to the stream and to its checkpoint; placeout counts the runs. */
#ifndef HSDAG_RECORD_UPDATEREC_H
#define HSDAG_RECORD_UPDATEREC_H

#include <stdint.h>

#include "base/err.h"
#include "stream/rec.h"

struct update_rec {
	uint32_t episode;
	uint32_t ok, failed;   /* placements that ran, and that could not */
	double mean_s, best_s; /* latency over the episode; 0 when none ran */
	double best_ratio;     /* so far, of values to the best single device's; 0 when none ran */
	double reward, entropy, groups; /* means over the episode */
	double grad_norm, loss;
};

int update_encode(const struct update_rec *u, struct rec_writer *w, struct err *e) MUST_CHECK;
int update_decode(const struct rec *r, struct update_rec *out, struct err *e) MUST_CHECK;
/* ok and failed, and best_ratio where it is told. */
int update_decode_counts(const struct rec *r, struct update_rec *out, struct err *e) MUST_CHECK;

#endif
