/* handover.c - what a draw computed, for a replay: its key, and the memory in which it is handed over. */
#include "learn/net/handover.h"
#include "base/digest.h"
#include "base/msg.h"
#include "kernel/isa_level.h"

#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 256 << 20 }; /* of an episode */
enum { ALIGNED = 64 };

/* In front of the floats. */
struct head {
	uint64_t key, n;
	uint8_t rest[ALIGNED - 16];
};

uint64_t handover_key(const struct net_model *m, uint32_t n, struct mat *const *z,
		      const struct choices *c)
{
	static const char version[] = HSDAG_VERSION;
	uint64_t key = digest_of(version, sizeof version, (uint64_t)cpu_level);
	key = digest_of(m->policy->data, m->policy->n * sizeof *m->policy->data, key);
	for (uint32_t i = 0; i < n; i++) {
		size_t places = (size_t)c[i].n_samples * c[i].n_groups;
		const uint32_t shape[] = {c[i].n_groups, c[i].n_samples, c[i].k};
		key = digest_of(shape, sizeof shape, key);
		key = digest_of(z[i]->v, (size_t)z[i]->rows * z[i]->cols * sizeof *z[i]->v, key);
		key = digest_of(c[i].action, places * sizeof *c[i].action, key);
	}
	return key;
}

void handover_known(const struct net_model *m, uint32_t n, struct mat *const *z, struct choices *c)
{
	struct handover *h = c->handover;
	bool fits = h && h->steps == n;
	for (uint32_t i = 0; fits && i < n; i++)
		fits = c[i].handover == h;
	fits = fits && h->key == handover_key(m, n, z, c);
	if (fits)
		h->used = true;
	for (uint32_t i = 0; !fits && i < n; i++)
		c[i].handover = NULL;
}

/* ---- the draw's side ---- */

void handover_begin(struct handover_giver *g)
{
	g->used = 0;
}

struct handover handover_next(struct handover_giver *g)
{
	struct handover h = {0};
	if (!g->memory.p && !sharedmem_make(&g->memory, MOST_BYTES))
		return h;
	size_t left = g->memory.n - g->used;
	if (left <= sizeof(struct head))
		return h;
	struct head *head = (struct head *)(void *)((char *)g->memory.p + g->used);
	head->key = head->n = 0; /* what was there is gone from now on */
	h.v = (float *)(void *)(head + 1);
	h.room = (left - sizeof *head) / sizeof *h.v;
	return h;
}

struct handover_rec handover_give(struct handover_giver *g, const struct handover *h,
				  const struct rollout_id *id)
{
	struct head *head = (struct head *)(void *)((char *)g->memory.p + g->used);
	head->key = h->key;
	head->n = h->n;
	const struct handover_rec r = {.id = *id,
				       .steps = h->steps,
				       .pid = (uint32_t)getpid(),
				       .fd = (uint32_t)g->memory.fd,
				       .at = g->used,
				       .n = sizeof *head + h->n * sizeof *h->v,
				       .key = h->key};
	g->used += (r.n + ALIGNED - 1) / ALIGNED * ALIGNED;
	return r;
}

void handover_giver_release(struct handover_giver *g)
{
	sharedmem_release(&g->memory);
}

/* ---- the replay's side ---- */

bool handover_take(struct handover_taker *t, const struct handover_rec *r, struct handover *out)
{
	struct sharedmem *m = &t->memory;
	if (!m->p || t->pid != r->pid || t->fd != r->fd) {
		sharedmem_release(m);
		t->pid = r->pid;
		t->fd = r->fd;
		if (!sharedmem_open(m, r->pid, r->fd))
			return false;
	}
	if (r->at % ALIGNED != 0 || r->n <= sizeof(struct head) || r->n % sizeof(float) != 0 ||
	    r->at > m->n || r->n > m->n - r->at)
		return false;
	struct head *head = (struct head *)(void *)((char *)m->p + r->at);
	size_t n = (r->n - sizeof *head) / sizeof(float);
	if (head->key != r->key || head->n != n)
		return false;
	*out = (struct handover){.v = (float *)(void *)(head + 1),
				 .room = n,
				 .n = n,
				 .steps = r->steps,
				 .key = r->key};
	return true;
}

void handover_taker_release(struct handover_taker *t)
{
	sharedmem_release(&t->memory);
}
