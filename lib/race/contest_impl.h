/* contest_impl.h - what contest_race.c and contest_judge.c share; not for others. */
#ifndef HSDAG_RACE_CONTEST_IMPL_H
#define HSDAG_RACE_CONTEST_IMPL_H

#include "race/as_ran.h"
#include "race/drift.h"
#include "race/race.h"
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
	size_t *cap;                                                 /* (x->n) room for samples */
	void (*hear)(uint32_t n, double best_s, double reference_s); /* hear_standing, or NULL */
	double heard_s; /* by the runs' clock, when it was called last */
};

/* Is contestant i a single device of the reference's kind, which ran with its like as arm 0? */
static inline bool in_pool(const struct racers *r, uint32_t i)
{
	const struct contestant *c = &r->x->c[i];
	return r->pooled && i < r->x->k && c->alike == r->x->c[r->who[0]].alike && c->takes_part &&
	       !c->failed;
}

/* What contestants took, the reference, and the verdict, after the race's last run. */
void contest_judge(struct racers *r, const struct race *race, const struct race_result *out,
		   struct arena *a);

#endif
