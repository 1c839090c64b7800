/* handoverrec.c - handover records in and out. */
#include "record/handoverrec.h"

int handover_encode(const struct handover_rec *h, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "handover");
	rollout_id_put(w, ID_GRAPH | ID_STEP, &h->id);
	put_uint(w, "steps", h->steps);
	put_uint(w, "pid", h->pid);
	put_uint(w, "fd", h->fd);
	put_uint(w, "at", h->at);
	put_uint(w, "bytes", h->n);
	put_uint(w, "key", h->key);
	return rec_end(w, e);
}

int handover_decode(const struct rec *r, struct handover_rec *out, struct err *e)
{
	const struct val *m = r->map;
	if (rollout_id_decode(m, ID_GRAPH | ID_STEP, &out->id, e) < 0 ||
	    get_u32(m, "steps", 1, &out->steps, e) < 0 || get_u32(m, "pid", 0, &out->pid, e) < 0 ||
	    get_u32(m, "fd", 0, &out->fd, e) < 0 ||
	    get_uint(m, "at", 0, UINT64_MAX, &out->at, e) < 0 ||
	    get_uint(m, "bytes", 0, UINT64_MAX, &out->n, e) < 0 ||
	    get_uint(m, "key", 0, UINT64_MAX, &out->key, e) < 0)
		return err_prefix(e, "handover");
	return 0;
}
