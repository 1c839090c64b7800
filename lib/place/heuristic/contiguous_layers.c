/* contiguous_layers.c - layers one after another, each device a stretch of them, as pipelines of
 * language models are cut by hand: Huang et al., "GPipe: efficient training of giant neural networks
 * using pipeline parallelism", NeurIPS 2019, section 2.1.  The division whose largest stretch is
 * smallest, by bisection: a device is filled up to a limit, then comes the next. */
#include "place/heuristic/contiguous_layers.h"

#include <math.h>
#include <string.h>

#include "place/method/method.h"

enum { BISECTIONS = 60 };
static const double EQUAL = 1e-9; /* relative */

/* What unit i adds to a stretch on dev. */
static double amount(const struct place_units *u, bool by_memory, uint32_t i, uint32_t dev)
{
	size_t cell = (size_t)i * u->m->k + dev;

	return by_memory ? (double)u->mem_on[cell] : u->cost_s[cell];
}

/* The device for a unit that cannot run on dev: the next that can, else the one before. */
static uint32_t beside(const struct place_units *u, uint32_t i, uint32_t dev)
{
	const double *cost_s = u->cost_s + (size_t)i * u->m->k;

	for (uint32_t d = dev; d < u->m->k; d++)
		if (cost_s[d] >= 0)
			return d;
	while (dev > 0 && cost_s[dev] < 0)
		dev--;
	return dev;
}

/* Do so many bytes not go into the pool of the device? */
static bool pool_is_full(const struct place_model *m, uint32_t dev, uint64_t bytes)
{
	const struct place_pools *p = &m->pools;

	return p->n && p->of[dev] < p->n && p->pool[p->of[dev]].mem_limit &&
	       bytes > p->pool[p->of[dev]].mem_limit;
}

/* Stretches of at most `most` each, into unit_dev (units); false: the devices do not suffice, and the last one
 * has the rest. */
static bool fill_devices(const struct place_units *u, bool by_memory, double most,
			 uint16_t *unit_dev)
{
	const struct place_model *m = u->m;
	uint32_t dev = 0;
	uint64_t held = 0, before = 0; /* on the devices of its pool that are full */
	double sum = 0;
	bool fits = true;

	for (uint32_t i = 0; i < u->n; i++) {
		const double *cost_s = u->cost_s + (size_t)i * m->k;
		const uint64_t *mem = u->mem_on + (size_t)i * m->k;

		while (cost_s[dev] >= 0 &&
		       (sum + amount(u, by_memory, i, dev) > most ||
			(m->mem_limit[dev] && held + mem[dev] > m->mem_limit[dev]) ||
			pool_is_full(m, dev, before + held + mem[dev]))) {
			fits &= dev + 1 < m->k;
			if (dev + 1 == m->k)
				break;
			before = m->pools.n && m->pools.of[dev] == m->pools.of[dev + 1]
					 ? before + held
					 : 0;
			dev++;
			held = 0;
			sum = 0;
		}
		unit_dev[i] = (uint16_t)beside(u, i, dev);
		if (unit_dev[i] != dev)
			continue;
		held += mem[dev];
		sum += amount(u, by_memory, i, dev);
	}
	return fits;
}

void contiguous_layers(const struct place_units *u, bool by_memory, uint16_t *device)
{
	uint16_t *unit_dev = MEM_NEWN(uint16_t, u->n);
	double least = 0, most = 0;

	for (uint32_t i = 0; i < u->n; i++) {
		double largest = 0;

		for (uint32_t d = 0; d < u->m->k; d++)
			largest = fmax(largest, amount(u, by_memory, i, d));
		most += largest;
	}
	bool found = fill_devices(u, by_memory, most, unit_dev);

	for (int i = 0; found && i < BISECTIONS && most - least > EQUAL * most; i++) {
		double middle = least + (most - least) / 2;

		if (fill_devices(u, by_memory, middle, unit_dev))
			most = middle;
		else
			least = middle;
	}
	fill_devices(u, by_memory, most, unit_dev);
	memset(device, 0, u->m->n_sets * sizeof(*device));
	for (uint32_t i = 0; i < u->n; i++)
		place_unit_set(u, i, unit_dev[i], device);
	mem_free(unit_dev);
}

static int run_layers(struct method_run *r, struct err *e)
{
	bool by_memory = r->arg && strcmp(r->arg, "memory") == 0;
	struct place_units u;

	if (r->arg && !by_memory && strcmp(r->arg, "time") != 0)
		return err_set(e, ST_USAGE, "layers are equal by time or memory, not '%s'", r->arg);
	place_units_init(&u, r->m, r->a);
	contiguous_layers(&u, by_memory, r->device);
	method_mend(r, &u);
	return r->emit(r, e);
}

const struct place_method method_layers = {
	.name = "layers",
	.arg = "BY",
	.needs_costs = true,
	.about = "a piece of the graph for each device, of equal time or memory",
	.source = "Huang et al., GPipe, NeurIPS 2019, section 2.1",
	.run = run_layers,
};
