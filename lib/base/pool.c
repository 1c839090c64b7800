/* pool.c - thread pool.  Who waits spins before it sleeps, since parallel regions of an inference
 * follow one another within microseconds and to wake up takes as long as a small one; after a
 * moment it offers its core to others meanwhile. */
#include "base/pool.h"
#include "base/cgroup.h"
#include "base/mem.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct worker {
	struct pool *pool;
	int id;
	atomic_int cpu; /* -1: not pinned */
	pthread_t thread;
	bool lent; /* there is no thread: somebody else helps, whom this wakes */
	void (*wake_helper)(void *arg);
	void *helper;
};

/* The tasks of a run are dealt out in one piece to each thread, which does its own piece first and then helps with
 * those of others: steps that follow one another cut their tensors alike, so that a thread mostly reads what it has
 * written, which counts where cores share no cache.  A piece is one 64-bit word, so that taking a task is one atomic
 * addition and a thread that wakes late finds nothing left rather than the next run's tasks: end (32 bits), next task (32).
 * More threads than pieces share them. */
enum { PIECES = 8, TASK_BITS = 32 };
#define TASK_MASK UINT32_MAX

struct piece {
	_Alignas(64) atomic_uint_least64_t word;
};

struct pool {
	int n;
	struct worker *workers; /* n - 1 of them; ids 1 .. n - 1 */
	struct piece piece[PIECES];
	_Alignas(64) atomic_uint run; /* counts runs */
	int n_pieces;                 /* most that a run has */
	_Alignas(64) atomic_int done; /* tasks of this run that are finished */
	atomic_int asleep;            /* workers that wait for `wake` */
	atomic_bool waiting;          /* the caller waits for `finished` */
	pthread_mutex_t lock;
	pthread_cond_t wake, finished;
	bool stop;
	atomic_bool yields; /* at once, when it waits */
	bool takes_turns;   /* on its cores */
	int n_lent;         /* places that have no thread */
	int first;          /* number of the run's task 0 */
	int n_tasks;        /* of the run */
	void (*fn)(void *, int, int);
	void *arg;
};

static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

enum { EAGER_SPINS = 1000, YIELDING_SPINS = 4000 }; /* of some 50 ns, of a microsecond or so */

/* One more turn of a wait, the s-th; false: it is time to sleep. */
static bool spin(const struct pool *p, int s)
{
	if (s >= EAGER_SPINS || atomic_load_explicit(&p->yields, memory_order_relaxed))
		sched_yield();
	else
		spin_pause();
	return s < EAGER_SPINS + YIELDING_SPINS;
}

static bool piece_left(const struct piece *x)
{
	uint64_t w = atomic_load(&x->word);
	return (w & TASK_MASK) < w >> TASK_BITS;
}

/* Do tasks of a piece until none is left; how many. */
static int take_piece(struct pool *p, struct piece *x, int thread)
{
	int n = 0;
	while (piece_left(x)) {
		uint64_t w = atomic_fetch_add(&x->word, 1);
		if ((w & TASK_MASK) >= w >> TASK_BITS)
			break;
		p->fn(p->arg, p->first + (int)(w & TASK_MASK), thread);
		n++;
	}
	return n;
}

/* Do tasks until none is left.  A run cannot end while one of its tasks is being done or not yet counted, so fn, arg
 * and first are this run's. */
static void take_tasks(struct pool *p, int thread)
{
	int n = 0;
	for (int i = 0; i < p->n_pieces; i++)
		n += take_piece(p, &p->piece[(thread + i) % p->n_pieces], thread);
	if (n == 0)
		return;
	int all = p->n_tasks; /* the run may be over after this */
	if (atomic_fetch_add(&p->done, n) + n == all && atomic_load(&p->waiting)) {
		pthread_mutex_lock(&p->lock);
		pthread_cond_signal(&p->finished);
		pthread_mutex_unlock(&p->lock);
	}
}

/* Wait for a run after `seen`; false: the pool ends, or w's place is lent. */
static bool wait_for_run(const struct worker *w, unsigned seen)
{
	struct pool *p = w->pool;
	for (int s = 0; spin(p, s); s++)
		if (atomic_load(&p->run) != seen)
			return true;
	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&p->asleep, 1);
	while (atomic_load(&p->run) == seen && !p->stop && !w->lent)
		pthread_cond_wait(&p->wake, &p->lock);
	atomic_fetch_sub(&p->asleep, 1);
	bool go_on = !p->stop && !w->lent;
	pthread_mutex_unlock(&p->lock);
	return go_on;
}

static void *worker_loop(void *arg)
{
	struct worker *w = arg;
	unsigned seen = 0;
	while (wait_for_run(w, seen)) {
		seen = atomic_load(&w->pool->run);
		take_tasks(w->pool, w->id);
	}
	return NULL;
}

static void keep_to(pthread_t thread, int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	pthread_setaffinity_np(thread, sizeof set, &set);
}

static void *start(void *arg)
{
	struct worker *w = arg;
	if (w->cpu >= 0)
		keep_to(pthread_self(), w->cpu);
	return worker_loop(arg);
}

struct pool *pool_new(int n_threads, const int *cpus)
{
	struct pool *p = MEM_NEW(struct pool);
	p->n = 1;
	p->n_pieces = n_threads < 1 ? 1 : n_threads < PIECES ? n_threads : PIECES;
	p->workers = MEM_NEWN(struct worker, (size_t)n_threads);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	pthread_cond_init(&p->finished, NULL);
	for (int i = 1; i < n_threads; i++) {
		struct worker *w = &p->workers[p->n - 1];
		*w = (struct worker){.pool = p, .id = p->n, .cpu = cpus ? cpus[i] : -1};
		if (pthread_create(&w->thread, NULL, start, w) != 0)
			break; /* fewer threads give the same results */
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
		if (!p->workers[i].lent)
			pthread_join(p->workers[i].thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->wake);
	pthread_cond_destroy(&p->finished);
	mem_free(p->workers);
	mem_free(p);
}

/* Who waits yields where others may want its core: threads of its own that take turns. */
static void choose_yielding(struct pool *p)
{
	atomic_store(&p->yields, p->takes_turns && p->n_lent < p->n - 1);
}

void pool_take_turns(struct pool *p, const int *cpus)
{
	p->takes_turns = true;
	choose_yielding(p);
	for (int i = 1; i < p->n; i++) {
		p->workers[i - 1].cpu = cpus[i];
		if (!p->workers[i - 1].lent)
			keep_to(p->workers[i - 1].thread, cpus[i]);
	}
}

void pool_lend(struct pool *p, int i, void (*wake)(void *), void *arg)
{
	struct worker *w = &p->workers[i - 1];
	bool lent = wake != NULL;
	pthread_mutex_lock(&p->lock);
	bool had = w->lent;
	w->lent = lent;
	w->wake_helper = wake;
	w->helper = arg;
	p->n_lent += lent - had;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	if (lent && !had)
		pthread_join(w->thread, NULL);
	/* Without a thread the place stays empty, and the others do all. */
	if (!lent && had && pthread_create(&w->thread, NULL, start, w) != 0) {
		w->lent = true;
		w->wake_helper = NULL;
		p->n_lent++;
	}
	choose_yielding(p);
}

bool pool_needs_help(const struct pool *p)
{
	for (int i = 0; i < p->n_pieces; i++)
		if (piece_left(&p->piece[i]))
			return true;
	return false;
}

void pool_help(struct pool *p, int i)
{
	if (pool_needs_help(p))
		take_tasks(p, i);
}

int pool_size(const struct pool *p)
{
	return p->n;
}

/* The caller works too; then it waits for tasks that others have begun, not for
 * threads that never came. */
static void run_some(struct pool *p, int first, int n)
{
	p->first = first;
	p->n_tasks = n;
	atomic_store(&p->done, 0);
	for (uint64_t i = 0, at = 0, m = (uint64_t)p->n_pieces; i < m; i++) {
		uint64_t end = (i + 1) * (uint64_t)n / m;
		atomic_store(&p->piece[i].word, end << TASK_BITS | at);
		at = end;
	}
	atomic_fetch_add(&p->run, 1);
	if (atomic_load(&p->asleep) > 0) {
		pthread_mutex_lock(&p->lock);
		pthread_cond_broadcast(&p->wake);
		pthread_mutex_unlock(&p->lock);
	}
	for (int i = 0; p->n_lent > 0 && i < p->n - 1; i++)
		if (p->workers[i].wake_helper)
			p->workers[i].wake_helper(p->workers[i].helper);
	take_tasks(p, 0);
	for (int s = 0; atomic_load(&p->done) < n && spin(p, s);)
		s++;
	if (atomic_load(&p->done) == n)
		return;
	pthread_mutex_lock(&p->lock);
	atomic_store(&p->waiting, true);
	while (atomic_load(&p->done) < n)
		pthread_cond_wait(&p->finished, &p->lock);
	atomic_store(&p->waiting, false);
	pthread_mutex_unlock(&p->lock);
}

void pool_run(struct pool *p, int n_tasks, void (*fn)(void *, int, int), void *arg)
{
	enum { MOST = 1 << 23 };
	if (p->n == 1 || n_tasks <= 1) {
		for (int i = 0; i < n_tasks; i++)
			fn(arg, i, 0);
		return;
	}
	p->fn = fn;
	p->arg = arg;
	for (int i = 0; i < n_tasks; i += MOST)
		run_some(p, i, n_tasks - i < MOST ? n_tasks - i : MOST);
}

int pool_n_cpus(void)
{
	cpu_set_t set;
	int n = cpus_of_process(&set);
	return n > 0 ? n : 1;
}
