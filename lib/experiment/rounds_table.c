/* rounds_table.c - medians of rounds, and their ratios to one device. */
#include "experiment/rounds_table.h"

#include <inttypes.h>
#include <string.h>

#include "record/devrec.h"
#include "stats/interval.h"
#include "stream/tsv.h"

struct table {
	const struct rounds_table_options *o;
	FILE *out;
	uint32_t k;
	const char *const *name; /* (k) devices */
	struct run_list runs;
	const struct run_item *base; /* the device that ratios are to; NULL: it has no run */
};

enum { NONE = -1, SEVERAL = -2 };

/* The only device that had anything to do. */
static int find_alone(const struct table *t, const struct run_item *r)
{
	int alone = NONE;
	for (uint32_t d = 0; r->ok && d < r->n_devices && d < t->k; d++)
		if (r->busy_s[d] > 0)
			alone = alone == NONE ? (int)d : SEVERAL;
	return alone;
}

static struct interval ratio_to(const struct run_item *r, const struct run_item *base, uint32_t n)
{
	double *x = MEM_NEWN(double, n);
	for (uint32_t i = 0; i < n; i++)
		x[i] = r->samples_s[i] / base->samples_s[i];
	struct interval ratio = interval_order(x, n);
	mem_free(x);
	return ratio;
}

static void put_line(const struct table *t, const char *what, const char *name,
		     const struct run_item *r)
{
	fprintf(t->out, "%s\t", what);
	tsv_text(t->out, name);
	if (!r->ok) {
		fputs("\t\t\t\t\t\t\t0\t\t\t", t->out);
		tsv_text(t->out, r->reason);
		fputs("\t\n", t->out);
		return;
	}
	struct interval s = interval_order(r->samples_s, r->n_samples);
	fprintf(t->out, "\t%.9g\t%.9g\t%.9g", s.mid, s.lo, s.hi);
	uint32_t n = 0;
	if (t->base)
		n = r->n_samples < t->base->n_samples ? r->n_samples : t->base->n_samples;
	if (n > 0) {
		struct interval x = ratio_to(r, t->base, n);
		fprintf(t->out, "\t%.6g\t%.6g\t%.6g", x.mid, x.lo, x.hi);
	} else {
		fputs("\t\t\t", t->out);
	}
	fprintf(t->out, "\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t\t", n, r->copies, r->copy_bytes);
	int alone = find_alone(t, r);
	if (alone >= 0)
		tsv_text(t->out, t->name[alone]);
	fputc('\n', t->out);
}

/* The run of the device that did all of r, if that ran, else r. */
static const struct run_item *single_of(const struct table *t, const struct run_item *r)
{
	int alone = find_alone(t, r);
	return alone >= 0 && t->runs.item[alone].ok ? &t->runs.item[alone] : r;
}

static const char *answer_name(const struct table *t, uint32_t i)
{
	return i < t->o->n_answers ? t->o->answer[i] : "";
}

static void put_table(struct table *t)
{
	for (uint32_t d = 0; d < t->k; d++)
		if (strcmp(t->name[d], t->o->cpu) == 0 && t->runs.item[d].ok)
			t->base = &t->runs.item[d];
	for (uint32_t d = 0; d < t->k; d++)
		if (t->o->beside && strcmp(t->name[d], t->o->beside) == 0)
			put_line(t, "answer", answer_name(t, 0), &t->runs.item[d]);
		else
			put_line(t, "single", t->name[d], &t->runs.item[d]);
	for (uint32_t i = t->k; i < t->runs.n; i++)
		put_line(t, "answer", answer_name(t, i - t->k), single_of(t, &t->runs.item[i]));
}

/* The first devs record and all run records. */
static int read_table(struct table *t, const char *path, struct arena *a, struct err *e)
{
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct rec r;
	struct devs devs = {0};
	int rc = in ? 1 : -1;
	while (rc > 0 && (rc = rec_next(in, &r, e)) > 0) {
		if (rec_is(&r, "run"))
			rc = run_list_add(&t->runs, &r, a, e) < 0 ? -1 : 1;
		else if (rec_is(&r, "devs") && t->k == 0)
			rc = devs_decode(&r, a, &devs, e) < 0 ? -1 : 1;
		t->k = devs.k;
		t->name = devs.names;
	}
	rec_reader_close(in);
	return rc;
}

/* A device that is named on the command line; "" and NULL: none is. */
static int check_name(const struct table *t, const char *option, const char *name, struct err *e)
{
	for (uint32_t d = 0; name && d < t->k; d++)
		if (strcmp(t->name[d], name) == 0)
			return 0;
	if (!name || !*name)
		return 0;
	devs_unknown(t->name, t->k, name, ST_USAGE, e);
	return err_prefix(e, "%s", option);
}

int rounds_table(const char *path, const struct rounds_table_options *o, FILE *out, struct err *e)
{
	struct arena *a = arena_new();
	struct table t = {.o = o, .out = out};
	int rc = read_table(&t, path, a, e);
	if (rc == 0 && (t.k == 0 || t.runs.n < t.k))
		rc = err_set(e, ST_RUNTIME, "not every device has a run");
	if (rc == 0 && check_name(&t, "--cpu", o->cpu, e) == 0 &&
	    check_name(&t, "--beside", o->beside, e) == 0)
		put_table(&t);
	else
		rc = -1;
	arena_free(a);
	return rc;
}
