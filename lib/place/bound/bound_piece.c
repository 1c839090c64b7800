/* bound_piece.c - dnnpart-latency: the longest path over CPU tasks and pieces of accelerators.
 *
 * out[v]: before what task v makes is where others can read it; the less of two.  On a CPU: its
 * cost behind the out of all that it reads.  On an accelerator: before its piece has ended and v is
 * taken out.  The piece of v begins at some task e before v (or v itself) all of whose producers
 * are outside, and
 *   - holds every task between e and v: a path that left the accelerator and came back would have
 *     entered it once more (dnnpart.h), so that e and v would not be in one piece;
 *   - brings in what is read from before e, all of which is outside for the same reason;
 *   - brings in or holds, whatever is less, everything else that these tasks read;
 *   - takes out what is read behind all consumers of v, where v is read from outside.
 * The least over e that memory allows is below what the piece takes.  Where v reads several tasks
 * the largest of leasts counts (reach.h).
 *
 * Beside that, for every amount of memory the longest path inside a piece that has so much. */
#include <math.h>
#include <string.h>

#include "place/bound/bounds.h"
#include "place/bound/reach.h"

enum { STEPS = 64 };                       /* of memory */
static const uint64_t MAX_WORK = 30000000; /* tasks looked at in intervals */

struct piece_bound {
	const struct reach *g;
	double *out_s; /* (n) */
	/* (n,STEPS+1) end of v in a piece, by memory up to there */
	double *inside_s;
	double *at_s; /* (n) for one v: end of its piece's work, by e */
	/* (n) the same with what is taken out of it for certain */
	double *end_s;
	uint64_t work;
};

/* ---- intervals ---- */

/* What a piece that holds `between` surely takes out besides v: everything that is read behind all
 * consumers of v; else what is less, that or its readers in the piece, each of these counted
 * once. */
static double taken_out_s(const struct piece_bound *x, uint32_t v, const uint64_t *between,
			  const uint64_t *far, uint64_t *counted)
{
	const struct reach *g = x->g;
	double sum = 0;

	memset(counted, 0, g->words * sizeof(*counted));
	for (uint32_t w = 0; w < g->words; w++)
		for (uint64_t b = between[w]; b; b &= b - 1) {
			uint32_t y = 64 * w + (uint32_t)__builtin_ctzll(b);
			double inside = 0;
			bool leaves = false;

			if (y == v)
				continue;
			for (uint32_t i = g->succ_ptr[y]; i < g->succ_ptr[y + 1]; i++) {
				uint32_t z = g->succ[i];

				if (reach_has(between, z))
					continue;
				leaves |= reach_has(far, z);
				inside += reach_has(counted, z) ? 0 : g->acc_s[z];
				reach_set(counted, z);
			}
			sum += leaves ? g->move_s[y] : fmin(g->move_s[y], inside);
		}
	return sum;
}

/* Fill at_s[e] and end_s[e] for the piece of v that begins at e. */
static void fill_piece_from(struct piece_bound *x, uint32_t v, uint32_t e, const uint64_t *far,
			    uint64_t *scratch)
{
	const struct reach *g = x->g;
	uint64_t *between = scratch, *outside = scratch + g->words, mem = 0;
	const uint64_t *first = reach_row(g, g->before, e);
	double start = 0, sum = 0;

	x->work += 1 + g->words / 2;
	memset(outside, 0, g->words * sizeof(*outside));
	for (uint32_t w = 0; w < g->words; w++)
		between[w] = reach_row(g, g->behind, e)[w] & reach_row(g, g->before, v)[w];
	for (uint32_t w = 0; w < g->words; w++)
		for (uint64_t b = between[w]; b; b &= b - 1) {
			uint32_t y = 64 * w + (uint32_t)__builtin_ctzll(b);

			mem += g->mem[y];
			if (mem > g->limit || g->acc_s[y] == INFINITY)
				return;
			sum += g->acc_s[y];
			for (uint32_t j = 0; j < g->words; j++)
				outside[j] |= reach_row(g, g->reads, y)[j];
			x->work += 1 + g->words / 4;
		}
	for (uint32_t w = 0; w < g->words; w++)
		for (uint64_t b = outside[w] & ~between[w]; b; b &= b - 1) {
			uint32_t y = 64 * w + (uint32_t)__builtin_ctzll(b);

			sum += reach_has(first, y) ? g->move_s[y] : fmin(g->move_s[y], g->acc_s[y]);
		}
	for (uint32_t i = g->pred_ptr[e]; i < g->pred_ptr[e + 1]; i++)
		start = fmax(start, x->out_s[g->pred[i]]);
	x->at_s[e] = start + sum;
	x->end_s[e] = start + sum + taken_out_s(x, v, between, far, outside);
}

/* Over what v reads, the largest of leasts (reach.h); at_s: of pieces, by their first task. */
static double least_join_s(const struct piece_bound *x, uint32_t v, const double *at_s)
{
	const struct reach *g = x->g;
	double most = g->acc_s[v];

	for (uint32_t i = g->pred_ptr[v]; i < g->pred_ptr[v + 1]; i++) {
		uint32_t q = g->pred[i];
		double least = x->out_s[q] + g->move_s[q] + g->acc_s[v];

		for (uint32_t j = g->pred_ptr[v]; j < g->pred_ptr[v + 1]; j++) {
			uint32_t z = g->pred[j];

			if (z != q)
				least += reach_has(reach_row(g, g->before, q), z)
						 ? g->move_s[z]
						 : fmin(g->move_s[z], g->acc_s[z]);
		}
		for (uint32_t w = 0; at_s && w < g->words; w++)
			for (uint64_t b = reach_row(g, g->before, q)[w]; b; b &= b - 1)
				least = fmin(least, at_s[64 * w + (uint32_t)__builtin_ctzll(b)]);
		most = fmax(most, at_s ? least : g->acc_s[v]);
	}
	return most;
}

/* ---- paths inside pieces ---- */

static void path_inside(struct piece_bound *x, uint32_t v, double at_least)
{
	const struct reach *g = x->g;
	bool limited = g->limit < UINT64_MAX && g->limit > 0;
	double steps = limited ? (double)g->mem[v] / (double)g->limit * STEPS : 0;
	uint32_t own = (uint32_t)fmin(steps, STEPS + 1);
	double *end = x->inside_s + (size_t)v * (STEPS + 1);

	for (uint32_t m = 0; m <= STEPS; m++) {
		end[m] = INFINITY;
		if (m < own || g->acc_s[v] == INFINITY)
			continue;
		double ready = 0;
		for (uint32_t i = g->pred_ptr[v]; i < g->pred_ptr[v + 1]; i++) {
			uint32_t p = g->pred[i];

			ready = fmax(ready, fmin(x->out_s[p] + g->move_s[p],
						 x->inside_s[(size_t)p * (STEPS + 1) + m - own]));
		}
		end[m] = fmax(ready + g->acc_s[v], at_least);
	}
}

/* One task: its out_s; returns before it can have ended. */
static double bound_task(struct piece_bound *x, uint32_t v, uint64_t *scratch)
{
	const struct reach *g = x->g;
	uint64_t *far = scratch + 2 * g->words;
	bool read = g->succ_ptr[v] < g->succ_ptr[v + 1], intervals = x->work < MAX_WORK;
	double ready = 0, own = read ? g->move_s[v] : 0;

	for (uint32_t w = 0; w < g->words; w++)
		far[w] = read ? ~UINT64_C(0) : 0;
	for (uint32_t i = g->succ_ptr[v]; i < g->succ_ptr[v + 1]; i++)
		for (uint32_t w = 0; w < g->words; w++)
			far[w] &= reach_row(g, g->behind, g->succ[i])[w];
	for (uint32_t e = 0; e <= v; e++)
		x->at_s[e] = x->end_s[e] = INFINITY;
	for (uint32_t e = 0; intervals && g->acc_s[v] < INFINITY && e <= v; e++)
		if (reach_has(reach_row(g, g->before, v), e))
			fill_piece_from(x, v, e, far, scratch);
	for (uint32_t i = g->pred_ptr[v]; i < g->pred_ptr[v + 1]; i++)
		ready = fmax(ready, x->out_s[g->pred[i]]);
	path_inside(x, v, least_join_s(x, v, intervals ? x->at_s : NULL));
	double inside = x->inside_s[(size_t)v * (STEPS + 1) + STEPS], cpu = ready + g->cpu_s[v];

	x->out_s[v] =
		fmin(cpu, own + fmax(inside, least_join_s(x, v, intervals ? x->end_s : NULL)));
	return fmin(cpu, inside);
}

double bound_piece_s(const struct reach *g)
{
	struct arena *a = arena_new();
	struct piece_bound x = {.g = g};
	double **numbers[] = {&x.out_s, &x.at_s, &x.end_s}, longest = 0;
	uint64_t *scratch = ARENA_NEWN(a, uint64_t, 3 * (size_t)g->words);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = ARENA_NEWN(a, double, g->n);
	x.inside_s = ARENA_NEWN(a, double, (size_t)g->n *(STEPS + 1));
	for (uint32_t t = 0; t < g->n; t++) {
		double end = bound_task(&x, t, scratch);

		longest = end < INFINITY ? fmax(longest, end) : longest;
	}
	arena_free(a);
	return longest * (1 - 1e-12);
}

/* The longest path of fastest costs; cheap, also where bound_piece_s takes too much memory. */
static double dnnpart_path_value(struct bound_problem *x)
{
	const struct bound_view *v = &x->v;
	double *end = MEM_NEWN(double, v->n), longest = 0;

	for (uint32_t t = 0; t < v->n; t++) {
		double least = INFINITY, ready = 0;

		for (uint32_t d = 0; d < v->k; d++)
			least = fmin(least, v->task_s[(size_t)t * v->k + d]);
		for (uint32_t i = v->d->in_ptr[t]; i < v->d->in_ptr[t + 1]; i++)
			ready = fmax(ready,
				     end[v->d->tensor_task[v->d->use_tensor[v->d->in_use[i]]]]);
		end[t] = ready + (least < INFINITY ? least : 0);
		longest = fmax(longest, end[t]);
	}
	mem_free(end);
	return longest * (1 - 1e-12);
}

const struct lower_bound bound_dnnpart_path = {
	.kind = "path",
	.source = "the critical path: Kelley, Operations Research 9(3), 1961",
	.rules = 1U << PLACE_DNNPART_LATENCY,
	.metric = METRIC_LATENCY,
	.value = dnnpart_path_value};

static double piece_value(struct bound_problem *x)
{
	return x->reach ? bound_piece_s(x->reach) : 0;
}

const struct lower_bound bound_pieces = {
	.kind = "pieces",
	.source = "on the latency model of Tarnawski et al., NeurIPS 2020",
	.rules = 1U << PLACE_DNNPART_LATENCY,
	.metric = METRIC_LATENCY,
	.value = piece_value};
