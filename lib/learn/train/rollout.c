/* rollout.c - collecting the records of an episode. */
#include "learn/train/rollout.h"

#include <math.h>
#include <string.h>

#include "record/runrec.h"

void rollout_init(struct rollout *r, uint64_t graph, uint32_t n_sets, uint32_t d)
{
	*r = (struct rollout){
		.graph = graph, .n_sets = n_sets, .d = d, .replayed = d > 0, .arena = arena_new()};
}

void rollout_release(struct rollout *r)
{
	if (r->arena)
		arena_free(r->arena);
	mem_free(r->step);
	mem_free(r->sample);
	mem_free(r->handed);
	*r = (struct rollout){0};
}

int rollout_begin(struct rollout *r, const struct rec *rec, uint32_t k, struct err *e)
{
	struct episode_rec x;
	r->first = !r->begun;
	if (r->begun) {
		arena_reset(r->arena);
		r->n_steps = r->n_samples = r->n_ran = r->n_handed = r->next_run = 0;
	}
	r->begun = true;
	if (episode_decode(rec, r->n_sets, k, r->arena, &x, e) < 0)
		return -1;
	r->episode = x.episode;
	r->incumbent = x.incumbent;
	return 0;
}

static int check_id(const struct rollout *r, const struct rollout_id *id, const char *kind,
		    struct err *e)
{
	if (id->graph != r->graph)
		return err_set(e, ST_INPUT, "%s: of another graph; reinforce handles one", kind);
	if (id->episode != r->episode && !(id->episode == 0 && r->first))
		return err_set(e, ST_INPUT, "%s: of episode %u during episode %u", kind,
			       id->episode, r->episode);
	return 0;
}

int rollout_part(struct rollout *r, const struct rec *rec, struct err *e)
{
	struct part_rec p;
	if (part_decode(rec, r->arena, &p, e) < 0 || check_id(r, &p.id, "part", e) < 0)
		return -1;
	if (p.id.step != r->n_steps)
		return err_set(e, ST_INPUT, "part: step %u after %u steps", p.id.step, r->n_steps);
	if (p.n_sets != r->n_sets)
		return err_set(e, ST_INPUT, "part: %u sets; the graph has %u", p.n_sets, r->n_sets);
	if (p.d != r->d)
		return err_set(e, ST_INPUT,
			       "part: z has %u columns, the features %u; a replay needs z", p.d,
			       r->d);
	r->step = mem_grow(r->step, &r->step_cap, r->n_steps + 1, sizeof *r->step);
	r->step[r->n_steps++] = p;
	return 0;
}

int rollout_handover(struct rollout *r, const struct rec *rec, struct err *e)
{
	struct handover_rec h;
	if (handover_decode(rec, &h, e) < 0 || check_id(r, &h.id, "handover", e) < 0)
		return -1;
	if (h.id.step >= r->n_steps || h.steps > r->n_steps - h.id.step)
		return err_set(e, ST_INPUT, "handover: of %u steps from step %u on after %u steps",
			       h.steps, h.id.step, r->n_steps);
	r->handed = mem_grow(r->handed, &r->handed_cap, r->n_handed + 1, sizeof *r->handed);
	r->handed[r->n_handed++] = h;
	return 0;
}

int rollout_place(struct rollout *r, const struct rec *rec, const char *const *devices, uint32_t k,
		  struct err *e)
{
	struct place_rec p;
	if (place_decode(rec, UINT32_MAX, PLACE_POLICY, r->arena, &p, e) < 0)
		return err_prefix(e, "place");
	if (check_id(r, &p.id, "place", e) < 0)
		return -1;
	bool same = p.k == k;
	for (uint32_t i = 0; same && i < k; i++)
		same = strcmp(p.names[i], devices[i]) == 0;
	if (!same)
		return err_set(e, ST_INPUT, "place: its devices are not those of the devs record");
	if (p.n_sets != r->n_sets)
		return err_set(e, ST_INPUT, "place: %u sets; the graph has %u", p.n_sets,
			       r->n_sets);
	if (r->replayed && p.id.episode == 0)
		p.action = NULL, p.moves = NULL; /* not from this training */
	if (r->replayed && p.moves && !r->incumbent.device)
		return err_set(e, ST_INPUT, "place: a move in an episode that has no incumbent");
	if (r->replayed && p.action &&
	    (p.id.step >= r->n_steps || p.n_groups != r->step[p.id.step].p.n_groups))
		return err_set(e, ST_INPUT, "place: its groups are not those of step %u",
			       p.id.step);
	r->sample = mem_grow(r->sample, &r->sample_cap, r->n_samples + 1, sizeof *r->sample);
	r->sample[r->n_samples++] = (struct sample){.place = p};
	return 0;
}

/* Something else than latency is to be small; an empty model has hardly any of it. */
static int set_value(const struct run_rec *u, struct outcome *x, struct err *e)
{
	const double least = 1e-30;
	if (u->value < 0 || u->ref_value < 0)
		return err_set(e, ST_INPUT, "a value below 0");
	x->has_value = true;
	x->value = fmax(u->value, least);
	x->ref_value = u->ref_value > 0 ? fmax(u->ref_value, least) : u->ref_value;
	return 0;
}

static int set_outcome(const struct run_rec *u, struct outcome *x, struct err *e)
{
	*x = (struct outcome){.ok = !u->reason,
			      .reason = u->reason,
			      .missing = (double)u->missing_bytes,
			      .has_clock = u->has_clock,
			      .began_s = u->began_s,
			      .clock_s = u->clock_s};
	if (u->reason)
		return 0;
	if (!(u->lat_s >= 0) || u->ref_s < 0)
		return err_set(e, ST_INPUT, "a latency below 0");
	x->noisy = u->lo_s < u->hi_s;
	x->lat_s = x->value = fmax(u->lat_s, RUN_LEAST_S);
	x->ref_s = x->ref_value = u->ref_s > 0 ? fmax(u->ref_s, RUN_LEAST_S) : u->ref_s;
	return u->has_value ? set_value(u, x, e) : 0;
}

static bool same_sample(const struct sample *s, const struct run_rec *u)
{
	return !s->ran && s->place.id.episode == u->id.episode && s->place.id.step == u->id.step &&
	       s->place.id.sample == u->id.sample && strcmp(s->place.source, u->source) == 0;
}

int rollout_run(struct rollout *r, const struct rec *rec, const struct sample **out, struct err *e)
{
	const unsigned keys = RUN_GRAPH | RUN_STEP | RUN_SAMPLE | RUN_SOURCE | RUN_LATENCY |
			      RUN_INTERVAL | RUN_REFERENCE | RUN_VALUE | RUN_REF_VALUE | RUN_CLOCK;
	struct run_rec u;
	struct outcome x;
	if (run_decode(rec, keys, r->arena, &u, e) < 0 || set_outcome(&u, &x, e) < 0)
		return err_prefix(e, "run");
	if (check_id(r, &u.id, "run", e) < 0)
		return -1;
	for (uint32_t i = 0; i < r->n_samples; i++) {
		struct sample *s = &r->sample[(r->next_run + i) % r->n_samples];
		if (!same_sample(s, &u))
			continue;
		s->run = x;
		s->ran = true;
		r->n_ran++;
		r->next_run = (uint32_t)(s - r->sample) + 1;
		if (out)
			*out = s;
		return 0;
	}
	return err_set(e, ST_INPUT, "run: of a placement that did not come (step %u, sample %u)",
		       u.id.step, u.id.sample);
}

int rollout_complete(const struct rollout *r, struct err *e)
{
	if (r->n_ran == r->n_samples)
		return 0;
	return err_set(e, ST_INPUT,
		       "episode %u ended with %u of %u placements run; put devrun or "
		       "devsim in front of reinforce",
		       r->episode, r->n_ran, r->n_samples);
}

bool sample_has_action(const struct sample *s)
{
	return s->place.action != NULL;
}

bool sample_is_drawn(const struct sample *s)
{
	return s->place.action || s->place.moves;
}

uint32_t rollout_groups(const struct rollout *r, const struct sample *s)
{
	if (s->place.action)
		return s->place.n_groups;
	bool on_the_way = r->replayed && strcmp(s->place.source, SOURCE_VISIT) == 0 &&
			  s->place.id.episode > 0 && s->place.id.step < r->n_steps;
	return on_the_way ? r->step[s->place.id.step].p.n_groups : 1;
}

bool sample_is_measured(const struct sample *s)
{
	return sample_has_action(s) || strcmp(s->place.source, SOURCE_START) == 0 ||
	       strcmp(s->place.source, SOURCE_VISIT) == 0;
}

bool sample_is_own(const struct sample *s)
{
	return sample_is_drawn(s) ||
	       (s->place.id.episode > 0 && (strcmp(s->place.source, "policy") == 0 ||
					    strcmp(s->place.source, SOURCE_VISIT) == 0));
}
