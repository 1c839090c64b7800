/* beside.c - a model shared out to cores by earliest finish, timed in every rotation. */
#include "device/beside.h"

#include <math.h>
#include <string.h>

/* Inferences that count, per rotation: at least, at most, and no more after these seconds. */
enum { LEAST_RUNS = 3, MOST_RUNS = 15 };
static const double ENOUGH_S = 0.5;
/* What a tensor from another core takes, roughly. */
static const double HAND_OVER_S = 2e-6;

struct beside {
	struct session *s;
	const uint32_t *step_set;
	uint32_t n, *dev;            /* (n) the devices that work beside each other */
	uint16_t *part;              /* (n_sets) < n: whose the set is in rotation 0 */
};

static bool may_be_beside(const struct session *s, uint32_t d)
{
	const struct device *dev = &s->devices.dev[d];
	const struct device_class *c = dev->class;
	if (!c->host || c->finish || c->flush || c->segments || dev->n_cpus == 0)
		return false;
	for (uint32_t i = 0; i < s->devices.n; i++)
		if (i != d && device_shares_cores(dev, &s->devices.dev[i]))
			return false;
	return true;
}

/* The devices, and whether they can share this model. */
static bool find_devices(struct beside *x, const struct interval *set_s)
{
	const struct session *s = x->s;
	uint32_t k = s->devices.n;
	const struct variables *v = s->model.env.variables;
	for (uint32_t d = 0; d < k; d++)
		if (may_be_beside(s, d))
			x->dev[x->n++] = d;
	for (uint32_t i = 0; i < s->model.g->n_sets; i++)
		for (uint32_t j = 0; j < x->n; j++) {
			size_t cell = (size_t)i * k + x->dev[j];
			if (!s->mask[cell] || set_s[cell].mid < 0)
				return false;
		}
	return x->n > 1 && !(v && v->n > 0);
}

/* Sets in topological order to the part where their first step ends first. */
static void share_out(struct beside *x, const struct interval *set_s)
{
	const struct sched_dag *d = &x->s->planner.dag;
	uint32_t n_sets = x->s->model.g->n_sets, k = x->s->devices.n;
	double *end_s = MEM_NEWN(double, (size_t)d->n + 1), *free_s = MEM_NEWN(double, x->n);
	uint32_t *n_in = MEM_NEWN(uint32_t, (size_t)n_sets + 1);
	memset(x->part, 0xff, n_sets * sizeof *x->part);
	for (uint32_t v = 0; v < d->n; v++)
		if (x->step_set[v] != GRAPH_NONE)
			n_in[x->step_set[v]]++;
	for (uint32_t v = 0; v < d->n; v++) {
		uint32_t set = x->step_set[v], best = 0;
		double best_s = INFINITY;
		if (set == GRAPH_NONE)
			continue;
		for (uint32_t j = 0; j < x->n; j++) {
			double start = free_s[j];
			if (x->part[set] != UINT16_MAX && x->part[set] != j)
				continue;
			for (uint32_t i = d->in_ptr[v]; i < d->in_ptr[v + 1]; i++) {
				uint32_t u = d->tensor_task[d->use_tensor[d->in_use[i]]];
				bool here = x->step_set[u] == GRAPH_NONE || x->part[x->step_set[u]] == j;
				start = fmax(start, end_s[u] + (here ? 0 : HAND_OVER_S));
			}
			double s = start + set_s[(size_t)set * k + x->dev[j]].mid / n_in[set];
			if (s < best_s) {
				best_s = s;
				best = j;
			}
		}
		x->part[set] = (uint16_t)best;
		end_s[v] = free_s[best] = best_s;
	}
	for (uint32_t i = 0; i < n_sets; i++)
		if (x->part[i] == UINT16_MAX)
			x->part[i] = 0;
	mem_free(end_s);
	mem_free(free_s);
	mem_free(n_in);
}

/* Runs of p, (n_runs, n_steps) into step_s; how many, or -1. */
static int time_runs(struct session *s, struct plan *p, double *step_s, struct err *e)
{
	uint32_t n = 0, n_steps = s->model.n_steps;
	double end = clock_s() + ENOUGH_S;
	for (int warm = 2; n < MOST_RUNS && (n < LEAST_RUNS || clock_s() < end);) {
		struct exec_sample x = {.step_s = &step_s[(size_t)n * n_steps]};
		if (executor_run(s->x, p, &x, e) < 0)
			return -1;
		if (warm-- <= 0)
			n++;
	}
	return (int)n;
}

static int time_rotation(struct beside *x, uint32_t turn, struct interval *set_s, struct err *e)
{
	struct session *s = x->s;
	uint32_t n_sets = s->model.g->n_sets, n_steps = s->model.n_steps, k = s->devices.n;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)n_sets + 1);
	double *step_s = MEM_NEWN(double, (size_t)MOST_RUNS * n_steps + 1);
	double *sum = MEM_NEWN(double, (size_t)MOST_RUNS * n_sets + 1);
	enum fuse_mode before = s->planner.fuse;
	struct plan p;
	for (uint32_t i = 0; i < n_sets; i++)
		device[i] = (uint16_t)x->dev[(x->part[i] + turn) % x->n];
	s->planner.fuse = FUSE_SETS;
	int n = plan_make(&s->planner, device, &p, e);
	s->planner.fuse = before;
	if (n == 0) {
		n = time_runs(s, &p, step_s, e);
		plan_release(&p);
	}
	for (int r = 0; r < n; r++)
		for (uint32_t i = 0; i < n_steps; i++)
			if (x->step_set[i] != GRAPH_NONE)
				sum[(size_t)x->step_set[i] * (size_t)n + (size_t)r] +=
					step_s[(size_t)r * n_steps + i];
	for (uint32_t i = 0; i < n_sets && n > 0; i++)
		set_s[(size_t)i * k + device[i]] = interval_median(&sum[(size_t)i * (size_t)n], (uint32_t)n);
	mem_free(device);
	mem_free(step_s);
	mem_free(sum);
	return n < 0 ? -1 : 0;
}

int beside_measure(struct session *s, const uint32_t *step_set, struct interval *set_s,
		   struct err *e)
{
	struct beside x = {.s = s, .step_set = step_set, .dev = MEM_NEWN(uint32_t, (size_t)s->devices.n + 1),
			   .part = MEM_NEWN(uint16_t, (size_t)s->model.g->n_sets + 1)};
	int rc = 0;
	if (find_devices(&x, set_s)) {
		share_out(&x, set_s);
		for (uint32_t turn = 0; turn < x.n && rc == 0; turn++)
			rc = time_rotation(&x, turn, set_s, e);
	}
	mem_free(x.dev);
	mem_free(x.part);
	return rc;
}
