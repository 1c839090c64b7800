/* graph_facts.c - the table of what passes found: few graphs, few passes. */
#include "kernel/graph_facts.h"

#include <pthread.h>

#include "base/mem.h"

struct fact {
	const struct graph *g;
	graph_pass *pass;
	const void *found;
};

struct graph_facts {
	struct fact *v;
	size_t n, cap;
	struct arena *arena;
	pthread_mutex_t lock; /* recursive: passes ask for others */
};

struct graph_facts *graph_facts_new(void)
{
	struct graph_facts *x = MEM_NEW(struct graph_facts);
	pthread_mutexattr_t recursive;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&x->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	x->arena = arena_new();
	return x;
}

void graph_facts_free(struct graph_facts *x)
{
	if (!x)
		return;
	pthread_mutex_destroy(&x->lock);
	arena_free(x->arena);
	mem_free(x->v);
	mem_free(x);
}

const void *graph_facts_of(const struct step_env *env, const struct graph *g, graph_pass *pass)
{
	struct graph_facts *x = env->facts;
	const void *found = NULL;
	pthread_mutex_lock(&x->lock);
	/* What was asked for last is asked for again. */
	for (size_t i = x->n; i-- > 0 && !found;)
		if (x->v[i].g == g && x->v[i].pass == pass)
			found = x->v[i].found;
	if (!found) {
		found = pass(g, env, x->arena);
		x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
		x->v[x->n++] = (struct fact){g, pass, found};
	}
	pthread_mutex_unlock(&x->lock);
	return found;
}
