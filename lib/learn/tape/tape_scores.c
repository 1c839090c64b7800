/* tape_scores.c - scores of content attention and their gradients, for each level of instructions. */
#include "learn/tape/tape_scores.h"

#include <string.h>

#define SCORES_MOST 1e9f

#define LEVEL_FILE "learn/tape/tape_scores_loops.h"
#include "kernel/isa_dispatch.h"

float scores_largest(const float *x, size_t n)
{
	return LEVEL_CALL(largest, x, n);
}

bool scores_bounded(const float *eq, size_t n, float most_ekey)
{
	return scores_largest(eq, n) * most_ekey < SCORES_MOST / 2;
}

void kern_scores(const struct scores *s)
{
	LEVEL_CALL(scores, s);
}

void kern_scores_back(const struct scores_back *r)
{
	LEVEL_CALL(scores_back, r);
}
