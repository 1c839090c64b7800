/* bestrec.c - best records in and out. */
#include "record/bestrec.h"

#include <string.h>

static const char *const says[] = {
	[CONTEST_GAIN] = "gain", [CONTEST_SINGLE] = "single", [CONTEST_UNDECIDED] = "undecided"};
enum { N_SAYS = sizeof says / sizeof *says };

static void put_race(const struct contest_race_facts *x, struct rec_writer *w)
{
	if (x->n_blocks == 0)
		return;
	put_map_begin(w, "race");
	put_uint(w, "blocks", x->n_blocks);
	put_uint(w, "disturbed", x->n_disturbed);
	put_real(w, "seconds", x->seconds);
	put_real(w, "noise", x->noise);
	put_real(w, "drift", x->drift);
	put_bool(w, "settled", x->settled);
	put_map_end(w);
}

static void put_verdict(const struct best_verdict *x, struct rec_writer *w)
{
	if (x->says == CONTEST_UNTOLD)
		return;
	put_map_begin(w, "verdict");
	put_text(w, "says", says[x->says]);
	if (x->rival) {
		put_text(w, "rival", x->rival);
		put_uint(w, "rival_sample", x->rival_sample);
		put_real(w, "ratio", x->ratio.mid);
		put_real(w, "ratio_lo", x->ratio.lo);
		put_real(w, "ratio_hi", x->ratio.hi);
		put_real(w, "more_s", x->more_s);
		if (x->why)
			put_text(w, "why", contest_why_names[x->why]);
	}
	put_map_end(w);
}

static void put_load(const struct contest_load *x, struct rec_writer *w)
{
	if (x->cores == 0)
		return;
	put_map_begin(w, "load");
	put_uint(w, "cores", x->cores);
	put_real(w, "average", x->average);
	put_real(w, "others", x->others);
	put_map_end(w);
}

static void put_final(const struct best_rec *x, struct rec_writer *w)
{
	put_bool(w, "final", true);
	put_text(w, "reference", x->reference);
	put_real(w, "ratio", x->ratio);
	put_real(w, "ratio_lo", x->ratio_lo);
	put_real(w, "ratio_hi", x->ratio_hi);
	put_uint(w, "n_pairs", x->n_pairs);
	put_race(&x->race, w);
	put_verdict(&x->verdict, w);
	put_load(&x->load, w);
	put_uint(w, "copies", x->copies);
	put_uint(w, "copy_bytes", x->copy_bytes);
	if (x->mem_bytes)
		put_vector(w, "mem_bytes", TT_U64, x->place.k, x->mem_bytes);
	flight_put(&x->flight, w);
	if (x->schedule)
		run_schedule_put(x->schedule, w);
	if (x->has_error) {
		put_real(w, "error", x->error);
		put_real(w, "max_error", x->max_error);
		put_text(w, "error_of", x->error_of);
	}
	if (!x->has_diff) {
		put_text(w, "not_compared", x->not_compared);
		return;
	}
	put_real(w, "out_mse", x->out_mse);
	put_real(w, "out_cos", x->out_cos);
	put_real(w, "out_max", x->out_max);
	if (x->out_of && *x->out_of)
		put_text(w, "out_of", x->out_of);
}

int best_encode(const struct best_rec *x, struct rec_writer *w, struct err *e)
{
	const struct place_rec *p = &x->place;

	rec_begin(w, "best");
	rollout_id_put(w, ID_GRAPH, &p->id);
	put_uint(w, "rank", x->rank);
	put_texts(w, "devices", p->names, p->k);
	place_put_device(p, w);
	put_text(w, "source", p->source);
	if (p->order)
		put_vector(w, "order", TT_U32, p->n_order, p->order);
	rollout_id_put(w, ID_STEP | ID_SAMPLE, &p->id);
	put_real(w, "lat_s", x->lat_s);
	if (x->final) {
		put_real(w, "lo_s", x->lo_s);
		put_real(w, "hi_s", x->hi_s);
	}
	put_real(w, "ref_s", x->ref_s);
	if (p->predicted)
		put_real(w, "predicted_s", p->predicted_s);
	if (x->has_value) {
		put_real(w, "value", x->value);
		put_real(w, "ref_value", x->ref_value);
	}
	put_uint(w, "n_groups", x->n_groups);
	if (x->final)
		put_final(x, w);
	return rec_end(w, e);
}

/* ---- reading ---- */

bool best_is_final(const struct rec *r)
{
	const struct val *v = val_get(r->map, "final");
	bool final = false;

	return v && val_bool(v, &final) && final;
}

int best_decode_groups(const struct rec *r, uint32_t *n_groups, struct err *e)
{
	return get_u32(r->map, "n_groups", 0, n_groups, e);
}

int best_decode(const struct rec *r, uint32_t n_sets, unsigned keys, struct arena *a,
		struct best_rec *out, struct err *e)
{
	*out = (struct best_rec){0};
	if (place_decode(r, n_sets, keys, a, &out->place, e) < 0)
		return err_prefix(e, "place record %llu", (unsigned long long)r->index);
	if (get_u32(r->map, "rank", 0, &out->rank, e) < 0 ||
	    best_decode_groups(r, &out->n_groups, e) < 0)
		return -1;
	return val_get(r->map, "final") ? get_bool(r->map, "final", &out->final, e) : 0;
}

/* An optional key; *told: it is there. */
static int decode_optional(const struct rec *r, const char *key, double *out, bool *told,
			   struct err *e)
{
	*told = val_get(r->map, key) != NULL;
	return *told ? get_real(r->map, key, out, e) : 0;
}

static int decode_race(const struct rec *r, struct contest_race_facts *x, struct err *e)
{
	const struct val *map;

	if (!val_get(r->map, "race"))
		return 0;
	if (get_map(r->map, "race", &map, e) < 0 ||
	    get_u32(map, "blocks", 0, &x->n_blocks, e) < 0 ||
	    get_u32(map, "disturbed", 0, &x->n_disturbed, e) < 0 ||
	    get_real(map, "seconds", &x->seconds, e) < 0 ||
	    get_real(map, "noise", &x->noise, e) < 0 || get_real(map, "drift", &x->drift, e) < 0 ||
	    get_bool(map, "settled", &x->settled, e) < 0)
		return err_prefix(e, "race");
	return 0;
}

static int decode_verdict(const struct rec *r, struct arena *a, struct best_verdict *x,
			  struct err *e)
{
	const struct val *map;
	const char *text;

	if (!val_get(r->map, "verdict"))
		return 0;
	if (get_map(r->map, "verdict", &map, e) < 0 || get_text(map, "says", a, &text, e) < 0)
		return err_prefix(e, "verdict");
	for (int i = CONTEST_GAIN; i < N_SAYS; i++)
		if (strcmp(text, says[i]) == 0)
			x->says = i;
	if (x->says == CONTEST_UNTOLD)
		return err_set(e, ST_INPUT, "verdict: '%s' is none", text);
	if (val_get(map, "rival") && (get_text(map, "rival", a, &x->rival, e) < 0 ||
				      get_u32(map, "rival_sample", 0, &x->rival_sample, e) < 0 ||
				      get_real(map, "ratio", &x->ratio.mid, e) < 0 ||
				      get_real(map, "ratio_lo", &x->ratio.lo, e) < 0 ||
				      get_real(map, "ratio_hi", &x->ratio.hi, e) < 0 ||
				      get_real(map, "more_s", &x->more_s, e) < 0))
		return err_prefix(e, "verdict");
	if (!val_get(map, "why"))
		return 0;
	if (get_text(map, "why", a, &text, e) < 0)
		return err_prefix(e, "verdict");
	for (int i = CONTEST_WHY_FEW; i < N_CONTEST_WHY; i++)
		if (strcmp(text, contest_why_names[i]) == 0)
			x->why = i;
	return x->why ? 0 : err_set(e, ST_INPUT, "verdict: why: '%s' is no rule", text);
}

static int decode_load(const struct rec *r, struct contest_load *x, struct err *e)
{
	const struct val *map;

	if (!val_get(r->map, "load"))
		return 0;
	if (get_map(r->map, "load", &map, e) < 0 || get_u32(map, "cores", 1, &x->cores, e) < 0 ||
	    get_real(map, "average", &x->average, e) < 0 ||
	    get_real(map, "others", &x->others, e) < 0)
		return err_prefix(e, "load");
	return 0;
}

static int decode_error(const struct rec *r, struct arena *a, struct best_rec *x, struct err *e)
{
	bool limited;

	x->error_of = "";
	if (error_decode(r->map, "error", &x->has_error, &x->error, e) < 0)
		return -1;
	if (!x->has_error)
		return 0;
	if (error_decode(r->map, "max_error", &limited, &x->max_error, e) < 0)
		return -1;
	if (!limited)
		return err_set(e, ST_INPUT, "'error' without 'max_error'");
	return get_text(r->map, "error_of", a, &x->error_of, e);
}

static int decode_final(const struct rec *r, struct arena *a, struct best_rec *x, struct err *e)
{
	bool mse, cosine, largest;

	if (get_text(r->map, "reference", a, &x->reference, e) < 0 ||
	    get_u32(r->map, "n_pairs", 0, &x->n_pairs, e) < 0 ||
	    get_real(r->map, "lo_s", &x->lo_s, e) < 0 || get_real(r->map, "hi_s", &x->hi_s, e) < 0)
		return -1;
	if (decode_race(r, &x->race, e) < 0 || decode_verdict(r, a, &x->verdict, e) < 0 ||
	    decode_load(r, &x->load, e) < 0)
		return -1;
	if (decode_optional(r, "out_mse", &x->out_mse, &mse, e) < 0 ||
	    decode_optional(r, "out_cos", &x->out_cos, &cosine, e) < 0 ||
	    decode_optional(r, "out_max", &x->out_max, &largest, e) < 0)
		return -1;
	uint64_t k[1] = {x->place.k};
	if (val_get(r->map, "mem_bytes") &&
	    get_tensor(r->map, "mem_bytes", TT_U64, 1, k, a, &x->mem_bytes, e) < 0)
		return -1;
	if (flight_decode(r, a, &x->flight, e) < 0 || decode_error(r, a, x, e) < 0)
		return -1;
	x->has_diff = mse && cosine && largest;
	x->out_of = x->not_compared = "";
	if (val_get(r->map, "out_of") && get_text(r->map, "out_of", a, &x->out_of, e) < 0)
		return -1;
	return val_get(r->map, "not_compared")
		       ? get_text(r->map, "not_compared", a, &x->not_compared, e)
		       : 0;
}

int best_decode_result(const struct rec *r, struct arena *a, struct best_rec *x, struct err *e)
{
	x->has_ratio = val_get(r->map, "ratio") != NULL;
	x->has_copies = val_get(r->map, "copies") != NULL;
	if (get_real(r->map, "lat_s", &x->lat_s, e) < 0 ||
	    get_real(r->map, "ref_s", &x->ref_s, e) < 0)
		return -1;
	if (x->has_ratio && (get_real(r->map, "ratio", &x->ratio, e) < 0 ||
			     get_real(r->map, "ratio_lo", &x->ratio_lo, e) < 0 ||
			     get_real(r->map, "ratio_hi", &x->ratio_hi, e) < 0))
		return -1;
	if (x->has_copies && (get_uint(r->map, "copies", 0, UINT64_MAX, &x->copies, e) < 0 ||
			      get_uint(r->map, "copy_bytes", 0, UINT64_MAX, &x->copy_bytes, e) < 0))
		return -1;
	x->place.predicted = val_get(r->map, "predicted_s") != NULL;
	if (x->place.predicted && get_real(r->map, "predicted_s", &x->place.predicted_s, e) < 0)
		return -1;
	x->lo_s = x->hi_s = x->lat_s;
	return x->final ? decode_final(r, a, x, e) : 0;
}
