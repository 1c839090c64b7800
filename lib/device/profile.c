/* profile.c - timed inferences on each device and on several, in rounds. */
#include "device/profile.h"

#include "device/probes.h"
#include "device/timed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All rounds together, and what comes before them, take about so many times session.opt.max_s; there
 * are some rounds in any case. */
enum { EFFORT = 4, LEAST_ROUNDS = 2 };

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

struct device_times {
	struct session *s;
	uint32_t d;
	const uint32_t *step_set;    /* (n_steps) */
	struct timed apart, joined;  /* grouped within sets, and across */
	bool alone;                  /* the device runs everything */
};

/* A plan that takes its turn in every round. */
struct subject {
	struct timed *t;
	uint32_t d;                  /* its device; GRAPH_NONE: several */
};

/* What is left of the time when it was not waited for every step: 1 where it was not. */
static double unwaited(const struct timed *t)
{
	double sum[TIMED_MOST];
	if (!t->whole)
		return 1;
	for (uint32_t r = 0; r < t->n_runs; r++) {
		sum[r] = 0;
		for (uint32_t i = 0; i < t->plan.n_tasks; i++)
			sum[r] += t->task_s[(size_t)r * t->plan.n_tasks + i];
	}
	double all = interval_median(sum, t->n_runs).mid;
	return fmin(1, interval_median(t->lat_s, t->n_runs).mid / all);
}

static struct interval scaled(struct interval x, double by)
{
	return (struct interval){by * x.mid, by * x.lo, by * x.hi};
}

/* ---- sets ---- */

/* Column d of set_s. */
static void sum_sets(const struct device_times *x, struct interval *set_s)
{
	const struct session *s = x->s;
	const struct timed *t = x->apart.made ? &x->apart : &x->joined;
	uint32_t k = s->devices.n, n_sets = s->model.g->n_sets, n = t->n_runs;
	double *sum = MEM_NEWN(double, (size_t)n_sets * n + 1), scale = unwaited(t);
	for (uint32_t i = 0; i < t->n_steps; i++)
		for (uint32_t r = 0; r < n && x->step_set[i] != GRAPH_NONE; r++)
			sum[(size_t)x->step_set[i] * n + r] += t->step_s[(size_t)r * t->n_steps + i];
	for (uint32_t i = 0; i < n_sets; i++)
		if (s->mask[(size_t)i * k + x->d])
			set_s[(size_t)i * k + x->d] =
				scaled(interval_median(&sum[(size_t)i * n], n), scale);
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
	double saved[TIMED_MOST], now = unwaited(all), then = unwaited(one);
	uint32_t n_runs = one->n_runs < all->n_runs ? one->n_runs : all->n_runs;
	for (uint32_t r = 0; r < n_runs; r++) {
		double sum = 0;
		for (uint32_t j = 0; j < g->n; j++)
			sum += one->step_s[(size_t)r * one->n_steps + g->step[j]];
		saved[r] = (then * sum - now * all->task_s[(size_t)r * all->plan.n_tasks + at]) /
			   (double)n;
	}
	return interval_median(saved, n_runs);
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

/* ---- devices ---- */

/* A warm-up, and a first run that counts: roughly what steps take. */
static int try_out(struct timed *t, struct session *s, struct err *e)
{
	return timed_run(t, s, true, e) < 0 || timed_run(t, s, false, e) < 0 ? -1 : 0;
}

/* The plans of device d, tried out. */
static int open_device(struct device_times *x, struct session *s, uint32_t d,
		       const uint32_t *step_set, struct err *e)
{
	const struct device_class *c = s->devices.dev[d].class;
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)s->model.g->n_sets + 1);
	*x = (struct device_times){.s = s, .d = d, .step_set = step_set};
	mostly_on(s, d, device);
	x->alone = session_single(s, device) == (int)d;
	x->apart.waits = x->joined.waits = c->finish != NULL;
	x->apart.whole = x->joined.whole = c->finish != NULL && x->alone;
	int rc = c->fuses ? timed_make(&x->apart, s, device, FUSE_SETS, e) : 0;
	if (rc == 0)
		rc = timed_make(&x->joined, s, device, FUSE_ALL, e);
	if (rc == 0 && c->fuses)
		rc = try_out(&x->apart, s, e);
	if (rc == 0)
		rc = try_out(&x->joined, s, e);
	mem_free(device);
	return rc;
}

static void close_device(struct device_times *x)
{
	timed_release(&x->apart);
	timed_release(&x->joined);
}

/* What steps take on the device, for the plans to come. */
static void tell_planner(const struct device_times *x)
{
	const struct timed *t = x->apart.made ? &x->apart : &x->joined;
	const struct session *s = x->s;
	double run[TIMED_MOST], scale = unwaited(t);
	for (uint32_t i = 0; i < t->n_steps; i++) {
		double *to = &s->planner.step_s[(size_t)i * s->devices.n + x->d];
		for (uint32_t r = 0; r < t->n_runs; r++)
			run[r] = t->step_s[(size_t)r * t->n_steps + i];
		if (*to >= 0 && x->alone)
			*to = fmax(scale * interval_median(run, t->n_runs).mid, 1e-7);
	}
}

/* ---- the whole ---- */

struct profiler {
	struct session *s;
	struct profile *out;
	struct arena *a;
	uint32_t *step_set;          /* (n_steps) */
	struct device_times *dev;    /* (k) */
	struct probes *probes;       /* NULL: none */
	struct subject *subject;     /* (n_subjects) */
	uint32_t n_subjects;
	double end_s;                /* when there is no time for more rounds */
};

/* A failure of device d, unless the program is to end. */
static int note_failure(const struct profiler *x, uint32_t d, struct err *e)
{
	if (!executor_alive(x->s->x))
		return -1;
	if (d != GRAPH_NONE)
		x->out->failed[d] = arena_printf(x->a, "%s", e->msg);
	err_clear(e);
	return 0;
}

static void add_subject(struct profiler *x, struct timed *t, uint32_t d)
{
	if (t->made)
		x->subject[x->n_subjects++] = (struct subject){t, d};
}

static int open_devices(struct profiler *x, struct err *e)
{
	for (uint32_t d = 0; d < x->s->devices.n; d++) {
		struct device_times *t = &x->dev[d];
		if (open_device(t, x->s, d, x->step_set, e) < 0) {
			close_device(t);
			if (note_failure(x, d, e) < 0)
				return -1;
			continue;
		}
		sum_sets(t, x->out->set_s);
		add_subject(x, &t->apart, d);
		add_subject(x, &t->joined, d);
	}
	for (uint32_t d = 0; d < x->s->devices.n; d++)
		if (x->dev[d].joined.made)
			tell_planner(&x->dev[d]);
	return 0;
}

/* Rounds of all subjects; one that fails leaves. */
static int run_rounds(struct profiler *x, struct err *e)
{
	for (uint32_t r = 0; r < TIMED_MOST / 2 && (r < LEAST_ROUNDS || clock_s() < x->end_s); r++)
		for (uint32_t i = 0; i < x->n_subjects; i++) {
			struct subject *p = &x->subject[i];
			if (timed_run(p->t, x->s, false, e) == 0 &&
			    (!measure_again(p->t->lat_s[p->t->n_runs - 1]) ||
			     timed_run(p->t, x->s, false, e) == 0))
				continue;
			if (note_failure(x, p->d, e) < 0)
				return -1;
			x->subject[i--] = x->subject[--x->n_subjects];
		}
	return 0;
}

/* Times of a device that has failed meanwhile do not count. */
static void forget_device(struct profiler *x, uint32_t d)
{
	for (uint32_t i = 0; i < x->s->model.g->n_sets; i++)
		x->out->set_s[(size_t)i * x->s->devices.n + d] = (struct interval){-1, -1, -1};
}

static void take_times(struct profiler *x)
{
	struct savings savings = {0};
	for (uint32_t i = 0; i < x->n_subjects; i++)
		timed_keep_fastest(x->subject[i].t);
	for (uint32_t d = 0; d < x->s->devices.n; d++) {
		if (x->out->failed[d]) {
			forget_device(x, d);
			continue;
		}
		sum_sets(&x->dev[d], x->out->set_s);
		if (x->dev[d].apart.made)
			find_savings(&x->dev[d], &savings);
	}
	take_savings(&savings, x->s->devices.n, x->a, x->out);
}

static int take_links(struct profiler *x, struct err *e)
{
	struct session *s = x->s;
	struct profile *out = x->out;
	uint32_t k = s->devices.n;
	for (uint32_t i = 0; i < k; i++)
		for (uint32_t j = i + 1; j < k; j++) {
			size_t forth = (size_t)i * k + j, back = (size_t)j * k + i;
			struct link_cost c[2];
			if (out->failed[i] || out->failed[j])
				continue;
			if (link_measure(s->x, &s->devices, i, j, c, e) == 0) {
				out->link[forth] = c[0];
				out->link[back] = c[1];
				out->has_link[forth] = out->has_link[back] = true;
			} else if (note_failure(x, j, e) < 0) {
				return -1;
			}
		}
	return 0;
}

static int profile_run(struct profiler *x, struct err *e)
{
	double effort = EFFORT * x->s->opt.max_s;
	x->end_s = clock_s() + effort;
	if (open_devices(x, e) < 0)
		return -1;
	x->probes = probes_open(x->s, x->step_set, x->out, effort / 4);
	for (uint32_t i = 0; i < probes_count(x->probes); i++)
		add_subject(x, probes_timed(x->probes, i), GRAPH_NONE);
	if (run_rounds(x, e) < 0)
		return -1;
	take_times(x);
	if (take_links(x, e) < 0)
		return -1;
	double *single_s = MEM_NEWN(double, (size_t)x->s->devices.n + 1);
	for (uint32_t d = 0; d < x->s->devices.n; d++)
		if (!x->out->failed[d] && x->dev[d].alone)
			single_s[d] = x->dev[d].joined.lat_s[0];
	int rc = probes_fit(x->probes, single_s, x->out, e);
	mem_free(single_s);
	return rc;
}

int profile_take(struct session *s, struct arena *a, struct profile *out, struct err *e)
{
	size_t k = s->devices.n, n_sets = s->model.g->n_sets;
	struct profiler x = {.s = s, .out = out, .a = a,
			     .step_set = MEM_NEWN(uint32_t, (size_t)s->model.n_steps + 1),
			     .dev = MEM_NEWN(struct device_times, k + 1),
			     .subject = MEM_NEWN(struct subject, 2 * k + PROBES_MOST + 1)};
	*out = (struct profile){.set_s = ARENA_NEWN(a, struct interval, n_sets * k),
				.failed = ARENA_NEWN(a, const char *, k),
				.has_link = ARENA_NEWN(a, bool, k * k),
				.link = ARENA_NEWN(a, struct link_cost, k * k)};
	for (size_t i = 0; i < n_sets * k; i++)
		out->set_s[i] = (struct interval){-1, -1, -1};
	step_sets(&s->planner, x.step_set);
	int rc = profile_run(&x, e);
	probes_close(x.probes);
	for (uint32_t d = 0; d < k; d++)
		close_device(&x.dev[d]);
	mem_free(x.subject);
	mem_free(x.dev);
	mem_free(x.step_set);
	return rc;
}
