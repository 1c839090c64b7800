/* separators.c - the least latency along the separators: the dynamic program over where pieces
 * begin and end (separators.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/bound/separators.h"

/* A start of pieces at block i: a way to choose the last tasks of the block.  In a list of starts
 * memory ascends and end_s descends, so that the last start that fits is the best one. */
struct piece_start {
	uint64_t mem;
	double end_s; /* when these tasks have ended */
	uint32_t way;
};

static const uint64_t MAX_WORK = UINT64_C(1) << 28; /* before giving up */

struct solver {
	struct separators *s;
	double *cpu_end_s;  /* (n+1) end of separator i on a CPU; the last: of everything */
	uint32_t *cpu_from; /* (n+1) way of the piece before; SEPARATORS_NONE: a CPU before */
	double **end_s;     /* (n+1,ways) end of a piece with these first tasks of block i */
	uint32_t **from, **from_way; /* (n+1,ways) where that piece begins: block, way */
	uint32_t **start_from; /* (n+1,ways) way of the piece before; SEPARATORS_NONE: a CPU */
	uint32_t *order;       /* (ways) of the block at hand by end_s */
	/* (ways) starts at the block at hand: [1] those that bring in the separator before, [0]
	 * others */
	struct piece_start *start[2];
	uint32_t n_start[2];
	/* (2n+3) seconds to take out the run's tasks, by the last position that reads each: a
	 * binary indexed tree (Fenwick, Software: Practice and Experience 24(3), 1994).  It only
	 * adds: after a huge or infinite value a subtraction would not give the other values
	 * back. */
	double *leaves_s;
	bool *moved;                    /* (tasks) brought into the run */
	uint32_t *last_read;            /* (tasks) the last position that reads it */
	struct separator_part **first;  /* (n+1,ways) */
	uint32_t *block_ptr, *in_block; /* tasks of block i: in_block[block_ptr[i]] .. */
};

/* A run of separators with all blocks between, see below. */
struct separator_run {
	double work_s; /* of its tasks on an accelerator */
	double in_s;   /* to bring in what it reads from before block i */
	double out_s;  /* to take out what is read behind block j+1 */
	uint64_t mem;
	bool reads_prev; /* some task but s_i reads separator i-1 */
};

/* ---- from piece to piece ---- */

struct key {
	double end_s;
	uint32_t way;
};

static int by_end(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->end_s != b->end_s)
		return a->end_s < b->end_s ? -1 : 1;
	return (a->way > b->way) - (a->way < b->way);
}

/* Ways to begin block i, in a piece, that ends soonest first. */
static void sort_ends(struct solver *x, uint32_t i)
{
	uint32_t n = x->s->block[i].n_first;
	struct key *key = MEM_NEWN(struct key, n);

	for (uint32_t f = 0; f < n; f++)
		key[f] = (struct key){x->end_s[i][f], f};
	if (n > 1)
		qsort(key, n, sizeof(*key), by_end);
	for (uint32_t f = 0; f < n; f++)
		x->order[f] = key[f].way;
	mem_free(key);
}

/* When everything before the last tasks `last` of block i has ended at the earliest; *from: the way
 * of the piece before that allows it. */
static double ready_s(const struct solver *x, uint32_t i, uint32_t last, uint32_t *from)
{
	const struct separator_block *b = &x->s->block[i];
	double least = (i ? x->cpu_end_s[i - 1] : 0) + separators_between_s(b, 0, last);
	uint32_t j;

	*from = SEPARATORS_NONE;
	for (j = 0; j < b->n_first && x->end_s[i][x->order[j]] < least; j++) {
		double s = x->end_s[i][x->order[j]] + separators_between_s(b, x->order[j], last);

		if (s < least) {
			least = s;
			*from = x->order[j];
		}
	}
	x->s->work += (j + 1) * separators_pair_steps(b->n_components);
	return least;
}

static int by_mem(const void *pa, const void *pb)
{
	const struct piece_start *a = pa, *b = pb;

	if (a->mem != b->mem)
		return a->mem < b->mem ? -1 : 1;
	if (a->end_s != b->end_s)
		return a->end_s < b->end_s ? -1 : 1;
	return (a->way > b->way) - (a->way < b->way);
}

/* Drops starts that need no less memory than another and end no sooner. */
static void drop_dominated(struct piece_start *b, uint32_t *n)
{
	uint32_t kept = 0;

	if (*n > 1)
		qsort(b, *n, sizeof(*b), by_mem);
	for (uint32_t j = 0; j < *n; j++)
		if (b[j].end_s < INFINITY && (kept == 0 || b[j].end_s < b[kept - 1].end_s))
			b[kept++] = b[j];
	*n = kept;
}

static bool given_up(const struct solver *x)
{
	return !x->s->sure && x->s->work > MAX_WORK;
}

/* All starts of pieces at block i. */
static void list_starts(struct solver *x, uint32_t i)
{
	const struct separators *s = x->s;
	const struct separator_block *b = &s->block[i];
	uint32_t prev = i ? s->task[i - 1] : SEPARATORS_NONE;

	x->n_start[0] = x->n_start[1] = 0;
	for (uint32_t l = 0; l < b->n_last && !given_up(x); l++) {
		struct separator_part p = separators_last(b, l);
		bool reads = prev != SEPARATORS_NONE &&
			     (p.prev || reach_has(reach_row(s->g, s->g->reads, s->task[i]), prev));
		double end = ready_s(x, i, l, &x->start_from[i][l]) + p.work_s;

		end += reads ? s->g->move_s[prev] : 0;

		x->start[reads][x->n_start[reads]++] = (struct piece_start){p.mem, end, l};
	}
	drop_dominated(x->start[0], &x->n_start[0]);
	drop_dominated(x->start[1], &x->n_start[1]);
}

static const struct piece_start *best_within(const struct piece_start *b, uint32_t n, uint64_t mem)
{
	uint32_t low = 0;

	while (low < n) {
		uint32_t mid = (low + n) / 2;

		if (b[mid].mem <= mem)
			low = mid + 1;
		else
			n = mid;
	}
	return low ? &b[low - 1] : NULL;
}

/* ---- pieces ----
 *
 * All pieces whose first separator is s_i hold a run s_i .. s_j, and differ in j, in the last tasks
 * U of block i, and in the first tasks D of block j+1:
 *
 *     [ U   s_i  block i+1  s_(i+1)  ...  block j  s_j   D ]
 *           '------------------ run -----------------'
 *
 * For each i the run grows by one block and one separator at a time (extend_run), and after each
 * step all ends D are tried, each with the best start U that leaves it room (try_ends).  A piece
 * takes, in this order of summands,
 *   start      end of U, with all it waited for                       (struct piece_start)
 *   work_s     the run's tasks
 *   in_s       values from before block i that the run reads: they are outside for certain,
 *              and are brought in once each
 *   out_s      values of the run that are read behind block j+1: they leave for certain.  A
 *              value whose last reader is in block j+1 may stay, when D has its readers
 *   D          its work, with what it takes out
 *   s_(i-1)    brought in, if U or s_i has not paid for it and the run reads it
 *   s_j        taken out, if a task of block j+1 outside D reads it or a task behind that block
 * What is certain does not depend on U and D, so the value is a lower bound where U and D share a
 * value with the run; separators_method.c evaluates the placement by the rules themselves. */

/* Adds task t to the run that begins at separator i. */
static void add_to_run(struct solver *x, struct separator_run *r, uint32_t i, uint32_t t)
{
	const struct separators *s = x->s;
	const struct reach *g = s->g;
	uint32_t prev = i ? s->task[i - 1] : SEPARATORS_NONE;

	r->work_s += g->acc_s[t];
	r->mem = r->mem + g->mem[t] < r->mem ? UINT64_MAX : r->mem + g->mem[t];
	for (uint32_t j = g->pred_ptr[t]; j < g->pred_ptr[t + 1]; j++) {
		uint32_t p = g->pred[j];

		if (p == prev) {
			r->reads_prev |= t != s->task[i];
		} else if (s->position[p] < 2 * i && !x->moved[p]) {
			x->moved[p] = true;
			r->in_s += g->move_s[p];
		}
	}
}

/* Tries the end D = first tasks `way` of block j+1, for the run s_i .. s_j. */
static void try_end(struct solver *x, uint32_t i, uint32_t j, const struct separator_run *r,
		    uint32_t way)
{
	const struct separators *s = x->s;
	const struct reach *g = s->g;
	uint32_t after = j + 1;
	struct separator_part p = x->first[after][way];
	bool read_far = x->last_read[s->task[j]] > 2 * after;

	if (r->mem > g->limit || p.mem > g->limit - r->mem)
		return;
	for (int paid = 0; paid < 2; paid++) {
		const struct piece_start *b =
			best_within(x->start[paid], x->n_start[paid], g->limit - r->mem - p.mem);

		if (!b)
			continue;
		double end = b->end_s + r->work_s + r->in_s + r->out_s + p.work_s +
			     (!paid && r->reads_prev ? g->move_s[s->task[i - 1]] : 0) +
			     (p.prev || read_far ? g->move_s[s->task[j]] : 0);

		if (end < x->end_s[after][way]) {
			x->end_s[after][way] = end;
			x->from[after][way] = i;
			x->from_way[after][way] = b->way;
		}
	}
}

static void try_ends(struct solver *x, uint32_t i, uint32_t j, const struct separator_run *r)
{
	for (uint32_t way = 0; way < x->s->block[j + 1].n_first; way++)
		try_end(x, i, j, r, way);
}

/* Counts task t's value among those that leave the run once it ends before their last reader. */
static void add_to_leaving(struct solver *x, uint32_t t)
{
	uint32_t end = 2 * x->s->n + 3;

	for (uint32_t at = end - 1 - x->last_read[t]; at < end; at += at & -at)
		x->leaves_s[at] += x->s->g->move_s[t];
}

/* Seconds to take out the run's tasks that some task behind `position` reads. */
static double leaving_s(const struct solver *x, uint32_t position)
{
	double sum = 0;

	for (uint32_t at = 2 * x->s->n + 1 - position; at; at &= at - 1)
		sum += x->leaves_s[at];
	return sum;
}

/* The run goes on to separator j.  What separator j makes does not leave with out_s: whether it
 * leaves depends on D. */
static void extend_run(struct solver *x, struct separator_run *r, uint32_t i, uint32_t j)
{
	const struct separators *s = x->s;

	if (j > i) {
		for (uint32_t k = x->block_ptr[j]; k < x->block_ptr[j + 1]; k++) {
			add_to_run(x, r, i, x->in_block[k]);
			add_to_leaving(x, x->in_block[k]);
		}
		add_to_leaving(x, s->task[j - 1]);
	}
	add_to_run(x, r, i, s->task[j]);
	/* Positions behind block j+1 only: what block j+1 reads last may stay in the piece. */
	r->out_s = leaving_s(x, 2 * j + 2);
}

/* Tries all pieces whose first separator is number i. */
static void try_pieces(struct solver *x, uint32_t i)
{
	const struct separators *s = x->s;
	struct separator_run r = {0};

	memset(x->moved, 0, s->g->n * sizeof(*x->moved));
	memset(x->leaves_s, 0, (2 * (size_t)s->n + 3) * sizeof(*x->leaves_s));
	for (uint32_t j = i; j < s->n; j++) {
		extend_run(x, &r, i, j);
		if (r.mem > s->g->limit || r.work_s == INFINITY)
			break;
		try_ends(x, i, j, &r);
	}
}

/* ---- back from the end ---- */

/* Writes `number` into piece for the tasks that this way chooses. */
static void number_part(const struct separator_block *b, uint32_t way, bool last, uint32_t number,
			uint32_t *piece)
{
	for (uint32_t k = b->n_components; k-- > 0;) {
		const struct separator_component *c = &b->component[k];
		uint32_t n = last ? c->n_last : c->n_first;
		uint64_t tasks = (last ? c->last : c->first)[way % n].tasks;

		way /= n;
		for (; tasks; tasks &= tasks - 1)
			piece[c->task[__builtin_ctzll(tasks)]] = number;
	}
}

static void read_back(const struct solver *x, uint32_t *piece, uint32_t *n_pieces)
{
	const struct separators *s = x->s;
	uint32_t i = s->n, last = 0, from = x->cpu_from[i];

	memset(piece, 0, s->g->n * sizeof(*piece));
	*n_pieces = 0;
	/* At block i: `last` is the way of the piece behind, `from` that of the piece before. */
	for (;;) {
		separators_between_pieces(s, &s->block[i], from == SEPARATORS_NONE ? 0 : from, last,
					  piece, n_pieces);
		if (from == SEPARATORS_NONE) {
			if (i == 0)
				break;
			last = 0;
			from = x->cpu_from[--i];
			continue;
		}
		uint32_t first = x->from[i][from];

		last = x->from_way[i][from];
		number_part(&s->block[i], from, false, ++*n_pieces, piece);
		number_part(&s->block[first], last, true, *n_pieces, piece);
		for (uint32_t j = first; j < i; j++) {
			piece[s->task[j]] = *n_pieces;
			for (uint32_t k = x->block_ptr[j]; j > first && k < x->block_ptr[j + 1];
			     k++)
				piece[x->in_block[k]] = *n_pieces;
		}
		from = x->start_from[first][last];
		i = first;
	}
}

/* ---- the program ---- */

static void list_blocks(struct solver *x, struct arena *a)
{
	const struct separators *s = x->s;
	const struct reach *g = s->g;

	x->last_read = ARENA_NEWN(a, uint32_t, g->n);
	x->in_block = ARENA_NEWN(a, uint32_t, g->n);
	/* Counts go two entries up, so that filling turns them into the first indices. */
	x->block_ptr = ARENA_NEWN(a, uint32_t, (size_t)s->n + 3);
	for (uint32_t t = 0; t < g->n; t++) {
		x->block_ptr[s->position[t] / 2 + 2] += s->position[t] % 2 == 0;
		for (uint32_t j = g->succ_ptr[t]; j < g->succ_ptr[t + 1]; j++)
			if (s->position[g->succ[j]] > x->last_read[t])
				x->last_read[t] = s->position[g->succ[j]];
	}
	for (uint32_t i = 0; i <= s->n; i++)
		x->block_ptr[i + 2] += x->block_ptr[i + 1];
	for (uint32_t t = 0; t < g->n; t++)
		if (s->position[t] % 2 == 0)
			x->in_block[x->block_ptr[s->position[t] / 2 + 1]++] = t;
}

static void solver_init(struct solver *x, struct separators *s, struct arena *a)
{
	uint32_t n = s->n + 1, ways = 1;

	*x = (struct solver){.s = s};
	list_blocks(x, a);
	x->cpu_end_s = ARENA_NEWN(a, double, n);
	x->cpu_from = ARENA_NEWN(a, uint32_t, n);
	x->end_s = ARENA_NEWN(a, double *, n);
	x->from = ARENA_NEWN(a, uint32_t *, n);
	x->from_way = ARENA_NEWN(a, uint32_t *, n);
	x->start_from = ARENA_NEWN(a, uint32_t *, n);
	x->first = ARENA_NEWN(a, struct separator_part *, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct separator_block *b = &s->block[i];

		ways = b->n_first > ways ? b->n_first : ways;
		ways = b->n_last > ways ? b->n_last : ways;
		x->end_s[i] = ARENA_NEWN(a, double, b->n_first);
		x->from[i] = ARENA_NEWN(a, uint32_t, b->n_first);
		x->from_way[i] = ARENA_NEWN(a, uint32_t, b->n_first);
		x->start_from[i] = ARENA_NEWN(a, uint32_t, b->n_last);
		x->first[i] = ARENA_NEWN(a, struct separator_part, b->n_first);
		for (uint32_t f = 0; f < b->n_first; f++) {
			x->end_s[i][f] = INFINITY;
			x->first[i][f] = separators_first(b, f);
		}
	}
	x->order = ARENA_NEWN(a, uint32_t, ways);
	x->start[0] = ARENA_NEWN(a, struct piece_start, ways);
	x->start[1] = ARENA_NEWN(a, struct piece_start, ways);
	x->leaves_s = ARENA_NEWN(a, double, 2 * (size_t)n + 1);
	x->moved = ARENA_NEWN(a, bool, s->g->n);
}

double separators_solve(struct separators *s, uint32_t *piece, uint32_t *n_pieces)
{
	struct arena *a = arena_new();
	struct solver x;
	double value;

	solver_init(&x, s, a);
	for (uint32_t i = 0; i <= s->n; i++) {
		sort_ends(&x, i);
		x.cpu_end_s[i] = ready_s(&x, i, 0, &x.cpu_from[i]);
		x.cpu_end_s[i] += i < s->n ? s->g->cpu_s[s->task[i]] : 0;
		if (i == s->n || given_up(&x))
			break;
		list_starts(&x, i);
		try_pieces(&x, i);
	}
	value = given_up(&x) ? NAN : x.cpu_end_s[s->n];
	if (piece && value < INFINITY)
		read_back(&x, piece, n_pieces);
	arena_free(a);
	return value;
}
