/* verdict.h - the last comparison before anything is claimed: candidates against the
 * best single device, in pairs. */
#ifndef HSDAG_DEVICE_VERDICT_H
#define HSDAG_DEVICE_VERDICT_H

#include "device/session.h"

struct verdict {
	struct trial *single;        /* (k) every device alone; ratio to the best of them */
	int reference;               /* the best single device; -1: none can run the model */
	int winner;                  /* a candidate, or -1: the reference itself */
	struct trial final;          /* the winner (or the reference) measured once more, longer */
	uint32_t n_pairs;
	struct output_difference diff;   /* of the winner's outputs to the reference's */
};

/* Measure single devices and candidates t[n], each in pairs with the best single device; then
 * the best candidate once more, for the claim is about a measurement that did not
 * choose it.  It wins only if its interval says that it is no slower: ratio.hi <= 1;
 * without any single device the fastest candidate wins.  Results from a.
 * -1: nothing could run, or the output's reader has gone. */
int verdict_reach(struct session *s, struct trial *t, uint32_t n, struct arena *a,
		  struct verdict *out, struct err *e) MUST_CHECK;

#endif
