/* jsonproblem_costs.c - what a node of the general form takes on each device. */
#include "place/problem/jsonproblem_keys.h"

static int no_device(const struct devs *d, const char *key, const char *name, struct err *e)
{
	devs_unknown(d->names, d->k, name, ST_INPUT, e);
	return err_prefix(e, "%s", key);
}

/* Of FLOPs and bytes; a node of neither takes no time. */
static int roofline_costs(const struct val *node, uint32_t k, const struct device_spec *const *on,
			  double *row, struct err *e)
{
	double flops = 0, bytes = 0;

	if (json_problem_number(node, "flops", true, &flops, e) < 0 ||
	    json_problem_number(node, "bytes", true, &bytes, e) < 0)
		return -1;
	for (uint32_t i = 0; i < k; i++)
		row[i] = flops + bytes > 0 ? spec_roofline_s(on[i], flops, bytes) : 0;
	return 0;
}

/* A number for each device that can run it. */
static int costs_by_device(const struct val *cost, const struct devs *d, double *row, struct err *e)
{
	for (uint32_t i = 0; i < d->k; i++) {
		row[i] = -1;
		if (json_problem_number(cost, d->names[i], false, &row[i], e) < 0)
			return err_prefix(e, "cost_s");
	}
	/* A name that is misspelt would keep the node from a device. */
	for (size_t i = 0; i < val_count(cost); i++) {
		const char *name = "";
		size_t n;
		if (!val_bytes(val_key_at(cost, i), &name, &n) || devs_find(d, name) < 0)
			return no_device(d, "cost_s", name, e);
	}
	return 0;
}

static int read_costs(const struct val *node, const struct devs *d,
		      const struct device_spec *const *on, double *row, struct err *e)
{
	const struct val *cost = val_get(node, "cost_s");
	double all = 0;

	if (!cost && on)
		return roofline_costs(node, d->k, on, row, e);
	if (!cost)
		return err_set(e, ST_INPUT, "no key 'cost_s'");
	if (val_type(cost) == VAL_MAP)
		return costs_by_device(cost, d, row, e);
	if (json_problem_number(node, "cost_s", true, &all, e) < 0)
		return -1;
	for (uint32_t i = 0; i < d->k; i++)
		row[i] = on ? all * (on[0]->flops_per_s / on[i]->flops_per_s) : all;
	return 0;
}

static int read_allowed(const struct val *node, const struct devs *d, struct arena *a, double *row,
			struct err *e)
{
	const struct val *list = val_get(node, "allowed");
	bool *may = ARENA_NEWN(a, bool, d->k);
	const char **name;
	size_t n = SIZE_MAX;

	if (!list || val_type(list) == VAL_NIL)
		return 0;
	if (get_texts(node, "allowed", a, &n, &name, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int dev = devs_find(d, name[i]);

		if (dev < 0)
			return no_device(d, "allowed", name[i], e);
		may[dev] = true;
	}
	for (uint32_t i = 0; i < d->k; i++)
		if (!may[i])
			row[i] = -1;
	return 0;
}

int json_problem_costs(const struct val *node, const struct devs *d,
		       const struct device_spec *const *on, struct arena *a, double *row,
		       struct err *e)
{
	return read_costs(node, d, on, row, e) < 0 ? -1 : read_allowed(node, d, a, row, e);
}
