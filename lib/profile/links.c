/* links.c - plans of nothing but transfers, and lines through their durations. */
#include "profile/links.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "profile/timed.h"

enum { TRIPS = 4, MAX_TASKS = 2 * TRIPS, REPEATS = 9, LEAST_REPEATS = 5, N_SIZES = 7 };
static const double USUAL_RATE =
	1e10; /* bytes per second, where there was time for one size alone */
static const size_t sizes[N_SIZES] = {1 << 10,   4 << 10, 16 << 10, 64 << 10,
				      256 << 10, 1 << 20, 4 << 20};

enum pattern {
	EMPTY, /* nothing, by both workers in turn: two hand-overs a trip */
	FORTH, /* the tensor, and the hand-over back */
	LOCAL  /* written and read by one worker */
};

/* Trips between two devices: each task waits for the one before. */
struct chain {
	struct device_list *l;
	uint32_t dev[2];
	struct plan plan;
	struct plan_task task[MAX_TASKS];
	uint32_t next[MAX_TASKS];
	uint32_t *n_dev_tasks; /* (k) */
	struct devmem *mem[2]; /* of devices with memory of their own */
	void *host[3];
};

static bool has_own_memory(const struct chain *c, int end)
{
	return c->l->dev[c->dev[end]].class->host == NULL;
}

static void chain_add(struct chain *c, int end, struct plan_task t)
{
	uint32_t i = c->plan.n_tasks++;
	t.dev = c->dev[end];
	t.n_waits = i > 0;
	t.rank = MAX_TASKS - i;
	t.next_ptr = t.next_end = i;
	c->next[i] = i + 1;
	if (i > 0)
		c->task[i - 1].next_end = i;
	c->task[i] = t;
	c->n_dev_tasks[t.dev]++;
}

static void add_memcpy(struct chain *c, int end, int from, int to, size_t bytes)
{
	chain_add(c, end,
		  (struct plan_task){.kind = TASK_MEMCPY,
				     .src = c->host[from],
				     .dst = c->host[to],
				     .bytes = bytes});
}

static void add_upload(struct chain *c, int end, size_t bytes)
{
	chain_add(c, end,
		  (struct plan_task){.kind = TASK_UPLOAD,
				     .mem = c->mem[end],
				     .src = c->host[0],
				     .bytes = bytes});
}

static void add_download(struct chain *c, int end, size_t bytes)
{
	chain_add(c, end,
		  (struct plan_task){.kind = TASK_DOWNLOAD,
				     .mem = c->mem[end],
				     .dst = c->host[0],
				     .bytes = bytes});
}

/* One trip from end a to the other. */
static void add_trip(struct chain *c, int a, enum pattern p, size_t bytes)
{
	int b = !a;
	bool own_a = has_own_memory(c, a), own_b = has_own_memory(c, b);
	if (p == EMPTY) {
		add_memcpy(c, b, 0, 1, 0);
		add_memcpy(c, a, 0, 1, 0);
		return;
	}
	if (own_a)
		add_download(c, a, bytes);
	else
		add_memcpy(c, a, 1, 0, own_b ? 0 : bytes);
	if (own_b)
		add_upload(c, b, bytes);
	else
		add_memcpy(c, p == LOCAL ? a : b, 0, 2, own_a ? 0 : bytes);
}

/* Seconds of one trip from end a. */
static int time_trip(struct executor *x, struct chain *c, int a, enum pattern p, size_t bytes,
		     double *out, struct err *e)
{
	struct exec_sample s = {0};
	memset(c->n_dev_tasks, 0, c->l->n * sizeof *c->n_dev_tasks);
	c->plan = (struct plan){.task = c->task, .next = c->next, .n_dev_tasks = c->n_dev_tasks};
	for (int i = 0; i < TRIPS; i++)
		add_trip(c, a, p, bytes);
	if (executor_run(x, &c->plan, &s, e) < 0)
		return -1;
	*out = s.lat_s / TRIPS;
	return 0;
}

/* latency + bytes / rate with the least squares of relative errors; sizes that were not measured are INFINITY. */
static void fit(const double *copy_s, double *latency, double *rate)
{
	double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
	int n = 0;
	for (int i = 0; i < N_SIZES; i++) {
		double y = copy_s[i], x = (double)sizes[i], u = 1 / (y * y);
		if (y == INFINITY)
			continue;
		n++;
		w += u;
		wx += u * x;
		wxx += u * x * x;
		wy += u * y;
		wxy += u * x * y;
	}
	double slope = n > 1 ? (w * wxy - wx * wy) / (w * wxx - wx * wx) : 1 / USUAL_RATE;
	*latency = fmax((wy - slope * wx) / w, 1e-9);
	/* No slope: one that a hundred GB/s would have. */
	*rate = slope > 1e-11 ? 1 / slope : 1e11;
}

/* Seconds of one trip each; INFINITY: there was no time for it. */
struct trips {
	double empty_s, forth_s[N_SIZES], local_s[N_SIZES];
};

static void fit_trips(const struct trips *t, double *latency, double *rate)
{
	double copy_s[N_SIZES];
	for (int i = 0; i < N_SIZES; i++)
		copy_s[i] = t->forth_s[i] == INFINITY
				    ? INFINITY
				    : fmax(t->forth_s[i] - t->local_s[i] - t->empty_s / 2,
					   t->empty_s / 4);
	fit(copy_s, latency, rate);
}

static bool both_host(const struct chain *c)
{
	return !has_own_memory(c, 0) && !has_own_memory(c, 1);
}

/* One repetition from end a: all sizes, but those for which there is no time; what tells the most comes first. */
static int repeat(struct executor *x, struct chain *c, int a, double end_s, struct trips *t,
		  struct err *e)
{
	static const int order[N_SIZES] = {0, N_SIZES - 1, 3, 1, 5, 2, 4};
	*t = (struct trips){0};
	for (int i = 0; i < N_SIZES; i++)
		t->forth_s[i] = INFINITY;
	if (time_trip(x, c, a, EMPTY, 0, &t->empty_s, e) < 0)
		return -1;
	for (int n = 0; n < N_SIZES && (n == 0 || clock_s() < end_s); n++) {
		int i = order[n];
		if (time_trip(x, c, a, FORTH, sizes[i], &t->forth_s[i], e) < 0 ||
		    (both_host(c) && time_trip(x, c, a, LOCAL, sizes[i], &t->local_s[i], e) < 0))
			return -1;
	}
	return 0;
}

static void keep_least(struct trips *least, const struct trips *t)
{
	least->empty_s = fmin(least->empty_s, t->empty_s);
	for (int i = 0; i < N_SIZES; i++) {
		least->forth_s[i] = fmin(least->forth_s[i], t->forth_s[i]);
		least->local_s[i] = fmin(least->local_s[i], t->local_s[i]);
	}
}

/* What repetitions vary by around mid. */
static struct interval around(double mid, const double *v, int n)
{
	struct interval x = timed_median(v, (uint32_t)n);
	return (struct interval){mid, fmin(mid, x.lo), fmax(mid, x.hi)};
}

/* From end a, until end_s.  A trip in which another program has one of the two cores waits for
 * milliseconds, as most do on a busy host: what disturbed each trip least is what counts.  Where the first repetition, which warms
 * up, takes all the time, it counts, as far as it went. */
static int measure_from(struct executor *x, struct chain *c, int a, double end_s,
			struct link_cost *out, struct err *e)
{
	struct trips t, least;
	double latency[REPEATS], rate[REPEATS];
	double latest_s = end_s + fmax(0, end_s - clock_s()); /* of LEAST_REPEATS */
	int n = 0, rc = repeat(x, c, a, end_s, &t, e);
	bool slow = clock_s() > end_s;
	for (; rc == 0 && n < (slow ? 1 : REPEATS) &&
	       (n == 0 || clock_s() < (n < LEAST_REPEATS ? latest_s : end_s));
	     n++) {
		rc = slow ? 0 : repeat(x, c, a, INFINITY, &t, e);
		fit_trips(&t, &latency[n], &rate[n]);
		if (n == 0)
			least = t;
		keep_least(&least, &t);
	}
	if (rc < 0)
		return -1;
	double latency_s, bytes_per_s;
	fit_trips(&least, &latency_s, &bytes_per_s);
	*out = (struct link_cost){around(latency_s, latency, n), around(bytes_per_s, rate, n)};
	return 0;
}

static int allocate(struct chain *c, struct err *e)
{
	size_t bytes = sizes[N_SIZES - 1];
	for (int i = 0; i < 3; i++) {
		if (!(c->host[i] = mem_try(bytes)))
			return err_set(e, ST_RUNTIME, "no memory for %zu bytes", bytes);
		memset(c->host[i], 0, bytes);
	}
	for (int end = 0; end < 2; end++) {
		struct device *d = &c->l->dev[c->dev[end]];
		if (has_own_memory(c, end) && d->class->alloc(d, bytes, &c->mem[end], e) < 0)
			return err_prefix(e, "device '%s'", d->name);
	}
	return 0;
}

static void release(struct chain *c)
{
	for (int end = 0; end < 2; end++) {
		struct device *d = &c->l->dev[c->dev[end]];
		if (c->mem[end])
			d->class->release(d, c->mem[end]);
	}
	for (int i = 0; i < 3; i++)
		mem_free(c->host[i]);
	mem_free(c->n_dev_tasks);
	mem_free(c);
}

int link_measure(struct executor *x, struct device_list *l, uint32_t a, uint32_t b, double most_s,
		 struct link_cost out[2], struct err *e)
{
	struct chain *c = MEM_NEW(struct chain);
	double begin_s = clock_s();
	c->l = l;
	c->dev[0] = a;
	c->dev[1] = b;
	c->n_dev_tasks = MEM_NEWN(uint32_t, l->n);
	int rc = allocate(c, e);
	for (int end = 0; end < 2 && rc == 0; end++) {
		double end_s = begin_s + most_s * (end + 1) / 2;
		if (end == 1 && both_host(c) && clock_s() > end_s)
			out[1] = out[0];
		else
			rc = measure_from(x, c, end, end_s, &out[end], e);
	}
	release(c);
	return rc;
}

static double rate_with(double bytes_per_s, double byte_s)
{
	return 1 / (1 / bytes_per_s + byte_s);
}

struct link_cost link_longer(struct link_cost c, double latency_s, double byte_s)
{
	struct interval l = c.latency_s, r = c.bytes_per_s;
	return (struct link_cost){
		{l.mid + latency_s, l.lo + latency_s, l.hi + latency_s},
		{rate_with(r.mid, byte_s), rate_with(r.lo, byte_s), rate_with(r.hi, byte_s)}};
}
