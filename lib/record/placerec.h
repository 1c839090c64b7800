/* placerec.h - what the run stage reads and writes: `place` records in, `run`
 * records out (STREAM.md).  devrun, devsim and placebase use it. */
#ifndef HSDAG_RECORD_PLACEREC_H
#define HSDAG_RECORD_PLACEREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/rec.h"

/* A placement and whose turn it is in a rollout. */
struct placement {
	uint64_t graph; /* digest */
	uint32_t episode, step, sample;
	const char *source; /* "policy", "single", ... */
	uint32_t k, n_sets;
	const char *const *names; /* (k) devices, distinct */
	const uint16_t *device;   /* (n_sets) index into names, < k */
	/* Not read by placement_decode.  What it should take, and what no placement can beat, which
	 * is a value where not latency is to be small. */
	bool predicted, bounded, by_value;
	double predicted_s, bound_s, predicted_value, bound_value;
};

/* n_sets: what the graph has.  Memory from a.  Keys beyond these are ignored. */
int placement_decode(const struct rec *r, uint32_t n_sets, struct arena *a, struct placement *out,
		     struct err *e) MUST_CHECK;
int placement_encode(const struct placement *p, struct rec_writer *w, struct err *e) MUST_CHECK;

/* What went over each directed link that carried something; devices are the placement's. */
struct run_links {
	uint32_t n;
	uint16_t *src, *dst; /* (n) */
	uint32_t *copies;    /* (n) */
	uint64_t *bytes;     /* (n) */
	double *busy_s;      /* (n) */
};

/* When each set that does something ran, and each copy of what a set made. */
struct run_schedule {
	uint32_t n, n_copies;
	const uint32_t *set;                     /* (n) */
	const double *start_s, *end_s;           /* (n) */
	uint32_t *copy_set;                      /* (n_copies) */
	uint16_t *copy_src, *copy_dst;           /* (n_copies) */
	uint64_t *copy_bytes;                    /* (n_copies) */
	const double *copy_start_s, *copy_end_s; /* (n_copies) */
};

/* What running (or simulating) a placement gave. */
struct run_result {
	const char
		*reason; /* NULL: it ran; else why not, and nothing below counts but unlimited_s */
	double unlimited_s; /* > 0: what it would take if only there was memory enough */
	double lat_s, lo_s, hi_s;
	const double *samples_s; /* (n_samples) */
	uint32_t n_samples;
	/* (n_samples, k, n_pulses) what short loops took beside each sample; NULL: not told */
	const double *pulse_s;
	uint32_t n_pulses;
	double ref_s; /* best single device; 0: none can run the model */
	bool has_ratio;
	double ratio, ratio_lo, ratio_hi;
	const uint64_t *mem_bytes; /* (k) */
	uint64_t copies, copy_bytes;
	/* Of a plan that ran: copies that were not made, since both devices compute in the
	 * host's memory; steps of one or more nodes; connected nodes of one device in more
	 * segments than one. */
	bool has_plan;
	uint32_t in_host, steps, splits;
	const double *busy_s; /* (k) */
	/* Of a simulation. */
	bool has_value;          /* something else than latency is to be small */
	double value, ref_value; /* ref_value: of the best single device; 0: there is none */
	bool has_pipeline;
	double period_s, energy_j;           /* energy 0: no watts are known */
	const struct run_links *links;       /* NULL: not told */
	const struct run_schedule *schedule; /* NULL: not told */
};

/* The `run` record that answers p. */
int run_encode(const struct placement *p, const struct run_result *x, struct rec_writer *w,
	       struct err *e) MUST_CHECK;

#endif
