/* cpop.c - critical path on a processor: Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section
 * 4.3.  Where the paper leaves it open: of several critical paths the one through lower task
 * numbers, of tasks of equal priority the lower number, of devices the first.  Priorities that
 * differ by rounding alone are equal, as on the critical path they are by definition.  Beyond
 * the paper: several sources; a critical task that may not go where the others are goes where it
 * ends first. */
#include <math.h>

#include "place/heuristic/listsched.h"
#include "place/method/method.h"

static const double SAME = 1e-11; /* of the longest path: closer priorities are equal */

struct cpop {
	bool *critical; /* (n) */
	/* where the critical path goes; SCHED_NONE: it has no one device */
	uint32_t dev;
};

/* rank_d (section 4.1): the longest path from a source to the start of v. */
static void downward_rank(const struct listsched *x, const double *task_s, const double *use_s,
			  double *rank)
{
	for (uint32_t v = 0; v < x->n; v++)
		for (uint32_t i = x->d->in_ptr[v]; i < x->d->in_ptr[v + 1]; i++) {
			uint32_t use = x->d->in_use[i];
			uint32_t u = x->d->tensor_task[x->d->use_tensor[use]];

			rank[v] = fmax(rank[v], rank[u] + task_s[u] + use_s[use]);
		}
}

/* priority = rank_u + rank_d of each task, in so large units that rounding does not tell. */
static void find_priorities(const struct listsched *x, const double *up, const double *down,
			    double *priority)
{
	double longest = 0;

	for (uint32_t v = 0; v < x->n; v++)
		longest = fmax(longest, up[v] + down[v]);
	for (uint32_t v = 0; v < x->n && longest > 0; v++)
		priority[v] = round((up[v] + down[v]) / longest / SAME);
}

/* The critical path: from the source of the highest priority on to the consumer of the highest. */
static void mark_path(const struct listsched *x, const double *priority, bool *critical)
{
	uint32_t v = SCHED_NONE;

	for (uint32_t u = 0; u < x->n; u++)
		if (x->left[u] == 0 && (v == SCHED_NONE || priority[u] > priority[v]))
			v = u;
	while (v != SCHED_NONE) {
		uint32_t next = SCHED_NONE;

		critical[v] = true;
		for (uint32_t t = x->d->out_ptr[v]; t < x->d->out_ptr[v + 1]; t++)
			for (uint32_t i = x->d->use_ptr[t]; i < x->d->use_ptr[t + 1]; i++) {
				uint32_t w = x->d->use_task[i];

				if (next == SCHED_NONE || priority[w] > priority[next] ||
				    (priority[w] == priority[next] && w < next))
					next = w;
			}
		v = next;
	}
}

/* The device on which the whole critical path takes least. */
static uint32_t path_device(const struct listsched *x, const bool *critical)
{
	double best = INFINITY;
	uint32_t at = SCHED_NONE;

	for (uint32_t dev = 0; dev < x->k; dev++) {
		double sum = 0;

		for (uint32_t v = 0; v < x->n; v++) {
			double s = x->m->costs.task_s[(size_t)v * x->k + dev];

			if (critical[v])
				sum += s < 0 ? INFINITY : s;
		}
		if (sum < best) {
			best = sum;
			at = dev;
		}
	}
	return at;
}

static uint32_t choose_device(struct listsched *x, uint32_t v, void *arg)
{
	const struct cpop *c = arg;

	if (c->critical[v] && c->dev != SCHED_NONE && listsched_end_s(x, v, c->dev) < INFINITY)
		return c->dev;
	return listsched_choose_earliest(x, v, NULL);
}

static int run_cpop(struct method_run *r, struct err *e)
{
	struct listsched x;
	struct cpop c;

	listsched_init(&x, r->m, r->a);
	x.deadline_s = method_deadline_s(r);
	double *up = ARENA_NEWN(r->a, double, x.n), *down = ARENA_NEWN(r->a, double, x.n);
	double *task_s = ARENA_NEWN(r->a, double, x.n), *priority = ARENA_NEWN(r->a, double, x.n);
	double *use_s = ARENA_NEWN(r->a, double, x.d->n_uses);

	listsched_means(&x, task_s, use_s);
	sched_upward_rank(x.d, task_s, use_s, up);
	downward_rank(&x, task_s, use_s, down);
	find_priorities(&x, up, down, priority);
	c.critical = ARENA_NEWN(r->a, bool, x.n);
	mark_path(&x, priority, c.critical);
	c.dev = path_device(&x, c.critical);
	int rc = listsched_run(&x, priority, choose_device, &c, e);

	return listsched_answer(&x, rc, r, e);
}

const struct place_method method_cpop = {
	.name = "cpop",
	.needs_costs = true,
	.about = "the critical path on one device",
	.source = "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.3",
	.run = run_cpop,
	.is_heuristic = true,
};
