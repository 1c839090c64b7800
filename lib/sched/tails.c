/* tails.c - what comes after a task at least: a lower bound by which a rerun stops early. */
#include <math.h>

#include "sched/engine.h"

/* with_s (k): the least that a task and all after it take on each device; INFINITY: it cannot run
 * there.  Its devices by ascending with_s; returns how many there are. */
static uint32_t devices_by_time(const double *with_s, uint32_t k, uint32_t *device)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < k; d++) {
		uint32_t i = n;

		if (with_s[d] == INFINITY)
			continue;
		for (n++; i > 0 && with_s[device[i - 1]] > with_s[d]; i--)
			device[i] = device[i - 1];
		device[i] = d;
	}
	return n;
}

/* The least of with_s and, for other devices, a copy of this size from dev; devices as
 * devices_by_time has them; no copy takes less than least_copy_s. */
static double least_after(const struct sched_links *l, double least_copy_s, const double *with_s,
			  const uint32_t *device, uint32_t n, uint32_t dev, uint64_t bytes)
{
	double least = with_s[dev];

	for (uint32_t i = 0; i < n && with_s[device[i]] + least_copy_s < least; i++) {
		uint32_t to = device[i];

		if (to != dev && l->latency_s[(size_t)dev * l->k + to] >= 0)
			least = fmin(least, with_s[to] + sched_copy_s(l, dev, to, bytes));
	}
	return least;
}

/* The least that comes after a task on each device: for each reader of what it makes the best
 * device, with the copy to it and what comes after the reader there.  (The optimistic cost table
 * of PEFT: Arabnejad and Barbosa 2014, equation 3, with copies as they are on each link.) */
void tails_find(struct engine *e)
{
	const struct sched_dag *d = e->d;
	const double *least_s = e->c->least_s ? e->c->least_s : e->c->task_s;
	uint32_t k = e->k, *device = MEM_NEWN(uint32_t, k);
	double *with_s = MEM_NEWN(double, k);
	struct sched_least_link link = sched_least_link(&e->c->links);

	/* From the last task to the first: the tail of v is complete, and goes into those of the
	 * tasks that it reads from. */
	for (uint32_t v = d->n; v-- > 0;) {
		const double *own = &e->checkpoints.tail_s[(size_t)e->ready.pos[v] * k];

		for (uint32_t dev = 0; dev < k; dev++) {
			double s = least_s[(size_t)v * k + dev];

			with_s[dev] = s < 0 ? INFINITY : s + own[dev];
		}
		uint32_t n =
			d->in_ptr[v] < d->in_ptr[v + 1] ? devices_by_time(with_s, k, device) : 0;

		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
			uint32_t t = d->use_tensor[d->in_use[i]];
			double *tail =
				&e->checkpoints.tail_s[(size_t)e->ready.pos[d->tensor_task[t]] * k];
			double least_copy_s = sched_least_copy_s(&link, d->tensor_bytes[t]);

			for (uint32_t dev = 0; dev < k; dev++)
				tail[dev] = fmax(tail[dev],
						 least_after(&e->c->links, least_copy_s, with_s,
							     device, n, dev, d->tensor_bytes[t]));
		}
	}
	mem_free(device);
	mem_free(with_s);
}
