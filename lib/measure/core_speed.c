/* core_speed.c - threads that sample how fast their cores are. */
#include "measure/core_speed.h"
#include "base/clock.h"
#include "base/clock_cond.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* 15 and 8 us at 2.5 GHz; the memory is read on from where the last sample ended. */
enum { MOST_CORES = 16, ITERATIONS = 6000, READ_FLOATS = 1 << 14, ALL_FLOATS = 1 << 22 };
static const long PERIOD_NS = 3000000;

struct core {
	struct core_speed *p;
	uint32_t dev;
	int cpu;
	pthread_t thread;
	uint32_t next;                  /* of p->memory */
	uint32_t n;                     /* samples of this run */
	double speed[CORE_SPEED_KINDS]; /* their sums of 1 / seconds */
};

struct core_speed {
	uint32_t k, n;
	struct core *core;    /* (n) */
	float *memory;        /* (ALL_FLOATS) */
	pthread_mutex_t lock; /* of what follows, and of the cores' sums */
	pthread_cond_t go, done;
	uint64_t run;     /* how many have begun */
	uint32_t waiting; /* threads that have not answered */
	bool on, quit;
};

/* ---- the loops ---- */

/* Chains that do not wait for each other, as many as hide how long an addition takes. */
static double compute(void)
{
	double x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, sum = 0;
	for (int i = 0; i < ITERATIONS; i++)
		for (int j = 0; j < 8; j++)
			x[j] = x[j] * 0.999 + 0.5;
	for (int j = 0; j < 8; j++)
		sum += x[j];
	return sum;
}

static double read_on(struct core *c)
{
	const float *from = c->p->memory + c->next;
	float x[16] = {0}, sum = 0;
	for (int i = 0; i < READ_FLOATS; i += 16)
		for (int j = 0; j < 16; j++)
			x[j] += from[i + j];
	for (int j = 0; j < 16; j++)
		sum += x[j];
	c->next = (c->next + READ_FLOATS) % ALL_FLOATS;
	return sum;
}

static long preempted(void)
{
	struct rusage u;
	return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nivcsw : 0;
}

/* One sample; p->lock is held, but not meanwhile. */
static void take_sample(struct core *c)
{
	struct core_speed *p = c->p;
	pthread_mutex_unlock(&p->lock);
	long before = preempted();
	double s[CORE_SPEED_KINDS], begin = clock_s();
	volatile double result = compute();
	s[CORE_SPEED_COMPUTE] = clock_s() - begin;
	begin = clock_s();
	result = result + read_on(c);
	s[CORE_SPEED_READ] = clock_s() - begin;
	bool whole = preempted() == before;
	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < CORE_SPEED_KINDS; i++)
		whole = whole && s[i] > 0;
	for (int i = 0; whole && i < CORE_SPEED_KINDS; i++)
		c->speed[i] += 1 / s[i];
	c->n += whole;
}

/* ---- threads ---- */

static void confirm(struct core_speed *p)
{
	if (--p->waiting == 0)
		pthread_cond_signal(&p->done);
}

/* A sample every PERIOD_NS, until the run has ended. */
static void sample_run(struct core *c)
{
	struct core_speed *p = c->p;
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	while (p->on && !p->quit) {
		until.tv_nsec += PERIOD_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		int rc = 0;
		while (p->on && !p->quit && rc == 0)
			rc = pthread_cond_timedwait(&p->go, &p->lock, &until);
		if (p->on && !p->quit)
			take_sample(c);
		clock_gettime(CLOCK_MONOTONIC, &until);
	}
}

static void *core_main(void *arg)
{
	struct core *c = arg;
	struct core_speed *p = c->p;
	uint64_t seen = 0;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)c->cpu, &set);
	(void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (p->run == seen && !p->quit)
			pthread_cond_wait(&p->go, &p->lock);
		if (p->quit)
			break;
		seen = p->run;
		c->n = 0;
		memset(c->speed, 0, sizeof c->speed);
		take_sample(c);
		confirm(p);
		sample_run(c);
		if (p->quit)
			break;
		take_sample(c);
		confirm(p);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void init_locks(struct core_speed *p)
{
	pthread_mutex_init(&p->lock, NULL);
	clock_cond_init(&p->go);
	clock_cond_init(&p->done);
}

static void find_cores(struct core_speed *p, const struct device_list *l, struct core *core)
{
	uint32_t n = 0;
	for (uint32_t d = 0; d < l->n; d++)
		for (int i = 0; i < l->dev[d].n_cpus && i < MOST_CORES; i++, n++)
			core[n] = (struct core){.p = p,
						.dev = d,
						.cpu = l->dev[d].cpus[i],
						.next = n * READ_FLOATS % ALL_FLOATS};
}

struct core_speed *core_speed_new(const struct device_list *l, struct err *e)
{
	struct core_speed *p = MEM_NEW(struct core_speed);
	uint32_t cores = 0;
	for (uint32_t d = 0; d < l->n; d++)
		cores += (uint32_t)(l->dev[d].n_cpus < MOST_CORES ? l->dev[d].n_cpus : MOST_CORES);
	*p = (struct core_speed){.k = l->n,
				 .core = MEM_NEWN(struct core, (size_t)cores + 1),
				 .memory = MEM_NEWN(float, ALL_FLOATS)};
	for (int i = 0; i < ALL_FLOATS; i++)
		p->memory[i] = 1; /* pages of its own */
	init_locks(p);
	find_cores(p, l, p->core);
	for (; p->n < cores; p->n++)
		if (pthread_create(&p->core[p->n].thread, NULL, core_main, &p->core[p->n]) != 0) {
			core_speed_free(p);
			(void)err_set(e, ST_RUNTIME, "cannot start a thread for a core's pulse");
			return NULL;
		}
	return p;
}

void core_speed_free(struct core_speed *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->quit = true;
	pthread_cond_broadcast(&p->go);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 0; i < p->n; i++)
		pthread_join(p->core[i].thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->go);
	pthread_cond_destroy(&p->done);
	mem_free(p->memory);
	mem_free(p->core);
	mem_free(p);
}

/* Wake all threads up, and wait until each has answered.  p->lock is held. */
static void await_confirmations(struct core_speed *p)
{
	p->waiting = p->n;
	pthread_cond_broadcast(&p->go);
	while (p->waiting > 0)
		pthread_cond_wait(&p->done, &p->lock);
}

void core_speed_begin(struct core_speed *p)
{
	pthread_mutex_lock(&p->lock);
	p->run++;
	p->on = true;
	await_confirmations(p);
	pthread_mutex_unlock(&p->lock);
}

void core_speed_end(struct core_speed *p, double *slow_s)
{
	double *n = MEM_NEWN(double, (size_t)p->k + 1);
	pthread_mutex_lock(&p->lock);
	p->on = false;
	await_confirmations(p);
	memset(slow_s, 0, (size_t)p->k * CORE_SPEED_KINDS * sizeof *slow_s);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct core *c = &p->core[i];
		n[c->dev] += c->n;
		for (int j = 0; j < CORE_SPEED_KINDS; j++)
			slow_s[(size_t)c->dev * CORE_SPEED_KINDS + j] += c->speed[j];
	}
	pthread_mutex_unlock(&p->lock);
	for (uint32_t d = 0; d < p->k; d++)
		for (int j = 0; j < CORE_SPEED_KINDS; j++) {
			double *x = &slow_s[(size_t)d * CORE_SPEED_KINDS + j];
			*x = *x > 0 ? n[d] / *x : 0;
		}
	mem_free(n);
}
