/* contest_impl.h - what contest_race.c, contest_judge.c, recall.c and racers.c share; not for others. */
#ifndef HSDAG_RACE_CONTEST_IMPL_H
#define HSDAG_RACE_CONTEST_IMPL_H

#include "race/as_ran.h"
#include "race/drift.h"
#include "race/race.h"
#include "race/reference.h"
#include "timing/contest.h"

struct racers {
	struct contest *x;
	uint32_t n;    /* arms */
	uint32_t *who; /* (n) the contestant of each arm, the first of those that are alike */
	bool pooled;   /* arm 0 is all single devices like this one */
	/* The arm that ratios are to: 0, or a single device that proved to be faster. */
	uint32_t base;
	struct drift *drift; /* NULL: there is no pool, or nothing is predicted */
	struct as_ran ran;
	size_t *cap; /* (x->n) room for samples */
	void (*hear)(uint32_t n, double best_s, double reference_s, uint32_t k,
		     const double *busy_s); /* hear_standing, or NULL */
	double hear_by;                     /* as measure_options has it, not 0 */
	double heard_s;                     /* by the runs' clock, when it was called last */
};

/* Is contestant i a single device of the reference's kind, which ran with its like as arm 0? */
static inline bool in_pool(const struct racers *r, uint32_t i)
{
	const struct contestant *c = &r->x->c[i];
	return r->pooled && i < r->x->k && c->alike == r->x->c[r->who[0]].alike && c->takes_part &&
	       !c->failed;
}

/* The logarithm of the median of a burst's runs that count: all but the first, or that one alone. */
double racers_burst_log(const double *run_s, uint32_t n);
/* A run of contestant i that counts. */
void racers_keep(struct racers *r, uint32_t i, double run_s);

/* How many of these there are. */
static inline uint32_t racers_pool(const struct racers *r)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->x->k && r->pooled; i++)
		n += in_pool(r, i);
	return n;
}

/* What ran before the race, as its first blocks: bursts of an earlier race, and the rounds in which the reference was chosen. */
void contest_recall(struct racers *r, struct race *race, const struct reference_rounds *rounds);

/* What contestants took, the reference, and the verdict, after the race's last run. */
void contest_judge(struct racers *r, const struct race *race, const struct race_result *out,
		   struct arena *a);

#endif
