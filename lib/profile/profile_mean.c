/* profile_mean.c - means of profiles. */
#include "profile/profile_mean.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/costrec.h"

static const double MOST_SLOWDOWN = 100;

/* Is it about this graph and these devices, in their order? */
static int check_head(const struct session *s, const struct cost_rec *x, struct err *e)
{
	if (x->graph != s->model.g->digest)
		return err_set(e, ST_INPUT, "it is about another graph");
	bool same = x->k == s->devices.n;
	for (uint32_t d = 0; same && d < s->devices.n; d++)
		same = strcmp(x->names[d], s->devices.dev[d].name) == 0;
	return same ? 0 : err_set(e, ST_INPUT, "it is about other devices");
}

static int decode(const struct session *s, const struct rec *r, struct arena *a, struct cost_rec *x,
		  struct err *e)
{
	if (cost_decode_head(r, a, x, e) < 0 || check_head(s, x, e) < 0 ||
	    cost_decode(r, s->model.g->n_sets, COST_PROFILE, a, x, e) < 0)
		return -1;
	if (x->slowdown > MOST_SLOWDOWN)
		return err_set(e, ST_INPUT, "slowdown is out of range");
	if (x->multi_slowdown > MOST_SLOWDOWN)
		return err_set(e, ST_INPUT, "beside is out of range");
	if (x->profiles == 0)
		x->profiles = 1;
	return 0;
}

/* ---- means ---- */

/* Mean of y and n earlier values with mean x. */
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

static void mean_sets(struct profile *p, const struct cost_rec *x, size_t cells)
{
	for (size_t i = 0; i < cells; i++) {
		struct interval *y = &p->set_s[i];
		*y = y->mid < 0 || x->set_s[i] < 0 ? (struct interval){-1, -1, -1}
						   : mean_interval(x->set_s[i], x->set_lo[i],
								   x->set_hi[i], *y, x->profiles);
	}
}

static void mean_links(struct profile *p, const struct devs *devs, const struct cost_rec *x)
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
		y->latency_s = mean_interval(l->latency_s, lo, hi, y->latency_s, x->profiles);
		lo = l->measured ? l->bytes_per_s_lo : l->bytes_per_s;
		hi = l->measured ? l->bytes_per_s_hi : l->bytes_per_s;
		y->bytes_per_s = mean_interval(l->bytes_per_s, lo, hi, y->bytes_per_s, x->profiles);
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
static uint32_t join_pairs(struct either *v, const struct profile *p, const struct cost_rec *x)
{
	uint32_t n = 0, kept = 0;
	for (uint32_t i = 0; i < x->n_pairs; i++)
		v[n++] = (struct either){{x->pair_src[i], x->pair_dst[i]}, i, GRAPH_NONE};
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

static void mean_savings(struct profile *p, const struct cost_rec *x, struct arena *a)
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
				was = (struct interval){x->saved_s[at], x->saved_lo[at],
							x->saved_hi[at]};
			if (v[i].now != GRAPH_NONE)
				now = p->saved_s[v[i].now * k + d];
			saved[i * k + d] =
				(struct interval){plain_mean(was.mid, now.mid, x->profiles),
						  plain_mean(was.lo, now.lo, x->profiles),
						  plain_mean(was.hi, now.hi, x->profiles)};
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
	struct cost_rec x;
	if (decode(s, cost, a, &x, e) < 0)
		return err_prefix(e, "cost record");
	mean_sets(p, &x, (size_t)s->model.g->n_sets * x.k);
	mean_links(p, devs, &x);
	mean_savings(p, &x, a);
	p->slowdown = plain_mean(x.slowdown, p->slowdown, x.profiles);
	p->multi_slowdown = plain_mean(x.multi_slowdown, p->multi_slowdown, x.profiles);
	p->n_earlier = (uint32_t)x.profiles;
	return 0;
}
