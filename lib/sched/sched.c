/* sched.c - the list scheduler: ready sets, link queues, reference counts. */
#include <stdlib.h>
#include <string.h>

#include "sched/ready.h"
#include "sched/sched.h"

/* Copies waiting for one link, in order.  Those behind `old` came at the current instant and
 * are still being put in order. */
struct queue {
	uint32_t head, tail;     /* head SCHED_NONE: empty */
	uint32_t old;            /* the last of an earlier instant; SCHED_NONE: none left */
	uint32_t instant;        /* that `old` was noted at */
};

struct sched {
	const struct sched_dag *d;
	uint32_t k;
	const uint16_t *device;      /* (n) of this run */
	uint32_t instant;            /* ticks of this run */

	struct ready ready;
	uint32_t *indegree;          /* (n) uses of each task */
	uint32_t *pending;           /* (n) uses that have not arrived, and its hold */
	uint32_t n_left;
	const uint32_t *hold;        /* (n) or NULL */
	uint32_t *held;              /* (n) first task that v holds up; SCHED_NONE ends a list */
	uint32_t *held_next;         /* (n) */

	struct sched_copy *copy;     /* (n_uses) */
	uint32_t *copy_next;         /* (n_uses) in its link's queue */
	uint32_t *copy_instant;      /* (n_uses) when it was needed */
	uint32_t n_copies;
	uint64_t copied_bytes;
	struct queue *link;          /* (k,k) */
	uint32_t *active;            /* (n_active) links with a queue */
	uint32_t n_active;
	uint32_t *use_copy;          /* (n_uses) */
	uint32_t *last_copy;         /* (k) newest copy to each device */

	uint32_t *home_refs;         /* (n_tensors) local consumers and copies not ended */
	uint32_t *copy_refs;         /* (n_uses) consumers of a copy that have not ended */
	uint64_t *live, *peak;       /* (k) bytes */
	uint32_t *freed;             /* (n_tensors + n_uses) */
	uint32_t n_freed;
};

struct sched *sched_new(const struct sched_dag *d, uint32_t k, const double *rank,
			enum sched_policy policy)
{
	struct sched *s = MEM_NEW(struct sched);

	s->d = d;
	s->k = k;
	ready_init(&s->ready, d->n, k, rank, policy);
	s->indegree = MEM_NEWN(uint32_t, d->n);
	s->pending = MEM_NEWN(uint32_t, d->n);
	s->copy = MEM_NEWN(struct sched_copy, d->n_uses);
	s->copy_next = MEM_NEWN(uint32_t, d->n_uses);
	s->copy_instant = MEM_NEWN(uint32_t, d->n_uses);
	s->link = MEM_NEWN(struct queue, (size_t)k * k);
	s->active = MEM_NEWN(uint32_t, (size_t)k * k);
	s->use_copy = MEM_NEWN(uint32_t, d->n_uses);
	s->last_copy = MEM_NEWN(uint32_t, k);
	s->home_refs = MEM_NEWN(uint32_t, d->n_tensors);
	s->copy_refs = MEM_NEWN(uint32_t, d->n_uses);
	s->live = MEM_NEWN(uint64_t, k);
	s->peak = MEM_NEWN(uint64_t, k);
	s->freed = MEM_NEWN(uint32_t, (size_t)d->n_tensors + d->n_uses);
	for (uint32_t v = 0; v < d->n; v++)
		s->indegree[v] = d->in_ptr[v + 1] - d->in_ptr[v];
	return s;
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	void *owned[] = {s->indegree, s->pending, s->copy, s->copy_next, s->copy_instant, s->link,
			 s->active, s->use_copy, s->last_copy, s->home_refs, s->copy_refs, s->live,
			 s->peak, s->freed, s->held, s->held_next};
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
	ready_release(&s->ready);
	mem_free(s);
}

void sched_hold(struct sched *s, const uint32_t *hold)
{
	uint32_t n = s->d->n;

	s->hold = hold;
	if (!hold)
		return;
	if (!s->held) {
		s->held = MEM_NEWN(uint32_t, n);
		s->held_next = MEM_NEWN(uint32_t, n);
	}
	for (uint32_t v = 0; v < n; v++)
		s->held[v] = SCHED_NONE;
	for (uint32_t v = 0; v < n; v++)
		if (hold[v] != SCHED_NONE) {
			s->held_next[v] = s->held[hold[v]];
			s->held[hold[v]] = v;
		}
}

void sched_begin(struct sched *s, const uint16_t *device)
{
	const struct sched_dag *d = s->d;

	s->device = device;
	s->n_left = d->n;
	s->instant = s->n_copies = s->n_active = s->n_freed = 0;
	s->copied_bytes = 0;
	if (d->n)
		memcpy(s->pending, s->indegree, d->n * sizeof(*s->pending));
	memset(s->live, 0, s->k * sizeof(*s->live));
	memset(s->peak, 0, s->k * sizeof(*s->peak));
	for (uint32_t i = 0; i < s->k; i++)
		s->last_copy[i] = SCHED_NONE;
	for (size_t i = 0; i < (size_t)s->k * s->k; i++)
		s->link[i].head = SCHED_NONE;
	ready_begin(&s->ready, device);
	for (uint32_t v = 0; v < d->n; v++) {
		s->pending[v] += s->hold && s->hold[v] != SCHED_NONE;
		if (!s->pending[v])
			ready_add(&s->ready, device[v], v, 0);
	}
}

/* ---- tasks ---- */

uint32_t sched_take_task(struct sched *s, uint32_t dev)
{
	uint32_t v = ready_take(&s->ready, dev);

	if (v != SCHED_NONE)
		for (uint32_t t = s->d->out_ptr[v]; t < s->d->out_ptr[v + 1]; t++)
			s->live[dev] += s->d->tensor_bytes[t];
	return v;
}

bool sched_has_task(const struct sched *s, uint32_t dev)
{
	return ready_any(&s->ready, dev);
}

/* One thing less that task v waits for. */
static void arrived(struct sched *s, uint32_t v)
{
	if (--s->pending[v] == 0)
		ready_add(&s->ready, s->device[v], v, s->instant);
}

/* ---- copies ---- */

/* First come, first served; at one instant by source, tensor, destination. */
static bool copy_before(const struct sched *s, uint32_t a, uint32_t b)
{
	const struct sched_copy *x = &s->copy[a], *y = &s->copy[b];
	uint32_t v, w;

	if (s->copy_instant[a] != s->copy_instant[b])
		return s->copy_instant[a] < s->copy_instant[b];
	if (x->tensor == y->tensor)
		return x->dst < y->dst;
	v = s->d->tensor_task[x->tensor];
	w = s->d->tensor_task[y->tensor];
	return v == w ? x->tensor < y->tensor : s->ready.pos[v] < s->ready.pos[w];
}

/* Most copies go to the tail; only those of one instant may have to pass each other. */
static void enqueue(struct sched *s, uint32_t c)
{
	uint32_t l = (uint32_t)s->copy[c].src * s->k + s->copy[c].dst, *next = s->copy_next;
	struct queue *q = &s->link[l];
	uint32_t before;

	next[c] = SCHED_NONE;
	if (q->head == SCHED_NONE) {
		*q = (struct queue){c, c, SCHED_NONE, s->instant};
		s->active[s->n_active++] = l;
		return;
	}
	if (q->instant != s->instant) {
		q->instant = s->instant;
		q->old = q->tail;
	}
	if (q->tail == q->old || copy_before(s, q->tail, c)) {
		next[q->tail] = c;
		q->tail = c;
		return;
	}
	before = q->old;
	if (before == SCHED_NONE && copy_before(s, c, q->head)) {
		next[c] = q->head;
		q->head = c;
		return;
	}
	if (before == SCHED_NONE)
		before = q->head;
	while (copy_before(s, next[before], c))
		before = next[before];
	next[c] = next[before];
	next[before] = c;
}

/* Take the first copy of active link number i. */
static uint32_t dequeue(struct sched *s, uint32_t i)
{
	struct queue *q = &s->link[s->active[i]];
	uint32_t c = q->head;

	q->head = s->copy_next[c];
	if (q->old == c)
		q->old = SCHED_NONE;
	if (q->head == SCHED_NONE)
		s->active[i] = s->active[--s->n_active];
	s->live[s->copy[c].dst] += s->d->tensor_bytes[s->copy[c].tensor];
	return c;
}

uint32_t sched_take_copy(struct sched *s, uint32_t src, uint32_t dst)
{
	for (uint32_t i = 0; i < s->n_active; i++)
		if (s->active[i] == src * s->k + dst)
			return dequeue(s, i);
	return SCHED_NONE;
}

uint32_t sched_take_any_copy(struct sched *s, const bool *link_busy, const bool *dev_busy)
{
	uint32_t best = SCHED_NONE;

	for (uint32_t i = 0; i < s->n_active; i++) {
		uint32_t l = s->active[i], c = s->link[l].head;

		if (link_busy && link_busy[l])
			continue;
		if (dev_busy && (dev_busy[s->copy[c].src] || dev_busy[s->copy[c].dst]))
			continue;
		if (best == SCHED_NONE || copy_before(s, c, s->link[s->active[best]].head))
			best = i;
	}
	return best == SCHED_NONE ? SCHED_NONE : dequeue(s, best);
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
			arrived(s, s->d->use_task[u]);
			continue;
		}
		c = s->last_copy[to];
		if (c == SCHED_NONE || c < first) {
			c = s->last_copy[to] = s->n_copies++;
			s->copy[c] = (struct sched_copy){t, (uint16_t)dev, (uint16_t)to};
			s->copy_instant[c] = s->instant;
			s->copy_refs[c] = 0;
			s->copied_bytes += d->tensor_bytes[t];
			refs++;
			enqueue(s, c);
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
	for (uint32_t v = s->hold ? s->held[task] : SCHED_NONE; v != SCHED_NONE; v = s->held_next[v])
		arrived(s, v);
}

void sched_copy_done(struct sched *s, uint32_t copy)
{
	const struct sched_copy *c = &s->copy[copy];

	for (uint32_t u = s->d->use_ptr[c->tensor]; u < s->d->use_ptr[c->tensor + 1]; u++)
		if (s->use_copy[u] == copy)
			arrived(s, s->d->use_task[u]);
	if (--s->home_refs[c->tensor] == 0)
		value_freed(s, c->tensor, c->src, c->tensor);
}

void sched_tick(struct sched *s)
{
	s->instant++;
	for (uint32_t i = 0; i < s->k; i++)
		if (s->live[i] > s->peak[i])
			s->peak[i] = s->live[i];
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

uint32_t sched_n_copies(const struct sched *s)
{
	return s->n_copies;
}

uint64_t sched_copied_bytes(const struct sched *s)
{
	return s->copied_bytes;
}
