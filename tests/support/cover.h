/* cover.h - the targets of tests/fuzz/fuzz_cover.c that are no program: abort() where one is wrong. */
#ifndef HSDAG_TESTS_COVER_H
#define HSDAG_TESTS_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A network drawn by the bytes runs on one core, and on two as they say: alike.  Files data and weights are made in
 * the folder. */
void cover_net(const uint8_t *data, size_t size, const char *folder);

/* The .npy file at path, read for a tensor that `kind` chooses, and written and read again. */
void cover_npy(const char *path, unsigned kind);

/* What libFuzzer calls. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The process on one of its cores alone; on all of them again. */
void cover_on_one_core(bool one);

#endif
