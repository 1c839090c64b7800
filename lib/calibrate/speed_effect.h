/* speed_effect.h - what the speed of cores explains of runs' times, by regression.
 *
 * Other guests of the host and other programs slow cores down.  Beside each run short loops are
 * timed on every device's cores (measure/core_speed.h): where they take longer, so does the run.
 * The regression is within placements, of logs of times on logs of the loops' times. */
#ifndef HSDAG_CALIBRATE_SPEED_EFFECT_H
#define HSDAG_CALIBRATE_SPEED_EFFECT_H

#include <stdint.h>

enum { LOOP_KINDS = 2 }; /* of short loops: arithmetic, and one that reads memory */

struct speed_runs {
	uint32_t n, n_placements, n_calls, n_devices;
	const double *log_s;              /* (n) logs of the runs' times */
	const uint32_t *placement, *call; /* (n) */
	const double *log_loop;           /* (n, n_devices, LOOP_KINDS) NAN: not known */
	const double *share;              /* (n_placements, n_devices) of its time each is busy */
};

/* y (n): log_s without what the loops explain, where regression makes the error smaller for
 * certain: coefficients of either half of the runs are judged by the other half.  Returns the
 * share of the runs' variance within placements that is explained; 0: y is log_s.  With devices it needs
 * OpenBLAS, which the caller has opened (linear/blas.h). */
double speed_effect_remove(const struct speed_runs *r, double *y);

#endif
