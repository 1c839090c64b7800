/* links.c - plans of nothing but copies, and a line through their durations. */
#include "device/links.h"

#include <math.h>
#include <string.h>

#include "device/measure.h"

enum { TRIPS = 4, MAX_TASKS = 4 * TRIPS, RUNS = 7, N_SIZES = 4 };
static const size_t sizes[N_SIZES] = {4 << 10, 64 << 10, 512 << 10, 4 << 20};

/* Copies between two devices: each task waits for the one before. */
struct chain {
	struct device_list *l;
	struct plan plan;
	struct task task[MAX_TASKS];
	uint32_t next[MAX_TASKS];
	uint32_t *n_dev_tasks;       /* (k) */
	struct devmem *mem[2];       /* of devices with memory of their own */
	void *host[2];
	size_t bytes;
};

static bool has_own_memory(const struct device_list *l, uint32_t d)
{
	return l->dev[d].class->host == NULL;
}

static void add(struct chain *c, struct task t)
{
	uint32_t i = c->plan.n_tasks++;
	t.n_waits = i > 0;
	t.rank = MAX_TASKS - i;
	t.next_ptr = t.next_end = i;
	c->next[i] = i + 1;
	if (i > 0)
		c->task[i - 1].next_end = i;
	c->task[i] = t;
	c->n_dev_tasks[t.dev]++;
}

static void add_memcpy(struct chain *c, uint32_t dev, uint32_t from, size_t bytes)
{
	add(c, (struct task){.kind = TASK_MEMCPY, .dev = dev, .src = c->host[from],
			     .dst = c->host[!from], .bytes = bytes});
}

static void add_upload(struct chain *c, uint32_t dev, uint32_t to, uint32_t from)
{
	add(c, (struct task){.kind = TASK_UPLOAD, .dev = dev, .mem = c->mem[to],
			     .src = c->host[from], .bytes = c->bytes});
}

static void add_download(struct chain *c, uint32_t dev, uint32_t from, uint32_t to)
{
	add(c, (struct task){.kind = TASK_DOWNLOAD, .dev = dev, .mem = c->mem[from],
			     .dst = c->host[to], .bytes = c->bytes});
}

/* From a (end 0) to b (end 1) and back. */
static void add_trip(struct chain *c, uint32_t a, uint32_t b)
{
	bool own_a = has_own_memory(c->l, a), own_b = has_own_memory(c->l, b);
	if (!own_a && !own_b) {
		add_memcpy(c, b, 0, c->bytes);
		add_memcpy(c, a, 1, c->bytes);
	} else if (own_a && own_b) {
		add_download(c, a, 0, 0);
		add_upload(c, b, 1, 0);
		add_download(c, b, 1, 1);
		add_upload(c, a, 0, 1);
	} else {
		uint32_t own = own_a ? a : b, end = own_a ? 0 : 1;
		add_upload(c, own, end, 0);
		add_download(c, own, end, 1);
		/* Nothing but the hand-over to the other's worker and back. */
		add_memcpy(c, own_a ? b : a, 1, 0);
	}
}

static int allocate(struct chain *c, const uint32_t *dev, size_t bytes, struct err *e)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct device *d = &c->l->dev[dev[i]];
		if (!(c->host[i] = mem_try(bytes)))
			return err_set(e, ST_RUNTIME, "no memory for %zu bytes", bytes);
		memset(c->host[i], 0, bytes);
		if (has_own_memory(c->l, dev[i]) &&
		    d->class->alloc(d, bytes, &c->mem[i], e) < 0)
			return err_prefix(e, "device '%s'", d->name);
	}
	return 0;
}

static void build(struct chain *c, uint32_t a, uint32_t b, size_t bytes)
{
	memset(c->n_dev_tasks, 0, c->l->n * sizeof *c->n_dev_tasks);
	c->bytes = bytes;
	c->plan = (struct plan){.task = c->task, .next = c->next, .n_dev_tasks = c->n_dev_tasks};
	for (int i = 0; i < TRIPS; i++)
		add_trip(c, a, b);
}

/* Seconds of one copy; the first runs warm up. */
static int time_copies(struct executor *x, struct chain *c, double *out, struct err *e)
{
	double lat[RUNS];
	for (int i = -2; i < RUNS; i++) {
		struct exec_sample s = {0};
		if (executor_run(x, &c->plan, &s, e) < 0)
			return -1;
		if (i >= 0)
			lat[i] = s.lat_s;
	}
	*out = interval_median(lat, RUNS).mid / (2 * TRIPS);
	return 0;
}

/* latency + bytes / rate with the least squares of relative errors. */
static struct link_cost fit(const double *copy_s)
{
	double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
	for (int i = 0; i < N_SIZES; i++) {
		double y = copy_s[i], x = (double)sizes[i], u = 1 / (y * y);
		w += u;
		wx += u * x;
		wxx += u * x * x;
		wy += u * y;
		wxy += u * x * y;
	}
	double slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
	double latency = (wy - slope * wx) / w;
	if (!(slope > 0))
		slope = copy_s[N_SIZES - 1] / (double)sizes[N_SIZES - 1];
	return (struct link_cost){fmax(latency, 1e-9), 1 / slope};
}

int link_measure(struct executor *x, struct device_list *l, uint32_t a, uint32_t b,
		 struct link_cost *out, struct err *e)
{
	struct chain *c = MEM_NEW(struct chain);
	const uint32_t dev[2] = {a, b};
	double copy_s[N_SIZES];
	c->l = l;
	c->n_dev_tasks = MEM_NEWN(uint32_t, l->n);
	int rc = allocate(c, dev, sizes[N_SIZES - 1], e);
	for (int i = 0; i < N_SIZES && rc == 0; i++) {
		build(c, a, b, sizes[i]);
		rc = time_copies(x, c, &copy_s[i], e);
	}
	if (rc == 0)
		*out = fit(copy_s);
	for (uint32_t i = 0; i < 2; i++) {
		if (c->mem[i])
			l->dev[dev[i]].class->release(&l->dev[dev[i]], c->mem[i]);
		mem_free(c->host[i]);
	}
	mem_free(c->n_dev_tasks);
	mem_free(c);
	return rc;
}
