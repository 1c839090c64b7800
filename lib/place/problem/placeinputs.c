/* placeinputs.c - graph, devs and cost records. */
#include <string.h>

#include "record/graphrec.h"
#include "place/problem/placeinputs.h"

const char *const place_order_names[] = {"recorded", "rank", "fifo", "improved", NULL};
#define MOST_BYTES (UINT64_C(1) << 62) /* of all sets together */
enum { MAX_SLOWDOWN = 1000 };

int place_inputs_init(struct place_inputs *x, const char *spec_list, struct err *e)
{
	*x = (struct place_inputs){.spec_list = spec_list, .contention = true, .overlap = true};
	x->arena = arena_new();
	x->devs_arena = arena_new();
	x->cost_arena = arena_new();
	x->group_arena = arena_new();
	return spec_list ? spec_load(spec_list, x->arena, &x->spec, e) : 0;
}

void place_inputs_reset(struct place_inputs *x)
{
	graph_free(x->g);
	x->g = NULL;
	x->has_devs = false;
	x->cost_k = 0;
	x->saved = (struct place_savings){0};
	x->extra = (struct place_cost_extra){0};
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

/* The pairs of a cost record. */
static int take_savings(struct place_inputs *x, const struct rec *r, size_t k, struct err *e)
{
	struct place_savings *p = &x->saved;
	uint64_t n[1] = {UINT64_MAX}, shape[2] = {0, k};

	if (get_tensor(r->map, "pair_src", TT_U32, 1, n, x->cost_arena, &p->src, e) < 0 ||
	    get_tensor(r->map, "pair_dst", TT_U32, 1, n, x->cost_arena, &p->dst, e) < 0)
		return -1;
	shape[0] = n[0];
	if (get_tensor(r->map, "saved_s", TT_F64, 2, shape, x->cost_arena, &p->saved_s, e) < 0)
		return -1;
	for (uint64_t i = 0; i < n[0]; i++)
		if (p->src[i] >= x->g->n_sets || p->dst[i] >= x->g->n_sets)
			return err_set(e, ST_INPUT,
				       "pair %llu is of sets that the graph does not have",
				       (unsigned long long)i);
	p->n = (uint32_t)n[0];
	return 0;
}

static int take_order(struct place_inputs *x, const struct rec *r, struct err *e)
{
	const char *name;

	if (get_text(r->map, "order", x->cost_arena, &name, e) < 0)
		return -1;
	for (int i = PLACE_ORDER_RANK; place_order_names[i]; i++)
		if (strcmp(place_order_names[i], name) == 0)
			x->extra.order = (enum place_order)i;
	return x->extra.order != PLACE_ORDER_RECORDED
		       ? 0
		       : err_set(e, ST_INPUT, "order '%s' is not known", name);
}

/* How much devices slow each other; absent: not. */
static int take_slowing(const struct rec *r, const char *key, double *x, struct err *e)
{
	if (val_get(r->map, key) && get_real(r->map, key, x, e) < 0)
		return -1;
	return *x >= 0 && *x <= MAX_SLOWDOWN
		       ? 0
		       : err_set(e, ST_INPUT, "%s is not between 0 and %d", key, MAX_SLOWDOWN);
}

static int take_extra(struct place_inputs *x, const struct rec *r, struct err *e)
{
	struct place_cost_extra *y = &x->extra;
	uint64_t shape[1] = {x->g->n_sets}, left = MOST_BYTES;

	if (val_get(r->map, "set_mem") &&
	    get_tensor(r->map, "set_mem", TT_U64, 1, shape, x->cost_arena, &y->set_mem, e) < 0)
		return -1;
	if (val_get(r->map, "move_s") &&
	    get_tensor(r->map, "move_s", TT_F64, 1, shape, x->cost_arena, &y->move_s, e) < 0)
		return -1;
	for (uint32_t i = 0; i < x->g->n_sets; i++) {
		uint64_t bytes = y->set_mem ? y->set_mem[i] : 0;

		if ((y->move_s && y->move_s[i] < 0) || bytes > left)
			return err_set(e, ST_INPUT, "set_mem or move_s of set %u is out of range",
				       i);
		left -= bytes;
	}
	y->has_rules = val_get(r->map, "contention") != NULL;
	if (y->has_rules && (get_bool(r->map, "contention", &y->contention, e) < 0 ||
			     get_bool(r->map, "overlap", &y->overlap, e) < 0))
		return -1;
	if (take_slowing(r, "slowdown", &y->slowdown, e) < 0 ||
	    take_slowing(r, "beside", &y->multi_slowdown, e) < 0)
		return -1;
	return val_get(r->map, "order") ? take_order(x, r, e) : 0;
}

static int take_cost(struct place_inputs *x, const struct rec *r, struct err *e)
{
	size_t k = SIZE_MAX;
	uint64_t digest = 0, shape[2];

	arena_reset(x->cost_arena);
	x->cost_k = 0;
	x->saved = (struct place_savings){0};
	x->extra = (struct place_cost_extra){0};
	if (!x->g)
		return err_set(e, ST_INPUT, "a cost record before its graph");
	if (get_uint(r->map, "graph", 0, UINT64_MAX, &digest, e) < 0 ||
	    get_texts(r->map, "names", x->cost_arena, &k, &x->cost_names, e) < 0)
		return err_prefix(e, "cost record");
	if (digest != x->g->digest)
		return err_set(e, ST_INPUT, "a cost record is about another graph");
	if (k == 0 || k > DEVS_MAX)
		return err_set(e, ST_INPUT, "a cost record with %zu devices, not 1 to %d", k,
			       DEVS_MAX);
	shape[0] = x->g->n_sets;
	shape[1] = k;
	if (get_tensor(r->map, "set_s", TT_F64, 2, shape, x->cost_arena, &x->cost_s, e) < 0)
		return err_prefix(e, "cost record");
	if ((val_get(r->map, "pair_src") && take_savings(x, r, k, e) < 0) ||
	    take_extra(x, r, e) < 0)
		return err_prefix(e, "cost record");
	x->cost_k = (uint32_t)k;
	return 1;
}

static int take_group(struct place_inputs *x, const struct rec *r, struct err *e)
{
	arena_reset(x->group_arena);
	x->has_group = false;
	if (grouprec_decode(r, x->group_arena, &x->group, e) < 0)
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

int cost_encode(const struct graph *g, const char *const *names, uint32_t k, const double *set_s,
		const struct place_cost_extra *x, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "cost");
	put_uint(w, "graph", g->digest);
	put_texts(w, "names", names, k);
	put_matrix(w, "set_s", TT_F64, g->n_sets, k, set_s);
	if (x && x->set_mem)
		put_vector(w, "set_mem", TT_U64, g->n_sets, x->set_mem);
	if (x && x->move_s)
		put_vector(w, "move_s", TT_F64, g->n_sets, x->move_s);
	if (x && x->has_rules) {
		put_bool(w, "contention", x->contention);
		put_bool(w, "overlap", x->overlap);
	}
	if (x && x->order != PLACE_ORDER_RECORDED)
		put_text(w, "order", place_order_names[x->order]);
	return rec_end(w, e);
}
