/* flows.c - max-min fair shares of links, media and ports by progressive filling: what has the least for
 * each of its flows decides their rate, then the next of what is left. */
#include <math.h>

#include "sched/engine.h"

/* Flows whose ends differ by no more than rounding end together. */
static const double ROUNDING = 1e-12;

/* ---- what flows share ---- */

static uint32_t port_number(const struct sched_links *l, uint32_t link, bool in)
{
	uint32_t k = l->k, name = l->ports ? l->ports->of[link] : SCHED_NONE;

	if (name == SCHED_NONE)
		return SCHED_NONE;
	return k * k + l->sharing->n_media + ((in ? k + link % k : link / k) * l->ports->n + name);
}

static void list_passed(struct flows *f, const struct sched_links *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_links; i++) {
		const struct sched_carriage *c = &l->sharing->of[i];

		f->passed_ptr[i] = n;
		if (c->contention != SCHED_SHARED)
			continue;
		f->passed[n++] = i;
		for (uint32_t m = 0; m < c->n_media; m++)
			f->passed[n++] = f->n_links + c->medium[m];
		for (int in = 0; in < 2; in++)
			if (port_number(l, i, in) != SCHED_NONE)
				f->passed[n++] = port_number(l, i, in);
	}
	f->passed_ptr[f->n_links] = n;
}

static void set_rates(struct flows *f, const struct sched_links *l)
{
	uint32_t k = l->k, names = l->ports ? l->ports->n : 0, first = k * k + l->sharing->n_media;

	for (uint32_t i = 0; i < k * k; i++)
		f->bytes_per_s[i] = l->bytes_per_s[i];
	for (uint32_t m = 0; m < l->sharing->n_media; m++)
		f->bytes_per_s[k * k + m] = l->sharing->bytes_per_s[m];
	for (uint32_t i = 0; i < 2 * k * names; i++)
		f->bytes_per_s[first + i] =
			sched_port_rate(l, i / names % k, i % names, i / names >= k);
}

void flows_init(struct flows *f, const struct sched_links *l, size_t n_slots)
{
	size_t links = (size_t)l->k * l->k, most = 0, n;
	bool any = false;

	for (size_t i = 0; i < links; i++) {
		any |= sched_is_shared(l, i);
		most += l->sharing ? 3 + l->sharing->of[i].n_media : 0;
	}
	if (!any)
		return;
	n = links + l->sharing->n_media + (l->ports ? 2 * (size_t)l->k * l->ports->n : 0);
	f->n_links = (uint32_t)links;
	f->link = MEM_NEWN(struct flow_link, links);
	f->active = MEM_NEWN(uint32_t, links);
	f->next = MEM_NEWN(uint32_t, n_slots);
	f->until = MEM_NEWN(double, n_slots);
	f->passed_ptr = MEM_NEWN(uint32_t, links + 1);
	f->passed = MEM_NEWN(uint32_t, most);
	f->bytes_per_s = MEM_NEWN(double, n);
	f->left = MEM_NEWN(double, n);
	f->users = MEM_NEWN(uint32_t, n);
	f->touched = MEM_NEWN(uint32_t, n);
	f->next_s = INFINITY;
	list_passed(f, l);
	set_rates(f, l);
}

void flows_release(struct flows *f)
{
	void *owned[] = {f->link,   f->active,      f->next, f->until, f->passed_ptr,
			 f->passed, f->bytes_per_s, f->left, f->users, f->touched};

	for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
		mem_free(owned[i]);
}

void flows_clear(struct flows *f)
{
	for (uint32_t i = 0; i < f->n_active; i++)
		f->link[f->active[i]].n = 0;
	f->n_active = 0;
	f->changed = false;
	f->next_s = INFINITY;
}

/* ---- flows of a link ---- */

static void serve(struct flow_link *x, double now_s)
{
	if (now_s > x->since_s)
		x->served += x->bytes_per_s * (now_s - x->since_s);
	x->since_s = now_s;
}

void flows_begin(struct flows *f, uint32_t link, uint32_t slot, uint64_t bytes, double now_s)
{
	struct flow_link *x = &f->link[link];

	if (x->n == 0) {
		*x = (struct flow_link){.since_s = now_s, .head = SCHED_NONE, .tail = SCHED_NONE};
		f->active[f->n_active++] = link;
	}
	serve(x, now_s);
	double until = f->until[slot] = x->served + (double)bytes;
	uint32_t before = SCHED_NONE, after = x->head;
	if (x->n && f->until[x->tail] <= until) {
		before = x->tail;
		after = SCHED_NONE;
	}
	while (after != SCHED_NONE && f->until[after] <= until) {
		before = after;
		after = f->next[after];
	}
	f->next[slot] = after;
	*(before == SCHED_NONE ? &x->head : &f->next[before]) = slot;
	if (after == SCHED_NONE)
		x->tail = slot;
	x->n++;
	f->changed = true;
}

uint32_t flows_end(struct flows *f, uint32_t *link)
{
	for (uint32_t i = f->n_active; i-- > 0;) {
		struct flow_link *x = &f->link[f->active[i]];
		uint32_t slot = x->head;

		if (!(x->end_s - f->next_s <= ROUNDING * f->next_s))
			continue;
		*link = f->active[i];
		x->served = f->until[slot];
		x->since_s = x->end_s = f->next_s;
		x->head = f->next[slot];
		if (--x->n == 0)
			f->active[i] = f->active[--f->n_active];
		else if (f->until[x->head] > x->served * (1 + ROUNDING))
			x->end_s = INFINITY; /* until rates are known */
		f->changed = true;
		return slot;
	}
	return SCHED_NONE;
}

/* ---- shares ---- */

/* All that flows now shares, and how many flows. */
static void count_users(struct flows *f)
{
	f->n_touched = 0;
	for (uint32_t i = 0; i < f->n_active; i++) {
		struct flow_link *x = &f->link[f->active[i]];

		x->decided = false;
		for (uint32_t j = f->passed_ptr[f->active[i]]; j < f->passed_ptr[f->active[i] + 1];
		     j++) {
			uint32_t r = f->passed[j];

			if (f->users[r] == 0) {
				f->touched[f->n_touched++] = r;
				f->left[r] = f->bytes_per_s[r];
			}
			f->users[r] += x->n;
		}
	}
}

/* What has the least left for each of its flows, *share; SCHED_NONE: there are none. */
static uint32_t bottleneck(const struct flows *f, double *share)
{
	uint32_t found = SCHED_NONE;

	*share = INFINITY;
	for (uint32_t i = 0; i < f->n_touched; i++) {
		uint32_t r = f->touched[i];

		if (f->users[r] == 0)
			continue;
		double each = f->left[r] / f->users[r];
		if (found == SCHED_NONE || each < *share) {
			found = r;
			*share = each;
		}
	}
	return found;
}

static bool passes(const struct flows *f, uint32_t link, uint32_t r)
{
	for (uint32_t j = f->passed_ptr[link]; j < f->passed_ptr[link + 1]; j++)
		if (f->passed[j] == r)
			return true;
	return false;
}

/* The rate of a link's flows is known. */
static void decide(struct flows *f, uint32_t link, double share, double now_s)
{
	struct flow_link *x = &f->link[link];

	for (uint32_t j = f->passed_ptr[link]; j < f->passed_ptr[link + 1]; j++) {
		uint32_t r = f->passed[j];

		f->users[r] -= x->n;
		if (f->left[r] < INFINITY)
			f->left[r] = fmax(0, f->left[r] - share * x->n);
	}
	x->decided = true;
	if (x->bytes_per_s != share) {
		serve(x, now_s);
		x->bytes_per_s = share;
	}
	x->end_s = x->since_s + fmax(0, f->until[x->head] - x->served) / share;
}

void flows_share(struct flows *f, double now_s)
{
	double share, least = 0; /* shares ascend, but for rounding */
	uint32_t r;

	if (!f->changed)
		return;
	f->changed = false;
	count_users(f);
	while ((r = bottleneck(f, &share)) != SCHED_NONE) {
		least = share = fmax(share, least);
		for (uint32_t i = 0; i < f->n_active; i++)
			if (!f->link[f->active[i]].decided && passes(f, f->active[i], r))
				decide(f, f->active[i], share, now_s);
	}
	f->next_s = INFINITY;
	for (uint32_t i = 0; i < f->n_active; i++)
		f->next_s = fmin(f->next_s, f->link[f->active[i]].end_s);
}
