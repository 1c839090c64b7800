/* exact_units.c - see exact_units.h. */
#include "precision/exact_units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of all calls, those that look for what carries the error. */
static const double SEARCH_SHARE = 0.5;
/* A half that has so little of its block's error leaves all of it to the other half, which need not be measured. */
static const double NEARLY_NONE = 0.05;
/* A block with less than such a share of the limit, by the number of blocks, is not looked into. */
static const double SMALL_PART = 0.5;
/* Time that is saved is not known better than to this share of all of it, by the number of units. */
static const double LEAST_SHARE = 0.01;
enum { MOST_CHOICES = 64 };

struct block {
	uint32_t first, end;
	double error;   /* of it alone */
	double saved_s; /* at least a little */
	bool whole;     /* it is not halved any more */
};

struct search {
	const struct exact_units *x;
	struct arena *a;
	struct exact_way *out;
	struct block *block; /* (n_blocks) */
	uint32_t n_blocks, calls;
	double least_s; /* that a unit counts as saving */
	bool *marked;   /* (n) room */
};

static bool is_over(const struct search *s, uint32_t most)
{
	return s->calls >= most || (s->x->late && s->x->late(s->x->ctx));
}

static struct block new_block(const struct search *s, uint32_t first, uint32_t end, double error)
{
	struct block b = {first, end, error, 0, end - first < 2};
	for (uint32_t i = first; i < end; i++)
		b.saved_s += fmax(s->x->saved_s[i], s->least_s);
	return b;
}

/* Only one block reduced. */
static int error_alone(struct search *s, uint32_t first, uint32_t end, double *error, struct err *e)
{
	memset(s->marked, 0, s->x->n * sizeof *s->marked);
	for (uint32_t i = first; i < end; i++)
		s->marked[i] = true;
	s->calls++;
	return s->x->error(s->x->ctx, s->marked, error, e);
}

/* Measure what s->marked says; the choice becomes the best one where it is.  *error may be NULL. */
static int measure_marked(struct search *s, double *error, struct err *e)
{
	struct exact_way *out = s->out;
	struct exact_choice c = {.reduced = ARENA_NEWN(s->a, bool, s->x->n)};
	memcpy(c.reduced, s->marked, s->x->n * sizeof *c.reduced);
	s->calls++;
	if (s->x->measure(s->x->ctx, c.reduced, &c.error, &c.lat_s, e) < 0)
		return -1;
	*error = c.error;
	if (out->n == MOST_CHOICES)
		return 0;
	if (c.error <= s->x->limit && (out->best < 0 || c.lat_s < out->choice[out->best].lat_s))
		out->best = (int)out->n;
	out->choice[out->n++] = c;
	return 0;
}

/* ---- what carries the error ---- */

/* Where a block is halved: half of what it saves on each side. */
static uint32_t middle_of(const struct search *s, const struct block *b)
{
	double half = b->saved_s / 2, sum = 0;
	uint32_t i = b->first;
	for (; i + 1 < b->end; i++) {
		double one = fmax(s->x->saved_s[i], s->least_s);
		if (i > b->first && sum + one / 2 > half)
			break;
		sum += one;
	}
	return i > b->first ? i : b->first + 1;
}

/* Halves block at; both halves have their errors. */
static int halve(struct search *s, uint32_t at, struct err *e)
{
	struct block b = s->block[at];
	uint32_t middle = middle_of(s, &b);
	double left, right = b.error;
	if (error_alone(s, b.first, middle, &left, e) < 0 ||
	    (left > NEARLY_NONE * b.error && error_alone(s, middle, b.end, &right, e) < 0))
		return -1;
	s->block[at] = new_block(s, b.first, middle, left);
	s->block[s->n_blocks++] = new_block(s, middle, b.end, right);
	return 0;
}

/* The block with the most error that is worth looking into; n_blocks: none is. */
static uint32_t most_error(const struct search *s)
{
	uint32_t most = s->n_blocks;
	for (uint32_t i = 0; i < s->n_blocks; i++)
		if (!s->block[i].whole &&
		    s->block[i].error > SMALL_PART * s->x->limit / s->n_blocks &&
		    (most == s->n_blocks || s->block[i].error > s->block[most].error))
			most = i;
	return most;
}

static int find_errors(struct search *s, struct err *e)
{
	uint32_t most = (uint32_t)(SEARCH_SHARE * s->x->most);
	for (uint32_t at; (at = most_error(s)) < s->n_blocks && !is_over(s, most);)
		if (halve(s, at, e) < 0)
			return -1;
	return 0;
}

/* ---- what is made exact ---- */

/* Most error for a second first; of the same the first. */
static int by_worth(const void *p, const void *q)
{
	const struct block *a = p, *b = q;
	double x = a->error / a->saved_s, y = b->error / b->saved_s;
	return x != y ? (x < y) - (x > y) : (a->first > b->first) - (a->first < b->first);
}

/* The first so many blocks exact, all others reduced. */
static void mark(const struct search *s, uint32_t n_exact)
{
	memset(s->marked, 0, s->x->n * sizeof *s->marked);
	for (uint32_t i = n_exact; i < s->n_blocks; i++)
		for (uint32_t j = s->block[i].first; j < s->block[i].end; j++)
			s->marked[j] = true;
}

/* *n_exact: as few of the first blocks as keep the limit, by bisection; all where none do. */
static int fewest_exact(struct search *s, uint32_t *n_exact, struct err *e)
{
	uint32_t lo = 0, hi = s->n_blocks; /* lo does not keep it */
	double error;
	qsort(s->block, s->n_blocks, sizeof *s->block, by_worth);
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		mark(s, mid);
		if (measure_marked(s, &error, e) < 0)
			return -1;
		if (error <= s->x->limit)
			hi = mid;
		else
			lo = mid;
	}
	*n_exact = hi;
	if (hi < s->n_blocks)
		return 0;
	mark(s, hi);
	return measure_marked(s, &error, e);
}

/* ---- what is given back ---- */

/* Of the first n blocks the one that saves the most and can be halved; n: none can. */
static uint32_t dearest(const struct search *s, uint32_t n)
{
	uint32_t most = n;
	for (uint32_t i = 0; i < n; i++)
		if (!s->block[i].whole &&
		    (most == n || s->block[i].saved_s > s->block[most].saved_s))
			most = i;
	return most;
}

/* Block at, one of the first *n that are exact, is reduced: it goes behind them. */
static void give_back(struct search *s, uint32_t at, uint32_t *n)
{
	struct block b = s->block[at];
	s->block[at] = s->block[--*n];
	s->block[*n] = b;
}

/* Tries to reduce block at of the first *n. */
static int try_back(struct search *s, uint32_t at, uint32_t *n, struct err *e)
{
	double error;
	give_back(s, at, n);
	mark(s, *n);
	if (measure_marked(s, &error, e) < 0)
		return -1;
	*n += error > s->x->limit; /* it is the next one behind them */
	return 0;
}

static int give_halves_back(struct search *s, uint32_t n, struct err *e)
{
	for (uint32_t at; (at = dearest(s, n)) < n && !is_over(s, s->x->most);) {
		uint32_t end = s->n_blocks, less;
		if (halve(s, at, e) < 0)
			return -1;
		/* The new half lies behind all: among the exact ones it changes places with the first reduced one. */
		struct block half = s->block[end];
		s->block[end] = s->block[n];
		s->block[n] = half;
		less = s->block[at].error / s->block[at].saved_s < half.error / half.saved_s ? at
											     : n;
		n++;
		if (s->block[less].error <= s->x->limit && try_back(s, less, &n, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- all of it ---- */

int exact_units_choose(const struct exact_units *x, struct arena *a, struct exact_way *out,
		       struct err *e)
{
	double all = 0, error;
	uint32_t n_exact;
	struct search s = {.x = x,
			   .a = a,
			   .out = out,
			   .block = ARENA_NEWN(a, struct block, (size_t)x->n + 1),
			   .n_blocks = 1,
			   .marked = ARENA_NEWN(a, bool, (size_t)x->n + 1)};
	*out = (struct exact_way){.choice = ARENA_NEWN(a, struct exact_choice, MOST_CHOICES),
				  .best = -1};
	for (uint32_t i = 0; i < x->n; i++)
		all += fabs(x->saved_s[i]);
	s.least_s = all > 0 ? LEAST_SHARE * all / x->n : 1;
	mark(&s, s.n_blocks); /* none yet */
	for (uint32_t i = 0; i < x->n; i++)
		s.marked[i] = true;
	if (measure_marked(&s, &error, e) < 0)
		return -1;
	if (error <= x->limit || x->n == 0)
		return 0;
	s.block[0] = new_block(&s, 0, x->n, error);
	if (find_errors(&s, e) < 0 || fewest_exact(&s, &n_exact, e) < 0)
		return -1;
	return give_halves_back(&s, n_exact, e);
}
