/* exact_partial.c - bounds of partial placements. */
#include <math.h>
#include <string.h>

#include "place/exact/exact_partial.h"

/* Of all seconds: what may be rounding instead of work. */
static const double NOTHING = 1e-9;

void partial_init(struct partial_placement *b, const struct bound_view *v, const double *rest_s,
		  struct arena *a)
{
	uint32_t n_units = v->u->n;

	*b = (struct partial_placement){.v = v, .rest_s = rest_s};
	if (v->m->rules != PLACE_SCHEDULE)
		b->dnn = dnnpart_new(v->m);
	b->task_dev = ARENA_NEWN(a, uint16_t, v->n);
	b->unit_dev = ARENA_NEWN(a, uint16_t, n_units);
	b->used = ARENA_NEWN(a, uint32_t, v->k);
	b->mem = ARENA_NEWN(a, uint64_t, v->k);
	b->load_s = ARENA_NEWN(a, double, v->k);
	b->end_s = ARENA_NEWN(a, double, v->n);
	b->path_s = ARENA_NEWN(a, double, v->n);
	b->ahead_s = ARENA_NEWN(a, double, (size_t)v->n * v->k);
	b->open_s = ARENA_NEWN(a, double, n_units);
	b->least_s = ARENA_NEWN(a, double, n_units);
	b->open_j = ARENA_NEWN(a, double, n_units);
	for (uint32_t i = 0; i < n_units; i++) {
		b->unit_dev[i] = UINT16_MAX;
		b->open_s[i] = b->open_j[i] = b->least_s[i] = INFINITY;
		for (uint32_t d = 0; d < v->k; d++) {
			double s = v->unit_s[(size_t)i * v->k + d];

			if (s == INFINITY)
				continue;
			b->open_s[i] = fmin(b->open_s[i], v->share[d] * s);
			b->least_s[i] = fmin(b->least_s[i], s);
			b->open_j[i] = fmin(b->open_j[i], bound_unit_j(v, i, d));
		}
		b->sum_s += b->open_s[i];
		b->busy_s += b->least_s[i];
		b->sum_j += b->open_j[i];
	}
	for (uint32_t d = 0; d < v->k; d++)
		b->idle_w += v->m->power.idle_watts ? v->m->power.idle_watts[d] : 0;
}

void partial_release(struct partial_placement *b)
{
	dnnpart_free(b->dnn);
}

struct partial_undo partial_decide_unit(struct partial_placement *b, uint32_t i, uint16_t dev)
{
	const struct bound_view *v = b->v;
	struct partial_undo was = {b->load_s[dev], b->sum_s, b->busy_s, b->sum_j};
	double s = v->unit_s[(size_t)i * v->k + dev];

	b->unit_dev[i] = dev;
	b->used[dev]++;
	b->mem[dev] += v->u->mem_on[(size_t)i * v->k + dev];
	b->load_s[dev] += s;
	b->sum_s += v->share[dev] * s - b->open_s[i];
	b->busy_s += s - b->least_s[i];
	b->sum_j += bound_unit_j(v, i, dev) - b->open_j[i];
	return was;
}

void partial_undecide_unit(struct partial_placement *b, uint32_t i, const struct partial_undo *was)
{
	uint16_t dev = b->unit_dev[i];

	b->unit_dev[i] = UINT16_MAX;
	b->used[dev]--;
	b->mem[dev] -= b->v->u->mem_on[(size_t)i * b->v->k + dev];
	b->load_s[dev] = was->load_s;
	b->sum_s = was->sum_s;
	b->busy_s = was->busy_s;
	b->sum_j = was->sum_j;
}

/* The earliest end of task t where it is, after tasks that are decided (schedules). */
static double earliest_end_s(const struct partial_placement *b, uint32_t t)
{
	const struct bound_view *v = b->v;
	const struct sched_links *l = &v->m->costs.links;
	uint16_t dev = b->task_dev[t];
	double ready = 0;

	for (uint32_t i = v->d->in_ptr[t]; i < v->d->in_ptr[t + 1]; i++) {
		uint32_t x = v->d->use_tensor[v->d->in_use[i]], from = v->d->tensor_task[x];
		double s = b->end_s[from];

		if (b->task_dev[from] != dev) {
			if (l->latency_s[(size_t)b->task_dev[from] * v->k + dev] < 0)
				return INFINITY;
			s += sched_copy_s(l, b->task_dev[from], dev, v->d->tensor_bytes[x]);
		}
		ready = fmax(ready, s);
	}
	return ready + place_task_s(v->m, t, dev, b->task_dev);
}

void partial_decide_task(struct partial_placement *b, uint32_t t)
{
	size_t row = (size_t)t * b->v->k;

	b->task_dev[t] = b->unit_dev[b->v->unit_of[t]];
	if (b->dnn)
		return;
	b->end_s[t] = earliest_end_s(b, t);
	b->path_s[t] =
		fmax(t ? b->path_s[t - 1] : 0, b->end_s[t] + b->rest_s[row + b->task_dev[t]]);
}

/* The latency of a makespan that is at least so much (bound_slowed.c), where it is certain that several devices compute. */
static double slowed_s(const struct partial_placement *b, double makespan_s)
{
	const struct place_model *m = b->v->m;
	double s = m->slowdown;
	uint32_t in_use = 0;

	if (m->slowdown == 0 && m->multi_slowdown == 0)
		return makespan_s;
	for (uint32_t d = 0; d < b->v->k; d++)
		in_use += b->load_s[d] > NOTHING * b->busy_s;
	if (in_use < 2)
		return makespan_s;
	return (1 - 1e-9) * (1 + PLACE_BESIDE_AT_ONCE * m->multi_slowdown) *
	       fmax(makespan_s, (1 - s) * makespan_s + s * b->busy_s);
}

/* The value of latency, largest load and what is decided; all of them at least so much. */
static double value_of(const struct partial_placement *b, double lat_s, double period_s)
{
	const struct place_objective *o = &b->v->m->objective;
	double sum = o->latency * lat_s + o->throughput * period_s;
	uint64_t mem = 0;

	if (b->dnn || place_objective_is_latency(o))
		return lat_s;
	if (o->limit_s > 0)
		return place_objective_value(o, lat_s, period_s, 0, 0);
	if (o->energy > 0)
		sum += o->energy * (b->sum_j + b->idle_w * lat_s);
	for (uint32_t d = 0; d < b->v->k; d++)
		mem = b->mem[d] > mem ? b->mem[d] : mem;
	return sum + o->memory * (double)mem;
}

static double largest_load_s(const struct partial_placement *b, const double *load_s)
{
	double most = b->sum_s;

	for (uint32_t d = 0; d < b->v->k; d++)
		most = fmax(most, load_s[d]);
	return most;
}

/* The weighted load with transfers of what is decided. */
static double dnnpart_load_s(const struct partial_placement *b, const double *load_s)
{
	double most = 0, sum = b->sum_s;

	for (uint32_t d = 0; d < b->v->k; d++) {
		sum += b->v->share[d] * fmax(0, load_s[d] - b->load_s[d]);
		most = fmax(most, load_s[d]);
	}
	return fmax(most, sum);
}

double partial_bound_near(struct partial_placement *b, uint32_t n)
{
	double most = 0;

	if (!b->dnn) {
		double load = largest_load_s(b, b->load_s);

		return value_of(b, slowed_s(b, fmax(n ? b->path_s[n - 1] : 0, load)), load);
	}
	const struct dnnpart_result *p = dnnpart_evaluate_prefix(b->dnn, b->task_dev, n, b->end_s);

	if (p->circle)
		return INFINITY;
	if (b->v->m->rules == PLACE_DNNPART_THROUGHPUT) {
		/* Only whole units are in load_s; tasks of one that are still to come have no
		 * transfers yet. */
		return dnnpart_load_s(b, p->load_s);
	}
	for (uint32_t t = 0; t < n; t++)
		most = fmax(most, b->end_s[t]);
	return most;
}

/* Paths through open tasks, on devices that are open. */
static double schedule_bound_far(struct partial_placement *b, uint32_t n)
{
	const struct bound_view *v = b->v;
	double longest = n ? b->path_s[n - 1] : 0, load = largest_load_s(b, b->load_s);

	for (uint32_t t = 0; t < n; t++)
		for (uint32_t d = 0; d < v->k; d++)
			b->ahead_s[(size_t)t * v->k + d] =
				d == b->task_dev[t] ? b->end_s[t] : INFINITY;
	bound_path_forwards(v, n, b->unit_dev, b->ahead_s);
	for (uint32_t t = n; t < v->n; t++) {
		double least = INFINITY;

		for (uint32_t d = 0; d < v->k; d++)
			least = fmin(least, b->ahead_s[(size_t)t * v->k + d] +
						    b->rest_s[(size_t)t * v->k + d]);
		longest = fmax(longest, least);
	}
	return value_of(b, slowed_s(b, fmax(longest, load)), load);
}

/* dnnpart-latency: paths on from the pieces as they are.  ahead_s (n,2): before what a task
 * makes can be read outside of its piece; before the work in its piece up to it has ended. */
static double splits_bound_far(struct partial_placement *b, uint32_t n)
{
	const struct bound_view *v = b->v;
	const struct sched_dag *d = v->d;
	double longest = 0;

	for (uint32_t t = 0; t < v->n; t++) {
		uint16_t fixed = t < n ? b->task_dev[t] : b->unit_dev[v->unit_of[t]];
		double *ahead = b->ahead_s + (size_t)t * v->k, cpu = INFINITY, acc = INFINITY;
		double ready = 0, inside = 0;
		double move = v->m->move_s[v->m->tasks.task_set[t]];
		bool read_early = false, read = d->out_ptr[t] < d->out_ptr[t + 1];

		for (uint32_t x = d->out_ptr[t]; x < d->out_ptr[t + 1]; x++)
			read_early |=
				d->use_ptr[x] < d->use_ptr[x + 1] && d->use_task[d->use_ptr[x]] < n;
		if (t < n) {
			bool on_cpu = dnnpart_is_cpu(v->m, fixed);

			ahead[0] = b->end_s[t] + (on_cpu || read_early || !read ? 0 : move);
			ahead[1] = on_cpu ? INFINITY : b->end_s[t];
			continue;
		}
		for (uint32_t dev = 0; dev < v->k; dev++) {
			double *s = dnnpart_is_cpu(v->m, dev) ? &cpu : &acc;

			if (fixed == UINT16_MAX || fixed == dev)
				*s = fmin(*s, v->task_s[(size_t)t * v->k + dev]);
		}
		for (uint32_t i = d->in_ptr[t]; i < d->in_ptr[t + 1]; i++) {
			uint32_t p = d->tensor_task[d->use_tensor[d->in_use[i]]];
			const double *from = b->ahead_s + (size_t)p * v->k;

			ready = fmax(ready, from[0]);
			inside =
				fmax(inside, fmin(from[1],
						  from[0] + v->m->move_s[v->m->tasks.task_set[p]]));
		}
		ahead[1] = inside + acc;
		ahead[0] = fmin(ready + cpu, ahead[1] + (read ? move : 0));
		longest = fmax(longest, fmin(ready + cpu, ahead[1]));
	}
	return longest;
}

double partial_bound_far(struct partial_placement *b, uint32_t n)
{
	if (!b->dnn)
		return schedule_bound_far(b, n);
	/* Two columns are what pieces need. */
	return b->v->m->rules == PLACE_DNNPART_LATENCY && b->v->k > 1 ? splits_bound_far(b, n) : 0;
}
