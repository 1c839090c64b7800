/* metf.c - m-ETF: Jeon, Cai, Srivastava, Jiang, Gupta, Chu, Sirotkin, "Baechi: fast device
 * placement of machine learning graphs", SoCC 2020, section 3.2: of all ready tasks and devices
 * with room the pair that can start first, again and again (ETF: Hwang, Chow, Anger, Lee, SIAM
 * J. Computing 18(2), 1989); ties go to the longest path behind, as ETF's do. */
#include <math.h>

#include "place/heuristic/listsched.h"
#include "place/method/method.h"
#include "place/heuristic/task_heap.h"

struct etf {
	struct listsched x;
	uint32_t *order, *place_of; /* (n) tasks by descending upward rank; its inverse */
	double *free_s;             /* (k) when a device has ended what it was given */
	uint32_t *waits;            /* (n) inputs whose task is not placed */
	/* (k) places in order of tasks whose parents are placed: those that could begin when the
	 * device is free, and the others by when their inputs are there */
	struct task_heap *now, *later;
};

static void make_ready(struct etf *t, uint32_t v)
{
	for (uint32_t dev = 0; dev < t->x.k; dev++) {
		double s = listsched_ready_s(&t->x, v, dev);

		if (s < INFINITY)
			task_heap_add(&t->later[dev], s, t->place_of[v]);
	}
}

/* Drop what was placed, or may not go to dev: once so, always, since memory only fills. */
static void clean(struct etf *t, struct task_heap *q, uint32_t dev)
{
	while (q->n && (t->x.placed[t->order[q->entry->task]] ||
			!listsched_may(&t->x, t->order[q->entry->task], dev)))
		task_heap_drop(q);
}

/* The first task of dev, as its place in order, and when it could start: INFINITY, there is none.
 */
static double first_of(struct etf *t, uint32_t dev, uint32_t *place)
{
	struct task_heap *now = &t->now[dev], *later = &t->later[dev];

	clean(t, later, dev);
	while (later->n && later->entry->at <= t->free_s[dev]) {
		task_heap_add(now, 0, later->entry->task);
		task_heap_drop(later);
		clean(t, later, dev);
	}
	clean(t, now, dev);
	if (now->n || later->n)
		*place = now->n ? now->entry->task : later->entry->task;
	return now->n ? t->free_s[dev] : later->n ? later->entry->at : INFINITY;
}

/* Of all ready tasks and devices the pair that can start first; of several that of the longest path
 * behind, then of the lower number, then of the faster device. */
static double earliest_pair(struct etf *t, uint32_t *task, uint32_t *on)
{
	const double *cost = t->x.m->costs.task_s;
	double best = INFINITY;
	uint32_t at = 0;

	for (uint32_t dev = 0; dev < t->x.k; dev++) {
		uint32_t place = 0;
		double s = first_of(t, dev, &place);
		size_t row = (size_t)t->order[place] * t->x.k;

		bool faster = best < INFINITY && cost[row + dev] < cost[row + *on];

		if (s == INFINITY || s > best ||
		    (s == best && (place > at || (place == at && !faster))))
			continue;
		best = s;
		at = place;
		*on = dev;
	}
	*task = t->order[at];
	return best;
}

static void place_task(struct etf *t, uint32_t v, uint32_t dev, double start)
{
	struct listsched *x = &t->x;

	listsched_append(x, v, dev, start);
	for (uint32_t i = 0; i < x->k; i++)
		if (i == dev || (x->m->costs.turns && x->m->costs.turns[(size_t)dev * x->k + i]))
			t->free_s[i] = fmax(t->free_s[i], x->end_s[v]);
	for (uint32_t o = x->d->out_ptr[v]; o < x->d->out_ptr[v + 1]; o++)
		for (uint32_t i = x->d->use_ptr[o]; i < x->d->use_ptr[o + 1]; i++)
			if (--t->waits[x->d->use_task[i]] == 0)
				make_ready(t, x->d->use_task[i]);
}

/* The first in order of the tasks that wait for no input; one is left. */
static uint32_t first_ready(const struct etf *t)
{
	uint32_t i = 0;

	while (t->x.placed[t->order[i]] || t->waits[t->order[i]])
		i++;
	return t->order[i];
}

static void etf_init(struct etf *t, struct method_run *r)
{
	struct listsched *x = &t->x;

	listsched_init(x, r->m, r->a);
	t->order = ARENA_NEWN(r->a, uint32_t, x->n);
	t->place_of = ARENA_NEWN(r->a, uint32_t, x->n);
	t->free_s = ARENA_NEWN(r->a, double, x->k);
	t->now = ARENA_NEWN(r->a, struct task_heap, x->k);
	t->later = ARENA_NEWN(r->a, struct task_heap, x->k);
	t->waits = ARENA_NEWN(r->a, uint32_t, x->n);
	for (uint32_t v = 0; v < x->n; v++) {
		t->order[v] = v;
		t->waits[v] = x->left[v];
	}
	listsched_sort(t->order, x->n, listsched_upward_rank(x, r->a));
	for (uint32_t i = 0; i < x->n; i++)
		t->place_of[t->order[i]] = i;
}

static int run_m_etf(struct method_run *r, struct err *e)
{
	struct etf t = {0};
	int rc = 0;

	etf_init(&t, r);
	for (uint32_t v = 0; v < t.x.n; v++)
		if (t.waits[v] == 0)
			make_ready(&t, v);
	for (uint32_t left = t.x.n; left && rc == 0; left--) {
		uint32_t v = 0, dev = 0;
		double start = earliest_pair(&t, &v, &dev);

		if (start < INFINITY)
			place_task(&t, v, dev, start);
		else
			rc = listsched_stuck(&t.x, first_ready(&t), e);
	}
	for (uint32_t dev = 0; dev < t.x.k; dev++) {
		mem_free(t.now[dev].entry);
		mem_free(t.later[dev].entry);
	}
	return listsched_answer(&t.x, rc, r, e);
}

const struct place_method method_m_etf = {
	.name = "m-etf",
	.needs_costs = true,
	.about = "earliest task first, within memory",
	.source = "Jeon et al., Baechi, SoCC 2020, section 3.2",
	.run = run_m_etf,
	.is_heuristic = true,
};
