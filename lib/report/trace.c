/* trace.c - schedules as Chrome trace events. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/trace.h"
#include "report/devicemap.h"
#include "report/format.h"
#include "report/schedule_arrows.h"
#include "stream/json.h"

enum { MAX_NODES = 16 }; /* names of a set's nodes that an event lists */

/* ---- which run ---- */

static int keep(struct rec **to, const struct rec *r, struct err *e)
{
	struct rec *kept = rec_keep(r);

	if (!kept)
		return err_set(e, ST_RUNTIME, "no memory for a %s record", r->kind);
	rec_drop(*to);
	*to = kept;
	return 0;
}

int trace_take(struct trace *t, const struct rec *r, struct err *e)
{
	bool place = rec_is(r, "place"), best = rec_is(r, "best"), told = run_has_schedule(r);

	if (!place && !(told && (best || rec_is(r, "run"))))
		return 0;
	if (((place || best) && keep(&t->place, r, e) < 0) || (!place && keep(&t->run, r, e) < 0))
		return -1;
	return 0;
}

void trace_release(struct trace *t)
{
	rec_drop(t->place);
	rec_drop(t->run);
	*t = (struct trace){0};
}

int trace_read(const struct trace *t, const struct graph *g, const char *map, struct arena *a,
	       struct traced *out, struct err *e)
{
	struct place_rec *p = &out->place;
	if (!t->run)
		return err_set(
			e, ST_INPUT,
			"no run with a schedule; devrun --schedule and devsim --schedule tell it");
	if (!t->place || !rollout_id_same(t->place, t->run))
		return err_set(e, ST_INPUT,
			       "the last run with a schedule is not that of the last placement");
	if (place_decode(t->place, g->n_sets, PLACE_BOUND, a, p, e) < 0)
		return err_prefix(e, "place record %llu", (unsigned long long)t->place->index);
	const char **names = arena_raw(a, p->k, sizeof *names);
	memcpy(names, p->names, p->k * sizeof *names);
	if (map && devicemap_rename(map, p->k, names, a, e) < 0)
		return -1;
	out->names = names;
	if (run_decode_schedule(t->run, a, &out->run, e) < 0)
		return -1;
	return schedule_check(&out->run, p, e);
}

/* ---- events ---- */

struct writer {
	FILE *out;
	const struct graph *g;
	const char *const *names;
	bool more; /* an event has been written */
};

static void text(struct writer *w, const char *s)
{
	json_string(w->out, s, strlen(s));
}

static void begin(struct writer *w)
{
	fputs(w->more ? ",\n" : "\n", w->out);
	w->more = true;
}

static void row_name(struct writer *w, uint32_t row, const char *name)
{
	begin(w);
	fprintf(w->out,
		"{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": %u, "
		"\"args\": {\"name\": ",
		row);
	text(w, name);
	fputs("}}", w->out);
	begin(w);
	fprintf(w->out,
		"{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": 1, \"tid\": %u, "
		"\"args\": {\"sort_index\": %u}}",
		row, row);
}

/* Times are whole picoseconds, written as microseconds: what ends as another begins does so in
 * the text, too. */
#define MICROSECONDS "%" PRId64 ".%06" PRId64

static int64_t picoseconds(double s)
{
	return !(s > 0) ? 0 : s < 9e6 ? llround(s * 1e12) : (int64_t)9e18;
}

static void event(struct writer *w, uint32_t row, double start_s, double end_s, const char *name,
		  const char *category)
{
	int64_t start = picoseconds(start_s), dur = picoseconds(end_s) - start;

	begin(w);
	fprintf(w->out,
		"{\"ph\": \"X\", \"pid\": 1, \"tid\": %u, \"ts\": " MICROSECONDS
		", \"dur\": " MICROSECONDS ", \"name\": ",
		row, start / 1000000, start % 1000000, dur / 1000000, dur % 1000000);
	text(w, name);
	fputs(", \"cat\": ", w->out);
	text(w, category);
	fputs(", \"args\": {", w->out);
}

/* Nodes by set: node[ptr[s]] .. are those of set s. */
struct members {
	uint32_t *ptr, *node;
};

static void find_members(const struct graph *g, struct arena *a, struct members *m)
{
	m->ptr = ARENA_NEWN(a, uint32_t, (size_t)g->n_sets + 2);
	m->node = ARENA_NEWN(a, uint32_t, g->n);
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE)
			m->ptr[g->set[v] + 2]++;
	for (uint32_t s = 0; s < g->n_sets; s++)
		m->ptr[s + 2] += m->ptr[s + 1];
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE)
			m->node[m->ptr[g->set[v] + 1]++] = v;
}

/* The node that a set goes by: the first that computes something from something. */
static uint32_t title(const struct graph *g, const struct members *m, uint32_t set)
{
	for (uint32_t i = m->ptr[set]; i < m->ptr[set + 1]; i++)
		if (g->in_ptr[m->node[i] + 1] > g->in_ptr[m->node[i]])
			return m->node[i];
	return m->node[m->ptr[set]];
}

static void set_event(struct writer *w, const struct members *m, uint32_t set, uint32_t row,
		      double start_s, double end_s)
{
	uint32_t v = title(w->g, m, set), n = m->ptr[set + 1] - m->ptr[set];

	event(w, row, start_s, end_s, w->g->node_name[v], w->g->type[v]);
	fprintf(w->out, "\"set\": %u, \"type\": ", set);
	text(w, w->g->type[v]);
	fprintf(w->out, ", \"n_nodes\": %u, \"nodes\": [", n);
	for (uint32_t i = 0; i < n && i < MAX_NODES; i++) {
		fputs(i ? ", " : "", w->out);
		text(w, w->g->node_name[m->node[m->ptr[set] + i]]);
	}
	fputs("]}}", w->out);
}

/* ---- the schedule of the record ---- */

static void write_sets(struct writer *w, const struct run_schedule *s, const struct members *m,
		       const struct place_rec *p)
{
	for (uint32_t i = 0; i < s->n; i++)
		set_event(w, m, s->set[i], p->device[s->set[i]], s->start_s[i], s->end_s[i]);
}

/* Rows in which copies of one link do not overlap. */
struct lanes {
	uint32_t n;
	uint32_t *link; /* (n) src * k + dst */
	double *free_s; /* (n) */
};

static uint32_t lane_for(struct writer *w, struct lanes *l, const struct place_rec *p,
			 uint32_t link, double start_s, double end_s)
{
	char name[200];
	uint32_t i = 0;

	while (i < l->n && (l->link[i] != link || l->free_s[i] > start_s))
		i++;
	if (i == l->n) {
		snprintf(name, sizeof(name), "%.90s to %.90s", w->names[link / p->k],
			 w->names[link % p->k]);
		row_name(w, p->k + i, name);
		l->link[l->n++] = link;
	}
	l->free_s[i] = end_s;
	return p->k + i;
}

/* One end of a flow, inside the event at [start_s, end_s]. */
static void flow_end(struct writer *w, bool first, uint32_t id, uint32_t row, double at_s)
{
	int64_t at = picoseconds(at_s);

	begin(w);
	fprintf(w->out,
		"{\"ph\": \"%s\", \"name\": \"copy\", \"cat\": \"copy\", \"id\": %u, "
		"\"pid\": 1, \"tid\": %u, \"ts\": " MICROSECONDS "}",
		first ? "s" : "f\", \"bp\": \"e", id, row, at / 1000000, at % 1000000);
}

/* An arrow for each copy from the set that made the tensor to the first that reads it there. */
static void write_flows(struct writer *w, const struct run_schedule *s, const struct place_rec *p,
			struct arena *a)
{
	const struct schedule_arrows x = schedule_arrows(w->g, s, p, a);

	for (uint32_t i = 0; i < s->n_copies; i++) {
		uint32_t from = x.from[i], to = x.to[i];

		if (from == GRAPH_NONE || to == GRAPH_NONE)
			continue;
		double in = 0.001 * (s->end_s[from] - s->start_s[from]);

		flow_end(w, true, i, p->device[s->set[from]], s->end_s[from] - in);
		flow_end(w, false, i, p->device[s->set[to]], s->start_s[to]);
	}
}

static void write_copies(struct writer *w, const struct run_schedule *s, const struct members *m,
			 const struct place_rec *p, struct arena *a)
{
	struct lanes l = {.link = ARENA_NEWN(a, uint32_t, s->n_copies),
			  .free_s = ARENA_NEWN(a, double, s->n_copies)};

	for (uint32_t i = 0; i < s->n_copies; i++) {
		uint32_t set = s->copy_set[i], src = s->copy_src[i], dst = s->copy_dst[i];
		double start_s = s->copy_start_s[i], end_s = s->copy_end_s[i];

		if (!(end_s > start_s)) /* read where it lies: its arrow says so */
			continue;
		uint32_t v = title(w->g, m, set);
		uint32_t row = lane_for(w, &l, p, src * p->k + dst, start_s, end_s);

		event(w, row, start_s, end_s, w->g->node_name[v], "copy");
		fprintf(w->out, "\"set\": %u, \"bytes\": %llu}}", set,
			(unsigned long long)s->copy_bytes[i]);
	}
}

void trace_write(FILE *out, const struct traced *t, const struct graph *g)
{
	struct writer w = {.out = out, .g = g, .names = t->names};
	struct arena *a = arena_new();
	struct members m;

	find_members(g, a, &m);
	fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", out);
	begin(&w);
	fputs("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": ", out);
	text(&w, g->name);
	fputs("}}", out);
	for (uint32_t i = 0; i < t->place.k; i++)
		row_name(&w, i, t->names[i]);
	write_sets(&w, &t->run, &m, &t->place);
	write_copies(&w, &t->run, &m, &t->place, a);
	write_flows(&w, &t->run, &t->place, a);
	fputs("\n]}\n", out);
	arena_free(a);
}

/* The schedule of the last run that has one. */
static int write_schedule(FILE *out, const struct report_input *in, struct err *e)
{
	struct traced t;

	if (trace_read(in->trace, in->x->graph, in->map, in->x->arena, &t, e) < 0)
		return -1;
	trace_write(out, &t, in->x->graph);
	return 0;
}

const struct report_format format_trace = {
	.name = "trace",
	.about = "the last schedule that devrun or devsim --schedule tells, as Chrome\n"
		 "trace events, for Perfetto",
	.needs_trace = true,
	.write = write_schedule,
};
