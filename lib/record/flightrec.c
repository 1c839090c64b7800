/* flightrec.c - the map in and out. */
#include "record/flightrec.h"

void flight_put(const struct flight_rec *x, struct rec_writer *w)
{
	if (x->requests == 0)
		return;
	put_map_begin(w, "in_flight");
	put_uint(w, "requests", x->requests);
	put_uint(w, "ended", x->ended);
	put_uint(w, "failed", x->failed);
	if (x->failed > 0)
		put_text(w, "failure", x->failure);
	put_real(w, "seconds", x->seconds);
	if (x->limit_s > 0)
		put_real(w, "limit_s", x->limit_s);
	put_real(w, "p50_s", x->p50_s);
	put_real(w, "p95_s", x->p95_s);
	put_real(w, "p99_s", x->p99_s);
	put_map_end(w);
}

int flight_decode(const struct rec *r, struct arena *a, struct flight_rec *out, struct err *e)
{
	const struct val *map;

	*out = (struct flight_rec){0};
	if (!val_get(r->map, "in_flight"))
		return 0;
	if (get_map(r->map, "in_flight", &map, e) < 0 ||
	    get_u32(map, "requests", 1, &out->requests, e) < 0 ||
	    get_uint(map, "ended", 0, UINT64_MAX, &out->ended, e) < 0 ||
	    get_uint(map, "failed", 0, out->ended, &out->failed, e) < 0 ||
	    (out->failed > 0 && get_text(map, "failure", a, &out->failure, e) < 0) ||
	    get_real(map, "seconds", &out->seconds, e) < 0 ||
	    (val_get(map, "limit_s") && get_real(map, "limit_s", &out->limit_s, e) < 0) ||
	    get_real(map, "p50_s", &out->p50_s, e) < 0 ||
	    get_real(map, "p95_s", &out->p95_s, e) < 0 ||
	    get_real(map, "p99_s", &out->p99_s, e) < 0)
		return err_prefix(e, "in_flight");
	return 0;
}
