/* What a placement means for nodes: devices, segments and copies against the definitions. */
#include "graph/placed.h"
#include "graphgen.h"
#include "tap.h"

/* Does node v follow its first consumer, and where is it?  By the definition, forwards. */
static uint32_t first_consumer(const struct graph *g, uint32_t v)
{
	for (uint32_t w = 0; w < g->n; w++)
		for (uint32_t i = g->in_ptr[w]; i < g->in_ptr[w + 1]; i++)
			if (g->in_node[i] == v)
				return w;
	return GRAPH_NONE;
}

static uint32_t device_of(const struct graph *g, const uint16_t *device, const bool *constant,
			  uint32_t v)
{
	uint32_t w = first_consumer(g, v);
	if ((g->set[v] == GRAPH_NONE || constant[v]) && w != GRAPH_NONE)
		return device_of(g, device, constant, w);
	return device[g->set[v] == GRAPH_NONE ? 0 : g->set[v]];
}

static void spread(const struct graph *g, const struct placed *p, const bool *follows, uint32_t s,
		   uint32_t mark, uint32_t *segment)
{
	segment[s] = mark;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u == GRAPH_NONE || g->set[u] == GRAPH_NONE || g->set[v] == GRAPH_NONE ||
			    (g->set[u] != s && g->set[v] != s))
				continue;
			bool tied = follows[u] ? first_consumer(g, u) == v
					       : p->node_device[u] == p->node_device[v];
			uint32_t t = g->set[u] == s ? g->set[v] : g->set[u];
			if (tied && segment[t] == GRAPH_NONE)
				spread(g, p, follows, t, mark, segment);
		}
}

static bool segments_are_right(const struct graph *g, const struct placed *p, const bool *follows)
{
	uint32_t *segment = MEM_NEWN(uint32_t, g->n_sets), n = 0;
	memset(segment, 0xff, g->n_sets * sizeof *segment);
	for (uint32_t s = 0; s < g->n_sets; s++)
		if (segment[s] == GRAPH_NONE)
			spread(g, p, follows, s, n++, segment);
	bool ok =
		n == p->n_segments && memcmp(segment, p->segment, g->n_sets * sizeof *segment) == 0;
	for (uint32_t d = 0; d < p->k; d++)
		n -= p->segments[d];
	mem_free(segment);
	return ok && n == 0;
}

static bool copies_are_right(const struct graph *g, const struct placed *p, const bool *follows)
{
	uint64_t copies = 0, bytes = 0;
	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t o = g->out_ptr[u]; o < g->out_ptr[u + 1] && !follows[u]; o++)
			for (uint32_t d = 0; d < p->k; d++) {
				bool needed = false;
				for (uint32_t v = 0; v < g->n; v++)
					for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
						needed |= g->in_node[i] == u &&
							  g->in_port[i] == o - g->out_ptr[u] &&
							  !follows[v] && p->node_device[v] == d;
				if (needed && d != p->node_device[u]) {
					copies++;
					bytes += graph_out_bytes(g, o) > 0
							 ? (uint64_t)graph_out_bytes(g, o)
							 : 0;
				}
			}
	return copies == p->copies && bytes == p->copy_bytes;
}

int main(void)
{
	bool devices = true, segments = true, copies = true, counts = true;
	uint64_t n_copies = 0;
	for (uint64_t seed = 0; seed < 24; seed++) {
		struct graph *g = gen_graph(seed, 90, 6);
		struct gen r = gen_new(seed + 50);
		struct placed p;
		graph_colocate(g, (enum const_mode)(seed % 3), true);
		uint16_t *device = ARENA_NEWN(g->arena, uint16_t, g->n_sets);
		bool *constant = ARENA_NEWN(g->arena, bool, g->n),
		     *follows = ARENA_NEWN(g->arena, bool, g->n);
		for (uint32_t s = 0; s < g->n_sets; s++)
			device[s] = (uint16_t)gen_below(&r, 3);
		for (uint32_t v = 0; v < g->n; v++) {
			constant[v] = seed % 4 && g->kind[v] == OP_CONST;
			follows[v] = (constant[v] || g->set[v] == GRAPH_NONE) &&
				     first_consumer(g, v) != GRAPH_NONE;
		}
		placed_init(g, device, 3, seed % 4 ? constant : NULL, NULL, g->arena, &p);
		uint32_t nodes = 0, sets = 0;
		for (uint32_t v = 0; v < g->n; v++)
			devices &= p.node_device[v] == device_of(g, device, constant, v);
		for (uint32_t d = 0; d < 3; d++) {
			nodes += p.nodes[d];
			sets += p.sets[d];
		}
		counts &= nodes == g->n && sets == g->n_sets;
		segments &= segments_are_right(g, &p, follows);
		copies &= copies_are_right(g, &p, follows);
		n_copies += p.copies;
		graph_free(g);
	}
	tap(devices, "what follows its consumers is where the first of them is");
	tap(counts, "nodes and sets of the devices add up");
	tap(segments, "segments");
	tap(copies && n_copies > 500, "copies: a tensor once for each other device that reads it");
	return tap_end();
}
