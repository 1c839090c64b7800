/* runrec.c - run records in and out. */
#include <string.h>

#include "record/runrec.h"

struct run_rec run_rec_measured(const struct place_rec *p, const struct measurement *m,
				double ref_s, const struct interval *ratio,
				const struct contest_turns *turns)
{
	return (struct run_rec){.id = p->id,
				.source = p->source,
				.k = p->k,
				.lat_s = m->lat.mid,
				.lo_s = m->lat.lo,
				.hi_s = m->lat.hi,
				.samples_s = m->sample_s,
				.n_samples = m->n,
				.busy_s = m->busy_s,
				.ref_s = ref_s,
				.has_ratio = ratio != NULL,
				.ratio = ratio ? ratio->mid : 0,
				.ratio_lo = ratio ? ratio->lo : 0,
				.ratio_hi = ratio ? ratio->hi : 0,
				.predicted_s = turns->n_bursts && p->predicted ? p->predicted_s : 0,
				.turns = *turns};
}

static void put_links(const struct run_links *l, struct rec_writer *w)
{
	put_vector(w, "link_src", TT_U16, l->n, l->src);
	put_vector(w, "link_dst", TT_U16, l->n, l->dst);
	put_vector(w, "link_copies", TT_U32, l->n, l->copies);
	put_vector(w, "link_bytes", TT_U64, l->n, l->bytes);
	put_vector(w, "link_busy_s", TT_F64, l->n, l->busy_s);
}

void run_schedule_put(const struct run_schedule *s, struct rec_writer *w)
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

static void put_simulation(const struct run_rec *x, struct rec_writer *w)
{
	if (x->has_value) {
		put_real(w, "value", x->value);
		put_real(w, "ref_value", x->ref_value);
	}
	if (x->has_pipeline)
		put_real(w, "period_s", x->period_s);
	if (x->energy_j > 0)
		put_real(w, "energy_j", x->energy_j);
	if (x->usd > 0)
		put_real(w, "usd_per_million", 1e6 * x->usd);
	if (x->links)
		put_links(x->links, w);
}

static void put_clock(const struct run_rec *x, struct rec_writer *w)
{
	if (!x->has_clock)
		return;
	put_real(w, "began_s", x->began_s);
	put_real(w, "clock_s", x->clock_s);
}

static void put_turns(const struct run_rec *x, struct rec_writer *w)
{
	if (x->predicted_s > 0)
		put_real(w, "predicted_s", x->predicted_s);
	if (x->turns.n_bursts == 0)
		return;
	put_uint(w, "bursts", x->turns.n_bursts);
	put_uint(w, "clean", x->turns.n_clean);
	put_bool(w, "start", x->turns.start);
	put_bool(w, "out", x->turns.out);
	if (x->bursts.n == 0)
		return;
	put_vector(w, "burst_block", TT_U32, x->bursts.n, x->bursts.block);
	put_vector(w, "burst_s", TT_F64, x->bursts.n, x->bursts.lat_s);
}

int run_encode(const struct run_rec *x, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "run");
	rollout_id_put(w, ID_ALL, &x->id);
	put_text(w, "source", x->source);
	put_bool(w, "ok", !x->reason);
	if (x->has_error)
		put_real(w, "error", x->error);
	if (x->reason) {
		put_text(w, "reason", x->reason);
		if (x->unlimited_s > 0) {
			put_real(w, "unlimited_s", x->unlimited_s);
			put_uint(w, "missing_bytes", x->missing_bytes);
		}
		put_clock(x, w);
		return rec_end(w, e);
	}
	put_real(w, "lat_s", x->lat_s);
	put_real(w, "lo_s", x->lo_s);
	put_real(w, "hi_s", x->hi_s);
	if (x->n_cases)
		put_vector(w, "case_s", TT_F64, x->n_cases, x->case_s);
	put_vector(w, "samples_s", TT_F64, x->n_samples, x->samples_s);
	if (x->pulse_s)
		put_tensor(w, "pulse_s", TT_F64, 3,
			   (const uint64_t[]){x->n_samples, x->k, x->n_pulses}, x->pulse_s);
	put_real(w, "ref_s", x->ref_s);
	if (x->has_ratio) {
		put_real(w, "ratio", x->ratio);
		put_real(w, "ratio_lo", x->ratio_lo);
		put_real(w, "ratio_hi", x->ratio_hi);
	}
	put_turns(x, w);
	put_vector(w, "mem_bytes", TT_U64, x->k, x->mem_bytes);
	if (x->n_pools)
		put_vector(w, "pool_bytes", TT_U64, x->n_pools, x->pool_bytes);
	put_uint(w, "copies", x->copies);
	put_uint(w, "copy_bytes", x->copy_bytes);
	if (x->has_joules)
		put_real(w, "joules", x->joules);
	if (x->has_plan) {
		put_uint(w, "in_host", x->in_host);
		put_uint(w, "steps", x->steps);
		put_uint(w, "splits", x->splits);
	}
	put_vector(w, "busy_s", TT_F64, x->k, x->busy_s);
	flight_put(&x->flight, w);
	put_clock(x, w);
	put_simulation(x, w);
	if (x->schedule)
		run_schedule_put(x->schedule, w);
	return rec_end(w, e);
}

/* ---- reading ---- */

static int decode_ratio(const struct val *map, struct run_rec *x, struct err *e)
{
	x->has_ratio = val_get(map, "ratio") != NULL;
	if (!x->has_ratio)
		return 0;
	return get_real(map, "ratio", &x->ratio, e) < 0 ||
			       get_real(map, "ratio_lo", &x->ratio_lo, e) < 0 ||
			       get_real(map, "ratio_hi", &x->ratio_hi, e) < 0
		       ? -1
		       : 0;
}

static int decode_cases(const struct val *map, struct arena *a, struct run_rec *x, struct err *e)
{
	uint64_t n = UINT64_MAX;
	if (!val_get(map, "case_s"))
		return 0;
	if (get_tensor(map, "case_s", TT_F64, 1, &n, a, &x->case_s, e) < 0)
		return -1;
	x->n_cases = (uint32_t)n;
	return 0;
}

static int decode_copies(const struct val *map, struct run_rec *x, struct err *e)
{
	x->has_copies = val_get(map, "copies") != NULL;
	if (!x->has_copies)
		return 0;
	return get_uint(map, "copies", 0, UINT64_MAX, &x->copies, e) < 0 ||
			       get_uint(map, "copy_bytes", 0, UINT64_MAX, &x->copy_bytes, e) < 0
		       ? -1
		       : 0;
}

static int decode_value(const struct val *map, unsigned keys, struct run_rec *x, struct err *e)
{
	x->has_value = val_get(map, "value") != NULL;
	if (!x->has_value)
		return 0;
	if (get_real(map, "value", &x->value, e) < 0)
		return -1;
	return keys & RUN_REF_VALUE ? get_real(map, "ref_value", &x->ref_value, e) : 0;
}

static int decode_samples(const struct val *map, struct arena *a, struct run_rec *x, struct err *e)
{
	uint64_t n = UINT64_MAX, k = UINT64_MAX;

	if (get_tensor(map, "samples_s", TT_F64, 1, &n, a, &x->samples_s, e) < 0 ||
	    get_tensor(map, "busy_s", TT_F64, 1, &k, a, &x->busy_s, e) < 0)
		return -1;
	x->n_samples = (uint32_t)n; /* a record is too short for 2^32 of them */
	x->k = (uint32_t)k;
	if (!val_get(map, "pulse_s"))
		return 0;
	uint64_t shape[3] = {n, k, UINT64_MAX};

	if (get_tensor(map, "pulse_s", TT_F64, 3, shape, a, &x->pulse_s, e) < 0)
		return -1;
	if (shape[2] > UINT32_MAX)
		return err_set(e, ST_INPUT, "'pulse_s' is too long");
	x->n_pulses = (uint32_t)shape[2];
	return 0;
}

static int decode_clock(const struct val *map, struct run_rec *x, struct err *e)
{
	x->has_clock = val_get(map, "clock_s") != NULL;
	if (!x->has_clock)
		return 0;
	if (get_real(map, "began_s", &x->began_s, e) < 0 ||
	    get_real(map, "clock_s", &x->clock_s, e) < 0)
		return -1;
	return x->began_s >= 0 && x->clock_s >= x->began_s
		       ? 0
		       : err_set(e, ST_INPUT, "'clock_s' is before 'began_s' or 0");
}

static int decode_plan(const struct val *map, struct run_rec *x, struct err *e)
{
	x->has_plan = val_get(map, "steps") != NULL;
	if (!x->has_plan)
		return 0;
	return get_u32(map, "in_host", 0, &x->in_host, e) < 0 ||
			       get_u32(map, "steps", 0, &x->steps, e) < 0
		       ? -1
		       : 0;
}

static int decode_turns(const struct val *map, struct arena *a, struct run_rec *x, struct err *e)
{
	uint64_t n = UINT64_MAX;
	const double *samples_s;

	if (get_tensor(map, "samples_s", TT_F64, 1, &n, a, &samples_s, e) < 0)
		return -1;
	x->n_samples = (uint32_t)n;
	if (val_get(map, "predicted_s") && get_real(map, "predicted_s", &x->predicted_s, e) < 0)
		return -1;
	if (!val_get(map, "bursts"))
		return 0;
	return get_u32(map, "bursts", 0, &x->turns.n_bursts, e) < 0 ||
			       get_u32(map, "clean", 0, &x->turns.n_clean, e) < 0 ||
			       get_bool(map, "start", &x->turns.start, e) < 0 ||
			       get_bool(map, "out", &x->turns.out, e) < 0
		       ? -1
		       : 0;
}

/* What it took. */
static int decode_outcome(const struct val *map, unsigned keys, struct arena *a, struct run_rec *x,
			  struct err *e)
{
	if ((keys & RUN_LATENCY) && get_real(map, "lat_s", &x->lat_s, e) < 0)
		return -1;
	if ((keys & RUN_INTERVAL) &&
	    (get_real(map, "lo_s", &x->lo_s, e) < 0 || get_real(map, "hi_s", &x->hi_s, e) < 0))
		return -1;
	if ((keys & RUN_REFERENCE) && get_real(map, "ref_s", &x->ref_s, e) < 0)
		return -1;
	if ((keys & RUN_RATIO) && decode_ratio(map, x, e) < 0)
		return -1;
	if ((keys & RUN_COPIES) && decode_copies(map, x, e) < 0)
		return -1;
	if ((keys & RUN_SAMPLES) && decode_samples(map, a, x, e) < 0)
		return -1;
	if ((keys & RUN_CASES) && decode_cases(map, a, x, e) < 0)
		return -1;
	if ((keys & RUN_TURNS) && decode_turns(map, a, x, e) < 0)
		return -1;
	if ((keys & RUN_PLAN) && decode_plan(map, x, e) < 0)
		return -1;
	return keys & RUN_VALUE ? decode_value(map, keys, x, e) : 0;
}

int error_decode(const struct val *map, const char *key, bool *told, double *error, struct err *e)
{
	*told = val_get(map, key) != NULL;
	if (!*told)
		return 0;
	if (get_real(map, key, error, e) < 0)
		return -1;
	return *error >= 0 ? 0 : err_set(e, ST_INPUT, "'%s' is %g, below 0", key, *error);
}

int run_decode(const struct rec *r, unsigned keys, struct arena *a, struct run_rec *out,
	       struct err *e)
{
	struct run_rec x = {0};
	bool ok = false;

	if (rollout_id_decode(r->map, keys & ID_ALL, &x.id, e) < 0 ||
	    ((keys & RUN_SOURCE) && get_text(r->map, "source", a, &x.source, e) < 0) ||
	    get_bool(r->map, "ok", &ok, e) < 0 ||
	    ((keys & RUN_CLOCK) && decode_clock(r->map, &x, e) < 0) ||
	    ((keys & RUN_FLIGHT) && flight_decode(r, a, &x.flight, e) < 0) ||
	    ((keys & RUN_ERROR) && error_decode(r->map, "error", &x.has_error, &x.error, e) < 0) ||
	    (ok ? decode_outcome(r->map, keys, a, &x, e)
		: get_text(r->map, "reason", a, &x.reason, e)) < 0 ||
	    ((keys & RUN_ERROR) && val_get(r->map, "unlimited_s") &&
	     get_real(r->map, "unlimited_s", &x.unlimited_s, e) < 0) ||
	    (val_get(r->map, "missing_bytes") &&
	     get_uint(r->map, "missing_bytes", 0, UINT64_MAX, &x.missing_bytes, e) < 0))
		return -1;
	*out = x;
	return 0;
}

bool run_source_is(const struct rec *r, const char *name)
{
	const struct val *v = val_get(r->map, "source");
	const char *s;
	size_t n;

	return v && val_bytes(v, &s, &n) && n == strlen(name) && memcmp(s, name, n) == 0;
}

bool run_is_simulated(const struct rec *r)
{
	return val_get(r->map, "period_s") != NULL;
}

bool run_has_turns(const struct rec *r)
{
	return val_get(r->map, "bursts") != NULL || val_get(r->map, "reason") != NULL;
}

bool run_is_of(const struct run_rec *run, const struct rollout_id *id, const char *source)
{
	return rollout_same(&run->id, id) && strcmp(run->source, source) == 0;
}

bool run_has_schedule(const struct rec *r)
{
	return val_get(r->map, "schedule") != NULL;
}

static int decode_column(const struct val *map, const char *key, enum tensor_type type, uint64_t *n,
			 struct arena *a, void *out, struct err *e)
{
	return get_tensor(map, key, type, 1, n, a, out, e);
}

int run_decode_schedule(const struct rec *r, struct arena *a, struct run_schedule *out,
			struct err *e)
{
	const struct val *map;
	uint64_t n[1] = {UINT64_MAX}, c[1] = {UINT64_MAX};
	struct run_schedule x = {0};

	if (get_map(r->map, "schedule", &map, e) < 0)
		return -1;
	if (decode_column(map, "set", TT_U32, n, a, &x.set, e) < 0 ||
	    decode_column(map, "start_s", TT_F64, n, a, &x.start_s, e) < 0 ||
	    decode_column(map, "end_s", TT_F64, n, a, &x.end_s, e) < 0 ||
	    decode_column(map, "copy_set", TT_U32, c, a, &x.copy_set, e) < 0 ||
	    decode_column(map, "copy_src", TT_U16, c, a, &x.copy_src, e) < 0 ||
	    decode_column(map, "copy_dst", TT_U16, c, a, &x.copy_dst, e) < 0 ||
	    decode_column(map, "copy_bytes", TT_U64, c, a, &x.copy_bytes, e) < 0 ||
	    decode_column(map, "copy_start_s", TT_F64, c, a, &x.copy_start_s, e) < 0 ||
	    decode_column(map, "copy_end_s", TT_F64, c, a, &x.copy_end_s, e) < 0)
		return err_prefix(e, "schedule");
	x.n = (uint32_t)n[0];
	x.n_copies = (uint32_t)c[0];
	*out = x;
	return 0;
}
