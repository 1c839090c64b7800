/* profile.c - timed inferences on one device after another. */
#include "device/profile.h"

#include "device/beside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Inferences that count, per device and plan: at least, at most, and no more after these seconds. */
enum { LEAST_RUNS = 3, MOST_RUNS = 15 };
static const double ENOUGH_S = 0.8;

/* The set that a step's time belongs to: its own, or its first consumer's. */
static void step_sets(const struct planner *p, uint32_t *set)
{
	const struct model *m = p->m;
	for (uint32_t s = m->n_steps; s-- > 0;) {
		set[s] = m->g->set[m->step_node[s]];
		for (uint32_t t = p->dag.out_ptr[s];
		     t < p->dag.out_ptr[s + 1] && set[s] == GRAPH_NONE; t++)
			if (p->dag.use_ptr[t] < p->dag.use_ptr[t + 1])
				set[s] = set[p->dag.use_task[p->dag.use_ptr[t]]];
	}
}

/* All sets that device d can run there, the others where they can run. */
static void mostly_on(const struct session *s, uint32_t d, uint16_t *device)
{
	uint32_t k = s->devices.n;
	for (uint32_t i = 0; i < s->model.g->n_sets; i++) {
		const uint8_t *can = &s->mask[(size_t)i * k];
		uint32_t on = d;
		if (!can[d])
			for (on = 0; on + 1 < k && !can[on];)
				on++;
		device[i] = (uint16_t)on;
	}
}

/* ---- timed inferences ---- */

/* One plan on its device, and the times of all its steps and groups. */
struct timed {
	struct plan plan;
	bool made;
	uint32_t n_steps, n_runs;
	double *step_s;              /* (MOST_RUNS, n_steps) */
	double *task_s;              /* (MOST_RUNS, n_tasks) */
	double lat_s[MOST_RUNS];     /* without waiting for steps */
};

struct device_times {
	struct session *s;
	uint32_t d;
	const uint32_t *step_set;    /* (n_steps) */
	struct timed apart, joined;  /* grouped within sets, and across */
	bool queues, alone;          /* the device queues; it runs everything */
};

static int make_timed(struct device_times *x, struct timed *t, enum fuse_mode fuse,
		      const uint16_t *device, struct err *e)
{
	struct planner *p = &x->s->planner;
	enum fuse_mode before = p->fuse;
	p->fuse = fuse;
	int rc = plan_make(p, device, &t->plan, e);
	p->fuse = before;
	if (rc < 0)
		return -1;
	t->made = true;
	t->n_steps = x->s->model.n_steps;
	t->step_s = MEM_NEWN(double, (size_t)MOST_RUNS * t->n_steps + 1);
	t->task_s = MEM_NEWN(double, (size_t)MOST_RUNS * t->plan.n_tasks + 1);
	return 0;
}

static void drop_timed(struct timed *t)
{
	if (t->made)
		plan_release(&t->plan);
	mem_free(t->step_s);
	mem_free(t->task_s);
}

/* Run t once for times, and once more for the latency where waiting for steps spoils it. */
static int run_timed(struct device_times *x, struct timed *t, struct err *e)
{
	uint32_t r = t->n_runs;
	struct exec_sample s = {.step_s = &t->step_s[(size_t)r * t->n_steps],
				.task_s = &t->task_s[(size_t)r * t->plan.n_tasks],
				.apart = x->queues};
	if (executor_run(x->s->x, &t->plan, &s, e) < 0)
		return -1;
	if (x->queues && x->alone) {
		struct exec_sample whole = {0};
		if (executor_run(x->s->x, &t->plan, &whole, e) < 0)
			return -1;
		s.lat_s = whole.lat_s;
	}
	t->lat_s[r] = s.lat_s;
	t->n_runs++;
	return 0;
}

/* Where steps were waited for one by one: all times down to the latency without. */
static void scale_down(struct timed *t)
{
	double sum[MOST_RUNS], lat = interval_median(t->lat_s, t->n_runs).mid;
	for (uint32_t r = 0; r < t->n_runs; r++) {
		sum[r] = 0;
		for (uint32_t i = 0; i < t->plan.n_tasks; i++)
			sum[r] += t->task_s[(size_t)r * t->plan.n_tasks + i];
	}
	double all = interval_median(sum, t->n_runs).mid, scale = all > lat ? lat / all : 1;
	for (size_t i = 0; i < (size_t)t->n_runs * t->plan.n_tasks; i++)
		t->task_s[i] *= scale;
	for (size_t i = 0; i < (size_t)t->n_runs * t->n_steps; i++)
		t->step_s[i] *= scale;
}

static int time_plans(struct device_times *x, struct err *e)
{
	bool both = x->apart.made;
	double end = clock_s() + ENOUGH_S;
	for (int warm = 1; x->joined.n_runs < MOST_RUNS &&
			   (x->joined.n_runs < LEAST_RUNS || clock_s() < end);) {
		if (run_timed(x, &x->joined, e) < 0 || (both && run_timed(x, &x->apart, e) < 0))
			return -1;
		if (warm-- > 0)
			x->joined.n_runs = x->apart.n_runs = 0;
	}
	if (x->queues && x->alone) {
		scale_down(&x->joined);
		if (both)
			scale_down(&x->apart);
	}
	return 0;
}

/* ---- sets ---- */

/* Column d of set_s. */
static void sum_sets(const struct device_times *x, struct interval *set_s)
{
	const struct session *s = x->s;
	const struct timed *t = x->apart.made ? &x->apart : &x->joined;
	uint32_t k = s->devices.n, n_sets = s->model.g->n_sets, n = t->n_runs;
	double *sum = MEM_NEWN(double, (size_t)n_sets * n + 1);
	for (uint32_t i = 0; i < t->n_steps; i++)
		for (uint32_t r = 0; r < n && x->step_set[i] != GRAPH_NONE; r++)
			sum[(size_t)x->step_set[i] * n + r] += t->step_s[(size_t)r * t->n_steps + i];
	for (uint32_t i = 0; i < n_sets; i++)
		if (s->mask[(size_t)i * k + x->d])
			set_s[(size_t)i * k + x->d] = interval_median(&sum[(size_t)i * n], n);
	mem_free(sum);
}

/* ---- what groups of several sets save ---- */

struct saving {
	struct set_pair pair;
	uint32_t d;
	struct interval s;
};

struct savings {
	struct saving *v;
	size_t n, cap;
};

/* The set among those before step j of group g whose tensor it reads, not its own; GRAPH_NONE. */
static uint32_t joined_to(const struct device_times *x, const struct group *g, uint32_t j,
			  const bool *inside)
{
	const struct sched_dag *d = &x->s->planner.dag;
	uint32_t step = g->step[j];
	for (uint32_t i = d->in_ptr[step]; i < d->in_ptr[step + 1]; i++) {
		uint32_t from = d->tensor_task[d->use_tensor[d->in_use[i]]];
		if (inside[from] && x->step_set[from] != x->step_set[step] &&
		    x->step_set[from] != GRAPH_NONE)
			return x->step_set[from];
	}
	return GRAPH_NONE;
}

/* The pairs that group g joins, into out from *n on; each set is joined once. */
static void group_pairs(const struct device_times *x, const struct group *g, bool *inside,
			struct savings *out)
{
	for (uint32_t j = 0; j < g->n; j++) {
		uint32_t set = x->step_set[g->step[j]], first = 0;
		inside[g->step[j]] = true;
		while (x->step_set[g->step[first]] != set)
			first++;
		uint32_t to = set == GRAPH_NONE || first < j ? GRAPH_NONE
							     : joined_to(x, g, j, inside);
		if (to == GRAPH_NONE)
			continue;
		out->v = mem_grow(out->v, &out->cap, out->n + 1, sizeof *out->v);
		out->v[out->n++] = (struct saving){.pair = {to, set}, .d = x->d};
	}
	for (uint32_t j = 0; j < g->n; j++)
		inside[g->step[j]] = false;
}

/* What group `at` of the joined plan saves, in parts of one pair of n. */
static struct interval group_saving(const struct device_times *x, uint32_t at, size_t n)
{
	const struct timed *one = &x->apart, *all = &x->joined;
	const struct group *g = &all->plan.group[at];
	double saved[MOST_RUNS];
	for (uint32_t r = 0; r < all->n_runs; r++) {
		double sum = 0;
		for (uint32_t j = 0; j < g->n; j++)
			sum += one->step_s[(size_t)r * one->n_steps + g->step[j]];
		saved[r] = (sum - all->task_s[(size_t)r * all->plan.n_tasks + at]) / (double)n;
	}
	return interval_median(saved, all->n_runs);
}

static void find_savings(const struct device_times *x, struct savings *out)
{
	const struct plan *p = &x->joined.plan;
	bool *inside = MEM_NEWN(bool, (size_t)x->joined.n_steps + 1);
	for (uint32_t i = 0; i < p->n_groups; i++) {
		size_t first = out->n;
		if (p->group[i].dev != x->d || p->group[i].n < 2)
			continue;
		group_pairs(x, &p->group[i], inside, out);
		if (out->n == first)
			continue;
		struct interval s = group_saving(x, i, out->n - first);
		for (size_t j = first; j < out->n; j++)
			out->v[j].s = s;
	}
	mem_free(inside);
}

static int by_pair(const void *pa, const void *pb)
{
	const struct saving *a = pa, *b = pb;
	if (a->pair.src != b->pair.src)
		return a->pair.src < b->pair.src ? -1 : 1;
	if (a->pair.dst != b->pair.dst)
		return a->pair.dst < b->pair.dst ? -1 : 1;
	return a->d < b->d ? -1 : a->d > b->d;
}

/* Distinct pairs with a column for each device. */
static void take_savings(struct savings *x, uint32_t k, struct arena *a, struct profile *out)
{
	if (x->n > 1)
		qsort(x->v, x->n, sizeof *x->v, by_pair);
	out->pair = ARENA_NEWN(a, struct set_pair, x->n);
	out->saved_s = ARENA_NEWN(a, struct interval, x->n * k);
	for (size_t i = 0; i < x->n; i++) {
		const struct saving *v = &x->v[i];
		if (i == 0 || v->pair.src != v[-1].pair.src || v->pair.dst != v[-1].pair.dst)
			out->pair[out->n_pairs++] = v->pair;
		struct interval *to = &out->saved_s[(size_t)(out->n_pairs - 1) * k + v->d];
		*to = (struct interval){to->mid + v->s.mid, to->lo + v->s.lo, to->hi + v->s.hi};
	}
	mem_free(x->v);
}

/* ---- a device ---- */

static int time_device(struct session *s, uint32_t d, const uint32_t *step_set,
		       struct interval *set_s, struct savings *savings, struct err *e)
{
	const struct device_class *c = s->devices.dev[d].class;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)s->model.g->n_sets + 1);
	struct device_times x = {.s = s, .d = d, .step_set = step_set, .queues = c->finish != NULL};
	mostly_on(s, d, device);
	x.alone = session_single(s, device) == (int)d;
	int rc = c->fuses ? make_timed(&x, &x.apart, FUSE_SETS, device, e) : 0;
	if (rc == 0)
		rc = make_timed(&x, &x.joined, FUSE_ALL, device, e);
	if (rc == 0)
		rc = time_plans(&x, e);
	if (rc == 0) {
		sum_sets(&x, set_s);
		if (x.apart.made)
			find_savings(&x, savings);
	}
	drop_timed(&x.joined);
	drop_timed(&x.apart);
	mem_free(device);
	return rc;
}

/* ---- the whole ---- */

/* A failure of device d, unless the program is to end. */
static int note_failure(const struct session *s, struct profile *out, uint32_t d, struct arena *a,
			struct err *e)
{
	if (!executor_alive(s->x))
		return -1;
	out->failed[d] = arena_printf(a, "%s", e->msg);
	err_clear(e);
	return 0;
}

static int take_links(struct session *s, struct profile *out, struct arena *a, struct err *e)
{
	uint32_t k = s->devices.n;
	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = i + 1; j < k; j++) {
			size_t forth = (size_t)i * k + j, back = (size_t)j * k + i;
			struct link_cost x[2];
			if (out->failed[i] || out->failed[j])
				continue;
			if (link_measure(s->x, &s->devices, i, j, x, e) == 0) {
				out->link[forth] = x[0];
				out->link[back] = x[1];
				out->has_link[forth] = out->has_link[back] = true;
			} else if (note_failure(s, out, j, a, e) < 0) {
				return -1;
			}
		}
	return 0;
}

int profile_take(struct session *s, struct arena *a, struct profile *out, struct err *e)
{
	size_t k = s->devices.n, n_sets = s->model.g->n_sets;
	uint32_t *step_set = MEM_NEWN(uint32_t, (size_t)s->model.n_steps + 1);
	struct savings savings = {0};
	*out = (struct profile){.set_s = ARENA_NEWN(a, struct interval, n_sets * k),
				.failed = ARENA_NEWN(a, const char *, k),
				.has_link = ARENA_NEWN(a, bool, k * k),
				.link = ARENA_NEWN(a, struct link_cost, k * k)};
	for (size_t i = 0; i < n_sets * k; i++)
		out->set_s[i] = (struct interval){-1, -1, -1};
	step_sets(&s->planner, step_set);
	int rc = 0;
	for (uint32_t d = 0; d < k && rc == 0; d++)
		if (time_device(s, d, step_set, out->set_s, &savings, e) < 0)
			rc = note_failure(s, out, d, a, e);
	if (rc == 0 && beside_measure(s, step_set, out->set_s, e) < 0) {
		/* What was measured alone stays. */
		rc = executor_alive(s->x) ? 0 : -1;
		if (rc == 0)
			err_clear(e);
	}
	mem_free(step_set);
	take_savings(&savings, s->devices.n, a, out);
	return rc < 0 ? -1 : take_links(s, out, a, e);
}
