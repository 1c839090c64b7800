/* spine.c - the least latency along a spine: where its pieces begin and end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/dnnpart/spine.h"

/* A way to end a block, for pieces that begin with it; by memory, ascending. */
struct begin {
	uint64_t mem;
	/* when its tasks have ended, the least up to this much memory */
	double end_s;
	uint32_t way;
};

static const uint64_t MAX_WORK = UINT64_C(1) << 28; /* before giving up */

struct solver {
	struct spine *s;
	double *cpu_end_s;           /* (n+1) the spine's task on a CPU; the last: everything */
	uint32_t *cpu_from;          /* (n+1) way of the piece before; SPINE_NONE: none, a CPU */
	double **end_s;              /* (n+1,ways) a piece that ends with a way to begin block i */
	uint32_t **from, **from_way; /* (n+1,ways) where it begins: block, way */
	uint32_t **start_from;       /* (n+1,ways) way of the piece before; SPINE_NONE: none */
	uint32_t *order;             /* (ways) of the block at hand by end_s */
	struct begin *begin[2];      /* (ways) that read the spine's task before, or not */
	uint32_t n_begin[2];
	/* (2n+3) moves of the run's tasks by the last place they are read at, as a binary
	 * indexed tree (Fenwick, Software: Practice and Experience 24(3), 1994): sums without
	 * subtraction, in which a move that takes for ever would take the others' last digits
	 * along */
	double *leaves_s;
	bool *moved;                    /* (tasks) brought into the run */
	uint32_t *last_place;           /* (tasks) where it is read last */
	struct spine_part **first;      /* (n+1,ways) */
	uint32_t *block_ptr, *in_block; /* tasks of block i: in_block[block_ptr[i]] .. */
};

/* A run of the spine with all blocks between. */
struct run {
	double work_s, in_s, out_s; /* on an accelerator; moves that are certain */
	uint64_t mem;
	/* the spine's task before the run, by others than its first block */
	bool reads_prev;
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

/* When all before this way to end block i can have ended, and what way to begin it is before. */
static double ready_s(const struct solver *x, uint32_t i, uint32_t last, uint32_t *from)
{
	const struct spine_block *b = &x->s->block[i];
	double least = (i ? x->cpu_end_s[i - 1] : 0) + spine_between_s(b, 0, last);
	uint32_t j;

	*from = SPINE_NONE;
	for (j = 0; j < b->n_first && x->end_s[i][x->order[j]] < least; j++) {
		double s = x->end_s[i][x->order[j]] + spine_between_s(b, x->order[j], last);

		if (s < least) {
			least = s;
			*from = x->order[j];
		}
	}
	x->s->work += (j + 1) * spine_pair_steps(b->n_components);
	return least;
}

static int by_mem(const void *pa, const void *pb)
{
	const struct begin *a = pa, *b = pb;

	if (a->mem != b->mem)
		return a->mem < b->mem ? -1 : 1;
	if (a->end_s != b->end_s)
		return a->end_s < b->end_s ? -1 : 1;
	return (a->way > b->way) - (a->way < b->way);
}

/* Of ways that take more memory only those that end sooner. */
static void thin(struct begin *b, uint32_t *n)
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

/* Everything that may begin with block i. */
static void begin_pieces(struct solver *x, uint32_t i)
{
	const struct spine *s = x->s;
	const struct spine_block *b = &s->block[i];
	uint32_t prev = i ? s->task[i - 1] : SPINE_NONE;

	x->n_begin[0] = x->n_begin[1] = 0;
	for (uint32_t l = 0; l < b->n_last && !given_up(x); l++) {
		struct spine_part p = spine_last(b, l);
		bool reads = prev != SPINE_NONE &&
			     (p.prev || reach_has(reach_row(s->g, s->g->reads, s->task[i]), prev));
		double end = ready_s(x, i, l, &x->start_from[i][l]) + p.work_s;

		end += reads ? s->g->move_s[prev] : 0;

		x->begin[reads][x->n_begin[reads]++] = (struct begin){p.mem, end, l};
	}
	thin(x->begin[0], &x->n_begin[0]);
	thin(x->begin[1], &x->n_begin[1]);
}

static const struct begin *best_within(const struct begin *b, uint32_t n, uint64_t mem)
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

/* ---- runs of the spine ---- */

/* A task joins the run that begins at block i. */
static void join_run(struct solver *x, struct run *r, uint32_t i, uint32_t t)
{
	const struct spine *s = x->s;
	const struct reach *g = s->g;
	uint32_t prev = i ? s->task[i - 1] : SPINE_NONE;

	r->work_s += g->acc_s[t];
	r->mem = r->mem + g->mem[t] < r->mem ? UINT64_MAX : r->mem + g->mem[t];
	for (uint32_t j = g->pred_ptr[t]; j < g->pred_ptr[t + 1]; j++) {
		uint32_t p = g->pred[j];

		if (p == prev) {
			r->reads_prev |= t != s->task[i];
		} else if (s->place[p] < 2 * i && !x->moved[p]) {
			x->moved[p] = true;
			r->in_s += g->move_s[p];
		}
	}
}

/* Pieces that hold the spine's tasks i .. j; each way to begin block j + 1. */
static void end_pieces(struct solver *x, uint32_t i, uint32_t j, const struct run *r)
{
	const struct spine *s = x->s;
	const struct reach *g = s->g;
	uint32_t t = s->task[j], after = j + 1;
	bool read_far = x->last_place[t] > 2 * after;

	for (uint32_t f = 0; f < s->block[after].n_first; f++) {
		struct spine_part p = x->first[after][f];

		if (r->mem > g->limit || p.mem > g->limit - r->mem)
			continue;
		for (int reads = 0; reads < 2; reads++) {
			const struct begin *b = best_within(x->begin[reads], x->n_begin[reads],
							    g->limit - r->mem - p.mem);

			if (!b)
				continue;
			double end = b->end_s + r->work_s + r->in_s + r->out_s + p.work_s +
				     (!reads && r->reads_prev ? g->move_s[s->task[i - 1]] : 0) +
				     (p.prev || read_far ? g->move_s[t] : 0);
			if (end < x->end_s[after][f]) {
				x->end_s[after][f] = end;
				x->from[after][f] = i;
				x->from_way[after][f] = b->way;
			}
		}
	}
}

/* What a task of the run makes is certain to be moved as long as the run ends before it is read
 * last. */
static void leave_run(struct solver *x, uint32_t t)
{
	uint32_t end = 2 * x->s->n + 3;

	for (uint32_t at = end - 1 - x->last_place[t]; at < end; at += at & -at)
		x->leaves_s[at] += x->s->g->move_s[t];
}

/* Moves of tasks that are read last behind a place. */
static double leaving_s(const struct solver *x, uint32_t place)
{
	double sum = 0;

	for (uint32_t at = 2 * x->s->n + 1 - place; at; at &= at - 1)
		sum += x->leaves_s[at];
	return sum;
}

/* The run goes on to the spine's task j. */
static void extend_run(struct solver *x, struct run *r, uint32_t i, uint32_t j)
{
	const struct spine *s = x->s;

	if (j > i) {
		for (uint32_t k = x->block_ptr[j]; k < x->block_ptr[j + 1]; k++) {
			join_run(x, r, i, x->in_block[k]);
			leave_run(x, x->in_block[k]);
		}
		leave_run(x, s->task[j - 1]);
	}
	join_run(x, r, i, s->task[j]);
	/* Not what is read last in the block behind task j, which may be in the piece. */
	r->out_s = leaving_s(x, 2 * j + 2);
}

/* All pieces whose first task on the spine is number i. */
static void extend_pieces(struct solver *x, uint32_t i)
{
	const struct spine *s = x->s;
	struct run r = {0};

	memset(x->moved, 0, s->g->n * sizeof(*x->moved));
	memset(x->leaves_s, 0, (2 * (size_t)s->n + 3) * sizeof(*x->leaves_s));
	for (uint32_t j = i; j < s->n; j++) {
		extend_run(x, &r, i, j);
		if (r.mem > s->g->limit || r.work_s == INFINITY)
			break;
		end_pieces(x, i, j, &r);
	}
}

/* ---- back from the end ---- */

static void mark(const struct spine_block *b, uint32_t way, bool last, uint32_t number,
		 uint32_t *piece)
{
	for (uint32_t k = b->n_components; k-- > 0;) {
		const struct spine_component *c = &b->component[k];
		uint32_t n = last ? c->n_last : c->n_first;
		uint64_t tasks = (last ? c->last : c->first)[way % n].tasks;

		way /= n;
		for (; tasks; tasks &= tasks - 1)
			piece[c->task[__builtin_ctzll(tasks)]] = number;
	}
}

static void read_back(const struct solver *x, uint32_t *piece, uint32_t *n_pieces)
{
	const struct spine *s = x->s;
	uint32_t i = s->n, last = 0, from = x->cpu_from[i];

	memset(piece, 0, s->g->n * sizeof(*piece));
	*n_pieces = 0;
	/* Block i, which ends with the way `last`; from: the way in which the piece before begins
	 * it. */
	for (;;) {
		spine_between_pieces(s, &s->block[i], from == SPINE_NONE ? 0 : from, last, piece,
				     n_pieces);
		if (from == SPINE_NONE) {
			if (i == 0)
				break;
			last = 0;
			from = x->cpu_from[--i];
			continue;
		}
		uint32_t first = x->from[i][from];

		last = x->from_way[i][from];
		mark(&s->block[i], from, false, ++*n_pieces, piece);
		mark(&s->block[first], last, true, *n_pieces, piece);
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
	const struct spine *s = x->s;
	const struct reach *g = s->g;

	x->last_place = ARENA_NEWN(a, uint32_t, g->n);
	x->in_block = ARENA_NEWN(a, uint32_t, g->n);
	/* Counted two places up, so that filling leaves the beginnings. */
	x->block_ptr = ARENA_NEWN(a, uint32_t, (size_t)s->n + 3);
	for (uint32_t t = 0; t < g->n; t++) {
		x->block_ptr[s->place[t] / 2 + 2] += s->place[t] % 2 == 0;
		for (uint32_t j = g->succ_ptr[t]; j < g->succ_ptr[t + 1]; j++)
			if (s->place[g->succ[j]] > x->last_place[t])
				x->last_place[t] = s->place[g->succ[j]];
	}
	for (uint32_t i = 0; i <= s->n; i++)
		x->block_ptr[i + 2] += x->block_ptr[i + 1];
	for (uint32_t t = 0; t < g->n; t++)
		if (s->place[t] % 2 == 0)
			x->in_block[x->block_ptr[s->place[t] / 2 + 1]++] = t;
}

static void solver_init(struct solver *x, struct spine *s, struct arena *a)
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
	x->first = ARENA_NEWN(a, struct spine_part *, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct spine_block *b = &s->block[i];

		ways = b->n_first > ways ? b->n_first : ways;
		ways = b->n_last > ways ? b->n_last : ways;
		x->end_s[i] = ARENA_NEWN(a, double, b->n_first);
		x->from[i] = ARENA_NEWN(a, uint32_t, b->n_first);
		x->from_way[i] = ARENA_NEWN(a, uint32_t, b->n_first);
		x->start_from[i] = ARENA_NEWN(a, uint32_t, b->n_last);
		x->first[i] = ARENA_NEWN(a, struct spine_part, b->n_first);
		for (uint32_t f = 0; f < b->n_first; f++) {
			x->end_s[i][f] = INFINITY;
			x->first[i][f] = spine_first(b, f);
		}
	}
	x->order = ARENA_NEWN(a, uint32_t, ways);
	x->begin[0] = ARENA_NEWN(a, struct begin, ways);
	x->begin[1] = ARENA_NEWN(a, struct begin, ways);
	x->leaves_s = ARENA_NEWN(a, double, 2 * (size_t)n + 1);
	x->moved = ARENA_NEWN(a, bool, s->g->n);
}

double spine_solve(struct spine *s, uint32_t *piece, uint32_t *n_pieces)
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
		begin_pieces(&x, i);
		extend_pieces(&x, i);
	}
	value = given_up(&x) ? NAN : x.cpu_end_s[s->n];
	if (piece && value < INFINITY)
		read_back(&x, piece, n_pieces);
	arena_free(a);
	return value;
}
