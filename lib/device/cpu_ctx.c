/* cpu_ctx.c - what kernels run with: threads, scratch memory, packed weights. */
#include "device/cpu_impl.h"

#include <pthread.h>
#include <string.h>

struct cpu_ctx *cpu_ctx_new(struct pool *pool, struct cpu_packs *packs)
{
	struct cpu_ctx *c = MEM_NEW(struct cpu_ctx);
	c->pool = pool;
	c->packs = packs;
	c->n_threads = pool ? pool_size(pool) : 1;
	c->scratch = MEM_NEWN(struct cpu_scratch, (size_t)c->n_threads + SLOT_SHARED);
	return c;
}

void cpu_ctx_free(struct cpu_ctx *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->n_threads + SLOT_SHARED; i++)
		mem_free(c->scratch[i].p);
	mem_free(c->scratch);
	mem_free(c);
}

uint64_t cpu_ctx_bytes(const struct cpu_ctx *c)
{
	uint64_t n = 0;
	for (int i = 0; i < c->n_threads + SLOT_SHARED; i++)
		n += c->scratch[i].bytes;
	return n;
}

void *cpu_thread_scratch(struct cpu_ctx *c, int thread, size_t bytes)
{
	struct cpu_scratch *s = &c->scratch[thread];
	if (s->bytes < bytes) {
		mem_free(s->p);
		s->bytes = 0;
		s->p = mem_try(bytes);
		if (s->p)
			s->bytes = bytes;
	}
	return s->p;
}

void *cpu_slot_scratch(struct cpu_ctx *c, int slot, size_t bytes)
{
	return cpu_thread_scratch(c, c->n_threads + slot, bytes ? bytes : 1);
}

void cpu_parallel(struct cpu_ctx *c, int n_tasks, void (*fn)(void *arg, int task, int thread),
		  void *arg)
{
	if (c->n_threads == 1 || n_tasks == 1) {
		for (int i = 0; i < n_tasks; i++)
			fn(arg, i, 0);
		return;
	}
	pool_run(c->pool, n_tasks, fn, arg);
}

int cpu_tasks(int64_t n, int64_t grain)
{
	int64_t t = n / (grain > 0 ? grain : 1);
	return t < 1 ? 1 : t > 1 << 16 ? 1 << 16 : (int)t;
}

void cpu_range(int64_t n, int n_tasks, int task, int64_t *begin, int64_t *end)
{
	int64_t each = n / n_tasks, rest = n % n_tasks;
	*begin = each * task + (task < rest ? task : rest);
	*end = *begin + each + (task < rest);
}

int cpu_no_memory(struct err *e)
{
	return err_set(e, ST_RUNTIME, "out of memory for scratch space of a kernel");
}

/* ---- packed weights ---- */

struct cpu_packs {
	pthread_mutex_t lock;
	struct cpu_pack *first;
	uint64_t bytes;
};

struct cpu_packs *cpu_packs_new(void)
{
	struct cpu_packs *p = MEM_NEW(struct cpu_packs);
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void cpu_packs_free(struct cpu_packs *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}

uint64_t cpu_packs_bytes(struct cpu_packs *p)
{
	pthread_mutex_lock(&p->lock);
	uint64_t n = p->bytes;
	pthread_mutex_unlock(&p->lock);
	return n;
}

static struct cpu_pack *pack_make(const void *key, const uint64_t layout[6], uint64_t bytes,
				  void (*fill)(void *arg, void *data), void *arg)
{
	void *data = mem_try(bytes ? bytes : 1);
	if (!data)
		return NULL;
	struct cpu_pack *k = MEM_NEW(struct cpu_pack);
	k->key = key;
	memcpy(k->layout, layout, sizeof k->layout);
	k->data = data;
	k->bytes = bytes;
	k->users = 1;
	fill(arg, data);
	return k;
}

struct cpu_pack *cpu_pack_get(struct cpu_packs *p, const void *key, const uint64_t layout[6],
			      uint64_t bytes, void (*fill)(void *arg, void *data), void *arg)
{
	if (!p)
		return pack_make(key, layout, bytes, fill, arg);
	pthread_mutex_lock(&p->lock);
	struct cpu_pack *k = p->first;
	while (k && (k->key != key || memcmp(k->layout, layout, sizeof k->layout)))
		k = k->next;
	if (k) {
		k->users++;
	} else if ((k = pack_make(key, layout, bytes, fill, arg))) {
		k->owner = p;
		k->next = p->first;
		p->first = k;
		p->bytes += bytes;
	}
	pthread_mutex_unlock(&p->lock);
	return k;
}

void cpu_pack_drop(struct cpu_pack *k)
{
	struct cpu_packs *p = k ? k->owner : NULL;
	if (!k)
		return;
	if (p) {
		pthread_mutex_lock(&p->lock);
		if (--k->users > 0) {
			pthread_mutex_unlock(&p->lock);
			return;
		}
		struct cpu_pack **at = &p->first;
		while (*at != k)
			at = &(*at)->next;
		*at = k->next;
		p->bytes -= k->bytes;
		pthread_mutex_unlock(&p->lock);
	}
	mem_free(k->data);
	mem_free(k);
}
