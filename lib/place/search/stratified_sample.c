/* stratified_sample.c - the method `variety`: distinct placements of every kind and quality, for
 * holding a simulator against the machine (pipelines/calibrate).
 *
 * A stratified sample of many candidates (sample_candidates.h): somewhat more than half of what is
 * handed over is predicted to take at most NEAR times as long as the best, the rest longer.
 * Among the former are two that nearly leave the fastest device alone: what it costs that several are in use at
 * all is seen there, and not where they have much to exchange.  Both
 * parts are spread evenly over bins of the latency's logarithm; random placements alone would all
 * lie in a few bins far from the best. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "place/search/sample_candidates.h"

enum { BINS = 12 };
static const double NEAR = 1.4, NEAR_SHARE = 0.55;

static const char *const kind_names[] = {"single", "searched", "slowed",  "around",
					 "moved",  "patched",  "crossed", "pieces",
					 "biased", "uniform",  "restored"};

struct picker {
	struct sample_candidates *x;
	struct sample_candidate **out;
	uint32_t n;
};

static void take_candidate(struct picker *p, struct sample_candidate *c)
{
	if (!c->taken && p->n < p->x->r->samples) {
		c->taken = true;
		p->out[p->n++] = c;
	}
}

static uint32_t bin_of(double s, double lo, double hi)
{
	double at = hi > lo ? log(s / lo) / log(hi / lo) * BINS : 0;

	return at >= BINS ? BINS - 1 : (uint32_t)at;
}

/* Candidates between lo and hi in turn from each part of the range, until there are `most`. */
static void take_range(struct picker *p, double lo, double hi, uint32_t most)
{
	struct sample_candidates *x = p->x;
	size_t at[BINS] = {0};

	for (bool any = true; any && p->n < most;) {
		any = false;
		for (uint32_t b = 0; b < BINS && p->n < most; b++) {
			size_t i = at[b];

			while (i < x->n && (x->c[i].taken || x->c[i].s < lo || x->c[i].s > hi ||
					    bin_of(x->c[i].s, lo, hi) != b))
				i++;
			at[b] = i;
			if (i < x->n) {
				take_candidate(p, &x->c[i]);
				any = true;
			}
		}
	}
}

/* All behind the first `head` in a random order (Fisher and Yates), so that drift of the
 * machine's speed does not coincide with a kind or a quality. */
static void shuffle(struct picker *p, uint32_t head)
{
	for (uint32_t i = p->n; i > head + 1; i--) {
		uint32_t j = head + sample_candidates_draw_below(p->x, i - head);
		struct sample_candidate *t = p->out[i - 1];

		p->out[i - 1] = p->out[j];
		p->out[j] = t;
	}
}

static int hand_over_sample(struct sample_candidates *x, struct err *e)
{
	struct picker p = {x, ARENA_NEWN(x->r->a, struct sample_candidate *, x->r->samples), 0};
	double best = INFINITY, worst = 0;
	uint32_t near = (uint32_t)ceil(NEAR_SHARE * x->r->samples);

	for (size_t i = 0; i < x->n; i++) {
		best = fmin(best, x->c[i].s);
		worst = fmax(worst, x->c[i].s);
	}
	for (size_t i = 0; i < x->n; i++)
		if (x->c[i].kind == CANDIDATE_SINGLE)
			take_candidate(&p, &x->c[i]);
	uint32_t singles = p.n;
	for (size_t i = 0; i < x->n; i++)
		if (x->c[i].kind == CANDIDATE_AROUND && x->c[i].s <= NEAR * best)
			take_candidate(&p, &x->c[i]);
	for (size_t i = 0; i < x->n; i++)
		if (x->c[i].kind == CANDIDATE_SEARCHED)
			take_candidate(&p, &x->c[i]);
	take_range(&p, best, NEAR * best, near);
	take_range(&p, NEAR * best, worst, x->r->samples);
	take_range(&p, best, worst, x->r->samples);
	shuffle(&p, singles);
	int rc = 0;
	for (uint32_t i = 0; i < p.n && rc == 0; i++) {
		memcpy(x->r->device, p.out[i]->device, x->m->n_sets * sizeof(*x->r->device));
		x->r->source = kind_names[p.out[i]->kind];
		rc = x->r->emit(x->r, e);
	}
	snprintf(x->r->note, sizeof(x->r->note), "%u of %zu placements, from %.6g s to %.6g s%s",
		 p.n, x->n, best, worst,
		 method_is_late(x->deadline_s) ? "; fewer to choose from, the budget being spent"
					       : "");
	return rc;
}

static int run_variety(struct method_run *r, struct err *e)
{
	struct sample_candidates x;
	int rc = sample_candidates_init(&x, r, e);

	if (rc == 0)
		rc = hand_over_sample(&x, e);
	sample_candidates_release(&x);
	return rc;
}

const struct place_method method_variety = {
	.name = "variety",
	.needs_costs = true,
	.about = "distinct placements of every quality (-n), half near the best",
	.source = "-",
	.run = run_variety,
};
