/* contest_race.h - a contest (timing/contest.h) by racing: in a given time, the candidates of which
 * the first few are what the others must beat. */
#ifndef HSDAG_RACE_CONTEST_RACE_H
#define HSDAG_RACE_CONTEST_RACE_H

#include "timing/contest.h"

/* As contest_run, in o->race_s seconds by the contestants' clock.  All single devices and the first
 * o->starts candidates are starts.
 *
 * The reference of the race is the single device that is the fastest in a few rounds (reference.h), together with all
 * that are made alike: the geometric mean of their times in each block.  Cores of one kind drift,
 * each by itself, for longer than a race may take; where one of them is fast for half a minute, what
 * runs on two of them seems to gain nothing.  What the others take is corrected for how fast each of
 * them is meanwhile (drift.h), as far as x->predict tells.  Where the fastest is a device that consists of others (x->has), as
 * one of all cores, these are the reference of the race in its stead.  The reference of the contest is the
 * fastest of these, or another single device that takes less in the race; the rounds that chose are its first blocks.
 *
 * Samples of m are all runs that count, of whatever block; ratios are to the mean of these, less what the
 * fastest of them is better for good, paired within blocks.  The winner is what the race hands over,
 * if it is surely faster than every single device (x->verdict). */
int contest_race(struct contest *x, const struct measure_options *o, struct arena *a,
		 struct err *e) MUST_CHECK;

#endif
