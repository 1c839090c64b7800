/* curve_log.c - a filter that notes when runs come. */
#include "experiment/curve_log.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/newfile.h"
#include "base/tabfile.h"
#include "stream/tsv.h"

/* Columns of CURVE_HEADER. */
enum { MODEL, METHOD, SEED, EVALUATION, SECONDS, LATENCY, BEST, COLUMNS };

struct curve_file {
	const struct curve_log_options *o;
	struct newfile file; /* that is out; it takes its name with its first line */
	FILE *out;
	bool is_new;
	uint64_t n;       /* placements so far */
	double before_s;  /* seconds of what the file had */
	double started_s; /* on clock_s */
	double played_s;  /* when a machine that is played began; NAN: none is */
	double best;      /* INFINITY: nothing ran yet */
};

/* ---- the file ---- */

static int file_error(const struct curve_file *c, struct err *e)
{
	return err_sys(e, ST_RUNTIME, "cannot write '%s'", c->o->to);
}

/* Cuts what a killed writer left of its last line. */
static int cut_last_line(const char *path, struct err *e)
{
	FILE *f = fopen(path, "r+");
	long end = 0;
	if (!f)
		return err_sys(e, ST_RUNTIME, "cannot write '%s'", path);
	for (int c; (c = getc(f)) != EOF;)
		if (c == '\n')
			end = ftell(f);
	int rc = ftruncate(fileno(f), end);
	if (fclose(f) != 0 || rc != 0)
		return err_sys(e, ST_RUNTIME, "cannot write '%s'", path);
	return 0;
}

/* Is row i of this log's search? */
static bool is_ours(const struct curve_file *c, const struct tabfile *t, uint32_t i)
{
	char seed[24];
	snprintf(seed, sizeof seed, "%" PRId64, c->o->seed);
	return strcmp(tabfile_cell(t, i, MODEL), c->o->model) == 0 &&
	       strcmp(tabfile_cell(t, i, METHOD), c->o->method) == 0 &&
	       strcmp(tabfile_cell(t, i, SEED), seed) == 0;
}

/* Takes over what the file's last line of this search tells. */
static int read_state(struct curve_file *c, struct arena *a, struct err *e)
{
	struct tabfile t;
	double n;
	if (cut_last_line(c->o->to, e) < 0 || tabfile_read(c->o->to, true, a, &t, e) < 0)
		return -1;
	if (t.n_columns != COLUMNS || strcmp(t.header[BEST], "best") != 0)
		return err_set(e, ST_INPUT, "'%s' is not a file of tabstat curve", c->o->to);
	uint32_t last = t.n_rows;
	while (last > 0 && !is_ours(c, &t, last - 1))
		last--;
	if (last-- == 0)
		return 0;
	if (tabfile_real(&t, last, EVALUATION, &n, e) < 0 ||
	    tabfile_real(&t, last, SECONDS, &c->before_s, e) < 0)
		return -1;
	if (!(n >= 1 && n <= 0x1p53))
		return err_set(e, ST_INPUT, "'%s' line %u: '%g' counts no evaluations", c->o->to,
			       last + 2, n);
	c->n = (uint64_t)n;
	return *tabfile_cell(&t, last, BEST) ? tabfile_real(&t, last, BEST, &c->best, e) : 0;
}

static int open_file(struct curve_file *c, struct err *e)
{
	struct stat st;
	bool more = c->o->more && stat(c->o->to, &st) == 0 && st.st_size > 0;
	if (more) {
		struct arena *a = arena_new();
		int rc = read_state(c, a, e);
		arena_free(a);
		if (rc < 0)
			return -1;
	}
	c->is_new = !more;
	if (more)
		return (c->out = fopen(c->o->to, "a")) ? 0 : file_error(c, e);
	if (newfile_open(&c->file, c->o->to, e) < 0)
		return -1;
	c->file.lazy = true;
	c->out = newfile_text(&c->file);
	fputs(CURVE_HEADER, c->out);
	return 0;
}

static int close_file(struct curve_file *c, int rc, struct err *e)
{
	if (!c->is_new)
		return fclose(c->out) != 0 && rc >= 0 ? file_error(c, e) : rc;
	if (rc >= 0 || c->file.direct)
		return newfile_commit(&c->file, e) < 0 ? -1 : rc;
	newfile_abandon(&c->file);
	return rc;
}

/* ---- runs ---- */

/* Seconds since the log began; those of a machine that is played where the run tells them. */
static double seconds_now(struct curve_file *c, const struct rec *r)
{
	const struct val *from = val_get(r->map, "began_s"), *to = val_get(r->map, "clock_s");
	double began, clock;
	if (from && to && val_real(from, &began) && val_real(to, &clock)) {
		if (isnan(c->played_s))
			c->played_s = began;
		return c->before_s + clock - c->played_s;
	}
	return c->before_s + clock_s() - c->started_s;
}

static int add_run(struct curve_file *c, const struct rec *r, struct arena *a, struct err *e)
{
	const char *source;
	bool ok;
	double x = INFINITY;
	arena_reset(a);
	if (get_text(r->map, "source", a, &source, e) < 0 || get_bool(r->map, "ok", &ok, e) < 0 ||
	    (ok && get_real(r->map, "lat_s", &x, e) < 0))
		return err_prefix(e, "run record %" PRIu64, r->index);
	if (strcmp(source, "single") == 0 || (c->o->first > 0 && c->n >= (uint64_t)c->o->first))
		return 0;
	if (ok && val_get(r->map, "value") && get_real(r->map, "value", &x, e) < 0)
		return err_prefix(e, "run record %" PRIu64, r->index);
	c->best = fmin(c->best, x);
	tsv_text(c->out, c->o->model);
	putc('\t', c->out);
	tsv_text(c->out, c->o->method);
	fprintf(c->out, "\t%" PRId64 "\t%" PRIu64 "\t%.6f\t", c->o->seed, ++c->n,
		seconds_now(c, r));
	if (ok)
		fprintf(c->out, "%.9g", x);
	putc('\t', c->out);
	if (c->best < INFINITY)
		fprintf(c->out, "%.9g", c->best);
	putc('\n', c->out);
	if (c->is_new)
		return newfile_show(&c->file, e);
	return fflush(c->out) != 0 ? file_error(c, e) : 0;
}

static int pass_on(struct curve_file *c, struct filter *f, struct arena *a, struct err *e)
{
	struct rec r;
	int k;
	while ((k = filter_next(f, &r, e)) > 0) {
		if (k == FILTER_END) {
			if (stages_check(&f->stages, NEEDS_RUNS, e) < 0 || filter_end(f, e) < 0)
				return -1;
			continue;
		}
		if (rec_is(&r, "episode"))
			filter_absorb_interrupt();
		if (rec_is(&r, "run") && add_run(c, &r, a, e) < 0)
			return -1;
		if (filter_pass(f, &r, e) < 0)
			return -1;
	}
	return k;
}

int curve_log(struct filter *f, const struct curve_log_options *o, struct err *e)
{
	struct curve_file c = {.o = o, .started_s = clock_s(), .played_s = NAN, .best = INFINITY};
	if (open_file(&c, e) < 0)
		return -1;
	struct arena *a = arena_new();
	int rc = pass_on(&c, f, a, e);
	arena_free(a);
	return close_file(&c, rc, e);
}
