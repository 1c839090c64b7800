/* speed_effect.c - explaining variables from loops, and their coefficients.
 *
 * Run i of placement p takes t_i.  Device d is busy for the share s_d of it, and the loop of kind
 * c takes u_dc on its cores:
 *
 *   shape    v_d = (1, s_d, s_d^2, sum of the other devices' s)
 *   loops    log u_dc = v_d . g_dc + r_dc           least squares over all runs
 *   x_c      = sum over d of s_d^2 r_dc
 *   shrink   x_c -= (1 - w_p) (m_p - m)             empirical Bayes
 *            w_p  = luck / (luck + own n_p)
 *            m_p: mean of x_c over p's n_p calls; m: mean of all m_p; luck, own: variances
 *            between the calls of a placement, and of m_p beyond what luck makes of it
 *   fit      log t - its mean over p = b . (x - its mean over p),  b >= 0
 *            least squares, once more without runs far from the first fit
 *   check    b of either half of the runs makes the error of the other half smaller
 *   y        = log t - b . x                        b of all runs; without the check's yes, log t
 */
#include "calibrate/speed_effect.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "linear/regress.h"
#include "stats/quantile.h"

enum { SHAPE = 4 }; /* numbers that describe a placement to a loop */
enum { HALVES = 2, BOTH = HALVES };
static const double OUTLIER = 4; /* times the median size of what is left */
static const double LEAST_GAIN =
	0.02; /* by less, loops do not make the error smaller for certain */

struct work {
	const struct speed_runs *r;
	uint32_t *half;  /* (n) runs of a placement belong alternately to the halves */
	double *x;       /* (n, LOOP_KINDS) explaining variables */
	double *ct, *cx; /* (n), (n, LOOP_KINDS) less the means over placements (centre_runs) */
	double b[LOOP_KINDS]; /* coefficients */
};

static double share_of(const struct speed_runs *r, uint32_t placement, uint32_t device)
{
	return r->share[(size_t)placement * r->n_devices + device];
}

static double log_loop(const struct speed_runs *r, uint32_t run, uint32_t device, uint32_t kind)
{
	return r->log_loop[((size_t)run * r->n_devices + device) * LOOP_KINDS + kind];
}

/* ---- explaining variables ---- */

/* What a placement does to the loops of device d itself, whose caches and clocks depend on what
 * runs there: by the busy shares, 1, own, own squared, and the others'. */
static void describe_shape(const struct speed_runs *r, uint32_t placement, uint32_t d, double *v)
{
	v[0] = 1;
	v[1] = share_of(r, placement, d);
	v[2] = v[1] * v[1];
	v[3] = -v[1];
	for (uint32_t e = 0; e < r->n_devices; e++)
		v[3] += share_of(r, placement, e);
}

/* A loop's log over what is usual of placements of that shape, times the square of the device's
 * busy share: who is busy all the time is slowed down in proportion, who waits half of it much
 * less. */
static void add_loop(struct work *w, uint32_t d, uint32_t kind)
{
	const struct speed_runs *r = w->r;
	struct normal m = {.k = SHAPE};
	double v[SHAPE], usual[SHAPE] = {0};
	for (uint32_t i = 0; i < r->n; i++)
		if (!isnan(log_loop(r, i, d, kind))) {
			describe_shape(r, r->placement[i], d, v);
			normal_add(&m, v, log_loop(r, i, d, kind));
		}
	if (!normal_solve(&m, usual))
		return;
	for (uint32_t i = 0; i < r->n; i++)
		if (!isnan(log_loop(r, i, d, kind))) {
			double expected = 0;
			describe_shape(r, r->placement[i], d, v);
			for (int j = 0; j < SHAPE; j++)
				expected += usual[j] * v[j];
			w->x[(size_t)i * LOOP_KINDS + kind] +=
				(log_loop(r, i, d, kind) - expected) * v[2];
		}
}

/* Sums of one variable over the runs of each placement in each call. */
struct call_means {
	double *mean;    /* (n_placements, n_calls) */
	uint32_t *runs;  /* (n_placements, n_calls) */
	double *own;     /* (n_placements) mean of the calls' means */
	uint32_t *calls; /* (n_placements) with runs of it */
};

static struct call_means call_means_new(const struct work *w, uint32_t kind)
{
	const struct speed_runs *r = w->r;
	size_t cells = (size_t)r->n_placements * r->n_calls;
	struct call_means m = {MEM_NEWN(double, cells + 1), MEM_NEWN(uint32_t, cells + 1),
			       MEM_NEWN(double, (size_t)r->n_placements + 1),
			       MEM_NEWN(uint32_t, (size_t)r->n_placements + 1)};
	for (uint32_t i = 0; i < r->n; i++) {
		size_t at = (size_t)r->placement[i] * r->n_calls + r->call[i];
		m.mean[at] += w->x[(size_t)i * LOOP_KINDS + kind];
		m.runs[at]++;
	}
	for (size_t at = 0; at < cells; at++)
		if (m.runs[at]) {
			m.mean[at] /= m.runs[at];
			m.own[at / r->n_calls] += m.mean[at];
			m.calls[at / r->n_calls]++;
		}
	for (uint32_t p = 0; p < r->n_placements; p++)
		m.own[p] /= m.calls[p] ? m.calls[p] : 1;
	return m;
}

static void call_means_release(struct call_means *m)
{
	mem_free(m->mean);
	mem_free(m->runs);
	mem_free(m->own);
	mem_free(m->calls);
}

/* Variances of the placements' means: *luck, by which calls differ, and *own, beyond it.  False
 * where there are too few to tell. */
static bool split_variance(const struct speed_runs *r, const struct call_means *m, double *all,
			   double *luck, double *own)
{
	double n = 0, freedom = 0;
	*all = *luck = *own = 0;
	for (uint32_t p = 0; p < r->n_placements; p++)
		if (m->calls[p]) {
			*all += m->own[p];
			n++;
			freedom += m->calls[p] - 1;
		}
	if (freedom < 1 || n < 2)
		return false;
	*all /= n;
	for (size_t at = 0; at < (size_t)r->n_placements * r->n_calls; at++)
		if (m->runs[at]) {
			double d = m->mean[at] - m->own[at / r->n_calls];
			*luck += d * d / freedom;
		}
	for (uint32_t p = 0; p < r->n_placements; p++)
		if (m->calls[p]) {
			double d = m->own[p] - *all;
			*own += (d * d - *luck / m->calls[p]) / (n - 1);
		}
	return true;
}

/* What a placement's runs have of a variable in common is luck, by which calls differ, and what the
 * placement does to its loops itself beyond its shape: of it that part stays which is luck by the
 * variances of calls' means and of placements' (empirical Bayes: Efron and Morris 1973). */
static void shrink_means(struct work *w, uint32_t kind)
{
	const struct speed_runs *r = w->r;
	struct call_means m = call_means_new(w, kind);
	double all, luck, own;
	if (split_variance(r, &m, &all, &luck, &own) && own > 0)
		for (uint32_t i = 0; i < r->n; i++) {
			uint32_t p = r->placement[i];
			double keep = luck / (luck + own * m.calls[p]);
			w->x[(size_t)i * LOOP_KINDS + kind] -= (1 - keep) * (m.own[p] - all);
		}
	call_means_release(&m);
}

/* ---- coefficients ---- */

static bool is_in(const struct work *w, uint32_t run, uint32_t half)
{
	return half == BOTH || w->half[run] == half;
}

/* Times and variables of a half without their means over each placement. */
static void centre_runs(struct work *w, uint32_t half)
{
	const struct speed_runs *r = w->r;
	enum { WIDTH = LOOP_KINDS + 1 };
	double *sum = MEM_NEWN(double, (size_t)r->n_placements *WIDTH + 1);
	double *runs = MEM_NEWN(double, (size_t)r->n_placements + 1);
	for (uint32_t i = 0; i < r->n; i++)
		if (is_in(w, i, half)) {
			double *s = &sum[(size_t)r->placement[i] * WIDTH];
			runs[r->placement[i]]++;
			s[LOOP_KINDS] += r->log_s[i];
			for (int c = 0; c < LOOP_KINDS; c++)
				s[c] += w->x[(size_t)i * LOOP_KINDS + c];
		}
	for (uint32_t i = 0; i < r->n; i++)
		if (is_in(w, i, half)) {
			const double *s = &sum[(size_t)r->placement[i] * WIDTH];
			double n = runs[r->placement[i]];
			w->ct[i] = r->log_s[i] - s[LOOP_KINDS] / n;
			for (int c = 0; c < LOOP_KINDS; c++) {
				size_t at = (size_t)i * LOOP_KINDS + c;
				w->cx[at] = w->x[at] - s[c] / n;
			}
		}
	mem_free(sum);
	mem_free(runs);
}

/* What the coefficients leave of a run's centred time. */
static double unexplained(const struct work *w, uint32_t run)
{
	double x = w->ct[run];
	for (int c = 0; c < LOOP_KINDS; c++)
		x -= w->b[c] * w->cx[(size_t)run * LOOP_KINDS + c];
	return x;
}

/* Least squares over the runs of a half of which the coefficients so far leave no more than
 * `limit`.  Nobody becomes faster because his core is slow: where a coefficient comes out
 * negative it is 0, and the other is alone.  False: nothing is known of the cores. */
static bool fit_half(struct work *w, uint32_t half, double limit)
{
	struct normal m = {.k = LOOP_KINDS};
	for (uint32_t i = 0; i < w->r->n; i++)
		if (is_in(w, i, half) && !(fabs(unexplained(w, i)) > limit))
			normal_add(&m, &w->cx[(size_t)i * LOOP_KINDS], w->ct[i]);
	if (!normal_solve(&m, w->b))
		return false;
	for (int c = 0; c < LOOP_KINDS; c++)
		if (w->b[c] < 0) {
			int other = LOOP_KINDS - 1 - c;
			w->b[c] = 0;
			w->b[other] = m.c[other] > 0 ? m.c[other] / m.a[other][other] : 0;
			break;
		}
	return true;
}

/* Coefficients of a half without its outliers. */
static bool fit_robustly(struct work *w, uint32_t half)
{
	double *size = MEM_NEWN(double, (size_t)w->r->n + 1);
	uint32_t n = 0;
	centre_runs(w, half);
	bool known = fit_half(w, half, INFINITY);
	for (uint32_t i = 0; i < w->r->n && known; i++)
		if (is_in(w, i, half))
			size[n++] = fabs(unexplained(w, i));
	if (known) {
		double limit = OUTLIER * lower_median(size, n);
		known = fit_half(w, half, limit > 0 ? limit : INFINITY);
	}
	mem_free(size);
	return known;
}

/* The share of the variance that each half's coefficients explain of the other half; 0: not
 * enough. */
static double cross_validate(struct work *w)
{
	double before = 0, after = 0, square = 0, rest = 0;
	for (uint32_t half = 0; half < HALVES; half++) {
		if (!fit_robustly(w, 1 - half))
			return 0;
		centre_runs(w, half);
		for (uint32_t i = 0; i < w->r->n; i++)
			if (w->half[i] == half) {
				double x = unexplained(w, i);
				before += fabs(w->ct[i]);
				after += fabs(x);
				square += w->ct[i] * w->ct[i];
				rest += x * x;
			}
	}
	return after > (1 - LEAST_GAIN) * before || rest >= square ? 0 : 1 - rest / square;
}

static void deal_halves(struct work *w)
{
	uint32_t *count = MEM_NEWN(uint32_t, (size_t)w->r->n_placements + 1);
	for (uint32_t i = 0; i < w->r->n; i++)
		w->half[i] = count[w->r->placement[i]]++ % HALVES;
	mem_free(count);
}

double speed_effect_remove(const struct speed_runs *r, double *y)
{
	memcpy(y, r->log_s, r->n * sizeof *y);
	if (r->n_devices == 0 || r->n == 0)
		return 0;
	size_t cells = (size_t)r->n * LOOP_KINDS;
	struct work w = {r,
			 MEM_NEWN(uint32_t, r->n),
			 MEM_NEWN(double, cells),
			 MEM_NEWN(double, r->n),
			 MEM_NEWN(double, cells),
			 {0}};
	deal_halves(&w);
	for (uint32_t d = 0; d < r->n_devices; d++)
		for (uint32_t c = 0; c < LOOP_KINDS; c++)
			add_loop(&w, d, c);
	for (uint32_t c = 0; c < LOOP_KINDS; c++)
		shrink_means(&w, c);
	double explained = cross_validate(&w);
	if (explained > 0) {
		(void)fit_robustly(&w, BOTH);
		for (uint32_t i = 0; i < r->n; i++)
			for (int c = 0; c < LOOP_KINDS; c++)
				y[i] -= w.b[c] * w.x[(size_t)i * LOOP_KINDS + c];
	}
	mem_free(w.half);
	mem_free(w.x);
	mem_free(w.ct);
	mem_free(w.cx);
	return explained;
}
