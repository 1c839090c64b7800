/* feedback.c - the parameter FIFO, seen from its writer. */
#include "learn/train/feedback.h"

#include <signal.h>

static void *open_and_begin(void *arg)
{
	struct feedback *b = arg;
	b->w = rec_writer_open(b->path, b->f->in, &b->err);
	if (!b->w || rec_write_hdr(b->w, NULL, b->f, &b->err) < 0 || b->first(b->arg, &b->err) < 0)
		err_prefix(&b->err, "--params-to");
	return NULL;
}

int feedback_start(struct feedback *b, const char *path, const struct filter *f,
		   int (*first)(void *arg, struct err *e), void *arg, struct err *e)
{
	sigset_t all, old;
	*b = (struct feedback){.path = path, .f = f, .first = first, .arg = arg};
	sigfillset(&all); /* signals are the main thread's */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	b->opening = pthread_create(&b->thread, NULL, open_and_begin, b) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return b->opening ? 0 : err_set(e, ST_RUNTIME, "cannot start a thread");
}

int feedback_join(struct feedback *b, struct err *e)
{
	if (!b->opening)
		return 0;
	pthread_join(b->thread, NULL);
	b->opening = false;
	return b->err.code == ST_OK ? 0
				    : err_set(e, (enum exit_status)b->err.code, "%s", b->err.msg);
}

int feedback_end(struct feedback *b, struct err *e)
{
	if (b->ended || !b->w)
		return 0;
	b->ended = true;
	int rc = rec_write_end(b->w, e);
	if (rec_writer_close(b->w, rc == 0, e) < 0)
		rc = -1;
	b->w = NULL;
	return rc;
}

void feedback_stop(struct feedback *b)
{
	struct err ignored = ERR_INIT;
	if (b->opening) {
		pthread_cancel(b->thread); /* poll and write are cancellation points */
		pthread_join(b->thread, NULL);
		b->opening = false;
	}
	rec_writer_close(b->w, false, &ignored);
	b->w = NULL;
}
