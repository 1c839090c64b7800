/* daggroup - in front of gpnembed or placebase: groups of co-location sets from a partitioner or a
 * simple rule, in the place of learned parsing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/opt.h"
#include "record/graphrec.h"
#include "record/grouprec.h"
#include "record/partrec.h"
#include "partition/grouping.h"
#include "place/problem/placeinputs.h"
#include "stream/filter.h"

enum traffic { TRAFFIC_BYTES, TRAFFIC_SECONDS };
static const char *const traffics[] = {"bytes", "seconds", NULL};
#define DEFAULT_SPEC "desktop-cpu"

struct options {
	const struct group_method *method;
	const char *spec, *same; /* same: file whose groups are taken, in place of a method's */
	int64_t groups, max_size;
	int traffic; /* enum traffic */
	bool acyclic, memory;
	bool sets; /* groups become sets */
};

struct state {
	const struct options *o;
	const struct opt_common *common;
	struct place_inputs in;
	struct arena *arena; /* of one stream */
};

/* ---- the graph to group ---- */

/* Seconds of a set: the mean over devices that can run it. */
static double mean_s(const struct place_model *m, uint32_t set)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t d = 0; d < m->k; d++)
		if (place_allowed(m, set, d)) {
			sum += m->set_s[(size_t)set * m->k + d];
			n++;
		}
	return n ? sum / n : 0;
}

/* Bytes that devices have. */
static const double *copy_room(const struct place_model *m, struct arena *a)
{
	double *room = ARENA_NEWN(a, double, m->k);

	for (uint32_t d = 0; d < m->k; d++)
		room[d] = m->mem_limit[d] ? (double)m->mem_limit[d] : INFINITY;
	return room;
}

static uint64_t largest(const uint64_t *bytes, uint32_t k)
{
	uint64_t most = 0;

	for (uint32_t d = 0; d < k; d++)
		most = bytes[d] > most ? bytes[d] : most;
	return most;
}

/* Bytes that sets hold all the time, on the device where that is most; what several share counts for the first of them. */
static double *held_bytes(const struct place_model *m, struct arena *a)
{
	double *held = ARENA_NEWN(a, double, m->n_sets);

	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		held[m->tasks.task_set[t]] += (double)largest(m->task_mem + (size_t)t * m->k, m->k);
	for (uint32_t i = 0; i < m->n_shared; i++) {
		uint32_t t = m->weight_task[m->shared[i].first];

		held[m->tasks.task_set[t]] += (double)largest(m->shared[i].bytes, m->k);
	}
	return held;
}

static void build_graph(const struct state *s, const struct place_model *m, double *held,
			struct group_graph *g)
{
	struct sched_mean_link link = sched_mean_link(&m->costs.links);
	struct digraph q;

	graph_set_quotient(m->g, s->arena, &q);
	*g = (struct group_graph){.n = q.n, .m = q.m, .src = q.src, .dst = q.dst, .ordered = true};
	g->weight = ARENA_NEWN(s->arena, double, g->n);
	g->traffic = ARENA_NEWN(s->arena, double, g->m);
	g->memory = s->o->memory ? held : NULL;
	for (uint32_t v = 0; v < g->n; v++)
		g->weight[v] = mean_s(m, v);
	for (uint32_t i = 0; i < g->m; i++)
		g->traffic[i] = s->o->traffic == TRAFFIC_BYTES
					? (double)q.bytes[i]
					: sched_mean_copy_s(&link, q.bytes[i]);
}

static const uint8_t *copy_mask(const struct place_model *m, struct arena *a)
{
	uint8_t *mask = ARENA_NEWN(a, uint8_t, (size_t)m->n_sets * m->k);

	for (uint32_t i = 0; i < m->n_sets; i++)
		for (uint32_t d = 0; d < m->k; d++)
			mask[(size_t)i * m->k + d] = place_allowed(m, i, d);
	return mask;
}

/* ---- a stream ---- */

/* The model of the stream's costs; without any, that of a usual processor. */
static int make_model(struct state *s, struct place_model *m, struct err *e)
{
	struct place_inputs *x = &s->in;
	const char **names;
	uint32_t k;

	if (!x->cost.k && !s->o->spec && !x->spec.n_devs &&
	    spec_load(DEFAULT_SPEC, x->arena, &x->spec, e) < 0)
		return -1;
	bool by_spec = !x->cost.k || s->o->spec;

	k = by_spec ? x->spec.n_devs : x->cost.k;
	names = ARENA_NEWN(s->arena, const char *, k);
	for (uint32_t d = 0; d < k; d++)
		names[d] = by_spec ? x->spec.dev[d].name : x->cost.names[d];
	struct spec kept = x->spec;

	if (!by_spec)
		x->spec = (struct spec){0};
	int rc = place_inputs_model(x, names, k, s->arena, m, e);

	x->spec = kept;
	return rc;
}

/* Tells how good the groups are, with -v. */
static void describe_groups(const struct state *s, const struct group_graph *g,
			    const uint32_t *group, const struct group_told *t)
{
	double all = 0, cut = 0, sum = 0, largest = 0;
	double *weight = ARENA_NEWN(s->arena, double, t->n_groups);

	for (uint32_t i = 0; i < g->m; i++) {
		all += g->traffic[i];
		cut += group[g->src[i]] != group[g->dst[i]] ? g->traffic[i] : 0;
	}
	for (uint32_t v = 0; v < g->n; v++) {
		weight[group[v]] += g->weight[v];
		sum += g->weight[v];
	}
	for (uint32_t i = 0; i < t->n_groups; i++)
		largest = fmax(largest, weight[i]);
	msg_note(1,
		 "%s: %u groups of %u sets, %.1f %% of the %s between groups, the heaviest "
		 "%.2f times the mean",
		 s->o->method->name, t->n_groups, g->n, all > 0 ? 100 * cut / all : 0,
		 traffics[s->o->traffic], sum > 0 ? largest * t->n_groups / sum : 1);
	if (t->joined || t->moved)
		msg_note(1, "circles: %u sets moved, %u joined", t->moved, t->joined);
	if (t->capped || t->filled)
		msg_note(1, "%u groups more by cutting, %u by halving", t->capped, t->filled);
	if (t->over)
		msg_note(0, "%u groups have more than --max-size sets, which must stay together",
			 t->over);
	if (t->no_room)
		msg_note(0,
			 "%u groups hold more than any device that can run them has, and must "
			 "stay together",
			 t->no_room);
}

/* Groups of the graph with this digest: those of the last `part` or `group` record in a file. */
static int read_groups(const char *path, uint64_t graph, uint32_t n, struct arena *a,
		       const uint32_t **out, struct err *e)
{
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct part_rec part;
	struct group_rec group;
	struct rec r;
	int k = in ? 1 : -1;
	*out = NULL;
	while (k > 0 && (k = rec_next(in, &r, e)) > 0) {
		bool is_part = rec_is(&r, "part");
		if (!is_part && !rec_is(&r, "group"))
			continue;
		if ((is_part ? part_decode(&r, a, &part, e) : group_decode(&r, a, &group, e)) < 0)
			k = -1;
		else if ((is_part ? part.id.graph : group.graph) != graph ||
			 (is_part ? part.n_sets : group.n_sets) != n)
			k = err_set(e, ST_INPUT, "groups of another graph");
		else
			*out = is_part ? part.p.group : group.group;
	}
	rec_reader_close(in);
	if (k == 0 && !*out)
		k = err_set(e, ST_INPUT, "no part and no group record");
	return k < 0 ? err_prefix(e, "--of '%s'", path) : 0;
}

static int add_groups(struct state *s, struct filter *f, struct err *e)
{
	const struct options *o = s->o;
	struct place_model m;
	struct group_graph g;
	struct group_told told;

	if (!s->in.g)
		return err_set(e, ST_INPUT, "no graph in the input; ir2dag makes one");
	arena_reset(s->arena);
	if (make_model(s, &m, e) < 0)
		return -1;
	double *held = held_bytes(&m, s->arena);
	build_graph(s, &m, held, &g);
	struct group_options go = {.n_groups = (uint32_t)o->groups,
				   .max_size = (uint32_t)o->max_size,
				   .together = m.together,
				   .mask = copy_mask(&m, s->arena),
				   .held = held,
				   .room = copy_room(&m, s->arena),
				   .k = m.k,
				   .acyclic = o->acyclic || o->sets,
				   .seed = (uint64_t)s->common->seed};
	struct group_rec out = {.graph = m.g->digest,
				.method = o->method->name,
				.n_sets = g.n,
				.group = ARENA_NEWN(s->arena, uint32_t, g.n)};

	if (o->same && read_groups(o->same, out.graph, g.n, s->arena, &go.fixed, e) < 0)
		return -1;
	if (group_make(o->method, &g, &go, out.group, &told, e) < 0)
		return -1;
	out.n_groups = told.n_groups;
	describe_groups(s, &g, out.group, &told);
	if (!o->sets)
		return group_encode(&out, f->out, e);
	return graph_join_sets(s->in.g, out.group, out.n_groups, e) < 0
		       ? -1
		       : graph_encode(s->in.g, f->out, e);
}

/* A record goes on, unless its place will be taken. */
static int take(struct state *s, struct filter *f, const struct rec *r, struct err *e)
{
	if (place_inputs_take(&s->in, r, e) < 0)
		return -1;
	if (rec_is(r, "group") || (s->o->sets && rec_is(r, "graph")))
		return 0;
	if (s->o->sets)
		return err_set(e, ST_INPUT,
			       "a record '%s' is about the sets as they were; --sets goes "
			       "right behind ir2dag",
			       r->kind);
	return filter_pass(f, r, e);
}

static int run_filter(struct state *s, struct filter *f, struct err *e)
{
	struct rec r;
	int k;

	while ((k = filter_next(f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (take(s, f, &r, e) < 0)
				return -1;
			continue;
		}
		if (add_groups(s, f, e) < 0 || filter_end(f, e) < 0)
			return -1;
		place_inputs_reset(&s->in);
	}
	return k;
}

static int run_file(struct state *s, const char *path, int argc, char **argv, struct err *e)
{
	struct filter f;
	int rc = place_inputs_init(&s->in, s->o->spec, e);

	if (rc == 0)
		rc = filter_open(&f, path, s->common, argc, argv, e);
	if (rc == 0)
		rc = filter_close(&f, run_filter(s, &f, e), e);
	place_inputs_release(&s->in);
	return rc;
}

/* ---- options ---- */

/* In place of a method. */
static const struct group_method same = {"same", "those of --of FILE", "", NULL};

static void print_list(void)
{
	printf("method\twhat it does\tsource\n");
	for (const struct group_method *x = group_methods; x->name; x++)
		printf("%s\t%s\t%s\n", x->name, x->about, x->source);
}

static void print_methods(void)
{
	printf("Methods:\n");
	for (const struct group_method *x = group_methods; x->name; x++)
		printf("  %-17s%s\n", x->name, x->about);
}

static const char details[] =
	"--list has their sources. Sets weigh their mean cost over devices: of --spec, else of the "
	"stream's cost record, else of the preset " DEFAULT_SPEC ". Sets that share a device "
	"(together) stay in one group, and some device can run each group as a whole and has the "
	"memory for what it holds: other groups are cut. Where a method gives too few groups, the "
	"heaviest are halved along the topological order. A group record "
	"that was in the stream is replaced. gpnembed uses the groups in the place of its parsing; "
	"placebase places each group as one.";

int main(int argc, char **argv)
{
	struct options o = {0};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	const struct opt opts[] = {
		{"groups", 'g', OPT_INT, &o.groups, "N",
		 "groups; 0: as many as --max-size needs, and without that the square root of\n"
		 "the number of sets",
		 0, UINT32_MAX, NULL, NULL},
		{"of", 0, OPT_TEXT, &o.same, "FILE",
		 "instead of METHOD: the groups of the last part or group record in that stream,\n"
		 "as gpnembed writes it",
		 0, 0, NULL, NULL},
		{"max-size", 0, OPT_INT, &o.max_size, "N",
		 "at most N sets in a group; 0: any number", 0, UINT32_MAX, NULL, NULL},
		{"acyclic", 0, OPT_FLAG, &o.acyclic, NULL,
		 "no groups that wait for each other in a circle: sets move, the fewest steps\n"
		 "along the order of groups (isotonic regression)",
		 0, 0, NULL, NULL},
		{"sets", 0, OPT_FLAG, &o.sets, NULL,
		 "groups become the sets of the graph, with --acyclic: features, costs and\n"
		 "placements are theirs, and with devrun --fuse sets each is a segment",
		 0, 0, NULL, NULL},
		{"memory", 0, OPT_FLAG, &o.memory, NULL,
		 "metis: balance the bytes that sets hold, too", 0, 0, NULL, NULL},
		{"traffic", 0, OPT_CHOICE, &o.traffic, "WHAT",
		 "what edges weigh: bytes, or the mean seconds of a copy", 0, 0, traffics, NULL},
		{"spec", 's', OPT_TEXT, &o.spec, "LIST", "device specification, as in devsim", 0, 0,
		 NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "daggroup",
		.summary = "group co-location sets",
		.args = "METHOD [FILE]",
		.max_args = 2,
		.has_seed = true,
		.opts = opts,
		.print_details = print_methods,
		.details = details,
		.print_list = print_list,
		.example =
			"mkfifo loop\n"
			"  ir2dag m.xml | dagfeat | devsim --probe | daggroup metis --groups 24 |\n"
			"  gpnembed --params-from loop | placepolicy | devsim |\n"
			"  reinforce --params-to loop > result.mp\n"
			"  ir2dag m.xml | devsim --probe | daggroup heavy-edge --acyclic |\n"
			"  placebase anneal | devsim"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);

	if (rc <= 0)
		return filter_finish(rc, &common, &e);
	if (!o.same && first == argc)
		return filter_finish(err_set(&e, ST_USAGE, "no METHOD; --list has them"), &common,
				     &e);
	o.method = o.same ? &same : group_method_find(argv[first++], &e);
	if (!o.method)
		return filter_finish(-1, &common, &e);
	if (first + 1 < argc)
		return filter_finish(
			err_set(&e, ST_USAGE, "two inputs; --of takes the place of METHOD"),
			&common, &e);
	struct state s = {.o = &o, .common = &common, .arena = arena_new()};
	rc = run_file(&s, first < argc ? argv[first] : "-", argc, argv, &e);
	arena_free(s.arena);
	return filter_finish(rc, &common, &e);
}
