/* runraced.c - what run records of a race tell a later one. */
#include <math.h>

#include "record/runrec.h"

static int decode_bursts(const struct val *map, struct arena *a, struct contest_bursts *x,
			 struct err *e)
{
	uint64_t n = UINT64_MAX;
	if (!val_get(map, "burst_block"))
		return 0;
	if (get_tensor(map, "burst_block", TT_U32, 1, &n, a, &x->block, e) < 0 ||
	    get_tensor(map, "burst_s", TT_F64, 1, &n, a, &x->lat_s, e) < 0)
		return -1;
	x->n = (uint32_t)n; /* a record is too short for 2^32 of them */
	for (uint32_t i = 0; i < x->n; i++) {
		if (i > 0 && x->block[i] <= x->block[i - 1])
			return err_set(e, ST_INPUT, "'burst_block' does not ascend");
		if (!(x->lat_s[i] > 0) || !isfinite(x->lat_s[i]))
			return err_set(e, ST_INPUT, "'burst_s' holds what is no time");
	}
	return 0;
}

static int check_samples(const struct run_rec *x, struct err *e)
{
	for (uint32_t i = 0; i < x->n_samples; i++)
		if (!(x->samples_s[i] > 0) || !isfinite(x->samples_s[i]))
			return err_set(e, ST_INPUT, "'samples_s' holds what is no time");
	return 0;
}

int run_decode_raced(const struct rec *r, struct arena *a, struct run_rec *out, struct err *e)
{
	uint64_t n = UINT64_MAX;
	if (!val_get(r->map, "bursts"))
		return 0;
	if (run_decode(r, RUN_STEP | RUN_SAMPLE | RUN_SOURCE | RUN_TURNS, a, out, e) < 0 ||
	    (!out->reason &&
	     (get_tensor(r->map, "samples_s", TT_F64, 1, &n, a, &out->samples_s, e) < 0 ||
	      check_samples(out, e) < 0 || decode_bursts(r->map, a, &out->bursts, e) < 0)))
		return err_prefix(e, "run record %llu", (unsigned long long)r->index);
	return 1;
}

struct contest_past run_past(const struct run_rec *x)
{
	return (struct contest_past){
		.bursts = x->bursts, .n_samples = x->n_samples, .sample_s = x->samples_s};
}
