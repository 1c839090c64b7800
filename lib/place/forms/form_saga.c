/* form_saga.c - task graphs and networks of SAGA (J. Coleman, B. Krishnamachari, "PISA: an adversarial approach to comparing
 * task graph scheduling algorithms", 2024; anrg-saga 2.0):
 *
 *   {"tasks": [{"name", "cost"}], "dependencies": [{"source", "target", "size"}]}
 *   {"nodes": [{"name", "speed"}], "edges": [{"source", "target", "speed"}]}      either direction; null: without limit
 *   {"task_graph", "network"}                                                     both
 *
 * A task takes cost / speed, a dependency size / speed of the edge.  Nodes without an edge, or with one of speed 0, exchange
 * nothing.  Transfers do not wait for each other there.  Sizes have no unit: a unit becomes a power of two of bytes, of sizes
 * and of speeds alike. */
#include <math.h>
#include <string.h>

#include "place/forms/form_impl.h"

enum { MOST_SCALE = 30, BITS = 52 };
static const double SAME_SPEED = 1e18; /* bytes a second of a network's edge without limit */

static const struct val *task_graph(const struct form_source *s)
{
	const struct val *both =
		val_type(s->json) == VAL_MAP ? val_get(s->json, "task_graph") : NULL;
	return both ? both : s->json;
}

static bool is_saga(const struct form_source *s)
{
	if (!s->json || val_type(s->json) != VAL_MAP)
		return false;
	const struct val *g = task_graph(s);
	return val_type(g) == VAL_MAP && val_get(g, "tasks") && val_get(g, "dependencies");
}

/* ---- the network ---- */

/* A name: the number that it has in t, or a new one. */
static int find_name(const struct val *map, const char *key, const struct strtab *t, uint32_t *at,
		     struct arena *a, struct err *e)
{
	const char *name;
	if (get_text(map, key, a, &name, e) < 0)
		return -1;
	*at = strtab_find(t, name);
	char text[200];
	return *at == UINT32_MAX ? err_set(e, ST_INPUT, "%s: there is no '%s'", key,
					   err_escape(text, sizeof text, name, strlen(name)))
				 : 0;
}

static int read_nodes(const struct val *network, struct strtab *names, double **speed,
		      struct arena *a, struct json_problem *p, struct err *e)
{
	const struct val *list;
	struct devs *d = &p->devs;
	if (json_problem_list(network, "nodes", &list, &d->k, e) < 0)
		return -1;
	if (d->k == 0 || d->k > DEVS_MAX)
		return err_set(e, ST_INPUT, "%u nodes, not 1 to %d", d->k, DEVS_MAX);
	d->names = ARENA_NEWN(a, const char *, d->k);
	d->types = ARENA_NEWN(a, const char *, d->k);
	d->mem_bytes = ARENA_NEWN(a, uint64_t, d->k);
	*speed = ARENA_NEWN(a, double, d->k);
	for (uint32_t i = 0; i < d->k; i++) {
		const struct val *map = val_at(list, i);
		d->types[i] = "model";
		if (get_text(map, "name", a, &d->names[i], e) < 0 ||
		    json_problem_number(map, "speed", true, &(*speed)[i], e) < 0)
			return err_prefix(e, "nodes[%u]", i);
		if (!*d->names[i] || strtab_add(names, d->names[i]) != i)
			return err_set(e, ST_INPUT,
				       "nodes[%u]: its name is empty, or was there before", i);
	}
	return 0;
}

/* Speed of one edge; null, Python's infinity in JSON, is no limit. */
static int edge_speed(const struct val *map, double *speed, struct err *e)
{
	const struct val *v = val_get(map, "speed");
	*speed = SAME_SPEED;
	if (v && val_type(v) == VAL_NIL)
		return 0;
	return json_problem_number(map, "speed", true, speed, e);
}

static int read_edges(const struct val *network, const struct strtab *names, double scale,
		      struct arena *a, struct json_problem *p, struct err *e)
{
	const struct val *list;
	struct devs *d = &p->devs;
	uint32_t n;
	double *rate = ARENA_NEWN(a, double, (size_t)d->k * d->k);
	if (json_problem_list(network, "edges", &list, &n, e) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const struct val *map = val_at(list, i);
		uint32_t x, y;
		double speed;
		if (find_name(map, "source", names, &x, a, e) < 0 ||
		    find_name(map, "target", names, &y, a, e) < 0 || edge_speed(map, &speed, e) < 0)
			return err_prefix(e, "edges[%u]", i);
		rate[(size_t)x * d->k + y] = rate[(size_t)y * d->k + x] = speed * scale;
	}
	d->link = ARENA_NEWN(a, struct dev_link, (size_t)d->k * d->k);
	for (uint32_t x = 0; x < d->k; x++)
		for (uint32_t y = 0; y < d->k; y++) {
			double bytes_per_s = rate[(size_t)x * d->k + y];
			if (x != y && bytes_per_s > 0)
				d->link[d->n_links++] = (struct dev_link){
					.src = x,
					.dst = y,
					.bytes_per_s = fmin(fmax(bytes_per_s, 1e-100), 1e100)};
		}
	return 0;
}

/* ---- the tasks ---- */

/* A power of two by which sizes stay apart as whole bytes, and all of them countable. */
static double choose_scale(const struct val *dependencies, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct val *size = val_get(val_at(dependencies, i), "size");
		double x = 0;
		if (size && val_real(size, &x) && isfinite(x) && x > 0)
			sum += x;
	}
	int bits = sum > 0 ? BITS - ilogb(sum) : MOST_SCALE;
	return ldexp(1, bits < 0 ? 0 : bits > MOST_SCALE ? MOST_SCALE : bits);
}

static int read_tasks(const struct form_source *s, const struct val *list, uint32_t n,
		      const double *speed, struct strtab *names, struct json_problem *p,
		      struct err *e)
{
	json_problem_alloc(p, n, s->a);
	for (uint32_t v = 0; v < n; v++) {
		double cost = 0;
		if (get_text(val_at(list, v), "name", s->a, &p->node_name[v], e) < 0 ||
		    json_problem_number(val_at(list, v), "cost", true, &cost, e) < 0)
			return err_prefix(e, "tasks[%u]", v);
		if (strtab_add(names, p->node_name[v]) != v)
			return err_set(e, ST_INPUT, "tasks[%u]: its name was there before", v);
		p->type[v] = "Task";
		if (!speed)
			form_cost(s, p, v, cost);
		for (uint32_t d = 0; speed && d < p->devs.k; d++)
			p->cost_s[(size_t)v * p->devs.k + d] =
				cost == 0      ? 0
				: speed[d] > 0 ? fmin(cost / speed[d], 1e100)
					       : -1;
	}
	return 0;
}

static int read_dependencies(const struct form_source *s, const struct val *list, uint32_t n,
			     double scale, const struct strtab *names, struct json_problem *p,
			     struct err *e)
{
	struct form_edges edges = {0};
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		const struct val *map = val_at(list, i);
		uint32_t src, dst;
		double size = 0;
		if (find_name(map, "source", names, &src, s->a, e) < 0 ||
		    find_name(map, "target", names, &dst, s->a, e) < 0 ||
		    json_problem_number(map, "size", true, &size, e) < 0 ||
		    form_edge(&edges, src, dst, size * scale, i, e) < 0)
			rc = err_prefix(e, "dependencies[%u]", i);
	}
	form_take_edges(&edges, s->a, p);
	return rc;
}

static int read_both(const struct form_source *s, const struct val *network, struct strtab *nodes,
		     struct strtab *tasks, struct json_problem *p, struct err *e)
{
	const struct val *g = task_graph(s), *list, *dependencies;
	uint32_t n, n_dependencies;
	double *speed = NULL, scale = 1;
	if (json_problem_list(g, "tasks", &list, &n, e) < 0 ||
	    json_problem_list(g, "dependencies", &dependencies, &n_dependencies, e) < 0)
		return -1;
	if (network)
		scale = choose_scale(dependencies, n_dependencies);
	if (network && (read_nodes(network, nodes, &speed, s->a, p, e) < 0 ||
			read_edges(network, nodes, scale, s->a, p, e) < 0)) {
		if (s->network)
			*s->about = s->o->network;
		return err_prefix(e, "network");
	}
	if (network)
		p->overlap = true; /* and no contention */
	return read_tasks(s, list, n, speed, tasks, p, e) < 0 ||
			       read_dependencies(s, dependencies, n_dependencies, scale, tasks, p,
						 e) < 0
		       ? -1
		       : 0;
}

static int read_saga(const struct form_source *s, struct json_problem *p, struct err *e)
{
	const struct val *network = s->network ? s->network : val_get(s->json, "network");
	struct strtab nodes = {0}, tasks = {0};
	if (!network && !s->spec.n_devs)
		return err_set(
			e, ST_USAGE,
			"a task graph of SAGA has no devices; --network FILE has its network, "
			"--spec others");
	if (s->spec.n_devs)
		network = NULL;
	if (network && val_type(network) != VAL_MAP) {
		if (s->network)
			*s->about = s->o->network;
		return err_set(e, ST_INPUT, "network: not an object");
	}
	int rc = read_both(s, network, &nodes, &tasks, p, e);
	strtab_release(&nodes);
	strtab_release(&tasks);
	return rc;
}

const struct problem_form form_saga = {
	.name = "saga",
	.about = "task graphs of SAGA; --network FILE, or both in one file",
	.flags = FORM_HAS_SPEC | FORM_HAS_NETWORK,
	.is = is_saga,
	.read = read_saga,
};
