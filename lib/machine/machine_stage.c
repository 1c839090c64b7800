/* machine_stage.c - records to and from a machine that is played. */
#include "machine/machine_stage.h"

#include <math.h>
#include <string.h>

#include "machine/machine_session.h"
#include "machine/truth.h"
#include "record/bestrec.h"
#include "record/runrec.h"

struct machine_stage {
	const struct machine_options *o;
	struct machine_spec spec;
	struct place_inputs *in;
	double clock_s;       /* as far as is known without the machine */
	bool has_best;        /* the stream has a `best` record that is not final */
	struct arena *record; /* one record */
	/* Of the devices that the last placement named; machine NULL: none did. */
	struct arena *arena;
	const char **names; /* (k) */
	struct place_model model;
	struct machine *machine;
	struct machine_session *session;
};

struct machine_stage *machine_stage_new(const struct machine_options *o, struct place_inputs *in,
					struct err *e)
{
	struct machine_spec spec;
	if (machine_spec_parse(o->spec, o->seed, &spec, e) < 0)
		return NULL;
	struct machine_stage *s = MEM_NEW(struct machine_stage);
	*s = (struct machine_stage){.o = o,
				    .spec = spec,
				    .in = in,
				    .clock_s = o->clock_s,
				    .record = arena_new(),
				    .arena = arena_new()};
	return s;
}

/* ---- the machine ---- */

static void drop_machine(struct machine_stage *s)
{
	if (s->machine)
		s->clock_s = fmax(s->clock_s, machine_clock_s(s->machine));
	machine_session_free(s->session);
	machine_free(s->machine);
	s->session = NULL;
	s->machine = NULL;
	arena_reset(s->arena);
}

void machine_stage_free(struct machine_stage *s)
{
	if (!s)
		return;
	drop_machine(s);
	arena_free(s->record);
	arena_free(s->arena);
	mem_free(s);
}

/* Measure what waits. */
static int flush(struct machine_stage *s, struct filter *f, struct err *e)
{
	if (!s->machine || machine_session_waiting(s->session) == 0)
		return 0;
	machine_set_clock(s->machine, fmax(s->clock_s, machine_clock_s(s->machine)));
	return s->o->truth    ? machine_session_tell(s->session, f->out, e)
	       : s->o->paired ? machine_session_compare(s->session, f->out, e)
			      : machine_session_measure(s->session, f->out, e);
}

static bool same_devices(const struct machine_stage *s, const struct place_rec *p)
{
	bool same = s->machine && s->model.k == p->k;
	for (uint32_t i = 0; same && i < p->k; i++)
		same = strcmp(s->names[i], p->names[i]) == 0;
	return same;
}

/* A machine with p's devices. */
static int ready_machine(struct machine_stage *s, const struct place_rec *p, struct filter *f,
			 struct err *e)
{
	if (same_devices(s, p))
		return 0;
	if (flush(s, f, e) < 0)
		return -1;
	drop_machine(s);
	s->names = ARENA_NEWN(s->arena, const char *, p->k);
	for (uint32_t i = 0; i < p->k; i++)
		s->names[i] = arena_strndup(s->arena, p->names[i], strlen(p->names[i]));
	if (place_inputs_model(s->in, s->names, p->k, s->arena, &s->model, e) < 0)
		return -1;
	if (s->model.rules != PLACE_SCHEDULE)
		return err_set(e, ST_INPUT, "a machine is not played by the rules of '%s'",
			       place_rules_names[s->model.rules]);
	if (s->model.n_cases)
		return err_set(e, ST_USAGE, "a machine is played for one list of shapes alone");
	s->machine = machine_new(&s->spec, &s->model);
	s->session = machine_session_new(s->machine, &s->model, &s->o->measure);
	return 0;
}

/* ---- records ---- */

static int queue(struct machine_stage *s, const struct rec *r, struct filter *f, struct err *e)
{
	struct place_rec p;
	uint32_t n_groups = 0;
	if (!s->in->g)
		return err_set(e, ST_INPUT, "a %s record before its graph", r->kind);
	if (place_decode(r, s->in->g->n_sets, PLACE_PREDICTED, s->record, &p, e) < 0 ||
	    (rec_is(r, "best") && best_decode_groups(r, &n_groups, e) < 0))
		return err_prefix(e, "%s record %llu", r->kind, (unsigned long long)r->index);
	if (p.id.graph != s->in->g->digest)
		return err_set(e, ST_INPUT, "%s record %llu is about another graph", r->kind,
			       (unsigned long long)r->index);
	if (ready_machine(s, &p, f, e) < 0)
		return -1;
	machine_session_add(s->session, &p, n_groups);
	return 0;
}

/* The `best` records are the candidates; in a stream without any, the placements are. */
static int queue_candidate(struct machine_stage *s, const struct rec *r, struct filter *f,
			   struct err *e)
{
	bool best = rec_is(r, "best") && !best_is_final(r);
	if (best && !s->has_best && s->session)
		machine_session_drop(s->session);
	s->has_best |= best;
	if (!best && (s->has_best || !rec_is(r, "place")))
		return 0;
	if (s->session && machine_session_waiting(s->session) >= s->o->candidates)
		return 0;
	return queue(s, r, f, e);
}

static int note_clock(struct machine_stage *s, const struct rec *r, struct err *e)
{
	struct run_rec x;
	if (run_decode(r, RUN_CLOCK, s->record, &x, e) < 0)
		return err_prefix(e, "run record %llu", (unsigned long long)r->index);
	if (x.has_clock)
		s->clock_s = fmax(s->clock_s, x.clock_s);
	return 0;
}

/* Costs and devices, as they are or as they truly are. */
static int pass_inputs(struct machine_stage *s, const struct rec *r, struct filter *f,
		       struct err *e)
{
	if (s->o->true_costs && rec_is(r, "cost") && s->in->g && s->in->cost.k) {
		struct cost_rec x = s->in->cost;
		truth_costs(&s->spec, s->in->g, &x, s->record);
		return cost_encode(&x, f->out, e);
	}
	if (s->o->true_costs && rec_is(r, "devs")) {
		struct devs d;
		if (devs_decode(r, s->record, &d, e) < 0)
			return -1;
		truth_links(&s->spec, &d);
		return devs_encode(&d, f->out, e);
	}
	return filter_pass(f, r, e);
}

int machine_stage_take(struct machine_stage *s, const struct rec *r, struct filter *f,
		       struct err *e)
{
	arena_reset(s->record);
	if (rec_is(r, "episode"))
		filter_absorb_interrupt();
	/* Costs that were refitted behind the profile do not change the machine. */
	if (place_inputs_known(s->in, r))
		return filter_pass(f, r, e);
	if (rec_is(r, "cost") || rec_is(r, "devs") || rec_is(r, "group")) {
		if (flush(s, f, e) < 0)
			return -1;
		drop_machine(s);
	}
	int taken = place_inputs_take(s->in, r, e);
	if (taken < 0)
		return -1;
	if (taken)
		return pass_inputs(s, r, f, e);
	if (rec_is(r, "run") && note_clock(s, r, e) < 0)
		return -1;
	if (rec_is(r, "episode_end") && !s->o->paired && !s->o->truth && flush(s, f, e) < 0)
		return -1;
	if (filter_pass(f, r, e) < 0)
		return -1;
	if (s->o->paired && rec_is(r, "run"))
		return s->session ? machine_session_note(s->session, r, e) : 0;
	if (s->o->paired)
		return queue_candidate(s, r, f, e);
	if (rec_is(r, "place") || (s->o->truth && rec_is(r, "best")))
		return queue(s, r, f, e);
	return 0;
}

int machine_stage_end(struct machine_stage *s, struct filter *f, struct err *e)
{
	if (flush(s, f, e) < 0)
		return -1;
	drop_machine(s);
	s->has_best = false;
	return 0;
}
