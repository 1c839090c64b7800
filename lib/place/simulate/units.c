/* units.c - sets that share a device as one thing to move. */
#include <math.h>
#include <string.h>

#include "place/simulate/dnnpart.h"
#include "place/simulate/units.h"

/* Number units by their first task.  Sets without tasks that have to stay with others are part of
 * their unit. */
static void number_units(struct place_units *u, struct arena *a)
{
	const struct place_model *m = u->m;
	uint32_t n = m->n_sets, *unit = MEM_NEWN(uint32_t, n);
	bool *idle = MEM_NEWN(bool, n);

	u->of_set = ARENA_NEWN(a, uint32_t, n);
	u->ptr = ARENA_NEWN(a, uint32_t, (size_t)n + 2);
	u->set = ARENA_NEWN(a, uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		u->of_set[i] = unit[i] = GRAPH_NONE;
	for (uint32_t t = 0; t < m->tasks.dag.n; t++) {
		uint32_t s = m->tasks.task_set[t], first = m->together ? m->together[s] : s;

		if (unit[first] == GRAPH_NONE)
			unit[first] = u->n++;
		u->of_set[s] = unit[first];
		u->ptr[unit[first] + 2]++;
	}
	for (uint32_t s = 0; m->together && s < n; s++)
		if (u->of_set[s] == GRAPH_NONE && unit[m->together[s]] != GRAPH_NONE) {
			idle[s] = true;
			u->of_set[s] = unit[m->together[s]];
			u->ptr[u->of_set[s] + 2]++;
		}
	for (uint32_t i = 0; i < u->n; i++)
		u->ptr[i + 2] += u->ptr[i + 1];
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		u->set[u->ptr[u->of_set[m->tasks.task_set[t]] + 1]++] = m->tasks.task_set[t];
	for (uint32_t s = 0; s < n; s++)
		if (idle[s])
			u->set[u->ptr[u->of_set[s] + 1]++] = s;
	mem_free(idle);
	mem_free(unit);
}

static void sum_memory(struct place_units *u, struct arena *a)
{
	const struct place_model *m = u->m;
	uint32_t k = m->k;

	u->mem_on = ARENA_NEWN(a, uint64_t, (size_t)u->n * k);
	u->mem = ARENA_NEWN(a, uint64_t, u->n);
	u->least_mem = ARENA_NEWN(a, uint64_t, u->n);
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		for (uint32_t d = 0; d < k; d++)
			u->mem_on[(size_t)u->of_set[m->tasks.task_set[t]] * k + d] +=
				m->task_mem[(size_t)t * k + d];
	for (size_t i = 0; i < (size_t)u->n * k; i++) {
		uint64_t *most = &u->mem[i / k], *least = &u->least_mem[i / k];

		*most = u->mem_on[i] > *most ? u->mem_on[i] : *most;
		*least = i % k == 0 || u->mem_on[i] < *least ? u->mem_on[i] : *least;
	}
}

static void sum_costs(struct place_units *u, struct arena *a)
{
	const struct place_model *m = u->m;
	uint32_t k = m->k;

	u->cost_s = ARENA_NEWN(a, double, (size_t)u->n *k);
	u->least_s = ARENA_NEWN(a, double, u->n);
	sum_memory(u, a);
	double *least = MEM_NEWN(double, (size_t)u->n *k);
	for (uint32_t t = 0; t < m->tasks.dag.n; t++) {
		uint32_t i = u->of_set[m->tasks.task_set[t]];

		for (uint32_t d = 0; d < k; d++) {
			double s = m->costs.task_s[(size_t)t * k + d], saved = 0;
			double *sum = &u->cost_s[(size_t)i * k + d];

			*sum = s < 0 || *sum < 0 ? -1 : *sum + s;
			for (uint32_t j = m->saved_ptr ? m->saved_ptr[t] : 0;
			     m->saved_ptr && j < m->saved_ptr[t + 1]; j++)
				saved += fmax(0, m->saved_s[(size_t)j * k + d]);
			least[(size_t)i * k + d] += s > saved ? s - saved : 0;
		}
	}
	for (uint32_t i = 0; i < u->n; i++) {
		u->least_s[i] = -1;
		for (uint32_t d = 0; d < k; d++)
			if (u->cost_s[(size_t)i * k + d] >= 0 &&
			    (u->least_s[i] < 0 || least[(size_t)i * k + d] < u->least_s[i]))
				u->least_s[i] = least[(size_t)i * k + d];
		if (u->least_s[i] < 0)
			u->least_s[i] = 0;
	}
	mem_free(least);
}

/* A digest of what each device takes and holds for every task (k): devices that are alike have equal
 * ones.  Row by row, where comparing all pairs of devices would go through the columns of all. */
static uint64_t *column_digests(const struct place_units *u)
{
	enum { MULTIPLIER = 1000003 };
	const struct place_model *m = u->m;
	const uint32_t k = m->k;
	uint64_t *digest = MEM_NEWN(uint64_t, k);

	for (size_t i = 0; i < (size_t)m->tasks.dag.n * k; i++) {
		double s = m->costs.task_s[i] + 0.0; /* -0 is 0 */
		uint64_t bits;

		memcpy(&bits, &s, sizeof(bits));
		bits ^= bits >> 29;
		digest[i % k] = (digest[i % k] * MULTIPLIER + bits) * MULTIPLIER + m->task_mem[i];
	}
	return digest;
}

static bool same_column(const struct place_units *u, uint32_t x, uint32_t y)
{
	const struct place_model *m = u->m;
	uint32_t k = m->k;

	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		if (m->costs.task_s[(size_t)t * k + x] != m->costs.task_s[(size_t)t * k + y])
			return false;
	for (uint32_t i = 0; m->saved_ptr && i < m->saved_ptr[m->tasks.dag.n]; i++)
		if (m->saved_s[(size_t)i * k + x] != m->saved_s[(size_t)i * k + y])
			return false;
	return true;
}

/* Do sets hold as much on device x as on y? */
static bool same_memory(const struct place_units *u, uint32_t x, uint32_t y)
{
	const struct place_model *m = u->m;

	if (m->work && m->work[x] != m->work[y])
		return false;
	for (size_t t = 0; t < m->tasks.dag.n; t++)
		if (m->task_mem[t * m->k + x] != m->task_mem[t * m->k + y])
			return false;
	for (uint32_t i = 0; i < m->n_shared; i++)
		if (m->shared[i].bytes[x] != m->shared[i].bytes[y])
			return false;
	return true;
}

/* Do devices x and y draw the same, as far as the objective asks? */
static bool same_power(const struct place_model *m, uint32_t x, uint32_t y)
{
	const struct place_power *p = &m->power;

	if (m->objective.price > 0 && p->usd_per_s && p->usd_per_s[x] != p->usd_per_s[y])
		return false;
	return m->objective.energy == 0 ||
	       ((!p->watts || p->watts[x] == p->watts[y]) &&
		(!p->idle_watts || p->idle_watts[x] == p->idle_watts[y]));
}

/* Do links i and j have ports of one name, of which the same is told? */
static bool same_ports(const struct sched_links *l, size_t i, size_t j)
{
	const struct sched_ports *p = l->ports;

	if (!p || (p->of[i] == SCHED_NONE && p->of[j] == SCHED_NONE))
		return true;
	if (p->of[i] != p->of[j])
		return false;
	return p->out_bytes_per_s[i / l->k * p->n + p->of[i]] ==
		       p->out_bytes_per_s[j / l->k * p->n + p->of[j]] &&
	       p->in_bytes_per_s[i % l->k * p->n + p->of[i]] ==
		       p->in_bytes_per_s[j % l->k * p->n + p->of[j]];
}

/* Do copies on links i and j wait alike, for what goes through the same media? */
static bool same_sharing(const struct sched_links *l, size_t i, size_t j)
{
	if (!l->sharing)
		return true;
	const struct sched_carriage *x = &l->sharing->of[i], *y = &l->sharing->of[j];

	return x->contention == y->contention && x->n_media == y->n_media &&
	       (x->n_media == 0 ||
		memcmp(x->medium, y->medium, x->n_media * sizeof(*x->medium)) == 0);
}

/* Is a copy from a to b like one from c to d? */
static bool same_way(const struct place_model *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const struct sched_links *l = &m->costs.links;
	const double *joules = m->objective.energy > 0 ? m->power.j_per_byte : NULL;
	const uint8_t *holds = m->costs.copy_holds;
	size_t i = (size_t)a * m->k + b, j = (size_t)c * m->k + d;

	return l->latency_s[i] == l->latency_s[j] && l->bytes_per_s[i] == l->bytes_per_s[j] &&
	       (!joules || joules[i] == joules[j]) && (!holds || holds[i] == holds[j]) &&
	       same_ports(l, i, j) && same_sharing(l, i, j);
}

/* Do a and b take turns, as c and d do or do not? */
static bool same_turns(const struct place_model *m, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint8_t *turns = m->costs.turns;

	return !turns || turns[(size_t)a * m->k + b] == turns[(size_t)c * m->k + d];
}

/* What differs soonest comes first. */
static bool equivalent_devices(const struct place_units *u, uint32_t x, uint32_t y)
{
	const struct place_model *m = u->m;

	if (m->mem_limit[x] != m->mem_limit[y] ||
	    (m->pools.n && m->pools.of[x] != m->pools.of[y]) ||
	    (m->workspace && m->workspace[x] != m->workspace[y]) ||
	    (m->types && strcmp(m->types[x], m->types[y]) != 0) || !same_power(m, x, y) ||
	    !same_way(m, x, y, y, x))
		return false;
	for (uint32_t z = 0; z < m->k; z++)
		if (z != x && z != y &&
		    (!same_way(m, x, z, y, z) || !same_way(m, z, x, z, y) ||
		     !same_turns(m, x, z, y, z)))
			return false;
	return same_memory(u, x, y) && same_column(u, x, y);
}

static void find_equivalents(struct place_units *u, struct arena *a)
{
	uint32_t k = u->m->k;
	uint64_t *digest = column_digests(u);

	u->equivalent = ARENA_NEWN(a, uint32_t, k);
	for (uint32_t d = 0; d < k; d++) {
		uint32_t x = 0;

		/* Of those that are alike the first stands for all. */
		while (x < d && (u->equivalent[x] != x || digest[x] != digest[d] ||
				 !equivalent_devices(u, x, d)))
			x++;
		u->equivalent[d] = x;
	}
	mem_free(digest);
}

void place_units_init(struct place_units *u, const struct place_model *m, struct arena *a)
{
	*u = (struct place_units){.m = m};
	number_units(u, a);
	sum_costs(u, a);
	find_equivalents(u, a);
	u->dev_ptr = ARENA_NEWN(a, uint32_t, (size_t)u->n + 1);
	u->dev = ARENA_NEWN(a, uint16_t, (size_t)u->n * m->k);
	for (uint32_t i = 0, at = 0; i < u->n; i++) {
		for (uint32_t d = 0; d < m->k; d++)
			if (u->cost_s[(size_t)i * m->k + d] >= 0 &&
			    !(m->rules == PLACE_DNNPART_LATENCY && u->equivalent[d] < d &&
			      dnnpart_is_cpu(m, d) && m->mem_limit[d] == 0))
				u->dev[at++] = (uint16_t)d;
		u->dev_ptr[i + 1] = at;
	}
}

void place_unit_set(const struct place_units *u, uint32_t i, uint32_t dev, uint16_t *device)
{
	if (i == GRAPH_NONE) {
		for (uint32_t s = 0; s < u->m->n_sets; s++)
			if (u->of_set[s] == GRAPH_NONE)
				device[s] = (uint16_t)dev;
		return;
	}
	for (uint32_t j = u->ptr[i]; j < u->ptr[i + 1]; j++)
		device[u->set[j]] = (uint16_t)dev;
}
