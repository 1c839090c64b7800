/* why.c - why an operation runs when and where it does. */
#include "report/why.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/trace.h"
#include "text/quantity.h"

enum { MOST = 12, MOST_NAMES = 8, NAME_TEXT = 200 };

struct why {
	const struct report_input *in;
	const struct graph *g;
	FILE *out;
	struct traced t;
	bool has_schedule, of_another; /* the schedule is not the answer's, and not told */
	uint32_t *entry; /* (n_sets) the first entry of a set; GRAPH_NONE: it has no step */
	double *end_s;   /* (n_sets) when the last of them ends */
	struct arena *a;
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

/* ---- the schedule ---- */

/* Is the schedule of a placement on the devices of the answer, and the same there? */
static bool is_of_answer(const struct why *w)
{
	const struct place_rec *own = &w->in->x->place, *p = &w->t.place;
	if (p->k != own->k || p->n_sets != own->n_sets ||
	    memcmp(p->device, own->device, p->n_sets * sizeof *p->device) != 0)
		return false;
	for (uint32_t d = 0; d < p->k; d++)
		if (strcmp(p->names[d], own->names[d]) != 0)
			return false;
	return true;
}

static int open_schedule(struct why *w, struct err *e)
{
	const struct trace *t = w->in->trace;
	w->entry = memset(arena_raw(w->a, w->g->n_sets, sizeof *w->entry), 0xff,
			  w->g->n_sets * sizeof *w->entry);
	w->end_s = ARENA_NEWN(w->a, double, w->g->n_sets);
	if (!t->run)
		return 0;
	if (trace_read(t, w->g, w->in->map, w->a, &w->t, e) < 0)
		return -1;
	w->of_another = !is_of_answer(w);
	if (w->of_another)
		return 0;
	w->has_schedule = true;
	const struct run_schedule *s = &w->t.run;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t *at = &w->entry[s->set[i]];
		if (*at == GRAPH_NONE || s->start_s[i] < s->start_s[*at])
			*at = i;
		w->end_s[s->set[i]] = fmax(w->end_s[s->set[i]], s->end_s[i]);
	}
	return 0;
}

static double start_of(const struct why *w, uint32_t set)
{
	return w->t.run.start_s[w->entry[set]];
}

/* A set that reads, or is read, and by which node; when what goes between is there. */
struct neighbour {
	uint32_t set, node;
	double at_s, order_s;
	char how[120];
};

/* When what set `from` makes is where set `to` is. */
static double arrival(const struct why *w, uint32_t from, uint32_t to, bool reads, char how[120])
{
	const struct run_schedule *s = &w->t.run;
	const uint16_t *device = w->t.place.device;
	char size[QUANTITY_CAP], took[QUANTITY_CAP];
	uint32_t best = GRAPH_NONE;
	if (device[from] == device[to]) {
		snprintf(how, 120, "%s", reads ? "made here" : "on this device");
		return w->end_s[from];
	}
	for (uint32_t c = 0; c < s->n_copies; c++)
		if (s->copy_set[c] == from && s->copy_dst[c] == device[to] &&
		    (best == GRAPH_NONE || s->copy_start_s[c] < s->copy_start_s[best]))
			best = c;
	if (best == GRAPH_NONE) {
		snprintf(how, 120, "read where it lies");
		return w->end_s[from];
	}
	quantity_bytes((double)s->copy_bytes[best], size);
	if (s->copy_end_s[best] <= s->copy_start_s[best])
		snprintf(how, 120, "read where it lies, %s", size);
	else
		snprintf(how, 120, "copied, %s in %s", size,
			 quantity_seconds(s->copy_end_s[best] - s->copy_start_s[best], took));
	return s->copy_end_s[best];
}

/* Nodes that v reads, or that read v: their number, and the i-th. */
static uint32_t n_ends(const struct graph *g, uint32_t v, bool reads)
{
	return reads ? g->in_ptr[v + 1] - g->in_ptr[v]
		     : g->consumers.ptr[v + 1] - g->consumers.ptr[v];
}

static uint32_t end_at(const struct graph *g, uint32_t v, bool reads, uint32_t i)
{
	return reads ? g->in_node[g->in_ptr[v] + i] : g->consumers.dst[g->consumers.ptr[v] + i];
}

static struct neighbour make_neighbour(const struct why *w, uint32_t own, uint32_t node, bool reads)
{
	struct neighbour x = {.set = w->g->set[node], .node = node};
	x.at_s = reads ? arrival(w, x.set, own, true, x.how) : arrival(w, own, x.set, false, x.how);
	x.order_s = reads ? -x.at_s : start_of(w, x.set);
	return x;
}

static int in_order(const void *pa, const void *pb)
{
	const struct neighbour *a = pa, *b = pb;
	if (a->order_s != b->order_s)
		return a->order_s < b->order_s ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* Sets with a step that the set of v reads from (the last that is there first), or that read from it (the first that starts first); what has no
 * step is looked through. */
static uint32_t neighbours(const struct why *w, uint32_t v, bool reads, struct neighbour **out)
{
	const struct graph *g = w->g;
	uint32_t own = g->set[v], n = 0, left = 0;
	bool *seen = ARENA_NEWN(w->a, bool, g->n), *found = ARENA_NEWN(w->a, bool, g->n_sets);
	uint32_t *todo = ARENA_NEWN(w->a, uint32_t, g->n);
	*out = ARENA_NEWN(w->a, struct neighbour, g->n_sets);
	for (uint32_t u = 0; u < g->n; u++)
		if (u == v || (own != GRAPH_NONE && g->set[u] == own)) {
			seen[u] = true;
			todo[left++] = u;
		}
	while (left) {
		uint32_t u = todo[--left];
		for (uint32_t i = 0; i < n_ends(g, u, reads); i++) {
			uint32_t x = end_at(g, u, reads, i);
			if (x == GRAPH_NONE || seen[x] || w->in->constant[x])
				continue;
			uint32_t set = g->set[x];
			seen[x] = true;
			if (set == GRAPH_NONE || w->entry[set] == GRAPH_NONE)
				todo[left++] = x;
			else if (!found[set])
				(*out)[n++] = make_neighbour(w, own, x, reads);
			if (set != GRAPH_NONE)
				found[set] = true;
		}
	}
	if (n)
		qsort(*out, n, sizeof **out, in_order);
	return n;
}

/* The set that its device ran before; GRAPH_NONE: none. */
static uint32_t before(const struct why *w, uint32_t set)
{
	const struct run_schedule *s = &w->t.run;
	const uint16_t *device = w->t.place.device;
	uint32_t best = GRAPH_NONE;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->set[i] != set && device[s->set[i]] == device[set] &&
		    s->start_s[i] < start_of(w, set) &&
		    (best == GRAPH_NONE || s->end_s[i] > s->end_s[best]))
			best = i;
	return best;
}

/* ---- text ---- */

static uint32_t node_of_set(const struct graph *g, uint32_t set)
{
	uint32_t v = 0;
	while (g->set[v] != set)
		v++;
	return v;
}

static void write_reason(const struct why *w, uint32_t set, const struct neighbour *last)
{
	char at[QUANTITY_CAP], name[NAME_TEXT], when[QUANTITY_CAP];
	uint32_t i = before(w, set);
	double free_s = i == GRAPH_NONE ? 0 : w->t.run.end_s[i];
	fprintf(w->out, "It starts at %s: ", quantity_seconds(start_of(w, set), at));
	if (i != GRAPH_NONE && (!last || free_s > last->at_s)) {
		fputs("its inputs are there", w->out);
		if (last)
			fprintf(w->out, " at %s", quantity_seconds(last->at_s, when));
		fprintf(w->out, ", and %s is busy with %s until %s.\n",
			w->t.names[w->t.place.device[set]],
			text_of(w->g, node_of_set(w->g, w->t.run.set[i]), name),
			quantity_seconds(free_s, at));
	} else if (last) {
		fprintf(w->out, "the last of its inputs, of %s, is there at %s.\n",
			text_of(w->g, last->node, name), quantity_seconds(last->at_s, when));
	} else {
		fputs("it waits for nothing.\n", w->out);
	}
}

/* Seconds of a set on device d, as costs have them; NAN: not told. */
static double cost_on(const struct why *w, uint32_t set, uint32_t d)
{
	const struct cost_rec *c = w->in->cost;
	uint32_t at = 0;
	while (c && at < c->k && strcmp(c->names[at], w->in->x->place.names[d]) != 0)
		at++;
	return c && at < c->k ? c->set_s[(size_t)set * c->k + at] : NAN;
}

static void write_costs(const struct why *w, uint32_t set, uint32_t here)
{
	char text[QUANTITY_CAP];
	uint32_t k = w->in->p->k, fastest = here;
	bool any = false;
	for (uint32_t d = 0; d < k; d++) {
		double s = cost_on(w, set, d), least = cost_on(w, set, fastest);
		any |= !isnan(s);
		if (s >= 0 && !(least >= 0 && least <= s))
			fastest = d;
	}
	if (!any)
		return;
	double own = cost_on(w, set, here), least = cost_on(w, set, fastest);
	if (own >= 0 && own <= least) {
		fputs("No device computes it in less time.\n", w->out);
	} else if (own >= 0) {
		fprintf(w->out, "Alone it would take %s on %s, ", quantity_seconds(least, text),
			w->in->names[fastest]);
		fprintf(w->out, "%s less than here.\n", quantity_seconds(own - least, text));
	}
	fputs("Its times, as the placement was planned with:\n", w->out);
	for (uint32_t d = 0; d < k; d++) {
		double s = cost_on(w, set, d);
		fprintf(w->out, "  %-16s %s", w->in->names[d],
			isnan(s) ? "not told"
			: s < 0  ? "cannot run there, or must not"
				 : quantity_seconds(s, text));
		if (d == here)
			fputs("  here", w->out);
		if (d == here && w->entry[set] != GRAPH_NONE)
			fprintf(w->out, ", in this run %s",
				quantity_seconds(w->end_s[set] - start_of(w, set), text));
		fputc('\n', w->out);
	}
}

static void write_list(const struct why *w, const char *title, const struct neighbour *x,
		       uint32_t n, bool reads)
{
	char name[NAME_TEXT], at[QUANTITY_CAP];
	if (n == 0)
		return;
	fputs(title, w->out);
	if (n > MOST)
		fprintf(w->out, " (the first %d of %u)", MOST, n);
	fputs(":\n", w->out);
	for (uint32_t i = 0; i < n && i < MOST; i++)
		fprintf(w->out, "  %s, on %s, %s %s, %s\n", text_of(w->g, x[i].node, name),
			w->t.names[w->t.place.device[x[i].set]], reads ? "there at" : "starts at",
			quantity_seconds(reads ? x[i].at_s : start_of(w, x[i].set), at), x[i].how);
}

static void write_members(const struct why *w, uint32_t v)
{
	const struct graph *g = w->g;
	char name[NAME_TEXT];
	uint32_t n = 0;
	for (uint32_t u = 0; u < g->n; u++)
		n += u != v && g->set[u] == g->set[v];
	if (n == 0)
		return;
	fprintf(w->out, "One set with %u more, which share its device: ", n);
	n = 0;
	for (uint32_t u = 0; u < g->n && n <= MOST_NAMES; u++)
		if (u != v && g->set[u] == g->set[v]) {
			fprintf(w->out, "%s%s", n ? ", " : "",
				n < MOST_NAMES ? text_of(g, u, name) : "...");
			n++;
		}
	fputs(".\n", w->out);
}

static void explain(struct why *w, uint32_t v)
{
	const struct report_input *in = w->in;
	const struct graph *g = w->g;
	char name[NAME_TEXT], type[NAME_TEXT];
	uint32_t set = g->set[v];
	fprintf(w->out, "%s (%s), on %s\n", text_of(g, v, name),
		err_escape(type, sizeof type, g->type[v], strlen(g->type[v])),
		in->names[in->p->node_device[v]]);
	if (set == GRAPH_NONE || in->constant[v]) {
		fputs("It is a constant, and where it is read.\n", w->out);
		return;
	}
	write_members(w, v);
	if (w->entry[set] == GRAPH_NONE && w->has_schedule)
		fputs("It computes nothing.\n", w->out);
	struct neighbour *from = NULL, *to = NULL;
	uint32_t n_from = 0, n_to = 0;
	if (w->entry[set] != GRAPH_NONE) {
		n_from = neighbours(w, v, true, &from);
		n_to = neighbours(w, v, false, &to);
		write_reason(w, set, n_from ? from : NULL);
	}
	write_costs(w, set, in->x->place.device[set]);
	write_list(w, "It waits for", from, n_from, true);
	write_list(w, "What waits for it", to, n_to, false);
	if (w->of_another)
		fputs("What it waits for is not told: the last run with a schedule is of another "
		      "placement.\n",
		      w->out);
	else if (!w->has_schedule)
		fputs("What it waits for is not told: devsim --schedule and devrun --schedule tell "
		      "it.\n",
		      w->out);
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
	struct why w = {.in = in, .g = g, .out = out, .a = in->x->arena};
	uint32_t n = 0;
	if (open_schedule(&w, e) < 0)
		return -1;
	for (uint32_t v = 0; v < g->n; v++)
		if (is_called(g, v, name)) {
			fputs(n++ ? "\n" : "", out);
			explain(&w, v);
		}
	uint32_t v = n ? 0 : find(g, name, e);
	if (v == GRAPH_NONE)
		return -1;
	if (n == 0)
		explain(&w, v);
	return 0;
}
