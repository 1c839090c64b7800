/* ir2dag - an OpenVINO IR becomes a graph record: operations, tensors, constants
 * and co-location sets.  The first stage of the pipeline. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "dynamic/shapes.h"
#include "record/graphrec.h"
#include "ir/ir.h"
#include "stream/filter.h"

struct options {
	struct opt_common common;
	const char *weights;
	int constants; /* enum const_mode */
	bool no_colocate, split_variables, any_operator, stats;
	struct opt_texts shapes;
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

static int give_shapes(struct graph *g, const struct options *o, struct err *e)
{
	struct shape_list l = {0};
	struct arena *a = arena_new();
	int rc = 0;
	for (int i = 0; i < o->shapes.n && rc == 0; i++)
		rc = shapes_parse(o->shapes.v[i], a, &l, e);
	if (rc == 0 && l.n > 0)
		rc = shapes_apply(g, &l, e);
	arena_free(a);
	return rc;
}

static int run(const struct options *o, const char *path, int argc, char **argv, struct err *e)
{
	struct ir_report rep;
	const struct ir_options ir = {.weights = o->weights, .any_operator = o->any_operator};
	struct graph *g = ir_read(path, &ir, &rep, e);
	if (!g)
		return -1;
	if (give_shapes(g, o, e) < 0) {
		graph_free(g);
		return -1;
	}
	graph_colocate(g, (enum const_mode)o->constants, !o->no_colocate);
	if (!o->split_variables)
		graph_join_variables(g);
	note(g, &rep);
	int rc = 0;
	if (o->stats)
		print_stats(g, &rep);
	else
		rc = write_stream(g, o, argc, argv, e);
	graph_free(g);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {.common = OPT_COMMON_INIT, .constants = CONST_KEEP};
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
	if (rc > 0)
		rc = run(&o, argv[first], argc, argv, &e);
	return filter_finish(rc, &o.common, &e);
}
