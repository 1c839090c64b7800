/* history.c - update records. */
#include "learn/train/history.h"

void history_add(struct history *h, const struct update *u)
{
	h->u = mem_grow(h->u, &h->cap, h->n + 1, sizeof *h->u);
	h->u[h->n++] = *u;
}

void history_release(struct history *h)
{
	mem_free(h->u);
	*h = (struct history){0};
}

int update_write(const struct update *u, struct rec_writer *w, struct err *e)
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

int update_read(struct update *u, const struct rec *r, struct err *e)
{
	uint64_t episode, ok, failed;
	if (get_uint(r->map, "episode", 0, UINT32_MAX, &episode, e) < 0 ||
	    get_uint(r->map, "ok", 0, UINT32_MAX, &ok, e) < 0 ||
	    get_uint(r->map, "failed", 0, UINT32_MAX, &failed, e) < 0 ||
	    get_real(r->map, "mean_s", &u->mean_s, e) < 0 ||
	    get_real(r->map, "best_s", &u->best_s, e) < 0 ||
	    get_real(r->map, "best_ratio", &u->best_ratio, e) < 0 ||
	    get_real(r->map, "reward", &u->reward, e) < 0 ||
	    get_real(r->map, "entropy", &u->entropy, e) < 0 ||
	    get_real(r->map, "groups", &u->groups, e) < 0 ||
	    get_real(r->map, "grad_norm", &u->grad_norm, e) < 0 ||
	    get_real(r->map, "loss", &u->loss, e) < 0)
		return -1;
	u->episode = (uint32_t)episode;
	u->ok = (uint32_t)ok;
	u->failed = (uint32_t)failed;
	return 0;
}
