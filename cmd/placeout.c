/* placeout.c - the answer of a stream as text: affinity JSON for OpenVINO, TSV, a
 * table, or the report of the measurements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/opt.h"
#include "graph/placetext.h"
#include "op/op.h"

enum format { AFFINITY, TABLE, TSV, REPORT };

struct options {
	int format;
	const char *map, *random;
	bool literal;
	double search_s;
};

enum { MAX_CLASHES = 5 };

/* Hand every record of the stream at `path` to `take`. */
static int read_stream(const char *path, struct answer *x,
		       int (*take)(struct answer *, const struct rec *, struct err *), struct err *e)
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

/* "cpu:0=CPU,cl:0.0:1=GPU": names[k] with what stands behind `=`.  A device's name may hold
 * commas, a new name may not. */
static int rename_devices(const char *map, uint32_t k, const char **names, struct arena *a, struct err *e)
{
	const char **old = arena_raw(a, k, sizeof *old);
	memcpy(old, names, k * sizeof *old);
	for (const char *s = map; *s;) {
		const char *equal = strchr(s, '=');
		size_t n = equal ? (size_t)(equal - s) : strlen(s), n_new = equal ? strcspn(equal + 1, ",") : 0;
		uint32_t d = 0;
		char name[80];
		err_escape(name, sizeof name, s, n);
		if (!equal || n_new == 0)
			return err_set(e, ST_USAGE, "--map: '%s' has no new name; write OLD=NEW,OLD=NEW", name);
		while (d < k && !(strlen(old[d]) == n && memcmp(old[d], s, n) == 0))
			d++;
		if (d == k) {
			char known[400] = "";
			for (d = 0; d < k; d++)
				snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", d ? ", " : "", old[d]);
			return err_set(e, ST_USAGE, "--map: '%s' is no device of this placement; it has %s", name, known);
		}
		names[d] = arena_strndup(a, equal + 1, n_new);
		s = equal + 1 + n_new;
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
		msg_warn("operations on %s and %s share the name '%s'; all of them go to %s", names[c[i].device],
			 names[c[i].other], err_escape(name, sizeof name, c[i].name, strlen(c[i].name)),
			 names[c[i].device]);
	}
	if (n > MAX_CLASHES)
		msg_warn("%u more names are shared in this way", n - MAX_CLASHES);
}

static int write_text(FILE *out, const struct answer *x, const struct options *o, struct err *e)
{
	const struct graph *g = x->graph;
	struct arena *a = x->arena;
	struct placed p;
	uint32_t k = x->place.k;
	const char **names = arena_raw(a, k, sizeof *names);
	double *flops = ARENA_NEWN(a, double, g->n);
	memcpy(names, x->place.names, k * sizeof *names);
	if (o->map && rename_devices(o->map, k, names, a, e) < 0)
		return -1;
	for (uint32_t v = 0; v < g->n; v++)
		flops[v] = (double)op_flops(g, v);
	bool *constant = arena_raw(a, g->n, sizeof *constant);
	op_constant_nodes(g, constant);
	placed_init(g, x->place.device, k, o->literal ? NULL : constant, a, &p);
	switch ((enum format)o->format) {
	case AFFINITY: write_affinity(out, g, &p, names); break;
	case TABLE: placetext_table(out, x, &p, names, flops); break;
	case TSV: placetext_tsv(out, g, &p, names, flops); break;
	case REPORT: placetext_report(out, x, &p, names, o->search_s); break;
	}
	return 0;
}

/* The whole text first, so that a failure leaves no half of it. */
static int write_answer(const char *path, const struct answer *x, const struct options *o, struct err *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&text, &n), *out = NULL;
	if (!mem)
		return err_sys(e, ST_RUNTIME, "no memory for the text");
	int rc = write_text(mem, x, o, e);
	if (fclose(mem) != 0 && rc == 0)
		rc = err_sys(e, ST_RUNTIME, "no memory for the text");
	bool to_stdout = strcmp(path, "-") == 0;
	if (rc == 0) {
		out = to_stdout ? stdout : fopen(path, "w");
		if (!out)
			rc = err_sys(e, ST_RUNTIME, "cannot create '%s'", path);
		else if (fwrite(text, 1, n, out) != n)
			rc = err_sys(e, ST_RUNTIME, "cannot write '%s'", path);
	}
	if (out && !to_stdout && fclose(out) != 0 && rc == 0)
		rc = err_sys(e, ST_RUNTIME, "cannot write '%s'", path);
	free(text);
	return rc;
}

static int run(const char *path, const struct options *o, const struct opt_common *c, struct answer *x,
	       struct err *e)
{
	if (read_stream(path, x, answer_take, e) < 0)
		return -1;
	if (x->kind == ANSWER_NONE)
		return err_set(e, ST_INPUT, "no placement in '%s'; it should hold place or best records", path);
	if (o->random && read_stream(o->random, x, answer_take_random, e) < 0)
		return err_prefix(e, "--random");
	return write_answer(c->output, x, o, e);
}

int main(int argc, char **argv)
{
	static const char *const formats[] = {"affinity", "table", "tsv", "report", NULL};
	struct options o = {.format = TABLE, .search_s = -1};
	struct opt_common common = OPT_COMMON_INIT;
	const struct opt table[] = {
		{"format", 'f', OPT_CHOICE, &o.format, "FORMAT", "what to write", 0, 0, formats, NULL},
		{"map", 'm', OPT_TEXT, &o.map, "OLD=NEW,...",
		 "other names for devices, e.g. cpu:0=CPU,cl:0.0:1=GPU.1", 0, 0, NULL, NULL},
		{"literal", 0, OPT_FLAG, &o.literal, NULL,
		 "constants where they were placed, not beside what reads them", 0, 0, NULL, NULL},
		{"random", 0, OPT_TEXT, &o.random, "FILE",
		 "with report: a stream with runs of random placements", 0, 0, NULL, NULL},
		{"search-seconds", 0, OPT_REAL, &o.search_s, "S",
		 "with report: how long the search took; negative: not told", 0, 0, NULL, NULL},
		{0}
	};
	const struct opt_program program = {
		.name = "placeout", .summary = "write the placement that a stream ends with", .args = "[FILE]",
		.max_args = 1, .opts = table,
		.details =
			"The placement is the last final best record, without one the last best of rank 0,\n"
			"without any the last place.  affinity: JSON with the device of every operation by\n"
			"friendly name, constants, parameters and results included, for OpenVINO's HETERO\n"
			"(pipelines/apply_affinity.py).  tsv: one operation a line.  table: totals, devices, sets.\n"
			"report: latencies of single devices, random placements and this one.",
		.example = "placeout --format affinity --map cpu:0=CPU,cl:0.0:1=GPU final.mp > placement.json",
	};
	struct err e = ERR_INIT;
	struct answer x;
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc <= 0)
		return opt_finish(rc, &e);
	answer_init(&x);
	rc = run(first < argc ? argv[first] : "-", &o, &common, &x, &e);
	answer_release(&x);
	return opt_finish(rc, &e);
}
