/* trace.c - schedules as Chrome trace events. */
#include <string.h>

#include "report/trace.h"
#include "stream/json.h"

enum { MAX_NODES = 16 }; /* names of a set's nodes that an event lists */

/* ---- which run ---- */

int trace_take(struct trace *t, const struct rec *r, struct err *e)
{
	bool place = rec_is(r, "place");

	if (!place && !(rec_is(r, "run") && val_get(r->map, "schedule")))
		return 0;
	struct rec *kept = rec_keep(r), **to = place ? &t->place : &t->run;

	if (!kept)
		return err_set(e, ST_RUNTIME, "no memory for a %s record", r->kind);
	rec_drop(*to);
	*to = kept;
	return 0;
}

void trace_release(struct trace *t)
{
	rec_drop(t->place);
	rec_drop(t->run);
	*t = (struct trace){0};
}

static bool same_turn(const struct val *a, const struct val *b)
{
	static const char *const keys[] = {"graph", "episode", "step", "sample"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct val *x = val_get(a, keys[i]), *y = val_get(b, keys[i]);
		uint64_t m, n;

		if (!x || !y || !val_uint(x, &m) || !val_uint(y, &n) || m != n)
			return false;
	}
	return true;
}

int trace_placement(const struct trace *t, const struct graph *g, struct arena *a,
		    struct placement *p, struct err *e)
{
	if (!t->run)
		return err_set(e, ST_INPUT, "no run with a schedule; devsim --schedule tells it");
	if (!t->place || !same_turn(t->place->map, t->run->map))
		return err_set(e, ST_INPUT,
			       "the last run with a schedule is not that of the last placement");
	return placement_decode(t->place, g->n_sets, a, p, e);
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

static void event(struct writer *w, uint32_t row, double start_s, double end_s, const char *name,
		  const char *category)
{
	begin(w);
	fprintf(w->out,
		"{\"ph\": \"X\", \"pid\": 1, \"tid\": %u, \"ts\": %.6f, \"dur\": %.6f, "
		"\"name\": ",
		row, start_s * 1e6, (end_s - start_s) * 1e6);
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

static int get_column(const struct val *map, const char *key, enum tensor_type type, uint64_t *n,
		      struct arena *a, void *out, struct err *e)
{
	return get_tensor(map, key, type, 1, n, a, out, e);
}

static int write_sets(struct writer *w, const struct val *map, const struct members *m,
		      const struct placement *p, struct arena *a, struct err *e)
{
	uint64_t n[1] = {UINT64_MAX};
	uint32_t *set;
	double *start, *end;

	if (get_column(map, "set", TT_U32, n, a, &set, e) < 0 ||
	    get_column(map, "start_s", TT_F64, n, a, &start, e) < 0 ||
	    get_column(map, "end_s", TT_F64, n, a, &end, e) < 0)
		return -1;
	for (uint64_t i = 0; i < n[0]; i++) {
		if (set[i] >= p->n_sets)
			return err_set(e, ST_INPUT, "set %u of %u", set[i], p->n_sets);
		set_event(w, m, set[i], p->device[set[i]], start[i], end[i]);
	}
	return 0;
}

/* Rows in which copies of one link do not overlap. */
struct lanes {
	uint32_t n;
	uint32_t *link; /* (n) src * k + dst */
	double *free_s; /* (n) */
};

static uint32_t lane_for(struct writer *w, struct lanes *l, const struct placement *p,
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

static int write_copies(struct writer *w, const struct val *map, const struct members *m,
			const struct placement *p, struct arena *a, struct err *e)
{
	uint64_t n[1] = {UINT64_MAX};
	uint32_t *set;
	uint16_t *src, *dst;
	uint64_t *bytes;
	double *start, *end;

	if (get_column(map, "copy_set", TT_U32, n, a, &set, e) < 0 ||
	    get_column(map, "copy_src", TT_U16, n, a, &src, e) < 0 ||
	    get_column(map, "copy_dst", TT_U16, n, a, &dst, e) < 0 ||
	    get_column(map, "copy_bytes", TT_U64, n, a, &bytes, e) < 0 ||
	    get_column(map, "copy_start_s", TT_F64, n, a, &start, e) < 0 ||
	    get_column(map, "copy_end_s", TT_F64, n, a, &end, e) < 0)
		return -1;
	struct lanes l = {.link = ARENA_NEWN(a, uint32_t, n[0]),
			  .free_s = ARENA_NEWN(a, double, n[0])};

	for (uint64_t i = 0; i < n[0]; i++) {
		if (set[i] >= p->n_sets || src[i] >= p->k || dst[i] >= p->k)
			return err_set(e, ST_INPUT,
				       "copy %llu is of a set or device that is not there",
				       (unsigned long long)i);
		uint32_t v = title(w->g, m, set[i]);
		uint32_t row = lane_for(w, &l, p, src[i] * p->k + dst[i], start[i], end[i]);

		event(w, row, start[i], end[i], w->g->node_name[v], "copy");
		fprintf(w->out, "\"set\": %u, \"bytes\": %llu}}", set[i],
			(unsigned long long)bytes[i]);
	}
	return 0;
}

int trace_write(FILE *out, const struct trace *t, const struct graph *g, const struct placement *p,
		const char *const *names, struct err *e)
{
	struct writer w = {.out = out, .g = g, .names = names};
	struct arena *a = arena_new();
	struct members m;
	const struct val *map;
	int rc = get_map(t->run->map, "schedule", &map, e);

	find_members(g, a, &m);
	fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", out);
	begin(&w);
	fputs("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": ", out);
	text(&w, g->name);
	fputs("}}", out);
	for (uint32_t i = 0; i < p->k; i++)
		row_name(&w, i, names[i]);
	if (rc == 0 &&
	    (write_sets(&w, map, &m, p, a, e) < 0 || write_copies(&w, map, &m, p, a, e) < 0))
		rc = err_prefix(e, "schedule");
	fputs("\n]}\n", out);
	arena_free(a);
	return rc;
}
