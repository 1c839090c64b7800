/* verdict.c - candidates against the best single device. */
#include "device/verdict.h"

#include <math.h>
#include <string.h>

enum { FINAL_EFFORT = 3 };   /* the last measurement may take this many times as long */

static int measure_singles(struct session *s, struct arena *a, struct verdict *v, struct err *e)
{
	uint32_t k = s->devices.n, n_sets = s->model.g->n_sets;
	if (session_anchors(s, e) < 0)
		return -1;
	v->single = ARENA_NEWN(a, struct trial, k);
	for (uint32_t d = 0; d < k; d++) {
		uint16_t *device = ARENA_NEWN(a, uint16_t, n_sets);
		for (uint32_t i = 0; i < n_sets; i++)
			device[i] = (uint16_t)d;
		v->single[d].device = device;
	}
	/* When pairs show that another device is the fastest, it becomes the reference. */
	for (uint32_t round = 0; round < 2; round++) {
		int best = s->best;
		for (uint32_t d = 0; d < k; d++) {
			if (session_pair(s, &v->single[d], &s->opt, a, e) < 0)
				return -1;
			const struct trial *t = &v->single[d];
			if (t->ok && t->has_ratio && t->ratio.hi < 1 && (int)d != s->best &&
			    (best == s->best || t->ratio.mid < v->single[best].ratio.mid))
				best = (int)d;
		}
		if (best == s->best)
			break;
		if (session_set_best(s, (uint32_t)best, e) < 0)
			return -1;
	}
	v->reference = s->best;
	return 0;
}

/* Smaller is better: the ratio, or without a reference the latency. */
static double merit(const struct trial *t)
{
	return !t->ok ? INFINITY : t->has_ratio ? t->ratio.mid : t->m.lat.mid;
}

struct results {
	const struct model *m;
	void **copy;                 /* (n_results) */
	struct output_difference diff;
};

static int keep_results(void *arg, const void *const *result, struct err *e)
{
	struct results *r = arg;
	for (uint32_t i = 0; i < r->m->n_results; i++) {
		struct tensor t = result_tensor(r->m, i);
		size_t bytes = (size_t)tensor_bytes(&t);
		if (!(r->copy[i] = mem_try(bytes ? bytes : 1)))
			return err_set(e, ST_RUNTIME, "no memory for %zu bytes of results", bytes);
		memcpy(r->copy[i], result[i], bytes);
	}
	return 0;
}

static int compare_results(void *arg, const void *const *result, struct err *e)
{
	struct results *r = arg;
	(void)e;
	r->diff = outputs_compare(r->m, result, (const void *const *)r->copy);
	return 0;
}

static int compare_outputs(struct session *s, struct verdict *v, struct arena *a, struct err *e)
{
	struct results r = {.m = &s->model, .copy = ARENA_NEWN(a, void *, s->model.n_results)};
	int rc = session_results(s, v->single[v->reference].device, keep_results, &r, e);
	if (rc == 0)
		rc = session_results(s, v->final.device, compare_results, &r, e);
	for (uint32_t i = 0; i < s->model.n_results; i++)
		mem_free(r.copy[i]);
	v->diff = r.diff;
	return rc;
}

int verdict_reach(struct session *s, struct trial *t, uint32_t n, struct arena *a,
		  struct verdict *out, struct err *e)
{
	struct measure_options longer = s->opt;
	longer.max_s *= FINAL_EFFORT;
	longer.ci /= FINAL_EFFORT;
	*out = (struct verdict){.winner = -1, .reference = -1, .diff = {0, 1, 0}};
	if (measure_singles(s, a, out, e) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (session_pair(s, &t[i], &s->opt, a, e) < 0)
			return -1;
		if (t[i].ok && (out->winner < 0 || merit(&t[i]) < merit(&t[out->winner])))
			out->winner = (int)i;
	}
	if (out->winner >= 0) {
		out->final.device = t[out->winner].device;
		if (session_pair(s, &out->final, &longer, a, e) < 0)
			return -1;
		if (!out->final.ok || (out->final.has_ratio && out->final.ratio.hi > 1))
			out->winner = -1;
	}
	if (out->winner < 0 && out->reference < 0)
		return err_set(e, ST_RUNTIME, "no placement can run: %s",
			       s->devices.n ? s->anchor[0].reason : "there is no device");
	if (out->winner < 0)
		out->final = out->single[out->reference];
	out->n_pairs = out->final.m.n;
	return out->reference < 0 ? 0 : compare_outputs(s, out, a, e);
}
