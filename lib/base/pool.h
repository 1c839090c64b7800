/* pool.h - a fixed set of threads that share out independent tasks.
 *
 * One call runs at a time; the caller takes part.  Task i always computes the
 * same thing, so results do not depend on the number of threads. */
#ifndef HSDAG_BASE_POOL_H
#define HSDAG_BASE_POOL_H

#include <stdbool.h>

struct pool;

/* n_threads >= 1 counts the caller.  With 1 no thread is started.  cpus, when
 * not NULL, pins thread i (the caller is 0 and is not touched) to cpus[i]. */
struct pool *pool_new(int n_threads, const int *cpus);
void pool_free(struct pool *p);
int pool_size(const struct pool *p);
/* Its threads share the cores cpus[0 .. n_threads-1] with others that take turns with it: from now on
 * thread i keeps to cpus[i], but for the caller, and who waits yields at once. */
void pool_take_turns(struct pool *p, const int *cpus);

/* The place of thread i (1 .. pool_size - 1) is somebody else's from now on, who calls pool_help when it has nothing else
 * to do; every run calls wake(arg) when it begins, which is quick.  wake NULL: the pool has a thread of its own again.
 * While no run is under way. */
void pool_lend(struct pool *p, int i, void (*wake)(void *arg), void *arg);
/* Has a run tasks that nobody has begun? */
bool pool_needs_help(const struct pool *p);
/* Begin such tasks as thread i until there are none. */
void pool_help(struct pool *p, int i);

/* fn(arg, i, thread) for i < n_tasks, on all threads; returns when all are
 * done.  thread < pool_size names the running thread (for scratch memory).
 * Tasks are dealt out in pieces of neighbours, one for each thread, and who is
 * done with its own takes from others': runs cut alike mostly give a thread
 * the same tasks. */
void pool_run(struct pool *p, int n_tasks, void (*fn)(void *arg, int task, int thread), void *arg);

/* Processors that this process may use at once (cpus_of_process). */
int pool_n_cpus(void);

#endif
