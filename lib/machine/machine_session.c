/* machine_session.c - measuring on a machine that is played. */
#include "machine/machine_session.h"

#include <math.h>
#include <string.h>

#include "machine/truth.h"
#include "race/beside.h"
#include "race/contest_race.h"
#include "record/bestrec.h"
#include "record/runrec.h"
#include "sched/slowed.h"
#include "sched/turns.h"

/* One placement that waits. */
struct waiting {
	struct place_rec place;
	uint32_t n_groups;
	bool left; /* it left an earlier race as slower */
	struct contest_past past;
};

/* A placement and what was measured of it. */
struct outcome {
	struct machine_placement at;
	struct measurement m;
	double ref_s;
	struct interval ratio;
	bool has_ratio;
	struct contest_turns turns; /* of a race */
	struct contest_past past;   /* of a single device: what an earlier race measured */
	struct contest_bursts bursts;
	const char *untried; /* why it was not measured; NULL: it was */
	uint16_t *device;
};

struct machine_session {
	struct machine *x;
	const struct place_model *m;
	struct measure_options o;
	struct waiting *wait;
	size_t n, cap;
	struct outcome *single; /* (k) */
	double began_s;         /* when measuring what waits began */
	bool tried;             /* singles were measured */
	struct beside beside;   /* the fastest of them and its like */
	struct slowed *slowed;  /* the profiled costs, for predictions */
	uint16_t *task_device;  /* (tasks) room */
	struct arena *kept;     /* singles */
	struct arena *arena;    /* what waits, and its outcomes */
};

struct machine_session *machine_session_new(struct machine *x, const struct place_model *m,
					    const struct measure_options *o)
{
	struct machine_session *s = MEM_NEW(struct machine_session);
	*s = (struct machine_session){
		.x = x, .m = m, .o = *o, .kept = arena_new(), .arena = arena_new()};
	bool *has = ARENA_NEWN(s->kept, bool, (size_t)m->k * m->k + 1);
	sched_parts(m->costs.turns, m->k, has);
	s->beside = (struct beside){.k = m->k, .has = has};
	s->slowed = slowed_new(&m->tasks.dag, &m->costs);
	s->task_device = ARENA_NEWN(s->kept, uint16_t, (size_t)m->tasks.dag.n + 1);
	s->single = ARENA_NEWN(s->kept, struct outcome, m->k);
	for (uint32_t d = 0; d < m->k; d++) {
		s->single[d].device = ARENA_NEWN(s->kept, uint16_t, m->n_sets + 1);
		for (uint32_t i = 0; i < m->n_sets; i++)
			s->single[d].device[i] = (uint16_t)d;
		machine_place(x, s->single[d].device, NULL, 0, s->kept, &s->single[d].at);
	}
	return s;
}

void machine_session_free(struct machine_session *s)
{
	if (!s)
		return;
	mem_free(s->wait);
	slowed_free(s->slowed);
	arena_free(s->kept);
	arena_free(s->arena);
	mem_free(s);
}

void machine_session_add(struct machine_session *s, const struct place_rec *p, uint32_t n_groups)
{
	uint16_t *device = ARENA_NEWN(s->arena, uint16_t, (size_t)p->n_sets + 1);
	struct place_rec copy = *p;
	memcpy(device, p->device, p->n_sets * sizeof *device);
	copy.device = device;
	if (p->order) {
		uint32_t *order = ARENA_NEWN(s->arena, uint32_t, (size_t)p->n_order + 1);
		memcpy(order, p->order, p->n_order * sizeof *order);
		copy.order = order;
	}
	copy.source = arena_strndup(s->arena, p->source, strlen(p->source));
	copy.names = s->m->names;
	copy.action = NULL;
	copy.moves = NULL;
	s->wait = mem_grow(s->wait, &s->cap, s->n + 1, sizeof *s->wait);
	s->wait[s->n++] = (struct waiting){copy, n_groups, false, {{0}, 0, NULL}};
}

int machine_session_note(struct machine_session *s, const struct rec *r, struct err *e)
{
	struct run_rec run;
	int raced = run_decode_raced(r, s->arena, &run, e);
	if (raced <= 0)
		return raced;
	if (strcmp(run.source, "single") == 0 && run.id.sample < s->m->k)
		s->single[run.id.sample].past = run_past(&run);
	for (size_t i = 0; i < s->n; i++) {
		struct waiting *x = &s->wait[i];
		if (!run_is_of(&run, &x->place.id, x->place.source))
			continue;
		x->left = x->left || run.turns.out;
		x->past = run_past(&run);
	}
	return 0;
}

uint32_t machine_session_waiting(const struct machine_session *s)
{
	return (uint32_t)s->n;
}

void machine_session_drop(struct machine_session *s)
{
	s->n = 0;
	for (uint32_t d = 0; d < s->m->k; d++)
		s->single[d].past = (struct contest_past){{0}, 0, NULL};
	arena_reset(s->arena);
}

/* ---- records ---- */

static int encode_run(const struct machine_session *s, const struct place_rec *p,
		      const struct outcome *t, struct rec_writer *w, struct err *e)
{
	struct run_rec x =
		run_rec_measured(p, &t->m, t->ref_s, t->has_ratio ? &t->ratio : NULL, &t->turns);
	x.bursts = t->bursts;
	x.reason = t->at.status != PLACE_OK ? t->at.why : t->untried;
	x.mem_bytes = t->at.mem_bytes;
	x.copies = t->at.copies;
	x.copy_bytes = t->at.copy_bytes;
	x.has_clock = true;
	x.began_s = s->began_s;
	x.clock_s = machine_clock_s(s->x);
	return run_encode(&x, w, e);
}

/* Places what waits; (n).  Measuring begins. */
static struct outcome *open_outcomes(struct machine_session *s)
{
	struct outcome *t = ARENA_NEWN(s->arena, struct outcome, s->n + 1);
	s->began_s = machine_clock_s(s->x);
	for (size_t i = 0; i < s->n; i++)
		machine_place(s->x, s->wait[i].place.device, s->wait[i].place.order,
			      s->wait[i].place.n_order, s->arena, &t[i].at);
	return t;
}

static int encode_all(struct machine_session *s, const struct outcome *t, struct rec_writer *w,
		      struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		if (encode_run(s, &s->wait[i].place, &t[i], w, e) < 0)
			return -1;
	return 0;
}

/* ---- predictions ---- */

/* The devices (tasks) of a placement of sets. */
static const uint16_t *task_devices(const struct machine_session *s, const uint16_t *device)
{
	const struct graph_tasks *tasks = &s->m->tasks;
	for (uint32_t t = 0; t < tasks->dag.n; t++)
		s->task_device[t] = device[tasks->task_set[t]];
	return s->task_device;
}

/* ---- one after another ---- */

/* A placement beside the best single device. */
struct one {
	const struct machine_session *s;
	const uint16_t *device;
};

/* As beside_run.predict, by the profiled costs. */
static double predict_one(void *ctx, const double *slow)
{
	const struct one *x = ctx;
	return slowed_by_s(x->s->slowed, task_devices(x->s, x->device), slow);
}

static int measure_one(struct machine_session *s, struct outcome *t, struct arena *a, struct err *e)
{
	struct one one = {s, t->at.device};
	struct beside_run r = {machine_runnable(&t->at), predict_one, &one};
	struct beside_result out;
	if (t->at.status != PLACE_OK)
		return 0;
	if (beside_measure(&s->beside, &r, &s->o, a, &out, e) != RUN_OK)
		return -1;
	t->m = out.m;
	t->ref_s = out.ref_s;
	return 0;
}

/* Everything on each device alone; of them the reference. */
static int measure_singles(struct machine_session *s, struct err *e)
{
	const struct place_model *m = s->m;
	double *lat_s = ARENA_NEWN(s->arena, double, (size_t)m->k + 1);
	uint32_t *alike = ARENA_NEWN(s->arena, uint32_t, (size_t)m->k + 1), of[BESIDE_MOST];
	int best = -1;
	for (uint32_t d = 0; d < m->k; d++) {
		if (measure_one(s, &s->single[d], s->kept, e) < 0)
			return -1;
		alike[d] = truth_first_alike(m->set_s, m->n_sets, m->k, d);
		if (s->single[d].at.status != PLACE_OK)
			continue;
		lat_s[d] = s->single[d].m.lat.mid;
		best = best < 0 || lat_s[d] < lat_s[best] ? (int)d : best;
	}
	s->tried = true;
	s->beside.known = false;
	if (best < 0)
		return 0;
	s->beside.n = beside_choose(&(struct beside_devices){m->k, (uint32_t)best, lat_s, alike,
							     s->beside.has, s->o.max_s},
				    of);
	for (uint32_t i = 0; i < s->beside.n; i++)
		s->beside.single[i] =
			(struct beside_single){of[i], machine_runnable(&s->single[of[i]].at)};
	if (of[0] == (uint32_t)best)
		return 0;
	struct outcome base = {.at = s->single[best].at};
	if (measure_one(s, &base, s->arena, e) < 0)
		return -1;
	s->beside.base_log = log(base.m.lat.mid / base.ref_s);
	return 0;
}

int machine_session_measure(struct machine_session *s, struct rec_writer *w, struct err *e)
{
	if (s->n == 0)
		return 0;
	struct outcome *t = open_outcomes(s);
	if (!s->tried && measure_singles(s, e) < 0)
		return -1;
	s->beside.known = false; /* what the last one said may be long ago */
	for (size_t i = 0; i < s->n; i++)
		if (measure_one(s, &t[i], s->arena, e) < 0)
			return -1;
	int rc = encode_all(s, t, w, e);
	machine_session_drop(s);
	return rc;
}

/* ---- the truth ---- */

static void tell_truth(const struct machine_session *s, struct outcome *t)
{
	double best = 0;
	(void)machine_best_single(s->x, &best);
	t->m.sample_s = &t->at.true_s;
	t->m.n = 1;
	t->m.lat = (struct interval){t->at.true_s, t->at.true_s, t->at.true_s};
	t->m.busy_s = t->at.busy_s;
	t->ref_s = best;
}

int machine_session_tell(struct machine_session *s, struct rec_writer *w, struct err *e)
{
	struct outcome *t = open_outcomes(s);
	for (size_t i = 0; i < s->n; i++)
		tell_truth(s, &t[i]);
	int rc = encode_all(s, t, w, e);
	machine_session_drop(s);
	return rc;
}

/* ---- candidates and single devices in turn ---- */

/* The device that all of a placement is on; -1: there are several. */
static int only_device(const struct place_rec *p)
{
	for (uint32_t i = 1; i < p->n_sets; i++)
		if (p->device[i] != p->device[0])
			return -1;
	return p->n_sets ? p->device[0] : 0;
}

/* The device or the earlier candidate that candidate i is, as contestants are counted; -1: none. */
static int find_like(const struct machine_session *s, size_t i)
{
	const struct place_rec *p = &s->wait[i].place;
	int like = only_device(p);
	for (size_t j = 0; j < i && like < 0; j++)
		if (memcmp(s->wait[j].place.device, p->device, p->n_sets * sizeof *p->device) == 0)
			like = (int)(s->m->k + j);
	return like;
}

static struct contestant enter(const struct machine_session *s, struct outcome *t)
{
	return (struct contestant){.run = machine_runnable(&t->at),
				   .group = contest_group(t->at.device, s->m->n_sets),
				   .takes_part = t->at.status == PLACE_OK};
}

static void store_outcome(const struct contestant *c, struct outcome *t)
{
	t->m = c->m;
	t->ref_s = c->ref_s;
	t->ratio = c->ratio;
	t->has_ratio = c->has_ratio;
	t->turns = c->turns;
	t->bursts = c->bursts;
	t->untried = c->takes_part && c->m.n == 0 ? contest_no_time : NULL;
}

/* What the contest says, about contestants by their records. */
static struct best_verdict told_verdict(const struct machine_session *s, const struct contest *x)
{
	const struct contest_verdict *v = &x->verdict;
	struct best_verdict out = {
		.says = v->says, .ratio = v->ratio, .more_s = v->more_s, .why = v->why};
	if (v->rival < 0)
		return out;
	bool single = v->rival < (int)x->k;
	const struct place_rec *p = single ? NULL : &s->wait[(uint32_t)v->rival - x->k].place;
	out.rival = single ? "single" : p->source;
	out.rival_sample = single ? (uint32_t)v->rival : p->id.sample;
	return out;
}

static int encode_verdict(const struct machine_session *s, const struct contest *x,
			  const struct outcome *t, const struct place_rec *single,
			  struct rec_writer *w, struct err *e)
{
	bool won = x->winner >= 0;
	const struct waiting *from = won ? &s->wait[(uint32_t)x->winner - x->k] : NULL;
	struct best_rec b = {.place = won ? from->place : *single,
			     .n_groups = won ? from->n_groups : 1,
			     .lat_s = t->m.lat.mid,
			     .ref_s = t->ref_s,
			     .final = true,
			     .lo_s = t->m.lat.lo,
			     .hi_s = t->m.lat.hi,
			     .reference = x->reference < 0 ? "" : s->m->names[x->reference],
			     .ratio = t->has_ratio ? t->ratio.mid : 1,
			     .ratio_lo = t->has_ratio ? t->ratio.lo : 1,
			     .ratio_hi = t->has_ratio ? t->ratio.hi : 1,
			     .n_pairs = t->m.n,
			     .race = x->race,
			     .verdict = told_verdict(s, x),
			     .copies = t->at.copies,
			     .copy_bytes = t->at.copy_bytes,
			     .not_compared = "a machine that is played computes nothing"};
	b.place.device = t->at.device;
	b.place.predicted &= x->race.n_blocks > 0;
	return best_encode(&b, w, e);
}

/* What candidates that are all on device d should take. */
static void predict_single(const struct machine_session *s, uint32_t d, struct place_rec *p)
{
	p->predicted = false;
	for (size_t i = 0; i < s->n && !p->predicted; i++) {
		const struct place_rec *x = &s->wait[i].place;
		if (x->predicted && only_device(x) == (int)d) {
			p->predicted = true;
			p->predicted_s = x->predicted_s;
		}
	}
}

/* `run` records of the single devices, then of the candidates. */
static int encode_contest(struct machine_session *s, const struct outcome *t,
			  struct place_rec *single, struct rec_writer *w, struct err *e)
{
	for (uint32_t d = 0; d < s->m->k; d++, single->id.sample++) {
		predict_single(s, d, single);
		if (encode_run(s, single, &s->single[d], w, e) < 0)
			return -1;
	}
	return encode_all(s, t, w, e);
}

/* What a contest predicts by: the profiled costs. */
struct prediction {
	const struct machine_session *s;
	const struct outcome *t; /* of the candidates */
};

/* The devices (tasks) of contestant i. */
static const uint16_t *contestant_devices(const struct prediction *p, uint32_t i)
{
	uint32_t k = p->s->m->k;
	return task_devices(p->s, i < k ? p->s->single[i].device : p->t[i - k].at.device);
}

/* As contest.predict. */
static double predict(void *ctx, uint32_t i, const double *slow, double *log_s)
{
	const struct prediction *p = ctx;
	return slowed_s(p->s->slowed, contestant_devices(p, i), slow, log_s);
}

/* As contest.share. */
static void shares(void *ctx, uint32_t i, double *share)
{
	const struct prediction *p = ctx;
	slowed_share(p->s->slowed, contestant_devices(p, i), share);
}

int machine_session_compare(struct machine_session *s, struct rec_writer *w, struct err *e)
{
	uint32_t k = s->m->k;
	struct outcome *t = open_outcomes(s);
	struct prediction by = {s, t};
	struct contest x = {.k = k,
			    .n = k + (uint32_t)s->n,
			    .c = ARENA_NEWN(s->arena, struct contestant, k + s->n),
			    .has = s->beside.has,
			    .predict = predict,
			    .n_draws = SLOWED_DRAWS,
			    .share = shares,
			    .ctx = &by};
	for (uint32_t d = 0; d < k; d++) {
		x.c[d] = enter(s, &s->single[d]);
		x.c[d].past = s->single[d].past;
		x.c[d].alike = truth_first_alike(s->m->set_s, s->m->n_sets, k, d);
	}
	for (size_t i = 0; i < s->n; i++) {
		x.c[k + i] = enter(s, &t[i]);
		x.c[k + i].takes_part &= find_like(s, i) < 0 && !s->wait[i].left;
		x.c[k + i].past = s->wait[i].past;
	}
	int rc = s->o.race_s > 0 ? contest_race(&x, &s->o, s->arena, e)
				 : contest_run(&x, &s->o, s->arena, e);
	if (rc < 0)
		return -1;
	if (x.winner < 0 && x.reference < 0)
		return err_set(e, ST_RUNTIME, "no placement can run: %s",
			       k ? s->single[0].at.why : "there is no device");
	for (uint32_t d = 0; d < k; d++)
		store_outcome(&x.c[d], &s->single[d]);
	for (size_t i = 0; i < s->n; i++) {
		int like = find_like(s, i);
		store_outcome(&x.c[like < 0 ? k + i : (uint32_t)like], &t[i]);
		t[i].turns.start = (int64_t)i < s->o.starts;
		if (s->wait[i].left)
			t[i].untried = contest_left;
	}
	struct place_rec single = {.id.graph = s->m->g->digest,
				   .source = "single",
				   .k = k,
				   .n_sets = s->m->n_sets,
				   .names = s->m->names};
	if (encode_contest(s, t, &single, w, e) < 0)
		return -1;
	single.id.sample = x.reference < 0 ? 0 : (uint32_t)x.reference;
	predict_single(s, single.id.sample, &single);
	const struct outcome *final =
		x.winner >= 0 ? &t[(uint32_t)x.winner - k] : &s->single[x.reference];
	rc = encode_verdict(s, &x, final, &single, w, e);
	machine_session_drop(s);
	return rc;
}
