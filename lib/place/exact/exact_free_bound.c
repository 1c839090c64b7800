/* exact_free_bound.c - can a partial schedule still end in time?
 *
 * Tasks that are open start no earlier than what they read allows, where the makers of it that are
 * open, too, are on their device, one after another, or send a copy.  What follows a task is known
 * (exact_free_side.c).  Windows: all open tasks with as much behind them have to fit between when the devices
 * can begin with them and the end (E. B. Fernandez, B. Bussell, "Bounds on the number of processors
 * and time for multiprocessor optimal schedules", IEEE Trans. Computers C-22(8), 1973); where one
 * task is behind all, all devices but its own have to end earlier. */
#include <math.h>

#include "place/exact/exact_free_impl.h"

void free_find_kinds(struct free_search *x)
{
	const struct free_side *g = x->g;
	uint32_t first_empty[FREE_MOST_DEVICES];

	x->n_kinds = 0;
	for (uint32_t d = 0; d < g->k; d++) {
		uint32_t e = g->equivalent[d];

		if (e == d)
			first_empty[e] = SCHED_NONE;
		if (x->used[d] == 0 && first_empty[e] != SCHED_NONE) {
			x->of_kind[first_empty[e]]++;
			continue;
		}
		if (x->used[d] == 0)
			first_empty[e] = x->n_kinds;
		x->kind[x->n_kinds] = d;
		x->of_kind[x->n_kinds++] = 1;
	}
}

/* Before a task can start whose open makers are n, by what is known of them: the late ones are on
 * its device, in a row, the others send copies. */
struct maker {
	double start_s, s, sent_s;
};

static double makers_allow(struct maker *m, uint32_t n)
{
	double least = INFINITY, row = 0, first = INFINITY, last = 0;

	if (n == 1)
		return m[0].start_s + m[0].s;
	for (uint32_t i = 1; i < n; i++) {
		struct maker at = m[i];
		uint32_t j = i;

		for (; j > 0 && m[j - 1].sent_s < at.sent_s; j--)
			m[j] = m[j - 1];
		m[j] = at;
	}
	for (uint32_t i = 0; i <= n; i++) {
		double here = i ? fmax(first + row, last) : 0;

		least = fmin(least, fmax(here, i < n ? m[i].sent_s : 0));
		if (i == n)
			break;
		row += m[i].s;
		first = fmin(first, m[i].start_s);
		last = fmax(last, m[i].start_s + m[i].s);
	}
	return least;
}

static double open_makers_allow(const struct free_search *x, uint32_t v)
{
	const struct free_side *g = x->g;
	struct maker m[FREE_MOST_TASKS];
	uint32_t n = 0;

	if (x->waits[v] == 0)
		return 0;
	for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++) {
		const struct free_edge *e = &g->in[i];

		if (x->done >> e->task & 1)
			continue;
		double start = x->head_s[e->task], s = g->least_s[e->task];

		double sent =
			g->cluster[e->task] == g->cluster[v]
				? INFINITY
				: start + s + g->least_latency_s + e->bytes * g->least_s_per_byte;

		m[n++] = (struct maker){start, s, sent};
	}
	return makers_allow(m, n);
}

/* Earliest starts of all open tasks on each device; true: one of them comes too late. */
static bool starts_are_late(struct free_search *x, double limit_s)
{
	const struct free_side *g = x->g;
	double shortest = INFINITY;

	for (uint32_t v = 0; v < g->n; v++)
		if (!(x->done >> v & 1))
			shortest = fmin(shortest, g->least_s[v]);
	for (uint32_t v = 0; v < g->n; v++) {
		if (x->done >> v & 1)
			continue;
		double makers = open_makers_allow(x, v), head = INFINITY, end = INFINITY;

		for (uint32_t i = 0; i < x->n_kinds; i++) {
			uint32_t d = x->kind[i];
			size_t cell = (size_t)v * g->k + d;
			double at = fmax(x->arrival_s[cell], x->free_s[d]);

			/* It should have started before: another one comes first now. */
			if (at < x->now_s)
				at = x->now_s + (x->waits[v] ? 0 : shortest);
			at = fmax(at, makers);
			uint32_t c = g->cluster[v];
			bool may = g->s[cell] < INFINITY &&
				   (x->n_placed[c] == 0 || x->cluster_dev[c] == d);
			x->earliest_s[cell] = may ? at : INFINITY;
			if (!may)
				continue;
			head = fmin(head, at);
			end = fmin(end, at + g->s[cell] + g->tail_s[cell]);
		}
		x->head_s[v] = head;
		if (!(end <= limit_s))
			return true;
	}
	return false;
}

/* What devices can begin with and have to end by, of the tasks that are looked at. */
struct windows {
	/* of each kind so many as there are devices like it: the earliest starts of tasks there */
	double first[FREE_MOST_DEVICES];
	uint32_t at[FREE_MOST_DEVICES]; /* where a kind's begin */
	double last[FREE_MOST_TASKS];   /* what is behind tasks, descending */
	uint32_t n_last;
	double least_tail_s, work_s;
	/* of each kind: the work that can be there alone, and when that can begin */
	double own_s[FREE_MOST_DEVICES], own_first[FREE_MOST_DEVICES];
};

static void windows_init(struct windows *w, const struct free_search *x)
{
	uint32_t n = 0;

	w->n_last = 0;
	w->work_s = 0;
	w->least_tail_s = INFINITY;
	for (uint32_t i = 0; i < x->n_kinds; i++) {
		w->at[i] = n;
		w->own_s[i] = 0;
		w->own_first[i] = INFINITY;
		for (uint32_t j = 0; j < x->of_kind[i]; j++)
			w->first[n++] = INFINITY;
	}
}

/* Task v is one of them; key: what is behind it. */
static void windows_add(struct windows *w, const struct free_search *x, uint32_t v, double key)
{
	const struct free_side *g = x->g;
	uint32_t c = g->cluster[v];

	w->work_s += g->least_s[v];
	w->last[w->n_last++] = key;
	w->least_tail_s = fmin(w->least_tail_s, g->least_tail_s[v]);
	for (uint32_t i = 0; i < x->n_kinds; i++) {
		double s = x->earliest_s[(size_t)v * g->k + x->kind[i]];
		double *first = w->first + w->at[i];
		uint32_t j = x->of_kind[i];

		if (x->n_placed[c] > 0 && x->cluster_dev[c] == x->kind[i]) {
			w->own_s[i] += g->s[(size_t)v * g->k + x->kind[i]];
			w->own_first[i] = fmin(w->own_first[i], s);
		}
		if (!(s < first[j - 1]))
			continue;
		for (j--; j > 0 && first[j - 1] > s; j--)
			first[j] = first[j - 1];
		first[j] = s;
	}
}

/* Is there more on one device than fits there? */
static bool own_overfull(const struct windows *w, const struct free_search *x, double limit_s)
{
	for (uint32_t i = 0; i < x->n_kinds; i++)
		if (w->own_s[i] > 0 &&
		    w->own_first[i] + w->own_s[i] + w->last[w->n_last - 1] > limit_s)
			return true;
	return false;
}

/* Is there more to do than fits?  Devices begin with different tasks, and end with different ones.
 * apart: one of them ends with no more than least_tail_s behind it. */
static bool windows_overfull(const struct windows *w, const struct free_search *x, double limit_s,
			     bool apart)
{
	double sorted[FREE_MOST_DEVICES], room = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_kinds; i++)
		for (uint32_t c = 0; c < x->of_kind[i]; c++) {
			double s = w->first[w->at[i] + c];
			uint32_t j = n;

			if (s == INFINITY)
				break;
			for (; j > 0 && sorted[j - 1] > s; j--)
				sorted[j] = sorted[j - 1];
			sorted[j] = s;
			n++;
		}
	for (uint32_t j = 0; j < n && j < w->n_last + apart; j++) {
		double last =
			apart && j == 0 ? w->least_tail_s : w->last[w->n_last - 1 - (j - apart)];
		double here = limit_s - sorted[j] - last;

		if (here <= 0)
			break;
		room += here;
	}
	return w->work_s > room;
}

/* Do tasks with as much behind them fit before it?  apart: where all devices but one have copies
 * between them and the end. */
static bool overfull(const struct free_search *x, double limit_s, bool apart)
{
	const struct free_side *g = x->g;
	struct windows w;

	windows_init(&w, x);
	for (uint32_t j = 0; j < g->n; j++) {
		uint32_t v = apart ? g->by_apart[j] : g->by_tail[j];

		if (x->done >> v & 1 || (apart && g->out_at[v] == g->out_at[v + 1]))
			continue;
		windows_add(&w, x, v, apart ? g->apart_s[v] : g->least_tail_s[v]);
		if (windows_overfull(&w, x, limit_s, apart) ||
		    (!apart && own_overfull(&w, x, limit_s)))
			return true;
	}
	return false;
}

/* Windows that begin later: tasks with no earlier a start and as much behind them. */
static bool overfull_windows(const struct free_search *x, double limit_s)
{
	const struct free_side *g = x->g;
	uint32_t order[FREE_MOST_TASKS], n = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t j = n;

		if (x->done >> v & 1)
			continue;
		for (; j > 0 && x->head_s[order[j - 1]] < x->head_s[v]; j--)
			order[j] = order[j - 1];
		order[j] = v;
		n++;
	}
	for (uint32_t i = 0; i < n; i++) {
		double tail = g->least_tail_s[order[i]], work = 0;

		for (uint32_t j = 0; j < n; j++) {
			uint32_t v = order[j];

			if (g->least_tail_s[v] < tail)
				continue;
			work += g->least_s[v];
			if (work > g->k * fmax(0, limit_s - tail - x->head_s[v]))
				return true;
		}
	}
	return false;
}

bool free_is_hopeless(struct free_search *x, double limit_s)
{
	double some = limit_s + 1e-9 * fabs(limit_s);

	return starts_are_late(x, some) || overfull(x, some, false) ||
	       (x->g->one_sink && overfull(x, some, true)) || overfull_windows(x, some);
}
