/* run_queue.c - the queue of placements between the stream and the session. */
#include "devrun/run_queue.h"

#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "measure/interleaved.h"
#include "measure/trialrec.h"
#include "record/devrec.h"
#include "record/runrec.h"

void run_queue_init(struct run_queue *q)
{
	*q = (struct run_queue){.arena = arena_new()};
}

void run_queue_reset(struct run_queue *q)
{
	q->n = 0;
	q->n_single = 0;
	arena_reset(q->arena);
	mem_free(q->last);
	q->last = NULL;
	q->cap_last = 0;
}

void run_queue_release(struct run_queue *q)
{
	run_queue_reset(q);
	mem_free(q->waiting);
	mem_free(q->single);
	arena_free(q->arena);
}

int run_queue_add(struct run_queue *q, const struct rec *r, const struct graph *g, struct err *e)
{
	if (!g)
		return err_set(e, ST_INPUT, "a %s record before its graph", r->kind);
	q->waiting = mem_grow(q->waiting, &q->cap, q->n + 1, sizeof *q->waiting);
	struct pending *item = &q->waiting[q->n];
	*item = (struct pending){0};
	if (place_decode(r, g->n_sets, PLACE_PREDICTED | PLACE_REPLICAS, q->arena, &item->place,
			 e) < 0)
		return err_prefix(e, "place record %llu", (unsigned long long)r->index);
	if (item->place.id.graph != g->digest)
		return err_set(e, ST_INPUT, "%s record %llu is about another graph", r->kind,
			       (unsigned long long)r->index);
	q->n++;
	return 0;
}

int run_queue_assign(struct run_queue *q, const struct session *s, const struct rec *r,
		     struct err *e)
{
	struct pending *item = &q->waiting[q->n - 1];
	const struct device_list *l = &s->devices;
	uint32_t n_sets = item->place.n_sets;
	uint32_t rows = 1 + item->place.n_more;
	uint16_t *device = ARENA_NEWN(q->arena, uint16_t, (size_t)rows * n_sets);
	item->slot = ARENA_NEWN(q->arena, uint32_t, item->place.k);
	for (uint32_t i = 0; i < item->place.k; i++) {
		int d = device_list_find(l, item->place.names[i]);
		item->slot[i] = d < 0 ? l->n : (uint32_t)d;
	}
	for (size_t i = 0; i < (size_t)rows * n_sets; i++) {
		uint32_t d = item->slot[item->place.device[i]];
		if (d == l->n)
			return err_set(
				e, ST_INPUT,
				"%s record %llu places on '%s', which is not among the devices",
				r->kind, (unsigned long long)r->index,
				item->place.names[item->place.device[i]]);
		device[i] = (uint16_t)d;
	}
	item->device = device;
	return 0;
}

int run_queue_note(struct run_queue *q, const struct rec *r, bool devices_same, struct err *e)
{
	struct run_rec run;
	int raced = run_decode_raced(r, q->arena, &run, e);
	if (raced <= 0)
		return raced;
	if (devices_same && strcmp(run.source, "single") == 0 && run.id.sample < DEVS_MAX) {
		q->single =
			mem_grow(q->single, &q->cap_single, run.id.sample + 1, sizeof *q->single);
		for (; q->n_single <= run.id.sample; q->n_single++)
			q->single[q->n_single] = (struct contest_past){{0}, 0, NULL};
		q->single[run.id.sample] = run_past(&run);
	}
	for (size_t i = 0; i < q->n; i++) {
		struct pending *x = &q->waiting[i];
		if (!run_is_of(&run, &x->place.id, x->place.source))
			continue;
		x->left = x->left || run.turns.out;
		x->past = run_past(&run);
	}
	return 0;
}

/* What ran last is still known when the queue is empty. */
static void keep_last(struct run_queue *q, const struct trial *t, uint32_t n_sets)
{
	if (!t)
		return;
	size_t n = (1 + t->n_more) * (size_t)n_sets;
	q->last = mem_grow(q->last, &q->cap_last, n + 1, sizeof *q->last);
	memcpy(q->last, t->device, n * sizeof *t->device);
	q->last_more = t->n_more;
}

static void clear_queue(struct run_queue *q)
{
	q->n = 0;
	q->n_single = 0;
	arena_reset(q->arena);
}

static struct trial *trials(struct run_queue *q)
{
	struct trial *x = ARENA_NEWN(q->arena, struct trial, q->n);
	for (size_t i = 0; i < q->n; i++) {
		x[i].device = q->waiting[i].device;
		x[i].n_more = q->waiting[i].place.n_more;
		x[i].order = q->waiting[i].place.order;
		x[i].n_order = q->waiting[i].place.n_order;
		x[i].left = q->waiting[i].left;
		x[i].past = q->waiting[i].past;
	}
	return x;
}

int run_queue_measure(struct run_queue *q, struct session *s, struct rec_writer *w, struct err *e)
{
	if (q->n == 0)
		return 0;
	struct trial *x = trials(q);
	uint32_t n = (uint32_t)q->n;
	char what[60];
	snprintf(what, sizeof what, "runs of %u placement%s", n, n == 1 ? "" : "s");
	msg_busy(what, 0);
	int rc = s->rounds ? interleaved_measure(s, x, n, s->rounds, q->arena, e)
			   : session_measure(s, x, n, q->arena, e);
	msg_busy(NULL, 0);
	if (rc < 0)
		return -1;
	const struct trial *last = NULL;
	for (size_t i = 0; i < q->n; i++) {
		const struct place_rec *p = &q->waiting[i].place;
		if (trial_encode(s, p, q->waiting[i].slot, &x[i], w, e) < 0)
			return -1;
		char text[sizeof x[i].reason];
		trial_text(s, &x[i], text, sizeof text);
		msg_note(1, "%s %u.%u.%u: %s", p->source, p->id.episode, p->id.step, p->id.sample,
			 x[i].ok ? text : x[i].reason);
		last = x[i].ok ? &x[i] : last;
	}
	keep_last(q, last, s->model.g->n_sets);
	clear_queue(q);
	return 0;
}

/* ---- the verdict ---- */

/* What candidates that are all on device d should take. */
static void predict_single(const struct run_queue *q, const struct session *s, uint32_t d,
			   struct place_rec *p)
{
	p->predicted = false;
	for (size_t i = 0; i < q->n && !p->predicted; i++) {
		const struct pending *x = &q->waiting[i];
		if (x->place.predicted && x->place.n_more == 0 &&
		    session_single(s, x->device) == (int)d) {
			p->predicted = true;
			p->predicted_s = x->place.predicted_s;
		}
	}
}

/* `run` records of the single devices, then of the candidates. */
static int encode_trials(const struct run_queue *q, const struct session *s,
			 const struct verdict *v, const struct trial *x, struct place_rec *p,
			 struct rec_writer *w, struct err *e)
{
	for (uint32_t d = 0; d < s->devices.n; d++, p->id.sample++) {
		p->device = v->single[d].device;
		predict_single(q, s, d, p);
		if (trial_encode(s, p, NULL, &v->single[d], w, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < q->n; i++)
		if (trial_encode(s, &q->waiting[i].place, q->waiting[i].slot, &x[i], w, e) < 0)
			return -1;
	return 0;
}

int run_queue_compare(struct run_queue *q, struct session *s, struct rec_writer *w, struct err *e)
{
	uint32_t n = (uint32_t)q->n, k = s->devices.n, n_groups = 1;
	struct trial *x = trials(q);
	const char **names = ARENA_NEWN(q->arena, const char *, k);
	struct verdict v;
	for (uint32_t i = 0; i < k; i++)
		names[i] = s->devices.dev[i].name;
	msg_busy("comparison", s->opt.race_s);
	const struct past_singles past = {(uint32_t)q->n_single, q->single};
	int rc = verdict_reach(s, x, n, &past, q->arena, &v, e);
	msg_busy(NULL, 0);
	if (rc < 0)
		return -1;
	struct place_rec p = {.id.graph = s->model.g->digest,
			      .source = "single",
			      .k = k,
			      .n_sets = s->model.g->n_sets,
			      .names = names};
	if (encode_trials(q, s, &v, x, &p, w, e) < 0)
		return -1;
	p.id.sample = v.reference < 0 ? 0 : (uint32_t)v.reference;
	predict_single(q, s, p.id.sample, &p);
	if (v.winner >= 0) {
		const struct pending *item = &q->waiting[v.winner];
		p.predicted = item->place.predicted;
		p.predicted_s = item->place.predicted_s;
		p.source = item->place.source;
		p.order = item->place.order;
		p.n_order = item->place.n_order;
		p.id = item->place.id;
		n_groups = item->n_groups;
	}
	keep_last(q, &v.final, p.n_sets);
	const struct place_rec **rivals = ARENA_NEWN(q->arena, const struct place_rec *, n + 1);
	for (uint32_t i = 0; i < n; i++)
		rivals[i] = &q->waiting[i].place;
	if (verdict_encode(&v, s, &p, rivals, n_groups, w, e) < 0)
		return -1;
	clear_queue(q);
	return 0;
}
