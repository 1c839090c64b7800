/* shortened.c - see shortened.h. */
#include "place/repeat/shortened.h"

#include <string.h>

enum { NONE = UINT32_MAX };

/* Blocks that are left of run j. */
static uint32_t left_of(const struct shortened *s, uint32_t j)
{
	return s->x->run[j].n < s->most ? s->x->run[j].n : s->most;
}

/* The first block that the q-th one that is left stands for; q: as many as are left: the end. */
static uint32_t stands_from(const struct shortened *s, uint32_t j, uint32_t q)
{
	return (uint32_t)((uint64_t)q * s->x->run[j].n / left_of(s, j));
}

struct in_block {
	uint32_t run, block, role;
};

static struct in_block where(const struct repeats *x, uint32_t task)
{
	const struct repeat_run *r = &x->run[x->of[task]];
	uint32_t i = x->at[task] - r->first;

	return (struct in_block){x->of[task], i / r->period, i % r->period};
}

/* Which of the blocks that are left stands for block b of run j. */
static uint32_t stands_for_block(const struct shortened *s, uint32_t j, uint32_t b)
{
	uint32_t q = (uint32_t)((uint64_t)b * left_of(s, j) / s->x->run[j].n);

	while (stands_from(s, j, q + 1) <= b)
		q++;
	while (stands_from(s, j, q) > b)
		q--;
	return q;
}

static uint32_t at_block(const struct repeats *x, struct in_block w)
{
	const struct repeat_run *r = &x->run[w.run];

	return x->task[r->first + w.block * r->period + w.role];
}

/* Number the tasks that are left in the order of the sequence, and say which ones stand for which. */
static void number_tasks(struct shortened *s, struct arena *a)
{
	const struct repeats *x = s->x;
	uint32_t n = s->whole->tasks.dag.n;

	s->by = ARENA_NEWN(a, uint32_t, n);
	s->stands_for = ARENA_NEWN(a, uint32_t, n);
	s->m.n_sets = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = x->task[i];
		struct in_block w = {0}, first;

		if (x->of[v] < x->n) {
			w = first = where(x, v);
			first.block = stands_from(s, w.run, stands_for_block(s, w.run, w.block));
			if (first.block != w.block) {
				s->by[v] = s->by[at_block(x, first)];
				continue;
			}
		}
		s->by[v] = s->m.n_sets;
		s->stands_for[s->m.n_sets++] = v;
	}
}

/* What task w, of the whole model, reads of v when blocks between are gone: as many blocks before, or as far before the
 * last one; the task of m.  NONE: nothing of that is left. */
static uint32_t read_instead(const struct shortened *s, uint32_t v, uint32_t w)
{
	const struct repeats *x = s->x;

	if (x->of[v] == x->n)
		return s->by[v];
	struct in_block from = where(x, v);
	uint32_t left = left_of(s, from.run), back;

	if (x->of[w] == x->of[v]) {
		struct in_block to = where(x, w);

		back = to.block - from.block;
		to.block = stands_for_block(s, to.run, to.block);
		/* Two blocks that were far from each other are so as well as they can be. */
		from.block = to.block >= back ? to.block - back : 0;
	} else {
		back = x->run[from.run].n - 1 - from.block;
		if (back >= left)
			return NONE;
		from.block = left - 1 - back;
	}
	from.block = stands_from(s, from.run, from.block);
	return s->by[at_block(x, from)];
}

static void connect_tasks(struct shortened *s, struct arena *a)
{
	const struct sched_dag *d = &s->whole->tasks.dag;
	struct sched_edge *edge = MEM_NEWN(struct sched_edge, (size_t)d->n_uses + d->n_tensors);
	size_t n = 0;

	for (uint32_t i = 0; i < s->m.n_sets; i++) {
		uint32_t v = s->stands_for[i];

		for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++)
			edge[n++] = (struct sched_edge){i, SCHED_NONE, t - d->out_ptr[v],
							d->tensor_bytes[t]};
		for (uint32_t j = d->in_ptr[v]; j < d->in_ptr[v + 1]; j++) {
			uint32_t t = d->use_tensor[d->in_use[j]], from = d->tensor_task[t];
			uint32_t instead = read_instead(s, from, v);

			if (instead != NONE && instead < i)
				edge[n++] = (struct sched_edge){instead, i, t - d->out_ptr[from],
								d->tensor_bytes[t]};
		}
	}
	sched_dag_build(&s->m.tasks.dag, s->m.n_sets, edge, n, a);
	mem_free(edge);
}

/* Blocks that task i of m stands for. */
static uint32_t times(const struct shortened *s, uint32_t i)
{
	uint32_t v = s->stands_for[i];

	if (s->x->of[v] == s->x->n)
		return 1;
	struct in_block w = where(s->x, v);
	uint32_t q = stands_for_block(s, w.run, w.block);

	return stands_from(s, w.run, q + 1) - stands_from(s, w.run, q);
}

/* Rows (k) of elements of `size` bytes for the tasks of m, of those by `from` (sets of whole, or tasks). */
static void *rows_left(const struct shortened *s, const void *rows, bool by_set, size_t size,
		       struct arena *a)
{
	size_t row = s->m.k * size;
	char *out = arena_alloc(a, s->m.n_sets, row);

	for (uint32_t i = 0; i < s->m.n_sets; i++) {
		uint32_t v = s->stands_for[i];

		memcpy(out + i * row,
		       (const char *)rows + (by_set ? s->whole->tasks.task_set[v] : v) * row, row);
	}
	return out;
}

/* The block in which all readers of a shared value are; NONE: there is no such block. */
static uint32_t only_block(const struct shortened *s, const struct shared_weight *w)
{
	const uint32_t *task = s->whole->weight_task + w->first;
	uint32_t block = NONE;

	for (uint32_t j = 0; j < w->n; j++) {
		if (s->x->of[task[j]] == s->x->n)
			return NONE;
		struct in_block at = where(s->x, task[j]);
		uint32_t one = s->x->run[at.run].first + at.block * s->x->run[at.run].period;

		if (block != NONE && one != block)
			return NONE;
		block = one;
	}
	return block;
}

/* What tasks hold: as much as all for which they stand.  A value that several blocks share is held once all the same. */
static void hold(struct shortened *s, struct arena *a)
{
	const struct place_model *whole = s->whole;
	struct place_model *m = &s->m;
	uint32_t k = m->k, at = 0, n = 0;

	m->task_mem = rows_left(s, whole->task_mem, false, sizeof(*m->task_mem), a);
	if (whole->inner)
		m->inner = rows_left(s, whole->inner, false, sizeof(*m->inner), a);
	for (uint32_t i = 0; i < m->n_sets; i++)
		for (uint32_t d = 0; d < k; d++)
			m->task_mem[(size_t)i * k + d] *= times(s, i);
	for (uint32_t i = 0; i < whole->n_shared; i++)
		n += whole->shared[i].n;
	m->shared = ARENA_NEWN(a, struct shared_weight, whole->n_shared);
	m->weight_task = ARENA_NEWN(a, uint32_t, n);
	m->n_shared = m->n_values = 0;
	for (uint32_t i = 0; i < whole->n_shared; i++) {
		const struct shared_weight *w = &whole->shared[i];
		struct shared_weight *to = &m->shared[m->n_shared];
		bool one = only_block(s, w) != NONE;

		*to = (struct shared_weight){w->bytes, at, 0};
		for (uint32_t j = 0; j < w->n; j++) {
			uint32_t v = whole->weight_task[w->first + j];

			if (s->stands_for[s->by[v]] == v)
				m->weight_task[at + to->n++] = s->by[v];
		}
		if (!to->n)
			continue;
		if (one && times(s, m->weight_task[at]) > 1) {
			uint64_t *bytes = ARENA_NEWN(a, uint64_t, k);

			for (uint32_t d = 0; d < k; d++)
				bytes[d] = w->bytes[d] * times(s, m->weight_task[at]);
			to->bytes = bytes;
		}
		at += to->n;
		m->n_shared++;
	}
}

static void keep_savings(struct shortened *s, struct arena *a)
{
	const struct place_model *whole = s->whole;
	struct place_model *m = &s->m;
	uint32_t k = m->k, n = m->n_sets;

	m->saved_ptr = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	m->saved_task = ARENA_NEWN(a, uint32_t, whole->saved_ptr[whole->tasks.dag.n]);
	m->saved_s = ARENA_NEWN(a, double, (size_t)whole->saved_ptr[whole->tasks.dag.n] * k);
	for (uint32_t i = 0, at = 0; i < n; i++) {
		uint32_t v = s->stands_for[i];

		for (uint32_t j = whole->saved_ptr[v]; j < whole->saved_ptr[v + 1]; j++) {
			uint32_t instead = read_instead(s, whole->saved_task[j], v);

			if (instead == NONE || instead >= i)
				continue;
			m->saved_task[at] = instead;
			memcpy(m->saved_s + (size_t)at++ * k, whole->saved_s + (size_t)j * k,
			       k * sizeof(*m->saved_s));
		}
		m->saved_ptr[i + 1] = at;
	}
	m->costs.least_s =
		rows_left(s, whole->costs.least_s, false, sizeof(*whole->costs.least_s), a);
}

void shortened_init(struct shortened *s, const struct place_model *whole, const struct repeats *x,
		    uint32_t most, struct arena *a)
{
	*s = (struct shortened){.whole = whole, .x = x, .most = most, .m = *whole};
	struct place_model *m = &s->m;

	number_tasks(s, a);
	m->tasks = (struct graph_tasks){.task_set = ARENA_NEWN(a, uint32_t, m->n_sets)};
	for (uint32_t i = 0; i < m->n_sets; i++)
		m->tasks.task_set[i] = i;
	connect_tasks(s, a);
	m->set_s = rows_left(s, whole->set_s, true, sizeof(*m->set_s), a);
	m->costs.task_s = rows_left(s, whole->costs.task_s, false, sizeof(*m->costs.task_s), a);
	if (whole->pools.set_s)
		m->pools.set_s = rows_left(s, whole->pools.set_s, true, sizeof(double), a);
	hold(s, a);
	if (whole->saved_ptr)
		keep_savings(s, a);
	if (whole->together) {
		uint32_t *class = ARENA_NEWN(a, uint32_t, m->n_sets);

		for (uint32_t i = 0; i < m->n_sets; i++)
			class[i] = whole->together[whole->tasks.task_set[s->stands_for[i]]];
		place_model_together(m, class, a);
	}
}

void shortened_expand(const struct shortened *s, const struct place_units *whole,
		      const uint16_t *from, uint16_t *device)
{
	const struct graph_tasks *t = &s->whole->tasks;

	memset(device, 0, s->whole->n_sets * sizeof(*device));
	for (uint32_t v = 0; v < t->dag.n; v++)
		device[t->task_set[v]] = from[s->by[v]];
	for (uint32_t i = 0; i < whole->n; i++)
		place_unit_set(whole, i, device[whole->set[whole->ptr[i]]], device);
}

void shortened_project(const struct shortened *s, const uint16_t *device, uint16_t *to)
{
	for (uint32_t i = 0; i < s->m.n_sets; i++)
		to[i] = device[s->whole->tasks.task_set[s->stands_for[i]]];
}
