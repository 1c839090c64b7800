/* placemodel_held.c - what tasks hold on devices all the time: constants, inputs and variables of the graph, or what was measured. */
#include <stdlib.h>
#include <string.h>

#include "graph/strtab.h"
#include "op/op.h"
#include "place/problem/placemodel.h"

/* Does node v read a range of input 0 for a part of an operation?  A device is sent this range of the model's input alone. */
static bool is_range(const struct graph *g, uint32_t v)
{
	return g->part && g->part[v] != GRAPH_NONE && g->part_of[v] == GRAPH_NONE &&
	       g->kind[v] == OP_SLICE;
}

/* A value that no task makes, or a range of it, and one task that reads it. */
struct value_reader {
	uint32_t out, task;
};

static int reader_compare(const void *pa, const void *pb)
{
	const struct value_reader *a = pa, *b = pb;

	if (a->out != b->out)
		return a->out < b->out ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

static size_t collect_readers(const struct place_model *m, const uint32_t *root,
			      struct value_reader *r)
{
	const struct graph *g = m->g;
	size_t n = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t o = graph_read_output(g, root, i), task = m->tasks.node_task[v];

			if (task == GRAPH_NONE || o == GRAPH_NONE ||
			    m->tasks.node_task[graph_node_of(g, o)] != GRAPH_NONE)
				continue;
			if (i == g->in_ptr[v] && is_range(g, v))
				o = g->out_ptr[v];
			r[n++] = (struct value_reader){o, task};
		}
	}
	if (n > 1)
		qsort(r, n, sizeof(*r), reader_compare);
	return n;
}

/* The same bytes on all devices. */
static const uint64_t *bytes_anywhere(const struct place_model *m, uint64_t bytes, struct arena *a)
{
	uint64_t *row = ARENA_NEWN(a, uint64_t, m->k);

	for (uint32_t d = 0; d < m->k; d++)
		row[d] = bytes;
	return row;
}

/* Bytes of value o on each device; keeps (k); NULL: all keep the usual types. */
static const uint64_t *bytes_by_device(const struct place_model *m, uint32_t o,
				       const op_keeps *keeps, struct arena *a)
{
	uint64_t *row = ARENA_NEWN(a, uint64_t, m->k);

	for (uint32_t d = 0; d < m->k; d++)
		row[d] = d == 0 || (keeps && keeps[d] != keeps[d - 1])
				 ? op_stored_bytes_on(m->g, o, keeps ? keeps[d] : op_keeps_usual())
				 : row[d - 1];
	return row;
}

static void hold(struct place_model *m, uint32_t task, const uint64_t *bytes)
{
	for (uint32_t d = 0; d < m->k; d++)
		m->task_mem[(size_t)task * m->k + d] += bytes[d];
}

/* Room for values and all their readers; for these as shared ones, too. */
static void values_begin(struct place_model *m, size_t n_values, size_t n_readers, struct arena *a)
{
	m->value = ARENA_NEWN(a, struct held_value, n_values);
	m->holder = ARENA_NEWN(a, uint32_t, n_readers);
	m->shared = ARENA_NEWN(a, struct shared_weight, n_values);
	m->weight_task = ARENA_NEWN(a, uint32_t, n_readers);
}

/* A value whose readers stand behind those of the values before it; without readers it holds nothing. */
static void value_add(struct place_model *m, const struct held_value *x)
{
	const struct shared_weight *last = m->n_shared ? &m->shared[m->n_shared - 1] : NULL;
	uint32_t first = last ? last->first + last->n : 0;

	if (x->n == 0)
		return;
	m->value[m->n_values++] = *x;
	if (x->n == 1) {
		hold(m, m->holder[x->first], x->bytes);
		return;
	}
	memcpy(m->weight_task + first, m->holder + x->first, x->n * sizeof(*m->holder));
	m->shared[m->n_shared++] = (struct shared_weight){x->bytes, first, x->n};
}

/* The end of the readers so far. */
static uint32_t holders(const struct place_model *m)
{
	const struct held_value *x = m->n_values ? &m->value[m->n_values - 1] : NULL;

	return x ? x->first + x->n : 0;
}

/* (n_sets) GRAPH_NONE: the set runs nothing; mem_free. */
static uint32_t *tasks_of_sets(const struct place_model *m)
{
	uint32_t *set_task = MEM_NEWN(uint32_t, m->n_sets);

	memset(set_task, 0xff, m->n_sets * sizeof(*set_task));
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		set_task[m->tasks.task_set[t]] = t;
	return set_task;
}

/* What is assigned to the variables, by their names: the most bytes of each. */
static struct strtab longest_written(const struct graph *g, int64_t *bytes)
{
	struct strtab names = {0};

	for (uint32_t v = 0; v < g->n; v++) {
		if (g->kind[v] != OP_ASSIGN || !graph_variable(g, v) ||
		    graph_source(g, v, 0) == GRAPH_NONE)
			continue;
		int64_t written = graph_out_bytes(g, graph_slot_output(g, g->in_ptr[v]));
		uint32_t n = names.n, i = strtab_add(&names, graph_variable(g, v));

		bytes[i] = i == n || written > bytes[i] ? written : bytes[i];
	}
	return names;
}

/* A variable keeps its value from one inference to the next, where its set is: the longer of what is read and written. */
static void assign_variables(struct place_model *m, struct arena *a)
{
	const struct graph *g = m->g;
	uint32_t *set_task = tasks_of_sets(m);
	int64_t *most = MEM_NEWN(int64_t, (size_t)g->n + 1);
	struct strtab names = longest_written(g, most), seen = {0};

	for (uint32_t v = 0; v < g->n; v++) {
		if (g->kind[v] != OP_READ_VALUE || g->set[v] == GRAPH_NONE ||
		    set_task[g->set[v]] == GRAPH_NONE)
			continue;
		const char *id = graph_variable(g, v);
		int64_t bytes = graph_out_bytes(g, g->out_ptr[v]);

		uint32_t i = id ? strtab_find(&names, id) : UINT32_MAX, n = seen.n;

		if (i != UINT32_MAX && most[i] > bytes)
			bytes = most[i];
		if (bytes <= 0 || (id && strtab_add(&seen, id) < n)) /* each counts once */
			continue;
		uint32_t first = holders(m);
		m->holder[first] = set_task[g->set[v]];
		value_add(m, &(struct held_value){HELD_VARIABLES, v, (uint64_t)bytes,
						  bytes_anywhere(m, (uint64_t)bytes, a), first, 1});
	}
	strtab_release(&names);
	strtab_release(&seen);
	mem_free(most);
	mem_free(set_task);
}

static uint32_t count_variables(const struct graph *g)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n; v++)
		n += g->kind[v] == OP_READ_VALUE;
	return n;
}

/* Values that no task makes occupy memory where they are read: task_mem of their only reader, or
 * the list of shared ones. */
static void assign_weights(struct place_model *m, const op_keeps *keeps, const uint32_t *root,
			   struct arena *a)
{
	const struct graph *g = m->g;
	uint32_t n_in = g->in_ptr[g->n], n_variables = count_variables(g);
	struct value_reader *r = MEM_NEWN(struct value_reader, n_in);
	size_t n = collect_readers(m, root, r), end;

	values_begin(m, n + n_variables + m->n_sets, n + n_variables + m->n_sets, a);
	for (size_t i = 0; i < n; i = end) {
		uint32_t node = graph_node_of(g, r[i].out);
		bool input = g->kind[node] == OP_PARAMETER || is_range(g, node);
		struct held_value x = {
			input ? HELD_INPUTS : HELD_WEIGHTS, node, 0, NULL, holders(m), 0};

		for (end = i; end < n && r[end].out == r[i].out; end++)
			if (end == i || r[end].task != r[end - 1].task)
				m->holder[x.first + x.n++] = r[end].task;
		if (graph_out_bytes(g, r[i].out) <= 0)
			continue;
		x.stored = op_stored_bytes_on(g, r[i].out, ~(op_keeps)0);
		x.bytes = bytes_by_device(m, r[i].out, keeps, a);
		value_add(m, &x);
	}
	mem_free(r);
	if (n_variables)
		assign_variables(m, a);
}

/* The first node of each set (n_sets); mem_free. */
static uint32_t *first_nodes(const struct place_model *m)
{
	uint32_t *first = MEM_NEWN(uint32_t, m->n_sets);

	for (uint32_t v = m->g->n; v-- > 0;)
		if (m->g->set[v] != GRAPH_NONE)
			first[m->g->set[v]] = v;
	return first;
}

/* The same from what was measured.  Sets that run nothing hold nothing that counts. */
static void assign_held(struct place_model *m, const struct place_held *h, struct arena *a)
{
	uint32_t n = m->tasks.dag.n, *set_task = tasks_of_sets(m), *node = first_nodes(m);

	values_begin(m, (size_t)n + h->n_shared,
		     (size_t)n + (h->n_shared ? h->shared_ptr[h->n_shared] : 0), a);
	m->inner = ARENA_NEWN(a, uint64_t, (size_t)n * m->k);
	for (uint32_t t = 0; t < n; t++) {
		size_t row = (size_t)m->tasks.task_set[t] * m->k;
		uint32_t first = holders(m);

		m->holder[first] = t;
		value_add(m, &(struct held_value){HELD_WEIGHTS, node[m->tasks.task_set[t]], 0,
						  h->set + row, first, 1});
		memcpy(m->inner + (size_t)t * m->k, h->inner + row, m->k * sizeof(*m->inner));
	}
	for (uint32_t i = 0; i < h->n_shared; i++) {
		if (h->shared_ptr[i] == h->shared_ptr[i + 1])
			continue;
		struct held_value x = {HELD_WEIGHTS,
				       node[h->shared_set[h->shared_ptr[i]]],
				       0,
				       h->shared + (size_t)i * m->k,
				       holders(m),
				       0};

		for (uint32_t j = h->shared_ptr[i]; j < h->shared_ptr[i + 1]; j++)
			if (set_task[h->shared_set[j]] != GRAPH_NONE)
				m->holder[x.first + x.n++] = set_task[h->shared_set[j]];
		value_add(m, &x);
	}
	mem_free(node);
	mem_free(set_task);
}

/* What sets hold besides constants, as a cost graph tells it. */
static void assign_set_mem(struct place_model *m, const uint64_t *set_mem, struct arena *a)
{
	uint32_t *node = first_nodes(m);

	for (uint32_t t = 0; t < m->tasks.dag.n; t++) {
		uint64_t bytes = set_mem[m->tasks.task_set[t]];
		uint32_t first = holders(m);

		if (bytes == 0)
			continue;
		m->holder[first] = t;
		value_add(m, &(struct held_value){HELD_WEIGHTS, node[m->tasks.task_set[t]], bytes,
						  bytes_anywhere(m, bytes, a), first, 1});
	}
	mem_free(node);
}

void place_model_hold(struct place_model *m, const struct place_setup *s, const uint32_t *root,
		      struct arena *a)
{
	m->task_mem = ARENA_NEWN(a, uint64_t, (size_t)m->tasks.dag.n * m->k);
	if (s->held.set) {
		assign_held(m, &s->held, a);
		return;
	}
	assign_weights(m, s->keeps, root, a);
	if (s->set_mem)
		assign_set_mem(m, s->set_mem, a);
}
