/* placeout.c - the answer of a stream as text: affinity JSON for OpenVINO, TSV, a
 * table, the report of the measurements, whether it can be carried out; and as
 * one IR per segment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/opt.h"
#include "report/placecheck.h"
#include "report/placetext.h"
#include "report/trace.h"
#include "ir/split.h"
#include "op/op.h"

enum format { AFFINITY, TABLE, TSV, REPORT, CHECK, TRACE };

struct options {
	int format;
	const char *map, *random, *segments, *weights;
	bool literal;
	double search_s;
};

/* What the stream says besides the answer: the last devs record. */
struct input {
	struct answer x;
	struct devs devs;
	bool has_devs;
	struct arena *devs_arena;
	bool wants_trace;
	struct trace trace;
};

enum { MAX_CLASHES = 5 };

/* Hand every record of the stream at `path` to `take`. */
static int read_stream(const char *path, struct input *x,
		       int (*take)(struct input *, const struct rec *, struct err *), struct err *e)
{
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct rec r;
	int k = in ? 1 : -1;
	while (k > 0 && (k = rec_next(in, &r, e)) > 0)
		if (take(x, &r, e) < 0)
			k = -1;
	rec_reader_close(in);
	return k;
}

static int take(struct input *x, const struct rec *r, struct err *e)
{
	if (strcmp(r->kind, "devs") == 0) {
		arena_reset(x->devs_arena);
		x->has_devs = true;
		if (devs_decode(r, x->devs_arena, &x->devs, e) < 0)
			return -1;
	}
	if (x->wants_trace && trace_take(&x->trace, r, e) < 0)
		return -1;
	return answer_take(&x->x, r, e);
}

static int take_random(struct input *x, const struct rec *r, struct err *e)
{
	return answer_take_random(&x->x, r, e);
}

/* The device with whose name and a '=' the text begins, or k. */
static uint32_t device_named(const char *const *names, uint32_t k, const char *text)
{
	uint32_t d = 0;
	for (; d < k; d++) {
		size_t n = strlen(names[d]);
		if (strncmp(text, names[d], n) == 0 && text[n] == '=')
			break;
	}
	return d;
}

static int no_such_device(const char *const *names, uint32_t k, const char *text, struct err *e)
{
	char name[80], known[400] = "";
	err_escape(name, sizeof name, text, strcspn(text, "="));
	if (!strchr(text, '='))
		return err_set(e, ST_USAGE, "--map: '%s' has no new name; write OLD=NEW,OLD=NEW",
			       name);
	for (uint32_t d = 0; d < k; d++)
		snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", d ? ", " : "",
			 names[d]);
	return err_set(e, ST_USAGE, "--map: '%s' is no device of this placement; it has %s", name,
		       known);
}

/* "cpu:0=CPU,cl:0.0:1=GPU": names[k] with what stands behind `=`.  A device's name may hold
 * commas and '=', as in cl:0.0/precision=f16; a new name no comma. */
static int rename_devices(const char *map, uint32_t k, const char **names, struct arena *a,
			  struct err *e)
{
	const char **old = arena_raw(a, k, sizeof *old);
	memcpy(old, names, k * sizeof *old);
	for (const char *s = map; *s;) {
		uint32_t d = device_named(old, k, s);
		if (d == k)
			return no_such_device(old, k, s, e);
		s += strlen(old[d]) + 1;
		size_t n = strcspn(s, ",");
		if (n == 0)
			return err_set(e, ST_USAGE,
				       "--map: '%s' has no new name; write OLD=NEW,OLD=NEW",
				       old[d]);
		names[d] = arena_strndup(a, s, n);
		s += n;
		s += *s == ',';
	}
	return 0;
}

static void write_affinity(FILE *out, const struct graph *g, const struct placed *p,
			   const char *const *names)
{
	struct name_clash c[MAX_CLASHES];
	uint32_t n = placetext_affinity(out, g, p, names, c, MAX_CLASHES);
	for (uint32_t i = 0; i < n && i < MAX_CLASHES; i++) {
		char name[120];
		msg_warn("operations on %s and %s share the name '%s'; all of them go to %s",
			 names[c[i].device], names[c[i].other],
			 err_escape(name, sizeof name, c[i].name, strlen(c[i].name)),
			 names[c[i].device]);
	}
	if (n > MAX_CLASHES)
		msg_warn("%u more names are shared in this way", n - MAX_CLASHES);
}

/* One IR per segment into o->segments. */
static int write_segments(const struct graph *g, const struct placed *p, const bool *constant,
			  const char *const *names, const struct options *o, struct arena *a,
			  struct err *e)
{
	const char *path = o->weights ? o->weights : g->weights;
	struct weights w = {0};
	struct segments x;
	struct split_report rep;
	uint16_t *device = arena_raw(a, g->n, sizeof *device);
	if (*path && weights_open(&w, path, e) < 0)
		return err_prefix(e, "weights of '%s'", g->name);
	placecheck_devices(g, p, constant, device);
	segments_of_graph(g, device, false, a, &x);
	int rc = split_write(o->segments, g, &x, constant, names, p->k, &w, &rep, e);
	weights_close(&w);
	if (rc == 0)
		msg_note(1, "%u segments in '%s', %.3f MB of weights", rep.n_files, o->segments,
			 (double)rep.bin_bytes * 1e-6);
	return rc;
}

/* The schedule of the last run that has one. */
static int write_trace(FILE *out, const struct input *in, const struct options *o, struct arena *a,
		       struct err *e)
{
	struct place_rec p;
	if (trace_placement(&in->trace, in->x.graph, a, &p, e) < 0)
		return -1;
	const char **names = arena_raw(a, p.k, sizeof *names);
	memcpy(names, p.names, p.k * sizeof *names);
	if (o->map && rename_devices(o->map, p.k, names, a, e) < 0)
		return -1;
	return trace_write(out, &in->trace, in->x.graph, &p, names, e);
}

static int write_text(FILE *out, const struct input *in, const struct options *o, struct err *e)
{
	const struct answer *x = &in->x;
	const struct graph *g = x->graph;
	struct arena *a = x->arena;
	struct placed p;
	uint32_t k = x->place.k, n_problems = 0;
	const char **names = arena_raw(a, k, sizeof *names);
	double *flops = ARENA_NEWN(a, double, g->n);
	memcpy(names, x->place.names, k * sizeof *names);
	if (o->map && rename_devices(o->map, k, names, a, e) < 0)
		return -1;
	for (uint32_t v = 0; v < g->n; v++)
		flops[v] = (double)op_flops(g, v);
	bool *constant = arena_raw(a, g->n, sizeof *constant);
	op_constant_nodes(g, constant);
	bool *idle = arena_raw(a, g->n, sizeof *idle);
	uint32_t *root = ARENA_NEWN(a, uint32_t, g->out_ptr[g->n]);
	op_idle_nodes(g, NULL, idle, root);
	placed_init(g, x->place.device, k, o->literal ? NULL : constant,
		    &(struct placed_idle){idle, root}, a, &p);
	switch ((enum format)o->format) {
	case AFFINITY: write_affinity(out, g, &p, names); break;
	case TABLE: placetext_table(out, x, &p, names, flops); break;
	case TSV: placetext_tsv(out, g, &p, names, flops); break;
	case REPORT: placetext_report(out, x, &p, names, o->search_s); break;
	case TRACE:
		if (write_trace(out, in, o, a, e) < 0)
			return -1;
		break;
	case CHECK:
		n_problems = placecheck_print(out, g, &p, constant, in->has_devs ? &in->devs : NULL,
					      x->place.names, names);
		break;
	}
	if (o->segments && write_segments(g, &p, constant, names, o, a, e) < 0)
		return -1;
	return n_problems ? 1 : 0;
}

/* The whole text first, so that a failure leaves no half of it.  1: written, and it names
 * problems. */
static int write_answer(const char *path, const struct input *x, const struct options *o,
			struct err *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&text, &n), *out = NULL;
	if (!mem)
		return err_sys(e, ST_RUNTIME, "no memory for the text");
	int rc = write_text(mem, x, o, e);
	if (fclose(mem) != 0 && rc >= 0)
		rc = err_sys(e, ST_RUNTIME, "no memory for the text");
	bool to_stdout = strcmp(path, "-") == 0;
	if (rc >= 0) {
		out = to_stdout ? stdout : fopen(path, "w");
		if (!out)
			rc = err_sys(e, ST_RUNTIME, "cannot create '%s'", path);
		else if (fwrite(text, 1, n, out) != n)
			rc = err_sys(e, ST_RUNTIME, "cannot write '%s'", path);
	}
	if (out && !to_stdout && fclose(out) != 0 && rc >= 0)
		rc = err_sys(e, ST_RUNTIME, "cannot write '%s'", path);
	free(text);
	return rc;
}

static int run(const char *path, const struct options *o, const struct opt_common *c,
	       struct input *in, struct err *e)
{
	if (read_stream(path, in, take, e) < 0)
		return -1;
	if (in->x.kind == ANSWER_NONE)
		return err_set(e, ST_INPUT,
			       "no placement in '%s'; it should hold place or best records", path);
	if (o->random) /* in the place of those that are candidates of the stream */
		answer_forget_random(&in->x);
	if (o->random && read_stream(o->random, in, take_random, e) < 0)
		return err_prefix(e, "--random");
	int rc = write_answer(c->output, in, o, e);
	return rc > 0 ? err_set(e, ST_INPUT,
				"the placement cannot be carried out; the problems are listed")
		      : rc;
}

int main(int argc, char **argv)
{
	static const char *const formats[] = {"affinity", "table", "tsv", "report",
					      "check",    "trace", NULL};
	struct options o = {.format = TABLE, .search_s = -1};
	struct opt_common common = OPT_COMMON_INIT;
	const struct opt table[] = {
		{"format", 'f', OPT_CHOICE, &o.format, "FORMAT", "what to write", 0, 0, formats,
		 NULL},
		{"map", 'm', OPT_TEXT, &o.map, "OLD=NEW,...",
		 "other names for devices, e.g. cpu:0=CPU,cl:0.0:1=GPU.1", 0, 0, NULL, NULL},
		{"literal", 0, OPT_FLAG, &o.literal, NULL,
		 "constants where they were placed, not beside what reads them", 0, 0, NULL, NULL},
		{"random", 0, OPT_TEXT, &o.random, "FILE",
		 "with report: a stream with runs of random placements", 0, 0, NULL, NULL},
		{"search-seconds", 0, OPT_REAL, &o.search_s, "S",
		 "with report: how long the search took; negative: not told", 0, 0, NULL, NULL},
		{"segments", 0, OPT_TEXT, &o.segments, "DIR",
		 "also write one IR per segment, and index.json, into DIR, which is new or empty",
		 0, 0, NULL, NULL},
		{"weights", 0, OPT_TEXT, &o.weights, "FILE",
		 "with segments: the model's .bin, when it is not where it was", 0, 0, NULL, NULL},
		{0}};
	const struct opt_program program = {
		.name = "placeout",
		.summary = "write the placement that a stream ends with",
		.args = "[FILE]",
		.max_args = 1,
		.opts = table,
		.details =
			"The placement is the last final best record, without one the last best of "
			"rank 0, "
			"without any the last place. Formats:\n"
			"  affinity  JSON with the device of every operation by friendly name, "
			"constants,\n"
			"            parameters and results included, for OpenVINO's HETERO\n"
			"            (pipelines/apply_affinity.py)\n"
			"  table     totals, devices, sets\n"
			"  tsv       one operation a line\n"
			"  report    latencies of single devices, random placements and this one\n"
			"  check     segments of every device and why pieces had to be split, "
			"weights,\n"
			"            bytes between devices; exit status 3 when the placement "
			"cannot be\n"
			"            carried out, with the reasons\n"
			"  trace     the last run's schedule (devsim --schedule) as Chrome trace "
			"events,\n"
			"            for Perfetto\n"
			"--segments: files that OpenVINO loads one by one, in the order of "
			"index.json, which "
			"says where the inputs of each come from.",
		.example =
			"placeout --format affinity --map cpu:0=CPU,cl:0.0:1=GPU final.mp > p.json",
	};
	struct err e = ERR_INIT;
	struct input in = {0};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc <= 0)
		return opt_finish(rc, &e);
	in.devs_arena = arena_new();
	in.wants_trace = o.format == TRACE;
	answer_init(&in.x);
	rc = run(first < argc ? argv[first] : "-", &o, &common, &in, &e);
	trace_release(&in.trace);
	answer_release(&in.x);
	arena_free(in.devs_arena);
	return opt_finish(rc, &e);
}
