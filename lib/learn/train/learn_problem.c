/* learn_problem.c - graph, features, devices and groupings from a stream. */
#include "learn/train/learn_problem.h"
#include "base/disjoint.h"
#include "record/featrec.h"
#include "record/graphrec.h"
#include "record/grouprec.h"
#include "op/op.h"

#include <string.h>

void learn_problem_init(struct learn_problem *p)
{
	*p = (struct learn_problem){.arena = arena_new()};
}

void learn_problem_release(struct learn_problem *p)
{
	arena_free(p->arena);
	*p = (struct learn_problem){0};
}

void learn_problem_reset(struct learn_problem *p)
{
	struct arena *a = p->arena;
	arena_reset(a);
	*p = (struct learn_problem){.arena = a};
}

/* Of what crosses between sets only constants count: those that read the same weights belong
 * together. */
static void keep_constants(const struct graph *g, struct digraph *sets, struct arena *a)
{
	bool *constant = ARENA_NEWN(a, bool, g->n), *computes = ARENA_NEWN(a, bool, g->n_sets);
	op_constant_nodes(g, constant);
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE && !constant[v])
			computes[g->set[v]] = true;
	for (uint32_t i = 0; i < sets->m; i++)
		if (computes[sets->src[i]])
			sets->bytes[i] = 0;
}

int learn_graph(const struct rec *r, struct arena *a, struct ugraph *out, uint64_t *digest,
		struct err *e)
{
	struct graph *g = graph_decode(r, e);
	if (!g)
		return -1;
	struct arena *scratch = arena_new();
	struct digraph sets;
	graph_set_quotient(g, scratch, &sets);
	keep_constants(g, &sets, scratch);
	ugraph_from_digraph(out, &sets, a);
	*digest = g->digest;
	arena_free(scratch);
	graph_free(g);
	return 0;
}

static int take_graph(struct learn_problem *p, const struct rec *r, struct err *e)
{
	if (p->has_graph)
		return err_set(e, ST_INPUT,
			       "two graphs in one stream; give each a stream of its own");
	if (learn_graph(r, p->arena, &p->graph, &p->digest, e) < 0)
		return -1;
	p->n = p->graph.n;
	p->has_graph = true;
	return 0;
}

static int take_feat(struct learn_problem *p, const struct rec *r, struct err *e)
{
	struct feat_rec x;
	if (p->has_feat)
		return err_set(e, ST_INPUT, "two feat records in one stream");
	if (feat_decode(r, p->arena, &x, e) < 0)
		return -1;
	p->feat_graph = x.graph;
	p->x = x.x;
	p->feat_rows = x.n_sets;
	p->d = x.d;
	p->has_feat = true;
	return 0;
}

static int take_group(struct learn_problem *p, const struct rec *r, struct err *e)
{
	struct group_rec x;
	if (p->has_group)
		return err_set(e, ST_INPUT, "two group records in one stream");
	if (group_decode(r, p->arena, &x, e) < 0)
		return -1;
	p->group_graph = x.graph;
	p->given = (struct grouping){x.n_groups, x.group};
	p->group_rows = x.n_sets;
	p->has_group = true;
	return 0;
}

int learn_problem_take(struct learn_problem *p, const struct rec *r, struct err *e)
{
	int rc;
	if (rec_is(r, "graph")) {
		rc = take_graph(p, r, e);
	} else if (rec_is(r, "feat")) {
		rc = take_feat(p, r, e);
	} else if (rec_is(r, "group")) {
		rc = take_group(p, r, e);
	} else if (rec_is(r, "devs")) {
		rc = p->has_devs ? err_set(e, ST_INPUT, "two devs records in one stream")
				 : devs_decode(r, p->arena, &p->devs, e);
		p->has_devs = true;
	} else {
		return 0;
	}
	return rc < 0 ? -1 : 1;
}

int learn_mask(struct devs *d, uint64_t graph, uint32_t n_sets, const uint8_t **mask, struct err *e)
{
	*mask = d->mask;
	if (!d->mask)
		return 0;
	if (d->graph != graph || d->n_sets != n_sets)
		return err_set(e, ST_INPUT, "devs: its mask is about another graph");
	uint8_t *row = d->mask;
	for (uint32_t i = 0; i < n_sets; i++, row += d->k)
		if (!memchr(row, 1, d->k))
			memset(row, 1, d->k);
	return 0;
}

/* Groups that were given, joined where sets must share a device. */
static void join_given(struct learn_problem *p, uint32_t n_classes)
{
	uint32_t *up = disjoint_new(p->given.n_groups, p->arena);
	uint32_t *first = arena_raw(p->arena, n_classes, sizeof *first);
	uint32_t *group = arena_raw(p->arena, p->n, sizeof *group);
	for (uint32_t c = 0; c < n_classes; c++)
		first[c] = UINT32_MAX;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t *f = &first[p->together[i]], g = p->given.group[i];
		if (*f == UINT32_MAX)
			*f = g;
		disjoint_join(up, *f, g);
	}
	for (uint32_t i = 0; i < p->n; i++)
		group[i] = disjoint_find(up, p->given.group[i]);
	p->given = (struct grouping){group_number(group, p->n), group};
}

static void tie_together(struct learn_problem *p)
{
	const struct devs *v = &p->devs;
	if (!v->mask || !v->together || p->together)
		return;
	uint32_t *class = arena_raw(p->arena, p->n, sizeof *class);
	memcpy(class, v->together, p->n * sizeof *class);
	uint32_t n_classes = group_number(class, p->n);
	struct ugraph tied;
	p->together = class;
	ugraph_tie(&tied, &p->graph, class, n_classes, p->arena);
	p->graph = tied;
	if (p->has_group)
		join_given(p, n_classes);
}

int learn_problem_check(struct learn_problem *p, bool need_feat, bool need_devs, struct err *e)
{
	if (!p->has_graph)
		return err_set(e, ST_INPUT, "no graph in the stream; begin with ir2dag");
	if (!p->has_feat && need_feat)
		return err_set(e, ST_INPUT, "no feat in the stream; put dagfeat in front");
	if (!p->has_devs && need_devs)
		return err_set(e, ST_INPUT,
			       "no devs in the stream; put devrun --probe in front, or give "
			       "placepolicy -D LIST");
	if (p->has_feat && (p->feat_graph != p->digest || p->feat_rows != p->n))
		return err_set(e, ST_INPUT, "feat: it is about another graph");
	if (p->has_group && (p->group_graph != p->digest || p->group_rows != p->n))
		return err_set(e, ST_INPUT, "group: it is about another graph");
	if (learn_mask(&p->devs, p->digest, p->n, &p->mask, e) < 0)
		return -1;
	tie_together(p);
	return 0;
}
