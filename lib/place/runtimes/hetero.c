/* hetero.c - OpenVINO's HETERO (2026.4, src/plugins/hetero/src/plugin.cpp): devices by priority, each operation on the first that
 * supports it, and no look at memory.  Where that needs more than there is, what MODEL_DISTRIBUTION_POLICY=PIPELINE_PARALLEL does:
 * a model takes 1.2 times its constants; a device that has no room for what is left of it takes a share of these constants, in
 * order, as large as its memory is beside them, or, where all accelerators are too small and no CPU is in the list, beside all
 * memory that is left.  The last device has the rest.  Accelerators have priority here, then the host.  OpenVINO moves such borders to where
 * few tensors cross them (query_model_ratio in each plugin); here they are where the share is full. */
#include "place/runtimes/rule.h"

static const double ESTIMATE = 1.2; /* bytes that a model takes, beside its constants */

static void assign_by_priority(struct runtime_rule *x)
{
	for (uint32_t i = 0; i < x->u.n; i++) {
		uint32_t j = 0;

		while (j < x->n_acc && !runtime_rule_may(x, i, x->acc[j]))
			j++;
		runtime_rule_put(x, i, j < x->n_acc ? x->acc[j] : x->host);
	}
}

/* The part of what is left, of `constants` bytes, that a device with this room takes. */
static double model_ratio(double room, double all_left, double constants, bool has_cpu)
{
	if (room >= ESTIMATE * constants || constants < room)
		return 1;
	if (has_cpu || all_left >= ESTIMATE * constants)
		return room / (ESTIMATE * constants);
	return room / all_left;
}

static void assign_by_ratio(struct runtime_rule *x)
{
	bool *taken = MEM_NEWN(bool, x->u.n), has_cpu = place_is_processor(x->r->m, x->host);
	double left = 0;

	for (uint32_t i = 0; i < x->u.n; i++)
		left += x->weights[i];
	for (uint32_t j = 0; j < x->n_acc; j++) {
		uint32_t dev = x->acc[j];
		/* Without a processor the host is the last accelerator. */
		double all_left = has_cpu ? 0 : x->room[x->host], used = 0;

		for (uint32_t i = j; i < x->n_acc; i++)
			all_left += x->room[x->acc[i]];
		double most = left * model_ratio(x->room[dev], all_left, left, has_cpu);

		for (uint32_t i = 0; i < x->u.n && used <= most; i++) {
			if (taken[i] || !runtime_rule_may(x, i, dev))
				continue;
			if (used + x->weights[i] > most)
				break;
			used += x->weights[i];
			taken[i] = true;
			x->unit_dev[i] = (uint16_t)dev;
		}
		left -= used;
	}
	for (uint32_t i = 0; i < x->u.n; i++)
		if (!taken[i])
			runtime_rule_put(x, i, x->host);
	mem_free(taken);
}

/* Does everything by priority fit? */
static bool fits_by_priority(struct runtime_rule *x)
{
	struct evaluator *ev = evaluator_new(x->r->m);

	assign_by_priority(x);
	place_unit_set(&x->u, GRAPH_NONE, 0, x->r->device);
	for (uint32_t i = 0; i < x->u.n; i++)
		place_unit_set(&x->u, i, x->unit_dev[i], x->r->device);
	bool fits = place_evaluate(ev, x->r->device)->status != PLACE_MEMORY;

	evaluator_free(ev);
	return fits;
}

static int run_hetero(struct method_run *r, struct err *e)
{
	struct runtime_rule x;

	runtime_rule_init(&x, r);
	return runtime_rule_answer(&x, fits_by_priority(&x) ? assign_by_priority : assign_by_ratio,
				   e);
}

const struct place_method method_hetero_priority = {
	.name = "hetero-priority",
	.needs_costs = true,
	.about = "as OpenVINO: the first device that can, or shares of memory",
	.source = "OpenVINO 2026.4, HETERO, with PIPELINE_PARALLEL where memory is short",
	.run = run_hetero,
	.is_heuristic = true,
};
