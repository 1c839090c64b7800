/* episoderec.c - episode records to and from memory. */
#include "record/episoderec.h"

static int decode_incumbent(const struct val *m, uint32_t n_sets, uint32_t k, struct arena *a,
			    struct incumbent *out, struct err *e)
{
	uint64_t shape[1] = {UINT64_MAX}, n_tried[1] = {UINT64_MAX};
	uint16_t *device;
	uint64_t *tried;
	if (get_tensor(m, "incumbent", TT_U16, 1, shape, a, &device, e) < 0 ||
	    get_real(m, "leaves", &out->leaves, e) < 0 ||
	    get_real(m, "ratio", &out->ratio, e) < 0 || get_bool(m, "again", &out->again, e) < 0)
		return -1;
	if (shape[0] != n_sets)
		return err_set(e, ST_INPUT, "the incumbent is a placement of another graph");
	for (uint32_t i = 0; i < n_sets; i++)
		if (device[i] >= k)
			return err_set(e, ST_INPUT, "device %u of %u in the incumbent", device[i],
				       k);
	if (!(out->ratio > 0) || out->leaves < 0)
		return err_set(e, ST_INPUT, "impossible incumbent");
	out->device = device;
	if (val_get(m, "adapted") && get_real(m, "adapted", &out->adapted, e) < 0)
		return -1;
	if (!val_get(m, "tried"))
		return 0;
	if (get_tensor(m, "tried", TT_U64, 1, n_tried, a, &tried, e) < 0)
		return -1;
	if (n_tried[0] >= UINT32_MAX)
		return err_set(e, ST_INPUT, "'tried' is too long");
	out->n_tried = (uint32_t)n_tried[0];
	out->tried = tried;
	return 0;
}

int episode_decode(const struct rec *r, uint32_t n_sets, uint32_t k, struct arena *a,
		   struct episode_rec *out, struct err *e)
{
	uint64_t episode, steps, samples = 0, visits = 0;
	*out = (struct episode_rec){0};
	if (get_uint(r->map, "episode", 1, UINT32_MAX, &episode, e) < 0 ||
	    get_uint(r->map, "steps", 1, UINT32_MAX, &steps, e) < 0 ||
	    (val_get(r->map, "samples") &&
	     get_uint(r->map, "samples", 1, 65536, &samples, e) < 0) ||
	    (val_get(r->map, "visits") &&
	     get_uint(r->map, "visits", 1, UINT32_MAX, &visits, e) < 0) ||
	    (val_get(r->map, "anchors") &&
	     get_bool(r->map, "anchors", &out->single_reference, e) < 0) ||
	    (a && val_get(r->map, "incumbent") &&
	     decode_incumbent(r->map, n_sets, k, a, &out->incumbent, e) < 0))
		return err_prefix(e, "episode");
	out->episode = (uint32_t)episode;
	out->steps = (uint32_t)steps;
	out->samples = (uint32_t)samples;
	out->visits = (uint32_t)visits;
	return 0;
}

int episode_encode(const struct episode_rec *x, uint32_t n_sets, struct rec_writer *w,
		   struct err *e)
{
	const struct incumbent *i = &x->incumbent;
	rec_begin(w, "episode");
	put_uint(w, "episode", x->episode);
	put_uint(w, "steps", x->steps);
	if (x->samples)
		put_uint(w, "samples", x->samples);
	if (x->visits)
		put_uint(w, "visits", x->visits);
	put_bool(w, "anchors", x->single_reference);
	if (i->device) {
		put_vector(w, "incumbent", TT_U16, n_sets, i->device);
		put_real(w, "leaves", i->leaves);
		put_real(w, "ratio", i->ratio);
		put_bool(w, "again", i->again);
		if (i->adapted > 0)
			put_real(w, "adapted", i->adapted);
		if (i->n_tried)
			put_vector(w, "tried", TT_U64, i->n_tried, i->tried);
	}
	return rec_end(w, e);
}

int episode_end_encode(uint32_t episode, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "episode_end");
	put_uint(w, "episode", episode);
	return rec_end(w, e);
}

int episode_end_decode(const struct rec *r, uint32_t *episode, struct err *e)
{
	uint64_t v;
	if (get_uint(r->map, "episode", 1, UINT32_MAX, &v, e) < 0)
		return err_prefix(e, "episode_end");
	*episode = (uint32_t)v;
	return 0;
}
