/* placements.h - predicted and measured runs of the same placements beside each other. */
#ifndef HSDAG_CALIBRATE_PLACEMENTS_H
#define HSDAG_CALIBRATE_PLACEMENTS_H

#include "calibrate/placement_times.h"

/* The run of each placement that has the fastest sample of all calls, else one that failed,
 * ascending by the placements' numbers.  Memory from a. */
void placements_fastest(const struct calls *c, struct arena *a, struct run_list *out);

/* placements.tsv: a header line and a line for each placement that was predicted and that ran:
 *   placement source predicted_s copies copy_bytes predicted_busy_s measured_busy_s
 * and the columns of placement_times.h; busy times per device, of the fastest run, with commas. */
void placements_print(const struct run_list *predicted, const struct calls *c,
		      const struct placement_times *t, FILE *out);

/* By how much at most a device alone took less than it was predicted to: was the machine slow
 * when it was profiled? 0: no device ran alone. */
double placements_profile_slowness(const struct run_list *predicted, const struct calls *c);

#endif
