/* placements.c - joining runs by the placements' numbers. */
#include "calibrate/placements.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_sample(const void *pa, const void *pb)
{
	uint64_t a = ((const struct run_item *)pa)->sample,
		 b = ((const struct run_item *)pb)->sample;
	return (a > b) - (a < b);
}

static bool is_better(const struct run_item *x, const struct run_item *than)
{
	return x->ok && (!than->ok || run_fastest(x) < run_fastest(than));
}

void placements_fastest(const struct calls *c, struct arena *a, struct run_list *out)
{
	size_t most = 0;
	for (uint32_t i = 0; i < c->n; i++)
		most += c->call[i].runs.n;
	*out = (struct run_list){.item = ARENA_NEWN(a, struct run_item, most + 1)};
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t j = 0; j < c->call[i].runs.n; j++) {
			const struct run_item *x = &c->call[i].runs.item[j];
			uint32_t at = 0;
			while (at < out->n && out->item[at].sample != x->sample)
				at++;
			if (at == out->n || is_better(x, &out->item[at]))
				out->item[at] = *x;
			out->n += at == out->n;
		}
	if (out->n)
		qsort(out->item, out->n, sizeof *out->item, by_sample);
}

static const struct run_item *find_run(const struct run_list *l, uint64_t sample)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->item[i].sample == sample)
			return &l->item[i];
	return NULL;
}

void placements_print(const struct run_list *predicted, const struct calls *c,
		      const struct placement_times *t, FILE *out)
{
	struct arena *a = arena_new();
	struct run_list fastest;
	placements_fastest(c, a, &fastest);
	fputs("placement\tsource\tpredicted_s\tcopies\tcopy_bytes\tpredicted_busy_s\t"
	      "measured_busy_s\t",
	      out);
	placement_times_print_head(out);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct run_item *p = find_run(predicted, t->item[i].sample);
		const struct run_item *m = find_run(&fastest, t->item[i].sample);
		if (!p || !p->ok || !(p->lat_s > 0))
			continue;
		fprintf(out, "%" PRIu64 "\t", t->item[i].sample);
		run_print_source(m, out);
		fprintf(out, "\t%.17g\t%" PRIu64 "\t%" PRIu64 "\t", p->lat_s, m->copies,
			m->copy_bytes);
		print_reals(out, p->busy_s, p->n_devices);
		fputc('\t', out);
		print_reals(out, m->busy_s, m->n_devices);
		fputc('\t', out);
		placement_times_print(t, i, out);
	}
	arena_free(a);
}

double placements_profile_slowness(const struct run_list *predicted, const struct calls *c)
{
	struct arena *a = arena_new();
	struct run_list fastest;
	double worst = 0;
	placements_fastest(c, a, &fastest);
	for (uint32_t i = 0; i < fastest.n; i++) {
		const struct run_item *m = &fastest.item[i];
		const struct run_item *p = find_run(predicted, m->sample);
		if (p && p->ok && m->ok && strcmp(m->source, "single") == 0)
			worst = fmax(worst, p->lat_s / run_fastest(m));
	}
	arena_free(a);
	return worst;
}
