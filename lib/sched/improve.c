/* improve.c - is a schedule worth it that leaves a device idle for a task that matters more? */
#include "sched/improve.h"

/* Forward schedules that are tried from each order; a schedule is worth it when its makespan is
 * below this part of that by rank. */
enum { ORDER_ROUNDS = 4 };
static const double WORTH_IT = 0.995;

struct improver {
	const struct sched_dag *d;
	uint32_t k;
	struct orderer *order;
	double *start_s, *other_s; /* (n) */
	double *rank;              /* (n) */
	uint32_t *delayed_by;      /* (n) */
};

struct improver *improver_new(const struct sched_dag *d, const struct sched_costs *c)
{
	struct improver *x = MEM_NEW(struct improver);

	x->d = d;
	x->k = c->links.k;
	x->order = orderer_new(d, c);
	x->start_s = MEM_NEWN(double, d->n);
	x->other_s = MEM_NEWN(double, d->n);
	x->rank = MEM_NEWN(double, d->n);
	x->delayed_by = MEM_NEWN(uint32_t, d->n);
	return x;
}

void improver_free(struct improver *x)
{
	if (!x)
		return;
	orderer_free(x->order);
	mem_free(x->start_s);
	mem_free(x->other_s);
	mem_free(x->rank);
	mem_free(x->delayed_by);
	mem_free(x);
}

bool improver_run(struct improver *x, const uint16_t *device, const struct timeline *t)
{
	uint32_t busy = 0;
	double s, other;

	for (uint32_t d = 0; d < x->k; d++)
		busy += t->busy_s[d] > 0;
	if (busy < 2)
		return false;
	/* Once from the ranks, once from the order of t. */
	for (uint32_t v = 0; v < x->d->n; v++)
		x->rank[v] = -t->start_s[v];
	s = orderer_run(x->order, device, t->rank, ORDER_ROUNDS, x->start_s);
	other = orderer_run(x->order, device, x->rank, ORDER_ROUNDS, x->other_s);
	bool second = other < s;
	if (second)
		s = other;
	if (s >= t->makespan_s * WORTH_IT)
		return false;
	orderer_delays(x->order, device, second ? x->other_s : x->start_s, s, x->rank,
		       x->delayed_by);
	return true;
}

const double *improver_rank(const struct improver *x)
{
	return x->rank;
}

const uint32_t *improver_delays(const struct improver *x)
{
	return x->delayed_by;
}
