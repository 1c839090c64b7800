/* ready.c - ready sets: making them, priority order, heaps. */
#include <string.h>

#include "base/heap.h"
#include "sched/ready.h"

enum { DIGITS = 8, DIGIT_VALUES = 256 };

struct ranked {
	uint64_t key; /* less: earlier */
	uint32_t task;
};

/* Ascending numbers for descending ranks; 0 and -0 are one rank. */
static uint64_t key_of(double rank)
{
	uint64_t bits;
	const double plain = rank + 0.0;

	memcpy(&bits, &plain, sizeof(bits));
	return bits >> 63 ? bits : ~(bits | (uint64_t)1 << 63);
}

static uint8_t digit_of(uint64_t key, int digit)
{
	return (uint8_t)(key >> 8 * digit);
}

/* A stable sort by each digit in turn, lowest first, so that equal ranks stay in order of their numbers.  Digits that all keys share
 * are left out.  Returns x or other, which has n elements, too. */
static struct ranked *sort_by_digits(struct ranked *x, struct ranked *other, uint32_t n)
{
	uint32_t count[DIGITS][DIGIT_VALUES] = {0};

	for (uint32_t i = 0; i < n; i++)
		for (int d = 0; d < DIGITS; d++)
			count[d][digit_of(x[i].key, d)]++;
	for (int d = 0; d < DIGITS; d++) {
		uint32_t at = 0;

		if (n == 0 || count[d][digit_of(x[0].key, d)] == n)
			continue;
		for (int v = 0; v < DIGIT_VALUES; v++) {
			uint32_t here = count[d][v];

			count[d][v] = at;
			at += here;
		}
		for (uint32_t i = 0; i < n; i++)
			other[count[d][digit_of(x[i].key, d)]++] = x[i];

		struct ranked *sorted = other;

		other = x;
		x = sorted;
	}
	return x;
}

void ready_rank(struct ready *r, const double *rank)
{
	struct ranked *x = MEM_NEWN(struct ranked, (size_t)r->n * 2);

	for (uint32_t v = 0; v < r->n; v++)
		x[v] = (struct ranked){key_of(rank[v]), v};

	const struct ranked *sorted = sort_by_digits(x, x + r->n, r->n);

	for (uint32_t i = 0; i < r->n; i++) {
		r->task_at[i] = sorted[i].task;
		r->pos[sorted[i].task] = i;
	}
	mem_free(x);
}

static void size_bitmaps(struct ready *r)
{
	uint32_t bits = r->n;

	do {
		uint32_t w = bits ? (bits - 1) / 64 + 1 : 1;

		r->level_at[r->n_levels++] = r->words;
		r->words += w;
		bits = w;
	} while (bits > 1);
	r->bits = MEM_NEWN(uint64_t, (size_t)r->k * r->words);
}

void ready_init(struct ready *r, uint32_t n, uint32_t k, const double *rank,
		enum sched_policy policy)
{
	*r = (struct ready){.policy = policy, .n = n, .k = k};
	r->pos = MEM_NEWN(uint32_t, n);
	r->task_at = MEM_NEWN(uint32_t, n);
	ready_rank(r, rank);
	if (policy != SCHED_FIFO) {
		size_bitmaps(r);
		return;
	}
	r->heap = MEM_NEWN(uint64_t, n);
	r->heap_at = MEM_NEWN(uint32_t, k);
	r->heap_n = MEM_NEWN(uint32_t, k);
}

void ready_release(struct ready *r)
{
	mem_free(r->pos);
	mem_free(r->task_at);
	mem_free(r->bits);
	mem_free(r->heap);
	mem_free(r->heap_at);
	mem_free(r->heap_n);
}

void ready_begin(struct ready *r, const uint16_t *device)
{
	uint32_t at = 0;

	if (r->policy != SCHED_FIFO) {
		memset(r->bits, 0, (size_t)r->k * r->words * sizeof(*r->bits));
		return;
	}
	memset(r->heap_n, 0, r->k * sizeof(*r->heap_n));
	for (uint32_t v = 0; v < r->n; v++)
		r->heap_n[device[v]]++;
	for (uint32_t d = 0; d < r->k; d++) {
		r->heap_at[d] = at;
		at += r->heap_n[d];
		r->heap_n[d] = 0;
	}
}

void ready_push_fifo(struct ready *r, uint32_t dev, uint32_t pos, uint32_t instant)
{
	heap_push(r->heap + r->heap_at[dev], &r->heap_n[dev], (uint64_t)instant << 32 | pos);
}

/* Position of the first; the heap is not empty. */
uint32_t ready_pop_fifo(struct ready *r, uint32_t dev)
{
	return (uint32_t)heap_pop(r->heap + r->heap_at[dev], &r->heap_n[dev]);
}
