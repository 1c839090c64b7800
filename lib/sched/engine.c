/* engine.c - memory for runs of one graph, and the graph by position. */
#include <string.h>

#include "sched/engine.h"

static size_t n_slots(const struct engine *e)
{
	return (size_t)e->d->n_tensors * e->k;
}

/* The part of a state that begins at *at, for n things of `size` bytes. */
static void *carve(char *base, size_t *at, size_t n, size_t size)
{
	char *part = base ? base + *at : NULL;

	*at += (n * size + 7) / 8 * 8;
	return part;
}

/* Pointers into the state; the first time, with no memory yet, its size. */
static void lay_out(struct engine *e)
{
	size_t servers = (size_t)e->k * e->k, at = 0;
	char *base = e->state;

	e->now = carve(base, &at, 1, sizeof(*e->now));
	e->end_s = carve(base, &at, servers, sizeof(*e->end_s));
	e->idle = carve(base, &at, e->n_words, sizeof(*e->idle));
	e->waiting = carve(base, &at, e->n_words, sizeof(*e->waiting));
	e->live = carve(base, &at, e->k, sizeof(*e->live));
	e->peak = carve(base, &at, e->k, sizeof(*e->peak));
	e->queue = carve(base, &at, servers, sizeof(*e->queue));
	e->doing = carve(base, &at, servers, sizeof(*e->doing));
	e->pending = carve(base, &at, e->d->n, sizeof(*e->pending));
	e->refs = carve(base, &at, n_slots(e), sizeof(*e->refs));
	e->next = carve(base, &at, n_slots(e), sizeof(*e->next));
	if (!e->c->overlap)
		e->needed_at = carve(base, &at, n_slots(e), sizeof(*e->needed_at));
	e->state_bytes = at;
}

/* Times of copies of each tensor on each link. */
static void table_copies(struct engine *e)
{
	uint32_t k = e->k;

	for (uint32_t t = 0; t < e->d->n_tensors; t++)
		for (uint32_t s = 0; s < k * k; s++)
			e->copy_s[(size_t)t * k * k + s] =
				sched_copy_s(&e->c->links, s / k, s % k, e->bytes[t]);
}

void engine_init(struct engine *e, const struct sched_dag *d, const struct sched_costs *c,
		 struct timeline *t, bool keep)
{
	uint32_t k = c->links.k, n = d->n;

	*e = (struct engine){.d = d, .c = c, .k = k, .few = k <= FEW, .t = t, .keep = keep};
	e->n_words = (uint32_t)(((size_t)k * k + 63) / 64);
	e->n_in = MEM_NEWN(uint32_t, n);
	e->root = MEM_NEWN(uint32_t, n);
	e->in_ptr = MEM_NEWN(uint32_t, (size_t)n + 1);
	e->in_tensor = MEM_NEWN(uint32_t, d->n_uses);
	e->out_ptr = MEM_NEWN(uint32_t, (size_t)n + 1);
	e->out_bytes = MEM_NEWN(uint64_t, n);
	e->use_ptr = MEM_NEWN(uint32_t, (size_t)d->n_tensors + 1);
	e->use = MEM_NEWN(uint32_t, d->n_uses);
	e->bytes = MEM_NEWN(uint64_t, d->n_tensors);
	e->tensor_at = MEM_NEWN(uint32_t, d->n_tensors);
	e->maker = MEM_NEWN(uint32_t, d->n_tensors);
	e->held = MEM_NEWN(uint32_t, n);
	e->held_next = MEM_NEWN(uint32_t, n);
	e->dev = MEM_NEWN(uint16_t, n);
	e->cost_s = MEM_NEWN(double, n);
	e->sum_s = MEM_NEWN(double, 4 * (size_t)k);
	lay_out(e);
	e->state = mem_alloc(e->state_bytes, 1);
	lay_out(e);
	if (k <= FEW_TABLED)
		e->copy_s = MEM_NEWN(double, (size_t)d->n_tensors * k * k);
	if (keep)
		e->copy_of = MEM_NEWN(uint32_t, n_slots(e));
	e->heap = MEM_NEWN(struct event, (size_t)d->n_uses + k + 1);
	double *none = MEM_NEWN(double, n);
	ready_init(&e->ready, n, k, none, c->policy);
	mem_free(none);
}

void engine_release(struct engine *e)
{
	void *owned[] = {e->n_in, e->root, e->in_ptr, e->in_tensor, e->out_ptr, e->out_bytes, e->use_ptr,
			 e->use, e->bytes, e->tensor_at, e->maker, e->held, e->held_next, e->dev,
			 e->cost_s, e->sum_s, e->state, e->copy_s, e->copy_of, e->heap};

	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
	ready_release(&e->ready);
}

/* Tensors and their consumers, in the order of their tasks. */
static void number_tensors(struct engine *e)
{
	const struct sched_dag *d = e->d;
	uint32_t tensor = 0, use = 0;

	for (uint32_t p = 0; p < d->n; p++) {
		uint32_t v = e->ready.task_at[p];

		e->out_ptr[p] = tensor;
		e->out_bytes[p] = 0;
		for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++, tensor++) {
			e->tensor_at[tensor] = t;
			e->maker[tensor] = p;
			e->bytes[tensor] = d->tensor_bytes[t];
			e->out_bytes[p] += d->tensor_bytes[t];
			e->use_ptr[tensor] = use;
			for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++)
				e->use[use++] = e->ready.pos[d->use_task[u]];
		}
	}
	e->out_ptr[d->n] = tensor;
	e->use_ptr[tensor] = use;
}

/* What each task reads; tensors ascending. */
static void list_inputs(struct engine *e)
{
	const struct sched_dag *d = e->d;
	uint32_t *at = e->held_next;     /* not in use yet */

	e->in_ptr[0] = 0;
	for (uint32_t p = 0; p < d->n; p++) {
		uint32_t v = e->ready.task_at[p];

		e->n_in[p] = d->in_ptr[v + 1] - d->in_ptr[v];
		at[p] = e->in_ptr[p];
		e->in_ptr[p + 1] = e->in_ptr[p] + e->n_in[p];
	}
	for (uint32_t t = 0; t < d->n_tensors; t++)
		for (uint32_t u = e->use_ptr[t]; u < e->use_ptr[t + 1]; u++)
			e->in_tensor[at[e->use[u]]++] = t;
}

static void list_holds(struct engine *e)
{
	const uint32_t *pos = e->ready.pos;

	for (uint32_t p = 0; p < e->d->n; p++)
		e->held[p] = SCHED_NONE;
	for (uint32_t v = 0; v < e->d->n; v++)
		if (e->hold[v] != SCHED_NONE) {
			e->n_in[pos[v]]++;
			e->held_next[pos[v]] = e->held[pos[e->hold[v]]];
			e->held[pos[e->hold[v]]] = pos[v];
		}
}

void engine_order(struct engine *e, const double *rank, const uint32_t *hold)
{
	ready_rank(&e->ready, rank);
	number_tensors(e);
	list_inputs(e);
	e->hold = hold;
	if (hold)
		list_holds(e);
	e->n_roots = 0;
	for (uint32_t p = 0; p < e->d->n; p++)
		if (e->n_in[p] == 0)
			e->root[e->n_roots++] = p;
	if (e->copy_s)
		table_copies(e);
}
