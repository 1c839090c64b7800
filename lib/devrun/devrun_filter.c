/* devrun_filter.c - placements in, `run` records out. */
#include "measure/joules.h"
#include "devrun/devrun_filter.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/msg.h"
#include "devrun/boundary.h"
#include "devrun/mix_sets.h"
#include "devrun/run_queue.h"
#include "profile/planned_costs.h"
#include "profile/proberec.h"
#include "profile/profile_mean.h"
#include "profile/profiler.h"
#include "record/bestrec.h"
#include "record/devrec.h"
#include "record/graphrec.h"

struct state {
	const struct devrun_options *o;
	struct devrun_options
		own; /* o, with the devices for this model, whose names may be in found */
	char found[4096], *reduced; /* reduced: with their like in bf16 and int8; mem_free */
	const char *listed;         /* devices that were named; NULL: none */
	uint64_t seed;
	struct filter *f;
	struct graph *g;
	struct devs devs; /* of the stream; k 0: none yet */
	struct session session;
	struct joules joules; /* of --joules */
	bool is_open, in_loop;
	bool has_best;          /* the stream has a `best` record that is not final */
	struct run_queue queue; /* placements that wait */
	int64_t n_seen;         /* placements of the stream so far */
	struct mix_sets mix;    /* --mixed */
	struct arena *arena;    /* the stream */
};

/* ---- devices and model ---- */

static bool reader_lives(void *arg)
{
	const struct filter *f = arg;
	return rec_writer_alive(f->out);
}

static int list_devices(const struct state *s, const struct place_rec *p, struct device_list *l,
			struct err *e)
{
	if (s->o->devices)
		return device_list_parse(s->o->devices, l, e);
	if (s->devs.k == 0 && !p)
		return err_set(e, ST_USAGE,
			       "no devices; name them with -D or put devrun --probe in front");
	int rc = s->devs.k > 0 ? device_list_names(s->devs.names, s->devs.k, l, e)
			       : device_list_names(p->names, p->k, l, e);
	if (rc < 0 && e->code == ST_USAGE)
		e->code = ST_INPUT; /* the names are not from the command line */
	return rc;
}

/* The first SIGINT lets the requests in flight end; the next one is as it was before. */
static volatile sig_atomic_t interrupted;
static struct sigaction on_next;
static bool drains;

static void note_interrupt(int sig)
{
	interrupted = 1;
	sigaction(sig, &on_next, NULL);
}

static void drain_on_interrupt(void)
{
	struct sigaction sa = {.sa_handler = note_interrupt, .sa_flags = SA_RESTART};
	if (!drains && sigaction(SIGINT, &sa, &on_next) == 0)
		drains = true;
}

static int open_session(struct state *s, const struct place_rec *p, struct err *e)
{
	struct device_list l = {0};
	const struct devrun_options *o = s->o;
	if (s->is_open)
		return 0;
	int rc = list_devices(s, p, &l, e);
	if (rc == 0)
		rc = device_list_limit(&l, o->memory, o->headroom, e);
	if (rc == 0) {
		s->is_open = true;
		rc = session_open(&s->session, s->g, &l, o->allow_shared, o->weights, o->inputs,
				  s->seed, &o->measure, e);
	}
	if (rc == 0 && !o->probe)
		rc = session_use_whole(&s->session, o->weights, e);
	if (rc == 0 && !o->probe)
		rc = session_use_cases(&s->session, o->weights, o->inputs, e);
	if (rc == 0 && s->devs.k > 0 && !o->probe)
		session_allow(&s->session, &s->devs);
	if (rc == 0 && o->requests > 1 && s->g->n_cases)
		rc = err_set(e, ST_USAGE, "--requests is about a model with one list of shapes");
	if (rc == 0 && o->joules && s->g->n_cases)
		rc = err_set(e, ST_USAGE, "--joules is about a model with one list of shapes");
	if (rc == 0 && o->requests > 1)
		rc = session_in_flight(&s->session, (uint32_t)o->requests, o->inputs, e);
	device_list_close(&l);
	if (rc < 0) {
		if (!o->devices && e->code == ST_USAGE)
			e->code = ST_INPUT; /* likewise: devices that are not there */
		return -1;
	}
	if (o->requests > 1 && !o->paired && o->rounds == 0) {
		drain_on_interrupt();
		s->session.opt.interrupted = s->session.flight.drain = &interrupted;
	}
	s->session.flight.limit_s = o->limit_s;
	s->session.max_error = o->max_error;
	s->session.no_reference = !o->reference;
	s->session.rounds = (uint32_t)o->rounds;
	s->session.core_speed = o->core_speed;
	s->session.schedules = o->schedules;
	if (o->joules && joules_open(&s->joules, NULL, e) < 0)
		return -1;
	s->session.joules = o->joules ? &s->joules : NULL;
	s->session.first_wins = o->choose == CHOOSE_FIRST;
	s->session.planner.tight = o->tight;
	s->session.planner.fuse = (enum fuse_mode)o->fuse;
	executor_watch(s->session.x, reader_lives, s->f);
	return o->save_inputs ? inputs_save(&s->session.model, o->save_inputs, e) : 0;
}

static void reset(struct state *s)
{
	if (s->is_open)
		session_close(&s->session);
	graph_free(s->g);
	s->g = NULL;
	s->is_open = false;
	s->n_seen = 0;
	s->has_best = false;
	s->devs.k = 0;
	mem_free(s->reduced);
	s->reduced = NULL;
	run_queue_reset(&s->queue);
	arena_reset(s->arena);
}

/* ---- placements ---- */

/* The range that `text` begins with, and where the next one is; NULL: that was the last.  last < first
 * when it is none. */
static const char *next_range(const char *text, int64_t *first, int64_t *last)
{
	char *end;
	*first = *last = *text >= '1' && *text <= '9' ? strtoll(text, &end, 10) : 0;
	if (*first == 0) {
		*last = -1;
		return NULL;
	}
	if (*end == '-' && end[1] >= '0' && end[1] <= '9') {
		*last = strtoll(end + 1, &end, 10);
	} else if (*end == '-') {
		*last = INT64_MAX;
		end++;
	}
	if (*end && (*end != ',' || !end[1]))
		*last = -1;
	return *end == ',' ? end + 1 : NULL;
}

int devrun_only_check(const char *only, struct err *e)
{
	for (const char *c = only; c;) {
		int64_t first, last;
		c = next_range(c, &first, &last);
		if (last < first)
			return err_set(e, ST_USAGE,
				       "--only takes a list as in 1-20,25,30-, not '%s'", only);
	}
	return 0;
}

/* Is the next placement one of those that are to run? */
static bool is_wanted(struct state *s)
{
	s->n_seen++;
	for (const char *c = s->o->only; c;) {
		int64_t first, last;
		c = next_range(c, &first, &last);
		if (s->n_seen >= first && s->n_seen <= last)
			return true;
	}
	return !s->o->only;
}

static int queue_placement(struct state *s, const struct rec *r, struct err *e)
{
	if (run_queue_add(&s->queue, r, s->g, e) < 0 ||
	    open_session(s, &s->queue.waiting[s->queue.n - 1].place, e) < 0)
		return -1;
	return run_queue_assign(&s->queue, &s->session, r, e);
}

/* --paired: the `best` records are the candidates; in a stream without any, the placements are, and with
 * --placements in any stream. */
static int queue_candidate(struct state *s, const struct rec *r, struct err *e)
{
	bool best = rec_is(r, "best") && !best_is_final(r);
	uint32_t n_groups = 0;
	if (best && s->o->placements)
		return 0;
	if (best && !s->has_best)
		run_queue_reset(&s->queue);
	s->has_best |= best;
	if (!best && (s->has_best || !rec_is(r, "place") || !is_wanted(s)))
		return 0;
	if (s->queue.n >= (size_t)s->o->candidates)
		return 0;
	if ((best && best_decode_groups(r, &n_groups, e) < 0) || queue_placement(s, r, e) < 0)
		return -1;
	s->queue.waiting[s->queue.n - 1].n_groups = n_groups;
	return 0;
}

static int write_outputs(void *arg, const void *const *result, struct err *e)
{
	const struct state *s = arg;
	return outputs_save(&s->session.model, result, s->o->outputs, e);
}

static int write_request(void *arg, uint32_t request, const void *const *result, struct err *e)
{
	const struct state *s = arg;
	struct arena *a = arena_new();
	int rc = outputs_save(&s->session.model, result,
			      arena_printf(a, "%s/%u", s->o->outputs, request), e);
	arena_free(a);
	return rc;
}

/* --outputs, of each request in flight into a directory of its own. */
static int save_outputs(struct state *s, struct err *e)
{
	if (s->o->requests == 1)
		return session_results(&s->session, s->queue.last, write_outputs, s, e);
	if (mkdir(s->o->outputs, 0777) < 0 && errno != EEXIST)
		return err_sys(e, ST_RUNTIME, "cannot make '%s'", s->o->outputs);
	return session_all_results(&s->session, s->queue.last, s->queue.last_more, write_request, s,
				   e);
}

/* Measure what waits and write the `run` records. */
static int measure_waiting(struct state *s, struct err *e)
{
	bool any = s->queue.n > 0;
	if (any && run_queue_measure(&s->queue, &s->session, s->f->out, e) < 0)
		return -1;
	return any && s->o->outputs && s->queue.last ? save_outputs(s, e) : 0;
}

static int compare_candidates(struct state *s, struct err *e)
{
	if (!s->g)
		return err_set(
			e, ST_INPUT,
			"no graph in the input; --paired reads what reinforce or placebase wrote");
	if (open_session(s, NULL, e) < 0 ||
	    run_queue_compare(&s->queue, &s->session, s->f->out, e) < 0)
		return -1;
	return s->o->outputs ? save_outputs(s, e) : 0;
}

/* ---- --boundaries ---- */

/* The last placement once more, in a session of its own. */
static int save_boundaries(struct state *s, struct err *e)
{
	struct boundaries b = {.dir = s->o->boundaries};
	struct device_list l = {0};
	if (!s->queue.last)
		return 0;
	boundary_list(&s->session, s->queue.last, s->arena, &b);
	int rc = boundary_devices(&s->session, &l, e);
	session_close(&s->session);
	s->is_open = false;
	if (rc == 0)
		rc = boundary_run(&b, s->g, s->queue.last, &l, s->o->weights, s->o->inputs, s->seed,
				  &s->o->measure, e);
	device_list_close(&l);
	return rc;
}

/* ---- the stream ---- */

/* They meet activations that int8 devices quantise on the way. */
static bool has_weights_in_few_bits(const struct graph *g)
{
	enum { LEAST_BYTES = 1024 };
	bool has = false;
	for (uint32_t i = 0; i < g->n_const; i++) {
		enum elem t = g->out_elem[g->out_ptr[g->const_node[i]]];
		has |= g->const_bytes[i] >= LEAST_BYTES &&
		       (t == EL_I8 || t == EL_U8 || t == EL_I4 || t == EL_U4);
	}
	return has;
}

static int decode_graph(struct state *s, const struct rec *r, struct err *e)
{
	if (s->g)
		return err_set(e, ST_INPUT,
			       "record %llu is a second graph; devrun runs one model per stream",
			       (unsigned long long)r->index);
	s->g = graph_decode(r, e);
	bool quantised = false;
	const char *list = s->listed;
	for (uint32_t v = 0; s->g && v < s->g->n; v++)
		quantised |= s->g->kind[v] == OP_FAKE_QUANTIZE;
	if (quantised && s->o->by_model)
		list = device_list_default(s->found, sizeof s->found, true);
	if (s->g && s->o->reduced) {
		mem_free(s->reduced);
		list = s->reduced =
			device_list_reduced(list, quantised || has_weights_in_few_bits(s->g));
	}
	s->own.devices = list;
	return s->g ? 0 : -1;
}

/* Could the constants lie anywhere?  What kernels make of them may be larger.  An unknown memory holds
 * everything. */
static int check_memory(const struct state *s, struct err *e)
{
	const struct graph *g = s->g;
	double needs = 0, has = 0;
	for (uint32_t i = 0; i < g->n_const; i++)
		if (i == 0 || g->const_offset[i] != g->const_offset[i - 1])
			needs += (double)g->const_bytes[i];
	for (uint32_t d = 0; d < s->session.devices.n; d++) {
		uint64_t holds = device_memory(&s->session.devices.dev[d]);
		if (holds == 0)
			return 0;
		has += (double)holds;
	}
	if (needs <= has)
		return 0;
	return err_set(e, ST_RUNTIME,
		       "no placement can fit: the model's constants take %.1f MB, the devices hold "
		       "%.1f MB together, %.1f MB too little",
		       needs * 1e-6, has * 1e-6, (needs - has) * 1e-6);
}

/* --probe --profile of the open session, which some device can be timed by. */
static int take_profile(struct state *s, struct profile *p, struct err *e)
{
	msg_busy("profile", 0);
	int rc = profile_take(&s->session, s->queue.arena, p, e);
	msg_busy(NULL, 0);
	if (rc < 0)
		return -1;
	uint32_t k = s->session.devices.n, failed = 0;
	for (uint32_t d = 0; d < k; d++)
		if (p->failed[d]) {
			failed++;
			s->o->untimed(s->session.devices.dev[d].name, p->failed[d]);
		}
	if (failed == k)
		return err_set(e, ST_RUNTIME, "no device could be timed: %s", p->failed[0]);
	return held_check(&p->held, p->set_s, s->g, &s->session.devices, e);
}

/* earlier: NULL, or the costs to make the mean with, s->devs their devices */
static int write_profile(struct state *s, const struct rec *earlier, struct err *e)
{
	struct profile p;
	if (open_session(s, NULL, e) < 0 || check_memory(s, e) < 0 ||
	    (earlier && session_plan_overlap(&s->session, earlier, e) < 0) ||
	    take_profile(s, &p, e) < 0)
		return -1;
	int rc = earlier ? profile_mean(&p, &s->session, earlier, &s->devs, s->queue.arena, e) : 0;
	if (rc == 0)
		rc = profile_devs_encode(&s->session, &p, s->f->out, e);
	if (rc == 0) {
		struct cost_rec x = profile_costs(&s->session, &p, s->queue.arena);
		rc = cost_encode(&x, s->f->out, e);
	}
	arena_reset(s->queue.arena);
	return rc;
}

/* A profile of each case, in a session of its own; devices and links are those of the first. */
static int write_case_profiles(struct state *s, struct err *e)
{
	struct graph *g = s->g;
	struct cost_rec x[GRAPH_MAX_CASES];
	double weight[GRAPH_MAX_CASES];
	int rc = 0;
	for (uint32_t i = 0; i < g->n_cases && rc == 0; i++) {
		struct profile p;
		if (s->is_open)
			session_close(&s->session);
		s->is_open = false;
		s->g = g->cases[i].graph;
		weight[i] = g->cases[i].weight;
		rc = open_session(s, NULL, e) < 0 || check_memory(s, e) < 0 ||
				     take_profile(s, &p, e) < 0
			     ? err_prefix(e, "case %s", g->cases[i].name)
			     : 0;
		if (rc == 0 && i == 0)
			rc = profile_devs_encode(&s->session, &p, s->f->out, e);
		if (rc == 0)
			x[i] = profile_costs(&s->session, &p, s->queue.arena);
	}
	s->g = g;
	if (rc == 0) {
		struct cost_rec all = cost_of_cases(x, weight, g->n_cases, s->queue.arena);
		rc = cost_encode(&all, s->f->out, e);
	}
	arena_reset(s->queue.arena);
	return rc;
}

/* --again */
static int write_mean_profile(struct state *s, const struct rec *r, struct err *e)
{
	if (s->g->n_cases)
		return err_set(e, ST_USAGE, "--again is about a model with one list of shapes");
	if (s->is_open)
		return err_set(e, ST_INPUT, "a second cost record in one stream");
	if (s->devs.k == 0)
		return err_set(e, ST_INPUT, "a cost record before its devices");
	return write_profile(s, r, e);
}

/* --mixed: devs wait for cost. */
static int mix_record(struct state *s, const struct rec *r, struct err *e)
{
	const struct mixed_options o = {s->o->max_error, s->o->mixed_s};
	if (rec_is(r, "graph")) {
		if (decode_graph(s, r, e) < 0 ||
		    mix_sets_begin(&s->mix, r, s->o->path, s->f, e) < 0)
			return -1;
	} else if (rec_is(r, "devs")) {
		return devs_decode(r, s->arena, &s->devs, e) < 0 ? -1
								 : mix_sets_devs(&s->mix, r, e);
	} else if (rec_is(r, "cost")) {
		if (!s->g || !s->mix.devs)
			return err_set(e, ST_INPUT, "a cost record before its %s",
				       s->g ? "devices" : "graph");
		if (s->is_open)
			return err_set(e, ST_INPUT, "a second cost record in one stream");
		if (open_session(s, NULL, e) < 0)
			return -1;
		return mix_sets_write(&s->mix, &s->session, &s->devs, r, &o, s->f, e);
	}
	return filter_pass(s->f, r, e);
}

/* Rounds and races are planned by the stream's costs: a race need not measure its devices before it begins. */
static int plan_by_costs(struct state *s, const struct rec *r, struct err *e)
{
	if (!s->g || (!s->o->devices && s->devs.k == 0))
		return 0;
	return open_session(s, NULL, e) < 0 ? -1 : session_plan_costs(&s->session, r, &s->devs, e);
}

static int on_record(struct state *s, const struct rec *r, struct err *e)
{
	const struct devrun_options *o = s->o;
	if (o->mixed)
		return mix_record(s, r, e);
	if (rec_is(r, "graph")) {
		if (decode_graph(s, r, e) < 0 || filter_pass(s->f, r, e) < 0)
			return -1;
		return o->again     ? 0
		       : o->profile ? s->g->n_cases ? write_case_profiles(s, e)
						    : write_profile(s, NULL, e)
		       : o->probe ? probe_encode(s->g, o->devices, o->memory, o->headroom,
						 o->allow_shared, o->weights, s->f->out, e)
				    : 0;
	}
	/* Costs and devices of an earlier profile are replaced, or make a mean. */
	if (o->again && rec_is(r, "devs"))
		return devs_decode(r, s->arena, &s->devs, e);
	if (o->again && s->g && rec_is(r, "cost"))
		return write_mean_profile(s, r, e);
	if (o->profile && s->g && (rec_is(r, "devs") || rec_is(r, "cost")))
		return 0;
	if (o->probe)
		return filter_pass(s->f, r, e);
	if (rec_is(r, "devs") && devs_decode(r, s->arena, &s->devs, e) < 0)
		return -1;
	if (rec_is(r, "episode") && !s->in_loop) {
		filter_absorb_interrupt();
		s->in_loop = true;
	}
	if (rec_is(r, "episode_end") && measure_waiting(s, e) < 0)
		return -1;
	if (filter_pass(s->f, r, e) < 0)
		return -1;
	if ((o->rounds > 0 || o->measure.race_s > 0) && rec_is(r, "cost"))
		return plan_by_costs(s, r, e);
	if (o->paired && rec_is(r, "run"))
		return run_queue_note(&s->queue, r, !o->devices, e);
	if (o->paired)
		return queue_candidate(s, r, e);
	if (rec_is(r, "place"))
		return is_wanted(s) ? queue_placement(s, r, e) : 0;
	/* The model loads while the other stages start. */
	if (s->g && !s->is_open && (o->devices || s->devs.k > 0))
		return open_session(s, NULL, e);
	return 0;
}

static int run_filter(struct state *s, struct err *e)
{
	struct rec r;
	int k;
	while ((k = filter_next(s->f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (on_record(s, &r, e) < 0)
				return -1;
			continue;
		}
		if (s->o->probe && !s->g)
			return err_set(e, ST_INPUT, "no graph in the input; ir2dag makes one");
		if (s->o->again && !s->is_open)
			return err_set(e, ST_INPUT, "no earlier profile in the input");
		if (s->o->mixed && !s->is_open)
			return err_set(
				e, ST_INPUT,
				"no costs in the input; devrun probe --profile measures them");
		if (mix_sets_end(&s->mix, true, e) < 0)
			return -1;
		if (s->o->save_inputs && s->o->devices && s->g) {
			if (open_session(s, NULL, e) < 0)
				return -1; /* also when there is no placement */
		} else if (!s->o->probe && !s->o->paired && !s->o->mixed &&
			   stages_check(&s->f->stages, NEEDS_PLACEMENTS, e) < 0) {
			return -1;
		}
		if ((s->o->paired ? compare_candidates(s, e) : measure_waiting(s, e)) < 0 ||
		    (s->o->boundaries && save_boundaries(s, e) < 0))
			return -1;
		reset(s);
		if (filter_end(s->f, e) < 0)
			return -1;
	}
	return k;
}

int devrun_filter_run(const struct devrun_options *o, uint64_t seed, struct filter *f,
		      struct err *e)
{
	struct state s = {
		.own = *o, .listed = o->devices, .seed = seed, .f = f, .arena = arena_new()};
	s.o = &s.own;
	run_queue_init(&s.queue);
	int rc = run_filter(&s, e);
	if (rc < 0) {
		struct err later = ERR_INIT;
		mix_sets_end(&s.mix, false, &later);
	}
	reset(&s);
	run_queue_release(&s.queue);
	arena_free(s.arena);
	return rc;
}
