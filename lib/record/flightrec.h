/* flightrec.h - the map `in_flight` of `run` and final `best` records: a placement was measured with several requests in
 * flight, and its times are seconds a request. */
#ifndef HSDAG_RECORD_FLIGHTREC_H
#define HSDAG_RECORD_FLIGHTREC_H

#include "base/mem.h"
#include "stream/rec.h"

struct flight_rec {
	uint32_t requests;      /* at once; 0: the record has no such map */
	uint64_t ended, failed; /* that were counted; failed are among the ended */
	const char *failure;    /* of the first that failed; with failed > 0 */
	double seconds;         /* in which they ended */
	double limit_s;         /* that p95_s was to keep, requests chosen accordingly; 0: none */
	double p50_s, p95_s, p99_s; /* latency of one, of those that did not fail */
};

/* Was there a limit, and did it not hold? */
static inline bool flight_is_beyond(const struct flight_rec *x)
{
	return x->limit_s > 0 && x->p95_s > x->limit_s;
}

/* Nothing where requests is 0. */
void flight_put(const struct flight_rec *x, struct rec_writer *w);
/* Of a run or best record; texts from a.  ST_INPUT: it is malformed. */
int flight_decode(const struct rec *r, struct arena *a, struct flight_rec *out,
		  struct err *e) MUST_CHECK;

#endif
