/* patch_effect.c - what a move would do (patch_effect.h). */
#include "base/ascending.h"
#include "place/learned/patch_effect.h"

#include <math.h>
#include <stdlib.h>

#include "base/extremes.h"

enum { MOST_LOOKS = 48 }; /* tasks of a device that are looked at for a gap */

static int by_start(const void *pa, const void *pb, void *arg)
{
	const struct timeline *t = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (t->start_s[a] != t->start_s[b])
		return t->start_s[a] < t->start_s[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static bool in_patch(const struct patcher *p, uint32_t v)
{
	return p->mark[p->s->u.of_set[p->x->view->m->tasks.task_set[v]]] == p->step;
}

/* Where task v would be. */
static uint16_t then_on(const struct patcher *p, uint32_t v)
{
	uint32_t unit = p->s->u.of_set[p->x->view->m->tasks.task_set[v]];

	return p->mark[unit] == p->step ? p->goes[unit] : p->x->on[v];
}

static uint32_t list_tasks(struct patcher *p, const struct patch *y)
{
	const struct incumbent_view *x = p->x;
	uint32_t n = 0;

	p->step++;
	for (uint32_t i = 0; i < y->n; i++) {
		p->mark[y->unit[i]] = p->step;
		p->goes[y->unit[i]] = patch_target(y, i);
		for (uint32_t j = x->unit_ptr[y->unit[i]]; j < x->unit_ptr[y->unit[i] + 1]; j++)
			p->task[n++] = x->unit_task[j];
	}
	if (n > 1)
		qsort_r(p->task, n, sizeof(*p->task), by_start, (void *)(uintptr_t)x->t);
	return n;
}

/* The first task of device d that ends after s: its place in dev_task. */
static uint32_t first_after(const struct incumbent_view *x, uint32_t d, double s)
{
	uint32_t lo = x->dev_ptr[d], hi = x->dev_ptr[d + 1];

	BISECT(lo, hi, mid, !(x->t->end_s[x->dev_task[mid]] > s))
	return lo;
}

/* The earliest start on d of cost seconds in a gap of the incumbent's schedule. */
static double gap_start_s(const struct patcher *p, uint32_t d, double s, double cost)
{
	const struct incumbent_view *x = p->x;
	uint32_t i = first_after(x, d, s), end = x->dev_ptr[d + 1];

	for (uint32_t looks = 0; i < end && s + cost > x->t->start_s[x->dev_task[i]]; i++) {
		if (in_patch(p, x->dev_task[i]))
			continue;
		s = max2(s, x->t->end_s[x->dev_task[i]]);
		if (++looks == MOST_LOOKS)
			return max2(s, x->t->end_s[x->dev_task[end - 1]]);
	}
	return s;
}

/* By how much tasks of d are late when `shift` seconds are put in at s. */
static double pushed_late_s(const struct patcher *p, uint32_t d, double s, double shift)
{
	const struct incumbent_view *x = p->x;
	uint32_t i = first_after(x, d, s), end = x->dev_ptr[d + 1];
	double late = -x->t->makespan_s, before = s;

	for (uint32_t looks = 0; i < end && looks < MOST_LOOKS; i++, looks++) {
		uint32_t w = x->dev_task[i];

		if (in_patch(p, w))
			continue;
		shift -= max2(0, x->t->start_s[w] - before);
		if (shift <= 0)
			break;
		late = max2(late, shift - incumbent_slack_s(x, w));
		before = x->t->end_s[w];
	}
	return late;
}

/* Inputs of v: when they are on the target; copies that come and go. */
static double see_inputs(struct patcher *p, const struct part_effect *y, uint32_t v,
			 struct patch_effect *o)
{
	const struct incumbent_view *x = p->x;
	const struct sched_dag *d = &x->view->m->tasks.dag;
	const struct sched_links *l = &x->view->m->costs.links;
	uint32_t k = x->view->k;
	double ready = 0;

	for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
		uint32_t t = d->use_tensor[d->in_use[i]], from = d->tensor_task[t];
		uint32_t on = x->on[from], c = x->copy_of[(size_t)t * k + y->to];
		double at = x->t->end_s[from];

		if (in_patch(p, from)) {
			at = p->new_end_s[from];
			if (then_on(p, from) != y->to)
				at += max2(0, sched_copy_s(l, y->from, y->to, d->tensor_bytes[t]));
			ready = max2(ready, at);
			continue;
		}
		o->near_all += (double)d->tensor_bytes[t];
		o->near_to += on == y->to ? (double)d->tensor_bytes[t] : 0;
		o->near_from += on == y->from ? (double)d->tensor_bytes[t] : 0;
		if (on != y->to && c != SCHED_NONE) {
			at = x->t->copy_end_s[c];
		} else if (on != y->to) {
			double s = l->latency_s[(size_t)on * k + y->to] < 0
					   ? x->t->makespan_s
					   : sched_copy_s(l, on, y->to, d->tensor_bytes[t]);

			at += s;
			if (p->tensor_mark[t] != p->step) {
				o->copy_new += s;
				o->n_new++;
			}
		}
		if (on != y->from && p->tensor_mark[t] != p->step) {
			uint32_t u = d->use_ptr[t];

			/* does anybody else read it where the patch was? */
			while (u < d->use_ptr[t + 1] &&
			       (x->on[d->use_task[u]] != y->from || in_patch(p, d->use_task[u])))
				u++;
			c = x->copy_of[(size_t)t * k + y->from];
			if (u == d->use_ptr[t + 1] && c != SCHED_NONE) {
				o->copy_gone += x->t->copy_end_s[c] - x->t->copy_start_s[c];
				o->n_gone++;
			}
		}
		p->tensor_mark[t] = p->step;
		ready = max2(ready, at);
	}
	return ready;
}

/* Readers of what v makes: how late they would be; copies that come and go. */
static void see_readers(struct patcher *p, struct part_effect *y, uint32_t v, double plain_end_s,
			struct patch_effect *o)
{
	const struct incumbent_view *x = p->x;
	const struct sched_dag *d = &x->view->m->tasks.dag;
	const struct sched_links *l = &x->view->m->costs.links;
	uint32_t k = x->view->k;
	bool read = false;

	for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++) {
		uint32_t last = UINT32_MAX;
		bool left = false;

		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++) {
			uint32_t w = d->use_task[u], on = x->on[w];
			double copy_s = 0, by;

			read = true;
			if (in_patch(p, w))
				continue;
			o->near_all += (double)d->tensor_bytes[t];
			o->near_to += on == y->to ? (double)d->tensor_bytes[t] : 0;
			o->near_from += on == y->from ? (double)d->tensor_bytes[t] : 0;
			if (on != y->to)
				copy_s = l->latency_s[(size_t)y->to * k + on] < 0
						 ? x->t->makespan_s
						 : sched_copy_s(l, y->to, on, d->tensor_bytes[t]);
			if (on == y->from && !left) {
				left = true;
				o->copy_new += copy_s;
				o->n_new++;
			} else if (on != y->from && on != last) {
				uint32_t c = x->copy_of[(size_t)t * k + on];

				o->copy_new += copy_s;
				o->n_new += copy_s > 0;
				if (c != SCHED_NONE)
					o->copy_gone += x->t->copy_end_s[c] - x->t->copy_start_s[c];
				o->n_gone++;
				last = on;
			}
			by = x->late_s[w] - x->cost_s[w];
			double late = p->new_end_s[v] + copy_s - by;

			o->late = max2(o->late, late);
			y->late = max2(y->late, late);
			o->late_all += max2(0, late);
			o->late_plain = max2(o->late_plain, plain_end_s + copy_s - by);
			o->reader_slack = min2(o->reader_slack, incumbent_slack_s(x, w));
		}
	}
	if (!read) {
		o->late = max2(o->late, p->new_end_s[v] - x->t->makespan_s);
		y->late = max2(y->late, p->new_end_s[v] - x->t->makespan_s);
		o->late_plain = max2(o->late_plain, plain_end_s - x->t->makespan_s);
	}
}

/* The change of the critical chain, element by element, if nothing else became critical. */
static void see_chain(const struct patcher *p, struct part_effect *y, uint32_t v, double cost_to,
		      struct patch_effect *o)
{
	const struct incumbent_view *x = p->x;
	const struct sched_dag *d = &x->view->m->tasks.dag;
	const struct sched_links *l = &x->view->m->costs.links;
	uint32_t at = x->on_chain[v];

	if (at == 0)
		return;
	at--;
	o->n_critical++;
	y->n_critical++;
	o->chain_s += cost_to - x->cost_s[v];
	/* what v waited for */
	if (x->chain_by_device[at]) {
		o->chain_waits += !in_patch(p, x->chain[at + 1 < x->n_chain ? at + 1 : at]);
	} else if (at + 1 < x->n_chain && !in_patch(p, x->chain[at + 1])) {
		uint32_t from = x->chain[at + 1], c = x->chain_copy[at];
		double now = c == SCHED_NONE ? 0 : x->t->copy_end_s[c] - x->t->end_s[from];
		double then = 0;

		if (x->on[from] != y->to) {
			uint64_t bytes =
				c == SCHED_NONE ? 0 : d->tensor_bytes[x->t->copy[c].tensor];

			for (uint32_t i = d->in_ptr[v]; c == SCHED_NONE && i < d->in_ptr[v + 1];
			     i++) {
				uint32_t t = d->use_tensor[d->in_use[i]];

				if (d->tensor_task[t] == from)
					bytes = d->tensor_bytes[t];
			}
			then = max2(0, sched_copy_s(l, x->on[from], y->to, bytes));
		}
		o->chain_copy_s += then - now;
	}
	/* what waited for v */
	if (at > 0 && !in_patch(p, x->chain[at - 1])) {
		uint32_t w = x->chain[at - 1], c = x->chain_copy[at - 1];

		if (x->chain_by_device[at - 1]) {
			o->chain_waits++;
		} else {
			double now = c == SCHED_NONE ? 0 : x->t->copy_end_s[c] - x->t->end_s[v];
			double then = 0;
			uint64_t bytes = 0;

			for (uint32_t i = d->in_ptr[w]; i < d->in_ptr[w + 1]; i++) {
				uint32_t t = d->use_tensor[d->in_use[i]];

				if (d->tensor_task[t] == v)
					bytes = d->tensor_bytes[t];
			}
			if (x->on[w] != y->to)
				then = max2(0, sched_copy_s(l, y->to, x->on[w], bytes));
			o->chain_copy_s += then - now;
		}
	}
}

static void see_task(struct patcher *p, struct part_effect *y, uint32_t v, double *plain_s,
		     struct patch_effect *o)
{
	const struct incumbent_view *x = p->x;
	const struct cost_view *view = x->view;
	double cost = view->m->costs.task_s[(size_t)v * view->k + y->to];
	double ready = see_inputs(p, y, v, o);
	double start = gap_start_s(p, y->to, max2(ready, y->busy_s), cost);
	double slack = incumbent_slack_s(x, v);

	*plain_s = max2(*plain_s, ready) + cost;
	p->new_end_s[v] = y->busy_s = start + cost;
	y->n_tasks++;
	y->cost_from += x->cost_s[v];
	y->cost_to += cost;
	y->first_s = min2(y->first_s, ready);
	y->min_slack = min2(y->min_slack, slack);
	o->cost_from += x->cost_s[v];
	o->cost_to += cost;
	o->end_s = max2(o->end_s, start + cost);
	o->min_slack = min2(o->min_slack, slack);
	o->slack += slack;
	o->wait_s += x->t->start_s[v] - x->ready_s[v];
	o->oct_from += view->oct[(size_t)v * view->k + y->from];
	o->oct_to += view->oct[(size_t)v * view->k + y->to];
	see_readers(p, y, v, *plain_s, o);
	see_chain(p, y, v, cost, o);
}

static struct part_effect part_of(uint16_t from, uint16_t to, double makespan_s)
{
	return (struct part_effect){.from = from,
				    .to = to,
				    .first_s = INFINITY,
				    .late = -makespan_s,
				    .min_slack = makespan_s};
}

struct patch_effect patch_effect_of(struct patcher *p, const struct patch *y)
{
	double m = p->x->t->makespan_s, plain_s[2] = {0};
	struct patch_effect o = {.part = {part_of(y->from, y->to, m), part_of(y->to, y->from, m)},
				 .late = -m,
				 .late_plain = -m,
				 .min_slack = m,
				 .reader_slack = m};

	o.n_tasks = list_tasks(p, y);
	for (uint32_t i = 0; i < o.n_tasks; i++) {
		bool back = then_on(p, p->task[i]) != y->to;

		see_task(p, &o.part[back], p->task[i], &plain_s[back], &o);
	}
	struct part_effect *there = &o.part[0], *back = &o.part[1];

	there->pushed_s = pushed_late_s(p, there->to, there->first_s, there->cost_to);
	if (back->n_tasks)
		back->pushed_s = pushed_late_s(p, back->to, back->first_s, back->cost_to);
	return o;
}
