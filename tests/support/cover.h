/* cover.h - what the programs that are fuzzed share: tests/fuzz/fuzz_cover.c, fuzz_net.c. */
#ifndef HSDAG_TESTS_COVER_H
#define HSDAG_TESTS_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Without libFuzzer: path[1 .. n-1], each once. */
void cover_files(int n, char **path);

/* What libFuzzer calls. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The process on one of its cores alone; on all of them again. */
void cover_on_one_core(bool one);

#endif
