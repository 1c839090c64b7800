/* peft.c - predict earliest finish time: Arabnejad and Barbosa, "List scheduling algorithm for
 * heterogeneous systems by an optimistic cost table", IEEE TPDS 25(3), 2014, section 4. */
#include <math.h>

#include "place/heuristic/listsched.h"
#include "place/method/method.h"

/* OCT(v,p), equation 3: the longest of the shortest ways from v's end on p to the end, when every
 * task after it takes its best device.  (n,k) */
static void optimistic_costs(const struct listsched *x, const double *use_s, double *oct)
{
	double *own = MEM_NEWN(double, x->k); /* of the consumer, itself included */

	for (uint32_t v = x->n; v-- > 0;)
		for (uint32_t t = x->d->out_ptr[v]; t < x->d->out_ptr[v + 1]; t++)
			for (uint32_t i = x->d->use_ptr[t]; i < x->d->use_ptr[t + 1]; i++) {
				size_t w = (size_t)x->d->use_task[i] * x->k;
				double least = INFINITY, *to = &oct[(size_t)v * x->k];

				for (uint32_t q = 0; q < x->k; q++) {
					double s = x->m->costs.task_s[w + q];

					own[q] = s >= 0 ? oct[w + q] + s : INFINITY;
					least = fmin(least, own[q]);
				}
				/* A copy takes the same between any two devices. */
				for (uint32_t p = 0; least < INFINITY && p < x->k; p++)
					to[p] = fmax(to[p], fmin(own[p], least + use_s[i]));
			}
	mem_free(own);
}

/* The device of the smallest optimistic finish time, equation 5. */
static uint32_t choose_device(struct listsched *x, uint32_t v, void *arg)
{
	const double *oct = arg;
	double best = INFINITY;
	uint32_t at = SCHED_NONE;

	for (uint32_t dev = 0; dev < x->k; dev++) {
		double s = listsched_end_s(x, v, dev) + oct[(size_t)v * x->k + dev];

		if (s < best) {
			best = s;
			at = dev;
		}
	}
	return at;
}

static int run_peft(struct method_run *r, struct err *e)
{
	struct listsched x;

	listsched_init(&x, r->m, r->a);
	x.deadline_s = method_deadline_s(r);
	double *oct = ARENA_NEWN(r->a, double, (size_t)x.n *x.k);
	double *rank = ARENA_NEWN(r->a, double, x.n);
	double *task_s = ARENA_NEWN(r->a, double, x.n);
	double *use_s = ARENA_NEWN(r->a, double, x.d->n_uses);

	listsched_means(&x, task_s, use_s);
	optimistic_costs(&x, use_s, oct);
	for (uint32_t v = 0; v < x.n; v++) /* rank_oct, equation 4 */
		for (uint32_t p = 0; p < x.k; p++)
			rank[v] += oct[(size_t)v * x.k + p] / x.k;
	int rc = listsched_run(&x, rank, choose_device, oct, e);

	return listsched_answer(&x, rc, r, e);
}

const struct place_method method_peft = {
	.name = "peft",
	.needs_costs = true,
	.about = "finish time plus optimistic cost of what follows",
	.source = "Arabnejad, Barbosa, IEEE TPDS 25(3), 2014",
	.run = run_peft,
	.is_heuristic = true,
};
