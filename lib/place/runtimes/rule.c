/* rule.c - see rule.h. */
#include "place/runtimes/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/module_name.h"
#include "place/simulate/held.h"

enum { STEPS = 20 }; /* parts of the memory that a rule has, from all of them on down */

static void order_devices(struct runtime_rule *x)
{
	const struct place_model *m = x->r->m;
	uint32_t processor = UINT32_MAX;

	x->acc = ARENA_NEWN(x->r->a, uint32_t, m->k);
	for (uint32_t d = 0; d < m->k; d++) {
		if (!place_is_processor(m, d))
			x->acc[x->n_acc++] = d;
		else if (processor == UINT32_MAX)
			processor = d;
	}
	x->host = processor != UINT32_MAX && x->n_acc > 0 ? processor : m->k - 1;
	if (processor != UINT32_MAX && x->n_acc > 0)
		return;
	for (x->n_acc = 0; x->n_acc + 1 < m->k; x->n_acc++)
		x->acc[x->n_acc] = x->n_acc;
}

static void sum_bytes(struct runtime_rule *x)
{
	const struct place_model *m = x->r->m;
	const struct sched_dag *d = &m->tasks.dag;
	struct held held;
	bool *seen = ARENA_NEWN(x->r->a, bool, m->n_shared);

	held_init(&held, &x->u, x->r->a);
	x->weights = ARENA_NEWN(x->r->a, double, x->u.n);
	x->outputs = ARENA_NEWN(x->r->a, double, x->u.n);
	for (uint32_t i = 0; i < x->u.n; i++) {
		x->weights[i] = (double)x->u.mem[i];
		for (uint32_t j = held.ptr[i]; j < held.ptr[i + 1]; j++) {
			if (!seen[held.shared[j]])
				x->weights[i] += (double)m->shared[held.shared[j]].bytes[x->host];
			seen[held.shared[j]] = true;
		}
	}
	for (uint32_t t = 0; t < d->n; t++)
		for (uint32_t o = d->out_ptr[t]; o < d->out_ptr[t + 1]; o++)
			x->outputs[x->u.of_set[m->tasks.task_set[t]]] += (double)d->tensor_bytes[o];
}

/* The first name of each set that tells a module, else its first name.  Where others tell modules of PyTorch, a unit whose names
 * tell none belongs to the unit before it. */
static void find_paths(struct runtime_rule *x)
{
	const struct graph *g = x->r->m->g;
	struct arena *a = x->r->a;
	const char **name = ARENA_NEWN(a, const char *, g->n_sets), *before = "";
	const char **module = ARENA_NEWN(a, const char *, g->n_sets);
	bool any = false;

	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t s = g->set[v];

		if (s == GRAPH_NONE || module[s])
			continue;
		module[s] = module_of_operation(g->node_name[v], a);
		any |= module[s] != NULL;
		name[s] = name[s] ? name[s] : g->node_name[v];
	}
	x->path = ARENA_NEWN(a, const char *, x->u.n);
	for (uint32_t i = 0; i < x->u.n; i++) {
		uint32_t s = x->u.set[x->u.ptr[i]];

		for (uint32_t j = x->u.ptr[i]; any && !module[s] && j < x->u.ptr[i + 1]; j++)
			s = x->u.set[j];
		before = module[s] ? module[s] : any || !name[s] ? before : module_path(name[s], a);
		x->path[i] = before;
	}
}

void runtime_rule_init(struct runtime_rule *x, struct method_run *r)
{
	*x = (struct runtime_rule){.r = r};
	place_units_init(&x->u, r->m, r->a);
	order_devices(x);
	sum_bytes(x);
	find_paths(x);
	x->room = ARENA_NEWN(r->a, double, r->m->k);
	x->unit_dev = ARENA_NEWN(r->a, uint16_t, x->u.n);
}

bool runtime_rule_may(const struct runtime_rule *x, uint32_t i, uint32_t dev)
{
	return x->u.cost_s[(size_t)i * x->r->m->k + dev] >= 0;
}

void runtime_rule_put(struct runtime_rule *x, uint32_t i, uint32_t dev)
{
	uint32_t d = 0;

	if (!runtime_rule_may(x, i, dev))
		dev = x->host;
	while (!runtime_rule_may(x, i, dev) && d < x->r->m->k)
		dev = d++;
	x->unit_dev[i] = (uint16_t)dev;
}

static void set_room(struct runtime_rule *x, double share)
{
	const struct place_model *m = x->r->m;

	for (uint32_t d = 0; d < m->k; d++)
		x->room[d] = m->mem_limit[d] ? (double)m->mem_limit[d] * (d == x->host ? 1 : share)
					     : INFINITY;
}

static const struct place_result *place_by_rule(struct runtime_rule *x, int step,
						void (*assign)(struct runtime_rule *x),
						struct evaluator *ev)
{
	set_room(x, (double)step / STEPS);
	assign(x);
	memset(x->r->device, 0, x->r->m->n_sets * sizeof(*x->r->device));
	for (uint32_t i = 0; i < x->u.n; i++)
		place_unit_set(&x->u, i, x->unit_dev[i], x->r->device);
	return place_evaluate(ev, x->r->device);
}

int runtime_rule_answer(struct runtime_rule *x, void (*assign)(struct runtime_rule *x),
			struct err *e)
{
	struct method_run *r = x->r;
	struct evaluator *ev = evaluator_new(r->m);
	double deadline_s = method_deadline_s(r);
	const struct place_result *p = place_by_rule(x, STEPS, assign, ev);
	bool limited = false;
	int step = STEPS;

	for (uint32_t i = 0; i < x->n_acc; i++)
		limited |= r->m->mem_limit[x->acc[i]] > 0;
	while (p->status == PLACE_MEMORY && limited && step > 1 && !method_is_late(deadline_s))
		p = place_by_rule(x, --step, assign, ev);
	if (p->status != PLACE_OK) {
		place_by_rule(x, STEPS, assign, ev);
		snprintf(r->note, sizeof r->note, "no legal placement by this rule");
	} else if (step < STEPS) {
		snprintf(r->note, sizeof r->note, "with %d %% of the accelerators' memory",
			 100 * step / STEPS);
	}
	evaluator_free(ev);
	return r->emit(r, e);
}
