/* accelerate.c - Hugging Face accelerate's device_map="balanced" (1.15; utils/modeling.py: get_balanced_memory,
 * infer_auto_device_map).
 * Limits: of all accelerators but the last, at most weights / accelerators + 1.25 x (the larger of the first layer of a list and the
 * mean of modules that have no modules within).
 * Map: modules in order; one goes to the device at hand as long as its weights fit, where the first accelerator and the CPU keep
 * room for the largest layer that is still to come.  Where it does not fit, it is divided into its modules, unless it is a layer of a
 * list (_no_split_modules) or has none; then the next device comes, and none before it again.  The CPU is behind all accelerators.
 * What has no weights runs where its module is, or, in a module that is divided, where the operation before it is.
 * Not here: weights on the CPU are computed with on the first GPU there, on the CPU here; the disk, instead of which the CPU has
 * the rest; weights of several modules, which count with the first one.  Modules come in the order in which they are used, where
 * PyTorch has that in which they were made. */
#include <math.h>
#include <string.h>

#include "place/runtimes/module_tree.h"

static const double BUFFER = 1.25;

/* A module that waits, or the weights that are a divided one's own. */
struct waiting {
	uint32_t module;
	bool own;
};

struct device_map {
	const struct runtime_rule *x;
	struct module_tree t;
	struct waiting *todo; /* (n) the last one is next */
	uint32_t n;
	uint32_t *largest; /* (n_largest) layers of largest_bytes, still to come */
	uint32_t n_largest;
	double largest_bytes;
	double *limit;         /* (accelerators + 1) the host's is the last */
	uint32_t *on, *own_on; /* (modules) numbers of limits; GRAPH_NONE: open, or divided */
};

static bool is_undivided(const struct module_tree *t, uint32_t i)
{
	return t->x[i].block || t->x[i].child == GRAPH_NONE;
}

static void push_children(struct device_map *m, uint32_t i)
{
	uint32_t from = m->n;

	if (m->t.x[i].own > 0)
		m->todo[m->n++] = (struct waiting){i, true};
	for (uint32_t c = m->t.x[i].child; c != GRAPH_NONE; c = m->t.x[c].next)
		m->todo[m->n++] = (struct waiting){c, false};
	for (uint32_t a = from, b = m->n; a + 1 < b; a++) {
		struct waiting first = m->todo[a];

		m->todo[a] = m->todo[--b];
		m->todo[b] = first;
	}
}

static void look_at_layer(struct device_map *m, uint32_t i)
{
	if (!is_undivided(&m->t, i)) {
		for (uint32_t c = m->t.x[i].child; c != GRAPH_NONE; c = m->t.x[c].next)
			look_at_layer(m, c);
		return;
	}
	if (m->t.x[i].bytes > m->largest_bytes) {
		m->largest_bytes = m->t.x[i].bytes;
		m->n_largest = 0;
	}
	if (m->t.x[i].bytes == m->largest_bytes)
		m->largest[m->n_largest++] = i;
}

static void find_largest(struct device_map *m)
{
	m->n_largest = 0;
	m->largest_bytes = 0;
	for (uint32_t i = m->n; i-- > 0;)
		if (!m->todo[i].own)
			look_at_layer(m, m->todo[i].module);
}

/* Layers of the module that is looked at are not to come any more; when none is left, others are the largest. */
static void forget_layers(struct device_map *m, uint32_t module)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_largest; i++)
		if (!module_within(&m->t, m->largest[i], module))
			m->largest[n++] = m->largest[i];
	m->n_largest = n;
	if (n == 0)
		find_largest(m);
}

/* get_balanced_memory. */
static void balance(struct device_map *m)
{
	const struct runtime_rule *x = m->x;
	const struct module_tree *t = &m->t;
	double first = 0, sum = 0, leaves = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct module *v = &t->x[i];
		bool earlier = false, leaf = true;

		for (uint32_t c = v->up == GRAPH_NONE ? i : t->x[v->up].child; c != i;
		     c = t->x[c].next)
			earlier |= t->x[c].block;
		if (v->block && !earlier)
			first = fmax(first, v->bytes);
		for (uint32_t c = v->child; c != GRAPH_NONE; c = t->x[c].next)
			leaf &= t->x[c].bytes == 0;
		if (leaf && v->bytes > 0) {
			sum += v->bytes;
			leaves++;
		}
	}
	double each = floor(t->x[0].bytes / fmax(1, x->n_acc)) +
		      floor(BUFFER * fmax(first, floor(sum / fmax(1, leaves))));

	for (uint32_t j = 0; j < x->n_acc; j++)
		m->limit[j] =
			j + 1 < x->n_acc ? fmin(each, x->room[x->acc[j]]) : x->room[x->acc[j]];
	m->limit[x->n_acc] = x->room[x->host];
}

/* infer_auto_device_map. */
static void map_modules(struct device_map *m)
{
	uint32_t dev = 0, host = m->x->n_acc;
	double used = 0;

	push_children(m, 0);
	find_largest(m);
	while (m->n > 0) {
		struct waiting w = m->todo[--m->n];
		const struct module *v = &m->t.x[w.module];
		double bytes = w.own ? v->own : v->bytes;

		if (!w.own)
			forget_layers(m, w.module);
		bool keeps = dev == 0 || dev == host;
		double most = m->limit[dev <= host ? dev : host] - (keeps ? m->largest_bytes : 0);

		if (dev > host || used + bytes <= most) {
			used += bytes;
			(w.own ? m->own_on : m->on)[w.module] = dev <= host ? dev : host;
		} else if (!w.own && !is_undivided(&m->t, w.module)) {
			push_children(m, w.module);
			find_largest(m);
		} else {
			m->todo[m->n++] = w;
			dev++;
			used = 0;
		}
	}
}

static void assign_modules(struct runtime_rule *x)
{
	struct device_map m = {.x = x};
	uint32_t before = 0;

	module_tree_init(&m.t, x);
	m.todo = MEM_NEWN(struct waiting, 2 * (size_t)m.t.n);
	m.largest = MEM_NEWN(uint32_t, m.t.n);
	m.limit = MEM_NEWN(double, (size_t)x->n_acc + 1);
	m.on = MEM_NEWN(uint32_t, m.t.n);
	m.own_on = MEM_NEWN(uint32_t, m.t.n);
	memset(m.on, 0xff, m.t.n * sizeof *m.on);
	memset(m.own_on, 0xff, m.t.n * sizeof *m.own_on);
	balance(&m);
	map_modules(&m);
	for (uint32_t i = 0; i < x->u.n; i++) {
		uint32_t at = m.t.of_unit[i], to = x->weights[i] > 0 ? m.own_on[at] : GRAPH_NONE;

		for (; to == GRAPH_NONE && at != GRAPH_NONE; at = m.t.x[at].up)
			to = m.on[at];
		before = to == GRAPH_NONE ? before : to;
		runtime_rule_put(x, i, before < x->n_acc ? x->acc[before] : x->host);
	}
	module_tree_release(&m.t);
	mem_free(m.todo);
	mem_free(m.largest);
	mem_free(m.limit);
	mem_free(m.on);
	mem_free(m.own_on);
}

static int run_accelerate(struct method_run *r, struct err *e)
{
	struct runtime_rule x;

	runtime_rule_init(&x, r);
	return runtime_rule_answer(&x, assign_modules, e);
}

const struct place_method method_accelerate_balanced = {
	.name = "accelerate-balanced",
	.needs_costs = true,
	.about = "as accelerate: modules in order, by balanced memory",
	.source = "accelerate 1.15, get_balanced_memory, infer_auto_device_map",
	.run = run_accelerate,
	.is_heuristic = true,
};
