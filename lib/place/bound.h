/* bound.h - lower bounds: what no legal placement can beat, in units of what the model's rules minimise. */
#ifndef HSDAG_PLACE_BOUND_H
#define HSDAG_PLACE_BOUND_H

struct place_units;

/* Lower bounds over all legal placements; the largest is true.
 *   path    the longest path of fastest costs (not for throughput)
 *   load    the linear relaxation of unrelated parallel machines with memory limits (Lenstra,
 *           Shmoys, Tardos 1990), from its dual: for w >= 0 with sum 1 and u >= 0, no placement's
 *           largest load is below sum_j min_i (w_i p_ij + u_i m_j) - sum_i u_i M_i; ascent by
 *           subgradients (not for dnnpart-latency, whose CPUs run any number of tasks at once) */
double place_lower_bound(const struct place_units *u);

#endif
