/* ir2dag - an OpenVINO IR becomes a graph record: operations, tensors, constants
 * and co-location sets.  The first stage of the pipeline. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "dynamic/lengths.h"
#include "dynamic/phases.h"
#include "dynamic/shapes.h"
#include "graph/body_times.h"
#include "graph/case_value.h"
#include "record/graphrec.h"
#include "ir/ir.h"
#include "stream/filter.h"

enum { MERGE = 6 }; /* cases of a histogram, unless --merge says otherwise */

struct options {
	struct opt_common common;
	const char *weights;
	int constants; /* enum const_mode */
	bool no_colocate, split_variables, any_operator, stats;
	struct opt_texts shapes, cases, branches, trips;
	int64_t prefill, decode, past, rows; /* 0: not given; past -1 */
	const char *histogram;               /* a file */
	int64_t merge;
	const char *over_text;
	double over;
};

static const char *const const_modes[] = {"keep", "drop", "fold", NULL};

/* ---- --stats ---- */

static int by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Constants of g and its bodies: places in the .bin from out[2 * n] on, as offset and bytes. */
static size_t const_places(const struct graph *g, uint64_t *out, size_t n)
{
	for (uint32_t c = 0; c < g->n_const; c++, n++)
		if (out) {
			out[2 * n] = g->const_offset[c];
			out[2 * n + 1] = g->const_bytes[c];
		}
	for (uint32_t b = 0; b < g->n_bodies; b++)
		n = const_places(g->body[b].graph, out, n);
	return n;
}

/* Bytes of all constants; many share their place with another one and count once. */
static uint64_t const_bytes(const struct graph *g)
{
	size_t n = const_places(g, NULL, 0);
	uint64_t *place = MEM_NEWN(uint64_t, 2 * n), sum = 0;
	const_places(g, place, 0);
	qsort(place, n, 2 * sizeof *place, by_offset);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || by_offset(place + 2 * i, place + 2 * i - 2) != 0)
			sum += place[2 * i + 1];
	mem_free(place);
	return sum;
}

static uint32_t body_nodes(const struct graph *g)
{
	uint32_t n = 0;
	for (uint32_t b = 0; b < g->n_bodies; b++)
		n += g->body[b].graph->n + body_nodes(g->body[b].graph);
	return n;
}

static void print_stats(const struct graph *g, const struct ir_report *rep)
{
	struct digraph q;
	struct arena *a = arena_new();
	char name[200];
	uint32_t dynamic = 0, n_out = g->out_ptr[g->n];
	graph_set_quotient(g, a, &q);
	for (uint32_t o = 0; o < n_out; o++)
		dynamic += graph_out_elements(g, o) < 0;
	printf("model\t%s\n", err_escape(name, sizeof name, g->name, strlen(g->name)));
	printf("ir_version\t%u\n", g->ir_version);
	printf("graph\t|V|\t%u\t|E|\t%u\n", g->n, graph_n_edges(g));
	printf("co-located\t|V|\t%u\t|E|\t%u\n", q.n, q.m);
	printf("constants\t%u\tbytes\t%" PRIu64 "\n", g->n_const, const_bytes(g));
	printf("tensors\t%u\tdynamic\t%u\n", n_out, dynamic);
	printf("bodies\t%u\tnodes\t%u\n", g->n_bodies, body_nodes(g));
	printf("dropped\t%u\tof\t%u\n", rep->n_dropped, rep->n_layers);
	arena_free(a);
}

/* ---- the stream ---- */

static int write_stream(struct graph *g, const struct options *o, int argc, char **argv,
			struct err *e)
{
	struct filter f;
	if (filter_open(&f, NULL, &o->common, argc, argv, e) < 0)
		return -1;
	int k = 0;
	if (filter_begin(&f, e) < 0 || graph_encode(g, f.out, e) < 0 || filter_end(&f, e) < 0)
		k = -1;
	return filter_close(&f, k, e);
}

static void note(const struct graph *g, const struct ir_report *rep)
{
	msg_note(1, "'%s': %u nodes, %u edges, %u sets", g->xml, g->n, graph_n_edges(g), g->n_sets);
	if (rep->n_dropped)
		msg_note(1, "%u of %u layers dropped: no Result or Assign depends on them",
			 rep->n_dropped, rep->n_layers);
	if (!*g->weights && g->n_const)
		msg_note(1, "no weights file beside '%s'; irfill writes one", g->xml);
}

/* ---- several lists of shapes ---- */

/* One of them, and how it counts. */
struct shapes_case {
	const char *name, *text; /* text NULL: a phase */
	double weight;
	struct phase phase;
	uint32_t n_between; /* as in struct graph_case */
	double between;
};

/* A --case: SHAPES, or SHAPES:WEIGHT. */
static int parse_case(const char *text, struct arena *a, struct shapes_case *out, struct err *e)
{
	const char *colon = strrchr(text, ':');
	char *end = NULL;
	size_t n = strlen(text);
	out->weight = 1;
	/* A name may have a colon, but no weight does without dims before it. */
	if (colon && colon > text && strchr("0123456789?]", colon[-1]) &&
	    !strpbrk(colon, ",=[];")) {
		out->weight = strtod(colon + 1, &end);
		if (end == colon + 1 || *end || !(out->weight > 0 && out->weight < 1e9))
			return err_set(e, ST_USAGE, "--case '%s': a weight is a number above 0",
				       text);
		n = (size_t)(colon - text);
	}
	out->name = out->text = arena_strndup(a, text, n);
	return 0;
}

/* The cases that stand for a file of shapes. */
static int list_lengths(const struct options *o, struct arena *a, struct shapes_case *x,
			uint32_t *n, struct err *e)
{
	struct lengths all, few;
	if (lengths_read(o->histogram, a, &all, e) < 0)
		return -1;
	if (lengths_merge(&all, (uint32_t)o->merge, o->over, a, &few, e) < 0)
		return err_prefix(e, "'%s'", o->histogram);
	for (uint32_t i = 0; i < few.n; i++)
		x[(*n)++] = (struct shapes_case){.name = few.v[i].shapes,
						 .text = few.v[i].shapes,
						 .weight = few.v[i].weight,
						 .n_between = few.v[i].n_between,
						 .between = few.v[i].between};
	if (few.n < all.n)
		msg_note(1, "%u shapes are merged into %u, between which times are interpolated",
			 all.n, few.n);
	return 0;
}

/* Who says which cases there are. */
static int check_cases(struct options *o, struct err *e)
{
	bool phases = o->prefill || o->decode;
	if (o->merge != MERGE && !o->histogram)
		return err_set(e, ST_USAGE, "--merge goes with --shapes");
	if (!phases && (o->past >= 0 || o->rows))
		return err_set(e, ST_USAGE, "--past and --rows go with --prefill and --decode");
	if ((o->cases.n > 0) + (o->histogram != NULL) + phases > 1)
		return err_set(e, ST_USAGE,
			       "either --case, or --shapes, or --prefill and --decode");
	if (o->cases.n > GRAPH_MAX_CASES)
		return err_set(e, ST_USAGE, "more than %d cases", GRAPH_MAX_CASES);
	if (o->over_text && cases_over_parse(o->over_text, &o->over, e) < 0)
		return -1;
	return o->over_text && !o->cases.n && !o->histogram
		       ? err_set(e, ST_USAGE,
				 "--over goes with --case and --shapes; phases of a language model "
				 "are parts of one request")
		       : 0;
}

/* All cases of the command line, *n of them, whose weights are shares of 1, or for phases inferences of a request. */
static int list_cases(const struct options *o, struct arena *a, struct shapes_case *x, uint32_t *n,
		      struct err *e)
{
	double sum = 0;
	*n = 0;
	for (int i = 0; i < o->cases.n; i++)
		if (parse_case(o->cases.v[i], a, &x[(*n)++], e) < 0)
			return -1;
	if (o->histogram && list_lengths(o, a, x, n, e) < 0)
		return -1;
	for (uint32_t i = 0; i < *n; i++)
		sum += x[i].weight;
	for (uint32_t i = 0; i < *n; i++) {
		x[i].weight /= sum;
		x[i].between /= sum;
	}
	int64_t rows = o->rows ? o->rows : 1;
	int64_t past = o->past >= 0 ? o->past : o->prefill + o->decode / 2;
	if (o->prefill)
		x[(*n)++] = (struct shapes_case){
			.name = "prefill", .weight = 1, .phase = {rows, o->prefill, 0}};
	if (o->decode)
		x[(*n)++] = (struct shapes_case){
			.name = "decode", .weight = (double)o->decode, .phase = {rows, 1, past}};
	return 0;
}

/* The graph with the shapes of all --shape, and of a case; c NULL: there is none. */
static struct graph *read_case(const struct options *o, const char *path,
			       const struct shapes_case *c, struct ir_report *rep, struct err *e)
{
	const struct ir_options ir = {.weights = o->weights, .any_operator = o->any_operator};
	struct graph *g = ir_read(path, &ir, rep, e);
	if (!g)
		return NULL;
	struct shape_list l = {0};
	struct arena *a = arena_new();
	int rc = 0;
	if (c && !c->text)
		rc = phase_shapes(g, &c->phase, a, &l, e);
	else if (c)
		rc = shapes_parse(c->text, a, &l, e);
	for (int i = 0; i < o->shapes.n && rc == 0; i++)
		rc = shapes_parse(o->shapes.v[i], a, &l, e);
	if (rc == 0 && l.n > 0)
		rc = shapes_apply(g, &l, e);
	if (rc < 0 && c)
		rc = err_prefix(e, "%s", c->name);
	for (int i = 0; i < o->branches.n && rc == 0; i++)
		rc = body_tell_branch(g, o->branches.v[i], e);
	for (int i = 0; i < o->trips.n && rc == 0; i++)
		rc = body_tell_trips(g, o->trips.v[i], e);
	arena_free(a);
	if (rc < 0) {
		graph_free(g);
		return NULL;
	}
	graph_colocate(g, (enum const_mode)o->constants, !o->no_colocate);
	if (!o->split_variables)
		graph_join_variables(g);
	return g;
}

static void free_cases(struct graph *g)
{
	for (uint32_t i = 1; g && i < g->n_cases; i++)
		graph_free(g->cases[i].graph);
	graph_free(g);
}

/* The graph of the first case, with those of the others. */
static struct graph *read_cases(const struct options *o, const char *path, struct ir_report *rep,
				struct err *e)
{
	struct shapes_case x[GRAPH_MAX_CASES] = {0};
	struct arena *a = arena_new();
	struct graph *g = NULL;
	uint32_t n;
	int rc = list_cases(o, a, x, &n, e);
	if (rc == 0)
		rc = (g = read_case(o, path, n ? &x[0] : NULL, rep, e)) ? 0 : -1;
	if (rc == 0 && n > 1)
		g->cases = ARENA_NEWN(g->arena, struct graph_case, n);
	if (rc == 0)
		g->over = o->over;
	for (uint32_t i = 0; i < n && n > 1 && rc == 0; i++) {
		struct graph *c = i ? read_case(o, path, &x[i], rep, e) : g;
		rc = c ? 0 : -1;
		if (!c)
			break;
		g->cases[g->n_cases++] = (struct graph_case){
			.name = arena_strndup(g->arena, x[i].name, strlen(x[i].name)),
			.weight = x[i].weight,
			.tokens = (uint64_t)(x[i].phase.rows * x[i].phase.tokens),
			.n_between = x[i].n_between,
			.between = x[i].between,
			.graph = c};
		if (c->n != g->n || memcmp(c->set, g->set, g->n * sizeof *g->set) != 0)
			rc = err_set(e, ST_INPUT,
				     "with the shapes of '%s' the model has other operations than "
				     "with those of '%s'",
				     x[i].name, x[0].name);
	}
	arena_free(a);
	if (rc == 0)
		return g;
	free_cases(g);
	return NULL;
}

static int run(const struct options *o, const char *path, int argc, char **argv, struct err *e)
{
	struct ir_report rep;
	struct graph *g = read_cases(o, path, &rep, e);
	if (!g)
		return -1;
	note(g, &rep);
	int rc = 0;
	if (o->stats)
		print_stats(g, &rep);
	else
		rc = write_stream(g, o, argc, argv, e);
	free_cases(g);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {
		.common = OPT_COMMON_INIT, .constants = CONST_KEEP, .past = -1, .merge = MERGE};
	const struct opt opts[] = {
		{"stats", 0, OPT_FLAG, &o.stats, NULL,
		 "Print |V| and |E| before and after co-location and other\n"
		 "counts, tab-separated, instead of the stream.",
		 0, 0, NULL, NULL},
		{"constants", 0, OPT_CHOICE, &o.constants, "MODE",
		 "Constants as nodes to place (keep all; drop Const nodes; or\n"
		 "fold, drop all that is computed from constants alone)",
		 0, 0, const_modes, NULL},
		{"no-colocate", 0, OPT_FLAG, &o.no_colocate, NULL,
		 "Every node is its own set, but for variables.", 0, 0, NULL, NULL},
		{"split-variables", 0, OPT_FLAG, &o.split_variables, NULL,
		 "What reads and what assigns a variable, and what lies between,\n"
		 "may be placed apart. devrun can run that; OpenVINO's HETERO and\n"
		 "segments as files cannot.",
		 0, 0, NULL, NULL},
		{"weights", 0, OPT_TEXT, &o.weights, "FILE",
		 "The .bin (default: MODEL.bin beside MODEL.xml, if it is there).  One that\n"
		 "ends in .xz, .gz or .zst (MODEL.bin.xz) is decompressed into the cache.",
		 0, 0, NULL, NULL},
		{"shape", 0, OPT_TEXTS, &o.shapes, "SHAPES",
		 "Shapes of inputs, from which all others are inferred:\n"
		 "1,3,224,224 for the only input, or NAME=1,16 or NAME[1,16],\n"
		 "several with ';' between them or by more such options. A\n"
		 "variable's id is a name, too; '?' leaves a dim open.",
		 0, 0, NULL, NULL},
		{"case", 0, OPT_TEXTS, &o.cases, "SHAPES[:W]",
		 "One of several lists of shapes, as of --shape, that the model is\n"
		 "run with, and how often beside the others; give it for each.",
		 0, 0, NULL, NULL},
		{"shapes", 0, OPT_TEXT, &o.histogram, "FILE",
		 "The same from a file: on each line shapes and, behind a blank or\n"
		 "tab, how often they come.",
		 0, 0, NULL, NULL},
		{"merge", 0, OPT_INT, &o.merge, "N",
		 "With --shapes: N of them stand for all, between which times are\n"
		 "interpolated",
		 3, GRAPH_MAX_CASES, NULL, NULL},
		{"over", 0, OPT_TEXT, &o.over_text, "WHAT",
		 "Of --case and --shapes what is to be small: the mean latency, the\n"
		 "worst, or a percentile, as p95 (default: mean)",
		 0, 0, NULL, NULL},
		{"prefill", 0, OPT_INT, &o.prefill, "N",
		 "A language model reads a prompt of N tokens: shapes by the names\n"
		 "of its inputs and variables.",
		 1, 1 << 24, NULL, NULL},
		{"decode", 0, OPT_INT, &o.decode, "N",
		 "It writes N tokens, one after another; with --prefill that is\n"
		 "two cases, of which the second counts N times.",
		 1, 1 << 24, NULL, NULL},
		{"past", 0, OPT_INT, &o.past, "N",
		 "Tokens in its caches while it writes (default: the prompt and\n"
		 "half of what it writes)",
		 0, 1 << 24, NULL, NULL},
		{"rows", 0, OPT_INT, &o.rows, "N", "Sequences side by side (default: 1)", 1,
		 1 << 16, NULL, NULL},
		{"branch", 0, OPT_TEXTS, &o.branches, "IF:then=P",
		 "In this share of runs the If takes then, or with IF:else=P else:\n"
		 "costs are the mean of both, not those of the larger one. * and ?\n"
		 "in IF as in file names.",
		 0, 0, NULL, NULL},
		{"trips", 0, OPT_TEXTS, &o.trips, "LOOP=N",
		 "The Loop (or TensorIterator) has N rounds: costs are of so many.", 0, 0, NULL,
		 NULL},
		{"any-operator", 0, OPT_FLAG, &o.any_operator, NULL,
		 "Accept operators and opsets that are not OpenVINO's.", 0, 0, NULL, NULL},
		{0},
	};
	const struct opt_program p = {
		.name = "ir2dag",
		.summary = "turn an OpenVINO IR into a graph record",
		.args = "MODEL.xml",
		.min_args = 1,
		.max_args = 1,
		.opts = opts,
		.details = "Reads IR versions 10 and 11 and writes a stream of one graph: "
			   "operations with\n"
			   "their attributes, tensors, constants and their place in the .bin, "
			   "bodies of\n"
			   "control-flow operations, and co-location sets.  Layers that no Result "
			   "or Assign\n"
			   "depends on are dropped; -v says how many.  The .bin may be absent,\n"
			   "but --shape needs it for constants that decide shapes.",
		.example = "ir2dag model.xml | dagfeat | recdump",
	};
	struct err e = ERR_INIT;
	int first, rc = opt_parse(&p, &o.common, argc, argv, &first, &e);
	if (rc > 0 && check_cases(&o, &e) < 0)
		rc = -1;
	if (rc > 0)
		rc = run(&o, argv[first], argc, argv, &e);
	return filter_finish(rc, &o.common, &e);
}
