/* placeinputs.c - graph, devs and cost records. */
#include <string.h>

#include "record/graphrec.h"
#include "place/problem/placeinputs.h"

const char *const place_order_names[] = {"recorded", "rank", "fifo", "improved", "free", NULL};

int place_inputs_init(struct place_inputs *x, const char *spec_list, struct err *e)
{
	*x = (struct place_inputs){.spec_list = spec_list, .contention = true, .overlap = true};
	x->arena = arena_new();
	x->devs_arena = arena_new();
	x->cost_arena = arena_new();
	x->group_arena = arena_new();
	return spec_list ? spec_load(spec_list, x->arena, &x->spec, e) : 0;
}

static void forget_cost(struct place_inputs *x)
{
	x->cost = (struct cost_rec){0};
	x->cost_order = PLACE_ORDER_RECORDED;
}

bool place_inputs_known(const struct place_inputs *x, const struct rec *r)
{
	return (x->has_devs && rec_is(r, "devs")) || (x->cost.k > 0 && rec_is(r, "cost"));
}

void place_inputs_reset(struct place_inputs *x)
{
	graph_free(x->g);
	x->g = NULL;
	x->has_devs = false;
	forget_cost(x);
	x->has_group = false;
}

void place_inputs_release(struct place_inputs *x)
{
	if (!x->arena)
		return;
	place_inputs_reset(x);
	arena_free(x->arena);
	arena_free(x->devs_arena);
	arena_free(x->cost_arena);
	arena_free(x->group_arena);
}

/* ---- records ---- */

static int take_graph(struct place_inputs *x, const struct rec *r, struct err *e)
{
	if (x->g)
		return err_set(e, ST_INPUT,
			       "a second graph in one stream; "
			       "this program takes one graph at a time");
	x->g = graph_decode(r, e);
	return x->g ? 1 : -1;
}

static int take_devs(struct place_inputs *x, const struct rec *r, struct err *e)
{
	arena_reset(x->devs_arena);
	x->has_devs = false;
	if (devs_decode(r, x->devs_arena, &x->devs, e) < 0)
		return -1;
	x->has_devs = true;
	return 1;
}

static int find_order(struct place_inputs *x, struct err *e)
{
	if (!x->cost.order)
		return 0;
	for (int i = PLACE_ORDER_RANK; place_order_names[i]; i++)
		if (strcmp(place_order_names[i], x->cost.order) == 0)
			x->cost_order = (enum place_order)i;
	return x->cost_order != PLACE_ORDER_RECORDED
		       ? 0
		       : err_set(e, ST_INPUT, "order '%s' is not known", x->cost.order);
}

static int take_cost(struct place_inputs *x, const struct rec *r, struct err *e)
{
	struct cost_rec c;

	arena_reset(x->cost_arena);
	forget_cost(x);
	if (!x->g)
		return err_set(e, ST_INPUT, "a cost record before its graph");
	if (cost_decode_head(r, x->cost_arena, &c, e) < 0)
		return err_prefix(e, "cost record");
	if (c.graph != x->g->digest)
		return err_set(e, ST_INPUT, "a cost record is about another graph");
	if (c.k == 0 || c.k > DEVS_MAX)
		return err_set(e, ST_INPUT, "a cost record with %u devices, not 1 to %d", c.k,
			       DEVS_MAX);
	if (cost_decode(r, x->g->n_sets, COST_MODEL, x->cost_arena, &c, e) < 0)
		return err_prefix(e, "cost record");
	x->cost = c;
	if (find_order(x, e) < 0) {
		forget_cost(x);
		return err_prefix(e, "cost record");
	}
	return 1;
}

static int take_group(struct place_inputs *x, const struct rec *r, struct err *e)
{
	arena_reset(x->group_arena);
	x->has_group = false;
	if (group_decode(r, x->group_arena, &x->group, e) < 0)
		return -1;
	if (!x->g || x->group.graph != x->g->digest || x->group.n_sets != x->g->n_sets)
		return err_set(e, ST_INPUT, "group: it is about another graph");
	x->has_group = true;
	return 1;
}

int place_inputs_take(struct place_inputs *x, const struct rec *r, struct err *e)
{
	if (rec_is(r, "graph"))
		return take_graph(x, r, e);
	if (rec_is(r, "devs"))
		return take_devs(x, r, e);
	if (rec_is(r, "cost"))
		return take_cost(x, r, e);
	if (x->keep_groups && rec_is(r, "group"))
		return take_group(x, r, e);
	return 0;
}
