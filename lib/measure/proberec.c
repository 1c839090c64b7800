/* proberec.c - devices, what they can run and what it takes there, as records. */
#include "measure/proberec.h"

#include "record/devrec.h"

/* Every two devices that compute on a core of this machine in common. */
static void describe_shares(struct devs *d, const struct device_list *l, struct arena *a)
{
	d->share = ARENA_NEWN(a, struct dev_share, (size_t)l->n * l->n);
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t j = i + 1; j < l->n; j++)
			if (device_shares_cores(&l->dev[i], &l->dev[j]))
				d->share[d->n_shares++] = (struct dev_share){i, j};
}

/* What a `devs` record says of open devices, but for mask and links. */
static void describe(struct devs *d, const struct device_list *l, struct arena *a)
{
	d->k = l->n;
	d->names = ARENA_NEWN(a, const char *, l->n);
	d->types = ARENA_NEWN(a, const char *, l->n);
	d->mem_bytes = ARENA_NEWN(a, uint64_t, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		d->names[i] = l->dev[i].name;
		d->types[i] = device_class_type(l->dev[i].class);
		d->mem_bytes[i] = device_memory(&l->dev[i]);
	}
	describe_shares(d, l, a);
}

int probe_encode(const struct graph *g, const char *list, const char *memory, bool allow_shared,
		 const char *weights, struct rec_writer *w, struct err *e)
{
	struct device_list l;
	struct model m;
	struct arena *a = arena_new();
	struct devs d = {.graph = g->digest, .n_sets = g->n_sets};
	int rc = device_list_parse(list, &l, e);
	if (rc == 0 && memory)
		rc = device_list_limit(&l, memory, e);
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

/* Three matrices (rows, k) under the names of value and ends; finite. */
static void put_intervals(struct rec_writer *w, const char *const *key, uint32_t rows, uint32_t k,
			  const struct interval *x)
{
	size_t n = (size_t)rows * k;
	double *v = MEM_NEWN(double, n + 1);
	for (int part = 0; part < 3; part++) {
		for (size_t i = 0; i < n; i++)
			v[i] = part == 0 ? x[i].mid : part == 1 ? x[i].lo : x[i].hi;
		put_matrix(w, key[part], TT_F64, rows, k, v);
	}
	mem_free(v);
}

static int cost_record(const struct session *s, const struct profile *p, const struct devs *d,
		       struct rec_writer *w, struct err *e)
{
	static const char *const set[] = {"set_s", "set_lo", "set_hi"}, *const saved[] = {
										"saved_s",
										"saved_lo",
										"saved_hi"};
	uint32_t *end = MEM_NEWN(uint32_t, (size_t)p->n_pairs + 1);
	rec_begin(w, "cost");
	put_uint(w, "graph", s->model.g->digest);
	put_texts(w, "names", d->names, d->k);
	put_intervals(w, set, s->model.g->n_sets, d->k, p->set_s);
	for (uint32_t i = 0; i < p->n_pairs; i++)
		end[i] = p->pair[i].src;
	put_vector(w, "pair_src", TT_U32, p->n_pairs, end);
	for (uint32_t i = 0; i < p->n_pairs; i++)
		end[i] = p->pair[i].dst;
	put_vector(w, "pair_dst", TT_U32, p->n_pairs, end);
	put_intervals(w, saved, p->n_pairs, d->k, p->saved_s);
	mem_free(end);
	put_real(w, "slowdown", p->slowdown);
	put_real(w, "beside", p->multi_slowdown);
	put_uint(w, "profiles", (uint64_t)p->n_earlier + 1);
	put_bool(w, "contention", true);
	put_bool(w, "overlap", p->overlap);
	put_text(w, "order", "improved"); /* as plans do (plan_contract.c) */
	return rec_end(w, e);
}

int profile_encode(const struct session *s, const struct profile *p, struct rec_writer *w,
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
	if (rc == 0)
		rc = cost_record(s, p, &d, w, e);
	arena_free(a);
	return rc;
}
