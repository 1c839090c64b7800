/* truth.c - errors of costs. */
#include "machine/truth.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "machine/draw.h"

static uint32_t text_hash(const char *text)
{
	uint64_t h = UINT64_C(14695981039346656037);
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return (uint32_t)(h ^ h >> 32);
}

/* exp(sigma z) */
static double error(const struct machine_spec *s, double sigma, enum machine_draw what, uint32_t a,
		    uint32_t b, uint32_t index)
{
	struct rng_addr at = machine_addr((uint64_t)s->seed, what, a, b);
	return sigma > 0 ? exp(sigma * rng_normal(&at, index)) : 1;
}

/* The first node of each set (n_sets). */
static uint32_t *first_nodes(const struct graph *g)
{
	uint32_t *first = MEM_NEWN(uint32_t, (size_t)g->n_sets + 1);
	memset(first, 0xff, g->n_sets * sizeof *first);
	for (uint32_t v = g->n; v-- > 0;)
		if (g->set[v] != GRAPH_NONE)
			first[g->set[v]] = v;
	return first;
}

static bool same_times(const double *set_s, uint32_t n_sets, uint32_t k, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < n_sets; i++)
		if (set_s[(size_t)i * k + a] != set_s[(size_t)i * k + b])
			return false;
	return true;
}

uint32_t truth_first_alike(const double *set_s, uint32_t n_sets, uint32_t k, uint32_t d)
{
	for (uint32_t j = 0; j < d; j++)
		if (same_times(set_s, n_sets, k, j, d))
			return j;
	return d;
}

/* A number of each device (k) that those with the same profiled times set_s share, in whatever
 * order they come: the least of their names'. */
static uint32_t *find_kinds(const char *const *names, const double *set_s, uint32_t n_sets,
			    uint32_t k)
{
	uint32_t *kind = MEM_NEWN(uint32_t, (size_t)k + 1);
	for (uint32_t d = 0; d < k; d++) {
		kind[d] = text_hash(names[d]);
		for (uint32_t j = 0; j < k; j++)
			if (same_times(set_s, n_sets, k, j, d) && text_hash(names[j]) < kind[d])
				kind[d] = text_hash(names[j]);
	}
	return kind;
}

/* set_s (n_sets,k), negative ones aside, on devices of kinds (k). */
static void spoil_sets(const struct machine_spec *s, const struct graph *g,
		       const char *const *names, const uint32_t *kind, uint32_t k, double *set_s)
{
	uint32_t *first = first_nodes(g);
	for (uint32_t d = 0; d < k; d++) {
		uint32_t dev = text_hash(names[d]);
		double all = (1 + s->longer) * error(s, s->device_error, DRAW_DEVICE, dev, 0, 0);
		for (uint32_t i = 0; i < g->n_sets; i++) {
			double *x = &set_s[(size_t)i * k + d];
			const char *type = first[i] == GRAPH_NONE ? "" : g->type[first[i]];
			if (*x > 0)
				*x *= all *
				      error(s, s->kind_error, DRAW_KIND, kind[d], text_hash(type),
					    0) *
				      error(s, s->set_error, DRAW_SET, i, 0, 0) *
				      error(s, s->cell_error, DRAW_CELL, i, kind[d], 0);
		}
	}
	mem_free(first);
}

static double saving_factor(const struct machine_spec *s, uint32_t src, uint32_t dst, uint32_t kind)
{
	return (1 + s->longer) * error(s, s->saving_error, DRAW_SAVING, src, dst, kind >> 2);
}

/* The first other set that each set reads (n_sets); GRAPH_NONE: it reads none. */
static uint32_t *read_sets(const struct graph *g)
{
	uint32_t *from = MEM_NEWN(uint32_t, (size_t)g->n_sets + 1);
	memset(from, 0xff, g->n_sets * sizeof *from);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i], set = g->set[v];
			if (u != GRAPH_NONE && set != GRAPH_NONE && from[set] == GRAPH_NONE &&
			    g->set[u] != set)
				from[set] = g->set[u];
		}
	return from;
}

/* That set dst saves beside src on a device where it takes s seconds. */
static double untold_saving(const struct machine_spec *x, uint32_t src, uint32_t dst, uint32_t kind,
			    double s)
{
	double share = x->saves * saving_factor(x, src, dst, kind) / (1 + x->longer);
	return s > 0 ? s * fmin(1, share) : 0;
}

static double latency_factor(const struct machine_spec *s, const char *src, const char *dst)
{
	return error(s, s->link_error, DRAW_LINK, text_hash(src), text_hash(dst), 0);
}

static double rate_factor(const struct machine_spec *s, const char *src, const char *dst)
{
	return error(s, s->rate_error, DRAW_LINK, text_hash(src), text_hash(dst), 1);
}

static double *copy_of(const double *x, size_t n, struct arena *a)
{
	double *y = ARENA_NEWN(a, double, n + 1);
	if (n)
		memcpy(y, x, n * sizeof *y);
	return y;
}

/* Savings of m, whose profile tells none. */
static void save_untold(const struct machine_spec *s, const uint32_t *kind, struct place_model *m,
			struct arena *a)
{
	uint32_t k = m->k, n = m->tasks.dag.n, *from = read_sets(m->g), at = 0;
	uint32_t *set_task = MEM_NEWN(uint32_t, (size_t)m->n_sets + 1);
	memset(set_task, 0xff, m->n_sets * sizeof *set_task);
	m->saved_ptr = ARENA_NEWN(a, uint32_t, (size_t)n + 2);
	m->saved_task = ARENA_NEWN(a, uint32_t, (size_t)n + 1);
	m->saved_s = ARENA_NEWN(a, double, ((size_t)n + 1) * k);
	for (uint32_t t = 0; t < n; t++) {
		uint32_t set = m->tasks.task_set[t], src = from[set];
		set_task[set] = t;
		m->saved_ptr[t] = at;
		/* What is read comes first: an earlier task, or none. */
		if (src == GRAPH_NONE || set_task[src] == GRAPH_NONE)
			continue;
		m->saved_task[at] = set_task[src];
		for (uint32_t d = 0; d < k; d++)
			m->saved_s[(size_t)at * k + d] = untold_saving(
				s, src, set, kind[d], m->costs.task_s[(size_t)t * k + d]);
		at++;
	}
	m->saved_ptr[n] = at;
	mem_free(set_task);
	mem_free(from);
}

void truth_model(const struct machine_spec *s, const struct place_model *m, struct arena *a,
		 struct place_model *out)
{
	uint32_t k = m->k, n = m->tasks.dag.n;
	const uint32_t *set = m->tasks.task_set;
	const struct sched_links *l = &m->costs.links;
	double *set_s = copy_of(m->set_s, (size_t)m->n_sets * k, a);
	double *task_s = ARENA_NEWN(a, double, (size_t)n *k);
	uint32_t *kind = find_kinds(m->names, m->set_s, m->n_sets, k);
	*out = *m;
	spoil_sets(s, m->g, m->names, kind, k, set_s);
	for (uint32_t t = 0; t < n; t++)
		memcpy(task_s + (size_t)t * k, set_s + (size_t)set[t] * k, k * sizeof *task_s);
	out->set_s = set_s;
	out->costs.task_s = task_s;
	out->costs.links.latency_s = copy_of(l->latency_s, (size_t)k * k, a);
	out->costs.links.bytes_per_s = copy_of(l->bytes_per_s, (size_t)k * k, a);
	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = 0; j < k; j++) {
			size_t at = (size_t)i * k + j;
			if (i == j || l->latency_s[at] < 0)
				continue;
			out->costs.links.latency_s[at] *=
				latency_factor(s, m->names[i], m->names[j]);
			out->costs.links.bytes_per_s[at] *=
				rate_factor(s, m->names[i], m->names[j]);
		}
	sched_links_limit(&out->costs.links);
	if (!m->saved_ptr && s->saves > 0)
		save_untold(s, kind, out, a);
	else if (m->saved_ptr) {
		out->saved_s = copy_of(m->saved_s, (size_t)m->saved_ptr[n] * k, a);
		for (uint32_t t = 0; t < n; t++)
			for (uint32_t i = m->saved_ptr[t]; i < m->saved_ptr[t + 1]; i++)
				for (uint32_t d = 0; d < k; d++)
					out->saved_s[(size_t)i * k + d] *= saving_factor(
						s, set[m->saved_task[i]], set[t], kind[d]);
	}
	if (out->saved_ptr) {
		/* Nothing is known of what tasks cost at least. */
		double *least = ARENA_NEWN(a, double, (size_t)n *k);
		for (size_t i = 0; i < (size_t)n * k; i++)
			least[i] = fmin(0, task_s[i]);
		out->costs.least_s = least;
	}
	out->slowdown += s->slowdown;
	out->multi_slowdown += s->beside;
	mem_free(kind);
}

/* The same as pairs of a record with true times. */
static void save_untold_pairs(const struct machine_spec *s, const struct graph *g,
			      const uint32_t *kind, const double *set_s, struct cost_rec *x,
			      struct arena *a)
{
	uint32_t k = x->k, *from = read_sets(g), n = 0;
	uint32_t *src = ARENA_NEWN(a, uint32_t, (size_t)g->n_sets + 1);
	uint32_t *dst = ARENA_NEWN(a, uint32_t, (size_t)g->n_sets + 1);
	double *saved_s = ARENA_NEWN(a, double, ((size_t)g->n_sets + 1) * k);
	for (uint32_t i = 0; i < g->n_sets; i++) {
		if (from[i] == GRAPH_NONE)
			continue;
		src[n] = from[i];
		dst[n] = i;
		for (uint32_t d = 0; d < k; d++)
			saved_s[(size_t)n * k + d] =
				untold_saving(s, from[i], i, kind[d], set_s[(size_t)i * k + d]);
		n++;
	}
	x->has_pairs = true;
	x->n_pairs = n;
	x->pair_src = src;
	x->pair_dst = dst;
	x->saved_s = saved_s;
	mem_free(from);
}

void truth_costs(const struct machine_spec *s, const struct graph *g, struct cost_rec *x,
		 struct arena *a)
{
	uint32_t k = x->k;
	double *set_s = copy_of(x->set_s, (size_t)x->n_sets * k, a);
	double *saved_s = copy_of(x->saved_s, x->has_pairs ? (size_t)x->n_pairs * k : 0, a);
	uint32_t *kind = find_kinds(x->names, x->set_s, x->n_sets, k);
	spoil_sets(s, g, x->names, kind, k, set_s);
	for (uint32_t i = 0; x->has_pairs && i < x->n_pairs; i++)
		for (uint32_t d = 0; d < k; d++)
			saved_s[(size_t)i * k + d] *=
				saving_factor(s, x->pair_src[i], x->pair_dst[i], kind[d]);
	x->set_s = set_s;
	x->saved_s = x->has_pairs ? saved_s : NULL;
	if (s->saves > 0 && (!x->has_pairs || x->n_pairs == 0))
		save_untold_pairs(s, g, kind, set_s, x, a);
	x->set_lo = x->set_hi = x->saved_lo = x->saved_hi = NULL;
	x->flops_per_s = NULL; /* it says set_s no longer */
	x->has_slowdown = true;
	x->slowdown += s->slowdown;
	x->multi_slowdown += s->beside;
	mem_free(kind);
}

void truth_links(const struct machine_spec *s, struct devs *d)
{
	for (uint32_t i = 0; i < d->n_links; i++) {
		struct dev_link *l = &d->link[i];
		const char *src = d->names[l->src], *dst = d->names[l->dst];
		l->latency_s = l->latency_s * latency_factor(s, src, dst) + s->handover_s;
		l->bytes_per_s *= rate_factor(s, src, dst);
		l->measured = false;
	}
}
