/* scheduled.c - keeps placements and their schedules, the slowest last to be kept. */
#include "report/scheduled.h"

#include <string.h>

static void drop(struct scheduled *x)
{
	if (x->run != x->place)
		rec_drop(x->run);
	rec_drop(x->place);
}

void scheduled_release(struct scheduled_list *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		drop(&x->item[i]);
	rec_drop(x->waiting);
	*x = (struct scheduled_list){0};
}

static struct rec *keep(const struct rec *r, struct err *e)
{
	struct rec *kept = rec_keep(r);
	if (!kept)
		err_set(e, ST_RUNTIME, "no memory for a %s record", r->kind);
	return kept;
}

/* Where the next one goes: behind the others, or in the place of the slowest; NULL: that is faster. */
static struct scheduled *make_room(struct scheduled_list *x, double lat_s)
{
	if (x->n < SCHEDULED_MOST)
		return &x->item[x->n++];
	uint32_t worst = 0;
	for (uint32_t i = 1; i < x->n; i++)
		if (x->item[i].lat_s > x->item[worst].lat_s)
			worst = i;
	x->n_left_out++;
	if (!(x->item[worst].lat_s > lat_s))
		return NULL;
	drop(&x->item[worst]);
	memmove(&x->item[worst], &x->item[worst + 1], (x->n - 1 - worst) * sizeof *x->item);
	return &x->item[x->n - 1];
}

int scheduled_take(struct scheduled_list *x, const struct rec *r, bool elsewhere, struct err *e)
{
	bool best = rec_is(r, "best");
	if (rec_is(r, "place")) {
		rec_drop(x->waiting);
		x->waiting = keep(r, e);
		return x->waiting ? 0 : -1;
	}
	if (!(best || rec_is(r, "run")) || !run_has_schedule(r))
		return 0;
	if (!best && (!x->waiting || !rollout_id_same(x->waiting, r)))
		return 0;
	struct scheduled one = {.simulated = !best && run_is_simulated(r), .elsewhere = elsewhere};
	if (get_real(r->map, "lat_s", &one.lat_s, e) < 0)
		return err_prefix(e, "record %llu '%s'", (unsigned long long)r->index, r->kind);
	struct rec *run = keep(r, e);
	if (!run)
		return -1;
	one.run = run;
	one.place = best ? run : x->waiting;
	struct scheduled *to = make_room(x, one.lat_s);
	if (to) {
		*to = one;
	} else {
		rec_drop(run);
		if (!best)
			rec_drop(x->waiting);
	}
	if (!best)
		x->waiting = NULL;
	return 0;
}
