/* window_times.c - plans with one stretch of the sets on a device that is too small for all. */
#include "profile/window_times.h"

#include "base/clock.h"
#include "profile/device_times.h"

/* Runs of a stretch that count, in any case. */
enum { LEAST_RUNS = 2 };

/* The sets that can run on x->d, in the order of the model's steps; how many.  Those without steps
 * (constants) take no time. */
static uint32_t list_sets(const struct window_times *x, uint32_t *set)
{
	const struct session *s = x->s;
	uint32_t k = s->devices.n, n = 0;
	bool *seen = MEM_NEWN(bool, (size_t)s->model.g->n_sets + 1);
	for (uint32_t i = 0; i < s->model.n_steps; i++) {
		uint32_t j = x->step_set[i];
		if (j == GRAPH_NONE || seen[j])
			continue;
		seen[j] = true;
		if (s->mask[(size_t)j * k + x->d])
			set[n++] = j;
	}
	for (uint32_t j = 0; j < s->model.g->n_sets; j++)
		if (!seen[j] && s->mask[(size_t)j * k + x->d])
			x->set_s[(size_t)j * k + x->d] = (struct interval){0};
	mem_free(seen);
	return n;
}

/* The n sets on x->d, all others where they can run, on x->rest if possible. */
static void place_window(const struct window_times *x, const uint32_t *set, uint32_t n,
			 uint16_t *device)
{
	const struct session *s = x->s;
	uint32_t k = s->devices.n;
	for (uint32_t i = 0; i < s->model.g->n_sets; i++) {
		const uint8_t *can = &s->mask[(size_t)i * k];
		uint32_t on = x->rest;
		for (uint32_t d = 0; d < k && !can[on]; d++)
			on = d;
		device[i] = (uint16_t)on;
	}
	for (uint32_t i = 0; i < n; i++)
		device[set[i]] = (uint16_t)x->d;
}

/* Time the n sets on x->d for about so many seconds.  -1: they cannot run there together. */
static int time_window(const struct window_times *x, const uint32_t *set, uint32_t n,
		       double seconds, struct err *e)
{
	struct session *s = x->s;
	const struct device_class *c = s->devices.dev[x->d].class;
	uint32_t n_sets = s->model.g->n_sets;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)n_sets + 1);
	bool *there = MEM_NEWN(bool, (size_t)n_sets + 1);
	struct device_times t = {.s = s, .d = x->d, .step_set = x->step_set};
	place_window(x, set, n, device);
	int rc = timed_make(&t.apart, s, device, FUSE_SETS, e);
	t.apart.waits = c->finish != NULL;
	if (rc == 0)
		rc = timed_run(&t.apart, s, true, e);
	double end_s = clock_s() + seconds;
	for (uint32_t r = 0; rc == 0 && r < TIMED_MOST && (r < LEAST_RUNS || clock_s() < end_s);
	     r++)
		rc = timed_sample(&t.apart, s, e);
	for (uint32_t i = 0; i < n; i++)
		there[set[i]] = true;
	if (rc == 0) {
		device_times_sum(&t, there, x->set_s);
		held_pieces_add(x->pieces, &s->planner, &t.apart.plan, x->d, x->step_set);
		held_inner(&s->planner, &t.apart.plan, x->d, x->step_set, x->held);
	}
	device_times_close(&t);
	/* The next ones need the room. */
	prepared_forget(&s->planner.prepared, x->d);
	held_pieces_freed(x->pieces);
	mem_free(there);
	mem_free(device);
	return rc;
}

int window_times_take(const struct window_times *x, uint32_t *n_timed, struct err *why,
		      struct err *e)
{
	uint32_t *set = MEM_NEWN(uint32_t, (size_t)x->s->model.g->n_sets + 1);
	uint32_t n = list_sets(x, set), size = n;
	*n_timed = 0;
	for (uint32_t at = 0; at < n;) {
		size = size < n - at ? size : n - at;
		err_clear(why);
		if (time_window(x, &set[at], size, x->seconds * size / n, why) == 0) {
			*n_timed += size;
			at += size;
		} else if (!executor_alive(x->s->x)) {
			mem_free(set);
			return err_set(e, why->code, "%s", why->msg);
		} else if (size > 1) {
			size = size / 2;
		} else {
			at++; /* too large by itself */
		}
	}
	mem_free(set);
	return 0;
}
