/* scotch_method.c - Scotch's static mapping of the units onto the graph of the devices: loads in
 * proportion to their speeds, and each copy weighed by how dear the link is that it crosses
 * (Pellegrini, Roman, HPCN Europe 1996).  As a baseline of device placement: Mirhoseini et al.,
 * "Device placement optimization with reinforcement learning", ICML 2017, section 4.1.  Memory
 * is not looked at; what is not legal is repaired. */
#include <math.h>
#include <stdio.h>

#include "partition/scotch_lib.h"
#include "place/heuristic/partition_placement.h"

/* How dear a typical tensor is between the devices of parts (n_parts,n_parts), both ways; without
 * a link: ten times the dearest.  NULL when all are the same. */
static double *distances(const struct partition_placement *p)
{
	const struct place_model *m = p->r->m;
	const struct sched_links *l = &m->costs.links;
	uint32_t n = p->n_parts, n_tensors = m->tasks.dag.n_tensors;
	double *x = ARENA_NEWN(p->r->a, double, (size_t)n *n), sum = 0, dearest = 0;
	bool differ = false;

	if (m->rules != PLACE_SCHEDULE)
		return NULL;
	for (uint32_t t = 0; t < n_tensors; t++)
		sum += (double)m->tasks.dag.tensor_bytes[t];
	uint64_t bytes = n_tensors ? (uint64_t)(sum / n_tensors) : 0;

	for (uint32_t i = 0; i < n * n; i++) {
		size_t there = (size_t)p->dev[i / n] * m->k + p->dev[i % n];
		size_t back = (size_t)p->dev[i % n] * m->k + p->dev[i / n];

		if (i / n != i % n && l->latency_s[there] >= 0 && l->latency_s[back] >= 0)
			x[i] = sched_copy_s(l, p->dev[i / n], p->dev[i % n], bytes) +
			       sched_copy_s(l, p->dev[i % n], p->dev[i / n], bytes);
		else if (i / n != i % n)
			x[i] = INFINITY;
		dearest = x[i] < INFINITY ? fmax(dearest, x[i]) : dearest;
	}
	dearest = dearest > 0 ? dearest : 1;
	for (uint32_t i = 0; i < n * n; i++) {
		x[i] = x[i] < INFINITY ? fmax(x[i], 1e-6 * dearest) : 10 * dearest;
		differ |= i / n != i % n && fabs(x[i] - x[1]) > 1e-9 * x[1];
	}
	return differ ? x : NULL;
}

static int run_scotch(struct method_run *r, struct err *e)
{
	struct partition_placement p;
	char text[80];

	partition_placement_init(&p, r, NULL, false);
	struct group_arch arch = {p.n_parts, p.share, p.n_parts > 1 ? distances(&p) : NULL};

	if (p.n_parts > 1 && group_scotch_map(&p.task, &arch, false, e) < 0)
		return -1;
	snprintf(text, sizeof(text), "mapped onto %u devices, %s", p.n_parts,
		 arch.distance ? "with distances of links" : "all links alike");
	return partition_placement_answer(&p, false, text, e);
}

const struct place_method method_scotch = {
	.name = "scotch",
	.needs_costs = true,
	.about = "Scotch, static mapping onto the graph of devices",
	.source = "Pellegrini, Roman, HPCN Europe 1996",
	.run = run_scotch,
	.is_heuristic = true,
};
