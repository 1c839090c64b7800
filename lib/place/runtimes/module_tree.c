/* module_tree.c - see module_tree.h. */
#include "place/runtimes/module_tree.h"

#include <string.h>

#include "graph/module_name.h"

struct planting {
	struct module_tree *t;
	struct strtab paths;
	size_t cap;
	struct arena *a;
};

/* The module of a path, and those that it is in: one call, and one copy of what is before, for each of its parts. */
static uint32_t plant(struct planting *p, const char *path)
{
	uint32_t at = strtab_find(&p->paths, path), up = GRAPH_NONE;

	if (at != UINT32_MAX)
		return at;
	if (*path) {
		const char *dot = strrchr(path, '.');

		up = plant(p, arena_strndup(p->a, path, dot ? (size_t)(dot - path) : 0));
	}
	at = strtab_add(&p->paths, path);
	p->t->x = mem_grow(p->t->x, &p->cap, at + 1, sizeof *p->t->x);
	p->t->n = at + 1;
	struct module *x = p->t->x;

	size_t layer = module_layer(path);
	x[at] = (struct module){
		up, GRAPH_NONE, GRAPH_NONE, GRAPH_NONE, 0, 0, layer > 0 && !path[layer]};
	if (up == GRAPH_NONE)
		return at;
	if (x[up].child == GRAPH_NONE)
		x[up].child = at;
	else
		x[x[up].last].next = at;
	x[up].last = at;
	return at;
}

/* All but what is deeper than any model: the tree's memory grows with the square of the parts. */
static const char *limit_parts(const char *path, struct arena *a)
{
	enum { MOST_PARTS = 64 };
	size_t n = 0;

	for (uint32_t parts = 1; path[n] && (path[n] != '.' || parts++ < MOST_PARTS);)
		n++;
	return path[n] ? arena_strndup(a, path, n) : path;
}

void module_tree_init(struct module_tree *t, const struct runtime_rule *x)
{
	struct planting p = {.t = t, .a = x->r->a};

	*t = (struct module_tree){.of_unit = MEM_NEWN(uint32_t, x->u.n)};
	plant(&p, "");
	for (uint32_t i = 0; i < x->u.n; i++) {
		uint32_t at = t->of_unit[i] = plant(&p, limit_parts(x->path[i], p.a));

		t->x[at].own += x->weights[i];
		for (; at != GRAPH_NONE; at = t->x[at].up)
			t->x[at].bytes += x->weights[i];
	}
	strtab_release(&p.paths);
}

void module_tree_release(struct module_tree *t)
{
	mem_free(t->x);
	mem_free(t->of_unit);
}

bool module_within(const struct module_tree *t, uint32_t i, uint32_t in)
{
	while (i != GRAPH_NONE && i != in)
		i = t->x[i].up;
	return i == in;
}
