/* search_result.c - latencies in the order of a search. */
#include "experiment/search_result.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "calibrate/run_list.h"
#include "stream/stages.h"

struct best_found {
	uint64_t first; /* placements that count */
	uint64_t n_seen, n;
	double *lat_s; /* (n) of those that ran */
	size_t cap;
	double best_s, ref_s;
	double group_sum, n_updates;
};

static int add_run(struct best_found *f, const struct rec *r, struct arena *a, struct err *e)
{
	struct run_item x;
	arena_reset(a);
	if (run_item_decode(r, a, &x, e) < 0)
		return -1;
	if (strcmp(x.source, "single") == 0 || f->n_seen++ >= f->first || !x.ok)
		return 0;
	f->lat_s = mem_grow(f->lat_s, &f->cap, f->n + 1, sizeof *f->lat_s);
	f->lat_s[f->n++] = x.lat_s;
	f->best_s = fmin(f->best_s, x.lat_s);
	f->ref_s = x.ref_s;
	return 0;
}

static int add_update(struct best_found *f, const struct rec *r, struct err *e)
{
	double groups;
	if (get_real(r->map, "groups", &groups, e) < 0)
		return err_prefix(e, "update record %" PRIu64, r->index);
	f->group_sum += groups;
	f->n_updates++;
	return 0;
}

static int put_result(const struct best_found *f, bool groups, FILE *out, struct err *e)
{
	if (f->n == 0)
		return err_set(e, ST_RUNTIME, "no run");
	uint64_t last = (f->n + 4) / 5;
	double sum = 0;
	for (uint64_t i = f->n - last; i < f->n; i++)
		sum += f->lat_s[i];
	fprintf(out, "%" PRIu64 "\t%.9g\t%.9g\t%.9g", f->n, f->best_s, sum / (double)last,
		f->ref_s);
	if (groups)
		fprintf(out, "\t%.4g", f->n_updates > 0 ? f->group_sum / f->n_updates : 0);
	fputc('\n', out);
	return 0;
}

int search_result(const char *path, bool groups, uint64_t first, FILE *out, struct err *e)
{
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct arena *a = arena_new();
	struct best_found f = {.first = first ? first : UINT64_MAX, .best_s = INFINITY};
	struct stages stages = {0};
	struct rec r;
	int rc = in ? 1 : -1;
	while (rc > 0 && (rc = rec_next(in, &r, e)) > 0) {
		stages_note(&stages, &r);
		if (rec_is(&r, "run"))
			rc = add_run(&f, &r, a, e) < 0 ? -1 : 1;
		else if (groups && rec_is(&r, "update"))
			rc = add_update(&f, &r, e) < 0 ? -1 : 1;
	}
	if (rc == 0)
		rc = stages_check(&stages, NEEDS_RUNS, e);
	if (rc == 0)
		rc = put_result(&f, groups, out, e);
	rec_reader_close(in);
	arena_free(a);
	mem_free(f.lat_s);
	return rc;
}
