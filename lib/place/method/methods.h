/* methods.h - the table of placement methods.  One line registers one: X(name) stands for
 * `const struct place_method method_name`, which a file of its own defines (method.h).  --list
 * prints them in this order. */
#ifndef HSDAG_PLACE_METHOD_METHODS_H
#define HSDAG_PLACE_METHOD_METHODS_H

/* clang-format off */
#define PLACE_METHODS(X) \
	X(single) \
	X(parts) \
	X(replicas) \
	X(random) \
	X(variety) \
	X(expert) \
	X(of) \
	X(greedy_memory) \
	X(heft) \
	X(heft_apart) \
	X(contention) \
	X(refine) \
	X(cluster) \
	X(priced) \
	X(lookahead) \
	X(lookahead_rank) \
	X(peft) \
	X(cpop) \
	X(m_topo) \
	X(layers) \
	X(m_etf) \
	X(m_sct) \
	X(ort_budget) \
	X(hetero_priority) \
	X(llama_fit) \
	X(accelerate_balanced) \
	X(dmda) \
	X(mincut) \
	X(scotch_mincut) \
	X(metis) \
	X(scotch) \
	X(climb) \
	X(anneal) \
	X(tabu) \
	X(genetic) \
	X(cross_entropy) \
	X(repeats) \
	X(local_search) \
	X(random_moves) \
	X(learned_moves) \
	X(learned_policy) \
	X(restarts) \
	X(exact) \
	X(ideals) \
	X(spine) \
	X(series) \
	X(portfolio) \
/* end */
/* clang-format on */

#endif
