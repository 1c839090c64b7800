/* pagedata.c - numbers and names for the page's script. */
#include "report/html/pagedata.h"

#include <inttypes.h>
#include <string.h>

#include "graph/segment.h"
#include "report/history.h"
#include "report/placecheck.h"
#include "report/schedule_arrows.h"
#include "report/trace.h"

/* s as a JSON string in which nothing can end a <script>. */
static void put_string(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&')
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void put_strings(FILE *out, const char *key, const char *const *s, size_t n)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? "," : "", out);
		put_string(out, s[i]);
	}
	fputc(']', out);
}

/* An index, -1 for GRAPH_NONE. */
static void put_index(FILE *out, bool first, uint32_t x)
{
	fputs(first ? "" : ",", out);
	x == GRAPH_NONE ? fputs("-1", out) : fprintf(out, "%" PRIu32, x);
}

static void put_indices(FILE *out, const char *key, const uint32_t *x, size_t n)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++)
		put_index(out, i == 0, x[i]);
	fputc(']', out);
}

/* Seconds, as microseconds. */
static void put_times(FILE *out, const char *key, const double *x, size_t n)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%.3f", i ? "," : "", x[i] * 1e6);
	fputc(']', out);
}

/* ---- operations ---- */

/* The nodes that are shown. */
struct shown {
	uint32_t n;
	uint32_t *node; /* (n) */
	uint32_t *row;  /* (graph n) its place in node; GRAPH_NONE: not shown */
};

static struct shown choose_nodes(const struct report_input *in, struct arena *a)
{
	const struct graph *g = in->x->graph;
	struct shown x = {.node = ARENA_NEWN(a, uint32_t, g->n),
			  .row = ARENA_NEWN(a, uint32_t, g->n)};
	for (uint32_t v = 0; v < g->n; v++) {
		x.row[v] = in->constant[v] ? GRAPH_NONE : x.n;
		if (!in->constant[v])
			x.node[x.n++] = v;
	}
	return x;
}

/* Types are interned: equal ones are equal pointers.  Index of each node's into the distinct ones. */
static void put_types(FILE *out, const struct graph *g, const struct shown *x, uint32_t *type,
		      struct arena *a)
{
	const char **name = ARENA_NEWN(a, const char *, x->n);
	uint32_t n = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		const char *t = g->type[x->node[i]];
		uint32_t j = 0;
		while (j < n && name[j] != t)
			j++;
		if (j == n)
			name[n++] = t;
		type[i] = j;
	}
	put_strings(out, "types", name, n);
}

static void put_edges(FILE *out, const struct graph *g, const struct shown *x, struct arena *a)
{
	uint32_t *seen = ARENA_NEWN(a, uint32_t, (size_t)x->n + 1); /* last reader + 1 */
	bool first = true;
	fputs("\"edges\":[", out);
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t v = x->node[i];
		for (uint32_t j = g->in_ptr[v]; j < g->in_ptr[v + 1]; j++) {
			uint32_t u =
				g->in_node[j] == GRAPH_NONE ? GRAPH_NONE : x->row[g->in_node[j]];
			if (u == GRAPH_NONE || seen[u] == i + 1)
				continue;
			seen[u] = i + 1;
			put_index(out, first, u);
			put_index(out, false, i);
			first = false;
		}
	}
	fputc(']', out);
}

static void put_graph(FILE *out, const struct report_input *in, const struct shown *x,
		      struct arena *a)
{
	const struct graph *g = in->x->graph;
	uint16_t *device = ARENA_NEWN(a, uint16_t, g->n);
	uint32_t *column = ARENA_NEWN(a, uint32_t, x->n);
	const char **name = ARENA_NEWN(a, const char *, x->n);
	struct segments segments;
	placecheck_devices(g, in->p, in->constant, device);
	segments_of_graph(g, device, false, a, &segments);
	put_types(out, g, x, column, a);
	fputs(",\n\"nodes\":{", out);
	put_indices(out, "type", column, x->n);
	for (uint32_t i = 0; i < x->n; i++) {
		uint16_t d = device[x->node[i]];
		name[i] = g->node_name[x->node[i]];
		column[i] = d == SEGMENT_NOWHERE ? GRAPH_NONE : d;
	}
	fputs(",\n", out);
	put_strings(out, "name", name, x->n);
	fputs(",\n", out);
	put_indices(out, "device", column, x->n);
	for (uint32_t i = 0; i < x->n; i++)
		column[i] = segments.of[x->node[i]];
	fputs(",\n", out);
	put_indices(out, "segment", column, x->n);
	for (uint32_t i = 0; i < x->n; i++)
		column[i] = g->set[x->node[i]];
	fputs(",\n", out);
	put_indices(out, "set", column, x->n);
	fputs("},\n", out);
	put_edges(out, g, x, a);
}

/* ---- the schedule ---- */

/* The node that a set goes by: its last that is shown and reads something, for what follows the main
 * operation in a set is small. */
static uint32_t *titles(const struct graph *g, const struct shown *x, struct arena *a)
{
	uint32_t *of = ARENA_NEWN(a, uint32_t, (size_t)g->n_sets + 1);
	for (uint32_t s = 0; s < g->n_sets; s++)
		of[s] = GRAPH_NONE;
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t v = x->node[i], s = g->set[v];
		if (s != GRAPH_NONE && of[s] == GRAPH_NONE && g->in_ptr[v + 1] > g->in_ptr[v])
			of[s] = i;
	}
	return of;
}

static void put_copies(FILE *out, const struct graph *g, const struct run_schedule *s,
		       const struct place_rec *p, uint32_t *column, struct arena *a)
{
	const struct schedule_arrows arrows = schedule_arrows(g, s, p, a);
	fputs("\"copies\":{", out);
	for (uint32_t i = 0; i < s->n_copies; i++)
		column[i] = s->copy_src[i];
	put_indices(out, "source", column, s->n_copies);
	for (uint32_t i = 0; i < s->n_copies; i++)
		column[i] = s->copy_dst[i];
	fputs(",\n", out);
	put_indices(out, "target", column, s->n_copies);
	fputs(",\n\"bytes\":[", out);
	for (uint32_t i = 0; i < s->n_copies; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", s->copy_bytes[i]);
	fputs("],\n", out);
	put_times(out, "start", s->copy_start_s, s->n_copies);
	fputs(",\n", out);
	put_times(out, "end", s->copy_end_s, s->n_copies);
	fputs(",\n", out);
	put_indices(out, "from", arrows.from, s->n_copies);
	fputs(",\n", out);
	put_indices(out, "to", arrows.to, s->n_copies);
	fputc('}', out);
}

static int put_schedule(FILE *out, const struct report_input *in, const struct shown *x,
			struct arena *a, struct err *e)
{
	const struct graph *g = in->x->graph;
	struct traced t;
	fputs("\"schedule\":", out);
	if (!in->trace->run) {
		fputs("null", out);
		return 0;
	}
	if (trace_read(in->trace, g, NULL, a, &t, e) < 0)
		return -1;
	const struct run_schedule s = t.run;
	const struct place_rec p = t.place;
	uint32_t *of = titles(g, x, a);
	uint32_t *column = ARENA_NEWN(a, uint32_t, s.n > s.n_copies ? s.n : s.n_copies);
	for (uint32_t i = 0; i < s.n; i++)
		column[i] = of[s.set[i]];
	fputc('{', out);
	put_indices(out, "node", column, s.n);
	for (uint32_t i = 0; i < s.n; i++)
		column[i] = p.device[s.set[i]];
	fputs(",\n", out);
	put_indices(out, "device", column, s.n);
	fputs(",\n", out);
	put_times(out, "start", s.start_s, s.n);
	fputs(",\n", out);
	put_times(out, "end", s.end_s, s.n);
	fputs(",\n", out);
	put_copies(out, g, &s, &p, column, a);
	fputc('}', out);
	return 0;
}

/* ---- the search ---- */

static void put_curve(FILE *out, const struct history *h, struct arena *a)
{
	uint32_t *episode = ARENA_NEWN(a, uint32_t, h->n_updates);
	double *mean_s = ARENA_NEWN(a, double, h->n_updates);
	double *best_s = ARENA_NEWN(a, double, h->n_updates);
	size_t n = 0;
	for (size_t i = 0; i < h->n_updates; i++)
		if (h->update[i].ok > 0) {
			episode[n] = h->update[i].episode;
			mean_s[n] = h->update[i].mean_s;
			best_s[n++] = h->update[i].best_s;
		}
	fputs("\"curve\":{", out);
	put_indices(out, "episode", episode, n);
	fputc(',', out);
	put_times(out, "mean", mean_s, n);
	fputc(',', out);
	put_times(out, "best", best_s, n);
	fputc('}', out);
}

static void put_runs(FILE *out, const struct search_curve *c)
{
	fputs(",\n\"runs\":{", out);
	put_times(out, "at", c ? c->at_s : NULL, c ? c->n : 0);
	fputc(',', out);
	put_times(out, "time", c ? c->lat_s : NULL, c ? c->n : 0);
	fputc('}', out);
}

int pagedata_write(FILE *out, const struct report_input *in, struct err *e)
{
	struct arena *a = arena_new();
	const struct answer *x = in->x;
	const struct shown shown = choose_nodes(in, a);
	fputc('{', out);
	put_strings(out, "devices", in->names, in->p->k);
	fputs(",\n", out);
	put_graph(out, in, &shown, a);
	fputs(",\n", out);
	int rc = put_schedule(out, in, &shown, a, e);
	fputs(",\n", out);
	put_curve(out, in->history, a);
	put_runs(out, in->curve);
	fprintf(out, ",\n\"reference\":%.3f,\"answer\":%.3f}\n", x->m.ref_s * 1e6,
		x->m.lat_s * 1e6);
	arena_free(a);
	return rc;
}
