/* history.h - the `update` records of a training run: one per episode, written
 * as they happen, kept for the checkpoint and written again on resuming. */
#ifndef HSDAG_LEARN_TRAIN_HISTORY_H
#define HSDAG_LEARN_TRAIN_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "record/updaterec.h"

struct history {
	struct update_rec *u;
	size_t n, cap;
};

void history_add(struct history *h, const struct update_rec *u);
void history_release(struct history *h);

#endif
