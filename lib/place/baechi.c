/* baechi.c - m-TOPO and m-ETF: Jeon, Cai, Srivastava, Jiang, Gupta, Chu, Sirotkin, "Baechi: fast
 * device placement of machine learning graphs", SoCC 2020, sections 3.1 and 3.2.  Both keep to the
 * memory of devices. */
#include <math.h>
#include <string.h>

#include "place/listsched.h"
#include "place/method.h"

/* ---- m-TOPO ---- */

struct turn {
	uint64_t share;              /* bytes a device is filled with */
	uint32_t dev;                /* whose turn it is */
};

/* The share of memory that a device gets: the whole by the number of devices, and the largest unit
 * more. */
static uint64_t share_of_memory(const struct listsched *x)
{
	uint64_t sum = 0, largest = 0;

	for (uint32_t i = 0; i < x->u.n; i++) {
		sum += x->u.mem[i];
		largest = x->u.mem[i] > largest ? x->u.mem[i] : largest;
	}
	return sum / x->k + largest;
}

/* The current device until its share is full, then the next; beyond shares whatever has room. */
static uint32_t fill_in_turn(struct listsched *x, uint32_t v, void *arg)
{
	struct turn *turn = arg;
	uint64_t mem = x->u.mem[x->u.of_set[x->m->tasks.task_set[v]]];

	for (uint32_t dev = turn->dev; dev < x->k; dev++) {
		if (listsched_end_s(x, v, dev) == INFINITY)
			continue;
		if (x->mem[dev] + mem <= turn->share || dev + 1 == x->k) {
			turn->dev = dev;
			return dev;
		}
	}
	for (uint32_t dev = 0; dev < x->k; dev++)
		if (listsched_end_s(x, v, dev) < INFINITY)
			return dev;
	return SCHED_NONE;
}

int method_m_topo(struct method_run *r, struct err *e)
{
	struct listsched x;
	struct turn turn = {0, 0};

	listsched_init(&x, r->m, r->a);
	turn.share = share_of_memory(&x);
	double *order = ARENA_NEWN(r->a, double, x.n);
	for (uint32_t v = 0; v < x.n; v++)
		order[v] = -(double)v;
	int rc = listsched_run(&x, order, fill_in_turn, &turn, e);

	return listsched_answer(&x, rc, r, e);
}

/* ---- m-ETF ---- */

struct etf {
	struct listsched x;
	const double *rank;          /* (n) upward */
	double *free_s;              /* (k) when a device has ended what it was given */
	uint32_t *ready, n_ready;    /* tasks whose parents are placed */
	uint32_t *waits;             /* (n) inputs whose task is not placed */
	double *arrive_s;            /* (n,k) of these: inputs there; INFINITY: no way */
};

static void make_ready(struct etf *t, uint32_t v)
{
	t->ready[t->n_ready++] = v;
	for (uint32_t dev = 0; dev < t->x.k; dev++)
		t->arrive_s[(size_t)v * t->x.k + dev] = listsched_ready_s(&t->x, v, dev);
}

/* Between pairs that start at once: the longer path behind, then the lower number, then the faster
 * device. */
static bool rather(const struct etf *t, uint32_t v, uint32_t dev, uint32_t task, uint32_t on)
{
	const double *cost = t->x.m->costs.task_s;

	if (v != task)
		return t->rank[v] != t->rank[task] ? t->rank[v] > t->rank[task] : v < task;
	return cost[(size_t)v * t->x.k + dev] < cost[(size_t)v * t->x.k + on];
}

/* Of all ready tasks and devices the pair that can start first; *at: its place in ready. */
static bool earliest_pair(const struct etf *t, uint32_t *at, uint32_t *on)
{
	double best = INFINITY;

	for (uint32_t i = 0; i < t->n_ready; i++)
		for (uint32_t dev = 0, v = t->ready[i]; dev < t->x.k; dev++) {
			double s = fmax(t->free_s[dev], t->arrive_s[(size_t)v * t->x.k + dev]);

			if (s > best || s == INFINITY || !listsched_may(&t->x, v, dev) ||
			    (s == best && !rather(t, v, dev, t->ready[*at], *on)))
				continue;
			best = s;
			*at = i;
			*on = dev;
		}
	return best < INFINITY;
}

static void place(struct etf *t, uint32_t at, uint32_t dev)
{
	struct listsched *x = &t->x;
	uint32_t v = t->ready[at];

	listsched_place(x, v, dev);
	t->free_s[dev] = fmax(t->free_s[dev], x->end_s[v]);
	t->ready[at] = t->ready[--t->n_ready];
	for (uint32_t o = x->d->out_ptr[v]; o < x->d->out_ptr[v + 1]; o++)
		for (uint32_t i = x->d->use_ptr[o]; i < x->d->use_ptr[o + 1]; i++)
			if (--t->waits[x->d->use_task[i]] == 0)
				make_ready(t, x->d->use_task[i]);
}

int method_m_etf(struct method_run *r, struct err *e)
{
	struct etf t = {0};
	struct listsched *x = &t.x;
	uint32_t at = 0, dev = 0;
	int rc = 0;

	listsched_init(x, r->m, r->a);
	t.rank = listsched_upward_rank(x, r->a);
	t.free_s = ARENA_NEWN(r->a, double, x->k);
	t.ready = ARENA_NEWN(r->a, uint32_t, x->n);
	t.waits = ARENA_NEWN(r->a, uint32_t, x->n);
	t.arrive_s = ARENA_NEWN(r->a, double, (size_t)x->n * x->k);
	memcpy(t.waits, x->left, x->n * sizeof(*t.waits));
	for (uint32_t v = 0; v < x->n; v++)
		if (t.waits[v] == 0)
			make_ready(&t, v);
	while (t.n_ready && rc == 0) {
		if (earliest_pair(&t, &at, &dev))
			place(&t, at, dev);
		else
			rc = err_set(e, ST_RUNTIME, "m-etf: no device has room for what is left");
	}
	return listsched_answer(x, rc, r, e);
}
