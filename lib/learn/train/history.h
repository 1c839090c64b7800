/* history.h - the `update` records of a training run: one per episode, written
 * as they happen, kept for the checkpoint and written again on resuming. */
#ifndef HSDAG_LEARN_TRAIN_HISTORY_H
#define HSDAG_LEARN_TRAIN_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stream/rec.h"

struct update {
	uint32_t episode;
	uint32_t ok, failed;   /* placements that ran, and that could not */
	double mean_s, best_s; /* latency over the episode; 0 when none ran */
	double best_ratio;     /* so far, of values to the best single device's; 0 when none ran */
	double reward, entropy, groups; /* means over the episode */
	double grad_norm, loss;
};

struct history {
	struct update *u;
	size_t n, cap;
};

void history_add(struct history *h, const struct update *u);
void history_release(struct history *h);

int update_write(const struct update *u, struct rec_writer *w, struct err *e) MUST_CHECK;
int update_read(struct update *u, const struct rec *r, struct err *e) MUST_CHECK;

#endif
