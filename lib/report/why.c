/* why.c - why an operation runs when and where it does. */
#include "report/why.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/waits.h"
#include "text/quantity.h"

enum { MOST = 12, MOST_NAMES = 8, NAME_TEXT = 200 };

struct why {
	struct waits w;
	FILE *out;
};

/* ---- names ---- */

static const char *text_of(const struct graph *g, uint32_t v, char text[NAME_TEXT])
{
	return err_escape(text, NAME_TEXT, g->node_name[v], strlen(g->node_name[v]));
}

/* The node; GRAPH_NONE: there is none, or there are several. */
static uint32_t find(const struct graph *g, const char *name, struct err *e)
{
	char one[NAME_TEXT], text[NAME_TEXT], list[600] = "";
	uint32_t n = 0, found = GRAPH_NONE;
	struct err_near near = {.name = name};
	err_escape(text, sizeof text, name, strlen(name));
	for (uint32_t v = 0; v < g->n; v++) {
		err_offer(&near, g->node_name[v]);
		if (!*name || !strcasestr(g->node_name[v], name))
			continue;
		found = v;
		size_t at = strlen(list);
		if (n++ < MOST_NAMES && at + NAME_TEXT + 8 < sizeof list)
			snprintf(list + at, sizeof list - at, "%s'%s'", at ? ", " : "",
				 text_of(g, v, one));
	}
	if (n == 1)
		return found;
	if (n > 1)
		err_set(e, ST_USAGE, "--why: '%s' is in the names of %u operations: %s%s", text, n,
			list, n > MOST_NAMES ? ", ..." : "");
	else
		err_unknown(e, ST_USAGE, &near, NULL, "--why: there is no operation '%s'", text);
	return GRAPH_NONE;
}

/* ---- text ---- */

/* How what goes between comes. */
static const char *way_text(const struct waits_neighbour *x, bool reads, char how[120])
{
	char size[QUANTITY_CAP] = "", took[QUANTITY_CAP];
	if (x->sized)
		quantity_bytes((double)x->bytes, size);
	switch (x->way) {
	case WAITS_HERE: snprintf(how, 120, "%s", reads ? "made here" : "on this device"); break;
	case WAITS_LIES:
		snprintf(how, 120, "read where it lies%s%s", x->sized ? ", " : "", size);
		break;
	case WAITS_COPIED:
		snprintf(how, 120, "copied, %s in %s", size, quantity_seconds(x->took_s, took));
		break;
	}
	return how;
}

static void write_reason(const struct why *y, uint32_t set, const struct waits_neighbour *last)
{
	const struct waits *w = &y->w;
	char at[QUANTITY_CAP], name[NAME_TEXT], when[QUANTITY_CAP];
	uint32_t before = w->before[set];
	double free_s = before == GRAPH_NONE ? 0 : w->t.run.end_s[before];
	fprintf(y->out, "It starts at %s: ", quantity_seconds(waits_start_s(w, set), at));
	if (before != GRAPH_NONE && (!last || free_s > last->at_s)) {
		fputs("its inputs are there", y->out);
		if (last)
			fprintf(y->out, " at %s", quantity_seconds(last->at_s, when));
		fprintf(y->out, ", and %s is busy with %s until %s.\n",
			w->t.names[w->t.place.device[set]],
			text_of(w->g, w->set_node[w->set_ptr[w->t.run.set[before]]], name),
			quantity_seconds(free_s, at));
	} else if (last) {
		fprintf(y->out, "the last of its inputs, of %s, is there at %s.\n",
			text_of(w->g, last->node, name), quantity_seconds(last->at_s, when));
	} else {
		fputs("it waits for nothing.\n", y->out);
	}
}

static void write_costs(const struct why *y, uint32_t set, uint32_t here)
{
	const struct waits *w = &y->w;
	char text[QUANTITY_CAP];
	uint32_t k = w->in->p->k, fastest = here;
	bool any = false;
	for (uint32_t d = 0; d < k; d++) {
		double s = waits_cost_s(w, set, d), least = waits_cost_s(w, set, fastest);
		any |= !isnan(s);
		if (s >= 0 && !(least >= 0 && least <= s))
			fastest = d;
	}
	if (!any)
		return;
	double own = waits_cost_s(w, set, here), least = waits_cost_s(w, set, fastest);
	if (own >= 0 && own <= least) {
		fputs("No device computes it in less time.\n", y->out);
	} else if (own >= 0) {
		fprintf(y->out, "Alone it would take %s on %s, ", quantity_seconds(least, text),
			w->in->names[fastest]);
		fprintf(y->out, "%s less than here.\n", quantity_seconds(own - least, text));
	}
	fputs("Its times, as the placement was planned with:\n", y->out);
	for (uint32_t d = 0; d < k; d++) {
		double s = waits_cost_s(w, set, d);
		fprintf(y->out, "  %-16s %s", w->in->names[d],
			isnan(s) ? "not told"
			: s < 0  ? "cannot run there, or must not"
				 : quantity_seconds(s, text));
		if (d == here)
			fputs("  here", y->out);
		if (d == here && w->entry[set] != GRAPH_NONE)
			fprintf(y->out, ", in this run %s",
				quantity_seconds(w->end_s[set] - waits_start_s(w, set), text));
		fputc('\n', y->out);
	}
}

static void write_list(const struct why *y, const char *title, const struct waits_neighbour *x,
		       uint32_t n, bool reads)
{
	const struct waits *w = &y->w;
	char how[120], name[NAME_TEXT], at[QUANTITY_CAP];
	if (n == 0)
		return;
	fputs(title, y->out);
	if (n > MOST)
		fprintf(y->out, " (the first %d of %u)", MOST, n);
	fputs(":\n", y->out);
	for (uint32_t i = 0; i < n && i < MOST; i++)
		fprintf(y->out, "  %s, on %s, %s %s, %s\n", text_of(w->g, x[i].node, name),
			w->t.names[w->t.place.device[x[i].set]], reads ? "there at" : "starts at",
			quantity_seconds(reads ? x[i].at_s : waits_start_s(w, x[i].set), at),
			way_text(&x[i], reads, how));
}

static void write_members(const struct why *y, uint32_t v)
{
	const struct graph *g = y->w.g;
	char name[NAME_TEXT];
	uint32_t n = 0;
	for (uint32_t u = 0; u < g->n; u++)
		n += u != v && g->set[u] == g->set[v];
	if (n == 0)
		return;
	fprintf(y->out, "One set with %u more, which share its device: ", n);
	n = 0;
	for (uint32_t u = 0; u < g->n && n <= MOST_NAMES; u++)
		if (u != v && g->set[u] == g->set[v]) {
			fprintf(y->out, "%s%s", n ? ", " : "",
				n < MOST_NAMES ? text_of(g, u, name) : "...");
			n++;
		}
	fputs(".\n", y->out);
}

static void explain(struct why *y, uint32_t v)
{
	struct waits *w = &y->w;
	const struct report_input *in = w->in;
	const struct graph *g = w->g;
	char name[NAME_TEXT], type[NAME_TEXT];
	uint32_t set = g->set[v];
	fprintf(y->out, "%s (%s), on %s\n", text_of(g, v, name),
		err_escape(type, sizeof type, g->type[v], strlen(g->type[v])),
		in->names[in->p->node_device[v]]);
	if (set == GRAPH_NONE || in->constant[v]) {
		fputs("It is a constant, and where it is read.\n", y->out);
		return;
	}
	write_members(y, v);
	if (w->entry[set] == GRAPH_NONE && w->has_schedule)
		fputs("It computes nothing.\n", y->out);
	struct waits_neighbour *from = NULL, *to = NULL;
	uint32_t n_from = 0, n_to = 0;
	if (w->entry[set] != GRAPH_NONE) {
		n_from = waits_neighbours(w, v, true, &from);
		n_to = waits_neighbours(w, v, false, &to);
		write_reason(y, set, n_from ? from : NULL);
	}
	write_costs(y, set, in->x->place.device[set]);
	write_list(y, "It waits for", from, n_from, true);
	write_list(y, "What waits for it", to, n_to, false);
	if (w->of_another)
		fputs("What it waits for is not told: the last run with a schedule is of another "
		      "placement.\n",
		      y->out);
	else if (!w->has_schedule)
		fputs("What it waits for is not told: devsim --schedule and devrun --schedule tell "
		      "it.\n",
		      y->out);
}

/* Is v called so, or a part of what was? */
static bool is_called(const struct graph *g, uint32_t v, const char *name)
{
	if (strcmp(g->node_name[v], name) == 0)
		return true;
	return g->whole && g->part_of && g->part_of[v] != GRAPH_NONE &&
	       strcmp(g->whole->node_name[g->part_of[v]], name) == 0;
}

int why_write(FILE *out, const struct report_input *in, const char *name, struct err *e)
{
	const struct graph *g = in->x->graph;
	struct why y = {.out = out};
	uint32_t n = 0;
	if (waits_open(&y.w, in, e) < 0)
		return -1;
	for (uint32_t v = 0; v < g->n; v++)
		if (is_called(g, v, name)) {
			fputs(n++ ? "\n" : "", out);
			explain(&y, v);
		}
	uint32_t v = n ? 0 : find(g, name, e);
	if (v == GRAPH_NONE)
		return -1;
	if (n == 0)
		explain(&y, v);
	return 0;
}
