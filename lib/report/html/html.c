/* html.c - the report as one page: page.html, with text and tables where its marks are. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/history.h"
#include "base/utf8.h"
#include "report/html/pagedata.h"
#include "report/placetext.h"

extern const char page_html[]; /* made of page.html by the build */

/* ---- text ---- */

/* As text or inside quotes; control characters, which HTML does not allow, are blanks. */
static void put_escaped(FILE *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
			fprintf(out, "&#%u;", c);
		else if (utf8_control(s + i, n - i) == 2)
			fputc(' ', out), i++;
		else
			fputc(utf8_control(s + i, n - i) ? ' ' : c, out);
	}
}

static void text(FILE *out, const char *s)
{
	put_escaped(out, s, strlen(s));
}

static void textf(FILE *out, const char *form, ...) __attribute__((format(printf, 2, 3)));
static void textf(FILE *out, const char *form, ...)
{
	char buffer[500];
	va_list ap;
	va_start(ap, form);
	vsnprintf(buffer, sizeof buffer, form, ap);
	va_end(ap);
	text(out, buffer);
}

/* ---- the beginning ---- */

static int put_name(FILE *out, const struct report_input *in, struct err *e)
{
	(void)e;
	text(out, in->x->graph->name);
	return 0;
}

static int put_verdict(FILE *out, const struct report_input *in, struct err *e)
{
	char *s = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&s, &n);
	if (!mem)
		return err_sys(e, ST_RUNTIME, "no memory for the verdict");
	placetext_verdict(mem, in->x, in->names, in->objective);
	if (fclose(mem) != 0) {
		free(s);
		return err_sys(e, ST_RUNTIME, "no memory for the verdict");
	}
	put_escaped(out, s, n);
	free(s);
	return 0;
}

static void fact(FILE *out, const char *name)
{
	fprintf(out, "<dt>%s</dt><dd>", name);
}

static void fact_outputs(FILE *out, const struct answer *x)
{
	if (x->kind != ANSWER_FINAL)
		return;
	fact(out, "outputs, beside the reference&#39;s");
	if (x->has_diff)
		textf(out, "mean squared error %.1e, cosine %.6f, largest difference %.1e",
		      x->out_mse, x->out_cos, x->out_max);
	else
		textf(out, "not compared%s%s", *x->not_compared ? ": " : "", x->not_compared);
	fputs("</dd>\n", out);
}

static int put_facts(FILE *out, const struct report_input *in, struct err *e)
{
	const struct answer *x = in->x;
	const struct placed *p = in->p;
	(void)e;
	placetext_load(out, x, "<dt>load</dt><dd>", "</dd>\n");
	if (x->m.given && !x->m.reason) {
		fact(out, x->simulated ? "latency, simulated" : "latency");
		textf(out, "%.3f ms", x->m.lat_s * 1e3);
		if (x->m.lo_s < x->m.hi_s && placetext_has_range(&x->m))
			textf(out, " (95 %% interval %.3f to %.3f)", x->m.lo_s * 1e3,
			      x->m.hi_s * 1e3);
		fputs("</dd>\n", out);
	}
	fact(out, "placement");
	textf(out, "%u sets on", x->place.n_sets);
	for (uint32_t d = 0; d < p->k; d++)
		textf(out, "%s %s (%u)", d ? "," : "", in->names[d], p->sets[d]);
	textf(out, "; %" PRIu64 " copies between devices, %.3f MB", p->copies,
	      (double)p->copy_bytes * 1e-6);
	fputs("</dd>\n", out);
	fact(out, "found by");
	text(out, placetext_finder(x->place.source));
	fputs("</dd>\n", out);
	if (x->n_episodes) {
		fact(out, "search");
		if (in->search_s >= 0)
			textf(out, "%.0f s, ", in->search_s);
		textf(out, "%" PRIu64 " placements %s in %" PRIu64 " episodes", x->n_measured,
		      in->objective ? "simulated" : "measured", x->n_episodes);
		fputs("</dd>\n", out);
	}
	if (placetext_no_quotient(x)) {
		fact(out, "speedup");
		text(out, placetext_no_quotient(x));
		fputs("</dd>\n", out);
	}
	fact_outputs(out, x);
	return 0;
}

/* ---- what was compared ---- */

struct line {
	const char *name; /* a device's, or a finder */
	const struct measured *m;
	uint32_t n_runs; /* 0: not told */
	bool single, answer;
};

static int by_latency(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	if (x->single != y->single)
		return x->single ? -1 : 1;
	double s = x->m->reason ? INFINITY : x->m->lat_s, t = y->m->reason ? INFINITY : y->m->lat_s;
	return (s > t) - (s < t);
}

/* A latency with its interval, where it has one, on a scale that ends at `most`. */
static void put_bar(FILE *out, const struct measured *m, double most, bool answer)
{
	double lo = 200 * m->lo_s / most, hi = 200 * fmin(m->hi_s, most) / most;
	fprintf(out,
		"<svg class=\"bar\" viewBox=\"0 0 200 12\"><rect class=\"%s\" x=\"0\" y=\"2\" "
		"width=\"%.2f\" height=\"8\"/>",
		answer ? "answer" : "other", 200 * m->lat_s / most);
	if (placetext_has_range(m))
		fprintf(out, "<path d=\"M%.2f 6H%.2fM%.2f 3V9M%.2f 3V9\"/>", lo, hi, lo, hi);
	fputs("</svg>", out);
}

static void put_line(FILE *out, const struct answer *x, const struct line *l, double most)
{
	const struct measured *m = l->m;
	fprintf(out, "<tr%s><th>", l->answer ? " class=\"answer\"" : "");
	text(out, l->name);
	fputs(l->single ? " alone" : "", out);
	fputs(l->answer ? " (the answer)</th>" : "</th>", out);
	if (m->reason) {
		fprintf(out, "<td colspan=\"6\" class=\"why\">%s", placetext_why(m));
		text(out, m->reason);
		fputs("</td></tr>\n", out);
		return;
	}
	double speedup = placetext_speedup(x, m);
	fprintf(out, "<td>%.3f</td>", m->lat_s * 1e3);
	if (placetext_has_range(m))
		fprintf(out, "<td>%.3f .. %.3f</td>", m->lo_s * 1e3, m->hi_s * 1e3);
	else
		fputs("<td>-</td>", out);
	if (speedup > 0 && m->has_ratio && m->ratio_lo > 0 && m->ratio_hi < INFINITY &&
	    m->ratio_lo < m->ratio_hi)
		fprintf(out, "<td>%.3f <small>(%.3f .. %.3f)</small></td>", speedup,
			1 / m->ratio_hi, 1 / m->ratio_lo);
	else if (speedup > 0)
		fprintf(out, "<td>%.3f</td>", speedup);
	else
		fputs("<td></td>", out);
	if (m->has_copies)
		fprintf(out, "<td>%" PRIu64 "</td>", m->copies);
	else
		fputs("<td></td>", out);
	if (l->n_runs)
		fprintf(out, "<td>%u</td><td>", l->n_runs);
	else
		fputs("<td></td><td>", out);
	put_bar(out, m, most, l->answer);
	fputs("</td></tr>\n", out);
}

/* Is this candidate the answer, by what was measured of it? */
static bool is_answer(const struct answer *x, const struct compared *c)
{
	return !c->single && strcmp(c->source, x->place.source) == 0 && c->m.lat_s == x->m.lat_s &&
	       c->m.copies == x->m.copies;
}

/* The row of a candidate that is the same placement, which was measured once; NULL: none.  Two devices may take as long. */
static struct line *same_line(struct line *line, uint32_t n, const struct compared *c)
{
	for (uint32_t i = 0; i < n; i++)
		if (!(c->single && line[i].single) && !line[i].m->reason && !c->m.reason &&
		    line[i].m->lat_s == c->m.lat_s && line[i].m->hi_s == c->m.hi_s &&
		    line[i].m->copies == c->m.copies)
			return &line[i];
	return NULL;
}

/* The one device that the answer is on; NULL: it is on several. */
static const char *answer_device(const struct report_input *in)
{
	const struct place_rec *p = &in->x->place;
	for (uint32_t s = 1; s < p->n_sets; s++)
		if (p->device[s] != p->device[0])
			return NULL;
	return p->n_sets ? in->names[p->device[0]] : NULL;
}

/* Rows of the comparison in pairs; the answer has one in any case. */
static uint32_t compared_lines(const struct report_input *in, struct line *line)
{
	const struct history *h = in->history;
	const struct answer *x = in->x;
	uint32_t n = 0;
	bool *seen = MEM_NEWN(bool, (size_t)in->p->k + 1), any = false;
	for (size_t i = 0; i < h->n_compared; i++) {
		const struct compared *c = &h->compared[i];
		if (c->single && (c->sample >= in->p->k || seen[c->sample]))
			continue;
		if (c->single)
			seen[c->sample] = true;
		bool answer = !any && is_answer(x, c);
		struct line *same = same_line(line, n, c);
		any = any || answer;
		if (same) {
			same->answer = same->answer || answer;
			continue;
		}
		line[n++] = (struct line){c->single ? in->names[c->sample]
						    : placetext_finder(c->source),
					  &c->m, c->n_runs, c->single, answer};
	}
	mem_free(seen);
	const char *alone = any ? NULL : answer_device(in);
	for (uint32_t i = 0; i < n && alone && !any; i++)
		any = line[i].answer = line[i].single && line[i].name == alone;
	if (!any && x->m.given)
		line[n++] = (struct line){.name = placetext_finder(x->place.source),
					  .m = &x->m,
					  .n_runs = x->n_pairs,
					  .answer = true};
	return n;
}

/* Without a comparison: single devices, the best random placement, the answer. */
static uint32_t measured_lines(const struct report_input *in, struct line *line)
{
	const struct answer *x = in->x;
	uint32_t n = 0;
	for (uint32_t d = 0; d < x->n_single && d < in->p->k; d++)
		if (x->single[d].given)
			line[n++] = (struct line){in->names[d], &x->single[d], 0, true, false};
	if (x->random.given)
		line[n++] = (struct line){"best random placement", &x->random, 0, false, false};
	if (x->m.given)
		line[n++] = (struct line){placetext_finder(x->place.source), &x->m, 0, false, true};
	return n;
}

static int put_compared(FILE *out, const struct report_input *in, struct err *e)
{
	const struct answer *x = in->x;
	size_t room = in->history->n_compared + x->n_single + 3;
	struct line *line = MEM_NEWN(struct line, room);
	bool pairs = x->kind == ANSWER_FINAL && in->history->n_compared > 0;
	uint32_t n = pairs ? compared_lines(in, line) : measured_lines(in, line);
	double most = 0;
	(void)e;
	qsort(line, n, sizeof *line, by_latency);
	for (uint32_t i = 0; i < n; i++)
		if (!line[i].m->reason)
			most = fmax(most, fmin(line[i].m->hi_s, 1.2 * line[i].m->lat_s));
	fputs("<thead><tr><th></th><th>latency, ms</th><th>95 % interval</th><th>speedup</th>"
	      "<th>copies</th><th>runs</th><th></th></tr></thead>\n<tbody>\n",
	      out);
	for (uint32_t i = 0; i < n; i++)
		put_line(out, x, &line[i], most > 0 ? most : 1);
	fputs("</tbody>", out);
	mem_free(line);
	return 0;
}

/* ---- memory ---- */

static int put_memory(FILE *out, const struct report_input *in, struct err *e)
{
	const struct answer *x = in->x;
	(void)e;
	if (!x->mem_bytes) {
		fputs("<tr><td>not told by this stream</td></tr>", out);
		return 0;
	}
	double most = 1;
	for (uint32_t d = 0; d < x->place.k; d++) {
		uint64_t limit = placetext_limit(x, in->devs, d);
		most = fmax(
			most,
			(double)(limit && limit < 20 * x->mem_bytes[d] ? limit : x->mem_bytes[d]));
	}
	for (uint32_t d = 0; d < x->place.k; d++) {
		double peak = (double)x->mem_bytes[d];
		double limit = (double)placetext_limit(x, in->devs, d);
		fputs("<tr><th>", out);
		text(out, in->names[d]);
		fprintf(out, "</th><td>%.1f MB", peak * 1e-6);
		if (limit > 0)
			fprintf(out, " of %.1f", limit * 1e-6);
		fprintf(out,
			"</td><td><svg class=\"bar\" viewBox=\"0 0 200 12\"><rect class=\"limit\" "
			"x=\"0\" y=\"2\" width=\"%.2f\" height=\"8\"/><rect class=\"device\" "
			"data-device=\"%u\" x=\"0\" y=\"2\" width=\"%.2f\" height=\"8\"/></svg>"
			"</td></tr>\n",
			200 * fmin(limit / most, 1), d, 200 * fmin(peak / most, 1));
	}
	return 0;
}

/* ---- how it was made ---- */

static void put_value(FILE *out, const struct val *v)
{
	const char *s;
	size_t n;
	uint64_t u;
	if (v && val_bytes(v, &s, &n))
		put_escaped(out, s, n);
	else if (v && val_uint(v, &u))
		fprintf(out, "%" PRIu64, u);
}

static int put_chain(FILE *out, const struct report_input *in, struct err *e)
{
	const struct val *chain;
	if (get_list(in->history->hdr->map, "chain", &chain, e) < 0)
		return -1;
	for (size_t i = 0; i < val_count(chain); i++) {
		const struct val *stage = val_at(chain, i), *args;
		if (val_type(stage) != VAL_MAP)
			continue;
		fputs("<tr><th>", out);
		put_value(out, val_get(stage, "program"));
		fputs("</th><td><code>", out);
		args = val_get(stage, "args");
		for (size_t j = 0; args && j < val_count(args); j++) {
			fputs(j ? " " : "", out);
			put_value(out, val_at(args, j));
		}
		fputs("</code></td><td>", out);
		put_value(out, val_get(stage, "seed"));
		fputs("</td><td>", out);
		put_value(out, val_get(stage, "threads"));
		fputs("</td><td>", out);
		put_value(out, val_get(stage, "version"));
		fputs("</td></tr>\n", out);
	}
	return 0;
}

/* ---- the page ---- */

static const struct mark {
	const char *name;
	int (*put)(FILE *out, const struct report_input *in, struct err *e);
} marks[] = {
	{"<!--name-->", put_name},       {"<!--verdict-->", put_verdict},
	{"<!--facts-->", put_facts},     {"<!--compared-->", put_compared},
	{"<!--memory-->", put_memory},   {"<!--chain-->", put_chain},
	{"<!--data-->", pagedata_write},
};

static const struct mark *mark_at(const char *s)
{
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (strncmp(s, marks[i].name, strlen(marks[i].name)) == 0)
			return &marks[i];
	return NULL;
}

static int write_html(FILE *out, const struct report_input *in, struct err *e)
{
	const char *s = page_html, *next;
	while ((next = strstr(s, "<!--"))) {
		const struct mark *m = mark_at(next);
		size_t n = m ? (size_t)(next - s) : (size_t)(next - s) + 4;
		fwrite(s, 1, n, out);
		s += n;
		if (m && m->put(out, in, e) < 0)
			return -1;
		if (m)
			s += strlen(m->name);
	}
	fputs(s, out);
	return 0;
}

const struct report_format format_html = {
	.name = "html",
	.about = "a page for browsers: measurements, timeline, graph, search, memory,\n"
		 "programs; it loads nothing from elsewhere",
	.needs_trace = true,
	.needs_history = true,
	.write = write_html,
};
