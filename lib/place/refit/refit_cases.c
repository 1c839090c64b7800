/* refit_cases.c - `place` and `run` records, paired. */
#include "place/refit/refit_cases.h"

#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "record/placerec.h"
#include "record/runrec.h"

static const double LEAST_SE = 0.003;          /* of a logarithm: what one day does not tell */
static const double INTERVAL_TO_SE = 2 * 1.96; /* of 95 % intervals */

struct ran {
	struct place_rec place;
	uint32_t n_runs;
	bool has_ratio, is_reference;
	double lat_s, ref_s, ratio, se;
};

struct refit_cases {
	struct ran *v;
	size_t n, cap;
	struct refit_case *out;
	size_t n_out, cap_out;
	struct digest *costs; /* of the first devs and cost records */
	struct fit_rec fit;   /* n of 0: none */
	struct arena *arena, *result;
};

struct refit_cases *refit_cases_new(void)
{
	struct refit_cases *x = MEM_NEW(struct refit_cases);
	x->arena = arena_new();
	x->result = arena_new();
	x->costs = digest_new();
	return x;
}

void refit_cases_free(struct refit_cases *x)
{
	if (!x)
		return;
	mem_free(x->v);
	mem_free(x->out);
	digest_free(x->costs);
	arena_free(x->arena);
	arena_free(x->result);
	mem_free(x);
}

static struct ran *add(struct refit_cases *x)
{
	x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
	x->v[x->n] = (struct ran){0};
	return &x->v[x->n++];
}

/* Everything on device number `sample`; NULL: there is none. */
static struct ran *add_single(struct refit_cases *x, const struct run_rec *run,
			      const struct place_inputs *in)
{
	uint32_t k = in->has_devs ? in->devs.k : in->cost.k, n = in->g->n_sets;
	if (strcmp(run->source, "single") != 0 || run->id.sample >= k)
		return NULL;
	uint16_t *device = ARENA_NEWN(x->arena, uint16_t, (size_t)n + 1);
	const char **names = ARENA_NEWN(x->arena, const char *, k);
	for (uint32_t i = 0; i < n; i++)
		device[i] = (uint16_t)run->id.sample;
	for (uint32_t d = 0; d < k; d++) {
		const char *name = in->has_devs ? in->devs.names[d] : in->cost.names[d];
		names[d] = arena_strndup(x->arena, name, strlen(name));
	}
	struct ran *r = add(x);
	r->place = (struct place_rec){.id = run->id,
				      .source = "single",
				      .k = k,
				      .n_sets = n,
				      .names = names,
				      .device = device};
	return r;
}

static struct ran *find_placement(const struct refit_cases *x, const struct run_rec *run)
{
	struct ran *best = NULL;
	for (size_t i = 0; i < x->n; i++) {
		const struct place_rec *p = &x->v[i].place;
		if (p->id.episode == run->id.episode && p->id.step == run->id.step &&
		    p->id.sample == run->id.sample && strcmp(p->source, run->source) == 0 &&
		    (!best || x->v[i].n_runs < best->n_runs))
			best = &x->v[i];
	}
	return best;
}

/* What a run says replaces what an earlier one of this placement said less surely. */
static void store_run(struct ran *r, const struct run_rec *run)
{
	double lo = run->lo_s, hi = run->hi_s;
	r->n_runs++;
	if (run->reason)
		return;
	bool has_ratio = run->has_ratio && run->ratio > 0 && run->ref_s > 0;
	/* A single device is compared with its like, whose ratio is 1 and exact: its time is not. */
	bool is_reference = has_ratio && run->ratio_lo == run->ratio_hi && run->ratio == 1;
	if (has_ratio && !is_reference) {
		lo = run->ratio_lo;
		hi = run->ratio_hi;
	}
	double se = fmax(LEAST_SE, lo > 0 && isfinite(hi) ? log(hi / lo) / INTERVAL_TO_SE : 1);
	if (r->lat_s > 0 && r->se <= se)
		return;
	r->lat_s = run->lat_s;
	r->ref_s = run->ref_s;
	r->has_ratio = has_ratio;
	r->is_reference = is_reference;
	r->ratio = run->ratio;
	r->se = se;
}

int refit_cases_take(struct refit_cases *x, const struct rec *r, const struct place_inputs *in,
		     struct err *e)
{
	if (rec_is(r, "place") && in->g) {
		struct place_rec p;
		if (place_decode(r, in->g->n_sets, 0, x->arena, &p, e) < 0)
			return err_prefix(e, "place record %llu", (unsigned long long)r->index);
		if (p.id.graph == in->g->digest)
			add(x)->place = p;
	}
	if (rec_is(r, "run") && in->g && !run_is_simulated(r)) {
		struct run_rec run;
		if (run_decode(r,
			       RUN_GRAPH | RUN_STEP | RUN_SAMPLE | RUN_SOURCE | RUN_LATENCY |
				       RUN_INTERVAL | RUN_REFERENCE | RUN_RATIO,
			       x->arena, &run, e) < 0)
			return err_prefix(e, "run record %llu", (unsigned long long)r->index);
		struct ran *to = run.id.graph == in->g->digest ? find_placement(x, &run) : NULL;
		if (!to && run.id.graph == in->g->digest)
			to = add_single(x, &run, in);
		if (to)
			store_run(to, &run);
	}
	if ((rec_is(r, "devs") || rec_is(r, "cost")) && !place_inputs_known(in, r))
		digest_add(x->costs, r->bytes, r->n_bytes);
	if (rec_is(r, "fit") && in->g) {
		struct fit_rec fit;
		if (fit_decode(r, x->arena, &fit, e) < 0)
			return -1;
		if (fit.graph == in->g->digest)
			x->fit = fit;
	}
	return 0;
}

/* The placement by the cost record's devices; NULL: it uses another one. */
static uint16_t *by_cost_devices(const struct place_rec *p, const struct cost_rec *c,
				 struct arena *a)
{
	uint32_t *to = ARENA_NEWN(a, uint32_t, p->k);
	uint16_t *device = ARENA_NEWN(a, uint16_t, (size_t)p->n_sets + 1);
	for (uint32_t i = 0; i < p->k; i++)
		for (to[i] = 0; to[i] < c->k; to[i]++)
			if (strcmp(c->names[to[i]], p->names[i]) == 0)
				break;
	for (uint32_t i = 0; i < p->n_sets; i++) {
		if (to[p->device[i]] >= c->k)
			return NULL;
		device[i] = (uint16_t)to[p->device[i]];
	}
	return device;
}

/* Several devices that are made alike are the reference together, each a little faster or slower: none of them is exact. */
static void drop_pool(struct refit_case *c, uint32_t n)
{
	const struct refit_case *first = NULL;
	bool alone = true;
	for (uint32_t i = 0; i < n; i++) {
		if (!c[i].is_reference)
			continue;
		first = first ? first : &c[i];
		alone &= c[i].device[0] == first->device[0];
	}
	for (uint32_t i = 0; i < n; i++)
		c[i].is_reference &= alone;
}

const struct refit_case *refit_cases_all(struct refit_cases *x, const struct place_inputs *in,
					 uint32_t *n)
{
	double sum = 0, refs = 0;
	*n = 0;
	arena_reset(x->result);
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].lat_s > 0 && x->v[i].ref_s > 0) {
			sum += log(x->v[i].ref_s);
			refs++;
		}
	x->out = mem_grow(x->out, &x->cap_out, x->n + 1, sizeof *x->out);
	for (size_t i = 0; i < x->n; i++) {
		const struct ran *r = &x->v[i];
		uint16_t *device =
			r->lat_s > 0 ? by_cost_devices(&r->place, &in->cost, x->result) : NULL;
		if (!device)
			continue;
		double log_s = r->has_ratio   ? log(r->ratio) + sum / refs
			       : r->ref_s > 0 ? log(r->lat_s / r->ref_s) + sum / refs
					      : log(r->lat_s);
		x->out[(*n)++] = (struct refit_case){device, r->place.order, r->place.n_order,
						     log_s,  r->se,          r->is_reference};
	}
	drop_pool(x->out, *n);
	x->n_out = *n;
	return x->out;
}

uint64_t refit_cases_key(const struct refit_cases *x, const struct place_inputs *in)
{
	const uint64_t of[] = {digest_value(x->costs), in->g->digest, (uint64_t)in->order,
			       x->n_out};
	struct digest *d = digest_new();

	digest_add(d, of, sizeof of);
	for (size_t i = 0; i < x->n_out; i++) {
		const struct refit_case *c = &x->out[i];

		digest_add(d, c->device, in->g->n_sets * sizeof *c->device);
		if (c->order)
			digest_add(d, c->order, c->n_order * sizeof *c->order);
		digest_add(d, (const double[]){c->log_s, c->se, c->is_reference},
			   3 * sizeof(double));
	}
	const uint64_t key = digest_value(d);

	digest_free(d);
	return key;
}

const struct fit_rec *refit_cases_fit(const struct refit_cases *x, const struct place_inputs *in)
{
	return x->fit.n && x->fit.key == refit_cases_key(x, in) ? &x->fit : NULL;
}
