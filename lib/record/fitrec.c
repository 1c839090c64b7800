/* fitrec.c - fit records in and out. */
#include "record/fitrec.h"

#include <math.h>

int fit_encode(const struct fit_rec *x, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "fit");
	put_uint(w, "graph", x->graph);
	put_uint(w, "key", x->key);
	put_uint(w, "cases", x->cases);
	put_real(w, "before", x->before);
	put_real(w, "after", x->after);
	put_real(w, "model_error", x->model_error);
	put_vector(w, "z", TT_F64, x->n, x->z);
	put_matrix(w, "precision", TT_F64, x->n, x->n, x->precision);
	return rec_end(w, e);
}

static bool is_factor(const struct fit_rec *x)
{
	bool ok = true;

	for (size_t i = 0; i < (size_t)x->n * x->n; i++)
		ok &= isfinite(x->precision[i]);
	for (uint32_t i = 0; i < x->n; i++)
		ok &= isfinite(x->z[i]) && x->precision[(size_t)i * x->n + i] > 0;
	return ok;
}

int fit_decode(const struct rec *r, struct arena *a, struct fit_rec *out, struct err *e)
{
	const struct val *m = r->map;
	uint64_t n = UINT64_MAX, square[2];
	struct fit_rec x = {0};

	if (get_uint(m, "graph", 0, UINT64_MAX, &x.graph, e) < 0 ||
	    get_uint(m, "key", 0, UINT64_MAX, &x.key, e) < 0 ||
	    get_u32(m, "cases", 1, &x.cases, e) < 0 || get_real(m, "before", &x.before, e) < 0 ||
	    get_real(m, "after", &x.after, e) < 0 ||
	    get_real(m, "model_error", &x.model_error, e) < 0 ||
	    get_tensor(m, "z", TT_F64, 1, &n, a, &x.z, e) < 0)
		return err_prefix(e, "fit");
	square[0] = square[1] = n;
	if (get_tensor(m, "precision", TT_F64, 2, square, a, &x.precision, e) < 0)
		return err_prefix(e, "fit");
	x.n = (uint32_t)n; /* a factor of more is no record */
	if (!is_factor(&x) || !(x.model_error > 0 && isfinite(x.model_error)))
		return err_set(e, ST_INPUT, "fit: not a factor of a precision, or not finite");
	*out = x;
	return 0;
}
