/* in_flight.h - requests side by side: how many end in a second, and how long each takes.
 *
 * A run keeps n requests in flight: who has ended begins anew.  The first 2 n fill the devices; it counts a window
 * of them, and keeps to n until the window is over; then those in flight end.  What a run takes is told as the
 * seconds of all its requests at the rate of the window, so that runs of several placements, which are of the same
 * number, can be compared like runs of one inference (timing). */
#ifndef HSDAG_MEASURE_IN_FLIGHT_H
#define HSDAG_MEASURE_IN_FLIGHT_H

#include <signal.h>

#include "exec/executor.h"

enum { IN_FLIGHT_FILL = 2 }; /* times n */

/* Of a session. */
struct in_flight {
	uint32_t n; /* requests at once; 1: single inferences, and nothing of this is used */
	double limit_s; /* of the latency of 95 % of them, so that placements may have fewer at once; 0: none */
	uint64_t window;                    /* requests that a run counts; 0: not chosen yet */
	const volatile sig_atomic_t *drain; /* not 0: no request begins any more; NULL: all do */
};

/* Latencies by logarithms: bucket i has those from LATENCY_LEAST_S * LATENCY_STEP^i on. */
enum { LATENCY_BUCKETS = 4200 };
#define LATENCY_LEAST_S 1e-6
#define LATENCY_STEP 1.005

/* What became of the requests of a placement, over all its runs; memory of one size. */
struct served {
	uint32_t n;             /* at once, where it is fewer than of the session; 0: as many */
	uint64_t ended, failed; /* in windows; failed are among the ended */
	struct err why;         /* of the first that failed */
	double seconds;         /* of windows */
	uint32_t latency[LATENCY_BUCKETS];
};

/* The latency that a share q of the requests that did not fail stay within, to half a per cent; 0: none ended. */
double served_quantile(const struct served *x, double q);

/* The most requests at once, of least .. most, of which 95 % keep the limit: *n, 0 where none do.  try tells what 95 % of
 * them stay within, *p95_s, which is taken to grow with their number.  *p95_s: of
 * *n, or of `least`.  A number above `least` is to keep the limit by a twentieth, as other runs of it will take
 * more and less. */
struct requests_within {
	uint32_t least, most;
	double limit_s;
	int (*try)(void *ctx, uint32_t n, double *p95_s, struct err *e);
	void *ctx;
};
int requests_within(const struct requests_within *x, uint32_t *n, double *p95_s,
		    struct err *e) MUST_CHECK;

/* The number for which that should be, where n of them take so long, in proportion. */
uint32_t requests_guess(uint32_t n, double p95_s, double limit_s);

/* Requests of one run, of as many at once as the session has: those that fill the devices, that are counted, and that are still in flight then. */
static inline uint64_t in_flight_requests(const struct in_flight *f)
{
	return f->window + (IN_FLIGHT_FILL + 1) * (uint64_t)f->n - 1;
}

/* The window, before a run chooses one: by what a request should take, so that a run takes no more than about most_s, and
 * yet counts one of each request in flight. */
void in_flight_expect(struct in_flight *f, double request_s, double most_s);

/* One run of p and its next_request, the first of them where fewer are at once (out->n).  *run_s: of in_flight_requests; busy_s (k): computing for as many, or NULL.  out is
 * added to.  The first run of a session chooses the window.  -1: as executor_load, or no request in the window
 * but failed (with its error). */
int in_flight_run(struct in_flight *f, struct executor *x, struct plan *p, struct served *out,
		  double *run_s, double *busy_s, struct err *e) MUST_CHECK;

#endif
