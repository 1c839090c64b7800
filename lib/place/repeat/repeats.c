/* repeats.c - periods of a sequence of labels.  A label is what the simulator sees of a task.  Where a stretch of labels
 * has come before, the distance is perhaps a period; distances that come most are tried from one end to the other
 * (runs: M. G. Main, R. J. Lorentz, "An O(n log n) algorithm for finding all repetitions in a string", Journal of
 * Algorithms 5(3), 1984, where all are wanted).  Blocks whose inner edges differ are not alike.
 *
 * The sequence is the order of the tasks by number, in which a network's layers mostly come one after the other; where that
 * has no repeats, by depth, and then by labels of tasks with those around them. */
#include "place/repeat/repeats.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
	LEAST_BLOCKS = 4,
	LEAST_TASKS = 4, /* in a block */
	WINDOW = 6,      /* labels that make a stretch */
	MOST_PERIODS = 12,
	ROUNDS = 3, /* how far around itself a task is looked at for the order by depth */
	MOST_RUNS = 16
};

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * UINT64_C(1099511628211);
	return h ^ h >> 29;
}

/* ---- labels ---- */

static uint64_t *make_labels(const struct place_model *m)
{
	const struct sched_dag *d = &m->tasks.dag;
	uint64_t *label = MEM_NEWN(uint64_t, (size_t)d->n + 1);
	uint32_t k = m->k;

	for (uint32_t v = 0; v < d->n; v++) {
		uint64_t h = hash_bytes(m->costs.task_s + (size_t)v * k, k * sizeof(double));

		h = mix(h, hash_bytes(m->task_mem + (size_t)v * k, k * sizeof(uint64_t)));
		if (m->inner)
			h = mix(h, hash_bytes(m->inner + (size_t)v * k, k * sizeof(uint64_t)));
		for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++)
			h = mix(h, d->tensor_bytes[t]);
		uint64_t reads = 0; /* in any order */

		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++)
			reads += mix(1, d->tensor_bytes[d->use_tensor[d->in_use[i]]]);
		label[v] = mix(h, reads);
	}
	return label;
}

/* ---- the order by depth ---- */

struct place_in_order {
	uint64_t label;
	uint32_t depth, before, task; /* before: the last position of what it reads */
};

static int by_place(const void *pa, const void *pb)
{
	const struct place_in_order *a = pa, *b = pb;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	if (a->before != b->before)
		return a->before < b->before ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

static uint32_t reads_from(const struct sched_dag *d, uint32_t use)
{
	return d->tensor_task[d->use_tensor[d->in_use[use]]];
}

/* Labels with those of what a task reads and what reads it, ROUNDS times. */
static uint64_t *labels_around(const struct sched_dag *d, const uint64_t *label)
{
	uint64_t *now = mem_copy(label, d->n, sizeof(*label));
	uint64_t *next = MEM_NEWN(uint64_t, (size_t)d->n + 1);

	for (int round = 0; round < ROUNDS; round++) {
		for (uint32_t v = 0; v < d->n; v++) {
			uint64_t in = 0, out = 0;

			for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++)
				in += mix(2, now[reads_from(d, i)]);
			for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++)
				for (uint32_t i = d->use_ptr[t]; i < d->use_ptr[t + 1]; i++)
					out += mix(3, now[d->use_task[i]]);
			next[v] = mix(mix(now[v], in), out);
		}
		uint64_t *was = now;

		now = next;
		next = was;
	}
	mem_free(next);
	return now;
}

/* depth (n): the longest path before a task; of one that reads nothing, right before what reads it. */
static void find_depths(const struct sched_dag *d, uint32_t *depth)
{
	for (uint32_t v = 0; v < d->n; v++) {
		depth[v] = 1;
		for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++)
			if (depth[reads_from(d, i)] >= depth[v])
				depth[v] = depth[reads_from(d, i)] + 1;
	}
	for (uint32_t v = 0; v < d->n; v++) {
		uint32_t least = UINT32_MAX;

		for (uint32_t t = d->out_ptr[v]; t < d->out_ptr[v + 1]; t++)
			for (uint32_t i = d->use_ptr[t]; i < d->use_ptr[t + 1]; i++)
				if (depth[d->use_task[i]] < least)
					least = depth[d->use_task[i]];
		if (d->in_ptr[v] == d->in_ptr[v + 1] && least < UINT32_MAX)
			depth[v] = least - 1;
	}
}

static void order_by_depth(struct repeats *x, const struct sched_dag *d, const uint64_t *label)
{
	struct place_in_order *row = MEM_NEWN(struct place_in_order, (size_t)d->n + 1);
	uint32_t *depth = MEM_NEWN(uint32_t, (size_t)d->n + 1);
	uint64_t *around = labels_around(d, label);

	find_depths(d, depth);
	for (uint32_t v = 0; v < d->n; v++)
		row[v] = (struct place_in_order){around[v], depth[v], 0, v};
	if (d->n > 1)
		qsort(row, d->n, sizeof(*row), by_place);
	/* Depth by depth, once positions before it are known. */
	for (uint32_t i = 0, end; i < d->n; i = end) {
		for (end = i; end < d->n && row[end].depth == row[i].depth; end++)
			for (uint32_t j = d->in_ptr[row[end].task];
			     j < d->in_ptr[row[end].task + 1]; j++) {
				uint32_t at = x->at[reads_from(d, j)];

				if (at > row[end].before)
					row[end].before = at;
			}
		qsort(row + i, end - i, sizeof(*row), by_place);
		for (uint32_t j = i; j < end; j++) {
			x->task[j] = row[j].task;
			x->at[row[j].task] = j;
		}
	}
	mem_free(around);
	mem_free(depth);
	mem_free(row);
}

/* ---- periods ---- */

struct period {
	uint32_t distance, votes;
};

static int by_votes(const void *pa, const void *pb)
{
	const struct period *a = pa, *b = pb;

	if (a->votes != b->votes)
		return a->votes > b->votes ? -1 : 1;
	return (a->distance > b->distance) - (a->distance < b->distance);
}

/* Distances at which stretches of labels (n, by position) come again, those that come most first. */
static uint32_t likely_periods(const uint64_t *label, uint32_t n, struct period *out)
{
	size_t room = 16;

	while (room < 2 * (size_t)n)
		room *= 2;
	uint64_t *seen = MEM_NEWN(uint64_t, room);
	uint32_t *last = MEM_NEWN(uint32_t, room); /* + 1; 0: free */
	struct period *vote = MEM_NEWN(struct period, (size_t)n + 1);
	uint32_t n_out = 0;

	for (uint32_t i = 0; i < n; i++)
		vote[i].distance = i;
	for (uint32_t i = 0; i + WINDOW <= n; i++) {
		uint64_t h = hash_bytes(label + i, WINDOW * sizeof(*label));
		size_t at = h & (room - 1);

		while (last[at] && seen[at] != h)
			at = (at + 1) & (room - 1);
		if (last[at])
			vote[i + 1 - last[at]].votes++;
		seen[at] = h;
		last[at] = i + 1;
	}
	if (n > 1)
		qsort(vote, n, sizeof(*vote), by_votes);
	while (n_out < n && n_out < MOST_PERIODS && vote[n_out].votes >= LEAST_BLOCKS - 1) {
		out[n_out] = vote[n_out];
		n_out++;
	}
	mem_free(vote);
	mem_free(last);
	mem_free(seen);
	return n_out;
}

/* ---- runs ---- */

struct run_list {
	uint32_t n;
	size_t cap;
	struct repeat_run *run;
};

/* Positions that have been read, by the number of the question about them. */
struct read_marks {
	uint32_t now;
	uint32_t *of; /* (n) */
};

/* Does the task at a position read in its block what that one period before reads in its own? */
static bool same_reads(const struct repeats *x, const struct sched_dag *d, struct read_marks *marks,
		       uint32_t at, uint32_t begin, uint32_t period)
{
	uint32_t v = x->task[at], w = x->task[at - period], inner = 0, found = 0;

	marks->now++;
	for (uint32_t i = d->in_ptr[w]; i < d->in_ptr[w + 1]; i++) {
		uint32_t from = x->at[reads_from(d, i)];

		inner += from >= begin - period;
		marks->of[from] = marks->now;
	}
	for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
		uint32_t from = x->at[reads_from(d, i)];

		if (from < begin)
			continue;
		found++;
		if (marks->of[from - period] != marks->now)
			return false;
	}
	return inner == found;
}

/* Blocks of a stretch that have the edges of the one before, most of all in a row. */
static void add_run(struct run_list *list, const struct repeats *x, const struct sched_dag *d,
		    struct read_marks *marks, uint32_t first, uint32_t end, uint32_t period)
{
	uint32_t begin = first; /* of the blocks in a row */

	for (uint32_t at = first + period;; at += period) {
		bool same = at + period <= end;

		for (uint32_t i = at; same && i < at + period; i++)
			same = same_reads(x, d, marks, i, at, period);
		if (same)
			continue;
		if ((at - begin) / period >= LEAST_BLOCKS) {
			list->run =
				mem_grow(list->run, &list->cap, list->n + 1U, sizeof(*list->run));
			list->run[list->n++] =
				(struct repeat_run){begin, period, (at - begin) / period};
		}
		begin = at;
		if (at + period > end)
			return;
	}
}

static uint32_t length(const struct repeat_run *r)
{
	return (r->n - 1) * r->period;
}

/* By what they save, then by position. */
static int by_length(const void *pa, const void *pb)
{
	const struct repeat_run *a = pa, *b = pb;

	if (length(a) != length(b))
		return length(a) > length(b) ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static int by_first(const void *pa, const void *pb)
{
	const struct repeat_run *a = pa, *b = pb;

	return (a->first > b->first) - (a->first < b->first);
}

static void find_runs(struct repeats *x, const struct sched_dag *d, const uint64_t *label)
{
	uint64_t *row = MEM_NEWN(uint64_t, (size_t)d->n + 1);
	struct period period[MOST_PERIODS];
	struct run_list all = {0};
	struct read_marks marks = {.of = MEM_NEWN(uint32_t, (size_t)d->n + 1)};

	for (uint32_t i = 0; i < d->n; i++)
		row[i] = label[x->task[i]];
	uint32_t n = likely_periods(row, d->n, period);

	for (uint32_t j = 0; j < n; j++) {
		uint32_t p = period[j].distance, begin = 0;

		for (uint32_t i = 0; p >= LEAST_TASKS && i + p <= d->n; i++) {
			if (i + p < d->n && row[i] == row[i + p])
				continue;
			if (i - begin >= (LEAST_BLOCKS - 1) * p)
				add_run(&all, x, d, &marks, begin, i + p, p);
			begin = i + 1;
		}
	}
	if (all.n > 1)
		qsort(all.run, all.n, sizeof(*all.run), by_length);
	x->n = x->covered = 0;
	for (uint32_t j = 0; j < all.n && x->n < MOST_RUNS; j++) {
		const struct repeat_run *r = &all.run[j];
		bool free = true;

		for (uint32_t i = 0; i < x->n; i++)
			free &= r->first + r->n * r->period <= x->run[i].first ||
				x->run[i].first + x->run[i].n * x->run[i].period <= r->first;
		if (!free)
			continue;
		x->run[x->n++] = *r;
		x->covered += r->n * r->period;
	}
	if (x->covered < d->n / 2)
		x->n = x->covered = 0;
	if (x->n > 1)
		qsort(x->run, x->n, sizeof(*x->run), by_first);
	mem_free(marks.of);
	mem_free(all.run);
	mem_free(row);
}

void repeats_find(struct repeats *x, const struct place_model *m, struct arena *a)
{
	const struct sched_dag *d = &m->tasks.dag;
	uint64_t *label = make_labels(m);

	*x = (struct repeats){.run = ARENA_NEWN(a, struct repeat_run, MOST_RUNS),
			      .task = ARENA_NEWN(a, uint32_t, d->n),
			      .at = ARENA_NEWN(a, uint32_t, d->n),
			      .of = ARENA_NEWN(a, uint32_t, d->n)};
	for (uint32_t v = 0; v < d->n; v++)
		x->task[v] = x->at[v] = v;
	find_runs(x, d, label);
	if (x->n == 0) {
		order_by_depth(x, d, label);
		find_runs(x, d, label);
	}
	for (uint32_t v = 0; v < d->n; v++)
		x->of[v] = x->n;
	for (uint32_t j = 0; j < x->n; j++)
		for (uint32_t i = 0; i < x->run[j].n * x->run[j].period; i++)
			x->of[x->task[x->run[j].first + i]] = j;
	mem_free(label);
}

bool repeats_are_there(const struct place_model *m)
{
	if (m->n_cases || m->rules != PLACE_SCHEDULE)
		return false;
	struct arena *a = arena_new();
	struct repeats x;

	repeats_find(&x, m, a);
	arena_free(a);
	return x.n > 0;
}
