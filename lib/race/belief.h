/* belief.h - what is believed of arms: measured effects shrunk to what was expected of them. */
#ifndef HSDAG_RACE_BELIEF_H
#define HSDAG_RACE_BELIEF_H

#include "race/race.h"

/* shrunk and shrunk_se of arm[n] from effect, se and n_bursts.  An arm's true effect is normal
 * around a + b log(predicted_s), where a, b and its spread are found from the arms that have run
 * (empirical Bayes; Efron and Morris 1973); without predictions around their mean.  Errors of the
 * best of many measured arms are larger than those of an arm that was not chosen: means of a
 * posterior are not wrong by that. */
void belief_shrink(struct race_arm *arm, uint32_t n);

#endif
