/* pairwise.c - elimination with tables. */
#include "split/pairwise.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "base/pairmap.h"

enum { SCOPE = 16 }; /* a table of two choices each has at most so many variables */

struct table {
	uint32_t n, var[SCOPE]; /* ascending */
	double *cost;           /* the last variable's choice is the fastest index */
	bool gone;
};

struct row { /* tables that a variable is in */
	uint32_t n;
	size_t cap;
	uint32_t *table;
};

/* How an eliminated variable is chosen when those of its scope are. */
struct step {
	uint32_t var, n, scope[SCOPE];
	uint8_t *best;
};

struct pairwise {
	uint32_t n;
	uint8_t *choices;
	double *one; /* (n * PAIRWISE_CHOICES) */
	uint32_t n_tables;
	size_t cap_tables;
	struct table *table;
	struct row *row; /* (n) */
	struct pairmap pair;
	struct step *step;
	uint32_t n_steps;
	bool *fixed; /* (n) */
	uint8_t *value;
};

struct pairwise *pairwise_new(uint32_t n, const uint8_t *choices)
{
	struct pairwise *p = MEM_NEW(struct pairwise);
	p->n = n;
	p->choices = mem_copy(choices, n, 1);
	p->one = MEM_NEWN(double, (size_t)n *PAIRWISE_CHOICES);
	p->row = MEM_NEWN(struct row, n);
	p->step = MEM_NEWN(struct step, n);
	p->fixed = MEM_NEWN(bool, n);
	p->value = MEM_NEWN(uint8_t, n);
	return p;
}

void pairwise_free(struct pairwise *p)
{
	if (!p)
		return;
	for (uint32_t t = 0; t < p->n_tables; t++)
		mem_free(p->table[t].cost);
	for (uint32_t i = 0; i < p->n; i++)
		mem_free(p->row[i].table);
	for (uint32_t i = 0; i < p->n_steps; i++)
		mem_free(p->step[i].best);
	pairmap_release(&p->pair);
	mem_free(p->choices);
	mem_free(p->one);
	mem_free(p->row);
	mem_free(p->step);
	mem_free(p->fixed);
	mem_free(p->value);
	mem_free(p->table);
	mem_free(p);
}

static uint32_t add_table(struct pairwise *p, const uint32_t *var, uint32_t n)
{
	size_t size = 1;
	p->table = mem_grow(p->table, &p->cap_tables, (size_t)p->n_tables + 1, sizeof *p->table);
	struct table *t = &p->table[p->n_tables];
	*t = (struct table){.n = n};
	for (uint32_t i = 0; i < n; i++) {
		struct row *r = &p->row[var[i]];
		t->var[i] = var[i];
		size *= p->choices[var[i]];
		r->table = mem_grow(r->table, &r->cap, (size_t)r->n + 1, sizeof *r->table);
		r->table[r->n++] = p->n_tables;
	}
	t->cost = MEM_NEWN(double, size);
	return p->n_tables++;
}

void pairwise_add_one(struct pairwise *p, uint32_t i, uint8_t a, double cost)
{
	p->one[(size_t)i * PAIRWISE_CHOICES + a] += cost;
}

void pairwise_add_pair(struct pairwise *p, uint32_t i, uint8_t a, uint32_t j, uint8_t b,
		       double cost)
{
	if (i > j) {
		uint32_t k = i;
		uint8_t c = a;
		i = j, j = k;
		a = b, b = c;
	}
	const uint64_t *known = pairmap_get(&p->pair, i, j);
	uint32_t t = known ? (uint32_t)*known : add_table(p, (uint32_t[]){i, j}, 2);
	if (!known)
		pairmap_put(&p->pair, i, j, t);
	p->table[t].cost[(size_t)a * p->choices[j] + b] += cost;
}

/* Other variables of the tables that v is in, ascending, into scope[SCOPE]; how many, UINT32_MAX: more. */
static uint32_t scope_of(const struct pairwise *p, uint32_t v, uint32_t *scope)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->row[v].n; i++) {
		const struct table *t = &p->table[p->row[v].table[i]];
		for (uint32_t k = 0; k < t->n && !t->gone; k++) {
			uint32_t u = t->var[k], at = 0;
			while (at < n && scope[at] < u)
				at++;
			if (u == v || p->fixed[u] || (at < n && scope[at] == u))
				continue;
			if (n == SCOPE)
				return UINT32_MAX;
			memmove(scope + at + 1, scope + at, (n - at) * sizeof *scope);
			scope[at] = u;
			n++;
		}
	}
	return n;
}

/* Cost of a table under p->value. */
static double cost_of(const struct pairwise *p, const struct table *t)
{
	size_t at = 0;
	for (uint32_t k = 0; k < t->n; k++)
		at = at * p->choices[t->var[k]] + p->value[t->var[k]];
	return t->cost[at];
}

/* The best choice of v under the values of all others of its tables, and its cost. */
static double best_of(struct pairwise *p, uint32_t v, uint8_t *best)
{
	double least = DBL_MAX;
	for (uint8_t c = 0; c < p->choices[v]; c++) {
		double sum = p->one[(size_t)v * PAIRWISE_CHOICES + c];
		p->value[v] = c;
		for (uint32_t i = 0; i < p->row[v].n; i++) {
			const struct table *t = &p->table[p->row[v].table[i]];
			sum += t->gone ? 0 : cost_of(p, t);
		}
		if (sum < least) {
			least = sum;
			*best = c;
		}
	}
	return least;
}

/* Next values of the n variables; false: all have been. */
static bool next_values(struct pairwise *p, const uint32_t *var, uint32_t n)
{
	while (n-- > 0) {
		if (++p->value[var[n]] < p->choices[var[n]])
			return true;
		p->value[var[n]] = 0;
	}
	return false;
}

static void eliminate(struct pairwise *p, uint32_t v, const uint32_t *scope, uint32_t n)
{
	struct step *s = &p->step[p->n_steps++];
	size_t size = 1, at = 0;
	double *cost = NULL;
	uint32_t made = UINT32_MAX, n_before = p->row[v].n;
	for (uint32_t i = 0; i < n; i++) {
		size *= p->choices[scope[i]];
		p->value[scope[i]] = 0;
	}
	*s = (struct step){.var = v, .n = n, .best = MEM_NEWN(uint8_t, size)};
	if (n)
		memcpy(s->scope, scope, n * sizeof *scope);
	if (n > 0) {
		made = add_table(p, scope, n);
		cost = p->table[made].cost;
	}
	do {
		double least = best_of(p, v, &s->best[at]);
		if (cost)
			cost[at] = least;
		at++;
	} while (next_values(p, scope, n));
	for (uint32_t i = 0; i < n_before; i++)
		p->table[p->row[v].table[i]].gone = true;
}

/* Choose for v as if its neighbours chose what suits it; it is in tables with one value from now on. */
static void fix(struct pairwise *p, uint32_t v)
{
	double least = DBL_MAX;
	uint8_t best = 0;
	for (uint8_t c = 0; c < p->choices[v]; c++) {
		double sum = p->one[(size_t)v * PAIRWISE_CHOICES + c];
		for (uint32_t i = 0; i < p->row[v].n; i++) {
			const struct table *t = &p->table[p->row[v].table[i]];
			double low = DBL_MAX;
			uint32_t other[SCOPE], n = 0;
			for (uint32_t k = 0; k < t->n; k++)
				if (t->var[k] != v && !p->fixed[t->var[k]]) {
					other[n++] = t->var[k];
					p->value[t->var[k]] = 0;
				}
			p->value[v] = c;
			do {
				double x = cost_of(p, t);
				low = x < low ? x : low;
			} while (!t->gone && next_values(p, other, n));
			sum += t->gone ? 0 : low;
		}
		if (sum < least) {
			least = sum;
			best = c;
		}
	}
	p->fixed[v] = true;
	p->value[v] = best;
}

static size_t table_size(const struct pairwise *p, uint32_t v, const uint32_t *scope, uint32_t n)
{
	size_t size = p->choices[v];
	for (uint32_t i = 0; n != UINT32_MAX && i < n && size <= PAIRWISE_TABLE; i++)
		size *= p->choices[scope[i]];
	return n == UINT32_MAX ? SIZE_MAX : size;
}

/* Variables by the tables that eliminating them takes, the least first; what is out of date is still in the heap. */
struct queue {
	uint64_t *heap;
	uint32_t n_heap;
	size_t cap;
	uint32_t *size; /* (n) capped; DONE: no more in it */
};
#define DONE UINT32_MAX

static void queue_put(struct queue *q, const struct pairwise *p, uint32_t v)
{
	uint32_t scope[SCOPE + 1];
	size_t size = table_size(p, v, scope, scope_of(p, v, scope));
	uint32_t capped = size > PAIRWISE_TABLE ? PAIRWISE_TABLE + 1 : (uint32_t)size;
	if (q->size[v] == DONE || q->size[v] == capped)
		return;
	q->size[v] = capped;
	q->heap = mem_grow(q->heap, &q->cap, (size_t)q->n_heap + 1, sizeof *q->heap);
	heap_push(q->heap, &q->n_heap, (uint64_t)capped << 32 | v);
}

static uint32_t queue_first(struct queue *q)
{
	for (;;) {
		uint64_t x = heap_pop(q->heap, &q->n_heap);
		if (q->size[(uint32_t)x] == x >> 32)
			return (uint32_t)x;
	}
}

/* Of those that are left, the variable in most tables. */
static uint32_t busiest(const struct pairwise *p, const struct queue *q)
{
	uint32_t most = UINT32_MAX;
	for (uint32_t u = 0; u < p->n; u++)
		if (q->size[u] != DONE && (most == UINT32_MAX || p->row[u].n > p->row[most].n))
			most = u;
	return most;
}

/* Fix a variable, and put those anew that are in tables with it. */
static void fix_busiest(struct pairwise *p, struct queue *q)
{
	uint32_t v = busiest(p, q);
	q->size[v] = DONE;
	fix(p, v);
	for (uint32_t i = 0; i < p->row[v].n; i++) {
		const struct table *t = &p->table[p->row[v].table[i]];
		for (uint32_t k = 0; k < t->n && !t->gone; k++)
			queue_put(q, p, t->var[k]);
	}
}

double pairwise_solve(struct pairwise *p, uint8_t *choice)
{
	struct queue q = {.size = MEM_NEWN(uint32_t, p->n)};
	for (uint32_t v = 0; v < p->n; v++)
		queue_put(&q, p, v);
	for (uint32_t left = p->n; left > 0; left--) {
		uint32_t scope[SCOPE + 1], v = queue_first(&q);
		if (q.size[v] > PAIRWISE_TABLE) {
			heap_push(q.heap, &q.n_heap, (uint64_t)q.size[v] << 32 | v);
			fix_busiest(p, &q);
			continue;
		}
		uint32_t n = scope_of(p, v, scope);
		q.size[v] = DONE;
		eliminate(p, v, scope, n);
		for (uint32_t i = 0; i < n; i++)
			queue_put(&q, p, scope[i]);
	}
	for (uint32_t i = p->n_steps; i-- > 0;) {
		const struct step *s = &p->step[i];
		size_t at = 0;
		for (uint32_t k = 0; k < s->n; k++)
			at = at * p->choices[s->scope[k]] + p->value[s->scope[k]];
		p->value[s->var] = s->best[at];
	}
	double sum = 0;
	for (uint32_t v = 0; v < p->n; v++)
		choice[v] = p->value[v];
	for (uint32_t v = 0; v < p->n; v++)
		sum += p->one[(size_t)v * PAIRWISE_CHOICES + choice[v]];
	for (uint32_t t = 0; t < p->n_tables; t++)
		if (p->table[t].n == 2 &&
		    pairmap_get(&p->pair, p->table[t].var[0], p->table[t].var[1]) &&
		    *pairmap_get(&p->pair, p->table[t].var[0], p->table[t].var[1]) == t)
			sum += cost_of(p, &p->table[t]);
	mem_free(q.heap);
	mem_free(q.size);
	return sum;
}
