/* dnnpart.c - the cost models of dnn-partitioning: one pass over the edges, and for the latency one
 * over pieces in the order in which they can start. */
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "graph/rows.h"
#include "stats/twosum.h"
#include "place/simulate/dnnpart.h"

enum { NONE = UINT32_MAX };

/* A unit runs as one: a piece of an accelerator, or one task of a CPU. */
struct dnnpart {
	const struct place_model *m;
	uint32_t n, k;       /* n: only the first n tasks count (dnnpart_evaluate_prefix) */
	bool *cpu;           /* (k) */
	double *move_s;      /* (n) */
	uint64_t *bytes;     /* (n) of all that a task makes */
	uint32_t *ptr, *dst; /* distinct consumers of each task, ascending */
	/* (n,k) pieces of each device on the way to a task, itself included */
	uint16_t *level;
	uint32_t *unit;  /* (n) */
	uint32_t *piece; /* (k,n+1) unit of a device's piece, by level */
	/* (n) the tasks of a unit: first[unit], next[task] .. */
	uint32_t n_units, *first, *next;
	uint32_t *left, *seen, *queue; /* (n) of units */
	double *load_s, *ready_s;      /* (n) of units */
	/* Throughput, moves: */
	uint16_t *home;           /* (n) */
	uint32_t *back_ptr, *src; /* distinct producers of each task */
	uint32_t *count;          /* (n,k) consumers of a task on a device */
	double *sum_s, *low_s;    /* (k) loads as twosum.h has them */
	struct dnnpart_result r;
};

bool dnnpart_is_cpu(const struct place_model *m, uint32_t dev)
{
	return strcmp(m->types[dev], "cpu") == 0;
}

/* Consumers ascend, so that those beyond a prefix are the last. */
static void index_consumers(struct dnnpart *x)
{
	const struct sched_dag *d = &x->m->tasks.dag;
	uint32_t *seen = MEM_NEWN(uint32_t, x->n), m = 0;

	x->ptr = MEM_NEWN(uint32_t, (size_t)x->n + 1);
	x->dst = MEM_NEWN(uint32_t, d->n_uses);
	for (uint32_t u = 0; u < x->n; u++) {
		for (uint32_t t = d->out_ptr[u]; t < d->out_ptr[u + 1]; t++) {
			x->bytes[u] += d->tensor_bytes[t];
			for (uint32_t i = d->use_ptr[t]; i < d->use_ptr[t + 1]; i++) {
				uint32_t v = d->use_task[i];

				if (seen[v] != u + 1)
					x->dst[m++] = v;
				seen[v] = u + 1;
			}
		}
		if (m - x->ptr[u] > 1)
			qsort(x->dst + x->ptr[u], m - x->ptr[u], sizeof(*x->dst), ascending_u32);
		x->ptr[u + 1] = m;
	}
	mem_free(seen);
}

/* The same edges by consumer; counted two places up, so that filling leaves the beginnings. */
static void index_producers(struct dnnpart *x)
{
	x->home = MEM_NEWN(uint16_t, x->n);
	x->count = MEM_NEWN(uint32_t, (size_t)x->n * x->k);
	x->sum_s = MEM_NEWN(double, 2 * (size_t)x->k);
	x->low_s = x->sum_s + x->k;
	x->back_ptr = MEM_NEWN(uint32_t, (size_t)x->n + 2);
	x->src = MEM_NEWN(uint32_t, x->ptr[x->n]);
	rows_reverse(x->ptr, x->dst, x->n, x->back_ptr, x->src);
}

struct dnnpart *dnnpart_new(const struct place_model *m)
{
	struct dnnpart *x = MEM_NEW(struct dnnpart);
	uint32_t n = m->tasks.dag.n, k = m->k;

	x->m = m;
	x->n = n;
	x->k = k;
	x->cpu = MEM_NEWN(bool, k);
	for (uint32_t i = 0; i < k; i++)
		x->cpu[i] = dnnpart_is_cpu(m, i);
	x->move_s = MEM_NEWN(double, n);
	x->bytes = MEM_NEWN(uint64_t, n);
	for (uint32_t t = 0; t < n; t++)
		x->move_s[t] = m->move_s[m->tasks.task_set[t]];
	index_consumers(x);
	x->r.load_s = MEM_NEWN(double, k);
	x->seen = MEM_NEWN(uint32_t, (size_t)n + k);
	if (m->rules == PLACE_DNNPART_THROUGHPUT) {
		index_producers(x);
		return x;
	}
	x->level = MEM_NEWN(uint16_t, (size_t)n * k);
	x->piece = MEM_NEWN(uint32_t, ((size_t)n + 1) * k);
	uint32_t **lists[] = {&x->unit, &x->first, &x->next, &x->left, &x->queue};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		*lists[i] = MEM_NEWN(uint32_t, n);
	x->load_s = MEM_NEWN(double, n);
	x->ready_s = MEM_NEWN(double, n);
	return x;
}

void dnnpart_free(struct dnnpart *x)
{
	if (!x)
		return;
	void *all[] = {x->cpu,      x->move_s, x->bytes, x->ptr,    x->dst,
		       x->level,    x->unit,   x->piece, x->first,  x->next,
		       x->left,     x->seen,   x->queue, x->load_s, x->ready_s,
		       x->r.load_s, x->home,   x->count, x->sum_s,  x->back_ptr,
		       x->src,      x};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		mem_free(all[i]);
}

static double task_s(const struct dnnpart *x, uint32_t t, uint16_t dev)
{
	return x->m->costs.task_s[(size_t)t * x->k + dev];
}

static void count_transfer(struct dnnpart *x, uint32_t task)
{
	x->r.copies++;
	x->r.copy_bytes += x->bytes[task];
}

/* ---- throughput ---- */

static void throughput(struct dnnpart *x, const uint16_t *device)
{
	double *load = x->r.load_s;

	memset(x->seen, 0xff, x->k * sizeof(*x->seen));
	for (uint32_t u = 0; u < x->n; u++) {
		uint16_t home = device[u];
		bool leaves = false;

		load[home] += task_s(x, u, home);
		for (uint32_t i = x->ptr[u]; i < x->ptr[u + 1] && x->dst[i] < x->n; i++) {
			uint16_t to = device[x->dst[i]];

			if (to == home)
				continue;
			leaves = true;
			if (x->cpu[to] || x->seen[to] == u)
				continue;
			x->seen[to] = u;
			load[to] += x->move_s[u];
			count_transfer(x, u);
		}
		if (leaves && !x->cpu[home]) {
			load[home] += x->move_s[u];
			count_transfer(x, u);
		}
	}
	for (uint32_t i = 0; i < x->k; i++)
		if (load[i] > x->r.value_s)
			x->r.value_s = load[i];
}

static void add_load(struct dnnpart *x, uint32_t dev, double s)
{
	twosum_add(&x->sum_s[dev], &x->low_s[dev], s);
}

/* Add the transfers of what task u makes to the loads (sign 1), or take them off (-1). */
static void add_transfers(struct dnnpart *x, uint32_t u, double sign)
{
	const uint32_t *count = x->count + (size_t)u * x->k;
	uint16_t home = x->home[u];
	double s = sign * x->move_s[u];
	bool leaves = false;

	if (x->move_s[u] == 0 || x->ptr[u] == x->ptr[u + 1])
		return;
	for (uint32_t d = 0; d < x->k; d++) {
		if (d == home || !count[d])
			continue;
		leaves = true;
		if (!x->cpu[d])
			add_load(x, d, s);
	}
	if (leaves && !x->cpu[home])
		add_load(x, home, s);
}

void dnnpart_begin(struct dnnpart *x, const uint16_t *device)
{
	memset(x->sum_s, 0, 2 * (size_t)x->k * sizeof(*x->sum_s));
	memset(x->count, 0, (size_t)x->n * x->k * sizeof(*x->count));
	memcpy(x->home, device, x->n * sizeof(*x->home));
	for (uint32_t u = 0; u < x->n; u++) {
		for (uint32_t i = x->ptr[u]; i < x->ptr[u + 1]; i++)
			x->count[(size_t)u * x->k + device[x->dst[i]]]++;
		add_load(x, device[u], task_s(x, u, device[u]));
		add_transfers(x, u, 1);
	}
}

void dnnpart_move(struct dnnpart *x, uint32_t task, uint16_t dev)
{
	uint16_t from = x->home[task];

	for (uint32_t i = x->back_ptr[task]; i < x->back_ptr[task + 1]; i++) {
		uint32_t u = x->src[i];

		add_transfers(x, u, -1);
		x->count[(size_t)u * x->k + from]--;
		x->count[(size_t)u * x->k + dev]++;
		add_transfers(x, u, 1);
	}
	add_transfers(x, task, -1);
	add_load(x, from, -task_s(x, task, from));
	x->home[task] = dev;
	add_load(x, dev, task_s(x, task, dev));
	add_transfers(x, task, 1);
}

const struct dnnpart_result *dnnpart_moved(struct dnnpart *x)
{
	x->r.value_s = 0;
	for (uint32_t d = 0; d < x->k; d++) {
		x->r.load_s[d] = x->sum_s[d] + x->low_s[d];
		if (x->r.load_s[d] > x->r.value_s)
			x->r.value_s = x->r.load_s[d];
	}
	return &x->r;
}

/* ---- latency ---- */

/* The unit of task v, whose row of levels is complete; a new one if it is the first of its
 * piece. */
static uint32_t own_unit(struct dnnpart *x, uint32_t v, uint16_t dev)
{
	uint32_t *u = &x->piece[(size_t)dev * (x->n + 1) + x->level[(size_t)v * x->k + dev]];

	if (x->cpu[dev] || *u == NONE) {
		x->first[x->n_units] = NONE;
		x->left[x->n_units] = 0;
		x->load_s[x->n_units] = x->ready_s[x->n_units] = 0;
		x->seen[x->n_units] = NONE;
		*u = x->n_units++;
	}
	return *u;
}

/* Find the piece of each task.  Its level on a device is how many times a path to it enters the
 * device; levels pass along edges, and an edge that enters a device raises the level there.  Tasks
 * are in a topological order. */
static void cut_pieces(struct dnnpart *x, const uint16_t *device)
{
	uint32_t k = x->k;

	memset(x->level, 0, (size_t)x->n * k * sizeof(*x->level));
	memset(x->piece, 0xff, ((size_t)x->n + 1) * k * sizeof(*x->piece));
	x->n_units = 0;
	for (uint32_t u = 0; u < x->n; u++) {
		uint16_t dev = device[u], *row = x->level + (size_t)u * k;

		if (!x->cpu[dev] && row[dev] == 0)
			row[dev] = 1;
		uint32_t unit = x->unit[u] = own_unit(x, u, dev);
		x->next[u] = x->first[unit];
		x->first[unit] = u;
		for (uint32_t i = x->ptr[u]; i < x->ptr[u + 1] && x->dst[i] < x->n; i++) {
			uint16_t to = device[x->dst[i]], *at = x->level + (size_t)x->dst[i] * k;
			uint16_t enter = (uint16_t)(row[to] + (to != dev));

			for (uint32_t d = 0; d < k; d++)
				at[d] = row[d] > at[d] ? row[d] : at[d];
			if (at[to] < enter)
				at[to] = enter;
		}
	}
}

/* Load of each unit, and the number of edges from other units that it waits for. */
static void load_units(struct dnnpart *x, const uint16_t *device)
{
	for (uint32_t u = 0; u < x->n; u++) {
		uint32_t own = x->unit[u];
		bool leaves = false;

		x->load_s[own] += task_s(x, u, device[u]);
		for (uint32_t i = x->ptr[u]; i < x->ptr[u + 1] && x->dst[i] < x->n; i++) {
			uint32_t to = x->unit[x->dst[i]];

			if (to == own)
				continue;
			leaves = true;
			x->left[to]++;
			if (x->cpu[device[x->dst[i]]] || x->seen[to] == u)
				continue;
			x->seen[to] = u;
			x->load_s[to] += x->move_s[u];
			count_transfer(x, u);
		}
		if (leaves && !x->cpu[device[u]]) {
			x->load_s[own] += x->move_s[u];
			count_transfer(x, u);
		}
	}
}

/* Run units in an order in which they can start; false when some never can. */
static bool run_units(struct dnnpart *x, const uint16_t *device)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_units; i++)
		if (x->left[i] == 0)
			x->queue[n++] = i;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t own = x->queue[i];
		double end = x->ready_s[own] + x->load_s[own];

		x->r.load_s[device[x->first[own]]] += x->load_s[own];
		if (end > x->r.value_s)
			x->r.value_s = end;
		for (uint32_t u = x->first[own]; u != NONE; u = x->next[u])
			for (uint32_t j = x->ptr[u]; j < x->ptr[u + 1] && x->dst[j] < x->n; j++) {
				uint32_t to = x->unit[x->dst[j]];

				if (to == own)
					continue;
				if (x->ready_s[to] < end)
					x->ready_s[to] = end;
				if (--x->left[to] == 0)
					x->queue[n++] = to;
			}
	}
	return n == x->n_units;
}

const struct dnnpart_result *dnnpart_evaluate_prefix(struct dnnpart *x, const uint16_t *device,
						     uint32_t n, double *end_s)
{
	struct dnnpart_result *r = &x->r;

	x->n = n;
	r->circle = false;
	r->value_s = 0;
	r->copies = 0;
	r->copy_bytes = 0;
	memset(r->load_s, 0, x->k * sizeof(*r->load_s));
	if (x->m->rules == PLACE_DNNPART_THROUGHPUT) {
		throughput(x, device);
		return r;
	}
	cut_pieces(x, device);
	load_units(x, device);
	r->circle = !run_units(x, device);
	for (uint32_t t = 0; end_s && t < n; t++)
		end_s[t] = x->ready_s[x->unit[t]] + x->load_s[x->unit[t]];
	return r;
}

const struct dnnpart_result *dnnpart_evaluate(struct dnnpart *x, const uint16_t *device)
{
	return dnnpart_evaluate_prefix(x, device, x->m->tasks.dag.n, NULL);
}
