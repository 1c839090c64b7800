/* shapes_probe.c - what follows of shapes where inputs have open dims.
 *
 * Shapes may depend on values that depend on open dims: a key is broadcast to (1, 4, 3, past + 8, 64), of which
 * one number alone is unknown.  So the graph is walked several times, each time with other sizes for all open
 * dims of its inputs and variables.  A dim that comes out the same each time does not depend on them, and is known.
 *
 * The first two sizes have many divisors, as a Reshape may divide them.  The next two show what only large sizes have in
 * common, as max(0, 128 - length), the next what only their divisors do, as the remainder of a division by 4.  In these all open dims have one size, because often they must be equal, as rows of a cache and of
 * what is appended.  In the last two each has its own, once more and once less than the one before, for what is known only if they are equal: a
 * difference of two lengths is no constant.  Where these cannot be walked on, as sizes must be equal, they have no say. */
#include "dynamic/shapes_impl.h"
#include "base/mem.h"

enum { LARGE = 2, OTHERS = 4, ONE_SIZE = LARGE + OTHERS, MORE = ONE_SIZE, LESS, N_SIZES };
static const int64_t SIZE[ONE_SIZE] = {55440, 65520, 0, 1, 30011, 18};

void shapes_fill(struct shapes *s, struct tensor *t)
{
	enum { STEP = 5040, LEAST = 11, MOST = 1000000 };
	int k = s->size_of_probe;
	for (uint32_t d = 0; k >= 0 && t->rank != RANK_DYNAMIC && d < t->rank; d++) {
		int64_t i = s->n_open;
		if (t->dim[d] >= 0)
			continue;
		s->n_open++;
		t->dim[d] = k < ONE_SIZE ? SIZE[k] : STEP * (k == MORE ? LEAST + i : MOST - i);
	}
}

static bool is_open(const struct tensor *t)
{
	for (uint32_t d = 0; t->rank != RANK_DYNAMIC && d < t->rank; d++)
		if (t->dim[d] < 0)
			return true;
	return false;
}

bool shapes_open(const struct shapes *s)
{
	for (uint32_t v = 0; v < s->g->n; v++)
		if (s->op[v].kind == OP_PARAMETER && is_open(&s->h.value[s->g->out_ptr[v]]))
			return true;
	for (uint32_t i = 0; s->given && i < s->given->n; i++)
		for (uint32_t d = 0; d < s->given->v[i].rank; d++)
			if (s->given->v[i].dim[d] < 0)
				return true;
	return false;
}

static struct shapes *walk_with(const struct shapes *s, int k, shapes_walk_fn *walk)
{
	struct err none = ERR_INIT;
	struct shapes *x = shapes_new(s->g, s->h.weights, s->h.weights_bytes, s->h.ctx, &none);
	if (!x)
		return NULL;
	x->given = s->given;
	x->grown = s->grown;
	x->size_of_probe = k;
	for (uint32_t v = 0; v < s->g->n; v++) {
		struct tensor t = s->h.value[s->g->out_ptr[v]];
		if (s->op[v].kind != OP_PARAMETER)
			continue;
		t.data = NULL;
		shapes_fill(x, &t);
		host_values_set(&x->h, s->g->out_ptr[v], &t);
	}
	if (walk(x, &none) == 0)
		return x;
	shapes_free(x);
	return NULL;
}

void shapes_probe(struct shapes *s, shapes_walk_fn *walk)
{
	if (!shapes_open(s))
		return;
	s->probe = MEM_NEWN(struct shapes *, N_SIZES);
	while (s->n_probes < N_SIZES && (s->probe[s->n_probes] = walk_with(s, s->n_probes, walk)))
		s->n_probes++;
	if (s->n_probes < N_SIZES)
		shapes_free_probes(s);
}

/* The shape that all sizes agree on, with open dims where they do not; false: they say nothing. */
static bool agreed(const struct shapes *s, uint32_t o, struct tensor *t)
{
	int others = 0;
	for (int k = 0; k < N_SIZES; k++) {
		const struct tensor *one = &s->probe[k]->h.value[o];
		if (!shape_known(one) && k < LARGE)
			return false;
		if (!shape_known(one))
			continue;
		*t = k == 0 ? *one : shape_common(t, one);
		others += k >= LARGE && k < ONE_SIZE;
	}
	t->data = NULL;
	return others > 0 && t->rank != RANK_DYNAMIC;
}

void shapes_agree(struct shapes *s, uint32_t v)
{
	for (uint32_t o = s->g->out_ptr[v]; s->probe && o < s->g->out_ptr[v + 1]; o++) {
		struct tensor *now = &s->h.value[o], t;
		if (shape_known(now) || now->data || !agreed(s, o, &t) ||
		    (now->rank != RANK_DYNAMIC && now->rank != t.rank))
			continue;
		if (now->rank == RANK_DYNAMIC)
			now->rank = t.rank;
		else
			for (uint32_t d = 0; d < t.rank; d++)
				t.dim[d] = now->dim[d] < 0 ? t.dim[d] : now->dim[d];
		for (uint32_t d = 0; d < t.rank; d++)
			now->dim[d] = t.dim[d];
	}
}
