/* sched.c - the list scheduler: ready sets, link queues, reference counts.
 *
 * Priorities are fixed before a run, so a ready set is a bitmap over positions
 * in priority order, with a bitmap over its words above it and so on: adding a
 * task and taking the best are a few bit operations, whatever n. */
#include <stdlib.h>
#include <string.h>

#include "sched/sched.h"

enum { MAX_LEVELS = 6, INSERTION_MAX = 24 };

struct queue {
	uint32_t head, tail;
};

struct sched {
	const struct sched_dag *d;
	uint32_t k;
	enum sched_policy policy;
	const uint16_t *device;      /* (n) of this run */

	uint32_t *pos;               /* (n) position of a task in priority order */
	uint32_t *task_at;           /* (n) its inverse */
	uint32_t *indegree;          /* (n) uses of each task */
	uint32_t *pending;           /* (n) uses that have not arrived */
	uint32_t n_left;

	uint32_t n_levels, words;    /* of the ready bitmap of one device */
	uint32_t level_at[MAX_LEVELS];
	uint64_t *ready;             /* (k, words) SCHED_RANK */
	struct queue *fifo;          /* (k) SCHED_FIFO */
	uint32_t *fifo_next;         /* (n) */
	uint32_t *fresh_task;        /* (n) ready since the last settle, SCHED_FIFO */
	uint32_t n_fresh_tasks;

	struct sched_copy *copy;     /* (n_uses) */
	uint32_t *copy_order;        /* (n_uses) when it entered its queue */
	uint32_t n_copies, n_queued; /* needed so far; of these, in queues so far */
	uint32_t *fresh_copy;        /* (n_uses) needed since the last settle */
	uint32_t n_fresh_copies;
	struct queue *link;          /* (k,k) */
	uint32_t *active;            /* links with a queue */
	uint32_t n_active;
	uint32_t *use_copy;          /* (n_uses) */
	uint32_t *last_copy;         /* (k) newest copy to each device */
	uint64_t copied_bytes;

	uint32_t *home_refs;         /* (n_tensors) */
	uint32_t *copy_refs;         /* (n_uses) */
	uint64_t *live, *peak;       /* (k) bytes */
	uint32_t *freed;             /* (n_tensors + n_uses) */
	uint32_t n_freed;
};

/* ---- construction ---- */

struct ranked {
	double rank;
	uint32_t task;
};

static int rank_compare(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

static void order_tasks(struct sched *s, const double *rank)
{
	uint32_t n = s->d->n;
	struct ranked *r = MEM_NEWN(struct ranked, n);

	for (uint32_t v = 0; v < n; v++)
		r[v] = (struct ranked){rank[v], v};
	if (n > 1)
		qsort(r, n, sizeof(*r), rank_compare);
	for (uint32_t i = 0; i < n; i++) {
		s->task_at[i] = r[i].task;
		s->pos[r[i].task] = i;
	}
	mem_free(r);
}

static void size_ready_sets(struct sched *s)
{
	uint32_t bits = s->d->n;

	do {
		uint32_t w = bits ? (bits - 1) / 64 + 1 : 1;

		s->level_at[s->n_levels++] = s->words;
		s->words += w;
		bits = w;
	} while (bits > 1);
	s->ready = MEM_NEWN(uint64_t, (size_t)s->k * s->words);
}

struct sched *sched_new(const struct sched_dag *d, uint32_t k, const double *rank,
			enum sched_policy policy)
{
	struct sched *s = MEM_NEW(struct sched);
	size_t values = (size_t)d->n_tensors + d->n_uses;

	s->d = d;
	s->k = k;
	s->policy = policy;
	s->pos = MEM_NEWN(uint32_t, d->n);
	s->task_at = MEM_NEWN(uint32_t, d->n);
	s->indegree = MEM_NEWN(uint32_t, d->n);
	s->pending = MEM_NEWN(uint32_t, d->n);
	s->fifo = MEM_NEWN(struct queue, k);
	s->fifo_next = MEM_NEWN(uint32_t, d->n);
	s->fresh_task = MEM_NEWN(uint32_t, d->n);
	s->copy = MEM_NEWN(struct sched_copy, d->n_uses);
	s->copy_order = MEM_NEWN(uint32_t, d->n_uses);
	s->fresh_copy = MEM_NEWN(uint32_t, d->n_uses);
	s->link = MEM_NEWN(struct queue, (size_t)k * k);
	s->active = MEM_NEWN(uint32_t, (size_t)k * k);
	s->use_copy = MEM_NEWN(uint32_t, d->n_uses);
	s->last_copy = MEM_NEWN(uint32_t, k);
	s->home_refs = MEM_NEWN(uint32_t, d->n_tensors);
	s->copy_refs = MEM_NEWN(uint32_t, d->n_uses);
	s->live = MEM_NEWN(uint64_t, k);
	s->peak = MEM_NEWN(uint64_t, k);
	s->freed = MEM_NEWN(uint32_t, values);
	for (uint32_t v = 0; v < d->n; v++)
		s->indegree[v] = d->in_ptr[v + 1] - d->in_ptr[v];
	order_tasks(s, rank);
	size_ready_sets(s);
	return s;
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	void *owned[] = {s->pos, s->task_at, s->indegree, s->pending, s->ready, s->fifo,
			 s->fifo_next, s->fresh_task, s->copy, s->copy_order, s->fresh_copy,
			 s->link, s->active, s->use_copy, s->last_copy, s->home_refs,
			 s->copy_refs, s->live, s->peak, s->freed};
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
	mem_free(s);
}

/* ---- ready sets ---- */

static void ready_add(struct sched *s, uint32_t dev, uint32_t bit)
{
	uint64_t *bits = s->ready + (size_t)dev * s->words;

	for (uint32_t l = 0; l < s->n_levels; l++, bit /= 64) {
		uint64_t *w = bits + s->level_at[l] + bit / 64;
		uint64_t before = *w;

		*w |= UINT64_C(1) << bit % 64;
		if (before)
			return;
	}
}

static uint32_t ready_take(struct sched *s, uint32_t dev)
{
	uint64_t *bits = s->ready + (size_t)dev * s->words;
	uint32_t l = s->n_levels - 1, bit = 0;

	if (!bits[s->level_at[l]])
		return SCHED_NONE;
	for (;; l--) {
		bit = bit * 64 + (uint32_t)__builtin_ctzll(bits[s->level_at[l] + bit]);
		if (l == 0)
			break;
	}
	uint32_t found = bit;
	for (; l < s->n_levels; l++, bit /= 64) {
		uint64_t *w = bits + s->level_at[l] + bit / 64;

		*w &= ~(UINT64_C(1) << bit % 64);
		if (*w)
			break;
	}
	return s->task_at[found];
}

static void task_ready(struct sched *s, uint32_t v)
{
	if (s->policy == SCHED_RANK)
		ready_add(s, s->device[v], s->pos[v]);
	else
		s->fresh_task[s->n_fresh_tasks++] = v;
}

/* ---- what came at one instant enters its queues in a defined order ---- */

/* Sort x (n) ascending by less(s, a, b): heapsort, or insertion for few. */
static void sort_fresh(const struct sched *s, uint32_t *x, uint32_t n,
		       bool (*less)(const struct sched *, uint32_t, uint32_t))
{
	if (n <= INSERTION_MAX) {
		for (uint32_t i = 1; i < n; i++) {
			uint32_t v = x[i], j = i;

			for (; j > 0 && less(s, v, x[j - 1]); j--)
				x[j] = x[j - 1];
			x[j] = v;
		}
		return;
	}
	for (uint32_t start = n / 2, end = n; end > 1;) {
		uint32_t v, hole, child;

		if (start > 0) {
			v = x[hole = --start];
		} else {
			v = x[--end];
			x[end] = x[0];
			hole = 0;
		}
		for (; (child = 2 * hole + 1) < end; hole = child) {
			if (child + 1 < end && less(s, x[child], x[child + 1]))
				child++;
			if (!less(s, v, x[child]))
				break;
			x[hole] = x[child];
		}
		x[hole] = v;
	}
}

static bool task_before(const struct sched *s, uint32_t a, uint32_t b)
{
	return s->pos[a] < s->pos[b];
}

static bool copy_before(const struct sched *s, uint32_t a, uint32_t b)
{
	const struct sched_copy *x = &s->copy[a], *y = &s->copy[b];

	if (x->tensor == y->tensor)
		return x->dst < y->dst;
	uint32_t v = s->d->tensor_task[x->tensor], w = s->d->tensor_task[y->tensor];
	return v == w ? x->tensor < y->tensor : s->pos[v] < s->pos[w];
}

static void settle_tasks(struct sched *s)
{
	sort_fresh(s, s->fresh_task, s->n_fresh_tasks, task_before);
	for (uint32_t i = 0; i < s->n_fresh_tasks; i++) {
		uint32_t v = s->fresh_task[i];
		struct queue *q = &s->fifo[s->device[v]];

		s->fifo_next[v] = SCHED_NONE;
		if (q->head == SCHED_NONE)
			q->head = v;
		else
			s->fifo_next[q->tail] = v;
		q->tail = v;
	}
	s->n_fresh_tasks = 0;
}

static void settle_copies(struct sched *s)
{
	sort_fresh(s, s->fresh_copy, s->n_fresh_copies, copy_before);
	for (uint32_t i = 0; i < s->n_fresh_copies; i++) {
		uint32_t c = s->fresh_copy[i];
		uint32_t l = s->copy[c].src * s->k + s->copy[c].dst;
		struct queue *q = &s->link[l];

		s->copy_order[c] = s->n_queued++;
		if (q->head == SCHED_NONE) {
			q->head = c;
			s->active[s->n_active++] = l;
		} else {
			s->copy[q->tail].next = c;
		}
		q->tail = c;
	}
	s->n_fresh_copies = 0;
}

/* ---- a run ---- */

void sched_begin(struct sched *s, const uint16_t *device)
{
	const struct sched_dag *d = s->d;

	s->device = device;
	s->n_left = d->n;
	s->n_copies = s->n_queued = s->n_fresh_copies = s->n_fresh_tasks = 0;
	s->n_active = s->n_freed = 0;
	s->copied_bytes = 0;
	if (d->n)
		memcpy(s->pending, s->indegree, d->n * sizeof(*s->pending));
	memset(s->ready, 0, (size_t)s->k * s->words * sizeof(*s->ready));
	memset(s->live, 0, s->k * sizeof(*s->live));
	memset(s->peak, 0, s->k * sizeof(*s->peak));
	for (uint32_t i = 0; i < s->k; i++) {
		s->fifo[i].head = SCHED_NONE;
		s->last_copy[i] = SCHED_NONE;
	}
	for (size_t i = 0; i < (size_t)s->k * s->k; i++)
		s->link[i].head = SCHED_NONE;
	for (uint32_t v = 0; v < d->n; v++)
		if (!s->indegree[v])
			task_ready(s, v);
}

uint32_t sched_take_task(struct sched *s, uint32_t dev)
{
	const struct sched_dag *d = s->d;
	uint32_t v;

	if (s->policy == SCHED_RANK) {
		v = ready_take(s, dev);
	} else {
		if (s->n_fresh_tasks)
			settle_tasks(s);
		v = s->fifo[dev].head;
		if (v != SCHED_NONE)
			s->fifo[dev].head = s->fifo_next[v];
	}
	if (v != SCHED_NONE)
		for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++)
			s->live[dev] += d->tensor_bytes[t];
	return v;
}

bool sched_has_task(const struct sched *s, uint32_t dev)
{
	if (s->policy == SCHED_RANK)
		return s->ready[(size_t)dev * s->words + s->level_at[s->n_levels - 1]] != 0;
	for (uint32_t i = 0; i < s->n_fresh_tasks; i++)
		if (s->device[s->fresh_task[i]] == dev)
			return true;
	return s->fifo[dev].head != SCHED_NONE;
}

/* Take the first copy of active link number i. */
static uint32_t take_active(struct sched *s, uint32_t i)
{
	struct queue *q = &s->link[s->active[i]];
	uint32_t c = q->head;

	q->head = s->copy[c].next;
	if (q->head == SCHED_NONE)
		s->active[i] = s->active[--s->n_active];
	s->live[s->copy[c].dst] += s->d->tensor_bytes[s->copy[c].tensor];
	return c;
}

uint32_t sched_take_copy(struct sched *s, uint32_t src, uint32_t dst)
{
	if (s->n_fresh_copies)
		settle_copies(s);
	for (uint32_t i = 0; i < s->n_active; i++)
		if (s->active[i] == src * s->k + dst)
			return take_active(s, i);
	return SCHED_NONE;
}

uint32_t sched_take_any_copy(struct sched *s, const bool *link_busy, const bool *dev_busy)
{
	uint32_t best = SCHED_NONE, best_order = UINT32_MAX;

	if (s->n_fresh_copies)
		settle_copies(s);
	for (uint32_t i = 0; i < s->n_active; i++) {
		uint32_t l = s->active[i], c = s->link[l].head;

		if (link_busy && link_busy[l])
			continue;
		if (dev_busy && (dev_busy[s->copy[c].src] || dev_busy[s->copy[c].dst]))
			continue;
		if (s->copy_order[c] < best_order) {
			best_order = s->copy_order[c];
			best = i;
		}
	}
	return best == SCHED_NONE ? SCHED_NONE : take_active(s, best);
}

const struct sched_copy *sched_copy(const struct sched *s, uint32_t copy)
{
	return &s->copy[copy];
}

/* ---- ends ---- */

static void value_freed(struct sched *s, uint32_t value, uint32_t dev, uint32_t tensor)
{
	s->live[dev] -= s->d->tensor_bytes[tensor];
	s->freed[s->n_freed++] = value;
}

static void use_arrived(struct sched *s, uint32_t use)
{
	uint32_t v = s->d->use_task[use];

	if (--s->pending[v] == 0)
		task_ready(s, v);
}

/* Task v on dev has read its inputs for the last time. */
static void release_inputs(struct sched *s, uint32_t v, uint32_t dev)
{
	const struct sched_dag *d = s->d;

	for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
		uint32_t u = d->in_use[i], t = d->use_tensor[u], c = s->use_copy[u];

		if (c == SCHED_NONE) {
			if (--s->home_refs[t] == 0)
				value_freed(s, t, dev, t);
		} else if (--s->copy_refs[c] == 0) {
			value_freed(s, d->n_tensors + c, dev, t);
		}
	}
}

/* Tensor t exists at dev: its consumers there have it, the others get copies. */
static void distribute(struct sched *s, uint32_t t, uint32_t dev)
{
	const struct sched_dag *d = s->d;
	uint32_t first = s->n_copies, refs = 0;

	for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++) {
		uint32_t to = s->device[d->use_task[u]], c;

		if (to == dev) {
			s->use_copy[u] = SCHED_NONE;
			refs++;
			use_arrived(s, u);
			continue;
		}
		c = s->last_copy[to];
		if (c == SCHED_NONE || c < first) {
			c = s->last_copy[to] = s->n_copies++;
			s->copy[c] = (struct sched_copy){t, (uint16_t)dev, (uint16_t)to, SCHED_NONE};
			s->copy_refs[c] = 0;
			s->fresh_copy[s->n_fresh_copies++] = c;
			s->copied_bytes += d->tensor_bytes[t];
			refs++;
		}
		s->use_copy[u] = c;
		s->copy_refs[c]++;
	}
	s->home_refs[t] = refs;
}

void sched_task_done(struct sched *s, uint32_t task)
{
	uint32_t dev = s->device[task];

	s->n_left--;
	release_inputs(s, task, dev);
	for (uint32_t t = s->d->out_ptr[task]; t < s->d->out_ptr[task + 1]; t++)
		distribute(s, t, dev);
}

void sched_copy_done(struct sched *s, uint32_t copy)
{
	const struct sched_copy *c = &s->copy[copy];

	for (uint32_t u = s->d->use_ptr[c->tensor]; u < s->d->use_ptr[c->tensor + 1]; u++)
		if (s->use_copy[u] == copy)
			use_arrived(s, u);
	if (--s->home_refs[c->tensor] == 0)
		value_freed(s, c->tensor, c->src, c->tensor);
}

/* ---- questions ---- */

uint32_t sched_left(const struct sched *s)
{
	return s->n_left;
}

uint32_t sched_use_copy(const struct sched *s, uint32_t use)
{
	return s->use_copy[use];
}

const uint32_t *sched_freed(const struct sched *s, uint32_t *n)
{
	*n = s->n_freed;
	return s->freed;
}

void sched_drop_freed(struct sched *s)
{
	s->n_freed = 0;
}

uint64_t sched_live_bytes(const struct sched *s, uint32_t dev)
{
	return s->live[dev];
}

uint64_t sched_peak_bytes(const struct sched *s, uint32_t dev)
{
	return s->peak[dev];
}

void sched_tick(struct sched *s)
{
	for (uint32_t i = 0; i < s->k; i++)
		if (s->live[i] > s->peak[i])
			s->peak[i] = s->live[i];
}

uint32_t sched_n_copies(const struct sched *s)
{
	return s->n_copies;
}

uint64_t sched_copied_bytes(const struct sched *s)
{
	return s->copied_bytes;
}
