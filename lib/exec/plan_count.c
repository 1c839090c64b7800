/* plan_count.c - the bytes of a plan on each device: what its steps keep, what its tensors take. */
#include "exec/plan_build.h"
#include "base/pairmap.h"

#include <string.h>

/* ---- memory that plans share ---- */

struct mem_pool *pool_take(struct mem_pool **newest, struct device *d, uint64_t bytes,
			   struct err *e)
{
	if (*newest && (*newest)->bytes >= bytes) {
		(*newest)->users++;
		return *newest;
	}
	pool_drop(*newest, d);
	*newest = NULL;
	struct devmem *m;
	if (d->class->alloc(d, bytes, &m, e) < 0)
		return NULL;
	*newest = MEM_NEW(struct mem_pool);
	**newest = (struct mem_pool){m, bytes, 2};
	return *newest;
}

void pool_drop(struct mem_pool *x, struct device *d)
{
	if (!x || --x->users > 0)
		return;
	d->class->release(d, x->mem);
	mem_free(x);
}

/* ---- what steps keep ---- */

/* Bytes of distinct constants, keyed by address. */
struct kept_bytes {
	struct pairmap seen;
	uint64_t bytes;
};

static void add_kept(void *arg, uint32_t step, const void *key, uint64_t bytes)
{
	struct kept_bytes *x = arg;
	(void)step;
	if (!key || pairmap_get(&x->seen, (uintptr_t)key, 0))
		return;
	pairmap_put(&x->seen, (uintptr_t)key, 0, bytes);
	x->bytes += bytes;
}

/* Constants that the steps of group g read, as its device is to see them; one after another. */
static int each_constant(struct planner *p, const struct fusion_group *g, struct arena *a,
			 piece_fn *fn, void *arg, struct err *e)
{
	for (uint32_t j = 0; j < g->n; j++) {
		struct step_spec spec;
		arena_reset(a);
		if (model_spec(p->m, g->step[j], &p->devices->dev[g->dev], MODEL_FEW, a, &spec, e) <
		    0)
			return -1;
		for (uint32_t i = 0; i < spec.node[0].n_in; i++) {
			const struct step_arg *in = &spec.node[0].in[i];
			int64_t bytes = in->from == FROM_CONST ? tensor_bytes(in->tensor) : 0;
			if (bytes > 0)
				fn(arg, g->step[j], in->tensor, (uint64_t)bytes);
		}
	}
	return 0;
}

static int constants_on(struct builder *b, uint32_t d, uint64_t *out, struct err *e)
{
	struct kept_bytes x = {0};
	struct arena *a = arena_new();
	int rc = 0;
	for (uint32_t i = 0; i < b->c.n && rc == 0; i++)
		if (b->c.group[i].dev == d)
			rc = each_constant(b->p, &b->c.group[i], a, add_kept, &x, e);
	arena_free(a);
	pairmap_release(&x.seen);
	*out = x.bytes;
	return rc;
}

/* A caller's function, and the step that pieces are of. */
struct piece_user {
	piece_fn *fn;
	void *arg;
	uint32_t step;
};

static void tell_piece(void *arg, const void *key, uint64_t bytes)
{
	const struct piece_user *x = arg;
	x->fn(x->arg, x->step, key, bytes);
}

void plan_pieces(struct planner *p, const struct plan *plan, uint32_t d, bool by_step, piece_fn *fn,
		 void *arg)
{
	struct device *dev = &p->devices->dev[d];
	struct arena *a = arena_new();
	for (uint32_t i = 0; i < plan->n_groups; i++) {
		const struct fusion_group *g = &plan->group[i];
		struct piece_user x = {fn, arg, g->step[0]};
		struct err e = ERR_INIT;
		/* What requests share is the first one's. */
		if (g->dev != d || (p->others && plan->used[i]->request == 0))
			continue;
		if (!dev->class->step_memory || (by_step && dev->class->segments)) {
			/* Whatever could fail has been computed when the steps were prepared. */
			if (each_constant(p, g, a, fn, arg, &e) < 0)
				err_clear(&e);
			continue;
		}
		dev->class->step_memory(dev, plan->used[i]->step, tell_piece, &x);
		for (uint32_t j = 0; j < g->n && dev->class->host; j++) {
			x.step = g->step[j];
			model_computed(p->m, g->step[j], dev, tell_piece, &x);
		}
	}
	arena_free(a);
}

void plan_count_steps(struct builder *b)
{
	for (uint32_t d = 0; d < n_devices(b); d++) {
		struct kept_bytes x = {0};
		plan_pieces(b->p, b->plan, d, false, add_kept, &x);
		b->plan->mem_bytes[d] += x.bytes;
		pairmap_release(&x.seen);
	}
}

/* ---- what there is ---- */

static int too_little(const struct device *dev, uint64_t needs, struct err *e)
{
	return err_set(e, ST_RUNTIME, "device '%s' needs %llu bytes and has %llu", dev->name,
		       (unsigned long long)needs, (unsigned long long)device_memory(dev));
}

int plan_could_fit(struct builder *b, struct err *e)
{
	for (uint32_t d = 0; d < n_devices(b) && !b->p->others; d++) {
		uint64_t has = device_memory(dev_of(b, d)), needs;
		/* Most models are far from any limit. */
		if (has == 0 || b->p->m->weights.bytes < has / 4)
			continue;
		if (constants_on(b, d, &needs, e) < 0)
			return -1;
		if (needs > has)
			return too_little(dev_of(b, d), needs, e);
	}
	return 0;
}

/* Devices of the host, but for those with a limit of their own, share its memory. */
static int host_fits(const struct builder *b, uint32_t last, struct err *e)
{
	uint64_t sum = 0, has = device_memory(dev_of(b, last));
	for (uint32_t d = 0; d < n_devices(b); d++) {
		if (!is_host(b, d) || dev_of(b, d)->mem_limit)
			continue;
		/* What stays free beside one of them stays free beside all. */
		uint64_t left = device_memory(dev_of(b, d));
		has = left && left < has ? left : has;
		sum += (d <= last ? b->plan->mem_bytes[d] : 0) + plan_others_bytes(b, d);
	}
	return has == 0 || sum <= has
		       ? 0
		       : err_set(e, ST_RUNTIME,
				 "the devices of the host need %llu bytes and it has %llu",
				 (unsigned long long)sum, (unsigned long long)has);
}

int plan_fits(struct builder *b, uint32_t d, uint64_t tensor_bytes, struct err *e)
{
	struct device *dev = dev_of(b, d);
	uint64_t has = device_memory(dev), *mem = &b->plan->mem_bytes[d];
	b->plan->tensor_bytes[d] = tensor_bytes;
	*mem += tensor_bytes;
	if (*mem > 0 && dev->class->scratch && !b->p->others)
		*mem += dev->class->scratch(dev);
	if (has > 0 && *mem + plan_others_bytes(b, d) > has)
		return too_little(dev, *mem + plan_others_bytes(b, d), e);
	return is_host(b, d) && dev->mem_limit == 0 ? host_fits(b, d, e) : 0;
}
