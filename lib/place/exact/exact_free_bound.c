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

		m[n++] = (struct maker){
			start, s, start + s + g->least_latency_s + e->bytes * g->least_s_per_byte};
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
			x->earliest_s[cell] = g->s[cell] < INFINITY ? at : INFINITY;
			if (g->s[cell] == INFINITY)
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

/* Do tasks with as much behind them fit before it? */
static bool overfull(const struct free_search *x, double limit_s)
{
	const struct free_side *g = x->g;
	double from[FREE_MOST_DEVICES], work = 0;

	for (uint32_t i = 0; i < x->n_kinds; i++)
		from[i] = INFINITY;
	for (uint32_t j = 0; j < g->n; j++) {
		uint32_t v = g->by_tail[j];
		double until = limit_s - g->least_tail_s[v], room = 0;

		if (x->done >> v & 1)
			continue;
		work += g->least_s[v];
		for (uint32_t i = 0; i < x->n_kinds; i++) {
			from[i] = fmin(from[i], x->earliest_s[(size_t)v * g->k + x->kind[i]]);
			room += x->of_kind[i] * fmax(0, until - from[i]);
		}
		if (work > room)
			return true;
	}
	return false;
}

/* The same where all devices but one have copies between them and the end. */
static bool overfull_apart(const struct free_search *x, double limit_s)
{
	const struct free_side *g = x->g;
	double from[FREE_MOST_DEVICES], work = 0, least_tail = INFINITY;

	for (uint32_t i = 0; i < x->n_kinds; i++)
		from[i] = INFINITY;
	for (uint32_t j = 0; j < g->n; j++) {
		uint32_t v = g->by_apart[j];

		if (x->done >> v & 1 || g->out_at[v] == g->out_at[v + 1])
			continue;
		least_tail = fmin(least_tail, g->least_tail_s[v]);
		double until = limit_s - g->apart_s[v], room = 0, more = 0;

		work += g->least_s[v];
		for (uint32_t i = 0; i < x->n_kinds; i++) {
			from[i] = fmin(from[i], x->earliest_s[(size_t)v * g->k + x->kind[i]]);
			double here = fmax(0, until - from[i]);

			room += x->of_kind[i] * here;
			more = fmax(more, fmax(0, limit_s - least_tail - from[i]) - here);
		}
		if (work > room + more)
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

	return starts_are_late(x, some) || overfull(x, some) ||
	       (x->g->one_sink && overfull_apart(x, some)) || overfull_windows(x, some);
}
