/* mem.c - checked allocation and arenas. */
#include "base/mem.h"
#include "base/msg.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -1: not read yet; 0: never fail; k > 0: the k-th allocation from now fails. */
static long long fail_countdown = -1;

static bool must_fail(void)
{
	long long k = __atomic_load_n(&fail_countdown, __ATOMIC_RELAXED);
	if (k == 0)
		return false;
	if (k < 0) {
		const char *s = getenv("HSDAG_FAIL_ALLOC");
		k = s ? atoll(s) : 0;
		__atomic_store_n(&fail_countdown, k > 0 ? k : 0, __ATOMIC_RELAXED);
		if (k <= 0)
			return false;
	}
	return __atomic_sub_fetch(&fail_countdown, 1, __ATOMIC_RELAXED) == 0;
}

bool mem_mul(size_t n, size_t size, size_t *out)
{
	return !__builtin_mul_overflow(n, size, out);
}

/* ---- the reserve ---- */

static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;
static void *reserve;
static size_t reserve_bytes;
static atomic_bool ran_out;

bool mem_reserve(size_t bytes)
{
	pthread_mutex_lock(&reserve_lock);
	if (!reserve || reserve_bytes < bytes) {
		void *p = must_fail() ? NULL : malloc(bytes);
		if (p) {
			free(reserve);
			reserve = p;
			reserve_bytes = bytes;
		}
	}
	bool had = reserve && reserve_bytes >= bytes;
	atomic_store(&ran_out, !had);
	pthread_mutex_unlock(&reserve_lock);
	return had;
}

bool mem_use_reserve(void)
{
	pthread_mutex_lock(&reserve_lock);
	void *p = reserve;
	reserve = NULL;
	reserve_bytes = 0;
	if (p)
		atomic_store(&ran_out, true);
	pthread_mutex_unlock(&reserve_lock);
	free(p);
	return p != NULL;
}

bool mem_ran_out(void)
{
	return atomic_load(&ran_out);
}

int mem_check(struct err *e)
{
	return mem_ran_out() ? err_set(e, ST_RUNTIME, "out of memory") : 0;
}

/* ---- pieces ---- */

void *mem_alloc(size_t n, size_t size)
{
	size_t bytes;
	if (!mem_mul(n, size, &bytes))
		msg_out_of_memory(n, size);
	void *p = must_fail() ? NULL : calloc(1, bytes ? bytes : 1);
	while (!p && mem_use_reserve())
		p = calloc(1, bytes ? bytes : 1);
	if (!p)
		msg_out_of_memory(n, size);
	return p;
}

void *mem_resize(void *old, size_t n, size_t size)
{
	size_t bytes;
	if (!mem_mul(n, size, &bytes))
		msg_out_of_memory(n, size);
	void *p = must_fail() ? NULL : realloc(old, bytes ? bytes : 1);
	while (!p && mem_use_reserve())
		p = realloc(old, bytes ? bytes : 1);
	if (!p)
		msg_out_of_memory(n, size);
	return p;
}

void *mem_copy(const void *p, size_t n, size_t size)
{
	void *q = mem_alloc(n, size);
	if (n != 0 && size != 0)
		memcpy(q, p, n * size);
	return q;
}

char *mem_strdup(const char *s)
{
	return mem_copy(s, strlen(s) + 1, 1);
}

void mem_free(void *p)
{
	free(p);
}

/* From here on it is worth asking the system, which keeps a part for what else there is. */
enum { LARGE = 64 << 20, KEPT = 16 };

static bool has_room(size_t bytes)
{
	uint64_t room = bytes < LARGE ? UINT64_MAX : mem_available();
	return bytes <= room - room / KEPT;
}

void *mem_try(size_t bytes)
{
	size_t padded;
	if (must_fail() || mem_ran_out() || __builtin_add_overflow(bytes, (size_t)64, &padded))
		return NULL;
	if (!has_room(bytes))
		return NULL;
	return aligned_alloc(64, padded / 64 * 64);
}

void *mem_try_resize(void *old, size_t bytes)
{
	return must_fail() || mem_ran_out() || !has_room(bytes) ? NULL
								: realloc(old, bytes ? bytes : 1);
}

void *mem_grow(void *p, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return p;
	size_t want = *cap + *cap / 2 + 16;
	if (want < need)
		want = need;
	p = mem_resize(p, want, size);
	*cap = want;
	return p;
}

/* ---- arena ---- */

struct block {
	struct block *next;
	size_t cap; /* usable bytes after the header */
	size_t used;
	char pad[64 - 3 * sizeof(size_t)]; /* data starts 64-byte aligned */
};

struct arena {
	struct block *first, *cur; /* blocks before cur are full */
	size_t total;              /* bytes of all blocks, or of those that one is to replace */
};

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct arena *arena_new(void)
{
	return MEM_NEW(struct arena);
}

static struct block *block_new(size_t cap)
{
	const size_t bytes = (sizeof(struct block) + cap + 63) / 64 * 64;
	struct block *b = mem_ran_out() ? aligned_alloc(64, bytes) : mem_try(bytes);
	while (!b && mem_use_reserve())
		b = aligned_alloc(64, bytes);
	if (!b)
		msg_out_of_memory(cap, 1);
	b->next = NULL;
	b->cap = cap;
	b->used = 0;
	return b;
}

void *arena_raw(struct arena *a, size_t n, size_t size)
{
	size_t bytes;
	if (!mem_mul(n, size, &bytes) || bytes > SIZE_MAX / 2)
		msg_out_of_memory(n, size);
	size_t align = bytes >= 64 ? 64 : 16;
	bytes = bytes ? bytes : 1;
	for (;;) {
		struct block *b = a->cur;
		if (b) {
			size_t at = (b->used + align - 1) / align * align;
			if (at <= b->cap && bytes <= b->cap - at) {
				b->used = at + bytes;
				return (char *)(b + 1) + at;
			}
			if (b->next) {
				a->cur = b->next;
				a->cur->used = 0;
				continue;
			}
		}
		size_t cap = b ? b->cap * 2 : FIRST_BLOCK;
		if (cap > LARGEST_BLOCK)
			cap = LARGEST_BLOCK;
		if (!b && a->total > sizeof *b)
			cap = a->total - sizeof *b;
		a->total = b ? a->total : 0;
		if (cap < bytes + 64)
			cap = bytes + 64;
		struct block *nb = block_new(cap);
		a->total += sizeof *nb + cap;
		if (b)
			b->next = nb;
		else
			a->first = nb;
		a->cur = nb;
	}
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	void *p = arena_raw(a, n, size);
	memset(p, 0, n * size);
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_raw(a, n + 1, 1);
	if (n)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, ap2;
	va_start(ap, fmt);
	va_copy(ap2, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = arena_raw(a, (size_t)n + 1, 1);
	vsnprintf(p, (size_t)n + 1, fmt, ap2);
	va_end(ap2);
	return p;
}

static void free_blocks(struct arena *a)
{
	for (struct block *b = a->first, *next; b; b = next) {
		next = b->next;
		mem_free(b);
	}
	a->first = a->cur = NULL;
}

/* Several blocks become one: pieces that are a little larger the next time would pass by blocks
 * that were made for them. */
void arena_reset(struct arena *a)
{
	if (a->first && a->first->next)
		free_blocks(a);
	a->cur = a->first;
	if (a->cur)
		a->cur->used = 0;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	free_blocks(a);
	mem_free(a);
}

size_t arena_bytes(const struct arena *a)
{
	return a->total;
}
