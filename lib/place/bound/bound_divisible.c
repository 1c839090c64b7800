/* bound_divisible.c - operations that may be cut into parts, on several devices at once. */
#include <math.h>

#include "place/bound/alike.h"
#include "place/bound/bound_divisible.h"
#include "place/bound/bound_shares.h"

enum { HALVINGS = 60 };

/* What y seconds of all devices do of one operation: the sum of (y - fixed) / (seconds - fixed). */
static double done_by(double y, const double *s, const double *fixed_s, uint32_t k)
{
	double sum = 0;

	for (uint32_t d = 0; d < k; d++)
		if (s[d] < INFINITY && y > fixed_s[d] && s[d] > fixed_s[d])
			sum += (y - fixed_s[d]) / (s[d] - fixed_s[d]);
	return sum;
}

double divisible_s(const double *s, const double *fixed_s, uint32_t k)
{
	double lo = 0, hi = INFINITY;

	for (uint32_t d = 0; d < k; d++)
		hi = fmin(hi, s[d]);
	if (!(hi < INFINITY))
		return 0; /* it runs nowhere: there is no placement */
	for (int i = 0; i < HALVINGS; i++) {
		double y = (lo + hi) / 2;

		*(done_by(y, s, fixed_s, k) >= 1 ? &hi : &lo) = y;
	}
	return lo;
}

/* cliques: of devices that take turns; NULL: none do. */
static double longest_path(const struct divisible *x, const struct shares *cliques)
{
	double *end = MEM_NEWN(double, x->n), share[TURNS_MOST], longest = 0;
	struct alike kinds;

	alike_init(&kinds, x->n, NULL, x->work_s, x->k * sizeof *x->work_s, NULL, 0);
	double *least = MEM_NEWN(double, (size_t)kinds.n + 1);

	for (uint32_t i = 0; i < kinds.n; i++) {
		const double *s = &x->work_s[(size_t)kinds.first[i] * x->k];

		least[i] = divisible_s(s, x->fixed_s, x->k);
		if (cliques)
			least[i] =
				fmax(least[i], shares_ascend(cliques, s, 1, NULL, 0, NULL, share));
	}
	for (uint32_t v = 0; v < x->n; v++) {
		for (uint32_t i = x->in_ptr[v]; i < x->in_ptr[v + 1]; i++)
			if (x->in[i] != UINT32_MAX)
				end[v] = fmax(end[v], end[x->in[i]]);
		end[v] += least[kinds.kind[v]];
		longest = fmax(longest, end[v]);
	}
	mem_free(least);
	mem_free(end);
	alike_release(&kinds);
	return longest;
}

struct divisible_bound bound_divisible(const struct divisible *x, const struct place_model *m,
				       double deadline_s)
{
	const struct bound_view v = {.m = m, .k = x->k, .deadline_s = deadline_s};
	double share[TURNS_MOST], load = 0;
	struct shares cliques;
	bool shared = shares_init(&cliques, &v);

	if (shared)
		load = fmax(0, shares_ascend(&cliques, x->work_s, x->n, NULL, 0, NULL, share));
	double path = longest_path(x, shared && m->costs.turns ? &cliques : NULL);

	/* A hair less, for what rounding adds up to. */
	return (struct divisible_bound){load * (1 - 1e-9), fmax(load, path) * (1 - 1e-9)};
}

void divisible_tasks(const struct place_model *m, struct arena *a, struct divisible *out)
{
	const struct sched_dag *d = &m->tasks.dag;
	uint32_t k = m->k, n_in = d->in_ptr[d->n];
	double *work_s = ARENA_NEWN(a, double, (size_t)d->n *k);
	uint32_t *in = ARENA_NEWN(a, uint32_t, (size_t)n_in + 1);

	for (uint32_t i = 0; i < n_in; i++)
		in[i] = d->tensor_task[d->use_tensor[d->in_use[i]]];
	for (size_t i = 0; i < (size_t)d->n * k; i++) {
		work_s[i] = m->costs.task_s[i] < 0 ? INFINITY : m->costs.task_s[i];
		for (uint32_t j = m->saved_ptr ? m->saved_ptr[i / k] : 0;
		     m->saved_ptr && j < m->saved_ptr[i / k + 1]; j++)
			work_s[i] = fmax(0, work_s[i] - fmax(0, m->saved_s[(size_t)j * k + i % k]));
	}
	*out = (struct divisible){.n = d->n,
				  .k = k,
				  .work_s = work_s,
				  .fixed_s = ARENA_NEWN(a, double, k),
				  .in_ptr = d->in_ptr,
				  .in = in};
}
