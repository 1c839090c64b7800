/* pageplacements.c - devices, segments and schedules of placements as JSON. */
#include "report/html/pageplacements.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text/markup.h"
#include "report/html/pagejson.h"
#include "report/placetext.h"
#include "report/schedule_arrows.h"
#include "report/scheduled.h"
#include "report/trace.h"

/* So that the page of a large graph stays one that a browser likes to read. */
enum { MOST_NUMBERS = 400000 };

void pageplacements_nodes(FILE *out, const struct report_input *in, const struct shown *x,
			  const struct placed *p, struct arena *a)
{
	const struct shown_places at = shown_places(in, x, p, a);
	pagejson_indices(out, "device", at.device, x->n);
	fputs(",\n", out);
	pagejson_indices(out, "segment", at.segment, x->n);
}

static void put_copies(FILE *out, const struct graph *g, const struct run_schedule *s,
		       const struct place_rec *p, uint32_t *column, struct arena *a)
{
	const struct schedule_arrows arrows = schedule_arrows(g, s, p, a);
	fputs("\"copies\":{", out);
	for (uint32_t i = 0; i < s->n_copies; i++)
		column[i] = s->copy_src[i];
	pagejson_indices(out, "source", column, s->n_copies);
	for (uint32_t i = 0; i < s->n_copies; i++)
		column[i] = s->copy_dst[i];
	fputs(",\n", out);
	pagejson_indices(out, "target", column, s->n_copies);
	fputs(",\n\"bytes\":[", out);
	for (uint32_t i = 0; i < s->n_copies; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", s->copy_bytes[i]);
	fputs("],\n", out);
	pagejson_times(out, "start", s->copy_start_s, s->n_copies);
	fputs(",\n", out);
	pagejson_times(out, "end", s->copy_end_s, s->n_copies);
	fputs(",\n", out);
	pagejson_indices(out, "from", arrows.from, s->n_copies);
	fputs(",\n", out);
	pagejson_indices(out, "to", arrows.to, s->n_copies);
	fputc('}', out);
}

static void put_schedule(FILE *out, const struct graph *g, const struct shown *x,
			 const struct traced *t, struct arena *a)
{
	const struct run_schedule s = t->run;
	const struct place_rec *p = &t->place;
	const uint32_t *of = shown_titles(g, x, a);
	uint32_t *column = ARENA_NEWN(a, uint32_t, s.n > s.n_copies ? s.n : s.n_copies);
	for (uint32_t i = 0; i < s.n; i++)
		column[i] = of[s.set[i]];
	fputc('{', out);
	pagejson_indices(out, "node", column, s.n);
	for (uint32_t i = 0; i < s.n; i++)
		column[i] = p->device[s.set[i]];
	fputs(",\n", out);
	pagejson_indices(out, "device", column, s.n);
	fputs(",\n", out);
	pagejson_times(out, "start", s.start_s, s.n);
	fputs(",\n", out);
	pagejson_times(out, "end", s.end_s, s.n);
	fputs(",\n", out);
	put_copies(out, g, &s, p, column, a);
	fputc('}', out);
}

int pageplacements_schedule(FILE *out, const struct report_input *in, const struct shown *x,
			    struct arena *a, struct err *e)
{
	struct traced t;
	fputs("\"schedule\":", out);
	if (!in->trace->run) {
		fputs("null", out);
		return 0;
	}
	if (trace_read(in->trace, in->x->graph, NULL, a, &t, e) < 0)
		return -1;
	put_schedule(out, in->x->graph, x, &t, a);
	return 0;
}

/* ---- other placements ---- */

/* On the devices of the answer, and not the answer itself? */
static bool is_other(const struct report_input *in, const struct scheduled *s,
		     const struct place_rec *p)
{
	const struct place_rec *own = &in->x->place;
	if (p->k != own->k || (!s->elsewhere && s->place->index == in->trace->place->index))
		return false;
	for (uint32_t d = 0; d < p->k; d++)
		if (strcmp(p->names[d], own->names[d]) != 0)
			return false;
	return s->elsewhere || memcmp(p->device, own->device, p->n_sets * sizeof *p->device) != 0;
}

static void put_label(FILE *out, const struct report_input *in, const struct place_rec *p,
		      struct arena *a)
{
	const struct place_rec *own = &in->x->place;
	const char *finder = placetext_finder(p->source);
	bool same = memcmp(p->device, own->device, p->n_sets * sizeof *p->device) == 0;
	if (strcmp(p->source, "single") == 0 && p->n_sets > 0)
		finder = arena_printf(a, "%s alone", in->names[p->device[0]]);
	else if (strcmp(p->source, "random") == 0)
		finder = arena_printf(a, "%s %" PRIu32, finder, p->id.sample + 1);
	fputs("{\"label\":", out);
	const char *who = same ? arena_printf(a, "this placement again, %s", finder) : finder;
	markup_json(out, who, strlen(who), true);
}

static void put_other(FILE *out, const struct report_input *in, const struct shown *x,
		      const struct scheduled *s, const struct traced *t, struct arena *a)
{
	const struct graph *g = in->x->graph;
	const struct place_rec *p = &t->place;
	struct placed placed;
	placed_init(g, p->device, p->k, in->literal ? NULL : in->constant, in->idle, a, &placed);
	put_label(out, in, p, a);
	fprintf(out, ",\"time\":%.3f,\"simulated\":%s,\n", s->lat_s * 1e6,
		s->simulated ? "true" : "false");
	pageplacements_nodes(out, in, x, &placed, a);
	fputs(",\n\"schedule\":", out);
	put_schedule(out, g, x, t, a);
	fputc('}', out);
}

int pageplacements_others(FILE *out, const struct report_input *in, const struct shown *x,
			  struct arena *a, struct err *e)
{
	const struct scheduled_list *list = in->others;
	uint32_t room = MOST_NUMBERS / (x->n + 1), n = 0;
	fputs("\"others\":[", out);
	for (uint32_t i = 0; in->trace->run && i < list->n && n <= room; i++) {
		const struct scheduled *s = &list->item[i];
		const struct trace one = {s->place, s->run};
		struct traced t;
		if (trace_read(&one, in->x->graph, NULL, a, &t, e) < 0)
			return -1;
		if (!is_other(in, s, &t.place))
			continue;
		fputs(n++ ? ",\n" : "", out);
		put_other(out, in, x, s, &t, a);
	}
	fprintf(out, "],\n\"left_out\":%" PRIu32, list->n_left_out);
	return 0;
}

void pageplacements_cost(FILE *out, const struct report_input *in)
{
	const struct cost_rec *c = in->cost;
	const struct place_rec *p = &in->x->place;
	if (!c || (uint64_t)c->n_sets * p->k > MOST_NUMBERS) {
		fputs("\"cost\":null", out);
		return;
	}
	fputs("\"cost\":[", out);
	for (uint32_t d = 0; d < p->k; d++) {
		uint32_t at = 0;
		while (at < c->k && strcmp(c->names[at], p->names[d]) != 0)
			at++;
		fputs(d ? ",\n[" : "[", out);
		for (uint32_t s = 0; s < c->n_sets; s++) {
			double t = at < c->k ? c->set_s[(size_t)s * c->k + at] : NAN;
			fputs(s ? "," : "", out);
			isfinite(t) ? fprintf(out, "%.3f", t < 0 ? -1 : t * 1e6)
				    : fputs("null", out);
		}
		fputc(']', out);
	}
	fputc(']', out);
}
