/* group_metis.c - METIS as a grouping method: Karypis, Kumar, "A fast and high quality multilevel
 * scheme for partitioning irregular graphs", SIAM J. Sci. Computing 20(1), 1998; several weights:
 * "Multilevel algorithms for multi-constraint graph partitioning", SC 1998.  The only file that
 * sees metis.h.
 *
 * What METIS does not stand: one part, more parts than nodes, weights whose sum leaves 32 bits,
 * edges of weight 0.  It may leave parts empty, and then writes about it to the standard output,
 * which is the whole process's, like C's rand(): one call at a time, and nobody prints meanwhile.
 */
#include <metis.h>
#include <stdio.h>

#include "partition/grouping.h"

_Static_assert(sizeof(idx_t) == 4 && sizeof(real_t) == 4, "METIS of 32 bits");

/* METIS's form of a task. */
struct metis {
	idx_t n, n_weights, n_parts;
	idx_t *ptr, *adj, *traffic, *weight, *part;
	real_t *share; /* (n_parts, n_weights) NULL: equal */
	idx_t option[METIS_NOPTIONS];
};

/* Both weights of every node side by side. */
static void take_weights(struct metis *x, const struct group_graph *g, struct arena *a)
{
	int32_t *w = ARENA_NEWN(a, int32_t, g->n);

	x->n_weights = g->memory ? 2 : 1;
	x->weight = ARENA_NEWN(a, idx_t, (size_t)g->n * (size_t)x->n_weights);
	for (idx_t c = 0; c < x->n_weights; c++) {
		group_scale(c ? g->memory : g->weight, g->n, c ? 0 : 1, GROUP_SCALE_MOST, w);
		for (uint32_t v = 0; v < g->n; v++)
			x->weight[v * (uint32_t)x->n_weights + (uint32_t)c] = w[v];
	}
}

static void take_task(struct metis *x, const struct group_task *t, struct arena *a)
{
	const struct group_graph *g = t->g;
	struct group_adjacency y;

	group_adjacency_init(&y, g, a);
	uint32_t n_adj = y.ptr[g->n];
	x->n = (idx_t)g->n;
	x->n_parts = (idx_t)t->n_groups;
	x->ptr = ARENA_NEWN(a, idx_t, (size_t)g->n + 1);
	x->adj = ARENA_NEWN(a, idx_t, (size_t)n_adj + 1);
	x->traffic = ARENA_NEWN(a, idx_t, (size_t)n_adj + 1);
	x->part = ARENA_NEWN(a, idx_t, g->n);
	for (uint32_t v = 0; v <= g->n; v++)
		x->ptr[v] = (idx_t)y.ptr[v];
	for (uint32_t i = 0; i < n_adj; i++)
		x->adj[i] = (idx_t)y.adj[i];
	group_scale(y.traffic, n_adj, 1, GROUP_SCALE_MOST, x->traffic);
	take_weights(x, g, a);
	if (t->share) {
		uint32_t c = (uint32_t)x->n_weights;

		x->share = ARENA_NEWN(a, real_t, (size_t)t->n_groups * c);
		for (uint32_t i = 0; i < t->n_groups * c; i++)
			x->share[i] = (real_t)(i % c && t->memory_share ? t->memory_share
									: t->share)[i / c];
	}
	METIS_SetDefaultOptions(x->option);
	x->option[METIS_OPTION_SEED] = (idx_t)(t->seed & INT32_MAX);
}

/* With the standard output, which may be a stream of records, out of METIS's reach. */
static int call_metis(struct metis *x, bool recursive)
{
	idx_t cut;
	FILE *kept = stdout, *sink = fopen("/dev/null", "w");

	if (!sink)
		return METIS_ERROR;
	stdout = sink;
	int rc = (recursive ? METIS_PartGraphRecursive : METIS_PartGraphKway)(
		&x->n, &x->n_weights, x->ptr, x->adj, x->weight, NULL, x->traffic, &x->n_parts,
		x->share, NULL, x->option, &cut, x->part);
	stdout = kept;
	fclose(sink);
	return rc;
}

static int partition(const struct group_task *t, bool recursive, struct err *e)
{
	struct metis x = {0};
	struct arena *a;

	if (t->g->n > INT32_MAX / 2 || t->g->m > INT32_MAX / 4)
		return err_set(e, ST_RUNTIME, "METIS: %u nodes and %u edges are too many", t->g->n,
			       t->g->m);
	a = arena_new();
	take_task(&x, t, a);
	int rc = call_metis(&x, recursive);

	for (uint32_t v = 0; v < t->g->n; v++)
		t->group[v] = x.part[v] < 0 || x.part[v] >= x.n_parts ? 0 : (uint32_t)x.part[v];
	arena_free(a);
	return rc == METIS_OK ? 0
			      : err_set(e, ST_RUNTIME, "METIS gives up with status %d%s", rc,
					rc == METIS_ERROR_MEMORY ? ", out of memory" : "");
}

int group_metis(const struct group_task *t, struct err *e)
{
	return partition(t, false, e);
}

int group_metis_recursive(const struct group_task *t, struct err *e)
{
	return partition(t, true, e);
}
