/* set_cost.c - what a set costs on a device, from FLOPs and bytes. */
#include <math.h>
#include <string.h>

#include "graph/rows.h"
#include "op/op.h"
#include "place/problem/placemodel.h"

/* Nodes that take no time when the model runs. */
static bool node_is_free(const struct graph *g, uint32_t v)
{
	enum op_category c = op_info(g->kind[v])->category;

	return c == OPC_SOURCE || c == OPC_SINK || c == OPC_VIEW;
}

/* Slices and joins that dagsplit added, where they are one piece of memory: a device sends a range of what it has, and
 * what comes is written where it belongs. */
static bool is_one_piece(const struct graph *g, uint32_t v)
{
	const uint32_t in = g->out_ptr[v];
	if (!g->part || g->part[v] == GRAPH_NONE || g->part_of[v] != GRAPH_NONE ||
	    (g->kind[v] != OP_CONCAT && g->kind[v] != OP_SLICE))
		return false;
	/* Which axis that is follows from the shapes: in front of it there are only ones. */
	uint32_t o = graph_slot_output(g, g->in_ptr[v]), rank = g->out_rank[in], i = 0;
	if (rank == RANK_DYNAMIC || g->out_rank[o] != rank)
		return false;
	while (i < rank && g->dim[g->dim_ptr[in] + i] == 1 && g->dim[g->dim_ptr[o] + i] == 1)
		i++;
	for (i++; i < rank; i++)
		if (g->dim[g->dim_ptr[in] + i] != g->dim[g->dim_ptr[o] + i])
			return false;
	return true;
}

/* What nodes compute and move, fused as `fuses` says, on devices that keep `keeps`. */
struct node_work {
	unsigned fuses;
	op_keeps keeps;
	struct fusing kernels;
	double *flops, *bytes; /* (n) of each node as part of its kernel */
};

/* What a kernel has read of an output so far. */
struct seen {
	uint32_t kernel; /* 1 + the kernel; another one's: nothing */
	double bytes;
};

/* Bytes that node v, one of several of its kernel, reads from outside beyond what was read before it, and writes.  Parts of a tensor
 * that several operations read add up to the whole at most.  seen (outputs). */
static double bytes_in_kernel(const struct graph *g, const struct node_work *w, const bool *runs,
			      uint32_t v, struct seen *seen)
{
	const struct fusing *x = &w->kernels;
	double out = 0, sum = 0;

	for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
		double b = (double)op_stored_bytes_on(g, o, w->keeps);

		out += b;
		sum += x->inside[o] ? 0 : b;
	}
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
		if (g->in_node[i] == GRAPH_NONE)
			continue;
		uint32_t o = graph_slot_output(g, i), root = x->root[o], made = x->made_by[root];
		if (runs[made] && x->kernel[made] == x->kernel[v])
			continue;
		double whole = (double)op_stored_bytes_on(g, runs[made] ? root : o, w->keeps);
		bool part = i == g->in_ptr[v] && op_info(g->kind[v])->flags & OPF_READS_PART;
		double was = seen[root].kernel == x->kernel[v] + 1 ? seen[root].bytes : 0,
		       is = part ? fmin(whole, was + out) : whole;
		seen[root] = (struct seen){x->kernel[v] + 1, is};
		sum += is - was;
	}
	return sum;
}

/* A cache stays where it is, input 0.  What is appended or written into it is read and written, indices are read. */
static double bytes_appended(const struct graph *g, uint32_t v, op_keeps keeps)
{
	enum { UPDATES = 2 };
	bool joins = g->kind[v] == OP_CONCAT;
	double sum = 0;

	for (uint32_t i = 1; i < g->in_ptr[v + 1] - g->in_ptr[v] && g->kind[v] != OP_GATHER; i++)
		if (g->in_node[g->in_ptr[v] + i] != GRAPH_NONE)
			sum += (joins || i == UPDATES ? 2 : 1) *
			       (double)op_stored_bytes_on(g, graph_slot_output(g, g->in_ptr[v] + i),
							  keeps);
	return sum;
}

/* bytes of the nodes that run, kernel by kernel. */
static void find_bytes(const struct graph *g, const bool *runs, struct node_work *w)
{
	struct seen *seen = MEM_NEWN(struct seen, g->out_ptr[g->n]);
	uint32_t *ptr = MEM_NEWN(uint32_t, (size_t)g->n + 2), *node = MEM_NEWN(uint32_t, g->n);

	rows_sort(w->kernels.kernel, NULL, ROWS_STEP, g->n, g->n, ptr, node);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t v = node[i];

		if (runs[v])
			w->bytes[v] = w->kernels.in_place[v] ? bytes_appended(g, v, w->keeps)
				      : w->kernels.size[w->kernels.kernel[v]] > 1
					      ? bytes_in_kernel(g, w, runs, v, seen)
					      : (double)op_bytes_on(g, v, w->keeps);
	}
	mem_free(node);
	mem_free(ptr);
	mem_free(seen);
}

static void find_work(const struct graph *g, const bool *runs, const struct device_spec *d,
		      struct arena *a, struct node_work *w)
{
	*w = (struct node_work){.fuses = d->fuses,
				.keeps = d->keeps,
				.flops = ARENA_NEWN(a, double, g->n),
				.bytes = ARENA_NEWN(a, double, g->n)};
	fusing_find(g, runs, d->fuses, a, &w->kernels);
	for (uint32_t v = 0; v < g->n; v++) {
		bool reorders = w->kernels.in_place[v] && g->kind[v] == OP_GATHER;

		w->flops[v] = runs[v] && !reorders ? (double)op_flops(g, v) : 0;
	}
	find_bytes(g, runs, w);
}

static double rate(const struct graph *g, const struct device_spec *d, uint32_t v)
{
	enum op_category c = op_info(g->kind[v])->category;
	uint32_t in = g->in_ptr[v];

	if ((c != OPC_MATMUL && c != OPC_CONV) || in == g->in_ptr[v + 1] ||
	    g->in_node[in] == GRAPH_NONE)
		return d->flops_per_s;
	return spec_product_flops(d, (enum elem)g->out_elem[graph_slot_output(g, in)]);
}

/* Column `dev` of work_s (n,k), and of bytes (n,k; NULL: nobody asks): each node takes what its kernel takes with it less what that takes without it and those behind
 * it. */
static void fill_column(const struct graph *g, const bool *runs, const struct device_spec *d,
			const struct node_work *w, double *work_s, double *bytes, uint32_t k)
{
	double *compute_s = MEM_NEWN(double, g->n), *move_s = MEM_NEWN(double, g->n);

	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t first = w->kernels.kernel[v];
		double before = fmax(compute_s[first], move_s[first]);

		if (!runs[v])
			continue;
		if (bytes)
			bytes[(size_t)v * k] = w->bytes[v];
		compute_s[first] += w->flops[v] / rate(g, d, v);
		move_s[first] += w->bytes[v] / d->bytes_per_s;
		work_s[(size_t)v * k] = fmax(compute_s[first], move_s[first]) - before +
					(w->kernels.launches[v] ? d->overhead_s : 0);
	}
	mem_free(compute_s);
	mem_free(move_s);
}

static bool same_peaks(const double *x, const double *y)
{
	return x == y || (x && y && memcmp(x, y, EL_COUNT * sizeof *x) == 0);
}

static bool same_times(const struct device_spec *x, const struct device_spec *y)
{
	return x->flops_per_s == y->flops_per_s && x->bytes_per_s == y->bytes_per_s &&
	       x->overhead_s == y->overhead_s && x->keeps == y->keeps && x->fuses == y->fuses &&
	       same_peaks(x->peak, y->peak);
}

/* work_s (n,k), and bytes (n,k; NULL: nobody asks), of the devices d (k).  Those that are alike are counted once. */
static void fill_costs(const struct graph *g, const bool *runs, const struct device_spec *const *d,
		       uint32_t k, double *work_s, double *bytes)
{
	struct arena *a = arena_new();
	struct node_work *work = ARENA_NEWN(a, struct node_work, k);
	uint32_t n_works = 0;

	memset(work_s, 0, (size_t)g->n * k * sizeof *work_s);
	for (uint32_t dev = 0; dev < k; dev++) {
		uint32_t like = 0, w = 0;

		while (like < dev && !same_times(d[like], d[dev]))
			like++;
		for (uint32_t v = 0; like < dev && v < g->n; v++) {
			work_s[(size_t)v * k + dev] = work_s[(size_t)v * k + like];
			if (bytes)
				bytes[(size_t)v * k + dev] = bytes[(size_t)v * k + like];
		}
		if (like < dev)
			continue;
		while (w < n_works &&
		       !(work[w].fuses == d[dev]->fuses && work[w].keeps == d[dev]->keeps))
			w++;
		if (w == n_works)
			find_work(g, runs, d[dev], a, &work[n_works++]);
		fill_column(g, runs, d[dev], &work[w], work_s + dev, bytes ? bytes + dev : NULL, k);
	}
	arena_free(a);
}

static int node_costs(const struct graph *g, const struct spec *s, const char *const *names,
		      uint32_t k, double *work_s, double *bytes, struct err *e)
{
	bool *runs = MEM_NEWN(bool, g->n);
	const struct device_spec **d = MEM_NEWN(const struct device_spec *, k);
	int rc = 0;

	op_constant_nodes(g, runs);
	for (uint32_t v = 0; v < g->n; v++)
		runs[v] = !runs[v] && g->set[v] != GRAPH_NONE && !node_is_free(g, v) &&
			  !is_one_piece(g, v) && !graph_joins_result(g, v);
	for (uint32_t dev = 0; dev < k && rc == 0; dev++) {
		d[dev] = spec_find(s, names[dev]);
		if (!d[dev])
			rc = err_set(e, ST_USAGE,
				     "device '%s' is not in the specification; "
				     "--spec names one that has it",
				     names[dev]);
	}
	if (rc == 0)
		fill_costs(g, runs, d, k, work_s, bytes);
	mem_free(d);
	mem_free(runs);
	return rc;
}

int place_spec_node_costs(const struct graph *g, const struct spec *s, const char *const *names,
			  uint32_t k, double *work_s, struct err *e)
{
	return node_costs(g, s, names, k, work_s, NULL, e);
}

/* of_set (n_sets,k): sums of of_node (n,k). */
static void sum_sets(const struct graph *g, uint32_t k, const double *of_node, double *of_set)
{
	for (size_t i = 0; i < (size_t)g->n_sets * k; i++)
		of_set[i] = 0;
	for (size_t i = 0; i < (size_t)g->n * k; i++)
		if (g->set[i / k] != GRAPH_NONE)
			of_set[(size_t)g->set[i / k] * k + i % k] += of_node[i];
}

int place_spec_costs(const struct graph *g, const struct spec *s, const char *const *names,
		     uint32_t k, double *set_s, struct err *e)
{
	double *work_s = MEM_NEWN(double, (size_t)g->n *k);
	int rc = node_costs(g, s, names, k, work_s, NULL, e);

	if (rc == 0)
		sum_sets(g, k, work_s, set_s);
	mem_free(work_s);
	return rc;
}

int place_spec_bytes(const struct graph *g, const struct spec *s, const char *const *names,
		     uint32_t k, double *set_bytes, struct err *e)
{
	size_t n = (size_t)g->n * k;
	double *work_s = MEM_NEWN(double, 2 * n), *bytes = work_s + n;
	int rc = node_costs(g, s, names, k, work_s, bytes, e);

	if (rc == 0)
		sum_sets(g, k, bytes, set_bytes);
	mem_free(work_s);
	return rc;
}
