/* allowed.c - where devs lets sets run, and which share a device. */
#include <string.h>

#include "measure/session.h"
#include "record/grouprec.h"

void session_allow(struct session *s, const struct devs *d)
{
	const struct graph *g = s->model.g;
	uint32_t k = s->devices.n;
	if (!d->mask || d->graph != g->digest || d->n_sets != g->n_sets)
		return;
	if (d->together) {
		s->first = ARENA_NEWN(s->arena, uint32_t, g->n_sets);
		memcpy(s->first, d->together, g->n_sets * sizeof *s->first);
		group_first(s->first, g->n_sets);
	}
	s->may = ARENA_NEWN(s->arena, uint8_t, (size_t)g->n_sets * k);
	for (uint32_t i = 0; i < k; i++) {
		int row = devs_find(d, s->devices.dev[i].name);
		for (uint32_t x = 0; x < g->n_sets; x++)
			s->may[(size_t)x * k + i] =
				row < 0 || d->mask[(size_t)x * d->k + (uint32_t)row];
	}
}

static const char *name_of_set(const struct session *s, uint32_t set, char *text, size_t cap)
{
	const struct graph *g = s->model.g;
	uint32_t v = 0;
	while (g->set[v] != set)
		v++;
	return err_escape(text, cap, g->node_name[v], strlen(g->node_name[v]));
}

int session_may_run(const struct session *s, const uint16_t *device, struct err *e)
{
	uint32_t n = s->model.g->n_sets;
	char name[200], other[200];
	for (uint32_t i = 0; s->may && i < n; i++)
		if (!s->may[(size_t)i * s->devices.n + device[i]])
			return err_set(e, ST_RUNTIME, "'%s' may not run on %s",
				       name_of_set(s, i, name, sizeof name),
				       s->devices.dev[device[i]].name);
	for (uint32_t i = 0; s->first && i < n; i++)
		if (device[i] != device[s->first[i]])
			return err_set(e, ST_RUNTIME, "'%s' and '%s' must share a device",
				       name_of_set(s, s->first[i], other, sizeof other),
				       name_of_set(s, i, name, sizeof name));
	return 0;
}
