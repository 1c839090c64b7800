/* updaterec.c - update records in and out. */
#include "record/updaterec.h"

int update_encode(const struct update_rec *u, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "update");
	put_uint(w, "episode", u->episode);
	put_uint(w, "ok", u->ok);
	put_uint(w, "failed", u->failed);
	put_real(w, "mean_s", u->mean_s);
	put_real(w, "best_s", u->best_s);
	put_real(w, "best_ratio", u->best_ratio);
	put_real(w, "reward", u->reward);
	put_real(w, "entropy", u->entropy);
	put_real(w, "groups", u->groups);
	put_real(w, "grad_norm", u->grad_norm);
	put_real(w, "loss", u->loss);
	return rec_end(w, e);
}

int update_decode_counts(const struct rec *r, struct update_rec *out, struct err *e)
{
	*out = (struct update_rec){0};
	return get_u32(r->map, "ok", 0, &out->ok, e) < 0 ||
			       get_u32(r->map, "failed", 0, &out->failed, e) < 0 ||
			       (val_get(r->map, "best_ratio") &&
				get_real(r->map, "best_ratio", &out->best_ratio, e) < 0)
		       ? -1
		       : 0;
}

int update_decode(const struct rec *r, struct update_rec *out, struct err *e)
{
	struct update_rec u;
	if (update_decode_counts(r, &u, e) < 0 ||
	    get_u32(r->map, "episode", 0, &u.episode, e) < 0 ||
	    get_real(r->map, "mean_s", &u.mean_s, e) < 0 ||
	    get_real(r->map, "best_s", &u.best_s, e) < 0 ||
	    get_real(r->map, "best_ratio", &u.best_ratio, e) < 0 ||
	    get_real(r->map, "reward", &u.reward, e) < 0 ||
	    get_real(r->map, "entropy", &u.entropy, e) < 0 ||
	    get_real(r->map, "groups", &u.groups, e) < 0 ||
	    get_real(r->map, "grad_norm", &u.grad_norm, e) < 0 ||
	    get_real(r->map, "loss", &u.loss, e) < 0)
		return -1;
	*out = u;
	return 0;
}
