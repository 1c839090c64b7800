/* turn.c - the queue of placements between the stream and the session. */
#include "measure/turn.h"

#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "measure/laps.h"
#include "measure/runrec.h"

void turn_init(struct turn *t)
{
	*t = (struct turn){.arena = arena_new()};
}

void turn_reset(struct turn *t)
{
	t->n = 0;
	arena_reset(t->arena);
	mem_free(t->last);
	t->last = NULL;
	t->cap_last = 0;
}

void turn_release(struct turn *t)
{
	turn_reset(t);
	mem_free(t->queue);
	arena_free(t->arena);
}

int turn_take(struct turn *t, const struct rec *r, const struct graph *g, struct err *e)
{
	if (!g)
		return err_set(e, ST_INPUT, "a %s record before its graph", r->kind);
	t->queue = mem_grow(t->queue, &t->cap, t->n + 1, sizeof *t->queue);
	struct pending *q = &t->queue[t->n];
	*q = (struct pending){0};
	if (placement_decode(r, g->n_sets, t->arena, &q->place, e) < 0)
		return -1;
	if (q->place.graph != g->digest)
		return err_set(e, ST_INPUT, "%s record %llu is about another graph", r->kind,
			       (unsigned long long)r->index);
	t->n++;
	return 0;
}

int turn_assign(struct turn *t, const struct session *s, const struct rec *r, struct err *e)
{
	struct pending *q = &t->queue[t->n - 1];
	const struct device_list *l = &s->devices;
	uint32_t n_sets = q->place.n_sets;
	uint16_t *device = ARENA_NEWN(t->arena, uint16_t, n_sets);
	q->slot = ARENA_NEWN(t->arena, uint32_t, q->place.k);
	for (uint32_t i = 0; i < q->place.k; i++) {
		int d = device_list_find(l, q->place.names[i]);
		q->slot[i] = d < 0 ? l->n : (uint32_t)d;
	}
	for (uint32_t i = 0; i < n_sets; i++) {
		uint32_t d = q->slot[q->place.device[i]];
		if (d == l->n)
			return err_set(
				e, ST_INPUT,
				"%s record %llu places on '%s', which is not among the devices",
				r->kind, (unsigned long long)r->index,
				q->place.names[q->place.device[i]]);
		device[i] = (uint16_t)d;
	}
	q->device = device;
	return 0;
}

/* Remember what ran last beyond the turn. */
static void keep_last(struct turn *t, const uint16_t *device, uint32_t n_sets)
{
	if (!device)
		return;
	t->last = mem_grow(t->last, &t->cap_last, (size_t)n_sets + 1, sizeof *t->last);
	memcpy(t->last, device, n_sets * sizeof *device);
}

static void end_turn(struct turn *t)
{
	t->n = 0;
	arena_reset(t->arena);
}

static struct trial *trials(struct turn *t)
{
	struct trial *x = ARENA_NEWN(t->arena, struct trial, t->n);
	for (size_t i = 0; i < t->n; i++)
		x[i].device = t->queue[i].device;
	return x;
}

int turn_measure(struct turn *t, struct session *s, struct rec_writer *w, struct err *e)
{
	if (t->n == 0)
		return 0;
	struct trial *x = trials(t);
	uint32_t n = (uint32_t)t->n;
	if ((s->rounds ? laps_measure(s, x, n, s->rounds, t->arena, e)
		       : session_measure(s, x, n, t->arena, e)) < 0)
		return -1;
	const uint16_t *last = NULL;
	for (size_t i = 0; i < t->n; i++) {
		const struct placement *p = &t->queue[i].place;
		if (trial_encode(s, p, t->queue[i].slot, &x[i], w, e) < 0)
			return -1;
		char text[sizeof x[i].reason];
		snprintf(text, sizeof text, "%.3f ms", x[i].m.lat.mid * 1e3);
		msg_note(1, "%s %u.%u.%u: %s", p->source, p->episode, p->step, p->sample,
			 x[i].ok ? text : x[i].reason);
		last = x[i].ok ? x[i].device : last;
	}
	keep_last(t, last, s->model.g->n_sets);
	end_turn(t);
	return 0;
}

/* ---- the verdict ---- */

/* `run` records of the single devices, then of the candidates. */
static int encode_trials(const struct turn *t, const struct session *s, const struct verdict *v,
			 const struct trial *x, struct placement *p, struct rec_writer *w,
			 struct err *e)
{
	for (uint32_t d = 0; d < s->devices.n; d++, p->sample++) {
		p->device = v->single[d].device;
		if (trial_encode(s, p, NULL, &v->single[d], w, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < t->n; i++)
		if (trial_encode(s, &t->queue[i].place, t->queue[i].slot, &x[i], w, e) < 0)
			return -1;
	return 0;
}

int turn_judge(struct turn *t, struct session *s, struct rec_writer *w, struct err *e)
{
	uint32_t n = (uint32_t)t->n, k = s->devices.n, n_groups = 1;
	struct trial *x = trials(t);
	const char **names = ARENA_NEWN(t->arena, const char *, k);
	struct verdict v;
	for (uint32_t i = 0; i < k; i++)
		names[i] = s->devices.dev[i].name;
	if (verdict_reach(s, x, n, t->arena, &v, e) < 0)
		return -1;
	struct placement p = {.graph = s->model.g->digest,
			      .source = "single",
			      .k = k,
			      .n_sets = s->model.g->n_sets,
			      .names = names};
	if (encode_trials(t, s, &v, x, &p, w, e) < 0)
		return -1;
	p.sample = v.reference < 0 ? 0 : (uint32_t)v.reference;
	if (v.winner >= 0) {
		const struct pending *q = &t->queue[v.winner];
		p.source = q->place.source;
		p.episode = q->place.episode;
		p.step = q->place.step;
		p.sample = q->place.sample;
		n_groups = q->n_groups;
	}
	keep_last(t, v.final.device, p.n_sets);
	if (verdict_encode(&v, s, &p, n_groups, w, e) < 0)
		return -1;
	end_turn(t);
	return 0;
}
