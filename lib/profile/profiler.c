/* profiler.c - timed inferences on each device and on several, in rounds. */
#include "profile/profiler.h"
#include "base/clock.h"
#include "graph/body_times.h"
#include "op/op.h"

#include "profile/probes.h"
#include "profile/savings.h"
#include "profile/window_times.h"

#include <math.h>

/* All rounds together, and what comes before them, take about so many times session.opt.max_s; there
 * are some rounds in any case. */
enum { EFFORT = 4, LEAST_ROUNDS = 2, LEAST_MORE = 1 };
/* Where inferences are long: one that takes more than one part of so many of that time for each device is no warm-up, and
 * what is done in any case is left out once all of that time is over. */
enum { LONG_PART = 16 };
/* Rounds before there are probes, at most: all runs that are kept (timed.h) have their rounds in common. */
enum { FIRST_ROUNDS = TIMED_MOST / 3 };
/* Behind these rounds links are timed and knobs fitted, in one part of so many of that time at most. */
enum { LINKS_PART = 4, FIT_PART = 2 };
/* Devices of one kind count as one when their logs of times differ by less, or not for certain. */
static const double SAME_SPEED = 0.02;

/* A plan that takes its turn in every round. */
struct subject {
	struct timed *t;
	uint32_t d; /* its device; GRAPH_NONE: several */
};

struct profiler {
	struct session *s;
	struct profile *out;
	struct arena *a;
	uint32_t *step_set;       /* (n_steps) */
	struct device_times *dev; /* (k) */
	uint32_t *alike;          /* (k) the first device that is as fast */
	struct probes *probes;    /* NULL: none */
	struct subject *subject;  /* (n_subjects) */
	uint32_t n_subjects;
	const struct timed
		*ref;    /* the fastest device alone, beside which all else is judged; NULL: none */
	uint32_t ref_at; /* its runs before the probes' first ones */
	struct held_pieces pieces;
	double end_s; /* of the rounds, by clock_s() */
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

static bool is_late(const struct profiler *x)
{
	return clock_s() > x->end_s;
}

/* A device before d that is made like it, with times of sets by themselves; d: there is none. */
static uint32_t first_like(const struct profiler *x, uint32_t d)
{
	const struct device *dev = x->s->devices.dev;
	for (uint32_t i = 0; i < d; i++)
		if (dev[i].class == dev[d].class && dev[i].n_cpus == dev[d].n_cpus &&
		    dev[d].n_cpus > 0 && !x->out->failed[i] && x->dev[i].alone &&
		    x->dev[i].apart.made)
			return i;
	return d;
}

static int open_devices(struct profiler *x, double effort, struct err *e)
{
	struct device_effort how = {effort / LONG_PART / x->s->devices.n, false};
	for (uint32_t d = 0; d < x->s->devices.n; d++) {
		struct device_times *t = &x->dev[d];
		how.joined = is_late(x) && first_like(x, d) < d;
		if (device_times_open(t, x->s, d, x->step_set, &how, e) < 0) {
			device_times_close(t);
			if (note_failure(x, d, e) < 0)
				return -1;
			continue;
		}
		device_times_sum(t, NULL, x->out->set_s);
		const struct plan *plan = t->apart.made ? &t->apart.plan : &t->joined.plan;
		held_pieces_add(&x->pieces, &x->s->planner, plan, d, x->step_set);
		if (t->apart.made)
			held_inner(&x->s->planner, plan, d, x->step_set, &x->out->held);
		add_subject(x, &t->apart, d);
		add_subject(x, &t->joined, d);
	}
	return 0;
}

/* Rounds of all subjects until end_s, `least` in any case and at most `most`; one that fails leaves. */
static int run_rounds(struct profiler *x, uint32_t least, uint32_t most, double end_s,
		      struct err *e)
{
	for (uint32_t r = 0; r < most && (r < least ? !is_late(x) : clock_s() < end_s); r++)
		for (uint32_t i = 0; i < x->n_subjects; i++) {
			struct subject *p = &x->subject[i];
			if (timed_sample(p->t, x->s, e) == 0)
				continue;
			if (note_failure(x, p->d, e) < 0)
				return -1;
			x->subject[i--] = x->subject[--x->n_subjects];
		}
	return 0;
}

/* ---- devices of one kind ---- */

/* The mean of n intervals, n - 1 of which have the mean x. */
static struct interval mean_with(struct interval x, struct interval y, uint32_t n)
{
	return (struct interval){x.mid + (y.mid - x.mid) / n, x.lo + (y.lo - x.lo) / n,
				 x.hi + (y.hi - x.hi) / n};
}

/* The difference of two plans' logs, run by run: are they equally fast, as far as can be told? */
static bool equally_fast(const struct timed *a, const struct timed *b)
{
	double x[TIMED_MOST];
	uint32_t n = a->n_runs < b->n_runs ? a->n_runs : b->n_runs;
	if (!a->made || !b->made || n == 0)
		return a->made == b->made;
	for (uint32_t r = 0; r < n; r++)
		x[r] = log(a->lat_s[r] / b->lat_s[r]);
	struct interval i = interval_median(x, n);
	return (i.lo <= 0 && i.hi >= 0) || fabs(i.mid) < SAME_SPEED;
}

/* The first device alike to d; the two share their measured times. */
static uint32_t first_alike(const struct profiler *x, uint32_t d)
{
	const struct device *dev = x->s->devices.dev;
	for (uint32_t i = 0; i < d; i++)
		if (x->alike[i] == i && dev[i].class == dev[d].class &&
		    dev[i].n_cpus == dev[d].n_cpus && dev[d].n_cpus > 0 && !x->out->failed[i] &&
		    !x->out->failed[d] && x->dev[i].alone && x->dev[d].alone &&
		    equally_fast(&x->dev[i].joined, &x->dev[d].joined) &&
		    equally_fast(&x->dev[i].apart, &x->dev[d].apart))
			return i;
	return d;
}

/* Means over devices that are alike, in each row of v (rows, k); negative: cannot run there. */
static void pool_columns(const struct profiler *x, struct interval *v, uint32_t rows)
{
	uint32_t k = x->s->devices.n;
	for (uint32_t i = 0; i < rows; i++, v += k)
		for (uint32_t d = 0; d < k; d++) {
			struct interval mean = {0};
			uint32_t n = 0;
			for (uint32_t j = 0; x->alike[d] == d && j < k; j++)
				if (x->alike[j] == d)
					mean = mean_with(mean, v[j], ++n);
			for (uint32_t j = d; n > 1 && j < k; j++)
				if (x->alike[j] == d)
					v[j] = mean;
		}
}

/* Times of a device that has failed meanwhile do not count. */
static void forget_device(struct profiler *x, uint32_t d)
{
	for (uint32_t i = 0; i < x->s->model.g->n_sets; i++)
		x->out->set_s[(size_t)i * x->s->devices.n + d] = (struct interval){-1, -1, -1};
}

/* Device d, whose sets were not timed by themselves, takes what another one takes that is made like it, by as much longer as all of
 * it takes there. */
static void take_after(struct profiler *x, uint32_t d, uint32_t like)
{
	uint32_t k = x->s->devices.n;
	double longer = timed_least(&x->dev[d].joined) / timed_least(&x->dev[like].joined);
	for (uint32_t i = 0; i < x->s->model.g->n_sets; i++) {
		struct interval *row = &x->out->set_s[(size_t)i * k];
		if (row[like].mid >= 0)
			row[d] = interval_scaled(row[like], longer);
		x->out->held.inner[(size_t)i * k + d] = x->out->held.inner[(size_t)i * k + like];
	}
	for (uint32_t i = 0; i < x->out->n_pairs; i++) {
		struct interval *row = &x->out->saved_s[(size_t)i * k];
		row[d] = interval_scaled(row[like], longer);
	}
}

static bool has_gap(const struct profiler *x, uint32_t d)
{
	return !x->out->failed[d] && !x->dev[d].apart.made && x->s->devices.dev[d].class->fuses &&
	       first_like(x, d) < d;
}

static void fill_times(struct profiler *x)
{
	struct savings savings = {0};
	uint32_t k = x->s->devices.n;
	for (uint32_t d = 0; d < k; d++) {
		if (x->out->failed[d]) {
			forget_device(x, d);
			continue;
		}
		device_times_sum(&x->dev[d], NULL, x->out->set_s);
		if (x->dev[d].apart.made)
			savings_find(&x->dev[d], &savings);
	}
	savings_store(&savings, k, x->a, x->out);
	for (uint32_t d = 0; d < k; d++)
		if (has_gap(x, d))
			take_after(x, d, first_like(x, d));
	for (uint32_t d = 0; d < k; d++)
		x->alike[d] = first_alike(x, d);
	pool_columns(x, x->out->set_s, x->s->model.g->n_sets);
	pool_columns(x, x->out->saved_s, x->out->n_pairs);
}

/* The seconds that the sets of device d add up to, less what they save; 0: it does not run all. */
static double added_up_s(const struct profiler *x, uint32_t d)
{
	uint32_t k = x->s->devices.n;
	double sum = 0;
	if (x->out->failed[d] || !x->dev[d].alone)
		return 0;
	for (uint32_t i = 0; i < x->s->model.g->n_sets; i++)
		sum += fmax(0, x->out->set_s[(size_t)i * k + d].mid);
	for (uint32_t i = 0; i < x->out->n_pairs; i++)
		sum -= x->out->saved_s[(size_t)i * k + d].mid;
	return sum;
}

static void choose_reference(struct profiler *x)
{
	double best_s = INFINITY;
	for (uint32_t d = 0; d < x->s->devices.n; d++) {
		const struct timed *t = &x->dev[d].joined;
		if (x->out->failed[d] || !x->dev[d].alone || !(timed_least(t) < best_s))
			continue;
		best_s = timed_least(t);
		x->ref = t;
	}
}

/* What times of device d are to be multiplied with so that they add up to what a run takes when little
 * disturbs, as the probes' do; of devices that are alike to the mean of theirs.  Steps
 * have medians: what disturbs some of them in each run is not in their sum.  0: not known. */
static double undisturbed_over_sum(const struct profiler *x, uint32_t d)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < x->s->devices.n; i++) {
		double added = x->alike[i] == x->alike[d] ? added_up_s(x, i) : 0;
		if (!(added > 0))
			continue;
		sum += log(timed_beside(&x->dev[i].joined, x->ref, 0) / added);
		n++;
	}
	return n ? exp(sum / n) : 0;
}

/* Times as they are when nothing disturbs; a device that cannot run everything is as much
 * disturbed as the others. */
static void scale_to_undisturbed(struct profiler *x)
{
	uint32_t k = x->s->devices.n, n = 0;
	double *level = MEM_NEWN(double, (size_t)k + 1), sum = 0;
	for (uint32_t d = 0; d < k; d++) {
		level[d] = undisturbed_over_sum(x, d);
		sum += level[d] > 0 ? log(level[d]) : 0;
		n += level[d] > 0;
	}
	for (uint32_t d = 0; d < k; d++)
		level[d] = level[d] > 0 ? level[d] : n ? exp(sum / n) : 1;
	for (size_t i = 0; i < (size_t)x->s->model.g->n_sets * k; i++)
		if (x->out->set_s[i].mid >= 0)
			x->out->set_s[i] = interval_scaled(x->out->set_s[i], level[i % k]);
	for (size_t i = 0; i < (size_t)x->out->n_pairs * k; i++)
		x->out->saved_s[i] = interval_scaled(x->out->saved_s[i], level[i % k]);
	mem_free(level);
}

/* Between devices that are alike both ways take as long: what was disturbed less. */
static struct link_cost quicker_link(const struct link_cost c[2])
{
	return c[c[1].latency_s.mid < c[0].latency_s.mid];
}

/* With what segments at both ends should take to bring a tensor out of their layout and into it. */
static struct link_cost link_with_boundaries(const struct profiler *x, uint32_t i, uint32_t j,
					     struct link_cost c)
{
	const struct device_class *a = x->s->devices.dev[i].class, *b = x->s->devices.dev[j].class;
	return link_longer(c, a->boundary_s + b->boundary_s,
			   a->boundary_byte_s + b->boundary_byte_s);
}

/* In so many seconds, of which each pair has its share. */
static int measure_links(struct profiler *x, double seconds, struct err *e)
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
			if (link_measure(s->x, &s->devices, i, j, seconds / (k * (k - 1) / 2.0), c,
					 e) == 0) {
				if (x->alike[i] == x->alike[j])
					c[0] = c[1] = quicker_link(c);
				out->link[forth] = link_with_boundaries(x, i, j, c[0]);
				out->link[back] = link_with_boundaries(x, i, j, c[1]);
				out->has_link[forth] = out->has_link[back] = true;
			} else if (note_failure(x, j, e) < 0) {
				return -1;
			}
		}
	return 0;
}

/* Rounds of the single devices, by whose times the probes are chosen and planned. */
static int open_probes(struct profiler *x, double effort, struct err *e)
{
	if (run_rounds(x, LEAST_ROUNDS, FIRST_ROUNDS, clock_s() + effort / 4, e) < 0)
		return -1;
	for (uint32_t d = 0; d < x->s->devices.n; d++)
		if (!x->out->failed[d]) {
			device_times_sum(&x->dev[d], NULL, x->out->set_s);
			device_times_to_planner(&x->dev[d]);
		}
	for (uint32_t d = 0; d < x->s->devices.n; d++)
		if (!x->out->failed[d] && x->dev[d].alone)
			x->ref_at = x->dev[d].joined.n_runs;
	if (is_late(x))
		return 0;
	x->probes = probes_open(x->s, x->step_set, x->out, effort / 4);
	for (uint32_t i = 0; i < probes_count(x->probes); i++)
		add_subject(x, probes_timed(x->probes, i), GRAPH_NONE);
	return 0;
}

static int fit_probes(struct profiler *x, double seconds, struct err *e)
{
	uint32_t k = x->s->devices.n;
	double *single_s = MEM_NEWN(double, (size_t)k + 1);
	choose_reference(x);
	scale_to_undisturbed(x);
	for (uint32_t d = 0; d < k; d++)
		if (!x->out->failed[d] && x->dev[d].alone)
			single_s[d] = timed_beside(&x->dev[d].joined, x->ref, 0);
	const struct probe_rounds rounds = {x->ref, x->ref_at};
	int rc = probes_fit(x->probes, &rounds, single_s, x->alike, seconds, x->out, e);
	mem_free(single_s);
	return rc;
}

/* Results stay from when they are made to the end of a run, for which all the time stands. */
static void add_results(struct profiler *x)
{
	const struct model *m = &x->s->model;
	uint32_t k = x->s->devices.n;
	for (uint32_t r = 0; r < m->n_results; r++) {
		uint32_t out = m->result_root[r], step = m->node_step[m->node_out[out]], first = 0;
		while (m->result_root[first] != out)
			first++;
		if (first < r || step == GRAPH_NONE || x->step_set[step] == GRAPH_NONE)
			continue;
		for (uint32_t d = 0; d < k; d++)
			x->out->held.set[(size_t)x->step_set[step] * k + d] += model_bytes(m, out);
	}
}

/* Device d, whose sets were not run by themselves, holds what the other one holds that is made like it. */
static void hold_after(struct profiler *x, uint32_t d, uint32_t like)
{
	struct held_profile *h = &x->out->held;
	uint32_t k = x->s->devices.n;
	for (uint32_t i = 0; i < x->s->model.g->n_sets; i++)
		h->set[(size_t)i * k + d] = h->set[(size_t)i * k + like];
	for (uint32_t i = 0; i < h->n_shared; i++)
		h->shared[(size_t)i * k + d] = h->shared[(size_t)i * k + like];
}

/* What sets hold; kernels have run, and their scratch is as large as it gets. */
static void sum_memory(struct profiler *x)
{
	const struct device_list *l = &x->s->devices;
	held_pieces_sum(&x->pieces, x->s->model.g->n_sets, l->n, x->a, &x->out->held);
	add_results(x);
	for (uint32_t d = 0; d < l->n; d++)
		if (has_gap(x, d))
			hold_after(x, d, first_like(x, d));
	for (uint32_t d = 0; d < l->n; d++)
		if (l->dev[d].class->scratch)
			x->out->held.work[d] = l->dev[d].class->scratch(&l->dev[d]);
}

/* A device that holds the model, or all of it that it can run; GRAPH_NONE. */
static uint32_t find_whole(const struct profiler *x)
{
	uint32_t at = GRAPH_NONE;
	for (uint32_t d = 0; d < x->s->devices.n; d++)
		if (!x->out->failed[d] &&
		    (at == GRAPH_NONE || (x->dev[d].alone && !x->dev[at].alone)))
			at = d;
	return at;
}

/* Devices that failed: one whose memory is too small for the model may hold it piece by piece. */
static int time_windows(struct profiler *x, double seconds, struct err *e)
{
	for (uint32_t d = 0; d < x->s->devices.n; d++) {
		struct window_times w = {.s = x->s,
					 .d = d,
					 .rest = find_whole(x),
					 .step_set = x->step_set,
					 .seconds = seconds,
					 .set_s = x->out->set_s,
					 .pieces = &x->pieces,
					 .held = &x->out->held};
		struct err why = ERR_INIT;
		uint32_t n = 0;
		if (!x->out->failed[d] || w.rest == GRAPH_NONE ||
		    !x->s->devices.dev[d].class->fuses)
			continue;
		device_times_close(&x->dev[d]);
		x->dev[d].alone = false;
		prepared_forget(&x->s->planner.prepared, d);
		if (window_times_take(&w, &n, &why, e) < 0)
			return -1;
		if (n > 0)
			x->out->failed[d] = NULL;
	}
	return 0;
}

/* Sets with If and loops of which somebody has said how often their bodies run, as often as that, and not as the inputs here had it:
 * by their work. */
static void scale_to_told(struct profiler *x)
{
	const struct graph *g = x->s->model.g;
	uint32_t k = x->s->devices.n;
	double *ran = MEM_NEWN(double, (size_t)g->n_sets + 1),
	       *told = MEM_NEWN(double, (size_t)g->n_sets + 1);
	bool *any = MEM_NEWN(bool, (size_t)g->n_sets + 1);
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE) {
			any[g->set[v]] |= body_is_told(g, v);
			ran[g->set[v]] += op_work(g, v, false);
			told[g->set[v]] += op_work(g, v, true);
		}
	for (size_t i = 0; i < (size_t)g->n_sets * k; i++)
		if (any[i / k] && x->out->set_s[i].mid >= 0)
			x->out->set_s[i] =
				interval_scaled(x->out->set_s[i], told[i / k] / ran[i / k]);
	mem_free(ran);
	mem_free(told);
	mem_free(any);
}

static int profile_run(struct profiler *x, struct err *e)
{
	double effort = EFFORT * x->s->opt.max_s;
	x->end_s = clock_s() + effort;
	if (open_devices(x, effort, e) < 0 || open_probes(x, effort, e) < 0 ||
	    run_rounds(x, LEAST_MORE, TIMED_MOST - FIRST_ROUNDS - 1, x->end_s, e) < 0)
		return -1;
	fill_times(x);
	if (time_windows(x, effort / 4, e) < 0)
		return -1;
	sum_memory(x);
	if (measure_links(x, effort / LINKS_PART, e) < 0 || fit_probes(x, effort / FIT_PART, e) < 0)
		return -1;
	scale_to_told(x);
	return 0;
}

int profile_take(struct session *s, struct arena *a, struct profile *out, struct err *e)
{
	size_t k = s->devices.n, n_sets = s->model.g->n_sets;
	struct profiler x = {.s = s,
			     .out = out,
			     .a = a,
			     .step_set = MEM_NEWN(uint32_t, (size_t)s->model.n_steps + 1),
			     .dev = MEM_NEWN(struct device_times, k + 1),
			     .alike = MEM_NEWN(uint32_t, k + 1),
			     .subject = MEM_NEWN(struct subject, 2 * k + PROBES_MOST + 1)};
	*out = (struct profile){.overlap = s->planner.costs.overlap,
				.copy_holds = s->planner.costs.copy_holds,
				.set_s = ARENA_NEWN(a, struct interval, n_sets * k),
				.failed = ARENA_NEWN(a, const char *, k),
				.has_link = ARENA_NEWN(a, bool, k *k),
				.link = ARENA_NEWN(a, struct link_cost, k * k),
				.held = {.inner = ARENA_NEWN(a, uint64_t, n_sets * k),
					 .work = ARENA_NEWN(a, uint64_t, k)}};
	for (size_t i = 0; i < n_sets * k; i++)
		out->set_s[i] = (struct interval){-1, -1, -1};
	planner_step_sets(&s->planner, x.step_set);
	/* The user's limits are for placements.  What is timed here is the whole model on one device,
	 * which runs as long as there is real memory for it. */
	struct device_limit *limit = device_list_lift(&s->devices);
	int rc = profile_run(&x, e);
	device_list_restore(&s->devices, limit);
	probes_close(x.probes);
	mem_free(x.pieces.v);
	for (uint32_t d = 0; d < k; d++)
		device_times_close(&x.dev[d]);
	mem_free(x.subject);
	mem_free(x.dev);
	mem_free(x.alike);
	mem_free(x.step_set);
	return rc;
}
