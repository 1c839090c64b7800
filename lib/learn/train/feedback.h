/* feedback.h - the writing end of a loop: the FIFO through which reinforce asks
 * gpnembed for episodes.
 *
 * Its first records are written by a thread: gpnembed reads them when its own
 * output is out, which needs this program to read meanwhile.  Every later record
 * is written when gpnembed waits for it. */
#ifndef HSDAG_LEARN_TRAIN_FEEDBACK_H
#define HSDAG_LEARN_TRAIN_FEEDBACK_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "stream/filter.h"

struct feedback {
	struct rec_writer *w; /* NULL before it is open and after it has ended */
	bool opening, ended;
	/* of the opener */
	pthread_t thread;
	const char *path;
	const struct filter *f;
	int (*first)(void *arg, struct err *e);
	void *arg;
	struct err err;
};

/* Open `path` once it has a reader, write hdr, call first(arg), which writes to b->w or
 * ends it: all of that beside the caller, who reads f->in meanwhile. */
int feedback_start(struct feedback *b, const char *path, const struct filter *f,
		   int (*first)(void *arg, struct err *e), void *arg, struct err *e) MUST_CHECK;

/* The opener has done its work: call when something answers what it wrote. */
int feedback_join(struct feedback *b, struct err *e) MUST_CHECK;

/* Write end and close; nothing when that was done. */
int feedback_end(struct feedback *b, struct err *e) MUST_CHECK;

/* Give up, whatever it waits for. */
void feedback_stop(struct feedback *b);

#endif
