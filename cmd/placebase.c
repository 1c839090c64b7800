/* placebase - in the place of gpnembed and placepolicy: placements by classical
 * methods, without learning. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/newfile.h"
#include "base/opt.h"
#include "record/placerec.h"
#include "place/bound/bound.h"
#include "place/bound/bound_divisible.h"
#include "place/heuristic/contiguous_layers.h"
#include "place/memory_plan.h"
#include "place/method/method.h"
#include "place/problem/sim_options.h"
#include "place/simulate/units.h"
#include "sched/turns.h"
#include "stream/filter.h"
#include "text/quantity.h"

static const char *const draws[] = {"mixed", "biased", "uniform", NULL};
enum { MAX_SAMPLES = 1 << 24, MAX_THREADS = 1024, MAX_METHODS = 64 };

struct options {
	struct place_options sim;
	const char *devices, *plan;
	struct place_chosen chosen[MAX_METHODS]; /* (n_chosen) that run, one after the other */
	int n_chosen;
	int64_t samples, evals, threads;
	double budget_s;
	int draw; /* enum method_draw */
	bool apart, took, hints;
};

/* What takes no method: the best single device, and contiguous layers equal by time. */
struct plain {
	bool known;
	int dev;       /* -1: none can run everything */
	double single; /* INFINITY: none, and so layers */
	double layers;
};

struct state {
	const struct options *o;
	const struct opt_common *common;
	struct place_inputs in;
	struct arena *arena;
	uint32_t k;
	const char *const *names;
	/* --apart: all devices, which records name, and which of them those above are; NULL: the same */
	uint32_t all_k, *of_all;
	const char *const *all_names;
	struct filter *f;
	struct evaluator *ev;     /* NULL: no costs */
	struct place_bound bound; /* value 0: none */
	struct divisible_bound parts;
	const char *parts_of; /* "operations", "sets"; NULL: parts are not known */
	uint32_t sample;
	const struct place_units *units; /* of the problem; NULL: no costs */
	struct plain plain;
	const struct place_method *method; /* that runs */
	double method_began_s;             /* of clock_s */
	bool unwritten;                    /* a placement could not be handed over */
	struct newfile plan;               /* of --plan */
	bool planned;                      /* it has an entry */
	struct method_run run;
};

/* What a value has more than its bound, in percent of it. */
static double gap(double bound, double value)
{
	return value > 0 ? 100 * (1 - bound / value) : 0;
}

/* What the placement takes, in the order that it brings.  Where orders are free and it brings none, p has the one
 * that was found for it. */
static const struct place_result *evaluate(struct state *s, const struct method_run *r,
					   struct place_rec *p)
{
	const struct place_result *x = p->order ? NULL : place_evaluate(s->ev, r->device);

	if (x && r->m->rules == PLACE_SCHEDULE && r->m->costs.policy == SCHED_FREE &&
	    x->status == PLACE_OK) {
		uint32_t n = r->m->tasks.dag.n, *order = ARENA_NEWN(s->arena, uint32_t, n);

		place_ran_in(s->ev, order);
		p->order = order;
		p->n_order = n;
	}
	if (!p->order)
		return x;
	struct kept_order kept = kept_order_new(r->m, s->arena);

	place_order_of(r->m, p->order, p->n_order, r->device, &kept);
	return place_evaluate_in(s->ev, r->device, &kept);
}

static void find_plain(struct state *s, const struct place_model *m)
{
	uint16_t *device = ARENA_NEWN(s->arena, uint16_t, m->n_sets);

	s->plain = (struct plain){true, -1, INFINITY, INFINITY};
	s->plain.dev = place_best_single(s->ev, &s->plain.single);
	contiguous_layers(s->units, false, device);
	const struct place_result *x = place_evaluate(s->ev, device);

	if (x->status == PLACE_OK)
		s->plain.layers = x->value;
}

/* A heuristic's answer, beside what takes none. */
static void tell_traps(struct state *s, const struct method_run *r, const char *source,
		       double value, const char *unit)
{
	char single[300] = "", layers[100] = "";

	if (!s->method->is_heuristic || !s->o->hints)
		return;
	if (!s->plain.known)
		find_plain(s, r->m);
	double limit = value * (1 - 1e-9);

	if (s->plain.single < limit)
		snprintf(single, sizeof single, "%s alone (%.9g%s)", s->names[s->plain.dev],
			 s->plain.single, unit);
	if (s->plain.layers < limit)
		snprintf(layers, sizeof layers, "contiguous layers (%.9g%s)", s->plain.layers,
			 unit);
	if (*single || *layers)
		msg_warn("%s: %.9g%s is worse than %s%s%s", source, value, unit, single,
			 *single && *layers ? " and " : "", layers);
}

/* Whose value is a latency beyond the limit, and not a time per sample. */
static void tell_limit(const struct state *s, const struct place_model *m, const char *source,
		       double lat_s)
{
	double limit_s = m->objective.limit_s;
	char takes[QUANTITY_CAP], limit[QUANTITY_CAP];

	if (s->method->needs_costs && limit_s > 0 && lat_s > limit_s)
		msg_warn("%s: takes %s, beyond the limit of %s", source,
			 quantity_seconds(lat_s, takes), quantity_seconds(limit_s, limit));
}

/* Fills the prediction of r's placement, and the bound that no placement beats. */
static void predict(struct state *s, const struct method_run *r, struct place_rec *p)
{
	const struct place_result *x = evaluate(s, r, p);
	bool latency = place_objective_is_latency(&r->m->objective);
	double bound = fmax(s->bound.value, r->bound_s), rule = r->rule_bound_s;
	const char *kind = r->bound_s > s->bound.value * (1 + 1e-8) ? "search" : s->bound.kind;
	const char *unit = latency ? " s" : "";
	char reason[600], by_rule[120] = "";

	p->bounded = !r->m->n_cases; /* bounds are of one schedule */
	p->by_value = !latency;
	*(latency ? &p->bound_s : &p->bound_value) = bound;
	p->rule_bound = rule > bound * (1 + 1e-8) ? rule : 0;
	p->bound_parts_of = s->parts_of;
	p->bound_parts_s = s->parts.load_s;
	p->bound_parts_wait_s = s->parts.wait_s;
	if (x->status != PLACE_OK) {
		place_reason(s->ev, x, reason, sizeof(reason));
		/* Who asks for one device or for random ones knows that some cannot be. */
		if (s->method->needs_costs)
			msg_warn("%s: not legal: %s", p->source, reason);
		else
			msg_note(1, "%s: not legal: %s", p->source, reason);
		return;
	}
	p->predicted = true;
	p->predicted_s = x->lat_s;
	p->predicted_value = x->value;
	double value = x->value;
	if (p->rule_bound > 0)
		snprintf(by_rule, sizeof by_rule,
			 "; for this order rule (%s) none below %.9g%s, gap %.2f %%",
			 place_order_names[PLACE_ORDER_RANK + (int)r->m->costs.policy], rule, unit,
			 gap(rule, value));
	msg_note(1, "%s: %.9g%s, no placement below %.9g%s (%s), gap %.2f %%%s", p->source, value,
		 unit, bound, unit, kind, gap(bound, value), by_rule);
	tell_traps(s, r, p->source, value, unit);
	tell_limit(s, r->m, p->source, x->lat_s);
}

/* The device of most sets. */
static uint32_t usual_device(const struct method_run *r, uint32_t n_sets)
{
	uint32_t *n = MEM_NEWN(uint32_t, (size_t)r->k + 1), most = 0;

	for (uint32_t i = 0; i < n_sets; i++)
		n[r->device[i]]++;
	for (uint32_t d = 1; d < r->k; d++)
		if (n[d] > n[most])
			most = d;
	mem_free(n);
	return most;
}

/* The rows of a placement and its replicas. */
static uint16_t *with_replicas(struct state *s, const struct method_run *r)
{
	size_t row = s->in.g->n_sets, more = r->n_more * row;
	uint16_t *device = ARENA_NEWN(s->arena, uint16_t, row + more);

	memcpy(device, r->device, row * sizeof *device);
	memcpy(device + row, r->more, more * sizeof *device);
	return device;
}

/* Where the next one of --plan goes. */
static FILE *next_plan(struct state *s)
{
	fputs(s->planned ? ",\n" : "", newfile_text(&s->plan));
	s->planned = true;
	return newfile_text(&s->plan);
}

/* A placement, with what it would take and what none can beat when costs are known.  Its number is that
 * of its device where the source is "single", whichever others there are: whoever reads the run relies
 * on it. */
static int emit(struct method_run *r, struct err *e)
{
	struct state *s = (struct state *)((char *)r - offsetof(struct state, run));
	const char *source = r->source ? r->source : s->method->name;
	char apart[100];
	struct place_rec p = {.id = {.graph = s->in.g->digest, .sample = s->sample++},
			      .k = r->k,
			      .names = r->names,
			      .n_sets = s->in.g->n_sets,
			      .source = source,
			      .device = r->device,
			      .n_more = r->n_more,
			      .n_order = r->n_order,
			      .order = r->order,
			      .timed = s->o->took,
			      .took_s = clock_s() - s->method_began_s};

	if (strcmp(source, "single") == 0)
		p.id.sample = usual_device(r, p.n_sets);
	if (s->of_all) {
		snprintf(apart, sizeof(apart), "%s-apart", source);
		p.source = apart;
	}
	if (s->method->needs_costs && r->n_more == 0)
		place_idle_sets(r->m, r->device);
	if (s->ev && r->k == s->k && r->n_more == 0)
		predict(s, r, &p);
	if (r->n_more > 0)
		p.device = with_replicas(s, r);
	for (uint32_t i = 0; s->o->plan && s->ev && r->k == s->k && i <= r->n_more; i++) {
		memory_plan_write(next_plan(s), s->ev, s->units, source,
				  p.device + (size_t)i * p.n_sets);
	}
	if (s->of_all && r->k == s->k) {
		size_t n = (1 + r->n_more) * (size_t)p.n_sets;
		uint16_t *device = ARENA_NEWN(s->arena, uint16_t, n);

		for (size_t i = 0; i < n; i++)
			device[i] = (uint16_t)s->of_all[p.device[i]];
		p.device = device;
		p.names = s->all_names;
		p.k = s->all_k;
	}
	if (place_encode(&p, s->f->out, e) == 0)
		return 0;
	s->unwritten = true;
	return -1;
}

/* Of the devices those that compute at once. */
static void keep_apart(struct state *s)
{
	const uint8_t *turns = place_inputs_turns(&s->in, s->names, s->k, s->arena);
	const char **names = ARENA_NEWN(s->arena, const char *, s->k);
	uint32_t *dev = ARENA_NEWN(s->arena, uint32_t, s->k);

	s->of_all = dev;
	s->all_k = s->k;
	s->all_names = s->names;
	s->k = sched_apart(turns, s->k, dev);
	for (uint32_t i = 0; i < s->k; i++)
		names[i] = s->names[dev[i]];
	s->names = names;
}

/* Devices: -D, else the stream's, else the specification's. */
static int choose_devices(struct state *s, struct err *e)
{
	struct devs d;

	if (s->o->devices) {
		if (devs_from_list(s->o->devices, s->arena, &d, e) < 0)
			return -1;
		s->names = d.names;
		s->k = d.k;
	} else if (s->in.has_devs) {
		s->names = s->in.devs.names;
		s->k = s->in.devs.k;
	} else {
		const char **names = ARENA_NEWN(s->arena, const char *, s->in.spec.n_devs);

		for (uint32_t i = 0; i < s->in.spec.n_devs; i++)
			names[i] = s->in.spec.dev[i].name;
		s->names = names;
		s->k = s->in.spec.n_devs;
	}
	if (s->k == 0)
		return err_set(e, ST_USAGE,
			       "no devices; put devrun --probe or devsim --probe "
			       "in front, or give --devices or --spec");
	if (s->o->apart)
		keep_apart(s);
	return 0;
}

/* What the budget left out of the bound. */
static void tell_bound(const struct state *s)
{
	if (s->bound.n_left_out)
		msg_note(1,
			 "bounds: %u kinds left out; a tenth of the budget is for them, and it is "
			 "spent",
			 s->bound.n_left_out);
}

/* Of the latency where operations are cut: of the nodes where a specification tells their costs, else of the sets.  A graph
 * that is cut already does not say what its operations took as wholes. */
static void bound_in_parts(struct state *s, const struct place_model *m)
{
	struct divisible x = {.k = m->k};
	const struct graph *g = m->g;
	double *work_s, *fixed_s;

	s->parts_of = NULL;
	if (m->rules != PLACE_SCHEDULE || !place_objective_is_latency(&m->objective))
		return;
	if (place_inputs_operations(&s->in, s->names, s->k, s->arena, &g, &work_s, &fixed_s)) {
		s->parts_of = "operations";
		x = (struct divisible){g->n, m->k, work_s, fixed_s, g->in_ptr, g->in_node};
	} else if (!g->whole) {
		divisible_tasks(m, s->arena, &x);
		s->parts_of = "sets";
	} else {
		return;
	}
	s->parts = bound_divisible(&x, m, method_bound_until_s(&s->run));
	char wait[100] = "";

	if (s->parts.wait_s > s->parts.load_s)
		snprintf(
			wait, sizeof wait,
			", nor below %.9g s (path) where each waits for all parts of what it reads",
			s->parts.wait_s);
	msg_note(1, "%s in parts: no placement below %.9g s (load)%s", s->parts_of, s->parts.load_s,
		 wait);
}

/* The problem, its bound and what evaluates placements; without costs the masks alone.  needs_costs: some method does. */
static int read_problem(struct state *s, struct place_model *m, struct place_units *u,
			bool needs_costs, struct err *e)
{
	bool costs = needs_costs || s->in.cost.k || s->in.spec.n_devs;

	if (costs && place_inputs_model(&s->in, s->names, s->k, s->arena, m, e) < 0) {
		if (needs_costs)
			return -1;
		err_clear(e);
		costs = false;
	}
	if (!costs) {
		place_inputs_masks(&s->in, s->names, s->k, s->arena, m);
		return 0;
	}
	double *share = ARENA_NEWN(s->arena, double, m->k);
	bool shared;

	place_units_init(u, m, s->arena);
	s->bound = (struct place_bound){.kind = "none"};
	if (!m->n_cases) {
		s->bound = place_bound(u, method_bound_until_s(&s->run), share, &shared);
		tell_bound(s);
		bound_in_parts(s, m);
		s->run.share = shared ? share : NULL;
	}
	s->run.bound_s = s->bound.value;
	s->ev = evaluator_new(m);
	s->units = u;
	s->plain.known = false;
	return 0;
}

static int run_method(struct state *s, const struct place_chosen *c, struct err *e)
{
	const struct method_run before = s->run;

	s->method = c->method;
	s->method_began_s = clock_s();
	s->run.arg = c->arg;
	if (s->o->n_chosen > 1)
		s->run.began_s = s->method_began_s; /* each has its budget */
	msg_busy(c->method->name, s->o->budget_s);
	int rc = c->method->run(&s->run, e);

	msg_busy(NULL, 0);
	if (*s->run.note)
		msg_note(1, "%s: %s", c->method->name, s->run.note);
	s->run = before; /* the next one begins as if it were alone */
	return rc;
}

/* All of them.  Of several, one that is not about this problem, or has no answer, is left out; what is wrong with a method's argument
 * ends it. */
static int run_methods(struct state *s, struct err *e)
{
	int done = 0;

	for (int i = 0; i < s->o->n_chosen; i++) {
		struct err one = ERR_INIT;

		if (run_method(s, &s->o->chosen[i], &one) == 0) {
			done++;
			continue;
		}
		bool last = i + 1 == s->o->n_chosen && done == 0;

		if (s->o->plan && s->ev && !s->unwritten)
			memory_plan_none(next_plan(s), s->run.m, s->method->name, one.msg);
		if (s->unwritten || last || s->o->chosen[i].arg) {
			*e = one;
			return -1;
		}
		msg_warn("%s: left out: %s", s->method->name, one.msg);
	}
	return 0;
}

static int place_graph(struct state *s, struct filter *f, struct err *e)
{
	const struct options *o = s->o;
	double began_s = clock_s(); /* all that comes now is of the budget */
	bool needs_costs = false;
	struct place_model m;
	struct place_units u;

	if (!s->in.g)
		return err_set(e, ST_INPUT, "no graph in the input; ir2dag makes one");
	arena_reset(s->arena);
	if (choose_devices(s, e) < 0)
		return -1;
	s->f = f;
	s->sample = 0;
	s->run = (struct method_run){.m = &m,
				     .names = s->names,
				     .k = s->k,
				     .a = s->arena,
				     .emit = emit,
				     .seed = (uint64_t)s->common->seed,
				     .evals = (uint64_t)o->evals,
				     .budget_s = o->budget_s,
				     .began_s = began_s,
				     .threads = (int)o->threads,
				     .samples = (uint32_t)o->samples,
				     .draw = (enum method_draw)o->draw,
				     .device = ARENA_NEWN(s->arena, uint16_t, s->in.g->n_sets)};
	for (int i = 0; i < o->n_chosen; i++)
		needs_costs = needs_costs || o->chosen[i].method->needs_costs;
	if (read_problem(s, &m, &u, needs_costs, e) < 0)
		return -1;
	int rc = run_methods(s, e);

	evaluator_free(s->ev);
	s->ev = NULL;
	return rc;
}

static int run_filter(struct state *s, struct filter *f, struct err *e)
{
	struct rec r;
	int k;

	while ((k = filter_next(f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (place_inputs_take(&s->in, &r, e) < 0 || filter_pass(f, &r, e) < 0)
				return -1;
			continue;
		}
		if (place_graph(s, f, e) < 0 || filter_end(f, e) < 0)
			return -1;
		place_inputs_reset(&s->in);
	}
	return k;
}

static void print_list(void)
{
	printf("method\twhat it does\tsource\n");
	for (size_t i = 0; place_methods[i]; i++) {
		const struct place_method *x = place_methods[i];

		printf("%s%s%s%s\t%s\t%s\n", x->name, x->arg ? ":" : "", x->arg ? x->arg : "",
		       x->arg && !x->needs_arg ? "?" : "", x->about, x->source);
	}
}

static void print_methods(void)
{
	printf("Methods:\n");
	for (size_t i = 0; place_methods[i]; i++) {
		const struct place_method *x = place_methods[i];
		int n = printf("  %s%s%s", x->name, x->arg ? ":" : "", x->arg ? x->arg : "");

		printf("%*s%s\n", n < 16 ? 16 - n : 1, "", x->about);
	}
}

static const char details[] =
	"Several methods, as in heft,anneal,portfolio, run one after the other, each as if it were "
	"alone; "
	"one that has no answer is left out with a warning. "
	"--list has their sources. Devices come from --devices, else from the stream's devs "
	"record, "
	"else from --spec; costs from --spec, else from the stream's cost record. With costs, "
	"place "
	"records have what they should take (predicted_s, with another objective also "
	"predicted_value) and what no placement can beat (bound_s, bound_value); -v prints both, "
	"and "
	"what a method tells of its run. single, random and expert need no costs. The source of "
	"portfolio's record names the method that found it.\n"
	"\n"
	"expert:FILE: {\"OPERATION\": \"DEVICE\", ...}, as placeout --format affinity writes it (a "
	"cost graph's nodes go by their ids, too), or the form of dnn-partitioning's experts.";

static int run_file(struct state *s, const char *path, int argc, char **argv, struct err *e)
{
	const struct options *o = s->o;
	struct filter f;
	int rc = place_options_inputs(&o->sim, NULL, &s->in, e);

	s->in.keep_groups = true;
	if (rc == 0)
		rc = filter_open(&f, path, s->common, argc, argv, e);
	if (rc == 0 && o->plan && (rc = newfile_open(&s->plan, o->plan, e)) == 0)
		fputs("[\n", newfile_text(&s->plan));
	if (rc == 0) {
		rc = run_filter(s, &f, e);
		if (rc == 0 && o->plan && !s->planned)
			rc = err_set(e, ST_USAGE,
				     "--plan: nothing tells what placements need; it goes with "
				     "--spec, or with costs in the stream");
		rc = filter_close(&f, rc, e);
	}
	/* Also where no method has a placement: why is in it then. */
	if (o->plan && (rc == 0 || s->planned)) {
		struct err other = ERR_INIT;

		fputs("\n]\n", newfile_text(&s->plan));
		if (newfile_commit(&s->plan, rc == 0 ? e : &other) < 0)
			rc = -1;
	} else if (s->plan.path) {
		newfile_abandon(&s->plan);
	}
	place_inputs_release(&s->in);
	return rc;
}

int main(int argc, char **argv)
{
	bool told = false;
	struct options o = {.samples = 1, .threads = 1, .hints = true, .sim = PLACE_OPTIONS_INIT};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	const struct opt opts[] = {
		{"devices", 'D', OPT_TEXT, &o.devices, "LIST", "place on these devices", 0, 0, NULL,
		 NULL},
		{"budget", 0, OPT_REAL, &o.budget_s, "SECONDS",
		 "searches: this long, each of several, what they find depends on the clock (0: by "
		 "--evals alone)",
		 0, 1e7, NULL, NULL},
		{"evals", 0, OPT_INT, &o.evals, "N",
		 "searches: at most this many simulations (0: as many as take some seconds,\n"
		 "or the whole budget); the same seed then gives the same answer",
		 0, 1e15, NULL, NULL},
		{"threads", 't', OPT_INT, &o.threads, "N", "searches: threads", 1, MAX_THREADS,
		 NULL, NULL},
		{"samples", 'n', OPT_INT, &o.samples, "N",
		 "random, variety: this many distinct placements", 1, MAX_SAMPLES, NULL, NULL},
		{"draw", 0, OPT_CHOICE, &o.draw, "HOW",
		 "random: devices equally likely (uniform), by a preference drawn for each\n"
		 "placement (biased), or both in turn",
		 0, 0, draws, NULL},
		{"took", 0, OPT_FLAG, &o.took, NULL,
		 "tell how many seconds each method took, so that no two runs write the same; on "
		 "with several methods unless --no-took",
		 0, 0, NULL, &told},
		{"hints", 0, OPT_FLAG, &o.hints, NULL,
		 "warn where one device, or contiguous layers, are better than a heuristic's "
		 "answer",
		 0, 0, NULL, NULL},
		{"plan", 0, OPT_TEXT, &o.plan, "FILE",
		 "what each placement needs of each device's memory, as JSON: weights, variables, "
		 "tensors at their peak, room; where there is none, what is missing",
		 0, 0, NULL, NULL},
		{"apart", 0, OPT_FLAG, &o.apart, NULL,
		 "of these, on those that compute at once: cpu:0 and cpu:1, not cpu beside them", 0,
		 0, NULL, NULL},
		PLACE_OPTIONS(o.sim),
		{0},
	};
	const struct opt_program program = {
		.name = "placebase",
		.summary = "place without learning",
		.args = "METHOD[,METHOD]... [FILE]",
		.min_args = 1,
		.max_args = 2,
		.has_seed = true,
		.opts = opts,
		.print_details = print_methods,
		.details = details,
		.print_list = print_list,
		.example = "ir2dag m.xml | devsim --probe | placebase climb --evals 2000 | devsim\n"
			   "  json2dag i.json | placebase portfolio --budget 60 -t 2 -v | devsim"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);

	if (rc <= 0)
		return filter_finish(rc, &common, &e);
	o.n_chosen = place_methods_find(argv[first], MAX_METHODS, o.chosen, &e);
	if (o.n_chosen < 0)
		return filter_finish(-1, &common, &e);
	if (!told)
		o.took = o.n_chosen > 1;
	struct state s = {.o = &o, .common = &common, .arena = arena_new()};
	rc = run_file(&s, first + 1 < argc ? argv[first + 1] : "-", argc, argv, &e);
	arena_free(s.arena);
	return filter_finish(rc, &common, &e);
}
