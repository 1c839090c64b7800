/* test_stats.c - lib/stats: against numpy's values, definitions spelled out, and exact cases. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "linear/blas.h"
#include "stats/deviation.h"
#include "stats/huber.h"
#include "stats/interval.h"
#include "stats/quantile.h"
#include "stats/rank.h"
#include "linear/regress.h"
#include "stats/twoway.h"
#include "tap.h"

enum { N = 12 };
/* numpy, default_rng(4): lognormals, rounded, with ties. */
static const double X[N] = {0.72, 0.92, 2.3, 1.08, 0.44, 1.0, 0.73, 1.08, 0.45, 1.13, 1.12, 2.2};
static const double Y[N] = {0.8, 1.1, 1.6, 3.4, 0.2, 1.6, 0.6, 0.8, 0.3, 0.9, 1.3, 2.1};
static const uint32_t TIMES[N] = {2, 1, 1, 1, 3, 2, 1, 3, 3, 1, 0, 0};

static bool near(double a, double b, double by)
{
	return fabs(a - b) <= by * fmax(1, fabs(b));
}

static void deviations(void)
{
	/* scipy.stats.chi2.ppf */
	static const struct {
		uint32_t freedom;
		double lo, hi;
	} want[] = {{1, 0.0009820691, 5.023886187},
		    {4, 0.4844185571, 11.14328678},
		    {30, 16.79077227, 46.97924224},
		    {500, 439.9359749, 563.8515308}};
	for (int i = 0; i < 4; i++)
		tap(near(chi2_quantile(want[i].freedom, 0.025), want[i].lo, 1e-6 * want[i].lo) &&
			    near(chi2_quantile(want[i].freedom, 0.975), want[i].hi, 1e-8),
		    "chi squared with %u degrees of freedom", want[i].freedom);
	struct interval d = interval_deviation(36, 4);
	tap(near(d.mid, 3, 1e-12) && near(d.lo, sqrt(36 / 11.14328678), 1e-8) &&
		    near(d.hi, sqrt(36 / 0.4844185571), 1e-8),
	    "a standard deviation between its ends");
	d = interval_deviation(0, 3);
	tap(d.mid == 0 && d.lo == 0 && d.hi == 0, "values without a deviation");
	tap(interval_deviation(0, 0).hi == INFINITY, "one value has no deviation");
}

static void orders(void)
{
	/* np.quantile(x, q) */
	static const double q[] = {0, 0.025, 0.3, 0.5, 0.9, 1};
	static const double want[] = {0.44, 0.44275, 0.787, 1.04, 2.093, 2.3};
	double s[N];
	memcpy(s, X, sizeof s);
	order_values(s, N);
	for (int i = 0; i < 6; i++)
		tap(near(quantile(s, N, q[i]), want[i], 1e-14), "quantile %g", q[i]);
	double one = 3;
	tap(quantile(&one, 1, 0.3) == 3, "a quantile of one value");
	memcpy(s, X, sizeof s);
	tap(near(trimmed_mean(s, N, 0.125, 0.25), 0.8875, 1e-14), "trimmed mean");
	memcpy(s, X, sizeof s);
	tap(lower_median(s, N) == s[5] && lower_median(s, 5) == s[2], "lower median");
	uint32_t by[N];
	for (uint32_t i = 0; i < N; i++)
		by[i] = i;
	order_by(by, X, N);
	bool ascends = true;
	uint32_t seen = 0;
	for (uint32_t i = 0; i < N; i++) {
		ascends = ascends && (i == 0 || X[by[i - 1]] <= X[by[i]]);
		seen |= 1u << by[i];
	}
	tap(ascends && seen == (1u << N) - 1, "indices in order, each once");
}

/* A x = b, in the corner of a larger matrix, of which the upper triangle does not count; and draws. */
static void factors(void)
{
	enum { M = 5, ROW = 7 };
	double a[M * ROW], l[M * ROW], x[M], off = 0, square[M] = {0};
	for (uint32_t i = 0; i < M; i++)
		for (uint32_t j = 0; j < M; j++) {
			a[i * ROW + j] = i == j;
			for (uint32_t t = 0; t < M; t++)
				a[i * ROW + j] += sin(1 + 3 * i + t) * sin(1 + 3 * j + t);
			l[i * ROW + j] = j > i ? NAN : a[i * ROW + j];
		}
	memcpy(x, Y, sizeof x);
	tap(positive_solve(l, M, ROW, x), "it is positive definite");
	for (uint32_t i = 0; i < M; i++) {
		double s = -Y[i];
		for (uint32_t j = 0; j < M; j++)
			s += a[i * ROW + j] * x[j];
		off = fmax(off, fabs(s));
	}
	tap(off < 1e-12, "a system of %d: %g", M, off);
	/* The sum over unit vectors e of x x' is the inverse; of it column 0 times a is e_0. */
	for (uint32_t t = 0; t < M; t++) {
		double e[M] = {0};
		e[t] = 1;
		positive_draw(l, M, ROW, e);
		for (uint32_t i = 0; i < M; i++)
			for (uint32_t j = 0; j < M; j++)
				square[i] += a[i * ROW + j] * e[j] * e[0];
	}
	off = fabs(square[0] - 1);
	for (uint32_t i = 1; i < M; i++)
		off = fmax(off, fabs(square[i]));
	tap(off < 1e-12, "the covariance of draws: %g", off);
	memcpy(l, a, sizeof l);
	l[2 * ROW + 2] = -1;
	tap(!positive_solve(l, M, ROW, x), "it is not");
	memcpy(l, a, sizeof l);
	l[3 * ROW] = NAN;
	tap(!positive_solve(l, M, ROW, x), "nor what is no number");
}

/* Huber's mean solves sum psi = 0, stays where it is when an outlier goes farther, and covers. */
static void huber(void)
{
	double x[N], one = 2;
	memcpy(x, Y, sizeof x);
	struct interval a = huber_mean(x, N);
	tap(a.lo < a.mid && a.mid < a.hi && a.mid > 0.9 && a.mid < 1.2, "a Huber mean, %g", a.mid);
	x[3] = 1e6;
	tap(near(huber_mean(x, N).mid, a.mid, 1e-9), "an outlier does not move it");
	tap(huber_mean(&one, 1).mid == 2 && isinf(huber_mean(&one, 1).hi), "of one value");
	double flat[4] = {3, 3, 3, 3};
	tap(huber_mean(flat, 4).mid == 3 && huber_mean(flat, 4).hi == 3, "of equal values");
	uint32_t inside = 0;
	enum { SAMPLES = 2000, EACH = 10 };
	for (uint32_t s = 0; s < SAMPLES; s++) {
		const struct rng_addr g = {5, s, 0, RNG_INPUT};
		double v[EACH];
		for (uint32_t i = 0; i < EACH; i++)
			v[i] = sqrt(-2 * log1p(-rng_uniform(&g, 2 * i))) *
			       cos(2 * M_PI * rng_uniform(&g, 2 * i + 1));
		struct interval h = huber_mean(v, EACH);
		inside += h.lo <= 0 && h.hi >= 0;
	}
	tap(inside > 0.93 * SAMPLES && inside < 0.98 * SAMPLES, "its interval holds %u of %d",
	    inside, SAMPLES);
}

/* Values that remember the one before: the interval that knows their order covers, the other not. */
static void huber_in_time(void)
{
	enum { SAMPLES = 1000, EACH = 200 };
	uint32_t inside = 0, plain = 0, narrower = 0;
	for (uint32_t s = 0; s < SAMPLES; s++) {
		const struct rng_addr g = {6, s, 0, RNG_INPUT};
		double v[EACH];
		for (uint32_t i = 0; i < EACH; i++)
			v[i] = (i ? 0.5 * v[i - 1] : 0) +
			       sqrt(-2 * log1p(-rng_uniform(&g, 2 * i))) *
				       cos(2 * M_PI * rng_uniform(&g, 2 * i + 1));
		struct interval h = huber_mean(v, EACH), t = huber_mean_in_time(v, EACH);
		plain += h.lo <= 0 && h.hi >= 0;
		inside += t.lo <= 0 && t.hi >= 0;
		narrower += t.mid != h.mid || t.hi < h.hi;
	}
	tap(inside > 0.87 * SAMPLES && plain < 0.8 * SAMPLES && narrower == 0,
	    "of values that remember, %u of %d; without their order %u", inside, SAMPLES, plain);
}

/* The mean over all subsets of m of the least value. */
static void least_of_subsets(void)
{
	for (uint32_t m = 1; m <= 6; m++) {
		double sum = 0, x[6];
		int n = 0;
		for (uint32_t set = 1; set < 64; set++) {
			double least = INFINITY;
			uint32_t size = 0;
			for (uint32_t i = 0; i < 6; i++)
				if (set >> i & 1) {
					size++;
					least = fmin(least, X[i]);
				}
			if (size == m) {
				sum += least;
				n++;
			}
		}
		memcpy(x, X, sizeof x);
		tap(near(expected_least(x, 6, m), sum / n, 1e-14), "least of %u of 6", m);
	}
}

/* P(T > t) by the trapezoidal rule over s = atan(t), whose density is proportional to cos^(f-1). */
static double t_tail(double t, double f)
{
	enum { STEPS = 200000 };
	double from = atan(t / sqrt(f)), part = 0, half = 0;
	for (int i = 0; i <= STEPS; i++) {
		double weight = i == 0 || i == STEPS ? 0.5 : 1;
		part += weight * pow(cos(from + (M_PI / 2 - from) * i / STEPS), f - 1);
		half += weight * pow(cos(M_PI / 2 * i / STEPS), f - 1);
	}
	return part * (M_PI / 2 - from) / (2 * half * M_PI / 2);
}

static void student(void)
{
	double worst = 0;
	for (uint32_t f = 2; f < 60; f++)
		worst = fmax(worst, fabs(t_tail(t_quantile(f), f) - 0.025));
	tap(worst < 1e-4, "Student's t, 2 to 59 degrees of freedom: %g", worst);
	tap(near(t_quantile(1), tan(M_PI * 0.475), 1e-4), "one degree of freedom: Cauchy's");
	tap(near(t_quantile(1000000), 1.95996, 1e-4), "very many: the normal's");
	tap(isinf(t_quantile(0)), "none: infinite");
}

static void intervals(void)
{
	struct interval m = interval_mean(X, N), g = interval_geometric(X, N);
	/* x.mean(), x.std(ddof=1) / sqrt(n), and those of np.log(x) */
	tap(near(m.mid, 1.0975, 1e-14) && near(m.hi - m.mid, 2.201 * 0.17042338098946044, 1e-12) &&
		    near(m.mid - m.lo, 2.201 * 0.17042338098946044, 1e-12),
	    "mean");
	tap(near(g.mid, 0.9724491603611626, 1e-14) &&
		    near(log(g.hi / g.mid), 2.201 * 0.1474838717710999, 1e-12) &&
		    near(log(g.mid / g.lo), 2.201 * 0.1474838717710999, 1e-12),
	    "geometric mean");
	struct interval w =
		interval_wider((struct interval){2, 2 * exp(-0.03), 2 * exp(0.06)}, 0.04);
	tap(w.mid == 2 && fabs(log(w.lo / 2) + 0.05) < 1e-12 &&
		    fabs(log(w.hi / 2) - hypot(0.06, 0.04)) < 1e-12,
	    "a second error beside an interval's");
	tap(isinf(interval_mean(X, 1).hi) && interval_geometric(X, 1).lo == 0, "one value");
	/* Of 12 the third and the tenth: P(B(12, 1/2) < 3) = 79 / 4096 <= 0.025 < P(B < 4). */
	double s[N];
	memcpy(s, X, sizeof s);
	order_values(s, N);
	struct interval d = interval_median(X, N);
	tap(d.lo == s[2] && d.hi == s[9] && near(d.mid, (s[5] + s[6]) / 2, 1e-15), "median");
	struct interval few = interval_order(X, 5), wide = interval_median(X, 5);
	memcpy(s, X, sizeof s);
	order_values(s, 5);
	tap(few.lo == s[0] && few.hi == s[4] && few.mid == s[2], "five: smallest and largest");
	tap(wide.mid == s[2] && wide.lo == fmin(interval_mean(X, 5).lo, s[2]) &&
		    wide.hi == interval_mean(X, 5).hi,
	    "five: Student's t");
}

/* How often intervals of the median of 25 exponentials hold it: 95 % or a little more. */
static void coverage(void)
{
	enum { TRIALS = 4000, SAMPLES = 25 };
	struct rng_addr at = {.seed = 5, .stream = RNG_SEARCH};
	int held = 0;
	for (uint32_t i = 0; i < TRIALS; i++) {
		double x[SAMPLES];
		for (uint32_t j = 0; j < SAMPLES; j++)
			x[j] = -log(1 - rng_uniform(&at, i * SAMPLES + j));
		struct interval d = interval_order(x, SAMPLES);
		held += d.lo <= log(2) && log(2) <= d.hi;
	}
	tap(held > 0.945 * TRIALS && held < 0.975 * TRIALS, "medians held: %d of %d", held, TRIALS);
}

static void correlations(void)
{
	uint32_t by_x[N], by_y[N];
	for (uint32_t i = 0; i < N; i++)
		by_x[i] = by_y[i] = i;
	order_by(by_x, X, N);
	order_by(by_y, Y, N);
	/* np.corrcoef of mean ranks; of np.repeat(x, times) */
	tap(near(spearman(X, by_x, Y, by_y, NULL, N), 0.7469255823372165, 1e-14),
	    "Spearman, with ties");
	tap(near(spearman(X, by_x, Y, by_y, TIMES, N), 0.8239827448099685, 1e-14),
	    "values several times");
	static const double same[N] = {0};
	tap(spearman(X, by_x, same, by_y, NULL, N) == 0, "all equal: 0");

	struct minstd g = {20131}, h = g;
	struct interval a = spearman_interval(X, Y, N, 1000, &g);
	struct interval b = spearman_interval(X, Y, N, 1000, &h);
	tap(a.lo == b.lo && a.hi == b.hi && a.lo < a.mid && a.mid < a.hi && a.hi <= 1,
	    "bootstrap: reproducible, around the estimate");
	struct interval m = bootstrap_median(X, N, 500, &g), o = interval_order(X, N);
	tap(m.mid == o.mid && m.lo >= o.lo - 0.2 && m.hi <= o.hi + 0.2 && m.lo < m.hi,
	    "bootstrap of a median");
	/* The 10,000th number from state 1 (Park and Miller 1988). */
	struct minstd p = {1};
	for (int i = 0; i < 10000; i++)
		(void)minstd_below(&p, 2);
	tap(p.state == 1043618065, "the minimal standard generator");
}

static void regression(void)
{
	struct normal m = {.k = 3};
	struct rng_addr at = {.seed = 2, .stream = RNG_SEARCH};
	for (uint32_t i = 0; i < 60; i++) {
		double x[3];
		for (uint32_t j = 0; j < 3; j++)
			x[j] = rng_uniform(&at, 3 * i + j) - 0.5;
		normal_add(&m, x, 2 * x[0] - x[1] + 0.5 * x[2]);
	}
	double b[3], r[3], trace = (m.a[0][0] + m.a[1][1] + m.a[2][2]) / 3;
	tap(normal_solve(&m, b) && near(b[0], 2, 1e-3) && near(b[1], -1, 1e-3) &&
		    near(b[2], 0.5, 1e-3),
	    "coefficients");
	double worst = 0;
	for (int i = 0; i < 3; i++) {
		r[i] = m.c[i] - 1e-4 * trace * b[i];
		for (int j = 0; j < 3; j++)
			r[i] -= (j > i ? m.a[j][i] : m.a[i][j]) * b[j];
		worst = fmax(worst, fabs(r[i]));
	}
	tap(worst < 1e-12, "they solve the equations with the ridge: %g", worst);
	struct normal none = {.k = 2};
	double kept[2] = {7, 8};
	tap(!normal_solve(&none, kept) && kept[0] == 7, "nothing to solve");
}

static void twoways(void)
{
	enum { ROWS = 6, COLUMNS = 16, ALL = ROWS * COLUMNS };
	double y[ALL], u[ROWS + 1] = {0};
	uint32_t row[ALL], column[ALL], n = 0;
	struct rng_addr at = {.seed = 3, .stream = RNG_SEARCH};
	for (uint32_t i = 0; i < ROWS; i++)
		for (uint32_t j = 0; j < COLUMNS; j++) {
			row[n] = i;
			column[n] = j;
			y[n++] = 0.1 * i + rng_uniform(&at, j) + (i == 2 && j == 5 ? 3 : 0);
		}
	struct twoway t = {n, ROWS + 1, COLUMNS, y, row, column, 0.125, 0.25};
	u[ROWS] = 9;
	twoway_rows(&t, u);
	double worst = 0;
	for (uint32_t i = 1; i < ROWS; i++)
		worst = fmax(worst, fabs(u[i] - u[0] - 0.1 * i));
	tap(worst < 1e-4, "rows without columns' effects and an outlier: %g", worst);
	tap(u[ROWS] == 9, "a row without values stays");
	double alone[ROWS + 1], x[COLUMNS];
	twoway_rows_alone(&t, alone);
	memcpy(x, y, sizeof x);
	tap(near(alone[0], trimmed_mean(x, COLUMNS, 0.125, 0.25), 1e-9), "rows alone");
}

int main(void)
{
	struct err e = ERR_INIT;
	tap(blas_open(&e) != NULL, "OpenBLAS: %s", e.msg);
	orders();
	deviations();
	factors();
	huber();
	huber_in_time();
	least_of_subsets();
	student();
	intervals();
	coverage();
	correlations();
	regression();
	twoways();
	return tap_end();
}
