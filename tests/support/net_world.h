/* net_world.h - a network over a random graph, for tests of networks. */
#ifndef HSDAG_TESTS_NET_WORLD_H
#define HSDAG_TESTS_NET_WORLD_H

#include "learn/net/net.h"
#include "randgraph.h"

#include <string.h>

/* Nodes, their features, devices. */
enum { N = 50, D = 5, K = 3 };

struct net_world {
	struct arena *a;
	struct ugraph g;
	float x[N * D];
	struct params *embed, *policy;
	struct net_model m;
	struct net_work *w;
};

/* A graph of three components at least.  h: net's hyperparameters, which outlive the world. */
static void net_world_init(struct net_world *s, const struct net *net, const void *h)
{
	struct digraph d;
	struct rng_addr at = {.seed = 11, .stream = 50};
	memset(s, 0, sizeof *s);
	s->a = arena_new();
	random_dag(&d, N, 6, 20, 0.05, 4, s->a);
	ugraph_from_digraph(&s->g, &d, s->a);
	for (uint32_t i = 0; i < N * D; i++)
		s->x[i] = (float)(2 * rng_uniform(&at, i) - 1);
	s->embed = net->embed_init(h, D, 21);
	s->policy = net->policy_init(h, D, K, 21);
	s->m = (struct net_model){net, h, &s->g, NULL, D, K, s->embed, s->policy};
	s->w = net_work_new(NULL);
}

static void net_world_release(struct net_world *s)
{
	net_work_free(s->w);
	params_free(s->embed);
	params_free(s->policy);
	arena_free(s->a);
}

#endif
