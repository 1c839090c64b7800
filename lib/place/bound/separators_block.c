/* separators_block.c - the separators of a graph, the blocks between them, and the parts of blocks
 * that a piece may hold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "place/bound/separators.h"

enum { MAX_COMPONENTS = 32, MAX_PARTS = 1024, MAX_WAYS = 1 << 14, LOOKS_A_STEP = 64 };
/* About a quarter of a second: tasks looked at between parts. */
static const uint64_t MAX_LOOKS = UINT64_C(1) << 34;
/* Of all pairs of ways; fewer are looked at. */
static const uint64_t MAX_STEPS = UINT64_C(1) << 34, MAX_SURE_STEPS = UINT64_C(1) << 28;

/* ---- separators ---- */

static uint32_t count_bits(const uint64_t *row, uint32_t words)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < words; w++)
		n += (uint32_t)__builtin_popcountll(row[w]);
	return n;
}

/* Tasks are in a topological order, and so are the separators: t is behind the first i of them. */
static void find_separators(struct separators *s, struct arena *a)
{
	const struct reach *g = s->g;

	s->task = ARENA_NEWN(a, uint32_t, g->n);
	s->position = ARENA_NEWN(a, uint32_t, g->n);
	for (uint32_t t = 0; t < g->n; t++) {
		uint32_t related = count_bits(reach_row(g, g->before, t), g->words) +
				   count_bits(reach_row(g, g->behind, t), g->words);

		if (related == g->n + 1)
			s->task[s->n++] = t;
	}
	for (uint32_t i = 0; i < s->n; i++)
		s->position[s->task[i]] = 2 * i + 1;
	for (uint32_t t = 0; t < g->n; t++) {
		uint32_t i = 0, end = s->n;

		while (i < end) {
			uint32_t mid = (i + end) / 2;

			if (reach_has(reach_row(g, g->before, t), s->task[mid]))
				i = mid + 1;
			else
				end = mid;
		}
		if (s->position[t] == 0)
			s->position[t] = 2 * i;
	}
}

/* ---- components ---- */

/* Fills who reads whom and who is before whom in a component, as bits of its tasks. */
static void fill_relations(const struct separators *s, struct separator_component *c,
			   uint32_t position)
{
	const struct reach *g = s->g;

	c->prev = position >= 2 ? s->task[position / 2 - 1] : SEPARATORS_NONE;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t t = c->task[i];

		c->reads[i] = c->read_by[i] = c->before[i] = c->behind[i] = 0;
		for (uint32_t j = 0; j < c->n; j++) {
			uint64_t bit = UINT64_C(1) << j;
			uint32_t u = c->task[j];

			c->reads[i] |= reach_has(reach_row(g, g->reads, t), u) ? bit : 0;
			c->read_by[i] |= reach_has(reach_row(g, g->read_by, t), u) ? bit : 0;
			c->before[i] |= reach_has(reach_row(g, g->before, t), u) ? bit : 0;
			c->behind[i] |= reach_has(reach_row(g, g->behind, t), u) ? bit : 0;
		}
		c->reads_prev[i] = position >= 2 && reach_has(reach_row(g, g->reads, t), c->prev);
		c->read_outside[i] = false;
		for (uint32_t j = g->succ_ptr[t]; j < g->succ_ptr[t + 1]; j++)
			c->read_outside[i] |= s->position[g->succ[j]] != position;
	}
}

/* The component of a task; false: it is too large.  `seen` marks its tasks in both cases. */
static bool collect_component(const struct separators *s, uint32_t from, bool *seen,
			      uint32_t *stack, struct separator_component *c)
{
	const struct reach *g = s->g;
	uint32_t n_stack = 1, n = 0;

	stack[0] = from;
	seen[from] = true;
	while (n_stack) {
		uint32_t t = stack[--n_stack];

		if (n < SEPARATORS_MAX_TASKS)
			c->task[n] = t;
		n++;
		for (int back = 0; back < 2; back++) {
			const uint32_t *ptr = back ? g->pred_ptr : g->succ_ptr;
			const uint32_t *list = back ? g->pred : g->succ;

			for (uint32_t i = ptr[t]; i < ptr[t + 1]; i++)
				if (s->position[list[i]] == s->position[from] && !seen[list[i]]) {
					seen[list[i]] = true;
					stack[n_stack++] = list[i];
				}
		}
	}
	if (n > SEPARATORS_MAX_TASKS)
		return false;
	c->n = n;
	if (n > 1)
		qsort(c->task, n, sizeof(*c->task), ascending_u32);
	fill_relations(s, c, s->position[from]);
	return true;
}

/* ---- parts ---- */

/* Lists all sets of tasks that are closed along `need`; returns how many, 0: more than
 * MAX_PARTS. */
static uint32_t closed_sets(const struct separator_component *c, const uint64_t *need,
			    uint64_t *set)
{
	uint32_t n = 1;

	set[0] = 0;
	/* Tasks come in an order in which what they need is first, so that each set is made
	 * once. */
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

/* Does the next separator read task i of the component? */
static bool read_by_next(const struct separators *s, const struct separator_component *c,
			 uint32_t i)
{
	uint32_t position = s->position[c->task[i]];

	return position / 2 < s->n &&
	       reach_has(reach_row(s->g, s->g->read_by, c->task[i]), s->task[position / 2]);
}

static struct separator_part make_part(const struct separators *s,
				       const struct separator_component *c, uint64_t set, bool last)
{
	struct separator_part p = {.tasks = set};

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

/* Keeps the parts that fit an accelerator, and the empty one. */
static uint32_t make_parts(const struct separators *s, const struct separator_component *c,
			   bool last, const uint64_t *set, uint32_t n, struct separator_part *part)
{
	uint32_t n_kept = 0;

	for (uint32_t j = 0; j < n; j++) {
		struct separator_part p = make_part(s, c, set[j], last);

		if (set[j] == 0 || (p.mem <= s->g->limit && p.work_s < INFINITY))
			part[n_kept++] = p;
	}
	return n_kept;
}

/* ---- blocks ---- */

/* Lists the parts of a component; false: there are too many.  *looks: tasks that may still be
 * looked at. */
static bool cut_component(const struct separators *s, struct separator_component *c,
			  uint64_t *looks, struct arena *a)
{
	uint64_t *set = MEM_NEWN(uint64_t, 2 * MAX_PARTS);
	uint32_t n_first = closed_sets(c, c->reads, set);
	uint32_t n_last = closed_sets(c, c->read_by, set + MAX_PARTS);
	uint64_t work = (uint64_t)n_first * n_last * c->n * c->n * c->n;
	bool ok = work > 0 && work <= *looks;

	if (ok) {
		*looks -= work;
		c->first = ARENA_NEWN(a, struct separator_part, n_first);
		c->last = ARENA_NEWN(a, struct separator_part, n_last);
		c->n_first = make_parts(s, c, false, set, n_first, c->first);
		c->n_last = make_parts(s, c, true, set + MAX_PARTS, n_last, c->last);
		c->between_s = ARENA_NEWN(a, double, (size_t)c->n_first * c->n_last);
		separators_fill_between(s, c);
	}
	mem_free(set);
	return ok;
}

/* Steps for all pairs of a way to begin and a way to end a block, or a separator to end at. */
static uint64_t pairs_steps(const struct separators *s, uint64_t first, uint64_t last, uint32_t n)
{
	return first * (last + s->n) * separators_pair_steps(n);
}

/* Keeps components as long as their ways stay few; *steps: what separators_solve may still take. */
static void count_ways(const struct separators *s, struct separator_block *b, uint64_t *steps)
{
	uint32_t n = 0;

	b->n_first = b->n_last = 1;
	for (uint32_t i = 0; i < b->n_components; i++) {
		const struct separator_component *c = &b->component[i];
		uint64_t first = (uint64_t)b->n_first * c->n_first;
		uint64_t last = (uint64_t)b->n_last * c->n_last;

		if (first > MAX_WAYS || last > MAX_WAYS ||
		    pairs_steps(s, first, last, n + 1) > *steps)
			continue;
		b->n_first = (uint32_t)first;
		b->n_last = (uint32_t)last;
		if (n != i)
			b->component[n] = *c;
		n++;
	}
	b->n_components = n;
	*steps -= n ? pairs_steps(s, b->n_first, b->n_last, n) : 0;
}

/* Adds a component to a block; room doubles. */
static void add_component(struct separator_block *b, const struct separator_component *c,
			  struct arena *a)
{
	uint32_t n = b->n_components;

	if ((n & (n - 1)) == 0) {
		struct separator_component *more =
			ARENA_NEWN(a, struct separator_component, n ? 2 * (size_t)n : 1);

		if (n)
			memcpy(more, b->component, n * sizeof(*more));
		b->component = more;
	}
	b->component[b->n_components++] = *c;
}

void separators_init(struct separators *s, const struct reach *g, bool cpu_between, bool sure,
		     struct arena *a)
{
	*s = (struct separators){.g = g, .cpu_between = cpu_between, .sure = sure};
	find_separators(s, a);
	s->block = ARENA_NEWN(a, struct separator_block, (size_t)s->n + 1);
	uint64_t looks = MAX_LOOKS, steps = sure ? MAX_SURE_STEPS : MAX_STEPS;
	bool *seen = MEM_NEWN(bool, g->n);
	uint32_t *stack = MEM_NEWN(uint32_t, g->n);
	struct separator_component *c = MEM_NEW(struct separator_component);

	for (uint32_t t = 0; t < g->n; t++) {
		struct separator_block *b = &s->block[s->position[t] / 2];

		if (s->position[t] % 2)
			continue;
		if (seen[t] || b->n_components == MAX_COMPONENTS ||
		    !collect_component(s, t, seen, stack, c) || !cut_component(s, c, &looks, a))
			continue;
		add_component(b, c, a);
	}
	for (uint32_t i = 0; i <= s->n; i++)
		count_ways(s, &s->block[i], &steps);
	s->work = (MAX_LOOKS - looks) / LOOKS_A_STEP;
	mem_free(seen);
	mem_free(stack);
	mem_free(c);
}

/* ---- ways ---- */

static struct separator_part sum_parts(const struct separator_block *b, uint32_t way, bool first)
{
	struct separator_part all = {0};

	for (uint32_t i = b->n_components; i-- > 0;) {
		const struct separator_component *c = &b->component[i];
		uint32_t n = first ? c->n_first : c->n_last;
		const struct separator_part *p = (first ? c->first : c->last) + way % n;

		way /= n;
		all.mem += p->mem;
		all.work_s += p->work_s;
		all.prev |= p->prev;
	}
	return all;
}

struct separator_part separators_first(const struct separator_block *b, uint32_t way)
{
	return sum_parts(b, way, true);
}

struct separator_part separators_last(const struct separator_block *b, uint32_t way)
{
	return sum_parts(b, way, false);
}
