/* candidates.h - the best distinct placements seen so far: what the final answer is chosen from.
 * Single-device references, the placements of everything on one device, are among them.
 *
 * A placement is judged by the mean of its ratios to the best single device
 * (value / ref_value, which are lat_s / ref_s where nothing else than latency is to be
 * small), over every time it was run: drift of the machine cancels, and
 * one lucky measurement does not win.  The set is bounded: the worst leaves
 * first, single-device references never leave. */
#ifndef HSDAG_LEARN_TRAIN_CANDIDATES_H
#define HSDAG_LEARN_TRAIN_CANDIDATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "record/devrec.h"
#include "stream/rec.h"

enum { CANDIDATES_MAX = 64, SOURCE_MAX = 32 };

struct candidate {
	uint16_t *device;                         /* (n_sets) owned */
	char source[SOURCE_MAX];                  /* of the first run: "policy", "single", ... */
	uint32_t episode, step, sample, n_groups; /* of the first run */
	uint32_t runs;
	double ratio, lat_s, ref_s; /* means over the runs */
	bool has_value;             /* value is not the latency */
	double value, ref_value;    /* means over the runs */
	uint64_t order;             /* when it came: earlier wins a tie */
};

struct candidates {
	uint32_t n_sets, n;
	struct candidate c[CANDIDATES_MAX];
	uint64_t n_seen;
};

void candidates_init(struct candidates *s, uint32_t n_sets);
void candidates_release(struct candidates *s);

/* One successful run of a placement: `from` gives source, episode, step, sample, n_groups
 * and device (borrowed), and what the run gave: lat_s, ref_s, has_value, value, ref_value.
 * ref_value <= 0 counts as a ratio of the value itself.  Returns its mean ratio. */
double candidates_add(struct candidates *s, const struct candidate *from);

/* This placement (n_sets), if it is one of them, else NULL. */
const struct candidate *candidates_find(const struct candidates *s, const uint16_t *device);

/* The best `k` first, and behind them the best single-device reference where it is not among them;
 * indices into s->c in order[], which has room for CANDIDATES_MAX.  Returns how many. */
uint32_t candidates_rank(const struct candidates *s, uint32_t k, uint32_t *order);

/* The n of order[] as `best` records, rank 0 first. */
int candidates_write_best(const struct candidates *s, uint32_t n, const uint32_t *order,
			  uint64_t graph, const struct devs *devs, struct rec_writer *w,
			  struct err *e) MUST_CHECK;

/* All of them as `candidate` records of a checkpoint, and one back. */
int candidates_write(const struct candidates *s, struct rec_writer *w, struct err *e) MUST_CHECK;
int candidates_read(struct candidates *s, const struct rec *r, uint32_t n_devices,
		    struct err *e) MUST_CHECK;

#endif
