/* pagedata.c - numbers and names for the page's script. */
#include "report/html/pagedata.h"

#include <inttypes.h>
#include <string.h>

#include "report/history.h"
#include "report/html/pagejson.h"
#include "report/html/pageplacements.h"

/* ---- operations ---- */

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
	pagejson_strings(out, "types", name, n);
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
			pagejson_index(out, first, u);
			pagejson_index(out, false, i);
			first = false;
		}
	}
	fputc(']', out);
}

static void put_graph(FILE *out, const struct report_input *in, const struct shown *x,
		      struct arena *a)
{
	const struct graph *g = in->x->graph;
	uint32_t *column = ARENA_NEWN(a, uint32_t, x->n);
	const char **name = ARENA_NEWN(a, const char *, x->n);
	put_types(out, g, x, column, a);
	fputs(",\n\"nodes\":{", out);
	pagejson_indices(out, "type", column, x->n);
	for (uint32_t i = 0; i < x->n; i++) {
		name[i] = g->node_name[x->node[i]];
		column[i] = g->set[x->node[i]];
	}
	fputs(",\n", out);
	pagejson_strings(out, "name", name, x->n);
	fputs(",\n", out);
	pagejson_indices(out, "set", column, x->n);
	fputs(",\n", out);
	pageplacements_nodes(out, in, x, in->p, a);
	fputs("},\n", out);
	put_edges(out, g, x, a);
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
	pagejson_indices(out, "episode", episode, n);
	fputc(',', out);
	pagejson_times(out, "mean", mean_s, n);
	fputc(',', out);
	pagejson_times(out, "best", best_s, n);
	fputc('}', out);
}

static void put_runs(FILE *out, const struct search_curve *c)
{
	fputs(",\n\"runs\":{", out);
	pagejson_times(out, "at", c ? c->at_s : NULL, c ? c->n : 0);
	fputc(',', out);
	pagejson_times(out, "time", c ? c->lat_s : NULL, c ? c->n : 0);
	fputc('}', out);
}

int pagedata_write(FILE *out, const struct report_input *in, struct err *e)
{
	struct arena *a = arena_new();
	const struct answer *x = in->x;
	const struct shown shown = shown_nodes(in, a);
	fputc('{', out);
	pagejson_strings(out, "devices", in->names, in->p->k);
	fprintf(out, ",\n\"named\":%s,\n", x->graph->ir_version ? "false" : "true");
	put_graph(out, in, &shown, a);
	fputs(",\n", out);
	int rc = pageplacements_schedule(out, in, &shown, a, e);
	fputs(",\n", out);
	if (rc == 0)
		rc = pageplacements_others(out, in, &shown, a, e);
	fputs(",\n", out);
	pageplacements_cost(out, in);
	fputs(",\n", out);
	put_curve(out, in->history, a);
	put_runs(out, in->curve);
	fprintf(out, ",\n\"simulated\":%s,\"reference\":%.3f,\"answer\":%.3f}\n",
		x->simulated ? "true" : "false", x->m.ref_s * 1e6, x->m.lat_s * 1e6);
	arena_free(a);
	return rc;
}
