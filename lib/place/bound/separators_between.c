/* separators_between.c - what the tasks of a block take that are in neither piece beside it: on
 * CPUs, and in pieces of their own. */
#include <math.h>

#include "place/bound/separators.h"

enum { ON_CPU = 255 };

static uint32_t lowest(uint64_t bits)
{
	return (uint32_t)__builtin_ctzll(bits);
}

struct middle {
	const struct reach *g;
	const struct separator_component *c;
	bool cpu;                           /* alone */
	uint64_t tasks;                     /* in neither piece */
	double out_s[SEPARATORS_MAX_TASKS]; /* before others can read what a task makes */
	/* where the piece begins that ends with a task; ON_CPU */
	uint8_t from[SEPARATORS_MAX_TASKS];
};

/* A piece among these tasks that begins at e and ends at i, at least; INFINITY: too large. */
static double piece_s(const struct middle *m, uint32_t e, uint32_t i)
{
	const struct separator_component *c = m->c;
	const struct reach *g = m->g;
	uint64_t inside = c->behind[e] & c->before[i] & m->tasks, reads = 0, mem = 0;
	double start = 0, sum = 0;
	bool prev = false;

	for (uint64_t b = inside; b; b &= b - 1) {
		uint32_t y = lowest(b);
		mem += g->mem[c->task[y]];
		sum += g->acc_s[c->task[y]];
		reads |= c->reads[y];
		prev |= c->reads_prev[y];
	}
	if (mem > g->limit)
		return INFINITY;
	for (uint64_t b = reads & ~inside; b; b &= b - 1) {
		uint32_t y = lowest(b);
		bool outside = (c->before[e] >> y & 1) || !(m->tasks >> y & 1);

		sum += outside ? g->move_s[c->task[y]]
			       : fmin(g->move_s[c->task[y]], g->acc_s[c->task[y]]);
	}
	sum += prev ? g->move_s[c->prev] : 0;
	for (uint64_t b = c->reads[e] & m->tasks; b; b &= b - 1)
		start = fmax(start, m->out_s[lowest(b)]);
	return start + sum;
}

/* Task i on an accelerator: the largest of leasts (reach.h). */
static double inside_s(struct middle *m, uint32_t i)
{
	const struct separator_component *c = m->c;
	double most = -1, at[SEPARATORS_MAX_TASKS];

	m->from[i] = (uint8_t)i;
	if (!(c->reads[i] & m->tasks))
		return piece_s(m, i, i);
	for (uint64_t b = c->before[i] & m->tasks; b; b &= b - 1)
		at[lowest(b)] = piece_s(m, lowest(b), i);
	for (uint64_t b = c->reads[i] & m->tasks; b; b &= b - 1) {
		uint32_t q = lowest(b), from = i;
		double least = m->out_s[q] + m->g->move_s[c->task[q]] + m->g->acc_s[c->task[i]];

		for (uint64_t e = c->before[q] & m->tasks; e; e &= e - 1)
			if (at[lowest(e)] < least) {
				from = lowest(e);
				least = at[from];
			}
		if (least > most) {
			most = least;
			m->from[i] = (uint8_t)from;
		}
	}
	return most;
}

/* When all of m->tasks have ended. */
static double pass_middle(struct middle *m)
{
	const struct separator_component *c = m->c;
	double end = 0;

	for (uint64_t b = m->tasks; b; b &= b - 1) {
		uint32_t i = lowest(b), t = c->task[i];
		bool read = c->read_by[i] || c->read_outside[i];
		bool read_far = c->read_outside[i] || (c->read_by[i] & ~m->tasks);
		double ready = 0, acc = m->cpu ? INFINITY : inside_s(m, i);
		double out = acc + (read ? m->g->move_s[t] : 0);

		for (uint64_t p = c->reads[i] & m->tasks; p; p &= p - 1)
			ready = fmax(ready, m->out_s[lowest(p)]);
		double cpu = ready + m->g->cpu_s[t];
		m->out_s[i] = fmin(cpu, out);
		end = fmax(end, read_far ? m->out_s[i] : fmin(cpu, acc));
		if (cpu <= out)
			m->from[i] = ON_CPU;
	}
	return end;
}

static uint64_t all_tasks(const struct separator_component *c)
{
	return c->n == 64 ? UINT64_MAX : (UINT64_C(1) << c->n) - 1;
}

void separators_fill_between(const struct separators *s, struct separator_component *c)
{
	struct middle m = {.g = s->g, .c = c, .cpu = s->cpu_between};

	for (uint32_t f = 0; f < c->n_first; f++)
		for (uint32_t l = 0; l < c->n_last; l++) {
			uint64_t first = c->first[f].tasks, last = c->last[l].tasks;

			m.tasks = all_tasks(c) & ~(first | last);
			c->between_s[(size_t)f * c->n_last + l] =
				first & last ? INFINITY : pass_middle(&m);
		}
}

double separators_between_s(const struct separator_block *b, uint32_t first, uint32_t last)
{
	double most = 0;

	for (uint32_t i = b->n_components; i-- > 0 && most < INFINITY;) {
		const struct separator_component *c = &b->component[i];

		most = fmax(
			most,
			c->between_s[(size_t)(first % c->n_first) * c->n_last + last % c->n_last]);
		first /= c->n_first;
		last /= c->n_last;
	}
	return most;
}

void separators_between_pieces(const struct separators *s, const struct separator_block *b,
			       uint32_t first, uint32_t last, uint32_t *piece, uint32_t *n_pieces)
{
	for (uint32_t k = b->n_components; k-- > 0;) {
		const struct separator_component *c = &b->component[k];
		struct middle m = {.g = s->g, .c = c, .cpu = s->cpu_between};
		uint64_t left = all_tasks(c) & ~c->first[first % c->n_first].tasks &
				~c->last[last % c->n_last].tasks;

		first /= c->n_first;
		last /= c->n_last;
		m.tasks = left;
		pass_middle(&m);
		while (left) {
			uint32_t i = 63 - (uint32_t)__builtin_clzll(left);
			bool cpu = m.from[i] == ON_CPU;
			uint64_t inside =
				cpu ? UINT64_C(1) << i : c->behind[m.from[i]] & c->before[i] & left;

			*n_pieces += !cpu;
			left &= ~inside;
			for (; inside; inside &= inside - 1)
				piece[c->task[lowest(inside)]] = cpu ? 0 : *n_pieces;
		}
	}
}
