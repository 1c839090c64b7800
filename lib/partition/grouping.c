/* grouping.c - the table of groupings, and what is done around each: nodes that stay together
 * become one, groups in circles are taken apart, large ones are cut, missing ones are made by
 * halving. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/grouprec.h"
#include "graph/graph.h"
#include "partition/grouping.h"

const struct group_method group_methods[] = {
	{"metis", "METIS, k-way: equal weights, few bytes between groups",
	 "Karypis, Kumar, SIAM J. Sci. Computing 20(1), 1998", group_metis},
	{"metis-recursive", "METIS by recursive bisection",
	 "Karypis, Kumar, SIAM J. Sci. Computing 20(1), 1998", group_metis_recursive},
	{"scotch", "Scotch: dual recursive bipartitioning, then k-way refinement",
	 "Pellegrini, Roman, HPCN Europe 1996", group_scotch},
	{"random", "every node in any group", "Mirhoseini et al., ICLR 2018, for comparison",
	 group_random},
	{"chunks", "stretches of the topological order, of equal weights", "-", group_chunks},
	{"heavy-edge", "contract the edges that carry most, round by round",
	 "Karypis, Kumar, 1998, section 3.1, heavy-edge matching", group_heavy_edge},
	{"none", "every node by itself", "-", NULL},
	{0},
};

const struct group_method *group_method_find(const char *name, struct err *e)
{
	for (const struct group_method *x = group_methods; x->name; x++)
		if (strcmp(x->name, name) == 0)
			return x;
	struct err_near near = {.name = name};
	for (const struct group_method *x = group_methods; x->name; x++)
		err_offer(&near, x->name);
	err_unknown(e, ST_USAGE, &near, "--list has them", "unknown method '%s'", name);
	return NULL;
}

/* ---- nodes that stay together ---- */

/* What the methods group: classes of nodes. */
struct items {
	struct group_graph g; /* of items */
	uint32_t *of;         /* (n of the graph given) */
	uint32_t *size;       /* (g.n) */
};

struct item_order {
	uint32_t circle, item;
};

static int by_circle(const void *pa, const void *pb)
{
	const struct item_order *a = pa, *b = pb;

	if (a->circle != b->circle)
		return a->circle < b->circle ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

/* Renumber n items in a topological order; items on one circle are neighbours in it or, when they
 * are to be joined, one.  Returns how many are left. */
static uint32_t order_items(struct items *x, uint32_t n_nodes, bool join, struct arena *a)
{
	uint32_t n = x->g.n, *number = ARENA_NEWN(a, uint32_t, n);
	const struct digraph d = {.n = n, .m = x->g.m, .src = x->g.src, .dst = x->g.dst};
	uint32_t n_circles = digraph_components(&d, number);

	if (!join) {
		struct item_order *p = ARENA_NEWN(a, struct item_order, n);

		for (uint32_t i = 0; i < n; i++)
			p[i] = (struct item_order){number[i], i};
		if (n > 1)
			qsort(p, n, sizeof(*p), by_circle);
		for (uint32_t i = 0; i < n; i++)
			number[p[i].item] = i;
		n_circles = n;
	}
	for (uint32_t v = 0; v < n_nodes; v++)
		x->of[v] = number[x->of[v]];
	return n_circles;
}

/* Returns how many nodes were joined because of circles. */
static uint32_t items_init(struct items *x, const struct group_graph *g, const uint32_t *together,
			   bool join, struct arena *a)
{
	uint32_t n_items = g->n, n;

	*x = (struct items){.g = *g};
	x->of = ARENA_NEWN(a, uint32_t, g->n);
	for (uint32_t v = 0; v < g->n; v++)
		x->of[v] = together ? together[v] : v;
	if (together) {
		n_items = group_number(x->of, g->n);
		group_contract(g, x->of, n_items, a, &x->g);
	}
	n = n_items;
	if (!x->g.ordered) {
		n = order_items(x, g->n, join, a);
		group_contract(g, x->of, n, a, &x->g);
	}
	x->size = ARENA_NEWN(a, uint32_t, n);
	for (uint32_t v = 0; v < g->n; v++)
		x->size[x->of[v]]++;
	return n_items - n;
}

/* ---- groups of items ---- */

struct groups {
	const struct items *items;
	uint32_t n, *of; /* of (items) */
	double *weight;  /* by group; scratch, of at least n */
	uint32_t *size, *n_items;
};

static void measure_groups(struct groups *x)
{
	const struct group_graph *g = &x->items->g;

	memset(x->weight, 0, x->n * sizeof(*x->weight));
	memset(x->size, 0, x->n * sizeof(*x->size));
	memset(x->n_items, 0, x->n * sizeof(*x->n_items));
	for (uint32_t i = 0; i < g->n; i++) {
		x->weight[x->of[i]] += g->weight[i];
		x->size[x->of[i]] += x->items->size[i];
		x->n_items[x->of[i]]++;
	}
}

/* A stretch of a group that is being cut. */
struct stretch {
	uint32_t group, size;
	double held;
	uint8_t *mask; /* (k) devices that can run all of it */
};

/* An item that may join a stretch. */
struct cut_item {
	uint32_t size;
	double held;
	const uint8_t *mask; /* (k) */
};

/* What devices can run all nodes of item i, of k; what none can run goes anywhere. */
static void item_masks(const struct groups *x, const struct group_options *o, uint32_t n_nodes,
		       uint8_t *mask)
{
	const struct items *t = x->items;

	memset(mask, 1, (size_t)t->g.n * o->k);
	for (uint32_t v = 0; o->mask && v < n_nodes; v++)
		for (uint32_t d = 0; d < o->k; d++)
			mask[(size_t)t->of[v] * o->k + d] &= o->mask[(size_t)v * o->k + d];
	for (uint32_t i = 0; i < t->g.n; i++)
		if (!memchr(mask + (size_t)i * o->k, 1, o->k))
			memset(mask + (size_t)i * o->k, 1, o->k);
}

static bool has_room(const struct group_options *o, uint32_t dev, double held)
{
	return !o->held || held <= o->room[dev];
}

/* Adds the item to the stretch if it still fits: within max_size, and some device can run and hold
 * all of it.  An empty stretch takes any item. */
static bool extend_stretch(struct stretch *s, const struct cut_item *x,
			   const struct group_options *o)
{
	bool fits = s->size == 0 || o->k == 0;

	if (s->size && o->max_size && s->size + (uint64_t)x->size > o->max_size)
		return false;
	for (uint32_t d = 0; d < o->k; d++)
		fits |= s->mask[d] && x->mask[d] && has_room(o, d, s->held + x->held);
	if (!fits)
		return false;
	for (uint32_t d = 0; d < o->k; d++)
		s->mask[d] = s->size == 0 ? x->mask[d] : s->mask[d] & x->mask[d];
	s->size += x->size;
	s->held += x->held;
	return true;
}

/* Is there no device that can run the item and has room for it? */
static bool fits_nowhere(const struct cut_item *x, const struct group_options *o)
{
	bool fits = o->k == 0;

	for (uint32_t d = 0; d < o->k; d++)
		fits |= x->mask[d] && has_room(o, d, x->held);
	return !fits;
}

/* Cut groups of more than max_size nodes, and those that no device can run and has room for, into
 * stretches of the topological order, which closes no circle.  Returns how many items fit
 * nowhere; each is a group. */
static uint32_t cut_groups(struct groups *x, const struct group_options *o, uint32_t n_nodes,
			   struct arena *a)
{
	const struct items *t = x->items;
	uint32_t n = t->g.n, k = o->k, n_nowhere = 0;
	struct stretch *s = ARENA_NEWN(a, struct stretch, x->n);
	uint8_t *mask = ARENA_NEWN(a, uint8_t, (size_t)n * k);
	double *held = ARENA_NEWN(a, double, n);

	item_masks(x, o, n_nodes, mask);
	for (uint32_t v = 0; o->held && v < n_nodes; v++)
		held[t->of[v]] += o->held[v];
	for (uint32_t i = 0; i < x->n; i++)
		s[i] = (struct stretch){.group = i, .mask = ARENA_NEWN(a, uint8_t, k)};
	for (uint32_t i = 0; i < n; i++) {
		struct stretch *y = &s[x->of[i]];
		const struct cut_item item = {t->size[i], held[i], mask + (size_t)i * k};

		if (!extend_stretch(y, &item, o)) {
			y->group = x->n++;
			y->size = 0;
			y->held = 0;
			extend_stretch(y, &item, o);
		}
		x->of[i] = y->group;
		n_nowhere += fits_nowhere(&item, o);
	}
	return n_nowhere;
}

struct heavy {
	double weight;
	uint32_t group;
};

static int heavier_first(const void *pa, const void *pb)
{
	const struct heavy *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

/* Halve the heaviest groups along the topological order until there are `wanted`. */
static void halve_heaviest(struct groups *x, uint32_t wanted, struct arena *a)
{
	uint32_t n = x->items->g.n, *other_half = ARENA_NEWN(a, uint32_t, n);
	uint32_t *passed = ARENA_NEWN(a, uint32_t, n);
	struct heavy *order = ARENA_NEWN(a, struct heavy, n);
	double *half = ARENA_NEWN(a, double, n);

	while (x->n < wanted) {
		uint32_t n_order = 0, n_before = x->n;

		measure_groups(x);
		for (uint32_t i = 0; i < x->n; i++) {
			other_half[i] = UINT32_MAX;
			passed[i] = 0;
			half[i] = 0;
			if (x->n_items[i] > 1)
				order[n_order++] = (struct heavy){x->weight[i], i};
		}
		if (n_order > 1)
			qsort(order, n_order, sizeof(*order), heavier_first);
		/* Half of them at most, so that halves of heavy ones come before light ones. */
		for (uint32_t i = 0; i < (n_order + 1) / 2 && x->n < wanted; i++)
			other_half[order[i].group] = x->n++;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t old = x->of[i];

			if (other_half[old] == UINT32_MAX)
				continue;
			double all = x->weight[old] > 0 ? x->weight[old] : x->n_items[old];
			double w = x->weight[old] > 0 ? x->items->g.weight[i] : 1;

			if (passed[old] &&
			    (passed[old] + 1 == x->n_items[old] || half[old] + w / 2 > all / 2))
				x->of[i] = other_half[old];
			half[old] += w;
			passed[old]++;
		}
		if (x->n == n_before)
			break;
	}
}

static uint32_t count_large(struct groups *x, uint32_t max_size)
{
	uint32_t n = 0;

	measure_groups(x);
	for (uint32_t i = 0; max_size && i < x->n; i++)
		n += x->size[i] > max_size;
	return n;
}

/* ---- all of it ---- */

static uint32_t how_many(const struct group_options *o, uint32_t n_nodes, uint32_t n_items)
{
	uint32_t least = o->max_size ? n_nodes / o->max_size + (n_nodes % o->max_size > 0) : 0;
	uint32_t n = o->n_groups ? o->n_groups : least ? least : (uint32_t)ceil(sqrt(n_items));

	n = n < least ? least : n;
	return n < n_items ? n : n_items;
}

/* The method's own groups, without empty ones. */
static int first_groups(const struct group_method *method, struct groups *x, uint32_t n_nodes,
			uint32_t wanted, const struct group_options *o, struct err *e)
{
	const struct items *items = x->items;
	struct group_task t = {.g = &items->g,
			       .size = items->size,
			       .n_groups = wanted,
			       .max_size = o->max_size,
			       .seed = o->seed,
			       .group = x->of};

	for (uint32_t i = 0; i < items->g.n; i++)
		x->of[i] = wanted == 1 ? 0 : i;
	for (uint32_t v = n_nodes; o->fixed && v-- > 0;) /* the first node decides for an item */
		x->of[items->of[v]] = o->fixed[v];
	if (!o->fixed && method->run && wanted > 1 && wanted < items->g.n && method->run(&t, e) < 0)
		return -1;
	x->n = group_number(x->of, items->g.n);
	return 0;
}

int group_make(const struct group_method *method, const struct group_graph *g,
	       const struct group_options *o, uint32_t *group, struct group_told *told,
	       struct err *e)
{
	struct arena *a = arena_new();
	struct items items;
	uint32_t wanted, n;

	*told = (struct group_told){0};
	told->joined = items_init(&items, g, o->together, o->acyclic, a);
	n = items.g.n;
	wanted = o->fixed ? 0 : method->run ? how_many(o, g->n, n) : n;
	struct groups x = {.items = &items,
			   .of = ARENA_NEWN(a, uint32_t, n),
			   .weight = ARENA_NEWN(a, double, n),
			   .size = ARENA_NEWN(a, uint32_t, n),
			   .n_items = ARENA_NEWN(a, uint32_t, n)};
	int rc = first_groups(method, &x, g->n, wanted, o, e);

	if (rc == 0 && o->acyclic) {
		told->moved = group_acyclic(&items.g, x.n, x.of);
		x.n = group_number(x.of, n);
	}
	uint32_t before = x.n;
	if (rc == 0)
		told->no_room = cut_groups(&x, o, g->n, a);
	told->capped = x.n - before;
	before = x.n;
	if (rc == 0)
		halve_heaviest(&x, wanted, a);
	told->filled = x.n - before;
	told->over = rc == 0 ? count_large(&x, o->max_size) : 0;
	for (uint32_t v = 0; rc == 0 && v < g->n; v++)
		group[v] = x.of[items.of[v]];
	told->n_groups = rc == 0 ? group_number(group, g->n) : 0;
	arena_free(a);
	return rc;
}
