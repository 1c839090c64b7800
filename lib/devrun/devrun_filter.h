/* devrun_filter.h - what devrun does to a stream: a graph and placements pass, and
 * behind every placement, or behind its episode, goes what it took.
 *
 * With `probe`, the graph gets `devs` and, with `profile`, `cost` behind it, and no placement runs;
 * with `paired`, `best` records are what runs, in a stream without any the placements, and the end of
 * the stream is the verdict. */
#ifndef HSDAG_DEVRUN_DEVRUN_FILTER_H
#define HSDAG_DEVRUN_DEVRUN_FILTER_H

#include "measure/measure.h"
#include "stream/filter.h"

/* The answer among candidates: the fastest, if it surely beats the single devices, or the first that
 * runs, which something else than the latency has chosen. */
enum choose_answer { CHOOSE_FASTEST, CHOOSE_FIRST };

struct devrun_options {
	const char *devices; /* names; NULL: what the stream has (not with probe) */
	bool by_model; /* with probe: devices are the machine's; for a model with FakeQuantize, those of quantised ones */
	const char *memory;   /* limits, "DEVICE=BYTES,..."; NULL: none */
	const char *headroom; /* what stays free of it (record/headroom.h); NULL: nothing */
	const char *weights;  /* the .bin; NULL: the one that the graph names */
	const char *inputs;   /* directory to read; NULL: drawn from the seed */
	const char *outputs, *save_inputs, *boundaries; /* directories to write; NULL: not */
	bool reduced; /* with probe: and in bf16 and int8, where these are faster (device_list_reduced) */
	bool mixed; /* devs lets sets run in less than f32 as far as max_error allows it (mix_sets.h) */
	const char *path; /* with mixed: the second stream; NULL: none */
	double mixed_s;   /* with mixed: seconds */
	bool again;       /* with profile: the mean with that of the stream (profile_mean.h) */
	int64_t requests; /* in flight at once, of placements that run; 1: one inference after another */
	double limit_s;   /* with paired: of the latency of 95 % of them; 0: none */
	double max_error; /* with paired: as session.h has it; negative: no limit */
	bool probe, profile, paired, allow_shared, reference;
	int64_t candidates; /* with paired: so many of them at most */
	bool placements;    /* with paired: placements are candidates, best records are not */
	int choose;         /* with paired: enum choose_answer */
	/* Which placements of a stream are run, the others pass: "A-B,C,D-", from 1; NULL: all.  Checked
	 * by devrun_only_check. */
	const char *only;
	/* Placements in so many rounds (interleaved.h), planned by the stream's costs when it has some
	 * (planned_costs.h); 0: one after another. */
	int64_t rounds;
	bool core_speed; /* of rounds: how fast the cores are during each run (core_speed.h) */
	int fuse;        /* enum fuse_mode */
	bool tight;      /* plans take little memory (planner.tight) */
	bool joules;     /* tell what energy a run takes (measure/joules.h) */
	bool schedules;  /* tell when each set ran in one of the runs (measured_schedule.h) */
	struct measure_options measure;
	/* Told of each device that could not be timed by `profile`, when another could. */
	void (*untimed)(const char *device, const char *why);
};

/* ST_USAGE when `only` is not as devrun_options has it. */
int devrun_only_check(const char *only, struct err *e) MUST_CHECK;

/* All streams of f, which the caller has opened and closes with what is returned. */
int devrun_filter_run(const struct devrun_options *o, uint64_t seed, struct filter *f,
		      struct err *e) MUST_CHECK;

#endif
