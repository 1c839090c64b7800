/* pool.c - thread pool.  Workers spin for a moment before they sleep, since
 * parallel regions of an inference follow one another within microseconds. */
#include "base/pool.h"
#include "base/mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

struct worker {
	struct pool *pool;
	int id;
	int cpu;        /* -1: not pinned */
	pthread_t thread;
};

struct pool {
	int n;
	struct worker *workers;      /* n - 1 of them; ids 1 .. n - 1 */
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	atomic_uint generation;      /* bumped for every run */
	atomic_int next, running;    /* next task; workers still in this run */
	bool stop;
	int n_tasks;
	void (*fn)(void *, int, int);
	void *arg;
};

enum { SPINS = 2000 };

static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

static void take_tasks(struct pool *p, int thread)
{
	for (;;) {
		int i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
		if (i >= p->n_tasks)
			return;
		p->fn(p->arg, i, thread);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;
	unsigned seen = 0;
	for (;;) {
		for (int s = 0; s < SPINS; s++) {
			if (atomic_load_explicit(&p->generation, memory_order_acquire) != seen)
				break;
			spin_pause();
		}
		pthread_mutex_lock(&p->lock);
		while (atomic_load(&p->generation) == seen && !p->stop)
			pthread_cond_wait(&p->wake, &p->lock);
		bool stop = p->stop;
		seen = atomic_load(&p->generation);
		pthread_mutex_unlock(&p->lock);
		if (stop)
			return NULL;
		take_tasks(p, w->id);
		if (atomic_fetch_sub(&p->running, 1) == 1) {
			pthread_mutex_lock(&p->lock);
			pthread_cond_signal(&p->done);
			pthread_mutex_unlock(&p->lock);
		}
	}
}

static void *start(void *arg)
{
	struct worker *w = arg;
	if (w->cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET((size_t)w->cpu, &set);
		pthread_setaffinity_np(pthread_self(), sizeof set, &set);
	}
	return work(arg);
}

struct pool *pool_new(int n_threads, const int *cpus)
{
	struct pool *p = MEM_NEW(struct pool);
	p->n = 1;
	p->workers = MEM_NEWN(struct worker, (size_t)n_threads);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	pthread_cond_init(&p->done, NULL);
	for (int i = 1; i < n_threads; i++) {
		struct worker *w = &p->workers[p->n - 1];
		*w = (struct worker){.pool = p, .id = p->n, .cpu = cpus ? cpus[i] : -1};
		if (pthread_create(&w->thread, NULL, start, w) != 0)
			break;           /* fewer threads give the same results */
		p->n++;
	}
	return p;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < p->n - 1; i++)
		pthread_join(p->workers[i].thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->wake);
	pthread_cond_destroy(&p->done);
	mem_free(p->workers);
	mem_free(p);
}

int pool_size(const struct pool *p)
{
	return p->n;
}

void pool_run(struct pool *p, int n_tasks, void (*fn)(void *, int, int), void *arg)
{
	if (p->n == 1 || n_tasks <= 1) {
		for (int i = 0; i < n_tasks; i++)
			fn(arg, i, 0);
		return;
	}
	pthread_mutex_lock(&p->lock);
	p->n_tasks = n_tasks;
	p->fn = fn;
	p->arg = arg;
	atomic_store(&p->next, 0);
	atomic_store(&p->running, p->n - 1);
	atomic_fetch_add(&p->generation, 1);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	take_tasks(p, 0);
	for (int s = 0; s < SPINS && atomic_load(&p->running) > 0; s++)
		spin_pause();
	pthread_mutex_lock(&p->lock);
	while (atomic_load(&p->running) > 0)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

int pool_n_cpus(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n > 0 ? n : 1;
}
