/* plan_memory.c - offsets for all tensors of a plan, from their predicted lives, and the
 * waits that make them hold in any order of execution. */
#include "device/plan_build.h"
#include "sched/memplan.h"

#include <stdlib.h>
#include <string.h>

static void keep_view(struct builder *b, uint32_t d, struct devmem *m)
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

static int by_double(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

/* How many of the sorted times are below t (strictly). */
static uint32_t n_below(const double *time, uint32_t n, double t)
{
	uint32_t lo = 0, hi = n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (time[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* A stretch of a device's memory and the value that owns it now. */
struct stretch {
	uint64_t begin, end;
	uint32_t value;
};

/* The task of value v takes over [begin, end): it waits for the last users of what lay there. */
static void take_over(struct builder *b, struct stretch *s, uint32_t *n, uint32_t v, uint64_t begin,
		      uint64_t end)
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
		const struct value *old = &b->value[x.value];
		for (uint32_t r = old->first_reader; r != GRAPH_NONE; r = b->reader[r].next)
			plan_add_wait(b, b->reader[r].task, b->value[v].writer);
		if (old->n_readers == 0)
			plan_add_wait(b, old->writer, b->value[v].writer);
		if (x.end > end)
			tail = (struct stretch){end, x.end, x.value};
		if (x.begin < begin) {
			s[kept++] = (struct stretch){x.begin, begin, x.value};
			at = kept;
		}
	}
	uint32_t add = tail.end > tail.begin ? 2 : 1;
	memmove(s + at + add, s + at, (kept - at) * sizeof *s);
	s[at] = (struct stretch){begin, end, v};
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

static int check_memory(const struct builder *b, uint32_t d, struct err *e)
{
	const struct device *dev = dev_of(b, d);
	uint64_t has = device_memory(dev), needs = b->plan->mem_bytes[d];
	return has == 0 || needs <= has
		       ? 0
		       : err_set(e, ST_RUNTIME, "device '%s' needs %llu bytes and has %llu",
				 dev->name, (unsigned long long)needs, (unsigned long long)has);
}

/* Offsets for all values on device d that need memory of the plan; views of it. */
static int plan_device(struct builder *b, uint32_t d, const double *time, uint32_t n_times,
		       struct err *e)
{
	struct device *dev = dev_of(b, d);
	uint32_t *id = ARENA_NEWN(b->a, uint32_t, b->n_values), n = 0, n_stretch = 0;
	for (uint32_t v = 0; v < b->n_values; v++)
		if (b->value[v].dev == d && b->value[v].writer != GRAPH_NONE)
			id[n++] = v;
	if (n == 0)
		return 0;
	qsort_r(id, n, sizeof *id, by_begin, b->value);
	struct mem_block *block = ARENA_NEWN(b->a, struct mem_block, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct value *v = &b->value[id[i]];
		uint32_t first = n_below(time, n_times, v->begin_s);
		uint32_t last = v->to_end ? n_times : n_below(time, n_times, v->end_s);
		size_t bytes = out_bytes(b, v->out);
		block[i] = (struct mem_block){.bytes = bytes ? bytes : 1, .first = first,
					      .last = last > first ? last - 1 : first};
		if (v->to_end)
			block[i].last = n_times;
	}
	uint64_t peak = memplan_offsets(block, n, dev->align);
	b->plan->mem_bytes[d] += peak;
	if (check_memory(b, d, e) < 0)
		return -1;
	if (dev->class->alloc(dev, peak, &b->plan->base[d], e) < 0)
		return err_prefix(e, "device '%s'", dev->name);
	struct stretch *stretch = ARENA_NEWN(b->a, struct stretch, 2 * (size_t)n + 2);
	for (uint32_t i = 0; i < n; i++) {
		struct value *v = &b->value[id[i]];
		take_over(b, stretch, &n_stretch, id[i], block[i].offset,
			  block[i].offset + block[i].bytes);
		if (dev->class->view(dev, b->plan->base[d], block[i].offset, block[i].bytes,
				     &v->mem, e) < 0)
			return err_prefix(e, "device '%s'", dev->name);
		keep_view(b, d, v->mem);
	}
	return 0;
}

/* Constants that the steps on each device read, each once. */
static void count_constants(struct builder *b)
{
	const struct model *m = b->p->m;
	const struct graph *g = m->g;
	uint32_t n_out = g->out_ptr[g->n];
	uint32_t *seen = ARENA_NEWN(b->a, uint32_t, n_out);
	for (uint32_t d = 0; d < n_devices(b); d++)
		for (uint32_t s = 0; s < m->n_steps; s++) {
			uint32_t v = m->step_node[s];
			for (uint32_t i = g->in_ptr[v]; b->step_dev[s] == d && i < g->in_ptr[v + 1];
			     i++) {
				uint32_t u = g->in_node[i];
				if (u == GRAPH_NONE || !m->constant[u])
					continue;
				uint32_t o = g->out_ptr[u] + g->in_port[i];
				int64_t bytes = tensor_bytes(&m->values.value[o]);
				if (seen[o] != d + 1 && bytes > 0)
					b->plan->mem_bytes[d] += (uint64_t)bytes;
				seen[o] = d + 1;
			}
		}
}

int plan_memory(struct builder *b, struct err *e)
{
	const struct timeline *tl = b->c.tl;
	uint32_t n = b->c.n + tl->n_copies;
	double *time = ARENA_NEWN(b->a, double, n);
	memcpy(time, tl->start_s, b->c.n * sizeof *time);
	memcpy(time + b->c.n, tl->copy_start_s, tl->n_copies * sizeof *time);
	qsort(time, n, sizeof *time, by_double);
	count_constants(b);
	for (uint32_t d = 0; d < n_devices(b); d++)
		if (plan_device(b, d, time, n, e) < 0)
			return -1;
	return 0;
}
