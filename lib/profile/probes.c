/* probes.c - placements that use all devices, and what is learnt from their times. */
#include "profile/probes.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "profile/fit.h"
#include "sched/turns.h"

/* What a tensor from another device takes, roughly, where sets are shared out: between devices in
 * host memory, and with one of another kind. */
static const double HAND_OVER_S = 2e-6, COPY_S = 50e-6;
enum { PROBE_SEED = 1 };

/* Devices that take part. */
struct parties {
	uint32_t n_dev, *dev;
	double *set_s; /* (n_sets, n_dev) negative: cannot run there */
	uint32_t *
		part; /* (n_sets) device numbers: sets shared out, every one to where it ends first */
};

struct probes {
	struct session *s;
	const uint32_t *step_set;
	const struct parties *of;  /* the next probe is of these: */
	struct parties all, apart; /* all, and none that take turns; n_dev 0: as all, or too few */
	double hand_over_s;
	uint32_t *order, n_order; /* sets that have steps, by their first one */
	uint32_t n;
	struct timed timed[PROBES_MOST];
	uint16_t *device[PROBES_MOST]; /* (n_sets) */
	uint64_t *need[PROBES_MOST];   /* (k) as fit_case has it */
	struct rng_addr rng;
	uint32_t drawn;
	struct arena *a;
};

static uint32_t n_sets(const struct probes *x)
{
	return x->s->model.g->n_sets;
}

/* ---- placements ---- */

/* Set i to device number j, or to the next that can run it. */
static void assign_set(const struct probes *x, uint32_t i, uint32_t j, uint16_t *device)
{
	for (uint32_t t = 0; t < x->of->n_dev; t++) {
		uint32_t at = (j + t) % x->of->n_dev;
		if (x->of->set_s[(size_t)i * x->of->n_dev + at] >= 0) {
			device[i] = (uint16_t)x->of->dev[at];
			return;
		}
	}
}

/* The device number on which step v, of set i, ends first; when it does. */
static uint32_t earliest(const struct probes *x, uint32_t v, uint32_t i, const uint32_t *part,
			 const double *end_s, const double *free_s, uint32_t steps, double *best_s)
{
	const struct sched_dag *d = &x->s->planner.dag;
	uint32_t best = 0;
	*best_s = INFINITY;
	for (uint32_t j = 0; j < x->of->n_dev; j++) {
		double start = free_s[j], cost = x->of->set_s[(size_t)i * x->of->n_dev + j];
		if (cost < 0 || (part[i] != GRAPH_NONE && part[i] != j))
			continue;
		for (uint32_t o = 0; o < x->of->n_dev; o++)
			if (device_list_turns(&x->s->devices, x->of->dev[j], x->of->dev[o]))
				start = fmax(start, free_s[o]);
		for (uint32_t t = d->in_ptr[v]; t < d->in_ptr[v + 1]; t++) {
			uint32_t u = d->tensor_task[d->use_tensor[d->in_use[t]]];
			bool here = x->step_set[u] == GRAPH_NONE || part[x->step_set[u]] == j;
			start = fmax(start, end_s[u] + (here ? 0 : x->hand_over_s));
		}
		if (start + cost / steps < *best_s) {
			*best_s = start + cost / steps;
			best = j;
		}
	}
	return best;
}

/* Every set to where its first step ends first; part (n_sets) device numbers.  place/heuristic's HEFT
 * wants a place_model with measured links, which are not there yet when probes are planned: one
 * guess stands for all of them, and the steps come in their topological order. */
static void share_by_finish(const struct probes *x, uint32_t *part)
{
	const struct sched_dag *d = &x->s->planner.dag;
	double *end_s = MEM_NEWN(double, (size_t)d->n + 1),
	       *free_s = MEM_NEWN(double, x->of->n_dev);
	uint32_t *steps = MEM_NEWN(uint32_t, (size_t)n_sets(x) + 1);
	for (uint32_t i = 0; i < n_sets(x); i++)
		part[i] = GRAPH_NONE;
	for (uint32_t v = 0; v < d->n; v++)
		if (x->step_set[v] != GRAPH_NONE)
			steps[x->step_set[v]]++;
	for (uint32_t v = 0; v < d->n; v++) {
		uint32_t i = x->step_set[v];
		if (i == GRAPH_NONE)
			continue;
		part[i] = earliest(x, v, i, part, end_s, free_s, steps[i], &end_s[v]);
		free_s[part[i]] = end_s[v];
	}
	for (uint32_t i = 0; i < n_sets(x); i++)
		part[i] = part[i] == GRAPH_NONE ? 0 : part[i];
	mem_free(end_s);
	mem_free(free_s);
	mem_free(steps);
}

/* As shared out, every device turned into the one `turn` places on, and some sets moved. */
static void draw_shared(struct probes *x, const uint32_t *part, uint32_t turn, double moved,
			uint16_t *device)
{
	for (uint32_t i = 0; i < n_sets(x); i++) {
		bool move = rng_uniform(&x->rng, x->drawn++) < moved;
		assign_set(x, i, part[i] + turn + move, device);
	}
}

/* Sets by their first step in pieces of equal number, on one device after the other. */
static void draw_splits(struct probes *x, uint32_t splits, uint32_t turn, uint16_t *device)
{
	for (uint32_t i = 0; i < n_sets(x); i++)
		assign_set(x, i, turn, device);
	for (uint32_t p = 0; p < x->n_order; p++)
		assign_set(x, x->order[p], turn + (uint32_t)((uint64_t)p * splits / x->n_order),
			   device);
}

/* Each set on device number `first` with this probability, else on any. */
static void draw_random(struct probes *x, uint32_t first, double share, uint16_t *device)
{
	for (uint32_t i = 0; i < n_sets(x); i++) {
		bool home = rng_uniform(&x->rng, x->drawn++) < share;
		uint32_t j = rng_below(&x->rng, x->drawn++, x->of->n_dev);
		assign_set(x, i, home ? first : j, device);
	}
}

/* The device number that takes least for all sets, where it can run all. */
static uint32_t fastest(const struct probes *x)
{
	uint32_t best = 0;
	double best_s = INFINITY;
	for (uint32_t j = 0; j < x->of->n_dev; j++) {
		double sum = 0;
		for (uint32_t p = 0; p < x->n_order; p++) {
			double s = x->of->set_s[(size_t)x->order[p] * x->of->n_dev + j];
			sum += s < 0 ? INFINITY : s;
		}
		if (sum < best_s) {
			best_s = sum;
			best = j;
		}
	}
	return best;
}

/* All on the fastest, but for a hundredth of the sets, one at least. */
static void draw_near(struct probes *x, uint16_t *device)
{
	uint32_t home = fastest(x);
	for (uint32_t i = 0; i < n_sets(x); i++)
		assign_set(x, i, home, device);
	for (uint32_t i = 0; i < 1 + x->n_order / 100; i++)
		assign_set(x, x->order[rng_below(&x->rng, x->drawn++, x->n_order)], home + 1,
			   device);
}

/* Does one of the devices compile segments? */
static bool any_segments(const struct probes *x)
{
	for (uint32_t j = 0; j < x->of->n_dev; j++)
		if (x->s->devices.dev[x->of->dev[j]].class->segments)
			return true;
	return false;
}

/* Where devices compile segments placements have few of these: as many pieces of a kind as say something of a cut, and where in the model it is.
 * Scattered sets would be compiled for seconds, to tell of boundaries that nobody makes. */
static void draw_few_segments(struct probes *x, uint32_t which, uint16_t *device)
{
	static const uint32_t pieces[PROBES_MOST] = {6, 2, 13, 3, 8, 22, 4, 10, 5, 17, 2, 7};
	draw_splits(x, pieces[which], which, device);
}

/* Probes that say different things come first.  Number 1 tells what it costs that several devices are in use at all from
 * what their tensors cost each other: nearly all is on one. */
static void draw_probe(struct probes *x, uint32_t which, uint16_t *device)
{
	const uint32_t *part = x->of->part;
	uint32_t last = x->of->n_dev - 1;
	if (any_segments(x)) {
		draw_few_segments(x, which, device);
		return;
	}
	switch (which) {
	case 0: draw_shared(x, part, 0, 0, device); break;
	case 1: draw_near(x, device); break;
	case 2: draw_splits(x, 12 * x->of->n_dev, 1, device); break;
	case 3: draw_random(x, 0, 0.6, device); break;
	case 4: draw_shared(x, part, 0, 0.12, device); break;
	case 5: draw_random(x, last, 0.6, device); break;
	case 6: draw_splits(x, 3 * x->of->n_dev, 0, device); break;
	case 7: draw_shared(x, part, 0, 0.3, device); break;
	case 8: draw_shared(x, part, 1, 0, device); break;
	case 9: draw_random(x, 0, 0, device); break;
	case 10: draw_splits(x, x->of->n_dev, 0, device); break;
	default: draw_shared(x, part, 0, 0.03, device); break;
	}
}

/* ---- opening ---- */

static void order_sets(struct probes *x)
{
	bool *seen = MEM_NEWN(bool, (size_t)n_sets(x) + 1);
	x->order = ARENA_NEWN(x->a, uint32_t, n_sets(x));
	for (uint32_t v = 0; v < x->s->model.n_steps; v++) {
		uint32_t i = x->step_set[v];
		if (i != GRAPH_NONE && !seen[i]) {
			seen[i] = true;
			x->order[x->n_order++] = i;
		}
	}
	mem_free(seen);
}

/* Can every set run on one of the devices? */
static bool covers(const struct probes *x, const struct parties *of)
{
	for (uint32_t p = 0; p < x->n_order; p++) {
		bool can = false;
		for (uint32_t j = 0; j < of->n_dev; j++)
			can = can || of->set_s[(size_t)x->order[p] * of->n_dev + j] >= 0;
		if (!can)
			return false;
	}
	return true;
}

static void take_times(struct probes *x, const struct profile *out, struct parties *of)
{
	uint32_t k = x->s->devices.n;
	of->set_s = ARENA_NEWN(x->a, double, (size_t)n_sets(x) * of->n_dev);
	for (uint32_t i = 0; i < n_sets(x); i++)
		for (uint32_t j = 0; j < of->n_dev; j++)
			of->set_s[(size_t)i * of->n_dev + j] =
				out->set_s[(size_t)i * k + of->dev[j]].mid;
}

static void find_apart(struct probes *x, const struct profile *out)
{
	struct parties *of = &x->apart;
	uint32_t k = x->s->devices.n;
	of->dev = ARENA_NEWN(x->a, uint32_t, k);
	uint32_t n = sched_apart(x->s->planner.costs.turns, k, of->dev);
	for (uint32_t i = 0; i < n; i++)
		if (!out->failed[of->dev[i]])
			of->dev[of->n_dev++] = of->dev[i];
}

static void find_devices(struct probes *x, const struct profile *out)
{
	uint32_t k = x->s->devices.n;
	x->all.dev = ARENA_NEWN(x->a, uint32_t, k);
	x->hand_over_s = HAND_OVER_S;
	for (uint32_t d = 0; d < k; d++) {
		if (out->failed[d])
			continue;
		x->all.dev[x->all.n_dev++] = d;
		if (!x->s->devices.dev[d].class->host)
			x->hand_over_s = COPY_S;
	}
	take_times(x, out, &x->all);
	find_apart(x, out);
	take_times(x, out, &x->apart);
	if (x->apart.n_dev == x->all.n_dev || x->apart.n_dev < 2 || !covers(x, &x->apart))
		x->apart.n_dev = 0;
}

/* The bytes of a placement's plan where memory is short, scratch of kernels not counted. */
static int find_need(struct probes *x, const uint16_t *device, uint64_t *need, struct err *e)
{
	struct planner *p = &x->s->planner;
	struct plan plan;
	bool before = p->tight;
	p->tight = true;
	int rc = plan_make(p, device, &plan, e);
	p->tight = before;
	if (rc < 0)
		return -1;
	for (uint32_t d = 0; d < p->devices->n; d++) {
		struct device *dev = &p->devices->dev[d];
		need[d] = plan.mem_bytes[d];
		if (need[d] > 0 && dev->class->scratch)
			need[d] -= dev->class->scratch(dev);
	}
	plan_release(&plan);
	return 0;
}

static int plan_probe(struct probes *x, uint32_t i, struct err *e)
{
	struct timed *t = &x->timed[x->n];
	uint16_t *device = ARENA_NEWN(x->a, uint16_t, n_sets(x));
	draw_probe(x, i, device);
	x->device[x->n] = device;
	x->need[x->n] = ARENA_NEWN(x->a, uint64_t, x->s->devices.n);
	if (find_need(x, device, x->need[x->n], e) < 0)
		return -1;
	return timed_make(t, x->s, device, x->s->planner.fuse, e) < 0 ? -1
								      : timed_run(t, x->s, true, e);
}

static void share_out(struct probes *x, struct parties *of)
{
	x->of = of;
	of->part = ARENA_NEWN(x->a, uint32_t, n_sets(x));
	if (of->n_dev > 0)
		share_by_finish(x, of->part);
}

/* Plans of as many probes as there is time for; one that cannot be planned is left out.  Where some
 * take turns, every other one is of devices that compute at once. */
static void plan_probes(struct probes *x, double budget_s)
{
	double end = clock_s() + budget_s;
	share_out(x, &x->all);
	share_out(x, &x->apart);
	for (uint32_t i = 0; i < PROBES_MOST && (x->n < FIT_LEAST || clock_s() < end); i++) {
		struct err e = ERR_INIT;
		uint32_t which = x->apart.n_dev ? i / 2 : i;
		x->of = x->apart.n_dev && i % 2 == 0 ? &x->apart : &x->all;
		if (plan_probe(x, which, &e) == 0)
			x->n++;
		else
			timed_release(&x->timed[x->n]);
		err_clear(&e);
	}
}

struct probes *probes_open(struct session *s, const uint32_t *step_set, const struct profile *out,
			   double budget_s)
{
	const struct variables *v = s->model.env->variables;
	struct probes *x = MEM_NEW(struct probes);
	*x = (struct probes){.s = s,
			     .step_set = step_set,
			     .a = arena_new(),
			     .rng = {PROBE_SEED, 0, 0, RNG_SEARCH}};
	order_sets(x);
	find_devices(x, out);
	if (x->all.n_dev < 2 || (v && v->n > 0) || x->n_order < 2 || !covers(x, &x->all)) {
		probes_close(x);
		return NULL;
	}
	plan_probes(x, budget_s);
	return x;
}

void probes_close(struct probes *x)
{
	if (!x)
		return;
	for (uint32_t i = 0; i < x->n; i++)
		timed_release(&x->timed[i]);
	arena_free(x->a);
	mem_free(x);
}

uint32_t probes_count(const struct probes *x)
{
	return x ? x->n : 0;
}

struct timed *probes_timed(struct probes *x, uint32_t i)
{
	return &x->timed[i];
}

/* ---- what they tell ---- */

/* Those that the planner knows, or what an earlier profile has found. */
static uint32_t copy_rules(const struct probes *x, const struct profile *out,
			   struct copy_rule *rule)
{
	if (!x->s->planner.copies_told)
		return planner_copy_rules(&x->s->devices, x->s->planner.arena, rule);
	rule[0] = (struct copy_rule){out->overlap, out->copy_holds};
	return 1;
}

static struct fit_devices find_fit_devices(const struct probes *x, const uint32_t *alike,
					   const struct profile *out)
{
	uint32_t k = x->s->devices.n;
	const char **names = ARENA_NEWN(x->a, const char *, k);
	bool *host = ARENA_NEWN(x->a, bool, k);
	double *boundary_s = ARENA_NEWN(x->a, double, k),
	       *boundary_byte_s = ARENA_NEWN(x->a, double, k);
	for (uint32_t d = 0; d < k; d++) {
		const struct device_class *class = x->s->devices.dev[d].class;
		names[d] = x->s->devices.dev[d].name;
		host[d] = class->host != NULL;
		boundary_s[d] = class->boundary_s;
		boundary_byte_s[d] = class->boundary_byte_s;
	}
	struct fit_devices to = {.k = k,
				 .names = names,
				 .alike = alike,
				 .host = host,
				 .boundary_s = boundary_s,
				 .boundary_byte_s = boundary_byte_s,
				 .turns = x->s->planner.costs.turns};
	to.n_rules = copy_rules(x, out, to.rule);
	return to;
}

int probes_fit(struct probes *x, const struct probe_rounds *rounds, const double *single_s,
	       const uint32_t *alike, double most_s, struct profile *out, struct err *e)
{
	if (!x)
		return 0;
	uint32_t k = x->s->devices.n, n = 0;
	struct fit_case *c = MEM_NEWN(struct fit_case, (size_t)x->n + k);
	for (uint32_t i = 0; i < x->n; i++)
		if (x->timed[i].n_runs > 0)
			c[n++] = (struct fit_case){
				x->device[i], timed_beside(&x->timed[i], rounds->ref, rounds->at),
				x->need[i]};
	uint32_t n_probes = n;
	for (uint32_t d = 0; d < k; d++) {
		if (!(single_s[d] > 0))
			continue;
		uint16_t *device = ARENA_NEWN(x->a, uint16_t, n_sets(x));
		for (uint32_t i = 0; i < n_sets(x); i++)
			device[i] = (uint16_t)d;
		c[n++] = (struct fit_case){device, single_s[d], NULL};
	}
	struct fit_devices devices = find_fit_devices(x, alike, out);
	int rc = n_probes < FIT_LEAST ? 0
				      : fit_profile(x->s->model.g, &devices, c, n, most_s, out, e);
	mem_free(c);
	return rc;
}
