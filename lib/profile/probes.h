/* probes.h - a few placements on several devices, which are timed together with the single devices:
 * what they take and the sum of their parts does not tell.  Devices that compute at the same time
 * slow each other; a copy waits for queues and threads that a timed copy alone does not meet; steps
 * that were launched one behind the other overlap. */
#ifndef HSDAG_PROFILE_PROBES_H
#define HSDAG_PROFILE_PROBES_H

#include "profile/profile.h"
#include "profile/timed.h"

enum { PROBES_MOST = 12 };

struct probes;

/* Placements on all devices that out->failed does not name, by what sets take according to
 * out->set_s: shared out by earliest finish, in pieces, at random.  step_set (n_steps): the set of
 * each step, GRAPH_NONE: none; borrowed.  Planning them takes about budget_s: as many as there is
 * time for, but some in any case.  NULL: fewer than two devices, a model with variables. */
struct probes *probes_open(struct session *s, const uint32_t *step_set, const struct profile *out,
			   double budget_s);
void probes_close(struct probes *x); /* x may be NULL */

uint32_t probes_count(const struct probes *x);
struct timed *probes_timed(struct probes *x, uint32_t i);

/* What probes ran beside: run i of each was in the round of ref's run `at` + i.  ref NULL: nothing. */
struct probe_rounds {
	const struct timed *ref;
	uint32_t at;
};

/* After the runs: correct out so that the simulator comes closest to each of them (timed_beside), and to the
 * single devices, which took single_s (k; 0: did not run): see fit.h, as for alike and most_s.  -1: the graph
 * cannot be simulated. */
int probes_fit(struct probes *x, const struct probe_rounds *rounds, const double *single_s,
	       const uint32_t *alike, double most_s, struct profile *out, struct err *e) MUST_CHECK;

#endif
