/* net.c - what is common to all networks: forward steps that group and embed. */
#include "learn/net/net_steps.h"

#include <math.h>
#include <string.h>

struct net_work *net_work_new(struct pool *pool)
{
	struct net_work *w = MEM_NEW(struct net_work);
	w->tape = tape_new(pool);
	return w;
}

void net_work_free(struct net_work *w)
{
	if (!w)
		return;
	tape_free(w->tape);
	mem_free(w);
}

size_t net_work_bytes(const struct net_work *w)
{
	return tape_bytes(w->tape);
}

void net_work_fix(struct net_work *w)
{
	tape_fix(w->tape);
}

void net_work_share(struct net_work *w, struct pool *pool)
{
	tape_share(w->tape, pool);
}

struct mat **net_block(struct tape *t, const struct params *p, float *grad)
{
	struct mat **m = ARENA_NEWN(tape_arena(t), struct mat *, p->n_mats);
	for (uint32_t i = 0; i < p->n_mats; i++) {
		const struct param *q = &p->mat[i];
		m[i] = tape_param(t, p->data + q->at, grad ? grad + q->at : NULL, q->rows, q->cols);
	}
	return m;
}

static int check_finite(const struct mat *m, const char *what, struct err *e)
{
	for (size_t i = 0; i < (size_t)m->rows * m->cols; i++)
		if (!isfinite(m->v[i]))
			return err_set(e, ST_INPUT,
				       "%s of the network are not finite; features or "
				       "parameters are too large",
				       what);
	return 0;
}

uint32_t *net_count_up(struct arena *a, uint32_t n)
{
	uint32_t *v = arena_raw(a, n, sizeof *v);
	for (uint32_t i = 0; i < n; i++)
		v[i] = i;
	return v;
}

/* A grouping numbered by first member, whatever its numbers were. */
static int renumber(struct arena *a, const struct grouping *g, uint32_t n, struct grouping *out,
		    struct err *e)
{
	uint32_t *to = arena_raw(a, g->n_groups, sizeof *to);
	uint32_t *group = arena_raw(a, n, sizeof *group);
	for (uint32_t i = 0; i < g->n_groups; i++)
		to[i] = UINT32_MAX;
	*out = (struct grouping){0, group};
	for (uint32_t i = 0; i < n; i++) {
		if (g->group[i] >= g->n_groups)
			return err_set(e, ST_INPUT, "set %u is in group %u of %u", i, g->group[i],
				       g->n_groups);
		uint32_t *number = &to[g->group[i]];
		if (*number == UINT32_MAX)
			*number = out->n_groups++;
		group[i] = *number;
	}
	return 0;
}

int net_take_partition(struct tape *t, const struct net_model *m, const struct net_plan *plan,
		       struct partition *out, struct err *e)
{
	uint32_t n = m->graph->n;
	if (plan->recorded) {
		*out = *plan->recorded;
		return out->n_rounds
			       ? err_set(e, ST_INPUT, "network '%s' parses nothing", m->net->name)
			       : 0;
	}
	const struct grouping together = {n, m->together};
	struct grouping g = {n, NULL};
	if (plan->given)
		g = *plan->given;
	else if (!m->together)
		g.group = net_count_up(tape_arena(t), n);
	else if (renumber(tape_arena(t), &together, n, &g, e) < 0)
		return -1;
	*out = (struct partition){
		.given = plan->given || m->together, .n_groups = g.n_groups, .group = g.group};
	return 0;
}

int net_embed_steps(struct net_work *w, const struct net_model *m, const float *x, uint32_t n,
		    const struct rng_addr *rng, const struct grouping *given, const uint8_t *mask,
		    uint32_t k_mask, struct partition *out, struct err *e)
{
	struct tape *t = w->tape;
	struct grouping g;
	void *common = NULL;
	tape_begin(t, false, rng);
	if (given && renumber(tape_arena(t), given, m->graph->n, &g, e) < 0)
		return -1;
	struct mat *in = tape_input(t, x, m->graph->n, m->d);
	struct mat **p = net_block(t, m->embed, NULL);
	for (uint32_t i = 0; i < n; i++) {
		struct net_plan plan = {.given = given ? &g : NULL,
					.mask = mask,
					.k = k_mask,
					.rng = rng ? &rng[i] : NULL,
					.common = &common};
		struct embedding z = {0};
		if (m->net->embed(t, m, p, in, &plan, &out[i], &z, e) < 0)
			return -1;
		out[i].z = z.z->v;
		out[i].logp = z.logp ? (double)z.logp->v[0] : 0;
		if (check_finite(z.z, "embeddings", e) < 0)
			return -1;
	}
	return 0;
}

int net_embed(struct net_work *w, const struct net_model *m, const float *x,
	      const struct rng_addr *rng, const struct grouping *given, const uint8_t *mask,
	      uint32_t k_mask, struct partition *out, struct err *e)
{
	return net_embed_steps(w, m, x, 1, rng, given, mask, k_mask, out, e);
}

int net_group_mask(const uint8_t *mask, uint32_t n, uint32_t k, const uint32_t *group,
		   uint32_t n_groups, uint8_t *out, struct err *e)
{
	memset(out, 1, (size_t)n_groups * k);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < k; j++)
			if (!mask[(size_t)i * k + j])
				out[(size_t)group[i] * k + j] = 0;
	for (uint32_t g = 0; g < n_groups; g++) {
		bool any = false;
		for (uint32_t j = 0; j < k; j++)
			any = any || out[(size_t)g * k + j];
		if (!any)
			return err_set(e, ST_INPUT,
				       "no device can run all sets of group %u; "
				       "a finer grouping would do",
				       g);
	}
	return 0;
}

void net_advance(const struct net *net, float *x, uint32_t n, uint32_t d, const uint32_t *group,
		 const float *z)
{
	if (net->steady)
		return;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < d; j++)
			x[i * d + j] += z[group[i] * (size_t)d + j];
}
