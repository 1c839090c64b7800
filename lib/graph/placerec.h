/* placerec.h - what the run stage reads and writes: `place` records in, `run`
 * records out (STREAM.md).  devrun, devsim and placebase use it. */
#ifndef HSDAG_GRAPH_PLACEREC_H
#define HSDAG_GRAPH_PLACEREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/rec.h"

/* A placement and whose turn it is in a rollout. */
struct placement {
	uint64_t graph;              /* digest */
	uint32_t episode, step, sample;
	const char *source;          /* "policy", "single", ... */
	uint32_t k, n_sets;
	const char *const *names;    /* (k) devices, distinct */
	const uint16_t *device;      /* (n_sets) index into names, < k */
	/* Written, not read back; 0: not told. */
	double predicted_s, bound_s; /* what it should take; what no placement can beat */
};

/* n_sets: what the graph has.  Memory from a.  Keys beyond these are ignored. */
int placement_decode(const struct rec *r, uint32_t n_sets, struct arena *a,
		     struct placement *out, struct err *e) MUST_CHECK;
int placement_encode(const struct placement *p, struct rec_writer *w, struct err *e) MUST_CHECK;

/* What running (or simulating) a placement gave. */
struct run_result {
	const char *reason;          /* NULL: it ran; else why not, and nothing below counts but unlimited_s */
	double unlimited_s;          /* > 0: what it would take if only there was memory enough */
	double lat_s, lo_s, hi_s;
	const double *samples_s;     /* (n_samples) */
	uint32_t n_samples;
	double ref_s;                /* best single device; 0: none can run the model */
	bool has_ratio;
	double ratio, ratio_lo, ratio_hi;
	const uint64_t *mem_bytes;   /* (k) */
	uint64_t copies, copy_bytes;
	/* Of a plan that ran: copies that were not made, since both devices compute in the host's
	 * memory; steps of one or more nodes; connected nodes of one device in more segments than one. */
	bool has_plan;
	uint32_t in_host, steps, splits;
	const double *busy_s;        /* (k) */
};

/* The `run` record that answers p. */
int run_encode(const struct placement *p, const struct run_result *x, struct rec_writer *w,
	       struct err *e) MUST_CHECK;

#endif
