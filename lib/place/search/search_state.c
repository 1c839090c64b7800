/* search_state.c - the state of a search: energy, moves, undo. */
#include <math.h>
#include <string.h>

#include "place/search/search_state.h"

enum { MAX_PATCH = 32, NORM = 12, CRITICAL_EVERY = 32 };
static const double LOAD_SHARE = 0.02; /* of the mean load, in the energy */
static const double NO_WAY = 1e100;    /* energy of one tensor that has no way to a consumer */

void search_state_init(struct search_state *p, const struct search_context *s,
		       struct random_stream rng)
{
	const struct place_objective *o = &s->m->objective;

	*p = (struct search_state){.s = s,
				   .rng = rng,
				   .ev = evaluators_take(s->ev),
				   .energy = INFINITY,
				   .value = INFINITY,
				   .best_value = INFINITY,
				   .device = MEM_NEWN(uint16_t, s->m->n_sets),
				   .unit = MEM_NEWN(uint32_t, s->u.n),
				   .was = MEM_NEWN(uint16_t, s->u.n),
				   .best = MEM_NEWN(uint16_t, s->m->n_sets)};
	if (s->few && place_objective_has_latency(o))
		p->critical = critical_new(&s->u);
}

void search_state_release(struct search_state *p)
{
	evaluators_put(p->s->ev, p->ev);
	critical_free(p->critical);
	mem_free(p->device);
	mem_free(p->unit);
	mem_free(p->was);
	mem_free(p->best);
}

/* ---- energy ---- */

/* What the norm of some loads has more than their maximum. */
static double norm_excess(const double *load, uint32_t k)
{
	double largest = 0, sum = 0;

	for (uint32_t d = 0; d < k; d++)
		largest = fmax(largest, load[d]);
	for (uint32_t d = 0; largest > 0 && d < k; d++) {
		double x = load[d] / largest, y = x * x * x;

		sum += y * y * y * y; /* NORM 12 */
	}
	return largest > 0 ? largest * (pow(sum, 1.0 / NORM) - 1) : 0;
}

/* Consumers that what they read cannot reach. */
static double no_way(const struct search_state *p)
{
	const struct place_model *m = p->s->m;
	const struct sched_dag *d = &m->tasks.dag;
	const struct sched_links *l = &m->costs.links;
	double n = 0;

	for (uint32_t i = 0; !p->s->linked && i < d->n_uses; i++) {
		uint32_t maker = d->tensor_task[d->use_tensor[i]];
		uint16_t from = p->device[m->tasks.task_set[maker]];
		uint16_t to = p->device[m->tasks.task_set[d->use_task[i]]];

		n += from != to && l->latency_s[(size_t)from * l->k + to] < 0;
	}
	return n > 0 ? n * NO_WAY : INFINITY;
}

static double smooth(const struct search_state *p, const struct place_result *r)
{
	const struct place_model *m = p->s->m;
	const struct place_objective *o = &m->objective;
	double load = 0, mem = 0, value = r->value;

	if (m->rules == PLACE_DNNPART_THROUGHPUT)
		return value + norm_excess(r->busy_s, m->k);
	for (uint32_t d = 0; d < m->k; d++) {
		load += r->busy_s[d];
		mem += (double)r->mem_bytes[d];
	}
	/* Half of it: how many requests keep a limit is a whole number, and few moves change that. */
	if (o->limit_s > 0 && r->lat_s <= o->limit_s)
		value = (value + r->period_s) / 2;
	if (o->throughput > 0)
		value += o->throughput * norm_excess(r->busy_s, m->k);
	if (o->latency > 0 || place_objective_is_latency(o) || m->rules != PLACE_SCHEDULE)
		value += (o->latency > 0 ? o->latency : 1) * LOAD_SHARE * load / m->k;
	return value + o->memory * LOAD_SHARE * mem / m->k;
}

double search_state_evaluate(struct search_state *p, double limit)
{
	const struct place_model *m = p->s->m;
	/* A best value is always told. */
	const struct place_result *r = place_moved_below(p->ev, fmax(limit, p->best_value));
	double over = 0;

	p->used++;
	p->value = INFINITY;
	if (r->status == PLACE_NO_LINK)
		return p->energy = no_way(p);
	if (r->status != PLACE_OK && r->status != PLACE_MEMORY)
		return p->energy = INFINITY;
	for (uint32_t d = 0; r->status == PLACE_MEMORY && d < m->k; d++)
		if (m->mem_limit[d] && r->mem_bytes[d] > m->mem_limit[d])
			over += (double)r->mem_bytes[d] / (double)m->mem_limit[d] - 1;
	for (uint32_t i = 0; r->status == PLACE_MEMORY && i < m->pools.n; i++) {
		uint64_t has = m->pools.pool[i].mem_limit;

		if (has && r->pool_bytes[i] > has)
			over += (double)r->pool_bytes[i] / (double)has - 1;
	}
	p->energy = smooth(p, r) * (1 + p->price * over);
	if (r->status != PLACE_OK)
		return p->energy;
	p->value = r->value;
	if (p->value < p->best_value) {
		p->best_value = p->value;
		memcpy(p->best, p->device, m->n_sets * sizeof(*p->best));
	}
	return p->energy;
}

void search_state_refresh(struct search_state *p)
{
	place_begin(p->ev, p->device);
	p->n_moved = 0;
	search_state_evaluate(p, INFINITY);
}

void search_state_set(struct search_state *p, const uint16_t *device)
{
	memcpy(p->device, device, p->s->m->n_sets * sizeof(*device));
	search_state_refresh(p);
}

/* ---- moves ---- */

static void set_unit(struct search_state *p, uint32_t unit, uint16_t dev)
{
	const struct place_units *u = &p->s->u;

	for (uint32_t i = u->ptr[unit]; i < u->ptr[unit + 1]; i++) {
		p->device[u->set[i]] = dev;
		place_move(p->ev, u->set[i], dev);
	}
}

static uint16_t home(const struct search_state *p, uint32_t unit)
{
	return search_context_device(p->s, p->device, unit);
}

void search_state_move(struct search_state *p, uint32_t unit, uint16_t dev)
{
	uint16_t was = home(p, unit);

	if (was == dev || p->n_moved == p->s->u.n || !search_context_allowed(p->s, unit, dev))
		return;
	p->unit[p->n_moved] = unit;
	p->was[p->n_moved++] = was;
	set_unit(p, unit, dev);
}

void search_state_undo(struct search_state *p, double energy, double value)
{
	while (p->n_moved) {
		p->n_moved--;
		set_unit(p, p->unit[p->n_moved], p->was[p->n_moved]);
	}
	p->energy = energy;
	p->value = value;
}

/* A device for a unit: mostly a neighbour's. */
uint16_t search_state_draw_device(struct search_state *p, uint32_t unit)
{
	const struct search_context *s = p->s;
	uint32_t near = s->ptr[unit + 1] - s->ptr[unit];
	uint32_t n = s->u.dev_ptr[unit + 1] - s->u.dev_ptr[unit];

	if (near && random_stream_below(&p->rng, 4) != 0)
		return home(p, s->adj[s->ptr[unit] + random_stream_below(&p->rng, near)]);
	return s->u.dev[s->u.dev_ptr[unit] + random_stream_below(&p->rng, n)];
}

void search_state_move_all(struct search_state *p, const uint16_t *unit_dev)
{
	for (uint32_t i = 0; i < p->s->u.n; i++)
		search_state_move(p, i, unit_dev[i]);
}

/* All units of device `from` (or any) in a part of an order; lengths of all magnitudes. */
static void move_run(struct search_state *p, uint16_t from, uint16_t to)
{
	const uint32_t *order = p->s->order[random_stream_below(&p->rng, 2)];
	bool any = random_stream_below(&p->rng, 4) == 0;
	uint32_t n = p->s->u.n, length = (uint32_t)exp(random_stream_uniform(&p->rng) * log(n + 1));
	uint32_t first = random_stream_below(&p->rng, n);

	for (uint32_t i = first; i < n && i - first < length; i++)
		if (any || home(p, order[i]) == from)
			search_state_move(p, order[i], to);
}

/* A connected patch of one device around `unit`, breadth first. */
static void move_patch(struct search_state *p, uint32_t size, uint32_t unit, uint16_t to)
{
	const struct search_context *s = p->s;
	uint16_t from = home(p, unit);

	search_state_move(p, unit, to);
	for (uint32_t at = 0; at < p->n_moved && p->n_moved < size; at++) {
		uint32_t v = p->unit[at];

		for (uint32_t i = s->ptr[v]; i < s->ptr[v + 1] && p->n_moved < size; i++)
			if (home(p, s->adj[i]) == from)
				search_state_move(p, s->adj[i], to);
	}
}

/* A unit to move. */
static uint32_t draw_unit(struct search_state *p)
{
	if (p->critical && p->used >= p->critical_at) {
		p->on_critical = critical_units(p->critical, p->device, &p->n_critical);
		p->critical_at = p->used + CRITICAL_EVERY;
	}
	if (p->n_critical && random_stream_below(&p->rng, 4) != 0)
		return p->on_critical[random_stream_below(&p->rng, p->n_critical)];
	return random_stream_below(&p->rng, p->s->u.n);
}

bool search_state_draw_move(struct search_state *p)
{
	uint32_t n = p->s->u.n, unit = draw_unit(p), other;
	uint32_t kind = random_stream_below(&p->rng, 8);

	if (n == 0 || p->s->u.dev_ptr[unit] == p->s->u.dev_ptr[unit + 1])
		return false;
	uint16_t from = home(p, unit), to = search_state_draw_device(p, unit);

	switch (kind) {
	case 0:
		other = random_stream_below(&p->rng, n);
		search_state_move(p, unit, home(p, other));
		if (p->n_moved)
			search_state_move(p, other, from);
		break;
	case 1: move_run(p, from, to); break;
	case 2:
	case 3:
		move_patch(p, 1 + random_stream_below(&p->rng, kind == 2 ? 4 : MAX_PATCH), unit,
			   to);
		break;
	default: search_state_move(p, unit, to);
	}
	return p->n_moved > 0;
}
