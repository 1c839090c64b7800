/* contest.h - the last comparison before anything is claimed: candidates against the best single
 * device, in rounds of a burst (burst.h) of each.
 *
 * Heats: rounds of every single device and all candidates; the candidate with the smallest
 * ratio goes on.  Final: fresh rounds of every single device and that candidate, for the
 * claim is about measurements that did not choose it.  The reference is the fastest
 * single device of the final; the candidate wins only if it is surely faster (contest_below), or if no single device
 * can run.  Ratios of the other candidates are to the reference, in the qualifying rounds. */
#ifndef HSDAG_TIMING_CONTEST_H
#define HSDAG_TIMING_CONTEST_H

#include "timing/rounds.h"

/* What a race did with a contestant. */
struct contest_turns {
	uint32_t n_bursts, n_clean; /* bursts that count; those in blocks that were not disturbed */
	bool start;                 /* what others must surely beat */
	bool out;                   /* it left, slower than another */
};

/* What may be claimed in the end. */
enum contest_says {
	CONTEST_UNTOLD, /* nobody judged it; or there is no single device to be compared with */
	CONTEST_GAIN,   /* the winner is surely faster than every single device */
	/* Nothing that ran is faster than the reference, or devices that are alike and count as one with it, by more than a
	 * hundredth, surely. */
	CONTEST_SINGLE,
	CONTEST_UNDECIDED /* neither: the reference is handed over, the best single device as measured */
};

/* Which rule kept what looked best of all others from being surely faster, or surely no faster, than the reference. */
enum contest_why {
	CONTEST_WHY_UNTOLD,
	CONTEST_WHY_FEW,      /* too few bursts of either in blocks that nothing disturbed */
	CONTEST_WHY_INTERVAL, /* the interval, half as wide again, holds 1, or contest_alike */
	CONTEST_WHY_RESTLESS, /* the machine was too restless, for so short a race */
	CONTEST_WHY_SURPRISE, /* it is too far from what was predicted, for so short a race */
	CONTEST_WHY_SELDOM,   /* another single device ran too seldom to be compared with it */
	CONTEST_WHY_ANOTHER,  /* the race chose another one, which is not surely faster either */
	N_CONTEST_WHY
};
/* By which records tell them; NULL: CONTEST_WHY_UNTOLD. */
extern const char *const contest_why_names[N_CONTEST_WHY];

/* "Surely": by the interval of 95 %, wider by half; that of runs of another minute may be another one. */
struct contest_verdict {
	enum contest_says says;
	int rival; /* undecided: of all others what looked best, a place in c; -1: nothing ran */
	struct interval
		ratio; /* of its latency over the reference's; lo 0: too few runs for an interval */
	double more_s; /* seconds more of a race that would tell, about; 0: nobody knows */
	enum contest_why why; /* of the rival */
};

/* How far a ratio's logarithm may be off, either way, for what is said to be sure; infinite: nobody knows. */
double contest_margin(const struct interval *ratio);
/* What is faster than the reference by less than this, or may be, does not keep it from being the fastest. */
extern const double contest_alike;
/* Is a ratio surely below so much? */
bool contest_below(const struct interval *ratio, double limit);

/* Medians of bursts of a race, by its blocks. */
struct contest_bursts {
	uint32_t n;
	const uint32_t *block; /* (n) ascending */
	const double *lat_s;   /* (n) */
};

/* What an earlier race measured of a contestant; zeros: nothing. */
struct contest_past {
	struct contest_bursts bursts;
	uint32_t n_samples;
	const double *sample_s; /* (n_samples) runs that counted */
};

/* How a race went; n_blocks 0: there was none. */
struct contest_race_facts {
	uint32_t n_blocks, n_disturbed;
	double seconds;
	double noise; /* standard deviation of a burst's logarithm within blocks */
	double drift; /* half the range of the middle 95 % of the blocks' effects */
	bool settled; /* more time would not change it */
};

/* What kept the machine busy meanwhile; cores 0: nobody told. */
struct contest_load {
	uint32_t cores;
	double average; /* that wanted to run, this program among them, in the last minute */
	double others;  /* cores that other programs, or a host, used */
};

struct contestant {
	struct runnable run;
	uint32_t group;  /* of a race: contest_group */
	uint32_t alike;  /* of a race and a single device: the first that is made like it */
	bool takes_part; /* false: it cannot run, or is a candidate all on one device */
	bool failed;
	char reason[sizeof((struct err *)0)->msg]; /* when failed */
	struct measurement m;                      /* of the last rounds that it was in */
	struct measurement qualifying;             /* n 0: it was in none */
	double ref_s;                              /* the reference in the same rounds */
	struct interval ratio;
	bool has_ratio;
	struct contest_turns turns;
	struct contest_past past;     /* of a race: the caller's; it counts as much as what comes */
	struct contest_bursts bursts; /* of a race: all, the past's included */
};

struct contest {
	uint32_t k, n;        /* single devices come first, then n - k candidates */
	struct contestant *c; /* (n) */
	/* Of a race: (k,k) the second device is a part of the first, which is as slow as the slowest of
	 * its parts.  NULL: none has parts. */
	const bool *has;
	/* Of a race: the predicted seconds of contestant i by n_draws suppositions on what is not known,
	 * by each of which devices are slow (n_draws, or 1 without draws; k) times as slow as usual, NULL:
	 * as usual; 0: nobody knows.  log_s (n_draws), unless NULL, gets the logarithm by each.  NULL:
	 * nothing is predicted. */
	double (*predict)(void *ctx, uint32_t i, const double *slow, double *log_s);
	uint32_t n_draws;
	/* Of a race: the share of each device (k) in what contestant i computes.  NULL: nobody knows. */
	void (*share)(void *ctx, uint32_t i, double *share);
	void *ctx;
	int reference; /* the fastest single device of the final; -1: none can run */
	int winner;    /* a place in c, >= k; -1: the reference itself */
	struct contest_verdict verdict;
	struct contest_race_facts race;
};

/* Why a contestant of a race has no measurement: its time was over before. */
extern const char contest_no_time[];
/* ... it left an earlier race, as it was slower than another. */
extern const char contest_left[];
/* ... it does not keep a limit of latency, or one of error: what the reason begins with. */
extern const char contest_beyond[], contest_inexact[];

/* A number that tells which devices a placement of n sets uses. */
uint32_t contest_group(const uint16_t *device, uint32_t n_sets);

/* Fills reference, winner and what was measured.  Memory from a.  -1: the program is to end. */
int contest_run(struct contest *x, const struct measure_options *o, struct arena *a,
		struct err *e) MUST_CHECK;

#endif
