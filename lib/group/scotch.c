/* scotch.c - Scotch behind scotch.h; the only file that sees Scotch's own header.
 *
 * Scotch numbers its calls in a generator of the process, so that equal calls have different
 * answers; here each call has a context of its own with its own seed and one thread.  What Scotch
 * would print when it refuses becomes an error's text. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <scotch/scotch.h>

#include "group/scotch.h"

_Static_assert(sizeof(SCOTCH_Num) == 4, "Scotch of 32 bits");

static const double IMBALANCE = 0.03;     /* METIS's default */

/* ---- what Scotch says ---- */

static _Thread_local char said[200];

/* In the place of libscotcherr's, which prints. */
__attribute__((format(printf, 1, 2))) void SCOTCH_errorPrint(const char *const fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
}

__attribute__((format(printf, 1, 2))) void SCOTCH_errorPrintW(const char *const fmt, ...)
{
	(void)fmt;
}

static int refused(const char *what, struct err *e)
{
	char text[sizeof(said)];

	return err_set(e, ST_RUNTIME, "Scotch cannot %s%s%s", what, *said ? ": " : "",
		       err_escape(text, sizeof(text), said, strlen(said)));
}

/* ---- the graph ---- */

struct source {
	SCOTCH_Context context;
	SCOTCH_Graph own, bound;     /* bound: own within the context */
	SCOTCH_Num *ptr, *adj, *traffic, *weight, *part;
};

static int source_build(struct source *s, const struct group_task *t, struct arena *a, struct err *e)
{
	const struct group_graph *g = t->g;
	struct group_adjacency y;

	group_adjacency_init(&y, g, a);
	uint32_t n_adj = y.ptr[g->n];
	s->ptr = ARENA_NEWN(a, SCOTCH_Num, (size_t)g->n + 1);
	s->adj = ARENA_NEWN(a, SCOTCH_Num, (size_t)n_adj + 1);
	s->traffic = ARENA_NEWN(a, SCOTCH_Num, (size_t)n_adj + 1);
	s->weight = ARENA_NEWN(a, SCOTCH_Num, g->n);
	s->part = ARENA_NEWN(a, SCOTCH_Num, g->n);
	for (uint32_t v = 0; v <= g->n; v++)
		s->ptr[v] = (SCOTCH_Num)y.ptr[v];
	for (uint32_t i = 0; i < n_adj; i++)
		s->adj[i] = (SCOTCH_Num)y.adj[i];
	group_scale(y.traffic, n_adj, 1, s->traffic);
	group_scale(g->weight, g->n, 1, s->weight);
	if (SCOTCH_graphInit(&s->own) ||
	    SCOTCH_graphBuild(&s->own, 0, (SCOTCH_Num)g->n, s->ptr, s->ptr + 1, s->weight, NULL,
			      (SCOTCH_Num)n_adj, s->adj, s->traffic))
		return refused("take the graph", e);
	return 0;
}

/* One thread, and a generator that begins with the seed. */
static int source_bind(struct source *s, uint64_t seed, struct err *e)
{
	if (SCOTCH_contextInit(&s->context) ||
	    SCOTCH_contextOptionSetNum(&s->context, SCOTCH_OPTIONNUMDETERMINISTIC, 1) ||
	    SCOTCH_contextRandomClone(&s->context) ||
	    SCOTCH_contextThreadSpawn(&s->context, 1, NULL))
		return refused("make a context", e);
	SCOTCH_contextRandomSeed(&s->context, (SCOTCH_Num)(seed & INT32_MAX));
	SCOTCH_contextRandomReset(&s->context);
	if (SCOTCH_graphInit(&s->bound) || SCOTCH_contextBindGraph(&s->context, &s->own, &s->bound))
		return refused("bind the graph", e);
	return 0;
}

static void source_release(struct source *s)
{
	SCOTCH_graphExit(&s->bound);
	SCOTCH_contextExit(&s->context);
	SCOTCH_graphExit(&s->own);
}

/* ---- the devices ---- */

/* Whole numbers 1 .. most in the proportion of x (n). */
static void proportions(const double *x, uint32_t n, int32_t most, SCOTCH_Num *out)
{
	double largest = 0;

	for (uint32_t i = 0; i < n; i++)
		largest = fmax(largest, x[i]);
	for (uint32_t i = 0; i < n; i++)
		out[i] = (SCOTCH_Num)fmax(1, round(x[i] / largest * most));
}

/* Devices that are equally far from each other: a complete graph with weights.  Else a graph of
 * the devices whose edges are as long as links are dear, taken apart by Scotch itself. */
static int arch_build(SCOTCH_Arch *out, const struct group_arch *x, struct arena *a, struct err *e)
{
	enum { MOST_SPEED = 1 << 16, MOST_DISTANCE = 1 << 10 };
	SCOTCH_Num k = (SCOTCH_Num)x->k, *speed = ARENA_NEWN(a, SCOTCH_Num, x->k);
	SCOTCH_Num *ptr, *adj, *far;
	SCOTCH_Graph target;
	SCOTCH_Strat plan;
	uint32_t n = 0;

	proportions(x->speed, x->k, MOST_SPEED, speed);
	if (!x->distance)
		return SCOTCH_archCmpltw(out, k, speed) ? refused("take the devices", e) : 0;
	ptr = ARENA_NEWN(a, SCOTCH_Num, (size_t)x->k + 1);
	adj = ARENA_NEWN(a, SCOTCH_Num, (size_t)x->k * x->k);
	far = ARENA_NEWN(a, SCOTCH_Num, (size_t)x->k * x->k);
	proportions(x->distance, x->k * x->k, MOST_DISTANCE, far);
	for (uint32_t i = 0; i < x->k; i++) {
		for (uint32_t j = 0; j < x->k; j++) {
			if (i == j)
				continue;
			adj[n] = (SCOTCH_Num)j;
			far[n++] = far[(size_t)i * x->k + j];
		}
		ptr[i + 1] = (SCOTCH_Num)n;
	}
	SCOTCH_graphInit(&target);
	SCOTCH_stratInit(&plan);
	int rc = SCOTCH_graphBuild(&target, 0, k, ptr, ptr + 1, speed, NULL, (SCOTCH_Num)n, adj, far) ||
		 SCOTCH_archBuild0(out, &target, 0, NULL, &plan);
	SCOTCH_stratExit(&plan);
	SCOTCH_graphExit(&target);
	return rc ? refused("take the devices and their links", e) : 0;
}

/* ---- calls ---- */

static int too_large(const struct group_graph *g, struct err *e)
{
	if (g->n <= INT32_MAX / 2 && g->m <= INT32_MAX / 4)
		return 0;
	return err_set(e, ST_RUNTIME, "Scotch: %u nodes and %u edges are too many", g->n, g->m);
}

int group_scotch_map(const struct group_task *t, const struct group_arch *arch, bool recursive,
		     struct err *e)
{
	struct source s = {0};
	struct arena *a;
	SCOTCH_Arch target;
	SCOTCH_Strat plan;

	if (too_large(t->g, e))
		return -1;
	*said = 0;
	a = arena_new();
	SCOTCH_archInit(&target);
	SCOTCH_stratInit(&plan);
	SCOTCH_randomReset();
	int rc = source_build(&s, t, a, e);
	if (rc == 0)
		rc = source_bind(&s, t->seed, e);
	if (rc == 0)
		rc = arch_build(&target, arch, a, e);
	if (rc == 0 && (SCOTCH_stratGraphMapBuild(&plan, recursive ? SCOTCH_STRATRECURSIVE : SCOTCH_STRATDEFAULT,
						  (SCOTCH_Num)arch->k, IMBALANCE) ||
			SCOTCH_graphMap(&s.bound, &target, &plan, s.part)))
		rc = refused("map the graph", e);
	for (uint32_t v = 0; rc == 0 && v < t->g->n; v++)
		t->group[v] = s.part[v] < 0 || s.part[v] >= (SCOTCH_Num)arch->k ? 0 : (uint32_t)s.part[v];
	SCOTCH_stratExit(&plan);
	SCOTCH_archExit(&target);
	source_release(&s);
	arena_free(a);
	return rc;
}

int group_scotch(const struct group_task *t, struct err *e)
{
	struct arena *a = arena_new();
	double *speed = ARENA_NEWN(a, double, t->n_groups);
	struct group_arch arch = {t->n_groups, speed, NULL};

	for (uint32_t i = 0; i < t->n_groups; i++)
		speed[i] = t->share ? t->share[i] : 1;
	int rc = group_scotch_map(t, &arch, false, e);

	arena_free(a);
	return rc;
}
