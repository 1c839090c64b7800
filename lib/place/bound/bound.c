/* bound.c - the best of the lower bounds. */
#include <math.h>
#include <string.h>

#include "place/bound/bound.h"
#include "place/bound/reach.h"

/* ---- what bounds share ---- */

static void find_costs(struct bound_view *v)
{
	const struct place_model *m = v->m;
	bool saves = m->rules == PLACE_SCHEDULE && m->saved_ptr;

	for (uint32_t t = 0; t < v->n; t++)
		for (uint32_t d = 0; d < v->k; d++) {
			double s = m->costs.task_s[(size_t)t * v->k + d], most = s;
			uint32_t unit = v->unit_of[t];
			bool may = v->u->cost_s[(size_t)unit * v->k + d] >= 0 &&
				   v->u->mem[unit] <= v->limit[d];

			for (uint32_t j = saves ? m->saved_ptr[t] : 0;
			     may && saves && j < m->saved_ptr[t + 1]; j++) {
				double saved = m->saved_s[(size_t)j * v->k + d];

				s = fmax(0, s - fmax(0, saved));
				most += fmax(0, -saved);
			}
			v->task_s[(size_t)t * v->k + d] = may ? s : INFINITY;
			v->unit_s[(size_t)unit * v->k + d] += may ? s : INFINITY;
			v->unit_most_s[(size_t)unit * v->k + d] += may ? most : INFINITY;
		}
}

void bound_view_init(struct bound_view *v, const struct place_units *u, struct arena *a)
{
	const struct place_model *m = u->m;

	*v = (struct bound_view){
		.u = u, .m = m, .d = &m->tasks.dag, .n = m->tasks.dag.n, .k = m->k};
	v->unit_of = ARENA_NEWN(a, uint32_t, v->n);
	v->task_s = ARENA_NEWN(a, double, (size_t)v->n * v->k);
	v->unit_s = ARENA_NEWN(a, double, (size_t)u->n * v->k);
	v->unit_most_s = ARENA_NEWN(a, double, (size_t)u->n * v->k);
	v->limit = ARENA_NEWN(a, uint64_t, v->k);
	v->share = ARENA_NEWN(a, double, v->k);
	for (uint32_t t = 0; t < v->n; t++)
		v->unit_of[t] = u->of_set[m->tasks.task_set[t]];
	for (uint32_t d = 0; d < v->k; d++)
		v->limit[d] = m->mem_limit[d] ? m->mem_limit[d] : UINT64_MAX;
	find_costs(v);
}

/* ---- each metric's ---- */

static void raise_to(struct place_bound *b, double value, const char *kind)
{
	if (value > b->value)
		*b = (struct place_bound){value, kind};
}

static struct place_bound load(struct bound_view *v)
{
	struct place_bound b = {0, "load"};
	double longest = 0;

	for (uint32_t i = 0; i < v->u->n; i++) {
		double least = INFINITY;

		for (uint32_t d = 0; d < v->k; d++)
			least = fmin(least, v->unit_s[(size_t)i * v->k + d]);
		longest = least < INFINITY ? fmax(longest, least) : longest;
	}
	raise_to(&b, bound_load_s(v), "load");
	raise_to(&b, longest * (1 - 1e-12), "load");
	return b;
}

/* How much more than a load a bound may be for patterns not to matter beside it. */
static const double PATTERNS_REACH = 1.3;

static struct place_bound patterns(const struct bound_view *v, struct place_bound b)
{
	raise_to(&b, bound_pattern_s(v, b.value), "pattern");
	return b;
}

static struct place_bound latency(struct bound_view *v, const struct place_bound *load_bound)
{
	double *head_s = MEM_NEWN(double, 2 * (size_t)v->n), *tail_s = head_s + v->n;
	struct place_bound b = *load_bound;

	raise_to(&b, bound_path_s(v, head_s, tail_s), "path");
	raise_to(&b, bound_window_s(v, head_s, tail_s), "window");
	mem_free(head_s);
	return b;
}

/* The longest path of fastest costs, where bound_piece_s would take too much memory. */
static double plain_path_s(const struct bound_view *v)
{
	double *end = MEM_NEWN(double, v->n), longest = 0;

	for (uint32_t t = 0; t < v->n; t++) {
		double least = INFINITY, ready = 0;

		for (uint32_t d = 0; d < v->k; d++)
			least = fmin(least, v->task_s[(size_t)t * v->k + d]);
		for (uint32_t i = v->d->in_ptr[t]; i < v->d->in_ptr[t + 1]; i++)
			ready = fmax(ready,
				     end[v->d->tensor_task[v->d->use_tensor[v->d->in_use[i]]]]);
		end[t] = ready + (least < INFINITY ? least : 0);
		longest = fmax(longest, end[t]);
	}
	mem_free(end);
	return longest * (1 - 1e-12);
}

static struct place_bound schedule(struct bound_view *v)
{
	const struct place_objective *o = &v->m->objective;
	struct place_bound period = load(v), lat = latency(v, &period);
	struct place_bound energy = {0, "energy"}, memory = {0, "memory"};

	if (o->throughput > 0)
		raise_to(&period, bound_cut_s(v), "cut");
	if (o->throughput > 0 || lat.value < PATTERNS_REACH * period.value)
		period = patterns(v, period);
	if (period.value > lat.value)
		lat = period;
	if (place_objective_is_latency(o))
		return lat;
	if (o->energy > 0)
		energy.value = bound_energy_j(v, lat.value);
	if (o->memory > 0)
		memory.value = bound_memory(v);
	double part[4] = {o->latency * lat.value, o->throughput * period.value,
			  o->energy * energy.value, o->memory * memory.value};
	const char *kind[4] = {lat.kind, period.kind, energy.kind, memory.kind};
	struct place_bound sum = {0, "sum"};
	int n = 0;

	for (int i = 0; i < 4; i++) {
		sum.value += part[i];
		n += part[i] != 0;
	}
	for (int i = 0; n == 1 && i < 4; i++)
		if (part[i] != 0)
			sum.kind = kind[i];
	return sum;
}

static struct place_bound pieces(const struct bound_view *v, struct arena *a)
{
	struct place_bound b = {0, "path"};
	struct reach g;

	raise_to(&b, plain_path_s(v), "path");
	if (v->n > REACH_MAX_TASKS)
		return b;
	reach_init(&g, v, a);
	raise_to(&b, bound_piece_s(&g), "pieces");
	raise_to(&b, bound_separators_s(&g), "spine");
	return b;
}

struct place_bound place_bound(const struct place_units *u, double *share, bool *shared)
{
	struct arena *a = arena_new();
	struct bound_view v;
	struct place_bound b = {0, "path"};

	bound_view_init(&v, u, a);
	switch (u->m->rules) {
	case PLACE_SCHEDULE: b = schedule(&v); break;
	case PLACE_DNNPART_THROUGHPUT:
		b = load(&v);
		raise_to(&b, bound_cut_s(&v), "cut");
		b = patterns(&v, b);
		break;
	case PLACE_DNNPART_LATENCY: b = pieces(&v, a); break;
	}
	if (share) {
		memcpy(share, v.share, v.k * sizeof(*share));
		*shared = u->m->rules != PLACE_DNNPART_LATENCY;
	}
	arena_free(a);
	return b;
}

double place_lower_bound(const struct place_units *u)
{
	return place_bound(u, NULL, NULL).value;
}
