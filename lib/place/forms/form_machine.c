/* form_machine.c - devices and links of a specification for tasks whose file tells none, and growing lists of edges. */
#include <math.h>
#include <string.h>

#include "place/forms/form_impl.h"
#include "place/problem/spec_probe.h"

enum { MOST_EDGES = 1 << 26 };

int form_machine(struct form_source *s, struct json_problem *p, struct err *e)
{
	p->contention = p->overlap = true;
	if (spec_devices(&s->spec, s->o->spec, s->o->devices, s->a, &p->devs, e) < 0)
		return -1;
	s->speed = ARENA_NEWN(s->a, double, p->devs.k);
	for (uint32_t d = 0; d < p->devs.k; d++)
		s->speed[d] = spec_find(&s->spec, p->devs.names[d])->flops_per_s;
	return 0;
}

void form_cost(const struct form_source *s, struct json_problem *p, uint32_t v, double seconds)
{
	for (uint32_t d = 0; d < p->devs.k; d++)
		p->cost_s[(size_t)v * p->devs.k + d] = seconds * (s->speed[0] / s->speed[d]);
}

void form_flops(const struct form_source *s, struct json_problem *p, uint32_t v, double flops)
{
	for (uint32_t d = 0; d < p->devs.k; d++)
		p->cost_s[(size_t)v * p->devs.k + d] = flops / s->speed[d];
}

int form_edge(struct form_edges *x, uint32_t src, uint32_t dst, double bytes, uint32_t tensor,
	      struct err *e)
{
	if (!(bytes <= JSON_PROBLEM_MAX_BYTES))
		return err_set(e, ST_INPUT, "an edge has more than 2^62 bytes");
	if (x->n >= MOST_EDGES)
		return err_set(e, ST_INPUT, "more than %u edges", x->n);
	x->edge = mem_grow(x->edge, &x->cap, (size_t)x->n + 1, sizeof *x->edge);
	x->edge[x->n++] = (struct json_problem_edge){src, dst, (uint64_t)ceil(bytes), tensor};
	return 0;
}

void form_take_edges(struct form_edges *x, struct arena *a, struct json_problem *p)
{
	p->n_edges = x->n;
	p->edge = ARENA_NEWN(a, struct json_problem_edge, x->n);
	if (x->n)
		memcpy(p->edge, x->edge, x->n * sizeof *x->edge);
	mem_free(x->edge);
	*x = (struct form_edges){0};
}
