/* model_inputs.c - inputs from a seed or from files, outputs to files. */
#include "exec/model_inputs.h"
#include "base/rng.h"
#include "exec/npy.h"
#include "op/value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Type and shape of input i, with its data. */
static struct tensor input_tensor(const struct model *m, uint32_t i)
{
	struct tensor t = m->values.value[m->g->out_ptr[m->param[i]]];
	t.data = m->input[i];
	return t;
}

/* The result has the shape of the port that it reads, not of that port's root. */
struct tensor result_tensor(const struct model *m, uint32_t i)
{
	const struct graph *g = m->g;
	uint32_t slot = g->in_ptr[m->result[i]];
	return m->values.value[graph_slot_output(g, slot)];
}

struct tensor result_value(const struct model *m, uint32_t i, const void *result)
{
	struct tensor t = result_tensor(m, i);
	union {
		const void *c;
		void *v;
	} u = {.c = result};
	if (!tensor_is_static(&t))
		return *(const struct tensor *)result;
	t.data = u.v;
	return t;
}

/* ---- from the seed ---- */

/* bound[v] of a Gather's indices: the size of the gathered dim, or 0 when it cannot be told. */
static int64_t gather_bound(struct model *m, uint32_t v, struct err *e)
{
	const struct graph *g = m->g;
	uint32_t in = g->in_ptr[v];
	struct tensor data;
	if (g->in_ptr[v + 1] - in < 3 || g->in_node[in] == GRAPH_NONE ||
	    g->in_node[in + 2] == GRAPH_NONE || !m->constant[g->in_node[in + 2]])
		return 0;
	uint32_t axis_out = graph_slot_output(g, in + 2);
	if (!tensor_describe(g, graph_slot_output(g, in), &data) || model_value(m, axis_out, e) < 0)
		return 0;
	int axis = op_axis(tensor_int(&m->values.value[axis_out], 0), (int)data.rank);
	return axis < 0 ? 0 : data.dim[axis];
}

/* The smallest range of the Gathers that input i of the model feeds through
 * operators that only convert or move elements; 0: none. */
static int64_t index_bound(struct model *m, uint32_t i, struct err *e)
{
	const struct graph *g = m->g;
	bool *carries = MEM_NEWN(bool, g->n);
	int64_t bound = 0;
	carries[m->param[i]] = true;
	for (uint32_t v = 0; v < g->n && e->code == ST_OK; v++)
		for (uint32_t s = g->in_ptr[v]; s < g->in_ptr[v + 1]; s++) {
			if (g->in_node[s] == GRAPH_NONE || !carries[g->in_node[s]])
				continue;
			enum op_kind k = m->op[v].kind;
			bool gather = strncmp(g->type[v], "Gather", 6) == 0;
			if (gather && s == g->in_ptr[v] + 1) {
				int64_t b = gather_bound(m, v, e);
				if (b > 0 && (bound == 0 || b < bound))
					bound = b;
			} else if (k != OP_UNKNOWN &&
				   (k == OP_CONVERT || op_info(k)->category == OPC_VIEW ||
				    op_info(k)->category == OPC_MOVE)) {
				carries[v] = true;
			}
		}
	mem_free(carries);
	return bound;
}

int inputs_seed(struct model *m, uint64_t seed, struct err *e)
{
	for (uint32_t i = 0; i < m->n_params; i++) {
		struct tensor t = input_tensor(m, i);
		struct rng_addr a = {seed, 0, i, RNG_INPUT};
		int64_t n = tensor_elements(&t);
		if (t.elem == EL_F32) {
			rng_uniform_f32(&a, -1, 1, t.data, (size_t)n);
			continue;
		}
		int64_t bound = elem_is_real(t.elem) ? 0 : index_bound(m, i, e);
		if (e->code != ST_OK)
			return -1;
		if (bound <= 0 || t.elem == EL_BOOLEAN)
			bound = 2;
		if (bound > INT32_MAX)
			bound = INT32_MAX;
		for (int64_t j = 0; j < n; j++)
			if (elem_is_real(t.elem))
				tensor_set_real(&t, j, 2 * rng_uniform(&a, (uint32_t)j) - 1);
			else
				tensor_set_int(&t, j, rng_below(&a, (uint32_t)j, (uint32_t)bound));
	}
	return 0;
}

/* ---- files ---- */

static int make_dir(const char *dir, struct err *e)
{
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_sys(e, ST_RUNTIME, "cannot make directory '%s'", dir);
	return 0;
}

/* One line of index.tsv. */
static void index_line(FILE *f, uint32_t i, const char *name, const struct tensor *t)
{
	char q[1000], shape[300];
	fprintf(f, "%u.npy\t%s\t%s\n", i, err_escape(q, sizeof q, name, strlen(name)),
		tensor_text(t, shape, sizeof shape));
}

static int save(const struct model *m, const uint32_t *node, uint32_t n,
		struct tensor (*tensor_of)(const struct model *m, uint32_t i, const void *data),
		const void *const *data, const char *dir, struct err *e)
{
	struct arena *a = arena_new();
	int rc = make_dir(dir, e);
	FILE *f = rc == 0 ? fopen(arena_printf(a, "%s/index.tsv", dir), "we") : NULL;
	if (rc == 0 && !f)
		rc = err_sys(e, ST_RUNTIME, "cannot write '%s/index.tsv'", dir);
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		struct tensor t = tensor_of(m, i, data[i]);
		index_line(f, i, m->g->node_name[node[i]], &t);
		rc = npy_write(arena_printf(a, "%s/%u.npy", dir, i), &t, e);
	}
	if (f && fclose(f) != 0 && rc == 0)
		rc = err_sys(e, ST_RUNTIME, "cannot write '%s/index.tsv'", dir);
	arena_free(a);
	return rc;
}

static struct tensor input_value(const struct model *m, uint32_t i, const void *data)
{
	(void)data;
	return input_tensor(m, i);
}

int inputs_save(const struct model *m, const char *dir, struct err *e)
{
	return save(m, m->param, m->n_params, input_value, (const void *const *)m->input, dir, e);
}

int outputs_save(const struct model *m, const void *const *result, const char *dir, struct err *e)
{
	return save(m, m->result, m->n_results, result_value, result, dir, e);
}

/* The file that index.tsv names for `name`, in file[cap]; false when there is no
 * index, -- or no such name, told by *indexed. */
static bool indexed_file(const char *index, const char *name, char *file, size_t cap, bool *indexed)
{
	char line[2400], q[1000];
	struct stat st;
	*indexed = stat(index, &st) == 0 && S_ISREG(st.st_mode);
	FILE *f = *indexed ? fopen(index, "re") : NULL;
	bool found = false;
	err_escape(q, sizeof q, name, strlen(name));
	while (f && !found && fgets(line, sizeof line, f)) {
		char *tab = strchr(line, '\t');
		if (!tab)
			continue;
		char *end = tab + 1 + strcspn(tab + 1, "\t\n");
		found = (size_t)(end - tab - 1) == strlen(q) && strncmp(tab + 1, q, strlen(q)) == 0;
		if (found)
			snprintf(file, cap, "%.*s", (int)(tab - line), line);
	}
	if (f)
		fclose(f);
	return found;
}

int inputs_load(struct model *m, const char *dir, struct err *e)
{
	char file[256], q[200];
	for (uint32_t i = 0; i < m->n_params; i++) {
		struct arena *a = arena_new();
		const char *name = m->g->node_name[m->param[i]];
		struct tensor t = input_tensor(m, i);
		bool indexed;
		int rc = 0;
		snprintf(file, sizeof file, "%u.npy", i);
		if (!indexed_file(arena_printf(a, "%s/index.tsv", dir), name, file, sizeof file,
				  &indexed) &&
		    indexed)
			rc = err_set(e, ST_INPUT, "'%s/index.tsv' has no input '%s'", dir,
				     err_escape(q, sizeof q, name, strlen(name)));
		else if (strchr(file, '/'))
			rc = err_set(e, ST_INPUT,
				     "'%s/index.tsv' names a file outside the directory", dir);
		if (rc == 0 && npy_read(arena_printf(a, "%s/%s", dir, file), &t, e) < 0)
			rc = err_prefix(e, "input '%s'",
					err_escape(q, sizeof q, name, strlen(name)));
		arena_free(a);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* ---- comparison ---- */

static const double OTHER_SHAPE = 1e300; /* records hold finite numbers */

struct output_difference outputs_compare(const struct model *m, const void *const *a,
					 const void *const *b)
{
	double se = 0, ab = 0, aa = 0, bb = 0, largest = 0;
	int64_t n = 0;
	for (uint32_t r = 0; r < m->n_results; r++) {
		struct tensor x = result_value(m, r, a[r]), y = result_value(m, r, b[r]);
		double far = 0, scale = 0;
		if (!tensor_same_shape(&x, &y))
			return (struct output_difference){OTHER_SHAPE, 0, OTHER_SHAPE};
		for (int64_t i = 0; i < tensor_elements(&x); i++, n++) {
			double u = tensor_real(&x, i), v = tensor_real(&y, i);
			se += (u - v) * (u - v);
			ab += u * v;
			aa += u * u;
			bb += v * v;
			far = fmax(far, fabs(u - v));
			scale = fmax(scale, fabs(v));
		}
		largest = fmax(largest, scale > 0 ? far / scale : far);
	}
	return (struct output_difference){
		.mse = n ? se / (double)n : 0,
		.cosine = aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : aa == bb,
		.largest = largest,
	};
}
