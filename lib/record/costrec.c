/* costrec.c - cost records in and out. */
#include "record/costrec.h"

#define MOST_BYTES (UINT64_C(1) << 62) /* of all sets together */
#define MOST_HELD (UINT64_C(1) << 60)  /* of a device's column of each kind */

static void put_matrices(const struct cost_rec *x, struct rec_writer *w)
{
	put_matrix(w, "set_s", TT_F64, x->n_sets, x->k, x->set_s);
	if (x->set_lo) {
		put_matrix(w, "set_lo", TT_F64, x->n_sets, x->k, x->set_lo);
		put_matrix(w, "set_hi", TT_F64, x->n_sets, x->k, x->set_hi);
	}
	if (!x->has_pairs)
		return;
	put_vector(w, "pair_src", TT_U32, x->n_pairs, x->pair_src);
	put_vector(w, "pair_dst", TT_U32, x->n_pairs, x->pair_dst);
	put_matrix(w, "saved_s", TT_F64, x->n_pairs, x->k, x->saved_s);
	if (x->set_lo) {
		put_matrix(w, "saved_lo", TT_F64, x->n_pairs, x->k, x->saved_lo);
		put_matrix(w, "saved_hi", TT_F64, x->n_pairs, x->k, x->saved_hi);
	}
}

static void put_words(struct rec_writer *w, const char *key, const char *const *words, uint32_t k)
{
	if (words)
		put_texts(w, key, words, k);
}

static void put_costs(const struct cost_rec *x, struct rec_writer *w)
{
	put_matrices(x, w);
	if (x->set_mem)
		put_vector(w, "set_mem", TT_U64, x->n_sets, x->set_mem);
	if (x->held) {
		put_matrix(w, "held", TT_U64, x->n_sets, x->k, x->held);
		put_matrix(w, "inner", TT_U64, x->n_sets, x->k, x->inner);
		put_matrix(w, "shared", TT_U64, x->n_shared, x->k, x->shared);
		put_vector(w, "shared_ptr", TT_U32, x->n_shared + 1, x->shared_ptr);
		put_vector(w, "shared_set", TT_U32, x->shared_ptr[x->n_shared], x->shared_set);
		put_vector(w, "work", TT_U64, x->k, x->work);
	}
	if (x->flops_per_s) {
		put_vector(w, "flops_per_s", TT_F64, x->k, x->flops_per_s);
		put_vector(w, "bytes_per_s", TT_F64, x->k, x->bytes_per_s);
		put_vector(w, "overhead_s", TT_F64, x->k, x->overhead_s);
		if (x->workspace)
			put_vector(w, "workspace", TT_F64, x->k, x->workspace);
		put_words(w, "keeps", x->keeps, x->k);
		put_words(w, "fuses", x->fuses, x->k);
		put_words(w, "peaks", x->peaks, x->k);
	}
	if (x->move_s)
		put_vector(w, "move_s", TT_F64, x->n_sets, x->move_s);
	if (x->has_slowdown) {
		put_real(w, "slowdown", x->slowdown);
		put_real(w, "beside", x->multi_slowdown);
	}
	if (x->profiles)
		put_uint(w, "profiles", x->profiles);
	if (x->has_rules) {
		put_bool(w, "contention", x->contention);
		put_bool(w, "overlap", x->overlap);
		if (x->copy_holds && !x->overlap)
			put_matrix(w, "copy_holds", TT_U8, x->k, x->k, x->copy_holds);
	}
	if (x->order)
		put_text(w, "order", x->order);
}

int cost_encode(const struct cost_rec *x, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "cost");
	put_uint(w, "graph", x->graph);
	put_texts(w, "names", x->names, x->k);
	put_costs(x, w);
	if (x->n_cases)
		put_list_begin(w, "cases", x->n_cases);
	for (uint32_t i = 0; i < x->n_cases; i++) {
		put_map_begin(w, NULL);
		put_costs(&x->cases[i], w);
		put_map_end(w);
	}
	return rec_end(w, e);
}

/* Add w times x (n,k), of which a negative stays one, to sum; x NULL: nothing. */
static void add_weighted(double *sum, const double *x, size_t n, double w)
{
	for (size_t i = 0; x && i < n; i++)
		sum[i] = x[i] < 0 || sum[i] < 0 ? -1 : sum[i] + w * x[i];
}

struct cost_rec cost_of_cases(const struct cost_rec *cases, const double *weight, uint32_t n,
			      struct arena *a)
{
	struct cost_rec x = cases[0];
	size_t size = (size_t)x.n_sets * x.k, pairs = 0;
	double *sum[3];
	for (int j = 0; j < 3; j++)
		sum[j] = ARENA_NEWN(a, double, size);
	x.n_cases = n;
	x.cases = cases;
	for (uint32_t i = 0; i < n; i++) {
		add_weighted(sum[0], cases[i].set_s, size, weight[i]);
		add_weighted(sum[1], cases[i].set_lo, size, weight[i]);
		add_weighted(sum[2], cases[i].set_hi, size, weight[i]);
		pairs += cases[i].n_pairs;
	}
	x.set_s = sum[0];
	if (x.set_lo) {
		x.set_lo = sum[1];
		x.set_hi = sum[2];
	}
	if (!x.has_pairs)
		return x;
	/* A pair that several cases have stands there several times: what it saves adds up. */
	uint32_t *src = ARENA_NEWN(a, uint32_t, pairs), *dst = ARENA_NEWN(a, uint32_t, pairs);
	for (int j = 0; j < 3; j++)
		sum[j] = ARENA_NEWN(a, double, pairs *x.k);
	x.n_pairs = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct cost_rec *c = &cases[i];
		const double *from[3] = {c->saved_s, c->saved_lo, c->saved_hi};
		for (uint32_t p = 0; p < c->n_pairs; p++, x.n_pairs++) {
			src[x.n_pairs] = c->pair_src[p];
			dst[x.n_pairs] = c->pair_dst[p];
			for (uint32_t d = 0; d < x.k; d++)
				for (int j = 0; j < 3; j++)
					sum[j][(size_t)x.n_pairs * x.k + d] =
						from[j] ? weight[i] * from[j][(size_t)p * x.k + d]
							: 0;
		}
	}
	x.pair_src = src;
	x.pair_dst = dst;
	x.saved_s = sum[0];
	if (x.set_lo) {
		x.saved_lo = sum[1];
		x.saved_hi = sum[2];
	}
	return x;
}

/* ---- reading ---- */

int cost_decode_head(const struct rec *r, struct arena *a, struct cost_rec *out, struct err *e)
{
	size_t k = SIZE_MAX;
	const char **names;

	*out = (struct cost_rec){0};
	if (get_uint(r->map, "graph", 0, UINT64_MAX, &out->graph, e) < 0 ||
	    get_texts(r->map, "names", a, &k, &names, e) < 0)
		return -1;
	out->k = (uint32_t)k; /* a record is too short for 2^32 of them */
	out->names = names;
	return 0;
}

/* A matrix of `rows` and one column for each device. */
static int decode_matrix(const struct rec *r, const char *key, uint64_t rows,
			 const struct cost_rec *x, struct arena *a, const double **out,
			 struct err *e)
{
	uint64_t shape[2] = {rows, x->k};

	return get_tensor(r->map, key, TT_F64, 2, shape, a, out, e);
}

static int decode_pairs(const struct rec *r, bool ends, struct arena *a, struct cost_rec *x,
			struct err *e)
{
	uint64_t n[1] = {UINT64_MAX};

	if (get_tensor(r->map, "pair_src", TT_U32, 1, n, a, &x->pair_src, e) < 0 ||
	    get_tensor(r->map, "pair_dst", TT_U32, 1, n, a, &x->pair_dst, e) < 0 ||
	    decode_matrix(r, "saved_s", n[0], x, a, &x->saved_s, e) < 0)
		return -1;
	for (uint64_t i = 0; i < n[0]; i++)
		if (x->pair_src[i] >= x->n_sets || x->pair_dst[i] >= x->n_sets)
			return err_set(e, ST_INPUT,
				       "pair %llu is of sets that the graph does not have",
				       (unsigned long long)i);
	x->has_pairs = true;
	x->n_pairs = (uint32_t)n[0];
	return ends && (decode_matrix(r, "saved_lo", n[0], x, a, &x->saved_lo, e) < 0 ||
			decode_matrix(r, "saved_hi", n[0], x, a, &x->saved_hi, e) < 0)
		       ? -1
		       : 0;
}

/* set_mem and move_s, where told. */
static int decode_sets(const struct rec *r, struct arena *a, struct cost_rec *x, struct err *e)
{
	uint64_t shape[1] = {x->n_sets}, left = MOST_BYTES;

	if (val_get(r->map, "set_mem") &&
	    get_tensor(r->map, "set_mem", TT_U64, 1, shape, a, &x->set_mem, e) < 0)
		return -1;
	if (val_get(r->map, "move_s") &&
	    get_tensor(r->map, "move_s", TT_F64, 1, shape, a, &x->move_s, e) < 0)
		return -1;
	for (uint32_t i = 0; i < x->n_sets; i++) {
		uint64_t bytes = x->set_mem ? x->set_mem[i] : 0;

		if ((x->move_s && x->move_s[i] < 0) || bytes > left)
			return err_set(e, ST_INPUT, "set_mem or move_s of set %u is out of range",
				       i);
		left -= bytes;
	}
	return 0;
}

/* No column of bytes[rows,k] may be more than MOST_HELD, so that sums of all kinds do not overflow. */
static bool columns_fit(const uint64_t *bytes, uint64_t rows, uint32_t k)
{
	for (uint32_t d = 0; d < k; d++) {
		uint64_t left = MOST_HELD;

		for (uint64_t i = 0; i < rows; i++) {
			if (bytes[i * k + d] > left)
				return false;
			left -= bytes[i * k + d];
		}
	}
	return true;
}

/* Rows of sets, ascending in each. */
static int check_shared(const struct cost_rec *x, uint64_t n_readers, struct err *e)
{
	if (x->shared_ptr[0] != 0 || x->shared_ptr[x->n_shared] != n_readers)
		return err_set(e, ST_INPUT,
			       "shared_ptr does not go from 0 to the end of shared_set");
	for (uint32_t i = 0; i < x->n_shared; i++)
		if (x->shared_ptr[i] > x->shared_ptr[i + 1] || x->shared_ptr[i + 1] > n_readers)
			return err_set(e, ST_INPUT, "shared_ptr does not ascend");
	for (uint32_t i = 0; i < x->n_shared; i++)
		for (uint32_t j = x->shared_ptr[i]; j < x->shared_ptr[i + 1]; j++)
			if (x->shared_set[j] >= x->n_sets ||
			    (j > x->shared_ptr[i] && x->shared_set[j] <= x->shared_set[j - 1]))
				return err_set(e, ST_INPUT,
					       "shared_set has sets that do not ascend, or that "
					       "the graph does not have");
	return 0;
}

/* What sets hold on devices, where told. */
static int decode_held(const struct rec *r, struct arena *a, struct cost_rec *x, struct err *e)
{
	uint64_t sets[2] = {x->n_sets, x->k}, shared[2] = {UINT64_MAX, x->k}, ptr[1], k[1] = {x->k};
	uint64_t n_readers[1] = {UINT64_MAX};

	if (!val_get(r->map, "held"))
		return 0;
	if (get_tensor(r->map, "held", TT_U64, 2, sets, a, &x->held, e) < 0 ||
	    get_tensor(r->map, "inner", TT_U64, 2, sets, a, &x->inner, e) < 0 ||
	    get_tensor(r->map, "shared", TT_U64, 2, shared, a, &x->shared, e) < 0)
		return -1;
	ptr[0] = shared[0] + 1;
	x->n_shared = (uint32_t)shared[0];
	if (get_tensor(r->map, "shared_ptr", TT_U32, 1, ptr, a, &x->shared_ptr, e) < 0 ||
	    get_tensor(r->map, "shared_set", TT_U32, 1, n_readers, a, &x->shared_set, e) < 0 ||
	    get_tensor(r->map, "work", TT_U64, 1, k, a, &x->work, e) < 0)
		return -1;
	if (!columns_fit(x->held, x->n_sets, x->k) || !columns_fit(x->inner, x->n_sets, x->k) ||
	    !columns_fit(x->shared, x->n_shared, x->k) || !columns_fit(x->work, 1, x->k))
		return err_set(e, ST_INPUT, "held, inner, shared or work is out of range");
	return check_shared(x, n_readers[0], e);
}

/* (k) texts, or NULL where the record has none. */
static int decode_words(const struct rec *r, struct arena *a, const char *key, uint32_t k,
			const char *const **out, struct err *e)
{
	const char **texts;
	size_t n = SIZE_MAX;

	if (!val_get(r->map, key))
		return 0;
	if (get_texts(r->map, key, a, &n, &texts, e) < 0)
		return -1;
	if (n != k)
		return err_set(e, ST_INPUT, "%s has %zu texts for %u devices", key, n, k);
	*out = texts;
	return 0;
}

/* What set_s was computed from, where told. */
static int decode_figures(const struct rec *r, struct arena *a, struct cost_rec *x, struct err *e)
{
	uint64_t k[1] = {x->k};

	if (!val_get(r->map, "flops_per_s"))
		return 0;
	if (get_tensor(r->map, "flops_per_s", TT_F64, 1, k, a, &x->flops_per_s, e) < 0 ||
	    get_tensor(r->map, "bytes_per_s", TT_F64, 1, k, a, &x->bytes_per_s, e) < 0 ||
	    get_tensor(r->map, "overhead_s", TT_F64, 1, k, a, &x->overhead_s, e) < 0 ||
	    (val_get(r->map, "workspace") &&
	     get_tensor(r->map, "workspace", TT_F64, 1, k, a, &x->workspace, e) < 0))
		return -1;
	for (uint32_t d = 0; x->workspace && d < x->k; d++)
		if (!(x->workspace[d] >= 0 && x->workspace[d] <= COST_MAX_WORKSPACE))
			return err_set(e, ST_INPUT, "workspace is not between 0 and %d",
				       COST_MAX_WORKSPACE);
	for (uint32_t d = 0; d < x->k; d++)
		if (!(x->flops_per_s[d] > 0 && x->bytes_per_s[d] > 0 && x->overhead_s[d] >= 0))
			return err_set(e, ST_INPUT,
				       "flops_per_s, bytes_per_s or overhead_s is out of range");
	return decode_words(r, a, "keeps", x->k, &x->keeps, e) < 0 ||
			       decode_words(r, a, "fuses", x->k, &x->fuses, e) < 0 ||
			       decode_words(r, a, "peaks", x->k, &x->peaks, e) < 0
		       ? -1
		       : 0;
}

static int decode_slowdown(const struct rec *r, const char *key, bool required, double *out,
			   struct err *e)
{
	if ((required || val_get(r->map, key)) && get_real(r->map, key, out, e) < 0)
		return -1;
	return *out >= 0 && *out <= COST_MAX_SLOWDOWN
		       ? 0
		       : err_set(e, ST_INPUT, "%s is not between 0 and %d", key, COST_MAX_SLOWDOWN);
}

static int decode_slowdowns(const struct rec *r, bool required, struct cost_rec *x, struct err *e)
{
	x->has_slowdown = required || val_get(r->map, "slowdown") || val_get(r->map, "beside");
	return decode_slowdown(r, "slowdown", required, &x->slowdown, e) < 0 ||
			       decode_slowdown(r, "beside", required, &x->multi_slowdown, e) < 0
		       ? -1
		       : 0;
}

static int decode_overlap(const struct rec *r, struct arena *a, struct cost_rec *x, struct err *e)
{
	uint64_t shape[2] = {x->k, x->k};

	if (get_bool(r->map, "overlap", &x->overlap, e) < 0)
		return -1;
	if (x->overlap || !val_get(r->map, "copy_holds"))
		return 0;
	if (get_tensor(r->map, "copy_holds", TT_U8, 2, shape, a, &x->copy_holds, e) < 0)
		return -1;
	for (size_t i = 0; i < (size_t)x->k * x->k; i++)
		if (x->copy_holds[i] > 3)
			return err_set(e, ST_INPUT, "copy_holds: 0 to 3");
	return 0;
}

static int decode_model(const struct rec *r, struct arena *a, struct cost_rec *x, struct err *e)
{
	if ((val_get(r->map, "pair_src") && decode_pairs(r, false, a, x, e) < 0) ||
	    decode_sets(r, a, x, e) < 0 || decode_held(r, a, x, e) < 0 ||
	    decode_figures(r, a, x, e) < 0)
		return -1;
	x->has_rules = val_get(r->map, "contention") != NULL;
	if (x->has_rules && (get_bool(r->map, "contention", &x->contention, e) < 0 ||
			     decode_overlap(r, a, x, e) < 0))
		return -1;
	if (decode_slowdowns(r, false, x, e) < 0)
		return -1;
	return val_get(r->map, "order") ? get_text(r->map, "order", a, &x->order, e) : 0;
}

static int decode_profile(const struct rec *r, struct arena *a, struct cost_rec *x, struct err *e)
{
	const uint64_t most = 1000;

	if (decode_matrix(r, "set_lo", x->n_sets, x, a, &x->set_lo, e) < 0 ||
	    decode_matrix(r, "set_hi", x->n_sets, x, a, &x->set_hi, e) < 0 ||
	    decode_pairs(r, true, a, x, e) < 0 || decode_slowdowns(r, true, x, e) < 0)
		return -1;
	return val_get(r->map, "profiles") ? get_uint(r->map, "profiles", 1, most, &x->profiles, e)
					   : 0;
}

static int decode_costs(const struct rec *r, uint32_t n_sets, unsigned keys, struct arena *a,
			struct cost_rec *x, struct err *e)
{
	x->n_sets = n_sets;
	if (decode_matrix(r, "set_s", n_sets, x, a, &x->set_s, e) < 0 ||
	    ((keys & COST_MODEL) && decode_model(r, a, x, e) < 0) ||
	    ((keys & COST_PROFILE) && decode_profile(r, a, x, e) < 0))
		return -1;
	if (!(keys & COST_OVERLAP))
		return 0;
	x->has_rules = val_get(r->map, "overlap") != NULL;
	return x->has_rules ? decode_overlap(r, a, x, e) : 0;
}

static int decode_cases(const struct rec *r, unsigned keys, struct arena *a, struct cost_rec *x,
			struct err *e)
{
	const struct val *list;

	if (!val_get(r->map, "cases"))
		return 0;
	if (get_list(r->map, "cases", &list, e) < 0)
		return -1;
	x->n_cases = (uint32_t)val_count(list);
	struct cost_rec *of = ARENA_NEWN(a, struct cost_rec, x->n_cases);
	x->cases = of;
	for (uint32_t i = 0; i < x->n_cases; i++) {
		struct rec one = *r;

		one.map = val_at(list, i);
		of[i] = (struct cost_rec){.graph = x->graph, .k = x->k, .names = x->names};
		if (val_type(one.map) != VAL_MAP)
			return err_set(e, ST_INPUT, "key 'cases': %u: not a map", i);
		if (decode_costs(&one, x->n_sets, keys, a, &of[i], e) < 0)
			return err_prefix(e, "key 'cases': %u", i);
	}
	return 0;
}

int cost_decode(const struct rec *r, uint32_t n_sets, unsigned keys, struct arena *a,
		struct cost_rec *x, struct err *e)
{
	return decode_costs(r, n_sets, keys, a, x, e) < 0 ? -1 : decode_cases(r, keys, a, x, e);
}
