/* run_list.c - run records, decoded and as lines. */
#include "calibrate/run_list.h"

#include <inttypes.h>
#include <string.h>

#include "record/devrec.h"
#include "record/runrec.h"
#include "stats/quantile.h"
#include "stream/stages.h"
#include "stream/tsv.h"

/* Seconds beyond which ratios of ratios are no numbers; nothing that was measured is near them. */
static const double LEAST_S = 1e-50, MOST_S = 1e50;

bool time_is_usable(double s)
{
	return s >= LEAST_S && s <= MOST_S;
}

static int check_time(const char *key, double s, struct err *e)
{
	if (!(s > 0))
		return err_set(e, ST_INPUT, "%s has a time that is not above 0", key);
	if (!time_is_usable(s))
		return err_set(e, ST_INPUT, "%s has a time of %g s", key, s);
	return 0;
}

static int check_samples(const struct run_rec *x, struct err *e)
{
	if (!x->has_copies)
		return err_set(e, ST_INPUT, "no key 'copies'");
	if (x->n_samples == 0 || x->k > DEVS_MAX)
		return err_set(e, ST_INPUT,
			       "samples_s and busy_s have %" PRIu32 " and %" PRIu32 " values",
			       x->n_samples, x->k);
	if (check_time("lat_s", x->lat_s, e) < 0)
		return -1;
	for (uint32_t i = 0; i < x->n_samples; i++)
		if (check_time("samples_s", x->samples_s[i], e) < 0)
			return -1;
	for (uint32_t i = 0; i < x->k; i++)
		if (!(x->busy_s[i] >= 0 && x->busy_s[i] <= MOST_S))
			return err_set(e, ST_INPUT, "busy_s has a time of %g s", x->busy_s[i]);
	return 0;
}

int run_item_decode(const struct rec *r, struct arena *a, struct run_item *out, struct err *e)
{
	const bool has_ref = val_get(r->map, "ref_s") != NULL;
	const unsigned keys = RUN_SAMPLE | RUN_SOURCE | RUN_LATENCY | RUN_COPIES | RUN_SAMPLES |
			      RUN_PLAN | (has_ref ? RUN_REFERENCE : 0);
	struct run_rec x;
	if (run_decode(r, keys, a, &x, e) < 0 || (!x.reason && check_samples(&x, e) < 0))
		return err_prefix(e, "run record %" PRIu64, r->index);
	*out = (struct run_item){.sample = x.id.sample,
				 .source = x.source,
				 .ok = !x.reason,
				 .reason = x.reason ? x.reason : "",
				 .lat_s = x.lat_s,
				 .has_ref = has_ref,
				 .ref_s = x.ref_s,
				 .copies = x.copies,
				 .copy_bytes = x.copy_bytes,
				 .has_plan = x.has_plan,
				 .in_host = x.in_host,
				 .steps = x.steps,
				 .n_samples = x.n_samples,
				 .n_devices = x.k,
				 .samples_s = x.samples_s,
				 .busy_s = x.busy_s,
				 .n_loops = x.n_pulses,
				 .loop_s = x.pulse_s};
	return 0;
}

int run_list_add(struct run_list *l, const struct rec *r, struct arena *a, struct err *e)
{
	if (l->n == l->room) {
		uint32_t room = 2 * l->room + 16;
		struct run_item *item = ARENA_NEWN(a, struct run_item, room);
		if (l->n)
			memcpy(item, l->item, l->n * sizeof *item);
		l->item = item;
		l->room = room;
	}
	if (run_item_decode(r, a, &l->item[l->n], e) < 0)
		return -1;
	l->n++;
	return 0;
}

int run_list_read(const char *path, struct arena *a, struct run_list *out, struct err *e)
{
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct stages stages = {0};
	struct rec r;
	int rc = in ? 1 : -1;
	*out = (struct run_list){0};
	while (rc > 0 && (rc = rec_next(in, &r, e)) > 0) {
		stages_note(&stages, &r);
		if (rec_is(&r, "run"))
			rc = run_list_add(out, &r, a, e) < 0 ? -1 : 1;
	}
	if (rc == 0)
		rc = stages_check(&stages, NEEDS_RUNS, e);
	rec_reader_close(in);
	return rc < 0 ? err_prefix(e, "'%s'", path) : 0;
}

static double *sorted_samples(const struct run_item *r)
{
	double *x = mem_copy(r->samples_s, r->n_samples, sizeof *x);
	order_values(x, r->n_samples);
	return x;
}

double run_fastest(const struct run_item *r)
{
	double least = r->n_samples ? r->samples_s[0] : 0;
	for (uint32_t i = 1; i < r->n_samples; i++)
		least = r->samples_s[i] < least ? r->samples_s[i] : least;
	return least;
}

double run_median(const struct run_item *r)
{
	if (!r->n_samples)
		return 0;
	double *x = sorted_samples(r), median = quantile(x, r->n_samples, 0.5);
	mem_free(x);
	return median;
}

void print_reals(FILE *out, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%.17g", i ? "," : "", x[i]);
	if (n == 0)
		fputc('-', out);
}

void run_print_source(const struct run_item *r, FILE *out)
{
	tsv_text(out, r->source);
}

void run_print(const struct run_item *r, FILE *out)
{
	fprintf(out, "%" PRIu64 "\t", r->sample);
	tsv_text(out, r->source);
	if (!r->ok) {
		fputs("\t-\t-\t-\t0\t-\t-\t-\t-\t-\t-\t", out);
		tsv_text(out, r->reason);
		fputs("\t-\t-\n", out);
		return;
	}
	fprintf(out, "\t%.17g\t%.6g\t%.6g\t%" PRIu32 "\t", r->lat_s, run_fastest(r), run_median(r),
		r->n_samples);
	print_reals(out, &r->ref_s, r->has_ref);
	fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t", r->copies, r->copy_bytes);
	if (r->has_plan)
		fprintf(out, "%" PRIu64 "\t%" PRIu64 "\t", r->in_host, r->steps);
	else
		fputs("-\t-\t", out);
	print_reals(out, r->busy_s, r->n_devices);
	fputs("\t-\t", out);
	print_reals(out, r->samples_s, r->n_samples);
	fputc('\t', out);
	print_reals(out, r->loop_s, (size_t)r->n_samples * r->n_devices * r->n_loops);
	fputc('\n', out);
}
