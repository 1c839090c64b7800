/* rejoin.c - operations become whole again whose parts were placed on one device. */
#include <string.h>

#include "base/pairmap.h"
#include "graph/strtab.h"
#include "split/sets.h"
#include "split/split_graph.h"

enum { ANYWHERE = UINT16_MAX }; /* the device of what is not placed */

struct rejoin {
	const struct graph *whole, *cut;
	const uint16_t *device; /* of sets of `cut` */
	uint32_t ways;
	uint32_t *part; /* (nodes of whole, ways) rows in `cut`; GRAPH_NONE: there is none */
	uint16_t *home; /* (nodes of whole) where one is that was whole, or becomes whole */
	uint8_t *
		beside; /* (nodes of whole) the part with which one was that was whole, as plans have it */
	struct pairmap rows; /* identifier, 0 -> row in whole */
	struct strtab names; /* of `cut`, with their rows */
	uint32_t *row;
};

static uint16_t device_of(const struct rejoin *x, uint32_t v)
{
	return v == GRAPH_NONE || x->cut->set[v] == GRAPH_NONE ? ANYWHERE
							       : x->device[x->cut->set[v]];
}

/* The row in the whole of a node that is no part; GRAPH_NONE: it was added. */
static uint32_t whole_row(const struct rejoin *x, const struct graph *g, uint32_t v)
{
	const uint64_t *row = pairmap_get(&x->rows, (uint64_t)g->id[v], 0);
	return row ? (uint32_t)*row : GRAPH_NONE;
}

static void index_nodes(struct rejoin *x)
{
	const struct graph *g = x->cut;
	size_t n_parts = (size_t)x->whole->n * x->ways;
	x->part = MEM_NEWN(uint32_t, n_parts);
	x->home = MEM_NEWN(uint16_t, x->whole->n);
	x->row = MEM_NEWN(uint32_t, g->n);
	x->beside = MEM_NEWN(uint8_t, x->whole->n);
	memset(x->part, 0xff, n_parts * sizeof *x->part);
	memset(x->beside, SPLIT_NO_HOME, x->whole->n);
	for (uint32_t w = 0; w < x->whole->n; w++) {
		x->home[w] = ANYWHERE;
		if (!pairmap_get(&x->rows, (uint64_t)x->whole->id[w], 0))
			pairmap_put(&x->rows, (uint64_t)x->whole->id[w], 0, w);
	}
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t w = g->part_of[v], name = strtab_add(&x->names, g->node_name[v]);
		x->row[name] = v;
		if (w == GRAPH_NONE && (w = whole_row(x, g, v)) != GRAPH_NONE) {
			x->home[w] = device_of(x, v);
			if (g->part[v] < x->ways)
				x->beside[w] = (uint8_t)g->part[v];
		} else if (w != GRAPH_NONE && g->part[v] < x->ways)
			x->part[(size_t)w * x->ways + g->part[v]] = v;
	}
}

/* The one device of all parts of w; ANYWHERE: there are several. */
static uint16_t one_device(const struct rejoin *x, uint32_t w)
{
	uint16_t all = ANYWHERE;
	for (uint32_t p = 0; p < x->ways; p++) {
		uint16_t d = device_of(x, x->part[(size_t)w * x->ways + p]);
		if (d != ANYWHERE && all != ANYWHERE && d != all)
			return ANYWHERE;
		all = d != ANYWHERE ? d : all;
	}
	return all;
}

/* Where node v of the new graph is: as the same part, operation, slice or join was, else where what it reads is. */
static uint16_t device_of_new(const struct rejoin *x, const struct graph *g, uint32_t v,
			      const uint16_t *placed)
{
	uint32_t w = g->part_of[v], name = strtab_find(&x->names, g->node_name[v]);
	if (w != GRAPH_NONE)
		return device_of(x, x->part[(size_t)w * x->ways + g->part[v]]);
	if ((w = whole_row(x, g, v)) != GRAPH_NONE)
		return x->home[w];
	if (name != UINT32_MAX)
		return device_of(x, x->row[name]);
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE && placed[g->in_node[i]] != ANYWHERE)
			return placed[g->in_node[i]];
	return ANYWHERE;
}

/* Devices of the sets of g. */
static uint16_t *place_sets(const struct rejoin *x, const struct graph *g)
{
	uint16_t *of_set = arena_raw(g->arena, g->n_sets, sizeof *of_set),
		 *of_node = MEM_NEWN(uint16_t, g->n);
	memset(of_set, 0xff, g->n_sets * sizeof *of_set);
	for (uint32_t v = 0; v < g->n; v++) {
		of_node[v] = device_of_new(x, g, v, of_node);
		if (g->set[v] != GRAPH_NONE && of_set[g->set[v]] == ANYWHERE)
			of_set[g->set[v]] = of_node[v];
	}
	for (uint32_t s = 0; s < g->n_sets; s++)
		of_set[s] = of_set[s] == ANYWHERE ? 0 : of_set[s];
	mem_free(of_node);
	return of_set;
}

static int check(const struct rejoin *x, struct err *e)
{
	for (uint32_t w = 0; w < x->whole->n; w++)
		if (x->cut->cut->axis[w] < SPLIT_OUTPUTS)
			return err_set(e, ST_INPUT, "key 'cut': key 'axis': there is no axis %d",
				       x->cut->cut->axis[w]);
	return 0;
}

static struct graph *rejoin_once(struct split_facts *f, const struct graph *cut,
				 const uint16_t *device, uint16_t **placed,
				 struct split_counts *counts, struct err *e)
{
	const struct graph_cut *c = cut->cut;
	struct rejoin x = {.whole = f->g, .cut = cut, .device = device, .ways = c->ways};
	if (check(&x, e) < 0)
		return NULL;
	struct split_plan plan = {.ways = c->ways,
				  .share = c->share,
				  .share_of = c->share_of,
				  .axis = c->axis,
				  .again = c->again,
				  .apart = c->apart,
				  .group = c->group};
	index_nodes(&x);
	plan.home = x.beside;
	for (uint32_t w = 0; w < f->g->n; w++) {
		uint16_t d = one_device(&x, w);
		if (plan.axis[w] == SPLIT_WHOLE || d == ANYWHERE)
			continue;
		plan.axis[w] = SPLIT_WHOLE;
		x.home[w] = d;
	}
	struct graph *g = split_graph(f, &plan, counts);
	split_sets(g, f->g, f->constant);
	*placed = place_sets(&x, g);
	mem_free(x.part);
	mem_free(x.home);
	mem_free(x.beside);
	mem_free(x.row);
	pairmap_release(&x.rows);
	strtab_release(&x.names);
	g->whole = cut->whole;
	g->cut = cut->cut;
	return g;
}

struct graph *split_rejoin(struct split_facts *f, const struct graph *cut, const uint16_t *device,
			   uint16_t **placed, struct split_counts *counts, struct err *e)
{
	struct graph *g = rejoin_once(f, cut, device, placed, counts, e);
	/* Where nodes of one set were on several devices they are on one now, and perhaps more is whole. */
	for (uint32_t n = UINT32_MAX; g && counts->cut < n;) {
		struct graph *before = g;
		n = counts->cut;
		g = rejoin_once(f, before, *placed, placed, counts, e);
		graph_free(before);
	}
	return g;
}
