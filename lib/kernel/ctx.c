/* ctx.c - what kernels run with: threads and scratch memory. */
#include "kernel/kernel_impl.h"

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

void cpu_ctx_watch(struct cpu_ctx *c, const atomic_bool *stop)
{
	c->stop = stop;
}

bool cpu_ctx_stopped(const struct cpu_ctx *c)
{
	return c->stop && atomic_load_explicit(c->stop, memory_order_relaxed);
}

void cpu_ctx_allow_bf16(struct cpu_ctx *c, bool products, cpu_prepare_fn *prepare)
{
	c->bf16_weights = true;
	c->bf16_products = products;
	c->prepare = prepare;
}

void cpu_ctx_allow_codes(struct cpu_ctx *c)
{
	c->codes = true;
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
	bytes = bytes ? bytes : 1; /* none is no failure */
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
	return cpu_thread_scratch(c, c->n_threads + slot, bytes);
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
