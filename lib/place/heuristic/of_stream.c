/* of_stream.c - the placements of another stream about the same graph: those that a search found
 * beside those that it began with, say, for a comparison of all. */
#include <string.h>

#include "place/method/method.h"
#include "record/devrec.h"
#include "record/placerec.h"

static int device_of(const struct method_run *r, const char *name, struct err *e)
{
	for (uint32_t i = 0; i < r->m->k; i++)
		if (strcmp(r->m->names[i], name) == 0)
			return (int)i;
	return devs_unknown(r->m->names, r->m->k, name, ST_INPUT, e);
}

static int take(struct method_run *r, const struct rec *rec, struct arena *a, struct err *e)
{
	struct place_rec p;

	if (place_decode(rec, r->m->n_sets, PLACE_REPLICAS, a, &p, e) < 0)
		return err_prefix(e, "%s record %llu", rec->kind, (unsigned long long)rec->index);
	if (p.id.graph != r->m->g->digest)
		return err_set(e, ST_INPUT, "%s record %llu is about another graph", rec->kind,
			       (unsigned long long)rec->index);
	int *device = ARENA_NEWN(a, int, p.k);

	for (uint32_t i = 0; i < p.k; i++)
		if ((device[i] = device_of(r, p.names[i], e)) < 0)
			return -1;
	for (uint32_t s = 0; s < p.n_sets; s++)
		r->device[s] = (uint16_t)device[p.device[s]];
	uint16_t *more = ARENA_NEWN(a, uint16_t, (size_t)p.n_more * p.n_sets);
	for (size_t s = 0; s < (size_t)p.n_more * p.n_sets; s++)
		more[s] = (uint16_t)device[p.device[p.n_sets + s]];
	r->more = more;
	r->n_more = p.n_more;
	r->source = p.source;
	r->order = p.order;
	r->n_order = p.n_order;
	return r->emit(r, e);
}

static int run_of(struct method_run *r, struct err *e)
{
	struct rec_reader *in = rec_reader_open(r->arg, -1, e);
	struct arena *a = arena_new();
	size_t n = 0;
	struct rec rec;
	int k = in ? 1 : -1;

	while (k > 0 && (k = rec_next(in, &rec, e)) > 0) {
		if (!rec_is(&rec, "place") && !rec_is(&rec, "best"))
			continue;
		arena_reset(a);
		if (take(r, &rec, a, e) < 0)
			k = err_prefix(e, "'%s'", r->arg);
		n++;
	}
	if (k >= 0 && n == 0)
		k = err_set(e, ST_INPUT, "'%s': it has no placements", r->arg);
	rec_reader_close(in);
	arena_free(a);
	return k < 0 ? -1 : 0;
}

const struct place_method method_of = {
	.name = "of",
	.arg = "FILE",
	.needs_arg = true,
	.about = "the placements of another stream about the same graph",
	.source = "-",
	.run = run_of,
};
