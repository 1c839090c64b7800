/* cases.c - one placement for several lists of shapes, beside one for each. */
#include "report/cases.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "graph/case_value.h"
#include "report/answer.h"
#include "report/format.h"

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
