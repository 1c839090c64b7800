/* dagsplit.c - operations in parts: reads `graph`, writes a graph of which heavy operations are cut, with the same
 * results, so that several devices can each do a part of one.  The second stage, behind ir2dag, or behind a profile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "place/problem/placeinputs.h"
#include "record/graphrec.h"
#include "record/placerec.h"
#include "sched/turns.h"
#include "split/decide.h"
#include "split/sets.h"
#include "stream/filter.h"

enum { HALO_EXCHANGE, HALO_AGAIN };
static const char default_axes[] = "rows,channels,groups,columns,tokens,heads,sum,batch";
static const char *const halos[] = {"exchange", "again", NULL};
enum { JOINS_DEFAULT = -1, JOINS_ONCE, JOINS_EACH };
static const char *const joins[] = {"once", "each", NULL};

struct options {
	struct opt_common common;
	int64_t ways;
	bool ways_given, automatic, if_possible, rejoin;
	const char *shares, *axes, *spec;
	struct split_costs costs;
	double min_gain;
	int halo, joins;
	uint8_t group[SPLIT_MAX_WAYS];
	uint32_t share[SPLIT_MAX_WAYS];
	unsigned axis_set;
};

/* ---- options ---- */

/* The next item of a list with commas, control bytes escaped, into item[cap]; NULL: there is none. */
static const char *next_item(const char **list, char *item, size_t cap)
{
	const char *s = *list;
	if (!s)
		return NULL;
	size_t n = strcspn(s, ",");
	*list = s[n] ? s + n + 1 : NULL;
	return err_escape(item, cap, s, n);
}

static int parse_shares(struct options *o, struct err *e)
{
	char item[100];
	uint32_t n = 0;
	for (const char *s = o->shares; next_item(&s, item, sizeof item); n++) {
		int64_t share;
		if (n == SPLIT_MAX_WAYS)
			return err_set(e, ST_USAGE, "--shares: more than %d", SPLIT_MAX_WAYS);
		if (opt_int(item, "--shares", 1, 1000, &share, e) < 0)
			return -1;
		o->share[n] = (uint32_t)share;
	}
	if (o->ways_given && n != (uint32_t)o->ways)
		return err_set(e, ST_USAGE, "--shares: %u of them for --ways %lld", n,
			       (long long)o->ways);
	if (n < 2)
		return err_set(e, ST_USAGE, "--shares: one share alone cuts nothing; 4,4 is two");
	o->ways = n;
	return 0;
}

static int parse_axes(struct options *o, struct err *e)
{
	char item[100], known[200] = "";
	for (int k = 0; k < AXIS_COUNT; k++) {
		size_t at = strlen(known);
		snprintf(known + at, sizeof known - at, "%s%s", k ? ", " : "", split_axis_names[k]);
	}
	for (const char *s = o->axes ? o->axes : default_axes; next_item(&s, item, sizeof item);) {
		struct err_near near = {.name = item};
		int found = -1;
		for (int k = 0; k < AXIS_COUNT; k++) {
			if (strcmp(item, split_axis_names[k]) == 0)
				found = k;
			err_offer(&near, split_axis_names[k]);
		}
		if (found < 0)
			return err_unknown(e, ST_USAGE, &near, known, "--axes: no axis '%s'", item);
		o->axis_set |= 1U << found;
	}
	return 0;
}

/* Costs of the devices of --spec, of which the first so many have parts. */
static int load_spec(struct options *o, struct err *e)
{
	struct arena *a = arena_new();
	struct spec spec = {0};
	int rc = spec_load(o->spec, a, &spec, e);
	if (rc == 0 && !o->ways_given)
		o->ways = spec.n_devs;
	if (rc == 0 &&
	    (spec.n_devs < 2 || spec.n_devs < (uint32_t)o->ways || spec.n_devs > SPLIT_MAX_WAYS))
		rc = err_set(e, ST_USAGE, "--spec: %u devices for %lld parts", spec.n_devs,
			     (long long)o->ways);
	if (rc == 0)
		split_costs_spec(&spec, (uint32_t)o->ways, &o->costs, o->group);
	if (rc == 0 && o->joins == JOINS_DEFAULT)
		o->joins = JOINS_EACH;
	arena_free(a);
	return rc;
}

static int finish_options(struct options *o, struct err *e)
{
	o->costs = split_costs_cores;
	if (o->spec && load_spec(o, e) < 0)
		return -1;
	o->costs.apart = o->joins == JOINS_EACH;
	if (o->costs.apart && !o->spec)
		return err_set(e, ST_USAGE,
			       "--joins each: how far devices are from each other "
			       "comes from --spec");
	if (o->shares && parse_shares(o, e) < 0)
		return -1;
	return parse_axes(o, e);
}

/* ---- the stream ---- */

static void tell(const struct graph *g, const struct graph *cut, const struct split_counts *n,
		 const struct split_decision *d)
{
	msg_note(1,
		 "'%s': %u operations in parts, %u chains, %u joins, %u slices; %u nodes instead "
		 "of %u; estimated %.3f ms instead of %.3f",
		 g->name, n->cut, d->n_chains, n->joins, n->slices, cut->n, g->n, d->cut_s * 1e3,
		 d->whole_s * 1e3);
}

/* Which products and convolutions were cut, a line each. */
static void tell_all(struct split_facts *f, const struct split_plan *plan)
{
	char name[200];
	for (uint32_t v = 0; v < f->g->n && msg_verbosity() >= 2; v++) {
		int kind = split_axis_kind(f, v, plan->axis[v]);
		if (plan->axis[v] != SPLIT_WHOLE && kind >= 0)
			msg_note(2, "%s: %s, %lld in %u parts",
				 graph_layer(f->g, v, name, sizeof name), split_axis_names[kind],
				 (long long)split_extent(f, v, plan->axis[v]), plan->ways);
	}
}

static int write_cut(struct split_facts *f, const struct options *o,
		     const struct split_costs *costs, uint32_t ways, struct filter *out,
		     struct err *e)
{
	struct graph *g = (struct graph *)(uintptr_t)f->g;
	struct split_decision decision;
	struct split_counts counts;
	struct split_plan plan = {.ways = ways,
				  .share = o->shares ? o->share : NULL,
				  .axis = ARENA_NEWN(f->arena, int8_t, g->n),
				  .again = o->halo == HALO_AGAIN,
				  .apart = costs->apart,
				  .group = o->group};
	char name[200];
	err_escape(name, sizeof name, g->name, strlen(g->name));
	split_decide(f, costs, o->axis_set, !o->automatic, o->min_gain / 100, &plan, &decision);
	if (decision.may_be_cut == 0 && !o->if_possible)
		return err_set(e, ST_INPUT,
			       "no operation of '%s' can be cut into %u parts along %s", name,
			       plan.ways, o->axes ? o->axes : default_axes);
	if (decision.n_chains == 0) {
		if (o->if_possible)
			msg_note(1, "nothing of '%s' is worth cutting, it stays whole", name);
		else
			msg_warn("nothing of '%s' is worth cutting, it stays whole; --no-auto "
				 "cuts all that can be",
				 name);
		return graph_encode(g, out->out, e);
	}
	if (costs->memory_bytes > 0 && decision.weights > costs->memory_bytes)
		msg_warn("weights of '%s' do not fit: %.3g GB on each device, which has %.3g, "
			 "however "
			 "they are cut along %s",
			 name, decision.weights / 1e9, costs->memory_bytes / 1e9,
			 o->axes ? o->axes : default_axes);
	struct graph *cut = split_graph(f, &plan, &counts);
	split_sets(cut, g, f->constant);
	tell_all(f, &plan);
	tell(g, cut, &counts, &decision);
	uint8_t group[SPLIT_MAX_WAYS];
	memcpy(group, o->group, sizeof group);
	struct graph_cut how = {.ways = plan.ways,
				.rows = plan.rows,
				.share = (uint32_t *)(uintptr_t)plan.share,
				.share_of = (uint8_t *)(uintptr_t)plan.share_of,
				.axis = plan.axis,
				.again = plan.again,
				.apart = plan.apart,
				.group = group};
	cut->whole = g->whole ? g->whole : g;
	cut->cut = g->whole ? NULL : &how;
	int rc = graph_encode(cut, out->out, e);
	graph_free(cut);
	return rc;
}

/* ---- parts on one device ---- */

static int write_rejoined(const struct graph *cut, const struct place_rec *p, struct filter *out,
			  struct err *e)
{
	struct split_facts f = {0};
	struct split_counts n;
	uint16_t *device;
	if (split_facts_open(&f, cut->whole, e) < 0) {
		split_facts_close(&f);
		return -1;
	}
	struct graph *g = split_rejoin(&f, cut, p->device, &device, &n, e);
	int rc = g ? 0 : -1;
	if (g) {
		msg_note(1,
			 "%u operations stay in parts, %u joins, %u slices; %u nodes instead of %u",
			 n.cut, n.joins, n.slices, g->n, cut->n);
		rc = graph_encode(g, out->out, e);
	}
	if (rc == 0) {
		struct place_rec q = {.id = {.graph = g->digest, .sample = p->id.sample},
				      .source = p->source,
				      .k = p->k,
				      .n_sets = g->n_sets,
				      .names = p->names,
				      .device = device};
		rc = place_encode(&q, out->out, e);
	}
	graph_free(g);
	split_facts_close(&f);
	return rc;
}

/* A stream with a placement: what is not about the new graph is left out. */
static int rejoin(struct filter *f, struct err *e)
{
	struct rec r;
	struct graph *cut = NULL;
	struct arena *a = arena_new();
	int k = 0;
	bool seen = false;
	while (e->code == ST_OK && (k = filter_next(f, &r, e)) > 0) {
		struct place_rec p;
		if (k == FILTER_END) {
			if (!seen)
				err_set(e, ST_INPUT,
					"--rejoin: a stream without a placement; "
					"placebase makes one");
			else if (filter_end(f, e) == 0)
				seen = false;
		} else if (rec_is(&r, "graph")) {
			graph_free(cut);
			cut = graph_decode(&r, e);
			if (cut && (!cut->cut || !cut->part))
				err_set(e, ST_INPUT,
					"--rejoin: the graph was not cut by dagsplit, "
					"or more than once");
		} else if (rec_is(&r, "place") && !seen && cut) {
			if (place_decode(&r, cut->n_sets, 0, a, &p, e) == 0)
				seen = write_rejoined(cut, &p, f, e) == 0;
		}
	}
	graph_free(cut);
	arena_free(a);
	return e->code == ST_OK ? k : -1;
}

/* ---- the stream ---- */

/* The devices of the stream that compute at once, one part for each, from a; n 0: it tells of none. */
static uint32_t stream_devices(struct place_inputs *in, struct arena *a, const char ***names)
{
	uint32_t k = in->cost.k > 0 ? in->cost.k
		     : in->has_devs ? in->devs.k
				    : 0,
		 *dev = ARENA_NEWN(a, uint32_t, (size_t)k + 1);
	const char *const *all = in->cost.k > 0 ? in->cost.names : in->devs.names;
	uint32_t n = sched_apart(place_inputs_turns(in, all, k, a), k, dev);
	*names = ARENA_NEWN(a, const char *, (size_t)k + 1);
	for (uint32_t i = 0; i < n; i++)
		(*names)[i] = all[dev[i]];
	return n;
}

/* The least that one of these devices may hold, as the stream tells; 0: any. */
static double least_memory(const struct place_inputs *in, const char *const *names, uint32_t n)
{
	double least = 0;
	for (uint32_t i = 0; in->has_devs && i < n; i++) {
		int d = devs_find(&in->devs, names[i]);
		double bytes = d < 0 ? 0 : (double)in->devs.mem_bytes[d];
		if (bytes > 0 && (least == 0 || bytes < least))
			least = bytes;
	}
	return least;
}

/* What the stream tells of devices; *ways: their number.  Less than 2 is an error but with
 * --if-possible, where the caller leaves the graph as it is. */
static int stream_costs(struct place_inputs *in, const struct options *o, struct arena *a,
			struct split_costs *c, uint32_t *ways, struct err *e)
{
	struct place_model m;
	const char **names;
	uint32_t n = stream_devices(in, a, &names);
	if (!in->has_devs && in->cost.k == 0)
		return 0;
	if (o->spec)
		return err_set(e, ST_USAGE, "--spec: the stream tells of devices");
	if ((o->ways_given || o->shares) && (uint32_t)o->ways != n)
		return err_set(e, ST_USAGE,
			       "%s: %u devices of the stream compute at once, one part for each",
			       o->shares ? "--shares" : "--ways", n);
	*ways = n;
	if (n < 2 && o->if_possible)
		return 0;
	if (n < 2 || n > SPLIT_MAX_WAYS)
		return err_set(e, ST_INPUT,
			       "%u devices of the stream compute at once; parts are for 2 to %d", n,
			       SPLIT_MAX_WAYS);
	if (in->cost.k > 0 && place_inputs_model(in, names, n, a, &m, e) < 0)
		return -1;
	if (in->cost.k > 0)
		split_costs_measured(&m, c, a);
	c->memory_bytes = least_memory(in, names, n);
	return 0;
}

static int decide_and_write(struct place_inputs *in, const struct options *o, struct filter *out,
			    struct err *e)
{
	struct split_facts f = {0};
	struct split_costs costs = o->costs;
	struct arena *a = arena_new();
	uint32_t ways = (uint32_t)o->ways;
	int rc = stream_costs(in, o, a, &costs, &ways, e);
	if (rc == 0 && ways < 2) {
		rc = graph_encode(in->g, out->out, e);
	} else if (rc == 0) {
		rc = split_facts_open(&f, in->g, e);
		if (in->has_devs)
			costs.stays = split_stays(in->g, &in->devs, a);
		if (rc == 0)
			rc = write_cut(&f, o, &costs, ways, out, e);
		split_facts_close(&f);
	}
	arena_free(a);
	return rc;
}

static int run(struct filter *f, const struct options *o, struct err *e)
{
	struct rec r;
	struct place_inputs in;
	int k = 0, rc = place_inputs_init(&in, NULL, e);
	while (rc == 0 && (k = filter_next(f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			int taken = place_inputs_take(&in, &r, e);
			if (taken == 0)
				err_set(e, ST_INPUT,
					"a record '%s' is about the graph as it was; dagsplit goes "
					"behind ir2dag, or behind devrun probe --profile",
					r.kind);
			rc = taken > 0 ? 0 : -1;
			continue;
		}
		rc = in.g ? decide_and_write(&in, o, f, e)
			  : err_set(e, ST_INPUT, "a stream without a graph; put ir2dag in front");
		if (rc == 0)
			rc = filter_end(f, e);
		place_inputs_reset(&in);
	}
	place_inputs_release(&in);
	return rc < 0 ? rc : k;
}

int main(int argc, char **argv)
{
	struct options o = {
		.common = OPT_COMMON_INIT, .ways = 2, .automatic = true, .joins = JOINS_DEFAULT};
	const struct opt table[] = {
		{"rejoin", 0, OPT_FLAG, &o.rejoin, NULL,
		 "reads a placement of a graph that was cut: operations whose parts\n"
		 "are all on one device are whole again; writes that graph and the\n"
		 "placement",
		 0, 0, NULL, NULL},
		{"ways", 'w', OPT_INT, &o.ways, "N", "parts of an operation", 2, SPLIT_MAX_WAYS,
		 NULL, &o.ways_given},
		{"shares", 0, OPT_TEXT, &o.shares, "LIST",
		 "how large the parts are, relative to each other, as 4,4 or 5,3\n"
		 "(default: all alike; on unlike devices each chain by their times)",
		 0, 0, NULL, NULL},
		{"axes", 0, OPT_TEXT, &o.axes, "LIST",
		 "along which axes products and convolutions may be cut: of rows,\n"
		 "width, channels, groups, columns, tokens, heads, sum, batch\n"
		 "(default: all but width)",
		 0, 0, NULL, NULL},
		{"auto", 0, OPT_FLAG, &o.automatic, NULL,
		 "cut what gains by estimated costs; --no-auto: all that can be cut", 0, 0, NULL,
		 NULL},
		{"if-possible", 0, OPT_FLAG, &o.if_possible, NULL,
		 "a model of which nothing can be cut, or would gain, passes as it is,\n"
		 "without a word",
		 0, 0, NULL, NULL},
		{"spec", 's', OPT_TEXT, &o.spec, "LIST",
		 "decide by these devices, as in devsim: one part for each, and shares\n"
		 "by what is estimated (default: cores of one processor)",
		 0, 0, NULL, NULL},
		{"min-gain", 0, OPT_REAL, &o.min_gain, "PERCENT",
		 "a chain of parts that gains less, of the model's estimated time, stays\n"
		 "whole",
		 0, 100, NULL, NULL},
		{"halo", 0, OPT_CHOICE, &o.halo, "HOW",
		 "rows that windows of two parts read: from the neighbour, or\n"
		 "computed by both",
		 0, 0, halos, NULL},
		{"joins", 0, OPT_CHOICE, &o.joins, "HOW",
		 "what parts have together: joined once, in memory that all devices\n"
		 "share, or for each of them, in a memory of its own, sums as their\n"
		 "ranges, and between groups of near devices once: once, each (default:\n"
		 "once; with --spec each)",
		 0, 0, joins, NULL},
		{0}};
	const struct opt_program program = {
		.name = "dagsplit",
		.summary = "cut operations into parts, with the same results",
		.args = "[FILE]",
		.max_args = 1,
		.opts = table,
		.details =
			"Reads graph, and devs and cost of `devrun probe` where they are "
			"there: then there is a part for each device that computes at once with "
			"the others, and it decides by the costs. Writes another graph: parts of "
			"products and convolutions, and "
			"of "
			"what a cut passes through, with Concat, Add and Slice where they meet the "
			"rest. Each part is an operation with a name as 'conv1 [rows 0..55 of "
			"112]' "
			"that can be placed by itself. What dagpin, or what a device can run, "
			"keeps on some devices, or together, stays whole. rows: of images, "
			"channels: output "
			"channels, columns: of a product's weights, tokens: rows of a product, "
			"heads: many small products apart, sum: what is summed over, so that "
			"the parts are added up.\n"
			"A model of which nothing can be cut is an error (status 3); one that "
			"would not gain passes as it is, with a warning.",
		.example = "ir2dag model.xml | dagsplit --ways 2 | devsim --probe |\n"
			   "  placebase heft | devsim\n"
			   "  ir2dag model.xml | devrun probe --profile -D cpu:0,cl:0.0:1 |\n"
			   "  dagsplit -v | recdump",
	};
	struct err e = ERR_INIT;
	struct filter f;
	int first, rc = opt_parse(&program, &o.common, argc, argv, &first, &e);
	if (rc <= 0)
		return filter_finish(rc, &o.common, &e);
	if (finish_options(&o, &e) < 0)
		return filter_finish(-1, &o.common, &e);
	rc = filter_open(&f, first < argc ? argv[first] : "-", &o.common, argc, argv, &e);
	if (rc == 0)
		rc = filter_close(&f, o.rejoin ? rejoin(&f, &e) : run(&f, &o, &e), &e);
	return filter_finish(rc, &o.common, &e);
}
