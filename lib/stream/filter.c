/* filter.c - the frame of every filter: open, provenance, end, close. */
#include "stream/filter.h"
#include "base/msg.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

int filter_open(struct filter *f, const char *in_path, const struct opt_common *c, int argc,
		char **argv, struct err *e)
{
	*f = (struct filter){.common = c, .argc = argc, .argv = argv, .threads = 1};
	signal(SIGPIPE, SIG_IGN);
	f->out = rec_writer_open(c->output, NULL, e);
	if (!f->out)
		return -1;
	if (in_path) {
		f->in = rec_reader_open(in_path, rec_writer_fd(f->out), e);
		if (!f->in) {
			struct err ignored = ERR_INIT;
			rec_writer_close(f->out, false, &ignored);
			f->out = NULL;
			return -1;
		}
	}
	return 0;
}

/* This program's link of the chain. */
static void put_link(struct rec_writer *w, const struct filter *f)
{
	size_t n = f->argc > 1 ? (size_t)f->argc - 1 : 0;
	char quoted[512];
	put_map_begin(w, NULL);
	put_text(w, "program", msg_program_name());
	put_text(w, "version", HSDAG_VERSION);
	put_list_begin(w, "args", n);
	for (size_t i = 0; i < n; i++)
		put_text(w, NULL,
			 err_escape(quoted, sizeof quoted, f->argv[i + 1], strlen(f->argv[i + 1])));
	put_int(w, "seed", f->common->seed);
	put_int(w, "threads", f->threads);
	put_map_end(w);
}

int rec_write_hdr(struct rec_writer *w, const struct rec *from, const struct filter *f,
		  struct err *e)
{
	const struct val *chain = from ? val_get(from->map, "chain") : NULL;
	size_t n = chain ? val_count(chain) : 0;
	rec_begin(w, "hdr");
	put_int(w, "version", STREAM_VERSION);
	put_list_begin(w, "chain", n + 1);
	for (size_t i = 0; i < n; i++)
		put_val(w, NULL, val_at(chain, i));
	put_link(w, f);
	for (size_t i = 0; from && i < val_count(from->map); i++) { /* keys of later versions */
		const char *s;
		size_t len;
		char key[128];
		if (!val_bytes(val_key_at(from->map, i), &s, &len) || len >= sizeof key)
			continue;
		memcpy(key, s, len);
		key[len] = '\0';
		if (strcmp(key, "version") != 0 && strcmp(key, "chain") != 0)
			put_val(w, key, val_value_at(from->map, i));
	}
	return rec_end(w, e);
}

int filter_next(struct filter *f, struct rec *r, struct err *e)
{
	for (;;) {
		int k = rec_next(f->in, r, e);
		if (k <= 0)
			return k;
		stages_note(&f->stages, r);
		if (rec_is(r, "end"))
			return FILTER_END;
		if (!rec_is(r, "hdr"))
			return FILTER_RECORD;
		if (rec_write_hdr(f->out, r, f, e) < 0)
			return -1;
	}
}

int filter_pass(struct filter *f, const struct rec *r, struct err *e)
{
	return rec_copy(f->out, r, e);
}

int filter_begin(struct filter *f, struct err *e)
{
	return rec_write_hdr(f->out, NULL, f, e);
}

int filter_end(struct filter *f, struct err *e)
{
	return rec_write_end(f->out, e);
}

int filter_finish(int rc, const struct opt_common *c, struct err *e)
{
	int out = rc < 0 && strcmp(c->output, "-") == 0 ? dup(STDOUT_FILENO) : -1;
	int status = opt_finish(rc, e); /* prints, and closes standard output */
	signal(SIGPIPE, SIG_IGN);
	if (out >= 0) {
		rec_write_failed(out);
		close(out);
	}
	return status;
}

static void absorb(int sig)
{
	(void)sig;
}

void filter_absorb_interrupt(void)
{
	struct sigaction old,
		once = {.sa_handler = absorb, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
	if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(SIGINT, &once, NULL);
}

int filter_close(struct filter *f, int k, struct err *e)
{
	rec_reader_close(f->in);
	int rc = rec_writer_close(f->out, k >= 0, e);
	f->in = NULL;
	f->out = NULL;
	return k < 0 ? -1 : rc;
}
