/* pack.c - packed weights, shared by all that use the same constant in the same way. */
#include "kernel/kernel_impl.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* Under AddressSanitizer each pack has memory of its own, whose bounds are known. */
#ifdef __has_feature
#define PACKS_APART __has_feature(address_sanitizer)
#elif defined __SANITIZE_ADDRESS__
#define PACKS_APART 1
#else
#define PACKS_APART 0
#endif

/* A large block from which packs are cut, one behind the other; it goes when its last pack does. */
struct cpu_region {
	char *memory, *at; /* what mem_try gave; its first whole page */
	size_t bytes, used;
	int users;
};

enum { HUGE_PAGE = 2 << 20, REGION = 32 << 20, LISTS = 1024 };

struct cpu_packs {
	pthread_mutex_t lock;
	struct cpu_pack *first[LISTS]; /* by keys */
	struct cpu_region *region;     /* of the latest pack; NULL: none */
};

static struct cpu_region *region_new(size_t bytes)
{
	size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	char *p = mem_try(whole + HUGE_PAGE);
	if (!p)
		return NULL;
	struct cpu_region *r = MEM_NEW(struct cpu_region);
	r->memory = p;
	r->at = p + (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
	r->bytes = whole;
#ifdef MADV_HUGEPAGE
	madvise(r->at, whole, MADV_HUGEPAGE); /* a hint: no harm where it is refused */
#endif
	return r;
}

static void region_drop(struct cpu_packs *p, struct cpu_region *r)
{
	if (--r->users > 0)
		return;
	if (p->region == r)
		p->region = NULL;
	mem_free(r->memory);
	mem_free(r);
}

/* Packed weights are read from one end to the other, over and over: in huge pages the processor
 * fetches ahead across page bounds, and misses fewer addresses. */
static void *region_cut(struct cpu_packs *p, size_t bytes, struct cpu_region **out)
{
	struct cpu_region *r = p->region;
	size_t whole = (bytes + 63) & ~(size_t)63;
	if (!r || r->bytes - r->used < whole) {
		size_t next = r ? 2 * r->bytes : HUGE_PAGE; /* a small model needs no large ones */
		next = next < REGION ? next : REGION;
		r = region_new(whole > next ? whole : next);
		if (!r)
			return NULL;
		p->region = r;
	}
	void *data = r->at + r->used;
	r->used += whole;
	r->users++;
	*out = r;
	return data;
}

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

/* The list of packs of a key. */
static struct cpu_pack **list_of(struct cpu_packs *p, const void *key)
{
	return &p->first[((uintptr_t)key >> 3) * 2654435761u % LISTS];
}

/* p: NULL for a pack in memory of its own. */
static struct cpu_pack *pack_make(struct cpu_packs *p, const void *key, const uint64_t layout[6],
				  uint64_t bytes, void (*fill)(void *arg, void *data), void *arg)
{
	struct cpu_region *region = NULL;
	void *data = p && !PACKS_APART ? region_cut(p, bytes, &region) : mem_try(bytes ? bytes : 1);
	if (!data)
		return NULL;
	struct cpu_pack *k = MEM_NEW(struct cpu_pack);
	k->region = region;
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
		return pack_make(p, key, layout, bytes, fill, arg);
	pthread_mutex_lock(&p->lock);
	struct cpu_pack **first = list_of(p, key), *k = *first;
	while (k && (k->key != key || memcmp(k->layout, layout, sizeof k->layout)))
		k = k->next;
	if (k) {
		k->users++;
	} else if ((k = pack_make(p, key, layout, bytes, fill, arg))) {
		k->owner = p;
		k->next = *first;
		*first = k;
	}
	pthread_mutex_unlock(&p->lock);
	return k;
}

void cpu_pack_drop(struct cpu_pack *k)
{
	struct cpu_packs *p = k ? k->owner : NULL;
	if (!k)
		return;
	if (!p) {
		mem_free(k->data);
		mem_free(k);
		return;
	}
	pthread_mutex_lock(&p->lock);
	if (--k->users == 0) {
		struct cpu_pack **at = list_of(p, k->key);
		while (*at != k)
			at = &(*at)->next;
		*at = k->next;
		if (k->region)
			region_drop(p, k->region);
		else
			mem_free(k->data);
		mem_free(k);
	}
	pthread_mutex_unlock(&p->lock);
}
