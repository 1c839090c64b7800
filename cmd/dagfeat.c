/* dagfeat.c - features: reads `graph`, passes everything on, adds `feat` behind each graph, or
 * behind its `devs` and `cost` when costs are asked for.  The encodings are in
 * lib/feature/features.h. */
#include <stdio.h>

#include "base/msg.h"
#include "base/pool.h"
#include "feature/features.h"
#include "feature/fractal.h"
#include "place/problem/placeinputs.h"
#include "record/featrec.h"
#include "stream/filter.h"

struct options {
	const char *features;
	bool paper, directed;
	int64_t d_pos, radius_cap, threads;
};

/* Visits that the search for fractal dimensions makes in about ten seconds of one core. */
static const double VISIT_BUDGET = 2e9;

/* Exact dimensions are work that grows with the square of a graph: beyond four times as many visits, only who asks for so
 * many hops gets them. */
static const double EXACT_BUDGET = 8e9;

static int choose_cap(const struct options *o, const struct graph *g, struct arena *a,
		      uint32_t *out, struct err *e)
{
	*out = o->radius_cap > 0 ? (uint32_t)o->radius_cap : 0;
	if (o->radius_cap > 0)
		return 0;
	struct digraph q;
	graph_set_quotient(g, a, &q);
	if (o->radius_cap == 0) {
		uint32_t most = fractal_radius_cap(&q, o->directed, EXACT_BUDGET);
		return most == 0 ? 0
				 : err_set(e, ST_USAGE,
					   "--radius-cap 0: exact fractal dimensions of %u sets "
					   "would take minutes; "
					   "--radius-cap %u is what a minute allows, -1 what "
					   "seconds do, and "
					   "--radius-cap %u is exact, too, however long it takes",
					   q.n, most, q.n);
	}
	*out = fractal_radius_cap(&q, o->directed, VISIT_BUDGET);
	if (*out)
		msg_note(1, "fractal dimension within %u hops; --radius-cap N is within N", *out);
	return 0;
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

struct session {
	struct filter f;
	const struct options *o;
	unsigned kinds;
	struct pool *pool;
	struct place_inputs in; /* the graph; with costs, what tells them, too */
	bool seen;              /* a graph in this stream */
	bool written;           /* the features of in.g */
};

static bool wants(const struct session *s, enum feat_kind kind)
{
	return s->kinds >> kind & 1;
}

static int find_model(struct session *s, struct place_model *m, struct err *e)
{
	struct place_inputs *in = &s->in;

	if (!in->cost.k)
		return err_set(
			e, ST_INPUT,
			"no cost record for the feature costs; put 'devsim --probe' in front");
	return place_inputs_model(in, in->cost.names, in->cost.k, in->g->arena, m, e);
}

static int write_features(struct session *s, struct err *e)
{
	const struct options *o = s->o;
	struct graph *g = s->in.g;
	struct place_model model;
	struct feat_costs costs = {&model, s->in.has_devs && s->in.devs.links_told};
	struct feat_opts fo = {.kinds = s->kinds,
			       .paper = o->paper,
			       .d_pos = (uint32_t)o->d_pos,
			       .directed = o->directed,
			       .pool = s->pool};
	struct features x;

	if (wants(s, FEAT_COSTS)) {
		if (find_model(s, &model, e) < 0)
			return -1;
		fo.costs = &costs;
	}
	if (wants(s, FEAT_FRACTAL) && choose_cap(o, g, g->arena, &fo.radius_cap, e) < 0)
		return -1;
	feat_compute(g, &fo, g->arena, &x);
	msg_note(1, "'%s': %u sets, %u columns", g->name, x.n, x.d);
	s->written = true;
	return write_feat(s->f.out, g, &x, o->paper, e);
}

/* Features of a graph whose costs or devices did not come. */
static int write_late(struct session *s, struct err *e)
{
	return s->in.g && !s->written ? write_features(s, e) : 0;
}

static int take_graph(struct session *s, const struct rec *r, struct err *e)
{
	if (write_late(s, e) < 0)
		return -1;
	if (s->in.g)
		place_inputs_reset(&s->in);
	s->seen = true;
	s->written = false;
	if (place_inputs_take(&s->in, r, e) < 0 || filter_pass(&s->f, r, e) < 0)
		return -1;
	return wants(s, FEAT_COSTS) ? 0 : write_features(s, e);
}

/* The features are written as soon as costs and devices are told, in any order. */
static int take_costs(struct session *s, const struct rec *r, struct err *e)
{
	struct place_inputs *in = &s->in;

	if (place_inputs_take(in, r, e) < 0 || filter_pass(&s->f, r, e) < 0)
		return -1;
	return in->g && in->cost.k && in->has_devs ? write_features(s, e) : 0;
}

static int end_stream(struct session *s, struct err *e)
{
	if (!s->seen)
		return err_set(e, ST_INPUT, "a stream without a graph; put ir2dag in front");
	if (write_late(s, e) < 0)
		return -1;
	place_inputs_reset(&s->in);
	s->seen = false;
	return filter_end(&s->f, e);
}

static int run(struct session *s, struct err *e)
{
	struct rec r;
	int k;

	while ((k = filter_next(&s->f, &r, e)) > 0) {
		bool costs = wants(s, FEAT_COSTS) && !(s->in.g && s->written);
		int rc;

		if (k == FILTER_END)
			rc = end_stream(s, e);
		else if (rec_is(&r, "graph"))
			rc = take_graph(s, &r, e);
		else if (costs && (rec_is(&r, "devs") || rec_is(&r, "cost")))
			rc = take_costs(s, &r, e);
		else
			rc = filter_pass(&s->f, &r, e);
		if (rc < 0)
			return -1;
	}
	return k;
}

static void print_features(void)
{
	char all[400], paper[400], text[1000];
	snprintf(text, sizeof text,
		 "Reads graph, adds feat (docs/reference/stream.md). Features: %s; all of them "
		 "but costs: all. Those of the paper: paper, which is %s. costs needs a cost "
		 "record in front of dagfeat, as 'devsim --probe' writes it.",
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
		 "fractal dimension within N hops; 0: exact, refused where that takes\n"
		 "minutes; -1: exact while that takes seconds, else as far as seconds\n"
		 "go",
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
		.example = "ir2dag model.xml | dagfeat --features all,-fractal | recdump\n"
			   "  ir2dag model.xml | devsim --probe --spec paper | dagfeat --features "
			   "all,costs",
	};
	struct err e = ERR_INIT;
	struct session s = {.o = &o};
	int first, k = opt_parse(&program, &common, argc, argv, &first, &e);
	if (k <= 0)
		return filter_finish(k, &common, &e);
	if (feat_parse(o.features ? o.features : o.paper ? "paper" : "all", &s.kinds, &e) < 0)
		return filter_finish(err_prefix(&e, "--features"), &common, &e);
	if (o.d_pos % 2)
		return filter_finish(
			err_set(&e, ST_USAGE, "--d-pos: %lld is odd", (long long)o.d_pos), &common,
			&e);
	if (filter_open(&s.f, first < argc ? argv[first] : "-", &common, argc, argv, &e) < 0)
		return filter_finish(-1, &common, &e);
	s.f.threads = o.threads ? (int)o.threads : pool_n_cpus();
	s.pool = pool_new(s.f.threads, NULL);
	k = place_inputs_init(&s.in, NULL, &e);
	k = k < 0 ? k : run(&s, &e);
	place_inputs_release(&s.in);
	pool_free(s.pool);
	return filter_finish(filter_close(&s.f, k, &e), &common, &e);
}
