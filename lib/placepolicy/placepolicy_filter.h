/* placepolicy_filter.h - what placepolicy does to a stream: all passes, and behind each part go placements of
 * its groups, by the parameters that the stream or a seed gives; in a loop behind each episode those that
 * it asks for. */
#ifndef HSDAG_PLACEPOLICY_PLACEPOLICY_FILTER_H
#define HSDAG_PLACEPOLICY_PLACEPOLICY_FILTER_H

#include "learn/net/net.h"
#include "stream/filter.h"

struct placepolicy_options {
	const char *list;      /* devices, where no record names them; NULL: one must */
	const struct net *net; /* whose parameters are expected; NULL: any */
	bool greedy;           /* the most probable placement instead of a draw */
	bool single_reference; /* one pass: a placement on every single device first */
	bool keep;             /* one pass: parts keep their embeddings */
	bool hand_over; /* in a loop: what was computed is left for reinforce (learn/net/handover.h) */
	int64_t samples;
	bool samples_given; /* reinforce cannot ask for another number */
};

struct placepolicy;

/* o stays the caller's and must outlive it.  NULL: -D's list is none. */
struct placepolicy *placepolicy_new(const struct placepolicy_options *o, uint64_t seed,
				    struct err *e) MUST_CHECK;
void placepolicy_free(struct placepolicy *s);

/* All streams of f, which the caller has opened and closes with what is returned. */
int placepolicy_run(struct placepolicy *s, struct filter *f, struct err *e) MUST_CHECK;

#endif
