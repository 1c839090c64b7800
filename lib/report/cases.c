/* cases.c - one placement for several lists of shapes, beside one for each. */
#include "report/cases.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "graph/case_value.h"
#include "report/answer.h"
#include "report/format.h"
#include "text/markup.h"

void case_runs_release(struct case_runs *x)
{
	mem_free(x->v);
	*x = (struct case_runs){0};
}

void case_runs_place(struct case_runs *x, const struct place_rec *p)
{
	x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
	x->v[x->n++] = (struct case_run){*p, NULL};
}

static bool is_of(const struct place_rec *p, const struct rollout_id *id, const char *source)
{
	return p->id.episode == id->episode && p->id.step == id->step &&
	       p->id.sample == id->sample && strcmp(p->source, source) == 0;
}

void case_runs_run(struct case_runs *x, const struct run_rec *run)
{
	/* Programs number placements anew, so that several may have one name: their runs come in their order. */
	struct case_run *of = NULL;
	for (uint32_t i = 0; run->n_cases && i < x->n; i++)
		if (is_of(&x->v[i].place, &run->id, run->source) && (!of || of->case_s))
			of = &x->v[i];
	if (!of && run->n_cases && strcmp(run->source, "single") == 0) {
		/* A race runs single devices, which nobody has to place. */
		case_runs_place(x, &(struct place_rec){.id = run->id, .source = run->source});
		of = &x->v[x->n - 1];
	}
	if (of)
		of->case_s = run->case_s;
}

const struct case_run *case_runs_best(const struct case_runs *x, uint32_t i)
{
	const struct case_run *best = NULL;
	for (uint32_t j = 0; j < x->n; j++)
		if (x->v[j].case_s && x->v[j].case_s[i] > 0 && x->v[j].place.n_sets &&
		    (!best || x->v[j].case_s[i] < best->case_s[i]))
			best = &x->v[j];
	return best;
}

static bool is_input(const struct graph *g, uint32_t v)
{
	return g->kind[v] == OP_PARAMETER || g->kind[v] == OP_READ_VALUE;
}

/* The sum of all dims of inputs and variables; NAN: some are open. */
static double size_of_inputs(const struct graph *g)
{
	double sum = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t o = g->out_ptr[v];
		if (!is_input(g, v))
			continue;
		if (graph_out_elements(g, o) < 0)
			return NAN;
		for (uint32_t d = g->dim_ptr[o]; d < g->dim_ptr[o + 1]; d++)
			sum += (double)g->dim[d];
	}
	return sum;
}

/* Have inputs and variables the same shapes? */
static bool same_inputs(const struct graph *g, const struct graph *h)
{
	bool same = g->n == h->n;
	for (uint32_t v = 0; v < g->n && same; v++) {
		uint32_t o = g->out_ptr[v], p = h->out_ptr[v];
		if (!is_input(g, v))
			continue;
		uint32_t n = g->dim_ptr[o + 1] - g->dim_ptr[o];
		same = g->out_rank[o] == h->out_rank[p] && n == h->dim_ptr[p + 1] - h->dim_ptr[p] &&
		       memcmp(g->dim + g->dim_ptr[o], h->dim + h->dim_ptr[p], n * sizeof *g->dim) ==
			       0;
	}
	return same;
}

static const struct graph *case_graph(const struct graph *g, uint32_t i)
{
	return i ? g->cases[i].graph : g;
}

/* What r takes at a share of the way from case a to case b; INFINITY: it has not run. */
static double time_between(const struct case_run *r, uint32_t a, uint32_t b, double share)
{
	if (!r->case_s || !r->place.n_sets || !(r->case_s[a] > 0 && r->case_s[b] > 0))
		return INFINITY;
	return (1 - share) * r->case_s[a] + share * r->case_s[b];
}

/* Who takes least at a share of the way from case a to case b, and of equal ones behind it; NULL: none has run. */
static const struct case_run *best_between(const struct case_runs *x, uint32_t a, uint32_t b,
					   double share)
{
	const struct case_run *best = NULL;
	double least = INFINITY;
	for (uint32_t j = 0; j < x->n; j++) {
		double t = time_between(&x->v[j], a, b, share);
		if (t < least || (best && t == least && x->v[j].case_s[b] < best->case_s[b])) {
			least = t;
			best = &x->v[j];
		}
	}
	return best;
}

const struct case_run *case_runs_at(const struct case_runs *x, const struct graph *g,
				    const struct graph *at)
{
	double size = size_of_inputs(at), size_a = -INFINITY, size_b = INFINITY;
	uint32_t a = GRAPH_NONE, b = GRAPH_NONE; /* the cases around `at` */
	for (uint32_t i = 0; i < g->n_cases; i++)
		if (same_inputs(case_graph(g, i), at))
			return case_runs_best(x, i);
	for (uint32_t i = 0; i < g->n_cases && !g->cases[i].tokens; i++) {
		double s = size_of_inputs(case_graph(g, i));
		if (s <= size && s > size_a) {
			a = i;
			size_a = s;
		}
		if (s >= size && s < size_b) {
			b = i;
			size_b = s;
		}
	}
	if (a == GRAPH_NONE && b == GRAPH_NONE)
		return NULL;
	a = a == GRAPH_NONE ? b : a;
	b = b == GRAPH_NONE ? a : b;
	double share = a != b ? (size - size_a) / (size_b - size_a) : 0;
	return best_between(x, a, b, share);
}

/* Behind `share`: who is the first to take no longer than `best`, and where; *share is 1 where nobody is. */
static const struct case_run *next_between(const struct case_runs *x, uint32_t a, uint32_t b,
					   const struct case_run *best, double *share)
{
	const struct case_run *next = NULL;
	double at = 1;
	for (uint32_t j = 0; j < x->n; j++) {
		const struct case_run *r = &x->v[j];
		/* What it is behind in a, and ahead in b. */
		double behind = time_between(r, a, b, 0) - best->case_s[a];
		double ahead = best->case_s[b] - time_between(r, a, b, 1);
		double t = behind / (behind + ahead);
		if (isfinite(behind) && ahead > 0 && behind > 0 && t > *share &&
		    (t < at || (next && t == at && r->case_s[b] < next->case_s[b]))) {
			at = t;
			next = r;
		}
	}
	*share = at;
	return next;
}

struct case_range *case_runs_ranges(const struct case_runs *x, const struct graph *g, uint32_t *n)
{
	uint32_t order[GRAPH_MAX_CASES], m = 0;
	double size[GRAPH_MAX_CASES];
	struct case_range *v = NULL;
	size_t cap = 0;
	*n = 0;
	for (uint32_t i = 0; i < g->n_cases && !g->cases[i].tokens; i++) {
		double s = size_of_inputs(case_graph(g, i));
		uint32_t k = m;
		if (isnan(s))
			continue;
		for (; k > 0 && size[k - 1] > s; k--) {
			size[k] = size[k - 1];
			order[k] = order[k - 1];
		}
		size[k] = s;
		order[k] = i;
		m++;
	}
	for (uint32_t k = 0; k + 1 < m; k++) {
		uint32_t a = order[k], b = order[k + 1];
		double from = 0, to = 0;
		if (size[k] == size[k + 1])
			continue;
		for (const struct case_run *r = best_between(x, a, b, 0); r; from = to) {
			const struct case_run *next = next_between(x, a, b, r, &to);
			v = mem_grow(v, &cap, *n + 1, sizeof *v);
			v[(*n)++] = (struct case_range){&g->cases[a], &g->cases[b], from, to, r};
			r = next;
		}
	}
	return v;
}

/* As size_of_inputs, of inputs alone. */
static double size_of_parameters(const struct graph *g)
{
	double sum = 0;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t d = g->dim_ptr[g->out_ptr[v]];
		     g->kind[v] == OP_PARAMETER && d < g->dim_ptr[g->out_ptr[v] + 1]; d++)
			sum += (double)g->dim[d];
	return sum;
}

static void put_inputs(FILE *out, const struct graph *g)
{
	bool any = false;
	fputs("\"inputs\": [", out);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t o = g->out_ptr[v];
		if (g->kind[v] != OP_PARAMETER)
			continue;
		fputs(any ? ", " : "", out);
		fputs(g->out_rank[o] == RANK_DYNAMIC ? "null" : "[", out);
		for (uint32_t d = g->dim_ptr[o]; d < g->dim_ptr[o + 1]; d++)
			fprintf(out, "%s%" PRId64, d > g->dim_ptr[o] ? ", " : "", g->dim[d]);
		fputs(g->out_rank[o] == RANK_DYNAMIC ? "" : "]", out);
		any = true;
	}
	fputs("], ", out);
}

static void put_choice(FILE *out, const struct place_rec *p, uint32_t number)
{
	const char *source = p->source ? p->source : "";
	fprintf(out, "\"placement\": %u, \"by\": ", number);
	markup_json(out, source, strlen(source), false);
	fputs("}", out);
}

void case_runs_choice(FILE *out, const struct case_runs *x, const struct graph *g,
		      const struct place_rec *answer,
		      uint32_t (*number)(void *arg, const struct place_rec *p), void *arg)
{
	uint32_t n;
	struct case_range *range = case_runs_ranges(x, g, &n);
	double last = -1;
	fputs("{\"cases\": [", out);
	for (uint32_t i = 0; i < g->n_cases; i++) {
		const struct case_run *best = case_runs_best(x, i);
		const struct place_rec *p = best ? &best->place : answer;
		fputs(i ? ",\n  {\"name\": " : "\n  {\"name\": ", out);
		markup_json(out, g->cases[i].name, strlen(g->cases[i].name), false);
		fputs(", ", out);
		put_inputs(out, case_graph(g, i));
		put_choice(out, p, number(arg, p));
	}
	fputs("],\n \"ranges\": [", out);
	for (uint32_t i = 0; i < n; i++) {
		const struct place_rec *p = &range[i].best->place;
		double a = size_of_parameters(case_graph(g, (uint32_t)(range[i].a - g->cases))),
		       b = size_of_parameters(case_graph(g, (uint32_t)(range[i].b - g->cases)));
		double to = a + range[i].to * (b - a);
		if (a >= b || to <= last) /* variables decide */
			continue;
		fprintf(out, "%s\n  {\"to\": %.17g, ", last < 0 ? "" : ",", to);
		put_choice(out, p, number(arg, p));
		last = to;
	}
	fputs("],\n \"otherwise\": {", out);
	put_choice(out, answer, number(arg, answer));
	fputs("}\n", out);
	mem_free(range);
}

static bool places_alike(const struct place_rec *a, const struct place_rec *b)
{
	bool same = a->n_sets == b->n_sets;
	for (uint32_t i = 0; same && i < a->n_sets; i++)
		same = strcmp(a->names[a->device[i]], b->names[b->device[i]]) == 0;
	return same;
}

static const double *answer_case_s(const struct case_runs *x, const struct place_rec *p)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->v[i].case_s &&
		    (places_alike(&x->v[i].place, p) ||
		     (!x->v[i].place.n_sets && is_of(&x->v[i].place, &p->id, p->source))))
			return x->v[i].case_s;
	return NULL;
}

uint32_t case_runs_rows(const struct case_runs *x, const struct graph *g,
			const struct place_rec *answer, struct case_row *row)
{
	const double *s = answer_case_s(x, answer);
	for (uint32_t i = 0; s && i < g->n_cases; i++) {
		const struct case_run *best = case_runs_best(x, i);
		bool other = best && best->case_s[i] < s[i];
		row[i] = (struct case_row){&g->cases[i], s[i], other ? best->case_s[i] : s[i],
					   other ? best->place.source : answer->source};
	}
	return s ? g->n_cases : 0;
}

/* Bytes of variables that are elsewhere in the placement that is best for the second of two cases. */
static uint64_t moved_bytes(const struct case_runs *x, const struct graph *g)
{
	const struct case_run *a = case_runs_best(x, 0), *b = case_runs_best(x, 1);
	const struct graph *last = g->cases[1].graph;
	uint64_t sum = 0;
	if (!a || !b)
		return 0;
	for (uint32_t v = 0; v < last->n; v++) {
		int64_t bytes = last->kind[v] == OP_READ_VALUE
					? graph_out_bytes(last, last->out_ptr[v])
					: 0;
		uint32_t set = last->set[v];
		if (bytes > 0 && set != GRAPH_NONE &&
		    strcmp(a->place.names[a->place.device[set]],
			   b->place.names[b->place.device[set]]) != 0)
			sum += (uint64_t)bytes;
	}
	return sum;
}

/* Of a histogram: what lies between the cases, where times are not measured. */
static void tell_between(FILE *out, const struct graph *g)
{
	char from[100], to[100];
	double between = 0; /* weights are shares of 1 */
	uint32_t n = 0, most = 0;
	for (uint32_t i = 0; i + 1 < g->n_cases; i++) {
		between += g->cases[i].between;
		n += g->cases[i].n_between;
		most = g->cases[i].between > g->cases[most].between ? i : most;
	}
	if (n == 0)
		return;
	const char *a = g->cases[most].name, *b = g->cases[most + 1].name;
	fprintf(out,
		"shapes: %u, of which %u are cases; %.0f %% of the weight lies between these, "
		"where times are interpolated, most of it between %s and %s\n",
		n + g->n_cases, g->n_cases, 100 * between,
		err_escape(from, sizeof from, a, strlen(a)),
		err_escape(to, sizeof to, b, strlen(b)));
}

/* Cases by their rows in the table. */
static void tell_place(FILE *out, const struct graph *g, const struct case_range *r, double share)
{
	int a = 1 + (int)(r->a - g->cases), b = 1 + (int)(r->b - g->cases);
	if (share > 0 && share < 1)
		fprintf(out, "%.0f %% of the way from case %d to case %d", 100 * share, a, b);
	else
		fprintf(out, "case %d", share > 0 ? b : a);
}

/* Where several placements share the work by the inputs, which one has which part. */
static void tell_ranges(FILE *out, const struct case_runs *x, const struct graph *g)
{
	uint32_t n, i = 0, j, changes = 0;
	struct case_range *v = case_runs_ranges(x, g, &n);
	for (uint32_t k = 1; k < n; k++)
		changes += v[k].best != v[0].best;
	if (changes)
		fputs("the fastest placement by shapes, times interpolated between cases "
		      "(libhsdag-run and "
		      "openvino/use.py choose by it):\n",
		      out);
	for (; changes && i < n; i = j) {
		char source[100];
		const char *of = v[i].best->place.source;
		for (j = i + 1; j < n && v[j].best == v[i].best; j++)
			;
		fprintf(out, "  %s: from ", err_escape(source, sizeof source, of, strlen(of)));
		tell_place(out, g, &v[i], v[i].from);
		fputs(" to ", out);
		tell_place(out, g, &v[j - 1], v[j - 1].to);
		fputc('\n', out);
	}
	mem_free(v);
}

enum { MOST_NAME = 64 };

void case_runs_print(FILE *out, const struct case_runs *x, const struct graph *g,
		     const struct place_rec *answer)
{
	struct case_row row[GRAPH_MAX_CASES];
	uint32_t n = case_runs_rows(x, g, answer, row);
	double weight[GRAPH_MAX_CASES], one[GRAPH_MAX_CASES], each[GRAPH_MAX_CASES];
	char over[CASES_OVER_CAP];
	if (n == 0)
		return;
	int width = 24;
	for (uint32_t i = 0; i < n; i++)
		width = (int)fmin(fmax(width, (double)strlen(row[i].c->name)), MOST_NAME);
	fprintf(out, "\n%-*s %9s %14s %14s %8s  %s\n", width, "case", "weight", "this placement",
		"best for it", "loses", "which is");
	for (uint32_t i = 0; i < n; i++) {
		char name[100], source[100];
		weight[i] = row[i].c->weight;
		one[i] = row[i].answer_s;
		each[i] = row[i].alone_s;
		fprintf(out, "%-*s %9.4g %11.3f ms %11.3f ms %6.1f %%  %s\n", width,
			err_escape(name, sizeof name, row[i].c->name, strlen(row[i].c->name)),
			row[i].c->weight, row[i].answer_s * 1e3, row[i].alone_s * 1e3,
			100 * (row[i].answer_s / row[i].alone_s - 1),
			err_escape(source, sizeof source, row[i].source, strlen(row[i].source)));
	}
	double all = cases_value(g->over, weight, one, n);
	double best = cases_value(g->over, weight, each, n);
	fprintf(out, "%-*s %9s %11.3f ms %11.3f ms %6.1f %%  one for each case\n", width,
		g->over > 0 ? cases_over_name(g->over, over) : "all", "", all * 1e3, best * 1e3,
		100 * (all / best - 1));
	tell_between(out, g);
	tell_ranges(out, x, g);
	if (n == 2 && row[1].c->tokens) {
		fprintf(out,
			"time to first token: %.3f ms; then %.1f tokens a second (with a placement "
			"for each %.3f ms, %.1f)\n",
			row[0].answer_s * 1e3, (double)row[1].c->tokens / row[1].answer_s,
			row[0].alone_s * 1e3, (double)row[1].c->tokens / row[1].alone_s);
		uint64_t bytes = moved_bytes(x, g);
		if (bytes)
			fprintf(out,
				"between the two %.3f MB of caches move once, which is not "
				"counted\n",
				(double)bytes * 1e-6);
	}
}

/* placeout --format cases */
static int write_cases(FILE *out, const struct report_input *in, struct err *e)
{
	struct case_row row[GRAPH_MAX_CASES];
	const struct answer *x = in->x;
	uint32_t n = case_runs_rows(&x->cases, x->graph, &x->place, row);
	if (n == 0)
		return err_set(e, ST_INPUT,
			       "no placement of a model with several lists of shapes has run");
	fputs("case\tweight\ttokens\tanswer_s\tbest_s\tbest\n", out);
	for (uint32_t i = 0; i < n; i++) {
		char name[100], source[100];
		fprintf(out, "%s\t%.9g\t%llu\t%.9g\t%.9g\t%s\n",
			err_escape(name, sizeof name, row[i].c->name, strlen(row[i].c->name)),
			row[i].c->weight, (unsigned long long)row[i].c->tokens, row[i].answer_s,
			row[i].alone_s,
			err_escape(source, sizeof source, row[i].source, strlen(row[i].source)));
	}
	return 0;
}

const struct report_format format_cases = {
	.name = "cases",
	.about = "TSV: of a model with several lists of shapes, what each takes in the\n"
		 "answer, and in the placement that is best for it alone",
	.write = write_cases,
};
