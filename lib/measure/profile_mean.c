/* profile_mean.c - means of profiles. */
#include "measure/profile_mean.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROFILES = 1000 };
static const double MOST_SLOWING = 100;

/* What the record says. */
struct earlier {
	uint64_t n; /* profiles */
	size_t k;
	const char **names;
	double *set[3]; /* (n_sets, k) value, lo, hi */
	uint64_t n_pairs;
	uint32_t *src, *dst; /* (n_pairs) */
	double *saved[3];    /* (n_pairs, k) */
	double slowdown, multi_slowdown;
};

/* Three matrices under the names of value and ends. */
static int get_three(const struct rec *r, const char *const *key, uint64_t *shape, struct arena *a,
		     double **out, struct err *e)
{
	for (int i = 0; i < 3; i++)
		if (get_tensor(r->map, key[i], TT_F64, 2, shape, a, &out[i], e) < 0)
			return -1;
	return 0;
}

static int get_pairs(const struct rec *r, uint32_t n_sets, struct arena *a, struct earlier *x,
		     struct err *e)
{
	static const char *const key[] = {"saved_s", "saved_lo", "saved_hi"};
	uint64_t n[1] = {UINT64_MAX};
	if (get_tensor(r->map, "pair_src", TT_U32, 1, n, a, &x->src, e) < 0 ||
	    get_tensor(r->map, "pair_dst", TT_U32, 1, n, a, &x->dst, e) < 0)
		return -1;
	x->n_pairs = n[0];
	for (uint64_t i = 0; i < n[0]; i++)
		if (x->src[i] >= n_sets || x->dst[i] >= n_sets)
			return err_set(e, ST_INPUT, "a pair of sets that the graph does not have");
	return get_three(r, key, (uint64_t[]){n[0], x->k}, a, x->saved, e);
}

static int get_slowing(const struct rec *r, const char *key, double *x, struct err *e)
{
	if (get_real(r->map, key, x, e) < 0)
		return -1;
	return *x >= 0 && *x <= MOST_SLOWING ? 0 : err_set(e, ST_INPUT, "%s is out of range", key);
}

/* Is it about this graph and these devices, in their order? */
static int check(const struct session *s, const struct rec *r, struct arena *a, struct earlier *x,
		 struct err *e)
{
	uint64_t digest = 0;
	x->k = SIZE_MAX;
	if (get_uint(r->map, "graph", 0, UINT64_MAX, &digest, e) < 0 ||
	    get_texts(r->map, "names", a, &x->k, &x->names, e) < 0)
		return -1;
	if (digest != s->model.g->digest)
		return err_set(e, ST_INPUT, "it is about another graph");
	bool same = x->k == s->devices.n;
	for (uint32_t d = 0; same && d < s->devices.n; d++)
		same = strcmp(x->names[d], s->devices.dev[d].name) == 0;
	return same ? 0 : err_set(e, ST_INPUT, "it is about other devices");
}

static int decode(const struct session *s, const struct rec *r, struct arena *a, struct earlier *x,
		  struct err *e)
{
	static const char *const key[] = {"set_s", "set_lo", "set_hi"};
	uint32_t n_sets = s->model.g->n_sets;
	*x = (struct earlier){.n = 1};
	if (check(s, r, a, x, e) < 0 ||
	    get_three(r, key, (uint64_t[]){n_sets, x->k}, a, x->set, e) < 0 ||
	    get_pairs(r, n_sets, a, x, e) < 0 || get_slowing(r, "slowdown", &x->slowdown, e) < 0 ||
	    get_slowing(r, "beside", &x->multi_slowdown, e) < 0)
		return -1;
	return val_get(r->map, "profiles")
		       ? get_uint(r->map, "profiles", 1, MOST_PROFILES, &x->n, e)
		       : 0;
}

/* ---- means ---- */

/* Of y and n earlier ones whose mean is x. */
static double plain_mean(double x, double y, uint64_t n)
{
	return x + (y - x) / (double)(n + 1);
}

static double log_mean(double x, double y, uint64_t n)
{
	return x > 0 && y > 0 ? exp(plain_mean(log(x), log(y), n)) : plain_mean(x, y, n);
}

static struct interval mean_interval(double mid, double lo, double hi, struct interval y,
				     uint64_t n)
{
	return (struct interval){log_mean(mid, y.mid, n), log_mean(lo, y.lo, n),
				 log_mean(hi, y.hi, n)};
}

static void mean_sets(struct profile *p, const struct earlier *x, size_t cells)
{
	for (size_t i = 0; i < cells; i++) {
		struct interval *y = &p->set_s[i];
		*y = y->mid < 0 || x->set[0][i] < 0
			     ? (struct interval){-1, -1, -1}
			     : mean_interval(x->set[0][i], x->set[1][i], x->set[2][i], *y, x->n);
	}
}

static void mean_links(struct profile *p, const struct devs *devs, const struct earlier *x)
{
	size_t k = x->k;
	bool *told = MEM_NEWN(bool, k *k + 1);
	for (uint32_t i = 0; i < devs->n_links; i++) {
		const struct dev_link *l = &devs->link[i];
		size_t at = l->src * k + l->dst;
		if (!p->has_link[at])
			continue;
		told[at] = true;
		double lo = l->measured ? l->latency_lo : l->latency_s;
		double hi = l->measured ? l->latency_hi : l->latency_s;
		struct link_cost *y = &p->link[at];
		y->latency_s = mean_interval(l->latency_s, lo, hi, y->latency_s, x->n);
		lo = l->measured ? l->bytes_per_s_lo : l->bytes_per_s;
		hi = l->measured ? l->bytes_per_s_hi : l->bytes_per_s;
		y->bytes_per_s = mean_interval(l->bytes_per_s, lo, hi, y->bytes_per_s, x->n);
	}
	for (size_t i = 0; i < k * k; i++)
		p->has_link[i] = p->has_link[i] && told[i];
	mem_free(told);
}

/* ---- savings ---- */

/* A pair of either: row `old` of the record, `now` of the profile, GRAPH_NONE: it has none. */
struct either {
	struct set_pair pair;
	uint32_t old, now;
};

static int by_pair(const void *pa, const void *pb)
{
	const struct set_pair *a = &((const struct either *)pa)->pair;
	const struct set_pair *b = &((const struct either *)pb)->pair;
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	return (a->dst > b->dst) - (a->dst < b->dst);
}

/* All pairs, ascending, each once; how many. */
static uint32_t join_pairs(struct either *v, const struct profile *p, const struct earlier *x)
{
	uint32_t n = 0, kept = 0;
	for (uint32_t i = 0; i < x->n_pairs; i++)
		v[n++] = (struct either){{x->src[i], x->dst[i]}, i, GRAPH_NONE};
	for (uint32_t i = 0; i < p->n_pairs; i++)
		v[n++] = (struct either){p->pair[i], GRAPH_NONE, i};
	qsort(v, n, sizeof *v, by_pair);
	for (uint32_t i = 0; i < n; i++) {
		if (kept == 0 || by_pair(&v[kept - 1], &v[i]) != 0) {
			v[kept++] = v[i];
			continue;
		}
		if (v[i].old != GRAPH_NONE)
			v[kept - 1].old = v[i].old;
		if (v[i].now != GRAPH_NONE)
			v[kept - 1].now = v[i].now;
	}
	return kept;
}

static void mean_savings(struct profile *p, const struct earlier *x, struct arena *a)
{
	struct either *v = MEM_NEWN(struct either, (size_t)p->n_pairs + x->n_pairs + 1);
	uint32_t n = join_pairs(v, p, x);
	size_t k = x->k;
	struct set_pair *pair = ARENA_NEWN(a, struct set_pair, n);
	struct interval *saved = ARENA_NEWN(a, struct interval, n * k);
	for (uint32_t i = 0; i < n; i++) {
		pair[i] = v[i].pair;
		for (size_t d = 0; d < k; d++) {
			struct interval was = {0}, now = {0};
			size_t at = v[i].old * k + d;
			if (v[i].old != GRAPH_NONE)
				was = (struct interval){x->saved[0][at], x->saved[1][at],
							x->saved[2][at]};
			if (v[i].now != GRAPH_NONE)
				now = p->saved_s[v[i].now * k + d];
			saved[i * k + d] = (struct interval){plain_mean(was.mid, now.mid, x->n),
							     plain_mean(was.lo, now.lo, x->n),
							     plain_mean(was.hi, now.hi, x->n)};
		}
	}
	p->n_pairs = n;
	p->pair = pair;
	p->saved_s = saved;
	mem_free(v);
}

int profile_mean(struct profile *p, const struct session *s, const struct rec *cost,
		 const struct devs *devs, struct arena *a, struct err *e)
{
	struct earlier x;
	if (decode(s, cost, a, &x, e) < 0)
		return err_prefix(e, "cost record");
	mean_sets(p, &x, (size_t)s->model.g->n_sets * x.k);
	mean_links(p, devs, &x);
	mean_savings(p, &x, a);
	p->slowdown = plain_mean(x.slowdown, p->slowdown, x.n);
	p->multi_slowdown = plain_mean(x.multi_slowdown, p->multi_slowdown, x.n);
	p->n_earlier = (uint32_t)x.n;
	return 0;
}
