/* featrec.c - feat records in and out. */
#include "record/featrec.h"

int feat_encode(const struct feat_rec *x, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "feat");
	put_uint(w, "graph", x->graph);
	put_texts(w, "columns", x->columns, x->d);
	put_matrix(w, "x", TT_F32, x->n_sets, x->d, x->x);
	put_text(w, "encoding", x->encoding);
	return rec_end(w, e);
}

int feat_decode(const struct rec *r, struct arena *a, struct feat_rec *out, struct err *e)
{
	uint64_t shape[2] = {UINT64_MAX, UINT64_MAX};
	struct feat_rec x = {0};
	if (get_uint(r->map, "graph", 0, UINT64_MAX, &x.graph, e) < 0 ||
	    get_tensor(r->map, "x", TT_F32, 2, shape, a, &x.x, e) < 0)
		return err_prefix(e, "feat");
	if (shape[0] >= UINT32_MAX || shape[1] >= UINT32_MAX || shape[1] == 0)
		return err_set(e, ST_INPUT, "feat: no columns, or too many");
	x.n_sets = (uint32_t)shape[0];
	x.d = (uint32_t)shape[1];
	*out = x;
	return 0;
}
