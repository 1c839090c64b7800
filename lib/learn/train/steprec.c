/* steprec.c - part, place and run records. */
#include "learn/train/steprec.h"

#include <math.h>

static int get_u32(const struct val *m, const char *key, uint32_t *out, struct err *e)
{
	uint64_t v;
	if (get_uint(m, key, 0, UINT32_MAX, &v, e) < 0)
		return -1;
	*out = (uint32_t)v;
	return 0;
}

static int get_id(const struct val *m, bool sample, struct step_id *id, struct err *e)
{
	*id = (struct step_id){0};
	if (get_uint(m, "graph", 0, UINT64_MAX, &id->graph, e) < 0 ||
	    get_u32(m, "episode", &id->episode, e) < 0 || get_u32(m, "step", &id->step, e) < 0)
		return -1;
	return sample ? get_u32(m, "sample", &id->sample, e) : 0;
}

static void put_id(struct rec_writer *w, const struct step_id *id, bool sample)
{
	put_uint(w, "graph", id->graph);
	put_uint(w, "episode", id->episode);
	put_uint(w, "step", id->step);
	if (sample)
		put_uint(w, "sample", id->sample);
}

/* u32 tensor of rank 1 into *out; its length in *n. */
static int get_indices(const struct val *m, const char *key, struct arena *a, uint32_t *n,
		       const uint32_t **out, struct err *e)
{
	uint64_t shape[1] = {UINT64_MAX};
	uint32_t *data;
	if (get_tensor(m, key, TT_U32, 1, shape, a, &data, e) < 0)
		return -1;
	if (shape[0] >= UINT32_MAX)
		return err_set(e, ST_INPUT, "'%s' is too long", key);
	*n = (uint32_t)shape[0];
	*out = data;
	return 0;
}

static int get_rounds(const struct val *m, struct arena *a, struct partition *p, struct err *e)
{
	const struct val *list;
	if (get_list(m, "rounds", &list, e) < 0)
		return -1;
	p->n_rounds = (uint32_t)val_count(list);
	struct parse_round *round = ARENA_NEWN(a, struct parse_round, p->n_rounds);
	p->round = round;
	for (uint32_t i = 0; i < p->n_rounds; i++) {
		const struct val *v = val_at(list, i);
		if (val_type(v) != VAL_MAP)
			return err_set(e, ST_INPUT, "round %u is not a map", i);
		if (get_u32(v, "n", &round[i].n, e) < 0 ||
		    get_indices(v, "kept", a, &round[i].n_kept, &round[i].kept, e) < 0)
			return err_prefix(e, "round %u", i);
	}
	return 0;
}

static int get_groups(const struct val *m, struct arena *a, struct part *p, struct err *e)
{
	if (get_u32(m, "n_groups", &p->p.n_groups, e) < 0 ||
	    get_indices(m, "group", a, &p->n_sets, &p->p.group, e) < 0)
		return -1;
	if (p->p.n_groups > p->n_sets)
		return err_set(e, ST_INPUT, "more groups than sets");
	for (uint32_t i = 0; i < p->n_sets; i++)
		if (p->p.group[i] >= p->p.n_groups)
			return err_set(e, ST_INPUT, "group %u of %u", p->p.group[i], p->p.n_groups);
	return 0;
}

int part_decode(const struct rec *r, struct arena *a, struct part *out, struct err *e)
{
	struct part p = {0};
	uint64_t shape[2] = {0, UINT64_MAX};
	float *z;
	if (get_id(r->map, false, &p.id, e) < 0 || get_bool(r->map, "given", &p.p.given, e) < 0 ||
	    get_rounds(r->map, a, &p.p, e) < 0 || get_groups(r->map, a, &p, e) < 0)
		return err_prefix(e, "part");
	if (val_get(r->map, "z")) {
		shape[0] = p.p.n_groups;
		if (get_tensor(r->map, "z", TT_F32, 2, shape, a, &z, e) < 0)
			return err_prefix(e, "part");
		if (shape[1] > UINT32_MAX)
			return err_set(e, ST_INPUT, "part: z has too many columns");
		p.d = (uint32_t)shape[1];
		p.p.z = z;
	}
	*out = p;
	return 0;
}

int part_encode(const struct part *p, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "part");
	put_id(w, &p->id, false);
	put_list_begin(w, "rounds", p->p.n_rounds);
	for (uint32_t i = 0; i < p->p.n_rounds; i++) {
		put_map_begin(w, NULL);
		put_uint(w, "n", p->p.round[i].n);
		put_vector(w, "kept", TT_U32, p->p.round[i].n_kept, p->p.round[i].kept);
		put_map_end(w);
	}
	put_bool(w, "given", p->p.given);
	put_uint(w, "n_groups", p->p.n_groups);
	put_vector(w, "group", TT_U32, p->n_sets, p->p.group);
	if (p->d)
		put_matrix(w, "z", TT_F32, p->p.n_groups, p->d, p->p.z);
	return rec_end(w, e);
}

static int get_u16(const struct val *m, const char *key, struct arena *a, uint32_t limit,
		   uint32_t *n, const uint16_t **out, struct err *e)
{
	uint64_t shape[1] = {UINT64_MAX};
	uint16_t *data;
	if (get_tensor(m, key, TT_U16, 1, shape, a, &data, e) < 0)
		return -1;
	if (shape[0] >= UINT32_MAX)
		return err_set(e, ST_INPUT, "'%s' is too long", key);
	for (size_t i = 0; i < shape[0]; i++)
		if (data[i] >= limit)
			return err_set(e, ST_INPUT, "'%s' names device %u of %u", key, data[i],
				       limit);
	*n = (uint32_t)shape[0];
	*out = data;
	return 0;
}

int place_decode(const struct rec *r, struct arena *a, struct place *out, struct err *e)
{
	struct place p = {0};
	size_t k = SIZE_MAX;
	const char **devices;
	if (get_id(r->map, true, &p.id, e) < 0 || get_text(r->map, "source", a, &p.source, e) < 0 ||
	    get_texts(r->map, "devices", a, &k, &devices, e) < 0)
		return err_prefix(e, "place");
	p.k = (uint32_t)k;
	p.devices = devices;
	if (get_u16(r->map, "device", a, p.k, &p.n_sets, &p.device, e) < 0)
		return err_prefix(e, "place");
	if (val_get(r->map, "action") &&
	    (get_u16(r->map, "action", a, p.k, &p.n_groups, &p.action, e) < 0 ||
	     get_real(r->map, "logp", &p.logp, e) < 0 ||
	     get_real(r->map, "entropy", &p.entropy, e) < 0))
		return err_prefix(e, "place");
	p.has_stay = val_get(r->map, "stay") != NULL;
	if (p.has_stay && get_real(r->map, "stay", &p.stay, e) < 0)
		return err_prefix(e, "place");
	*out = p;
	return 0;
}

int place_encode(const struct place *p, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "place");
	put_id(w, &p->id, true);
	put_texts(w, "devices", p->devices, p->k);
	put_vector(w, "device", TT_U16, p->n_sets, p->device);
	put_text(w, "source", p->source);
	if (p->action) {
		put_vector(w, "action", TT_U16, p->n_groups, p->action);
		put_real(w, "logp", p->logp);
		put_real(w, "entropy", p->entropy);
		if (p->has_stay)
			put_real(w, "stay", p->stay);
	}
	return rec_end(w, e);
}

/* Something else than latency is to be small; an empty model has hardly any of it. */
static int get_value(const struct val *m, struct run *u, struct err *e)
{
	const double least = 1e-30;
	u->has_value = true;
	if (get_real(m, "value", &u->value, e) < 0 ||
	    get_real(m, "ref_value", &u->ref_value, e) < 0)
		return -1;
	if (u->value < 0 || u->ref_value < 0)
		return err_set(e, ST_INPUT, "a value below 0");
	u->value = fmax(u->value, least);
	if (u->ref_value > 0)
		u->ref_value = fmax(u->ref_value, least);
	return 0;
}

int run_decode(const struct rec *r, struct arena *a, struct run *out, struct err *e)
{
	struct run u = {0};
	if (get_id(r->map, true, &u.id, e) < 0 || get_text(r->map, "source", a, &u.source, e) < 0 ||
	    get_bool(r->map, "ok", &u.ok, e) < 0)
		return err_prefix(e, "run");
	double lo, hi;
	if (u.ok &&
	    (get_real(r->map, "lat_s", &u.lat_s, e) < 0 || get_real(r->map, "lo_s", &lo, e) < 0 ||
	     get_real(r->map, "hi_s", &hi, e) < 0 || get_real(r->map, "ref_s", &u.ref_s, e) < 0))
		return err_prefix(e, "run");
	u.noisy = u.ok && lo < hi;
	if (u.ok && (!(u.lat_s > 0) || u.ref_s < 0))
		return err_set(e, ST_INPUT, "run: a latency that is not positive");
	if (u.ok)
		u.lat_s = fmax(u.lat_s, RUN_LEAST_S);
	if (u.ref_s > 0)
		u.ref_s = fmax(u.ref_s, RUN_LEAST_S);
	u.value = u.lat_s;
	u.ref_value = u.ref_s;
	if (u.ok && val_get(r->map, "value") && get_value(r->map, &u, e) < 0)
		return err_prefix(e, "run");
	if (!u.ok && get_text(r->map, "reason", a, &u.reason, e) < 0)
		return err_prefix(e, "run");
	*out = u;
	return 0;
}
