/* body_times.c - options that say how often bodies run, into a graph. */
#include "graph/body_times.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an option says. */
struct told {
	const char *option, *text, *name; /* name: a pattern */
	bool branch;
	double of_then, rounds;
	uint32_t found;
	const char *other_type; /* of what has the name, and is not of the kind */
	char known[400];        /* names of the kind */
};

static bool is_loop(const struct graph *g, uint32_t v)
{
	return g->kind[v] == OP_LOOP || g->kind[v] == OP_TENSOR_ITERATOR;
}

static void tell_node(struct graph *g, uint32_t v, struct told *t)
{
	const char *name = g->node_name[v];
	char q[100];
	bool of_kind = t->branch ? g->kind[v] == OP_IF : is_loop(g, v);
	bool named = strcmp(t->name, name) == 0 || fnmatch(t->name, name, FNM_NOESCAPE) == 0;
	size_t n = strlen(t->known);
	if (named && !of_kind)
		t->other_type = g->type[v];
	if (of_kind && n + 120 < sizeof t->known)
		snprintf(t->known + n, sizeof t->known - n, "%s'%s'", n ? ", " : "",
			 err_escape(q, sizeof q, name, strlen(name)));
	if (!named || !of_kind)
		return;
	t->found++;
	for (uint32_t b, end = graph_bodies(g, v, &b); b < end; b++)
		g->body[b].times = !t->branch                             ? t->rounds
				   : strcmp(g->body[b].role, "then") == 0 ? t->of_then
									  : 1 - t->of_then;
}

static void tell(struct graph *g, struct told *t)
{
	for (uint32_t v = 0; v < g->n; v++)
		tell_node(g, v, t);
	for (uint32_t b = 0; b < g->n_bodies; b++)
		tell(g->body[b].graph, t);
}

static int tell_all(struct graph *g, struct told *t, struct err *e)
{
	char q[100];
	const char *what = t->branch ? "If" : "Loop or TensorIterator";
	tell(g, t);
	if (t->found)
		return 0;
	err_escape(q, sizeof q, t->name, strlen(t->name));
	if (t->other_type)
		return err_set(e, ST_USAGE, "%s '%s': '%s' is a %s, not an operation with %s",
			       t->option, t->text, q, t->other_type,
			       t->branch ? "branches (If)" : "rounds (Loop, TensorIterator)");
	return err_set(e, ST_USAGE, "%s '%s': the model has no %s called '%s'; %s%s", t->option,
		       t->text, what, q, *t->known ? "it has " : "it has none",
		       *t->known ? t->known : "");
}

/* The number behind the last '=' of text; NAN: there is none. */
static double number_of(const char *text, const char **equals)
{
	char *end = NULL;
	*equals = strrchr(text, '=');
	double x = *equals ? strtod(*equals + 1, &end) : NAN;
	return *equals && end > *equals + 1 && !*end ? x : NAN;
}

int body_tell_branch(struct graph *g, const char *text, struct err *e)
{
	const char *equals;
	double share = number_of(text, &equals);
	size_t n = equals ? (size_t)(equals - text) : 0;
	bool of_then = n > 5 && strncmp(equals - 5, ":then", 5) == 0,
	     of_else = n > 5 && strncmp(equals - 5, ":else", 5) == 0;
	if ((!of_then && !of_else) || !(share >= 0 && share <= 1))
		return err_set(e, ST_USAGE,
			       "--branch '%s' is not IF:then=SHARE or IF:else=SHARE, a share of 0 "
			       "to 1",
			       text);
	struct told t = {.option = "--branch",
			 .text = text,
			 .name = arena_strndup(g->arena, text, n - 5),
			 .branch = true,
			 .of_then = of_then ? share : 1 - share};
	return tell_all(g, &t, e);
}

int body_tell_trips(struct graph *g, const char *text, struct err *e)
{
	const char *equals;
	double rounds = number_of(text, &equals);
	if (!equals || equals == text || !(rounds > 0 && rounds <= 1e12))
		return err_set(e, ST_USAGE, "--trips '%s' is not LOOP=ROUNDS, rounds above 0",
			       text);
	struct told t = {.option = "--trips",
			 .text = text,
			 .name = arena_strndup(g->arena, text, (size_t)(equals - text)),
			 .rounds = rounds};
	return tell_all(g, &t, e);
}

static bool any_told(const struct graph *g)
{
	for (uint32_t b = 0; b < g->n_bodies; b++)
		if (g->body[b].times > 0 || any_told(g->body[b].graph))
			return true;
	return false;
}

bool body_is_told(const struct graph *g, uint32_t v)
{
	for (uint32_t b, end = graph_bodies(g, v, &b); b < end; b++)
		if (g->body[b].times > 0 || any_told(g->body[b].graph))
			return true;
	return false;
}

static void count_all(struct graph *g, struct arena *a)
{
	for (uint32_t b = 0; b < g->n_bodies; b++) {
		g->body[b].runs = ARENA_NEWN(a, struct body_runs, 1);
		count_all(g->body[b].graph, a);
	}
}

void body_count_runs(struct graph *g)
{
	if (any_told(g))
		count_all(g, g->arena);
}
