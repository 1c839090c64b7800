/* spine_block.c - the spine of a graph, its blocks, and how pieces may cut them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/spine.h"

/* Parts of a component, pairs of them, ways of a block. */
enum { MAX_TASKS = 64, MAX_PARTS = 1024, MAX_PAIRS = 1 << 17, MAX_WAYS = 1 << 14 };

static uint32_t lowest(uint64_t bits)
{
	return (uint32_t)__builtin_ctzll(bits);
}

/* ---- the spine ---- */

static uint32_t count_bits(const uint64_t *row, uint32_t words)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < words; w++)
		n += (uint32_t)__builtin_popcountll(row[w]);
	return n;
}

/* Tasks are in a topological order, and so is the spine. */
static void find_spine(struct spine *s, struct arena *a)
{
	const struct reach *g = s->g;

	s->task = ARENA_NEWN(a, uint32_t, g->n);
	s->place = ARENA_NEWN(a, uint32_t, g->n);
	for (uint32_t t = 0; t < g->n; t++) {
		uint32_t related = count_bits(reach_row(g, g->before, t), g->words) +
				   count_bits(reach_row(g, g->behind, t), g->words);

		if (related == g->n + 1)
			s->task[s->n++] = t;
	}
	for (uint32_t i = 0; i < s->n; i++)
		s->place[s->task[i]] = 2 * i + 1;
	for (uint32_t t = 0; t < g->n; t++) {
		uint32_t i = 0, end = s->n;

		while (i < end) {
			uint32_t mid = (i + end) / 2;

			if (reach_has(reach_row(g, g->before, t), s->task[mid]))
				i = mid + 1;
			else
				end = mid;
		}
		if (s->place[t] == 0)
			s->place[t] = 2 * i;
	}
}

/* ---- components ---- */

/* Number the tasks of a component, by its bits of relation; `seen` marks tasks of components. */
static void relate(const struct spine *s, struct spine_component *c, uint32_t place)
{
	const struct reach *g = s->g;

	c->prev = place >= 2 ? s->task[place / 2 - 1] : SPINE_NONE;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t t = c->task[i];

		c->reads[i] = c->read_by[i] = c->before[i] = c->behind[i] = 0;
		for (uint32_t j = 0; j < c->n; j++) {
			uint64_t bit = UINT64_C(1) << j;

			c->reads[i] |= reach_has(reach_row(g, g->reads, t), c->task[j]) ? bit : 0;
			c->read_by[i] |= reach_has(reach_row(g, g->read_by, t), c->task[j]) ? bit : 0;
			c->before[i] |= reach_has(reach_row(g, g->before, t), c->task[j]) ? bit : 0;
			c->behind[i] |= reach_has(reach_row(g, g->behind, t), c->task[j]) ? bit : 0;
		}
		c->reads_prev[i] = place >= 2 && reach_has(reach_row(g, g->reads, t), c->prev);
		c->read_outside[i] = false;
		for (uint32_t j = g->succ_ptr[t]; j < g->succ_ptr[t + 1]; j++)
			c->read_outside[i] |= s->place[g->succ[j]] != place;
	}
}

static int ascending(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

/* The component of a task; false: it is too large.  Its tasks are marked anyway. */
static bool collect(const struct spine *s, uint32_t from, bool *seen, uint32_t *stack, struct spine_component *c)
{
	const struct reach *g = s->g;
	uint32_t n_stack = 1, n = 0;

	stack[0] = from;
	seen[from] = true;
	while (n_stack) {
		uint32_t t = stack[--n_stack];

		if (n < MAX_TASKS)
			c->task[n] = t;
		n++;
		for (int back = 0; back < 2; back++) {
			const uint32_t *ptr = back ? g->pred_ptr : g->succ_ptr, *list = back ? g->pred : g->succ;

			for (uint32_t i = ptr[t]; i < ptr[t + 1]; i++)
				if (s->place[list[i]] == s->place[from] && !seen[list[i]]) {
					seen[list[i]] = true;
					stack[n_stack++] = list[i];
				}
		}
	}
	if (n > MAX_TASKS)
		return false;
	c->n = n;
	if (n > 1)
		qsort(c->task, n, sizeof(*c->task), ascending);
	relate(s, c, s->place[from]);
	return true;
}

/* ---- parts ---- */

/* All sets that are closed along `need`; how many, 0: more than MAX_PARTS. */
static uint32_t closed_sets(const struct spine_component *c, const uint64_t *need, uint64_t *set)
{
	uint32_t n = 1;

	set[0] = 0;
	/* Every set once: by the tasks in an order in which what they need comes first. */
	for (uint32_t at = 0; at < c->n; at++) {
		uint32_t i = need == c->reads ? at : c->n - 1 - at, had = n;

		for (uint32_t j = 0; j < had; j++) {
			if ((need[i] & ~set[j]) != 0)
				continue;
			if (n == MAX_PARTS)
				return 0;
			set[n++] = set[j] | UINT64_C(1) << i;
		}
	}
	return n;
}

/* The spine's next task, which all of a component may be read by. */
static bool read_by_next(const struct spine *s, const struct spine_component *c, uint32_t i)
{
	uint32_t place = s->place[c->task[i]];

	return place / 2 < s->n && reach_has(reach_row(s->g, s->g->read_by, c->task[i]), s->task[place / 2]);
}

static struct spine_part make_part(const struct spine *s, const struct spine_component *c, uint64_t set, bool last)
{
	struct spine_part p = {.tasks = set};

	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t t = c->task[i];
		bool in = set >> i & 1;

		if (in) {
			p.mem += s->g->mem[t];
			p.work_s += s->g->acc_s[t];
		}
		if (!last && in && (c->read_outside[i] || (c->read_by[i] & ~set)))
			p.work_s += s->g->move_s[t];
		if (last && !in && ((c->read_by[i] & set) || read_by_next(s, c, i)))
			p.work_s += s->g->move_s[t];
		p.prev |= in == last && c->reads_prev[i];
	}
	return p;
}

/* Those that fit an accelerator. */
static uint32_t make_parts(const struct spine *s, const struct spine_component *c, bool last, const uint64_t *set,
			   uint32_t n, struct spine_part *part)
{
	uint32_t n_kept = 0;

	for (uint32_t j = 0; j < n; j++) {
		struct spine_part p = make_part(s, c, set[j], last);

		if (set[j] == 0 || (p.mem <= s->g->limit && p.work_s < INFINITY))
			part[n_kept++] = p;
	}
	return n_kept;
}

/* ---- what is in between ---- */

struct middle {
	const struct reach *g;
	const struct spine_component *c;
	uint64_t tasks;              /* in neither piece */
	double out_s[MAX_TASKS];     /* before others can read what a task makes */
};

/* A piece among these tasks that begins at e and ends at i, at least; INFINITY: too large. */
static double piece_s(const struct middle *m, uint32_t e, uint32_t i)
{
	const struct spine_component *c = m->c;
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

		sum += outside ? g->move_s[c->task[y]] : fmin(g->move_s[c->task[y]], g->acc_s[c->task[y]]);
	}
	sum += prev ? g->move_s[c->prev] : 0;
	for (uint64_t b = c->reads[e] & m->tasks; b; b &= b - 1)
		start = fmax(start, m->out_s[lowest(b)]);
	return start + sum;
}

/* Task i on an accelerator: of what it reads each is outside of its piece or the piece begins at or
 * before it, so that the largest of these leasts holds. */
static double inside_s(const struct middle *m, uint32_t i)
{
	const struct spine_component *c = m->c;
	double most = 0, at[MAX_TASKS];

	if (!(c->reads[i] & m->tasks))
		return piece_s(m, i, i);
	for (uint64_t b = c->before[i] & m->tasks; b; b &= b - 1)
		at[lowest(b)] = piece_s(m, lowest(b), i);
	for (uint64_t b = c->reads[i] & m->tasks; b; b &= b - 1) {
		uint32_t q = lowest(b);
		double least = m->out_s[q] + m->g->move_s[c->task[q]] + m->g->acc_s[c->task[i]];

		for (uint64_t e = c->before[q] & m->tasks; e; e &= e - 1)
			least = fmin(least, at[lowest(e)]);
		most = fmax(most, least);
	}
	return most;
}

static double between(const struct spine *s, const struct spine_component *c, uint64_t tasks)
{
	struct middle m = {.g = s->g, .c = c, .tasks = tasks};
	double end = 0;

	for (uint64_t b = tasks; b; b &= b - 1) {
		uint32_t i = lowest(b);
		double ready = 0, cpu, acc = INFINITY;
		bool read = c->read_by[i] || c->read_outside[i], read_far = c->read_outside[i] ||
			    (c->read_by[i] & ~tasks);

		for (uint64_t p = c->reads[i] & tasks; p; p &= p - 1)
			ready = fmax(ready, m.out_s[lowest(p)]);
		cpu = ready + s->g->cpu_s[c->task[i]];
		if (!s->between_on_cpu)
			acc = inside_s(&m, i);
		m.out_s[i] = fmin(cpu, acc + (read ? s->g->move_s[c->task[i]] : 0));
		end = fmax(end, read_far ? m.out_s[i] : fmin(cpu, acc));
	}
	return end;
}

static void fill_between(const struct spine *s, struct spine_component *c)
{
	uint64_t all = c->n == 64 ? UINT64_MAX : (UINT64_C(1) << c->n) - 1;

	for (uint32_t f = 0; f < c->n_first; f++)
		for (uint32_t l = 0; l < c->n_last; l++) {
			uint64_t first = c->first[f].tasks, last = c->last[l].tasks;

			c->between_s[(size_t)f * c->n_last + l] =
				first & last ? INFINITY : between(s, c, all & ~(first | last));
		}
}

/* ---- blocks ---- */

static bool cut_component(const struct spine *s, struct spine_component *c, struct arena *a)
{
	uint64_t *set = MEM_NEWN(uint64_t, 2 * MAX_PARTS);
	uint32_t n_first = closed_sets(c, c->reads, set), n_last = closed_sets(c, c->read_by, set + MAX_PARTS);
	bool ok = n_first && n_last && (uint64_t)n_first * n_last <= MAX_PAIRS;

	if (ok) {
		c->first = ARENA_NEWN(a, struct spine_part, n_first);
		c->last = ARENA_NEWN(a, struct spine_part, n_last);
		c->n_first = make_parts(s, c, false, set, n_first, c->first);
		c->n_last = make_parts(s, c, true, set + MAX_PARTS, n_last, c->last);
		c->between_s = ARENA_NEWN(a, double, (size_t)c->n_first * c->n_last);
		fill_between(s, c);
	}
	mem_free(set);
	return ok;
}

/* Keep the components that leave few enough ways. */
static void count_ways(struct spine_block *b)
{
	uint32_t n = 0;

	b->n_first = b->n_last = 1;
	for (uint32_t i = 0; i < b->n_components; i++) {
		const struct spine_component *c = &b->component[i];

		if ((uint64_t)b->n_first * c->n_first > MAX_WAYS || (uint64_t)b->n_last * c->n_last > MAX_WAYS)
			continue;
		b->n_first *= c->n_first;
		b->n_last *= c->n_last;
		if (n != i)
			b->component[n] = *c;
		n++;
	}
	b->n_components = n;
}

void spine_init(struct spine *s, const struct reach *g, bool between_on_cpu, struct arena *a)
{
	*s = (struct spine){.g = g, .between_on_cpu = between_on_cpu};
	find_spine(s, a);
	s->block = ARENA_NEWN(a, struct spine_block, (size_t)s->n + 1);
	if (s->n == 0)
		return;
	bool *seen = MEM_NEWN(bool, g->n);
	uint32_t *stack = MEM_NEWN(uint32_t, g->n);
	struct spine_component *c = MEM_NEW(struct spine_component);

	for (uint32_t t = 0; t < g->n; t++) {
		struct spine_block *b = &s->block[s->place[t] / 2];

		if (s->place[t] % 2)
			continue;
		b->acc_s += g->acc_s[t];
		b->mem += g->mem[t];
		if (seen[t] || !collect(s, t, seen, stack, c) || !cut_component(s, c, a))
			continue;
		struct spine_component *more = ARENA_NEWN(a, struct spine_component, (size_t)b->n_components + 1);
		if (b->n_components)
			memcpy(more, b->component, b->n_components * sizeof(*more));
		more[b->n_components++] = *c;
		b->component = more;
	}
	for (uint32_t i = 0; i <= s->n; i++)
		count_ways(&s->block[i]);
	mem_free(seen);
	mem_free(stack);
	mem_free(c);
}

/* ---- ways ---- */

struct spine_part spine_first(const struct spine_block *b, uint32_t way)
{
	struct spine_part sum = {0};

	for (uint32_t i = b->n_components; i-- > 0;) {
		const struct spine_part *p = &b->component[i].first[way % b->component[i].n_first];

		way /= b->component[i].n_first;
		sum.mem += p->mem;
		sum.work_s += p->work_s;
		sum.prev |= p->prev;
	}
	return sum;
}

struct spine_part spine_last(const struct spine_block *b, uint32_t way)
{
	struct spine_part sum = {0};

	for (uint32_t i = b->n_components; i-- > 0;) {
		const struct spine_part *p = &b->component[i].last[way % b->component[i].n_last];

		way /= b->component[i].n_last;
		sum.mem += p->mem;
		sum.work_s += p->work_s;
		sum.prev |= p->prev;
	}
	return sum;
}

double spine_between_s(const struct spine_block *b, uint32_t first, uint32_t last)
{
	double most = 0;

	for (uint32_t i = b->n_components; i-- > 0 && most < INFINITY;) {
		const struct spine_component *c = &b->component[i];

		most = fmax(most, c->between_s[(size_t)(first % c->n_first) * c->n_last + last % c->n_last]);
		first /= c->n_first;
		last /= c->n_last;
	}
	return most;
}
