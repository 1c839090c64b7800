/* placerec.c - place records in and out, run records out. */
#include <string.h>

#include "record/placerec.h"

enum { MAX_DEVICES = 1024 };

static int get_u32(const struct val *map, const char *key, uint32_t *out, struct err *e)
{
	uint64_t v = 0;

	if (get_uint(map, key, 0, UINT32_MAX, &v, e) < 0)
		return -1;
	*out = (uint32_t)v;
	return 0;
}

static int decode_devices(const struct rec *r, uint32_t n_sets, struct arena *a,
			  struct placement *p, struct err *e)
{
	size_t k = SIZE_MAX;
	const char **names;
	uint16_t *device;
	uint64_t shape[1] = {n_sets};

	if (get_texts(r->map, "devices", a, &k, &names, e) < 0 ||
	    get_tensor(r->map, "device", TT_U16, 1, shape, a, &device, e) < 0)
		return -1;
	if (k == 0 || k > MAX_DEVICES)
		return err_set(e, ST_INPUT, "%zu devices, not 1 to %d", k, MAX_DEVICES);
	for (size_t i = 1; i < k; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(names[i], names[j]) == 0)
				return err_set(e, ST_INPUT, "device %zu has the name of device %zu",
					       i, j);
	for (uint32_t i = 0; i < n_sets; i++)
		if (device[i] >= k)
			return err_set(e, ST_INPUT, "set %u is on device %u of %zu", i, device[i],
				       k);
	p->k = (uint32_t)k;
	p->n_sets = n_sets;
	p->names = names;
	p->device = device;
	return 0;
}

int placement_decode(const struct rec *r, uint32_t n_sets, struct arena *a, struct placement *out,
		     struct err *e)
{
	struct placement p = {0};

	if (get_uint(r->map, "graph", 0, UINT64_MAX, &p.graph, e) < 0 ||
	    get_u32(r->map, "episode", &p.episode, e) < 0 ||
	    get_u32(r->map, "step", &p.step, e) < 0 ||
	    get_u32(r->map, "sample", &p.sample, e) < 0 ||
	    get_text(r->map, "source", a, &p.source, e) < 0 ||
	    decode_devices(r, n_sets, a, &p, e) < 0)
		return err_prefix(e, "place record %llu", (unsigned long long)r->index);
	*out = p;
	return 0;
}

static void put_turn(const struct placement *p, struct rec_writer *w)
{
	put_uint(w, "graph", p->graph);
	put_uint(w, "episode", p->episode);
	put_uint(w, "step", p->step);
	put_uint(w, "sample", p->sample);
}

int placement_encode(const struct placement *p, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "place");
	put_turn(p, w);
	put_texts(w, "devices", p->names, p->k);
	put_vector(w, "device", TT_U16, p->n_sets, p->device);
	put_text(w, "source", p->source);
	if (p->predicted)
		put_real(w, "predicted_s", p->predicted_s);
	if (p->predicted && p->by_value)
		put_real(w, "predicted_value", p->predicted_value);
	if (p->bounded)
		put_real(w, p->by_value ? "bound_value" : "bound_s",
			 p->by_value ? p->bound_value : p->bound_s);
	return rec_end(w, e);
}

static void put_links(const struct run_links *l, struct rec_writer *w)
{
	put_vector(w, "link_src", TT_U16, l->n, l->src);
	put_vector(w, "link_dst", TT_U16, l->n, l->dst);
	put_vector(w, "link_copies", TT_U32, l->n, l->copies);
	put_vector(w, "link_bytes", TT_U64, l->n, l->bytes);
	put_vector(w, "link_busy_s", TT_F64, l->n, l->busy_s);
}

static void put_schedule(const struct run_schedule *s, struct rec_writer *w)
{
	put_map_begin(w, "schedule");
	put_vector(w, "set", TT_U32, s->n, s->set);
	put_vector(w, "start_s", TT_F64, s->n, s->start_s);
	put_vector(w, "end_s", TT_F64, s->n, s->end_s);
	put_vector(w, "copy_set", TT_U32, s->n_copies, s->copy_set);
	put_vector(w, "copy_src", TT_U16, s->n_copies, s->copy_src);
	put_vector(w, "copy_dst", TT_U16, s->n_copies, s->copy_dst);
	put_vector(w, "copy_bytes", TT_U64, s->n_copies, s->copy_bytes);
	put_vector(w, "copy_start_s", TT_F64, s->n_copies, s->copy_start_s);
	put_vector(w, "copy_end_s", TT_F64, s->n_copies, s->copy_end_s);
	put_map_end(w);
}

static void put_simulation(const struct run_result *x, struct rec_writer *w)
{
	if (x->has_value) {
		put_real(w, "value", x->value);
		put_real(w, "ref_value", x->ref_value);
	}
	if (x->has_pipeline)
		put_real(w, "period_s", x->period_s);
	if (x->energy_j > 0)
		put_real(w, "energy_j", x->energy_j);
	if (x->links)
		put_links(x->links, w);
	if (x->schedule)
		put_schedule(x->schedule, w);
}

int run_encode(const struct placement *p, const struct run_result *x, struct rec_writer *w,
	       struct err *e)
{
	rec_begin(w, "run");
	put_turn(p, w);
	put_text(w, "source", p->source);
	put_bool(w, "ok", !x->reason);
	if (x->reason) {
		put_text(w, "reason", x->reason);
		if (x->unlimited_s > 0)
			put_real(w, "unlimited_s", x->unlimited_s);
		return rec_end(w, e);
	}
	put_real(w, "lat_s", x->lat_s);
	put_real(w, "lo_s", x->lo_s);
	put_real(w, "hi_s", x->hi_s);
	put_vector(w, "samples_s", TT_F64, x->n_samples, x->samples_s);
	if (x->pulse_s)
		put_tensor(w, "pulse_s", TT_F64, 3,
			   (const uint64_t[]){x->n_samples, p->k, x->n_pulses}, x->pulse_s);
	put_real(w, "ref_s", x->ref_s);
	if (x->has_ratio) {
		put_real(w, "ratio", x->ratio);
		put_real(w, "ratio_lo", x->ratio_lo);
		put_real(w, "ratio_hi", x->ratio_hi);
	}
	put_vector(w, "mem_bytes", TT_U64, p->k, x->mem_bytes);
	put_uint(w, "copies", x->copies);
	put_uint(w, "copy_bytes", x->copy_bytes);
	if (x->has_plan) {
		put_uint(w, "in_host", x->in_host);
		put_uint(w, "steps", x->steps);
		put_uint(w, "splits", x->splits);
	}
	put_vector(w, "busy_s", TT_F64, p->k, x->busy_s);
	put_simulation(x, w);
	return rec_end(w, e);
}
