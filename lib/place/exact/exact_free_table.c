/* exact_free_table.c - states of partial schedules that were searched.
 *
 * What can follow depends on which tasks are scheduled, on when each device is free, and on when what
 * open tasks read arrives there; devices that are equivalent may change places.  Tasks are scheduled
 * in the order of their starts, so that what is before the last start does not count.  Where such
 * a state comes again, no earlier in that order, all that follows was there before.  States are told
 * apart by 128 bits of a hash. */
#include <string.h>

#include "place/exact/exact_free_impl.h"

enum { WAYS = 4, FEW_TASKS = 12, FEW_BITS = 14, MANY_BITS = 19 };

struct state {
	struct free_key key;
	double now_s;
	uint32_t last;
	uint16_t n_done, turn; /* empty where turn is not the table's */
};

struct free_table {
	struct state *state;
	uint64_t mask; /* buckets - 1 */
	uint16_t turn; /* at least 1 */
};

struct free_table *free_table_new(uint32_t n_tasks)
{
	struct free_table *t = MEM_NEW(struct free_table);

	t->mask = ((uint64_t)1 << (n_tasks <= FEW_TASKS ? FEW_BITS : MANY_BITS)) - 1;
	t->state = MEM_NEWN(struct state, (t->mask + 1) * WAYS);
	t->turn = 1;
	return t;
}

void free_table_free(struct free_table *t)
{
	if (!t)
		return;
	mem_free(t->state);
	mem_free(t);
}

void free_table_clear(struct free_table *t)
{
	if (++t->turn)
		return;
	memset(t->state, 0, (t->mask + 1) * WAYS * sizeof(*t->state));
	t->turn = 1;
}

/* S. Vigna's SplitMix64 finalizer. */
static inline uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline void add_time(struct free_key *h, double s, double now_s)
{
	uint64_t bits = 0;

	if (s >= now_s)
		memcpy(&bits, &s, sizeof(bits));
	h->a = mix(h->a ^ bits);
	h->b = h->b * UINT64_C(0x9e3779b97f4a7c15) + (bits ^ bits >> 29) + 1;
}

/* Sums over devices, so that equivalent ones may change places. */
static struct free_key state_key(const struct free_search *x)
{
	const struct free_side *g = x->g;
	struct free_key sum = {mix(x->done + 1), mix(x->done ^ UINT64_C(0x123456789abcdef))};

	for (uint32_t i = 0; i < x->n_kinds; i++) {
		uint32_t d = x->kind[i];
		struct free_key h = {g->equivalent[d] + 1, g->equivalent[d] + 77};

		add_time(&h, x->free_s[d], x->now_s);
		for (uint32_t v = 0; v < g->n; v++) {
			uint32_t n_in = g->in_at[v + 1] - g->in_at[v];

			if (!(x->done >> v & 1) && x->waits[v] < n_in)
				add_time(&h, x->arrival_s[(size_t)v * g->k + d], x->now_s);
		}
		/* All empty devices of a kind are one. */
		if (x->used[d] == 0)
			h.a ^= UINT64_C(0x5555);
		sum.a += mix(h.a);
		sum.b += mix(h.b ^ h.a << 1);
	}
	return sum;
}

bool free_table_seen(struct free_table *t, const struct free_search *x)
{
	struct free_key key = state_key(x);
	struct state *bucket = t->state + (key.a & t->mask) * WAYS, *oldest = bucket;

	for (int i = 0; i < WAYS; i++) {
		struct state *s = &bucket[i];
		bool empty = s->turn != t->turn;

		if (!empty && s->key.a == key.a && s->key.b == key.b) {
			if (s->now_s < x->now_s || (s->now_s == x->now_s && s->last <= x->last))
				return true;
			s->now_s = x->now_s;
			s->last = x->last;
			return false;
		}
		/* What is nearer to the end is cheaper to search again. */
		if (oldest->turn == t->turn && (empty || s->n_done > oldest->n_done))
			oldest = s;
	}
	*oldest = (struct state){key, x->now_s, x->last, (uint16_t)x->n_done, t->turn};
	return false;
}
