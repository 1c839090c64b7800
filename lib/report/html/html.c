/* html.c - the report as one page: page.html, with text and tables where its marks are. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/markup.h"
#include "text/quantity.h"
#include "precision/traded.h"
#include "report/format.h"
#include "report/history.h"
#include "report/html/comparedrows.h"
#include "report/html/pagedata.h"
#include "report/html/pageparts.h"
#include "report/html/pagetemplate.h"
#include "report/placetext.h"
#include "report/trace.h"

/* Made of the files of these names by the build. */
extern const char page_html[], page_css[], scene_js[], timeline_js[], why_js[], graphview_js[],
	curve_js[], start_js[];

/* ---- the beginning ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static const struct val *chain_of(const struct report_input *in)
{
	const struct rec *hdr = in->history->hdr;
	const struct val *chain = hdr ? val_get(hdr->map, "chain") : NULL;
	return chain && val_type(chain) == VAL_ARRAY ? chain : NULL;
}

/* The file that the first program read: its last argument that is no option; NULL: it is not told. */
static const char *file_of_chain(const struct report_input *in)
{
	const struct val *chain = chain_of(in);
	const struct val *first = chain && val_count(chain) ? val_at(chain, 0) : NULL;
	const struct val *args =
		first && val_type(first) == VAL_MAP ? val_get(first, "args") : NULL;
	const char *s;
	size_t n;
	if (!args || val_type(args) != VAL_ARRAY || val_count(args) == 0)
		return NULL;
	if (!val_bytes(val_at(args, val_count(args) - 1), &s, &n) || n == 0 || *s == '-')
		return NULL;
	return base_name(arena_strndup(in->x->arena, s, n));
}

/* The name of the model's file, else the graph's. */
static const char *title(const struct report_input *in)
{
	const struct graph *g = in->x->graph;
	const char *file = *g->xml ? placetext_model(g) : file_of_chain(in);
	return file && *file ? file : *g->name ? g->name : "a graph without a name";
}

static int put_name(FILE *out, const void *of, struct err *e)
{
	(void)e;
	markup_text(out, title(of));
	return 0;
}

static int put_about(FILE *out, const void *of, struct err *e)
{
	const struct report_input *in = of;
	const struct graph *g = in->x->graph;
	(void)e;
	if (*g->name && strcmp(g->name, title(in)) != 0)
		markup_textf(out, "model '%s', ", g->name);
	fprintf(out, "%" PRIu32 " operations in %" PRIu32 " sets, %" PRIu32 " device%s", g->n,
		g->n_sets, in->p->k, in->p->k == 1 ? "" : "s");
	return 0;
}

/* What `write` writes, as text of the page. */
static int put_text_of(FILE *out, const struct report_input *in,
		       void (*write)(FILE *out, const struct report_input *in), struct err *e)
{
	char *s = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&s, &n);
	if (!mem)
		return err_sys(e, ST_RUNTIME, "no memory for the page");
	write(mem, in);
	if (fclose(mem) != 0) {
		free(s);
		return err_sys(e, ST_RUNTIME, "no memory for the page");
	}
	markup_text_n(out, s, n);
	free(s);
	return 0;
}

static void write_verdict(FILE *out, const struct report_input *in)
{
	placetext_verdict(out, in->x, in->names, in->objective);
}

static int put_verdict(FILE *out, const void *of, struct err *e)
{
	return put_text_of(out, of, write_verdict, e);
}

/* ---- facts ---- */

static void fact(FILE *out, const char *name)
{
	fprintf(out, "<dt>%s</dt><dd>", name);
}

static void fact_latency(FILE *out, const struct answer *x)
{
	char text[QUANTITY_CAP];
	if (!x->m.given || x->m.reason)
		return;
	fact(out, x->simulated             ? "latency, simulated"
		  : x->flight.requests > 0 ? "time a request"
					   : "latency");
	fputs(quantity_seconds(x->m.lat_s, text), out);
	if (placetext_has_range(&x->m))
		fprintf(out, " (95 %% interval %s)", quantity_interval(x->m.lo_s, x->m.hi_s, text));
	fputs("</dd>\n", out);
	if (!x->simulated || !(x->m.lat_s > 0) || !(x->place.bound_s > 0))
		return;
	fact(out, "lower bound");
	fprintf(out, "%s; by these costs no placement takes less (gap %.2f %%)",
		quantity_seconds(x->place.bound_s, text),
		x->m.lat_s > x->place.bound_s ? (1 - x->place.bound_s / x->m.lat_s) * 100 : 0);
	if (x->place.bound_parts_of)
		fprintf(out, "; of %s in parts %s however they are cut", x->place.bound_parts_of,
			quantity_seconds(x->place.bound_parts_s, text));
	if (x->place.bound_parts_of)
		fprintf(out, ", %s where each waits for all parts of what it reads",
			quantity_seconds(x->place.bound_parts_wait_s, text));
	fputs("</dd>\n", out);
}

static void fact_objective(FILE *out, const struct report_input *in)
{
	double best = placetext_best_value(in->x), value = in->x->m.value;
	char here[60], there[60];
	if (!in->objective || !in->x->m.has_value)
		return;
	fact(out, "objective");
	markup_textf(out, "%s %s, simulated", in->objective,
		     placetext_value(in->objective, value, here, sizeof here));
	if (best > 0 && value > 0)
		markup_textf(out, "; %.3f times as good as the best single device's %s",
			     best / value,
			     placetext_value(in->objective, best, there, sizeof there));
	fputs("</dd>\n", out);
}

static void fact_outputs(FILE *out, const struct answer *x)
{
	if (x->kind != ANSWER_FINAL)
		return;
	fact(out,
	     *x->out_of ? "outputs, beside those in f32" : "outputs, beside the reference&#39;s");
	if (x->has_diff)
		markup_textf(out, "mean squared error %.1e, cosine %.6f, largest difference %.1e",
			     x->out_mse, x->out_cos, x->out_max);
	else
		markup_textf(out, "not compared%s%s", *x->not_compared ? ": " : "",
			     x->not_compared);
	fputs("</dd>\n", out);
}

static void fact_placement(FILE *out, const struct report_input *in)
{
	const struct placed *p = in->p;
	const char *before = " on ";
	char text[QUANTITY_CAP];
	fact(out, "placement");
	fprintf(out, "%" PRIu32 " sets", in->x->place.n_sets);
	for (uint32_t d = 0; d < p->k; d++) {
		if (p->sets[d] == 0)
			continue;
		markup_textf(out, "%s%s (%u)", before, in->names[d], p->sets[d]);
		before = ", ";
	}
	fprintf(out, "; %" PRIu64 " copies between devices", p->copies);
	if (p->copies)
		fprintf(out, ", %s", quantity_bytes((double)p->copy_bytes, text));
	fputs("</dd>\n", out);
}

static void write_replicas(FILE *out, const struct report_input *in)
{
	placetext_replicas(out, in->x, in->names, "", "");
}

static int fact_replicas(FILE *out, const struct report_input *in, struct err *e)
{
	fputs("<dt>replicas</dt><dd>", out);
	int rc = put_text_of(out, in, write_replicas, e);
	fputs("</dd>\n", out);
	return rc;
}

static void write_error(FILE *out, const struct report_input *in)
{
	placetext_error(out, in->x, in->names, "", "");
}

static int fact_error(FILE *out, const struct report_input *in, struct err *e)
{
	fact(out, "error");
	int rc = put_text_of(out, in, write_error, e);
	fputs("</dd>\n", out);
	return rc;
}

/* What error buys, a line each. */
static void fact_traded(FILE *out, const struct report_input *in)
{
	const struct traded *x = in->traded;
	char text[QUANTITY_CAP];
	if (!x || x->n < 2)
		return;
	fact(out, "time for error");
	for (uint32_t i = 0; i < x->n; i++) {
		const struct traded_one *t = &x->v[i];
		fputs(i ? "<br>" : "", out);
		t->error < 1e300 ? fprintf(out, "%.2g: ", t->error)
				 : (void)fputs("no bound: ", out);
		fputs(quantity_seconds(t->lat_s, text), out);
		for (int p = 0; p < TRADED_PRECISIONS; p++)
			if (t->share[p] > 0)
				fprintf(out, ", %.0f %% %s", 100 * t->share[p],
					traded_precisions[p]);
		fputs(t->within ? "" : " (beyond the limit)", out);
	}
	fputs("</dd>\n", out);
}

static int put_facts(FILE *out, const void *of, struct err *e)
{
	const struct report_input *in = of;
	const struct answer *x = in->x;
	char text[QUANTITY_CAP];
	placetext_load(out, x, "<dt>load</dt><dd>", "</dd>\n");
	fact_latency(out, x);
	placetext_flight(out, x, "<dt>in flight</dt><dd>", "</dd>\n");
	if (x->place.n_more > 0 && fact_replicas(out, in, e) < 0)
		return -1;
	fact_objective(out, in);
	fact_placement(out, in);
	if (strcmp(x->place.source, "single") != 0) {
		fact(out, "found by");
		markup_text(out, placetext_finder(x->place.source));
		fputs("</dd>\n", out);
	}
	if (x->n_episodes) {
		fact(out, "search");
		if (in->search_s >= 0)
			fprintf(out, "%s, ", quantity_seconds(in->search_s, text));
		fprintf(out, "%" PRIu64 " placements %s in %" PRIu64 " episodes</dd>\n",
			x->n_measured, in->objective ? "simulated" : "measured", x->n_episodes);
	}
	if (placetext_no_quotient(x)) {
		fact(out, "speed-up");
		markup_text(out, placetext_no_quotient(x));
		fputs("</dd>\n", out);
	}
	fact_outputs(out, x);
	if (x->has_error && fact_error(out, in, e) < 0)
		return -1;
	fact_traded(out, in);
	return 0;
}

/* ---- tables ---- */

static bool has_compared(const void *of)
{
	return compared_any(of);
}

static int put_compared(FILE *out, const void *of, struct err *e)
{
	(void)e;
	compared_put(out, of);
	return 0;
}

static double limit_of(const struct report_input *in, uint32_t d)
{
	return (double)placetext_limit(in->x, in->devs, d);
}

static bool has_memory(const void *of)
{
	const struct report_input *in = of;
	for (uint32_t d = 0; in->x->mem_bytes && d < in->x->place.k; d++)
		if (in->x->mem_bytes[d])
			return true;
	return false;
}

/* One scale for all bars, so that their lengths can be compared. */
static int put_memory(FILE *out, const void *of, struct err *e)
{
	const struct report_input *in = of;
	const uint64_t *peak = in->x->mem_bytes;
	char text[QUANTITY_CAP];
	double most = 1;
	(void)e;
	for (uint32_t d = 0; d < in->x->place.k; d++)
		if (peak[d])
			most = fmax(most, fmax((double)peak[d], limit_of(in, d)));
	for (uint32_t d = 0; d < in->x->place.k; d++) {
		double used = (double)peak[d], limit = limit_of(in, d);
		if (!peak[d])
			continue;
		fputs("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">", out);
		markup_text(out, in->names[d]);
		fprintf(out, "</th><td role=\"cell\" data-label=\"peak\">%s",
			quantity_bytes(used, text));
		if (limit > 0)
			fprintf(out, " of %s", quantity_bytes(limit, text));
		fputs("</td><td role=\"cell\" data-label=\"share\">", out);
		if (limit > 0)
			fprintf(out, used < 0.001 * limit ? "below 0.1 %%" : "%.1f %%",
				100 * used / limit);
		fputs("</td><td role=\"cell\"><svg class=\"bar\" viewBox=\"0 0 200 12\" "
		      "preserveAspectRatio=\"none\" aria-hidden=\"true\">",
		      out);
		if (limit > 0)
			fprintf(out,
				"<rect class=\"limit\" x=\"0\" y=\"2\" width=\"%.2f\" "
				"height=\"8\"/>",
				200 * limit / most);
		fprintf(out,
			"<rect class=\"device\" data-device=\"%u\" x=\"0\" y=\"2\" width=\"%.2f\" "
			"height=\"8\"/></svg></td></tr>\n",
			d, 200 * used / most);
	}
	return 0;
}

static void put_value(FILE *out, const struct val *v)
{
	const char *s;
	size_t n;
	uint64_t u;
	if (v && val_bytes(v, &s, &n))
		markup_text_n(out, s, n);
	else if (v && val_uint(v, &u))
		fprintf(out, "%" PRIu64, u);
}

static void put_chain_cell(FILE *out, const struct val *stage, const char *key)
{
	fprintf(out, "<td role=\"cell\" data-label=\"%s\">", key);
	put_value(out, val_get(stage, key));
	fputs("</td>", out);
}

static bool has_chain(const void *of)
{
	const struct val *chain = chain_of(of);
	return chain && val_count(chain) > 0;
}

static int put_chain(FILE *out, const void *of, struct err *e)
{
	const struct val *chain = chain_of(of);
	(void)e;
	for (size_t i = 0; i < val_count(chain); i++) {
		const struct val *stage = val_at(chain, i), *args;
		if (val_type(stage) != VAL_MAP)
			continue;
		fputs("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">", out);
		put_value(out, val_get(stage, "program"));
		fputs("</th><td role=\"cell\" data-label=\"arguments\"><code>", out);
		args = val_get(stage, "args");
		for (size_t j = 0; args && j < val_count(args); j++) {
			fputs(j ? " " : "", out);
			put_value(out, val_at(args, j));
		}
		fputs("</code></td>", out);
		put_chain_cell(out, stage, "seed");
		put_chain_cell(out, stage, "threads");
		put_chain_cell(out, stage, "version");
		fputs("</tr>\n", out);
	}
	return 0;
}

/* ---- the page ---- */

static bool has_timeline(const void *of)
{
	return ((const struct report_input *)of)->trace->run != NULL;
}

static bool has_graph(const void *of)
{
	const struct report_input *in = of;
	for (uint32_t v = 0; v < in->x->graph->n; v++)
		if (!in->constant[v])
			return true;
	return false;
}

static bool has_search(const void *of)
{
	const struct report_input *in = of;
	if (in->curve && in->curve->n)
		return true;
	for (size_t i = 0; i < in->history->n_updates; i++)
		if (in->history->update[i].ok > 0)
			return true;
	return false;
}

static int put_data(FILE *out, const void *of, struct err *e)
{
	return pagedata_write(out, of, e);
}

static int put_script(FILE *out, const void *of, struct err *e)
{
	const char *const script[] = {scene_js,     why_js,   timeline_js,
				      graphview_js, curve_js, start_js};
	(void)of;
	(void)e;
	for (size_t i = 0; i < sizeof script / sizeof *script; i++)
		fputs(script[i], out);
	return 0;
}

static const struct page_mark marks[] = {
	{.name = "name", .put = put_name},
	{.name = "about", .put = put_about},
	{.name = "style", .text = page_css},
	{.name = "verdict", .put = put_verdict},
	{.name = "facts", .put = put_facts},
	{.name = "compared", .put = put_compared, .is_there = has_compared},
	{.name = "parts", .put = pageparts_put, .is_there = pageparts_any},
	{.name = "timeline", .is_there = has_timeline},
	{.name = "graph", .is_there = has_graph},
	{.name = "search", .is_there = has_search},
	{.name = "memory", .put = put_memory, .is_there = has_memory},
	{.name = "chain", .put = put_chain, .is_there = has_chain},
	{.name = "data", .put = put_data},
	{.name = "script", .put = put_script},
	{.name = NULL},
};

static int write_html(FILE *out, const struct report_input *in, struct err *e)
{
	return page_write(out, page_html, marks, in, e);
}

const struct report_format format_html = {
	.name = "html",
	.about = "a page for browsers: measurements, timelines, why an operation is\n"
		 "where it is, graph, search, memory; it loads nothing from elsewhere",
	.needs_trace = true,
	.needs_history = true,
	.needs_others = true,
	.write = write_html,
};
