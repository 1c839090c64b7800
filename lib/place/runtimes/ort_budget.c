/* ort_budget.c - ONNX Runtime's partitioning by a memory budget (session.resource_cuda_partitioning_settings, 1.32;
 * core/framework/resource_accountant.cc, and GetCapability of the CUDA provider): an execution provider takes nodes in topological
 * order.  Without measured statistics a node costs 1.5 times the bytes of its outputs and of weights that no node before it had.
 * The first node that would exceed the budget ends the assignment; what is left goes to the next provider, in the end to the CPU.
 * The budget is a device's memory.  Beyond it: ONNX Runtime has a budget for one CUDA device; here each accelerator has one. */
#include "place/runtimes/rule.h"

static const double WORKSPACE = 1.5; /* by what bytes of weights and outputs are multiplied */

static void assign_by_budget(struct runtime_rule *x)
{
	bool *taken = MEM_NEWN(bool, x->u.n);

	for (uint32_t j = 0; j < x->n_acc; j++) {
		double used = 0;

		for (uint32_t i = 0; i < x->u.n; i++) {
			double cost = WORKSPACE * (x->weights[i] + x->outputs[i]);

			if (taken[i] || !runtime_rule_may(x, i, x->acc[j]))
				continue;
			if (used + cost > x->room[x->acc[j]])
				break;
			used += cost;
			taken[i] = true;
			x->unit_dev[i] = (uint16_t)x->acc[j];
		}
	}
	for (uint32_t i = 0; i < x->u.n; i++)
		if (!taken[i])
			runtime_rule_put(x, i, x->host);
	mem_free(taken);
}

static int run_ort_budget(struct method_run *r, struct err *e)
{
	struct runtime_rule x;

	runtime_rule_init(&x, r);
	return runtime_rule_answer(&x, assign_by_budget, e);
}

const struct place_method method_ort_budget = {
	.name = "ort-budget",
	.needs_costs = true,
	.about = "as ONNX Runtime: in order until a memory budget is used",
	.source = "ONNX Runtime 1.32, resource_cuda_partitioning_settings",
	.run = run_ort_budget,
	.is_heuristic = true,
};
