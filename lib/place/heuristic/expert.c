/* expert.c - a placement that a person wrote, from JSON: {"operation name": "device", ...}, as
 * placeout writes it, or dnn-partitioning's {"cpus": [{"nodes": [ids]}], "fpgas": [...]}.  Sets
 * that are not named go where one is that they share a device with.  A graph in parts also takes the names of the operations
 * before they were cut: all parts go where the operation is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "graph/strtab.h"
#include "place/simulate/dnnpart.h"
#include "place/method/method.h"
#include "record/devrec.h"
#include "stream/json_read.h"

enum { NOT_PLACED = UINT16_MAX };

static int set_device(struct method_run *r, uint32_t node, uint32_t dev, struct err *e)
{
	uint32_t set = r->m->g->set[node];
	char name[200];

	if (set == GRAPH_NONE)
		return 0;
	if (r->device[set] != NOT_PLACED && r->device[set] != dev)
		return err_set(e, ST_INPUT, "operation '%s' is on %s, another one of its set on %s",
			       err_escape(name, sizeof(name), r->m->g->node_name[node],
					  strlen(r->m->g->node_name[node])),
			       r->names[dev], r->names[r->device[set]]);
	r->device[set] = (uint16_t)dev;
	return 0;
}

/* The node of an id, by bisection over rows sorted by id. */
struct id_row {
	int64_t id;
	uint32_t row;
};

static int id_compare(const void *pa, const void *pb)
{
	const struct id_row *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static struct id_row *sort_ids(const struct graph *g, struct arena *a)
{
	struct id_row *x = ARENA_NEWN(a, struct id_row, g->n);

	for (uint32_t v = 0; v < g->n; v++)
		x[v] = (struct id_row){g->id[v], v};
	if (g->n > 1)
		qsort(x, g->n, sizeof(*x), id_compare);
	return x;
}

/* A name that no operation has, and the one that may be meant. */
static int unknown_name(const struct graph *g, const char *name, uint32_t n, struct err *e)
{
	char text[200], more[40] = "";
	struct err_near near = {.name = name};

	for (uint32_t v = 0; v < g->n; v++)
		err_offer(&near, g->node_name[v]);
	if (n > 1)
		snprintf(more, sizeof(more), ", nor %u other%s", n - 1, n > 2 ? "s" : "");
	return err_unknown(e, ST_INPUT, &near, NULL, "the graph has no operation '%s'%s",
			   err_escape(text, sizeof(text), name, strlen(name)), more);
}

/* Which of `names` node v goes by: its own, its id in a cost graph, or that of the operation that it is a part of;
 * UINT32_MAX: none of them. */
static uint32_t find_name(const struct strtab *names, const struct graph *g, uint32_t v)
{
	uint32_t i = strtab_find(names, g->node_name[v]);
	char id[24];

	if (i == UINT32_MAX && g->ir_version == 0) {
		snprintf(id, sizeof(id), "%" PRId64, g->id[v]);
		i = strtab_find(names, id);
	}
	if (i == UINT32_MAX && g->whole && g->part_of[v] != GRAPH_NONE)
		i = strtab_find(names, g->whole->node_name[g->part_of[v]]);
	return i;
}

/* {"name": "device"}. */
static int by_name(struct method_run *r, const struct val *json, struct err *e)
{
	uint32_t *device = ARENA_NEWN(r->a, uint32_t, val_count(json));
	bool *used = ARENA_NEWN(r->a, bool, val_count(json));
	struct strtab names = {0};
	const char *unused = NULL;
	uint32_t n_unused = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < val_count(json); i++) {
		const char *name, *dev;
		size_t n, n_dev;

		if (!val_bytes(val_key_at(json, i), &name, &n) ||
		    !val_bytes(val_value_at(json, i), &dev, &n_dev)) {
			rc = err_set(e, ST_INPUT, "the device of an operation is not a text");
			break;
		}
		uint32_t *at = &device[strtab_add(&names, name)];

		while (*at < r->m->k && strcmp(r->m->names[*at], dev) != 0)
			++*at;
		if (*at == r->m->k)
			rc = devs_unknown(r->m->names, r->m->k, dev, ST_INPUT, e);
	}
	for (uint32_t v = 0; rc == 0 && v < r->m->g->n; v++) {
		uint32_t i = find_name(&names, r->m->g, v);

		if (i != UINT32_MAX) {
			used[i] = true;
			rc = set_device(r, v, device[i], e);
		}
	}
	/* Of what was cut some operations are gone, as those that only told a shape. */
	for (uint32_t v = 0; r->m->g->whole && v < r->m->g->whole->n; v++) {
		uint32_t i = strtab_find(&names, r->m->g->whole->node_name[v]);

		if (i != UINT32_MAX)
			used[i] = true;
	}
	for (size_t i = 0; rc == 0 && i < val_count(json); i++) {
		const char *name;
		size_t n;

		if (val_bytes(val_key_at(json, i), &name, &n) && !used[strtab_find(&names, name)]) {
			unused = unused ? unused : name;
			n_unused++;
		}
	}
	if (rc == 0 && n_unused)
		rc = unknown_name(r->m->g, unused, n_unused, e);
	strtab_release(&names);
	return rc;
}

static int put_id(struct method_run *r, const struct val *id, const struct id_row *rows,
		  uint32_t dev, struct err *e)
{
	uint32_t lo = 0, hi = r->m->g->n;
	int64_t number;

	if (!val_int(id, &number))
		return err_set(e, ST_INPUT, "an id is not an integer");
	BISECT(lo, hi, mid, rows[mid].id < number)
	if (lo < r->m->g->n && rows[lo].id == number)
		return set_device(r, rows[lo].row, dev, e);
	return err_set(e, ST_INPUT, "there is no node %lld", (long long)number);
}

/* A device more than the problem has, which the dnnpart models take as one like the others of its
 * kind: the expert of BERT-24 uses six accelerators of five. */
static int one_more(struct method_run *r, bool cpu, struct err *e)
{
	const char **names = ARENA_NEWN(r->a, const char *, (size_t)r->k + 1);
	uint32_t like = 0, number = 0, i;
	bool taken;

	while (like < r->m->k && dnnpart_is_cpu(r->m, like) != cpu)
		like++;
	if (like == r->m->k || r->k == DEVS_MAX)
		return err_set(e, ST_INPUT, "there are no such devices, or too many");
	memcpy(names, r->names, r->k * sizeof(*names));
	do {
		names[r->k] = arena_printf(r->a, "%.*s:%u", (int)strcspn(r->m->names[like], ":"),
					   r->m->names[like], number++);
		for (taken = false, i = 0; i < r->k; i++)
			taken |= strcmp(names[i], names[r->k]) == 0;
	} while (taken);
	r->names = names;
	r->k++;
	return 0;
}

/* The list of devices of one kind; they are the stream's CPUs, or its other devices, in order. */
static int by_kind(struct method_run *r, const struct val *json, const char *key, bool cpu,
		   struct err *e)
{
	const struct id_row *rows = sort_ids(r->m->g, r->a);
	const struct val *list, *nodes;
	uint32_t dev = 0;

	if (!val_get(json, key))
		return 0;
	if (get_list(json, key, &list, e) < 0)
		return -1;
	for (size_t i = 0; i < val_count(list); i++, dev++) {
		if (val_type(val_at(list, i)) != VAL_MAP ||
		    get_list(val_at(list, i), "nodes", &nodes, e) < 0)
			return err_set(e, ST_INPUT, "%s[%zu] has no list 'nodes'", key, i);
		while (dev < r->m->k && dnnpart_is_cpu(r->m, dev) != cpu)
			dev++;
		if (val_count(nodes) == 0)
			continue;
		if (dev >= r->m->k)
			dev = r->k;
		if (dev >= r->k && one_more(r, cpu, e) < 0)
			return err_prefix(e, "%s[%zu]", key, i);
		for (size_t j = 0; j < val_count(nodes); j++)
			if (put_id(r, val_at(nodes, j), rows, dev, e) < 0)
				return -1;
	}
	return 0;
}

/* Set i and those that share its device, known by the one that is together[i]: class (n_sets) has their devices. */
static void place_class(struct method_run *r, uint16_t *class, uint32_t i, uint16_t dev)
{
	const uint32_t *together = r->m->together;
	uint32_t c = together ? together[i] : i;

	if (class[c] == NOT_PLACED)
		class[c] = dev;
	if (r->device[i] == NOT_PLACED)
		r->device[i] = class[c];
}

/* The nodes of a graph in parts that no name stands for, as slices: where the first that reads them is, else where what they read
 * is. */
static void place_beside(struct method_run *r, uint16_t *class)
{
	const struct graph *g = r->m->g;

	for (uint32_t v = g->n; v-- > 0;)
		for (uint32_t i = g->consumers.ptr[v]; i < g->consumers.ptr[v + 1]; i++) {
			uint32_t set = g->set[v], reader = g->set[g->consumers.dst[i]];

			if (set != GRAPH_NONE && reader != GRAPH_NONE &&
			    r->device[set] == NOT_PLACED && r->device[reader] != NOT_PLACED)
				place_class(r, class, set, r->device[reader]);
		}
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t set = g->set[v], read = g->in_node[i] == GRAPH_NONE
								 ? GRAPH_NONE
								 : g->set[g->in_node[i]];

			if (set != GRAPH_NONE && read != GRAPH_NONE &&
			    r->device[set] == NOT_PLACED && r->device[read] != NOT_PLACED)
				place_class(r, class, set, r->device[read]);
		}
}

/* What was not named: with a set that shares its device. */
static int fill_in(struct method_run *r, struct err *e)
{
	const struct place_model *m = r->m;
	uint16_t *class = ARENA_NEWN(r->a, uint16_t, m->n_sets);

	memset(class, 0xff, m->n_sets * sizeof(*class));
	for (uint32_t i = 0; i < m->n_sets; i++)
		if (r->device[i] != NOT_PLACED)
			place_class(r, class, i, r->device[i]);
	for (uint32_t i = 0; i < m->n_sets; i++)
		place_class(r, class, i, NOT_PLACED);
	if (m->g->whole)
		place_beside(r, class);
	for (uint32_t i = 0; i < m->n_sets; i++)
		for (uint32_t v = 0; r->device[i] == NOT_PLACED && v < m->g->n; v++)
			if (m->g->set[v] == i)
				return err_set(e, ST_INPUT, "no device for node %lld ('%s')",
					       (long long)m->g->id[v], m->g->node_name[v]);
	return 0;
}

static int run_expert(struct method_run *r, struct err *e)
{
	const struct val *json = json_read(r->arg, r->a, e);
	int rc;

	if (!json)
		return -1;
	if (val_type(json) != VAL_MAP)
		return err_set(e, ST_INPUT, "'%s': not an object", r->arg);
	memset(r->device, 0xff, r->m->n_sets * sizeof(*r->device));
	if (!val_get(json, "fpgas"))
		rc = by_name(r, json, e);
	else if ((rc = by_kind(r, json, "cpus", true, e)) == 0)
		rc = by_kind(r, json, "fpgas", false, e);
	if (rc < 0 || fill_in(r, e) < 0)
		return err_prefix(e, "'%s'", r->arg);
	return r->emit(r, e);
}

const struct place_method method_expert = {
	.name = "expert",
	.arg = "FILE",
	.needs_arg = true,
	.about = "a placement that a person wrote, as JSON",
	.source = "forms of placeout and of dnn-partitioning",
	.run = run_expert,
};
