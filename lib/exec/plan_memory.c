/* plan_memory.c - offsets for all tensors of a plan, from their predicted lives, and the
 * waits that make them hold in any order of execution.  Values that are written over an input
 * (in place) share its block. */
#include "exec/plan_build.h"
#include "base/ascending.h"
#include "sched/memplan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void plan_keep_view(struct builder *b, uint32_t d, struct devmem *m)
{
	struct plan *pl = b->plan;
	size_t cap = b->cap_views;
	pl->view = mem_grow(pl->view, &cap, (size_t)pl->n_views + 1, sizeof *pl->view);
	cap = b->cap_views;
	pl->view_dev = mem_grow(pl->view_dev, &cap, (size_t)pl->n_views + 1, sizeof *pl->view_dev);
	b->cap_views = cap;
	pl->view[pl->n_views] = m;
	pl->view_dev[pl->n_views++] = d;
}

/* How many of the sorted times are below t (strictly). */
static uint32_t n_below(const double *time, uint32_t n, double t)
{
	uint32_t lo = 0, hi = n;
	BISECT(lo, hi, mid, time[mid] < t)
	return lo;
}

/* ---- who lay there before ----
 *
 * Values come in the order in which they begin.  Stretches, ascending and without overlap, say whose
 * users must have ended before memory is written again.  A value that takes over [begin, end) cuts them:
 *
 *	before   |--- a ---|-- b --|     |--- c ---|
 *	value          [=== v ===========]
 *	after    |- a -|------- v -------|--- c ---|     v waits for the users of a and of b
 *
 * v's task cannot run before they have read, whatever order comes true.  A stretch that v covers
 * only in part keeps its rest on either side, so there are at most two more stretches a value. */

/* A stretch of a device's memory and the value whose users its next owner waits for. */
struct stretch {
	uint64_t begin, end;
	uint32_t value;
};

/* Task `to` waits for the last users of value v. */
static void wait_for_users(struct builder *b, uint32_t v, uint32_t to)
{
	const struct value *old = &b->value[v];
	for (uint32_t r = old->first_reader; r != GRAPH_NONE; r = b->reader[r].next)
		if (b->reader[r].task != to)
			plan_add_wait(b, b->reader[r].task, to);
	if (old->n_readers == 0)
		plan_add_wait(b, old->writer, to);
}

/* The task of value v takes over [begin, end): it waits for the last users of what lay there.
 * `owner` is whose users later owners wait for: v, or the last value written over it. */
static void take_over(struct builder *b, struct stretch *s, uint32_t *n, uint32_t v, uint32_t owner,
		      uint64_t begin, uint64_t end)
{
	uint32_t kept = 0, at = 0;
	struct stretch tail = {0, 0, 0};
	for (uint32_t i = 0; i < *n; i++) {
		struct stretch x = s[i];
		if (x.end <= begin || x.begin >= end) {
			s[kept++] = x;
			at = x.end <= begin ? kept : at;
			continue;
		}
		wait_for_users(b, x.value, b->value[v].writer);
		if (x.end > end)
			tail = (struct stretch){end, x.end, x.value};
		if (x.begin < begin) {
			s[kept++] = (struct stretch){x.begin, begin, x.value};
			at = kept;
		}
	}
	uint32_t add = tail.end > tail.begin ? 2 : 1;
	memmove(s + at + add, s + at, (kept - at) * sizeof *s);
	s[at] = (struct stretch){begin, end, owner};
	if (add == 2)
		s[at + 1] = tail;
	*n = kept + add;
}

static int by_begin(const void *pa, const void *pb, void *values)
{
	const struct value *v = values;
	const struct value *a = &v[*(const uint32_t *)pa], *b = &v[*(const uint32_t *)pb];
	if (a->begin_s != b->begin_s)
		return a->begin_s < b->begin_s ? -1 : 1;
	return (a > b) - (a < b);
}

/* ---- lives ---- */

/* For how long after its predicted end a value's memory is left alone where several devices work:
 * what takes it over waits for its last readers, and a device that runs late would hold up
 * others through memory that could as well be elsewhere. */
static double slack_s(const struct builder *b)
{
	uint32_t n = 0;
	if (b->p->tight)
		return 0;
	for (uint32_t d = 0; d < n_devices(b); d++)
		n += b->c.tl->busy_s[d] > 0;
	return n > 1 ? fmin(0.1 * b->c.tl->makespan_s, 1e-3) : 0;
}

/* May group i write over value v, which it reads?  All other readers are done by then. */
static bool may_overwrite(const struct builder *b, uint32_t i, uint32_t v, double slack)
{
	const struct value *x = &b->value[v];
	if (x->writer == GRAPH_NONE || x->to_end || x->over != GRAPH_NONE ||
	    x->dev != b->c.group[i].dev)
		return false;
	for (uint32_t r = x->first_reader; r != GRAPH_NONE; r = b->reader[r].next) {
		const struct reader *y = &b->reader[r];
		double late = b->plan->task[y->task].dev == x->dev ? 0 : slack;
		if (y->task != i && y->end_s + late > b->c.tl->start_s[i])
			return false;
	}
	return true;
}

/* Outputs that are written over an input of their step. */
static void place_over_inputs(struct builder *b, double slack)
{
	for (uint32_t i = 0; i < b->c.n; i++) {
		const struct fusion_group *g = &b->c.group[i];
		struct device *d = dev_of(b, g->dev);
		for (uint32_t o = 0; d->class->in_place && o < g->n_out; o++) {
			uint32_t w = *value_at(b, g->out[o], g->dev);
			for (uint32_t j = 0; j < g->n_in; j++) {
				uint32_t v = *value_at(b, g->in[j], g->dev);
				if (out_bytes(b, g->in[j]) != out_bytes(b, g->out[o]) ||
				    !may_overwrite(b, i, v, slack) ||
				    !d->class->in_place(d, b->plan->used[i]->step, j, o))
					continue;
				b->value[v].over = w;
				b->value[w].is_over = true;
				wait_for_users(b, v, i);
				break;
			}
		}
	}
}

/* The last value that is written over v. */
static uint32_t last_over(const struct builder *b, uint32_t v)
{
	while (b->value[v].over != GRAPH_NONE)
		v = b->value[v].over;
	return v;
}

/* ---- offsets ---- */

/* Blocks of the n values id, and their offsets; the bytes of all. */
static uint64_t lay_out(const struct builder *b, const uint32_t *id, uint32_t n, const double *time,
			uint32_t n_times, double slack, struct mem_block *block)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct value *v = &b->value[id[i]], *end = &b->value[last_over(b, id[i])];
		uint32_t first = n_below(time, n_times, v->begin_s);
		uint32_t last = n_below(time, n_times, end->end_s + slack);
		size_t bytes = out_bytes(b, v->out);
		block[i] = (struct mem_block){.bytes = bytes ? bytes : 1,
					      .first = first,
					      .last = last > first ? last - 1 : first};
		if (end->to_end)
			block[i].last = n_times;
	}
	return memplan_offsets(block, n, dev_of(b, b->value[id[0]].dev)->align);
}

/* The values on device d that have memory of their own there, in the order in which they begin. */
static uint32_t list_values(const struct builder *b, uint32_t d, uint32_t *id)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < b->n_values; v++)
		if (b->value[v].dev == d && b->value[v].writer != GRAPH_NONE &&
		    !b->value[v].is_over)
			id[n++] = v;
	if (n > 1)
		qsort_r(id, n, sizeof *id, by_begin, b->value);
	return n;
}

/* Are all devices within their memory?  Where all values together would be, nothing is laid out. */
static bool all_fit(struct builder *b, const double *time, uint32_t n_times, double slack)
{
	uint32_t *id = ARENA_NEWN(b->a, uint32_t, b->n_values);
	struct mem_block *block = ARENA_NEWN(b->a, struct mem_block, b->n_values);
	for (uint32_t d = 0; d < n_devices(b); d++) {
		uint64_t has = device_memory(dev_of(b, d)), sum = 0;
		uint64_t held = b->plan->mem_bytes[d] + plan_others_bytes(b, d);
		uint32_t n = list_values(b, d, id);
		if (n > 0 && dev_of(b, d)->class->scratch)
			held += dev_of(b, d)->class->scratch(dev_of(b, d));
		for (uint32_t i = 0; i < n; i++)
			sum += out_bytes(b, b->value[id[i]].out) + dev_of(b, d)->align;
		if (n > 0 && has > 0 && held + sum > has &&
		    held + lay_out(b, id, n, time, n_times, slack, block) > has)
			return false;
	}
	return true;
}

/* Memory for the values on device d; views of it. */
static int plan_device(struct builder *b, uint32_t d, const double *time, uint32_t n_times,
		       double slack, struct err *e)
{
	struct device *dev = dev_of(b, d);
	uint32_t *id = ARENA_NEWN(b->a, uint32_t, b->n_values), n_stretch = 0;
	uint32_t n = list_values(b, d, id);
	if (n == 0)
		return plan_fits(b, d, 0, e);
	struct mem_block *block = ARENA_NEWN(b->a, struct mem_block, n);
	uint64_t peak = lay_out(b, id, n, time, n_times, slack, block);
	if (plan_fits(b, d, peak, e) < 0)
		return -1;
	b->plan->pool[d] = pool_take(&b->p->request[b->p->at_request].pool[d], dev, peak, e);
	if (!b->plan->pool[d])
		return err_prefix(e, "device '%s'", dev->name);
	struct stretch *stretch = ARENA_NEWN(b->a, struct stretch, 2 * (size_t)n + 2);
	for (uint32_t i = 0; i < n; i++) {
		struct devmem *m;
		take_over(b, stretch, &n_stretch, id[i], last_over(b, id[i]), block[i].offset,
			  block[i].offset + block[i].bytes);
		if (dev->class->view(dev, b->plan->pool[d]->mem, block[i].offset, block[i].bytes,
				     &m, e) < 0)
			return err_prefix(e, "device '%s'", dev->name);
		plan_keep_view(b, d, m);
		for (uint32_t v = id[i]; v != GRAPH_NONE; v = b->value[v].over)
			b->value[v].mem = m;
	}
	return 0;
}

int plan_memory(struct builder *b, struct err *e)
{
	const struct timeline *tl = b->c.tl;
	uint32_t n = b->c.n + tl->n_copies;
	double *time = ARENA_NEWN(b->a, double, n), slack = slack_s(b);
	size_t n_waits = b->n_waits;
	memcpy(time, tl->start_s, b->c.n * sizeof *time);
	memcpy(time + b->c.n, tl->copy_start_s, tl->n_copies * sizeof *time);
	qsort(time, n, sizeof *time, ascending_real);
	plan_count_steps(b);
	place_over_inputs(b, slack);
	if (slack > 0 && !all_fit(b, time, n, slack)) {
		/* Once more, with as little as possible. */
		for (uint32_t v = 0; v < b->n_values; v++) {
			b->value[v].over = GRAPH_NONE;
			b->value[v].is_over = false;
		}
		b->n_waits = n_waits;
		slack = 0;
		place_over_inputs(b, slack);
	}
	for (uint32_t d = 0; d < n_devices(b); d++)
		if (plan_device(b, d, time, n, slack, e) < 0)
			return -1;
	return 0;
}
