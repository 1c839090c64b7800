/* model_inputs.c - inputs from files, outputs to files, and beside each other. */
#include "exec/model_inputs.h"
#include "exec/npy.h"
#include "exec/tensor_dir.h"
#include "op/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct tensor input_tensor(const struct model *m, uint32_t i)
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

/* ---- files ---- */

static int save(const struct model *m, const uint32_t *node, uint32_t n,
		struct tensor (*tensor_of)(const struct model *m, uint32_t i, const void *data),
		const void *const *data, const char *dir, struct err *e)
{
	struct tensor_dir d;
	if (tensor_dir_open(&d, dir, e) < 0)
		return -1;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		struct tensor t = tensor_of(m, i, data[i]);
		rc = tensor_dir_add(&d, m->g->node_name[node[i]], &t, "", e);
	}
	return tensor_dir_close(&d, rc, e);
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

/* How many elements of t are NaN or infinite? */
static int64_t count_not_finite(const struct tensor *t)
{
	int64_t n = 0;
	for (int64_t i = 0; i < tensor_elements(t); i++)
		n += !isfinite(tensor_real(t, i));
	return n;
}

/* -1: values of result r make no difference that could be told. */
static int check_finite(const struct model *m, uint32_t r, const struct tensor *x,
			const struct tensor *y, struct err *e)
{
	char q[300];
	const char *name = m->g->node_name[m->result[r]];
	int64_t here = count_not_finite(x), there = count_not_finite(y);
	if (here == 0 && there == 0)
		return 0;
	return err_set(
		e, ST_RUNTIME,
		"of %lld values of '%s' %lld are not finite (NaN or infinite), on the single "
		"device %lld; other inputs (--inputs DIR) may have finite results",
		(long long)tensor_elements(x), err_escape(q, sizeof q, name, strlen(name)),
		(long long)here, (long long)there);
}

int outputs_compare(const struct model *m, const void *const *a, const void *const *b,
		    struct output_difference *out, struct err *e)
{
	double se = 0, ab = 0, aa = 0, bb = 0, largest = 0;
	int64_t n = 0;
	for (uint32_t r = 0; r < m->n_results; r++) {
		struct tensor x = result_value(m, r, a[r]), y = result_value(m, r, b[r]);
		double far = 0, scale = 0;
		if (!tensor_same_shape(&x, &y)) {
			*out = (struct output_difference){OTHER_SHAPE, 0, OTHER_SHAPE};
			return 0;
		}
		if (check_finite(m, r, &x, &y, e) < 0)
			return -1;
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
	*out = (struct output_difference){
		.mse = n ? se / (double)n : 0,
		.cosine = aa > 0 && bb > 0 ? ab / sqrt(aa) / sqrt(bb) : aa == bb,
		.largest = largest,
	};
	if (!isfinite(out->mse) || !isfinite(out->cosine) || !isfinite(out->largest))
		return err_set(e, ST_RUNTIME, "results are too large for their squares");
	return 0;
}
