/* decode_features.c - what the policy sees of a task and each device that it could go to.
 *
 * Times are differences to the best device, beside the task's own scale (its mean cost and the
 * copies of what it reads) and beside the span of the whole schedule; shares are of what the task
 * reads, of its co-parents, of its twins.  No feature is the number of a device. */
#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "place/learned/decode_impl.h"
#include "sched/agenda.h"

/* What all devices have in common at this task. */
struct common {
	double own_s;  /* the task's scale */
	double span_s; /* the schedule's */
	double min_end, min_after, min_oct, min_ready, min_start, min_cost;
	double mean_busy, mean_tail;
	double min_unit, min_whole; /* the unit's cost, and its end as one piece */
};

static const double FAR = 8; /* differences beside the span are enlarged by this */

static double tail_s(const struct listsched *l, uint32_t p)
{
	const struct agenda *a = &l->agenda[p];

	return a->n ? a->slot[a->n - 1].end_s : 0;
}

/* Does a consumer of tensor t, other than v, run on p already?  Its copy is there then. */
static bool is_there(const struct listsched *l, uint32_t t, uint32_t v, uint32_t p, uint32_t most)
{
	const struct sched_dag *d = l->d;
	uint32_t end = d->use_ptr[t + 1];

	if (end > d->use_ptr[t] + most)
		end = d->use_ptr[t] + most;
	for (uint32_t u = d->use_ptr[t]; u < end; u++)
		if (d->use_task[u] != v && l->placed[d->use_task[u]] && l->on[d->use_task[u]] == p)
			return true;
	return false;
}

enum { MOST_USES = 16 };

/* The task's inputs, seen from device p. */
static void see_inputs(const struct listsched *l, uint32_t v, uint32_t p, struct option_near *o)
{
	const struct sched_dag *d = l->d;
	const struct sched_links *links = &l->m->costs.links;
	double latest = -1;

	for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
		uint32_t t = d->use_tensor[d->in_use[i]], from = d->tensor_task[t];
		uint32_t on = l->on[from];
		double at = l->end_s[from], copy_s;

		if (at > latest) {
			latest = at;
			o->binds = on == p;
		}
		if (is_there(l, t, v, p, MOST_USES))
			o->near_siblings += 1;
		if (on == p) {
			o->near_in += 1;
			o->near_bytes += (double)d->tensor_bytes[t];
		} else if (links->latency_s[(size_t)on * l->k + p] >= 0) {
			copy_s = sched_copy_s(links, on, p, d->tensor_bytes[t]);
			at += copy_s;
			if (!is_there(l, t, v, p, MOST_USES)) {
				o->copy_s += copy_s;
				o->n_copies++;
			}
		}
		o->plain_ready_s = max2(o->plain_ready_s, at);
	}
}

/* Where what its children also read is made: shares by device, of the children's other inputs. */
static uint32_t see_parents(const struct decode_state *s, double *share)
{
	const struct listsched *l = s->l;
	const struct sched_dag *d = l->d;
	uint32_t n = 0;

	memset(share, 0, l->k * sizeof(*share));
	for (uint32_t c = 0; c < s->n_children; c++) {
		uint32_t w = s->child[c], end = d->in_ptr[w + 1];

		if (end > d->in_ptr[w] + MOST_USES)
			end = d->in_ptr[w] + MOST_USES;
		for (uint32_t i = d->in_ptr[w]; i < end; i++) {
			uint32_t from = d->tensor_task[d->use_tensor[d->in_use[i]]];

			if (!l->placed[from])
				continue;
			share[l->on[from]]++;
			n++;
		}
	}
	return n;
}

/* Mean seconds of a copy of v's largest tensor from p to other devices. */
static double out_copy_s(const struct decode_state *s, uint32_t v, uint32_t p)
{
	const struct sched_links *links = &s->l->m->costs.links;
	const struct sched_dag *d = s->l->d;
	uint64_t bytes = 0;
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++)
		bytes = d->tensor_bytes[t] > bytes ? d->tensor_bytes[t] : bytes;
	for (uint32_t q = 0; q < s->l->k; q++)
		if (q != p && links->latency_s[(size_t)p * s->l->k + q] >= 0) {
			sum += sched_copy_s(links, p, q, bytes);
			n++;
		}
	return n ? sum / n : 0;
}

static double unit_cost_s(const struct decode_state *s, uint32_t v, uint32_t p)
{
	return s->l->u.cost_s[(size_t)decode_unit(s, v) * s->l->k + p];
}

/* The end of all of v's unit, if it ran as one behind what the device has. */
static double whole_end_s(const struct decode_state *s, uint32_t v, const struct option *x,
			  const struct option_near *o)
{
	return max2(o->plain_ready_s, min2(o->tail_s, x->start_s)) + unit_cost_s(s, v, x->dev);
}

static struct common compare(const struct decode_state *s, uint32_t v, const struct option_near *o)
{
	const struct cost_view *view = s->view;
	struct common c = {.own_s = view->mean_s[v] + view->in_s[v] + 0.01 * view->task_s,
			   .span_s = view->span_s,
			   .min_end = INFINITY,
			   .min_after = INFINITY,
			   .min_oct = INFINITY,
			   .min_ready = INFINITY,
			   .min_start = INFINITY,
			   .min_cost = INFINITY,
			   .min_unit = INFINITY,
			   .min_whole = INFINITY};

	for (uint32_t i = 0; i < s->n_options; i++) {
		const struct option *x = &s->option[i];

		c.min_end = min2(c.min_end, x->end_s);
		c.min_after = min2(c.min_after, x->after_s);
		c.min_oct = min2(c.min_oct, x->end_s + view->oct[(size_t)v * view->k + x->dev]);
		c.min_ready = min2(c.min_ready, o[i].plain_ready_s);
		c.min_start = min2(c.min_start, x->start_s);
		c.min_cost = min2(c.min_cost, x->cost_s);
		c.min_unit = min2(c.min_unit, unit_cost_s(s, v, x->dev));
		c.min_whole = min2(c.min_whole, whole_end_s(s, v, x, &o[i]));
		c.mean_busy += s->busy_s[x->dev] / s->n_options;
		c.mean_tail += o[i].tail_s / s->n_options;
	}
	return c;
}

/* In the order of write_row. */
const char decode_feature_kinds[] = "cccccccccccccccssscsssc-ccccssccc--csscccccccccs";

static void write_row(const struct decode_state *s, uint32_t v, const struct option *x,
		      const struct option_near *o, const struct common *c, double parents, float *f)
{
	const struct cost_view *view = s->view;
	const struct listsched *l = s->l;
	const struct sched_dag *d = l->d;
	uint32_t p = x->dev, k = view->k, class = view->twins[v];
	uint32_t n_in = d->in_ptr[v + 1] - d->in_ptr[v], twins = 0;
	uint32_t n_out = d->use_ptr[d->out_ptr[v + 1]] - d->use_ptr[d->out_ptr[v]];
	double oct = view->oct[(size_t)v * k + p], own = c->own_s, span = c->span_s / FAR;
	double in_bytes = 0, in = n_in ? n_in : 1;
	const uint32_t *twin_on = s->twin_on + (size_t) class * k;

	for (uint32_t q = 0; q < k; q++)
		twins += twin_on[q];
	for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++)
		in_bytes += (double)d->tensor_bytes[d->use_tensor[d->in_use[i]]];
	const double row[DECODE_FEATURES] = {
		squash((x->end_s - c->min_end) / own),
		squash((x->end_s - c->min_end) / span),
		squash((x->after_s - c->min_after) / own),
		squash((x->after_s - c->min_after) / span),
		squash((x->end_s + oct - c->min_oct) / own),
		squash((x->end_s + oct - c->min_oct) / span),
		squash((x->start_s - c->min_start) / own),
		squash((x->cost_s - c->min_cost) / own),
		squash(log((x->cost_s + 0.01 * own) / (view->mean_s[v] + 0.01 * own))),
		squash((o->plain_ready_s - c->min_ready) / own),
		squash((x->start_s - o->plain_ready_s) / own),
		squash((o->tail_s - o->plain_ready_s) / own),
		squash((o->tail_s - c->mean_tail) / span),
		squash(s->busy_s[p] / c->span_s),
		squash((s->busy_s[p] - c->mean_busy) / span),
		o->near_in / in,
		in_bytes > 0 ? o->near_bytes / in_bytes : 0,
		o->binds,
		squash(o->copy_s / own),
		o->n_copies / in,
		parents,
		o->near_siblings / in,
		squash(2 * view->speed[p]),
		1.0 / k,
		view->rank[v] / view->top_s,
		squash(view->mean_s[v] / view->task_s),
		squash(view->out_s[v] / (view->mean_s[v] + 0.01 * view->task_s)),
		squash(view->in_s[v] / (view->mean_s[v] + 0.01 * view->task_s)),
		squash(n_out / 4.0),
		squash(n_in / 4.0),
		squash((x->end_s + view->rank[v] - view->mean_s[v] - s->horizon_s) / span),
		squash((x->end_s + oct - s->horizon_oct_s) / span),
		squash((x->after_s - s->horizon_s) / span),
		s->busy_s[p] > 0,
		l->mem_limit[p] ? (double)l->held.bytes[p] / (double)l->mem_limit[p] : 0,
		squash(o->out_s / own),
		twins ? (double)twin_on[p] / twins : 0,
		s->twin_last[class] == p,
		squash((x->start_s - o->plain_ready_s) / span),
		x->end_s <= c->min_end,
		x->after_s <= c->min_after,
		x->end_s + oct <= c->min_oct,
		(view->down[v] + view->rank[v]) / view->top_s,
		squash(view->task_s * view->n / k / view->top_s),
		squash((unit_cost_s(s, v, p) - c->min_unit) / own),
		squash((whole_end_s(s, v, x, o) - c->min_whole) / own),
		squash((whole_end_s(s, v, x, o) - c->min_whole) / span),
		log2(l->u.ptr[decode_unit(s, v) + 1] - l->u.ptr[decode_unit(s, v)]) / 8,
	};

	write_features_row(f, row, DECODE_FEATURES);
}

void decode_features(struct decode_state *s, uint32_t v)
{
	uint32_t n = s->n_options;

	memset(s->near, 0, n * sizeof(*s->near));
	for (uint32_t i = 0; i < n; i++) {
		struct option_near *o = &s->near[i];
		uint32_t p = s->option[i].dev;

		o->tail_s = tail_s(s->l, p);
		see_inputs(s->l, v, p, o);
		o->out_s = out_copy_s(s, v, p);
	}
	uint32_t n_parents = see_parents(s, s->share);
	struct common c = compare(s, v, s->near);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = s->option[i].dev;

		write_row(s, v, &s->option[i], &s->near[i], &c,
			  n_parents ? s->share[p] / n_parents : 0,
			  s->feature + (size_t)i * DECODE_FEATURES);
	}
}
