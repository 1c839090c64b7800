/* pieces_order.c - items by the edges between them. */
#include <string.h>

#include "base/rng.h"
#include "place/pieces_parts.h"

void pieces_reverse_edges(struct pieces *p, struct arena *a)
{
	p->pred_ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 2);
	p->pred = ARENA_NEWN(a, uint32_t, p->succ_ptr[p->n]);
	for (uint32_t j = 0; j < p->succ_ptr[p->n]; j++)
		p->pred_ptr[p->succ[j] + 2]++;
	for (uint32_t i = 0; i < p->n; i++)
		p->pred_ptr[i + 2] += p->pred_ptr[i + 1];
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t j = p->succ_ptr[i]; j < p->succ_ptr[i + 1]; j++)
			p->pred[p->pred_ptr[p->succ[j] + 1]++] = i;
}

void pieces_order(struct pieces *p, bool later, struct arena *a)
{
	const struct sched_dag *d = &p->u->m->tasks.dag;
	uint32_t *ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 2), *next = MEM_NEWN(uint32_t, d->n);
	uint32_t *head = MEM_NEWN(uint32_t, p->n), *seen = MEM_NEWN(uint32_t, p->n), m = 0;

	p->succ_ptr = ptr;
	p->succ = ARENA_NEWN(a, uint32_t, d->n_uses);
	memset(head, 0xff, p->n * sizeof(*head));
	for (uint32_t t = d->n; t-- > 0;) {
		uint32_t i = pieces_item(p, t);

		next[t] = head[i];
		head[i] = t;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		for (uint32_t t = head[i]; t != UINT32_MAX; t = next[t])
			for (uint32_t j = d->use_ptr[d->out_ptr[t]]; j < d->use_ptr[d->out_ptr[t + 1]]; j++) {
				uint32_t to = pieces_item(p, d->use_task[j]);
				bool back = later && pieces_unit(p,
								 d->use_task[j]) < pieces_unit(p,
											       t);

				if (to == i || back || seen[to] == i + 1)
					continue;
				seen[to] = i + 1;
				p->succ[m++] = to;
			}
		ptr[i + 1] = m;
	}
	pieces_reverse_edges(p, a);
	mem_free(next);
	mem_free(head);
	mem_free(seen);
}

bool pieces_in_circle(const struct pieces *p)
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
void pieces_depth_first(const struct pieces *p, uint64_t seed, uint32_t *order)
{
	struct rng_addr rng = {seed, 0, 0, RNG_SEARCH + 32};
	uint32_t n = p->n, n_order = 0, n_stack, n_roots = 0, drawn = 0;
	uint32_t *at = mem_copy(p->pred_ptr, (size_t)n + 1,
				sizeof(*at)), *stack = MEM_NEWN(uint32_t, n);
	uint32_t *pred = mem_copy(p->pred, p->pred_ptr[n],
				  sizeof(*pred)), *root = MEM_NEWN(uint32_t, n);
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
