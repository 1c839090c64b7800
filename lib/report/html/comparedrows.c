/* comparedrows.c - rows of what was measured: the answer, single devices, what competed with them. */
#include "report/html/comparedrows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/markup.h"
#include "text/quantity.h"
#include "report/history.h"
#include "report/placetext.h"

struct line {
	const char *name; /* a device's, or a finder */
	struct measured m;
	uint32_t n_runs; /* 0: not told */
	bool single, answer;
};

/* Which columns say something in any row. */
struct columns {
	bool interval, speedup, copies, runs, value, gain;
};

struct rows {
	struct line *line;
	uint32_t n;
	struct columns has;
	double most_s;     /* where bars end */
	double best_value; /* of the single devices, of another objective; 0: not known */
};

static double latency(const struct line *l)
{
	return l->m.reason ? INFINITY : l->m.lat_s;
}

static int by_rank(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	if (x->answer != y->answer)
		return x->answer ? -1 : 1;
	if (x->single != y->single)
		return x->single ? -1 : 1;
	double s = latency(x), t = latency(y);
	return (s > t) - (s < t);
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
		if (!(c->single && line[i].single) && !line[i].m.reason && !c->m.reason &&
		    line[i].m.lat_s == c->m.lat_s && line[i].m.hi_s == c->m.hi_s &&
		    line[i].m.copies == c->m.copies)
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
		line[n] = (struct line){c->single ? in->names[c->sample]
						  : placetext_finder(c->source),
					c->m, c->n_runs, c->single, answer};
		if (c->single && c->sample < x->n_single) { /* values come from another stream */
			line[n].m.has_value = x->single[c->sample].has_value;
			line[n].m.value = x->single[c->sample].value;
		}
		n++;
	}
	mem_free(seen);
	const char *alone = any ? NULL : answer_device(in);
	for (uint32_t i = 0; i < n && alone && !any; i++)
		any = line[i].answer = line[i].single && line[i].name == alone;
	if (!any && x->m.given)
		line[n++] = (struct line){.name = placetext_finder(x->place.source),
					  .m = x->m,
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
			line[n++] = (struct line){in->names[d], x->single[d], 0, true, false};
	if (x->random.given)
		line[n++] = (struct line){"best random placement", x->random, 0, false, false};
	/* A device alone, which has its row already, if it ran as this placement. */
	const char *alone = answer_device(in);
	for (uint32_t i = 0; i < n && alone; i++)
		if (line[i].single && line[i].name == alone && line[i].m.lat_s == x->m.lat_s) {
			line[i].answer = true;
			return n;
		}
	if (x->m.given)
		line[n++] = (struct line){placetext_finder(x->place.source), x->m, 0, false, true};
	return n;
}

static struct rows collect(const struct report_input *in)
{
	const struct answer *x = in->x;
	struct rows r = {.line = MEM_NEWN(struct line, in->history->n_compared + x->n_single + 3)};
	bool pairs = x->kind == ANSWER_FINAL && in->history->n_compared > 0;
	r.n = pairs ? compared_lines(in, r.line) : measured_lines(in, r.line);
	r.best_value = in->objective ? placetext_best_value(x) : 0;
	qsort(r.line, r.n, sizeof *r.line, by_rank);
	for (uint32_t i = 0; i < r.n; i++) {
		struct line *l = &r.line[i];
		if (l->answer && x->m.has_value) {
			l->m.has_value = true;
			l->m.value = x->m.value;
		}
		if (l->m.reason)
			continue;
		r.most_s = fmax(r.most_s, fmin(l->m.hi_s, 1.2 * l->m.lat_s));
		r.most_s = fmax(r.most_s, l->m.lat_s);
		r.has.interval = r.has.interval || placetext_has_range(&l->m);
		r.has.speedup = r.has.speedup || placetext_speedup(x, &l->m) > 0;
		r.has.copies = r.has.copies || l->m.has_copies;
		r.has.runs = r.has.runs || l->n_runs;
		r.has.value = r.has.value || (in->objective && l->m.has_value);
	}
	r.has.gain = r.has.value && r.best_value > 0;
	return r;
}

/* ---- HTML ---- */

static void column(FILE *out, bool has, const char *name)
{
	if (has)
		fprintf(out, "<th role=\"columnheader\" scope=\"col\">%s</th>", name);
}

static const char *value_name(const struct report_input *in)
{
	return strpbrk(in->objective, "=,") ? "objective" : in->objective;
}

static void put_head(FILE *out, const struct report_input *in, const struct rows *r)
{
	fputs("<caption>The answer first. ", out);
	fputs(r->has.interval ? "Whiskers are 95 % intervals; what has run too seldom has none. "
			      : "",
	      out);
	fputs(r->has.speedup ? "Speed-ups are over the best single device."
			     : "Nothing here was measured beside a single device.",
	      out);
	fputs("</caption>\n<thead><tr role=\"row\">", out);
	column(out, true, "placement");
	column(out, true, in->x->simulated ? "latency, simulated" : "latency");
	column(out, r->has.interval, "95 % interval");
	column(out, r->has.speedup, "speed-up");
	if (r->has.value) {
		fputs("<th role=\"columnheader\" scope=\"col\">", out);
		markup_text(out, value_name(in));
		fputs("</th>", out);
	}
	column(out, r->has.gain, "gain");
	column(out, r->has.copies, "copies");
	column(out, r->has.copies, "copied");
	column(out, r->has.runs, "runs");
	column(out, true, "<span class=\"away\">latency as a bar</span>");
	fputs("</tr></thead>\n<tbody>\n", out);
}

static void put_bar(FILE *out, const struct measured *m, double most, bool answer)
{
	double lo = 200 * m->lo_s / most, hi = 200 * fmin(m->hi_s, most) / most;
	fprintf(out,
		"<svg class=\"bar\" viewBox=\"0 0 200 12\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\"><rect class=\"%s\" x=\"0\" y=\"2\" width=\"%.2f\" "
		"height=\"8\"/>",
		answer ? "answer" : "other", 200 * m->lat_s / most);
	if (placetext_has_range(m))
		fprintf(out, "<path d=\"M%.2f 6H%.2fM%.2f 3V9M%.2f 3V9\"/>", lo, hi, lo, hi);
	fputs("</svg>", out);
}

static void put_speedup(FILE *out, const struct answer *x, const struct measured *m)
{
	double speedup = placetext_speedup(x, m);
	fputs("<td role=\"cell\" data-label=\"speed-up\">", out);
	if (speedup > 0)
		fprintf(out, "%.3f", speedup);
	if (speedup > 0 && m->has_ratio && m->ratio_lo > 0 && m->ratio_hi < INFINITY &&
	    m->ratio_lo < m->ratio_hi)
		fprintf(out, " <small>(%.3f to %.3f)</small>", 1 / m->ratio_hi, 1 / m->ratio_lo);
	fputs("</td>", out);
}

static void put_line(FILE *out, const struct report_input *in, const struct rows *r,
		     const struct line *l)
{
	const struct measured *m = &l->m;
	const struct columns *has = &r->has;
	char text[QUANTITY_CAP];
	fprintf(out, "<tr role=\"row\"%s><th role=\"rowheader\" scope=\"row\">",
		l->answer ? " class=\"answer\"" : "");
	markup_text(out, l->name);
	fputs(l->single ? " alone" : "", out);
	fputs(l->answer ? " (the answer)</th>" : "</th>", out);
	if (m->reason) {
		int span = 2 + has->interval + has->speedup + has->value + has->gain +
			   2 * has->copies + has->runs;
		fprintf(out, "<td role=\"cell\" colspan=\"%d\" class=\"why\">%s", span,
			placetext_why(m));
		markup_text(out, m->reason);
		fputs("</td></tr>\n", out);
		return;
	}
	markup_cell(out, "latency", quantity_seconds(m->lat_s, text));
	if (has->interval)
		markup_cell(out, "95 % interval",
			    placetext_has_range(m) ? quantity_interval(m->lo_s, m->hi_s, text)
						   : "-");
	if (has->speedup)
		put_speedup(out, in->x, m);
	if (has->value) {
		char value[60];
		markup_cell(out, value_name(in),
			    m->has_value
				    ? placetext_value(in->objective, m->value, value, sizeof value)
				    : "");
	}
	if (has->gain) {
		snprintf(text, sizeof text, "%.3f", r->best_value / m->value);
		markup_cell(out, "gain", m->has_value && m->value > 0 ? text : "");
	}
	if (has->copies) {
		snprintf(text, sizeof text, "%" PRIu64, m->copies);
		markup_cell(out, "copies", m->has_copies ? text : "");
		markup_cell(out, "copied",
			    m->has_copies && m->copies ? quantity_bytes((double)m->copy_bytes, text)
						       : "");
	}
	if (has->runs) {
		snprintf(text, sizeof text, "%u", l->n_runs);
		markup_cell(out, "runs", l->n_runs ? text : "");
	}
	fputs("<td role=\"cell\">", out);
	put_bar(out, m, r->most_s > 0 ? r->most_s : 1, l->answer);
	fputs("</td></tr>\n", out);
}

bool compared_any(const struct report_input *in)
{
	struct rows r = collect(in);
	mem_free(r.line);
	return r.n > 0;
}

void compared_put(FILE *out, const struct report_input *in)
{
	struct rows r = collect(in);
	put_head(out, in, &r);
	for (uint32_t i = 0; i < r.n; i++)
		put_line(out, in, &r, &r.line[i]);
	fputs("</tbody>", out);
	mem_free(r.line);
}
