/* read_problem.h - what benchmarks of the learner work on: a stream with a graph and its features.  What
 * goes wrong ends the program with a message. */
#ifndef HSDAG_TESTS_READ_PROBLEM_H
#define HSDAG_TESTS_READ_PROBLEM_H

#include "learn/train/learn_problem.h"

#include <stdio.h>
#include <stdlib.h>

static void check(int rc, const struct err *e)
{
	if (rc < 0) {
		fprintf(stderr, "error: %s\n", e->msg);
		exit(1);
	}
}

/* *p is for learn_problem_release. */
static void read_problem(struct learn_problem *p, const char *path)
{
	struct err e = ERR_INIT;
	struct rec r;
	int k;
	learn_problem_init(p);
	struct rec_reader *f = rec_reader_open(path, -1, &e);
	check(f ? 0 : -1, &e);
	while ((k = rec_next(f, &r, &e)) > 0)
		check(learn_problem_take(p, &r, &e), &e);
	check(k, &e);
	check(learn_problem_check(p, true, false, &e), &e);
	rec_reader_close(f);
}

#endif
