/* baechi.c - m-TOPO and m-ETF: Jeon, Cai, Srivastava, Jiang, Gupta, Chu, Sirotkin, "Baechi: fast
 * device placement of machine learning graphs", SoCC 2020, sections 3.1 and 3.2.  Both keep to the
 * memory of devices. */
#include <math.h>

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

/* When dev could start v: its inputs are there and dev has ended what it was given. */
static double start_s(const struct listsched *x, const double *free_s, uint32_t v, uint32_t dev)
{
	if (!listsched_may(x, v, dev))
		return INFINITY;
	return fmax(free_s[dev], listsched_ready_s(x, v, dev));
}

/* Of all ready tasks and devices the pair that can start first (equal: the task of the longer path
 * behind, then the faster device). */
static bool earliest_pair(const struct listsched *x, const double *free_s, const double *rank, uint32_t *task,
			  uint32_t *on)
{
	double best = INFINITY;

	for (uint32_t v = 0; v < x->n; v++) {
		if (x->placed[v] || x->left[v])
			continue;
		for (uint32_t dev = 0; dev < x->k; dev++) {
			double s = start_s(x, free_s, v, dev);
			bool better = s < best;

			if (s == best && s < INFINITY)
				better = rank[v] > rank[*task] ||
					 (v == *task && x->m->costs.task_s[(size_t)v * x->k + dev] <
							x->m->costs.task_s[(size_t)v * x->k + *on]);
			if (!better)
				continue;
			best = s;
			*task = v;
			*on = dev;
		}
	}
	return best < INFINITY;
}

int method_m_etf(struct method_run *r, struct err *e)
{
	struct listsched x;
	uint32_t v = 0, dev = 0;

	listsched_init(&x, r->m, r->a);
	const double *rank = listsched_upward_rank(&x, r->a);
	double *free_s = ARENA_NEWN(r->a, double, x.k);
	int rc = 0;

	for (uint32_t i = 0; i < x.n && rc == 0; i++) {
		if (!earliest_pair(&x, free_s, rank, &v, &dev)) {
			rc = err_set(e, ST_RUNTIME, "m-etf: no device has room for what is left");
			break;
		}
		listsched_place(&x, v, dev);
		free_s[dev] = fmax(free_s[dev], x.end_s[v]);
	}
	return listsched_answer(&x, rc, r, e);
}
