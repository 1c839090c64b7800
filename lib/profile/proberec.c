/* proberec.c - devices, what they can run and what it takes there, as records. */
#include "profile/proberec.h"

#include <string.h>

#include "record/devrec.h"

/* Every two devices that compute on a core of this machine in common. */
static void describe_shares(struct devs *d, const struct device_list *l, struct arena *a)
{
	d->share = ARENA_NEWN(a, struct dev_share, (size_t)l->n * l->n);
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t j = i + 1; j < l->n; j++)
			if (device_shares_cores(&l->dev[i], &l->dev[j]))
				d->share[d->n_shares++] = (struct dev_share){i, j};
	d->turns = device_list_all_turns(l, a);
}

/* What a `devs` record says of open devices, but for mask and links. */
static void describe(struct devs *d, const struct device_list *l, struct arena *a)
{
	d->k = l->n;
	d->names = ARENA_NEWN(a, const char *, l->n);
	d->types = ARENA_NEWN(a, const char *, l->n);
	d->mem_bytes = ARENA_NEWN(a, uint64_t, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		if (device_headroom(&l->dev[i]) && !d->headroom)
			d->headroom = ARENA_NEWN(a, uint64_t, l->n);
		if (d->headroom)
			d->headroom[i] = device_headroom(&l->dev[i]);
		d->names[i] = l->dev[i].name;
		d->types[i] = device_class_type(l->dev[i].class);
		d->mem_bytes[i] = device_memory(&l->dev[i]);
	}
	describe_shares(d, l, a);
}

int probe_encode(const struct graph *g, const char *list, const char *memory, const char *headroom,
		 bool allow_shared, const char *weights, struct rec_writer *w, struct err *e)
{
	struct device_list l;
	struct model m;
	struct arena *a = arena_new();
	struct devs d = {.graph = g->digest, .n_sets = g->n_sets};
	int rc = device_list_parse(list, &l, e);
	if (rc == 0)
		rc = device_list_limit(&l, memory, headroom, e);
	d.mask = ARENA_NEWN(a, uint8_t, (size_t)g->n_sets * l.n);
	if (rc == 0)
		rc = device_list_open(&l, allow_shared, e);
	if (rc == 0) {
		rc = model_open(&m, g, weights, e);
		if (rc == 0)
			rc = model_mask(&m, &l, d.mask, e);
		if (rc == 0)
			rc = model_complete(&m, e);
		model_close(&m);
	}
	if (rc == 0) {
		describe(&d, &l, a);
		rc = devs_encode(&d, w, e);
	}
	device_list_close(&l);
	arena_free(a);
	return rc;
}

/* ---- --profile ---- */

static struct dev_link as_link(uint32_t src, uint32_t dst, const struct link_cost *c)
{
	struct interval s = interval_clip(c->latency_s), r = interval_clip(c->bytes_per_s);
	return (struct dev_link){.src = src,
				 .dst = dst,
				 .latency_s = s.mid,
				 .bytes_per_s = r.mid,
				 .measured = true,
				 .latency_lo = s.lo,
				 .latency_hi = s.hi,
				 .bytes_per_s_lo = r.lo,
				 .bytes_per_s_hi = r.hi};
}

/* Value and ends of n intervals, each by itself; finite. */
static void split_intervals(const struct interval *x, size_t n, struct arena *a, const double **mid,
			    const double **lo, const double **hi)
{
	double *v = ARENA_NEWN(a, double, 3 * n);
	for (size_t i = 0; i < n; i++) {
		v[i] = x[i].mid;
		v[n + i] = x[i].lo;
		v[2 * n + i] = x[i].hi;
	}
	*mid = v;
	*lo = v + n;
	*hi = v + 2 * n;
}

struct cost_rec profile_costs(const struct session *s, const struct profile *p, struct arena *a)
{
	uint32_t k = s->devices.n;
	const char **names = ARENA_NEWN(a, const char *, k);
	uint8_t *holds = p->copy_holds ? ARENA_NEWN(a, uint8_t, (size_t)k * k) : NULL;
	for (uint32_t i = 0; i < k; i++)
		names[i] = arena_strndup(a, s->devices.dev[i].name, strlen(s->devices.dev[i].name));
	if (holds)
		memcpy(holds, p->copy_holds, (size_t)k * k);
	uint32_t *src = ARENA_NEWN(a, uint32_t, p->n_pairs);
	uint32_t *dst = ARENA_NEWN(a, uint32_t, p->n_pairs);
	for (uint32_t i = 0; i < p->n_pairs; i++) {
		src[i] = p->pair[i].src;
		dst[i] = p->pair[i].dst;
	}
	struct cost_rec x = {.graph = s->model.g->digest,
			     .n_sets = s->model.g->n_sets,
			     .k = k,
			     .names = names,
			     .has_pairs = true,
			     .n_pairs = p->n_pairs,
			     .pair_src = src,
			     .pair_dst = dst,
			     .has_slowdown = true,
			     .slowdown = p->slowdown,
			     .multi_slowdown = p->multi_slowdown,
			     .held = p->held.set,
			     .inner = p->held.inner,
			     .n_shared = p->held.n_shared,
			     .shared = p->held.shared,
			     .shared_ptr = p->held.shared_ptr,
			     .shared_set = p->held.shared_set,
			     .work = p->held.work,
			     .profiles = (uint64_t)p->n_earlier + 1,
			     .has_rules = true,
			     .contention = true,
			     .overlap = p->overlap,
			     .copy_holds = holds,
			     .order = "improved"}; /* as plans do (plan_contract.c) */
	split_intervals(p->set_s, (size_t)x.n_sets * x.k, a, &x.set_s, &x.set_lo, &x.set_hi);
	split_intervals(p->saved_s, (size_t)x.n_pairs * x.k, a, &x.saved_s, &x.saved_lo,
			&x.saved_hi);
	return x;
}

int profile_devs_encode(const struct session *s, const struct profile *p, struct rec_writer *w,
			struct err *e)
{
	struct arena *a = arena_new();
	uint32_t k = s->devices.n;
	struct devs d = {
		.graph = s->model.g->digest, .n_sets = s->model.g->n_sets, .mask = s->mask};
	describe(&d, &s->devices, a);
	d.link = ARENA_NEWN(a, struct dev_link, (size_t)k * k);
	for (uint32_t i = 0; i < k * k; i++)
		if (p->has_link[i])
			d.link[d.n_links++] = as_link(i / k, i % k, &p->link[i]);
	int rc = devs_encode(&d, w, e);
	arena_free(a);
	return rc;
}
