/* splits_order.c - items by the edges between them. */
#include <string.h>

#include "graph/rows.h"
#include "place/search/random_stream.h"
#include "place/dnnpart/splits_impl.h"

void splits_reverse_edges(struct splits *p, struct arena *a)
{
	p->pred_ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 2);
	p->pred = ARENA_NEWN(a, uint32_t, p->succ_ptr[p->n]);
	rows_reverse(p->succ_ptr, p->succ, p->n, p->pred_ptr, p->pred);
}

/* ---- edges ---- */

struct edges {
	struct splits *p;
	uint32_t *seen; /* (items) 1 + the last item with an edge to it */
	uint32_t item, m;
};

static void add_edge(struct edges *x, uint32_t to)
{
	if (to == x->item || x->seen[to] == x->item + 1)
		return;
	x->seen[to] = x->item + 1;
	x->p->succ[x->m++] = to;
}

static bool is_backward(const struct splits *p, uint32_t task)
{
	const struct graph_tasks *t = &p->u->m->tasks;

	return p->fold == FOLD_MIRROR &&
	       p->u->m->g->kind[t->task_node[t->task_ptr[task]]] == OP_BACKWARD;
}

/* From an item's task, by what reads its tensors. */
static void add_forward(struct edges *x, uint32_t t)
{
	const struct splits *p = x->p;
	const struct sched_dag *d = &p->u->m->tasks.dag;

	for (uint32_t j = d->use_ptr[d->out_ptr[t]]; j < d->use_ptr[d->out_ptr[t + 1]]; j++) {
		uint32_t to = d->use_task[j];

		if (!is_backward(p, to) &&
		    (p->fold != FOLD_LATER || splits_unit(p, to) >= splits_unit(p, t)))
			add_edge(x, splits_item(p, to));
	}
}

/* From an item's backward task to the backward ones that it reads from. */
static void add_mirrored(struct edges *x, uint32_t t)
{
	const struct sched_dag *d = &x->p->u->m->tasks.dag;

	for (uint32_t i = d->in_ptr[t]; i < d->in_ptr[t + 1]; i++) {
		uint32_t from = d->tensor_task[d->use_tensor[d->in_use[i]]];

		if (is_backward(x->p, from))
			add_edge(x, splits_item(x->p, from));
	}
}

void splits_order(struct splits *p, struct arena *a)
{
	const struct sched_dag *d = &p->u->m->tasks.dag;
	uint32_t *next = MEM_NEWN(uint32_t, d->n), *head = MEM_NEWN(uint32_t, p->n);
	struct edges x = {.p = p, .seen = MEM_NEWN(uint32_t, p->n)};

	p->succ_ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 2);
	p->succ = ARENA_NEWN(a, uint32_t, d->n_uses);
	memset(head, 0xff, p->n * sizeof(*head));
	for (uint32_t t = d->n; t-- > 0;) {
		uint32_t i = splits_item(p, t);

		next[t] = head[i];
		head[i] = t;
	}
	for (x.item = 0; x.item < p->n; x.item++) {
		for (uint32_t t = head[x.item]; t != UINT32_MAX; t = next[t])
			(is_backward(p, t) ? add_mirrored : add_forward)(&x, t);
		p->succ_ptr[x.item + 1] = x.m;
	}
	splits_reverse_edges(p, a);
	mem_free(next);
	mem_free(head);
	mem_free(x.seen);
}

bool splits_in_circle(const struct splits *p)
{
	uint32_t *left = MEM_NEWN(uint32_t, p->n), *order = MEM_NEWN(uint32_t, p->n), n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		left[i] = p->pred_ptr[i + 1] - p->pred_ptr[i];
		if (left[i] == 0)
			order[n++] = i;
	}
	for (uint32_t at = 0; at < n; at++)
		for (uint32_t j = p->succ_ptr[order[at]]; j < p->succ_ptr[order[at] + 1]; j++)
			if (--left[p->succ[j]] == 0)
				order[n++] = p->succ[j];
	mem_free(left);
	mem_free(order);
	return n < p->n;
}

static void shuffle(struct rng_addr *rng, uint32_t *at, uint32_t *x, uint32_t n)
{
	for (; n > 1; n--) {
		uint32_t j = rng_below(rng, (*at)++, n), t = x[n - 1];

		x[n - 1] = x[j];
		x[j] = t;
	}
}

/* Postorder along edges backwards: every unit right behind what it needs. */
void splits_depth_first(const struct splits *p, uint64_t seed, uint32_t *order)
{
	struct rng_addr rng = {seed, 0, 0, RNG_SEARCH + RANDOM_CHAINS};
	uint32_t n = p->n, n_order = 0, n_stack, n_roots = 0, drawn = 0;
	uint32_t *at = mem_copy(p->pred_ptr, (size_t)n + 1, sizeof(*at));
	uint32_t *pred = mem_copy(p->pred, p->pred_ptr[n], sizeof(*pred));
	uint32_t *stack = MEM_NEWN(uint32_t, n), *root = MEM_NEWN(uint32_t, n);
	bool *seen = MEM_NEWN(bool, n);

	for (uint32_t i = 0; i < n; i++)
		if (p->succ_ptr[i] == p->succ_ptr[i + 1])
			root[n_roots++] = i;
	if (seed) {
		shuffle(&rng, &drawn, root, n_roots);
		for (uint32_t i = 0; i < n; i++)
			shuffle(&rng, &drawn, pred + p->pred_ptr[i],
				p->pred_ptr[i + 1] - p->pred_ptr[i]);
	}
	for (uint32_t r = 0; r < n_roots; r++) {
		seen[root[r]] = true;
		stack[0] = root[r];
		n_stack = 1;
		while (n_stack) {
			uint32_t v = stack[n_stack - 1];

			while (at[v] < p->pred_ptr[v + 1] && seen[pred[at[v]]])
				at[v]++;
			if (at[v] == p->pred_ptr[v + 1]) {
				order[n_order++] = v;
				n_stack--;
			} else {
				seen[pred[at[v]]] = true;
				stack[n_stack++] = pred[at[v]];
			}
		}
	}
	void *own[] = {at, stack, pred, root, seen};
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		mem_free(own[i]);
}
