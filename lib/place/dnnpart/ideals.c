/* ideals.c - dynamic programming over ideals, from the smallest ideal to the largest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "place/dnnpart/ideals_table.h"

enum { BATCH = 16, CLOCK_STEPS = 4096, USED_A_STEP = 32, NONE = IDEALS_TABLE_NONE };
static const uint64_t TABLE_BYTES = UINT64_C(1) << 30; /* at most */
static const double ROUNDING = 1e-9;

/* One piece behind an ideal. */
struct offer {
	double load_s, left_s; /* left_s: fastest costs of what is behind the piece */
	uint8_t class;
};

struct offers {
	struct offer *offer;
	uint64_t *bits; /* (n,words) the ideal with the piece */
	size_t n, cap_offer, cap_bits;
	uint64_t steps;
	bool cut; /* not all of them are here */
};

/* An item that the piece took; how to take it out again. */
struct frame {
	uint32_t pos, n_list;
	struct split_load load;
};

struct worker {
	struct split_piece piece;
	uint32_t *missing;   /* (n) predecessors outside */
	uint32_t *list;      /* (n) items that may come next, and have come */
	struct frame *frame; /* (n) */
	uint64_t *bits;
};

struct ideals_search {
	struct ideals_task *t;
	const struct splits *p;
	struct ideals_table table;
	uint32_t stride[MAX_CLASSES];
	/* (n_used) fastest-cost seconds that unused devices can take */
	double *room_s;
	double rate[MAX_CLASSES]; /* the most of them in a second of a device */
	double all_s;             /* fastest costs of all items */
	struct worker *worker;    /* (threads) */
	struct offers offers[BATCH];
	size_t max_offers; /* of one ideal */
	uint32_t batch[BATCH];
	bool cut;
};

uint64_t ideals_n_used(const struct splits *p)
{
	uint64_t n = 1;

	for (uint32_t c = 0; c < p->n_classes; c++)
		n = n > UINT32_MAX ? n : n * (p->size[c] + 1);
	return n;
}

static uint32_t n_of_class(const struct ideals_search *x, uint32_t used, uint32_t c)
{
	return used / x->stride[c] % (x->p->size[c] + 1);
}

/* ---- pieces behind an ideal ---- */

static bool ideal_holds(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* For each class: how much work may be left behind a piece on such a device, so that the unused
 * devices can still do it within the threshold; below 0: no device of the class is left. */
static void most_left(const struct ideals_search *x, uint32_t ideal, double *most)
{
	const double *value = x->table.value + (size_t)ideal * x->table.n_used;

	for (uint32_t c = 0; c < x->p->n_classes; c++)
		most[c] = -1;
	for (uint32_t s = 0; s < x->table.n_used; s++)
		for (uint32_t c = 0; c < x->p->n_classes; c++)
			if (value[s] < x->t->below_s && n_of_class(x, s, c) < x->p->size[c])
				most[c] = fmax(most[c], x->room_s[s + x->stride[c]]);
}

/* Can a piece that has at least this be on some device? */
static bool may_grow(const struct ideals_search *x, const struct split_piece *piece,
		     const double *most)
{
	const struct splits *p = x->p;

	for (uint32_t c = 0; c < p->n_classes; c++) {
		uint64_t limit = p->u->m->mem_limit[p->first[c]];

		if (most[c] >= 0 && piece->load.node_s[c] < x->t->below_s &&
		    (!limit || piece->load.mem <= limit))
			return true;
	}
	return false;
}

static void make_offers(const struct ideals_search *x, const struct worker *w, double left_s,
			const double *most, struct offers *o)
{
	const struct splits *p = x->p;

	for (uint32_t c = 0; c < p->n_classes; c++) {
		uint64_t limit = p->u->m->mem_limit[p->first[c]];

		if (left_s > most[c] || (limit && w->piece.load.mem > limit))
			continue;
		double load = split_piece_load_s(&w->piece, c);
		if (!(load < x->t->below_s))
			continue;
		o->offer = mem_grow(o->offer, &o->cap_offer, o->n + 1, sizeof(*o->offer));
		o->bits = mem_grow(o->bits, &o->cap_bits, (o->n + 1) * x->table.words,
				   sizeof(*o->bits));
		memcpy(o->bits + o->n * x->table.words, w->bits, x->table.words * sizeof(*w->bits));
		o->offer[o->n++] = (struct offer){load, left_s, (uint8_t)c};
		o->steps += x->table.n_used / USED_A_STEP;
	}
}

static bool too_late(const struct ideals_search *x)
{
	return x->t->deadline_s > 0 && clock_s() > x->t->deadline_s;
}

static void add_to_piece(struct worker *w, const struct splits *p, uint32_t unit, uint32_t *n_list)
{
	w->bits[unit / 64] |= UINT64_C(1) << (unit % 64);
	split_piece_add(&w->piece, unit);
	for (uint32_t j = p->succ_ptr[unit]; j < p->succ_ptr[unit + 1]; j++)
		if (--w->missing[p->succ[j]] == 0)
			w->list[(*n_list)++] = p->succ[j];
}

static void remove_from_piece(struct worker *w, const struct splits *p, const struct frame *f,
			      uint32_t *n_list)
{
	uint32_t unit = w->list[f->pos];

	for (uint32_t j = p->succ_ptr[unit]; j < p->succ_ptr[unit + 1]; j++)
		w->missing[p->succ[j]]++;
	*n_list = f->n_list;
	split_piece_drop(&w->piece, unit, &f->load);
	w->bits[unit / 64] &= ~(UINT64_C(1) << (unit % 64));
}

/* Sets w to the end of an ideal: how many predecessors of each item are outside, and the list of
 * items that may come next; returns how many these are. */
static uint32_t load_ideal(const struct ideals_search *x, uint32_t ideal, struct worker *w,
			   double *left_s)
{
	const struct splits *p = x->p;
	uint32_t n = 0;

	memcpy(w->bits, x->table.bits + (size_t)ideal * x->table.words,
	       x->table.words * sizeof(*w->bits));
	*left_s = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		if (ideal_holds(w->bits, i))
			continue;
		*left_s += p->least_s[i];
		w->missing[i] = 0;
		for (uint32_t j = p->pred_ptr[i]; j < p->pred_ptr[i + 1]; j++)
			w->missing[i] += !ideal_holds(w->bits, p->pred[j]);
		if (w->missing[i] == 0)
			w->list[n++] = i;
	}
	return n;
}

/* Lists every piece that may lie behind an ideal, each once, by depth-first search without
 * recursion. The piece goes through a list of items that are ready, and takes or skips each in
 * turn; an item that it takes adds those it makes ready at the end of the list.  `frame` has the
 * items taken. */
static void list_pieces_behind(void *arg, int task, int thread)
{
	struct ideals_search *x = arg;
	struct worker *w = &x->worker[thread];
	struct offers *o = &x->offers[task];
	double most[MAX_CLASSES], left_s;
	uint32_t n_list = load_ideal(x, x->batch[task], w, &left_s);
	uint32_t pos = 0, depth = 0;

	most_left(x, x->batch[task], most);
	o->n = o->steps = 0;
	o->cut = too_late(x);
	while (pos < n_list || depth) {
		if (o->cut && depth == 0)
			break;
		if (pos == n_list || o->cut) {
			remove_from_piece(w, x->p, &w->frame[--depth], &n_list);
			pos = w->frame[depth].pos + 1;
			continue;
		}
		struct frame *f = &w->frame[depth++];

		*f = (struct frame){pos++, n_list, w->piece.load};
		add_to_piece(w, x->p, w->list[f->pos], &n_list);
		o->steps++;
		o->cut = o->steps % CLOCK_STEPS == 0 && too_late(x);
		if (!may_grow(x, &w->piece, most)) {
			remove_from_piece(w, x->p, f, &n_list);
			depth--;
			continue;
		}
		make_offers(x, w, left_s - w->piece.load.least_s, most, o);
		o->cut |= o->steps >= x->t->max_steps || o->n >= x->max_offers;
	}
}

/* ---- the program ---- */

static void merge_offers(struct ideals_search *x, uint32_t ideal, const struct offers *o)
{
	struct ideals_table *t = &x->table;
	uint32_t n_used = t->n_used;

	for (size_t i = 0; i < o->n && !x->cut; i++) {
		const struct offer *f = &o->offer[i];
		uint32_t to = NONE;

		x->cut |= t->n * ideals_table_row_bytes(t) > TABLE_BYTES ||
			  ((i + 1) % CLOCK_STEPS == 0 && too_late(x));

		for (uint32_t s = 0; s < n_used; s++) {
			double before = t->value[(size_t)ideal * n_used + s];
			uint32_t used = s + x->stride[f->class];

			if (!(before < x->t->below_s) ||
			    n_of_class(x, s, f->class) == x->p->size[f->class] ||
			    f->left_s > x->room_s[used])
				continue;
			if (to == NONE)
				to = ideals_table_find(t, o->bits + i * t->words);
			size_t at = (size_t)to * n_used + used;
			double value = fmax(before, f->load_s);
			if (value < t->value[at]) {
				t->value[at] = value;
				t->from[at] = ideal;
				t->how[at] = f->class;
			}
		}
	}
}

/* All ideals of one size, a batch at a time. */
static void run_size(struct ideals_search *x, uint32_t size)
{
	uint32_t ideal = x->table.bucket[size];

	while (ideal != NONE && !x->cut) {
		int n = 0;

		for (; ideal != NONE && n < (int)BATCH; ideal = x->table.next[ideal])
			x->batch[n++] = ideal;
		pool_run(x->t->pool, n, list_pieces_behind, x);
		for (int i = 0; i < n; i++) {
			merge_offers(x, x->batch[i], &x->offers[i]);
			x->cut |= too_late(x) || x->offers[i].cut ||
				  x->offers[i].steps >= x->t->max_steps;
			x->t->max_steps -= x->cut ? x->t->max_steps : x->offers[i].steps;
		}
	}
}

/* room_s: how much work, in seconds of fastest costs, the unused devices can do within the
 * threshold. */
static void measure_room(struct ideals_search *x)
{
	const struct splits *p = x->p;

	for (uint32_t i = 0; i < p->n; i++) {
		double least = p->least_s[i];

		x->all_s += least;
		for (uint32_t c = 0; c < p->n_classes; c++) {
			double s = p->cost_s[(size_t)i * p->n_classes + c];

			if (least > 0 && s < INFINITY)
				x->rate[c] = fmax(x->rate[c], s > 0 ? least / s : INFINITY);
		}
	}
	x->room_s = MEM_NEWN(double, x->table.n_used);
	for (uint32_t s = 0; s < x->table.n_used; s++) {
		double sum = ROUNDING * x->all_s;

		for (uint32_t c = 0; c < p->n_classes; c++) {
			uint32_t unused = p->size[c] - n_of_class(x, s, c);

			if (unused && x->rate[c] > 0)
				sum += x->rate[c] * unused * x->t->below_s;
		}
		x->room_s[s] = sum;
	}
}

static void ideals_search_init(struct ideals_search *x, struct ideals_task *t)
{
	const struct splits *p = t->p;
	uint32_t threads = (uint32_t)pool_size(t->pool), n_used = 1;

	*x = (struct ideals_search){.t = t, .p = p};
	for (uint32_t c = 0; c < p->n_classes; c++) {
		x->stride[c] = n_used;
		n_used *= p->size[c] + 1;
	}
	ideals_table_init(&x->table, p->n, n_used);
	x->max_offers = TABLE_BYTES / 4 / BATCH /
			(sizeof(struct offer) + x->table.words * sizeof(uint64_t));
	x->worker = MEM_NEWN(struct worker, threads);
	for (uint32_t i = 0; i < threads; i++) {
		struct worker *w = &x->worker[i];

		split_piece_init(&w->piece, p);
		w->missing = MEM_NEWN(uint32_t, p->n);
		w->list = MEM_NEWN(uint32_t, p->n);
		w->frame = MEM_NEWN(struct frame, p->n);
		w->bits = MEM_NEWN(uint64_t, x->table.words);
	}
	measure_room(x);
}

static void ideals_search_release(struct ideals_search *x)
{
	for (int i = 0; i < pool_size(x->t->pool); i++) {
		struct worker *w = &x->worker[i];

		split_piece_release(&w->piece);
		mem_free(w->missing);
		mem_free(w->list);
		mem_free(w->frame);
		mem_free(w->bits);
	}
	for (int i = 0; i < (int)BATCH; i++) {
		mem_free(x->offers[i].offer);
		mem_free(x->offers[i].bits);
	}
	mem_free(x->worker);
	mem_free(x->room_s);
	ideals_table_release(&x->table);
}

/* The devices of items, from the whole set back to the empty ideal. */
static void read_back(const struct ideals_search *x, uint32_t ideal, uint32_t used)
{
	const struct ideals_table *t = &x->table;
	const struct place_units *u = x->p->u;

	while (used) {
		size_t at = (size_t)ideal * t->n_used + used;
		uint32_t before = t->from[at], class = t->how[at];
		uint32_t nth = n_of_class(x, used, class) - 1;
		uint16_t dev = (uint16_t)x->p->first[class];

		for (; nth; nth--)
			for (dev++; u->equivalent[dev] != x->p->first[class];)
				dev++;
		for (uint32_t i = 0; i < x->p->n; i++)
			if (ideal_holds(t->bits + (size_t)ideal * t->words, i) &&
			    !ideal_holds(t->bits + (size_t)before * t->words, i))
				x->t->device[i] = dev;
		ideal = before;
		used -= x->stride[class];
	}
}

enum ideals_status ideals_solve(struct ideals_task *t)
{
	struct ideals_search x;
	enum ideals_status status = IDEALS_NONE;

	ideals_search_init(&x, t);
	uint64_t *none = MEM_NEWN(uint64_t, x.table.words);
	ideals_table_find(&x.table, none);
	x.table.value[0] = 0;
	for (uint32_t size = 0; size < t->p->n && !x.cut; size++)
		run_size(&x, size);
	uint32_t last = x.table.bucket[t->p->n];
	t->value_s = t->below_s;
	if (x.cut)
		status = IDEALS_LIMIT;
	for (uint32_t s = 0; !x.cut && last != NONE && s < x.table.n_used; s++)
		if (x.table.value[(size_t)last * x.table.n_used + s] < t->value_s) {
			t->value_s = x.table.value[(size_t)last * x.table.n_used + s];
			status = IDEALS_FOUND;
			read_back(&x, last, s);
		}
	t->n_ideals = x.table.n;
	mem_free(none);
	ideals_search_release(&x);
	return status;
}
