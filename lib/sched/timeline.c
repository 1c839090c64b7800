/* timeline.c - schedules of placements: the engine, and the order that it follows. */
#include <string.h>

#include "sched/improve.h"
#include "sched/rerun.h"
#include "sched/run_setup.h"
#include "sched/timeline.h"

struct timeliner {
	struct engine engine;
	double *rank;              /* (n) upward ranks */
	struct improver *improver; /* SCHED_IMPROVED */
	struct timeline t;
};

static void new_results(struct timeline *t, const struct sched_dag *d, uint32_t k,
			bool with_schedule)
{
	t->busy_s = MEM_NEWN(double, k);
	t->peak_bytes = MEM_NEWN(uint64_t, k);
	if (!with_schedule)
		return;
	t->start_s = MEM_NEWN(double, d->n);
	t->end_s = MEM_NEWN(double, d->n);
	t->copy_start_s = MEM_NEWN(double, d->n_uses);
	t->copy_end_s = MEM_NEWN(double, d->n_uses);
	t->copy = MEM_NEWN(struct sched_copy, d->n_uses);
}

struct timeliner *timeliner_new(const struct sched_dag *d, const struct sched_costs *c,
				bool keep_schedule)
{
	struct timeliner *x = MEM_NEW(struct timeliner);
	double *task_s = MEM_NEWN(double, d->n), *use_s = MEM_NEWN(double, d->n_uses);
	bool improves = c->policy == SCHED_IMPROVED || c->policy == SCHED_FREE;
	bool with_schedule = keep_schedule || improves;

	x->rank = MEM_NEWN(double, d->n);
	sched_mean_costs(d, c->task_s, &c->links, task_s, use_s);
	sched_upward_rank(d, task_s, use_s, x->rank);
	mem_free(task_s);
	mem_free(use_s);
	new_results(&x->t, d, c->links.k, with_schedule);
	engine_init(&x->engine, d, c, &x->t, with_schedule);
	engine_order(&x->engine, x->rank, NULL);
	x->t.rank = x->rank;
	if (improves)
		x->improver = improver_new(d, c);
	return x;
}

void timeliner_free(struct timeliner *x)
{
	if (!x)
		return;
	void *owned[] = {x->t.busy_s,       x->t.peak_bytes, x->t.start_s, x->t.end_s,
			 x->t.copy_start_s, x->t.copy_end_s, x->t.copy,    x->rank};
	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
	engine_release(&x->engine);
	improver_free(x->improver);
	mem_free(x);
}

/* From the next run on: tasks by descending rank, with delays delayed_by (sched.h). */
static void set_order(struct timeliner *x, const double *rank, const uint32_t *delayed_by)
{
	if (x->t.rank == rank)
		return;
	engine_order(&x->engine, rank, delayed_by);
	x->t.rank = rank;
	x->t.delayed_by = delayed_by;
}

enum timeline_status timeline_run(struct timeliner *x, const uint16_t *device,
				  const struct timeline **out)
{
	*out = &x->t;
	set_order(x, x->rank, NULL);
	enum timeline_status s = engine_run(&x->engine, device, false);
	if (s != TIMELINE_OK || !x->improver || !improver_run(x->improver, device, &x->t))
		return s;
	double by_rank = x->t.makespan_s;

	set_order(x, improver_rank(x->improver), improver_delays(x->improver));
	s = engine_run(&x->engine, device, false);
	/* With copies that wait for each other it may be worse after all. */
	if (s == TIMELINE_OK && x->t.makespan_s < by_rank)
		return s;
	set_order(x, x->rank, NULL);
	return engine_run(&x->engine, device, false);
}

enum timeline_status timeline_run_in(struct timeliner *x, const uint16_t *device,
				     const double *rank, const uint32_t *delayed_by,
				     const struct timeline **out)
{
	*out = &x->t;
	x->t.rank = NULL; /* what lies at these addresses may have changed */
	set_order(x, rank, delayed_by);
	return engine_run(&x->engine, device, false);
}

enum timeline_status timeline_run_base(struct timeliner *x, const uint16_t *device,
				       const struct timeline **out, bool *is_base)
{
	*out = &x->t;
	*is_base = false;
	if (x->improver)
		return timeline_run(x, device, out);
	set_order(x, x->rank, NULL);
	enum timeline_status s = engine_run(&x->engine, device, true);

	*is_base = x->engine.checkpoints.n > 0;
	return s;
}

enum timeline_status timeline_rerun(struct timeliner *x, const uint16_t *device,
				    const uint32_t *task, uint32_t n, double limit_s,
				    const struct timeline **out)
{
	*out = &x->t;
	return engine_rerun(&x->engine, device, task, n, limit_s);
}

void timeline_rebase(struct timeliner *x)
{
	engine_rebase(&x->engine);
}
