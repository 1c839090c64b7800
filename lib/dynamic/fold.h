/* fold.h - values of a model's constants, for a runtime that is to find them computed. */
#ifndef HSDAG_DYNAMIC_FOLD_H
#define HSDAG_DYNAMIC_FOLD_H

#include "dynamic/host_eval.h"

/* Compute what is constant[] (n), as shapes and masks, into h: not Consts themselves, not what has
 * more than FOLD_BYTES, and not what unpacks weights of few bits or rounds them (FakeQuantize), by whose operators
 * plugins know that they may compute in few bits.  What nothing but computed constants reads is dropped again; beyond FOLD_HELD
 * bytes at a time no more is computed.  What is not there has no data. */
enum { FOLD_BYTES = 64 << 20, FOLD_HELD = 256 << 20 };
void host_fold(struct host_values *h, const bool *constant);

#endif
