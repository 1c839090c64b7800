/* in_flight.c - a closed loop of requests, and what is counted of them. */
#include "measure/in_flight.h"

#include <math.h>
#include <pthread.h>

/* A window is of WINDOW requests for each in flight at least, and of about so many seconds. */
enum { WINDOW = 8, MOST_WINDOW = 1 << 20 };
static const double WINDOW_S = 0.1;

/* ---- latencies ---- */

static uint32_t bucket_of(double s)
{
	double i = s > LATENCY_LEAST_S ? log(s / LATENCY_LEAST_S) / log(LATENCY_STEP) : 0;
	return i < LATENCY_BUCKETS - 1 ? (uint32_t)i : LATENCY_BUCKETS - 1;
}

double served_quantile(const struct served *x, double q)
{
	uint64_t n = x->ended - x->failed, seen = 0;
	for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
		seen += x->latency[i];
		if (seen > 0 && (double)seen >= q * (double)n)
			return LATENCY_LEAST_S * pow(LATENCY_STEP, i + 0.5);
	}
	return 0;
}

/* ---- a run ---- */

struct loop {
	const struct in_flight *f;
	uint32_t n; /* at once */
	struct served *out;
	pthread_mutex_t lock; /* of what follows, and of out */
	uint64_t window, n_ended, n_failed;
	double from_s, to_s; /* the window */
	bool over;
	struct err why;
};

/* A request of the window has ended. */
static void count(struct loop *l, const struct err *end, double begin_s, double end_s)
{
	l->out->ended++;
	if (end->code == ST_OK) {
		l->out->latency[bucket_of(end_s - begin_s)]++;
		return;
	}
	if (l->out->failed++ == 0)
		l->out->why = *end;
	if (l->n_failed++ == 0)
		l->why = *end;
}

static bool next(void *arg, uint32_t i, const struct err *end, double begin_s, double end_s)
{
	struct loop *l = arg;
	uint64_t fill = IN_FLIGHT_FILL * (uint64_t)l->n;
	(void)i;
	pthread_mutex_lock(&l->lock);
	if (end && !l->over) {
		l->n_ended++;
		if (l->n_ended <= fill)
			l->from_s = fmax(l->from_s, end_s);
		else
			count(l, end, begin_s, end_s);
		l->to_s = fmax(l->to_s, end_s);
		l->over = l->n_ended >= fill + l->window || (l->f->drain && *l->f->drain);
	}
	bool more = !l->over;
	pthread_mutex_unlock(&l->lock);
	return more;
}

static int run_loop(struct loop *l, struct executor *x, struct plan *p, double *busy_s,
		    struct err *e)
{
	struct plan **plan = MEM_NEWN(struct plan *, l->n);
	for (uint32_t i = 0; i < l->n; i++, p = p->next_request)
		plan[i] = p;
	const struct exec_load load = {
		.n = l->n, .plan = plan, .next = next, .arg = l, .busy_s = busy_s};
	pthread_mutex_init(&l->lock, NULL);
	int rc = executor_load(x, &load, e);
	pthread_mutex_destroy(&l->lock);
	mem_free(plan);
	return rc;
}

/* Seconds of the window for each request that did not fail. */
static int period(struct loop *l, double *s, struct err *e)
{
	uint64_t fill = IN_FLIGHT_FILL * (uint64_t)l->n,
		 n = l->n_ended > fill ? l->n_ended - fill : 0;
	if (n == 0)
		return err_set(e, ST_RUNTIME, "interrupted before %llu requests had ended",
			       (unsigned long long)fill + 1);
	if (l->n_failed == n) {
		*e = l->why;
		return -1;
	}
	double seconds = fmax(l->to_s - l->from_s, 1e-9);
	l->out->seconds += seconds;
	*s = seconds / (double)(n - l->n_failed);
	return 0;
}

/* The window of a session, from a short run. */
static int choose_window(struct in_flight *f, struct executor *x, struct plan *p, struct err *e)
{
	struct served *ignored = MEM_NEW(struct served);
	struct loop l = {.f = f, .n = f->n, .out = ignored, .window = WINDOW * (uint64_t)f->n};
	double s = 0;
	int rc = run_loop(&l, x, p, NULL, e);
	if (rc == 0)
		rc = period(&l, &s, e);
	if (rc == 0)
		f->window = (uint64_t)fmin(fmax((double)l.window, WINDOW_S / s), MOST_WINDOW);
	mem_free(ignored);
	return rc;
}

static const double CLOSE = 0.95; /* of the limit */

uint32_t requests_guess(uint32_t n, double p95_s, double limit_s)
{
	double guess = p95_s > 0 ? floor(n * CLOSE * limit_s / p95_s) : MOST_WINDOW;
	return (uint32_t)fmin(guess, MOST_WINDOW);
}

int requests_within(const struct requests_within *x, uint32_t *n, double *p95_s, struct err *e)
{
	uint32_t least = x->least, beyond = x->most + 1, at = x->most;
	*n = 0;
	while (least < beyond) {
		double s, limit_s = at == x->least ? x->limit_s : CLOSE * x->limit_s;
		if (x->try(x->ctx, at, &s, e) < 0)
			return -1;
		if (*n == 0 || s <= limit_s)
			*p95_s = s;
		uint32_t guess = requests_guess(at, s, x->limit_s);
		if (s > limit_s) {
			beyond = at;
		} else {
			*n = at;
			least = at + 1;
			if (guess < least)
				break;
		}
		at = (uint32_t)fmin(fmax(guess, least), (double)beyond - 1);
	}
	return 0;
}

void in_flight_expect(struct in_flight *f, double request_s, double most_s)
{
	double wish = fmax(WINDOW * (double)f->n, WINDOW_S / request_s);
	double most = most_s / request_s - (IN_FLIGHT_FILL + 1) * (double)f->n;
	f->window = (uint64_t)fmin(fmax(fmin(wish, most), f->n), MOST_WINDOW);
}

int in_flight_run(struct in_flight *f, struct executor *x, struct plan *p, struct served *out,
		  double *run_s, double *busy_s, struct err *e)
{
	double s = 0;
	if (f->window == 0 && choose_window(f, x, p, e) < 0)
		return -1;
	struct loop l = {.f = f, .n = out->n ? out->n : f->n, .out = out, .window = f->window};
	if (run_loop(&l, x, p, busy_s, e) < 0 || period(&l, &s, e) < 0)
		return -1;
	/* Whoever has fewer at once ran fewer. */
	double of_all = (double)in_flight_requests(f);
	double ran = of_all - (IN_FLIGHT_FILL + 1) * (double)(f->n - l.n);
	for (uint32_t d = 0; busy_s && d < p->devices->n; d++)
		busy_s[d] *= of_all / ran;
	*run_s = s * of_all;
	return 0;
}
