/* machine_spec.h - what a machine that is played is like: how its true costs differ from those that
 * a profile tells, and what happens while it runs.
 *
 *   shared,noise=0.05,seed=7
 *
 * Presets, files and KEY=VALUE, joined with commas; what comes later wins.  A file has KEY=VALUE and
 * names of presets, any number on a line, # begins a comment. */
#ifndef HSDAG_MACHINE_MACHINE_SPEC_H
#define HSDAG_MACHINE_MACHINE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Errors are standard deviations of logarithms of true over profiled. */
struct machine_spec {
	/* what is true */
	double longer;       /* everything computes this share longer */
	double device_error; /* of all times of a device */
	double kind_error;   /* of operators of one type on a device */
	double set_error;    /* of a set, on all devices alike */
	double cell_error;   /* of a set on a device */
	double saving_error; /* of what neighbours save */
	double saves;      /* where a profile tells no savings: share of a set's time that it saves
	                      * beside the first set that it reads */
	double link_error; /* of a link's latency */
	double rate_error; /* of a link's rate */
	double handover_s; /* that a set waits when it reads a copy, beyond the copy */
	double slowdown;   /* seconds more for a second in which several devices compute */
	double beside; /* share that all takes longer, at most, where several devices are in use */
	double wake_s; /* that a device takes to begin after it was idle ... */
	double wake_after_s; /* ... for so long */
	/* what happens */
	double noise;            /* of a run: standard deviation of its logarithm */
	double drift;            /* of a device's speed, in the long run: likewise */
	double drift_s;          /* the seconds in which a device forgets how fast it was */
	double bursts_per_s;     /* how often a device is shared with another program ... */
	double burst_s;          /* ... for how long, in the mean ... */
	double burst_slow;       /* ... and how many times as long everything takes then */
	double cold;             /* share that a run behind another placement's takes longer */
	double prepare_s;        /* before a placement's first run */
	double seed, happenings; /* of what is true; of what happens (0: seed) */
};

/* `list` as above; seed where it says none.  ST_USAGE: no such preset, file or key, or a value out of range; ST_INPUT: the
 * same in a file. */
int machine_spec_parse(const char *list, int64_t seed, struct machine_spec *out,
		       struct err *e) MUST_CHECK;

/* Tables for --help: name, one line. */
struct machine_preset {
	const char *name, *about, *text;
};
extern const struct machine_preset machine_presets[];
struct machine_key {
	const char *name, *about;
	double lo, hi;
	unsigned at; /* offset in struct machine_spec */
};
extern const struct machine_key machine_keys[];

#endif
