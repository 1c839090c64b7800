/* mix_sets.c - see mix_sets.h. */
#include "devrun/mix_sets.h"

#include <stdio.h>

#include "base/msg.h"
#include "profile/planned_costs.h"
#include "record/costrec.h"
#include "record/placerec.h"
#include "record/runrec.h"
#include "timing/contest.h"

int mix_sets_begin(struct mix_sets *x, const struct rec *graph, const char *path,
		   const struct filter *f, struct err *e)
{
	if (!path)
		return 0;
	x->path = rec_writer_open(path, NULL, e);
	return x->path && rec_write_hdr(x->path, NULL, f, e) == 0 &&
			       rec_copy(x->path, graph, e) == 0
		       ? 0
		       : -1;
}

int mix_sets_devs(struct mix_sets *x, const struct rec *r, struct err *e)
{
	rec_drop(x->devs);
	x->devs = rec_keep(r);
	return x->devs ? 0 : err_set(e, ST_RUNTIME, "no memory for a devs record");
}

/* (n_sets,k) seconds of sets by the devices of d; negative where they are not told. */
static int read_costs(const struct rec *cost, const struct graph *g, const struct devs *d,
		      struct arena *a, double **set_s, struct err *e)
{
	struct cost_rec c;
	if (cost_decode_head(cost, a, &c, e) < 0 || cost_decode(cost, g->n_sets, 0, a, &c, e) < 0)
		return err_prefix(e, "cost record");
	*set_s = ARENA_NEWN(a, double, (size_t)g->n_sets * d->k + 1);
	for (size_t i = 0; i < (size_t)g->n_sets * d->k; i++)
		(*set_s)[i] = -1;
	for (uint32_t i = 0; i < c.k; i++) {
		int at = devs_find(d, c.names[i]);
		for (uint32_t v = 0; at >= 0 && v < g->n_sets; v++)
			(*set_s)[(size_t)v * d->k + (uint32_t)at] = c.set_s[(size_t)v * c.k + i];
	}
	return 0;
}

/* A placement that was measured on the way, and its run, which is none of a placement that may be handed over where it is beyond the
 * limit. */
static int write_choice(const struct mixed_choice *c, uint32_t i, double limit,
			const struct session *s, const struct devs *d, struct arena *a,
			struct rec_writer *w, struct err *e)
{
	char why[100];
	const struct place_rec p = {.id = {.graph = s->model.g->digest, .sample = i},
				    .source = "mixed-precision",
				    .k = d->k,
				    .n_sets = s->model.g->n_sets,
				    .names = d->names,
				    .device = c->device};
	struct run_rec run = {.id = p.id,
			      .source = p.source,
			      .k = d->k,
			      .has_error = true,
			      .error = c->error,
			      .lat_s = c->lat_s,
			      .lo_s = c->lat_s,
			      .hi_s = c->lat_s,
			      .samples_s = &c->lat_s,
			      .n_samples = 1,
			      .mem_bytes = ARENA_NEWN(a, uint64_t, d->k),
			      .busy_s = ARENA_NEWN(a, double, d->k)};
	if (c->error > limit) {
		snprintf(why, sizeof why, "%s%.2g, more than %g", contest_inexact, c->error, limit);
		run.reason = why;
		run.unlimited_s = c->lat_s;
	}
	return place_encode(&p, w, e) < 0 || run_encode(&run, w, e) < 0 ? -1 : 0;
}

static void note(const struct mixed *m, const struct mixed_options *o)
{
	if (m->n == 0)
		msg_note(1, "no device is listed in f32 and in less; sets run where they may");
	else if (m->best < 0)
		msg_note(1, "%u placements, none is within %g: all sets run in f32", m->n,
			 o->limit);
	else
		msg_note(1, "%u placements; the fastest within %g takes %.3f ms, its error is %.2g",
			 m->n, o->limit, 1e3 * m->choice[m->best].lat_s, m->choice[m->best].error);
}

int mix_sets_write(struct mix_sets *x, struct session *s, struct devs *d, const struct rec *cost,
		   const struct mixed_options *o, struct filter *f, struct err *e)
{
	struct arena *a = arena_new();
	const struct graph *g = s->model.g;
	struct mixed m;
	double *set_s = NULL;
	int rc = session_plan_costs(s, cost, d, e);
	if (rc == 0)
		rc = read_costs(cost, g, d, a, &set_s, e);
	msg_busy("precisions", o->max_s);
	if (rc == 0)
		rc = mixed_choose(s, d, set_s, o, a, &m, e);
	msg_busy(NULL, 0);
	for (uint32_t i = 0; rc == 0 && x->path && i < m.n; i++)
		rc = write_choice(&m.choice[i], i, o->limit, s, d, a, x->path, e);
	if (rc == 0) {
		note(&m, o);
		d->mask = m.mask;
		d->graph = g->digest;
		d->n_sets = g->n_sets;
		rc = devs_encode_masked(x->devs, d, a, f->out, e);
		d->mask = NULL; /* it was the arena's */
	}
	if (rc == 0)
		rc = filter_pass(f, cost, e);
	arena_free(a);
	return rc;
}

int mix_sets_end(struct mix_sets *x, bool commit, struct err *e)
{
	int rc = 0;
	rec_drop(x->devs);
	if (x->path && commit)
		rc = rec_write_end(x->path, e);
	if (x->path) {
		struct err later = ERR_INIT;
		int closed = rec_writer_close(x->path, commit && rc == 0, rc == 0 ? e : &later);
		rc = rc < 0 ? rc : closed;
	}
	*x = (struct mix_sets){0};
	return rc;
}
