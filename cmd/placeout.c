/* placeout.c - the answer of a stream as text: affinity JSON for OpenVINO, TSV, a
 * table, the report of the measurements as text or as a page for browsers, whether it can be
 * carried out; and as one IR per segment. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/newfile.h"
#include "base/opt.h"
#include "base/tabfile.h"
#include "report/compare.h"
#include "record/costrec.h"
#include "record/graphrec.h"
#include "place/problem/objective.h"
#include "report/placecheck.h"
#include "report/devicemap.h"
#include "report/format.h"
#include "report/history.h"
#include "report/screen.h"
#include "report/scheduled.h"
#include "report/trace.h"
#include "precision/traded.h"
#include "report/why.h"
#include "dynamic/fold.h"
#include "dynamic/shapes.h"
#include "ir/placed_model.h"
#include "ir/split.h"
#include "op/op.h"

struct options {
	int format; /* of report_formats */
	int colour; /* enum screen_colour */
	const char *map, *search, *random, *segments, *openvino, *phases, *weights, *objective,
		*values, *curve, *beside, *precision, *why, *names;
	bool literal;
	double search_s;
	int64_t replica;
	int64_t only_case; /* from 1; 0: none */
};

/* What the stream says besides the answer: the last devs record. */
struct input {
	struct answer x;
	struct devs devs;
	bool has_devs;
	struct arena *devs_arena;
	bool wants_trace;
	struct trace trace;
	bool wants_history;
	struct history history;
	bool wants_comparison;
	struct comparison comparison;
	struct search_curve curve;
	bool wants_others, wants_cost, wants_operations;
	struct scheduled_list others;
	struct rec *cost; /* the last one */
	struct traded traded;
};

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

static int take_cost(struct input *x, const struct rec *r, struct err *e)
{
	if (!rec_is(r, "cost"))
		return 0;
	rec_drop(x->cost);
	x->cost = rec_keep(r);
	return x->cost ? 0 : err_set(e, ST_RUNTIME, "no memory for a cost record");
}

static int take_record(struct input *x, const struct rec *r, struct err *e)
{
	if (strcmp(r->kind, "devs") == 0) {
		arena_reset(x->devs_arena);
		x->has_devs = true;
		if (devs_decode(r, x->devs_arena, &x->devs, e) < 0)
			return -1;
	}
	if (x->wants_history && history_take(&x->history, r, e) < 0)
		return -1;
	if (x->wants_comparison && comparison_take(&x->comparison, r, e) < 0)
		return -1;
	if ((x->wants_trace || x->wants_operations) && trace_take(&x->trace, r, e) < 0)
		return -1;
	if ((x->wants_others || x->wants_cost || x->wants_operations) && take_cost(x, r, e) < 0)
		return -1;
	if (x->wants_others && scheduled_take(&x->others, r, false, e) < 0)
		return -1;
	return answer_take(&x->x, r, e);
}

static int take_random(struct input *x, const struct rec *r, struct err *e)
{
	return answer_take_random(&x->x, r, e);
}

static int take_search(struct input *x, const struct rec *r, struct err *e)
{
	return answer_take_search(&x->x, r, e);
}

static int take_value(struct input *x, const struct rec *r, struct err *e)
{
	return answer_take_value(&x->x, r, e);
}

static int take_traded(struct input *x, const struct rec *r, struct err *e)
{
	return traded_take(&x->traded, x->x.graph, r, e);
}

/* Placements that are shown beside the answer, of a stream about the same graph. */
static int take_beside(struct input *x, const struct rec *r, struct err *e)
{
	uint64_t digest;
	uint32_t n_sets;
	if (rec_is(r, "graph") &&
	    (graph_decode_size(r, &digest, &n_sets, e) < 0 || digest != x->x.graph->digest))
		return err_set(e, ST_INPUT, "it is about another graph");
	return scheduled_take(&x->others, r, true, e);
}

/* The placements that ran, of a file as `tabstat curve` writes it.  Memory from the answer's arena. */
static int read_curve(const char *path, struct input *in, struct err *e)
{
	struct arena *a = in->x.arena;
	struct tabfile t;
	if (tabfile_read(path, true, a, &t, e) < 0)
		return -1;
	int at = tabfile_column(&t, "seconds"), lat = tabfile_column(&t, "latency");
	double *at_s = ARENA_NEWN(a, double, t.n_rows), *lat_s = ARENA_NEWN(a, double, t.n_rows);
	if (at < 0 || lat < 0)
		return err_set(e, ST_INPUT, "no columns 'seconds' and 'latency' in it");
	for (uint32_t i = 0; i < t.n_rows; i++) {
		uint32_t *n = &in->curve.n;
		if (!*tabfile_cell(&t, i, lat))
			continue; /* it could not run */
		if (tabfile_real(&t, i, at, &at_s[*n], e) < 0 ||
		    tabfile_real(&t, i, lat, &lat_s[*n], e) < 0)
			return -1;
		++*n;
	}
	in->curve.at_s = at_s;
	in->curve.lat_s = lat_s;
	return 0;
}

/* OpenVINO keeps a variable within a segment: files that part one cannot run. */
static int check_variables(const struct graph *g, const struct segments *x, struct arena *a,
			   struct err *e)
{
	struct segment_parted *p;
	char name[100];
	uint32_t n = segments_parted(g, x, a, &p);
	if (n == 0)
		return 0;
	return err_set(
		e, ST_INPUT,
		"--segments: %u of the model's variables are used in several segments ('%s' in %u "
		"and %u), which OpenVINO cannot run; ir2dag without --split-variables keeps "
		"what uses a variable together",
		n, err_escape(name, sizeof name, p[0].id, strlen(p[0].id)), x->of[p[0].first],
		x->of[p[0].second]);
}

static const char *dims_text(const struct graph *g, uint32_t o, char *text, size_t cap)
{
	size_t n = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < g->out_rank[o] && n < cap; i++) {
		int64_t dim = g->dim[g->dim_ptr[o] + i];
		n += (size_t)(dim < 0 ? snprintf(text + n, cap - n, "%s?", i ? "," : "")
				      : snprintf(text + n, cap - n, "%s%" PRId64, i ? "," : "",
						 dim));
	}
	return text;
}

/* Files with the lengths of one inference are of no use for the next one where variables grow. */
static void warn_outgrown(const struct graph *g, const char *dir)
{
	struct graph_outgrown one;
	char id[100], from[200], to[200];
	uint32_t n = graph_outgrown_variables(g, &one);
	if (n == 0)
		return;
	const char *name = graph_variable(g, one.reader);
	msg_warn("'%s' is right for the first inference after a reset only: variables grow (%u; "
		 "'%s' is read "
		 "with the shape %s, and assigned %s); ir2dag --shape with '?' in place of the "
		 "lengths, "
		 "as in input_ids=1,?, keeps them open",
		 dir, n, err_escape(id, sizeof id, name, strlen(name)),
		 dims_text(g, one.from, from, sizeof from), dims_text(g, one.to, to, sizeof to));
}

static int open_weights(const struct graph *g, const char *path, struct weights *w, struct err *e)
{
	char name[100];
	err_escape(name, sizeof name, g->name, strlen(g->name));
	if (!*path && weights_size(g) > 0)
		return err_set(e, ST_INPUT,
			       "'%s' has no weights file; --weights names one, irfill makes one",
			       name);
	if (!*path && g->tail_bytes == 0)
		return 0;
	return weights_open(w, path, g, e) < 0 ? err_prefix(e, "weights of '%s'", name) : 0;
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
	if (open_weights(g, path, &w, e) < 0)
		return -1;
	placecheck_devices(g, p, constant, device);
	segments_of_graph(g, device, false, a, &x);
	int rc = check_variables(g, &x, a, e);
	if (rc == 0)
		rc = split_write(o->segments, g, &x, constant, names, p->k, &w, NULL, &rep, e);
	weights_close(&w);
	if (rc == 0)
		msg_note(1, "%u segments in '%s', %.3f MB of weights", rep.n_files, o->segments,
			 (double)rep.bin_bytes * 1e-6);
	return rc;
}

/* Placements of a stream as OpenVINO has them: devices that are one there are one. */
struct pairs {
	const struct options *o;
	struct arena *a;
	struct err *e;
	int rc; /* -1: an error */
	uint32_t n;
	const struct place_rec **place; /* (n) */
	const char ***names;            /* (n)(k) of OpenVINO */
};

/* The number, from 1, of a placement, which is added where there is none like it. */
static uint32_t pair_number(void *arg, const struct place_rec *p)
{
	struct pairs *x = arg;
	const char **names = arena_raw(x->a, p->k, sizeof *names);
	memcpy(names, p->names, p->k * sizeof *names);
	if (x->o->map && x->rc == 0)
		x->rc = devicemap_rename(x->o->map, p->k, names, x->a, x->e);
	devicemap_openvino(p->k, names, x->a);
	for (uint32_t i = 0; i < x->n; i++) {
		const struct place_rec *q = x->place[i];
		bool same = p->n_sets == q->n_sets;
		for (uint32_t s = 0; s < p->n_sets && same; s++)
			same = strcmp(names[p->device[s]], x->names[i][q->device[s]]) == 0;
		if (same)
			return i + 1;
	}
	x->place[x->n] = p;
	x->names[x->n] = names;
	return ++x->n;
}

/* What depends on constants alone, and where each operation of a placement is. */
static void find_placed(const struct graph *g, const struct place_rec *p, bool literal,
			bool *constant, struct placed_idle *idle, struct arena *a,
			struct placed *out)
{
	bool *idles = arena_raw(a, g->n, sizeof *idles);
	uint32_t *root = ARENA_NEWN(a, uint32_t, g->out_ptr[g->n]);
	if (g->ir_version) /* else nothing is folded */
		op_constant_nodes(g, constant);
	else
		memset(constant, 0, g->n * sizeof *constant);
	op_idle_nodes(g, NULL, idles, root);
	*idle = (struct placed_idle){idles, root};
	placed_init(g, p->device, p->k, literal ? NULL : constant, idle, a, out);
}

/* Placement i of x, with each of OpenVINO's devices once. */
static struct placed_by one_of_each(const struct pairs *x, uint32_t i, const struct graph *g,
				    bool *constant)
{
	const struct place_rec *p = x->place[i];
	const char **ov = x->names[i];
	uint16_t *device = arena_raw(x->a, g->n, sizeof *device),
		 *one = ARENA_NEWN(x->a, uint16_t, p->k);
	struct placed_idle idle;
	struct placed placed;
	uint32_t k = 0;
	for (uint32_t d = 0; d < p->k; d++) {
		uint32_t same = 0;
		while (same < k && strcmp(ov[same], ov[d]) != 0)
			same++;
		ov[same] = ov[d];
		k += same == k;
		one[d] = (uint16_t)same;
	}
	find_placed(g, p, x->o->literal, constant, &idle, x->a, &placed);
	for (uint32_t v = 0; v < g->n; v++)
		device[v] = one[placed.node_device[v]];
	return (struct placed_by){device, ov, k};
}

/* The pair for OpenVINO into o->openvino. */
static int write_pairs(struct graph *g, const struct pairs *x, struct err *e)
{
	const struct options *o = x->o;
	struct placed_by *by = ARENA_NEWN(x->a, struct placed_by, x->n);
	bool *constant = arena_raw(x->a, g->n, sizeof *constant);
	struct weights w = {0};
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < x->n; i++)
		by[i] = one_of_each(x, i, g, constant);
	if (open_weights(g, g->weights, &w, e) < 0)
		return -1;
	struct cpu_ctx *ctx = cpu_ctx_new(NULL, NULL);
	struct host_values values;
	host_values_init(&values, g, w.data, w.bytes, ctx);
	host_fold(&values, constant);
	int rc =
		placed_model_write(o->openvino, g, by, x->n, constant, values.value, &w, &bytes, e);
	host_values_release(&values);
	cpu_ctx_free(ctx);
	weights_close(&w);
	if (rc == 0)
		msg_note(1, "model and devices for OpenVINO in '%s', %.3f MB of weights",
			 o->openvino, (double)bytes * 1e-6);
	return rc;
}

/* With several lists of shapes it is open where they differ, and there is one for each placement that is the fastest somewhere;
 * shapes.json says where.  The graph is changed: nothing else comes after. */
static int write_openvino(const struct answer *of, const struct options *o, struct err *e)
{
	struct graph *g = of->graph;
	size_t most = 2 + GRAPH_MAX_CASES + of->cases.n, n = 0;
	struct pairs x = {.o = o, .a = of->arena, .e = e};
	char *text = NULL;
	x.place = ARENA_NEWN(x.a, const struct place_rec *, most);
	x.names = ARENA_NEWN(x.a, const char **, most);
	if (o->weights)
		g->weights = o->weights;
	pair_number(&x, &of->place);
	if (g->n_cases && !o->only_case) {
		FILE *out = open_memstream(&text, &n);
		if (out)
			case_runs_choice(out, &of->cases, g, &of->place, pair_number, &x);
		if (!out || fclose(out) != 0)
			x.rc = err_sys(e, ST_RUNTIME, "no memory for shapes");
		if (x.rc == 0)
			x.rc = shapes_open_cases(g, e);
	}
	int rc = x.rc < 0 ? -1 : write_pairs(g, &x, e);
	if (rc == 0 && text)
		rc = newfile_write(arena_printf(x.a, "%s/shapes.json", o->openvino), text, n, e);
	free(text);
	return rc;
}

static void warn(const char *text)
{
	msg_warn("%s", text);
}

/* --names: a file of lines NAME, tab, OPERATION. */
static int read_names(const char *path, struct arena *a, struct other_names *out, struct err *e)
{
	struct tabfile t;
	if (tabfile_read(path, false, a, &t, e) < 0)
		return -1;
	*out = (struct other_names){.n = t.n_rows,
				    .name = ARENA_NEWN(a, const char *, t.n_rows),
				    .here = ARENA_NEWN(a, const char *, t.n_rows)};
	for (uint32_t i = 0; i < t.n_rows; i++) {
		if (t.n_cells[i] != 2)
			return err_set(e, ST_INPUT, "'%s', line %u: not NAME, a tab, OPERATION",
				       path, i + 1);
		out->name[i] = t.cell[i][0];
		out->here[i] = t.cell[i][1];
	}
	return 0;
}

/* What an operation of another name is called here; the name itself where none is. */
static const char *called_here(const struct graph *g, const struct other_names *x, const char *name)
{
	for (uint32_t v = 0; v < g->n; v++)
		if (strcmp(g->node_name[v], name) == 0)
			return name;
	for (uint32_t i = 0; i < x->n; i++)
		if (strcmp(x->name[i], name) == 0)
			return x->here[i];
	return name;
}

static const char *escaped(const char *s, struct arena *a)
{
	size_t n = strlen(s), cap = 4 * n + 4;
	return err_escape(arena_raw(a, cap, 1), cap, s, n);
}

static int write_text(FILE *out, const struct input *in, const struct options *o,
		      const struct screen *screen, struct err *e)
{
	const struct answer *x = &in->x;
	const struct graph *g = x->graph;
	struct arena *a = x->arena;
	struct placed p;
	uint32_t k = x->place.k;
	const char **names = arena_raw(a, k, sizeof *names);
	double *flops = ARENA_NEWN(a, double, g->n);
	memcpy(names, x->place.names, k * sizeof *names);
	if (o->map && devicemap_rename(o->map, k, names, a, e) < 0)
		return -1;
	for (uint32_t d = 0; (o->why || report_formats[o->format]->plain) && d < k; d++)
		names[d] = escaped(names[d], a);
	for (uint32_t v = 0; v < g->n; v++)
		flops[v] = (double)op_flops(g, v);
	bool *constant = arena_raw(a, g->n, sizeof *constant);
	struct placed_idle what_idles;
	find_placed(g, &x->place, o->literal, constant, &what_idles, a, &p);
	struct other_names other = {0};
	if (o->names && !o->why && strcmp(report_formats[o->format]->name, "affinity") != 0)
		return err_set(e, ST_USAGE, "--names goes with --format affinity, and with --why");
	if (o->names && read_names(o->names, a, &other, e) < 0)
		return err_prefix(e, "--names");
	struct cost_rec cost;
	if (in->cost && (cost_decode_head(in->cost, a, &cost, e) < 0 ||
			 cost_decode(in->cost, g->n_sets, 0, a, &cost, e) < 0))
		return err_prefix(e, "cost record %llu", (unsigned long long)in->cost->index);
	const struct report_input input = {
		.x = x,
		.p = &p,
		.map = o->map,
		.names = names,
		.flops = flops,
		.constant = constant,
		.other = o->names ? &other : NULL,
		.devs = in->has_devs ? &in->devs : NULL,
		.trace = &in->trace,
		.history = &in->history,
		.comparison = &in->comparison,
		.others = &in->others,
		.cost = in->cost && cost.graph == g->digest ? &cost : NULL,
		.idle = &what_idles,
		.literal = o->literal,
		.curve = o->curve ? &in->curve : NULL,
		.traded = o->precision ? &in->traded : NULL,
		.objective = o->objective,
		.phases = o->phases,
		.search_s = o->search_s,
		.screen = screen,
		.warn = warn,
	};
	if (o->why)
		return why_write(out, &input, called_here(g, &other, o->why), e);
	int rc = report_formats[o->format]->write(out, &input, e);
	if (rc < 0)
		return -1;
	if (o->segments && write_segments(g, &p, constant, names, o, a, e) < 0)
		return -1;
	if (o->openvino && write_openvino(x, o, e) < 0)
		return -1;
	if (o->segments || o->openvino)
		warn_outgrown(g, o->segments ? o->segments : o->openvino);
	return rc;
}

/* The whole text first, so that a failure leaves no half of it.  1: written, and it names
 * problems. */
static int write_answer(const char *path, const struct input *x, const struct options *o,
			struct err *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&text, &n);
	const struct screen screen = screen_find(path, (enum screen_colour)o->colour);
	struct newfile file;
	if (!mem)
		return err_sys(e, ST_RUNTIME, "no memory for the text");
	int rc = write_text(mem, x, o, &screen, e);
	if (fclose(mem) != 0 && rc >= 0)
		rc = err_sys(e, ST_RUNTIME, "no memory for the text");
	if (rc >= 0 && newfile_open(&file, path, e) < 0)
		rc = -1;
	if (rc >= 0) {
		(report_formats[o->format]->styled ? screen_write : text_write)(newfile_text(&file),
										text, n);
		rc = newfile_commit(&file, e) < 0 ? -1 : rc;
	}
	free(text);
	return rc;
}

/* About the graph as it was placed, whatever becomes of the answer. */
static int read_traded(const char *path, struct input *in, struct err *e)
{
	const struct graph *g = in->x.graph;
	double *flops = MEM_NEWN(double, (size_t)g->n + 1);
	int rc = read_stream(path, in, take_traded, e);
	for (uint32_t v = 0; v < g->n; v++)
		flops[v] = (double)op_flops(g, v);
	if (rc >= 0)
		traded_finish(&in->traded, g, flops);
	mem_free(flops);
	return rc;
}

/* --case: that placement in the place of the answer. */
static int choose_case(struct answer *x, int64_t n, const char *path, struct err *e)
{
	const struct case_run *best =
		n <= x->graph->n_cases ? case_runs_best(&x->cases, (uint32_t)n - 1) : NULL;
	if (!best)
		return err_set(e, ST_INPUT, "no run of case %lld in '%s', which has %u",
			       (long long)n, path, x->graph->n_cases);
	x->kind = ANSWER_PLACE;
	x->place = best->place;
	return 0;
}

static int write_outputs(const char *path, const struct options *o, const struct opt_common *c,
			 struct input *in, struct err *e)
{
	if (read_stream(path, in, take_record, e) < 0)
		return -1;
	if (in->x.kind == ANSWER_NONE)
		return err_set(e, ST_INPUT,
			       "no placement in '%s'; it should hold place or best records", path);
	if (o->random) /* in the place of those that are candidates of the stream */
		answer_forget_random(&in->x);
	if (o->random && read_stream(o->random, in, take_random, e) < 0)
		return err_prefix(e, "--random");
	if (o->search && read_stream(o->search, in, take_search, e) < 0)
		return err_prefix(e, "--search");
	if (o->values && read_stream(o->values, in, take_value, e) < 0)
		return err_prefix(e, "--values");
	if (o->precision && read_traded(o->precision, in, e) < 0)
		return err_prefix(e, "--precision");
	if (o->beside && in->wants_others && read_stream(o->beside, in, take_beside, e) < 0)
		return err_prefix(e, "--beside");
	if (o->curve && read_curve(o->curve, in, e) < 0)
		return err_prefix(e, "--curve");
	if (in->x.place.n_more > 0 && o->replica == 0 && !in->wants_history &&
	    !in->wants_comparison)
		msg_warn("the answer has %u replicas, and this is the first of them (--replica N)",
			 1 + in->x.place.n_more);
	if (answer_replica(&in->x, o->replica ? o->replica : 1, e) < 0)
		return -1;
	if (o->only_case && choose_case(&in->x, o->only_case, path, e) < 0)
		return -1;
	if (!in->wants_trace && !in->wants_others && !in->wants_comparison) {
		const struct graph *cut = in->x.graph;
		answer_join_parts(&in->x);
		if (in->x.graph != cut) { /* they are about the parts */
			trace_release(&in->trace);
			rec_drop(in->cost);
			in->cost = NULL;
		}
	}
	int rc = write_answer(c->output, in, o, e);
	return rc > 0 ? err_set(e, ST_INPUT,
				"the placement cannot be carried out; the problems are listed")
		      : rc;
}

enum { MAX_FORMATS = 64 };

static void print_formats(void)
{
	fputs("The placement is the last final best record, without one the last best of rank\n"
	      "0, without any the last place. Formats:\n",
	      stdout);
	for (int i = 0; report_formats[i]; i++) {
		const char *line = report_formats[i]->about;

		printf("  %-9s%s", report_formats[i]->name,
		       strlen(report_formats[i]->name) > 9 ? "\n            " : " ");
		for (size_t n; *line; line += n + (line[n] == '\n')) {
			n = strcspn(line, "\n");
			printf("%s%.*s\n", line == report_formats[i]->about ? "" : "            ",
			       (int)n, line);
		}
	}
	fputs("--segments: files that OpenVINO loads one by one, in the order of index.json,\n"
	      "which says where the inputs of each come from.\n"
	      "--openvino: model.xml and model.bin with the shapes that were placed and\n"
	      "names that each occur once, affinity.json, {name: device} of exactly its\n"
	      "operations, and segments/ for where HETERO refuses. Devices have OpenVINO's\n"
	      "names (cpu:LIST: CPU, cl:P.D: GPU, ov:NAME: NAME) unless --map names others.\n"
	      "Of several lists of shapes dims are open where they differ, placement.N has\n"
	      "further placements, and shapes.json says for which shapes each one is.\n",
	      stdout);
}

int main(int argc, char **argv)
{
	const char *formats[MAX_FORMATS + 1] = {NULL};
	struct options o = {.search_s = -1};
	for (int i = 0; report_formats[i] && i < MAX_FORMATS; i++) {
		formats[i] = report_formats[i]->name;
		if (strcmp(formats[i], "table") == 0)
			o.format = i;
	}
	struct opt_common common = OPT_COMMON_INIT;
	const struct opt table[] = {
		{"format", 'f', OPT_CHOICE, &o.format, "FORMAT", "what to write", 0, 0, formats,
		 NULL},
		{"map", 'm', OPT_TEXT, &o.map, "OLD=NEW,...",
		 "other names for devices, e.g. cpu:0=CPU,cl:0.0:1=GPU.1", 0, 0, NULL, NULL},
		{"names", 0, OPT_TEXT, &o.names, "FILE",
		 "affinity, --why: names of operations in the file that the model came from, a\n"
		 "line each: NAME, tab, OPERATION",
		 0, 0, NULL, NULL},
		{"why", 'w', OPT_TEXT, &o.why, "OPERATION",
		 "instead of a format: what it takes on each device, what it waits for, and what\n"
		 "waits for it, where a run has a schedule; its name, or a part that no other "
		 "has",
		 0, 0, NULL, NULL},
		{"openvino", 0, OPT_TEXT, &o.openvino, "DIR",
		 "also write the model as it was placed, and the devices of its operations, for "
		 "OpenVINO, into DIR, which is new or empty",
		 0, 0, NULL, NULL},
		{"segments", 0, OPT_TEXT, &o.segments, "DIR",
		 "also write one IR per segment, and index.json, into DIR, which is new or empty",
		 0, 0, NULL, NULL},
		{"weights", 0, OPT_TEXT, &o.weights, "FILE",
		 "with segments, openvino: the model's .bin, when it is not where it was", 0, 0,
		 NULL, NULL},
		{"color", 0, OPT_CHOICE, &o.colour, "WHEN",
		 "with timeline, compare: colours; auto: on a terminal, unless NO_COLOR is set", 0,
		 0, screen_choices, NULL},
		{"random", 0, OPT_TEXT, &o.random, "FILE",
		 "with report, json, html: a stream with runs of random placements", 0, 0, NULL,
		 NULL},
		{"search", 0, OPT_TEXT, &o.search, "FILE",
		 "with report, json: the stream of the search, where this one has not its updates",
		 0, 0, NULL, NULL},
		{"objective", 0, OPT_TEXT, &o.objective, "NAME",
		 "with report, json, html: what was made small, if not the latency; its values "
		 "have a "
		 "column",
		 0, 0, NULL, NULL},
		{"values", 0, OPT_TEXT, &o.values, "FILE",
		 "with report, json, html: a stream with these values, simulated (devsim "
		 "--objective), "
		 "of "
		 "single devices and of this placement",
		 0, 0, NULL, NULL},
		{"precision", 0, OPT_TEXT, &o.precision, "FILE",
		 "with report, json: a stream with placements in several precisions, their errors "
		 "and times (devrun mixed --path)",
		 0, 0, NULL, NULL},
		{"literal", 0, OPT_FLAG, &o.literal, NULL,
		 "constants where they were placed, not beside what reads them", 0, 0, NULL, NULL},
		{"replica", 0, OPT_INT, &o.replica, "N",
		 "of an answer with replicas this one, 1 first", 1, PLACE_MOST_REPLICAS, NULL,
		 NULL},
		{"curve", 0, OPT_TEXT, &o.curve, "FILE",
		 "with html: what the search ran when, as tabstat curve --to writes it (curves.tsv "
		 "of place)",
		 0, 0, NULL, NULL},
		{"beside", 0, OPT_TEXT, &o.beside, "FILE",
		 "with html: a stream with other placements and their schedules (devsim "
		 "--schedule), to be "
		 "shown beside this one",
		 0, 0, NULL, NULL},
		{"case", 0, OPT_INT, &o.only_case, "N",
		 "of a model with several lists of shapes (ir2dag --case): not the answer, but the "
		 "placement that took least with the N-th",
		 1, GRAPH_MAX_CASES, NULL, NULL},
		{"search-seconds", 0, OPT_REAL, &o.search_s, "S",
		 "with report, json, html: how long the search took; negative: not told", 0, 0,
		 NULL, NULL},
		{"phases", 0, OPT_TEXT, &o.phases, "TEXT",
		 "with json: phases and their seconds, as in 'model 0.4 s, profile 5.1 s'", 0, 0,
		 NULL, NULL},
		{0}};
	const struct opt_program program = {
		.name = "placeout",
		.summary = "write the placement that a stream ends with",
		.args = "[FILE]",
		.max_args = 1,
		.opts = table,
		.print_details = print_formats,
		.example =
			"placeout --format affinity --map cpu:0=CPU,cl:0.0:1=GPU final.mp > p.json",
	};
	struct err e = ERR_INIT;
	struct input in = {0};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc <= 0)
		return opt_finish(rc, &e);
	in.devs_arena = arena_new();
	in.wants_trace = report_formats[o.format]->needs_trace || o.why;
	in.wants_cost = o.why != NULL;
	in.wants_operations = report_formats[o.format]->tells_operations;
	in.wants_history = report_formats[o.format]->needs_history;
	in.wants_comparison = report_formats[o.format]->needs_comparison;
	in.wants_others = report_formats[o.format]->needs_others;
	history_init(&in.history);
	comparison_init(&in.comparison);
	answer_init(&in.x);
	struct place_objective made_small = {
		0}; /* its name alone is told; a limit is in the runs */
	rc = o.objective ? place_objective_parse(o.objective, &made_small, &e) : 0;
	if (rc == 0 && made_small.limit_s > 0)
		o.objective = "throughput";
	rc = rc < 0 ? -1 : write_outputs(first < argc ? argv[first] : "-", &o, &common, &in, &e);
	trace_release(&in.trace);
	history_release(&in.history);
	comparison_release(&in.comparison);
	scheduled_release(&in.others);
	traded_release(&in.traded);
	rec_drop(in.cost);
	answer_release(&in.x);
	arena_free(in.devs_arena);
	return opt_finish(rc, &e);
}
