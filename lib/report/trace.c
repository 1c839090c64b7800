/* trace.c - schedules as Chrome trace events. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/rows.h"
#include "report/trace.h"
#include "report/devicemap.h"
#include "report/format.h"
#include "report/placetext.h"
#include "report/schedule_arrows.h"
#include "text/markup.h"

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

/* Perfetto takes thread 0 for the idle one, and a thread with its process's number for the main one. */
enum { PID = 1, FIRST_TID = 2 };

struct writer {
	FILE *out;
	const struct graph *g;
	const char *const *names;
	bool more; /* an event has been written */
};

static void text(struct writer *w, const char *s)
{
	markup_json(w->out, s, strlen(s), false);
}

static void begin(struct writer *w)
{
	fputs(w->more ? ",\n" : "\n", w->out);
	w->more = true;
}

static void row_name(struct writer *w, uint32_t tid, const char *name)
{
	begin(w);
	fprintf(w->out,
		"{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %d, \"tid\": %u, "
		"\"args\": {\"name\": ",
		PID, tid);
	text(w, name);
	fputs("}}", w->out);
	begin(w);
	fprintf(w->out,
		"{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": %d, \"tid\": %u, "
		"\"args\": {\"sort_index\": %u}}",
		PID, tid, tid);
}

/* Times are whole nanoseconds, as Perfetto keeps them, written as microseconds.  Readers make a binary number of the
 * text, multiply, and cut or round.  A quarter of a nanosecond behind each start makes all of them find the same; a
 * duration has none, so that what ends as another begins does so in the text, too, and never later. */
#define MICROSECONDS "%" PRId64 ".%03" PRId64

static int64_t nanoseconds(double s)
{
	return !(s > 0) ? 0 : s < 9e9 ? llround(s * 1e9) : (int64_t)9e18;
}

static void put_start(struct writer *w, int64_t ns)
{
	fprintf(w->out, "\"ts\": " MICROSECONDS "250", ns / 1000, ns % 1000);
}

/* When something began and ended, in nanoseconds. */
struct span {
	int64_t start, end;
};

static struct span span_of(double start_s, double end_s)
{
	struct span x = {nanoseconds(start_s), nanoseconds(end_s)};
	return x.end < x.start ? (struct span){x.start, x.start} : x;
}

static void event(struct writer *w, uint32_t tid, struct span at, const char *name,
		  const char *category)
{
	int64_t dur = at.end - at.start;
	begin(w);
	fprintf(w->out, "{\"ph\": \"X\", \"pid\": %d, \"tid\": %u, ", PID, tid);
	put_start(w, at.start);
	fprintf(w->out, ", \"dur\": " MICROSECONDS ", \"name\": ", dur / 1000, dur % 1000);
	text(w, name);
	fputs(", \"cat\": ", w->out);
	text(w, category);
	fputs(", \"args\": {", w->out);
}

/* ---- rows: what is on one does not overlap ---- */

/* Rows of devices come first, each with key d; those of links have k + src * k + dst. */
struct rows {
	uint32_t n;
	size_t cap;
	struct row {
		uint64_t key;
		int64_t free; /* when its last span ends */
	} * row;
};

static void add_row(struct writer *w, struct rows *r, uint64_t key, const char *name)
{
	r->row = mem_grow(r->row, &r->cap, (size_t)r->n + 1, sizeof *r->row);
	r->row[r->n] = (struct row){key, 0};
	row_name(w, FIRST_TID + r->n++, name);
}

/* The row of that key in which the span has room; a new one where none has.  Clocks are read at the end of one thing and
 * at the beginning of the next: what overlaps by no more than that begins later. */
static uint32_t row_for(struct writer *w, struct rows *r, uint64_t key, const char *name,
			struct span *at)
{
	static const int64_t CLOCK = 2;
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->row[i].key != key || r->row[i].free > at->start + CLOCK)
			continue;
		if (at->start < r->row[i].free)
			at->start = r->row[i].free;
		if (at->end < at->start)
			at->end = at->start;
		r->row[i].free = at->end;
		return FIRST_TID + i;
	}
	add_row(w, r, key, name);
	r->row[r->n - 1].free = at->end;
	return FIRST_TID + r->n - 1;
}

/* Nodes by set: node[ptr[s]] .. are those of set s. */
struct members {
	uint32_t *ptr, *node;
};

static void find_members(const struct graph *g, struct arena *a, struct members *m)
{
	m->ptr = ARENA_NEWN(a, uint32_t, (size_t)g->n_sets + 2);
	m->node = ARENA_NEWN(a, uint32_t, g->n);
	rows_sort(g->set, NULL, ROWS_STEP, g->n, g->n_sets, m->ptr, m->node);
}

/* The node that a set goes by: the first that computes something from something. */
static uint32_t title(const struct graph *g, const struct members *m, uint32_t set)
{
	for (uint32_t i = m->ptr[set]; i < m->ptr[set + 1]; i++)
		if (g->in_ptr[m->node[i] + 1] > g->in_ptr[m->node[i]])
			return m->node[i];
	return m->node[m->ptr[set]];
}

static void put_set(struct writer *w, const struct members *m, uint32_t set, uint32_t tid,
		    struct span at)
{
	uint32_t v = title(w->g, m, set), n = m->ptr[set + 1] - m->ptr[set];

	event(w, tid, at, w->g->node_name[v], w->g->type[v]);
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

struct timed {
	double start_s, end_s;
	uint32_t i;
};

static int by_start(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;
	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	if (x->end_s != y->end_s)
		return x->end_s < y->end_s ? -1 : 1;
	return (x->i > y->i) - (x->i < y->i);
}

static struct timed *in_order(const double *start_s, const double *end_s, uint32_t n,
			      struct arena *a)
{
	struct timed *x = ARENA_NEWN(a, struct timed, n);
	for (uint32_t i = 0; i < n; i++)
		x[i] = (struct timed){start_s[i], end_s[i], i};
	qsort(x, n, sizeof *x, by_start);
	return x;
}

/* Where the entries of the schedule are in the text. */
struct written {
	struct span *at;
	uint32_t *tid;
};

static struct written write_sets(struct writer *w, const struct run_schedule *s,
				 const struct members *m, const struct place_rec *p, struct rows *r,
				 struct arena *a)
{
	struct written x = {ARENA_NEWN(a, struct span, s->n), ARENA_NEWN(a, uint32_t, s->n)};
	const struct timed *order = in_order(s->start_s, s->end_s, s->n, a);
	for (uint32_t j = 0; j < s->n; j++) {
		uint32_t i = order[j].i, d = p->device[s->set[i]];
		x.at[i] = span_of(s->start_s[i], s->end_s[i]);
		x.tid[i] = row_for(w, r, d, w->names[d], &x.at[i]);
		put_set(w, m, s->set[i], x.tid[i], x.at[i]);
	}
	return x;
}

/* One end of a flow, inside an event that is open at that time. */
static void flow_end(struct writer *w, bool first, uint32_t id, uint32_t tid, int64_t at)
{
	begin(w);
	fprintf(w->out,
		"{\"ph\": \"%s\", \"name\": \"copy\", \"cat\": \"copy\", \"id\": %u, "
		"\"pid\": %d, \"tid\": %u, ",
		first ? "s" : "f\", \"bp\": \"e", id + 1, PID, tid);
	put_start(w, at);
	fputc('}', w->out);
}

/* An arrow for each copy from the set that made the tensor to the first that reads it there.  An event that is over in
 * less than SHORT nanoseconds may not be open when a reader looks. */
static void write_flows(struct writer *w, const struct run_schedule *s, const struct place_rec *p,
			const struct written *x, struct arena *a)
{
	enum { SHORT = 3 };
	const struct schedule_arrows arrows = schedule_arrows(w->g, s, p, a);
	for (uint32_t i = 0; i < s->n_copies; i++) {
		uint32_t from = arrows.from[i], to = arrows.to[i];
		if (from == GRAPH_NONE || to == GRAPH_NONE)
			continue;
		struct span f = x->at[from], t = x->at[to];
		if (f.end - f.start < SHORT || t.end - t.start < SHORT || t.start < f.start)
			continue;
		int64_t leaves = f.end - SHORT + 1;
		flow_end(w, true, i, x->tid[from], leaves < t.start ? leaves : t.start);
		flow_end(w, false, i, x->tid[to], t.start);
	}
}

static void write_copies(struct writer *w, const struct run_schedule *s, const struct members *m,
			 const struct place_rec *p, struct rows *r, struct arena *a)
{
	const struct timed *order = in_order(s->copy_start_s, s->copy_end_s, s->n_copies, a);
	for (uint32_t j = 0; j < s->n_copies; j++) {
		uint32_t i = order[j].i, set = s->copy_set[i], v = title(w->g, m, set);
		uint32_t src = s->copy_src[i], dst = s->copy_dst[i];
		struct span at = span_of(s->copy_start_s[i], s->copy_end_s[i]);
		char name[200];
		if (!(s->copy_end_s[i] >
		      s->copy_start_s[i])) /* read where it lies: its arrow says so */
			continue;
		snprintf(name, sizeof name, "%.90s to %.90s", w->names[src], w->names[dst]);
		uint32_t tid = row_for(w, r, p->k + (uint64_t)src * p->k + dst, name, &at);
		event(w, tid, at, w->g->node_name[v], "copy");
		fprintf(w->out, "\"set\": %u, \"bytes\": %llu}}", set,
			(unsigned long long)s->copy_bytes[i]);
	}
}

void trace_write(FILE *out, const struct traced *t, const struct graph *g)
{
	struct writer w = {.out = out, .g = g, .names = t->names};
	struct arena *a = arena_new();
	struct members m;
	struct rows r = {0};

	find_members(g, a, &m);
	fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", out);
	begin(&w);
	fprintf(out,
		"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"tid\": %d, \"args\": "
		"{\"name\": ",
		PID, FIRST_TID);
	text(&w, placetext_model(g));
	fputs("}}", out);
	for (uint32_t i = 0; i < t->place.k; i++)
		add_row(&w, &r, i, t->names[i]);
	const struct written x = write_sets(&w, &t->run, &m, &t->place, &r, a);
	write_copies(&w, &t->run, &m, &t->place, &r, a);
	write_flows(&w, &t->run, &t->place, &x, a);
	mem_free(r.row);
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
