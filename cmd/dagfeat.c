/* dagfeat.c - features: reads `graph`, passes everything on, adds `feat` behind
 * each graph.  The encodings are in lib/feature/features.h. */
#include <stdio.h>

#include "base/msg.h"
#include "base/pool.h"
#include "feature/features.h"
#include "feature/fractal.h"
#include "record/featrec.h"
#include "record/graphrec.h"
#include "stream/filter.h"

struct options {
	const char *features;
	bool paper, directed;
	int64_t d_pos, radius_cap, threads;
};

/* Visits that the search for fractal dimensions makes in about ten seconds of one core. */
static const double VISIT_BUDGET = 2e9;

static uint32_t choose_cap(const struct options *o, const struct graph *g, struct arena *a)
{
	if (o->radius_cap >= 0)
		return (uint32_t)o->radius_cap;
	struct digraph q;
	graph_set_quotient(g, a, &q);
	uint32_t cap = fractal_radius_cap(&q, o->directed, VISIT_BUDGET);
	if (cap)
		msg_note(1, "fractal dimension within %u hops; --radius-cap 0 follows all paths",
			 cap);
	return cap;
}

static int write_feat(struct rec_writer *w, const struct graph *g, const struct features *x,
		      bool paper, struct err *e)
{
	const struct feat_rec out = {.graph = g->digest,
				     .n_sets = x->n,
				     .d = x->d,
				     .columns = x->column,
				     .x = x->x,
				     .encoding = paper ? "paper" : "fixed"};
	return feat_encode(&out, w, e);
}

static int add_features(struct filter *f, const struct rec *r, const struct options *o,
			unsigned kinds, struct pool *pool, struct err *e)
{
	struct graph *g = graph_decode(r, e);
	if (!g)
		return -1;
	struct feat_opts fo = {.kinds = kinds,
			       .paper = o->paper,
			       .d_pos = (uint32_t)o->d_pos,
			       .directed = o->directed,
			       .pool = pool};
	struct features x;
	if (kinds >> FEAT_FRACTAL & 1)
		fo.radius_cap = choose_cap(o, g, g->arena);
	feat_compute(g, &fo, g->arena, &x);
	msg_note(1, "'%s': %u sets, %u columns", g->name, x.n, x.d);
	int rc = filter_pass(f, r, e);
	if (rc == 0)
		rc = write_feat(f->out, g, &x, o->paper, e);
	graph_free(g);
	return rc;
}

static int run(struct filter *f, const struct options *o, unsigned kinds, struct pool *pool,
	       struct err *e)
{
	struct rec r;
	bool seen = false;
	int k;
	while ((k = filter_next(f, &r, e)) > 0) {
		int rc;
		if (k == FILTER_END && !seen)
			rc = err_set(e, ST_INPUT, "a stream without a graph; put ir2dag in front");
		else if (k == FILTER_END)
			rc = filter_end(f, e);
		else if (rec_is(&r, "graph"))
			rc = add_features(f, &r, o, kinds, pool, e);
		else
			rc = filter_pass(f, &r, e);
		if (rc < 0)
			return -1;
		seen = k != FILTER_END && (seen || rec_is(&r, "graph"));
	}
	return k;
}

static void print_features(void)
{
	char all[400], paper[400], text[1000];
	snprintf(text, sizeof text,
		 "Reads graph, adds feat (docs/reference/stream.md). Features: %s; all of them: "
		 "all. Those of "
		 "the paper: paper, which is %s.",
		 feat_names(false, all, sizeof all), feat_names(true, paper, sizeof paper));
	opt_print(text);
}

int main(int argc, char **argv)
{
	struct options o = {.d_pos = 16, .radius_cap = -1};
	struct opt_common common = OPT_COMMON_INIT;
	const struct opt table[] = {
		{"features", 'f', OPT_TEXT, &o.features, "LIST",
		 "names with commas between, '-' in front leaves one out (default: all,\n"
		 "with --paper: paper)",
		 0, 0, NULL, NULL},
		{"paper", 0, OPT_FLAG, &o.paper, NULL,
		 "the paper's encodings: columns for the types and degrees that this graph\n"
		 "has, dims and index as they are",
		 0, 0, NULL, NULL},
		{"d-pos", 0, OPT_INT, &o.d_pos, "N", "columns of the sinusoidal encoding; even", 2,
		 1024, NULL, NULL},
		{"directed", 0, OPT_FLAG, &o.directed, NULL,
		 "fractal dimension along the arrows only", 0, 0, NULL, NULL},
		{"radius-cap", 0, OPT_INT, &o.radius_cap, "N",
		 "fractal dimension within N hops; 0: exact; -1: exact while that\n"
		 "takes seconds, else as far as seconds go",
		 -1, 4e9, NULL, NULL},
		{"threads", 't', OPT_INT, &o.threads, "N", "threads; 0: one per processor", 0, 1024,
		 NULL, NULL},
		{0}};
	const struct opt_program program = {
		.name = "dagfeat",
		.summary = "add the features of co-located sets to a stream",
		.args = "[FILE]",
		.max_args = 1,
		.opts = table,
		.print_details = print_features,
		.details =
			"By default all graphs have the same columns, so that trained parameters "
			"apply to any of them.",
		.example = "ir2dag model.xml | dagfeat --features all,-fractal | recdump",
	};
	struct err e = ERR_INIT;
	struct filter f;
	unsigned kinds;
	int first, k = opt_parse(&program, &common, argc, argv, &first, &e);
	if (k <= 0)
		return opt_finish(k, &e);
	if (feat_parse(o.features ? o.features : o.paper ? "paper" : "all", &kinds, &e) < 0)
		return opt_finish(err_prefix(&e, "--features"), &e);
	if (o.d_pos % 2)
		return opt_finish(err_set(&e, ST_USAGE, "--d-pos: %lld is odd", (long long)o.d_pos),
				  &e);
	if (filter_open(&f, first < argc ? argv[first] : "-", &common, argc, argv, &e) < 0)
		return opt_finish(-1, &e);
	f.threads = o.threads ? (int)o.threads : pool_n_cpus();
	struct pool *pool = pool_new(f.threads, NULL);
	k = run(&f, &o, kinds, pool, &e);
	pool_free(pool);
	return opt_finish(filter_close(&f, k, &e), &e);
}
