/* update_list.h - the `update` records of a training run: one per episode, written
 * as they happen, kept for the checkpoint and written again on resuming. */
#ifndef HSDAG_LEARN_TRAIN_UPDATE_LIST_H
#define HSDAG_LEARN_TRAIN_UPDATE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "record/updaterec.h"

struct update_list {
	struct update_rec *u;
	size_t n, cap;
};

void update_list_add(struct update_list *h, const struct update_rec *u);
void update_list_release(struct update_list *h);

#endif
