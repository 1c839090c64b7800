/* paramsrec.c - params records in and out. */
#include "record/paramsrec.h"

#include <string.h>

const char *const block_names[] = {"embed", "policy", "costs", "adapt", NULL};

static void put_hyper(const struct params_rec *x, struct rec_writer *w)
{
	put_map_begin(w, "hyper");
	for (uint32_t i = 0; i < x->n_hyper; i++)
		if (x->hyper[i].is_real)
			put_real(w, x->hyper[i].name, x->hyper[i].value);
		else
			put_int(w, x->hyper[i].name, (int64_t)x->hyper[i].value);
	put_map_end(w);
}

int params_encode(const struct params_rec *x, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "params");
	put_text(w, "net", x->net);
	put_text(w, "block", block_names[x->block]);
	if (x->recipe)
		put_text(w, "recipe", x->recipe);
	if (x->without_costs)
		put_bool(w, "costs", false);
	put_hyper(x, w);
	put_uint(w, "seed", x->seed);
	put_uint(w, "episode", x->episode);
	put_texts(w, "names", x->names, x->n);
	put_vector(w, "rows", TT_U32, x->n, x->rows);
	put_vector(w, "cols", TT_U32, x->n, x->cols);
	put_vector(w, "data", TT_F32, x->n_data, x->data);
	return rec_end(w, e);
}

/* ---- reading ---- */

int params_decode_block(const struct rec *r, enum params_block *out, struct err *e)
{
	const struct val *v = val_get(r->map, "block");
	const char *s;
	size_t n;
	if (v && val_bytes(v, &s, &n))
		for (int b = 0; block_names[b]; b++)
			if (n == strlen(block_names[b]) && memcmp(s, block_names[b], n) == 0) {
				*out = (enum params_block)b;
				return 0;
			}
	return err_set(e, ST_INPUT, "params: block is none of 'embed', 'policy', 'costs', 'adapt'");
}

static int decode_matrices(const struct rec *r, struct arena *a, struct params_rec *x,
			   struct err *e)
{
	uint64_t shape[1], need = 0;
	size_t n = SIZE_MAX;
	const char **names;
	x->n_data = UINT64_MAX;
	if (get_texts(r->map, "names", a, &n, &names, e) < 0)
		return -1;
	x->names = names;
	x->n = (uint32_t)n; /* a record is too short for 2^32 of them */
	shape[0] = n;
	if (get_tensor(r->map, "rows", TT_U32, 1, shape, a, &x->rows, e) < 0 ||
	    get_tensor(r->map, "cols", TT_U32, 1, shape, a, &x->cols, e) < 0 ||
	    get_tensor(r->map, "data", TT_F32, 1, &x->n_data, a, &x->data, e) < 0)
		return -1;
	for (size_t i = 0; i < n && need <= x->n_data; i++)
		need += (uint64_t)x->rows[i] * x->cols[i];
	if (need != x->n_data)
		return err_set(e, ST_INPUT, "data has %llu floats where its matrices have %s",
			       (unsigned long long)x->n_data, need > x->n_data ? "more" : "fewer");
	return 0;
}

int params_decode(const struct rec *r, struct arena *a, struct params_rec *out, struct err *e)
{
	struct params_rec x = {0};
	bool costs = true;
	if (params_decode_block(r, &x.block, e) < 0 || get_text(r->map, "net", a, &x.net, e) < 0 ||
	    get_uint(r->map, "seed", 0, UINT64_MAX, &x.seed, e) < 0 ||
	    get_u32(r->map, "episode", 0, &x.episode, e) < 0 ||
	    (val_get(r->map, "recipe") && get_text(r->map, "recipe", a, &x.recipe, e) < 0) ||
	    (val_get(r->map, "costs") && get_bool(r->map, "costs", &costs, e) < 0) ||
	    get_map(r->map, "hyper", &x.hyper_map, e) < 0 || decode_matrices(r, a, &x, e) < 0)
		return -1;
	x.without_costs = !costs;
	*out = x;
	return 0;
}
