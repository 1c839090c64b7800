/* scotch_lib.c - Scotch behind scotch.h; the only file that sees Scotch's own header.
 *
 * Scotch numbers its calls in a generator of the process, so that equal calls have different
 * answers; here each call has a context of its own with its own seed and one thread.  What Scotch
 * would print when it refuses becomes an error's text. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <scotch/scotch.h>

#include "partition/scotch_lib.h"

_Static_assert(sizeof(SCOTCH_Num) == 4, "Scotch of 32 bits");

enum { MOST_SPEED = 1 << 16, MOST_DISTANCE = 64, MOST_DEVICES = 64 };
static const double IMBALANCE = 0.03; /* METIS's default */

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
	SCOTCH_Graph own, bound; /* bound: own within the context */
	SCOTCH_Num *ptr, *adj, *traffic, *weight, *part;
};

/* Scotch adds up traffic x distance, in 32 bits; no distance is above `farthest`. */
static int source_build(struct source *s, const struct group_task *t, int32_t farthest,
			struct arena *a, struct err *e)
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
	group_scale(y.traffic, n_adj, 1, GROUP_SCALE_MOST / farthest, s->traffic);
	group_scale(g->weight, g->n, 1, GROUP_SCALE_MOST, s->weight);
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

/* Devices in an order in which near ones are neighbours, and how far apart the clusters are that
 * meet between them: average linkage (Sokal, Michener 1958). */
struct cluster_order {
	uint32_t k, *at; /* (k) */
	double *gap;     /* (k) between at[i-1] and at[i] */
};

/* Mean distance of two runs of the order. */
static double linkage(const struct group_arch *x, const uint32_t *at, uint32_t i, uint32_t ni,
		      uint32_t j, uint32_t nj)
{
	double sum = 0;

	for (uint32_t p = i; p < i + ni; p++)
		for (uint32_t q = j; q < j + nj; q++)
			sum += x->distance[(size_t)at[p] * x->k + at[q]];
	return sum / ni / nj;
}

/* Bring run j, which is behind run i, right behind it. */
static void bring(struct cluster_order *c, uint32_t *run, uint32_t i, uint32_t ni, uint32_t j,
		  uint32_t nj, double height)
{
	uint32_t at[MOST_DEVICES], len[MOST_DEVICES], to = i + ni;
	double gap[MOST_DEVICES];

	memcpy(at, c->at + j, nj * sizeof(*at));
	memcpy(gap, c->gap + j, nj * sizeof(*gap));
	memcpy(len, run + to, (j - to) * sizeof(*len));
	memmove(c->at + to + nj, c->at + to, (j - to) * sizeof(*at));
	memmove(c->gap + to + nj, c->gap + to, (j - to) * sizeof(*gap));
	memcpy(run + to + nj, len, (j - to) * sizeof(*len));
	memcpy(c->at + to, at, nj * sizeof(*at));
	memcpy(c->gap + to, gap, nj * sizeof(*gap));
	c->gap[to] = height;
	run[i] = ni + nj;
}

static void cluster(struct cluster_order *c, const struct group_arch *x)
{
	uint32_t run[MOST_DEVICES]; /* how long the run is that begins here */

	for (uint32_t i = 0; i < x->k; i++) {
		c->at[i] = i;
		run[i] = 1;
	}
	for (uint32_t n = x->k; n > 1; n--) {
		double best = INFINITY;
		uint32_t first = 0, second = 0;

		for (uint32_t i = 0; i < x->k; i += run[i])
			for (uint32_t j = i + run[i]; j < x->k; j += run[j]) {
				double s = linkage(x, c->at, i, run[i], j, run[j]);

				if (s < best) {
					best = s;
					first = i;
					second = j;
				}
			}
		bring(c, run, first, run[first], second, run[second], best);
	}
}

/* Labels of the devices at lo .. hi-1 of the order, in a binary tree at most `depth` deep below
 * this label: cut at the widest gap that leaves room for both sides. */
static void label(const struct cluster_order *c, uint32_t lo, uint32_t hi, uint32_t name,
		  uint32_t depth, uint32_t *out)
{
	uint32_t most = depth > 0 ? 1U << (depth - 1) : 0, cut = 0;

	if (hi - lo == 1) {
		out[c->at[lo]] = name;
		return;
	}
	for (uint32_t i = lo + 1; i < hi; i++)
		if (i - lo <= most && hi - i <= most && (!cut || c->gap[i] > c->gap[cut]))
			cut = i;
	label(c, lo, cut, 2 * name, depth - 1, out);
	label(c, cut, hi, 2 * name + 1, depth - 1, out);
}

/* Scotch takes the tree of domains and the distances as text ("deco 0" in its manual).  Given a
 * graph of the devices instead, it would part the near ones first. */
static int arch_load(SCOTCH_Arch *out, const struct group_arch *x, const SCOTCH_Num *speed,
		     struct arena *a, struct err *e)
{
	struct cluster_order c = {x->k, ARENA_NEWN(a, uint32_t, x->k), ARENA_NEWN(a, double, x->k)};
	uint32_t *name = ARENA_NEWN(a, uint32_t, x->k), largest = 0, depth = 1;
	SCOTCH_Num *far = ARENA_NEWN(a, SCOTCH_Num, (size_t)x->k * x->k);
	const char *text;

	proportions(x->distance, x->k * x->k, MOST_DISTANCE, far);
	cluster(&c, x);
	while (1U << depth < x->k)
		depth++;
	label(&c, 0, x->k, 1, depth + 1, name);
	for (uint32_t i = 0; i < x->k; i++)
		largest = name[i] > largest ? name[i] : largest;
	text = arena_printf(a, "deco\n0\n%u %u\n", x->k, largest);
	for (uint32_t i = 0; i < x->k; i++)
		text = arena_printf(a, "%s%u %d %u\n", text, i, speed[i], name[i]);
	for (uint32_t i = 1; i < x->k; i++)
		for (uint32_t j = 0; j < i; j++)
			text = arena_printf(a, "%s%d\n", text, far[(size_t)i * x->k + j]);
	char *copy = arena_strndup(a, text, strlen(text));
	FILE *f = fmemopen(copy, strlen(copy), "r");
	int rc = f ? SCOTCH_archLoad(out, f) : -1;

	if (f)
		fclose(f);
	return rc ? refused("take the devices and their links", e) : 0;
}

/* Devices that are equally far from each other, or very many: a complete graph with weights. */
static int arch_build(SCOTCH_Arch *out, const struct group_arch *x, struct arena *a, struct err *e)
{
	SCOTCH_Num *speed = ARENA_NEWN(a, SCOTCH_Num, x->k);

	proportions(x->speed, x->k, MOST_SPEED, speed);
	if (x->distance && x->k <= MOST_DEVICES)
		return arch_load(out, x, speed, a, e);
	return SCOTCH_archCmpltw(out, (SCOTCH_Num)x->k, speed) ? refused("take the devices", e) : 0;
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
	SCOTCH_Num strategy = recursive ? SCOTCH_STRATRECURSIVE : SCOTCH_STRATDEFAULT;

	SCOTCH_archInit(&target);
	SCOTCH_stratInit(&plan);
	SCOTCH_randomReset();
	int rc = source_build(&s, t, arch->distance ? MOST_DISTANCE : 1, a, e);
	if (rc == 0)
		rc = source_bind(&s, t->seed, e);
	if (rc == 0)
		rc = arch_build(&target, arch, a, e);
	if (rc == 0 &&
	    (SCOTCH_stratGraphMapBuild(&plan, strategy, (SCOTCH_Num)arch->k, IMBALANCE) ||
	     SCOTCH_graphMap(&s.bound, &target, &plan, s.part)))
		rc = refused("map the graph", e);
	for (uint32_t v = 0; rc == 0 && v < t->g->n; v++)
		t->group[v] =
			s.part[v] < 0 || s.part[v] >= (SCOTCH_Num)arch->k ? 0 : (uint32_t)s.part[v];
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
