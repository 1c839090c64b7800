/* run_list.c - run records, decoded and as lines. */
#include "calibrate/run_list.h"

#include <inttypes.h>
#include <string.h>

#include "stats/quantile.h"
#include "stream/tsv.h"

/* Optional: the loops' times, which have a row for each sample and device. */
static int get_loops(const struct val *map, struct arena *a, struct run_item *x, struct err *e)
{
	if (!val_get(map, "pulse_s"))
		return 0;
	uint64_t shape[3] = {x->n_samples, x->n_devices, UINT64_MAX};
	if (get_tensor(map, "pulse_s", TT_F64, 3, shape, a, &x->loop_s, e) < 0)
		return -1;
	x->n_loops = (uint32_t)shape[2];
	return 0;
}

static int get_plan(const struct val *map, struct run_item *x, struct err *e)
{
	x->has_plan = val_get(map, "steps") != NULL;
	if (!x->has_plan)
		return 0;
	if (get_uint(map, "in_host", 0, UINT64_MAX, &x->in_host, e) < 0)
		return -1;
	return get_uint(map, "steps", 0, UINT64_MAX, &x->steps, e);
}

static int get_times(const struct val *map, struct arena *a, struct run_item *x, struct err *e)
{
	uint64_t n[1] = {UINT64_MAX}, k[1] = {UINT64_MAX};
	if (get_real(map, "lat_s", &x->lat_s, e) < 0 || get_real(map, "ref_s", &x->ref_s, e) < 0 ||
	    get_tensor(map, "samples_s", TT_F64, 1, n, a, &x->samples_s, e) < 0 ||
	    get_tensor(map, "busy_s", TT_F64, 1, k, a, &x->busy_s, e) < 0 ||
	    get_uint(map, "copies", 0, UINT64_MAX, &x->copies, e) < 0 ||
	    get_uint(map, "copy_bytes", 0, UINT64_MAX, &x->copy_bytes, e) < 0)
		return -1;
	if (n[0] == 0 || n[0] > UINT32_MAX || k[0] > UINT16_MAX)
		return err_set(e, ST_INPUT,
			       "samples_s and busy_s have %" PRIu64 " and %" PRIu64 " values", n[0],
			       k[0]);
	x->n_samples = (uint32_t)n[0];
	x->n_devices = (uint32_t)k[0];
	for (uint32_t i = 0; i < x->n_samples; i++)
		if (!(x->samples_s[i] > 0))
			return err_set(e, ST_INPUT, "samples_s has a time that is not above 0");
	return 0;
}

int run_item_decode(const struct rec *r, struct arena *a, struct run_item *out, struct err *e)
{
	*out = (struct run_item){.reason = ""};
	if (get_uint(r->map, "sample", 0, UINT32_MAX - 1, &out->sample, e) < 0 ||
	    get_text(r->map, "source", a, &out->source, e) < 0 ||
	    get_bool(r->map, "ok", &out->ok, e) < 0)
		return err_prefix(e, "run record %" PRIu64, r->index);
	int rc = !out->ok ? get_text(r->map, "reason", a, &out->reason, e)
			  : get_times(r->map, a, out, e);
	if (rc == 0 && out->ok)
		rc = get_plan(r->map, out, e) < 0 ? -1 : get_loops(r->map, a, out, e);
	return rc < 0 ? err_prefix(e, "run record %" PRIu64, r->index) : 0;
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
	struct rec r;
	int rc = in ? 1 : -1;
	*out = (struct run_list){0};
	while (rc > 0 && (rc = rec_next(in, &r, e)) > 0)
		if (rec_is(&r, "run"))
			rc = run_list_add(out, &r, a, e) < 0 ? -1 : 1;
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
	fprintf(out, "\t%.17g\t%.6g\t%.6g\t%" PRIu32 "\t%.17g\t%" PRIu64 "\t%" PRIu64 "\t",
		r->lat_s, run_fastest(r), run_median(r), r->n_samples, r->ref_s, r->copies,
		r->copy_bytes);
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
