/* planned_costs.c - durations of sets shared out to their steps, and links. */
#include "profile/planned_costs.h"

#include <math.h>
#include <string.h>

#include "record/costrec.h"

static const double LEAST_STEP_S = 1e-7;

/* Times set_s (n_sets, of) of column `from` become durations on device d. */
static void set_step_costs(struct planner *p, uint32_t d, const double *set_s, uint32_t from,
			   uint32_t of, const uint32_t *step_set)
{
	uint32_t n = p->m->n_steps, k = p->devices->n;
	double *step_s = p->step_s;
	double *sum = MEM_NEWN(double, (size_t)p->m->g->n_sets + 1);
	for (uint32_t i = 0; i < n; i++)
		if (step_set[i] != GRAPH_NONE && step_s[(size_t)i * k + d] >= 0)
			sum[step_set[i]] += step_s[(size_t)i * k + d];
	for (uint32_t i = 0; i < n; i++) {
		double *x = &step_s[(size_t)i * k + d], set;
		if (step_set[i] == GRAPH_NONE || *x < 0)
			continue;
		set = set_s[(size_t)step_set[i] * of + from];
		if (set >= 0 && sum[step_set[i]] > 0)
			*x = fmax(*x / sum[step_set[i]] * set, LEAST_STEP_S);
	}
	mem_free(sum);
}

static void set_link_costs(struct planner *p, const struct devs *devs)
{
	struct sched_links *links = &p->costs.links;
	for (uint32_t i = 0; i < devs->n_links; i++) {
		const struct dev_link *x = &devs->link[i];
		int src = device_list_find(p->devices, devs->names[x->src]);
		int dst = device_list_find(p->devices, devs->names[x->dst]);
		if (src < 0 || dst < 0)
			continue;
		links->latency_s[(uint32_t)src * links->k + (uint32_t)dst] = x->latency_s;
		links->bytes_per_s[(uint32_t)src * links->k + (uint32_t)dst] = x->bytes_per_s;
	}
}

/* Whether copies overlap with computing; where the record does not tell, as devsim takes it. */
static void set_overlap(struct planner *p, const struct cost_rec *c)
{
	struct sched_costs *to = &p->costs;
	uint32_t k = p->devices->n;
	p->copies_told = true;
	to->overlap = !c->has_rules || c->overlap;
	to->copy_holds = NULL;
	if (!c->copy_holds)
		return;
	uint8_t *holds = ARENA_NEWN(p->arena, uint8_t, (size_t)k * k);
	memset(holds, COPY_HOLDS_SRC | COPY_HOLDS_DST, (size_t)k * k);
	for (size_t i = 0; i < (size_t)c->k * c->k; i++) {
		int src = device_list_find(p->devices, c->names[i / c->k]);
		int dst = device_list_find(p->devices, c->names[i % c->k]);
		if (src >= 0 && dst >= 0)
			holds[(uint32_t)src * k + (uint32_t)dst] = c->copy_holds[i];
	}
	to->copy_holds = holds;
}

int session_plan_overlap(struct session *s, const struct rec *cost, struct err *e)
{
	struct arena *a = arena_new();
	struct cost_rec c;
	int rc = cost_decode_head(cost, a, &c, e);
	if (rc == 0)
		rc = cost_decode(cost, s->model.g->n_sets, COST_OVERLAP, a, &c, e);
	if (rc == 0)
		set_overlap(&s->planner, &c);
	arena_free(a);
	return rc < 0 ? err_prefix(e, "cost record") : 0;
}

/* The planner's costs from those of its case; how many of its devices are known. */
static uint32_t plan_by(struct planner *p, const struct cost_rec *c, const struct devs *devs,
			struct arena *a)
{
	uint32_t *step_set = ARENA_NEWN(a, uint32_t, p->m->n_steps), known = 0;
	planner_step_sets(p, step_set);
	for (uint32_t i = 0; i < c->k; i++) {
		int d = device_list_find(p->devices, c->names[i]);
		known += d >= 0;
		if (d >= 0)
			set_step_costs(p, (uint32_t)d, c->set_s, i, c->k, step_set);
	}
	set_link_costs(p, devs);
	set_overlap(p, c);
	return known;
}

int session_plan_costs(struct session *s, const struct rec *cost, const struct devs *devs,
		       struct err *e)
{
	const struct graph *g = s->model.g;
	struct arena *a = arena_new();
	struct cost_rec c;
	int rc = cost_decode_head(cost, a, &c, e);
	if (rc == 0 && c.graph != g->digest)
		rc = err_set(e, ST_INPUT, "it is about another graph");
	if (rc == 0 && c.k > DEVS_MAX)
		rc = err_set(e, ST_INPUT, "more than %d devices", DEVS_MAX);
	if (rc == 0)
		rc = cost_decode(cost, g->n_sets, COST_OVERLAP, a, &c, e);
	if (rc == 0 && c.n_cases != g->n_cases)
		rc = err_set(e, ST_INPUT, "%u cases, where the graph has %u", c.n_cases,
			     g->n_cases);
	struct planner *p = &s->planner;
	for (uint32_t i = 0; rc == 0 && p; i++, p = p->next_case)
		s->has_costs = plan_by(p, c.n_cases ? &c.cases[i] : &c, devs, a) == s->devices.n;
	arena_free(a);
	return rc < 0 ? err_prefix(e, "cost record") : 0;
}
