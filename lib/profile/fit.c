/* fit.c - coordinate descent on the simulator's few free numbers (knobs).
 *
 *	error(knobs) = mean over cases of |log(simulated / measured)| + price(knobs)
 *
 * The price pulls every knob to what was measured directly.  search_grid tries a few latencies and
 * slowdowns for a start; then each sweep tries every knob a step up, and where that is no better
 * a step down, and keeps what lowers the error.  This is done for each rule of copies, of which the best goes
 * on.  Steps shrink from sweep to sweep.  The orders that
 * devrun's plans keep to are searched in the last sweeps alone: with them a simulation takes three
 * times as long. */
#include "profile/fit.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "place/simulate/evaluate.h"

enum { SWEEPS = 9, ROUGH_SWEEPS = 6, LEAST_SWEEPS = 2 };
static const double FIRST_STEP = 0.25, SHRINK = 0.75;
static const double FACTOR_PRICE = 0.2, COPY_PRICE = 2e-4, READ_PRICE = 8e-3, SLOWDOWN_PRICE = 0.02;
static const double LEAST_FACTOR = 0.6, MOST_FACTOR = 2.5, MOST_MULTI_SLOWDOWN = 1;
/* Of latencies; of those between devices in host memory. */
static const double LEAST_TIMES = 0.25, MOST_TIMES = 500, MOST_READ_TIMES = 8;
/* Of boundaries of segments: what was guessed is off by this much. */
static const double LEAST_BOUNDARY = 0.02, MOST_BOUNDARY = 10, BOUNDARY_PRICE = 2e-3;

/* The free numbers. */
struct knobs {
	double *factor; /* (k) of a device's times; in use: those of the first alike */
	/* (k) of what boundaries of its segments take for a tensor and for a byte, likewise */
	double *boundary, *boundary_byte;
	/* (k, k) what latencies are, times what was measured; in use: from the first alike to the
	 * first alike, which between devices that are alike is on the diagonal */
	double *times;
	double slowdown, multi_slowdown;
};

struct fitter {
	const struct graph *g;
	const struct fit_devices *d;
	uint32_t k, n_cases;
	const struct fit_case *c;
	const struct profile *p;
	struct knobs now;
	const struct copy_rule *rule;
	enum sched_policy policy;
	double loss;
	struct arena *fixed, *a; /* for good; of one simulation */
	uint32_t *src, *dst;     /* (n_pairs) */
	double *set_s, *saved_s; /* (n_sets, k), (n_pairs, k) scaled */
	uint64_t *no_limit;      /* (k) */
	struct err *e;
};

/* The knob of the link with that number. */
static double *times_of(const struct fitter *x, size_t link)
{
	const uint32_t *alike = x->d->alike;
	return &x->now.times[(size_t)alike[link / x->k] * x->k + alike[link % x->k]];
}

static double factor_of(const struct fitter *x, size_t cell)
{
	return x->now.factor[x->d->alike[cell % x->k]];
}

/* The link with that number as the knobs have it. */
static struct link_cost link_now(const struct fitter *x, size_t link)
{
	const struct fit_devices *d = x->d;
	struct link_cost c = x->p->link[link];
	size_t end[2] = {link / x->k, link % x->k};
	double tensor = 0, byte = 0;
	for (int i = 0; i < 2; i++) {
		size_t e = end[i], like = d->alike[e];
		c = link_longer(c, -d->boundary_s[e], -d->boundary_byte_s[e]);
		tensor += d->boundary_s[e] * x->now.boundary[like];
		byte += d->boundary_byte_s[e] * x->now.boundary_byte[like];
	}
	c.latency_s = interval_scaled(c.latency_s, *times_of(x, link));
	return link_longer(c, tensor, byte);
}

static void scale_times(struct fitter *x)
{
	uint32_t k = x->k;
	for (size_t i = 0; i < (size_t)x->g->n_sets * k; i++) {
		double s = x->p->set_s[i].mid;
		x->set_s[i] = s < 0 ? s : s * factor_of(x, i);
	}
	for (size_t i = 0; i < (size_t)x->p->n_pairs * k; i++)
		x->saved_s[i] = x->p->saved_s[i].mid * factor_of(x, i);
}

static void make_setup(struct fitter *x, struct place_setup *s)
{
	size_t cells = (size_t)x->k * x->k;
	*s = (struct place_setup){.k = x->k,
				  .names = x->d->names,
				  .set_s = x->set_s,
				  .mem_limit = x->no_limit,
				  .contention = true,
				  .overlap = x->rule->overlap,
				  .copy_holds = x->rule->holds,
				  .turns = x->d->turns,
				  .policy = x->policy,
				  .slowdown = x->now.slowdown,
				  .multi_slowdown = x->now.multi_slowdown,
				  .saved = {x->p->n_pairs, x->src, x->dst, x->saved_s}};
	s->links = (struct sched_links){.k = x->k,
					.latency_s = ARENA_NEWN(x->a, double, cells),
					.bytes_per_s = ARENA_NEWN(x->a, double, cells)};
	for (size_t i = 0; i < cells; i++) {
		bool same = i / x->k == i % x->k, is = !same && x->p->has_link[i];
		struct link_cost c = is ? link_now(x, i) : (struct link_cost){0};
		s->links.latency_s[i] = is ? c.latency_s.mid : same ? 0 : -1;
		s->links.bytes_per_s[i] = is ? c.bytes_per_s.mid : INFINITY;
	}
}

static bool reads_in_place(const struct fitter *x, size_t link)
{
	return x->d->host[link / x->k] && x->d->host[link % x->k];
}

static double price(const struct fitter *x)
{
	double sum = SLOWDOWN_PRICE * (x->now.slowdown + x->now.multi_slowdown);
	for (uint32_t d = 0; d < x->k; d++)
		sum += FACTOR_PRICE * pow(log(x->now.factor[d]), 2) +
		       BOUNDARY_PRICE * (pow(log(x->now.boundary[d]), 2) +
					 pow(log(x->now.boundary_byte[d]), 2));
	for (size_t i = 0; i < (size_t)x->k * x->k; i++)
		if (x->p->has_link[i])
			sum += (reads_in_place(x, i) ? READ_PRICE : COPY_PRICE) *
			       pow(log(*times_of(x, i)), 2);
	return sum;
}

/* How far the predictions are from the cases; -1: no simulation. */
static int mean_error(struct fitter *x, double *loss)
{
	struct place_setup s;
	struct place_model m;
	uint32_t n = 0;
	double sum = 0;
	arena_reset(x->a);
	scale_times(x);
	make_setup(x, &s);
	if (place_model_init(&m, x->g, &s, x->a, x->e) < 0)
		return -1;
	struct evaluator *ev = evaluator_new(&m);
	for (uint32_t i = 0; i < x->n_cases; i++) {
		const struct place_result *r = place_evaluate(ev, x->c[i].device);
		if (r->status != PLACE_OK || !(r->lat_s > 0))
			continue;
		sum += fabs(log(r->lat_s / x->c[i].lat_s));
		n++;
	}
	evaluator_free(ev);
	*loss = n ? sum / n + price(x) : INFINITY;
	return 0;
}

/* *knob becomes `value` when that is better and within its range. */
static int try_value(struct fitter *x, double *knob, double value, double lo, double hi,
		     bool *better)
{
	double before = *knob, loss;
	*better = false;
	if (!(value >= lo && value <= hi))
		return 0;
	*knob = value;
	if (mean_error(x, &loss) < 0)
		return -1;
	*better = loss < x->loss;
	if (*better)
		x->loss = loss;
	else
		*knob = before;
	return 0;
}

/* One knob up or down by a factor of 1 + step; an additive one by step. */
static int step_knob(struct fitter *x, double *knob, double step, bool add, double lo, double hi)
{
	bool better;
	if (try_value(x, knob, add ? *knob + step : *knob * (1 + step), lo, hi, &better) < 0)
		return -1;
	return better ? 0
		      : try_value(x, knob, add ? fmax(0, *knob - step) : *knob / (1 + step), lo, hi,
				  &better);
}

/* Is this link the first of those that share its knob? */
static bool is_first(const struct fitter *x, size_t link)
{
	for (size_t i = 0; i < link; i++)
		if (x->p->has_link[i] && times_of(x, i) == times_of(x, link))
			return false;
	return x->p->has_link[link];
}

static int step_boundary(struct fitter *x, double *knob, double step)
{
	return step_knob(x, knob, 4 * step, false, LEAST_BOUNDARY, MOST_BOUNDARY);
}

static int sweep(struct fitter *x, double step)
{
	for (size_t i = 0; i < (size_t)x->k * x->k; i++)
		if (is_first(x, i) &&
		    step_knob(x, times_of(x, i), 4 * step, false, LEAST_TIMES,
			      reads_in_place(x, i) ? MOST_READ_TIMES : MOST_TIMES) < 0)
			return -1;
	if (step_knob(x, &x->now.slowdown, step / 2, true, 0, PLACE_MOST_SLOWDOWN) < 0 ||
	    step_knob(x, &x->now.multi_slowdown, step / 4, true, 0, MOST_MULTI_SLOWDOWN) < 0)
		return -1;
	for (uint32_t d = 0; d < x->k; d++)
		if (x->d->alike[d] == d &&
		    step_knob(x, &x->now.factor[d], step / 2, false, LEAST_FACTOR, MOST_FACTOR) < 0)
			return -1;
	for (uint32_t d = 0; d < x->k; d++)
		if (x->d->alike[d] == d && x->d->boundary_s[d] > 0 &&
		    (step_boundary(x, &x->now.boundary[d], step) < 0 ||
		     step_boundary(x, &x->now.boundary_byte[d], step) < 0))
			return -1;
	return 0;
}

static void set_times(struct fitter *x, double to)
{
	for (size_t i = 0; i < (size_t)x->k * x->k; i++)
		x->now.times[i] = reads_in_place(x, i) ? 1 : to;
}

/* A start: latencies of copies so many times what they are alone, boundaries so many times the guess for a byte, a slowdown. */
struct start {
	double times, byte, slow;
};

static void begin_at(struct fitter *x, const struct start *at)
{
	set_times(x, at->times);
	for (uint32_t d = 0; d < x->k; d++)
		x->now.boundary_byte[d] = x->d->boundary_byte_s[d] > 0 ? at->byte : 1;
	x->now.slowdown = at->slow;
}

/* The best start of a coarse grid. */
static int search_grid(struct fitter *x)
{
	static const double times[] = {1, 4, 12, 36}, byte[] = {1, 4, 0.25},
			    slow[] = {0, 0.15, 0.4};
	struct start best = {1, 1, 0};
	double loss;
	bool copies = false, boundaries = false;
	for (size_t i = 0; i < (size_t)x->k * x->k; i++)
		copies = copies || (x->p->has_link[i] && !reads_in_place(x, i));
	for (uint32_t d = 0; d < x->k; d++)
		boundaries = boundaries || x->d->boundary_byte_s[d] > 0;
	x->loss = INFINITY;
	for (uint32_t i = 0; i < 36; i++) {
		const struct start at = {times[i / 9], byte[i / 3 % 3], slow[i % 3]};
		if ((i / 9 > 0 && !copies) || (i / 3 % 3 > 0 && !boundaries))
			continue;
		begin_at(x, &at);
		if (mean_error(x, &loss) < 0)
			return -1;
		if (loss < x->loss) {
			x->loss = loss;
			best = at;
		}
	}
	begin_at(x, &best);
	return 0;
}

/* A start, and rough sweeps until end_s; *step: that of the next. */
static int fit_roughly(struct fitter *x, double end_s, double *step)
{
	*step = FIRST_STEP;
	for (uint32_t d = 0; d < x->k; d++)
		x->now.factor[d] = x->now.boundary[d] = x->now.boundary_byte[d] = 1;
	x->now.multi_slowdown = 0;
	int rc = search_grid(x);
	for (int i = 0; i < ROUGH_SWEEPS && rc == 0 && (i < LEAST_SWEEPS || clock_s() < end_s);
	     i++, *step *= SHRINK)
		rc = sweep(x, *step);
	return rc;
}

static void copy_knobs(const struct fitter *x, struct knobs *to, const struct knobs *from)
{
	memcpy(to->factor, from->factor, x->k * sizeof *to->factor);
	memcpy(to->boundary, from->boundary, x->k * sizeof *to->boundary);
	memcpy(to->boundary_byte, from->boundary_byte, x->k * sizeof *to->boundary_byte);
	memcpy(to->times, from->times, (size_t)x->k * x->k * sizeof *to->times);
	to->slowdown = from->slowdown;
	to->multi_slowdown = from->multi_slowdown;
}

static struct knobs knobs_new(struct fitter *x)
{
	return (struct knobs){.factor = ARENA_NEWN(x->fixed, double, x->k),
			      .boundary = ARENA_NEWN(x->fixed, double, x->k),
			      .boundary_byte = ARENA_NEWN(x->fixed, double, x->k),
			      .times = ARENA_NEWN(x->fixed, double, (size_t)x->k * x->k)};
}

/* The rule of copies that fits best, roughly, and its knobs; each has its share of the time. */
static int fit_rules(struct fitter *x, double end_s, double *step)
{
	struct knobs best = knobs_new(x);
	const struct copy_rule *first = x->d->rule, *rule = first;
	double least = INFINITY, next = FIRST_STEP;
	for (uint32_t i = 0; i < x->d->n_rules; i++) {
		double now = clock_s();
		x->rule = first + i;
		if (fit_roughly(x, now + (end_s - now) / (x->d->n_rules - i), step) < 0)
			return -1;
		if (i > 0 && !(x->loss < least))
			continue;
		least = x->loss;
		rule = x->rule;
		next = *step;
		copy_knobs(x, &best, &x->now);
	}
	copy_knobs(x, &x->now, &best);
	x->rule = rule;
	x->loss = least;
	*step = next;
	return 0;
}

static void apply(const struct fitter *x, struct profile *out)
{
	uint32_t k = x->k;
	for (size_t i = 0; i < (size_t)x->g->n_sets * k; i++)
		if (out->set_s[i].mid >= 0)
			out->set_s[i] = interval_scaled(out->set_s[i], factor_of(x, i));
	for (size_t i = 0; i < (size_t)out->n_pairs * k; i++)
		out->saved_s[i] = interval_scaled(out->saved_s[i], factor_of(x, i));
	for (size_t i = 0; i < (size_t)k * k; i++)
		if (out->has_link[i])
			out->link[i] = link_now(x, i);
	out->overlap = x->rule->overlap;
	out->copy_holds = x->rule->holds;
	out->slowdown = x->now.slowdown;
	out->multi_slowdown = x->now.multi_slowdown;
}

/* Times what probes missed at most: others may miss more. */
enum { MARGIN = 2 };

/* What plans need beyond the simulator's expectations, at most, as work space of their devices and of
 * those that are alike. */
static int find_margins(struct fitter *x, struct profile *out)
{
	struct place_setup s;
	struct place_model m;
	uint64_t *most = ARENA_NEWN(x->fixed, uint64_t, x->k);
	arena_reset(x->a);
	scale_times(x);
	make_setup(x, &s);
	s.held = (struct place_held){out->held.set,    out->held.inner,      out->held.n_shared,
				     out->held.shared, out->held.shared_ptr, out->held.shared_set,
				     out->held.work};
	if (place_model_init(&m, x->g, &s, x->a, x->e) < 0)
		return -1;
	struct evaluator *ev = evaluator_new(&m);
	for (uint32_t i = 0; i < x->n_cases; i++) {
		const struct place_result *r = place_evaluate(ev, x->c[i].device);
		for (uint32_t d = 0; r->status == PLACE_OK && x->c[i].need && d < x->k; d++) {
			uint64_t need = x->c[i].need[d], *to = &most[x->d->alike[d]];
			if (need > r->mem_bytes[d] && need - r->mem_bytes[d] > *to)
				*to = need - r->mem_bytes[d];
		}
	}
	evaluator_free(ev);
	for (uint32_t d = 0; d < x->k; d++)
		out->held.work[d] += MARGIN * most[x->d->alike[d]];
	return 0;
}

int fit_profile(const struct graph *g, const struct fit_devices *devices, const struct fit_case *c,
		uint32_t n, double most_s, struct profile *out, struct err *e)
{
	uint32_t k = devices->k;
	struct fitter x = {.g = g,
			   .d = devices,
			   .k = k,
			   .n_cases = n,
			   .c = c,
			   .p = out,
			   .fixed = arena_new(),
			   .a = arena_new(),
			   .e = e};
	x.now = knobs_new(&x);
	x.set_s = ARENA_NEWN(x.fixed, double, (size_t)g->n_sets *k);
	x.saved_s = ARENA_NEWN(x.fixed, double, (size_t)out->n_pairs *k);
	x.no_limit = ARENA_NEWN(x.fixed, uint64_t, k);
	x.src = ARENA_NEWN(x.fixed, uint32_t, out->n_pairs);
	x.dst = ARENA_NEWN(x.fixed, uint32_t, out->n_pairs);
	for (uint32_t i = 0; i < out->n_pairs; i++) {
		x.src[i] = out->pair[i].src;
		x.dst[i] = out->pair[i].dst;
	}
	double end_s = clock_s() + most_s, step = 0;
	x.policy = SCHED_RANK;
	int rc = fit_rules(&x, end_s, &step);
	if (rc == 0) {
		x.policy = SCHED_IMPROVED;
		rc = mean_error(&x, &x.loss);
	}
	for (int i = ROUGH_SWEEPS; i < SWEEPS && rc == 0 && clock_s() < end_s; i++, step *= SHRINK)
		rc = sweep(&x, step);
	if (rc == 0 && out->held.set)
		rc = find_margins(&x, out);
	if (rc == 0)
		apply(&x, out);
	arena_free(x.fixed);
	arena_free(x.a);
	return rc;
}
