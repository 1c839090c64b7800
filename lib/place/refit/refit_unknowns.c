/* refit_unknowns.c - factors of times, links and slowdowns. */
#include "place/refit/refit_unknowns.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* Deviations of the prior. */
static const double SD_ALL = 0.2, SD_DEVICE = 0.1, SD_TYPE = 0.15, SD_LATENCY = 0.4,
		    SD_OWN_LATENCY = 0.2, SD_RATE = 0.3, SD_SAVING = 0.3, SD_SLOWDOWN = 0.1,
		    SD_MULTI_SLOWDOWN = 0.05;
enum { MOST_TYPES = 10, MOST_OWN = 12 };
static const double LEAST_SHARE = 0.01;     /* of all time, of a type that has an unknown */
static const double LEAST_LATENCY_S = 1e-6; /* what a factor can make larger */

static bool same_times(const struct cost_rec *c, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < c->n_sets; i++)
		if (c->set_s[(size_t)i * c->k + a] != c->set_s[(size_t)i * c->k + b])
			return false;
	return true;
}

/* The type of the first node of each set, numbered by the time that all of one type take; those
 * that take little are one. */
static void find_types(struct unknowns *u, const struct graph *g, const struct cost_rec *c,
		       struct arena *a)
{
	const char **name = MEM_NEWN(const char *, (size_t)g->n_sets + 1);
	double *sum = MEM_NEWN(double, (size_t)g->n_sets + 1), all = 0;
	uint32_t *number = MEM_NEWN(uint32_t, (size_t)g->n_sets + 1), n = 0;
	u->type = ARENA_NEWN(a, uint32_t, (size_t)g->n_sets + 1);
	memset(u->type, 0xff, g->n_sets * sizeof *u->type);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t i = g->set[v], t = 0;
		if (i == GRAPH_NONE || u->type[i] != UINT32_MAX)
			continue;
		while (t < n && name[t] != g->type[v])
			t++;
		name[t] = g->type[v];
		n = t == n ? n + 1 : n;
		u->type[i] = t;
		double s = fmax(0, c->set_s[(size_t)i * c->k]);
		sum[t] += s;
		all += s;
	}
	for (uint32_t t = 0; t < n; t++)
		number[t] = UINT32_MAX;
	for (; u->n_types < MOST_TYPES; u->n_types++) {
		uint32_t best = n;
		for (uint32_t t = 0; t < n; t++)
			if (number[t] == UINT32_MAX && sum[t] > LEAST_SHARE * all &&
			    (best == n || sum[t] > sum[best]))
				best = t;
		if (best == n)
			break;
		number[best] = u->n_types;
	}
	for (uint32_t i = 0; i < g->n_sets; i++) {
		uint32_t t = u->type[i];
		u->type[i] = t == UINT32_MAX || number[t] == UINT32_MAX ? u->n_types : number[t];
	}
	mem_free(name);
	mem_free(sum);
	mem_free(number);
}

static uint32_t add(struct unknowns *u, uint32_t n, double sd)
{
	uint32_t first = u->n;
	for (uint32_t i = 0; i < n; i++)
		u->sd[u->n++] = sd;
	return first;
}

/* The place of link l's unknown in u->latency; UINT32_MAX: its devices have no costs. */
static uint32_t link_cell(const struct unknowns *u, const struct cost_rec *c, const struct devs *d,
			  const struct dev_link *l)
{
	uint32_t at[2] = {UINT32_MAX, UINT32_MAX};
	for (uint32_t i = 0; i < c->k; i++) {
		if (strcmp(c->names[i], d->names[l->src]) == 0)
			at[0] = u->alike[i];
		if (strcmp(c->names[i], d->names[l->dst]) == 0)
			at[1] = u->alike[i];
	}
	return at[0] == UINT32_MAX || at[1] == UINT32_MAX ? UINT32_MAX : at[0] * c->k + at[1];
}

void unknowns_find(struct unknowns *u, const struct place_inputs *in, struct arena *a)
{
	const struct cost_rec *c = &in->cost;
	uint32_t k = c->k;
	*u = (struct unknowns){.k = k, .alike = ARENA_NEWN(a, uint32_t, k)};
	for (uint32_t d = 0; d < k; d++)
		for (u->alike[d] = 0; u->alike[d] < d; u->alike[d]++)
			if (same_times(c, u->alike[d], d))
				break;
	find_types(u, in->g, c, a);
	u->sd = ARENA_NEWN(a, double, 5 + MOST_OWN + k + (size_t)u->n_types * k + (size_t)k * k);
	u->latency = ARENA_NEWN(a, uint32_t, (size_t)k * k);
	add(u, 1, SD_ALL);
	add(u, k, SD_DEVICE);
	u->type_at = ARENA_NEWN(a, uint32_t, (size_t)u->n_types * k + 1);
	for (uint32_t t = 0; t < u->n_types; t++)
		for (uint32_t d = 0; d < k; d++)
			u->type_at[t * k + d] = u->alike[d] == d ? add(u, 1, SD_TYPE) : 0;
	for (uint32_t i = 0; i < in->devs.n_links; i++) {
		uint32_t at = link_cell(u, c, &in->devs, &in->devs.link[i]);
		if (at != UINT32_MAX && u->latency[at] == 0)
			u->latency[at] = add(u, 1, SD_LATENCY);
	}
	u->n_own = in->devs.n_links < MOST_OWN ? in->devs.n_links : MOST_OWN;
	u->own = add(u, u->n_own, SD_OWN_LATENCY);
	u->rate = add(u, 1, SD_RATE);
	u->saving = add(u, 1, SD_SAVING);
	u->slowdown = add(u, 1, SD_SLOWDOWN);
	u->multi_slowdown = add(u, 1, SD_MULTI_SLOWDOWN);
}

static double log_factor(const struct unknowns *u, const double *z, uint32_t i)
{
	return u->sd[i] * z[i];
}

static void apply_times(const struct unknowns *u, const double *z, struct arena *a,
			struct cost_rec *cost)
{
	uint32_t k = u->k;
	size_t pairs = cost->has_pairs ? cost->n_pairs : 0;
	double *set_s = ARENA_NEWN(a, double, (size_t)cost->n_sets *k + 1);
	double *saved_s = ARENA_NEWN(a, double, pairs *k + 1);
	for (uint32_t d = 0; d < k; d++) {
		double all = log_factor(u, z, 0) + log_factor(u, z, 1 + d);
		for (uint32_t i = 0; i < cost->n_sets; i++) {
			double s = cost->set_s[(size_t)i * k + d], by = all;
			if (u->type[i] < u->n_types)
				by += log_factor(u, z, u->type_at[u->type[i] * k + u->alike[d]]);
			set_s[(size_t)i * k + d] = s > 0 ? s * exp(by) : s;
		}
		for (size_t i = 0; i < pairs; i++)
			saved_s[i * k + d] =
				cost->saved_s[i * k + d] * exp(all + log_factor(u, z, u->saving));
	}
	cost->set_s = set_s;
	cost->saved_s = cost->has_pairs ? saved_s : NULL;
	cost->set_lo = cost->set_hi = cost->saved_lo = cost->saved_hi = NULL;
}

void unknowns_apply(const struct unknowns *u, const double *z, struct arena *a,
		    struct cost_rec *cost, struct devs *devs)
{
	struct dev_link *link = ARENA_NEWN(a, struct dev_link, (size_t)devs->n_links + 1);
	apply_times(u, z, a, cost);
	cost->has_slowdown = true;
	cost->slowdown =
		fmin(fmax(0, cost->slowdown + log_factor(u, z, u->slowdown)), PLACE_MOST_SLOWDOWN);
	cost->multi_slowdown = fmax(0, cost->multi_slowdown + log_factor(u, z, u->multi_slowdown));
	for (uint32_t i = 0; i < devs->n_links; i++) {
		link[i] = devs->link[i];
		uint32_t at = link_cell(u, cost, devs, &link[i]);
		if (at == UINT32_MAX || u->latency[at] == 0)
			continue;
		double by = log_factor(u, z, u->latency[at]) +
			    (i < u->n_own ? log_factor(u, z, u->own + i) : 0);
		/* What is nearly nothing can become something. */
		link[i].latency_s =
			by > 0 ? link[i].latency_s +
					 fmax(link[i].latency_s, LEAST_LATENCY_S) * (exp(by) - 1)
			       : link[i].latency_s * exp(by);
		link[i].bytes_per_s *= exp(log_factor(u, z, u->rate));
		link[i].measured = false;
	}
	devs->link = link;
}
