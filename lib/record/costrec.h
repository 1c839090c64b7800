/* costrec.h - the `cost` record of docs/reference/stream.md: what sets take on the devices, and by which rules
 * they are scheduled.  devsim, json2dag and devrun --profile write it; the placers, devsim and
 * devrun read it. */
#ifndef HSDAG_RECORD_COSTREC_H
#define HSDAG_RECORD_COSTREC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "stream/rec.h"

struct cost_rec {
	uint64_t graph; /* its digest */
	uint32_t n_sets, k;
	const char *const *names;      /* (k) devices */
	const double *set_s;           /* (n_sets,k) seconds; negative: cannot run there */
	const double *set_lo, *set_hi; /* (n_sets,k) 95 % intervals; NULL: not told */

	/* Pairs of sets, the second of which reads what the first makes, and the seconds that they
	 * take less when both are on a device. */
	bool has_pairs;
	uint32_t n_pairs;
	const uint32_t *pair_src, *pair_dst; /* (n_pairs) */
	const double *saved_s;               /* (n_pairs,k) */
	const double *saved_lo, *saved_hi;   /* (n_pairs,k) with set_lo and set_hi */

	const uint64_t *set_mem; /* (n_sets) bytes that a set holds all the time; NULL: none */
	/* Measured: (n_sets,k) bytes that a set and no other holds all the time, constants with it;
	 * NULL: not told.  With it: values that several sets need, once on each device that has one
	 * of them, (n_shared,k) bytes, of the sets shared_set[shared_ptr[i]] ..; (n_sets,k) what a
	 * set takes besides while it runs; and (k) what a device needs besides once it runs
	 * anything. */
	const uint64_t *held, *inner;
	uint32_t n_shared;
	const uint64_t *shared;
	const uint32_t *shared_ptr; /* (n_shared+1) */
	const uint32_t *shared_set;
	const uint64_t *work;
	/* (k) what set_s was computed from (struct device_spec); NULL: it was not */
	const double *flops_per_s, *bytes_per_s, *overhead_s;
	const double *workspace; /* (k) with these: scratch for each byte of tensors; NULL: none */
	/* (k) in which types weights are kept there, what is fused, peaks by type, as a specification has them
	 * (place/problem/spec.h); NULL: not told */
	const char *const *keeps, *const *fuses, *const *peaks;
	const double *move_s; /* (n_sets) dnn-partitioning's transfers; NULL: not told */

	/* Seconds more that a second takes in which several devices compute, and the share that all
	 * takes longer where several are in use.  Both 0 where they are not told. */
	bool has_slowdown;
	double slowdown, multi_slowdown;
	uint64_t profiles; /* how many this is the mean of; 0: not told */

	bool has_rules; /* the next two are told, and the third perhaps */
	bool contention, overlap;
	/* (k,k) without overlap: 1, 2 or 3, a copy from row to column occupies its source, its
	 * destination, both; 0: neither; NULL: always both */
	const uint8_t *copy_holds;
	const char *order; /* which ready set a device takes; NULL: not told */

	/* Of a graph with several cases: what each takes, with the graph, devices and sets of all; what is told above is then
	 * of all by their weights (cost_of_cases). */
	uint32_t n_cases;
	const struct cost_rec *cases;
};

/* The record of several cases (n, which may not have cases) of these weights: times and savings are sums by weight, what else
 * there is is the first one's.  cases are borrowed, memory from a. */
struct cost_rec cost_of_cases(const struct cost_rec *cases, const double *weight, uint32_t n,
			      struct arena *a);

int cost_encode(const struct cost_rec *x, struct rec_writer *w, struct err *e) MUST_CHECK;

/* graph, names and k; memory from a.  Errors of this and the next name the key; callers say which
 * record. */
int cost_decode_head(const struct rec *r, struct arena *a, struct cost_rec *out,
		     struct err *e) MUST_CHECK;

/* What a reader asks for besides set_s; it does not look at the other keys. */
enum {
	COST_MODEL =
		1, /* pairs, set_mem, held, move_s, rules, slowdown, order, flops_per_s; each where told */
	COST_OVERLAP = 2, /* overlap, copy_holds, where told: has_rules */
	COST_PROFILE = 4  /* what every profile tells: all intervals, pairs, slowdown; profiles */
};
enum { COST_MAX_SLOWDOWN = 1000, COST_MAX_WORKSPACE = 1000 };

/* The rest into x, which cost_decode_head filled, for a graph of n_sets. */
int cost_decode(const struct rec *r, uint32_t n_sets, unsigned keys, struct arena *a,
		struct cost_rec *x, struct err *e) MUST_CHECK;

#endif
