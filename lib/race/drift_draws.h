/* drift_draws.h - what is not known of devices that are made alike, and of what they do to an arm, as
 * draws: numbers of unit variance that a drift scales.  Pure functions of the draw, the arm and the
 * device, so that two arms that are compared have the same devices in the same draw. */
#ifndef HSDAG_RACE_DRIFT_DRAWS_H
#define HSDAG_RACE_DRIFT_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

/* Into apart (n_draws,k): how far each device is from the mean of those that ran (k), for good.  A draw
 * adds up to nothing over devices, each device to nothing over an even number of draws, and its
 * squares to their number; 0: it did not run, or no other one. */
void drift_draw_devices(uint32_t n_draws, uint32_t k, const bool *ran, double *apart);

/* Into wrong (n_draws,k): by how much of a device's slowdown the arm's excess is wrong.  An arm that
 * computes a share (k; in all 1) on each feels a slow device more or less than tasks do in the mean;
 * one that slows all of them alike it feels in full. */
void drift_draw_arm(uint32_t arm, uint32_t n_draws, uint32_t k, const double *share, double *wrong);

#endif
