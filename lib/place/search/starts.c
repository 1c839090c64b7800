/* starts.c - where searches start: placements of different kinds, none of which has to be legal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "place/heuristic/heft.h"
#include "place/heuristic/random.h"
#include "place/search/search_context.h"
#include "place/simulate/held.h"

/* Seconds of all units on each device (k), where it can run them. */
static double *sum_units(const struct place_units *u)
{
	uint32_t k = u->m->k;
	double *sum = MEM_NEWN(double, k);

	for (uint32_t j = 0; j < u->n; j++)
		for (uint32_t d = 0; d < k; d++)
			sum[d] += fmax(u->cost_s[(size_t)j * k + d], 0);
	return sum;
}

/* The fastest device that is still open, by sum_units; k: none is. */
static uint32_t next_open(const double *sum, uint32_t k, const bool *closed)
{
	uint32_t now = k;
	double least = INFINITY;

	for (uint32_t d = 0; d < k; d++)
		if (!closed[d] && sum[d] < least) {
			least = sum[d];
			now = d;
		}
	return now;
}

/* Units in topological order onto devices, the fastest first, each until its memory is full.  Those
 * that need nothing but what lies on a full device already go there, too. */
static void fill_in_turn(const struct search_context *s, const uint32_t *order, uint16_t *device)
{
	const struct place_model *m = s->m;
	const struct place_units *u = &s->u;
	bool *closed = MEM_NEWN(bool, m->k), *placed = MEM_NEWN(bool, u->n);
	double *sum = sum_units(u);
	struct arena *a = arena_new();
	struct held held;
	uint32_t now, left = u->n;

	held_init(&held, u, a);
	while (left && (now = next_open(sum, m->k, closed)) < m->k) {
		for (uint32_t i = 0; i < u->n; i++) {
			uint32_t v = order[i];

			if (placed[v] || u->cost_s[(size_t)v * m->k + now] < 0)
				continue;
			closed[now] |= !held_fits(&held, v, now);
			if (closed[now] &&
			    (held.ptr[v] == held.ptr[v + 1] || held_more(&held, v, now) > 0))
				continue;
			placed[v] = true;
			left--;
			place_unit_set(u, v, now, device);
			held_add(&held, v, now);
		}
		closed[now] = true;
	}
	arena_free(a);
	mem_free(sum);
	mem_free(placed);
	mem_free(closed);
}

/* Parts of a topological order, cut anywhere, each on a device of its own: pipelines. */
static void place_stretches(const struct search_context *s, struct random_stream *d,
			    const uint32_t *order, uint16_t *device)
{
	uint32_t k = s->m->k, n = s->u.n, *at = MEM_NEWN(uint32_t, k);
	uint16_t *dev = MEM_NEWN(uint16_t, k);

	for (uint32_t i = 0; i < k; i++) {
		uint32_t j = random_stream_below(d, i + 1);

		dev[i] = dev[j];
		dev[j] = (uint16_t)i;
		at[i] = random_stream_below(d, n + 1);
	}
	qsort(at, k, sizeof(*at), ascending_u32);
	for (uint32_t i = 0, part = 0; i < n; i++) {
		while (part + 1 < k && at[part] <= i)
			part++;
		place_unit_set(&s->u, order[i], dev[part], device);
	}
	mem_free(at);
	mem_free(dev);
}

void search_context_allow_devices(const struct search_context *s, uint16_t *device)
{
	const struct place_units *u = &s->u;

	for (uint32_t i = 0; i < u->n; i++) {
		uint16_t dev = search_context_device(s, device, i);

		if (u->dev_ptr[i] == u->dev_ptr[i + 1])
			continue;
		if (u->cost_s[(size_t)i * s->m->k + dev] < 0)
			dev = u->dev[u->dev_ptr[i]];
		place_unit_set(u, i, dev, device);
	}
}

void search_context_start(const struct search_context *s, uint64_t seed, uint32_t number,
			  uint16_t *device)
{
	struct random_stream d = random_stream_new(seed, RANDOM_CHAIN, UINT32_MAX, number);
	const uint32_t *order = s->order[number / N_STARTS % 2];
	struct err none = ERR_INIT;
	double makespan_s;

	random_placement(s->m, seed, number, number / N_STARTS % 2, device);
	switch ((enum start)(number % N_STARTS)) {
	case START_FILL: fill_in_turn(s, order, device); break;
	case START_SINGLE:
		for (uint32_t i = 0; s->single >= 0 && i < s->m->n_sets; i++)
			device[i] = (uint16_t)s->single;
		break;
	case START_HEFT:
		if (heft_placement(s->m, s->deadline_s, device, &makespan_s, &none) < 0)
			random_placement(s->m, seed, number, false, device);
		break;
	case START_CUTS: place_stretches(s, &d, order, device); break;
	default: break;
	}
	search_context_allow_devices(s, device);
}
