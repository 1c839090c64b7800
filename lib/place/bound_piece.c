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
 * The least over e that memory allows is below what the piece takes.  Where v reads several tasks,
 * each of them is outside, or inside with an e of its own: the largest of these leasts holds.
 *
 * Beside that, for every amount of memory the longest path inside a piece that has so much. */
#include <math.h>
#include <string.h>

#include "place/bound_parts.h"
#include "place/dnnpart.h"

enum { STEPS = 64 };                           /* of memory */
static const uint64_t MAX_WORK = 30000000;     /* tasks looked at in intervals */

struct piece_bound {
	const struct bound_view *v;
	uint32_t n, words;
	double *cpu_s, *acc_s, *move_s;        /* (n) fastest; INFINITY: cannot run there */
	uint64_t limit;                        /* of the largest accelerator */
	uint32_t *pred_ptr, *pred, *succ_ptr, *succ;
	uint64_t *before, *behind;             /* (n,words) with the task itself */
	uint64_t *reads, *read_by;             /* (n,words) */
	double *out_s;                         /* (n) */
	double *inside_s;                      /* (n,STEPS+1) end of v in a piece, by memory up to there */
	double *at_s;                          /* (n) for one v: end of its piece's work, by e */
	double *end_s;                         /* (n) the same with what is taken out of it for certain */
	uint64_t work;
};

static bool has(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static void set(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static uint64_t *row(const struct piece_bound *x, uint64_t *bits, uint32_t v)
{
	return bits + (size_t)v * x->words;
}

/* ---- the graph ---- */

static void collect_edges(struct piece_bound *x)
{
	const struct sched_dag *d = x->v->d;

	for (uint32_t i = 0; i < d->n_uses; i++) {
		uint32_t to = d->use_task[i], from = d->tensor_task[d->use_tensor[i]];

		set(row(x, x->reads, to), from);
		set(row(x, x->read_by, from), to);
	}
	for (int back = 0; back < 2; back++) {
		uint32_t *ptr = back ? x->pred_ptr : x->succ_ptr, *list = back ? x->pred : x->succ, m = 0;

		for (uint32_t v = 0; v < x->n; v++) {
			const uint64_t *bits = row(x, back ? x->reads : x->read_by, v);

			for (uint32_t w = 0; w < x->words; w++)
				for (uint64_t b = bits[w]; b; b &= b - 1)
					list[m++] = 64 * w + (uint32_t)__builtin_ctzll(b);
			ptr[v + 1] = m;
		}
	}
}

static void close_edges(struct piece_bound *x)
{
	for (uint32_t v = 0; v < x->n; v++) {
		set(row(x, x->before, v), v);
		for (uint32_t i = x->pred_ptr[v]; i < x->pred_ptr[v + 1]; i++)
			for (uint32_t w = 0; w < x->words; w++)
				row(x, x->before, v)[w] |= row(x, x->before, x->pred[i])[w];
	}
	for (uint32_t v = x->n; v-- > 0;) {
		set(row(x, x->behind, v), v);
		for (uint32_t i = x->succ_ptr[v]; i < x->succ_ptr[v + 1]; i++)
			for (uint32_t w = 0; w < x->words; w++)
				row(x, x->behind, v)[w] |= row(x, x->behind, x->succ[i])[w];
	}
}

static void find_costs(struct piece_bound *x)
{
	const struct bound_view *v = x->v;

	for (uint32_t t = 0; t < x->n; t++) {
		x->cpu_s[t] = x->acc_s[t] = INFINITY;
		x->move_s[t] = v->m->move_s[v->m->tasks.task_set[t]];
		for (uint32_t d = 0; d < v->k; d++) {
			double *s = dnnpart_is_cpu(v->m, d) ? &x->cpu_s[t] : &x->acc_s[t];

			*s = fmin(*s, v->task_s[(size_t)t * v->k + d]);
		}
	}
	for (uint32_t d = 0; d < v->k; d++)
		if (!dnnpart_is_cpu(v->m, d) && v->limit[d] > x->limit)
			x->limit = v->limit[d];
}

/* ---- intervals ---- */

/* What a piece that holds `between` surely takes out besides v: everything that is read behind all
 * consumers of v; else what is less, that or its readers in the piece, each of these counted once. */
static double taken_out_s(const struct piece_bound *x, uint32_t v, const uint64_t *between,
			  const uint64_t *far, uint64_t *counted)
{
	double sum = 0;

	memset(counted, 0, x->words * sizeof(*counted));
	for (uint32_t w = 0; w < x->words; w++)
		for (uint64_t b = between[w]; b; b &= b - 1) {
			uint32_t y = 64 * w + (uint32_t)__builtin_ctzll(b);
			double inside = 0;
			bool leaves = false;

			if (y == v)
				continue;
			for (uint32_t i = x->succ_ptr[y]; i < x->succ_ptr[y + 1]; i++) {
				uint32_t z = x->succ[i];

				if (has(between, z))
					continue;
				leaves |= has(far, z);
				inside += has(counted, z) ? 0 : x->acc_s[z];
				set(counted, z);
			}
			sum += leaves ? x->move_s[y] : fmin(x->move_s[y], inside);
		}
	return sum;
}

/* Fill at_s[e] and end_s[e] for the piece of v that begins at e. */
static void begin_at(struct piece_bound *x, uint32_t v, uint32_t e, const uint64_t *far, uint64_t *scratch)
{
	uint64_t *between = scratch, *outside = scratch + x->words, mem = 0;
	const uint64_t *first = row(x, x->before, e);
	double start = 0, sum = 0;

	x->work += 1 + x->words / 2;
	memset(outside, 0, x->words * sizeof(*outside));
	for (uint32_t w = 0; w < x->words; w++)
		between[w] = row(x, x->behind, e)[w] & row(x, x->before, v)[w];
	for (uint32_t w = 0; w < x->words; w++)
		for (uint64_t b = between[w]; b; b &= b - 1) {
			uint32_t y = 64 * w + (uint32_t)__builtin_ctzll(b);

			mem += x->v->m->task_mem[y];
			if (mem > x->limit || x->acc_s[y] == INFINITY)
				return;
			sum += x->acc_s[y];
			for (uint32_t j = 0; j < x->words; j++)
				outside[j] |= row(x, x->reads, y)[j];
			x->work += 1 + x->words / 4;
		}
	for (uint32_t w = 0; w < x->words; w++)
		for (uint64_t b = outside[w] & ~between[w]; b; b &= b - 1) {
			uint32_t y = 64 * w + (uint32_t)__builtin_ctzll(b);

			sum += has(first, y) ? x->move_s[y] : fmin(x->move_s[y], x->acc_s[y]);
		}
	for (uint32_t i = x->pred_ptr[e]; i < x->pred_ptr[e + 1]; i++)
		start = fmax(start, x->out_s[x->pred[i]]);
	x->at_s[e] = start + sum;
	x->end_s[e] = start + sum + taken_out_s(x, v, between, far, outside);
}

/* Over what v reads, the largest of the leasts: that task is outside, or the piece began at one of at_s. */
static double join(const struct piece_bound *x, uint32_t v, const double *at_s)
{
	double most = x->acc_s[v];

	for (uint32_t i = x->pred_ptr[v]; i < x->pred_ptr[v + 1]; i++) {
		uint32_t q = x->pred[i];
		double least = x->out_s[q] + x->move_s[q] + x->acc_s[v];

		for (uint32_t j = x->pred_ptr[v]; j < x->pred_ptr[v + 1]; j++) {
			uint32_t z = x->pred[j];

			if (z != q)
				least += has(row(x, x->before, q), z) ? x->move_s[z] :
									fmin(x->move_s[z], x->acc_s[z]);
		}
		for (uint32_t w = 0; at_s && w < x->words; w++)
			for (uint64_t b = row(x, x->before, q)[w]; b; b &= b - 1)
				least = fmin(least, at_s[64 * w + (uint32_t)__builtin_ctzll(b)]);
		most = fmax(most, at_s ? least : x->acc_s[v]);
	}
	return most;
}

/* ---- paths inside pieces ---- */

static void path_inside(struct piece_bound *x, uint32_t v, double at_least)
{
	bool limited = x->limit < UINT64_MAX && x->limit > 0;
	uint32_t own = limited ? (uint32_t)((double)x->v->m->task_mem[v] / (double)x->limit * STEPS) : 0;
	double *end = x->inside_s + (size_t)v * (STEPS + 1);

	for (uint32_t m = 0; m <= STEPS; m++) {
		end[m] = INFINITY;
		if (m < own || x->acc_s[v] == INFINITY)
			continue;
		double ready = 0;
		for (uint32_t i = x->pred_ptr[v]; i < x->pred_ptr[v + 1]; i++) {
			uint32_t p = x->pred[i];

			ready = fmax(ready, fmin(x->out_s[p] + x->move_s[p],
						 x->inside_s[(size_t)p * (STEPS + 1) + m - own]));
		}
		end[m] = fmax(ready + x->acc_s[v], at_least);
	}
}

/* One task: its out_s; returns before it can have ended. */
static double pass(struct piece_bound *x, uint32_t v, uint64_t *scratch)
{
	uint64_t *far = scratch + 2 * x->words;
	bool read = x->succ_ptr[v] < x->succ_ptr[v + 1], intervals = x->work < MAX_WORK;
	double ready = 0, own = read ? x->move_s[v] : 0;

	for (uint32_t w = 0; w < x->words; w++)
		far[w] = read ? ~UINT64_C(0) : 0;
	for (uint32_t i = x->succ_ptr[v]; i < x->succ_ptr[v + 1]; i++)
		for (uint32_t w = 0; w < x->words; w++)
			far[w] &= row(x, x->behind, x->succ[i])[w];
	for (uint32_t e = 0; e <= v; e++)
		x->at_s[e] = x->end_s[e] = INFINITY;
	for (uint32_t e = 0; intervals && x->acc_s[v] < INFINITY && e <= v; e++)
		if (has(row(x, x->before, v), e))
			begin_at(x, v, e, far, scratch);
	for (uint32_t i = x->pred_ptr[v]; i < x->pred_ptr[v + 1]; i++)
		ready = fmax(ready, x->out_s[x->pred[i]]);
	path_inside(x, v, join(x, v, intervals ? x->at_s : NULL));
	double inside = x->inside_s[(size_t)v * (STEPS + 1) + STEPS], cpu = ready + x->cpu_s[v];

	x->out_s[v] = fmin(cpu, own + fmax(inside, join(x, v, intervals ? x->end_s : NULL)));
	return fmin(cpu, inside);
}

double bound_piece_s(const struct bound_view *v)
{
	struct arena *a = arena_new();
	struct piece_bound x = {.v = v, .n = v->n, .words = v->n / 64 + 1};
	size_t bits = (size_t)x.n * x.words, n = (size_t)x.n + 1;
	uint64_t **sets[] = {&x.before, &x.behind, &x.reads, &x.read_by};
	double **numbers[] = {&x.cpu_s, &x.acc_s, &x.move_s, &x.out_s, &x.at_s, &x.end_s}, longest = 0;
	uint64_t *scratch = ARENA_NEWN(a, uint64_t, 3 * (size_t)x.words);

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		*sets[i] = ARENA_NEWN(a, uint64_t, bits);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		*numbers[i] = ARENA_NEWN(a, double, n);
	x.pred_ptr = ARENA_NEWN(a, uint32_t, n);
	x.succ_ptr = ARENA_NEWN(a, uint32_t, n);
	x.pred = ARENA_NEWN(a, uint32_t, v->d->n_uses);
	x.succ = ARENA_NEWN(a, uint32_t, v->d->n_uses);
	x.inside_s = ARENA_NEWN(a, double, n * (STEPS + 1));
	collect_edges(&x);
	close_edges(&x);
	find_costs(&x);
	for (uint32_t t = 0; t < x.n; t++) {
		double end = pass(&x, t, scratch);

		longest = end < INFINITY ? fmax(longest, end) : longest;
	}
	arena_free(a);
	return longest * (1 - 1e-12);
}
